"""A table reduced to some of its columns, written as its source was, whole or block by block."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from orthoselect.errors import InputError, UnknownColumnError, listing
from orthoselect.output import check_keeps_source, replacing
from orthoselect.read.arrow import load_pyarrow
from orthoselect.read.dataset import Dataset, TextFormat
from orthoselect.read.open import SUFFIXES
from orthoselect.read.paths import open_packed, split_suffix
from orthoselect.read.row_blocks import response_columns
from orthoselect.result.text import ESCAPE, FORMULA, NUMBER, Formulas

_ROWS = 1 << 16  # rows that are text at a time
_DELIMITERS = {"csv": ",", "tsv": "\t"}


def write_columns(
    dataset: Dataset,
    columns: Sequence[str],
    target: Any,
    path: str | Path,
    *,
    has_target: bool = True,
    overwrite_source: bool = False,
    escape_formulas: bool | None = None,
) -> None:
    """Write some columns and the target, in the format of the source.

    Parameters
    ----------
    dataset : Dataset
    columns : sequence of str
        Names, in the order to write them.
    target : str, list of str, array-like or None
        As for `Dataset.find_target`; it is written last, or as `y` and labels where the format has
        a place for these. Several are columns in any format; LIBSVM cannot have them.
    path : str or Path
        The file, replaced only when it is whole. Its suffix names the format, one of those that
        `read_source` knows; any other suffix is an error. Without a suffix the file is written in
        the format of the source, and a built-in data set as CSV. ``.gz``, ``.bz2`` and ``.xz``
        compress. LIBSVM that was read from LIBSVM keeps the index of each column (`x7` is 7);
        columns of any other source are counted from 1, in the order given.
    has_target : bool, default=True
        Whether there is a target to write; LIBSVM has to have one.
    overwrite_source : bool, default=False
        Whether `path` may be a file that the table was read from, or a link to one. It loses all
        other columns then; unless this is True, that is an error.
    escape_formulas : bool, optional
        Of CSV and TSV: whether to put an apostrophe before names and text that a spreadsheet would
        run as formulas. By default they are left as they are, with a warning; see
        `SelectionPath.to_csv`.

    Examples
    --------
    >>> import tempfile
    >>> from orthoselect.read import read_source
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = Path(folder.name) / "small.csv"
    >>> write_columns(read_source("iris"), ["petal width (cm)"], None, file)
    >>> file.read_text().splitlines()[:2]
    ['petal width (cm),species', '0.2,setosa']
    >>> folder.cleanup()
    """
    unknown = [name for name in columns if name not in dataset.places]
    if unknown:
        raise UnknownColumnError("columns", unknown, dataset.names)
    format = output_format(dataset, path)
    with _replaced(dataset, path, format, overwrite_source, escape_formulas) as (file, formulas):
        chosen = _Chosen(dataset, list(columns), target, has_target)
        if format in _DELIMITERS:
            _write_text(chosen, _text_format(dataset, format), file, formulas)
        elif format == "npz":
            _write_npz(chosen, file)
        elif format == "libsvm":
            _write_libsvm(chosen, file)
        else:
            _write_arrow(chosen, file, format)


@contextmanager
def _replaced(
    dataset: Dataset, path: str | Path, format: str, overwrite: bool, escape: bool | None
) -> Iterator[tuple[BinaryIO, Formulas]]:
    """Open a file to write, in place of another one only when it is whole."""
    check_keeps_source(path, dataset.files, "path", overwrite=overwrite)
    if escape is not None and format not in _DELIMITERS:
        raise InputError(
            f"`escape_formulas` is for CSV and TSV; this table is written as {format}, where text "
            f"is text. Omit it."
        )
    formulas, packed = Formulas(escape), split_suffix(path)[1]
    with replacing(path) as temporary, open_packed(temporary, packed, "wb") as file:
        yield file, formulas
    formulas.warn(f"`{Path(path).name}`")


def check_output(path: str | Path) -> str | None:
    """Return the format that a file name asks for, None if any; raise for an unknown suffix.

    Examples
    --------
    >>> check_output("small.csv.gz"), check_output("small")
    ('csv', None)
    """
    if str(path) == "-":
        raise InputError("`output` should name a file; got '-', and tables go to files only.")
    suffix = split_suffix(Path(path))[0]
    if suffix and suffix not in SUFFIXES:
        known = ", ".join(f"`{known}`" for known in SUFFIXES)
        raise InputError(
            f"`output` should name a file that ends in one of {known}, or has no suffix to be "
            f"written as its source is; got `{Path(path).name}`."
        )
    return SUFFIXES.get(suffix)


def output_format(dataset: Dataset, path: str | Path) -> str:
    """Return the format in which a table is written to a file; raise for one that it cannot be."""
    in_blocks = dataset.in_blocks
    own = {"built-in": "csv", "npy": "parquet" if in_blocks else "npz"}
    format = check_output(path) or own.get(dataset.format, dataset.format)
    if in_blocks and format not in ("parquet", "arrow", "feather", *_DELIMITERS):
        raise InputError(
            f"`output` should end in `.parquet`, `.arrow`, `.feather`, `.csv` or `.tsv` where the "
            f"table is read in blocks of rows; got `{Path(path).name}`."
        )
    return format


class _Chosen:
    """The columns to write and the targets, all by name; `sparse` holds the same as a matrix."""

    def __init__(
        self, dataset: Dataset, names: list[str], target: Any, has_target: bool = True
    ) -> None:
        self.features = {name: dataset.column(name) for name in names}
        self.targets: dict[str, Any] = {}
        if has_target:
            self._find_targets(dataset, target)
        places = [dataset.places[name] for name in names]
        self.sparse = sp.csr_array(dataset.data)[:, places] if sp.issparse(dataset.data) else None
        self.n_rows = dataset.n_rows
        # What LIBSVM calls the columns: as the file did that they are from, else from 1.
        self.indices: Sequence[int] = range(1, len(names) + 1)
        own = [re.fullmatch("x([0-9]+)", name) for name in names]
        if dataset.format == "libsvm" and all(own):
            self.indices = [int(match[1]) for match in own if match]

    def _find_targets(self, dataset: Dataset, target: Any) -> None:
        found = dataset.find_target(target)
        *others, found = response_columns(found, dataset.names) or [found]
        if isinstance(found, str):
            self.target_name, self.target = found, dataset.column(found)
        else:
            self.target_name = dataset.target_name or "target"
            while self.target_name in self.features:
                self.target_name += "_"
            self.target = found if hasattr(found, "to_pylist") else np.asarray(found)
        self.targets = {name: dataset.column(name) for name in others}
        self.targets[self.target_name] = self.target
        if len(self.target) != dataset.n_rows:
            raise InputError(
                f"the target should have a value for each of the {dataset.n_rows} rows; it has "
                f"{len(self.target)}."
            )

    def table(self) -> dict[str, Any]:
        """Return all columns by name, targets last."""
        return {**self.features, **self.targets}

    def arrays(self) -> dict[str, NDArray]:
        """Return all columns as arrays of NumPy, targets last."""
        return {name: _array(column, name) for name, column in self.table().items()}


def _array(column: Any, name: str) -> NDArray:
    """Return a column as a NumPy array of numbers, booleans or text."""
    array = column if isinstance(column, np.ndarray) else _decoded(column).to_numpy()
    if array.dtype != object:
        return array
    if any(value is None for value in array):
        raise InputError(
            f"column `{name}` should have no missing values where it is written as an array; "
            f"drop them, or write another format."
        )
    return np.array(array.tolist())


def _text_format(dataset: Dataset, format: str) -> TextFormat:
    """Return the source's own way to write text; of another format only what fits."""
    text = dataset.text or TextFormat()
    if dataset.text is not None and dataset.format == format:
        return text
    return TextFormat(_DELIMITERS[format], text.encoding, text.header)


def _write_text(chosen: _Chosen, text: TextFormat, file: BinaryIO, formulas: Formulas) -> None:
    # newline="": the rows end as the writer says
    lines = io.TextIOWrapper(file, encoding=text.encoding, newline="")
    # The csv module quotes a carriage return only if rows end with one; here they do not.
    ended = SimpleNamespace(write=lambda row: lines.write(row.removesuffix("\r\n") + "\n"))
    writer = csv.writer(ended, delimiter=text.delimiter, lineterminator="\r\n")
    table = chosen.table()
    try:
        if text.header:
            writer.writerow(formulas.checked(table))
        for start in range(0, chosen.n_rows, _ROWS):
            columns = [column[start : start + _ROWS] for column in table.values()]
            parts = [_texts(column, text, formulas) for column in columns]
            writer.writerows(zip(*parts))
        lines.detach()
    except UnicodeEncodeError as error:
        raise InputError(
            f"all text should fit the encoding {text.encoding}; {error.object!r} does not."
        ) from None


def _texts(column: Any, text: TextFormat, formulas: Formulas) -> list[Any]:
    """Return values that the csv module writes so that they are read as they were."""
    values = column.tolist() if isinstance(column, np.ndarray) else column.to_pylist()
    if not isinstance(column, np.ndarray) or column.dtype.kind in "UO":
        values = formulas.checked(values)
    if text.decimal == ",":
        return [
            str(value).replace(".", ",") if isinstance(value, (float, Decimal)) else value
            for value in values
        ]
    return values


def _write_arrow(chosen: _Chosen, file: BinaryIO, format: str) -> None:
    """Write Parquet, Arrow or Feather."""
    columns = chosen.table()
    table = load_pyarrow().table(list(columns.values()), names=list(columns))
    if format == "feather":
        load_pyarrow("pyarrow.feather").write_feather(table, file)
        return
    with _table_writer(file, table.schema, format) as writer:
        writer.write_table(table)


def _write_npz(chosen: _Chosen, file: BinaryIO) -> None:
    """Write X, y and the names; all by their own names if one is text or targets are several."""
    matrix: dict[str, Any] = {}
    if len(chosen.targets) > 1:
        arrays = chosen.arrays()
    elif chosen.sparse is not None:
        X = chosen.sparse
        parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}
        matrix = {f"X_{part}": np.asarray(values) for part, values in parts.items()}
    else:
        arrays = chosen.arrays()
        features = [arrays[name] for name in chosen.features]
        if all(values.dtype.kind in "fiub" for values in features):
            matrix = {"X": np.column_stack(features)}
    if matrix:
        names = np.array(list(chosen.features))
        y = {"y": _array(chosen.target, chosen.target_name)} if chosen.targets else {}
        arrays = {**matrix, **y, "feature_names": names}
    # Not by `numpy.savez`, which has names of its own that columns must not have.
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, values in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, values, allow_pickle=False)


def _write_libsvm(chosen: _Chosen, file: BinaryIO) -> None:
    """Write one line a row; labels and values in full precision."""
    if not chosen.targets:
        raise InputError(
            "LIBSVM has a label in each row, and there is no target. Write another format, .csv "
            "for one."
        )
    if len(chosen.targets) > 1:
        raise InputError(
            f"LIBSVM has one label a row; the targets are {listing(chosen.targets)}. Write another "
            f"format, .csv for one."
        )
    labels = _array(chosen.target, chosen.target_name)
    X = chosen.sparse
    if X is None:
        arrays = chosen.arrays()
        text = [name for name in chosen.features if arrays[name].dtype.kind not in "fiub"]
        if text:
            raise InputError(
                f"LIBSVM has numbers for values; {listing(text)} holds text. Write another format, "
                f".csv for one."
            )
        X = sp.csr_array(np.column_stack([arrays[name] for name in chosen.features]))
    if labels.dtype.kind not in "fiub":
        raise InputError(
            f"LIBSVM has numbers for labels; the target `{chosen.target_name}` holds text. "
            f"Write another format, .csv for one."
        )
    numbers = labels.astype(np.int64) if labels.dtype.kind == "b" else labels
    for label, line in zip(numbers.tolist(), _sparse_lines(X, chosen.indices)):
        file.write(f"{label!r} {line}".rstrip().encode() + b"\n")


def _sparse_lines(X: Any, indices: Sequence[int]) -> Iterator[str]:
    """Yield the values of each row, in the order of their indices."""
    order = np.argsort(indices)
    indices = np.asarray(indices)[order].tolist()
    X = X[:, order].sorted_indices()
    for start, stop in zip(X.indptr[:-1].tolist(), X.indptr[1:].tolist()):
        pairs = zip(X.indices[start:stop].tolist(), X.data[start:stop].tolist())
        yield " ".join(f"{indices[column]}:{float(value)!r}" for column, value in pairs)


# Block by block


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
    pa, format = load_pyarrow(), output_format(dataset, path)
    is_text = format in _DELIMITERS
    with _replaced(dataset, path, format, overwrite_source, escape_formulas) as (file, formulas):
        tables = _tables(dataset, columns)
        first = next(tables)
        schema = first.schema
        if is_text:
            schema = pa.schema(list(zip(formulas.checked(schema.names), schema.types)))
        with _table_writer(file, schema, format) as writer:
            for table in chain([first], tables):
                values = table.columns
                if is_text:
                    values = [_checked(column, formulas) for column in values]
                writer.write_table(pa.table(values, schema=schema))


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


def _tables(dataset: Dataset, columns: Sequence[str]) -> Iterator[Any]:
    """Yield the blocks as pyarrow tables of plain columns."""
    pa = load_pyarrow()
    for block in dataset.data.blocks([dataset.places[name] for name in columns]):
        if isinstance(block, np.ndarray):
            yield pa.table([np.ascontiguousarray(c) for c in block.T], names=list(columns))
        else:  # categories of one block may be unlike those of the next
            yield pa.table([_decoded(c) for c in block.columns], names=list(columns))


def _decoded(column: Any) -> Any:
    kind = column.type
    return column.cast(kind.value_type) if load_pyarrow().types.is_dictionary(kind) else column


def _table_writer(file: Any, schema: Any, format: str) -> Any:
    if format == "parquet":
        return load_pyarrow("pyarrow.parquet").ParquetWriter(file, schema)
    if format in _DELIMITERS:
        text = load_pyarrow("pyarrow.csv")
        options = text.WriteOptions(delimiter=_DELIMITERS[format])
        return text.CSVWriter(file, schema, write_options=options)
    return load_pyarrow("pyarrow.ipc").new_file(file, schema)
