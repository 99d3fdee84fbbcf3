"""How a command ends: well, by the user's hand, or with one clear line."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import typer

from orthoselect.cli.terminal import Terminal
from orthoselect.cli.wording import in_command_words
from orthoselect.errors import InputError
from orthoselect.matrix.memory import is_out_of_memory, room_in_limits

MENDABLE = 2  # the user can do something about it
INTERRUPTED = 130  # as shells count Ctrl-C


@contextmanager
def ending_well(terminal: Terminal, own: Mapping[str, str] = {}) -> Iterator[None]:
    """Turn what the user can mend into one line and exit code 2, and Ctrl-C into 130.

    Parameters
    ----------
    terminal : Terminal
    own : mapping of str to str
        What this command calls arguments that others call otherwise.
    """
    try:
        with terminal.listening():
            yield
    except InputError as error:
        terminal.error(in_command_words(str(error), own))
        raise typer.Exit(MENDABLE) from None
    except (MemoryError, ImportError) as error:
        if not is_out_of_memory(error):
            raise
        traceback.clear_frames(error.__traceback__)  # they hold what took the memory
        terminal.error(_too_little_memory())
        raise typer.Exit(MENDABLE) from None
    except BrokenPipeError:
        # Whoever read our answer has gone: that is no error, and nothing more can be said to them.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None
    except OSError as error:
        where = f" `{error.filename}`" if error.filename else ""
        terminal.error(f"{error.strerror or error}{where}.")
        raise typer.Exit(MENDABLE) from None
    except KeyboardInterrupt:
        terminal.error("interrupted before the first feature was found.")
        raise typer.Exit(INTERRUPTED) from None


def _too_little_memory() -> str:
    limits = "" if room_in_limits() is None else ", or raise its limits (`ulimit -v`, `ulimit -d`)"
    return f"there is not enough memory for this table; drop columns or rows{limits}."
