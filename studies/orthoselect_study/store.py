"""Results on disk: one CSV for each experiment, a task's rows added in one piece.

A task that is not complete, or not as it was written, does not count. A run that opens the file
moves its lines, and all others that are damaged, to a file of their own, says so, and does the task
again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from orthoselect.errors import InputError
from orthoselect.output import replacing
from orthoselect_study import damage, lines, manifest
from orthoselect_study.damage import Damaged
from orthoselect_study.lines import Contents
from orthoselect_study.records import Row, Task

_LOCK = ".study.lock"
_NOTHING = Contents([], [], {}, has_header=False)
_NEXT_RUN = "That is left out here; the next run sets it aside, and runs what is missing."


class Store:
    """The results of one experiment in a folder.

    Parameters
    ----------
    folder : Path
    experiment : str
    writing : bool, default=False
        Whether results will be added: the file is made if there is none, and mended if it is
        damaged. Without it nothing is changed.

    Attributes
    ----------
    path, manifest_path : Path
        The results, and what the last run was asked for.
    damage : list of str
        What is damaged and where it was put, a line for each file.

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
        self.manifest_path = Path(folder) / f"{experiment}.json"
        self.damage: list[str] = []
        self._writing = writing
        found = self._read()
        self._tasks = {task.name: task for task in found.tasks}
        if writing:
            if not found.is_whole:
                self._rewrite(found.good)
            self._set_damaged_manifest_aside()

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
        stored, text = lines.write(task, rows, seconds, versions or {})
        with self.path.open("ab") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        self._tasks[task.name] = stored

    def rows(self, names: Iterable[str]) -> list[Row]:
        """Return the rows of these tasks, in the order of the names."""
        return [row for name in names if name in self._tasks for row in self._tasks[name].rows]

    def seconds(self, names: Iterable[str]) -> float:
        """Return how long these tasks took, together."""
        return sum(self._tasks[name].seconds for name in names if name in self._tasks)

    def versions(self, names: Iterable[str]) -> dict[str, str]:
        """Return the versions of packages that made the results of these tasks."""
        found: dict[str, dict[str, None]] = {}
        for name in names:
            versions = self._tasks[name].versions if name in self._tasks else {}
            for package, number in versions.items():
                found.setdefault(package, {})[number] = None
        return {package: " and ".join(numbers) for package, numbers in found.items()}

    def count(self, names: Iterable[str]) -> int:
        """Return how many of these tasks have results."""
        return sum(name in self._tasks for name in names)

    def is_sealed(self, names: Iterable[str]) -> bool:
        """Tell whether the results of these tasks all have a seal, which older versions lack."""
        return all(self._tasks[name].is_sealed for name in names if name in self._tasks)

    def write_manifest(self, told: Mapping[str, Any]) -> None:
        """Say which tasks are those of the last run, and what it was asked for."""
        manifest.write(self.manifest_path, told)

    def manifest(self) -> dict[str, Any] | None:
        """Return what the last run was asked for, None if there was none."""
        try:
            return manifest.read(self.manifest_path)
        except Damaged as reason:
            raise InputError(
                f"{self._about_manifest(reason)} Run the experiment again: results that are there "
                f"are kept."
            ) from None

    def _about_manifest(self, reason: Damaged) -> str:
        return (
            f"`{self.manifest_path}` should be what a run of the study wrote; it is damaged, or of "
            f"another version ({reason})."
        )

    def _set_damaged_manifest_aside(self) -> None:
        try:
            manifest.read(self.manifest_path)
        except Damaged as reason:
            aside = damage.set_aside(self.manifest_path)
            self.damage.append(
                f"{self._about_manifest(reason)} It is kept as `{aside}`, and a new one is written."
            )

    def _read(self) -> Contents:
        """Return what is good in the file; what is damaged is told, and set aside by a run."""
        try:
            content = damage.read(self.path)
            if content is None:
                return _NOTHING
            found = lines.parse(content)
            if not found.is_ours:
                self._refuse_what_is_not_ours(content)
                raise Damaged("it is something else" if content.strip() else "it is empty")
        except Damaged as reason:
            self._tell_of_all(reason)
            return _NOTHING
        if not found.is_whole:
            self._tell_of_lines(found)
        return found

    def _refuse_what_is_not_ours(self, content: bytes) -> None:
        """Raise unless a run was here: somebody's table may have the name of an experiment."""
        if content.strip() and not os.path.lexists(self.manifest_path):
            raise InputError(
                f"`{self.path}` should be results of the study, with the columns "
                f"{', '.join(lines.COLUMNS)}; it has others. Choose another output folder."
            )

    def _tell_of_all(self, reason: Damaged) -> None:
        what = f"`{self.path}` should be results of the study; {reason}."
        if not self._writing:
            self.damage.append(f"{what} {_NEXT_RUN}")
            return
        aside = damage.set_aside(self.path)
        self.damage.append(f"{what} It is kept as `{aside}`, and what is missing is run again.")

    def _tell_of_lines(self, found: Contents) -> None:
        what = f"`{self.path}` should be as runs of the study write it;"
        if not found.bad:
            self.damage.append(f"{what} it lacks the names of its columns. A run puts them back.")
            return
        n_bad, first = len(found.bad), min(found.bad)
        lines_are = f"line {first} is" if n_bad == 1 else f"{n_bad} lines from line {first} on are"
        what = f"{what} {lines_are} damaged, or of a task that is not complete."
        if not self._writing:
            self.damage.append(f"{what} {_NEXT_RUN}")
            return
        aside = damage.keep_aside(self.path, b"".join(found.bad.values()))
        self.damage.append(f"{what} That is kept in `{aside}`, and what is missing is run again.")

    def _rewrite(self, good: Iterable[bytes]) -> None:
        with replacing(self.path) as temporary, temporary.open("wb") as file:
            file.write(b"".join([lines.HEADER + b"\n", *good]))
            file.flush()
            os.fsync(file.fileno())


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


def is_locked(folder: Path) -> bool:
    """Tell whether a run is at work in the folder."""
    try:
        import fcntl

        with (Path(folder) / _LOCK).open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except (ImportError, OSError):  # there is no lock that a run could hold
        return False
    return False
