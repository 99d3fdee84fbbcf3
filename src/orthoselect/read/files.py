"""Any source by its name -> a Dataset."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

from orthoselect.errors import InputError, listing
from orthoselect.read.arrow_files import read_arrow, read_parquet
from orthoselect.read.builtin import BUILT_IN, read_built_in
from orthoselect.read.content import (
    STANDARD_INPUT,
    Content,
    naming,
    read_content,
    split_suffix,
    standard_input,
)
from orthoselect.read.dataset import Dataset
from orthoselect.read.numpy_files import read_archive, read_array, read_libsvm
from orthoselect.read.paths import find_files, is_several
from orthoselect.read.text_files import read_text
from orthoselect.read.text_format import TextOptions

SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".feather": "feather",
    ".arrow": "arrow",
    ".npz": "npz",
    ".svm": "libsvm",
    ".libsvm": "libsvm",
}
_READ_ONLY = {".npy": "npy"}  # a table without names is written as an archive, with its target
FORMATS = tuple(dict.fromkeys([*SUFFIXES.values(), *_READ_ONLY.values()]))
_READERS = {
    "parquet": read_parquet,
    "feather": read_arrow,
    "arrow": read_arrow,
    "npz": read_archive,
    "npy": read_array,
    "libsvm": read_libsvm,
}


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
    text = {"delimiter": delimiter, "encoding": encoding, "header": header}
    return read_within(source, None, format=format, drop=drop, **text)


def read_within(
    source: str | Path,
    most: int | None,
    *,
    format: str | None,
    drop: Collection[str],
    **text: Any,
) -> Dataset:
    """Read a table as `read_source` does; raise if it unpacks to more bytes than it may.

    Raises
    ------
    UnpacksToMoreError
        If a compressed file has more than `most` bytes when it is unpacked.
    """
    if format is not None and format not in FORMATS:
        known = ", ".join(f"`{known}`" for known in FORMATS)
        raise InputError(f"`format` (`--input-format`) should be one of {known}; got {format!r}.")
    if isinstance(source, str) and source in BUILT_IN and not _is_file(source):
        if format is not None:
            raise InputError(
                f"`format` (`--input-format`) is for files; `{source}` is a built-in data set. "
                f"Leave it away."
            )
        _refuse(text, f"`{source}` is a built-in data set")
        dataset = read_built_in(source)
    else:
        content = read_content(source, BUILT_IN, most)
        name = STANDARD_INPUT if source == "-" else Path(source).name
        dataset = replace(_read(content, format or _format_of(source, content), text), name=name)
        dataset = replace(dataset, files=kept_files(source))
    return dataset.without(drop).checked()


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
    source = source[0] if isinstance(source, (list, tuple)) else source
    if source == "-":
        return [*standard_input()]
    is_built_in = isinstance(source, str) and source in BUILT_IN and not _is_file(source)
    return [] if is_built_in else [Path(source)]


def kept_files(source: Any) -> list[Path | int]:
    """Return the files of a table by names that hold in any working folder."""
    return [f if isinstance(f, int) else Path(os.path.abspath(f)) for f in files_of(source)]


def _is_file(name: str) -> bool:
    return Path(name).is_file()


def _format_of(source: str | Path, content: Content) -> str:
    """Tell the format by the suffix, or by the first bytes of what has no name."""
    if content.name == STANDARD_INPUT or _is_pipe(source):
        return content.kind() or "text"
    suffix, readable = split_suffix(Path(source))[0], {**SUFFIXES, **_READ_ONLY}
    if suffix in readable:
        return readable[suffix]
    known = ", ".join(f"`{known}`" for known in readable)
    raise InputError(
        f"`{Path(source).name}` should end in one of {known}; tell the command what it is, for "
        f"example `--input-format csv`, or read it yourself and pass the array or dataframe."
    )


def _is_pipe(source: str | Path) -> bool:
    return not Path(source).is_file()


def _read(content: Content, format: str, text: dict[str, Any]) -> Dataset:
    if format in ("csv", "tsv", "text"):
        return read_text(content, format, TextOptions(**text))
    _refuse(text, f"`{content.name}` is read as {format}")
    with naming(content.name, format):
        return _READERS[format](content, format)


def _refuse(options: dict[str, Any], because: str) -> None:
    """Raise for options of CSV and TSV where they would mean nothing."""
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise InputError(f"{listing(given)} is for CSV and TSV; {because}. Leave it away.")
