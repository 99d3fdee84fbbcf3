"""NumPy arrays (.npy), archives (.npz) and LIBSVM files: a matrix, and its response or names."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from orthoselect.encode import NumberedNames
from orthoselect.errors import CutShortWarning, InputError, ShapeError, listing, warn
from orthoselect.matrix.passes import ReadingProgress
from orthoselect.read.arrow import load_pyarrow
from orthoselect.read.dataset import Dataset
from orthoselect.read.file_blocks import block_bytes, check_block_rows
from orthoselect.read.paths import Content, WatchedFile, opened_file

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
_BLOCKS_A_PART = 8
_FEW = 8  # if more than one column in 8 is wanted, a window is read with all columns


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
        return replace(_Archive(content.name, stored).dataset(), format=format)


def read_array(content: Content, format: str) -> Dataset:
    """Read a NumPy array in a file of its own (.npy), numbers in rows and columns."""
    with content.open() as file:
        stored = _load(content, file, format)
    if not isinstance(stored, np.ndarray):
        raise InputError(f"`{content.name}` should be a single array; it is an archive of several.")
    _check_is_matrix(f"`{content.name}`", stored)
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
        raise InputError(_objects_in(f"`{content.name}`"))
    if start[:1] == _PICKLE:
        store = "numpy.savez(file, X=X, y=y)" if format == "npz" else "numpy.save(file, X)"
        raise InputError(
            f"`{content.name}` should be a file that NumPy wrote; it is a pickle, which is not "
            f"opened: that could run any code. Store its numbers with `{store}`."
        )
    raise InputError(
        f"`{content.name}` should be a whole {format} file; it does not begin like one."
    )


def _check_is_matrix(called: str, array: Any) -> None:
    """Raise for what is no array of numbers in rows and columns, by its `dtype` and `shape`."""
    if array.dtype.hasobject:
        raise InputError(_objects_in(called))
    if len(array.shape) != 2:
        raise ShapeError(f"{called} should be 2-dimensional, rows by columns; got {array.shape}.")
    if array.dtype.kind not in "fiub":
        raise InputError(f"{called} should hold numbers; it is {array.dtype}.")


def _objects_in(called: str) -> str:
    """Return the words for an array that only a pickle can hold."""
    return (
        f"{called} should be an array of numbers; it is an array of Python objects, which are not "
        f"read: that could run any code. Store it with a plain dtype, for example "
        f"`numpy.save(file, X.astype(float))`, or write a table with text as CSV or Parquet."
    )


class _Archive:
    """The arrays of a file, each read when it is needed."""

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

    def dataset(self) -> Dataset:
        """Return a matrix with its names and its response; or else all arrays as columns."""
        found = self._matrix()
        if found is None:
            return self._table()
        key, X, responses = found
        called = next((name for name in responses if name in self), None)
        if called is None:
            return self._named(key, X)
        y = self[called]
        if y.ndim == 2 and y.shape[1] == 1:
            y = y[:, 0]
        if y.shape != (X.shape[0],):
            raise ShapeError(
                f"`{called}` in `{self._name}` should be one column of {X.shape[0]} values, as "
                f"many as `{key}` has rows; its shape is {y.shape}."
            )
        y = y.astype(str) if y.dtype.kind == "S" else y
        return replace(self._named(key, X), target=y, target_name="y")

    def _matrix(self) -> tuple[str, Any, Sequence[str]] | None:
        """Return what a matrix is called, the matrix, and what its response may be called."""
        if all(part in self for part in ("format", "data", "shape")):  # as SciPy stores it
            kind = self["format"].item()
            kind = kind.decode() if isinstance(kind, bytes) else kind
            if kind not in ("csr", "csc"):
                raise InputError(
                    f"`{self._name}` should hold a sparse matrix by rows or columns; its format is "
                    f"{kind!r}. Store it with `scipy.sparse.save_npz(file, matrix.tocsr())`."
                )
            return "the sparse matrix", self._sparse("", kind), ("y", "target")
        for key, responses in _PAIRS:
            if all(f"{key}_{part}" in self for part in _PARTS):
                return key, self._sparse(f"{key}_"), responses
            if key in self and (X := self[key]).ndim != 1:
                if X.ndim != 2:
                    raise ShapeError(
                        f"`{key}` in `{self._name}` should be 2-dimensional, rows by columns; got "
                        f"shape {X.shape}. Store it with `{key}.reshape(len({key}), -1)`."
                    )
                return key, X, responses
        return None

    def _sparse(self, prefix: str, kind: str | None = None) -> Any:
        """Return a sparse array, having seen that its parts fit together."""
        data, indices, indptr, shape = (self[f"{prefix}{part}"] for part in _PARTS)
        by_rows = len(indptr) == int(shape[0]) + 1 if kind is None else kind == "csr"
        make = sp.csr_array if by_rows else sp.csc_array
        try:
            matrix = make((data, indices, indptr), shape=tuple(int(size) for size in shape))
            matrix.check_format(full_check=True)
        except (ValueError, TypeError, OverflowError) as error:
            raise InputError(
                f"`{self._name}` should hold a sparse matrix; its parts do not fit together: "
                f"{error}."
            ) from None
        return matrix.tocsr()

    def _named(self, key: str, X: Any) -> Dataset:
        """Return a matrix with the names of its columns."""
        names: Sequence[str] = NumberedNames(X.shape[1])
        called = next((name for name in _NAMES if name in self), None)
        if called is not None:
            names = self[called].ravel().astype(str).tolist()
            if len(names) != X.shape[1]:
                raise ShapeError(
                    f"`{called}` in `{self._name}` should name {X.shape[1]} columns; it has "
                    f"{len(names)} names."
                )
        if X.dtype.kind in "US":
            return _columns_dataset({name: X[:, j] for j, name in enumerate(names)})
        if X.dtype.kind not in "fiub":
            raise InputError(
                f"`{key}` in `{self._name}` should hold numbers or text; its dtype is {X.dtype}."
            )
        return Dataset(X, names)

    def _table(self) -> Dataset:
        """Return arrays of one dimension and equal length as columns, or a lone matrix."""
        arrays = {key: self[key] for key in self._stored.files}
        shapes = {array.shape for array in arrays.values()}
        if len(shapes) == 1 and len(next(iter(shapes))) == 1:
            return _columns_dataset(arrays)
        for key, array in arrays.items():
            if len(arrays) == 1 and array.ndim == 2:
                return self._named(key, array)
        held = listing(f"{key} {array.shape}" for key, array in arrays.items())
        raise InputError(
            f"`{self._name}` should hold `X` and `y`, or columns of equal length; it holds {held}. "
            f"Store it with `numpy.savez(file, X=X, y=y)`."
        )


def _columns_dataset(columns: Mapping[str, NDArray]) -> Dataset:
    pa = load_pyarrow()
    plain = [x.astype(str) if x.dtype.kind == "S" else x for x in columns.values()]
    arrays = [pa.array(np.ascontiguousarray(values)) for values in plain]
    return Dataset.of_arrow(pa.table(arrays, names=list(columns)), "npz")


def read_libsvm(content: Content, format: str) -> Dataset:
    """Read a LIBSVM file; a column is called x and its index in the file."""
    from sklearn.datasets import load_svmlight_file

    with content.open() as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 100))
        end = file.read()
        file.seek(0)
        X, y = load_svmlight_file(file, zero_based=True)
    first = 0 if X.shape[1] and X[:, [0]].nnz else 1  # counted from 1, as most files are
    if not X.shape[0] or X.shape[1] <= first:
        raise InputError(
            f"`{content.name}` should hold lines such as `1 3:0.5 7:1`; it has none with a value."
        )
    if end.strip() and not end.endswith((b"\n", b"\r")):  # its `1:0.` may have been `1:0.53`
        warn(CutShortWarning(content.name, end.split()[-1].decode(errors="replace")))
    is_whole = (np.abs(y) < 2.0**53) & (y == np.rint(y))  # classes are 1 and 2, not 1.0 and 2.0
    return Dataset(
        sp.csr_array(X[:, first:]),
        [f"x{index}" for index in range(first, X.shape[1])],
        target=y.astype(np.int64) if is_whole.all() else y,
        target_name="target",
        format=format,
    )


class NpyBlocks:
    """A two-dimensional array in a .npy file, or a memory map, as a table in blocks of rows.

    Of a file, windows are read one by one; it is never mapped whole.

    Parameters
    ----------
    source : str, Path or numpy.memmap
    memory : int, optional
        Bytes that a selection may take.
    block_rows : int, optional
        Rows of a block; by default so many that a block has about 32 MB, or less where there is
        little memory.
    progress : callable, optional
        Called after each block with the number of the pass, from 1 on, and the bytes read so far.

    Attributes
    ----------
    names : sequence of str
        x0, x1, ...
    n_rows, nbytes : int
    format : {"npy"}
    is_watched : bool
        Whether a pass raises by itself if the rows are no longer what they were: of files it does.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp(), "table.npy")
    >>> np.save(file, np.arange(12.0).reshape(6, 2))
    >>> table = NpyBlocks(file, block_rows=4)
    >>> [block.tolist() for block in table.blocks([1])]
    [[[1.0], [3.0], [5.0], [7.0]], [[9.0], [11.0]]]
    """

    format = "npy"

    def __init__(
        self,
        source: Any,
        *,
        memory: int | None = None,
        block_rows: int | None = None,
        progress: ReadingProgress | None = None,
    ) -> None:
        check_block_rows(block_rows)
        self._array: _NpyFile | np.memmap
        self.is_watched = not isinstance(source, np.memmap)
        if isinstance(source, np.memmap):
            of_file = f" of `{source.filename}`" if source.filename else ""
            self._array, self._called = source, f"the memory map{of_file}"
        else:
            self._array, self._called = _NpyFile(Path(source)), f"`{source}`"
        _check_is_matrix(self._called, self._array)
        self._first = 0  # row of the array
        self.n_rows: int
        self.n_rows, n = self._array.shape
        self.names: Sequence[str] = NumberedNames(n)
        per_row = n * self._array.dtype.itemsize
        self.nbytes = self.n_rows * per_row
        self.memory, self.progress = memory, progress
        self.block_rows = block_rows or max(1, block_bytes(memory) // max(1, per_row))

    def blocks(self, columns: Sequence[int] | None = None) -> Iterator[NDArray]:
        """Yield arrays of some columns, or of all, in the order of the rows."""
        wanted = None if columns is None else list(columns)
        for start in range(self._first, self._first + self.n_rows, self.block_rows):
            stop = min(self._first + self.n_rows, start + self.block_rows)
            if isinstance(self._array, _NpyFile):
                yield self._array.window(start, stop, wanted)
            else:
                rows = np.asarray(self._array[start:stop])
                # All columns are read here, ahead of the work, not page by page.
                yield np.array(rows, order="K") if wanted is None else rows[:, wanted]

    def split(self) -> list[NpyBlocks]:
        """Return some blocks at a time as sources of their own."""
        height, sources = _BLOCKS_A_PART * self.block_rows, []
        for start in range(0, self.n_rows, height):
            some = copy(self)
            some._first, some.n_rows = start, min(height, self.n_rows - start)
            some.nbytes = self.nbytes // max(self.n_rows, 1) * some.n_rows
            some.progress = None
            sources.append(some)
        return sources

    def where(self, rows: slice) -> str:
        """Return the file that holds these rows, for an error."""
        return self._called


class _NpyFile(WatchedFile):
    """A .npy file of numbers."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        with opened_file(path), self.reading("npy"), path.open("rb") as file:
            version = npy_format.read_magic(file)
            read = {
                (1, 0): npy_format.read_array_header_1_0,
                (2, 0): npy_format.read_array_header_2_0,
            }.get(version)
            if read is None:
                raise InputError(
                    f"`{path}` should be a .npy file of version 1 or 2; it is of version {version}."
                )
            self.shape, self._fortran, self.dtype = read(file)
            self._offset = file.tell()
        expected = self._offset + int(np.prod(self.shape)) * self.dtype.itemsize
        if self.stored_bytes < expected and not self.dtype.hasobject:
            raise InputError(
                f"`{path}` should be a whole npy file; it should have {expected} bytes and has "
                f"{self.stored_bytes}."
            )

    def window(self, start: int, stop: int, columns: list[int] | None) -> NDArray:
        """Read some rows of some columns."""
        if start == 0:
            self.check_unchanged()
        with self.reading("npy"), self.path.open("rb", buffering=0) as file:
            if self._fortran:
                window = self._by_columns(file, start, stop, columns)
            elif columns is not None and len(columns) * _FEW < self.shape[1]:
                window = self._picked(file, start, stop, columns)
            else:
                n = self.shape[1]
                window = self._numbers(file, start * n, (stop - start) * n).reshape(-1, n)
                window = window if columns is None else window[:, columns]
        if stop == self.shape[0]:
            self.check_unchanged()
        return window

    def _by_columns(self, file: Any, start: int, stop: int, columns: list[int] | None) -> NDArray:
        wanted = range(self.shape[1]) if columns is None else columns
        window = np.empty((stop - start, len(wanted)), self.dtype, order="F")
        for k, column in enumerate(wanted):
            window[:, k] = self._numbers(file, column * self.shape[0] + start, stop - start)
        return window

    def _picked(self, file: Any, start: int, stop: int, columns: list[int]) -> NDArray:
        """Read a few columns of rows that lie in the file one after the other.

        Only this window is mapped, and of it only the pages that hold these columns are read.
        """
        n, width = self.shape[1], self.dtype.itemsize
        first = self._offset + start * n * width
        aligned = first - first % mmap.ALLOCATIONGRANULARITY
        length = first + (stop - start) * n * width - aligned
        with mmap.mmap(file.fileno(), length, access=mmap.ACCESS_READ, offset=aligned) as pages:
            window = np.frombuffer(pages, np.uint8, offset=first - aligned).view(self.dtype)
            picked = window.reshape(-1, n)[:, columns]
            del window
        return picked

    def _numbers(self, file: Any, start: int, count: int) -> NDArray:
        """Read `count` numbers, beginning with the one in place `start`."""
        numbers = np.empty(count, self.dtype)
        file.seek(self._offset + start * self.dtype.itemsize)
        view, done = memoryview(numbers.view(np.uint8).data), 0
        while done < len(view):
            got = file.readinto(view[done:])
            if not got:
                raise OSError("it ends before its last row")
            done += got
        return numbers
