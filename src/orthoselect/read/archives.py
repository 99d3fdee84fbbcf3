"""NumPy arrays (.npy), and archives (.npz) of a matrix and its response or of columns by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from orthoselect.encode import NumberedNames
from orthoselect.errors import InputError, ShapeError, listing
from orthoselect.read.arrow import load_pyarrow, table_dataset
from orthoselect.read.content import Content
from orthoselect.read.dataset import Dataset

# What a matrix may be called, and its response then.
_PAIRS = (
    ("X", ("y", "target")),
    ("X_train", ("y_train", "target_train")),
    ("data", ("target", "y")),
    ("arr_0", ("arr_1",)),  # numpy.savez without names
)
_NAMES = ("feature_names", "names")
_PARTS = ("data", "indices", "indptr", "shape")
_NUMPY, _PICKLE = b"\x93NUMPY", b"\x80"  # first bytes


def read_archive(content: Content, format: str) -> Dataset:
    """Read a NumPy archive; nothing in it is run."""
    with content.open() as file:
        stored = _load(content, file, format)
        if isinstance(stored, np.ndarray):
            raise InputError(
                f"`{content.name}` should be an archive of arrays; it is a single array. "
                f"Store it with `numpy.savez(file, X=X, y=y)`."
            )
        if "header.json" in stored.files:
            raise InputError(
                f"`{content.name}` should hold a table; it holds statistics of one. Load it with "
                f"`GramStatistics.load`, and select from what that returns."
            )
        archive = _Archive(content.name, stored)
        found = archive.matrix()
        dataset = archive.table() if found is None else archive.with_response(*found)
    return replace(dataset, format=format)


def read_array(content: Content, format: str) -> Dataset:
    """Read a NumPy array in a file of its own (.npy), numbers in rows and columns."""
    with content.open() as file:
        stored = _load(content, file, format)
    if not isinstance(stored, np.ndarray):
        raise InputError(f"`{content.name}` should be a single array; it is an archive of several.")
    if stored.ndim != 2:
        raise ShapeError(
            f"`{content.name}` should be 2-dimensional, rows by columns; got {stored.shape}."
        )
    if stored.dtype.kind not in "fiub":
        raise InputError(f"`{content.name}` should hold numbers; it is {stored.dtype}.")
    return Dataset(stored, NumberedNames(stored.shape[1]), format=format)


def _load(content: Content, file: BinaryIO, format: str) -> Any:
    """Read a NumPy file; where NumPy advises to trust what may run code, say what else to do."""
    try:
        return np.load(file, allow_pickle=False)
    except ValueError as error:
        if "pickle" not in str(error):
            raise
    file.seek(0)
    start = file.read(len(_NUMPY))
    if start == _NUMPY:
        raise InputError(objects_in(f"`{content.name}`"))
    if start[:1] == _PICKLE:
        store = "numpy.savez(file, X=X, y=y)" if format == "npz" else "numpy.save(file, X)"
        raise InputError(
            f"`{content.name}` should be a file that NumPy wrote; it is a pickle, which is not "
            f"opened: that could run any code. Store its numbers with `{store}`."
        )
    raise InputError(f"`{content.name}` should be a whole {format} file; it begins like none.")


def objects_in(called: str) -> str:
    """Return the words for an array that only a pickle can hold."""
    return (
        f"{called} should be an array of numbers; it is an array of Python objects, which are not "
        f"read: that could run any code. Store it with a plain dtype, for example "
        f"`numpy.save(file, X.astype(float))`, or write a table with text as CSV or Parquet."
    )


class _Archive:
    """The arrays of a file, each read when it is asked for."""

    def __init__(self, name: str, stored: Any) -> None:
        self._name = name
        self._stored = stored
        self._keys: dict[str, str] = {}
        for key in stored.files:  # X and x are one name, unless both are there
            self._keys.setdefault(key.lower(), key)

    def __contains__(self, key: str) -> bool:
        return key in self._stored.files or key.lower() in self._keys

    def __getitem__(self, key: str) -> NDArray:
        exact = key if key in self._stored.files else self._keys[key.lower()]
        try:
            return self._stored[exact]
        except ValueError as error:
            if "allow_pickle" not in str(error):
                raise
            raise InputError(
                f"`{self._name}` should hold arrays of numbers or text; `{exact}` is an array of "
                f"Python objects. Store it with a plain dtype, for example `{exact}.astype(str)`."
            ) from None

    def matrix(self) -> tuple[str, Any, Sequence[str]] | None:
        """Return a matrix, what it is called and what its response may be called."""
        if all(part in self for part in ("format", "data", "shape")):
            return "the sparse matrix", self._saved_by_scipy(), ("y", "target")
        for key, responses in _PAIRS:
            if all(f"{key}_{part}" in self for part in _PARTS):
                return key, self._sparse(key), responses
            if key in self and (X := self[key]).ndim != 1:
                return key, self._two_dimensional(key, X), responses
        return None

    def _saved_by_scipy(self) -> Any:
        kind = self["format"].item()
        kind = kind.decode() if isinstance(kind, bytes) else kind
        if kind not in ("csr", "csc"):
            raise InputError(
                f"`{self._name}` should hold a sparse matrix by rows or columns; its format is "
                f"{kind!r}. Store it with `scipy.sparse.save_npz(file, matrix.tocsr())`."
            )
        parts = [self[part] for part in _PARTS]
        return _compressed(self._name, kind, *parts)

    def _sparse(self, key: str) -> Any:
        data, indices, indptr, shape = (self[f"{key}_{part}"] for part in _PARTS)
        by_rows = len(indptr) == int(shape[0]) + 1
        return _compressed(self._name, "csr" if by_rows else "csc", data, indices, indptr, shape)

    def _two_dimensional(self, key: str, X: NDArray) -> NDArray:
        if X.ndim == 2:
            return X
        raise ShapeError(
            f"`{key}` in `{self._name}` should be 2-dimensional, rows by columns; got shape "
            f"{X.shape}. Store it with `{key}.reshape(len({key}), -1)`."
        )

    def with_response(self, key: str, X: Any, responses: Sequence[str]) -> Dataset:
        """Return a matrix with the names and the response that are stored beside it."""
        called = next((name for name in responses if name in self), None)
        y = None if called is None else self._response(called, key, X.shape[0])
        dataset = self._dataset(key, X)
        return replace(dataset, target=y, target_name=None if called is None else "y")

    def _response(self, called: str, key: str, n_rows: int) -> NDArray:
        y = self[called]
        if y.ndim == 2 and y.shape[1] == 1:
            y = y[:, 0]
        if y.shape != (n_rows,):
            raise ShapeError(
                f"`{called}` in `{self._name}` should be one column of {n_rows} values, as many "
                f"as `{key}` has rows; its shape is {y.shape}."
            )
        return y.astype(str) if y.dtype.kind == "S" else y

    def _dataset(self, key: str, X: Any) -> Dataset:
        names = self._feature_names(X.shape[1])
        if X.dtype.kind in "US":
            return _columns_dataset({name: X[:, j] for j, name in enumerate(names)})
        if X.dtype.kind not in "fiub":
            raise InputError(
                f"`{key}` in `{self._name}` should hold numbers or text; its dtype is {X.dtype}."
            )
        return Dataset(X, names)

    def _feature_names(self, n: int) -> Sequence[str]:
        called = next((name for name in _NAMES if name in self), None)
        if called is None:
            return NumberedNames(n)
        names = self[called].ravel()
        if len(names) != n:
            raise ShapeError(
                f"`{called}` in `{self._name}` should name {n} columns; it has {len(names)} names."
            )
        return names.astype(str).tolist()

    def table(self) -> Dataset:
        """Return arrays of one dimension and equal length as columns, or a lone matrix."""
        arrays = {key: self[key] for key in self._stored.files}
        shapes = {array.shape for array in arrays.values()}
        if len(shapes) == 1 and len(next(iter(shapes))) == 1:
            return _columns_dataset(arrays)
        matrices = [key for key, array in arrays.items() if array.ndim == 2]
        if len(matrices) == 1 and len(arrays) == 1:
            return self._dataset(matrices[0], arrays[matrices[0]])
        raise InputError(
            f"`{self._name}` should hold `X` and `y`, or columns of equal length; it holds "
            f"{listing(_described(arrays))}. Store it with `numpy.savez(file, X=X, y=y)`."
        )


def _described(arrays: Mapping[str, NDArray]) -> Iterator[str]:
    return (f"{key} {array.shape}" for key, array in arrays.items())


def _compressed(name: str, kind: str, data: Any, indices: Any, indptr: Any, shape: Any) -> Any:
    """Return a sparse array, having seen that its parts fit together."""
    make = sp.csr_array if kind == "csr" else sp.csc_array
    try:
        matrix = make((data, indices, indptr), shape=tuple(int(size) for size in shape))
        matrix.check_format(full_check=True)
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(
            f"`{name}` should hold a sparse matrix; its parts do not fit together: {error}."
        ) from None
    return matrix.tocsr()


def _columns_dataset(columns: Mapping[str, NDArray]) -> Dataset:
    pa = load_pyarrow()
    plain = {
        name: values.astype(str) if values.dtype.kind == "S" else values
        for name, values in columns.items()
    }
    names = list(plain)
    arrays = [pa.array(np.ascontiguousarray(plain[name])) for name in names]
    return table_dataset(pa.table(arrays, names=names), "npz")
