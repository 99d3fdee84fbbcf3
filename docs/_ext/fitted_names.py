"""Let types name fitted attributes: "array of shape (n_features_in_,)" is no link."""

from __future__ import annotations

import re
from typing import Any

_TYPE = re.compile(r"^(\s*\S[^:]* : )(.*)$")
_TRAILING = re.compile(r"(?<=\w)_(?!\w)")


def escaped(line: str) -> str:
    r"""Return a docstring's line with the trailing underscores of its type escaped for docutils.

    Examples
    --------
    >>> print(escaped("support_ : mask of shape (n_features_in_,)"))
    support_ : mask of shape (n_features_in\_,)
    """
    found = _TYPE.match(line)
    return found[1] + _TRAILING.sub(r"\\_", found[2]) if found else line


def escape_types(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Escape all lines of a docstring."""
    lines[:] = [escaped(line) for line in lines]


def setup(app: Any) -> dict[str, bool]:
    """Register it; numpydoc, at the usual 500, comes after."""
    app.connect("autodoc-process-docstring", escape_types, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
