"""`orthoselect narx`: a model of a signal over time, from a file to its equation."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
import typer

from orthoselect.cli import options as o
from orthoselect.cli.loading import check_files
from orthoselect.cli.terminal import Terminal, ending_well
from orthoselect.errors import InputError
from orthoselect.read import open_source, read_table, why_not_whole
from orthoselect.roles import find_columns

_LEAST_FITTED = 20  # rows beside the lags; with fewer nothing can be told from chance
_INPUT = "A column that drives the target; repeat it for several. None: only its own past counts."
_LAGS = "The longest lag of the target and of the inputs."
_DELAY = "The shortest lag of inputs; 0 lets an input act at once."
_TERMS = "How many terms: a count, or auto for as many as --order says."
_ORDER = "What decides how many terms: aic, aicc, bic, fpe, apress, press or free-run."
_RULE = (
    "By --order free-run: best for the number of terms whose error is smallest, one-se for the "
    "smallest number within one standard error of it."
)
_SEARCH = (
    "How sets of terms are searched: forward, swap, floating, beam, backward or exact; swap "
    "exchanges terms as long as that is better."
)
_NOISE = "The longest lag of residuals in noise terms; 0 for no noise terms."
_FREE = "Fit coefficients to the free run rather than to one step ahead."
_HELD = "Share of the rows, the last ones, that are kept for validation only."
_SESSIONS = "A column of labels: rows with another label are another record."
_table = partial(typer.Option, rich_help_panel="The table")
_choice = partial(typer.Option, rich_help_panel="The choice")
_own: dict[str, Any] = {"metavar": "COLUMN"}
_names: dict[str, Any] = {"metavar": "NAME", "default_factory": list, "show_default": False}
Inputs = Annotated[list[str], _table("--input", "-u", help=_INPUT, **_names)]
Sessions = Annotated[str | None, _table(help=_SESSIONS, **_own)]
OneTarget = Annotated[str, _table("--target", "-t", help="The column to model.", **_own)]
Lags = Annotated[int, _choice(help=_LAGS)]
Degree = Annotated[int, _choice(help="The most factors of a term.")]
Delay = Annotated[int, _choice(help=_DELAY)]
Terms = Annotated[str, _choice("--terms", "-k", help=_TERMS, metavar="COUNT")]
SearchOfSets = Annotated[str, _choice("--search", help=_SEARCH)]
Order = Annotated[str, _choice(help=_ORDER)]
RuleOfOrder = Annotated[Literal["one-se", "best"] | None, _choice("--rule", help=_RULE)]
NoiseLags = Annotated[int, _choice(help=_NOISE)]
FreeRun = Annotated[bool, _choice("--free-run", help=_FREE)]
HeldOut = Annotated[float, _choice(help=_HELD, metavar="SHARE")]


@o.with_option_sets
def narx_command(
    source: o.Source,
    *,
    target: OneTarget,
    input: Inputs,
    lags: Lags = 3,
    degree: Degree = 3,
    delay: Delay = 0,
    terms: Terms = "auto",
    order: Order = "bic",
    rule: RuleOfOrder = None,
    search: SearchOfSets = "swap",
    noise_lags: NoiseLags = 0,
    free_run: FreeRun = False,
    held_out: HeldOut = 0.25,
    sessions: Sessions = None,
    reading: o.ReadingOptions,
    format: o.Format = "table",
    report: o.Report = None,
    quiet: o.Quiet = False,
) -> None:
    """Model a signal over time by its own past and by inputs: select terms, fit, validate.

    Rows are times, in order. Terms and coefficients are found on the first rows, and validated on
    the last ones.
    """
    terminal = Terminal(quiet)
    own = {"y_lags": "--lags", "u_lags": "--lags", "u": "--input", "n_terms": "--terms"}
    same = ("order", "degree", "noise_lags", "delay")
    own |= {name: f"--{name.replace('_', '-')}" for name in same}
    with ending_well(terminal, own, "interrupted before the model was found."):
        check_files(source, {"--report": report})
        if not 0 <= held_out < 1:
            raise InputError(f"`--held-out` should be a share from 0 to below 1; got {held_out}.")
        with terminal.working(f"reading {source}"):
            table = read_table(source, **reading.given())
        record = _read(table, target, input, sessions)
        from orthoselect.dynamics import NARX

        model = NARX(
            _as_count(terms),
            y_lags=lags,
            u_lags=lags,
            delay=delay,
            degree=degree,
            noise_lags=noise_lags,
            order=order,
            rule=rule and rule.replace("-", "_"),
            search=search,
            fit="free-run" if free_run else "one-step",
        )
        cut = record.n_rows - int(held_out * record.n_rows)
        _check_held_out(held_out, cut, record.n_rows, lags)
        with terminal.working("selecting terms"):
            model.fit(*record.part(slice(0, cut)))
        rest = slice(cut, None) if cut < record.n_rows else slice(None)
        validation = model.validate(*record.part(rest))
        if format == "table":
            print(f"{_heading(model)}\n{model.terms_}\n\n{model.equation_}\n\n{validation}")
        elif format == "csv":
            print(_as_csv(model), end="")
        if format == "json" or report is not None:
            _summarize(model, validation, record, rest, table.name, format, report, terminal)


def _as_count(terms: str) -> int | str:
    """Return how many terms, or "auto"; what is neither is left to the model to refuse."""
    return int(terms) if terms.lstrip("-").isdecimal() else terms


def _check_held_out(share: float, n_fitted: int, n_rows: int, lags: int) -> None:
    """Raise where so many rows are held out that too few are left to fit."""
    if share and n_fitted < _LEAST_FITTED + lags <= n_rows:
        raise InputError(
            f"`--held-out {share:g}` leaves {n_fitted} of {n_rows} rows to fit a model to; at "
            f"least {_LEAST_FITTED + lags} are needed with lags up to {lags}. Hold out fewer."
        )


class ModelColumns(NamedTuple):
    """The columns of a table that a model is made of, by name."""

    inputs: dict[str, Any]
    target: dict[str, Any]
    labels: Any  # of the sessions, one for each row; or None

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(next(iter(self.target.values())))

    def part(self, rows: slice) -> tuple[Any, Any, Any]:
        """Return inputs, target and sessions of some rows, as `NARX` takes them."""
        inputs = {name: values[rows] for name, values in self.inputs.items()}
        target = {name: values[rows] for name, values in self.target.items()}
        return inputs or None, target, None if self.labels is None else self.labels[rows]


def _read(table: Any, target: str, inputs: Sequence[str], sessions: str | None) -> ModelColumns:
    """Return the columns of a table."""
    words = why_not_whole(table)
    if words is not None:
        raise InputError(f"a record should fit into memory; `{table.name}` {words[0]}.")
    source = open_source(table)
    known = list(source.names)
    names = [name.strip() for item in inputs for name in item.split(",") if name.strip()]
    for option, asked in (("--target", [target]), ("--input", names)):
        find_columns(asked, known, option)
    if sessions is not None:
        find_columns(sessions, known, "--sessions")

    def column(name: str) -> Any:
        at = known.index(name)
        if at in source.first.categorical_columns():
            raise InputError(f"column `{name}` should hold numbers; it holds text.")
        try:
            found = source.first.numeric(np.array([at]))
        except InputError:
            raise InputError(
                f"column `{name}` should hold numbers; it holds dates, or something else that is "
                f"none. Leave it out: rows are taken in their order, one step apart."
            ) from None
        return np.asarray(found, dtype=np.float64).reshape(-1)

    labels = None
    if sessions is not None:
        labels = np.asarray(source.first.column(known.index(sessions)))
    return ModelColumns({n: column(n) for n in names}, {target: column(target)}, labels)


def _summarize(
    model: Any,
    validation: Any,
    record: ModelColumns,
    rest: slice,
    title: str,
    format: str,
    report: str | None,
    terminal: Terminal,
) -> None:
    """Print the summary, if it is asked for as JSON, and write the report."""
    from orthoselect.show.model_page import summarize_model, write_model_report

    where = (
        f"Rows {rest.start} to {record.n_rows - 1}, which the model was not fitted on."
        if rest.start
        else "The rows that the model was fitted on, where it does better than elsewhere."
    )
    (target,) = record.target
    summary = summarize_model(
        model,
        validation,
        title=title,
        target=target,
        where=where,
        command=shlex.join(["orthoselect", *sys.argv[1:]]),
        warnings=terminal.warnings,
    )
    if format == "json":
        print(json.dumps(summary, allow_nan=False, ensure_ascii=False, indent=1))
    if report is not None:
        u, y, labels = record.part(rest)
        with terminal.working("writing the report"):
            simulated = model.predict(u, y, sessions=labels)
            write_model_report(summary, report, y[target], simulated, validation)
        terminal.note(f"wrote the report to {report}")


def _heading(model: Any) -> str:
    return f"{len(model.terms_)} of {model.path_.n_candidates} terms by {model.path_.method}"


def _as_csv(model: Any) -> str:
    from orthoselect.result.text import as_csv

    rows = [(t.name, t.err, t.coef, t.error) for t in model.terms_]
    return as_csv(["term", "err", "coef", "standard_error"], rows)
