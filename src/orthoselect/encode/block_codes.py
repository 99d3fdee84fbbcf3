"""Codes of a table that comes in blocks of rows, by rules that were learned in passes before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.counts import Codes
from orthoselect.counts.base import Counts
from orthoselect.counts.blocks import BlockCounts
from orthoselect.encode.blocks import BlockTable
from orthoselect.encode.coded import Bins, Coder, store_of
from orthoselect.encode.design import Features, check_levels, find_features
from orthoselect.encode.labels import Labels, LevelsSeen
from orthoselect.encode.rules import Rules, as_array, learn_rules
from orthoselect.encode.table import Table
from orthoselect.matrix.base import Floats, Indices


@dataclass(frozen=True)
class BlockCodedDesign:
    """Codes of the features, made block by block in every pass.

    Attributes
    ----------
    table : BlockTable
    features : Features
    rules : mapping of input column to cuts
    joint : mapping of feature to (levels, most frequent one)
        Of groups: the combinations of their columns' codes that occur.
    """

    table: BlockTable
    features: Features
    rules: Rules
    joint: Mapping[int, tuple[tuple[Any, ...], int]]

    def name_of_column(self, j: int) -> str:
        """Return the name of feature j."""
        return self.features[j].name

    def count(self, y: NDArray, n_classes: int, weights: Floats | None) -> Counts:
        """Make ready to count the features against each other and the class."""
        shape = (self.table.n_rows, len(self.features))
        return BlockCounts(
            self.table.passes,
            shape,
            self._levels(),
            y,
            n_classes,
            weights,
            how=self._how(),
            memory=self.table.memory,
        )

    def _how(self) -> dict[str, Any]:
        make = partial(_codes_of, self.features, self.rules, self.joint)
        how = self.table.how(_columns_in_use(self.features), make=make)
        del how["along"]
        return how

    def _levels(self) -> Indices:
        return np.array([self._n_levels(f) for f in range(len(self.features))], dtype=np.intp)

    def _n_levels(self, f: int) -> int:
        if f in self.joint:
            return len(self.joint[f][0])
        column = self.features[f].columns[0]
        if column in self.table.labels:
            return len(self.table.labels[column].levels)
        return len(self.rules[column]) + 1


def _codes_of(
    features: Features,
    rules: Rules,
    joint: Mapping[int, tuple[tuple[Any, ...], int]],
    block: Table,
) -> Codes:
    return _BlockCoder(block, features, rules, joint).codes()


def build_block_codes(
    table: Any,
    groups: Mapping[str, Sequence[int]],
    exclude: set[int],
    bins: Bins = "auto",
    weights: Floats | None = None,
) -> BlockCodedDesign:
    """Learn how to code every feature by whole numbers; as `build_codes`, for a `BlockTable`.

    One pass over the numeric columns, and one over the columns of groups.
    """
    features = find_features(table, groups, exclude)
    numeric = np.intersect1d(_columns_in_use(features), table.numeric_at)
    numeric = np.array([c for c in numeric.tolist() if c not in table.labels], dtype=np.intp)
    rules = learn_rules(table, numeric, bins, weights)
    joint = _learn_joint(table, features, rules, weights)
    for f, feature in enumerate(features):
        if len(feature.columns) > 1:
            check_levels(f"group `{feature.name}`", len(joint[f][0]), table.n_rows)
        elif feature.columns[0] in table.labels:
            n_levels = len(table.labels[feature.columns[0]].levels)
            check_levels(f"categorical column `{feature.name}`", n_levels, table.n_rows)
    return BlockCodedDesign(table, features, rules, joint)


def _columns_in_use(features: Features) -> Indices:
    return np.array(sorted({c for f in features for c in f.columns}), dtype=np.intp)


def _learn_joint(
    table: BlockTable, features: Features, rules: Rules, weights: Floats | None
) -> dict[int, tuple[tuple[Any, ...], int]]:
    """Find the combinations of levels that occur in groups of several columns."""
    groups = {f: g for f, g in features.groups.items() if len(g.columns) > 1}
    if not groups:
        return {}
    used = np.array(sorted({c for g in groups.values() for c in g.columns}), dtype=np.intp)
    names = {f: group.name for f, group in groups.items()}
    seen = table.passes.run(
        partial(_nothing_seen, names),
        partial(_add_combinations, features, rules),
        _merge_seen,
        **table.how(used, [weights]),
    )
    return {f: (each.levels(), each.most_frequent()) for f, each in seen.items()}


def _nothing_seen(names: Mapping[int, str]) -> dict[int, LevelsSeen]:
    return {f: LevelsSeen(f"group `{name}`") for f, name in names.items()}


def _add_combinations(
    features: Features,
    rules: Rules,
    seen: dict[int, LevelsSeen],
    block: Table,
    weights: Floats | None,
) -> None:
    coder = _BlockCoder(block, features, rules, {})
    for f, each in seen.items():
        labels = coder.combinations(f, None if weights is None else weights > 0)
        if len(labels.codes):
            each.add(labels)


def _merge_seen(a: dict[int, LevelsSeen], b: dict[int, LevelsSeen]) -> dict[int, LevelsSeen]:
    for f, seen in b.items():
        a[f].merge(seen)
    return a


class _BlockCoder(Coder):
    """Codes the features of one block by what was learned of all."""

    def __init__(
        self,
        table: Table,
        features: Features,
        rules: Rules,
        joint: Mapping[int, tuple[tuple[Any, ...], int]],
    ) -> None:
        super().__init__(table, features, store_of(table.numeric), "learned", None, None)
        self._cuts_of = [rules.get(int(c), np.zeros(0)) for c in table.numeric_at]
        self._joint = joint

    def _code(self, columns: Any, at: Indices) -> tuple[NDArray[np.uint8], Indices]:
        rules = [self._cuts_of[k] for k in at.tolist()]
        counts = np.array([len(rule) + 1 for rule in rules], dtype=np.intp)
        return columns.cut(as_array(rules)), counts

    def combinations(self, f: int, keep: NDArray[np.bool_] | None) -> Labels:
        """Return the combinations of the codes of a group's columns, of all rows or of some."""
        members = [self._code_column(c)[0] for c in self._features[f].columns]
        codes = np.column_stack(members).astype(np.int64)
        codes = codes if keep is None else codes[keep]
        found, place = np.unique(codes, axis=0, return_inverse=True)
        return Labels(place.reshape(-1), tuple(map(tuple, found.tolist())))

    def _code_special(self, f: int) -> tuple[NDArray, int]:
        if f not in self._joint:
            return self._code_column(self._features[f].columns[0])
        levels, usual = self._joint[f]
        place = {level: at for at, level in enumerate(levels)}
        mine = self.combinations(f, None)
        # A combination of rows without weight alone has no level of its own, and counts nothing.
        to_code = np.array([place.get(level, usual) for level in mine.levels], dtype=np.intp)
        return to_code.take(mine.codes), len(levels)

    def _usual(self, f: int) -> int | None:
        if f in self._joint:
            return self._joint[f][1]
        return self._table.labels[self._features[f].columns[0]].most_frequent
