"""A path, several, or a memory map -> a table in memory if it fits, in blocks of rows if not."""

from __future__ import annotations

import os
from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from orthoselect.errors import InputError
from orthoselect.matrix.memory import count_bytes, free_memory, room_in_limits, say_bytes
from orthoselect.matrix.threads import prepare_blas
from orthoselect.read.arrow import load_pyarrow
from orthoselect.read.arrow_files import ArrowPart, ParquetPart
from orthoselect.read.builtin import BUILT_IN
from orthoselect.read.content import UnpacksToMoreError, open_packed, split_suffix
from orthoselect.read.dask_table import OnDask
from orthoselect.read.dataset import Dataset
from orthoselect.read.file_blocks import BLOCK_BYTES, FileBlocks
from orthoselect.read.files import kept_files, read_within
from orthoselect.read.numpy_files import NpyBlocks
from orthoselect.read.paths import BLOCK_SUFFIXES, find_files, is_list_of_paths, is_several
from orthoselect.read.text_format import TextOptions, expansion

_COPIES = 3  # of a table in memory: as it is stored, as one array, and what is worked on
_PER_BYTE = {"arrow": 2}  # of a file, bytes in memory, about
_LOOK = 1 << 16  # bytes of a text that tell how long its values are
_PACKED = 6  # bytes in memory for a byte of a compressed file
_HELD = 10  # blocks at a time: read (a whole row group), converted, and worked on
_LEAST_ROOM = 1 << 27  # bytes without which Arrow does not read at all
_PLENTY = 1 << 30  # bytes beside which blocks are small
_LEAST = 1 << 22  # bytes that are left to a selection, whatever the blocks take


def is_path(data: Any) -> bool:
    """Whether data is a path, or a list of paths."""
    return isinstance(data, (str, Path)) or is_list_of_paths(data)


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
    how = {"format": format, "delimiter": delimiter, "encoding": encoding, "header": header}
    if not is_several(source):
        source = source[0] if is_list_of_paths(source) else source
        kind = _block_kind(source, format)
        _check_room(source, kind)
        wanted = in_blocks and kind is not None
        if not (wanted or _is_too_large(source, format, budget)):
            most = _most_unpacked(source, kind, budget)
            with suppress(UnpacksToMoreError):
                dataset = read_within(source, most, drop=drop, **how)  # type: ignore[arg-type]
                if kind is None:
                    _check_fits(dataset, budget)
                return replace(dataset, unsifted=True)
    else:
        _check_room(source, "several")
    blocks = _blocks(source, budget, how)
    name = _name_of(source)
    fits = not in_blocks and _COPIES * _size(blocks, budget) <= _allowed(budget)
    data = _whole(blocks) if fits else blocks
    dataset = Dataset(
        data,
        blocks.names,
        name=name,
        format=_format(blocks),
        unsifted=True,
        files=kept_files(source),
    )
    return dataset.without(drop).checked()


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


def _allowed(budget: int | None) -> int:
    """Return the bytes that reading and selecting may take, however much was asked for."""
    if budget is None:
        return free_memory() // 2
    room = room_in_limits()
    return budget if room is None else min(budget, room // 2)


def _check_room(source: Any, kind: str | None) -> None:
    """Raise where the limits of the process leave too little to Arrow, which would be aborted."""
    if room_in_limits() is None:
        return
    prepare_blas()  # all take their share before what is left is counted
    if kind in (None, "npy"):
        return
    load_pyarrow()
    room = room_in_limits()
    if room is not None and room < _LEAST_ROOM:
        raise InputError(
            f"`{_name_of(source)}` should have at least {say_bytes(_LEAST_ROOM)} of memory to be "
            f"read; the limits of this process (`ulimit -v`, `ulimit -d`) leave {say_bytes(room)}. "
            f"Raise them."
        )


def _most_unpacked(source: Any, kind: str | None, budget: int | None) -> int | None:
    """Return how long a compressed file may be to be read whole, where it can be in blocks."""
    if kind not in ("csv", "tsv"):
        return None
    return int(_allowed(budget) // (_COPIES * _expansion(source)))


def _expansion(source: Any) -> float:
    """Return about how many bytes of memory a byte of a text file takes, unpacked."""
    try:
        with open_packed(Path(source), split_suffix(Path(source))[1], "rb") as file:
            return expansion(file.read(_LOOK))
    except Exception:  # broken, and who reads it says so
        return expansion(b"")


def _for_products(budget: int | None) -> int | None:
    """Return the bytes that are left beside the blocks; None where there is no need to count."""
    if budget is None and _allowed(None) >= _PLENTY:
        return None
    budget = _allowed(budget)
    return max(_LEAST, budget - _HELD * min(BLOCK_BYTES, budget // 32))


def _block_kind(source: Any, format: str | None) -> str | None:
    """Return the format of a file that can be read in blocks; None for what is read whole."""
    named = isinstance(source, str) and (source == "-" or source in BUILT_IN)
    suffix = split_suffix(Path(source))[0]
    if (named and not suffix) or not os.path.isfile(source):
        return None
    kind = format or BLOCK_SUFFIXES.get(suffix)
    kind = "arrow" if kind == "feather" else kind
    return kind if kind in BLOCK_SUFFIXES.values() else None


def _is_too_large(source: Any, format: str | None, budget: int | None) -> bool:
    """Whether a file should be read in blocks; guessed without reading it."""
    kind = _block_kind(source, format)
    if kind is None:
        return False
    path = Path(source)
    packed = split_suffix(path)[1]
    guess = path.stat().st_size * (_PACKED if packed else _PER_BYTE.get(kind, 1))
    if kind in ("csv", "tsv") and not packed:
        guess = int(path.stat().st_size * _expansion(path))
    if kind in ("parquet", "arrow") and not packed:
        # What is compressed inside may unpack to anything.
        part = ParquetPart if kind == "parquet" else ArrowPart
        try:
            guess = max(guess if kind == "arrow" else 0, part(path).nbytes)
        except InputError:
            return False  # broken, and who reads it says so
    return _COPIES * guess > _allowed(budget)


def _check_fits(dataset: Dataset, budget: int | None) -> None:
    """Raise for what can be read only whole, and takes more memory than it may."""
    size = _COPIES * _bytes_in(dataset.data)
    if budget is not None and size > budget:
        raise InputError(
            f"`{dataset.name}` should fit into the {say_bytes(budget)} of memory that it may take; "
            f"{dataset.format} from there is read whole, and takes about {say_bytes(size)}. Write "
            f"the table to a Parquet file, which is read in blocks, or set `memory` higher."
        )


def _bytes_in(data: Any) -> int:
    return int(data.data.nbytes if hasattr(data, "format") else data.nbytes)


def _blocks(source: Any, budget: int | None, how: dict[str, Any]) -> FileBlocks | NpyBlocks:
    format, text = how["format"], {k: v for k, v in how.items() if k != "format"}
    files = find_files(source)
    suffix, packed = split_suffix(files[0].path)
    kind = format or BLOCK_SUFFIXES.get(suffix)
    if packed and kind not in ("csv", "tsv"):
        raise InputError(
            f"`{files[0].path}` should not be packed as {packed} to be read in blocks or with "
            f"others. Unpack it; Parquet and Arrow files are compressed inside."
        )
    memory = _for_products(budget)
    if kind == "npy":
        if len(files) > 1:
            raise InputError(
                f"an array should be in one .npy file; got {len(files)}, the first of them "
                f"`{files[0].path}`. Write them as one, or as Parquet."
            )
        return NpyBlocks(files[0].path, memory=memory)
    return FileBlocks(source, memory=memory, format=format, options=TextOptions(**text))


def _size(blocks: FileBlocks | NpyBlocks, budget: int | None) -> int:
    """Return about how many bytes a table takes; text is not read for that if it is long."""
    if isinstance(blocks, NpyBlocks):
        return blocks.nbytes
    stored = sum(path.stat().st_size for path in blocks.paths)
    if blocks.format in ("csv", "tsv") and stored > _allowed(budget):
        return stored
    return blocks.nbytes


def _whole(blocks: FileBlocks | NpyBlocks) -> Any:
    parts = list(blocks.blocks(None))
    if isinstance(blocks, NpyBlocks):
        return np.concatenate(parts) if parts else np.empty((0, len(blocks.names)))
    import pyarrow as pa

    return pa.concat_tables([blocks.schema.empty_table(), *parts])


def _format(blocks: FileBlocks | NpyBlocks) -> str:
    return blocks.format if isinstance(blocks, FileBlocks) else "npy"


def _name_of(source: Any) -> str:
    """Return what to call a table.

    Examples
    --------
    >>> _name_of("data/2024"), _name_of(["data/a.csv", "data/b.csv"])
    ('2024', 'a.csv and 1 more')
    """
    if is_list_of_paths(source):
        return f"{Path(source[0]).name} and {len(source) - 1} more"
    return Path(source).name or str(source)
