"""`orthoselect methods` and `orthoselect datasets`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any

import typer

from orthoselect.cli import options as o
from orthoselect.cli.running import ending_well
from orthoselect.cli.terminal import Terminal
from orthoselect.methods import METHODS
from orthoselect.read import BUILT_IN
from orthoselect.result.text import as_csv, as_table

Name = Annotated[str | None, typer.Argument(help="Show this method in full.", show_default=False)]


def methods_command(name: Name = None, format: o.FormatOption = o.Format.table) -> None:
    """List the methods, or show one with its options and where it comes from."""
    with ending_well(Terminal()):
        methods = [METHODS.find(name)] if name else list(METHODS.values())
        if format is o.Format.table:
            print(repr(methods[0]) if name else repr(METHODS))
            return
        rows = [
            {
                "name": m.name,
                "summary": m.summary,
                "source": m.source,
                "takes": sorted(m.takes),
                "options": m.options,
            }
            for m in methods
        ]
        _print(rows, format)


def datasets_command(format: o.FormatOption = o.Format.table) -> None:
    """List the data sets that come with it."""
    rows = [asdict(entry) for entry in BUILT_IN.values()]
    if format is o.Format.table:
        cells = [[str(value) for value in row.values()] for row in rows]
        print(as_table(list(rows[0]), cells, left={0, 3, 4}))
        return
    _print(rows, format)


def _print(rows: list[dict[str, Any]], format: o.Format) -> None:
    if format is o.Format.json:
        print(json.dumps(rows, indent=2, default=repr))
    else:
        cells = [[_cell(value) for value in row.values()] for row in rows]
        print(as_csv(list(rows[0]), cells), end="")


def _cell(value: Any) -> Any:
    if isinstance(value, Mapping):
        return " ".join(f"{name}={inner!r}" for name, inner in value.items())
    return " ".join(value) if isinstance(value, list) else value
