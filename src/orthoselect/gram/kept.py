"""What statistics hold: their columns, and the rows so far as triangles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orthoselect.encode.response import check_finite
from orthoselect.errors import InputError
from orthoselect.gram.layout import Layout, check_layouts, check_settings
from orthoselect.gram.look import first_look, look_again
from orthoselect.gram.rows import ReadTarget, ReadWeights
from orthoselect.matrix.memory import free_memory
from orthoselect.matrix.triangle import Triangle, Triangles
from orthoselect.read import Block

_COPIES = 4  # of the triangle, while it is worked on


class Kept:
    """What is kept of some rows.

    Parameters
    ----------
    settings : mapping
        Those of `GramStatistics`.

    Attributes
    ----------
    layout : Layout or None
        The columns; None as long as there were no rows.
    n_rows : int
        Rows that have weight.
    weight : float
        The sum of their weights.
    n_read : int
        All rows, those without weight too.
    n_blocks : int
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.settings = settings
        self.layout: Layout | None = None
        self.n_rows, self.weight = 0, 0.0
        self.n_read = self.n_blocks = 0
        self._triangles = Triangles()
        self._whole: Triangle | None = None  # of all rows, once somebody has asked

    @staticmethod
    def of(
        settings: Mapping[str, Any], layout: Layout, whole: Triangle, counts: Mapping[str, Any]
    ) -> Kept:
        """Put together what was taken apart; `counts` as `known` returns them."""
        new = Kept(settings)
        new.layout = layout
        new._triangles = Triangles([(counts["height"], whole)])
        new.n_rows = new.n_read = counts["n_rows"]
        new.weight, new.n_blocks = counts["weight"], counts["n_blocks"]
        return new

    def counts(self) -> dict[str, Any]:
        """Return what is kept besides the columns and the triangle."""
        known = {"n_rows": self.n_rows, "weight": self.weight, "n_blocks": self.n_blocks}
        return {**known, "height": self._triangles.height}

    def copy(self) -> Kept:
        """Return the same; either may grow by itself."""
        new = Kept(self.settings)
        vars(new).update(vars(self))
        new.layout = None if self.layout is None else self.layout.copy()
        new._triangles = self._triangles.copy()
        return new

    def features_only(self) -> Kept:
        """Return the same, as if response and weights had been given beside the table."""
        new = self.copy()
        new.layout = self.known()[0].features_only()
        return new

    def __getstate__(self) -> dict[str, Any]:
        """Return what is sent elsewhere: no rows, not even the few that wait for others."""
        new = self.copy()
        new.reduce()
        return vars(new)

    def reduce(self) -> None:
        """Let no rows wait."""
        if self.layout is not None:
            self._triangles.flush(len(self.layout.terms))

    def known(self) -> tuple[Layout, Triangle]:
        """Return the columns and the triangle of all rows; raise if there were none."""
        whole = self._triangle()
        if self.layout is None or whole is None:
            raise InputError("there should be rows to know anything of; `update` takes them in.")
        return self.layout, whole

    def _triangle(self) -> Triangle | None:
        if self.layout is not None and self._whole is None:
            self._whole = self._triangles.whole(len(self.layout.terms))
        return self._whole

    # Growing

    def take(self, *block: Any) -> None:
        """Take in the rows of a block, or none of them if anything is wrong; see `with_rows`."""
        vars(self).update(vars(self.with_rows(*block)))

    def with_rows(
        self, source: Block, y: Any, sample_weight: Any, memory: int | None = None
    ) -> Kept:
        """Return what is kept of these rows and those of a block.

        Parameters
        ----------
        source : Block
        y, sample_weight
            Names of columns, or values; see `ReadTarget` and `ReadWeights`.
        memory : int, optional
            Bytes that may be taken; what is free by default.
        """
        if self.layout is None and not source.n_rows:
            return self  # dtypes of nothing tell nothing
        target = ReadTarget.of(source, y)
        weights = ReadWeights.of(source, sample_weight, target)
        check_finite(target.columns)
        new = self.copy()
        layout = new._look(source, target, weights)
        table = source.read(set(layout.labeled), layout.skip)
        coded = layout.code(table, target.columns, weights.values)
        _check_memory(len(layout.terms), free_memory() if memory is None else memory)
        for A, w in coded.tiles():
            new._triangles.add(A, w)
            new.n_rows += len(A)
            new.weight += float(len(A) if w is None else w.sum())
        new.n_read += source.n_rows
        new.n_blocks += 1
        new._whole = None
        return new

    def _look(self, source: Block, target: ReadTarget, weights: ReadWeights) -> Layout:
        """Find what the columns hold, or check that they hold what they did."""
        numbers = self.settings["task"] == "regression"
        if self.settings["task"] == "auto" and self.settings["classes"] is None:
            numbers = target.has_fractions(weights.values)
        if self.layout is None:
            self.layout = first_look(source, target, weights, self.settings, numbers=numbers)
            return self.layout
        look_again(self.layout, source, target, weights, self.n_blocks)
        if numbers and any(y.is_number and y.classes is not None for y in self.layout.responses):
            self._to_numbers()
        return self.layout

    def merge(self, other: Kept) -> Kept:
        """Return what is kept of the rows of both."""
        if self.layout is None or other.layout is None:
            check_settings(self.settings, other.settings)
            return (self if other.layout is None else other).copy()
        new, theirs = self.copy(), other.copy()
        assert new.layout is not None
        assert theirs.layout is not None
        new._agree_on_numbers(theirs)
        check_layouts(new.layout, theirs.layout)
        height, whole = theirs._triangles.height, theirs._triangle()
        columns = new.layout.take_in(theirs.layout)
        if whole is not None:
            new._triangles.flush(len(new.layout.terms))
            new._triangles.push(height, whole.combined(columns))
        new._whole = None
        new.n_rows += other.n_rows
        new.n_read += other.n_read
        new.weight += other.weight
        return new

    def _agree_on_numbers(self, other: Kept) -> None:
        """Let whole numbers that were taken for classes be numbers if they are so elsewhere."""
        assert self.layout is not None
        assert other.layout is not None
        pairs = list(zip(self.layout.responses, other.layout.responses))
        if any(a.kind != b.kind and a.is_number and b.is_number for a, b in pairs):
            for kept in (self, other):
                if kept.settings["task"] == "auto":
                    kept._to_numbers()

    def _to_numbers(self) -> None:
        assert self.layout is not None
        p = len(self.layout.terms)
        self._triangles = self._triangles.combined(p, self.layout.to_numbers())
        self._whole = None


def _check_memory(p: int, free: int) -> None:
    needed = _COPIES * 8 * p * p
    if needed > free:
        raise InputError(
            f"statistics of {p} columns (features, levels and classes) take about {needed:.1e} "
            f"bytes while they are made, and {free:.1e} are free. Exclude columns, or select from "
            f"the rows."
        )
