"""How to get the same results again: commands, and the versions that they came from."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from orthoselect.versions import versions
from orthoselect_study.experiments import EXPERIMENTS

# Options of the command; a run with others was started from Python.
_FLAGS = ("methods", "features", "repeats", "folds", "seed")
_PYTHON_ONLY = ("batches", "rows")

Part = Mapping[str, Any]


def how_to_reproduce(parts: Sequence[Part], output: str) -> dict[str, Any]:
    """Return the runs that gave the results of a folder, as plain values.

    Experiments that were run with the same settings share a command. The folder of data is as it
    was given to the run, that of results as it was given to the report.
    """
    runs = [
        {"experiments": names, "code": _code(names, {**json.loads(settings), "output": output})}
        for settings, names in _grouped(parts, _what_was_asked).items()
    ]
    used = [
        {"experiments": names, "versions": json.loads(found)}
        for found, names in _grouped(parts, lambda part: part["versions"]).items()
    ]
    return {
        "runs": runs,
        "report": shlex.join(["orthoselect", "study", "report", "--output", output]),
        "used": used,
        "versions": versions(),
    }


def _what_was_asked(part: Part) -> dict[str, Any]:
    """Return the settings without those that change no result."""
    settings = part["settings"].items()
    return {name: value for name, value in settings if name not in ("jobs", "output")}


def _grouped(
    parts: Sequence[Part], by: Callable[[Part], Mapping[str, Any]]
) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for part in parts:
        groups.setdefault(json.dumps(by(part)), []).append(part["name"])
    return groups


def _code(names: Sequence[str], settings: Mapping[str, Any]) -> str:
    """Return a command, or lines of Python where the command has no option for it.

    Examples
    --------
    >>> plain = {"output": "out", "data": None, "methods": ["OLS", "MIM"], "seed": 3, "quick": True}
    >>> _code(["binomial"], plain)
    'orthoselect study run binomial --methods OLS,MIM --seed 3 --quick --output out'
    >>> print(_code(["binomial"], {"output": "out", "quick": False, "batches": 2}))
    from pathlib import Path
    from orthoselect_study import Settings, run
    <BLANKLINE>
    run(['binomial'], Settings(output=Path('out'), batches=2))
    """
    if any(settings.get(name) is not None for name in _PYTHON_ONLY):
        return _python(names, settings)
    words = ["orthoselect", "study", "run"]
    words += [] if list(names) == list(EXPERIMENTS) else names
    words += ["--data", settings["data"]] if settings["data"] else []
    for name in _FLAGS:
        value = settings.get(name)
        if value is not None:
            words += [f"--{name}", ",".join(value) if isinstance(value, list) else str(value)]
    words += ["--quick"] if settings["quick"] else []
    return shlex.join([*words, "--output", settings["output"]])


def _python(names: Sequence[str], settings: Mapping[str, Any]) -> str:
    given = {name: value for name, value in settings.items() if value not in (None, False)}
    words = []
    for name, value in given.items():
        shown = f"Path({value!r})" if name in ("output", "data") else repr(value)
        words.append(f"{name}={shown}")
    return (
        "from pathlib import Path\nfrom orthoselect_study import Settings, run\n\n"
        f"run({list(names)!r}, Settings({', '.join(words)}))"
    )
