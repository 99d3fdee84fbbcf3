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

from orthoselect_study import methods, paper
from orthoselect_study.datasets import DataSource
from orthoselect_study.experiments.base import Arguments, Experiment
from orthoselect_study.figures import Figure, draw_counts
from orthoselect_study.findings import (
    BEYOND_CHANCE,
    Standing,
    difference_in_errors,
    listed,
    mean,
    share_error,
    side_by_side,
)
from orthoselect_study.pages import Table
from orthoselect_study.records import Plan, Results, Row, Task, generator, grouped
from orthoselect_study.settings import Settings

Floats = NDArray[np.float64]

RELEVANT = (4, 9, 14)  # features 5, 10, 15
_BINS = "mean_std_4"
_REPEATS, _BATCHES = 100, 10
_BLOCK = 25  # repeats of a task
# Penalties of the models with one penalty for all tables; these see the columns standardized.
_PENALTIES = np.geomspace(0.01, 0.5, 80)
_ONE_PENALTY = {"LASSO": 1.0, "Net": 0.5}


class Simulated(Experiment):
    """Tables made at random, three features of which matter."""

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
                stop = min(first + _BLOCK, repeats)
                block = {"seed": settings.seed, "batch": batch, "first": first, "stop": stop}
                for name in names:
                    call = {"method": name, "call": methods.described(name), "bins": _BINS}
                    cost = (0.07 if name in _ONE_PENALTY else 0.03) * (stop - first)
                    tasks.append(Task(self.name, {**call, **block}, cost=cost))
        facts = {"methods": names, "repeats": repeats, "batches": batches}
        return Plan(tasks, facts=facts)

    def work(self, arguments: Arguments, data: None) -> list[Row]:
        name, batch = arguments["method"], arguments["batch"]
        rows: list[Row] = []
        exact, seconds = np.zeros(len(_PENALTIES)), 0.0
        for repeat in range(arguments["first"], arguments["stop"]):
            X, y = self.table(arguments["seed"], batch, repeat)
            chosen = methods.apply(name, X, y, len(RELEVANT), bins=arguments["bins"])
            seconds += chosen.seconds
            found = float(set(chosen.features) == set(RELEVANT))
            shown = " ".join(str(j + 1) for j in chosen.features)
            at = Row(self.name, name, batch, repeat)
            rows.append(at._replace(measure="found", value=found, note=shown))
            rows += [at._replace(measure="warning", value=1.0, note=w) for w in chosen.warnings]
            if name in _ONE_PENALTY:
                exact += exact_supports(X, y, _ONE_PENALTY[name])
        rows.append(Row(self.name, name, batch, measure="seconds", value=seconds))
        if name in _ONE_PENALTY:
            at = Row(self.name, name, batch, measure="exact support")
            rows += [
                at._replace(value=float(count), note=f"{penalty:.6g}")
                for penalty, count in zip(_PENALTIES, exact)
            ]
        return rows

    def solved(self, results: Results) -> dict[str, list[float]]:
        """Return for each method whether each of its tables was solved, 1.0 or 0.0."""
        return {
            name: [row.value for row in results.where(measure="found", method=name)]
            for name in results.methods()
        }

    def counts(self, results: Results) -> dict[str, list[float]]:
        """Return for each method how many of 100 tables of each complete batch were solved."""
        counts: dict[str, list[float]] = {}
        for name in results.methods():
            rows = results.where(measure="found", method=name)
            batches = sorted(grouped((row.batch or 0, row.value) for row in rows).items())
            whole = [v for _, v in batches if len(v) == results.facts["repeats"]]
            counts[name] = [100 * mean(values) for values in whole]
        return counts

    def one_penalty(self, results: Results, name: str) -> tuple[float, float] | None:
        """Return the best of the fixed penalties, and the share of tables that it solves."""
        solved: dict[str, float] = {}
        for row in results.where(measure="exact support", method=name):
            solved[row.note] = solved.get(row.note, 0.0) + row.value
        n_tables = len(results.where(measure="found", method=name))
        if not solved or not n_tables:
            return None
        best = max(solved, key=lambda penalty: solved[penalty])
        return float(best), solved[best] / n_tables

    def tables(self, results: Results) -> list[Table]:
        printed, batches = paper.FOUND[self.name], self.counts(results)
        rows: list[list[Any]] = []
        for name, solved in self.solved(results).items():
            count, theirs = len(solved), printed.get(name)
            shares = {name: mean(solved)}
            fixed = self.one_penalty(results, name)
            if fixed is not None:
                shares[f"{name}, one penalty ({fixed[0]:.3g}) for all, exact support"] = fixed[1]
            for label, share in shares.items():
                ours = [f"{100 * share:.1f}", f"{100 * share_error(share, count):.1f}"]
                several = label == name and len(batches[name]) > 1
                spread = _spread(batches[name]) if several else None
                apart = _apart(share, count, theirs)
                shown = None if apart is None else f"{apart:+.1f}"
                rows.append([label, count, *ours, spread, theirs, shown])
        title = f"Tables out of 100 in which the three features were found ({_how_many(results)})"
        columns = ["method", "tables", "ours", "error", "batches", "paper", "apart"]
        note = (
            "tables: how many were tried. ours: the share of them, in 100. error: one binomial "
            "standard error of ours. batches: least and most in 100 of the batches that are "
            "complete. apart: difference from the paper in standard errors of that difference (the "
            "paper's 100 tables have an error of their own); beyond 2 is more than chance."
        )
        return [Table(self.name, title, columns, rows, note)]

    def figures(self, results: Results) -> list[Figure]:
        ours = {
            name: (100 * mean(solved), 100 * share_error(mean(solved), len(solved)))
            for name, solved in self.solved(results).items()
        }
        title, printed = f"{self.title}: how often", paper.FOUND[self.name]
        counts = ours, self.counts(results), printed
        return [draw_counts(self.name, title, *counts, "found in 100 tables")]

    def standings(self, results: Results) -> list[Standing]:
        tables = {
            name: {(row.batch, row.repeat): row.value for row in rows}
            for name, rows in grouped((r.method, r) for r in results.where(measure="found")).items()
        }
        if len({frozenset(found) for found in tables.values()}) != 1:
            return []  # none, or methods that were tried on different tables
        order = sorted(next(iter(tables.values())), key=str)
        samples = {name: [tables[name][at] for at in order] for name in results.methods()}
        errors = {name: share_error(mean(v), len(v)) for name, v in samples.items()}
        return [Standing(self.name, "share of tables solved", samples, errors)]

    def findings(self, results: Results) -> list[str]:
        beside, penalties = self._beside_paper(results), self._beside_penalties(results)
        standings = self.standings(results)
        if not standings:
            different = "Methods were tried on different tables: they are not compared."
            return [*beside, *penalties, different]
        (standing,) = standings
        sentences = [*beside, *_beside_information(standing), *penalties]
        if {"OLS", "LASSO"} <= set(standing.scores):
            sides = side_by_side(standing, "OLS", "LASSO")
            sentences.append(f"OLS and a LASSO that takes its first three features: {sides}.")
        return sentences

    def _beside_paper(self, results: Results) -> list[str]:
        printed, solved = paper.FOUND[self.name], self.solved(results)
        apart = {name: _apart(mean(v), len(v), printed.get(name)) for name, v in solved.items()}
        known = {name: value for name, value in apart.items() if value is not None}
        beyond = [name for name, value in known.items() if abs(value) > BEYOND_CHANCE]
        sentences = []
        if "OLS" in known:
            share, count = mean(solved["OLS"]), len(solved["OLS"])
            verdict = "more than chance explains" if "OLS" in beyond else "within chance"
            batches = self.counts(results)["OLS"]
            spread = f"; batches from {_spread(batches)}" if len(batches) > 1 else ""
            sentences.append(
                f"OLS finds the three features in {100 * share:.1f} of 100 tables (of {count} "
                f"tried; standard error {100 * share_error(share, count):.1f}{spread}); the paper "
                f"printed {printed['OLS']}. Ours is {known['OLS']:+.1f} standard errors from that: "
                f"{verdict}."
            )
        if beyond:
            shown = listed([f"{n} ({100 * mean(solved[n]):.1f}, {printed[n]})" for n in beyond])
            sentences.append(
                f"Ours and the paper's (in this order) differ by more than chance for {shown}."
            )
        elif len(known) > 1:
            sentences.append(
                f"No count of the {len(known)} differs from the paper's by more than chance."
            )
        return sentences

    def _beside_penalties(self, results: Results) -> list[str]:
        sentences = []
        for name in _ONE_PENALTY:
            fixed, solved = self.one_penalty(results, name), self.solved(results).get(name)
            if fixed is None or solved is None:
                continue
            printed = paper.FOUND[self.name][name]
            entry = _apart(mean(solved), len(solved), printed) or 0.0
            single = _apart(fixed[1], len(solved), printed) or 0.0
            nearer = "one fixed penalty" if abs(single) < abs(entry) else "the order of entry"
            nearer = "neither" if abs(single) == abs(entry) else nearer
            sentences.append(
                f"{name}: the first three to enter are right in {100 * mean(solved):.1f} of 100 "
                f"tables, the support at the best single penalty is exact in {100 * fixed[1]:.1f}; "
                f"the paper printed {printed}, which is nearer to {nearer} ({entry:+.1f} and "
                f"{single:+.1f} standard errors away)."
            )
        return sentences


class Binomial(Simulated):
    """Two classes: logit -2 x5 - 3 x10 + 4 x15."""

    name = "binomial"
    title = "Simulated tables, two classes"
    about = "how often three of 100 features are found that make a class of two"
    n_rows = 600

    def classes(self, x: Floats, rng: np.random.Generator) -> NDArray[np.int64]:
        chance = 1.0 / (1.0 + np.exp(-(x @ [-2.0, -3.0, 4.0])))
        return (rng.uniform(size=len(x)) < chance).astype(np.int64)


class Multinomial(Simulated):
    """Three classes: log ratios to the third -x5 - x10 + x15 and x5 - x10 - x15."""

    name = "multinomial"
    title = "Simulated tables, three classes"
    about = "how often three of 100 features are found that make a class of three"
    n_rows = 900

    def classes(self, x: Floats, rng: np.random.Generator) -> NDArray[np.int64]:
        ratios = np.exp(x @ np.array([[-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]]))  # (N, 2)
        total = 1.0 + ratios.sum(axis=1)
        chances = np.column_stack([ratios, np.ones(len(x))]) / total[:, None]
        drawn = rng.uniform(size=len(x))
        return (drawn[:, None] >= chances.cumsum(axis=1)[:, :2]).sum(axis=1)


def _apart(share: float, n_tables: int, printed: float | None) -> float | None:
    """Return the difference from the paper's count in standard errors, as it is printed."""
    if printed is None:
        return None
    apart = difference_in_errors(share, n_tables, printed / 100, paper.REPEATS)
    return round(apart, 1) + 0.0  # never -0.0


def _spread(batches: Sequence[float]) -> str:
    return f"{min(batches):.0f} to {max(batches):.0f}"


def _how_many(results: Results) -> str:
    """Return how many tables there are, in words."""
    batches, repeats = results.facts["batches"], results.facts["repeats"]
    found = [len(results.where(measure="found", method=m)) for m in results.facts["methods"]]
    if min(found) == batches * repeats:
        return f"{batches} batch{'es' if batches > 1 else ''} of {repeats}"
    spread = f"{min(found)} to {max(found)}" if min(found) < max(found) else f"{min(found)}"
    return f"not complete: {spread} of {batches * repeats} tables"


def draw(n_rows: int, n_columns: int, rng: np.random.Generator) -> Floats:
    """Draw a table of correlated columns, as the paper does."""
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
    """Say how OLS and the information criteria do on the same tables."""
    others = {n: s for n, s in standing.scores.items() if n in methods.INFORMATION}
    if "OLS" not in standing.scores or not others:
        return []
    best = max(others, key=lambda name: others[name])
    n_above = sum(share > standing.scores["OLS"] for share in others.values())
    n_equal = sum(share == standing.scores["OLS"] for share in others.values())
    sides = side_by_side(standing, "OLS", best)
    if len(others) == 1:
        return [f"OLS and {best}: {sides}."]
    level = "not above each" if n_equal else "above each"
    place = f"below {n_above}" if n_above else level
    criteria = f"of the {len(others)} information criteria"
    return [f"OLS is {place} {criteria}; OLS and the best of them, {best}: {sides}."]
