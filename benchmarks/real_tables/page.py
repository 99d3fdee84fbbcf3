"""The page of the real tables: runs a process for each, and renders what they tell."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from benchmarks import report, runner
from benchmarks.real_tables import tables
from benchmarks.real_tables.cell import DRAWS, ERRORS, is_behind
from benchmarks.real_tables.tables import OURS, PLAIN, TITLES, RealTable

QUICK = ["titanic", "penguins:species", "us-employment", "Caschool", "tips", "wine"]
NOT_WARNED = "NOT WARNED"
# Figures here are those that the named command printed.
_STANDARD_ERROR = (
    "Why over folds: earlier versions of this page took the standard error over the rows of one "
    "draw of the folds. It does not know that other rows would choose other columns, and is too "
    "small. `python -m benchmarks.real_tables.errors_of_scores` cuts 20 large tables into parts of "
    "250 rows that share none, so that the spread of the differences is seen and not estimated. "
    "They lie more than two of the old standard errors from their mean in 16 ± 2 % of 267 parts, "
    "more than two of those over folds in 5 ± 1 % of 271 parts; 5 % is right. By the old one MCAS, "
    "bfi and fair were behind, at 2.4 to 2.5 standard errors, without a warning. By the new one "
    "they are within two, MCAS barely (1.9). What differs there: in MCAS correlation spends two "
    "of its five columns on the names of places, which tell the model nothing about new places, "
    "and so asks for three; orthoselect leaves them out and takes five, of which the last three "
    "add no more than the best of so many columns of noise does (p = 0.2, 0.65, 0.6 by "
    "`p_values=True`). Two columns alone score 0.710, correlation's five 0.717. In fair, the same "
    "holds for the last of four (p = 0.3). In bfi all five are significant; the order among "
    "answers to similar questions changes from fold to fold, and with eight columns orthoselect is "
    'ahead. Where k is given, ask for `p_values=True`, or let `k` be "auto" or "cv".'
)
PARTS = 2 * len(TITLES)  # of a table that have a time limit each


def choose(names: list[str] | None, *, quick: bool) -> list[RealTable]:
    """Return the tables of these names, or all of installed packages; a few for a smoke run."""
    return tables.choose(QUICK if quick and not names else names)


def run(chosen: list[RealTable], threads: int, limit: float) -> Iterator[dict[str, Any]]:
    """Yield what there is to tell of each table; one that ends its process tells why."""
    for entry in chosen:
        print(f"{entry.package}: {entry.name}", file=sys.stderr)
        spec = asdict(entry) | {"limit": limit}
        found = runner.run_module("benchmarks.real_tables.cell", spec, threads, PARTS * limit)
        yield {"name": entry.name, **asdict(entry), **found}


def time_again(lines: list[dict[str, Any]], threads: int, limit: float) -> Iterator[dict[str, Any]]:
    """Yield the lines of an earlier run with times of this one, taken without any scoring."""
    for line in lines:
        print(f"{line['package']}: {line['name']}", file=sys.stderr)
        spec = {field.name: line[field.name] for field in fields(RealTable)}
        spec |= {"limit": limit, "only_times": True}
        seconds = runner.run_module("benchmarks.real_tables.cell", spec, threads, PARTS * limit)
        cells = line.get("rankings", {})
        timed = {
            name: {**cell, "seconds": seconds[name]} if name in seconds else cell
            for name, cell in cells.items()
        }
        yield {**line, "rankings": timed} if timed else line


def flags(line: dict[str, Any]) -> list[str]:
    """Return what is wrong with the default answer of a table, most telling first."""
    if "rankings" not in line:
        return [f"ended: {line['why']}"]
    ours, plain = line["rankings"][OURS], line["rankings"][PLAIN]
    if "why" in ours:
        return [f"no answer: {ours['why']}"]
    found = []
    if is_behind(plain):
        behind, error = -plain["ours_ahead"], plain["error"]
        found.append(f"WORSE than plain correlation by {behind:.3f} ± {error:.3f}, {why(line)}")
    if ours["identifiers"]:
        found.append(f"chooses identifiers: {', '.join(ours['identifiers'])}")
    if ours["as_classes"]:
        found.append("takes a quantity for classes")
    if len(ours["names"]) < line["k"]:
        found.append(f"chooses {len(ours['names'])} of {line['k']}")
    return found


def why(line: dict[str, Any]) -> str:
    """Say what the answer itself warns of that explains why it is worth less.

    A warning of columns that are left out explains it if correlation is not ahead among the others.
    """
    ours = line["rankings"][OURS]
    among_kept = ours.get("among_kept")
    if among_kept is not None and among_kept[0] >= -ERRORS * among_kept[1]:
        lost = [name for name in line["rankings"][PLAIN]["names"] if name in ours["left_out"]]
        kept = f"among the columns that are left {among_kept[0]:+.3f} ± {among_kept[1]:.3f}"
        return f"WARNED: it leaves out {', '.join(lost or ours['left_out'])} ({kept})"
    if ours["reasons"]:
        return f"WARNED: {'; '.join(ours['reasons'])}"
    return NOT_WARNED


def text(result: dict[str, Any]) -> str:
    """Return the page for a terminal."""
    parts = [
        report.as_text(*_scores_grid(result)),
        "\n".join(_summary_lines(result)),
        "\n".join(_flag_lines(result)),
        "\n".join(report.environment_lines(result["environment"])),
    ]
    return "\n\n".join(part for part in parts if part)


def markdown(result: dict[str, Any]) -> str:
    """Return the same as a Markdown page, with the answers."""
    parts = [
        "# Real tables\n\nDefault answers on tables that packages bring, raw: with gaps, dates, "
        "names and numbers of rows, many-level text. `" + result["command"] + "` prints this page.",
        "`select(frame, target, k)` stands beside three rankings of prepared columns (dates as "
        "days, missing labels as a level): plain correlation (each column alone, labels with all "
        "their indicators), mrmr_selection, and `SelectKBest` by F after one-hot coding. k is "
        "five, or half of the columns where they are few.",
        "A score is R² out of fold, 1 - loss / loss without any column: squared errors, for "
        "classes those of their indicators (the Brier score). It is the mean over the rows of five "
        f"folds, drawn {DRAWS} times, columns chosen anew in each fold. One model for all: ridge "
        "or logistic regression on indicators of labels, standardized numbers with means for gaps, "
        "and indicators of gaps. In brackets: how much orthoselect is ahead, ± the standard error "
        "of the difference over folds in pairs, the one of [`compare`](comparing.md) (Nadeau and "
        f"Bengio's). Of a table with more than {tables.MOST_ROWS:,} rows so many are scored, drawn "
        "at random; rows without a target, and classes of fewer than five rows, are left out. "
        f"Times are those of one choice from all rows, the best of three{_when(result)}.",
        "A flag says WORSE where orthoselect is behind plain correlation by more than "
        f"{ERRORS} standard errors, and whether its own warnings say why. Where columns are left "
        "out, correlation is scored once more among the columns that are left: if it is not ahead "
        "there, these columns are the reason. Of so many comparisons between equals, about one in "
        "40 lands behind the bar by luck alone.",
        _STANDARD_ERROR,
        "\n".join(f"- {line}" for line in _summary_lines(result)),
        "## Scores",
        report.as_markdown(*_scores_grid(result)),
        "## Flags",
        "\n".join(f"- {line}" for line in _flag_lines(result)) or "None.",
        "## Answers",
        report.as_markdown(*_answers_grid(result)),
        "## Where",
        "\n".join(f"- {line}" for line in report.environment_lines(result["environment"])),
    ]
    return "\n\n".join(parts) + "\n"


def _when(result: dict[str, Any]) -> str:
    """Say that scores are of an earlier run, if they are."""
    if "scores_from" not in result:
        return ""
    return (
        ", in a run of their own: `python -m benchmarks real_tables --threads 1` had found the "
        "scores before, beside other work"
    )


def command(page: str) -> str:
    """Return the command that was typed, as a reader would type it."""
    given = sys.argv[sys.argv.index(page) :] if page in sys.argv else [page]
    return f"python -m benchmarks {shlex.join(given)}"


def write(place: Path, result: dict[str, Any]) -> None:
    """Write the page to a .md file, or page and numbers to a folder."""
    if place.suffix == ".md":
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(markdown(result), encoding="utf-8")
    else:
        report.write(place, "real_tables", result, markdown(result))


def _summary_lines(result: dict[str, Any]) -> list[str]:
    measured = [line for line in result["lines"] if "rankings" in line]
    answered = [line for line in measured if "score" in line["rankings"][OURS]]
    lines = [f"{len(result['lines'])} tables, {len(answered)} of them answered and scored."]
    for name in TITLES:
        pairs = [line["rankings"][name] for line in answered if "error" in line["rankings"][name]]
        ahead = sum(pair["ours_ahead"] > ERRORS * pair["error"] for pair in pairs)
        behind = sum(is_behind(pair) for pair in pairs)
        if pairs:
            lines.append(
                f"Beside {TITLES[name]}: ahead by more than {ERRORS} standard errors on {ahead} "
                f"tables, behind on {behind}, neither on {len(pairs) - ahead - behind}."
            )
    unwarned = [line["name"] for line in answered if _is_unwarned(line)]
    if any("error" in line["rankings"][PLAIN] for line in answered):
        told = f"{len(unwarned)} without a warning that says why"
        lines.append(
            f"Behind correlation, {told}: {', '.join(unwarned)}."
            if unwarned
            else f"Behind correlation, {told}."
        )
    return lines


def _is_unwarned(line: dict[str, Any]) -> bool:
    return is_behind(line["rankings"][PLAIN]) and why(line).startswith(NOT_WARNED)


def _flag_lines(result: dict[str, Any]) -> list[str]:
    told = ((line["name"], flags(line)) for line in result["lines"])
    return [f"{name}: {'; '.join(found)}" for name, found in told if found]


def _scores_grid(result: dict[str, Any]) -> tuple[list[str], report.Grid]:
    heads = ["table", "rows x columns", "target", "k", *TITLES.values()]
    heads += [f"time of {title}" for title in TITLES.values()]
    rows = []
    for line in result["lines"]:
        if "rankings" not in line:
            continue
        texts = [line["name"], f"{line['rows']:,} x {line['columns']}"]
        texts += [line["target"], str(line["k"])]
        cells = [line["rankings"][name] for name in TITLES]
        texts += [_score_text(cell) for cell in cells]
        texts += [report.seconds_text(c["seconds"]) if "seconds" in c else "-" for c in cells]
        rows.append([[each] for each in texts])
    return heads, rows


def _score_text(cell: dict[str, Any]) -> str:
    if "score" not in cell:
        return "-"
    ahead = f" ({cell['ours_ahead']:+.3f} ± {cell['error']:.3f})" if "error" in cell else ""
    return f"{cell['score']:.3f}{ahead}" + (" WORSE" if is_behind(cell) else "")


def _answers_grid(result: dict[str, Any]) -> tuple[list[str], report.Grid]:
    heads = ["table", "package", "task", "missing", "default answer", "what it says"]
    rows = []
    for line in result["lines"]:
        if "rankings" not in line:
            continue
        ours = line["rankings"][OURS]
        answer = ", ".join(ours["names"]) if "names" in ours else ours["why"]
        texts = [line["name"], line["package"], line["task"], f"{line['gaps']:,}", answer]
        rows.append([*([each] for each in texts), ours.get("words") or [""]])
    return heads, rows
