"""Commands of other packages, such as the study beside this one, found by their entry points."""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import typer
from typer.core import TyperGroup

GROUP = "orthoselect.commands"


class Commands(TyperGroup):
    """The commands of the library, and those of other packages.

    Another package adds one by an entry point of the group "orthoselect.commands", which names a
    `typer.Typer`. It is looked for when it is called, or when all commands are listed: the entry
    points of all that is installed take a while to read.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        own = super().list_commands(ctx)
        return [*own, *sorted(set(_found()) - set(own))]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        own = super().get_command(ctx, cmd_name)
        if own is not None or cmd_name not in _found():
            return own
        command = typer.main.get_command(_found()[cmd_name].load())
        command.name = cmd_name
        return command


@cache
def _found() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}
