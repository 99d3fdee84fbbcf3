"""What a run was asked for, as a JSON file for reports: written with a seal, and checked by it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from orthoselect.output import replacing
from orthoselect_study import damage
from orthoselect_study.chance import digest
from orthoselect_study.damage import Damaged
from orthoselect_study.settings import Settings

SEAL = "seal"
_WHOLE, _NUMBER, _MAYBE_TEXT = (int, type(None)), (int, float), (str, type(None))
# What reports need, as a pattern: a type, or several; a list of what each entry is; a mapping of
# what each key has; (dict, what) for a mapping of any keys to that.
_SETTINGS: dict[str, Any] = {field.name: _WHOLE for field in fields(Settings)} | {
    "output": _MAYBE_TEXT,
    "data": _MAYBE_TEXT,
    "methods": (list, type(None)),
}
_DATA = {
    **dict.fromkeys(("name", "title", "citation"), str),
    **dict.fromkeys(("rows", "held", "features", "classes", "probes"), _WHOLE),
    "held_name": _MAYBE_TEXT,
    "notes": [str],
}
_MANIFEST = {
    "written": str,
    "settings": _SETTINGS,
    "tasks": [str],
    "seconds": _NUMBER,
    "facts": {},
    "data": [_DATA],
    "missing": (dict, str),
    "damaged": (dict, str),
    "versions": (dict, str),
    "failed": [[str]],
}
# Which of these there are depends on the experiment.
_FACTS = {"methods": [str], "folds": int, "repeats": int, "batches": int}


def write(path: Path, manifest: Mapping[str, Any]) -> None:
    """Write a manifest."""
    plain = json.loads(json.dumps(manifest))
    with replacing(path) as temporary:
        temporary.write_text(json.dumps({**plain, SEAL: digest(plain)}, indent=1) + "\n")


def read(path: Path) -> dict[str, Any] | None:
    """Return a manifest, None if there is none; that of an older version has no "seal".

    Raises
    ------
    Damaged
        If it is not what a run wrote.
    """
    content = damage.read(path)
    if content is None:
        return None
    try:
        manifest = json.loads(content)
    except RecursionError:
        raise Damaged("it is no JSON: brackets go too deep") from None
    except ValueError as error:
        raise Damaged(f"it is no JSON: {error}") from None
    _check(manifest, _MANIFEST, "it")
    _check(manifest["facts"], {k: _FACTS[k] for k in _FACTS if k in manifest["facts"]}, "`facts`")
    if any(len(failure) != 2 for failure in manifest["failed"]):
        raise Damaged("`failed` is of something else than tasks and reasons")
    told = {key: value for key, value in manifest.items() if key != SEAL}
    if SEAL in manifest and manifest[SEAL] != digest(told):
        raise Damaged("something in it was changed")
    return manifest


def _check(value: Any, pattern: Any, where: str) -> None:
    """Raise if a value is not of a pattern."""
    if isinstance(pattern, list):
        _check_type(value, list, where)
        for each in value:
            _check(each, pattern[0], f"an entry of {where}")
    elif isinstance(pattern, dict):
        _check_type(value, dict, where)
        lacking = [key for key in pattern if key not in value]
        if lacking:  # a version that wrote less
            raise Damaged(f"{where} lacks {', '.join(lacking)}")
        for key, inner in pattern.items():
            _check(value[key], inner, f"`{key}`")
    elif isinstance(pattern, tuple) and pattern[0] is dict:
        _check_type(value, dict, where)
        for key, each in value.items():
            _check(each, pattern[1], f"`{key}` of {where}")
    else:
        _check_type(value, pattern, where)


def _check_type(value: Any, kinds: Any, where: str) -> None:
    if not isinstance(value, kinds):
        raise Damaged(f"{where} is of another type, {type(value).__name__}")
