"""The report in Markdown."""

from __future__ import annotations

from typing import Any

from orthoselect_study.tables import Table


def page(told: dict[str, Any]) -> str:
    """Return the whole report in Markdown; figures are files beside it."""
    lines = [f"# {told['title']}", "", told["sentence"], "", f"The paper: {told['paper']}.", ""]
    parts = list(told["experiments"])
    if told["overall"]["findings"]:
        parts.append({"title": "Over all data sets", **told["overall"]})
    for part in parts:
        lines += [f"## {part['title']}", ""]
        if "about" in part:
            lines += [_about(part), ""]
        if part.get("failed"):
            lines += ["Tasks that failed:", ""]
            lines += [*(f"- {label}: {reason}" for label, reason in part["failed"]), ""]
        for table in part["tables"]:
            lines += [Table(**table).markdown(), ""]
        for figure in part["figures"]:
            lines += [f"![{figure['title']}]({figure['png']})", ""]
        lines += ["What this shows:", "", *(f"- {text}" for text in part["findings"]), ""]
    return "\n".join([*lines, *_reproduce(told["reproduce"])])


def _about(part: dict[str, Any]) -> str:
    settings = part["settings"]
    quick = " A quick run, with smaller numbers than the paper's." if settings["quick"] else ""
    about = part["about"][0].upper() + part["about"][1:]
    return (
        f"{about}.{quick} Seed {settings['seed']}; {part['complete']} of {part['tasks']} tasks, "
        f"{part['seconds']:.0f} s of work{_selecting(part)}; {part['written']}."
    )


def _selecting(part: dict[str, Any]) -> str:
    """Say how much of the work was selecting."""
    took = part["selecting"]
    if took is None:
        return ""
    penalized = f", by LASSO and Net {took['penalized']:.0f} s" if took["penalized"] else ""
    return f" (selecting: {took['others']:.0f} s{penalized})"


def _reproduce(reproduce: dict[str, Any]) -> list[str]:
    lines = ["## How to reproduce", ""]
    for run in reproduce["runs"]:
        lines += [f"{', '.join(run['experiments'])}:", "", "```", run["code"], "```", ""]
    lines += ["Tables, figures and pages alone:", "", "```", reproduce["report"], "```", ""]
    lines += ["## Versions", ""]
    for used in reproduce["used"]:
        versions = ", ".join(f"{name} {number}" for name, number in used["versions"].items())
        lines.append(f"- {', '.join(used['experiments'])}: {versions}")
    return [*lines, ""]
