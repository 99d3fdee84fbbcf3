"""A bar on a terminal, drawn by rich."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from orthoselect.progress.base import WorkBar, on_one_line


class TerminalBar(WorkBar):
    """A bar of one task; with `is_hidden` nothing is drawn."""

    def __init__(self, what: str, console: Console | None = None, is_hidden: bool = False) -> None:
        self.what = what
        self.drawn = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TimeLeft(compact=True),
            TextColumn("{task.fields[newest]}"),
            console=console or Console(stderr=True),
            transient=True,
            disable=is_hidden,
        )
        self._task = self.drawn.add_task(escape(what), total=None, newest="")

    def begin(self) -> None:
        self.drawn.start()

    def end(self) -> None:
        # Older versions of rich end a bar that nobody saw with an empty line.
        if not self.drawn.disable:
            self.drawn.stop()

    def describe(self, text: str) -> None:
        self.drawn.update(self._task, description=escape(text))

    def show(self, done: int, total: int, newest: str = "", left: float | None = None) -> None:
        until = None if left is None else self.drawn.get_time() + left
        shown = escape(on_one_line(newest))
        self.drawn.update(self._task, completed=done, total=total, newest=shown, until=until)


class TimeLeft(TimeRemainingColumn):
    """The time left that the caller gave; without one, what the pace of the bar suggests."""

    def render(self, task: Task) -> Text:
        """Return hours, minutes and seconds."""
        until = task.fields.get("until")
        if until is None or task.finished:
            return super().render(task)
        minutes, seconds = divmod(max(0, round(until - task.get_time())), 60)
        hours, minutes = divmod(minutes, 60)
        shown = f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes:02d}:{seconds:02d}"
        return Text(shown, style="progress.remaining")
