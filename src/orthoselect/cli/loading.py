"""From what was typed to a table that can be selected from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from orthoselect.errors import InputError, listing
from orthoselect.read import Dataset, check_varies, find_names, read_table, split_names
from orthoselect.roles import clean


@dataclass(frozen=True)
class Asked:
    """What was typed about the table; see `options.py` for what each means."""

    source: str | list[str]
    target: Sequence[str] = ()
    categorical: Sequence[str] = ()
    group: Sequence[str] = ()
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    drop: Sequence[str] = ()
    weights: str | None = None
    missing: str = "error"
    delimiter: str | None = None
    encoding: str | None = None
    header: bool = True
    format: str | None = None
    memory: str | None = None
    in_blocks: bool = False


@dataclass(frozen=True)
class Loaded:
    """A table, and what is wanted of its columns.

    Attributes
    ----------
    dataset : Dataset
    target : str, list of str or None
        A column's name, or several; None for values that the source has apart.
    target_name : str
        What to call it.
    options : dict
        What `select` and `compare` are to know of the columns.
    weights : str or None
        The column of the row weights.
    target_columns : list of str
        The columns that the target was taken from.
    reasons : dict
        Why columns are no candidates.
    """

    dataset: Dataset
    target: Any
    target_name: str
    options: dict[str, Any]
    weights: str | None
    target_columns: list[str]
    reasons: dict[str, str]


def open_table(asked: Asked) -> Dataset:
    """Read the table, or look at it if it is too large for memory."""
    return read_table(
        asked.source,
        memory=asked.memory,
        format=asked.format,
        delimiter=asked.delimiter,
        encoding=asked.encoding,
        header=None if asked.header else False,
        drop=asked.drop,
        in_blocks=asked.in_blocks,
    )


def load(asked: Asked, dataset: Dataset) -> Loaded:
    """Find the columns that were named, and rid the table of what cannot be selected from."""
    names = dataset.names
    _check_not_dropped(asked, dataset.dropped)
    target = _target(asked, dataset)
    weights = find_names([asked.weights] if asked.weights else [], names, "--weights")
    if len(weights) > 1:
        raise InputError(f"`--weights` should name one column; got {listing(weights)}.")
    weight = weights[0] if weights else None
    groups = _groups(asked.group, names)
    excluded = find_names(asked.exclude, names, "--exclude")
    columns: dict[str, Any] = {
        "categorical_features": find_names(asked.categorical, names, "--categorical")
        or "from_dtype",
        "include": find_names(asked.include, [*names, *groups], "--include") or None,
        "groups": groups or None,
        "exclude": excluded or None,
    }
    dataset = clean(dataset, target, asked.missing, sample_weight=weight, **columns)
    check_varies(dataset, target)
    targets = [target] if isinstance(target, str) else target or []
    own = dataset.target_name or ("y" if targets else "target")
    apart = targets and dataset.target is not None and not isinstance(dataset.target, str)
    return Loaded(
        dataset,
        target,
        ", ".join(targets) or own,
        columns,
        weight,
        targets,
        {
            **dict.fromkeys(dataset.dropped, "named in `--drop`"),
            **dataset.left_out,
            **({own: "the source's own target, not asked for"} if apart else {}),
            **dict.fromkeys(excluded, "named in `--exclude`"),
            **dict.fromkeys(weights, "the row weights"),
        },
    )


def _target(asked: Asked, dataset: Dataset) -> str | list[str] | None:
    """Return the target's column, or several; None where its values stand apart."""
    given = list(asked.target)
    if not given and dataset.target is None:
        raise InputError(
            f"`--target` should name the column to explain; `{dataset.name}` does not tell which "
            f"one that is. Its columns are {listing(dataset.names)}."
        )
    if not given or given == [dataset.target_name]:
        return dataset.target if isinstance(dataset.target, str) else None
    dataset.check_together([part for item in given for part in split_names(item)])
    found = find_names(given, dataset.names, "--target")
    return found[0] if len(found) == 1 else found


def _groups(given: Sequence[str], names: Sequence[str]) -> dict[str, list[str]]:
    """Return groups from ``name=column,column``.

    Examples
    --------
    >>> _groups(["left=a,b", "right=x*"], ["a", "b", "x1", "x2"])
    {'left': ['a', 'b'], 'right': ['x1', 'x2']}
    """
    groups: dict[str, list[str]] = {}
    for item in given:
        name, equals, columns = item.partition("=")
        if not (name and equals and columns):
            raise InputError(
                f"`--group` should be NAME=COLUMN,COLUMN,...; got {item!r}. "
                f"For example `--group size=width,height`."
            )
        if name in groups:
            raise InputError(f"`--group` should name each group once; `{name}` is repeated.")
        groups[name] = find_names([columns], names, "--group")
    return groups


def _check_not_dropped(asked: Asked, dropped: Sequence[str]) -> None:
    for option in ("target", "categorical", "include", "exclude", "weights"):
        given = getattr(asked, option) or ()
        for name in [given] if isinstance(given, str) else given:
            if name in dropped:
                raise InputError(
                    f"a column should have one role; `{name}` is named in `--{option}` and in "
                    f"`--drop`."
                )
