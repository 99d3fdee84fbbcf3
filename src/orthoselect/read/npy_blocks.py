"""NumPy arrays in files -> blocks of rows, without the whole file in the address space."""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from orthoselect.encode import NumberedNames
from orthoselect.errors import InputError, ShapeError
from orthoselect.matrix.reading import ReadingProgress
from orthoselect.read.archives import objects_in
from orthoselect.read.content import opened_file
from orthoselect.read.file_blocks import block_bytes, check_block_rows
from orthoselect.read.parts import WatchedFile

_BLOCKS_A_PART = 8
_FEW = 8  # a window of all columns is read where more than one in so many is asked for


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

    def __init__(
        self,
        source: Any,
        *,
        memory: int | None = None,
        block_rows: int | None = None,
        progress: ReadingProgress | None = None,
    ) -> None:
        check_block_rows(block_rows)
        self._array: _NpyFile | _Map
        self._array = _Map(source) if isinstance(source, np.memmap) else _NpyFile(Path(source))
        self.is_watched = isinstance(self._array, WatchedFile)
        dtype, shape = self._array.dtype, self._array.shape
        called = self._array.called
        if dtype.hasobject:
            raise InputError(objects_in(called))
        if len(shape) != 2:
            raise ShapeError(f"{called} should be 2-dimensional, rows by columns; got {shape}.")
        if dtype.kind not in "fiub":
            raise InputError(f"{called} should hold numbers to be read in blocks; it is {dtype}.")
        self.n_rows: int = shape[0]
        self._first = 0  # row of the array
        n = shape[1]
        self.names: Sequence[str] = NumberedNames(n)
        self.nbytes = self.n_rows * n * dtype.itemsize
        self.memory, self.progress = memory, progress
        per_row = max(1, n * dtype.itemsize)
        self.block_rows = block_rows or max(1, block_bytes(memory) // per_row)

    def blocks(self, columns: Sequence[int] | None = None) -> Iterator[NDArray]:
        """Yield arrays of some columns, or of all, in the order of the rows."""
        asked = None if columns is None else list(columns)
        for start in range(self._first, self._first + self.n_rows, self.block_rows):
            stop = min(self._first + self.n_rows, start + self.block_rows)
            yield self._array.window(start, stop, asked)

    def split(self) -> list[NpyBlocks]:
        """Return some blocks at a time as sources of their own."""
        height = _BLOCKS_A_PART * self.block_rows
        return [self._only(start, height) for start in range(0, self.n_rows, height)]

    def _only(self, start: int, height: int) -> NpyBlocks:
        some = copy(self)
        some._first, some.n_rows = start, min(height, self.n_rows - start)
        some.nbytes = self.nbytes // max(self.n_rows, 1) * some.n_rows
        some.progress = None
        return some

    def where(self, rows: slice) -> str:
        """Return the file that holds these rows, for an error."""
        return self._array.called


class _Map:
    """A memory map; its owner has the whole of it in the address space already."""

    def __init__(self, array: np.memmap) -> None:
        self._memmap = array
        self.dtype, self.shape = array.dtype, array.shape
        file = array.filename
        self.called = f"the memory map of `{file}`" if file else "the memory map"

    def window(self, start: int, stop: int, columns: list[int] | None) -> NDArray:
        rows = np.asarray(self._memmap[start:stop])
        if columns is None:
            return np.array(rows, order="K")  # read here, ahead of the work, not page by page
        return rows[:, columns]


class _NpyFile(WatchedFile):
    """A .npy file of numbers."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.called = f"`{path}`"
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
        if self._state[0] < expected and not self.dtype.hasobject:
            raise InputError(
                f"`{path}` should be a whole npy file; it should have {expected} bytes and has "
                f"{self._state[0]}."
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
        """Read so many numbers, from the one that stands in this place on."""
        numbers = np.empty(count, self.dtype)
        file.seek(self._offset + start * self.dtype.itemsize)
        view, done = memoryview(numbers.view(np.uint8).data), 0
        while done < len(view):
            got = file.readinto(view[done:])
            if not got:
                raise OSError("it ends before its last row")
            done += got
        return numbers
