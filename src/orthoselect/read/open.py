"""Whatever names a table -> a Dataset: in memory if it fits there, in blocks of rows if not."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from orthoselect.errors import InputError
from orthoselect.matrix.memory import count_bytes, free_memory, room_in_limits, say_bytes
from orthoselect.matrix.threads import prepare_blas
from orthoselect.read.arrow import ArrowPart, ParquetPart, load_pyarrow, read_arrow
from orthoselect.read.built_in import BUILT_IN, read_built_in
from orthoselect.read.dataset import Dataset, TextOptions, check_unused
from orthoselect.read.file_blocks import BLOCK_BYTES, FileBlocks
from orthoselect.read.numpy_files import NpyBlocks, read_archive, read_array, read_libsvm
from orthoselect.read.paths import (
    BLOCK_SUFFIXES,
    STANDARD_INPUT,
    Content,
    FoundFile,
    UnpacksToMoreError,
    block_format,
    find_files,
    is_several,
    naming,
    read_content,
    split_suffix,
)
from orthoselect.read.row_blocks import OnDask, bytes_of
from orthoselect.read.text_files import expansion_of, read_text


def _read_arrow(content: Content, format: str) -> Dataset:
    return Dataset.of_arrow(read_arrow(content, format), format)


# By suffix, the name of a format and what reads a file of it whole. Text is read in another way.
_READERS = {
    ".parquet": ("parquet", _read_arrow),
    ".feather": ("feather", _read_arrow),
    ".arrow": ("arrow", _read_arrow),
    ".npz": ("npz", read_archive),
    ".svm": ("libsvm", read_libsvm),
    ".libsvm": ("libsvm", read_libsvm),
    ".npy": ("npy", read_array),
}
_READABLE = {".csv": "csv", ".tsv": "tsv", **{key: name for key, (name, _) in _READERS.items()}}
FORMATS = tuple(dict.fromkeys(_READABLE.values()))
# What is written: of arrays, archives, which have room for the names and the target.
SUFFIXES = {key: name for key, name in _READABLE.items() if name != "npy"}
_TEXT = ("csv", "tsv")
_SHEET = "Save the sheet as CSV, or read it with `pandas.read_excel` and pass the dataframe."
_RECORDS = "Write it as CSV or Parquet, or read it with `pandas.read_json` and pass the dataframe."
_REMEDIES = {
    **dict.fromkeys((".xlsx", ".xls", ".xlsm", ".ods"), _SHEET),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), _RECORDS),
}
_COPIES = 3  # of a table in memory: as it is stored, as one array, and what is worked on
_PACKED = 6  # bytes in memory for a byte of a compressed file
_ARROW = 2  # bytes in memory for a byte of an Arrow file
_HELD = 10  # blocks at a time: read (a whole row group), converted, and worked on
_PARSING = 96_000_000  # bytes of text, of what pyarrow makes of it, and of what it keeps for later
_LEAST_ROOM = 1 << 27  # bytes without which BLAS does not begin, and Arrow does not read at all
_PLENTY = 1 << 30  # bytes beside which blocks are small
_LEAST = 1 << 22  # bytes that are left to a selection, whatever the blocks take


def read_table(
    source: Any,
    *,
    memory: int | str | None = None,
    format: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    drop: Collection[str] = (),
    in_blocks: bool = False,
) -> Dataset:
    """Read a table, or look at one that is too large for memory, to be read in blocks of rows.

    Parameters
    ----------
    source : str, Path, or list of these
        What `read_source` takes; or a folder, a pattern (``"logs/*.parquet"``) or a list of
        Parquet, Feather, Arrow, CSV or TSV files that are one table. Folders and patterns stand
        for their files sorted by path, and folders called ``key=value`` add a column.
    memory : int or str, optional
        Bytes, or text like "2GB": what reading the table and selecting from it may take. Half of
        the memory that is free, if not given.
    format, delimiter, encoding, header, drop
        As for `read_source`.
    in_blocks : bool
        Whether to read in blocks even what fits into memory.

    Returns
    -------
    dataset : Dataset
        Its `data` is a table in memory, or a source of blocks. `select` and the selectors take it
        as they take a path: columns that are no features are left out.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp(), "table.npy")
    >>> np.save(file, np.random.default_rng(0).normal(size=(1000, 3)))
    >>> read_table(file).in_blocks, read_table(file, memory="50kB").in_blocks
    (False, True)
    """
    budget = None if memory is None else count_bytes(memory)
    text = TextOptions(delimiter, encoding, header)
    several = is_several(source)
    kind = "several" if several else _block_kind(source, format)
    _check_room(source, kind)
    if kind is None:
        dataset = _read_whole(source, format, drop, text)
        _check_fits(dataset, budget)
        return replace(dataset, unsifted=True)
    most = _allowed(budget) / _COPIES  # bytes of the table in memory
    if not (several or in_blocks) and _size(Path(source), kind) <= most:
        unpacked = int(most / expansion_of(Path(source))) if kind in _TEXT else None
        with suppress(UnpacksToMoreError):
            return replace(_read_whole(source, format, drop, text, unpacked), unsifted=True)
    files = find_files(source)
    blocks = _blocks(files, _for_products(budget, kind), format, text)
    dataset = Dataset(
        _whole(blocks) if several and not in_blocks and blocks.nbytes <= most else blocks,
        blocks.names,
        name=_name_of(source),
        format=blocks.format,
        unsifted=True,
        files=_absolute(file.path for file in files),
    )
    return dataset.without(drop)


def read_source(
    source: str | Path,
    *,
    format: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    drop: Collection[str] = (),
) -> Dataset:
    """Read a table from a file, from standard input or from the built-in data sets.

    Parameters
    ----------
    source : str or Path
        A file: CSV (.csv), tab-separated (.tsv), Parquet (.parquet), Feather (.feather), Arrow
        (.arrow), NumPy array (.npy) or archive (.npz) or LIBSVM (.svm, .libsvm), and any of these
        compressed (.csv.gz; .bz2, .xz). "-" for standard input, whose format is found by its first
        bytes. The name of a built-in data set: "iris", "breast_cancer", "wine", "digits",
        "diabetes"; a file of that very name, where there is one, goes first, and a `Path` is always
        a file.
    format : {"csv", "tsv", "parquet", "feather", "arrow", "npz", "npy", "libsvm"}, optional
        Goes before the suffix.
    delimiter : str, optional
        Of CSV and TSV. Found by itself: comma, semicolon, tab or bar; TSV has tabs.
    encoding : str, optional
        Of CSV and TSV. UTF-8, UTF-16 and whatever a byte order mark says need not be
        named.
    header : bool, default=True
        Of CSV and TSV: whether the first line holds names. Columns without are x0, x1, ...
    drop : names, optional
        Columns to forget; patterns like "x*" stand for all that match.

    Returns
    -------
    dataset : Dataset

    Notes
    -----
    Text. The type of a column is that of all its values: whole numbers, true and false, dates,
    times, numbers, else text. Missing are values that are empty or NA, N/A, n/a, NaN, nan, -NaN,
    -nan, null, NULL, #N/A, #NA, <NA> or ?, in quotes or not. Blanks around values and names do not
    count. A semicolon-separated file may have decimal commas. Empty lines are skipped.

    NumPy archives hold `X` and `y` (or `X_train` and `y_train`, or `data` and `target`), and
    `feature_names` or `names` if there are any; or `X_data`, `X_indices`, `X_indptr`, `X_shape`, or
    what `scipy.sparse.save_npz` wrote, in place of `X`; or several arrays of one dimension and
    equal length, which are columns by their own names.

    LIBSVM columns are called x and the index that the file has for them: ``7:1.5`` is in `x7`.
    A file whose last line does not end with a newline may be cut short: a warning says so.

    Examples
    --------
    >>> from orthoselect.read import read_source
    >>> iris = read_source("iris")
    >>> iris.n_rows, iris.names[2], iris.target_name, iris.target[0].item()
    (150, 'petal length (cm)', 'species', 'setosa')
    """
    return _read_whole(source, format, drop, TextOptions(delimiter, encoding, header))


def on_dask(source: Any, **how: Any) -> Dataset:
    """Look at files that the workers of Dask will read, and select from, each some of them.

    Parameters
    ----------
    source : str, Path, list of these, or Dataset in blocks
        As for `read_table`: Parquet, Arrow, CSV or TSV files, of which a worker takes one at a
        time, or a .npy file. The paths have to mean the same to the workers.
    **how
        What else `read_table` takes.

    Returns
    -------
    dataset : Dataset
        For `select` and the selectors, who use whichever scheduler Dask is set to.

    Examples
    --------
    >>> import dask, tempfile
    >>> from orthoselect import select
    >>> file = Path(tempfile.mkdtemp(), "table.npy")
    >>> X = np.random.default_rng(0).normal(size=(1000, 3))
    >>> np.save(file, X)
    >>> with dask.config.set(scheduler="synchronous"):
    ...     select(on_dask(file), X[:, 2] > 0, 1).names
    ['x2']
    """
    dataset = source if isinstance(source, Dataset) else read_table(source, in_blocks=True, **how)
    if not hasattr(dataset.data, "split"):
        raise InputError(
            f"workers of Dask should be able to read the table: Parquet, Arrow, CSV, TSV or .npy "
            f"files; `{dataset.name}` is {dataset.format}."
        )
    return replace(dataset, data=OnDask(dataset.data))


def map_blocks(array: np.memmap, memory: int | str | None) -> NpyBlocks | np.memmap:
    """Return a memory map as it is, if it fits into memory, or else in blocks of rows."""
    budget = None if memory is None else count_bytes(memory)
    if array.ndim != 2 or _COPIES * array.nbytes <= _allowed(budget):
        return array
    return NpyBlocks(array, memory=_for_products(budget))


def files_of(source: Any) -> list[Path | int]:
    """Return the files that a table is read from; none of a built-in data set.

    Parameters
    ----------
    source : str, Path, or list of these
        As for `read_table`. Standard input is the number of an open file.

    Examples
    --------
    >>> [file.name for file in files_of("logs/table.csv")], files_of("iris")
    (['table.csv'], [])
    """
    if is_several(source):
        return [file.path for file in find_files(source)]
    if source == "-":
        try:
            return [sys.stdin.fileno()]
        except (AttributeError, OSError, ValueError):  # none, or what stands in for it is no file
            return []
    return [] if _is_built_in(source) else [Path(source)]


def _absolute(files: Iterable[Path | int]) -> list[Path | int]:
    """Return files by names that hold in any working folder."""
    return [f if isinstance(f, int) else Path(os.path.abspath(f)) for f in files]


def _read_whole(
    source: str | Path,
    format: str | None,
    drop: Collection[str],
    text: TextOptions,
    most: int | None = None,
) -> Dataset:
    """Read a table, unless it is a compressed file that unpacks to more than `most` bytes."""
    if format is not None and format not in FORMATS:
        known = ", ".join(f"`{known}`" for known in FORMATS)
        raise InputError(f"`format` should be one of {known}; got {format!r}.")
    if _is_built_in(source):
        if format is not None:
            raise InputError(f"`format` is for files; `{source}` is a built-in data set. Omit it.")
        check_unused(text, f"`{source}` is a built-in data set")
        return read_built_in(str(source)).without(drop)
    content = read_content(source, BUILT_IN, most)
    format = format or _format_of(source, content)
    if format in (*_TEXT, "text"):
        dataset = read_text(content, format, text)
    else:
        check_unused(text, f"`{content.name}` is read as {format}")
        with naming(content.name, format):
            dataset = dict(_READERS.values())[format](content, format)
    name = STANDARD_INPUT if source == "-" else Path(source).name
    dataset = replace(dataset, name=name, files=_absolute(files_of(source)))
    return dataset.without(drop)


def _is_built_in(source: Any) -> bool:
    return isinstance(source, str) and source in BUILT_IN and not Path(source).is_file()


def _format_of(source: str | Path, content: Content) -> str:
    """Return the format by the suffix, or by the first bytes of what has no name."""
    if content.name == STANDARD_INPUT or not Path(source).is_file():
        return content.kind() or "text"
    suffix = split_suffix(source)[0]
    if suffix in _READABLE:
        return _READABLE[suffix]
    known = ", ".join(f"`{known}`" for known in _READABLE)
    if suffix in _REMEDIES:
        raise InputError(f"`{Path(source).name}` should end in one of {known}. {_REMEDIES[suffix]}")
    raise InputError(
        f"`{Path(source).name}` should end in one of {known}; tell `read_table` what "
        f"it is, for example `format='csv'`, or read it yourself and pass the array or dataframe."
    )


# What fits into memory


def _allowed(budget: int | None) -> int:
    """Return the bytes that reading and selecting may take, within the limits of the process."""
    if budget is None:
        return free_memory() // 2
    room = room_in_limits()
    return budget if room is None else min(budget, room // 2)


def _check_room(source: Any, kind: str | None) -> None:
    """Raise where the limits of the process leave too little to BLAS and Arrow.

    BLAS would wait for memory forever, and Arrow would be aborted.
    """
    if room_in_limits() is None:
        return
    _check_least_room(source)
    prepare_blas()  # all take their share before what is left is counted
    if kind not in (None, "npy"):
        load_pyarrow()
        _check_least_room(source)


def _check_least_room(source: Any) -> None:
    room = room_in_limits()
    if room is not None and room < _LEAST_ROOM:
        raise InputError(
            f"`{_name_of(source)}` should have at least {say_bytes(_LEAST_ROOM)} of memory to be "
            f"read; the limits of this process (`ulimit -v`, `ulimit -d`) leave {say_bytes(room)}. "
            f"Raise them."
        )


def _size(path: Path, kind: str) -> int:
    """Return about how many bytes a file takes in memory, guessed without reading it."""
    stored = path.stat().st_size
    if split_suffix(path)[1]:
        return _PACKED * stored
    if kind in _TEXT:
        return int(stored * expansion_of(path))
    with suppress(InputError):  # a broken file is reported when it is read
        # What is compressed inside may unpack to anything.
        if kind == "parquet":
            return ParquetPart(path).nbytes
        if kind == "arrow":
            return max(_ARROW * stored, ArrowPart(path).nbytes)
        return stored
    return 0


def _for_products(budget: int | None, kind: str | None = None) -> int | None:
    """Return the bytes that are left beside the blocks; None where there is no need to count.

    Of text, also beside what parsing it takes.
    """
    if budget is None and _allowed(None) >= _PLENTY:
        return None
    budget = _allowed(budget)
    parsing = min(_PARSING, budget // 2) if kind in _TEXT else 0
    return max(_LEAST, budget - parsing - _HELD * min(BLOCK_BYTES, budget // 32))


def _check_fits(dataset: Dataset, budget: int | None) -> None:
    """Raise for what can be read only whole, and takes more memory than it may."""
    size = _COPIES * bytes_of(dataset.data)
    if budget is not None and size > budget:
        raise InputError(
            f"`{dataset.name}` should fit into the {say_bytes(budget)} of memory that it may take; "
            f"{dataset.format} from there is read whole, and takes about {say_bytes(size)}. Write "
            f"the table to a Parquet file, which is read in blocks, or set `memory` higher."
        )


# Files that can be read in blocks


def _block_kind(source: Any, format: str | None) -> str | None:
    """Return the format of a file that can be read in blocks; None for what is read whole."""
    if _is_built_in(source) or source == "-" or not os.path.isfile(source):
        return None
    kind = block_format(source, format)
    return kind if kind in BLOCK_SUFFIXES.values() else None


def _blocks(
    files: list[FoundFile], memory: int | None, format: str | None, text: TextOptions
) -> FileBlocks | NpyBlocks:
    first = files[0].path
    kind, packed = block_format(first, format), split_suffix(first)[1]
    if packed and kind not in _TEXT:
        raise InputError(
            f"`{first}` should not be packed as {packed} to be read in blocks or with others. "
            f"Unpack it; Parquet and Arrow files are compressed inside."
        )
    if kind != "npy":
        return FileBlocks(files, memory=memory, format=format, options=text)
    if len(files) > 1:
        raise InputError(
            f"an array should be in one .npy file; got {len(files)}, the first of them `{first}`. "
            f"Write them as one, or as Parquet."
        )
    return NpyBlocks(first, memory=memory)


def _whole(blocks: FileBlocks | NpyBlocks) -> Any:
    parts = list(blocks.blocks(None))
    if isinstance(blocks, NpyBlocks):
        return np.concatenate(parts) if parts else np.empty((0, len(blocks.names)))
    return load_pyarrow().concat_tables([blocks.schema.empty_table(), *parts])


def _name_of(source: Any) -> str:
    """Return what to call a table, whatever names it."""
    if isinstance(source, (list, tuple)):
        return f"{Path(source[0]).name} and {len(source) - 1} more"
    return Path(source).name or str(source)
