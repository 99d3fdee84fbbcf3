"""Tasks -> results: in one process or several, each result stored as soon as it is there."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from orthoselect.errors import InputError
from orthoselect.versions import versions
from orthoselect_study.datasets import DataSource
from orthoselect_study.experiments import EXPERIMENTS, Experiment
from orthoselect_study.methods import METHODS, StudyMethod
from orthoselect_study.methods import chosen as chosen_methods
from orthoselect_study.records import Row, Task
from orthoselect_study.settings import Settings, find
from orthoselect_study.store import Store, locked, tell

_PACKAGES = ("numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl")


@dataclass(frozen=True)
class Step:
    """How far a run has come."""

    done: int  # tasks; those that an earlier run had done are counted
    total: int
    label: str  # what was done last
    seconds_left: float | None  # about how long it will still take; None if nothing is known


Progress = Callable[[Step], None]
# What became of a task: its name, its rows or an error in words, and how long it took.
Outcome = tuple[str, list[Row] | str, float]


class StudyFailed(InputError):  # noqa: N818 - what happened, in the user's words
    """Data sets are damaged or tasks raised; the others were run, and what came out is kept.

    `failures` are the tasks that raised, each with what it raised; `damaged` are the data sets that
    could not be read, by name, and why.
    """

    def __init__(
        self, failures: Sequence[tuple[str, str]], damaged: Mapping[str, str] = {}
    ) -> None:
        self.failures, self.damaged = list(failures), dict(damaged)
        parts = list(dict.fromkeys(self.damaged.values()))  # two sets may be made of one file
        if self.failures:
            label, reason = self.failures[0]
            more = f" So did {len(failures) - 1} more." if len(failures) > 1 else ""
            parts.append(
                f"{len(failures)} task(s) of the study should have given results; `{label}` "
                f"failed: {reason}{more} The next run tries these again."
            )
        super().__init__(" ".join([*parts, "All other results are kept."]))


def list_experiments() -> list[dict[str, str]]:
    """Return name, title and question of every experiment."""
    return [{"name": e.name, "title": e.title, "about": e.about} for e in EXPERIMENTS.values()]


def run(
    names: Sequence[str] | None, settings: Settings, progress: Progress | None = None
) -> dict[str, dict[str, Any]]:
    """Run experiments; results that are there from earlier runs are not computed again.

    Parameters
    ----------
    names : sequence of str or None
        Which; None for all.
    settings : Settings
    progress : callable, optional
        Called with a `Step` before the first task and after each one.

    Returns
    -------
    manifests : dict
        For each experiment: what was asked for, the tasks, what is missing, versions, times.

    Raises
    ------
    InputError
        Before anything is run or written: for an unknown name, for an option that none of the
        experiments uses, and for a number that a data set is too small for.
    StudyFailed
        After everything else is done, if a data set is damaged or a task raised.

    Warns
    -----
    DamagedResultsWarning
        If results of an earlier run are damaged: they are kept under another name, and what is
        missing is run again.
    """
    source = DataSource(settings.data)
    chosen = _chosen(names, settings, source)
    folder = Path(settings.output)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"`output` should be a folder; `{folder}` cannot be: {error}.") from None
    with locked(folder):
        made = _Run(chosen, settings, source, progress)
        tell(line for store in made.stores.values() for line in store.damage)
        return made.go()


def _chosen(
    names: Sequence[str] | None, settings: Settings, source: DataSource
) -> list[Experiment]:
    """Return the experiments; refuse options that none uses or a data set is too small for."""
    found = [find(name, EXPERIMENTS, "names") for name in (names or EXPERIMENTS)]
    chosen = [EXPERIMENTS[name] for name in dict.fromkeys(found)]
    chosen_methods(settings)  # an unknown name is told first, whoever would use it
    users = {option: [e for e in chosen if option in e.uses] for option in settings.given()}
    for option, experiments in users.items():
        if not experiments:
            titles = ", ".join(experiment.name for experiment in chosen)
            raise InputError(
                f"`{option}` should go with an experiment that uses it; {titles} does not. "
                f"Leave it out."
            )
    for option, experiments in users.items():
        limits: dict[str, int] = {}
        for experiment in experiments:
            limits |= experiment.limits(option, settings, source)
        asked = getattr(settings, option)
        if limits and asked > min(limits.values()):
            shown = ", ".join(f"{title} {limit}" for title, limit in limits.items())
            raise InputError(
                f"`{option}` should be at most {min(limits.values())} here; got {asked}. The most "
                f"that is possible: {shown}."
            )
    return chosen


class _Run:
    """One run of some experiments."""

    def __init__(
        self,
        chosen: list[Experiment],
        settings: Settings,
        source: DataSource,
        progress: Progress | None,
    ) -> None:
        self._settings = settings
        self._progress = progress
        folder = Path(settings.output)
        self._plans = {e.name: e.plan(settings, source) for e in chosen}
        self.stores = {e.name: Store(folder, e.name, writing=True) for e in chosen}
        self._experiments = {e.name: e for e in chosen}
        self._failures: list[tuple[str, str]] = []
        tasks = [task for plan in self._plans.values() for task in plan.tasks]
        still = [task for task in tasks if task not in self.stores[task.experiment]]
        self._open = {task.name: task for task in still}
        self._total, self._done = len(tasks), len(tasks) - len(still)
        self._cost, self._cost_done = sum(task.cost for task in still), 0.0
        self._versions = versions(*_PACKAGES)
        self._began = time.monotonic()

    def go(self) -> dict[str, dict[str, Any]]:
        """Do what is still to be done."""
        for name in self._plans:
            self._write(name)
        self._tell("")
        calls = [(self._experiments[task.experiment], task) for task in self._open.values()]
        try:
            beside = [call for call in calls if not call[0].alone]
            with closing(self._outcomes(beside)) as outcomes:
                for outcome in outcomes:
                    self._keep(outcome)
            for experiment, task in calls:
                if experiment.alone:  # times are measured: nothing runs beside them
                    self._keep(_attempt(experiment, task))
        finally:  # after Ctrl-C, too, the manifests tell what was done
            manifests = {name: self._write(name) for name in self._plans}
        absent = {name: why for plan in self._plans.values() for name, why in plan.absent.items()}
        damaged = {name: why for name, (state, why) in absent.items() if state == "damaged"}
        if self._failures or damaged:
            raise StudyFailed(self._failures, damaged)
        return manifests

    def _outcomes(self, calls: list[tuple[Experiment, Task]]) -> Generator[Outcome, None, None]:
        if self._settings.jobs == 1 or len(calls) < 2:
            for call in calls:
                yield _attempt(*call)
            return
        from joblib import Parallel, delayed

        # Large arrays are shared by the processes, not copied; results come as they are ready.
        pool = Parallel(n_jobs=self._settings.jobs, return_as="generator_unordered", batch_size=1)
        outcomes = pool(
            delayed(_attempt)(experiment, task, METHODS.get(task.arguments.get("method", "")))
            for experiment, task in calls
        )
        try:
            for outcome in outcomes:  # noqa: UP028 - `yield from` would close it unwatched
                yield outcome
        finally:
            with warnings.catch_warnings():
                # After Ctrl-C joblib says which tasks it canceled; the next run does them.
                warnings.filterwarnings("ignore", ".*tasks", UserWarning)
                outcomes.close()

    def _keep(self, outcome: Outcome) -> None:
        name, rows, seconds = outcome
        task = self._open[name]
        if isinstance(rows, str):
            self._failures.append((task.label, rows))
        else:
            self.stores[task.experiment].add(task, rows, seconds, self._versions)
        self._done += 1
        self._cost_done += task.cost
        self._tell(task.label)

    def _tell(self, label: str) -> None:
        if self._progress is None:
            return
        pace = (time.monotonic() - self._began) / self._cost_done if self._cost_done else None
        left = None if pace is None else pace * (self._cost - self._cost_done)
        self._progress(Step(self._done, self._total, label, left))

    def _write(self, name: str) -> dict[str, Any]:
        plan, store = self._plans[name], self.stores[name]
        names = [task.name for task in plan.tasks]
        failed = dict.fromkeys(f for f in self._failures if f[0].split()[0] == name)
        manifest = {
            "written": datetime.now(UTC).isoformat(timespec="seconds"),
            "settings": self._settings.to_dict(),
            "tasks": names,
            "complete": len(store.tasks(names)),
            "seconds": sum(task.seconds for task in store.tasks(names)),
            "facts": plan.facts,
            "data": plan.data,
            "absent": plan.absent,
            # Those that made the results, which an earlier run may have had others of.
            "versions": store.versions(names) or self._versions,
            "failed": [list(failure) for failure in failed],
        }
        store.write_manifest(manifest)
        return manifest


def _attempt(experiment: Experiment, task: Task, method: StudyMethod | None = None) -> Outcome:
    """Run with one thread: sums then do not depend on how many processes share the machine.

    Another process does not know of methods that were added to this one; it is given the task's.
    """
    if method is not None:
        METHODS[method.name] = method
    began = time.perf_counter()
    with threadpool_limits(1):
        try:
            rows = experiment.work(task.arguments, task.data)
        except Exception as error:
            return task.name, f"{type(error).__name__}: {error}", 0.0
    return task.name, rows, time.perf_counter() - began
