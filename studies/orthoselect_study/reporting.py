"""From stored results to tables, figures and findings; nothing is run again."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orthoselect.errors import InputError
from orthoselect.output import replacing
from orthoselect.versions import versions
from orthoselect_study import findings, paper
from orthoselect_study.datasets import title_of
from orthoselect_study.experiments import EXPERIMENTS, Experiment
from orthoselect_study.experiments.base import absence_sentences
from orthoselect_study.figures import Figure, draw_ranks
from orthoselect_study.findings import Standing
from orthoselect_study.methods import PENALIZED, TWELVE
from orthoselect_study.pages import Table, as_markdown, as_page
from orthoselect_study.records import Results, grouped
from orthoselect_study.settings import OVERRIDES
from orthoselect_study.store import Store, is_locked, tell

if TYPE_CHECKING:
    from markupsafe import Markup

Part = Mapping[str, Any]

_PAGE, _MARKDOWN = "study.html", "study.md"
# What a report has from the manifest of a run.
_PLAN = ("facts", "data", "absent")
_RUN = ("settings", "versions", "seconds", "written", "failed")
_RANKED = {
    "last": "the score with all features of the experiment",
    "mean": "the mean score over 1, 2, ... features",
}
# Options of the command; a run with others was started from Python.
_FLAGS = ("methods", "features", "repeats", "folds", "seed")
_PYTHON_ONLY = ("batches", "rows")
_SAID = {"None": "not given", "True": "yes", "False": "no"}


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
        made = _made(experiment, files, problems)
        if made is not None:
            part, found, hangs_on = made
            parts.append(part)
            standings += found
            caveats += hangs_on
    tell(problems)
    if not parts:
        what = "no results that can be read" if problems else "no results"
        raise InputError(f"`output` should be the folder of a run; `{folder}` has {what}.")
    ranked = {by: _ranked(standings, kind) for kind, by in _RANKED.items()}
    comparable = [p for p in parts if set(TWELVE) <= set(p["facts"].get("methods", []))]
    overall = _overall(ranked, standings, comparable, files)
    unlike = _unlike_settings([part for part in comparable if part["complete"]])
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
    files.write(_MARKDOWN, as_markdown(summary))
    files.write(_PAGE, as_page(summary, files.charts))
    return summary


class _Files:
    """Where tables and figures are written, and the charts of the page."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.charts: dict[str, Markup] = {}  # by the name of the figure

    def table(self, table: Table) -> dict[str, Any]:
        """Write a table; return it as plain values."""
        self.write(f"table_{table.name}.md", table.markdown() + "\n")
        return table.to_dict()

    def figure(self, figure: Figure) -> dict[str, str]:
        """Write a figure; return what it is called."""
        self.charts[figure.name] = figure.chart()
        return figure.save(self.folder)

    def write(self, name: str, text: str) -> None:
        """Write a file; one that is there is replaced once the new one is complete."""
        with replacing(self.folder / name) as temporary:
            temporary.write_text(text, encoding="utf-8")


def _made(
    experiment: Experiment, files: _Files, problems: list[str]
) -> tuple[dict[str, Any], Sequence[Standing], list[str]] | None:
    """Return the part of an experiment, standings and caveats; None if it was not run.

    So it is, too, if its results are of no use: that is told among the problems.
    """
    if not os.path.lexists(files.folder / f"{experiment.name}.json"):
        return None  # nor is a table of that name ours
    store = Store(files.folder, experiment.name)
    if not is_locked(files.folder):  # a run that is at work has told, and may just be writing
        problems += store.damage
    try:
        manifest = store.manifest()
    except InputError as error:
        problems.append(str(error))
        return None
    if manifest is None:
        return None
    results = _results(store, manifest)
    try:
        part = _part(experiment, results, manifest, files)
        return part, experiment.standings(results), experiment.caveats(results)
    except Exception as error:
        if all(task.is_sealed for task in store.tasks(manifest["tasks"])):
            raise  # nothing was changed, so the mistake is ours
        problems.append(
            f"`{store.path}` should be as runs of the study write it; it is of an older version, "
            f"and damaged: no report can be made of it ({type(error).__name__}: {error}). It is "
            f"left out here. Remove it, and run the experiment again."
        )
        return None


def _results(store: Store, manifest: dict[str, Any]) -> Results:
    names = manifest["tasks"]
    plan = {key: manifest[key] for key in _PLAN}
    found = len(store.tasks(names))
    return Results(store.rows(names), **plan, expected=len(names), found=found)


def _part(
    experiment: Experiment, results: Results, manifest: dict[str, Any], files: _Files
) -> dict[str, Any]:
    found, expected = results.found, results.expected
    tables, figures, sentences = _data_tables(experiment, results), [], []
    if not results.rows:
        waiting = f" Its {expected} tasks are still to be done." if expected else ""
        sentences = [f"There are no results of this experiment.{waiting}"]
        sentences += absence_sentences(results)
    else:
        if found < expected:
            sentences.append(
                f"Not complete: {found} of {expected} tasks have results. What follows is from "
                f"those; the same run again does the rest."
            )
        tables += experiment.tables(results)
        figures = experiment.figures(results)
        sentences += experiment.findings(results)
    return {
        "name": experiment.name,
        "title": experiment.title,
        "about": experiment.about,
        "complete": found,
        "tasks": expected,
        "tables": [files.table(table) for table in tables],
        "figures": [files.figure(figure) for figure in figures],
        "findings": sentences,
        "selecting": _selecting(experiment, results),
        **{key: manifest[key] for key in (*_PLAN, *_RUN)},
    }


def _selecting(experiment: Experiment, results: Results) -> dict[str, float] | None:
    """Return the seconds of work that selecting took, by penalized models and by all others.

    None for experiments that are about something else than selecting.
    """
    rows = results.where(measure="seconds")
    if experiment.name == "speed" or not rows:
        return None
    seconds = {"penalized": 0.0, "others": 0.0}
    for row in rows:
        seconds["penalized" if row.method in PENALIZED else "others"] += row.value
    return seconds


def _data_tables(experiment: Experiment, results: Results) -> list[Table]:
    """Return the table of data sets, if the experiment has any."""
    if not results.data and not results.absent:
        return []
    rows: list[list[Any]] = []
    for facts in results.data:
        held = f" + {facts['held']} {facts['held_name']}" if facts["held"] else ""
        sizes = [facts[name] for name in ("features", "classes", "probes")]
        notes = "; ".join([*facts["notes"], facts["citation"]])
        rows.append([facts["title"], f"{facts['rows']}{held}", *sizes, notes])
    for name, (state, why) in results.absent.items():
        rows.append([title_of(name), state, None, None, None, why])
    columns = ["data", "rows", "features", "classes", "probes", "notes"]
    return [Table(f"{experiment.name}_data", "Data", columns, rows)]


def _ranked(standings: Sequence[Standing], kind: str) -> list[Standing]:
    """Return those by the last size or by the mean over sizes that have all twelve methods."""
    ranked = [s for s in standings if s.kind in (kind, "both")]
    return [s.among(TWELVE) for s in ranked if set(TWELVE) <= set(s.scores)]


def _unlike_settings(parts: Sequence[dict[str, Any]]) -> list[str]:
    """Say so if these experiments were not run with the same settings."""
    told = []
    for option in ("seed", "quick", *OVERRIDES):
        given = {
            part["name"]: str(part["settings"][option])
            for part in parts
            if option not in OVERRIDES or option in EXPERIMENTS[part["name"]].uses
        }
        values = grouped((_SAID.get(value, value), name) for name, value in given.items())
        if len(values) > 1 and option != "methods":  # all have the twelve that are ranked
            shown = [f"{value} ({', '.join(names)})" for value, names in values.items()]
            told.append(f"{option}: {findings.listed(shown)}")
    if not told:
        return []
    return [f"The ranks are not of one run; settings differ: {'; '.join(told)}."]


def _overall(
    ranked: Mapping[str, Sequence[Standing]],
    standings: Sequence[Standing],
    parts: Sequence[Part],
    files: _Files,
) -> dict[str, Any]:
    """Return ranks over all data sets of these parts, by the last size and by the mean."""
    absent = [
        (title_of(name), state) for part in parts for name, (state, _) in part["absent"].items()
    ]
    left_out = [
        f" {s.dataset} is left out, since all its features are asked for: "
        f"{findings.score_words(s.among(TWELVE))}."
        for s in standings
        if s.kind == "all" and set(TWELVE) <= set(s.scores)
    ]
    told: dict[str, Any] = {"tables": [], "figures": [], "findings": []}
    for kind, by in _RANKED.items():
        full = ranked[by]
        told["findings"] += findings.claim_sentences(full, by)
        if not full:
            continue
        averages = findings.mean_ranks(full)
        order = sorted(TWELVE, key=lambda name: averages[name])
        rows: list[list[Any]] = [[s.dataset, *(s.ranks()[m] for m in order)] for s in full]
        rows += [[title, *[state] * len(order)] for title, state in dict(absent).items()]
        rows.append(["mean rank", *(f"{averages[m]:.1f}" for m in order)])
        title = f"Rank of every method on every data set, by {by}"
        note = "Rows that were not trained on. Equals share the better rank."
        if kind == "last":
            note += "".join(left_out)
        table = Table(f"ranks_{kind}", title, ["data", *order], rows, note)
        told["tables"].append(files.table(table))
        grid = {s.dataset: s.ranks() for s in full}
        means = {name: averages[name] for name in order}
        figure = draw_ranks(f"ranks_{kind}", title, grid, means, paper.FIRST)
        told["figures"].append(files.figure(figure))
        counted = findings.data_sets(len(full))
        best = findings.listed([f"{name} {averages[name]:.1f}" for name in order[:3]])
        told["findings"].append(f"By {by}: best mean ranks over {counted}: {best}.")
    return told


def how_to_reproduce(parts: Sequence[Part], output: str) -> dict[str, Any]:
    """Return the runs that gave the results of a folder, as plain values.

    Experiments that were run with the same settings share a command. The folder of data is as it
    was given to the run, that of results as it was given to the report.
    """

    def asked(part: Part) -> dict[str, Any]:
        """Return the settings without those that change no result."""
        settings = part["settings"].items()
        return {name: value for name, value in settings if name not in ("jobs", "output")}

    runs = grouped((json.dumps(asked(part)), part["name"]) for part in parts)
    used = grouped((json.dumps(part["versions"]), part["name"]) for part in parts)
    return {
        "runs": [
            {"experiments": names, "code": _code(names, {**json.loads(settings), "output": output})}
            for settings, names in runs.items()
        ],
        "report": shlex.join(["orthoselect", "study", "report", "--output", output]),
        "used": [{"experiments": n, "versions": json.loads(found)} for found, n in used.items()],
        "versions": versions(),
    }


def _code(names: Sequence[str], settings: Mapping[str, Any]) -> str:
    """Return a command, or lines of Python where the command has no option for it."""
    if any(settings.get(name) is not None for name in _PYTHON_ONLY):
        given = {name: value for name, value in settings.items() if value not in (None, False)}
        shown = [
            f"{name}=Path({value!r})" if name in ("output", "data") else f"{name}={value!r}"
            for name, value in given.items()
        ]
        return (
            "from pathlib import Path\nfrom orthoselect_study import Settings, run\n\n"
            f"run({list(names)!r}, Settings({', '.join(shown)}))"
        )
    words = ["orthoselect", "study", "run"]
    words += [] if list(names) == list(EXPERIMENTS) else names
    words += ["--data", settings["data"]] if settings["data"] else []
    for name in _FLAGS:
        value = settings.get(name)
        if value is not None:
            words += [f"--{name}", ",".join(value) if isinstance(value, list) else str(value)]
    words += ["--quick"] if settings["quick"] else []
    return shlex.join([*words, "--output", settings["output"]])
