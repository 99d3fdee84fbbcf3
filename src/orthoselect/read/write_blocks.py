"""Some columns of a table in blocks, written block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from orthoselect.errors import InputError
from orthoselect.output import check_keeps_source, replacing
from orthoselect.read.arrow import load_pyarrow
from orthoselect.read.content import open_packed, split_suffix
from orthoselect.read.dataset import Dataset
from orthoselect.read.write import check_escapes, check_output
from orthoselect.result.text import ESCAPE, FORMULA, NUMBER, Formulas

_DELIMITERS = {"csv": ",", "tsv": "\t"}
_FORMATS = ("parquet", "arrow", "feather", "csv", "tsv")


def check_block_output(dataset: Dataset, path: str | Path) -> str:
    """Return the format in which a table in blocks is written; raise for one that it cannot be."""
    format = check_output(path) or ("parquet" if dataset.format == "npy" else dataset.format)
    if format not in _FORMATS:
        raise InputError(
            f"`output` should end in `.parquet`, `.arrow`, `.feather`, `.csv` or `.tsv` where the "
            f"table is read in blocks of rows; got `{Path(path).name}`."
        )
    return format


def write_blocks(
    dataset: Dataset,
    columns: Sequence[str],
    path: str | Path,
    *,
    overwrite_source: bool = False,
    escape_formulas: bool | None = None,
) -> None:
    """Write some columns of a table in blocks.

    Parameters
    ----------
    dataset : Dataset
        Its data come in blocks.
    columns : sequence of str
        Names, in the order to write them.
    path : str or Path
        The file, replaced only when it is whole; its suffix names the format.
    overwrite_source : bool, default=False
        Whether `path` may be a file of the table, as for `write_columns`.
    escape_formulas : bool, optional
        Whether to escape what a spreadsheet would run as formulas, as for `write_columns`.
    """
    check_keeps_source(path, dataset.files, "path", overwrite=overwrite_source)
    pa = load_pyarrow()
    format, packed = check_block_output(dataset, path), split_suffix(Path(path))[1]
    check_escapes(escape_formulas, format)
    formulas = Formulas(escape_formulas)
    tables = _tables(dataset, columns)
    first = next(tables)
    schema = first.schema
    if format in _DELIMITERS:
        schema = pa.schema(list(zip(formulas.checked(schema.names), schema.types)))
    with (
        replacing(path) as temporary,
        open_packed(temporary, packed, "wb") as file,
        _writer(file, schema, format) as writer,
    ):
        for table in _with_first(first, tables):
            values = table.columns
            if format in _DELIMITERS:
                values = [_checked(column, formulas) for column in values]
            writer.write_table(pa.table(values, schema=schema))
    formulas.warn(f"`{Path(path).name}`")


def _checked(column: Any, formulas: Formulas) -> Any:
    """Return a column as `Formulas.checked` would, without a Python object for each value."""
    pa, pc = load_pyarrow(), load_pyarrow("pyarrow.compute")
    kind = column.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return column
    is_number = pc.match_substring_regex(column, NUMBER)
    found = pc.and_not(pc.match_substring_regex(column, FORMULA), is_number)
    count = pc.sum(found).as_py() or 0
    if not count:
        return column
    formulas.note(count, column.filter(found)[0].as_py())
    if not formulas.escape:
        return column
    escaped = pc.binary_join_element_wise(pa.scalar(ESCAPE, kind), column, pa.scalar("", kind))
    return pc.if_else(found, escaped, column)


def _with_first(first: Any, others: Iterator[Any]) -> Iterator[Any]:
    yield first
    yield from others


def _tables(dataset: Dataset, columns: Sequence[str]) -> Iterator[Any]:
    """Yield the blocks as pyarrow tables of plain columns."""
    pa = load_pyarrow()
    for block in dataset.data.blocks([dataset.position(name) for name in columns]):
        if isinstance(block, np.ndarray):
            yield pa.table([np.ascontiguousarray(c) for c in block.T], names=list(columns))
        else:  # categories of one block may be unlike those of the next
            yield pa.table([_decoded(c) for c in block.columns], names=list(columns))


def _decoded(column: Any) -> Any:
    kind = column.type
    return column.cast(kind.value_type) if load_pyarrow().types.is_dictionary(kind) else column


@contextmanager
def _writer(file: Any, schema: Any, format: str) -> Iterator[Any]:
    if format == "parquet":
        writer = load_pyarrow("pyarrow.parquet").ParquetWriter(file, schema)
    elif format in _DELIMITERS:
        text = load_pyarrow("pyarrow.csv")
        options = text.WriteOptions(delimiter=_DELIMITERS[format])
        writer = text.CSVWriter(file, schema, write_options=options)
    else:
        writer = load_pyarrow("pyarrow.ipc").new_file(file, schema)
    with writer:
        yield writer
