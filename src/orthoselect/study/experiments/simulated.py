"""Simulated tables in which three features make the class, and how often they are found.

The mean of each of n features is drawn from a normal distribution (0, 0.1); their covariance is
Wishart(diag(u), N) / N with u uniform on (0, 1); the class depends on features 5, 10 and 15,
counted from 1. A batch is one run of the paper's experiment; there are several, because the counts
of one have a standard error of about 3 in 100.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.study import figures, methods, paper
from orthoselect.study.chance import generator
from orthoselect.study.datasets import DataSource
from orthoselect.study.experiments.base import Experiment
from orthoselect.study.findings import (
    BEYOND_CHANCE,
    Standing,
    difference_in_errors,
    listed,
    share_error,
)
from orthoselect.study.records import Plan, Results, Row, Task, mean
from orthoselect.study.settings import Settings
from orthoselect.study.tables import Table

Floats = NDArray[np.float64]

RELEVANT = (4, 9, 14)  # features 5, 10, 15
BINS = "mean_std_4"
_REPEATS, _BATCHES = 100, 10
_BLOCK = 25  # repeats of a task
# Penalties of the models with one penalty for all tables; these see the columns standardized.
_PENALTIES = np.geomspace(0.01, 0.5, 80)
_ONE_PENALTY = {"LASSO": 1.0, "Net": 0.5}


class Simulated(Experiment):
    """Tables made at random, three features of which matter.

    Attributes
    ----------
    n_rows, n_columns : int
    """

    uses = frozenset({"methods", "repeats", "batches"})
    n_rows: int
    n_columns = 100

    @abstractmethod
    def classes(self, x: Floats, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw the class of each row from its three features x, (N, 3)."""

    def table(self, seed: int, batch: int, repeat: int) -> tuple[Floats, NDArray[np.int64]]:
        """Return one table, the same one to every method."""
        rng = generator(seed, self.name, batch, repeat)
        X = draw(self.n_rows, self.n_columns, rng)
        return X, self.classes(X[:, RELEVANT], rng)

    def plan(self, settings: Settings, source: DataSource) -> Plan:
        names = methods.chosen(settings)
        repeats = settings.or_else("repeats", _REPEATS)
        batches = settings.or_else("batches", _BATCHES)
        tasks = []
        for batch in range(batches):
            for first in range(0, repeats, _BLOCK):
                block = {
                    "seed": settings.seed,
                    "batch": batch,
                    "first": first,
                    "stop": min(first + _BLOCK, repeats),
                }
                tasks += [self._task(name, block) for name in names]
        facts = {"methods": names, "repeats": repeats, "batches": batches}
        return Plan(tasks, facts=facts)

    def _task(self, name: str, block: dict[str, int]) -> Task:
        cost = 0.07 if name in _ONE_PENALTY else 0.03
        arguments = {"method": name, "call": methods.described(name), "bins": BINS, **block}
        return Task(self.name, arguments, cost=cost * (block["stop"] - block["first"]))

    def work(self, arguments: dict[str, Any], data: None) -> list[Row]:
        name, batch = arguments["method"], arguments["batch"]
        rows: list[Row] = []
        exact = np.zeros(len(_PENALTIES))
        for repeat in range(arguments["first"], arguments["stop"]):
            X, y = self.table(arguments["seed"], batch, repeat)
            chosen = methods.apply(name, X, y, len(RELEVANT), bins=arguments["bins"])
            found = float(set(chosen.features) == set(RELEVANT))
            shown = " ".join(str(j + 1) for j in chosen.features)
            at = Row(self.name, name, batch, repeat)
            rows.append(at._replace(measure="found", value=found, note=shown))
            rows += [at._replace(measure="warning", value=1.0, note=w) for w in chosen.warnings]
            if name in _ONE_PENALTY:
                exact += exact_supports(X, y, _ONE_PENALTY[name])
        if name in _ONE_PENALTY:
            at = Row(self.name, name, batch, measure="exact support")
            rows += [
                at._replace(value=float(count), note=f"{penalty:.6g}")
                for penalty, count in zip(_PENALTIES, exact)
            ]
        return rows

    def counts(self, results: Results) -> dict[str, list[float]]:
        """Return for each method how many of 100 tables of each batch were solved."""
        found: dict[str, dict[int, list[float]]] = {}
        for row in results.where(measure="found"):
            found.setdefault(row.method, {}).setdefault(row.batch or 0, []).append(row.value)
        return {
            name: [100 * mean(values) for _, values in sorted(found[name].items())]
            for name in results.methods()
        }

    def one_penalty(self, results: Results, name: str) -> tuple[float, float] | None:
        """Return the best of the fixed penalties, and how many of 100 tables it solves."""
        solved: dict[str, float] = {}
        for row in results.where(measure="exact support", method=name):
            solved[row.note] = solved.get(row.note, 0.0) + row.value
        n_tables = len(results.where(measure="found", method=name))
        if not solved or not n_tables:
            return None
        best = max(solved, key=lambda penalty: solved[penalty])
        return float(best), 100 * solved[best] / n_tables

    def tables(self, results: Results) -> list[Table]:
        printed = paper.FOUND[self.name]
        rows: list[list[Any]] = []
        for name, batches in self.counts(results).items():
            n = self._n_tables(results, name)
            rows.append(self._line(name, batches, n, printed.get(name)))
            fixed = self.one_penalty(results, name) if name in _ONE_PENALTY else None
            if fixed is not None:
                label = f"{name}, one penalty ({fixed[0]:.3g}) for all, exact support"
                rows.append(self._line(label, [fixed[1]], n, printed.get(name)))
        facts = results.facts
        title = (
            f"Tables out of 100 in which the three features were found "
            f"({facts['batches']} batches of {facts['repeats']})"
        )
        columns = ["method", "ours", "error", "batches", "paper", "apart"]
        note = (
            "ours: mean over the batches, with its binomial standard error. batches: least and "
            "most. apart: difference from the paper in standard errors of that difference (the "
            "paper's 100 tables have an error of their own); beyond 2 is more than chance."
        )
        return [Table(self.name, title, columns, rows, note)]

    def _n_tables(self, results: Results, name: str) -> int:
        return len(results.where(measure="found", method=name))

    def _line(
        self, label: str, batches: Sequence[float], n_tables: int, printed: float | None
    ) -> list[Any]:
        share = mean(batches) / 100
        apart = None
        if printed is not None:
            apart = difference_in_errors(share, n_tables, printed / 100, paper.REPEATS)
        spread = f"{min(batches):.0f} to {max(batches):.0f}" if len(batches) > 1 else None
        return [
            label,
            f"{100 * share:.1f}",
            f"{100 * share_error(share, n_tables):.1f}",
            spread,
            printed,
            None if apart is None else f"{apart:+.1f}",
        ]

    def figures(self, results: Results) -> list[figures.Figure]:
        counts = self.counts(results)
        ours = {
            name: (mean(c), 100 * share_error(mean(c) / 100, self._n_tables(results, name)))
            for name, c in counts.items()
        }
        draw = figures.draw_counts(ours, counts, paper.FOUND[self.name], "found in 100 tables")
        return [figures.Figure(self.name, f"{self.title}: how often", draw)]

    def standings(self, results: Results) -> list[Standing]:
        samples = {}
        for name in results.methods():
            rows = results.where(measure="found", method=name)
            samples[name] = [r.value for r in sorted(rows, key=lambda r: (r.batch, r.repeat))]
        errors = {name: share_error(mean(v), len(v)) for name, v in samples.items()}
        return [Standing(self.name, "share of tables solved", samples, errors)] if samples else []

    def findings(self, results: Results) -> list[str]:
        standing = self.standings(results)[0]
        return [
            *self._beside_paper(results, standing),
            *_beside_information(standing),
            *self._beside_penalties(results, standing),
        ]

    def _beside_paper(self, results: Results, standing: Standing) -> list[str]:
        printed = paper.FOUND[self.name]
        apart = {
            name: difference_in_errors(
                share, self._n_tables(results, name), printed[name] / 100, paper.REPEATS
            )
            for name, share in standing.scores.items()
            if name in printed
        }
        beyond = [name for name in apart if abs(apart[name]) > BEYOND_CHANCE]
        sentences = []
        if "OLS" in apart:
            share = standing.scores["OLS"]
            verdict = "more than chance explains" if "OLS" in beyond else "within chance"
            batches = self.counts(results)["OLS"]
            sentences.append(
                f"OLS finds the three features in {100 * share:.1f} of 100 tables (standard error "
                f"{100 * standing.errors['OLS']:.1f}; batches from {min(batches):.0f} to "
                f"{max(batches):.0f}); the paper printed {printed['OLS']}. Ours is "
                f"{apart['OLS']:+.1f} standard errors from that: {verdict}."
            )
        if beyond:
            shown = listed([f"{n} ({100 * standing.scores[n]:.1f}, {printed[n]})" for n in beyond])
            sentences.append(
                f"Ours and the paper's (in this order) differ by more than chance for {shown}."
            )
        elif apart:
            sentences.append(
                f"No count of the {len(apart)} differs from the paper's by more than chance."
            )
        return sentences

    def _beside_penalties(self, results: Results, standing: Standing) -> list[str]:
        sentences = []
        for name in _ONE_PENALTY:
            fixed = self.one_penalty(results, name)
            if fixed is None:
                continue
            n, printed = self._n_tables(results, name), paper.FOUND[self.name][name]
            entry = difference_in_errors(standing.scores[name], n, printed / 100, paper.REPEATS)
            single = difference_in_errors(fixed[1] / 100, n, printed / 100, paper.REPEATS)
            nearer = "one fixed penalty" if abs(single) < abs(entry) else "the order of entry"
            sentences.append(
                f"{name}: the first three to enter are right in {100 * standing.scores[name]:.1f} "
                f"of 100 tables, the support at the best single penalty is exact in "
                f"{fixed[1]:.1f}; the paper printed {printed}, which is nearer to {nearer} "
                f"({entry:+.1f} and {single:+.1f} standard errors away)."
            )
        if "OLS" in standing.scores and "LASSO" in standing.scores:
            gap = standing.scores["OLS"] - standing.scores["LASSO"]
            error = standing.error_of_difference("OLS", "LASSO")
            verdict = "tie" if abs(gap) <= BEYOND_CHANCE * error else "differ"
            sentences.append(
                f"OLS and a LASSO that takes its first three features {verdict}: "
                f"{100 * standing.scores['OLS']:.1f} and {100 * standing.scores['LASSO']:.1f}, "
                f"{100 * gap:+.1f} where {200 * error:.1f} would be chance."
            )
        return sentences


def draw(n_rows: int, n_columns: int, rng: np.random.Generator) -> Floats:
    """Draw a table of correlated columns, as the paper does.

    Examples
    --------
    >>> draw(50, 3, np.random.default_rng(0)).shape
    (50, 3)
    """
    means = rng.normal(0.0, 0.1, n_columns)
    spread = np.sqrt(rng.uniform(size=n_columns))
    G = rng.normal(size=(n_rows, n_columns)) * spread  # G'G is Wishart(diag(spread^2), N)
    factor = np.linalg.cholesky(G.T @ G / n_rows)
    return means + rng.normal(size=(n_rows, n_columns)) @ factor.T


def exact_supports(X: Floats, y: NDArray, l1_ratio: float) -> NDArray[np.bool_]:
    """Return at which of the penalties a model has the three features and no other."""
    from sklearn.linear_model import enet_path

    A = (X - X.mean(axis=0)) / X.std(axis=0)
    Y = (y[:, None] == np.unique(y)).astype(float)
    Y = Y - Y.mean(axis=0)
    response = np.ascontiguousarray(Y[:, -1]) if Y.shape[1] == 2 else np.asfortranarray(Y)
    _, coefs, _ = enet_path(
        np.asfortranarray(A), response, l1_ratio=l1_ratio, alphas=_PENALTIES, tol=1e-5
    )
    # Penalties come back in falling order.
    used = (np.abs(coefs) > 0).reshape(-1, A.shape[1], len(_PENALTIES)).any(axis=0)[:, ::-1]
    relevant = np.zeros(A.shape[1], dtype=bool)
    relevant[list(RELEVANT)] = True
    return (used == relevant[:, None]).all(axis=0)


def _beside_information(standing: Standing) -> list[str]:
    others = {n: s for n, s in standing.scores.items() if n in methods.INFORMATION}
    if "OLS" not in standing.scores or not others:
        return []
    best = max(others, key=lambda name: others[name])
    ours = standing.scores["OLS"]
    gap, error = ours - others[best], standing.error_of_difference("OLS", best)
    all_below = all(share < ours for share in others.values())
    text = "above each" if all_below else "not above each"
    return [
        f"OLS is {text} of the {len(others)} information criteria; the best of them, {best}, finds "
        f"{100 * others[best]:.1f}, {100 * gap:.1f} fewer than OLS ({200 * error:.1f} would be "
        f"chance)."
    ]
