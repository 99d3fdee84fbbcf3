"""Files -> dataframes, by whichever library for them is installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import narwhals as nw

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
    if not path.is_file():
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


def _read(path: Path, suffix: str, backend: Any) -> Any:
    if suffix == ".csv":
        return nw.read_csv(str(path), backend=backend).to_native()
    if suffix == ".parquet":
        return nw.read_parquet(str(path), backend=backend).to_native()
    if suffix == ".tsv":
        options: dict[str, Any] = {"separator": "\t"} if backend == "polars" else {"sep": "\t"}
        if backend == "pyarrow":
            from pyarrow import csv

            options = {"parse_options": csv.ParseOptions(delimiter="\t")}
        return nw.read_csv(str(path), backend=backend, **options).to_native()
    module = importlib.import_module("pyarrow.feather" if backend == "pyarrow" else backend)
    if backend == "polars":
        return module.read_ipc(path)
    return module.read_table(path) if backend == "pyarrow" else module.read_feather(path)
