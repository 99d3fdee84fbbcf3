"""What every bar can be told."""

from __future__ import annotations

from abc import abstractmethod
from typing import Self

from orthoselect.matrix.memory import say_bytes

_WIDEST_NAME = 40


class WorkBar:
    """One piece of work and how far it is; `what` says what is done.

    It is shown from `begin` on, or from the beginning of a `with` block, and gone at its end.
    """

    what: str

    @abstractmethod
    def begin(self) -> None:
        """Show it."""

    @abstractmethod
    def end(self) -> None:
        """Take it away again."""

    @abstractmethod
    def describe(self, text: str) -> None:
        """Say what is done now."""

    @abstractmethod
    def show(self, done: int, total: int, newest: str = "", left: float | None = None) -> None:
        """Show how far it is; the seconds that are left are guessed if they are not given."""

    def read(self, passes: int, count: int) -> None:
        """Show how much of a table in blocks has been read."""
        self.describe(f"{self.what}: pass {passes}, {say_bytes(count)} read")

    def searching(self, gap: float | None) -> None:
        """Show the share by which a better set could be better."""
        better = "" if gap is None else f": at most {gap:.1%} better"
        self.describe(f"searching{better}")

    def __enter__(self) -> Self:
        self.begin()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()


def on_one_line(name: str) -> str:
    """Return a name as it fits beside a bar.

    Examples
    --------
    >>> on_one_line("a name " * 9)
    'a name a name a name a name a name a na…'
    """
    name = " ".join(name.split())
    return name if len(name) <= _WIDEST_NAME else name[: _WIDEST_NAME - 1] + "…"
