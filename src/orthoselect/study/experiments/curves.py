"""What experiments on data sets share: scores against the number of features, ranks, figures."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from orthoselect.study import figures, methods
from orthoselect.study.datasets import DATASETS, DataSource, StudyData, load
from orthoselect.study.experiments.base import Experiment, absence_sentences
from orthoselect.study.figures import Curve
from orthoselect.study.findings import Standing, standing_sentences
from orthoselect.study.records import Plan, Results, Row, Task, mean
from orthoselect.study.settings import Settings
from orthoselect.study.tables import Table

TRAIN, HELD = "train", "held"


class Curves(Experiment):
    """Scores of the first 1, 2, ... features of each method, on training rows and on others.

    Attributes
    ----------
    sets : mapping of data set to the number of features
    methods : tuple of str
    score : str
        What the numbers are, in a word.
    """

    sets: Mapping[str, int]
    methods: tuple[str, ...] = methods.TWELVE
    score = "accuracy"

    def plan(self, settings: Settings, source: DataSource) -> Plan:
        names = methods.chosen(settings, self.methods)
        loaded = load(self.sets, source)
        tasks: list[Task] = []
        facts: list[dict[str, Any]] = []
        for name, data in loaded.sets.items():
            data = self.prepared(data, settings)
            n_features = min(settings.or_else("features", self.sets[name]), data.X.shape[1])
            facts.append({**data.facts(), "selected": n_features})
            for method in names:
                arguments = {
                    "seed": settings.seed,
                    "dataset": name,
                    "method": method,
                    "call": methods.described(method),
                    "features": n_features,
                }
                tasks += self.tasks_of(arguments, data, settings)
        more = {"methods": names, **self.extra_facts(settings)}
        return Plan(tasks, facts, loaded.missing, loaded.damaged, more)

    def limits(self, option: str, settings: Settings, source: DataSource) -> dict[str, int]:
        # Sets with fewer features give all they have; the widest has to have as many as asked for.
        sets = load(self.sets, source).sets.values()
        if option != "features" or not sets:
            return {}
        widest = max(sets, key=lambda data: data.X.shape[1])
        return {widest.title: widest.X.shape[1]}

    def prepared(self, data: StudyData, settings: Settings) -> StudyData:
        """Return the set as the experiment uses it."""
        return data

    def extra_facts(self, settings: Settings) -> dict[str, Any]:
        """Return what else tables have to know."""
        return {}

    @abstractmethod
    def tasks_of(
        self, arguments: dict[str, Any], data: StudyData, settings: Settings
    ) -> list[Task]:
        """Return the tasks of one method on one set."""

    # From results

    def curve(self, results: Results, dataset: str, method: str, measure: str) -> Curve:
        """Return sizes and scores, the mean over folds where there are some."""
        found: dict[int, list[float]] = {}
        for row in results.where(dataset=dataset, method=method, measure=measure):
            found.setdefault(row.n_features or 0, []).append(row.value)
        sizes = sorted(found)
        return sizes, [mean(found[size]) for size in sizes]

    def last(self, results: Results, dataset: str, method: str, measure: str) -> list[float]:
        """Return the score at the last size, one for each fold."""
        ends: dict[int | None, tuple[int, float]] = {}
        for row in results.where(dataset=dataset, method=method, measure=measure):
            size = row.n_features or 0
            if size >= ends.get(row.fold, (0, 0.0))[0]:
                ends[row.fold] = (size, row.value)
        return [ends[fold][1] for fold in sorted(ends, key=str)]

    @abstractmethod
    def error(self, scores: list[float], facts: dict[str, Any]) -> float:
        """Return the standard error of the mean of some scores."""

    def standings(self, results: Results) -> list[Standing]:
        return [
            standing
            for facts in results.data
            for standing in (self._last_standing(results, facts), self._mean_of(results, facts))
            if standing is not None
        ]

    def _last_standing(self, results: Results, facts: dict[str, Any]) -> Standing | None:
        if facts["selected"] == facts["features"]:
            return None  # with all features every method has the same set
        name = facts["name"]
        ends = {m: self.last(results, name, m, HELD) for m in results.methods()}
        ends = {m: scores for m, scores in ends.items() if scores}
        errors = {m: self.error(v, facts) for m, v in ends.items()}
        measure = f"{_held(facts)} {self.score} by {facts['selected']} features"
        return Standing(facts["title"], measure, ends, errors, "last") if ends else None

    def _mean_of(self, results: Results, facts: dict[str, Any]) -> Standing | None:
        samples = {}
        for method in results.methods():
            folds: dict[int | None, list[float]] = {}
            for row in results.where(dataset=facts["name"], method=method, measure=HELD):
                folds.setdefault(row.fold, []).append(row.value)
            if folds:
                samples[method] = [mean(folds[fold]) for fold in sorted(folds, key=str)]
        errors = {m: self.error(v, facts) for m, v in samples.items()}
        measure = f"mean {_held(facts)} {self.score} by 1 to {facts['selected']} features"
        return Standing(facts["title"], measure, samples, errors, "mean") if samples else None

    def tables(self, results: Results) -> list[Table]:
        return [self._final(results, HELD), self._final(results, TRAIN)]

    def _final(self, results: Results, measure: str) -> Table:
        facts = list(results.data)
        columns = ["method", *(f"{f['title']} ({f['selected']})" for f in facts)]
        columns += [DATASETS[name].title for name in results.absent()]
        rows: list[list[Any]] = []
        for method in results.methods():
            cells = [self._cell(results, f, method, measure) for f in facts]
            rows.append([method, *cells, *(state for state, _ in results.absent().values())])
        parts = sorted({_held(f) for f in facts}) or ["validation"]
        part = "training" if measure == TRAIN else " and ".join(parts)
        score = self.score[0].upper() + self.score[1:]
        note = "In brackets: the number of features."
        if measure == HELD:
            note = f"± one standard error. {note}"
        return Table(f"{self.name}_{measure}", f"{score}, {part} rows", columns, rows, note)

    def _cell(self, results: Results, facts: dict[str, Any], method: str, measure: str) -> Any:
        scores = self.last(results, facts["name"], method, measure)
        if not scores or measure == TRAIN:
            return mean(scores) if scores else None
        return f"{mean(scores):.4f} ± {self.error(scores, facts):.4f}"

    def figures(self, results: Results) -> list[figures.Figure]:
        panels: dict[str, dict[str, dict[str, Curve]]] = {}
        for facts in results.data:
            parts = {"training": TRAIN, _held(facts): HELD}
            row = {
                part: {m: self.curve(results, facts["name"], m, measure) for m in results.methods()}
                for part, measure in parts.items()
            }
            if any(sizes for methods_ in row.values() for sizes, _ in methods_.values()):
                panels[facts["title"]] = row
        if not panels:
            return []
        title = f"{self.title}: {self.score} against the number of features"
        return [figures.Figure(self.name, title, figures.draw_curves(panels, self.score))]

    def findings(self, results: Results) -> list[str]:
        sentences = [
            s for standing in self.standings(results) for s in standing_sentences(standing)
        ]
        sentences += absence_sentences(results)
        short = sorted({(r.dataset, r.method, r.note) for r in results.where(measure="warning")})
        return sentences + [
            f"{DATASETS[d].title}, {m}: {note}" for d, m, note in short if "selected" in note
        ]


def _held(facts: dict[str, Any]) -> str:
    return facts["held_name"] or "validation"


def score_rows(at: Row, trained: list[float], held: list[float]) -> list[Row]:
    """Return the rows of two curves."""
    rows = []
    for size, (one, other) in enumerate(zip(trained, held), start=1):
        rows.append(at._replace(n_features=size, measure=TRAIN, value=one))
        rows.append(at._replace(n_features=size, measure=HELD, value=other))
    return rows


def selection_rows(at: Row, chosen: methods.Selection, seconds: float) -> list[Row]:
    """Return what was selected, in order, and how long that took."""
    rows = [
        at._replace(n_features=step, measure="feature", value=float(feature))
        for step, feature in enumerate(chosen.features, start=1)
    ]
    rows += [at._replace(measure="warning", value=1.0, note=note) for note in chosen.warnings]
    return [*rows, at._replace(measure="seconds", value=seconds)]


def binomial_error(scores: list[float], count: int) -> float:
    """Return the standard error of an accuracy on so many rows."""
    share = mean(scores)
    return math.sqrt(max(share * (1.0 - share), 0.0) / count)


def fold_error(scores: list[float]) -> float:
    """Return the standard error of a mean over folds."""
    if len(scores) < 2:
        return math.nan
    center = mean(scores)
    variance = sum((score - center) ** 2 for score in scores) / (len(scores) - 1)
    return math.sqrt(variance / len(scores))


def auc_error(area: float, n_one: int, n_other: int) -> float:
    """Return the standard error of an area under the ROC curve (Hanley and McNeil 1982).

    Examples
    --------
    >>> round(auc_error(0.9, 150, 150), 3)
    0.018
    """
    q1, q2 = area / (2 - area), 2 * area**2 / (1 + area)
    spread = area * (1 - area) + (n_one - 1) * (q1 - area**2) + (n_other - 1) * (q2 - area**2)
    return math.sqrt(max(spread, 0.0) / (n_one * n_other))
