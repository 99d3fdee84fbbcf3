"""How long it takes to select 20 features: by definition, by Gram-Schmidt, and by ours.

All with one thread: those of BLAS wait for each other on a machine that is busy otherwise.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from orthoselect import select
from orthoselect.encode import encode_response
from orthoselect_study import paper
from orthoselect_study.datasets import DataSource, StudyData, load, title_of
from orthoselect_study.experiments.base import Arguments, Experiment, absence_sentences
from orthoselect_study.figures import Figure, draw_bars
from orthoselect_study.pages import Table
from orthoselect_study.records import Plan, Results, Row, Task, generator
from orthoselect_study.settings import Settings

Floats = NDArray[np.float64]

_SETS = ("dexter", "gisette-like", "gisette")
_FEATURES = 20
_WAYS = {
    "definition": "by definition",
    "gram_schmidt": "Gram-Schmidt",
    "ours_dense": "ours, dense",
    "ours": "ours, as stored",
}
# By definition every candidate of every step is a canonical correlation of its own: minutes. So
# many candidates of each step are measured, drawn at random, and their time is scaled up.
_SAMPLE = {"full": 400, "quick": 40}
_TIMES = 3  # the best of so many; a first run also warms up
_RELATIVE = 1e-9


class Speed(Experiment):
    """Times of three ways to the same features."""

    name = "speed"
    title = "Time of a selection"
    about = "Dexter and Gisette, 20 features in the paper: by definition, Gram-Schmidt and ours"
    uses = frozenset({"features", "rows"})
    alone = True

    def plan(self, settings: Settings, source: DataSource) -> Plan:
        sets, absent = load(_SETS, source)
        tasks, facts = [], []
        for name, data in sets.items():
            data = self.thinned(data, settings)
            n_features = settings.or_else("features", _FEATURES)
            facts.append({**data.facts(), "selected": n_features})
            for way in _WAYS:
                if way == "ours_dense" and not sp.issparse(data.X):
                    continue
                arguments = {
                    "seed": settings.seed,
                    "dataset": name,
                    "way": way,
                    "features": n_features,
                    "sample": _SAMPLE["quick" if settings.quick else "full"],
                }
                cost = {"definition": 12.0, "gram_schmidt": 6.0}.get(way, 1.0)
                tasks.append(Task(self.name, arguments, data, cost))
        return Plan(tasks, facts, absent)

    def limits(self, option: str, settings: Settings, source: DataSource) -> dict[str, int]:
        if option != "features":
            return {}
        tables = [self.thinned(data, settings) for data in load(_SETS, source)[0].values()]
        # N rows have no more than N - 1 directions around their mean.
        return {data.title: min(data.X.shape[0] - 1, data.X.shape[1]) for data in tables}

    def work(self, arguments: Arguments, data: StudyData) -> list[Row]:
        way, t = arguments["way"], arguments["features"]
        at = Row(data.name, method=way)
        y, X = np.asarray(data.y), data.X
        if way != "ours":  # the others need the table written out; that is not measured
            X = (X.toarray() if sp.issparse(X) else X).astype(np.float64)
        if way == "definition":
            X = np.asfortranarray(X)  # columns are taken one by one
            rng = generator(arguments["seed"], "speed", data.name)
            order = select(X, y, t).features
            seconds, agrees = by_definition(X, y, order, arguments["sample"], rng)
            note = f"{arguments['sample']} candidates of each step measured, scaled to all"
            best = at._replace(measure="winner is best", value=float(agrees))
            return [at._replace(measure="seconds", value=seconds, note=note), best]
        if way == "gram_schmidt":
            seconds, order = _best_of(lambda: gram_schmidt(X, y, t))
        else:
            seconds, order = _best_of(lambda: select(X, y, t).features)
        chosen = " ".join(map(str, order))
        rows = [at._replace(measure="seconds", value=seconds)]
        return [*rows, at._replace(measure="selected", value=float(len(order)), note=chosen)]

    def tables(self, results: Results) -> list[Table]:
        rows: list[list[Any]] = []
        for facts in results.data:
            printed = paper.MILLISECONDS[paper.BESIDE[facts["name"]]]
            times = self._times(results, facts["name"])
            for way, seconds in times.items():
                ratio = f"{seconds / times['ours']:.1f}" if "ours" in times else None
                theirs = f"{printed[way]:.0f}" if way in printed else None
                shown = f"{1000 * seconds:.1f}"
                rows.append([facts["title"], _WAYS[way], shown, ratio, theirs])
        for name, (state, _) in results.absent.items():
            rows.append([title_of(name), state, None, None, None])
        columns = ["data", "way", "ms", "times ours", "paper, ms"]
        note = (
            "by definition: a sample of the candidates of each step, scaled to all of them. The "
            "others: the best of three runs. One thread. times ours: by the times before they are "
            "rounded. The paper's times are of its authors' laptop, and of "
            f"{paper.SELECTED} features; those beside gisette-like are of Gisette, which has 6000 "
            "rows and 5000 features."
        )
        selected = {facts["selected"] for facts in results.data}
        title = f"Milliseconds to select {' or '.join(map(str, sorted(selected)))} features"
        return [Table("speed", title, columns, rows, note)]

    def figures(self, results: Results) -> list[Figure]:
        groups = {
            f["title"]: {_WAYS[way]: 1000 * s for way, s in self._times(results, f["name"]).items()}
            for f in results.data
        }
        if not any(groups.values()):
            return []
        return [draw_bars("speed", self.title, groups, "milliseconds", best=min, logarithmic=True)]

    def findings(self, results: Results) -> list[str]:
        sentences = []
        for facts in results.data:
            times = self._times(results, facts["name"])
            if "ours" not in times or "definition" not in times or "gram_schmidt" not in times:
                continue
            printed = paper.MILLISECONDS[paper.BESIDE[facts["name"]]]
            theirs = printed["definition"] / printed["gram_schmidt"]
            whose = " (of Gisette)" if facts["name"] == "gisette-like" else ""
            sentences.append(
                f"{facts['title']}: ours takes {1000 * times['ours']:.1f} ms, Gram-Schmidt "
                f"{times['gram_schmidt'] / times['ours']:.0f} times as long, the definition "
                f"{times['definition'] / times['ours']:.0f} times (as scaled up). Between "
                f"definition and Gram-Schmidt the factor is "
                f"{times['definition'] / times['gram_schmidt']:.0f} here and {theirs:.0f} in the "
                f"paper{whose}."
            )
            at = {"dataset": facts["name"]}
            same = len({row.note for row in results.where(**at, measure="selected")}) == 1
            chosen = "the same features in the same order" if same else "different features"
            if all(row.value for row in results.where(**at, measure="winner is best")):
                judged = "each of ours is at least as good as every candidate of the sample"
            else:
                judged = "a candidate of the sample is better than ours in some step"
            sentences.append(
                f"{facts['title']}: Gram-Schmidt and ours selected {chosen}; by definition "
                f"{judged}."
            )
        return sentences + absence_sentences(results)

    def _times(self, results: Results, dataset: str) -> dict[str, float]:
        found = {r.method: r.value for r in results.where(dataset=dataset, measure="seconds")}
        return {way: found[way] for way in _WAYS if way in found}


def _best_of(call: Callable[[], list[int]]) -> tuple[float, list[int]]:
    """Return the least time of a few runs, and what was selected."""
    times = []
    for _ in range(_TIMES):
        began = time.perf_counter()
        order = call()
        times.append(time.perf_counter() - began)
    return min(times), order


def gram_schmidt(X: Floats, y: NDArray, t: int) -> list[int]:
    """Select by the paper's algorithm: all candidates are kept orthogonal to the selected ones."""
    V = np.linalg.qr(_centered(encode_response(y)))[0]
    W = _centered(X)
    norms = np.linalg.norm(W, axis=0)
    alive = norms > 0
    W /= np.where(alive, norms, 1.0)
    order: list[int] = []
    for _ in range(t):
        gains = ((V.T @ W) ** 2).sum(axis=0)
        if not alive.any():  # the others depend on those selected
            break
        gains[~alive] = -1.0
        best = int(gains.argmax())
        order.append(best)
        alive[best] = False
        w = W[:, best].copy()
        W -= np.outer(w, w @ W)
        norms = np.linalg.norm(W, axis=0)
        alive &= norms > _RELATIVE
        W /= np.where(alive, norms, 1.0)
    return order


def by_definition(
    X: Floats, y: NDArray, order: list[int], sample: int, rng: np.random.Generator
) -> tuple[float, bool]:
    """Return how long selection by definition takes, and whether it would select this.

    At each step the canonical correlations of the selected columns and one candidate with the
    classes are computed for a sample of the candidates; the time is scaled to all of them.
    """
    seconds, agrees = 0.0, True
    V = np.linalg.qr(_centered(encode_response(y)))[0]
    for step, winner in enumerate(order):
        taken = order[:step]
        others = np.setdiff1d(np.arange(X.shape[1]), order[: step + 1])
        drawn = rng.choice(others, size=min(sample, len(others)), replace=False)
        began = time.perf_counter()
        scores = [_squared_correlations(X[:, [*taken, j]], V) for j in drawn.tolist()]
        seconds += (time.perf_counter() - began) * (len(others) + 1) / len(drawn)
        best = _squared_correlations(X[:, [*taken, winner]], V)
        agrees = agrees and best >= max(scores) * (1 - _RELATIVE)
    return seconds, agrees


def _squared_correlations(A: Floats, V: Floats) -> float:
    """Return the sum of squared canonical correlations; dependent columns add nothing."""
    A = _centered(A)
    Q, R = np.linalg.qr(A)
    kept = np.abs(np.diag(R)) > _RELATIVE * np.maximum(np.linalg.norm(A, axis=0), 1e-300)
    return float((np.linalg.svd(Q[:, kept].T @ V, compute_uv=False) ** 2).sum())


def _centered(A: Floats) -> Floats:
    return A - A.mean(axis=0)
