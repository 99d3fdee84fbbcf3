"""`orthoselect compare`: several methods on the same folds of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import typer

from orthoselect.cli import options as o
from orthoselect.cli.answer import Answer, check_source_stays, check_writable
from orthoselect.cli.loading import Asked, Loaded, load, open_table
from orthoselect.cli.running import INTERRUPTED, ending_well
from orthoselect.cli.terminal import Terminal
from orthoselect.errors import ComparisonInterrupted, InputError
from orthoselect.result import Comparison

_SMALL = 1_000_000  # numbers in a table that one process compares in seconds


def compare_command(
    source: o.Source,
    *,
    target: o.Target,
    count: o.Largest = 10,
    method: o.Methods,
    option: o.OwnOption,
    estimator: o.Estimator = "auto",
    scoring: o.Scoring = "auto",
    folds: o.Folds = 5,
    repeats: o.Repeats = 1,
    seed: o.Seed = 0,
    jobs: o.Jobs = None,
    task: o.TaskOption = o.Task.auto,
    exclude: o.Exclude,
    group: o.Group,
    categorical: o.Categorical,
    drop: o.Drop,
    missing: o.MissingOption = o.Missing.error,
    delimiter: o.Delimiter = None,
    encoding: o.Encoding = None,
    header: o.Header = True,
    input_format: o.InputFormat = None,
    format: o.FormatOption = o.Format.table,
    report: o.Report = None,
    overwrite_source: o.OverwriteSource = False,
    quiet: o.Quiet = False,
) -> None:
    """Compare methods: the score of a linear model against the number of selected features.

    Selection happens inside each fold, on its training rows only.
    """
    terminal = Terminal(quiet)
    with ending_well(terminal):
        check_writable(None, report)
        check_source_stays(source, {"--report": report}, overwrite_source)
        asked = Asked(
            source=source,
            target=target,
            categorical=categorical,
            group=group,
            exclude=exclude,
            drop=drop,
            missing=missing.value,
            delimiter=delimiter,
            encoding=encoding,
            header=header,
            format=input_format,
        )
        with terminal.working(f"reading {source}"):
            table = open_table(asked)
            if table.in_blocks:
                raise InputError(
                    f"`compare` should have a table that fits into memory, to cut it into folds; "
                    f"`{table.name}` is too large. Give it some of the rows."
                )
            loaded = load(asked, table)
        settings = {
            "methods": _methods(method),
            "sizes": count,
            "estimator": estimator,
            "scoring": scoring,
            "folds": folds,
            "repeats": repeats,
            "random_state": seed,
            "n_jobs": _jobs_that_pay(loaded) if jobs is None else jobs,
            "task": task.value,
            "options": o.own_options(option),
        }
        comparison, interrupted = _compare(loaded, settings, terminal)
        answer = Answer(comparison, loaded, terminal)
        answer.show(format.value)
        if report is not None:
            answer.write_report(report)
    if interrupted:
        terminal.error("interrupted; the folds that were done are kept.")
        raise typer.Exit(INTERRUPTED)


def _jobs_that_pay(loaded: Loaded) -> int:
    """Return all processors, unless processes would take longer to start than to work."""
    dataset = loaded.dataset
    return -1 if dataset.n_rows * len(dataset.names) > _SMALL else 1


def _methods(given: Sequence[str]) -> list[str] | None:
    return [name.strip() for item in given for name in item.split(",") if name.strip()] or None


def _compare(
    loaded: Loaded, settings: Mapping[str, Any], terminal: Terminal
) -> tuple[Comparison, bool]:
    """Return the comparison as far as it came, and whether it was interrupted."""
    from orthoselect.comparison import compare  # with scikit-learn, which other commands spare

    columns = {k: v for k, v in loaded.options.items() if k != "include"}
    try:
        with terminal.working("comparing") as bar:
            comparison = compare(
                loaded.dataset,
                loaded.target,
                **settings,
                **columns,
                progress=lambda done, total, method, fold: bar.show(done, total, method),
            )
    except ComparisonInterrupted as stopped:
        if stopped.comparison is None:
            raise
        return stopped.comparison, True
    return comparison, False
