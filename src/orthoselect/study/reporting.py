"""From stored results to tables, figures and findings; nothing is run again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from orthoselect.errors import InputError
from orthoselect.output import replacing
from orthoselect.study import figures, findings, paper
from orthoselect.study.datasets import DATASETS
from orthoselect.study.experiments import EXPERIMENTS, Experiment
from orthoselect.study.findings import Standing
from orthoselect.study.methods import TWELVE
from orthoselect.study.records import Results
from orthoselect.study.store import Store
from orthoselect.study.tables import Table

_PAGE = "study.md"


def report(output: str | Path) -> dict[str, Any]:
    """Redo tables, figures and findings from the results of a folder.

    Parameters
    ----------
    output : str or Path
        The folder of a run. Written there: `study.md`, a Markdown file for each table and a PNG
        and an SVG file for each figure.

    Returns
    -------
    report : dict
        The same as plain values: for each experiment its settings, data, tables, figures and
        findings; and over all of them the ranks.
    """
    folder = Path(output)
    if not folder.is_dir():
        raise InputError(f"`output` should be the folder of a run; there is no folder `{folder}`.")
    parts: list[dict[str, Any]] = []
    standings: list[Standing] = []
    caveats: list[str] = []
    for experiment in EXPERIMENTS.values():
        store = Store(folder, experiment.name)
        manifest = store.manifest()
        if manifest is None:
            continue
        results = _results(store, manifest)
        parts.append(_part(experiment, results, manifest, folder))
        standings += experiment.standings(results)
        caveats += experiment.caveats(results)
    if not parts:
        raise InputError(f"`output` should be the folder of a run; `{folder}` has no results.")
    overall = _overall(standings, folder)
    overall["findings"] += caveats
    told = {
        "kind": "study",
        "title": "The paper's empirical study, run again",
        "paper": paper.CITATION,
        "experiments": parts,
        "overall": overall,
    }
    with replacing(folder / _PAGE) as temporary:
        temporary.write_text(_page(told))
    return told


def _results(store: Store, manifest: dict[str, Any]) -> Results:
    names = manifest["tasks"]
    return Results(
        store.rows(names),
        manifest["facts"],
        manifest["data"],
        manifest["missing"],
        manifest["settings"],
        len(names),
        store.count(names),
    )


def _part(
    experiment: Experiment, results: Results, manifest: dict[str, Any], folder: Path
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
        **{key: manifest[key] for key in _SHOWN},
    }
    if results.found < results.expected:
        part["findings"].append(
            f"Not complete: {results.found} of {results.expected} tasks have results. What follows "
            f"is from those; the same run again does the rest."
        )
    if not results.rows:
        missing = [f"{DATASETS[n].title} is missing: {why}." for n, why in results.missing.items()]
        part["findings"] += ["There are no results.", *missing]
        return part
    tables = [_data_table(experiment, results), *experiment.tables(results)]
    part["tables"] = [_written(table, folder) for table in tables if table is not None]
    part["figures"] = [figure.save(folder) for figure in experiment.figures(results)]
    part["findings"] += experiment.findings(results)
    return part


_SHOWN = ("settings", "facts", "data", "missing", "versions", "seconds", "written", "failed")


def _data_table(experiment: Experiment, results: Results) -> Table | None:
    if not results.data and not results.missing:
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
    for name, why in results.missing.items():
        rows.append([DATASETS[name].title, "missing", None, None, None, why])
    columns = ["data", "rows", "features", "classes", "probes", "notes"]
    return Table(f"{experiment.name}_data", "Data", columns, rows)


def _written(table: Table, folder: Path) -> dict[str, Any]:
    with replacing(folder / f"table_{table.name}.md") as temporary:
        temporary.write_text(table.markdown() + "\n")
    return table.to_dict()


_RANKED = {
    "last": "the score with all features of the experiment",
    "mean": "the mean score over 1, 2, ... features",
}


def _overall(standings: Sequence[Standing], folder: Path) -> dict[str, Any]:
    """Return ranks over all data sets, by the last size and by the mean over sizes."""
    told: dict[str, Any] = {"tables": [], "figures": [], "findings": []}
    for kind, by in _RANKED.items():
        ranked = [s for s in standings if s.kind in (kind, "both")]
        full = [s for s in ranked if set(TWELVE) <= set(s.scores)]
        told["findings"] += findings.claim_sentences(full, by)
        if not full:
            continue
        averages = findings.mean_ranks(full)
        order = sorted(TWELVE, key=lambda name: averages[name])
        rows: list[list[Any]] = [[s.dataset, *(s.ranks()[m] for m in order)] for s in full]
        rows.append(["mean rank", *(f"{averages[m]:.1f}" for m in order)])
        title = f"Rank of every method on every data set, by {by}"
        note = "Rows that were not trained on. Equals share the better rank."
        if kind == "last":
            note += " Sets of which all features are taken are left out: all methods are equal."
        table = Table(f"ranks_{kind}", title, ["data", *order], rows, note)
        told["tables"].append(_written(table, folder))
        grid = {s.dataset: s.ranks() for s in full}
        size = (9.0, 1.2 + 0.32 * len(grid))
        figure = figures.Figure(f"ranks_{kind}", title, figures.ranks(grid, order), size)
        told["figures"].append(figure.save(folder))
        best = findings.listed([f"{name} {averages[name]:.1f}" for name in order[:3]])
        told["findings"].append(f"By {by}: best mean ranks over {len(full)} sets: {best}.")
    return told


def _page(told: dict[str, Any]) -> str:
    """Return the whole report in Markdown."""
    lines = [f"# {told['title']}", "", f"The paper: {told['paper']}.", ""]
    for part in [*told["experiments"], {"title": "Over all data sets", **told["overall"]}]:
        lines += [f"## {part['title']}", ""]
        if "about" in part:
            lines += [_about(part), ""]
        for table in part["tables"]:
            lines += [Table(**table).markdown(), ""]
        for figure in part["figures"]:
            lines += [f"![{figure['title']}]({figure['png']})", ""]
        lines += ["What this shows:", "", *(f"- {text}" for text in part["findings"]), ""]
    return "\n".join([*lines, "## Versions", "", *_versions(told["experiments"]), ""])


def _about(part: dict[str, Any]) -> str:
    settings = part["settings"]
    quick = " A quick run, with smaller numbers than the paper's." if settings["quick"] else ""
    about = part["about"][0].upper() + part["about"][1:]
    return (
        f"{about}.{quick} Seed {settings['seed']}; {part['complete']} of {part['tasks']} tasks, "
        f"{part['seconds']:.0f} s of work; {part['written']}."
    )


def _versions(parts: Sequence[dict[str, Any]]) -> list[str]:
    """Return a line for each set of versions that experiments were run with."""
    used: dict[str, list[str]] = {}
    for part in parts:
        versions = ", ".join(f"{name} {number}" for name, number in part["versions"].items())
        used.setdefault(versions, []).append(part["name"])
    return [f"- {', '.join(names)}: {versions}" for versions, names in used.items()]
