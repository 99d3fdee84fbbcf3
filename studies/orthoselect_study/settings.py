"""What a run of the study was asked for."""

from __future__ import annotations

import difflib
import numbers
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from orthoselect.errors import InputError

# The least that each number may be; None means the experiment's own number.
_LEAST = {"features": 1, "repeats": 1, "batches": 1, "folds": 2, "rows": 20, "seed": 0, "jobs": 1}
_OPTIONAL = ("features", "repeats", "batches", "folds", "rows")
# What changes a result; the rest (folder, output, jobs) only says where and how it is computed.
OVERRIDES = ("methods", *_OPTIONAL)
# What a newcomer or a test has minutes for.
_QUICK = {"features": 10, "repeats": 10, "batches": 2, "folds": 3, "rows": 2000}


@dataclass(frozen=True)
class Settings:
    """Options of a run; what is None is the experiment's own choice.

    Attributes
    ----------
    output : Path
        Folder for results, tables and figures.
    data : Path or None
        Folder of the .npz files. Without it, sets are fetched from OpenML.
    methods : tuple of str or None
        Names of `study.METHODS`.
    features : int or None
        How many features to select, at most.
    repeats, batches : int or None
        Simulated tables of a batch, and batches; each batch is one run of the paper's experiment.
    folds : int or None
        Folds of cross-validation.
    rows : int or None
        Training rows of large sets, at most.
    seed : int
        The seed of all random numbers.
    jobs : int
        Processes at a time.
    quick : bool
        Smaller numbers for whatever is not given.

    Examples
    --------
    >>> settings = Settings(Path("out"), quick=True, folds=5)
    >>> settings.or_else("folds", 10), settings.or_else("repeats", 100)
    (5, 10)
    >>> Settings(Path("out"), folds=1)
    Traceback (most recent call last):
    ...
    orthoselect.errors.InputError: `folds` should be a whole number of at least 2; got 1.
    """

    output: Path
    data: Path | None = None
    methods: tuple[str, ...] | None = None
    features: int | None = None
    repeats: int | None = None
    batches: int | None = None
    folds: int | None = None
    rows: int | None = None
    seed: int = 0
    jobs: int = 1
    quick: bool = False

    def __post_init__(self) -> None:
        for name, least in _LEAST.items():
            value = getattr(self, name)
            if value is None and name in _OPTIONAL:
                continue
            whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
            if not whole or value < least:
                raise InputError(
                    f"`{name}` should be a whole number of at least {least}; got {value!r}."
                )
        if self.methods is not None and not self.methods:
            raise InputError("`methods` should name at least one method; it is empty.")
        if self.data is not None and not Path(self.data).is_dir():
            raise InputError(
                f"`data` should be a folder of .npz files; there is no folder `{self.data}`."
            )

    def or_else(self, name: str, own: Any) -> Any:
        """Return what was asked for, or the quick number, or the experiment's own."""
        asked = getattr(self, name)
        if asked is not None:
            return asked
        if not self.quick or name not in _QUICK:
            return own
        return _QUICK[name] if own is None else min(own, _QUICK[name])

    def given(self) -> list[str]:
        """Return the options that override an experiment's own choice."""
        return [name for name in OVERRIDES if getattr(self, name) is not None]

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain values; folders as they were given."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        for name in ("output", "data"):
            plain[name] = None if plain[name] is None else str(plain[name])
        plain["methods"] = None if self.methods is None else list(self.methods)
        return plain


def find(name: str, known: Iterable[str], what: str) -> str:
    """Return the known name that is meant, whatever its capitals; an unknown one raises."""
    known = list(known)
    spelled = {each.lower(): each for each in known}
    if name.lower() in spelled:
        return spelled[name.lower()]
    near = difflib.get_close_matches(name.lower(), spelled, n=1)
    hint = f" Did you mean {spelled[near[0]]!r}?" if near else ""
    raise InputError(f"`{what}` should be among {', '.join(known)}; got {name!r}.{hint}")
