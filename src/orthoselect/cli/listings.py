"""`orthoselect methods` and `orthoselect datasets`."""

from __future__ import annotations

import json
from typing import Annotated

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
        rows = [
            {
                "name": m.name,
                "summary": m.summary,
                "source": m.source,
                "takes": sorted(m.takes),
                "options": {k: v for k, v in m.options.items()},
            }
            for m in methods
        ]
        if format is o.Format.json:
            print(json.dumps(rows, indent=2, default=repr))
        elif format is o.Format.csv:
            print(text.as_csv(["name", "summary", "source"], rows), end="")
        else:
            print(repr(methods[0]) if name else repr(METHODS))


def datasets_command(format: o.FormatOption = o.Format.table) -> None:
    """List the data sets that come with it."""
    rows = [
        {"name": d.name, "rows": d.rows, "columns": d.columns, "target": d.target, "about": d.about}
        for d in BUILT_IN.values()
    ]
    if format is o.Format.json:
        print(json.dumps(rows, indent=2))
    elif format is o.Format.csv:
        print(text.as_csv(list(rows[0]), rows), end="")
    else:
        print(text.as_table(list(rows[0]), rows))
