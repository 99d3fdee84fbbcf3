"""Dexter and Gisette, sets with probes: linear SVMs of 20 selected features."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from orthoselect.study import learners, methods, paper
from orthoselect.study.datasets import DATASETS, StudyData
from orthoselect.study.experiments.curves import (
    Curves,
    auc_error,
    score_rows,
    selection_rows,
)
from orthoselect.study.findings import listed
from orthoselect.study.records import Results, Row, Task, mean
from orthoselect.study.settings import Settings
from orthoselect.study.tables import Table

BINS = 10
# The paper's figures for Gisette stand beside the stand-in's too, said to be of another set.
_PRINTED = {"dexter": "dexter", "gisette": "gisette", "gisette-like": "gisette"}


class Challenge(Curves):
    """Sets of the NIPS 2003 challenge."""

    name = "challenge"
    title = "Sets with probes"
    about = "20 features of Dexter and Gisette by each method: AUC of linear SVMs, and probes taken"
    uses = frozenset({"methods", "features", "rows"})
    sets = {"dexter": 20, "gisette-like": 20, "gisette": 20}  # noqa: RUF012
    score = "AUC"

    def prepared(self, data: StudyData, settings: Settings) -> StudyData:
        return data.thinned(settings.or_else("rows", None), settings.seed)

    def tasks_of(
        self, arguments: dict[str, Any], data: StudyData, settings: Settings
    ) -> list[Task]:
        return [Task(self.name, {**arguments, "bins": BINS}, data, cost=_cost(arguments))]

    def work(self, arguments: dict[str, Any], data: StudyData) -> list[Row]:
        name, bins = arguments["method"], arguments["bins"]
        began = time.perf_counter()
        chosen = methods.apply(name, data.X, data.y, arguments["features"], bins=bins)
        seconds = time.perf_counter() - began
        A, B = (_dense(X, chosen.features) for X in (data.X, data.held_X))
        assert data.held_y is not None
        areas, caught = learners.svm_aucs(A, data.y, [(A, data.y), (B, data.held_y)])
        at = Row(data.name, name)
        rows = [*selection_rows(at, chosen, seconds), *score_rows(at, *areas)]
        rows += [at._replace(measure="warning", value=1.0, note=note) for note in caught]
        if data.is_real is not None:
            probes = float((~data.is_real[chosen.features]).sum())
            rows.append(at._replace(measure="probes", value=probes))
        return rows

    def error(self, scores: list[float], facts: dict[str, Any]) -> float:
        half = facts["held"] // 2  # both classes are equally frequent in these sets
        return auc_error(mean(scores), half, half)

    def tables(self, results: Results) -> list[Table]:
        held, train = super().tables(results)
        return [self._beside_paper(results), held, train]

    def _beside_paper(self, results: Results) -> Table:
        columns, facts = ["method"], list(results.data)
        for f in facts:
            other = " (of Gisette)" if f["name"] == "gisette-like" else ""
            columns += [f"{f['title']}: AUC", f"paper{other}", "probes", f"paper{other}"]
        rows = []
        for method in results.methods():
            line: list[Any] = [method]
            for f in facts:
                printed = _PRINTED[f["name"]]
                probes = results.where(dataset=f["name"], method=method, measure="probes")
                ends = self.last(results, f["name"], method, "held")
                line += [
                    mean(ends) if ends else None,
                    paper.TEST_AUC[printed].get(method),
                    int(probes[0].value) if probes else None,
                    paper.PROBES[printed].get(method),
                ]
            rows.append(line)
        note = (
            "ours: validation rows; the paper's: test rows, whose labels were never published. "
            "gisette-like is a stand-in made from MNIST, not Gisette: the paper's figures beside it "
            "are of another set. "
        )
        title = "AUC by the last size, and probes among the selected features"
        return Table("challenge", title, columns, rows, note + self._missing_note(results))

    def findings(self, results: Results) -> list[str]:
        sentences = super().findings(results)
        for facts in results.data:
            counts = {
                row.method: int(row.value)
                for row in results.where(dataset=facts["name"], measure="probes")
            }
            if counts:
                sentences.append(_probe_sentence(facts, counts))
        sentences.append(
            "Ours are on validation rows, the paper's on test rows whose labels were never "
            "published; they are not the same numbers."
        )
        return sentences


def _cost(arguments: dict[str, Any]) -> float:
    slow = {"OLSd": 7.0, "LASSO": 2.5, "Net": 2.5}
    return slow.get(arguments["method"], 0.7) * (1 if arguments["dataset"] == "dexter" else 1.5)


def _dense(X: Any, columns: list[int]) -> NDArray[np.float64]:
    A = X[:, columns]
    return (A.toarray() if sp.issparse(A) else A).astype(float)


def _probe_sentence(facts: dict[str, Any], counts: dict[str, int]) -> str:
    title = DATASETS[facts["name"]].title
    takers = {name: count for name, count in counts.items() if count}
    if not takers:
        return f"{title}: no method took a probe among {facts['selected']} features."
    shown = listed([f"{name} {count}" for name, count in takers.items()])
    printed = paper.PROBES[_PRINTED[facts["name"]]]
    same = [n for n in counts if n in printed and counts[n] == printed[n]]
    beside = (
        ""
        if facts["name"] == "gisette-like"
        else (f" The number is the paper's for {listed(same) or 'none'}.")
    )
    return f"{title}: probes among {facts['selected']} features: {shown}; the others none.{beside}"
