"""From stored results to tables, figures and findings; nothing is run again."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orthoselect.errors import InputError
from orthoselect.output import replacing
from orthoselect_study import figures, findings, markdown, paper
from orthoselect_study.damage import tell
from orthoselect_study.datasets import title_of
from orthoselect_study.experiments import EXPERIMENTS, Experiment
from orthoselect_study.experiments.base import absence_sentences
from orthoselect_study.findings import Standing
from orthoselect_study.manifest import SEAL
from orthoselect_study.methods import PENALIZED, TWELVE
from orthoselect_study.page import render
from orthoselect_study.records import Results
from orthoselect_study.reproduce import how_to_reproduce
from orthoselect_study.settings import OVERRIDES
from orthoselect_study.store import Store, is_locked
from orthoselect_study.tables import Table

if TYPE_CHECKING:
    from markupsafe import Markup

_PAGE, _MARKDOWN = "study.html", "study.md"


def report(output: str | Path) -> dict[str, Any]:
    """Redo tables, figures and findings from the results of a folder.

    Parameters
    ----------
    output : str or Path
        The folder of a run. Written there: `study.html`, a page that needs nothing else;
        `study.md`, a Markdown file for each table and a PNG and an SVG file for each figure.

    Returns
    -------
    report : dict
        The same as plain values: for each experiment its settings, data, tables, figures and
        findings; and over all of them the ranks.

    Warns
    -----
    DamagedResultsWarning
        If results are damaged: they are left out, and the next run sets them aside.
    """
    folder = Path(output)
    if not folder.is_dir():
        raise InputError(f"`output` should be the folder of a run; there is no folder `{folder}`.")
    files = _Files(folder)
    parts: list[dict[str, Any]] = []
    standings: list[Standing] = []
    caveats: list[str] = []
    problems: list[str] = []
    for experiment in EXPERIMENTS.values():
        told = _read(folder, experiment, problems)
        if told is None:
            continue
        results, manifest, is_sealed = told
        try:
            part = _part(experiment, results, manifest, files)
            found = experiment.standings(results), experiment.caveats(results)
        except Exception as error:
            if is_sealed:  # nothing was changed, so the mistake is ours
                raise
            problems.append(_unfit(folder, experiment, error))
            continue
        parts.append(part)
        standings += found[0]
        caveats += found[1]
    tell(problems)
    if not parts:
        what = "no results that can be read" if problems else "no results"
        raise InputError(f"`output` should be the folder of a run; `{folder}` has {what}.")
    ranked = {by: _ranked(standings, kind) for kind, by in _RANKED.items()}
    overall = _overall(ranked, _left_out(standings), _unranked(parts), files)
    unlike = _unlike_settings(parts)
    if overall["findings"]:
        overall["findings"] += [*caveats, *unlike]
    sentence = " ".join([findings.answer(ranked, hangs=bool(caveats)), *unlike])
    if not standings:  # nothing of which the claim could be judged was run
        sentence = " ".join(part["findings"][0] for part in parts)
    summary = {
        "kind": "study",
        "title": "The paper's empirical study, run again",
        "created": max(part["written"] for part in parts),
        "sentence": sentence,
        "paper": paper.CITATION,
        "experiments": parts,
        "overall": overall,
        "reproduce": how_to_reproduce(parts, str(output)),
    }
    files.write(_MARKDOWN, markdown.page(summary))
    files.write(_PAGE, render(summary, files.charts))
    return summary


class _Files:
    """Where tables and figures are written, and the charts of the page.

    Attributes
    ----------
    charts : dict of a figure's name to its chart
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.charts: dict[str, Markup] = {}

    def table(self, table: Table) -> dict[str, Any]:
        """Write a table; return it as plain values."""
        self.write(f"table_{table.name}.md", table.markdown() + "\n")
        return table.to_dict()

    def figure(self, figure: figures.Figure) -> dict[str, str]:
        """Write a figure; return what it is called."""
        self.charts[figure.name] = figure.chart()
        return figure.save(self._folder)

    def write(self, name: str, text: str) -> None:
        """Write a file; one that is there is replaced once the new one is complete."""
        with replacing(self._folder / name) as temporary:
            temporary.write_text(text, encoding="utf-8")


def _read(
    folder: Path, experiment: Experiment, problems: list[str]
) -> tuple[Results, dict[str, Any], bool] | None:
    """Return results, manifest, and whether seals say that nothing was changed; None of no run."""
    if not os.path.lexists(folder / f"{experiment.name}.json"):
        return None  # nor is a table of that name ours
    store = Store(folder, experiment.name)
    if not is_locked(folder):  # a run that is at work has told, and may just be writing
        problems += store.damage
    try:
        manifest = store.manifest()
    except InputError as error:
        problems.append(str(error))
        return None
    if manifest is None:
        return None
    return (
        _results(store, manifest),
        manifest,
        SEAL in manifest and store.is_sealed(manifest["tasks"]),
    )


def _unfit(folder: Path, experiment: Experiment, error: Exception) -> str:
    csv, json = (folder / f"{experiment.name}.{kind}" for kind in ("csv", "json"))
    return (
        f"`{csv}` and `{json}` should be as runs of the study write them; they are of an older "
        f"version, and damaged: no report can be made of them ({type(error).__name__}: {error}). "
        f"They are left out here. Run the experiment again."
    )


def _results(store: Store, manifest: dict[str, Any]) -> Results:
    names = manifest["tasks"]
    return Results(
        store.rows(names),
        manifest["facts"],
        manifest["data"],
        manifest["missing"],
        manifest["damaged"],
        manifest["settings"],
        len(names),
        store.count(names),
    )


def _part(
    experiment: Experiment, results: Results, manifest: dict[str, Any], files: _Files
) -> dict[str, Any]:
    part = {
        "name": experiment.name,
        "title": experiment.title,
        "about": experiment.about,
        "complete": results.found,
        "tasks": results.expected,
        "tables": [],
        "figures": [],
        "findings": [],
        "selecting": _selecting(experiment, results),
        **{key: manifest[key] for key in _SHOWN},
    }
    if 0 < results.found < results.expected:
        part["findings"].append(
            f"Not complete: {results.found} of {results.expected} tasks have results. What follows "
            f"is from those; the same run again does the rest."
        )
    tables = [_data_table(experiment, results)]
    if results.rows:
        tables += experiment.tables(results)
    part["tables"] = [files.table(table) for table in tables if table is not None]
    if not results.rows:
        waiting = f" Its {results.expected} tasks are still to be done." if results.expected else ""
        none = f"There are no results of this experiment.{waiting}"
        part["findings"] += [none, *absence_sentences(results)]
        return part
    part["figures"] = [files.figure(figure) for figure in experiment.figures(results)]
    part["findings"] += experiment.findings(results)
    return part


def _selecting(experiment: Experiment, results: Results) -> dict[str, float] | None:
    """Return the seconds of work that selecting took, by penalized models and by all others.

    None for experiments that are about something else than selecting.
    """
    if experiment.name == "speed" or not results.where(measure="seconds"):
        return None
    seconds = {"penalized": 0.0, "others": 0.0}
    for row in results.where(measure="seconds"):
        seconds["penalized" if row.method in PENALIZED else "others"] += row.value
    return seconds


_SHOWN = (
    "settings",
    "facts",
    "data",
    "missing",
    "damaged",
    "versions",
    "seconds",
    "written",
    "failed",
)


def _data_table(experiment: Experiment, results: Results) -> Table | None:
    if not results.data and not results.absent():
        return None
    rows: list[list[Any]] = []
    for facts in results.data:
        held = f" + {facts['held']} {facts['held_name']}" if facts["held"] else ""
        rows.append(
            [
                facts["title"],
                f"{facts['rows']}{held}",
                facts["features"],
                facts["classes"],
                facts["probes"],
                "; ".join([*facts["notes"], facts["citation"]]),
            ]
        )
    for name, (state, why) in results.absent().items():
        rows.append([title_of(name), state, None, None, None, why])
    columns = ["data", "rows", "features", "classes", "probes", "notes"]
    return Table(f"{experiment.name}_data", "Data", columns, rows)


_RANKED = {
    "last": "the score with all features of the experiment",
    "mean": "the mean score over 1, 2, ... features",
}


def _ranked(standings: Sequence[Standing], kind: str) -> list[Standing]:
    """Return those by the last size or by the mean over sizes that have all twelve methods."""
    ranked = [s for s in standings if s.kind in (kind, "both")]
    return [s.among(TWELVE) for s in ranked if set(TWELVE) <= set(s.scores)]


def _left_out(standings: Sequence[Standing]) -> str:
    """Say which sets have no rank by the last size, and with what scores."""
    full = [s for s in standings if s.kind == "all" and set(TWELVE) <= set(s.scores)]
    return " ".join(
        f"{s.dataset} is left out, since all its features are asked for: "
        f"{findings.score_words(s.among(TWELVE))}."
        for s in full
    )


def _unranked(parts: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Return the data sets that would be ranked if they were to be had, and their state."""
    states: dict[str, str] = {}
    for part in parts:
        if set(TWELVE) <= set(part["facts"].get("methods", [])):
            for state in ("missing", "damaged"):
                states |= {title_of(name): state for name in part[state]}
    return states


def _unlike_settings(parts: Sequence[dict[str, Any]]) -> list[str]:
    """Say so if the experiments with ranks were not run with the same settings."""
    ranked = [
        p for p in parts if p["complete"] and set(TWELVE) <= set(p["facts"].get("methods", []))
    ]
    told = []
    for option in ("seed", "quick", *OVERRIDES):
        values: dict[str, list[str]] = {}
        for part in ranked:
            if option not in OVERRIDES or option in EXPERIMENTS[part["name"]].uses:
                value = _SAID.get(str(part["settings"][option]), str(part["settings"][option]))
                values.setdefault(value, []).append(part["name"])
        if len(values) > 1 and option != "methods":  # all have the twelve that are ranked
            shown = [f"{value} ({', '.join(names)})" for value, names in values.items()]
            told.append(f"{option}: {findings.listed(shown)}")
    if not told:
        return []
    return [f"The ranks are not of one run; settings differ: {'; '.join(told)}."]


_SAID = {"None": "not given", "True": "yes", "False": "no"}


def _overall(
    ranked: Mapping[str, Sequence[Standing]],
    left_out: str,
    unranked: Mapping[str, str],
    files: _Files,
) -> dict[str, Any]:
    """Return ranks over all data sets, by the last size and by the mean over sizes."""
    told: dict[str, Any] = {"tables": [], "figures": [], "findings": []}
    for kind, by in _RANKED.items():
        full = ranked[by]
        told["findings"] += findings.claim_sentences(full, by)
        if not full:
            continue
        averages = findings.mean_ranks(full)
        order = sorted(TWELVE, key=lambda name: averages[name])
        rows: list[list[Any]] = [[s.dataset, *(s.ranks()[m] for m in order)] for s in full]
        rows += [[title, *[state] * len(order)] for title, state in unranked.items()]
        rows.append(["mean rank", *(f"{averages[m]:.1f}" for m in order)])
        title = f"Rank of every method on every data set, by {by}"
        note = "Rows that were not trained on. Equals share the better rank."
        if kind == "last" and left_out:
            note += f" {left_out}"
        told["tables"].append(
            files.table(Table(f"ranks_{kind}", title, ["data", *order], rows, note))
        )
        grid = {s.dataset: s.ranks() for s in full}
        drawing = figures.draw_ranks(grid, {name: averages[name] for name in order}, paper.FIRST)
        told["figures"].append(files.figure(figures.Figure(f"ranks_{kind}", title, drawing)))
        counted = f"{len(full)} data set{'' if len(full) == 1 else 's'}"
        best = findings.listed([f"{name} {averages[name]:.1f}" for name in order[:3]])
        told["findings"].append(f"By {by}: best mean ranks over {counted}: {best}.")
    return told
