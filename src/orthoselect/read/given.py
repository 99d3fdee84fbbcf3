"""Whatever users give as a table -> a `Source`: the one place that asks what kind it is of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from orthoselect.encode import NumberedNames
from orthoselect.errors import InputError
from orthoselect.matrix.memory import count_bytes
from orthoselect.read.block import open_whole
from orthoselect.read.blocks import OnDask, SourceOf, is_block_source, is_dask, response_columns
from orthoselect.read.dask_source import DaskSource, DaskTable, SplitTable
from orthoselect.read.dataset import Dataset
from orthoselect.read.numpy_files import NpyBlocks
from orthoselect.read.open import map_blocks, read_table
from orthoselect.read.paths import is_path
from orthoselect.read.source import BlockSource, Source, WholeSource


def find_table(data: Any, memory: int | str | None = None) -> Any:
    """Return what a path or a memory map stands for; other data are returned as they are.

    Parameters
    ----------
    data : as in `select`
    memory : int or str, optional
        What may be taken; what does not fit comes in blocks.
    """
    if is_path(data):
        return read_table(data, memory=memory)
    if isinstance(data, np.memmap):
        return map_blocks(data, memory)
    if memory is None:
        return data
    if is_dask(data):
        return DaskTable(data, count_bytes(memory))
    if isinstance(data, Dataset) and data.in_blocks:
        return replace(data, data=SourceOf(data.data, count_bytes(memory)))
    if is_block_source(data):
        return SourceOf(data, count_bytes(memory))
    raise InputError(
        f"`memory` is for files, memory maps and tables in blocks or partitions; got a "
        f"{type(data).__name__}, which is in memory already. Omit it."
    )


def find_file(data: Any) -> Any:
    """Return what a path stands for; other data are returned as they are."""
    return read_table(data) if is_path(data) else data


def open_source(data: Any, fewest_rows: int = 2) -> Source:
    """Look at a table of any kind.

    Parameters
    ----------
    data : array-like, SciPy sparse, dataframe, Dataset, source of blocks, or Dask collection
    fewest_rows : int
        How many rows a table in memory has to have.
    """
    if isinstance(data, Source):
        return data
    stored = data.data if isinstance(data, Dataset) else data
    if isinstance(stored, OnDask):
        return DaskSource(SplitTable(stored))
    if isinstance(stored, DaskTable) or is_dask(stored):
        return DaskSource(stored if isinstance(stored, DaskTable) else DaskTable(stored))
    if is_block_source(stored):
        return BlockSource(stored)
    return WholeSource(open_whole(data, fewest_rows))


def why_not_whole(data: Any) -> tuple[str, str] | None:
    """Return why a table is not in memory, and what could be done about it; None if it is.

    Examples
    --------
    >>> why_not_whole(np.eye(2)) is None
    True
    """
    stored = data.data if isinstance(data, Dataset) else data
    if isinstance(stored, (BlockSource, DaskTable)) or is_block_source(stored) or is_dask(stored):
        if isinstance(data, (Dataset, NpyBlocks)):
            return "is too large for that", "set `memory` higher, if there is more"
        if is_dask(data):
            return "comes in blocks", "call its `compute()`, if it fits"
        return "comes in blocks", "put the blocks together"
    return None


def is_named(data: Any, target: Any, sample_weight: Any) -> bool:
    """Whether `fit` may name columns of a table: of a file, a table in blocks, or one of Dask.

    Of a memory map only if it does name some: else it is an array like any other.
    """
    if not isinstance(data, np.memmap) or data.ndim != 2:
        return is_kept_elsewhere(data)
    names = NumberedNames(data.shape[1])
    return isinstance(sample_weight, str) or bool(response_columns(target, names))


def is_kept_elsewhere(data: Any) -> bool:
    """Whether a table is a file, or comes in blocks or partitions."""
    return is_path(data) or isinstance(data, Dataset) or is_dask(data) or is_block_source(data)


def open_named(data: Any) -> Any:
    """Return a table whose columns have names, and can be brought into another order."""
    if isinstance(data, np.memmap):
        return BlockSource(NpyBlocks(data))
    data = find_table(data)
    if is_dask(data):
        return DaskTable(data)
    return BlockSource(data) if is_block_source(data) else data
