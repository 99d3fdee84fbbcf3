"""Results on disk: one CSV for each experiment, a task's rows added in one piece, and a manifest.

Every line of the CSV names its task, and how many lines that task has. The first line of a task has
the measure "task": its note is the whole key, of which the name is a digest, and its value the
seconds that it took. The note has a seal as well, a digest of all lines of the task; results of
older versions lack it.

A task that is not complete, or does not match its seal, does not count. A run that opens the file
moves its lines, and all others that are damaged, to a file of their own, says so, and does the task
again. The manifest, a JSON file with a seal of its own, says what the last run was asked for.
"""

from __future__ import annotations

import csv
import io
import json
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from orthoselect.errors import InputError
from orthoselect.output import replacing
from orthoselect_study.records import Row, Task, digest

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]

COLUMNS = ["task", "rows", *Row._fields]
_HEADER = ",".join(COLUMNS).encode()
_WHOLE_FIELDS = ("batch", "repeat", "fold", "n_features")
_FIRST = "task"
_SEAL, _VERSIONS = "seal", "versions"  # in the note, but no part of the key
_LOCK = ".study.lock"
_NEXT_RUN = "That is left out here; the next run sets it aside, and runs what is missing."
_LAYOUT = 1  # of manifests; raised when they hold something else


class DamagedResultsWarning(UserWarning):
    """A file of results is not as a run wrote it; the message says where the damaged part is."""


class _Damaged(Exception):  # noqa: N818 - a state of a file, which runs and reports go on from
    """A file is of no use as a whole; the message says what it is instead."""


def tell(damage: Iterable[str]) -> None:
    """Warn of each, at the line that called the caller."""
    for line in damage:
        warnings.warn(line, DamagedResultsWarning, stacklevel=3)


@dataclass(frozen=True)
class StoredTask:
    """A task with results."""

    name: str
    seconds: float  # how long it took
    versions: Mapping[str, str]  # of the packages that made the results
    is_sealed: bool  # whether a seal says that nothing was changed
    rows: Sequence[Row]


@dataclass(frozen=True)
class _Contents:
    """What is in a file."""

    tasks: list[StoredTask]  # those that are complete and as they were written
    good: list[bytes]  # their lines
    bad: dict[int, bytes]  # all other lines by their number, from 1, as they are
    has_header: bool


class Store:
    """The results of one experiment in a folder.

    `writing` says that results will be added: the file is made if there is none, and mended if it
    is damaged. Without it nothing is changed. `damage` has a line for each damaged file: what is
    wrong, and where it was put.
    """

    def __init__(self, folder: Path, experiment: str, *, writing: bool = False) -> None:
        self.path = Path(folder) / f"{experiment}.csv"
        self.manifest_path = Path(folder) / f"{experiment}.json"
        self.damage: list[str] = []
        self._writing = writing
        found = self._read()
        self._tasks = {task.name: task for task in found.tasks}
        if writing and (found.bad or not found.has_header):
            _write(self.path, b"".join([_HEADER + b"\n", *found.good]))
        if writing:
            try:
                _read_manifest(self.manifest_path)
            except _Damaged as reason:
                kept = f"It is kept as `{_set_aside(self.manifest_path)}`"
                self.damage.append(f"{self._about(reason)} {kept}, and a new one is written.")

    def __contains__(self, task: Task) -> bool:
        return task.name in self._tasks

    def add(
        self,
        task: Task,
        rows: Iterable[Row],
        seconds: float,
        versions: Mapping[str, str] | None = None,
    ) -> None:
        """Append the rows of a task, in one write that reaches the disk before this returns.

        The versions of packages that made them are kept with the key; they are no part of it.
        """
        stored, text = _encoded(task, rows, seconds, versions or {})
        with self.path.open("ab") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        self._tasks[task.name] = stored

    def tasks(self, names: Iterable[str]) -> list[StoredTask]:
        """Return those of these tasks that have results, in the order of the names."""
        return [self._tasks[name] for name in names if name in self._tasks]

    def rows(self, names: Iterable[str]) -> list[Row]:
        """Return the rows of these tasks, in the order of the names."""
        return [row for task in self.tasks(names) for row in task.rows]

    def versions(self, names: Iterable[str]) -> dict[str, str]:
        """Return the versions of packages that made the results of these tasks."""
        found: dict[str, dict[str, None]] = {}
        for task in self.tasks(names):
            for package, number in task.versions.items():
                found.setdefault(package, {})[number] = None
        return {package: " and ".join(numbers) for package, numbers in found.items()}

    def write_manifest(self, told: Mapping[str, Any]) -> None:
        """Say which tasks are those of the last run, and what it was asked for."""
        plain = json.loads(json.dumps(told))
        text = json.dumps({**plain, _SEAL: digest([_LAYOUT, plain])}, indent=1)
        with replacing(self.manifest_path) as temporary:
            temporary.write_text(text + "\n")

    def manifest(self) -> dict[str, Any] | None:
        """Return what the last run was asked for, None if there was none."""
        try:
            return _read_manifest(self.manifest_path)
        except _Damaged as reason:
            advice = "Run the experiment again: results that are there are kept."
            raise InputError(f"{self._about(reason)} {advice}") from None

    def _about(self, reason: _Damaged) -> str:
        """Return what is wrong with the manifest."""
        return (
            f"`{self.manifest_path}` should be what a run of the study wrote; it is damaged, or of "
            f"another version ({reason})."
        )

    def _read(self) -> _Contents:
        """Return what is good in the file; what is damaged is told, and set aside by a run."""
        try:
            content = _read(self.path)
            if content is None:
                return _Contents([], [], {}, has_header=False)
            found = _parsed(content)
            if not found.has_header and not found.tasks:
                # Somebody's table may have the name of an experiment: was a run ever here?
                if content.strip() and not os.path.lexists(self.manifest_path):
                    raise InputError(
                        f"`{self.path}` should be results of the study, with the columns "
                        f"{', '.join(COLUMNS)}; it has others. Choose another output folder."
                    )
                raise _Damaged("it is something else" if content.strip() else "it is empty")
        except _Damaged as reason:
            what = f"`{self.path}` should be results of the study; {reason}."
            kept = f"It is kept as `{_set_aside(self.path)}`" if self._writing else ""
            self._tell(what, kept)
            return _Contents([], [], {}, has_header=False)
        what = f"`{self.path}` should be as runs of the study write it;"
        if found.bad:
            first, bad = min(found.bad), b"".join(found.bad.values())
            n_bad = len(found.bad)
            which = f"line {first} is" if n_bad == 1 else f"{n_bad} lines from line {first} on are"
            what = f"{what} {which} damaged, or of a task that is not complete."
            aside = _write(_free_name(self.path), bad) if self._writing else None
            self._tell(what, f"That is kept in `{aside}`" if aside else "")
        elif not found.has_header:
            self.damage.append(f"{what} it lacks the names of its columns. A run puts them back.")
        return found

    def _tell(self, what: str, kept: str) -> None:
        """Note what is damaged, and where a run has put it."""
        after = f"{kept}, and what is missing is run again." if kept else _NEXT_RUN
        self.damage.append(f"{what} {after}")


def _encoded(
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


def _parsed(content: bytes) -> _Contents:
    """Return the tasks in a file, whatever else is in it."""
    lines = content.split(b"\n")
    ends = [b"\n"] * (len(lines) - 1) + [b""]
    groups: list[dict[int, _Line]] = []  # the lines of a task, from its first one on
    newest: dict[str, dict[int, _Line]] = {}
    sizes: dict[str, int] = {}  # of the newest
    bad: dict[int, bytes] = {}
    has_header = lines[0].removesuffix(b"\r") == _HEADER and len(lines) > 1
    for number, (line, end) in enumerate(zip(lines, ends), start=1):
        if (number == 1 and has_header) or not line + end:
            continue
        read = _read_line(line) if end else None  # a line without its end may lack more
        if read is not None and read.told is not None:
            newest[read.name], sizes[read.name] = {number: read}, read.size
            groups.append(newest[read.name])
        elif read is not None and read.size == sizes.get(read.name):
            newest[read.name][number] = read
        else:
            bad[number] = line + end
    tasks: dict[str, StoredTask] = {}
    good: list[bytes] = []
    for group in groups:
        task = _stored(*group.values())
        if task is not None and task.name not in tasks:
            tasks[task.name] = task
            good += [f"{read.text}\n".encode() for read in group.values()]
        else:
            bad |= {number: lines[number - 1] + b"\n" for number in group}
    return _Contents(list(tasks.values()), good, dict(sorted(bad.items())), has_header)


class _Line(NamedTuple):
    """A line that can be read."""

    text: str
    name: str  # of the task
    size: int  # the number of its lines
    row: Row
    told: dict[str, Any] | None  # by a task's first line: key, versions and seal


def _stored(first: _Line, *others: _Line) -> StoredTask | None:
    """Return a task, None if it is not complete or, where there is a seal, was changed."""
    told = first.told or {}
    content = {key: value for key, value in told.items() if key != _SEAL}
    seal = _seal(content, first.row.value, [line.text for line in others])
    if first.size != 1 + len(others) or told.get(_SEAL) not in (None, seal):
        return None
    rows = [line.row for line in others]
    return StoredTask(first.name, first.row.value, told.get(_VERSIONS, {}), _SEAL in told, rows)


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


def _read_line(line: bytes) -> _Line | None:
    """Return what a line says, None of one that is damaged."""
    try:
        text = line.removesuffix(b"\r").decode()
        # Each line by itself: a quote that is not closed is not the others' concern.
        ((name, size, *cells),) = csv.reader([text], strict=True)
        named = dict(zip(Row._fields, cells, strict=True))
        whole = {k: None if named[k] == "" else int(named[k]) for k in _WHOLE_FIELDS}
        row = Row(**{**named, **whole, "value": float(named["value"])})  # type: ignore[arg-type]
        return None if "\0" in text else _Line(text, name, int(size), row, _told(name, row))
    except (ValueError, csv.Error):
        return None


def _told(name: str, row: Row) -> dict[str, Any] | None:
    """Return key, versions and seal of a task's first line, None of any other line."""
    if row.measure != _FIRST:
        return None
    try:
        told = json.loads(row.note)
        key = {each: told[each] for each in told if each not in (_SEAL, _VERSIONS)}
        versions = told.get(_VERSIONS, {}).items()
    except (ValueError, RecursionError, TypeError, AttributeError):
        return None
    is_text = all(isinstance(each, str) for pair in versions for each in pair)
    return told if is_text and digest(key) == name else None


def _read_manifest(path: Path) -> dict[str, Any] | None:
    """Return a manifest, None if there is none."""
    content = _read(path)
    if content is None:
        return None
    try:
        manifest = json.loads(content)
        seal = manifest.pop(_SEAL)
    except RecursionError:
        raise _Damaged("it is no JSON: brackets go too deep") from None
    except ValueError as error:
        raise _Damaged(f"it is no JSON: {error}") from None
    except (AttributeError, KeyError, TypeError):
        raise _Damaged("it has no seal") from None
    if seal != digest([_LAYOUT, manifest]):
        raise _Damaged("it does not match its seal")
    return manifest


def _read(path: Path) -> bytes | None:
    """Return what is in a file, None if there is no file."""
    if not os.path.lexists(path):
        return None
    if path.exists() and not path.is_file():  # reading a pipe would wait for ever
        raise _Damaged("it is a folder" if path.is_dir() else "it is a pipe or device, no file")
    try:
        return path.read_bytes()
    except OSError as error:
        raise _Damaged(f"it cannot be read: {error.strerror}") from None


def _set_aside(path: Path) -> Path:
    """Give whatever stands at a path another name; return that."""
    aside = _free_name(path)
    try:
        os.rename(path, aside)
    except OSError as error:
        raise InputError(
            f"`{path}` should be a file of the study; it is damaged, and cannot be moved to "
            f"`{aside}`: {error.strerror}. Move it, or choose another output folder."
        ) from None
    return aside


def _free_name(path: Path) -> Path:
    """Return a name beside a damaged file that nothing has yet."""
    aside, count = path.with_name(f"{path.name}.damaged"), 1
    while os.path.lexists(aside):
        count += 1
        aside = path.with_name(f"{path.name}.damaged-{count}")
    return aside


def _write(path: Path, content: bytes) -> Path:
    """Write a file, which is on the disk when this returns; return its path."""
    with replacing(path) as temporary, temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    return path


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder for one run: two that write to it would drop each other's results.

    The system takes the lock back when the process ends, however it ends.
    """
    if fcntl is None:
        yield
        return
    try:
        opened = (Path(folder) / _LOCK).open("w")
    except OSError as error:
        raise InputError(
            f"`output` should be a folder that can be written to; `{folder}` cannot: {error}."
        ) from None
    with opened as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(
                f"`{folder}` should be used by one run at a time; another one is writing to it. "
                f"Wait for it, or choose another output folder."
            ) from None
        yield


def is_locked(folder: Path) -> bool:
    """Tell whether a run is at work in the folder."""
    if fcntl is None:
        return False
    try:
        with (Path(folder) / _LOCK).open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:  # any other: there is no lock that a run could hold
        return isinstance(error, BlockingIOError)
    return False
