"""Results on disk: one CSV for each experiment, a task's rows added in one piece.

Every row names its task, and how many rows that task has. A task that was cut off while it was
written is not complete: it does not count, and is dropped when a run next opens the file. The first
row of a task has the measure "task": its note is the whole key, its value the seconds it took.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from orthoselect.errors import InputError
from orthoselect.output import replacing
from orthoselect.study.records import Row, Task

HEADER = ["task", "rows", *Row._fields]
_WHOLE = ("batch", "repeat", "fold", "n_features")
_LOCK = ".study.lock"
# What reports need to know of a run.
MANIFEST = (
    "written",
    "settings",
    "tasks",
    "seconds",
    "facts",
    "data",
    "missing",
    "damaged",
    "versions",
    "failed",
)


class Store:
    """The results of one experiment in a folder.

    Parameters
    ----------
    folder : Path
    experiment : str
    writing : bool, default=False
        Whether results will be added: the file is made if there is none, and mended if a run was
        killed while it wrote.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> store = Store(Path(folder.name), "iris", writing=True)
    >>> task = Task("iris", {"seed": 0})
    >>> store.add(task, [Row(measure="gain", value=0.5)], seconds=0.1)
    >>> Store(Path(folder.name), "iris").rows([task.name])
    [Row(dataset='', ..., measure='gain', value=0.5, note='')]
    >>> folder.cleanup()
    """

    def __init__(self, folder: Path, experiment: str, *, writing: bool = False) -> None:
        self.path = Path(folder) / f"{experiment}.csv"
        self._manifest = Path(folder) / f"{experiment}.json"
        self._tasks, is_whole = self._read()
        if writing and not is_whole:
            self._rewrite()

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
        told = task.key if versions is None else {**task.key, "versions": dict(versions)}
        note = json.dumps(told, sort_keys=True)
        all_rows = [Row(measure="task", value=seconds, note=note), *rows]
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(_records(task.name, all_rows))
        with self.path.open("ab") as file:
            file.write(text.getvalue().encode())
            file.flush()
            os.fsync(file.fileno())
        self._tasks[task.name] = all_rows

    def rows(self, names: Iterable[str]) -> list[Row]:
        """Return the rows of these tasks, in the order of the names."""
        return [row for name in names for row in self._tasks.get(name, [])[1:]]

    def seconds(self, names: Iterable[str]) -> float:
        """Return how long these tasks took, together."""
        return sum(self._tasks[name][0].value for name in names if name in self._tasks)

    def versions(self, names: Iterable[str]) -> dict[str, str]:
        """Return the versions of packages that made the results of these tasks."""
        found: dict[str, dict[str, None]] = {}
        for name in names:
            note = self._tasks[name][0].note if name in self._tasks else "{}"
            try:
                told = json.loads(note).get("versions", {})
            except ValueError:  # a note that lost some of its letters
                continue
            for package, number in told.items():
                found.setdefault(package, {})[number] = None
        return {package: " and ".join(numbers) for package, numbers in found.items()}

    def count(self, names: Iterable[str]) -> int:
        """Return how many of these tasks have results."""
        return sum(name in self._tasks for name in names)

    def write_manifest(self, manifest: Mapping[str, Any]) -> None:
        """Say which tasks are those of the last run, and what it was asked for."""
        with replacing(self._manifest) as temporary:
            temporary.write_text(json.dumps(manifest, indent=1) + "\n")

    def manifest(self) -> dict[str, Any] | None:
        """Return what the last run was asked for, None if there was none."""
        if not self._manifest.exists():
            return None
        try:
            manifest = json.loads(self._manifest.read_text())
            lacking = [key for key in MANIFEST if key not in manifest]
            if lacking:  # a version that wrote less
                raise ValueError(f"it lacks {', '.join(lacking)}")
            return manifest
        except (OSError, ValueError, TypeError) as error:
            raise InputError(
                f"`{self._manifest}` should be what a run of the study wrote; it is damaged, "
                f"or of another version ({error}). Run the experiment again: results that are "
                f"there are kept."
            ) from None

    def _read(self) -> tuple[dict[str, list[Row]], bool]:
        """Return the tasks that are complete, and whether there is nothing else in the file."""
        if not self.path.exists():
            return {}, False
        text = self.path.read_bytes().decode(errors="replace")
        end = text.rfind("\n") + 1
        reader = csv.reader(io.StringIO(text[:end].replace("\0", "")))
        if next(reader, None) != HEADER:
            raise InputError(
                f"`{self.path}` should be results of the study, with the columns "
                f"{', '.join(HEADER)}; it has others. Choose another output folder."
            )
        tasks: dict[str, list[Row]] = {}
        sizes: dict[str, int] = {}
        is_whole = end == len(text)
        for record in reader:
            parsed = _parse(record)
            if parsed is None:
                is_whole = False
                continue
            tasks.setdefault(parsed[0], []).append(parsed[2])
            sizes[parsed[0]] = parsed[1]
        complete = {name: rows for name, rows in tasks.items() if len(rows) == sizes[name]}
        return complete, is_whole and len(complete) == len(tasks)

    def _rewrite(self) -> None:
        with replacing(self.path) as temporary, temporary.open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(HEADER)
            for name, rows in self._tasks.items():
                writer.writerows(_records(name, rows))


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder for one run: two that write to it would drop each other's results.

    The system takes the lock back when the process ends, however it ends.
    """
    try:
        import fcntl
    except ImportError:  # Windows has no such lock
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


def _records(name: str, rows: list[Row]) -> Iterator[list[str]]:
    for row in rows:
        yield [name, str(len(rows)), *(_cell(value) for value in row)]


def _cell(value: Any) -> str:
    """Return a value as one line of text that reads back as the same value."""
    if value is None:
        return ""
    return repr(float(value)) if isinstance(value, float) else " ".join(str(value).split())


def _parse(record: list[str]) -> tuple[str, int, Row] | None:
    """Return task, number of its rows, and row; None of a line that a kill left behind."""
    try:
        name, size, *cells = record
        named = dict(zip(Row._fields, cells, strict=True))
        whole = {k: None if named[k] == "" else int(named[k]) for k in _WHOLE}
        value = float(named["value"])
        row = Row(**{**named, **whole, "value": value})  # type: ignore[arg-type]
        return name, int(size), row
    except ValueError:
        return None
