"""Channels of series, chosen one after the other: how well cases are told apart by the first few.

Not in the paper, whose introduction names the problem. The series: BasicMotions, the watch of
somebody who walks, runs, stands or plays badminton; and made ones, of machines with a worn bearing
or little oil, where the channel that shakes is recorded three times. Beside the official split of
cases there are others, drawn at random with as many of each class: one case of 40 tells little.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import RidgeClassifierCV
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from orthoselect import ChannelSelector, select
from orthoselect.errors import InputError, SearchStoppedWarning
from orthoselect.read.panel import summarize
from orthoselect_study.datasets import DataSource
from orthoselect_study.experiments.base import Arguments, Experiment, absence_sentences
from orthoselect_study.figures import Figure, draw_curves
from orthoselect_study.findings import mean, mean_error
from orthoselect_study.pages import Cell, Table
from orthoselect_study.records import Plan, Results, Row, Task, generator
from orthoselect_study.settings import Settings

_FILE, _MOTIONS = "basic_motions.npz", "BasicMotions"
_MACHINES = "made machines"
_N_MACHINES, _TIMES = 90, 50
_ARRAYS = ("X_train", "X_test", "y_train", "y_test")
_CITATIONS = {
    _MACHINES: "made by this experiment, seed 0",
    _MOTIONS: "Bagnall et al., the UEA multivariate time series classification archive, 2018",
}
_SPLITS = 30  # of which the first is the official one
_PENALTIES = np.logspace(-3, 3, 13)
HELD = "held"
AUTO, ALL = "auto", "all channels"


@dataclass(frozen=True)
class SeriesData:
    """Series of several channels, (cases, channels, times), and what each case is.

    The first `n_train` cases are for training in the official split.
    """

    name: str
    X: NDArray[np.float64]
    y: NDArray[Any]
    n_train: int

    @property
    def fingerprint(self) -> str:
        """Letters that stand for all values."""
        return hashlib.sha256(self.X.tobytes() + self.y.tobytes()).hexdigest()[:16]


def make_machines() -> SeriesData:
    """Make series of machines: three channels shake, one drifts, two are noise."""
    rng = np.random.default_rng(0)
    y = np.tile(["well", "worn", "dry"], _N_MACHINES // 3)
    X = rng.normal(size=(_N_MACHINES, 6, _TIMES))
    X[:, 0] *= np.where(y == "worn", 1.3, 1.0)[:, None]
    for copy in (1, 2):
        X[:, copy] = X[:, 0] + 0.3 * X[:, copy]
    X[:, 3] += np.outer(y == "dry", np.linspace(-0.5, 0.5, _TIMES))
    return SeriesData(_MACHINES, X, y, _N_MACHINES // 2)


def load_motions(source: DataSource) -> SeriesData | str:
    """Return BasicMotions, or why it is not there; a copy that is damaged is an error."""
    if source.folder is None:
        return "it is not on OpenML, and no folder with a copy was given"
    file = Path(source.folder) / _FILE
    if not file.is_file():
        return "the folder has no copy of it"
    try:
        with np.load(file) as archive:
            X, X_test, y, y_test = (archive[name] for name in _ARRAYS)
        series, kinds = np.vstack([X, X_test]).astype(np.float64), np.append(y, y_test)
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"`{_FILE}` should hold {', '.join(_ARRAYS)}: {error}.") from None
    if series.ndim != 3 or len(series) != len(kinds):
        raise InputError(
            f"`{_FILE}` should hold series of shape (cases, channels, times), and a class for each "
            f"case; got {series.shape} and {len(kinds)} classes."
        )
    return SeriesData(_MOTIONS, series, kinds, len(X))


def _selected(represent: str) -> Callable[[NDArray, NDArray, int, int], list[int]]:
    def choose(X: NDArray, y: NDArray, k: int, seed: int) -> list[int]:
        with warnings.catch_warnings():  # where a few channels say all, the curve ends
            warnings.simplefilter("ignore", SearchStoppedWarning)
            return select(X, y, k, represent=represent).features

    return choose


def _one_by_one(X: NDArray, y: NDArray, k: int, seed: int) -> list[int]:
    """Rank channels by what each explains alone."""
    alone = [select(X[:, [c]], y, 1, represent="summaries").total for c in range(X.shape[1])]
    return np.argsort(-np.array(alone), kind="stable")[:k].tolist()


def _at_random(X: NDArray, y: NDArray, k: int, seed: int) -> list[int]:
    return generator(seed, "channels").permutation(X.shape[1])[:k].tolist()


# Training cases, how many channels and a seed -> the channels, best first.
WAYS: dict[str, Callable[[NDArray, NDArray, int, int], list[int]]] = {
    "by summaries": _selected("summaries"),
    "by segments": _selected("segments"),
    "each alone": _one_by_one,
    "random channels": _at_random,
}


_ROWS = (*WAYS, AUTO, ALL)
_TOLD = ("by summaries", "each alone", "random channels")  # of which findings tell


def split(data: SeriesData, repeat: int, seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return training and test cases: the official ones first, then as many drawn at random."""
    n_cases = len(data.y)
    if not repeat:
        return np.arange(data.n_train), np.arange(data.n_train, n_cases)
    drawn = StratifiedShuffleSplit(1, train_size=data.n_train, random_state=1000 * seed + repeat)
    return next(drawn.split(data.X[:, 0], data.y))


def share_right(data: SeriesData, chosen: list[int], train: Any, test: Any) -> float:
    """Return the accuracy on test cases of ridge regression on summaries of the channels."""
    A = np.hstack([summarize(data.X[:, c])[0] for c in chosen])
    ridge = make_pipeline(StandardScaler(), RidgeClassifierCV(_PENALTIES))
    return float(ridge.fit(A[train], data.y[train]).score(A[test], data.y[test]))


class Channels(Experiment):
    """Accuracy by the number of channels, beside simpler choices."""

    name = "channels"
    title = "Channels of series"
    about = "how well cases are told apart by the first channels, beside simpler choices"
    uses = frozenset({"repeats", "features"})

    def plan(self, settings: Settings, source: DataSource) -> Plan:
        tasks, data, absent = [], [], {}
        for name, series in ((_MACHINES, make_machines()), (_MOTIONS, load_motions(source))):
            if isinstance(series, str):
                absent[name] = "missing", series
                continue
            most = min(settings.or_else("features", series.X.shape[1]), series.X.shape[1])
            data.append({**_facts(series), "selected": most})
            asked = {"dataset": name, "features": most, "seed": settings.seed}
            asked["repeats"] = settings.or_else("repeats", _SPLITS)
            tasks += [Task(self.name, {**asked, "method": w}, series, cost=3.0) for w in _ROWS]
        return Plan(tasks, data, absent, {"methods": list(_ROWS)})

    def limits(self, option: str, settings: Settings, source: DataSource) -> dict[str, int]:
        return {_MACHINES: make_machines().X.shape[1]} if option == "features" else {}

    def work(self, arguments: Arguments, data: Any) -> list[Row]:
        way, most, rows = arguments["method"], arguments["features"], []
        for repeat in range(arguments["repeats"]):
            train, test = split(data, repeat, arguments["seed"])
            X, y = data.X[train], data.y[train]
            if way == ALL:
                sets = [list(range(X.shape[1]))]
            elif way == AUTO:
                sets = [ChannelSelector().fit(X, y).channels_selected_]
            else:
                best = WAYS[way](X, y, most, arguments["seed"] + repeat)
                sets = [best[:k] for k in range(1, len(best) + 1)]
            for chosen in sets:
                value = share_right(data, chosen, train, test)
                at = Row(data.name, way, repeat=repeat, n_features=len(chosen), measure=HELD)
                rows.append(at._replace(value=value))
        return rows

    def tables(self, results: Results) -> list[Table]:
        most = max((facts["selected"] for facts in results.data), default=0)
        heads = [f"{k} channel{'s' if k > 1 else ''}" for k in range(1, most + 1)]
        rows = [
            _line(results, facts["name"], way, most)
            for facts in results.data
            for way in results.methods()
        ]
        n_splits = len({row.repeat for row in results.rows})
        note = (
            f"Share of test cases told right by ridge regression on seven summaries of each "
            f"channel, mean and standard error over {n_splits} splits into as many cases, the "
            f"official one first. Splits share cases, so errors are rough."
        )
        columns = ["series", "chosen", *heads, "its own number"]
        return [Table(self.name, self.title, columns, rows, note)] if rows else []

    def figures(self, results: Results) -> list[Figure]:
        panels = {}
        for facts in results.data:
            sizes, of_set = range(1, facts["selected"] + 1), (results, facts["name"])
            curves = {way: [_mean(*of_set, way, k) for k in sizes] for way in WAYS}
            seen = {w: [x for x in curve if not np.isnan(x)] for w, curve in curves.items()}
            panels[facts["name"]] = {"test cases": seen}
        along = "number of channels"
        return [draw_curves(self.name, self.title, panels, "accuracy", along)] if panels else []

    def findings(self, results: Results) -> list[str]:
        found = []
        for facts in results.data:
            k = min(2, facts["selected"])
            values = [_mean(results, facts["name"], way, k) for way in _TOLD]
            values += [_mean(results, facts["name"], way, None) for way in (ALL, AUTO)]
            if not np.isnan(values).any():
                given, alone, by_chance, every, own = values
                found.append(
                    f"{facts['name']}: with {k} channel{'s' if k > 1 else ''} the share of test "
                    f"cases told right is {given:.3f} for those chosen given each other, "
                    f"{alone:.3f} for the best alone, {by_chance:.3f} at random; {every:.3f} with "
                    f'all, {own:.3f} with as many as "auto" takes.'
                )
        return [*found, *absence_sentences(results)]


def _facts(series: SeriesData) -> dict[str, Any]:
    """Return what the report says of series; channels stand for features."""
    cases, n_channels, _ = series.X.shape
    return {
        **{"name": series.name, "title": series.name, "rows": series.n_train},
        **{"features": n_channels, "classes": len(np.unique(series.y)), "probes": None},
        **{"held": cases - series.n_train, "held_name": "test"},
        **{"citation": _CITATIONS[series.name], "notes": ["channels in place of features"]},
    }


def _line(results: Results, name: str, way: str, most: int) -> list[Cell]:
    """Return the row of a table: scores by the number of channels, or with a number of its own."""
    if way not in (AUTO, ALL):
        return [name, way, *(_cell(results, name, way, k) for k in range(1, most + 1)), None]
    own = _cell(results, name, way, None)
    found = results.where(dataset=name, method=way, measure=HELD)
    if own and way == AUTO:
        counts = [row.n_features or 0 for row in found]
        own += f" ({min(counts)} to {max(counts)} channels)"
    return [name, way, *([None] * most), own]


def _values(results: Results, name: str, way: str, k: int | None) -> list[float]:
    """Return the scores of a way, with k channels, or as many as it takes."""
    size = {} if k is None else {"n_features": k}
    found = results.where(dataset=name, method=way, measure=HELD, **size)
    return [row.value for row in found]


def _mean(results: Results, name: str, way: str, k: int | None) -> float:
    return mean(_values(results, name, way, k))


def _cell(results: Results, name: str, way: str, k: int | None) -> str | None:
    values = _values(results, name, way, k)
    return f"{mean(values):.3f} ± {mean_error(values):.3f}" if values else None
