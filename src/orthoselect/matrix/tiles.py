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
