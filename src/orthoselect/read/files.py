"""Files -> dataframes, by whichever library for them is installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from orthoselect.errors import InputError, listing

_SUFFIXES = (".csv", ".tsv", ".parquet", ".feather", ".arrow")
_LIBRARIES = ("polars", "pyarrow", "pandas")


def read_file(path: str | Path) -> Any:
    """Read a table from a file into a dataframe.

    Parameters
    ----------
    path : str or Path
        A CSV (.csv), tab-separated (.tsv), Parquet (.parquet) or Arrow (.feather, .arrow) file.
    """
    path = Path(path)
    if not _is_file(path):
        raise InputError(f"there should be a table at `{path}`; there is no such file.")
    suffix = path.suffix.lower()
    if suffix not in _SUFFIXES:
        raise InputError(
            f"`{path.name}` should end in one of {listing(_SUFFIXES)}; "
            f"read it yourself and pass the dataframe."
        )
    backend = next((name for name in _LIBRARIES if importlib.util.find_spec(name)), None)
    if backend is None:
        raise InputError(
            f"reading files needs one of {listing(_LIBRARIES)}; none is installed. "
            f"Install one, for example with `pip install polars`."
        )
    try:
        return _read(path, suffix, backend)
    except Exception as error:
        first_line = str(error).strip().splitlines()[:1]
        raise InputError(f"`{path}` could not be read: {' '.join(first_line)}") from error


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name too long for the file system, or with a null in it
        return False


def _read(path: Path, suffix: str, backend: str) -> Any:
    if suffix in (".csv", ".tsv"):
        return _read_text(path, "," if suffix == ".csv" else "\t", backend)
    if suffix == ".parquet":
        if backend == "pyarrow":
            return importlib.import_module("pyarrow.parquet").read_table(path)
        return importlib.import_module(backend).read_parquet(path)
    module = importlib.import_module("pyarrow.feather" if backend == "pyarrow" else backend)
    if backend == "polars":
        return module.read_ipc(path)
    return module.read_table(path) if backend == "pyarrow" else module.read_feather(path)


def _read_text(path: Path, separator: str, backend: str) -> Any:
    if backend == "pyarrow":
        csv = importlib.import_module("pyarrow.csv")
        return csv.read_csv(path, parse_options=csv.ParseOptions(delimiter=separator))
    module = importlib.import_module(backend)
    if backend == "polars":
        # Look at all rows before settling the dtypes: fractions may come late.
        return module.read_csv(path, separator=separator, infer_schema_length=None)
    return module.read_csv(path, sep=separator)
