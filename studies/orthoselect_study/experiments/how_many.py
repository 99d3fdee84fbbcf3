"""How many features, without being told: rules on the paper's simulated tables.

Not in the paper, which always asks for three. "auto" is beside rules that are in use, and beside
what was asked of it: so often exactly the three, so seldom a false one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from orthoselect_study.datasets import DataSource
from orthoselect_study.experiments.base import Arguments, Experiment
from orthoselect_study.experiments.simulated import RELEVANT, Binomial, Multinomial
from orthoselect_study.figures import Figure, draw_bars
from orthoselect_study.findings import Standing, mean, mean_error, share_error, side_by_side
from orthoselect_study.pages import Table
from orthoselect_study.records import Plan, Results, Row, Task, seed_for
from orthoselect_study.settings import Settings
from orthoselect_study.size_rules import RULES, keep

_OURS = "auto"
_TABLES, _BLOCK = 100, 25  # tables of each kind; of a task
_KINDS = {kind.name: kind() for kind in (Binomial, Multinomial)}
_EXACTLY, _ANY_FALSE, _SIZE = "exactly", "any false", "size"
# About how many seconds a table takes.
_COST = {"auto": 0.015, "BIC": 0.003, "EBIC": 0.003, "CV, one SE": 0.13, "lasso, CV": 0.2}


class Asked(NamedTuple):
    """What was asked of "auto", as shares of tables."""

    exactly: float  # at least
    any_false: float  # at most


ASKED = {"binomial": Asked(0.79, 0.08), "multinomial": Asked(0.75, 0.08)}


class HowMany(Experiment):
    """How often a rule keeps exactly the three features that matter, and how often a false one."""

    name = "how_many"
    title = "How many features, without being told"
    about = "how often rules keep exactly the three features that make a class; simulated tables"
    uses = frozenset({"repeats"})

    def plan(self, settings: Settings, source: DataSource) -> Plan:
        repeats = settings.or_else("repeats", _TABLES)
        tasks = []
        for rule in RULES:  # the fast ones first: a run that is broken off has all of their tables
            for kind in _KINDS:
                for first in range(0, repeats, _BLOCK):
                    stop = min(first + _BLOCK, repeats)
                    block = {"seed": settings.seed, "first": first, "stop": stop}
                    arguments = {"dataset": kind, "method": rule, **block}
                    tasks.append(Task(self.name, arguments, cost=_COST[rule] * (stop - first)))
        return Plan(tasks, facts={"methods": list(RULES), "repeats": repeats})

    def work(self, arguments: Arguments, data: None) -> list[Row]:
        kind, rule, seed = (arguments[name] for name in ("dataset", "method", "seed"))
        rows = []
        for repeat in range(arguments["first"], arguments["stop"]):
            X, y = _KINDS[kind].table(seed, 0, repeat)
            kept = keep(rule, X, y, seed_for(seed, self.name, kind, repeat))
            shown = " ".join(str(j + 1) for j in kept)
            at = Row(kind, rule, repeat=repeat)
            false = float(bool(set(kept) - set(RELEVANT)))
            rows += [
                at._replace(measure=_EXACTLY, value=float(set(kept) == set(RELEVANT))),
                at._replace(measure=_ANY_FALSE, value=false),
                at._replace(measure=_SIZE, value=float(len(kept)), note=shown),
            ]
        return rows

    def tables(self, results: Results) -> list[Table]:
        return [*(_rules(results, kind) for kind in _KINDS), _beside_asked(results)]

    def figures(self, results: Results) -> list[Figure]:
        bars = {}
        for kind, made in _KINDS.items():
            found = {rule: _values(results, kind, rule, _EXACTLY) for rule in results.methods()}
            bars[made.title] = {rule: 100 * mean(v) for rule, v in found.items() if v}
        return [draw_bars(self.name, self.title, bars, "exactly the three, of 100", best=max)]

    def findings(self, results: Results) -> list[str]:
        sentences = []
        for kind in _KINDS:
            for line in _lines_of_asked(results, kind):
                sentences.append(
                    f'{kind}: "{_OURS}" keeps {line.words} in {line.found} of 100 tables; asked '
                    f"for was {line.asked}: {line.verdict}."
                )
            sentences += _beside_best(results, kind)
        return sentences


def _values(results: Results, kind: str, rule: str, measure: str) -> list[float]:
    rows = results.where(dataset=kind, method=rule, measure=measure)
    return [row.value for row in sorted(rows, key=lambda row: row.repeat or 0)]


def _share(values: list[float]) -> str:
    """Return a share in 100 with its standard error."""
    share = mean(values)
    return f"{100 * share:.1f} ± {100 * share_error(share, len(values)):.1f}"


def _rules(results: Results, kind: str) -> Table:
    """Return the table of all rules on one kind of tables."""
    rows: list[list[Any]] = []
    for rule in results.methods():
        exactly, any_false, sizes = (
            _values(results, kind, rule, measure) for measure in (_EXACTLY, _ANY_FALSE, _SIZE)
        )
        if exactly:
            size = f"{mean(sizes):.2f} ± {mean_error(sizes):.2f}"
            rows.append([rule, len(exactly), _share(exactly), _share(any_false), size])
    made = _KINDS[kind]
    columns = ["rule", "tables", "exactly the three", "any false", "mean size"]
    title = f"{made.title}, {made.n_rows} x {made.n_columns}: what each rule keeps"
    note = "Of 100 tables, ± one standard error; the tables are the same for every rule."
    return Table(f"how_many_{kind}", title, columns, rows, note)


class _Line(NamedTuple):
    words: str
    found: str
    asked: str
    verdict: str


def _lines_of_asked(results: Results, kind: str) -> list[_Line]:
    """Return what "auto" did beside what was asked of it."""
    exactly, any_false = (_values(results, kind, _OURS, m) for m in (_EXACTLY, _ANY_FALSE))
    if not exactly:
        return []
    asked = ASKED[kind]
    verdicts = {True: "met", False: "missed"}
    least, most = f"at least {100 * asked.exactly:g}", f"at most {100 * asked.any_false:g}"
    return [
        _Line("exactly the three", _share(exactly), least, verdicts[mean(exactly) >= asked[0]]),
        _Line("a false one", _share(any_false), most, verdicts[mean(any_false) <= asked[1]]),
    ]


def _beside_asked(results: Results) -> Table:
    rows: list[list[Any]] = [
        [kind, len(_values(results, kind, _OURS, _SIZE)), *line]
        for kind in _KINDS
        for line in _lines_of_asked(results, kind)
    ]
    columns = ["data", "tables", "kept", "of 100 tables", "asked for", "verdict"]
    note = "± one standard error. The verdict is by the share itself, whatever its error."
    return Table("how_many_asked", f'"{_OURS}" beside what was asked of it', columns, rows, note)


def _beside_best(results: Results, kind: str) -> list[str]:
    """Compare ours with the best other rule, table by table."""
    found = {rule: _values(results, kind, rule, _EXACTLY) for rule in results.methods()}
    whole = {r: v for r, v in found.items() if v and len(v) == len(found.get(_OURS, []))}
    others = [rule for rule in whole if rule != _OURS]
    if not others:
        return []
    errors = {rule: share_error(mean(v), len(v)) for rule, v in whole.items()}
    standing = Standing(kind, "share of tables with exactly the three", whole, errors)
    best = max(others, key=lambda rule: standing.scores[rule])
    sides = side_by_side(standing, _OURS, best)
    return [f'{kind}: "{_OURS}" and the best other rule, {best}: {sides}.']
