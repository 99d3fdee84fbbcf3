"""`orthoselect select`: a table in, the features that matter out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import typer

from orthoselect.cli import options as o
from orthoselect.cli.answer import Answer, check_source_stays, check_writable
from orthoselect.cli.loading import Asked, Loaded, load, open_table
from orthoselect.cli.running import INTERRUPTED, connected, ending_well
from orthoselect.cli.terminal import Terminal
from orthoselect.errors import InputError, SelectionInterrupted
from orthoselect.methods import METHODS
from orthoselect.read import Dataset, check_block_output, on_dask, output_format
from orthoselect.result import SelectionPath
from orthoselect.selection import check_blocks, select


def select_command(
    source: o.Sources,
    *,
    target: o.Target,
    count: o.Count = "10",
    method: o.Method = "socc",
    option: o.OwnOption,
    task: o.TaskOption = o.Task.auto,
    include: o.Include,
    exclude: o.Exclude,
    group: o.Group,
    categorical: o.Categorical,
    drop: o.Drop,
    weights: o.Weights = None,
    memory: o.Memory = None,
    scheduler: o.Scheduler = None,
    missing: o.MissingOption = o.Missing.error,
    delimiter: o.Delimiter = None,
    encoding: o.Encoding = None,
    header: o.Header = True,
    input_format: o.InputFormat = None,
    format: o.FormatOption = o.Format.table,
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
    with ending_well(terminal), connected(scheduler):
        wanted, own = _count(count), o.own_options(option)
        check_writable(output, report)
        asked = Asked(
            source=source[0] if len(source) == 1 else source,
            target=target,
            categorical=categorical,
            group=group,
            include=include,
            exclude=exclude,
            drop=drop,
            weights=weights,
            missing=missing.value,
            delimiter=delimiter,
            encoding=encoding,
            header=header,
            format=input_format,
            memory=memory,
            in_blocks=scheduler is not None,
        )
        written = {"--output": output, "--report": report}
        check_source_stays(asked.source, written, overwrite_source)
        with terminal.working(f"reading {' '.join(source)}"):
            table = open_table(asked)
            if table.in_blocks:
                _check_blocks(table, method, output, report)
            _check_escapes(escape_formulas, format, output, table)
            loaded = load(asked, table)
            if scheduler is not None:
                loaded = replace(loaded, dataset=on_dask(loaded.dataset))
        path, interrupted = _select(loaded, wanted, method, task.value, own, terminal)
        if not len(path):
            raise InputError(f"nothing could be selected: {path.stopped}")
        answer = Answer(path, loaded, terminal, escape_formulas)
        try:
            answer.show(format.value)
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


def _check_blocks(table: Dataset, method: str, output: str | None, report: str | None) -> None:
    """Raise before the work for what cannot be done with a table in blocks."""
    check_blocks(table, METHODS.find(method))
    if report is not None:
        raise InputError(
            f"`--report` needs the table in memory, to draw its rows; `{table.name}` is too large "
            f"for that. Omit it, or report on some of the rows."
        )
    if output is not None:
        check_block_output(table, output)


def _check_escapes(
    escape: bool | None, format: o.Format, output: str | None, table: Dataset
) -> None:
    """Raise where formulas are to be escaped, or not to be, and no text for spreadsheets is."""
    written = None if output is None else output_format(table, output)
    if escape is not None and format is not o.Format.csv and written not in ("csv", "tsv"):
        raise InputError(
            "`--escape-formulas` and `--no-escape-formulas` are for CSV and TSV; neither `--format "
            "csv` nor an `--output` of these is given. Omit them."
        )


def _select(
    loaded: Loaded,
    wanted: int | float,
    method: str,
    task: str,
    own: Mapping[str, Any],
    terminal: Terminal,
) -> tuple[SelectionPath, bool]:
    """Return the path as far as it came, and whether it was interrupted."""
    try:
        with terminal.working("selecting") as bar:
            if loaded.dataset.in_blocks:
                loaded.dataset.data.progress = bar.read
            path = select(
                loaded.dataset,
                loaded.target,
                wanted,
                method,
                task=task,
                sample_weight=loaded.weights,
                progress=bar.step,
                **loaded.options,
                **own,
            )
    except SelectionInterrupted as stopped:
        if not len(stopped.path):
            raise
        return stopped.path, True
    return path, False


def _count(text: str) -> int | float:
    """Read a count or a fraction.

    Examples
    --------
    >>> _count("12"), _count("0.25")
    (12, 0.25)
    """
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    raise InputError(
        f"`-k` should be a whole number of at least 1, or a fraction in (0, 1); got {text!r}."
    )
