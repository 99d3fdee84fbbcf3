"""Functions that are called after each step, and show it on a bar."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar

from orthoselect.errors import InputError
from orthoselect.progress.base import WorkBar

Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")


class Shown:
    """Something on a bar; `reading` is called by tables in blocks as they are read."""

    def __init__(self, bar: WorkBar) -> None:
        self._bar = bar
        self.reading = bar.read


class StepsShown(Shown):
    """The steps of a selection, the gap of a search, and the folds of a cross-validation."""

    def __call__(self, step: Any, number: int, size: int) -> None:
        """Show a step."""
        self._bar.show(number, size, step.name)

    def searching(self, gap: float | None) -> None:
        """Show by how much a better set could be better."""
        self._bar.searching(gap)

    def scoring(self, done: int, total: int) -> None:
        """Show how many of the models that choose a size have been scored."""
        self._bar.describe("cross-validating")
        self._bar.show(done, total)


class TasksShown(Shown):
    """The methods and folds of a comparison."""

    def __call__(self, done: int, total: int, method: str, fold: int) -> None:
        """Show that a method is done with a fold."""
        self._bar.show(done, total, method)


class PairsShown(Shown):
    """The pairs of halves."""

    def __call__(self, done: int, total: int) -> None:
        """Show that a pair is done."""
        self._bar.show(done, total)


def with_bar(
    what: str, shown: Callable[[WorkBar], Any]
) -> Callable[[Callable[Arguments, Returned]], Callable[Arguments, Returned]]:
    """Let `progress=True` of a function show a bar; the function itself is given what to call.

    Parameters
    ----------
    what : str
        What the function does, as the bar has it.
    shown : callable
        Makes what the function is to call from a bar.
    """

    def decorate(function: Callable[Arguments, Returned]) -> Callable[Arguments, Returned]:
        @functools.wraps(function)
        def call(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Returned:
            progress: Any = kwargs.get("progress")
            if progress is True:
                with open_bar(what) as bar:
                    kwargs["progress"] = shown(bar)
                    return function(*args, **kwargs)
            if progress is False:
                kwargs["progress"] = None
            elif progress is not None and not callable(progress):
                raise InputError(
                    f"`progress` should be True, False, None or a function to call after each "
                    f"step; got {progress!r}."
                )
            return function(*args, **kwargs)

        return call

    return decorate


def open_bar(what: str) -> WorkBar:
    """Return the bar that suits the place where Python runs."""
    # Imported here: most calls show nothing, and drawing takes a while to load.
    if is_notebook():
        from orthoselect.progress.other_bars import NotebookBar

        return NotebookBar(what)
    if sys.stderr is not None and sys.stderr.isatty():
        from orthoselect.progress.terminal_bar import TerminalBar

        return TerminalBar(what)
    from orthoselect.progress.other_bars import LinesBar

    return LinesBar(what)


def is_notebook() -> bool:
    """Whether this is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and "IPKernelApp" in shell.config


@contextmanager
def reading_shown(table: Any, progress: Any) -> Iterator[None]:
    """Let a table in blocks tell how far it is read, unless it tells somebody else already."""
    if hasattr(type(table), "in_blocks"):  # a data set, and not a column of this name
        table = table.data
    reading = getattr(progress, "reading", None)
    if reading is None or getattr(table, "progress", reading) is not None:
        yield
        return
    table.progress = reading
    try:
        yield
    finally:
        table.progress = None
