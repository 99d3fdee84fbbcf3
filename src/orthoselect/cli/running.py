"""What goes on around a command: how it ends, and the cluster of Dask that it works on."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import traceback
from collections.abc import Iterator, Mapping

import typer

from orthoselect.cli.terminal import Terminal, in_command_words
from orthoselect.errors import InputError
from orthoselect.matrix.memory import is_out_of_memory, room_in_limits

MENDABLE = 2  # the user can do something about it
INTERRUPTED = 130  # as shells count Ctrl-C
_PATIENCE = 10  # seconds to wait for a scheduler


@contextlib.contextmanager
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


@contextlib.contextmanager
def connected(address: str | None) -> Iterator[None]:
    """Be a client of the scheduler at an address; None for none."""
    if address is None:
        yield
        return
    try:
        from distributed import Client
    except ImportError:
        raise InputError(
            "`--scheduler` needs Dask; install it with `pip install 'orthoselect[dask]'`."
        ) from None
    try:
        client = Client(address, timeout=_PATIENCE, set_as_default=True)
    except Exception as error:  # whatever answers there may say anything, and does
        raise InputError(
            f"`--scheduler` should be the address of a running scheduler, such as "
            f"tcp://127.0.0.1:8786; {address!r} does not answer as one: {_first_line(error)}"
        ) from None
    with _without_last_words(), client:
        if not client.scheduler_info()["workers"]:
            raise InputError(
                f"the scheduler at {address} should have workers; it has none. Start some with "
                f"`dask worker {address}`."
            )
        yield


@contextlib.contextmanager
def _without_last_words() -> Iterator[None]:
    """Keep asyncio from printing a traceback of the task that Ctrl-C took the client from."""
    log = logging.getLogger("asyncio")
    before = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(before)


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
