"""The report for readers: its tables, a Markdown file, and one HTML file of its own."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from orthoselect.show.page import fill

if TYPE_CHECKING:
    from markupsafe import Markup

Cell = str | int | float | None  # None for what there is no number of
Told = Mapping[str, Any]

# A number as tables have it, with its error or the other end of a range.
_NUMBER = re.compile(r"[+-]?[\d.,]+(e[+-]?\d+)?( (\N{PLUS-MINUS SIGN}|to) [\d.,na]+)?")
_NO_NUMBER = ("missing", "damaged", "-")
_MANY_ROWS = 15
_DATA = "_data"
_NOT_SHOWN = ("data", "output", "seed", "jobs")


@dataclass(frozen=True)
class Table:
    """A table of a report."""

    name: str  # for file names
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""  # what stands below it

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain values; nan is None."""
        rows = [
            [None if isinstance(cell, float) and not math.isfinite(cell) else cell for cell in row]
            for row in self.rows
        ]
        return {**asdict(self), "columns": list(self.columns), "rows": rows}

    def markdown(self) -> str:
        """Return the table in Markdown."""
        columns = [[row[j] for row in self.rows] for j in range(len(self.columns))]
        sides = [":--" if any(isinstance(c, str) for c in column) else "--:" for column in columns]
        lines = [f"**{self.title}**", "", _line(self.columns), f"|{'|'.join(sides)}|"]
        lines += [_line(map(_shown, row)) for row in self.rows]
        return "\n".join([*lines, "", self.note] if self.note else lines)


def _shown(cell: Cell) -> str:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return "-"
    return f"{cell:.4f}" if isinstance(cell, float) else str(cell)


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def as_markdown(told: Told) -> str:
    """Return a report, as `report` makes it, in Markdown; figures are files beside it."""
    lines = [f"# {told['title']}", "", told["sentence"], "", f"The paper: {told['paper']}.", ""]
    parts = list(told["experiments"])
    if told["overall"]["findings"]:
        parts.append({"title": "Over all data sets", **told["overall"]})
    for part in parts:
        lines += [f"## {part['title']}", ""]
        if "about" in part:
            lines += [_about(part), ""]
        if part.get("failed"):
            failed = [f"{label}: {reason}" for label, reason in part["failed"]]
            lines += ["Tasks that failed:", "", *_items(failed)]
        for table in part["tables"]:
            lines += [Table(**table).markdown(), ""]
        for figure in part["figures"]:
            lines += [f"![{figure['title']}]({figure['png']})", ""]
        lines += ["What this shows:", "", *_items(part["findings"])]
    reproduce = told["reproduce"]
    lines += ["## How to reproduce", ""]
    codes = [(", ".join(run["experiments"]), run["code"]) for run in reproduce["runs"]]
    for what, code in [*codes, ("Tables, figures and pages alone", reproduce["report"])]:
        lines += [f"{what}:", "", "```", code, "```", ""]
    used = [
        f"{', '.join(used['experiments'])}: "
        + ", ".join(f"{name} {number}" for name, number in used["versions"].items())
        for used in reproduce["used"]
    ]
    return "\n".join([*lines, "## Versions", "", *_items(used)])


def _items(texts: Iterable[str]) -> list[str]:
    return [*(f"- {text}" for text in texts), ""]


def _about(part: Told) -> str:
    settings, took, selecting = part["settings"], part["selecting"], ""
    quick = " A quick run, with smaller numbers than the paper's." if settings["quick"] else ""
    about = part["about"][0].upper() + part["about"][1:]
    if took is not None:
        penalized = f", by LASSO and Net {took['penalized']:.0f} s" if took["penalized"] else ""
        selecting = f" (selecting: {took['others']:.0f} s{penalized})"
    return (
        f"{about}.{quick} Seed {settings['seed']}; {part['complete']} of {part['tasks']} tasks, "
        f"{part['seconds']:.0f} s of work{selecting}; {part['written']}."
    )


def as_page(told: Told, charts: Mapping[str, Markup]) -> str:
    """Return a report, as `report` makes it, as HTML, with the charts of its figures by name."""
    parts = [_part(part) for part in told["experiments"]]
    overall = told["overall"]
    absent = {name: state for part in parts for name, (state, _) in part["absent"].items()}
    states = list(absent.values())
    shown = {
        "sections": {
            "answer": "The answer",
            **{part["place"]: part["title"] for part in parts},
            **({"overall": "Over all data sets"} if overall["findings"] else {}),
            "reproduce": "How to reproduce",
        },
        "experiments": parts,
        "overall": {**overall, "tables": [_readable(table) for table in overall["tables"]]},
        "n_methods": len({name for part in parts for name in part["facts"].get("methods", [])}),
        "n_sets": len({facts["name"] for part in parts for facts in part["data"]}),
        "n_missing": states.count("missing"),
        "n_damaged": states.count("damaged"),
        "seconds": sum(part["seconds"] for part in parts),
        "quick": [part["title"] for part in parts if part["settings"]["quick"]],
        "drawn": charts,
    }
    return fill("study.html", {**told, **shown}, "orthoselect_study")


def _part(part: Told) -> dict[str, Any]:
    tables = [_readable(table) for table in part["tables"]]
    asked = {**part["settings"], **part["facts"]}.items()
    return {
        **part,
        "place": f"experiment-{part['name']}",
        "tables": [table for table in tables if not table["name"].endswith(_DATA)],
        "data_tables": [table for table in tables if table["name"].endswith(_DATA)],
        "asked": {k: v for k, v in asked if v not in (None, False) and k not in _NOT_SHOWN},
    }


def _readable(table: Told) -> dict[str, Any]:
    """Return a table with what its columns hold: numbers, some of which may lack, or words."""
    columns = []
    for name, *column in zip(table["columns"], *table["rows"]):
        texts = [cell for cell in column if isinstance(cell, str)]
        numeric = all(_NUMBER.fullmatch(text) for text in texts if text not in _NO_NUMBER)
        longest = max(map(len, texts), default=0)  # for the least width of the column on a phone
        length = "words" if longest > 60 else "phrase" if longest > 12 else "word"
        columns.append({"name": name, "numeric": numeric, "length": length})
    tall, sortable = len(table["rows"]) > _MANY_ROWS, table["columns"][0] == "method"
    return {**table, "columns": columns, "tall": tall, "sortable": sortable}
