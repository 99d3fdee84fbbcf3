"""Copies of data sets: the .npz files of a folder, or, without a folder, what OpenML has.

Whatever is wrong with a copy is said with its name. OpenML is asked by scikit-learn's
`fetch_openml`, which keeps what it fetched. Sets come from there as plain arrays, so no dataframe
library is needed; categories are numbered in the order in which the file declares them.
"""

from __future__ import annotations

import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from orthoselect.errors import InputError
from orthoselect_study.datasets.base import DataSource, Missing

# What reading an archive raises that is damaged inside.
_DAMAGED = (
    OSError,
    ValueError,
    EOFError,
    KeyError,
    TypeError,
    AttributeError,
    NotImplementedError,
    zipfile.BadZipFile,
    zlib.error,
)


def arrays_of(
    source: DataSource, file: str, names: Sequence[str], fetched: Callable[[], tuple[Any, ...]]
) -> tuple[Any, ...]:
    """Return some arrays of an .npz file of the folder; without a folder what is fetched."""
    if source.folder is None:
        return fetched()
    arrays = read_archive(source.folder, file, names)
    return tuple(arrays[name] for name in names)


def read_archive(folder: Path, file: str, arrays: Iterable[str]) -> dict[str, NDArray]:
    """Read some arrays of an .npz file, which may be missing, or damaged."""
    path = Path(folder) / file
    if not path.exists():
        raise Missing(f"there is no `{file}` in the folder of data")
    if not zipfile.is_zipfile(path):  # NumPy would take it for a pickle, and advise to open it
        raise _damage(path, "it is no archive, or cut off")
    try:
        # Opened here: NumPy does not close a file that turns out to be no archive.
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as archive:
            lacking = [name for name in arrays if name not in archive.files]
            if not lacking:
                return {name: archive[name] for name in arrays}
            held = ", ".join(archive.files)
    except _DAMAGED as error:
        # NumPy names the option that would open a pickle; nobody should.
        pickled = "pickle" in str(error)
        reason = "it holds Python objects" if pickled else str(error).rstrip(".")
        raise _damage(path, reason) from None
    raise InputError(f"`{path}` should hold the arrays {', '.join(lacking)}; it holds {held}.")


def _damage(path: Path, reason: str) -> InputError:
    return InputError(
        f"`{path}` should be an .npz archive of plain arrays; it is damaged: {reason}. Get another "
        f"copy, or take the file away to go on without this set."
    )


def check(what: str, name: str, found: Any, expected: Any) -> None:
    """Raise if a copy of a set is not the set."""
    if found != expected:
        raise InputError(
            f"`{what}` should have {name} {expected}; it has {found}. It is another set, or "
            f"damaged: get another copy, or take it away to go on without this set."
        )


def check_shape(file: str, X: NDArray, y: NDArray, n_columns: int) -> None:
    """Raise if a table does not have a row for each label, and so many columns."""
    check(file, "the shape", list(X.shape), [len(y), n_columns])


@cache
def fetch(number: int) -> Any:
    """Return OpenML's data set of this number, as scikit-learn has it."""
    from sklearn.datasets import fetch_openml

    try:
        with warnings.catch_warnings():
            # If the second try fails, too, the set is missing, and that is told.
            warnings.filterwarnings("ignore", "A network error occurred", UserWarning)
            return fetch_openml(
                data_id=number, as_frame=False, parser="liac-arff", n_retries=1, delay=0.5
            )
    except (OSError, ValueError) as error:  # no network, an answer that is none, a changed file
        raise Missing(
            f"no folder of data is given, and OpenML's set {number} could not be fetched: {error}"
        ) from None


def whole(target: NDArray, number: int) -> NDArray:
    """Return the classes of a set of OpenML as whole numbers."""
    try:
        return np.asarray(target).astype(float).astype(np.int64)
    except ValueError as error:
        raise InputError(
            f"OpenML's set {number} should have numbers for classes; it has others: {error}."
        ) from None


def dense(data: Any) -> NDArray:
    """Return a table of OpenML, written out."""
    return data.toarray().astype(float) if sp.issparse(data) else np.asarray(data, dtype=float)


def fetch_plain(number: int) -> tuple[NDArray, NDArray]:
    """Return a table of numbers of OpenML, and its classes."""
    bunch = fetch(number)
    return dense(bunch.data), whole(bunch.target, number)


def fetch_parts(
    number: int, as_table: Callable[[Any], Any], first: int, last: int | None = None
) -> tuple[Any, NDArray, Any, NDArray]:
    """Return training and held rows, which OpenML has one after the other."""
    bunch = fetch(number)
    X, y = as_table(bunch.data), whole(bunch.target, number)
    return X[:first], y[:first], X[first:last], y[first:last]
