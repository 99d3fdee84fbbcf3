"""The first look at a table and its response, and later ones that have to agree with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from orthoselect.arguments import find_columns
from orthoselect.encode import Labels
from orthoselect.encode.labels import LevelsSeen
from orthoselect.errors import InputError, listing
from orthoselect.gram.layout import Layout, ResponseColumn
from orthoselect.gram.rows import ReadTarget, ReadWeights
from orthoselect.read import Block, check_block_names


def first_look(
    source: Block,
    target: ReadTarget,
    weights: ReadWeights,
    settings: Mapping[str, Any],
    *,
    numbers: bool,
) -> Layout:
    """Find what the columns hold.

    Parameters
    ----------
    source : Block
    target : ReadTarget
    weights : ReadWeights
    settings : mapping
        Those of `GramStatistics`.
    numbers : bool
        Whether responses of numbers are quantities.
    """
    names = source.names
    excluded = find_columns(settings["exclude"], names, "exclude")
    skip = {*excluded, *target.at, *weights.at}
    by_dtype, labeled = _labeled(source, settings["categorical_features"], skip)
    numeric = [c for c in range(len(names)) if c not in labeled | skip]
    return Layout(
        names=names,
        numeric_at=np.array(numeric, dtype=np.intp),
        labeled={c: LevelsSeen(f"column `{names[c]}`") for c in sorted(labeled)},
        by_dtype=by_dtype,
        responses=_responses(target, settings, numbers),
        taken=target.at,
        excluded=excluded,
        weighting=weights.at,
    )


def _labeled(source: Block, spec: Any, skip: set[int]) -> tuple[set[int] | None, set[int]]:
    """Return the columns that hold labels by their dtype alone, and all that do."""
    if spec is None:
        return None, set()
    if isinstance(spec, str) and spec == "all":
        return None, set(range(len(source.names))) - skip
    by_dtype = source.categorical_columns() - skip
    if isinstance(spec, str) and spec == "from_dtype":
        return by_dtype, by_dtype
    named = set(find_columns(spec, source.names, "categorical_features")) - skip
    return by_dtype - named, by_dtype | named


def _responses(
    target: ReadTarget, settings: Mapping[str, Any], numbers: bool
) -> list[ResponseColumn]:
    given = settings["classes"]
    if given is not None and len(target.columns) > 1:
        raise InputError(
            f"`classes` should be given for one response; there are {len(target.columns)}: "
            f"{listing(target.names)}. Leave it out."
        )
    found = []
    for name, column in zip(target.names, target.columns):
        as_numbers = numbers and (column.is_number or settings["task"] == "regression")
        seen = None if as_numbers else LevelsSeen(f"response `{name}`")
        if seen is not None and given is not None:
            seen.add(Labels(np.arange(len(given)), given), column.order)
        found.append(ResponseColumn(name, seen, column.is_number, given is not None))
    return found


def look_again(
    layout: Layout, source: Block, target: ReadTarget, weights: ReadWeights, number: int
) -> None:
    """Raise unless a block has the columns of those before; the source gets their names."""
    check_block_names(layout.names, source.names, number)
    source.names = layout.names
    _check_responses(layout, target)
    _check_weights(layout, weights)
    if layout.by_dtype is None or not source.n_rows:
        return
    kinds, here = ["numbers", "labels"], source.categorical_columns()
    of_numbers = set(layout.numeric_at.tolist())
    for c in sorted((layout.by_dtype - here) | (of_numbers & here)):
        raise InputError(
            f"column `{layout.names[c]}` should hold {kinds[c in layout.by_dtype]}, as it did in "
            f"blocks before; it holds {kinds[c in here]} here. Convert it, or say in "
            f"`categorical_features` what it is."
        )


def _check_responses(layout: Layout, target: ReadTarget) -> None:
    before = [response.name for response in layout.responses]
    if target.names != before:
        raise InputError(
            f"all blocks should have the same response; this one has {listing(target.names)}, "
            f"those before had {listing(before)}."
        )
    if layout.taken != target.at:
        raise InputError(
            "the response should be a column of all blocks, or be given beside all of them."
        )
    kinds = ["labels", "numbers"]
    for response, column in zip(layout.responses, target.columns):
        if response.is_number != column.is_number and not response.fixed:
            raise InputError(
                f"response `{response.name}` should be of one kind in all blocks; it holds "
                f"{kinds[column.is_number]} here and {kinds[response.is_number]} in blocks before. "
                f"Convert it."
            )


def _check_weights(layout: Layout, weights: ReadWeights) -> None:
    if weights.at != layout.weighting:
        before, here = (
            f"column `{layout.names[at[0]]}`" if at else "no column"
            for at in (layout.weighting, weights.at)
        )
        raise InputError(
            f"the row weights should be the same column of all blocks, if they are one; "
            f"`sample_weight` names {here} here, it named {before} in blocks before."
        )


def distinct_classes(classes: Sequence[Any] | None, task: str) -> tuple[Any, ...] | None:
    """Return classes that were given as a tuple, None if none were."""
    if classes is None:
        return None
    if task == "regression":
        raise InputError("`classes` should be left out for `task='regression'`, which has none.")
    values = classes.tolist() if isinstance(classes, np.ndarray) else list(classes)
    found = tuple(dict.fromkeys(values))
    if not found or len(found) < len(values):
        raise InputError(f"`classes` should be distinct labels, at least one; got {classes!r}.")
    return found
