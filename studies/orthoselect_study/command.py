"""`orthoselect study`: the paper's empirical comparison, run again."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from orthoselect.cli import options as o
from orthoselect.cli.terminal import Terminal, ending_well
from orthoselect.errors import InputError

if TYPE_CHECKING:
    from orthoselect_study import Settings

study_app = typer.Typer(
    help="Run the paper's empirical comparison again: every table and figure, beside the paper's.",
    no_args_is_help=True,
)

# What the library calls these options.
_WORDS = {name: f"--{name}" for name in ("methods", "seed", "jobs")}


def _option(panel: str, help: str, *names: str, **more: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=panel, **more)


# An option that the experiment has a value of its own for.
_what = partial(_option, "What to run", show_default=False)

Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[NAME ...]",
        help="Experiments, see `orthoselect study list`; all if none is named.",
        show_default=False,
    ),
]
Output = Annotated[
    Path,
    _option(
        "How",
        "Folder for results, tables, figures and the report. An interrupted run continues where it "
        "stopped.",
        metavar="DIR",
    ),
]
Reported = Annotated[
    Path,
    typer.Option(
        metavar="DIR", help="Folder of a run; its tables, figures and report are written again."
    ),
]
Data = Annotated[
    Path | None,
    _what(
        "Folder of the data sets as .npz files; without it they are fetched from OpenML.",
        metavar="DIR",
    ),
]
Methods = Annotated[
    list[str],
    _what(
        "Methods by the paper's names (OLS, mRMRd, ...); repeat it, or put commas between.",
        metavar="NAME",
        default_factory=list,
    ),
]
Features = Annotated[
    int | None,
    _what(
        "The most features that are selected, all of a set that has fewer; the paper's number if "
        "not given."
    ),
]
Repeats = Annotated[int | None, _what("Simulated tables in a batch; the paper's 100 if not given.")]
Folds = Annotated[int | None, _what("Folds of cross-validation; the paper's 10 if not given.")]
Seed = Annotated[int, _option("What to run", "The seed of all random numbers.")]
Jobs = Annotated[int, _option("How", "Processes at a time.", "--jobs", "-j")]
Quick = Annotated[bool, _option("What to run", "Smaller numbers: a minute or two.", "--quick")]


@study_app.command("list")
def list_command(format: o.Format = "table") -> None:
    """List the experiments."""
    from orthoselect_study import list_experiments

    rows = list_experiments()
    lines = [("name", "about"), *((row["name"], row["about"]) for row in rows)]
    if format == "json":
        print(json.dumps(rows, indent=2))
    elif format == "csv":
        csv.writer(sys.stdout, lineterminator="\n").writerows(lines)
    else:
        width = max(len(name) for name, _ in lines)
        print("\n".join(f"{name:<{width}}  {about}" for name, about in lines))


@study_app.command("run")
def run_command(
    names: Names = None,
    *,
    data: Data = None,
    methods: Methods,
    features: Features = None,
    repeats: Repeats = None,
    folds: Folds = None,
    seed: Seed = 0,
    jobs: Jobs = 1,
    quick: Quick = False,
    output: Output = Path("study"),
    quiet: o.Quiet = False,
) -> None:
    """Run experiments, then write tables, figures and the report.

    Results that are there from an earlier run with the same settings are not computed again.
    A data set that is missing is shown as such in the tables, and warned of; the exit code is 0 as
    long as there are any results. It is 2 if a data set is damaged or a task failed; the others
    are run and reported all the same.
    """
    from orthoselect_study import Settings

    terminal = Terminal(quiet)
    kept = "interrupted; what was done is kept, and the same command goes on from it."
    with ending_well(terminal, _WORDS, kept):
        listed = (name.strip() for item in methods for name in item.split(","))
        settings = Settings(
            output=output,
            data=data,
            methods=tuple(name for name in listed if name) or None,
            features=features,
            repeats=repeats,
            folds=folds,
            seed=seed,
            jobs=jobs,
            quick=quick,
        )
        _run(names, settings, terminal)


@study_app.command("report")
def report_command(output: Reported = Path("study"), quiet: o.Quiet = False) -> None:
    """Redo tables, figures and the report from the results of a run; nothing is run again."""
    terminal = Terminal(quiet)
    kept = "interrupted; the results are kept, and the same command reports them."
    with ending_well(terminal, _WORDS, kept):
        _report(output, terminal)


def _run(names: list[str] | None, settings: Settings, terminal: Terminal) -> None:
    """Run, and report whatever came out, however the run ended."""
    from orthoselect_study import Step, StudyFailed, run
    from orthoselect_study.datasets import title_of

    manifests: Mapping[str, Any] = {}
    ending: KeyboardInterrupt | StudyFailed | None = None
    try:
        with terminal.working("the study") as bar:

            def show(step: Step) -> None:
                bar.show(step.done, step.total, step.label, step.seconds_left)

            manifests = run(names or None, settings, show)
    except (KeyboardInterrupt, StudyFailed) as error:
        ending = error
    if any(settings.output.glob("*.json")):  # a run may be interrupted before it has any
        told = _report(settings.output, terminal)
        absent = [each for part in told["experiments"] for each in part["absent"].items()]
        missing = dict.fromkeys(name for name, (state, _) in absent if state == "missing")
        if missing:
            titles = ", ".join(title_of(name) for name in missing)
            terminal.warn(f"{titles}: missing, and shown so in the tables, with the reason.")
        # What earlier runs left in the folder is no result of this one.
        if ending is None and not any(each["complete"] for each in manifests.values()):
            raise InputError(
                "an experiment should have results; none has, since its data sets are missing. "
                "Give their folder by `--data`."
            )
    if ending is not None:
        raise ending


def _report(output: Path, terminal: Terminal) -> dict[str, Any]:
    from orthoselect_study import report

    with terminal.working("tables and figures"):
        told = report(output)
    for part in [*told["experiments"], {"title": "Over all data sets", **told["overall"]}]:
        if part["findings"]:
            print(f"{part['title']}:")
            for finding in part["findings"]:
                print(f"  - {finding}")
    sys.stdout.flush()
    terminal.note(f"wrote tables, figures and the report to {output}")
    return told
