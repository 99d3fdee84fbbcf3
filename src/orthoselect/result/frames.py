"""Columns -> a dataframe of the library that is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from orthoselect.errors import InputError

Backend = Literal["pandas", "polars", "pyarrow"]
_BACKENDS = ("pandas", "polars", "pyarrow")


def build_frame(
    columns: Mapping[str, list[Any]], kinds: Mapping[str, str], backend: Backend
) -> Any:
    """Return columns as a dataframe.

    Parameters
    ----------
    columns : mapping of str to list
    kinds : mapping of str to str
        What each column holds, by narwhals' names: "Int64", "Float64", "String".
    backend : {"pandas", "polars", "pyarrow"}
        Which library's dataframe; it has to be installed.
    """
    import narwhals as nw

    if backend not in _BACKENDS:
        raise InputError(
            f"`backend` should be one of {', '.join(map(repr, _BACKENDS))}; got {backend!r}."
        )
    schema = {name: getattr(nw, kind)() for name, kind in kinds.items()}
    return nw.from_dict(dict(columns), schema=schema, backend=backend).to_native()
