"""What the command says beside its answer, on standard error: warnings, notes, errors and a bar.

The library's messages speak of arguments; here they are put in the words of the command.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from orthoselect.matrix.memory import say_bytes
from orthoselect.methods import METHODS
from orthoselect.result import SelectionStep

_WIDEST_NAME = 40

# What a message of the library calls an argument, and what the command calls it.
_OPTIONS = {
    "n_features_to_select": "-k",
    "categorical_features": "--categorical",
    "sample_weight": "--weights",
    "response_encoding": "--option response_encoding",
    "random_state": "--seed",
    "n_jobs": "--jobs",
    "groups": "--group",
    "format": "--input-format",
    "methods": "--method",
    "names": "NAME",
    "sizes": "-k",
    **{
        name: f"--{name}"
        for name in (
            "data",
            "delimiter",
            "drop",
            "encoding",
            "estimator",
            "exclude",
            "features",
            "folds",
            "include",
            "memory",
            "method",
            "missing",
            "output",
            "repeats",
            "scoring",
            "target",
            "task",
        )
    },
}
_SETTING = re.compile(r"`(\w+)='?([^'`]*)'?`")
_PHRASES = {
    "encoding to `read_table`, for": "encoding, for",
    "give `read_table` another `delimiter`": "give another with `--delimiter`",
    "tell `read_table` what": "say what",
    "`header=False`": "`--no-header`",
    "y column `": "the target `",
    "Drop those rows": "Use `--missing drop-rows`",
    "Choose another `target`": "Choose another `--target`",
    "use OrthogonalSelector, which": "use `--method socc`, which",
    "pass `overwrite_source=True`": "give `--overwrite-source`",
    "pass `escape_formulas=True`": "give `--escape-formulas`",
    "`escape_formulas=False`": "`--no-escape-formulas`",
}
# Where a name in backquotes is an argument and not a column of the table.
_NAME = re.compile(r"(^|\bin |\btake |\bset )`(\w+)`")


class Terminal:
    """Standard error, as far as the user wants to hear of it.

    Parameters
    ----------
    quiet : bool
        Say nothing but errors.

    Attributes
    ----------
    warnings : list of str
        What was warned of, each once.
    """

    def __init__(self, quiet: bool = False) -> None:
        self.warnings: list[str] = []
        self._quiet = quiet
        self._console = Console(stderr=True, soft_wrap=True, highlight=False)
        self._progress: Progress | None = None

    def note(self, message: str) -> None:
        """Say what was done."""
        if not self._quiet:
            self._line(f"orthoselect: {message}")

    def warn(self, message: str) -> None:
        """Say, once, what deserves a look."""
        if message in self.warnings:
            return
        self.warnings.append(message)
        if not self._quiet:
            self._line(f"orthoselect: warning: {message}")

    def error(self, message: str) -> None:
        """Say what went wrong."""
        # Not by the console, which loads and makes a lot for a line: there may be no memory left.
        print(f"orthoselect: error: {message}", file=sys.stderr)

    def _line(self, text: str) -> None:
        self._console.print(text, markup=False, emoji=False)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Turn the warnings of Python code into lines."""

        def show(message: Warning | str, *_: Any, **__: Any) -> None:
            self.warn(in_command_words(str(message)))

        with warnings.catch_warnings():
            warnings.simplefilter("always")
            # Deprecations are for whoever develops us.
            for kind in (DeprecationWarning, PendingDeprecationWarning, FutureWarning):
                warnings.simplefilter("ignore", kind)
            warnings.showwarning = show
            yield

    @contextmanager
    def working(self, what: str) -> Iterator[Bar]:
        """Show a bar while the block runs, on a terminal only."""
        if self._quiet or not self._console.is_terminal:
            yield Bar(None, None)
            return
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            _TimeLeft(compact=True),
            TextColumn("{task.fields[newest]}"),
        )
        with Progress(*columns, console=self._console, transient=True) as progress:
            task = progress.add_task(escape(what), total=None, newest="")
            yield Bar(progress, task)


class Bar:
    """A bar, or nothing where nobody looks."""

    def __init__(self, progress: Progress | None, task: TaskID | None) -> None:
        self._progress, self._task = progress, task

    def step(self, step: SelectionStep, number: int, size: int) -> None:
        """Show a step of a selection."""
        self.show(number, size, step.name)

    def read(self, passes: int, count: int) -> None:
        """Show how much of a table in blocks has been read."""
        if self._progress is not None and self._task is not None:
            what = f"selecting: pass {passes}, {say_bytes(count)} read"
            self._progress.update(self._task, description=what)

    def show(self, done: int, total: int, newest: str, left: float | None = None) -> None:
        """Show how far it is; the seconds that are left are guessed if they are not given."""
        if self._progress is None or self._task is None:
            return
        newest = " ".join(newest.split())
        if len(newest) > _WIDEST_NAME:
            newest = newest[: _WIDEST_NAME - 1] + "…"
        until = None if left is None else self._progress.get_time() + left
        self._progress.update(
            self._task, completed=done, total=total, newest=escape(newest), until=until
        )


class _TimeLeft(TimeRemainingColumn):
    """The time left as it was told; where it was not, as it follows from the pace of the bar."""

    def render(self, task: Task) -> Text:
        until = task.fields.get("until")
        if until is None or task.finished:
            return super().render(task)
        minutes, seconds = divmod(max(0, round(until - task.get_time())), 60)
        hours, minutes = divmod(minutes, 60)
        shown = f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes:02d}:{seconds:02d}"
        return Text(shown, style="progress.remaining")


def in_command_words(message: str, own: Mapping[str, str] = {}) -> str:
    """Name options as the command has them, and keep to one line.

    Parameters
    ----------
    message : str
    own : mapping of str to str
        What a command calls arguments that others call otherwise.

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
    message = _SETTING.sub(_setting, message)
    message = _NAME.sub(lambda found: f"{found[1]}`{names.get(found[2], found[2])}`", message)
    return " ".join(message.split())


def _setting(found: re.Match[str]) -> str:
    name, value = found.groups()
    if name in _OPTIONS:
        return f"`{_OPTIONS[name]} {value}`"
    is_own = any(name in method.options for method in METHODS.values())
    return f"`--option {name}={value}`" if is_own else found[0]
