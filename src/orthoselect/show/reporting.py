"""A path -> a file to send to somebody."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from orthoselect.errors import InputError
from orthoselect.output import check_place, replacing
from orthoselect.result import SelectionPath
from orthoselect.show.summary import summarize

_SUFFIXES = (".html", ".htm", ".json")


def report(
    path: SelectionPath,
    data: Any,
    target: Any,
    file: str | Path,
    *,
    sample_weight: Any = None,
    title: str | None = None,
) -> Path:
    """Write a page about a selection: what was chosen, why, and why not the others.

    The page is one file that needs no network: the path, every feature with the reason why it was
    chosen or not, substitutes, pictures of the classes and of each selected feature, facts about
    the data, and how to get the same again.

    Parameters
    ----------
    path : SelectionPath
        What `select` returned, or `selector.path_`.
    data, target : as in `select`
        Those that the path was found on.
    file : str or Path
        Where to write. A name that ends in .html makes a page (which needs matplotlib, the extra
        `report`), one in .json the same as plain data. A file that is there is replaced, once the
        new one is complete.
    sample_weight : array-like of shape (N,), optional
        The row weights, if the path was found with any.
    title : str, optional
        What to call the data.

    Returns
    -------
    file : Path
        Where it was written.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_wine
    >>> from orthoselect import report, select
    >>> wine = load_wine(as_frame=True).frame
    >>> path = select(wine, "target", 3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report(path, wine, "target", f"{folder}/wine.json", title="Wine").name
    'wine.json'
    """
    _check_suffix(file)
    check_place(file)  # before the work, not after it
    summary = summarize(path, data, target, sample_weight=sample_weight, source=title)
    return write_report(summary, file)


def write_report(summary: dict[str, Any], file: str | Path) -> Path:
    """Write a summary, of a selection or a comparison, as a page or as plain data.

    Parameters
    ----------
    summary : dict
        What `summarize` returned, or `Comparison.to_dict()`.
    file : str or Path
        Where to write; its suffix says what, as in `report`.

    Returns
    -------
    file : Path
        Where it was written.
    """
    text = _plain_data(summary) if _check_suffix(file) == ".json" else _page(summary)
    with replacing(file) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return Path(file)


def _check_suffix(file: str | Path) -> str:
    suffix = Path(file).suffix.lower()
    if suffix not in _SUFFIXES:
        raise InputError(
            f"`file` should end in .html for a page or in .json for plain data; got {str(file)!r}."
        )
    return suffix


def _plain_data(summary: dict[str, Any]) -> str:
    return json.dumps(summary, allow_nan=False, ensure_ascii=False, indent=1) + "\n"


def _page(summary: dict[str, Any]) -> str:
    from orthoselect.show.page import render  # its templates are for pages only

    return render(summary)
