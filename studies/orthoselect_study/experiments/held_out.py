"""Data sets with rows to judge by: sets with probes by linear SVMs, MNIST by LDA.

Which linear SVM the paper has is not known, and it matters: so there are three. The curves and
ranks are those of the plainest, columns on the one scale that they come with (whole numbers up to
999, divided by the largest) and C = 1; beside it stand columns standardized one by one, and C
chosen by cross-validation. That it is this one was decided after all three had been seen on Dexter,
where it suits OLS best: the tables say so, and the findings give the verdict of each.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from orthoselect_study import learners, methods, paper
from orthoselect_study.binarizer import RandomBinarizer
from orthoselect_study.datasets import StudyData, title_of
from orthoselect_study.experiments.base import HELD, Arguments, Curves, Facts, score_rows
from orthoselect_study.figures import Figure, draw_maps
from orthoselect_study.findings import auc_error, listed, mean, printed_gap, share_error
from orthoselect_study.pages import Cell, Table
from orthoselect_study.records import Results, Row, Task, seed_for
from orthoselect_study.settings import Settings

Floats = NDArray[np.float64]

_BINS = 10
# The three SVMs, and what their scores are called in the results.
_SVMS = {"one scale": HELD, "standardized": "held, standardized", "tuned": "held, tuned"}
_SHAPE = (28, 28)  # of a digit, in pixels
_BRIGHTEST = 255


class Challenge(Curves):
    """Dexter and Gisette, sets of the NIPS 2003 challenge: linear SVMs of 20 selected features."""

    name = "challenge"
    title = "Sets with probes"
    about = "Dexter and Gisette, 20 features in the paper: AUC of linear SVMs, and probes taken"
    uses = frozenset({"methods", "features", "rows"})
    sets = {"dexter": 20, "gisette-like": 20, "gisette": 20}  # noqa: RUF012
    score = "AUC"

    def tasks_of(self, arguments: Arguments, data: StudyData, settings: Settings) -> list[Task]:
        cost = {"OLSd": 7.0, "LASSO": 2.5, "Net": 2.5}.get(arguments["method"], 0.7)
        cost *= 1.0 if arguments["dataset"] == "dexter" else 1.5
        return [Task(self.name, {**arguments, "bins": _BINS}, data, cost)]

    def work(self, arguments: Arguments, data: StudyData) -> list[Row]:
        at, bins = Row(data.name, arguments["method"]), arguments["bins"]
        chosen = methods.apply(at.method, data.X, data.y, arguments["features"], bins=bins)
        tables = (X[:, chosen.features] for X in (data.X, data.held_X))
        dense = ((X.toarray() if sp.issparse(X) else X).astype(float) for X in tables)
        A, B = (X / data.X.max() for X in dense)
        assert data.held_y is not None
        judged = [(A, data.y), (B, data.held_y)]
        areas, caught = learners.svm_aucs(A, data.y, judged, range(1, A.shape[1] + 1))
        rows = [*chosen.rows(at), *score_rows(at, *areas)]
        rows += _other_svms(at, A, data.y, B, data.held_y, arguments["seed"])
        rows += [at._replace(measure="warning", value=1.0, note=note) for note in caught]
        if data.is_real is not None:
            probes = float((~data.is_real[chosen.features]).sum())
            rows.append(at._replace(measure="probes", value=probes))
        return rows

    def error(self, scores: list[float], weights: list[float], facts: Facts) -> float:
        half = facts["held"] // 2  # both classes are equally frequent in these sets
        return auc_error(mean(scores), half, half)

    def tables(self, results: Results) -> list[Table]:
        held, train = super().tables(results)
        return [self._beside_paper(results), self._three_svms(results), held, train]

    def _beside_paper(self, results: Results) -> Table:
        def heads(facts: Facts) -> list[str]:
            printed = f"paper{' (of Gisette)' * (facts['name'] == 'gisette-like')}"
            return [f"{facts['title']}: AUC", printed, "probes", printed]

        def cells(facts: Facts, method: str) -> list[Cell]:
            printed = paper.BESIDE[facts["name"]]
            probes = results.where(dataset=facts["name"], method=method, measure="probes")
            return [
                self._scores(results, facts["name"], HELD).get(method),
                paper.TEST_AUC[printed].get(method),
                int(probes[0].value) if probes else None,
                paper.PROBES[printed].get(method),
            ]

        note = "ours: validation rows; the paper's: test rows, whose labels were never published."
        if any(f["selected"] != paper.SELECTED for f in results.data):
            counts = listed([f"{f['selected']} features of {f['title']}" for f in results.data])
            note += f" Ours are by {counts}, the paper's by {paper.SELECTED}."
        if any(f["name"] == "gisette-like" for f in results.data):
            note += (
                " gisette-like is a stand-in made from MNIST, not Gisette: the paper's figures "
                "beside it are of another set."
            )
        title = "AUC by all selected features, and probes among them, beside the paper's"
        return Table("challenge", title, *self.by_method(results, heads, cells, "{}: AUC"), note)

    def _three_svms(self, results: Results) -> Table:
        def heads(facts: Facts) -> list[str]:
            return [f"{facts['title']}: {svm}" for svm in _SVMS]

        def cells(facts: Facts, method: str) -> list[Cell]:
            scores = [self._scores(results, facts["name"], svm) for svm in _SVMS.values()]
            return [known.get(method) for known in scores]

        title = "Validation AUC by all selected features, by three linear SVMs"
        note = (
            "one scale: columns divided by the largest value of the table, C = 1. standardized: "
            "each column by its own mean and standard deviation, C = 1. tuned: one scale, C of "
            "0.01, 0.1, 1, 10 or 100 by five-fold cross-validation on the training rows. The first "
            "gives the curves and ranks; that was decided after all three had been seen on all of "
            "Dexter, where it suited OLS best."
        )
        return Table("challenge_svms", title, *self.by_method(results, heads, cells), note)

    def _scores(self, results: Results, dataset: str, measure: str) -> dict[str, float]:
        """Return the score of each method by all its features, by one of the SVMs."""
        rows = results.where(dataset=dataset, measure=measure)
        last = {row.method: row.value for row in sorted(rows, key=lambda r: r.n_features or 0)}
        return {method: last[method] for method in results.methods() if method in last}

    def caveats(self, results: Results) -> list[str]:
        found = []
        for facts in results.data:
            for svm in ("standardized", "tuned"):
                known = self._scores(results, facts["name"], _SVMS[svm])
                known = {name: score for name, score in known.items() if name in methods.TWELVE}
                if len(known) == paper.OF and _place(known) > paper.FIRST:
                    found.append(
                        f"{facts['title']}: the rank depends on the SVM. By the one called {svm} "
                        f"OLS is number {_place(known)} of {len(known)} with all features, and "
                        f"the claim does not hold there."
                    )
        return found

    def _by_svm(self, results: Results, facts: Facts) -> list[str]:
        """Say whether OLS is ahead of MIM and JMI, by each of the SVMs."""
        sentences = []
        for svm, measure in _SVMS.items():
            known = self._scores(results, facts["name"], measure)
            if not {"OLS", "MIM", "JMI"} <= set(known):
                continue
            ahead = [name for name in ("MIM", "JMI") if printed_gap(known["OLS"], known[name]) > 0]
            verdict = f"ahead of {listed(ahead)}" if ahead else "ahead of neither MIM nor JMI"
            error = auc_error(known["OLS"], facts["held"] // 2, facts["held"] // 2)
            sentences.append(
                f"{facts['title']}, SVM {svm}: OLS {known['OLS']:.4f} is {verdict} (MIM "
                f"{known['MIM']:.4f}, JMI {known['JMI']:.4f}; standard error of one AUC about "
                f"{error:.4f}) and number {_place(known)} of {len(known)}."
            )
        return sentences

    def findings(self, results: Results) -> list[str]:
        sentences = super().findings(results)
        for facts in results.data:
            rows = results.where(dataset=facts["name"], measure="probes")
            counts = {row.method: int(row.value) for row in rows}
            if counts:
                sentences.append(_probe_sentence(facts, counts))
            sentences += self._by_svm(results, facts)
        sentences.append(
            "Ours are on validation rows, the paper's on test rows whose labels were never "
            "published; they are not the same numbers."
        )
        return sentences


class Mnist(Curves):
    """MNIST: 50 of 784 pixels, LDA on the test rows, and where the pixels lie."""

    name = "mnist"
    title = "MNIST"
    about = "784 pixels of digits, 50 of them in the paper: accuracy of LDA, and maps of the pixels"
    uses = frozenset({"methods", "features", "rows"})
    sets = {"mnist": 50}  # noqa: RUF012

    def tasks_of(self, arguments: Arguments, data: StudyData, settings: Settings) -> list[Task]:
        cost = 9.0 if arguments["method"] in ("LASSO", "Net") else 5.0
        return [Task(self.name, arguments, data, cost=cost * data.X.shape[0] / 60000)]

    def work(self, arguments: Arguments, data: StudyData) -> list[Row]:
        at = Row(data.name, arguments["method"])
        # Grey levels become bits by chance, the same ones for all methods.
        chance = seed_for(arguments["seed"], "mnist", "bits")
        bits = RandomBinarizer(maximum=_BRIGHTEST, random_state=chance)
        chosen = methods.apply(at.method, data.X, data.y, arguments["features"], bins=bits)
        A, B = (X[:, chosen.features].astype(float) for X in (data.X, data.held_X))
        assert data.held_y is not None
        scores = learners.lda_accuracies(A, data.y, [(A, data.y), (B, data.held_y)])
        return [*chosen.rows(at), *score_rows(at, *scores)]

    def error(self, scores: list[float], weights: list[float], facts: Facts) -> float:
        return share_error(mean(scores), facts["held"])

    def figures(self, results: Results) -> list[Figure]:
        orders: dict[str, list[int]] = {}
        for method in results.methods():
            rows = results.where(method=method, measure="feature")
            orders[method] = [int(r.value) for r in sorted(rows, key=lambda r: r.n_features or 0)]
        if not orders:
            return []
        title = "MNIST: the selected pixels, the first ones deepest"
        return [*super().figures(results), draw_maps("mnist_pixels", title, orders, _SHAPE)]


def _place(scores: dict[str, float]) -> int:
    return 1 + sum(score > scores["OLS"] for score in scores.values())


def _other_svms(at: Row, A: Floats, y: NDArray, B: Floats, held_y: NDArray, seed: int) -> list[Row]:
    """Return what two other linear SVMs make of all selected columns."""
    at = at._replace(n_features=A.shape[1])
    tuned, C = learners.tuned_svm_auc(A, y, (B, held_y), seed_for(seed, "svm", at.dataset))
    mean_, scale = A.mean(axis=0), A.std(axis=0)
    A, B = (A - mean_) / scale, (B - mean_) / scale
    (areas,), _ = learners.svm_aucs(A, y, [(B, held_y)], [A.shape[1]])
    return [
        at._replace(measure=_SVMS["standardized"], value=areas[0]),
        at._replace(measure=_SVMS["tuned"], value=tuned, note=f"C = {C:g}"),
    ]


def _probe_sentence(facts: Facts, counts: dict[str, int]) -> str:
    title = title_of(facts["name"])
    takers = {name: count for name, count in counts.items() if count}
    if not takers:
        return f"{title}: no method took a probe among {facts['selected']} features."
    shown = listed([f"{name} {count}" for name, count in takers.items()])
    others = "; the others none" if len(takers) < len(counts) else ""
    sentence = f"{title}: probes among {facts['selected']} features: {shown}{others}."
    if facts["name"] == "gisette-like" or facts["selected"] != paper.SELECTED:
        return sentence  # the paper's numbers are of something else
    printed = paper.PROBES[paper.BESIDE[facts["name"]]]
    same = [n for n in counts if n in printed and counts[n] == printed[n]]
    return f"{sentence} The number is the paper's for {listed(same) or 'none'}."
