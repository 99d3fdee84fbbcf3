"""What an experiment is: a plan of tasks, the work of one, and what is made of the results.

`Curves` is what experiments on data sets share: scores against the number of features.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from orthoselect_study import methods
from orthoselect_study.datasets import DataSource, StudyData, load, title_of
from orthoselect_study.figures import Curve, Figure, draw_curves
from orthoselect_study.findings import Standing, listed, mean, standing_sentence
from orthoselect_study.pages import Cell, Table
from orthoselect_study.records import Plan, Results, Row, Task, grouped
from orthoselect_study.settings import Settings

TRAIN, HELD = "train", "held"
Arguments = dict[str, Any]  # of a task: plain values
Facts = dict[str, Any]  # of a data set


class Experiment(ABC):
    """One experiment of the study.

    A new one is a subclass in a file of its own and one entry in `EXPERIMENTS`.
    """

    name: str
    title: str
    about: str
    uses: frozenset[str] = frozenset()  # the options of `settings.OVERRIDES` that it has a use for
    alone: bool = False  # whether times are measured, so that nothing may run beside its tasks

    @abstractmethod
    def plan(self, settings: Settings, source: DataSource) -> Plan:
        """Return the tasks, and facts of the data."""

    def limits(self, option: str, settings: Settings, source: DataSource) -> dict[str, int]:
        """Return the most that an option may be, by the title of a data set."""
        return {}

    def thinned(self, data: StudyData, settings: Settings) -> StudyData:
        """Return a set with the training rows asked for, if that means something here."""
        rows = settings.or_else("rows", None) if "rows" in self.uses else None
        return data.thinned(rows, settings.seed)

    @abstractmethod
    def work(self, arguments: Arguments, data: Any) -> list[Row]:
        """Do one task; it may depend on nothing but its arguments and data."""

    @abstractmethod
    def tables(self, results: Results) -> list[Table]:
        """Return the tables, from results alone."""

    def figures(self, results: Results) -> list[Figure]:
        """Return the figures, from results alone."""
        return []

    @abstractmethod
    def findings(self, results: Results) -> list[str]:
        """Return what the results show, in sentences."""

    def caveats(self, results: Results) -> list[str]:
        """Return what the ranks over all data sets hang on."""
        return []

    def standings(self, results: Results) -> Sequence[Standing]:
        """Return how the methods did on each data set, for the ranks over all of them."""
        return []


def absence_sentences(results: Results) -> list[str]:
    """Say which data sets have no results, and why."""
    return [
        f"{title_of(name)} is {state}: {why.rstrip('.')}."
        for name, (state, why) in results.absent.items()
    ]


class Curves(Experiment):
    """Scores of the first 1, 2, ... features of each method, on training rows and on others."""

    sets: Mapping[str, int]  # how many features of each data set
    methods: tuple[str, ...] | None = None  # None for the paper's twelve and whatever was added
    score = "accuracy"  # what the numbers are, in a word
    note = ""  # how the numbers come about, where that is not plain

    def plan(self, settings: Settings, source: DataSource) -> Plan:
        names = methods.chosen(settings, self.methods)
        sets, absent = load(self.sets, source)
        tasks: list[Task] = []
        facts: list[dict[str, Any]] = []
        for name, data in sets.items():
            data = self.thinned(data, settings)
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
        return Plan(tasks, facts, absent, {"methods": names})

    def limits(self, option: str, settings: Settings, source: DataSource) -> dict[str, int]:
        # Sets with fewer features give all they have; the widest has to have as many as asked for.
        sets = load(self.sets, source)[0].values()
        if option != "features" or not sets:
            return {}
        widest = max(sets, key=lambda data: data.X.shape[1])
        return {widest.title: widest.X.shape[1]}

    @abstractmethod
    def tasks_of(self, arguments: Arguments, data: StudyData, settings: Settings) -> list[Task]:
        """Return the tasks of one method on one set."""

    # From results

    def folds(
        self, results: Results, facts: Facts, method: str, measure: str
    ) -> tuple[dict[int | None, list[float]], list[float]]:
        """Return the scores by 1, 2, ... features of each fold, and how many rows the folds have.

        Without folds there is one, None, that counts 1. Where a method ran out of features, its
        last score stands for the rest of the sizes. A mean weighted by rows is that over all rows.
        """
        found: dict[int | None, dict[int, float]] = {}
        for row in results.where(dataset=facts["name"], method=method, measure=measure):
            found.setdefault(row.fold, {})[row.n_features or 0] = row.value
        curves = {}
        for fold in sorted(found, key=lambda fold: fold or 0):
            scores = [found[fold][size] for size in sorted(found[fold])]
            curves[fold] = scores + scores[-1:] * (facts["selected"] - len(scores))
        rows = results.where(dataset=facts["name"], method=method, measure=f"{measure} rows")
        counts = {row.fold: row.value for row in rows}
        return curves, [counts.get(fold, 1.0) for fold in curves]

    @abstractmethod
    def error(self, scores: list[float], weights: list[float], facts: Facts) -> float:
        """Return the standard error of the mean of some scores."""

    def standings(self, results: Results) -> list[Standing]:
        return [each for facts in results.data for each in self._standings_of(results, facts)]

    def _standings_of(self, results: Results, facts: Facts) -> list[Standing]:
        """Return the standings by the last size and by the mean over sizes, if they are fair."""
        found = {m: self.folds(results, facts, m, HELD) for m in results.methods()}
        curves = {m: folds for m, (folds, _) in found.items() if folds}
        if len({tuple(folds) for folds in curves.values()}) != 1:
            return []  # none, or methods that were judged on different rows
        weights = found[next(iter(curves))][1]
        count = facts["selected"]

        def standing(kind: str, sizes: str, score: Callable[[list[float]], float]) -> Standing:
            samples = {m: [score(fold) for fold in folds.values()] for m, folds in curves.items()}
            errors = {m: self.error(scores, weights, facts) for m, scores in samples.items()}
            measure = f"{_held(facts)} {self.score} by {sizes} feature{'s' if count > 1 else ''}"
            return Standing(facts["title"], measure, samples, errors, kind, weights)

        takes_all = count == facts["features"]
        kind, sizes = ("all", f"all {count}") if takes_all else ("last", f"{count}")
        last = standing(kind, sizes, lambda fold: fold[-1])
        if count == 1:
            return [replace(last, kind="both")]
        average = standing("mean", f"1 to {count}", mean)
        return [last, replace(average, measure=f"mean {average.measure}")]

    def _unlike(self, results: Results) -> list[str]:
        """Say which results are not there, so that methods are not judged on the same rows."""
        folds = results.facts.get("folds")
        sentences = []
        for facts in results.data:
            counts = grouped(
                (len(self.folds(results, facts, m, HELD)[0]), m) for m in results.facts["methods"]
            )
            if set(counts) == {folds or 1}:
                continue
            if folds:
                shown = listed([f"{n} of {', '.join(names)}" for n, names in counts.items()])
                sentences.append(
                    f"{facts['title']}: of {folds} folds there are {shown}; methods that were "
                    f"judged on different rows are not compared."
                )
            else:
                sentences.append(f"{facts['title']}: no results yet of {', '.join(counts[0])}.")
        return sentences

    def _fewer(self, results: Results) -> list[str]:
        """Say which methods ran out of features, and in how many folds."""
        told = [r for r in results.where(measure="warning") if r.note.startswith("selected")]
        found = Counter((row.dataset, row.method, row.note) for row in told)
        folds = results.facts.get("folds")
        return [
            f"{title_of(dataset)}, {method}"
            + (f", in {count} of {folds} folds" if folds else "")
            + f": {note}"
            for (dataset, method, note), count in sorted(found.items())
        ]

    def tables(self, results: Results) -> list[Table]:
        return [self._final(results, HELD), self._final(results, TRAIN)]

    def by_method(
        self,
        results: Results,
        heads: Callable[[Facts], list[str]],
        cells: Callable[[Facts, str], list[Cell]],
        absent: str = "{}",
    ) -> tuple[list[str], list[list[Cell]]]:
        """Return columns and rows of a table with a line for each method.

        Every data set has some columns; one that is absent has one, which tells its state.
        """
        states = [state for state, _ in results.absent.values()]
        columns = ["method", *(head for facts in results.data for head in heads(facts))]
        columns += [absent.format(title_of(name)) for name in results.absent]
        rows: list[list[Cell]] = [
            [method, *(cell for facts in results.data for cell in cells(facts, method)), *states]
            for method in results.methods()
        ]
        return columns, rows

    def _final(self, results: Results, measure: str) -> Table:
        def cells(facts: Facts, method: str) -> list[Cell]:
            curves, weights = self.folds(results, facts, method, measure)
            scores = [fold[-1] for fold in curves.values()]
            if not scores:
                return [None]
            found = mean(scores, weights)
            error = self.error(scores, weights, facts)
            return [found if measure == TRAIN else f"{found:.4f} ± {error:.4f}"]

        def heads(facts: Facts) -> list[str]:
            return [f"{facts['title']} ({facts['selected']})"]

        parts = sorted({_held(facts) for facts in results.data}) or ["validation"]
        part = "training" if measure == TRAIN else " and ".join(parts)
        title = f"{self.score[0].upper()}{self.score[1:]}, {part} rows"
        notes = [self.note] if self.note else []
        notes += ["± one standard error."] if measure == HELD else []
        notes += ["In brackets: the number of features asked for.", *self._unlike(results)]
        if self._fewer(results):
            notes += ["Some methods selected fewer, as the findings tell."]
        columns, rows = self.by_method(results, heads, cells)
        return Table(f"{self.name}_{measure}", title, columns, rows, " ".join(notes))

    def figures(self, results: Results) -> list[Figure]:
        def curve(facts: Facts, method: str, measure: str) -> Curve:
            """Return the scores over all rows."""
            curves, weights = self.folds(results, facts, method, measure)
            return [mean(at_size, weights) for at_size in zip(*curves.values())]

        panels: dict[str, dict[str, dict[str, Curve]]] = {}
        for facts in results.data:
            row = {
                part: {m: curve(facts, m, measure) for m in results.methods()}
                for part, measure in (("training", TRAIN), (_held(facts), HELD))
            }
            if any(scores for part in row.values() for scores in part.values()):
                panels[facts["title"]] = row
        if not panels:
            return []
        title = f"{self.title}: {self.score} against the number of features"
        return [draw_curves(self.name, title, panels, self.score)]

    def findings(self, results: Results) -> list[str]:
        sentences = self._unlike(results)
        sentences += [standing_sentence(standing) for standing in self.standings(results)]
        return [*sentences, *absence_sentences(results), *self._fewer(results)]


def _held(facts: Facts) -> str:
    return facts["held_name"] or "validation"


def score_rows(at: Row, trained: list[float], held: list[float]) -> list[Row]:
    """Return the rows of two curves."""
    return [
        at._replace(n_features=size, measure=measure, value=score)
        for size, scores in enumerate(zip(trained, held), start=1)
        for measure, score in zip((TRAIN, HELD), scores)
    ]
