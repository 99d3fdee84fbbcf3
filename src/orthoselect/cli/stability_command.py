"""`orthoselect stability`: from its options to its answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import typer

from orthoselect.cli import options as o
from orthoselect.cli.answer import Answer
from orthoselect.cli.how_many import find_jobs, read_count
from orthoselect.cli.loading import Loaded, check_files, load, one_or_several, read_own_options
from orthoselect.cli.terminal import INTERRUPTED, Terminal, connected, ending_well
from orthoselect.errors import InputError, StabilityInterrupted
from orthoselect.progress import PairsShown
from orthoselect.result import Stability
from orthoselect.search import SEARCHES


@o.with_option_sets
def stability_command(
    source: o.Sources,
    *,
    target: o.Target,
    count: o.PerHalf = None,
    threshold: o.Threshold = None,
    pfer: o.Pfer = None,
    pairs: o.Pairs = 50,
    assumption: o.Assumption = "unimodal",
    method: o.Method = "socc",
    option: o.MethodOption,
    seed: o.SeedOfHalves = 0,
    jobs: o.Jobs = None,
    task: o.Task = "auto",
    include: o.Include,
    columns: o.ColumnOptions,
    weights: o.Weights = None,
    memory: o.Memory = None,
    scheduler: o.Scheduler = None,
    reading: o.ReadingOptions,
    format: o.Format = "table",
    report: o.Report = None,
    overwrite_source: o.OverwriteSource = False,
    escape_formulas: o.EscapeFormulas = None,
    quiet: o.Quiet = False,
) -> None:
    """Find the features that many halves of the rows agree on, and bound how many are false.

    Of -k, --threshold and --pfer two determine the third.
    """
    terminal = Terminal(quiet)
    workers = connected(scheduler) if scheduler is not None else nullcontext()
    said = "interrupted before the first pair of halves was done."
    with ending_well(terminal, interrupted=said), workers:
        if escape_formulas is not None and format != "csv":
            raise InputError(
                "`--escape-formulas` and `--no-escape-formulas` are for CSV; `--format csv` is not "
                "given. Omit them."
            )
        wanted = None if count is None else read_count(count)
        own = _of_method(option)
        check_files(one_or_several(source), {"--report": report}, overwrite_source)
        loaded = load(
            source,
            target,
            columns,
            reading,
            terminal,
            include=include,
            weights=weights,
            memory=memory,
            scheduler=scheduler,
        )
        settings = {
            "n_features_to_select": wanted,
            "method": method,
            "threshold": threshold,
            "pfer": pfer,
            "n_pairs": pairs,
            "assumption": assumption,
            "random_state": seed,
            "n_jobs": find_jobs(jobs, loaded.dataset),
            "task": task,
            **own,
        }
        found, interrupted = _stability(loaded, settings, terminal)
        answer = Answer(found, loaded, terminal, escape_formulas)
        answer.show(format)
        if report is not None:
            answer.write_report(report)
    if interrupted:
        terminal.error(f"interrupted; the {found.taken.n_pairs} pairs that were done are kept.")
        raise typer.Exit(INTERRUPTED)


def _of_method(given: Sequence[str]) -> dict[str, Any]:
    """Read options of the method; those of searches there is no use for."""
    own = read_own_options(given)
    of_searches = {name for search in SEARCHES.values() for name in search.options}
    for name in own:
        if name in {"search", "time_limit", *of_searches}:
            raise InputError(
                f"`--option {name}` is about how to search, and this command selects step by step "
                f"from each half. Omit it, or call `orthoselect.stability` in Python."
            )
    return own


def _stability(
    loaded: Loaded, settings: Mapping[str, Any], terminal: Terminal
) -> tuple[Stability, bool]:
    """Return the result as far as it came, and whether it was interrupted."""
    from orthoselect.halves import stability  # with scikit-learn, which other commands spare

    try:
        with terminal.working("cutting in halves") as bar:
            found = stability(
                loaded.dataset,
                loaded.target,
                **settings,
                sample_weight=loaded.weights,
                progress=PairsShown(bar),
                **loaded.options,
            )
    except StabilityInterrupted as stopped:
        if stopped.stability is None:
            raise
        return stopped.stability, True
    return found, False
