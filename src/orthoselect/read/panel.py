"""Several channels over time for each case: a table in which each channel is a group of columns.

Notation: a panel has shape (cases, channels, times); a channel of one case is a series x_1 .. x_T.

    summaries    mean, deviation, least, largest, slope (of a straight line), lag-one correlation,
                 roughness (root mean square of x_t - x_(t-1))
    segments     means of eight segments of equal length, as nearly as that goes
    function     what it makes of one channel, (cases, times) -> (cases,) or (cases, columns)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.encode.response import check_choice
from orthoselect.errors import InputError, ShapeError
from orthoselect.matrix.base import EPS, Floats
from orthoselect.read.dataset import Dataset

SUMMARIES = ("mean", "deviation", "least", "largest", "slope", "lag-one correlation", "roughness")
_SEGMENTS = 8
_ROUNDINGS = 64.0  # that sums over a series may be off by


def summarize(x: Floats, precision: float = EPS) -> tuple[Floats, list[str]]:
    """Return seven numbers for each series of one channel, (cases, 7), and their names.

    Of a series that is constant, what cannot be told is zero. A number that differs between cases
    by no more than the rounding of the values is the same for all: so are the means of series that
    were made to have mean zero. `precision` is that rounding, relative to the values.

    Examples
    --------
    >>> values, names = summarize(np.array([[1.0, 2.0, 3.0, 4.0]]))
    >>> dict(zip(names, values[0].round(3).tolist()))
    {'mean': 2.5, 'deviation': 1.118, 'least': 1.0, 'largest': 4.0, 'slope': 1.0,
     'lag-one correlation': 0.25, 'roughness': 1.0}
    """
    n_times = x.shape[1]
    # A power of two, so that no digit changes, and squares neither overflow nor vanish.
    unit = int(np.frexp(np.abs(x).max(initial=0.0))[1])
    x = np.ldexp(x, -unit)
    mean = x.mean(axis=1)
    left = x - mean[:, None]
    squares = (left**2).sum(axis=1)
    time = np.arange(n_times) - (n_times - 1) / 2
    # A series of one value has a mean that may be off by a rounding, and is all the same constant.
    varies = x.max(axis=1) > x.min(axis=1)
    lagged = (left[:, 1:] * left[:, :-1]).sum(axis=1)
    found = [
        mean,
        np.where(varies, np.sqrt(squares / n_times), 0.0),
        x.min(axis=1),
        x.max(axis=1),
        np.where(varies, left @ time / (time @ time), 0.0),
        np.divide(lagged, squares, out=np.zeros_like(mean), where=varies & (squares > 0)),
        np.sqrt((np.diff(x, axis=1) ** 2).mean(axis=1)),
    ]
    largest = float(np.abs(x).max(initial=0.0))
    scales = np.array([largest, largest, largest, largest, largest / n_times, 1.0, largest])
    values = np.column_stack(found)
    spreads = values.max(axis=0) - values.min(axis=0)
    same = spreads <= _ROUNDINGS * precision * scales
    values[:, same] = values[0, same]
    with_unit = np.array(SUMMARIES) != "lag-one correlation"
    values[:, with_unit] = np.ldexp(values[:, with_unit], unit)
    return values, list(SUMMARIES)


def segment_means(x: Floats, precision: float = EPS) -> tuple[Floats, list[str]]:
    """Return the means of up to eight segments of each series, and their names.

    Examples
    --------
    >>> segment_means(np.arange(16.0)[None])[0]
    array([[ 0.5,  2.5,  4.5,  6.5,  8.5, 10.5, 12.5, 14.5]])
    """
    parts = np.array_split(x, min(_SEGMENTS, x.shape[-1]), axis=-1)
    means = np.stack([part.mean(axis=-1) for part in parts], axis=-1)
    return means, [f"segment {s + 1}" for s in range(len(parts))]


REPRESENTATIONS = {"summaries": summarize, "segments": segment_means}


@dataclass(frozen=True)
class Panel:
    """Channels over time, checked.

    Attributes
    ----------
    values : array of shape (cases, channels, times)
    names : list of str
        What the channels are called.
    precision : float
        Relative rounding of the values as they were given.
    """

    values: Floats
    names: list[str]
    precision: float = EPS

    @classmethod
    def of(cls, data: Any, channel_names: Any = None) -> Panel:
        """Return what users give as a panel: an array, or a list of one array for each case."""
        values, precision = _as_numbers(as_series(data))
        names = _check_names(channel_names, values.shape[1])
        bad = ~np.isfinite(values)
        if bad.any():
            case, channel, time = np.argwhere(bad)[0].tolist()
            raise InputError(
                f"series should hold finite numbers; {int(bad.sum())} are NaN or infinite, the "
                f"first in case {case}, channel `{names[channel]}`, time {time}. Fill them, or "
                f"drop those cases."
            )
        return cls(values, names, precision)

    def table(self, represent: Any) -> tuple[Dataset, dict[str, list[int]]]:
        """Return a table of what represents the channels, and which columns each channel owns."""
        make = _representation(represent)
        columns: list[Floats] = []
        names: list[str] = []
        groups: dict[str, list[int]] = {}
        for c, channel in enumerate(self.names):
            values, own = make(self.values[:, c], self.precision)
            bad = int((~np.isfinite(values)).sum())
            if bad:
                raise InputError(
                    f"`represent` should make finite numbers of each channel; of `{channel}` {bad} "
                    f"of {values.size} are NaN or infinite."
                )
            groups[channel] = list(range(len(names), len(names) + len(own)))
            columns.append(values)
            names += [f"{channel} {name}" for name in own]
        return Dataset(np.hstack(columns), names), groups


def as_series(data: Any) -> NDArray:
    """Return what users give as a panel as an array of shape (cases, channels, times)."""
    try:
        cases = data if isinstance(data, (list, tuple)) else []
        shapes = sorted({np.shape(case) for case in cases})
        values = np.asarray(data) if len(shapes) < 2 else None
    except ValueError:  # channels of one case differ in length
        shapes, values = [], None
    if values is None:
        found = f"; got shapes {shapes[0]} and {shapes[-1]}" if shapes else ""
        raise ShapeError(
            f"all cases should have as many channels and times{found}. Cut or pad the series to "
            f"one length."
        )
    if values.ndim != 3:
        raise ShapeError(
            f"series should have shape (cases, channels, times); got shape {values.shape}. One "
            f"channel alone is `X[:, None]`; a table of rows and columns goes to `select` without "
            f"`represent`."
        )
    return values


def _as_numbers(values: NDArray) -> tuple[Floats, float]:
    """Return a panel in float64, and the rounding of its numbers before."""
    if values.dtype.kind not in "fiub":
        raise InputError(f"channels should hold numbers; they hold {values.dtype} values.")
    if values.shape[0] < 2 or values.shape[1] < 1 or values.shape[2] < 2:
        raise ShapeError(
            f"there should be two cases, a channel and two times at least; got "
            f"{values.shape[0]} case(s), {values.shape[1]} channel(s) and {values.shape[2]} "
            f"time(s)."
        )
    precision = float(np.finfo(values.dtype).eps) if values.dtype.kind == "f" else EPS
    return values.astype(np.float64), max(precision, EPS)


def _check_names(names: Sequence[str] | None, n_channels: int) -> list[str]:
    if names is None:
        return [f"channel {c}" for c in range(n_channels)]
    if isinstance(names, str) or not np.iterable(names):
        raise InputError(f"`channel_names` should be a list of names; got {names!r}.")
    found = [str(name) for name in names]
    if len(found) != n_channels or len(set(found)) != n_channels:
        raise InputError(
            f"`channel_names` should be {n_channels} different names, one for each channel; got "
            f"{len(found)}, {len(set(found))} of them different."
        )
    return found


def _representation(represent: Any) -> Callable[[Floats, float], tuple[Floats, list[str]]]:
    if callable(represent):
        return lambda x, precision: _of_function(represent, x)
    return REPRESENTATIONS[check_choice(represent, REPRESENTATIONS, "represent")]


def _of_function(function: Callable[[Floats], Any], x: Floats) -> tuple[Floats, list[str]]:
    given = function(x.copy())
    try:
        made: NDArray = np.asarray(given)
        found = f"{made.dtype} of shape {made.shape}"
    except ValueError:
        made, found = np.zeros(0), "rows of unlike lengths"
    made = made[:, None] if made.ndim == 1 else made
    if made.ndim != 2 or len(made) != len(x) or not made.size or made.dtype.kind not in "fiub":
        raise InputError(
            f"the function of `represent` should make numbers of shape ({len(x)},) or ({len(x)}, "
            f"columns) of a channel; it made {found}."
        )
    return made.astype(np.float64), [str(j) for j in range(made.shape[1])]
