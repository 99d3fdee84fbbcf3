"""The commands, and the way in."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from orthoselect.cli.compare import compare_command
from orthoselect.cli.listings import datasets_command, methods_command
from orthoselect.cli.plugins import Commands
from orthoselect.cli.running import INTERRUPTED, MENDABLE
from orthoselect.cli.select import select_command
from orthoselect.cli.terminal import Terminal
from orthoselect.versions import __version__

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
app.command("methods")(methods_command)
app.command("datasets")(datasets_command)

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
            Terminal().error(f"{message} See `orthoselect --help`.")
        code = MENDABLE
    except MemoryError:  # so little that it could not be said where it was noticed
        Terminal().error("there is not enough memory.")
        code = MENDABLE
    except (KeyboardInterrupt, typer.Abort):
        Terminal().error("interrupted.")
        code = INTERRUPTED
    sys.exit(code if isinstance(code, int) else 0)
