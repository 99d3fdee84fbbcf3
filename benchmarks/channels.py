"""Channels of series: BasicMotions beside the channel selectors of aeon, and TSelect.

    python -m benchmarks channels --data DIR

The record, `basic_motions.npz`, is looked for in the folder: 40 cases to train and 40 to test, six
channels, the official split. Channels are chosen on training cases; two plain models then say what
they are worth on the others: ridge regression on the seven summaries of each channel, and the
nearest case by Euclidean distance over the series themselves. Peers not installed are named
as such.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import RidgeClassifierCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from orthoselect import ChannelSelector, select
from orthoselect.read.panel import summarize


def run(folder: Path | None) -> Iterator[dict[str, Any]]:
    """Yield what was measured, line by line."""
    file = None if folder is None else Path(folder) / "basic_motions.npz"
    if file is None or not file.is_file():
        yield {"method": "BasicMotions", "skipped": "no such record: give its folder by --data"}
        return
    with np.load(file) as record:
        parts = [record[name] for name in ("X_train", "y_train", "X_test", "y_test")]
    X, y = parts[:2]
    everything = list(range(X.shape[1]))
    yield _line("all channels", everything, 0.0, *parts)
    for k in everything[1:]:
        start = time.perf_counter()
        chosen = select(X, y, k, represent="summaries").features
        yield _line(f"orthoselect, {k}", chosen, time.perf_counter() - start, *parts)
    ways: dict[str, Callable[[], list[int]]] = {
        "orthoselect, auto": lambda: ChannelSelector().fit(X, y).channels_selected_,
        "aeon ElbowClassSum": lambda: _aeon("ElbowClassSum", X, y),
        "aeon ElbowClassPairwise": lambda: _aeon("ElbowClassPairwise", X, y),
        "aeon TSelect": lambda: _aeon("TSelect", X, y),
    }
    for name, choose in ways.items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                choose()  # imports and compiles
                start = time.perf_counter()
                chosen = choose()
        except ImportError as error:
            yield {"method": name, "skipped": f"not installed ({error})"}
            continue
        yield _line(name, chosen, time.perf_counter() - start, *parts)


def _aeon(name: str, X: Any, y: Any) -> list[int]:
    from aeon.transformations.collection import channel_selection

    kind = getattr(channel_selection, name, None)
    if kind is None:
        raise ImportError(f"this version of aeon has no {name}")
    return [int(c) for c in kind().fit(X.astype(float), y).channels_selected_]


def _line(
    method: str, chosen: list[int], seconds: float, X: Any, y: Any, X_test: Any, y_test: Any
) -> dict[str, Any]:
    ridge = make_pipeline(StandardScaler(), RidgeClassifierCV(np.logspace(-3, 3, 13)))
    ridge.fit(_summaries(X, chosen), y)
    nearest = KNeighborsClassifier(1).fit(X[:, chosen].reshape(len(X), -1), y)
    return {
        "method": method,
        "channels": chosen,
        "ridge": float(ridge.score(_summaries(X_test, chosen), y_test)),
        "nearest": float(nearest.score(X_test[:, chosen].reshape(len(X_test), -1), y_test)),
        "seconds": seconds,
    }


def _summaries(X: Any, chosen: list[int]) -> Any:
    return np.hstack([summarize(X[:, c].astype(float))[0] for c in chosen])


def markdown(result: dict[str, Any], about: list[str]) -> str:
    """Return the page."""
    lines = ["# Channels of series: BasicMotions", "", *about, ""]
    lines += ["| | channels | ridge on summaries | nearest case | seconds |", "|---" * 5 + "|"]
    for line in result["lines"]:
        if "skipped" in line:
            lines.append(f"| {line['method']} | {line['skipped']} | | | |")
            continue
        channels = ", ".join(map(str, line["channels"]))
        lines.append(
            f"| {line['method']} | {channels} | {line['ridge']:.3f} | {line['nearest']:.3f} | "
            f"{line['seconds']:.3f} |"
        )
    return "\n".join(lines) + "\n"
