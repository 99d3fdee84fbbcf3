"""Several methods side by side: cross-validated scores against the number of features."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from orthoselect.lazy import lazy
from orthoselect.result import findings
from orthoselect.result.best_sizes import cells_of_sizes, find_best_sizes
from orthoselect.result.findings import figure, score_name, with_error
from orthoselect.result.fold_scores import (
    CLEARLY,
    ROUNDING,
    FoldScores,
    PairedDifference,
    standard_deviation,
    standard_error,
)
from orthoselect.result.tabular import Reported, escaped
from orthoselect.result.text import as_table, plain

ALL_FEATURES, NO_FEATURES = "all features", "no features"


@dataclass(frozen=True)
class FoldRun:
    """What one method, or a baseline, did on one fold."""

    method: str
    repeat: int  # from 1 on
    fold: int  # from 1 on
    features: tuple[str, ...]  # what it selected on the training rows, in order
    seconds: float | None  # how long that took; None of a baseline, which selects nothing
    # For each number of features, the model's score on the training and on the validation rows.
    # There is none for more features than were selected.
    scores: Mapping[int, tuple[float, float]]


@dataclass(frozen=True)
class ComparedMethod:
    """One of the methods that were compared, or a baseline."""

    name: str
    summary: str  # what it is, in one line
    failed: str | None = None  # why there is nothing of it, if so


@dataclass(frozen=True)
class Setting:
    """What was asked of a comparison."""

    title: str  # what to call the data
    target: str  # what to call the response
    task: str  # "classification" or "regression"
    estimator: str
    scoring: str  # what the estimator was judged by
    folds: int
    repeats: int
    seed: int
    sizes: tuple[int, ...]  # numbers of features
    scoring_reason: str = ""  # why this score, if nobody asked for one
    estimator_reason: str = ""  # why this model, or what it cannot see of what methods select
    ratio: float | None = None  # validation rows over training rows, if not 1 / (folds - 1)
    created: str = ""  # when, in ISO format
    data: Mapping[str, Any] = field(default_factory=dict)  # facts about the data, plain
    reproduce: Mapping[str, Any] = field(default_factory=dict)  # how to do it again, plain

    @property
    def folds_in_effect(self) -> float:
        """Folds that would have the same ratio of validation rows to training rows."""
        return self.folds if self.ratio is None else 1 + 1 / self.ratio


class Comparison(Reported):
    """Cross-validated scores of several methods against the number of selected features.

    Two baselines stand beside the methods: all features, and none. Spread is given as standard
    errors, SE = s sqrt(1/J + 1/(K - 1)) of J scores with standard deviation s in K folds. Scores
    are set against the best cell (a method with a number of features) fold by fold; what lies at
    most one standard error of that difference below it is as good as the best. Folds share
    training rows, so that standard errors are approximate; and the best of many cells is partly
    the luckiest, so that its score is optimistic.

    As a table (`to_frame`, `to_csv`) it has one row for each method, fold and number of features,
    with columns method, repeat, fold, n_features, train, validation and seconds. The baselines are
    in it as methods "all features" and "no features".

    Parameters
    ----------
    runs : iterable of FoldRun
        What each method and baseline did on each fold.
    methods : sequence of ComparedMethod
        The methods, in the order in which they are shown; of equally good ones, the first wins.
    setting : Setting
    baselines : sequence of ComparedMethod, optional
        What the methods are set against: "all features" and "no features".

    Attributes
    ----------
    runs : tuple of FoldRun
    methods, baselines : tuple of ComparedMethod
    setting : Setting

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from orthoselect import compare
    >>> wine = load_wine(as_frame=True).frame
    >>> comparison = compare(wine, "target", ["socc", "lasso"], sizes=[1, 2, 4])
    >>> print(comparison.sentence)
    The highest mean accuracy on 5 validation folds is 0.961 ± 0.025 by socc with 4 features (the
    best of 6 scores, so optimistic); no smaller number of features comes within one standard error
    of it; all 13 features do better, 0.994 ± 0.009.
    >>> [(row["method"], row["n_features"]) for row in comparison.baseline_scores]
    [('no features', 0), ('all features', 13)]
    >>> comparison.to_frame().columns.tolist()
    ['method', 'repeat', 'fold', 'n_features', 'train', 'validation', 'seconds']
    """

    def __init__(
        self,
        runs: Iterable[FoldRun],
        methods: Sequence[ComparedMethod],
        setting: Setting,
        baselines: Sequence[ComparedMethod] = (),
    ) -> None:
        place = {method.name: k for k, method in enumerate([*methods, *baselines])}
        self.runs = tuple(sorted(runs, key=lambda r: (place[r.method], r.repeat, r.fold)))
        self.methods, self.baselines = tuple(methods), tuple(baselines)
        self.setting = setting

    def __getstate__(self) -> dict[str, Any]:
        """Return what was given, for files; what follows from it is computed again when asked."""
        given = ("runs", "methods", "baselines", "setting")
        return {name: vars(self)[name] for name in given}

    @property
    def n_runs(self) -> int:
        """Number of folds in all, those of all repeats together."""
        return self.setting.folds * self.setting.repeats

    @property
    def complete(self) -> bool:
        """Whether everything that did not fail was run on every fold."""
        done = Counter(run.method for run in self.runs)
        everything = (*self.methods, *self.baselines)
        return all(done[m.name] == self.n_runs for m in everything if m.failed is None)

    @lazy
    def records(self) -> list[dict[str, Any]]:
        """One record for each method or baseline, fold and number of features.

        `seconds` is the time of the fold's one selection, of as many features as were asked for;
        `features` are the names of the first `n_features` of them. Baselines select nothing.
        """
        return [
            {
                "method": run.method,
                "repeat": run.repeat,
                "fold": run.fold,
                "n_features": size,
                "train": train,
                "validation": validation,
                "seconds": run.seconds,
                "features": list(run.features[:size]),
            }
            for run in self.runs
            for size, (train, validation) in sorted(run.scores.items())
        ]

    @lazy
    def curves(self) -> list[dict[str, Any]]:
        """Mean, standard deviation and standard error, for each method and number of features.

        `folds` says how many scores they rest on: fewer than there are where a method found
        nothing more to select on some folds. `difference` is how far it lies below the best cell,
        fold by fold, and `difference_se` the standard error of that; `as_good` says whether the
        difference is at most one standard error. Deviation and errors are None for one fold.
        """
        return [
            self._point(m.name, size)
            for m in self.methods
            for size in self.setting.sizes
            if (m.name, size) in self._folds
        ]

    @lazy
    def baseline_scores(self) -> list[dict[str, Any]]:
        """The same for the baselines that worked, the one with fewer features first."""
        names = {baseline.name for baseline in self.baselines}
        found = sorted((size, name) for name, size in self._folds if name in names)
        return [self._point(name, size) for size, name in found]

    @lazy
    def _folds(self) -> dict[tuple[str, int], dict[str, FoldScores]]:
        """The scores of each method and size, by repeat and fold: in training and validation."""
        found: dict[tuple[str, int], dict[str, Any]] = {}
        for run in self.runs:
            for size, (train, validation) in run.scores.items():
                cell = found.setdefault((run.method, size), {"train": {}, "validation": {}})
                cell["train"][run.repeat, run.fold] = train
                cell["validation"][run.repeat, run.fold] = validation
        return found

    @lazy
    def _top(self) -> tuple[str, int] | None:
        """Method and size of the best cell: the highest mean of those with scores on most folds."""
        cells = [
            (m.name, size)
            for size in self.setting.sizes
            for m in self.methods
            if (m.name, size) in self._folds
        ]
        if not cells:
            return None
        most = max(len(self._folds[cell]["validation"]) for cell in cells)
        full = [cell for cell in cells if len(self._folds[cell]["validation"]) == most]
        means = {cell: fmean(self._folds[cell]["validation"].values()) for cell in full}
        highest = max(means.values())
        return next(cell for cell in full if means[cell] >= highest - ROUNDING)

    def _point(self, method: str, size: int) -> dict[str, Any]:
        cell = self._folds[method, size]
        train, validation = list(cell["train"].values()), list(cell["validation"].values())
        below = None if self._top is None else self._difference(self._top, (method, size))
        is_full = self._top is not None and len(validation) >= len(
            self._folds[self._top]["validation"]
        )
        return {
            "method": method,
            "n_features": size,
            "train": fmean(train),
            "train_std": standard_deviation(train),
            "validation": fmean(validation),
            "validation_std": standard_deviation(validation),
            "validation_se": standard_error(validation, self.setting.folds_in_effect),
            "folds": len(validation),
            "difference": None if below is None else below.mean,
            "difference_se": None if below is None else below.error,
            "as_good": is_full and below is not None and below.is_small,
        }

    def _difference(
        self, first: tuple[str, int], second: tuple[str, int]
    ) -> PairedDifference | None:
        """Return by how much one cell is above another, fold by fold."""
        scores = self._folds[first]["validation"], self._folds[second]["validation"]
        return PairedDifference.of(scores[0], scores[1], self.setting.folds_in_effect)

    @lazy
    def best(self) -> list[dict[str, Any]]:
        """The best method for each number of features, by its mean score on validation folds.

        Only methods compete that have scores on the same number of folds, the most that any has.
        `within` are the others whose difference from it, fold by fold, is at most one standard
        error, the nearest first. The rest is as in `curves`: differences are those from the best
        cell of all sizes.
        """
        found = []
        for size in self.setting.sizes:
            points = [point for point in self.curves if point["n_features"] == size]
            most = max((point["folds"] for point in points), default=0)
            if most:
                found.append(self._best([point for point in points if point["folds"] == most]))
        return found

    def _best(self, points: list[dict[str, Any]]) -> dict[str, Any]:
        highest = max(point["validation"] for point in points)
        top = next(point for point in points if point["validation"] >= highest - ROUNDING)
        size, near = top["n_features"], []
        for point in points:
            below = self._difference((top["method"], size), (point["method"], size))
            if point is not top and below is not None and below.is_small:
                near.append(point)
        near.sort(key=lambda point: -point["validation"])
        return {
            **{name: top[name] for name in _OF_BEST},
            "within": [point["method"] for point in near],
        }

    @lazy
    def recommended(self) -> dict[str, Any] | None:
        """The fewest features that are as good as the best cell; None if there is no score.

        It is the first of `best` with `as_good`. It is the baseline without features if the best
        cell is at most two standard errors above that: then no method has shown that it finds
        anything.
        """
        for row in self.baseline_scores:
            if not row["n_features"] and row["difference"] is not None:
                clear = CLEARLY * (row["difference_se"] or 0.0) + ROUNDING
                if row["difference"] <= clear:
                    return row
        return next((row for row in self.best if row["as_good"]), None)

    @property
    def best_sizes(self) -> list[dict[str, Any]]:
        """The best size of each method with its standard error, and the smallest as good.

        As good means: at most one standard error of the difference, fold by fold, below the best
        size of the same method.
        """
        cells = {cell: scores["validation"] for cell, scores in self._folds.items()}
        return find_best_sizes(cells, [m.name for m in self.methods], self.setting)

    @property
    def highest(self) -> dict[str, Any] | None:
        """The best cell of all, one of `curves`; None if there is no score."""
        return None if self._top is None else self._point(*self._top)

    @property
    def selected(self) -> list[dict[str, Any]]:
        """How often each method selected each feature: in how many folds, the most frequent first.

        Of equally frequent ones, those selected earlier come first.
        """
        return [
            {"method": m.name, "features": _frequencies(runs)}
            for m in self.methods
            if (runs := [run for run in self.runs if run.method == m.name])
        ]

    def seconds(self, method: str) -> float | None:
        """Return the mean time of a method's selections, None if there is none."""
        times = [run.seconds for run in self.runs if run.method == method]
        return fmean(time for time in times if time is not None) if times else None

    @property
    def sentence(self) -> str:
        """The result in words: the fewest features that are as good as the best, and the best."""
        return findings.sentence(self)

    @property
    def findings(self) -> list[str]:
        """What a reader of the scores should know, a sentence or two each.

        How the baselines do, why the best score is optimistic, what it is scored by, and what the
        standard errors are.
        """
        return findings.all_findings(self)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, strings and lists, ready for JSON."""
        s = self.setting
        return {
            "kind": "comparison",
            **{name: getattr(s, name) for name in _KEYS},
            "sizes": list(s.sizes),
            "complete": self.complete,
            "methods": [{**vars(m), "seconds": self.seconds(m.name)} for m in self.methods],
            "baselines": plain(self._baselines()),
            "curves": plain(self.curves),
            "best": plain(self.best),
            "best_sizes": plain(self.best_sizes),
            "highest": plain(self.highest),
            "recommended": plain(self.recommended),
            "selected": self.selected,
            "records": plain(self.records),
            "sentence": self.sentence,
            "findings": self.findings,
            "data": dict(s.data),
            "reproduce": dict(s.reproduce),
        }

    def _baselines(self) -> list[dict[str, Any]]:
        """Return each baseline with what it is and its scores, None for one that failed."""
        points = {point["method"]: point for point in self.baseline_scores}
        nothing = dict.fromkeys(_POINT)
        return [
            {**vars(b), **nothing, **points.get(b.name, {}), "method": b.name}
            for b in self.baselines
        ]

    @property
    def _columns(self) -> Mapping[str, str]:
        return _TIDY

    def _rows(self) -> list[list[Any]]:
        """Return the rows of the tidy table."""
        return [[record[name] for name in _TIDY] for record in self.records]

    def plot(self, ax: Any = None) -> Any:
        """Draw the curves: score against the number of features, a line for each method.

        Whiskers are one standard error; the baselines are lines across.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.

        Returns
        -------
        ax : matplotlib Axes
        """
        from orthoselect import plots

        ax = plots.new_axes(640, 420) if ax is None else ax
        made = self.to_dict()
        return plots.draw_comparison(
            made["curves"],
            ax,
            scoring=score_name(self.setting.scoring),
            methods=[method.name for method in self.methods],
            baselines=made["baselines"],
        )

    def _heading(self) -> str:
        s = self.setting
        repeated = f", {s.repeats} times" if s.repeats > 1 else ""
        folds = f"mean of {s.folds} folds{repeated}" if self.complete else "as far as it was run"
        return f"{score_name(s.scoring)} of {s.estimator} on validation rows, {folds}"

    def _best_cells(self) -> tuple[list[str], list[list[str]]]:
        """Return the table of the best methods, with the baselines where their sizes belong."""
        rows = sorted([*self.baseline_scores, *self.best], key=lambda row: row["n_features"])
        header = ["features", "best", "score ± SE", "below the best", "as good", "others as good"]
        cells = [
            [
                str(row["n_features"]),
                row["method"],
                with_error(row["validation"], row["validation_se"], 4),
                _below(row),
                "yes" if row["as_good"] else "",
                ", ".join(row.get("within", ())),
            ]
            for row in rows
        ]
        return header, cells

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        """Return the header and the rows of the table that people see: a column for each method.

        The best of each row has a star; a mean of fewer folds than others says of how many. Below
        stand the best size of each method, the standard error there, and the smallest as good.
        """
        shown = [m.name for m in self.methods if any(m.name == p["method"] for p in self.curves)]
        points = {(point["n_features"], point["method"]): point for point in self.curves}
        rows = []
        for row in self.best:
            size, winner = row["n_features"], row["method"]
            cells = [_cell(points.get((size, m)), m == winner, row["folds"]) for m in shown]
            rows.append([str(size), *cells])
        rows += cells_of_sizes(self.best_sizes)
        times = [self.seconds(m) for m in shown]
        rows.append(["seconds", *("-" if t is None else f"{t:.3g} " for t in times)])
        return ["features", *shown], rows

    def _notes(self) -> list[str]:
        everything = (*self.methods, *self.baselines)
        failed = [f"{m.name}: {m.failed}" for m in everything if m.failed is not None]
        return [self.sentence, *self.findings, *failed]

    def to_text(self) -> str:
        """Return the tables that people see: the best method by size, and all methods."""
        tables = [
            as_table(*self._best_cells(), left={1, 4, 5}, indent="  "),
            as_table(*self._cells(), indent="  "),
        ]
        notes = [f"  {' '.join(note.split())}" for note in self._notes()]
        return "\n".join([self._heading(), *(tables if self.best else []), *notes])

    def _html_tables(self) -> list[tuple[str, list[str], list[list[str]]]]:
        best, (header, rows) = self._best_cells(), self._cells()
        starred = [[_html_cell(cell) for cell in row] for row in rows]
        return [(self._heading(), best[0], escaped(best[1])), ("all methods", header, starred)]


# The columns of the tidy table, and what they hold.
_TIDY = {
    "method": "String",
    "repeat": "Int64",
    "fold": "Int64",
    "n_features": "Int64",
    "train": "Float64",
    "validation": "Float64",
    "seconds": "Float64",
}
# What is reported of a setting beside its sizes.
_KEYS = (
    *("title", "created", "target", "task", "estimator", "estimator_reason"),
    *("scoring", "scoring_reason"),
    *("folds", "repeats", "seed"),
)
# What is reported of a cell, and which of it for the best of a size.
_SCORES = ("train", "train_std", "validation", "validation_std", "validation_se", "folds")
_POINT = ("method", "n_features", *_SCORES, "difference", "difference_se", "as_good")
_OF_BEST = tuple(name for name in _POINT if not name.startswith("train"))


def _frequencies(runs: Sequence[FoldRun]) -> list[dict[str, Any]]:
    counts = Counter(name for run in runs for name in run.features)
    places = Counter[str]()
    for run in runs:
        places.update({name: place for place, name in enumerate(run.features)})
    ordered = sorted(counts, key=lambda name: (-counts[name], places[name] / counts[name], name))
    return [{"name": name, "folds": counts[name]} for name in ordered]


def _cell(point: Mapping[str, Any] | None, best: bool, folds: int) -> str:
    if point is None:
        return "- "
    few = f" ({point['folds']})" if point["folds"] < folds else ""
    return f"{figure(point['validation'], 4)}{few}{'*' if best else ' '}"


def _below(row: Mapping[str, Any]) -> str:
    """Return how far a row lies below the best cell."""
    if row["difference"] is None:
        return "-"
    return with_error(row["difference"], row["difference_se"], 4)


def _html_cell(cell: str) -> str:
    text = html.escape(cell.strip().removesuffix("*"))
    return f"<b>{text}</b>" if cell.endswith("*") else text
