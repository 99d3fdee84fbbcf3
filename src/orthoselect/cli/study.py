"""`orthoselect study`: the paper's empirical comparison, run again."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from orthoselect.cli import options as o
from orthoselect.cli.running import INTERRUPTED, ending_well
from orthoselect.cli.terminal import Terminal
from orthoselect.errors import InputError
from orthoselect.result.text import as_csv, as_table

study_app = typer.Typer(
    help="Run the paper's empirical comparison again: every table and figure, beside the paper's.",
    no_args_is_help=True,
)

_WHAT, _HOW = "What to run", "How"
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
    typer.Option(
        metavar="DIR",
        help="Folder for results, tables, figures and the report. A run that was interrupted goes "
        "on where it stopped.",
        rich_help_panel=_HOW,
    ),
]
Data = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Folder of the data sets as .npz files; without it they are fetched from OpenML.",
        show_default=False,
        rich_help_panel=_WHAT,
    ),
]
Methods = Annotated[
    list[str],
    typer.Option(
        default_factory=list,
        metavar="NAME",
        help="Methods by the paper's names (OLS, mRMRd, ...); repeat it, or put commas between.",
        show_default=False,
        rich_help_panel=_WHAT,
    ),
]
Features = Annotated[
    int | None,
    typer.Option(
        help="The most features that are selected; the paper's number if not given.",
        show_default=False,
        rich_help_panel=_WHAT,
    ),
]
Repeats = Annotated[
    int | None,
    typer.Option(
        help="Simulated tables in a batch; the paper's 100 if not given.",
        show_default=False,
        rich_help_panel=_WHAT,
    ),
]
Folds = Annotated[
    int | None,
    typer.Option(
        help="Folds of cross-validation; the paper's 10 if not given.",
        show_default=False,
        rich_help_panel=_WHAT,
    ),
]
Seed = Annotated[int, typer.Option(help="Where all chance comes from.", rich_help_panel=_WHAT)]
Jobs = Annotated[
    int, typer.Option("--jobs", "-j", help="Processes at a time.", rich_help_panel=_HOW)
]
Quick = Annotated[
    bool,
    typer.Option("--quick", help="Smaller numbers: a minute or two.", rich_help_panel=_WHAT),
]


@study_app.command("list")
def list_command(format: o.FormatOption = o.Format.table) -> None:
    """List the experiments."""
    from orthoselect.study import list_experiments

    rows = list_experiments()
    if format is o.Format.json:
        print(json.dumps(rows, indent=2))
        return
    header, cells = ["name", "about"], [[row["name"], row["about"]] for row in rows]
    print(
        as_csv(header, cells).rstrip()
        if format is o.Format.csv
        else as_table(header, cells, left={0, 1})
    )


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
    """
    from orthoselect.study import Settings, Step, run

    terminal = Terminal(quiet)
    with ending_well(terminal, {"methods": "--methods"}):
        settings = Settings(
            output=output,
            data=data,
            methods=_names(methods),
            features=features,
            repeats=repeats,
            folds=folds,
            seed=seed,
            jobs=jobs,
            quick=quick,
        )
        interrupted, failed = False, None
        try:
            with terminal.working("the study") as bar:

                def show(step: Step) -> None:
                    bar.show(step.done, step.total, step.label)

                run(names or None, settings, show)
        except KeyboardInterrupt:
            interrupted = True
        except InputError as error:
            # The other tasks have results; without any there is nothing to report.
            if not (hasattr(error, "failures") and any(output.glob("*.json"))):
                raise
            failed = error
        if any(output.glob("*.json")):
            _report(output, terminal)
        if failed is not None:
            raise failed
    if interrupted:
        terminal.error("interrupted; what was done is kept, and the same command goes on from it.")
        raise typer.Exit(INTERRUPTED)


@study_app.command("report")
def report_command(output: Output = Path("study"), quiet: o.Quiet = False) -> None:
    """Redo tables, figures and the report from the results of a run; nothing is run again."""
    terminal = Terminal(quiet)
    with ending_well(terminal):
        _report(output, terminal)


def _names(given: list[str]) -> tuple[str, ...] | None:
    return tuple(name.strip() for item in given for name in item.split(",") if name.strip()) or None


def _report(output: Path, terminal: Terminal) -> None:
    from orthoselect.study import report

    with terminal.working("tables and figures"):
        told = report(output)
    for part in [*told["experiments"], {"title": "Over all data sets", **told["overall"]}]:
        if part["findings"]:
            print(f"{part['title']}:")
            for finding in part["findings"]:
                print(f"  - {finding}")
    sys.stdout.flush()
    terminal.note(f"wrote tables, figures and the report to {output}")
    if not any(part["complete"] for part in told["experiments"]):
        raise InputError(
            "an experiment should have results; none has, since its data sets are missing. Give "
            "their folder by `--data`."
        )
