"""The paper's worked example: seven rows of iris, every printed figure."""

from __future__ import annotations

from typing import Any

import numpy as np

from orthoselect import select
from orthoselect.encode import encode_response
from orthoselect.statistics import canonical_correlations, fisher_criteria, scatter_matrices, socc
from orthoselect_study import paper
from orthoselect_study.datasets import DataSource, StudyData, load
from orthoselect_study.experiments.base import Arguments, Experiment
from orthoselect_study.figures import Figure, draw_bars
from orthoselect_study.findings import listed
from orthoselect_study.pages import Table
from orthoselect_study.records import Plan, Results, Row, Task
from orthoselect_study.settings import Settings

_COLUMNS = ("sepal length", "sepal width", "petal length", "petal width")
_PRINTED = 5.0001e-5  # half of the fourth decimal


class Iris(Experiment):
    """The worked example."""

    name = "iris"
    title = "The worked example: seven rows of iris"
    about = "every figure of the paper's worked example, to its four decimals"

    def plan(self, settings: Settings, source: DataSource) -> Plan:
        (data,) = load(["iris"], source)[0].values()  # it is part of the program
        return Plan([Task(self.name, {}, data, cost=0.05)], [data.facts()])

    def work(self, arguments: Arguments, data: StudyData) -> list[Row]:
        X, Y = data.X, encode_response(data.y)
        path = select(X, data.y, 3)
        values = {**_basis(Y), **_gains(X, Y, path.features), **_set(X, data.y, Y, path)}
        rows = [Row("iris", "OLS", measure=name, value=float(v)) for name, v in values.items()]
        chosen = ", ".join(_COLUMNS[j] for j in path.features)
        return [*rows, Row("iris", "OLS", measure="selected", value=3.0, note=chosen)]

    def tables(self, results: Results) -> list[Table]:
        ours = {row.measure: row.value for row in results.rows}
        rows = [
            [name, printed, round(ours[name], 4), "yes" if _agrees(ours[name], printed) else "no"]
            for name, printed in paper.WORKED_EXAMPLE.items()
            if name in ours
        ]
        columns = ["figure", "paper", "ours", "agrees"]
        return [Table("iris", "The worked example, figure by figure", columns, rows)]

    def figures(self, results: Results) -> list[Figure]:
        gains: dict[str, dict[str, float]] = {}
        for row in results.rows:
            if ", gain of " in row.measure:
                step, feature = row.measure.split(", gain of ")
                gains.setdefault(step, {})[feature] = row.value
        title = "Gain of every candidate at every step"
        return [draw_bars("iris", title, gains, "gain", best=max)]

    def findings(self, results: Results) -> list[str]:
        ours = {row.measure: row.value for row in results.rows}
        printed = {k: v for k, v in paper.WORKED_EXAMPLE.items() if k in ours}
        wrong = [name for name, value in printed.items() if not _agrees(ours[name], value)]
        chosen = [row.note for row in results.where(measure="selected")]
        theirs = ", ".join(paper.WORKED_SELECTION)
        same = "as in the paper" if chosen == [theirs] else f"where the paper has {theirs}"
        return [
            f"{len(printed) - len(wrong)} of {len(printed)} printed figures agree to their four "
            f"decimals" + (f"; {listed(wrong)} do not." if wrong else "."),
            f"Selected: {'; '.join(chosen)}, {same}.",
        ]


def _agrees(ours: float, printed: float) -> bool:
    return abs(ours - printed) <= _PRINTED


def _basis(Y: np.ndarray) -> dict[str, float]:
    """Return the columns of the response, centered and each orthogonal to those before it."""
    v = Y - Y.mean(axis=0)
    first = v[:, 0]
    second = v[:, 1] - first * (first @ v[:, 1]) / (first @ first)
    return {
        "response basis, first column, setosa": first[0],
        "response basis, first column, others": first[2],
        "response basis, second column, setosa": second[0],
        "response basis, second column, versicolor": second[2],
        "response basis, second column, virginica": second[4],
    }


def _gains(X: np.ndarray, Y: np.ndarray, order: list[int]) -> dict[str, float]:
    """Return the gain of every candidate at every step."""
    gains = {}
    for step in range(len(order)):
        taken = order[:step]
        for j in range(X.shape[1]):
            if j not in taken:
                gain = socc(X[:, [*taken, j]], Y)[-1].sum()
                gains[f"step {step + 1}, gain of {_COLUMNS[j]}"] = gain
    return gains


def _set(X: np.ndarray, y: np.ndarray, Y: np.ndarray, path: Any) -> dict[str, float]:
    """Return what is said of the selected set."""
    chosen = X[:, path.features]
    squared = canonical_correlations(chosen, Y) ** 2
    fisher = fisher_criteria(chosen, y)
    values = {
        "first squared canonical correlation": squared[0],
        "second squared canonical correlation": squared[1],
        "sum of squared canonical correlations": squared.sum(),
        "sum of the gains": path.total,
        "first Fisher criterion": fisher[0],
        "second Fisher criterion": fisher[1],
    }
    for name, S in zip(("within", "between"), scatter_matrices(chosen, y)):
        for i in range(3):
            for j in range(i, 3):
                values[f"scatter {name} classes {i + 1},{j + 1}"] = S[i, j]
    return values
