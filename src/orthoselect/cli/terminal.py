"""What the command says beside its answer, on standard error, and how it ends.

The library's messages speak of arguments; here they are put in the words of the command.
"""

from __future__ import annotations

import logging
import os
import re
import sys
import traceback
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console

from orthoselect.errors import InputError
from orthoselect.matrix.memory import is_out_of_memory, room_in_limits
from orthoselect.methods import METHODS
from orthoselect.progress.terminal_bar import TerminalBar

MENDABLE = 2  # the exit code where the user can do something about it
INTERRUPTED = 130  # as shells count Ctrl-C
_OR_LIMITS = ", or raise its limits (`ulimit -v`, `ulimit -d`)"
_PATIENCE = 10  # seconds to wait for a scheduler
_SAME = (
    "alpha assumption data dates delimiter drop encoding estimator exclude features folds include "
    "memory method missing output pfer repeats scoring search target task threshold"
)

# What a message of the library calls an argument, and what the command calls it.
_OPTIONS = {
    "n_features_to_select": "-k",
    "categorical_features": "--categorical",
    "sample_weight": "--weights",
    "response_encoding": "--option response_encoding",
    "random_state": "--seed",
    "n_jobs": "--jobs",
    "cv": "--folds",
    "rule": "--rule",
    "n_pairs": "--pairs",
    "n_permutations": "--permutations",
    "permute_within": "--permute-within",
    "groups": "--group",
    "format": "--input-format",
    "methods": "--method",
    "names": "NAME",
    "sizes": "-k",
    "time_limit": "--time-limit",
    "n_starts": "--option n_starts",
    "width": "--option width",
    **{name: f"--{name}" for name in _SAME.split()},
}
_SETTING = re.compile(r"`(\w+)='?([^'`]*)'?`")
_PHRASES = {
    "encoding to `read_table`, for": "encoding, for",
    "give `read_table` another `delimiter`": "give another with `--delimiter`",
    "tell `read_table` what": "say what",
    "`p_values=True`": "`--p-values`",
    "`header=False`": "`--no-header`",
    "'drop_rows', 'drop_columns'": "'drop-rows', 'drop-columns'",
    "`n_features_to_select='cv'`": "`-k cv`",
    "Drop those rows": "Use `--missing drop-rows`",
    "Choose another `target`": "Choose another `--target`",
    "use OrthogonalSelector, which": "use `--method socc`, which",
    "`n_features_to_select`, `threshold` and `pfer`": "`-k`, `--threshold` and `--pfer`",
    "pass `overwrite_source=True`": "give `--overwrite-source`",
    "pass `escape_formulas=True`": "give `--escape-formulas`",
    "`escape_formulas=False`": "`--no-escape-formulas`",
}
# Where a name in backquotes is an argument and not a column of the table.
_NAME = re.compile(r"(^|\bin |\btake |\bset )`(\w+)`")


class Terminal:
    """Standard error: if it is `quiet`, for errors only.

    `warnings` has each text that was warned of once.
    """

    def __init__(self, quiet: bool = False) -> None:
        self.warnings: list[str] = []
        self._quiet = quiet
        self._console = Console(
            stderr=True, soft_wrap=True, highlight=False, markup=False, emoji=False
        )

    def note(self, message: str) -> None:
        """Say what was done."""
        if not self._quiet:
            self._console.print(f"orthoselect: {message}")

    def warn(self, message: str) -> None:
        """Say, once, what deserves a look."""
        if message in self.warnings:
            return
        self.warnings.append(message)
        if not self._quiet:
            self._console.print(f"orthoselect: warning: {message}")

    def error(self, message: str) -> None:
        """Say what went wrong."""
        # Not by the console, which loads and makes a lot for a line: there may be no memory left.
        print(f"orthoselect: error: {message}", file=sys.stderr)

    def working(self, what: str) -> TerminalBar:
        """Return a bar to show while a block runs, on a terminal only."""
        unseen = self._quiet or not self._console.is_terminal
        return TerminalBar(what, self._console, is_hidden=unseen)


def in_command_words(message: str, own: Mapping[str, str] = {}) -> str:
    """Name options as the command has them, and keep to one line.

    `own` is what this command calls arguments that others call otherwise.

    Examples
    --------
    >>> in_command_words("Drop them, or name the column in `exclude`.")
    'Drop them, or name the column in `--exclude`.'
    >>> in_command_words("if it is a quantity pass `task='regression'`.")
    'if it is a quantity pass `--task regression`.'
    >>> in_command_words("Give its encoding to `read_table`, for example `encoding='latin-1'`.")
    'Give its encoding, for example `--encoding latin-1`.'
    >>> in_command_words("Choose `folds=19`.")
    'Choose `--folds 19`.'
    >>> in_command_words("cut it by `bins=5`; column `a=5` is left out.")
    'cut it by `--option bins=5`; column `a=5` is left out.'
    >>> in_command_words("there is no column `target`.")
    'there is no column `target`.'
    """
    for library, command in _PHRASES.items():
        message = message.replace(library, command)
    names = {**_OPTIONS, **own}
    message = _SETTING.sub(lambda found: _setting(found, names), message)
    message = _NAME.sub(lambda found: f"{found[1]}`{names.get(found[2], found[2])}`", message)
    return " ".join(message.split())


def _setting(found: re.Match[str], names: Mapping[str, str]) -> str:
    name, value = found.groups()
    if name in names:
        return f"`{names[name]} {value}`"
    is_own = any(name in method.options for method in METHODS.values())
    return f"`--option {name}={value}`" if is_own else found[0]


@contextmanager
def ending_well(
    terminal: Terminal,
    own: Mapping[str, str] = {},
    interrupted: str = "interrupted before the first feature was found.",
) -> Iterator[None]:
    """Turn what the user can mend into one line and exit code 2, and Ctrl-C into 130.

    Warnings become lines, too. `own` is what this command calls arguments that others call
    otherwise, `interrupted` what to say after Ctrl-C.
    """

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        terminal.warn(in_command_words(str(message)))

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            # Deprecations are for the developers of this package.
            for kind in (DeprecationWarning, PendingDeprecationWarning, FutureWarning):
                warnings.simplefilter("ignore", kind)
            warnings.showwarning = show
            yield
    except InputError as error:
        terminal.error(in_command_words(str(error), own))
        raise typer.Exit(MENDABLE) from None
    except (MemoryError, ImportError) as error:
        if not is_out_of_memory(error):
            raise
        traceback.clear_frames(error.__traceback__)  # they hold what took the memory
        limits = "" if room_in_limits() is None else _OR_LIMITS
        terminal.error(f"there is not enough memory for this table; drop columns or rows{limits}.")
        raise typer.Exit(MENDABLE) from None
    except BrokenPipeError:
        # The reader of the answer has gone: that is no error, and nothing more can be said.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None
    except OSError as error:
        where = f" `{error.filename}`" if error.filename else ""
        terminal.error(f"{error.strerror or error}{where}.")
        raise typer.Exit(MENDABLE) from None
    except KeyboardInterrupt:
        terminal.error(interrupted)
        raise typer.Exit(INTERRUPTED) from None


@contextmanager
def connected(address: str) -> Iterator[None]:
    """Be a client of the scheduler at an address."""
    try:
        from distributed import Client
    except ImportError:
        raise InputError(
            "`--scheduler` needs Dask; install it with `pip install 'orthoselect[dask]'`."
        ) from None
    try:
        client = Client(address, timeout=_PATIENCE, set_as_default=True)
    except Exception as error:  # whatever answers there may say anything, and does
        said = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise InputError(
            f"`--scheduler` should be the address of a running scheduler, such as "
            f"tcp://127.0.0.1:8786; {address!r} does not answer as one: {said}"
        ) from None
    with _without_last_words(), client:
        if not client.scheduler_info()["workers"]:
            raise InputError(
                f"the scheduler at {address} should have workers; it has none. Start some with "
                f"`dask worker {address}`."
            )
        yield


@contextmanager
def _without_last_words() -> Iterator[None]:
    """Keep asyncio from printing a traceback of the task that Ctrl-C took the client from."""
    log = logging.getLogger("asyncio")
    before = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(before)
