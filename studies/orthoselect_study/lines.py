"""Tasks as lines of a CSV file, and back: what is complete and as it was written, and what is not.

Every line names its task, and how many lines that task has. The first line of a task has the
measure "task": its note is the whole key, of which the name is a digest, and its value the seconds
that it took. The note has a seal as well, a digest of all lines of the task; results of older
versions lack it.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from orthoselect_study.records import Row, Task, digest

COLUMNS = ["task", "rows", *Row._fields]
HEADER = ",".join(COLUMNS).encode()
_WHOLE = ("batch", "repeat", "fold", "n_features")
_FIRST = "task"
_SEAL, _VERSIONS = "seal", "versions"  # in the note, but no part of the key


@dataclass(frozen=True)
class StoredTask:
    """A task with results."""

    name: str
    seconds: float  # how long it took
    versions: Mapping[str, str]  # of the packages that made the results
    is_sealed: bool  # whether a seal says that nothing was changed
    rows: Sequence[Row]


@dataclass(frozen=True)
class Contents:
    """What is in a file."""

    tasks: list[StoredTask]  # those that are complete and as they were written
    good: list[bytes]  # their lines
    bad: dict[int, bytes]  # all other lines by their number, from 1, as they are
    has_header: bool


def write(
    task: Task, rows: Iterable[Row], seconds: float, versions: Mapping[str, str]
) -> tuple[StoredTask, bytes]:
    """Return a task with its results, and its lines."""
    rows = list(rows)
    start = [task.name, str(1 + len(rows))]
    lines = [_line([*start, *map(_cell, row)]) for row in rows]
    told = {**task.key, _VERSIONS: dict(versions)} if versions else task.key
    note = json.dumps({**told, _SEAL: _seal(told, seconds, lines)}, sort_keys=True)
    first = Row(measure=_FIRST, value=seconds)
    # JSON is one line as it is; another number of spaces would be another key.
    head = _line([*start, *map(_cell, first[:-1]), note])
    stored = StoredTask(task.name, seconds, dict(sorted(versions.items())), True, rows)
    return stored, "".join(f"{line}\n" for line in [head, *lines]).encode()


def parse(content: bytes) -> Contents:
    """Return the tasks in a file, whatever else is in it."""
    lines = content.split(b"\n")
    ends = [b"\n"] * (len(lines) - 1) + [b""]
    groups: list[_Group] = []
    newest: dict[str, _Group] = {}
    bad: dict[int, bytes] = {}
    has_header = lines[0].removesuffix(b"\r") == HEADER and len(lines) > 1
    for number, (line, end) in enumerate(zip(lines, ends), start=1):
        if (number == 1 and has_header) or not line + end:
            continue
        read = _read(line) if end else None  # a line without its end may lack more
        group = None if read is None else newest.get(read.name)
        if read is not None and (told := _told(read)) is not None:
            group = newest[read.name] = _Group(read.name, read.size, read.row.value, told)
            groups.append(group)
        if read is None or group is None or read.size != group.size:
            bad[number] = line + end
        else:
            group.lines[number] = read
    tasks: dict[str, StoredTask] = {}
    good: list[bytes] = []
    for group in groups:
        if group.is_good() and group.name not in tasks:
            tasks[group.name] = group.task()
            good += [f"{read.text}\n".encode() for read in group.lines.values()]
        else:
            bad |= {number: lines[number - 1] + b"\n" for number in group.lines}
    return Contents(list(tasks.values()), good, dict(sorted(bad.items())), has_header)


class _Line(NamedTuple):
    """A line that can be read: its text, the task, the number of its lines, and the row."""

    text: str
    name: str
    size: int
    row: Row


@dataclass(frozen=True)
class _Group:
    """The lines of a task, from its first one on, by their numbers."""

    name: str
    size: int
    seconds: float
    told: dict[str, Any]  # by the first line: key, versions and seal
    lines: dict[int, _Line] = field(default_factory=dict)

    def is_good(self) -> bool:
        """Tell whether it is complete and, where there is a seal, as it was written."""
        if len(self.lines) != self.size:
            return False
        told = {key: value for key, value in self.told.items() if key != _SEAL}
        texts = [read.text for read in self.lines.values()][1:]
        return self.told.get(_SEAL) in (None, _seal(told, self.seconds, texts))

    def task(self) -> StoredTask:
        rows = [read.row for read in self.lines.values()][1:]
        versions = self.told.get(_VERSIONS, {})
        return StoredTask(self.name, self.seconds, versions, _SEAL in self.told, rows)


def _line(cells: Sequence[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(cells)
    return text.getvalue()


def _cell(value: Any) -> str:
    """Return a value as one line of text that reads back as the same value."""
    if value is None:
        return ""
    return repr(float(value)) if isinstance(value, float) else " ".join(str(value).split())


def _seal(told: Mapping[str, Any], seconds: float, lines: Sequence[str]) -> str:
    return digest([told, float(seconds), list(lines)])


def _read(line: bytes) -> _Line | None:
    """Return what a line says, None of one that is damaged."""
    try:
        text = line.removesuffix(b"\r").decode()
        # Each line by itself: a quote that is not closed is not the others' concern.
        ((name, size, *cells),) = csv.reader([text], strict=True)
        named = dict(zip(Row._fields, cells, strict=True))
        whole = {k: None if named[k] == "" else int(named[k]) for k in _WHOLE}
        row = Row(**{**named, **whole, "value": float(named["value"])})  # type: ignore[arg-type]
        return None if "\0" in text else _Line(text, name, int(size), row)
    except (ValueError, csv.Error):
        return None


def _told(read: _Line) -> dict[str, Any] | None:
    """Return key, versions and seal of a task's first line, None of any other line."""
    if read.row.measure != _FIRST:
        return None
    try:
        told = json.loads(read.row.note)
        key = {name: told[name] for name in told if name not in (_SEAL, _VERSIONS)}
        versions = told.get(_VERSIONS, {}).items()
    except (ValueError, RecursionError, TypeError, AttributeError):
        return None
    is_text = all(isinstance(each, str) for pair in versions for each in pair)
    return told if is_text and digest(key) == read.name else None
