"""Several methods side by side: cross-validated scores against the number of features."""

from __future__ import annotations

import html
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from orthoselect.lazy import lazy
from orthoselect.result.text import Backend, as_csv, as_frame, as_html, as_table, plain

_ROUNDING = 1e-9  # the same features in another order give scores this close


@dataclass(frozen=True)
class FoldRun:
    """What one method did on one fold."""

    method: str
    repeat: int  # from 1 on
    fold: int  # from 1 on
    features: tuple[str, ...]  # what it selected on the training rows, in order
    seconds: float  # how long that took
    # For each number of features, the model's score on the training and on the validation rows.
    # There is none for more features than were selected.
    scores: Mapping[int, tuple[float, float]]


@dataclass(frozen=True)
class ComparedMethod:
    """One of the methods that were compared."""

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
    created: str = ""  # when, in ISO format
    data: Mapping[str, Any] = field(default_factory=dict)  # facts about the data, plain
    reproduce: Mapping[str, Any] = field(default_factory=dict)  # how to do it again, plain


class Comparison:
    """Cross-validated scores of several methods against the number of selected features.

    Parameters
    ----------
    runs : iterable of FoldRun
        What each method did on each fold.
    methods : sequence of ComparedMethod
        The methods, in the order in which they are shown; of equally good ones, the first wins.
    setting : Setting

    Attributes
    ----------
    runs : tuple of FoldRun
    methods : tuple of ComparedMethod
    setting : Setting

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from orthoselect import compare
    >>> wine = load_wine(as_frame=True).frame
    >>> comparison = compare(wine, "target", ["socc", "lasso"], sizes=[1, 2, 4])
    >>> print(comparison.sentence)
    socc with 4 features has the highest mean accuracy on 5 validation folds, 0.961 ± 0.037.
    >>> comparison.to_frame().columns.tolist()
    ['method', 'repeat', 'fold', 'n_features', 'train', 'validation', 'seconds']
    """

    def __init__(
        self, runs: Iterable[FoldRun], methods: Sequence[ComparedMethod], setting: Setting
    ) -> None:
        place = {method.name: k for k, method in enumerate(methods)}
        self.runs = tuple(sorted(runs, key=lambda r: (place[r.method], r.repeat, r.fold)))
        self.methods = tuple(methods)
        self.setting = setting

    @property
    def n_runs(self) -> int:
        """Number of folds in all, those of all repeats together."""
        return self.setting.folds * self.setting.repeats

    @property
    def complete(self) -> bool:
        """Whether every method that did not fail was run on every fold."""
        done = Counter(run.method for run in self.runs)
        return all(done[m.name] == self.n_runs for m in self.methods if m.failed is None)

    @lazy
    def records(self) -> list[dict[str, Any]]:
        """One record for each method, fold and number of features.

        `seconds` is the time of the fold's one selection, of as many features as were asked for;
        `features` are the names of the first `n_features` of them.
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
        """Mean and standard deviation over folds, for each method and number of features.

        `folds` says how many folds they rest on: fewer than there are where a method found
        nothing more to select on some. The deviation is None for one fold.
        """
        scores: dict[tuple[str, int], list[dict[str, Any]]] = {}
        for record in self.records:
            scores.setdefault((record["method"], record["n_features"]), []).append(record)
        return [
            _curve_point(m.name, size, scores[m.name, size])
            for m in self.methods
            for size in self.setting.sizes
            if (m.name, size) in scores
        ]

    @lazy
    def best(self) -> list[dict[str, Any]]:
        """The best method for each number of features, by its mean score on validation folds.

        Only methods compete that have scores on the same number of folds, the most that any has.
        `within` are the others whose mean is within one standard error of the best, the nearest
        first.
        """
        found = []
        for size in self.setting.sizes:
            points = [point for point in self.curves if point["n_features"] == size]
            most = max((point["folds"] for point in points), default=0)
            if most:
                found.append(_best([point for point in points if point["folds"] == most]))
        return found

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
        return fmean(times) if times else None

    @property
    def sentence(self) -> str:
        """The result in words.

        The best score, and the fewest features that come within one standard error of it.
        """
        if not self.best:
            return "No method selected a feature, so there is nothing to compare."
        most = max(row["folds"] for row in self.best)
        rows = [row for row in self.best if row["folds"] == most]
        top = _highest(rows)
        score = _SCORES[self.setting.scoring]
        spread = "" if top["validation_std"] is None else f" ± {top['validation_std']:.3f}"
        words = (
            f"{top['method']} with {_count(top['n_features'], 'feature')} has the highest mean "
            f"{score} on {_count(most, 'validation fold')}, {top['validation']:.3f}{spread}"
        )
        error = _standard_error(top) + _ROUNDING
        enough = next(row for row in rows if row["validation"] >= top["validation"] - error)
        if enough["n_features"] < top["n_features"]:
            come = "comes" if enough["n_features"] == 1 else "come"
            words += (
                f"; {_count(enough['n_features'], 'feature')} by {enough['method']} {come} within "
                f"one standard error of it, {enough['validation']:.3f}"
            )
        return words + ("." if self.complete else ", as far as it was run.")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, strings and lists, ready for JSON."""
        s = self.setting
        return {
            "kind": "comparison",
            **{name: getattr(s, name) for name in _KEYS},
            "sizes": list(s.sizes),
            "complete": self.complete,
            "methods": [{**vars(m), "seconds": self.seconds(m.name)} for m in self.methods],
            "curves": plain(self.curves),
            "best": plain(self.best),
            "selected": self.selected,
            "records": plain(self.records),
            "sentence": self.sentence,
            "data": dict(s.data),
            "reproduce": dict(s.reproduce),
        }

    def _rows(self) -> list[list[Any]]:
        """Return the rows of the tidy table."""
        return [[record[name] for name in _TIDY] for record in self.records]

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return the scores as a dataframe, one row for each method, fold and number of features.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default="pandas"
            Which library's dataframe; it has to be installed.

        Returns
        -------
        frame : dataframe
            Columns method, repeat, fold, n_features, train, validation, seconds.
        """
        return as_frame(_TIDY, self._rows(), backend)

    def plot(self, ax: Any = None) -> Any:
        """Draw the curves: score against the number of features, a line for each method.

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
        return plots.draw_comparison(self.to_dict()["curves"], ax, scoring=self.setting.scoring)

    def _heading(self) -> str:
        s = self.setting
        repeated = f", {s.repeats} times" if s.repeats > 1 else ""
        folds = f"mean of {s.folds} folds{repeated}" if self.complete else "as far as it was run"
        return f"{s.scoring} of {s.estimator} on validation rows, {folds}"

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        """Return the header and the rows of the table that people see: a column for each method.

        The best of each row has a star; a mean of fewer folds than others says of how many.
        """
        shown = [m.name for m in self.methods if any(m.name == p["method"] for p in self.curves)]
        points = {(point["n_features"], point["method"]): point for point in self.curves}
        rows = []
        for row in self.best:
            size, winner = row["n_features"], row["method"]
            cells = [_cell(points.get((size, m)), m == winner, row["folds"]) for m in shown]
            rows.append([str(size), *cells])
        times = [self.seconds(m) for m in shown]
        rows.append(["seconds", *("-" if t is None else f"{t:.3g} " for t in times)])
        return ["features", *shown], rows

    def _notes(self) -> list[str]:
        failed = [f"{m.name}: {m.failed}" for m in self.methods if m.failed is not None]
        return [self.sentence, *failed]

    def to_text(self) -> str:
        """Return the tables that people see: the best method by size, and all methods."""
        best = [
            [
                str(row["n_features"]),
                row["method"],
                _with_spread(row["validation"], row["validation_std"]),
                ", ".join(row["within"]),
            ]
            for row in self.best
        ]
        header = ["features", "best", "score", "as good, within one standard error"]
        tables = [
            as_table(header, best, left={1, 3}, indent="  "),
            as_table(*self._cells(), indent="  "),
        ]
        notes = [f"  {' '.join(note.split())}" for note in self._notes()]
        return "\n".join([self._heading(), *(tables if best else []), *notes])

    def to_csv(self, *, escape_formulas: bool | None = None) -> str:
        """Return the scores as comma-separated values: method, repeat, fold, features, scores.

        Parameters
        ----------
        escape_formulas : bool, optional
            As for `SelectionPath.to_csv`, where a method has such a name.
        """
        return as_csv(list(_TIDY), self._rows(), escape_formulas=escape_formulas)

    def __repr__(self) -> str:
        return f"Comparison: {self.to_text()}"

    def _repr_html_(self) -> str:
        header, rows = self._cells()
        table = as_html(self._heading(), header, [[_html_cell(c) for c in row] for row in rows])
        return table + "".join(f"<p>{html.escape(note)}</p>" for note in self._notes())


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
_KEYS = ("title", "created", "target", "task", "estimator", "scoring", "folds", "repeats", "seed")
# What people call scores.
_SCORES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "auc": "AUC",
    "r2": "R squared",
}


def _curve_point(method: str, size: int, records: list[dict[str, Any]]) -> dict[str, Any]:
    train = [record["train"] for record in records]
    validation = [record["validation"] for record in records]
    return {
        "method": method,
        "n_features": size,
        "train": fmean(train),
        "train_std": _spread(train),
        "validation": fmean(validation),
        "validation_std": _spread(validation),
        "folds": len(records),
    }


def _spread(values: list[float]) -> float | None:
    """Return the standard deviation of a sample."""
    mean, n = fmean(values), len(values)
    return math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (n - 1)) if n > 1 else None


def _best(points: list[dict[str, Any]]) -> dict[str, Any]:
    top = _highest(points)
    least = top["validation"] - _standard_error(top) - _ROUNDING
    near = [p for p in points if p is not top and p["validation"] >= least]
    near.sort(key=lambda point: -point["validation"])
    kept = ("n_features", "method", "validation", "validation_std")
    within = [point["method"] for point in near]
    return {**{name: top[name] for name in kept}, "within": within, "folds": top["folds"]}


def _highest(points: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the first of those with the highest mean, but for rounding."""
    highest = max(point["validation"] for point in points)
    return next(point for point in points if point["validation"] >= highest - _ROUNDING)


def _standard_error(point: Mapping[str, Any]) -> float:
    return (point["validation_std"] or 0.0) / math.sqrt(point["folds"])


def _frequencies(runs: Sequence[FoldRun]) -> list[dict[str, Any]]:
    counts = Counter(name for run in runs for name in run.features)
    places = Counter[str]()
    for run in runs:
        places.update({name: place for place, name in enumerate(run.features)})
    ordered = sorted(counts, key=lambda name: (-counts[name], places[name] / counts[name], name))
    return [{"name": name, "folds": counts[name]} for name in ordered]


def _count(count: int, thing: str) -> str:
    return f"1 {thing}" if count == 1 else f"{count} {thing}s"


def _cell(point: Mapping[str, Any] | None, best: bool, folds: int) -> str:
    if point is None:
        return "- "
    few = f" ({point['folds']})" if point["folds"] < folds else ""
    return f"{point['validation']:.4f}{few}{'*' if best else ' '}"


def _with_spread(mean: float, spread: float | None) -> str:
    return f"{mean:.4f}" if spread is None else f"{mean:.4f} ± {spread:.4f}"


def _html_cell(cell: str) -> str:
    text = html.escape(cell.strip().removesuffix("*"))
    return f"<b>{text}</b>" if cell.endswith("*") else text
