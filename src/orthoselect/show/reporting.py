"""A path or a comparison -> a file to send to somebody."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from orthoselect.errors import InputError
from orthoselect.output import check_keeps_source, check_place, replacing
from orthoselect.read import Dataset, files_of, is_path
from orthoselect.result import Comparison, SelectionPath
from orthoselect.show.summary import summarize

_SUFFIXES = (".html", ".htm", ".json")


def report(
    path: SelectionPath | Comparison,
    data: Any,
    target: Any,
    file: str | Path,
    *,
    sample_weight: Any = None,
    title: str | None = None,
    overwrite_source: bool = False,
) -> Path:
    """Write a page about a selection: what was chosen, why, and why not the others; or of methods.

    The page is one file that needs no network: the path, every feature with the reason why it was
    chosen or not, substitutes, pictures of the classes and of each selected feature, facts about
    the data, and how to get the same again. Of a comparison it shows the curves of all methods, the
    best for each number of features, and which features they selected.

    Parameters
    ----------
    path : SelectionPath or Comparison
        What `select` returned, or `selector.path_`; or what `compare` returned.
    data, target : as in `select`
        Those that the path was found on. A comparison knows all that its page shows, so that they
        may be None.
    file : str or Path
        Where to write. A name that ends in .html makes a page (which needs matplotlib, the extra
        `report`), one in .json the same as plain data. A file that is there is replaced, once the
        new one is complete.
    sample_weight : array-like of shape (N,), optional
        The row weights, if the path was found with any. A comparison takes none here.
    title : str, optional
        What to call the data.
    overwrite_source : bool, default=False
        Whether `file` may be one that the data are read from; else that is an error.

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

    A comparison has a page, too:

    >>> from orthoselect import compare
    >>> comparison = compare(wine, "target", ["socc", "lasso"], sizes=[1, 2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report(comparison, None, None, f"{folder}/methods.json").name
    'methods.json'
    """
    _check_suffix(file)
    check_place(file)  # before the work, not after it
    check_keeps_source(file, _files_of(data), "file", overwrite=overwrite_source)
    if isinstance(path, Comparison):
        return write_report(_compared(path, sample_weight, title), file)
    summary = summarize(path, data, target, sample_weight=sample_weight, source=title)
    return write_report(summary, file)


def _files_of(data: Any) -> Sequence[Path | int]:
    """Return the files that data are read from, as far as they tell."""
    if isinstance(data, Dataset):
        return data.files
    return files_of(data) if is_path(data) else ()


def _compared(comparison: Comparison, sample_weight: Any, title: str | None) -> dict[str, Any]:
    """Return what the page of a comparison shows."""
    if sample_weight is not None:
        raise InputError(
            "`sample_weight` should be left out of the report of a comparison, which holds all "
            "that its page shows and was made without row weights."
        )
    summary = comparison.to_dict()
    return summary if title is None else {**summary, "title": title}


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
