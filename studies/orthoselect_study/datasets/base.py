"""The record that every loader fills, and where loaders look."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from orthoselect.errors import InputError
from orthoselect_study.records import generator

# What the columns of a set may be. Categories have no order; counts are few whole numbers that
# need no cutting into levels.
KINDS = ("numeric", "count", "categorical")


class Missing(Exception):  # noqa: N818 - not an error: a run goes on without the set
    """A data set is not available; the message says why."""


@dataclass(frozen=True)
class DataSource:
    """Where loaders look: a folder, or OpenML if there is none."""

    folder: Path | None = None
    # What came of the sets that were asked for already: the set, or why there is none.
    tried: dict[str, StudyData | Missing | InputError] = field(
        default_factory=dict, compare=False, repr=False
    )


@dataclass(frozen=True)
class StudyData:
    """One data set: training rows X, y and, if it has them, rows to judge by, held_X, held_y.

    Without the latter there is cross-validation. Two sets with one fingerprint, which is made of
    all values, are the same.
    """

    name: str  # what commands call it
    title: str  # what tables call it
    X: Any  # array or CSR matrix (N, n)
    y: NDArray  # (N,)
    kinds: tuple[str, ...]  # what each column is, one of `KINDS`
    citation: str
    held_X: Any = None  # noqa: N815 - the paper's capital letter
    held_y: NDArray | None = None
    held_name: str = "validation"  # what these rows are called; "test" is another name
    is_real: NDArray[np.bool_] | None = None  # (n,), False for probes; None if it is not known
    notes: tuple[str, ...] = ()  # what a reader should know
    fingerprint: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        arrays = (self.X, self.y, self.held_X, self.held_y, self.is_real)
        made = _fingerprint([array for array in arrays if array is not None], self.kinds)
        object.__setattr__(self, "fingerprint", self.fingerprint or made)

    def columns_of(self, *kinds: str) -> list[int]:
        """Return the columns of some kinds."""
        return [j for j, kind in enumerate(self.kinds) if kind in kinds]

    def thinned(self, rows: int | None, seed: int) -> StudyData:
        """Return the set with at most `rows` training rows, drawn at random."""
        n_rows = self.X.shape[0]
        if rows is None or n_rows <= rows:
            return self
        kept = np.sort(generator(seed, "rows", self.name).choice(n_rows, rows, replace=False))
        note = f"{rows} of its {n_rows} training rows, drawn at random"
        return replace(
            self, X=self.X[kept], y=self.y[kept], notes=(*self.notes, note), fingerprint=""
        )

    def facts(self) -> dict[str, Any]:
        """Return what tables say of the set, as plain values."""
        classes, counts = np.unique(self.y, return_counts=True)
        return {
            "name": self.name,
            "title": self.title,
            "rows": int(self.X.shape[0]),
            "held": None if self.held_X is None else int(self.held_X.shape[0]),
            "held_name": None if self.held_X is None else self.held_name,
            "features": int(self.X.shape[1]),
            "kinds": {kind: self.kinds.count(kind) for kind in KINDS if kind in self.kinds},
            "classes": len(classes),
            "class_counts": counts.tolist(),
            "probes": None if self.is_real is None else int((~self.is_real).sum()),
            "citation": self.citation,
            "notes": list(self.notes),
            "fingerprint": self.fingerprint,
        }


@dataclass(frozen=True)
class Loader:
    """How to get one data set: `load` returns it, or raises `Missing`.

    A copy that is damaged raises `InputError` with the name of its file.
    """

    name: str
    title: str
    load: Callable[[DataSource], StudyData]


def _fingerprint(arrays: list[Any], kinds: tuple[str, ...]) -> str:
    """Return letters that stand for all values, however wide the numbers are stored."""
    sha = hashlib.sha256(",".join(kinds).encode())
    for array in arrays:
        if sp.issparse(array):
            places = (array.indices, array.indptr, np.array(array.shape))
            parts = [array.data, *(part.astype(np.int64) for part in places)]
        else:
            array = np.asarray(array)
            parts = [array.astype(bytes) if array.dtype.kind in "UO" else array]
        for part in parts:
            sha.update(f"{part.dtype.kind}{part.shape}".encode())
            sha.update(np.ascontiguousarray(part).data)
    return sha.hexdigest()[:16]
