"""The way in, all commands, and the two short ones: `orthoselect methods` and `datasets`."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib import metadata
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from orthoselect.cli import options as o
from orthoselect.cli.commands import compare_command, select_command
from orthoselect.cli.narx import narx_command
from orthoselect.cli.stability_command import stability_command
from orthoselect.cli.terminal import INTERRUPTED, MENDABLE, Terminal, ending_well
from orthoselect.lazy import lazy
from orthoselect.methods import METHODS, find_method
from orthoselect.read import BUILT_IN
from orthoselect.result.text import as_csv, as_table
from orthoselect.versions import __version__


class Commands(TyperGroup):
    """The commands of the library, and those of other packages.

    Another package adds one by an entry point of the group "orthoselect.commands", which names a
    `typer.Typer`. It is looked for when it is called, or when all commands are listed: the entry
    points of all that is installed take a while to read.
    """

    @lazy
    def _others(self) -> dict[str, metadata.EntryPoint]:
        return {entry.name: entry for entry in metadata.entry_points(group="orthoselect.commands")}

    def list_commands(self, ctx: Any) -> list[str]:
        own = super().list_commands(ctx)
        return [*own, *sorted(set(self._others) - set(own))]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        own = super().get_command(ctx, cmd_name)
        if own is not None or cmd_name not in self._others:
            return own
        command = typer.main.get_command(self._others[cmd_name].load())
        command.name = cmd_name
        return command


app = typer.Typer(
    name="orthoselect",
    cls=Commands,
    help="Feature selection as quick as reading the data.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
app.command("select")(select_command)
app.command("compare")(compare_command)
app.command("narx")(narx_command)
app.command("stability")(stability_command)

# Typer's own complaints about what was typed; their base class has no public name there.
_Complaint: type[Any] = typer.BadParameter.__mro__[2]


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"orthoselect {__version__}")
        raise typer.Exit


@app.callback()
def _options_of_all(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Feature selection as quick as reading the data."""


Name = Annotated[str | None, typer.Argument(help="Show this method in full.", show_default=False)]


@app.command("methods")
def _methods(name: Name = None, format: o.Format = "table") -> None:
    """List the methods, or show one with its options and where it comes from."""
    with ending_well(Terminal()):
        methods = [find_method(name)] if name else list(METHODS.values())
        if format == "table":
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


@app.command("datasets")
def _datasets(format: o.Format = "table") -> None:
    """List the data sets that come with it."""
    rows = [asdict(entry) for entry in BUILT_IN.values()]
    if format == "table":
        cells = [[str(value) for value in row.values()] for row in rows]
        print(as_table(list(rows[0]), cells, left={0, 3, 4}))
        return
    _print(rows, format)


def _print(rows: list[dict[str, Any]], format: str) -> None:
    if format == "json":
        print(json.dumps(rows, indent=2, default=repr))
    else:
        cells = [[_cell(value) for value in row.values()] for row in rows]
        print(as_csv(list(rows[0]), cells), end="")


def _cell(value: Any) -> Any:
    if isinstance(value, Mapping):
        return " ".join(f"{name}={inner!r}" for name, inner in value.items())
    return " ".join(value) if isinstance(value, list) else value


# What the parser says of a value that an option does not take, and of one that is no number.
_NOT_ONE_OF = re.compile(
    r"Invalid value for '([^']*)'.*?: (?:Value error, )?(.+) is not one of (.+?)\.?"
)
_NO_NUMBER = re.compile(r"Invalid value for '([^']*)'.*?: .*?(integer|number).*")


def _in_own_words(complaint: str) -> str:
    """Return what the parser complains of in the words of all other errors.

    Examples
    --------
    >>> _in_own_words("Invalid value for '--dates': 'foo' is not one of 'drop', 'parts'.")
    "`--dates` should be one of 'drop', 'parts'; got 'foo'."
    >>> _in_own_words("No such option: --dat")
    'No such option: --dat. See `orthoselect --help`.'
    """
    found = _NOT_ONE_OF.fullmatch(complaint)
    if found:
        return f"`{found[1]}` should be one of {found[3]}; got {found[2]}."
    found = _NO_NUMBER.fullmatch(complaint)
    if found:
        kind = "whole number" if found[2] == "integer" else "number"
        return f"`{found[1]}` should be a {kind}; got something else. See `orthoselect --help`."
    hint = " How many features is `-k`." if complaint.endswith("option: -n") else ""
    stop = "" if complaint.endswith(("?", ".")) else "."
    return f"{complaint}{stop}{hint} See `orthoselect --help`."


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and leave with its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        Without the command's own name; those of the process if not given.
    """
    try:
        code = app(args=arguments, standalone_mode=False, prog_name="orthoselect")
    except _Complaint as complaint:
        message = complaint.format_message().strip()
        if message:  # a command without arguments has shown its help
            Terminal().error(_in_own_words(message))
        code = MENDABLE
    except MemoryError:  # so little that it could not be said where it was noticed
        Terminal().error("there is not enough memory.")
        code = MENDABLE
    except (KeyboardInterrupt, typer.Abort):
        Terminal().error("interrupted.")
        code = INTERRUPTED
    sys.exit(code if isinstance(code, int) else 0)
