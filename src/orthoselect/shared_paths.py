"""One path for fits of many sizes on the same data: its first k steps are the path for k.

A selector with `shared_path` asks here. Paths are kept by content: the table, the response, the
weights and all options but the size go into a digest, so that copies of the same rows are the same,
and rows changed in place are not. Only paths are kept, no data; each process has its own.
"""

from __future__ import annotations

import numbers
import os
import pickle
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp

from orthoselect.column_spec import is_whole
from orthoselect.errors import (
    InputError,
    NoMoreThanChanceWarning,
    SearchStoppedWarning,
    TooManyRequestedWarning,
    collecting_warnings,
    warn,
)
from orthoselect.matrix.digests import digest
from orthoselect.result import Origin, SelectionPath
from orthoselect.selection import select

MOST_PATHS = 512
MOST_BYTES = 1 << 24

_OF_THE_SIZE = (TooManyRequestedWarning, SearchStoppedWarning, NoMoreThanChanceWarning)
_NUMBERS = "biuf"
_LABELS = _NUMBERS + "US"


@dataclass(frozen=True)
class _Kept:
    """A path without its table, and what was said on the way whatever the size."""

    path: SelectionPath
    warnings: tuple[Warning, ...]
    n_bytes: int


class SharedPaths:
    """The paths that were asked for last, by what they were found on.

    Invariants: at most `MOST_PATHS` paths, and at most `MOST_BYTES` as pickles; those that were
    not asked for the longest go first. Threads hold the lock while they look, not while they
    select: two that ask for the same at the same time may both select, and keep equal paths.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[bytes, _Kept] = OrderedDict()
        self.n_bytes = 0

    def __len__(self) -> int:
        return len(self._kept)

    def find(self, key: bytes) -> _Kept | None:
        """Return what is kept by this key."""
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
            return found

    def keep(self, key: bytes, kept: _Kept) -> None:
        """Keep a path, and let go of others where there are too many."""
        if kept.n_bytes > MOST_BYTES:
            return
        with self._lock:
            before = self._kept.pop(key, None)
            self.n_bytes += kept.n_bytes - (0 if before is None else before.n_bytes)
            self._kept[key] = kept
            while len(self._kept) > MOST_PATHS or self.n_bytes > MOST_BYTES:
                self.n_bytes -= self._kept.popitem(last=False)[1].n_bytes

    def clear(self) -> None:
        """Let go of all."""
        with self._lock:
            self._kept.clear()
            self.n_bytes = 0

    def begin_anew(self) -> None:
        """Forget a lock that another thread may have held when this process was forked off."""
        self._lock = threading.Lock()


KEPT = SharedPaths()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=KEPT.begin_anew)


def check_shared(size: Any) -> None:
    """Raise for what is no size of a path to share."""
    if size is not None and (not is_whole(size) or size < 1):
        raise InputError(
            f"`shared_path` should be the largest number of features that fits on the same data "
            f"will ask for, a whole number of at least 1, or None; got {size!r}."
        )


def select_shared(
    data: Any, target: Any, wanted: Any, shared_size: Any, options: Mapping[str, Any]
) -> SelectionPath:
    """Return what `select` does, by the first steps of a path that others share.

    `shared_size` is the size of that path, None for none. What cannot share is selected as ever.
    """
    check_shared(shared_size)
    key = None
    if shared_size is not None and _can_share(wanted, int(shared_size), options):
        key = _key_of(data, target, {**options, "shared": int(shared_size)})
    if key is None:
        return select(data, target, wanted, **options)
    kept = KEPT.find(key)
    if kept is None:
        kept = _select(data, target, int(shared_size), options)
        KEPT.keep(key, kept)
    for warning in kept.warnings:
        warn(warning)
    origin = Origin(data, target, options.get("sample_weight"))
    return _first_steps(kept.path, int(wanted), origin)


def _can_share(wanted: Any, size: int, options: Mapping[str, Any]) -> bool:
    """Whether the first steps of a path of this size are what is wanted.

    They are for forward search and a plain number. Tests of features look at all steps, included
    features set where chance begins to count, and who watches wants to see each step.
    """
    is_count = isinstance(wanted, numbers.Integral) and not isinstance(wanted, bool)
    if not is_count or not 1 <= int(wanted) <= size or options.get("search") != "forward":
        return False
    watched = any(options.get(name) for name in ("progress", "p_values"))
    return not watched and options.get("include") is None


def _select(data: Any, target: Any, size: int, options: Mapping[str, Any]) -> _Kept:
    """Select as many features as are shared; say nothing yet."""
    with collecting_warnings() as said:
        path = select(data, target, size, **options)
    lasting = {(type(w), str(w)): w for w in said if not isinstance(w, _OF_THE_SIZE)}
    pickled = pickle.dumps(path)  # which leaves out the table
    return _Kept(pickle.loads(pickled), tuple(lasting.values()), len(pickled))


def _first_steps(path: SelectionPath, wanted: int, origin: Origin) -> SelectionPath:
    """Return the path as `select` gives it for fewer features, and say what it says of it."""
    if wanted > path.n_candidates:
        warn(TooManyRequestedWarning(wanted, path.n_candidates))
    size = min(wanted, path.n_candidates)
    stopped = path.stopped if size > len(path) else None
    steps = path[:size]
    first = SelectionPath(
        steps,
        method=path.method,
        ceiling=path.ceiling,
        n_candidates=path.n_candidates,
        stopped=stopped,
        stats={**path.stats, "shared_path": len(path)},
        options={**path.options, "n_features_to_select": wanted},
        origin=origin,
        gaps=path.gaps,
        left_out=path.left_out,
    )
    if stopped is not None:
        warn(SearchStoppedWarning(len(steps), size, stopped))
    else:
        by_chance = (k for k, step in enumerate(steps, 1) if step.is_no_more_than_chance)
        if (k := next(by_chance, None)) is not None:
            warn(NoMoreThanChanceWarning(k, steps[k - 1].name))
    return first


# What paths are kept by


def _key_of(data: Any, target: Any, options: Mapping[str, Any]) -> bytes | None:
    """Return what stands for all that a path depends on; None if its content is not known."""
    weights = options.get("sample_weight")
    rest = {name: value for name, value in options.items() if name != "sample_weight"}
    if not _is_table(data) or not all(map(_is_values, (target, weights))) or not _is_plain(rest):
        return None
    given = data, target, weights, sorted(rest.items(), key=lambda item: item[0])
    buffers: list[pickle.PickleBuffer] = []
    try:
        rest_of_it = pickle.dumps(given, protocol=5, buffer_callback=buffers.append)
    except Exception:  # columns of objects may hold anything
        return None
    return digest([rest_of_it, *(buffer.raw() for buffer in buffers)])


def _is_table(data: Any) -> bool:
    if type(data) is np.ndarray:
        return data.dtype.kind in _NUMBERS
    return sp.issparse(data) or nw.dependencies.is_into_dataframe(data)


def _is_values(values: Any) -> bool:
    """Whether these are values in memory: of a response, or weights."""
    if values is None or type(values) is np.ndarray:
        return values is None or values.dtype.kind in _LABELS
    known = nw.dependencies.is_into_series(values) or nw.dependencies.is_into_dataframe(values)
    return bool(known) or _is_plain(values)


def _is_plain(value: Any) -> bool:
    """Whether a value is made of numbers and text only, whatever holds them."""
    if isinstance(value, Mapping):
        return type(value) is dict and all(map(_is_plain, [*value, *value.values()]))
    if type(value) in (list, tuple):
        return all(map(_is_plain, value))
    if type(value) is np.ndarray:
        return value.dtype.kind in _LABELS
    return value is None or isinstance(value, (bool, int, float, str, np.generic))
