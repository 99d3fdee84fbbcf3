"""`orthoselect select` and `orthoselect compare`: from their options to their answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import typer

from orthoselect.cli import options as o
from orthoselect.cli.answer import Answer
from orthoselect.cli.how_many import (
    SIZE_WORDS,
    find_jobs,
    read_count,
    significance_options,
    size_options,
)
from orthoselect.cli.loading import Loaded, check_files, load, one_or_several, read_own_options
from orthoselect.cli.terminal import INTERRUPTED, Terminal, connected, ending_well
from orthoselect.errors import ComparisonInterrupted, InputError, SelectionInterrupted
from orthoselect.methods import find_method
from orthoselect.progress import StepsShown, TasksShown
from orthoselect.read import Dataset, output_format
from orthoselect.result import Comparison, SelectionPath
from orthoselect.search_request import TIME_LIMIT
from orthoselect.selection import check_blocks, select


@o.with_option_sets
def select_command(
    source: o.Sources,
    *,
    target: o.Target,
    count: o.Count = None,
    p_values: o.PValues = False,
    alpha: o.Alpha = None,
    permutations: o.Permutations = None,
    permute_within: o.PermuteWithin = None,
    seed: o.SelectSeed = None,
    method: o.Method = "socc",
    option: o.OwnOption,
    search: o.Search = "forward",
    time_limit: o.TimeLimit = TIME_LIMIT,
    rule: o.Rule = None,
    largest: o.LargestSize = None,
    estimator: o.SizeEstimator = None,
    scoring: o.SizeScoring = None,
    folds: o.SizeFolds = None,
    jobs: o.SizeJobs = None,
    task: o.Task = "auto",
    include: o.Include,
    columns: o.ColumnOptions,
    weights: o.Weights = None,
    memory: o.Memory = None,
    scheduler: o.Scheduler = None,
    reading: o.ReadingOptions,
    format: o.Format = "table",
    output: o.Output = None,
    report: o.Report = None,
    overwrite_source: o.OverwriteSource = False,
    escape_formulas: o.EscapeFormulas = None,
    quiet: o.Quiet = False,
) -> None:
    """Select the features that together explain a column best.

    Standard output holds the answer only; everything else goes to standard error.
    """
    terminal = Terminal(quiet)
    workers = connected(scheduler) if scheduler is not None else nullcontext()
    with ending_well(terminal), workers:
        wanted = None if count is None else read_count(count, words=SIZE_WORDS)
        of_tests = significance_options(wanted, p_values, alpha, permutations, permute_within, seed)
        of_size = size_options(wanted, rule, largest, estimator, scoring, folds, jobs)
        has_target = find_method(method).needs_target
        if not has_target:
            _check_no_target(method, target, wanted, p_values=p_values, report=report)
        own = {**read_own_options(option), **of_tests, **of_size}
        own |= {"search": search, "time_limit": time_limit}
        files = {"--output": output, "--report": report}
        check_files(one_or_several(source), files, overwrite_source)

        def check(table: Dataset) -> None:
            if table.in_blocks:
                _check_blocks(table, method, report, wanted)
            written = None if output is None else output_format(table, output)
            if escape_formulas is not None and not {format, written} & {"csv", "tsv"}:
                raise InputError(
                    "`--escape-formulas` and `--no-escape-formulas` are for CSV and TSV; neither "
                    "`--format csv` nor an `--output` of these is given. Omit them."
                )

        loaded = load(
            source,
            target,
            columns,
            reading,
            terminal,
            include=include,
            weights=weights,
            within=permute_within,
            memory=memory,
            scheduler=scheduler,
            check=check,
            has_target=has_target,
        )
        if wanted == "cv" and jobs is None:
            own["n_jobs"] = find_jobs(None, loaded.dataset)
        path, interrupted = _select(loaded, wanted, method, task, own, terminal)
        if not len(path):
            raise InputError(f"nothing could be selected: {path.stopped}")
        answer = Answer(path, loaded, terminal, escape_formulas)
        try:
            answer.show(format)
            if output is not None:
                answer.write_table(path, output, overwrite_source=overwrite_source)
            if report is not None:
                answer.write_report(report)
        except KeyboardInterrupt:
            terminal.error(
                f"interrupted while writing; the {len(path)} feature(s) are found, and files that "
                f"were not complete are as they were."
            )
            raise typer.Exit(INTERRUPTED) from None
    if interrupted:
        terminal.error(f"interrupted after {len(path)} feature(s), which are kept.")
        raise typer.Exit(INTERRUPTED)


@o.with_option_sets
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
    task: o.Task = "auto",
    columns: o.ColumnOptions,
    reading: o.ReadingOptions,
    format: o.Format = "table",
    report: o.Report = None,
    overwrite_source: o.OverwriteSource = False,
    quiet: o.Quiet = False,
) -> None:
    """Compare methods: the score of a model against the number of selected features.

    Selection happens inside each fold, on its training rows only. All features and none stand
    beside the methods.
    """
    terminal = Terminal(quiet)
    with ending_well(terminal):
        check_files(source, {"--report": report}, overwrite_source)
        loaded = load(source, target, columns, reading, terminal, check=_check_in_memory)
        methods = [name.strip() for item in method for name in item.split(",") if name.strip()]
        settings = {
            "methods": methods or None,
            "sizes": count,
            "estimator": estimator,
            "scoring": scoring,
            "folds": folds,
            "repeats": repeats,
            "random_state": seed,
            "n_jobs": find_jobs(jobs, loaded.dataset),
            "task": task,
            "options": read_own_options(option),
        }
        comparison, interrupted = _compare(loaded, settings, terminal)
        answer = Answer(comparison, loaded, terminal)
        answer.show(format)
        if report is not None:
            answer.write_report(report)
    if interrupted:
        terminal.error("interrupted; the folds that were done are kept.")
        raise typer.Exit(INTERRUPTED)


def _check_in_memory(table: Dataset) -> None:
    """Raise for a table that cannot be cut into folds."""
    if table.in_blocks:
        raise InputError(
            f"`compare` should have a table that fits into memory, to cut it into folds; "
            f"`{table.name}` is too large. Give it some of the rows."
        )


def _check_blocks(table: Dataset, method: str, report: str | None, wanted: Any) -> None:
    """Raise before the work for what cannot be done with a table in blocks."""
    check_blocks(table, find_method(method))
    if wanted == "cv":
        raise InputError(
            f"`-k cv` needs the table in memory, to cut it into folds; `{table.name}` is too large "
            f"for that. Give a number, or some of the rows."
        )
    if report is not None:
        raise InputError(
            f"`--report` needs the table in memory, to draw its rows; `{table.name}` is too large "
            f"for that. Omit it, or report on some of the rows."
        )


def _check_no_target(
    method: str, target: Sequence[str], wanted: Any, *, p_values: bool, report: str | None
) -> None:
    """Raise for what makes no sense where there is nothing to explain."""
    if wanted in SIZE_WORDS or p_values:
        what = "`--p-values`" if p_values else f"`-k {wanted}`"
        raise InputError(
            f"{what} tests features against a target; method {method!r} has none. Give "
            f"a number, and compare the total with what principal components could explain."
        )
    if target:
        raise InputError(
            f"`--target` is for methods that explain one; method {method!r} explains all columns. "
            f"Omit it, and write `--exclude {target[0]}` to leave that column out."
        )
    if report is not None:
        raise InputError(
            f"`--report` makes a page about a target; method {method!r} has none. Omit it; "
            f"`--format json` has all figures."
        )


def _select(
    loaded: Loaded,
    wanted: int | float | str | None,
    method: str,
    task: str,
    own: Mapping[str, Any],
    terminal: Terminal,
) -> tuple[SelectionPath, bool]:
    """Return the path as far as it came, and whether it was interrupted."""
    try:
        with terminal.working("selecting") as bar:
            path = select(
                loaded.dataset,
                loaded.target,
                wanted,
                method,
                task=task,
                sample_weight=loaded.weights,
                progress=StepsShown(bar),
                **loaded.options,
                **own,
            )
    except SelectionInterrupted as stopped:
        if not len(stopped.path):
            raise
        return stopped.path, True
    return path, False


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
                progress=TasksShown(bar),
            )
    except ComparisonInterrupted as stopped:
        if stopped.comparison is None:
            raise
        return stopped.comparison, True
    return comparison, False
