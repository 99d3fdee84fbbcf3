"""Work on some columns of a block, a few rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from orthoselect.matrix.base import Floats, Indices, Matrix
from orthoselect.matrix.rows import cut
from orthoselect.matrix.sums import pairwise

Part = TypeVar("Part")


@dataclass(frozen=True)
class Scaling:
    """What to take off some columns, None for nothing, and what to multiply them with."""

    means: Floats | None
    factors: Floats

    def apply(self, A: Floats, root: Floats | None) -> Floats:
        """Center, scale and weigh some rows of the columns, in place."""
        if self.means is not None:
            A -= self.means
        A *= self.factors
        if root is not None:
            A *= root[:, None]
        return A


def work_on_tiles(
    J: Indices,
    scaling: Scaling,
    work: Callable[..., Part],
    merge: Callable[[Part, Part], Part],
    block: Matrix,
    root: Floats | None,
    *along: Floats,
) -> Part:
    """Merge what work gives of the scaled columns J, some rows at a time."""

    def parts() -> Iterator[Part]:
        for rows, A in block.column_tiles(J):
            here = cut(root, rows)
            yield work(scaling.apply(A, here), here, *(cut(each, rows) for each in along))

    return pairwise(parts(), merge)


def products_of(
    J: Indices,
    scaling: Scaling,
    make: Callable[[Floats, Floats | None], Floats],
    first: int,
    block: Matrix,
    root: Floats | None,
    *others: Floats,
) -> list[Floats]:
    """Return products of the directions Q that are made of the rows of the scaled columns J.

    Those from the first that is wanted with all columns of the block, and their sums; of all with
    each other, and with others.
    """
    Q = make(scaling.apply(block.columns(J), root), root)
    Z = Q[:, first:] if root is None else Q[:, first:] * root[:, None]
    return [block.cross(Z), Z.sum(axis=0), Q.T @ Q, *(other.T @ Q for other in others)]
