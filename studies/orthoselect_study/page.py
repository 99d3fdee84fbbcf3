"""The report of a study as a page: sections, tables to be read, counts; one HTML file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from orthoselect.show.page import fill

if TYPE_CHECKING:
    from markupsafe import Markup

# A number as tables have it, with its error or the other end of a range.
_NUMBER = re.compile(r"[+-]?[\d.,]+(e[+-]?\d+)?( (\N{PLUS-MINUS SIGN}|to) [\d.,na]+)?")
_NO_NUMBER = (None, "missing", "damaged", "-")
_MANY_ROWS = 15
_DATA = "_data"


def render(told: Mapping[str, Any], charts: Mapping[str, Markup]) -> str:
    """Return the page of a report, as `report` makes it, with the charts of its figures by name."""
    return fill("study.html", {**told, **_prepare(told), "drawn": charts}, "orthoselect_study")


def _prepare(told: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the template needs besides what is told."""
    parts = [_part(part) for part in told["experiments"]]
    return {
        "sections": {
            "answer": "The answer",
            **{part["place"]: part["title"] for part in parts},
            **({"overall": "Over all data sets"} if told["overall"]["findings"] else {}),
            "reproduce": "How to reproduce",
        },
        "experiments": parts,
        "overall": {**told["overall"], "tables": [_readable(t) for t in told["overall"]["tables"]]},
        "n_methods": len({name for part in parts for name in part["facts"].get("methods", [])}),
        "n_sets": len({facts["name"] for part in parts for facts in part["data"]}),
        "n_missing": len({name for part in parts for name in part["missing"]}),
        "n_damaged": len({name for part in parts for name in part["damaged"]}),
        "seconds": sum(part["seconds"] for part in parts),
        "quick": [part["title"] for part in parts if part["settings"]["quick"]],
    }


def _part(part: Mapping[str, Any]) -> dict[str, Any]:
    tables = [_readable(table) for table in part["tables"]]
    return {
        **part,
        "place": f"experiment-{part['name']}",
        "tables": [table for table in tables if not table["name"].endswith(_DATA)],
        "data_tables": [table for table in tables if table["name"].endswith(_DATA)],
        "asked": {
            name: value
            for name, value in {**part["settings"], **part["facts"]}.items()
            if value not in (None, False) and name not in ("data", "output", "seed", "jobs")
        },
    }


def _readable(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table with what its columns hold: numbers, names, or notes."""
    columns = [
        {"name": name, "numeric": _is_numeric(column), "length": _length(column)}
        for name, *column in zip(table["columns"], *table["rows"])
    ]
    return {
        **table,
        "columns": columns,
        "tall": len(table["rows"]) > _MANY_ROWS,
        "sortable": table["columns"][0] == "method",
    }


def _is_numeric(column: Sequence[Any]) -> bool:
    """Tell whether a column holds numbers, some of which may be lacking."""
    known = [cell for cell in column if cell not in _NO_NUMBER]
    texts = [cell for cell in known if isinstance(cell, str)]
    return all(_NUMBER.fullmatch(text) for text in texts)


def _length(column: Sequence[Any]) -> str:
    """Return what a column of words holds at most, for its least width on a phone."""
    longest = max((len(cell) for cell in column if isinstance(cell, str)), default=0)
    return "words" if longest > 60 else "phrase" if longest > 12 else "word"
