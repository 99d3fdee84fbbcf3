"""The best sets of every size, proved by branch and bound.

After Furnival and Wilson's leaps and bounds, with orthogonal transformations as in the regression
trees of Gatu and Kontoghiorghes. All features have a total that no subset of them exceeds: what
they explain together. A node of the tree has features that are fixed, F, and others that are open,
A; its sets are F and any of A, so that F and A together bound all of them. If that is no better
than the best sets known, of all sizes that the node has, nobody looks at it.

The open features are put in the order of what they lose if dropped, the dearest first. Child i
fixes the first i of them and drops the next; so every set is met once, and the children with the
largest subtrees have the lowest bounds. The first so many open features make a set, too.

R (p, p) is triangular, with the inner products of all columns; z (p, q) those with the response.
Nodes are made by reflections of rows, never by inner products: no digits are lost.

References
----------
G. M. Furnival and R. W. Wilson, "Regressions by leaps and bounds", Technometrics 16, 1974.
https://doi.org/10.1080/00401706.1974.10489231

C. Gatu and E. J. Kontoghiorghes, "Branch-and-bound algorithms for computing the best-subset
regression models", Journal of Computational and Graphical Statistics 15, 2006.
https://doi.org/10.1198/106186006X100290
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from orthoselect.criteria.inner_products import Objective
from orthoselect.matrix.base import Floats
from orthoselect.native import kernels
from orthoselect.search.base import BETTER, is_better

# Multiplications after which to ask whether to go on; a node takes about the cube of its columns.
_BUDGET, _BUDGET_IN_NUMPY = 10**8, 10**6
_SAFE = 1 - 1e-7  # of what a feature loses: rounding shall not prune the best set
_MADE_OF = 1e-10  # a coefficient that is not zero
_FEW_DIGITS = 1e-8

Watch = Callable[[float], bool]


@dataclass
class Tree:
    """What is searched: the factor, which columns are whose, and the best sets so far.

    Attributes
    ----------
    R, z : arrays of shape (p, p) and (p, q)
    widths : integer array
        How many columns each feature has, in the order of R; those included come first.
    floors : array of shape (p,)
        The norm below which what is left of a column is only rounding.
    n_included : int
    objective : Objective
    best : array of shape (k + 1,)
        The value of the best set of each size.
    sets : integer array of shape (k + 1, k)
        The features of these sets, by their place in R.
    counts : integer array of shape (2,)
        Nodes and sets looked at.
    """

    R: Floats
    z: Floats
    widths: NDArray[np.int64]
    floors: Floats
    n_included: int
    objective: Objective
    best: Floats
    sets: NDArray[np.int64]
    counts: NDArray[np.int64]


def best_sets(tree: Tree, watch: Watch, *, budget: int | None = None) -> float:
    """Look for better sets of every size; return what no set of the largest size exceeds.

    After every `budget` nodes, some milliseconds' worth if it is not given, `watch(bound)` is
    called, and says whether to go on.
    """
    native, objective = kernels(), tree.objective
    if budget is None:
        most = _BUDGET_IN_NUMPY if native is None else _BUDGET
        budget = max(1, most // (len(tree.R) + tree.z.shape[1]) ** 3)
    if native is None:
        return Climber(tree).run(watch, budget)
    starts = np.concatenate([[0], np.cumsum(tree.widths)]).astype(np.int64)
    rows = -1.0 if objective.n_rows is None else float(objective.n_rows)
    return float(
        native.best_sets(
            np.ascontiguousarray(tree.R),
            np.ascontiguousarray(tree.z),
            starts,
            tree.widths,
            np.ascontiguousarray(tree.floors),
            tree.n_included,
            objective.ceiling,
            rows,
            BETTER,
            tree.best,
            tree.sets,
            tree.counts,
            budget,
            watch,
        )
    )


@dataclass
class Node:
    """Fixed features and open ones; M, z and level are the factor of the open ones, with steps."""

    fixed: list[int]
    open_: list[int]
    M: Floats
    z: Floats
    level: list[int]
    total: float  # of the fixed features
    width: int
    bounds: list[float]  # of the children that are left


class Climber:
    """The search in NumPy; the kernel does the same."""

    def __init__(self, tree: Tree) -> None:
        self._tree, self._k = tree, len(tree.best) - 1
        ends = np.cumsum(tree.widths)
        self._columns = [np.arange(e - w, e) for e, w in zip(ends, tree.widths)]
        self._least = int(tree.widths.min())

    def run(self, watch: Watch, budget: int) -> float:
        """Look at all nodes, or as long as `watch` says."""
        nodes, left = [self._root()], budget
        self._open(nodes[0])
        while nodes:
            child = self._child(nodes[-1])
            if child is None:
                nodes.pop()
                continue
            nodes.append(child)
            self._open(child)
            left -= 1
            if not left:
                left, bound = budget, self._bound(nodes)
                if not watch(bound):
                    return bound
        return float(self._tree.best[self._k])

    def _root(self) -> Node:
        tree, n = self._tree, self._tree.n_included
        everything = list(range(len(tree.widths)))
        M, z, level = make_steps(tree.R, tree.z, tree.floors)
        whole = Node([], everything, M, z, level, 0.0, 0, [])
        return self._fix(whole, n, n)

    def _fix(self, node: Node, n_fixed: int, first: int) -> Node:
        """Fix the first so many open features; of the others those from `first` on stay open."""
        widths = self._tree.widths
        column = int(widths[node.open_[:n_fixed]].sum())
        start = int(widths[node.open_[:first]].sum())
        row = node.level[column - 1] if column else 0
        open_ = node.open_[first:]
        J = self._of(open_)
        M, z, level = make_steps(node.M[row:, start:], node.z[row:], self._tree.floors[J])
        total = node.total + float((node.z[:row] ** 2).sum())
        fixed = [*node.fixed, *node.open_[:n_fixed]]
        return Node(fixed, open_, M, z, level, total, node.width + column, [])

    def _of(self, features: list[int]) -> NDArray[np.intp]:
        parts = [self._columns[f] for f in features]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.intp)

    def _open(self, node: Node) -> None:
        """Compare the sets that a node shows, and bound its children."""
        self._tree.counts[0] += 1
        if not node.open_:
            return
        if len(node.fixed) + 1 == self._k:
            self._report_singles(node)
            return
        total = node.total + float((node.z**2).sum())
        if not self._may_be_better(total, len(node.fixed), len(node.open_), node.width):
            return
        costs = self._costs(node)
        order = sorted(range(len(costs)), key=lambda i: -costs[i])
        starts = np.concatenate([[0], np.cumsum(self._tree.widths[node.open_])])
        places = np.concatenate([np.arange(starts[i], starts[i + 1]) for i in order])
        node.open_ = [node.open_[i] for i in order]
        floors = self._tree.floors[self._of(node.open_)]
        node.M, node.z, node.level = make_steps(node.M[:, places], node.z, floors)
        self._report_leading(node)
        n_children = min(len(order) - 1, self._k - len(node.fixed))
        node.bounds = [total - _SAFE * costs[i] for i in order[:n_children]]

    def _report_singles(self, node: Node) -> None:
        """Compare the sets of the fixed features and any one of the open ones."""
        column = 0
        for f in node.open_:
            floors = self._tree.floors[self._columns[f]]
            own = node.M[:, column : column + len(floors)]
            column += len(floors)
            gain = float((make_steps(own, node.z, floors)[1] ** 2).sum())
            self._report(node, [f], node.total + gain)

    def _report_leading(self, node: Node) -> None:
        column, width = 0, 0
        for i, f in enumerate(node.open_[: self._k - len(node.fixed)]):
            column += int(self._tree.widths[f])
            width += int(self._tree.widths[f])
            total = node.total + float((node.z[: node.level[column - 1]] ** 2).sum())
            self._report(node, node.open_[: i + 1], total)

    def _report(self, node: Node, more: list[int], total: float) -> None:
        tree, features = self._tree, [*node.fixed, *more]
        value = float(tree.objective.of(total, tree.widths[features].sum()))
        tree.counts[1] += 1
        size = len(features)
        if tree.best[size] == -np.inf or is_better(value, float(tree.best[size])):
            tree.best[size] = value
            tree.sets[size, :size] = features

    def _child(self, node: Node) -> Node | None:
        """Return the next child that may have better sets, the last first."""
        widths = self._tree.widths
        while node.bounds:
            bound, i = node.bounds.pop(), len(node.bounds)
            width = node.width + int(widths[node.open_[:i]].sum())
            n_fixed, n_open = len(node.fixed) + i, len(node.open_) - i - 1
            if self._may_be_better(bound, n_fixed, n_open, width):
                return self._fix(node, i, i + 1)
        return None

    def _may_be_better(self, total: float, n_fixed: int, n_open: int, width: int) -> bool:
        tree = self._tree
        for size in range(n_fixed + 1, min(self._k, n_fixed + n_open) + 1):
            value = tree.objective.of(total, width + (size - n_fixed) * self._least)
            if tree.best[size] == -np.inf or is_better(float(value), float(tree.best[size])):
                return True
        return False

    def _bound(self, nodes: list[Node]) -> float:
        """Return what no set of the largest size exceeds, by all that has not been looked at."""
        tree, bound = self._tree, float(self._tree.best[self._k])
        for node in nodes:
            for i, total in enumerate(node.bounds):
                n_fixed, n_open = len(node.fixed) + i, len(node.open_) - i - 1
                width = node.width + int(tree.widths[node.open_[:i]].sum())
                if n_fixed + n_open >= self._k:
                    least = width + (self._k - n_fixed) * self._least
                    bound = max(bound, float(tree.objective.of(total, least)))
        return bound

    def _costs(self, node: Node) -> list[float]:
        """Return what each open feature loses if it is dropped, or less.

        A feature that a dependent column is made of loses nothing: that column can stand in.
        """
        before = np.concatenate([[0], node.level[:-1]])
        is_alive = np.array(node.level) > before
        alive = np.flatnonzero(is_alive)
        owner = np.repeat(np.arange(len(node.open_)), self._tree.widths[node.open_])
        U = np.linalg.inv(node.M[:, alive])
        b, costs = U @ node.z, []
        stands_in = np.abs(U @ node.M[:, ~is_alive]).max(axis=1, initial=0.0) > _MADE_OF
        for i, f in enumerate(node.open_):
            at = np.flatnonzero(owner[alive] == i)
            cost = 0.0
            if len(at) == self._tree.widths[f] and not stands_in[at].any():
                _, T = np.linalg.qr(U[at].T)
                lengths = np.abs(T.diagonal())
                if lengths.min() ** 2 > _FEW_DIGITS * (U[at] ** 2).sum(axis=1).max():
                    cost = float((np.linalg.solve(T.T, b[at]) ** 2).sum())
            costs.append(cost)
        return costs


def make_steps(M: Floats, z: Floats, floors: Floats) -> tuple[Floats, Floats, list[int]]:
    """Turn rows of M and z so that column j of M has nothing below row level[j].

    A column that depends on those before it, given `floors`, adds no row. Rows that no column needs
    are left out: what they hold of the response nobody explains.

    Examples
    --------
    >>> M, z, level = make_steps(np.array([[3.0, 6.0, 1.0], [4.0, 8.0, 1.0]]), np.ones((2, 1)),
    ...     np.full(3, 1e-12))
    >>> level, np.abs(M).round(3).tolist()
    ([1, 1, 2], [[5.0, 10.0, 1.4], [0.0, 0.0, 0.2]])
    """
    M, z = M.copy(), z.copy()
    row, level = 0, []
    for j in range(M.shape[1]):
        v = M[row:, j].copy()
        norm = np.sqrt(v @ v)
        if norm <= floors[j]:
            M[row:, j] = 0.0
            level.append(row)
            continue
        head = -norm if v[0] < 0 else norm
        v[0] += head
        factor = 1.0 / (head * v[0])
        M[row:, j + 1 :] -= np.outer(factor * v, v @ M[row:, j + 1 :])
        z[row:] -= np.outer(factor * v, v @ z[row:])
        M[row:, j] = 0.0
        M[row, j] = -head
        row += 1
        level.append(row)
    return M[:row], z[:row], level
