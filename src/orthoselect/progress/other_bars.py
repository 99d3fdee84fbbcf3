"""Bars where there is no terminal: in a notebook by tqdm, elsewhere as lines now and then."""

from __future__ import annotations

import sys
import time
import warnings

from orthoselect.errors import InputError
from orthoselect.progress.base import WorkBar, on_one_line

_BETWEEN_LINES = 10.0  # seconds


class NotebookBar(WorkBar):
    """A bar of tqdm, which draws itself as a notebook can."""

    def __init__(self, what: str) -> None:
        self.what = what
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # without ipywidgets it draws with letters, and says so
            try:
                from tqdm.auto import tqdm
            except ImportError:
                raise InputError(
                    "`progress=True` needs tqdm in a notebook; it is not installed. Install it "
                    "with `pip install tqdm`, or pass a function that shows the progress."
                ) from None
            self._make = lambda: tqdm(desc=what, leave=False)

    def begin(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._drawn = self._make()

    def end(self) -> None:
        self._drawn.close()

    def describe(self, text: str) -> None:
        self._drawn.set_description(text)

    def show(self, done: int, total: int, newest: str = "", left: float | None = None) -> None:
        self._drawn.total = total
        self._drawn.n = done
        self._drawn.set_postfix_str(on_one_line(newest))  # which draws it


class LinesBar(WorkBar):
    """A line on standard error now and then, for logs and pipes."""

    def __init__(self, what: str) -> None:
        self.what = what
        self._newest = ""

    def begin(self) -> None:
        self._last = time.monotonic()

    def end(self) -> None:
        if self._newest:
            self._write(self._newest)

    def describe(self, text: str) -> None:
        self._tell(text)

    def show(self, done: int, total: int, newest: str = "", left: float | None = None) -> None:
        self._tell(f"{self.what}: {done} of {total} {on_one_line(newest)}".rstrip())

    def _tell(self, text: str) -> None:
        self._newest = text
        if time.monotonic() - self._last >= _BETWEEN_LINES:
            self._write(text)

    def _write(self, text: str) -> None:
        sys.stderr.write(f"orthoselect: {text}\n")
        self._newest, self._last = "", time.monotonic()
