"""Slow, obviously right twins: explicit centering, singular values, all candidates tried.

Nothing here imports orthoselect, and nothing here is clever.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np


def centered(A, w=None):
    """Columns minus their weighted mean, rows times sqrt(w), columns at norm one."""
    A = np.asarray(A, dtype=np.longdouble)
    if A.ndim == 1:
        A = A[:, None]
    w = np.ones(len(A)) if w is None else np.asarray(w, dtype=float)
    A = A - (w[:, None] * A).sum(axis=0) / w.sum()
    A = A * np.sqrt(w)[:, None]
    norms = np.sqrt((A * A).sum(axis=0))
    return (A / np.where(norms > 0, norms, 1)).astype(float)


def span(A, tolerance=1e-10):
    """Orthonormal basis of the columns of A, by singular values."""
    if not A.shape[1]:
        return np.zeros((A.shape[0], 0))
    U, s, _ = np.linalg.svd(A, full_matrices=False)
    return U[:, s > tolerance * max(s.max(initial=0), 1e-300)]


def residual(x, Q):
    """What is left of a vector when its best fit by the columns of Q is taken out."""
    return x - Q @ np.linalg.lstsq(Q, x, rcond=None)[0] if Q.shape[1] else x


def squared_canonical_correlations(A, Y, w=None, tolerance=1e-10):
    """Squared canonical correlations of raw columns A and Y."""
    U, V = span(drop_constants(A, w), tolerance), span(drop_constants(Y, w), tolerance)
    if not U.shape[1] or not V.shape[1]:
        return np.zeros(0)
    return np.clip(np.linalg.svd(U.T @ V, compute_uv=False), 0, 1) ** 2


def drop_constants(A, w=None):
    """Centered columns of norm one, without those that do not vary."""
    A = np.asarray(A, dtype=float)
    A = A[:, None] if A.ndim == 1 else A
    live = A if w is None else A[np.asarray(w) > 0]
    varies = (live != live[:1]).any(axis=0) if len(live) else np.zeros(A.shape[1], bool)
    return centered(A[:, varies], w) if varies.any() else np.zeros((len(A), 0))


def value(A, Y, w=None, tolerance=1e-10):
    """The criterion of a set of columns: the sum of squared canonical correlations."""
    return squared_canonical_correlations(A, Y, w, tolerance).sum()


def moments(A, w=None):
    """Weighted means, covariances and sums of products of the columns of stacked rows."""
    A = np.asarray(A, dtype=np.longdouble)
    w = np.ones(len(A)) if w is None else np.asarray(w, dtype=float)
    means = (w[:, None] * A).sum(axis=0) / w.sum()
    gram = (w[:, None] * A).T @ A
    spread = (w[:, None] * (A - means)).T @ (A - means) / w.sum()
    return means.astype(float), spread.astype(float), gram.astype(float)


def exact_r_squared(columns, y, w=None):
    """Share of y that columns explain, row weights w, in fractions: nothing is rounded."""
    w = [Fraction(1)] * len(y) if w is None else [Fraction(float(v)) for v in w]

    def inner(a, b):
        return sum(p * q * weight for p, q, weight in zip(a, b, w))

    def centered_exactly(column):
        column = [Fraction(float(v)) for v in column]
        mean = inner(column, [1] * len(w)) / sum(w)
        return [v - mean for v in column]

    y, basis, explained = centered_exactly(y), [], Fraction(0)
    for column in columns:
        rest = centered_exactly(column)
        for q, square in basis:
            along = inner(rest, q) / square
            rest = [v - along * u for v, u in zip(rest, q)]
        if square := inner(rest, rest):
            basis.append((rest, square))
            explained += inner(rest, y) ** 2 / square
    return float(explained / inner(y, y))


def one_hot(labels):
    """One indicator column for every distinct label."""
    labels = np.asarray(labels)
    return np.column_stack([(labels == level).astype(float) for level in sorted(set(labels))])


def forward(
    blocks, Y, t, w=None, include=(), tie=1e-9, nothing=1e-13, tolerance=1e-10, adjust=True
):
    """Greedy selection by definition.

    With `adjust` the best is the feature that gains most beyond chance: a feature of rank z gains
    z (m - total)/(N - 1 - s) on average if it is noise, s the rank of those taken.

    Parameters
    ----------
    blocks : list of arrays (N, p)
        The raw columns of each feature.
    Y : array (N, q)
        The coded response.

    Returns
    -------
    selected, gains : lists
    """
    blocks = [np.asarray(b, float).reshape(len(Y), -1) for b in blocks]
    selected, gains, reached = [], [], 0.0
    n_rows = len(Y)
    if w is not None and np.ptp(w):  # whole weights are copies, others have mean one
        whole = (np.asarray(w) == np.trunc(w)).all()
        n_rows = np.sum(w) if whole else np.count_nonzero(w)
    m = span(drop_constants(Y, w), tolerance).shape[1]
    taken = np.zeros((len(Y), 0))
    for f in include:
        taken = np.hstack([taken, blocks[f]])
        new = value(taken, Y, w, tolerance)
        selected.append(f)
        gains.append(new - reached)
        reached = new
    while len(selected) < t:
        rank = span(drop_constants(taken, w), tolerance).shape[1]
        chance = adjust * max(m - reached, 0.0) / max(n_rows - 1 - rank, 1)
        scores, merits = {}, {}
        for f, block in enumerate(blocks):
            if f in selected:
                continue
            both = np.hstack([taken, block])
            added = span(drop_constants(both, w), tolerance).shape[1] - rank
            gain = value(both, Y, w, tolerance) - reached
            if added and gain > nothing:
                scores[f], merits[f] = gain, gain - added * chance
        if not scores:
            break
        top = max(merits, key=merits.get)
        best = min(f for f in scores if merits[f] >= merits[top] - tie * scores[top])
        taken = np.hstack([taken, blocks[best]])
        selected.append(best)
        gains.append(scores[best])
        reached += scores[best]
    return selected, gains


def exact_columns(A, w=None):
    """Centered columns of norm one, with the digits of long doubles."""
    A = np.asarray(A, dtype=np.longdouble)
    A = A[:, None] if A.ndim == 1 else A
    w = np.ones(len(A)) if w is None else w
    w = np.asarray(w, dtype=np.longdouble)
    A = (A - (w @ A) / w.sum()) * np.sqrt(w)[:, None]
    return A / np.sqrt((A * A).sum(axis=0))


def exact_basis(A):
    """Orthonormal basis of independent long double columns, in their order, one by one."""
    Q = np.zeros((len(A), 0), dtype=np.longdouble)
    for x in A.T:
        w = exact_residual(x[:, None], Q)[:, 0]
        Q = np.column_stack([Q, w / np.sqrt(w @ w)])
    return Q


def exact_residual(A, Q):
    """What is left of long double columns once an orthonormal basis is taken out, three times."""
    for _ in range(3):
        for q in Q.T:
            A = A - np.outer(q, q @ A)
    return A


def exact_gains(A, V, S):
    """What each exact column would add to those of S, and what is left of it."""
    W = exact_residual(A, exact_basis(A[:, list(S)]))
    d = (W * W).sum(axis=0)
    C = V.T @ W
    return (C * C).sum(axis=0) / np.where(d > 0, d, 1), d


def orthogonal_gain(rest, Y, criterion, total):
    """What a column that is orthogonal to the selected ones is worth by an older criterion."""
    if criterion == "obcc":
        u = Y[:, -1]
        rest = rest - u * (u @ rest)
        rest = rest - u * (u @ rest)
        if rest @ rest < 1e-22:
            return 0.0
    gain = 0.0
    for y in Y[:, :-1].T:
        if criterion == "obcc":
            y = y - u * (u @ y)
            y = y - u * (u @ y)
        energy = y @ y
        if energy > 1e-22 * (Y[:, :-1] ** 2).sum():
            share = (rest @ y) ** 2 / (rest @ rest) / energy
            gain += share * energy / total if criterion == "mser" else share
    return gain


def orthogonal_forward(
    X, Y, t, criterion, w=None, include=(), tie=1e-9, nothing=1e-13, tolerance=1e-11
):
    """Greedy selection by err, mser or obcc: every candidate orthogonalized in long doubles.

    Parameters
    ----------
    X : array (N, n)
    Y : array (N, q)
        The responses as numbers.
    """
    w = np.ones(len(X)) if w is None else np.asarray(w, dtype=float)
    w = w / w[w > 0].mean()
    root = np.sqrt(w.astype(np.longdouble))[:, None]
    flat = np.ptp(X[w > 0], axis=0) == 0
    X = np.asarray(X, dtype=np.longdouble) * root
    norms = np.sqrt((X * X).sum(axis=0))
    X = X / np.where(norms > 0, norms, 1)
    u = root / np.sqrt((root**2).sum())
    Y = np.hstack([np.asarray(Y, dtype=np.longdouble) * root, u])
    most = (Y[:, :-1] ** 2).sum() / w.sum() if criterion == "mser" else 1.0
    Q, selected, gains = [], [], []

    def left(f):
        rest = X[:, f]
        for _ in range(3):
            for q in Q:
                rest = rest - q * (q @ rest)
        return rest

    def independent(rest):
        return rest @ rest > tolerance**2

    def take(f, gain):
        rest = left(f)
        if independent(rest):
            Q.append(rest / np.sqrt(rest @ rest))
        selected.append(f)
        gains.append(float(gain))

    for f in include:
        rest = left(f)
        useful = independent(rest) and not (criterion == "obcc" and flat[f])
        take(f, orthogonal_gain(rest, Y, criterion, w.sum()) if useful else 0.0)
    while len(selected) < t:
        scores = {}
        for f in range(X.shape[1]):
            if f in selected or (criterion == "obcc" and flat[f]):
                continue
            rest = left(f)
            if independent(rest):
                scores[f] = orthogonal_gain(rest, Y, criterion, w.sum())
        best_gain = max(scores.values(), default=0.0)
        if best_gain <= nothing * most:
            break
        best = min(f for f in scores if scores[f] >= best_gain * (1 - tie))
        take(best, scores[best])
    return selected, gains


def standardized(A, w=None):
    """Columns at mean zero and standard deviation one; constant ones are zero."""
    A = np.asarray(A, dtype=float)
    w = np.ones(len(A)) if w is None else np.asarray(w, dtype=float)
    A = A - np.average(A, axis=0, weights=w)
    spread = np.sqrt(np.average(A**2, axis=0, weights=w))
    return np.where(spread > 1e-9, A / np.where(spread > 1e-9, spread, 1), 0.0)


def entries(X, Y, t, l1_ratio, steps=1500, eps=1e-3):
    """Sets of features that enter the elastic net path together, on a fine grid of penalties.

    X is standardized; Y (N, q) is centered. Stops once t features have entered.
    """
    from sklearn.linear_model import enet_path

    largest = np.linalg.norm(X.T @ Y, axis=1).max() / len(X) / l1_ratio
    alphas = largest * np.geomspace(1, eps, steps)
    seen, sets = set(), []
    coefficients = None
    for start in range(0, steps, 50):
        _, path, _ = enet_path(
            X,
            Y[:, 0] if Y.shape[1] == 1 else Y,
            l1_ratio=l1_ratio,
            alphas=alphas[start : start + 50],
            coef_init=coefficients,
            tol=1e-10,
            max_iter=100_000,
            precompute=False,
        )
        path = path[None] if path.ndim == 2 else path
        coefficients = np.asfortranarray(path[0, :, -1] if Y.shape[1] == 1 else path[:, :, -1])
        sizes = np.linalg.norm(path, axis=0)
        for column in sizes.T:
            new = {int(j) for j in np.flatnonzero(column > 1e-9 * column.max())} - seen
            if new:
                sets.append(new)
                seen |= new
        if len(seen) >= t:
            break
    return sets


def shapley_values(predict, x, background):
    """Shapley values of predict at row x, by trying every coalition of its features.

    Features that are absent take their values in the rows of the background, in turn.

    Returns
    -------
    values : array (n, outputs)
    """
    from itertools import combinations
    from math import factorial

    n = len(x)

    def worth(present):
        rows = np.array(background, dtype=float)
        rows[:, list(present)] = x[list(present)]
        return predict(rows).mean(axis=0)

    values = []
    for k in range(n):
        others = [j for j in range(n) if j != k]
        value = 0.0
        for s in range(n):
            share = factorial(s) * factorial(n - s - 1) / factorial(n)
            for present in combinations(others, s):
                value = value + share * (worth((*present, k)) - worth(present))
        values.append(value)
    return np.array(values)


# Information criteria: probabilities by counting in dictionaries, sums as they are written.


class Informations:
    """Entropies and informations, in nats, of columns of labels and the class.

    Parameters
    ----------
    X : list of columns
    y : column
    w : row weights, optional
    """

    def __init__(self, X, y, w=None):
        self.columns = {**dict(enumerate(X)), "y": y}
        self.w = [1] * len(y) if w is None else list(w)
        self.known = {}

    def probabilities(self, names):
        """Share of the weight that each combination of values has."""
        total, found = sum(self.w), {}
        for row, weight in enumerate(self.w):
            if weight:
                values = tuple(self.columns[name][row] for name in names)
                found[values] = found.get(values, 0) + weight
        return {values: weight / total for values, weight in found.items()}

    def H(self, *names):
        """Entropy of the joint distribution."""
        return -math.fsum(p * math.log(p) for p in self.probabilities(names).values())

    def I(self, A, B, given=()):  # noqa: E743
        """Information of the columns A about the columns B, given others."""
        if (A, B, given) not in self.known:
            value = self._information(A, B, given)
            self.known[A, B, given] = 0.0 if abs(value) < 1e-13 else value
        return self.known[A, B, given]

    def _information(self, A, B, C):
        """The definition, a sum over all joint values."""
        left, right = self.probabilities((*A, *C)), self.probabilities((*B, *C))
        alone, terms = self.probabilities(C), []
        for values, p in self.probabilities((*A, *B, *C)).items():
            x, y, z = values[: len(A)], values[len(A) : len(A) + len(B)], values[len(A) + len(B) :]
            terms.append(p * math.log(p * alone[z] / (left[x + z] * right[y + z])))
        return math.fsum(terms)


class CorrectedInformations(Informations):
    """The same with Miller and Madow's entropies: (K - 1)/(2 N) more for K filled cells."""

    def H(self, *names):
        cells = len(self.probabilities(names))
        return super().H(*names) + (cells - 1) / (2 * sum(self.w))

    def _information(self, A, B, C):
        return self.H(*A, *C) + self.H(*B, *C) - self.H(*A, *B, *C) - self.H(*C)


def information_score(name, k, S, infos, constant=0.0, capped=True):
    """One of the eight criteria for column k, the columns S being selected."""
    I, H = infos.I, infos.H  # noqa: E741
    k, y = (k,), ("y",)
    relevance = I(k, y)
    if not S or name == "mim":
        return relevance
    S = [(j,) for j in S]
    if name == "mrmr_difference":
        return relevance - math.fsum(I(k, j) for j in S) / len(S)
    if name == "mrmr_quotient":
        bottom = math.fsum(I(k, j) for j in S) / len(S) + constant
        return 0.0 if not relevance else relevance / bottom if bottom else math.inf
    if name == "jmi":
        return math.fsum(I(k + j, y) for j in S)
    if name == "cmim":
        rest = min(I(k, y, j) for j in S)
        return min(relevance, rest) if capped else rest
    if name == "cife":
        return relevance - math.fsum(I(k, j) for j in S) + math.fsum(I(k, j, y) for j in S)
    if name == "icap":
        return relevance - math.fsum(max(0.0, I(k, j) - I(k, j, y)) for j in S)
    if name == "disr":
        return math.fsum(I(k + j, y) / H(*k, *j, "y") if I(k + j, y) else 0.0 for j in S)
    raise ValueError(name)


def forward_information(name, infos, t, include=(), exclude=(), tie=1e-12, **options):
    """Greedy selection by one of the eight criteria.

    Returns
    -------
    selected, scores : lists
    """
    selected, gains = [], []
    columns = [k for k in infos.columns if k != "y"]
    varies = [k for k in columns if len(infos.probabilities((k,))) > 1 and k not in exclude]

    def score(k):
        return information_score(name, k, selected, infos, **options)

    for f in include:
        gains.append(score(f))
        selected.append(f)
    while len(selected) < t:
        scores = {k: score(k) for k in varies if k not in selected}
        if not scores:
            break
        top = max(scores.values())
        if top == math.inf:  # without redundancy: by relevance
            free = [k for k in scores if scores[k] == top]
            scores = {k: information_score("mim", k, [], infos) for k in free}
            top = max(scores.values())
        near = tie * max(1.0, abs(top))
        best = min(k for k in scores if scores[k] >= top - near)
        gains.append(score(best))
        selected.append(best)
    return selected, gains


def mean_std_levels(column, n_levels, w=None):
    """How many of the cuts at m - s, (m,) m + s each value reaches; s of the population."""
    column = [Fraction(float(v)) for v in column]
    w = [1] * len(column) if w is None else [Fraction(float(v)) for v in w]
    if len({v for v, weight in zip(column, w) if weight}) < 2:
        return [0] * len(column)
    total = sum(w)
    m = sum(v * weight for v, weight in zip(column, w)) / total
    variance = sum(weight * (v - m) ** 2 for v, weight in zip(column, w)) / total

    def reaches(v, sign):
        """Whether v >= m + sign * s, exactly: by squares, s itself being no fraction."""
        d = v - m
        if sign == 0:
            return d >= 0
        if sign > 0:
            return d >= 0 and d * d >= variance
        return d >= 0 or d * d <= variance

    signs = (-1, 1) if n_levels == 3 else (-1, 0, 1)
    return [sum(reaches(v, sign) for sign in signs) for v in column]


def count_sums(columns, y, w=None):
    """Sums of c ln c over tables of counts, by counting every row in a dictionary.

    Parameters
    ----------
    columns : list of sequences
        The labels of each feature, of any kind.
    y : sequence
    w : sequence of floats, optional
        Row weights.

    Returns
    -------
    dict
        "n" and "y" for all rows and for the classes; "x" and "xy" are lists by feature; "xj" and
        "xjy" are lists of lists by pair of features.
    """
    w = [1] * len(y) if w is None else list(w)

    def total(*parts):
        counts = {}
        for weight, *cell in zip(w, *parts):
            counts[tuple(cell)] = counts.get(tuple(cell), 0) + weight
        return math.fsum(c * math.log(c) for c in counts.values() if c > 0)

    return {
        "n": total(),
        "y": total(y),
        "x": [total(x) for x in columns],
        "xy": [total(x, y) for x in columns],
        "xj": [[total(x, other) for x in columns] for other in columns],
        "xjy": [[total(x, other, y) for x in columns] for other in columns],
    }


def fill_gaps(table, missing, w=None):
    """Columns of a table with gaps -> blocks of numbers, the rows that are left, and their weights.

    `table` is a list of columns, each an array of floats (NaN is a gap) or a list of labels (None
    is one). Everything is done by hand, column by column and row by row.
    """
    n_rows = len(table[0])
    is_gap = [[value is None or value != value for value in column] for column in table]
    rows = list(range(n_rows))
    if missing == "drop_rows":
        rows = [i for i in rows if not any(gaps[i] for gaps in is_gap)]
    weights = [1.0 if w is None else float(w[i]) for i in rows]
    blocks = []
    for column, gaps in zip(table, is_gap):
        if isinstance(column, list):
            labels = [("gap",) if gaps[i] else ("level", column[i]) for i in rows]
            levels = sorted(set(labels))
            block = [[float(label == level) for level in levels[1:]] for label in labels]
            blocks.append(np.array(block).reshape(len(rows), len(levels) - 1))
            continue
        there = [(column[i], weight) for i, weight in zip(rows, weights) if not gaps[i]]
        total = sum(weight for _, weight in there)
        mean = sum(value * weight for value, weight in there) / total if total else 0.0
        filled = np.array([mean if gaps[i] else column[i] for i in rows])
        block = [filled]
        if missing == "indicator" and any(gaps[i] for i in rows):
            block.append(np.array([float(gaps[i]) for i in rows]))
        blocks.append(np.column_stack(block))
    return blocks, rows, None if w is None else np.array(weights)


def best_subsets(blocks, Y, k, w=None, include=(), n_rows=None, measure=None):
    """The best set of every size, by trying all of them.

    With `n_rows`, sets are compared by what they explain beyond chance, as an adjusted R squared:
    m - (m - total)(n_rows - 1)/(n_rows - 1 - ranks of its features). `measure` is the criterion of
    a list of features, that of canonical correlations if it is not given.

    Returns
    -------
    best : dict of int to (value, total, set)
    value_of : function of a collection of features
    """
    from itertools import combinations

    blocks = [np.asarray(b, float).reshape(len(Y), -1) for b in blocks]
    ranks = [span(drop_constants(b, w)).shape[1] for b in blocks]
    V = span(drop_constants(Y, w))
    columns = [drop_constants(b, w) for b in blocks]

    def explained(S):
        if measure is not None:
            return measure(S)
        A = np.hstack([columns[f] for f in S]) if S else np.zeros((len(Y), 0))
        return (span(A).T @ V).ravel() @ (span(A).T @ V).ravel()

    def value_of(S):
        total = explained(list(S))
        if n_rows is None:
            return total, total
        left = max(n_rows - 1 - sum(ranks[f] for f in S), 1)
        return V.shape[1] - (V.shape[1] - total) * (n_rows - 1) / left, total

    others = [f for f in range(len(blocks)) if f not in include and ranks[f]]
    best = {}
    for size in range(len(include), k + 1):
        for more in combinations(others, size - len(include)):
            S = (*include, *more)
            value, total = value_of(S)
            if size not in best or value > best[size][0]:
                best[size] = value, total, S
    return best, value_of


def terms(signals, factors, degree, at, constant):
    """Every product of up to so many lagged signals, written out, (len(at), number of terms)."""
    lagged = [signals[s][at - lag] for s, lag in factors]
    columns = [np.ones(len(at))] if constant else []
    for d in range(1, degree + 1):
        for chosen in combinations_with_replacement(lagged, d):
            columns.append(np.prod(chosen, axis=0))
    return np.column_stack(columns)


def free_run(S, segments, output, starts, signal, lag, theta, limit, Y):
    """Run a model on its own output, one time and one factor after the other."""
    q, Y, diverged = len(Y), Y.copy(), []
    for first, stop in segments:
        where = -1
        for k in range(first, stop):
            new = np.zeros(q)
            for m, a in enumerate(output):
                product = 1.0
                for f in range(starts[m], starts[m + 1]):
                    s, t = signal[f], k - lag[f]
                    product *= Y[s, t] if s < q and t >= first else S[s, t]
                new[a] += theta[m] * product
            if not (np.abs(new) <= limit).all():
                where = k
                break
            Y[:, k] = new
        diverged.append(where)
    return Y, np.array(diverged)


def leave_one_out(P, y):
    """The mean squared error of predicting each row by least squares of all others."""
    errors = []
    for i in range(len(y)):
        others = np.arange(len(y)) != i
        theta = np.linalg.lstsq(P[others], y[others], rcond=None)[0]
        errors.append(y[i] - P[i] @ theta)
    return np.mean(np.square(errors))


# Cross-validated sizes


def cross_validated_sizes(X, y, selector, model, scorer, splits, sizes):
    """Select and train anew for every fold and size; return the scores, one row a size.

    `selector` and `model` make what is fitted, the first of a size; `splits` are pairs of rows.
    """
    scores = np.empty((len(sizes), len(splits)))
    for k, (train, validation) in enumerate(splits):
        for row, size in enumerate(sizes):
            chosen = np.sort(selector(size).fit(X[train], y[train]).selected_)
            fitted = model().fit(X[train][:, chosen], y[train])
            scores[row, k] = scorer(fitted, X[validation][:, chosen], y[validation])
    return scores


def size_by_rule(scores, sizes, splits, rule):
    """Return the size that a rule chooses, by the formula of the standard error."""
    means = scores.mean(axis=1)
    best = next(row for row in range(len(sizes)) if means[row] >= means.max() - 1e-9)
    if rule == "best":
        return sizes[best]
    ratio = sum(len(v) for _, v in splits) / sum(len(t) for t, _ in splits)
    for row, size in enumerate(sizes):
        below = scores[best] - scores[row]
        error = below.std(ddof=1) * np.sqrt(1 / len(splits) + ratio)
        if below.mean() <= error + 1e-9:
            return size
    raise AssertionError("the best is as good as the best")


def stability_counts(blocks, Y, halves, q):
    """How often each feature is among the first q that halves of the rows select, one by one."""
    counts = [0] * len(blocks)
    for rows in halves:
        selected, _ = forward([np.asarray(b)[rows] for b in blocks], np.asarray(Y)[rows], q)
        for f in selected:
            counts[f] += 1
    return counts


def set_counts(sets, taken):
    """How many of the halves took any feature of each set."""
    return [sum(any(f in half for f in members) for half in taken) for members in sets]


def alike(X, share=0.5):
    """Average linkage by definition: join the two sets that share most, while that is enough."""
    R2 = np.corrcoef(np.asarray(X, float), rowvar=False) ** 2
    sets = [[j] for j in range(len(R2))]
    while len(sets) > 1:
        pairs = [(a, b) for a in range(len(sets)) for b in range(a)]
        shared = {(a, b): R2[np.ix_(sets[a], sets[b])].mean() for a, b in pairs}
        a, b = max(shared, key=shared.get)
        if shared[a, b] <= share:
            break
        sets[b] += sets.pop(a)
    return sorted(sorted(members) for members in sets)


def random_r_concave(rng, n, r):
    """A random distribution on 0, ..., n whose probabilities to the power r are convex; r < 0."""
    last = rng.integers(1, n + 1)  # beyond, it is zero
    slopes = np.sort(rng.normal(scale=10 ** rng.uniform(-2, 2), size=last))
    g = np.concatenate([[0.0], np.cumsum(slopes)])
    g += 10 ** rng.uniform(-4, 1) - g.min()
    f = np.zeros(n + 1)
    f[: last + 1] = g ** (1 / r)
    return f / f.sum()


def left_beside(A, taken, tolerance=1e-4):
    """Orthonormal basis of what is left of centered columns A beside those taken, at norm one.

    What is left of a direction has to be more than a share of the columns, the root of 1e-8.
    """
    A, Q = drop_constants(A), span(drop_constants(taken))
    A = A[:, independent(A)]
    W = A - Q @ (Q.T @ A)
    U, s, _ = np.linalg.svd(W, full_matrices=False)
    return U[:, s > tolerance]


def independent(A, tolerance=1e-6):
    """Places of columns that add to those before them."""
    kept = []
    for j in range(A.shape[1]):
        rest = residual(A[:, j], A[:, kept])
        if (rest**2).sum() > tolerance**2 * (A[:, j] ** 2).sum():
            kept.append(j)
    return kept


def pillai(block, Y, taken):
    """Sum of squared canonical correlations of what is left of both, and the ranks of both."""
    W, E = left_beside(block, taken), left_beside(Y, taken, 1e-5)
    return ((W.T @ E) ** 2).sum(), W.shape[1], E.shape[1]


def own_log_p(block, Y, taken, n_taken):
    """-log p of one candidate: Pillai's trace by its Beta approximation."""
    from scipy.stats import beta

    U, z, m = pillai(block, Y, taken)
    small, large, R = min(z, m), max(z, m), len(Y) - 1 - n_taken
    if small == 0 or large >= R:
        return 0.0
    return -beta.logsf(min(U / small, 1.0), small * large / 2, small * (R - large) / 2)


def rarest(blocks, Y, taken):
    """The largest -log p of any candidate block, given columns taken."""
    n_taken = span(drop_constants(taken)).shape[1]
    return max((own_log_p(block, Y, taken, n_taken) for block in blocks), default=0.0)


# Radial functions


def radial_columns(points, centers, kernel, width):
    """Radial functions around the centers, one number after the other, (N, K)."""
    functions = {
        "gaussian": lambda r: math.exp(-(r**2)),
        "multiquadric": lambda r: math.sqrt(r**2 + 1),
        "inverse_multiquadric": lambda r: 1 / math.sqrt(r**2 + 1),
        "thin_plate": lambda r: r**2 * math.log(r) if r > 0 else 0.0,
    }
    values = [
        [functions[kernel](math.dist(x, c) / width) for c in centers.tolist()]
        for x in points.tolist()
    ]
    return np.array(values).reshape(len(points), len(centers))


def regularized_forward(P, Y, t, penalties, include=()):
    """Take t columns by the error reduction ratio with penalties, each from what is left of it."""
    taken, gains = list(include), []
    for _ in range(t):
        scores = np.full(P.shape[1], -1.0)
        for j in set(range(P.shape[1])) - set(taken):
            w = P[:, j] - P[:, taken] @ np.linalg.lstsq(P[:, taken], P[:, j], rcond=None)[0]
            if w @ w > 1e-18 * (P[:, j] @ P[:, j]):
                scores[j] = ((w @ Y) ** 2 / (Y * Y).sum(axis=0)).sum() / (w @ w + penalties[j])
        taken.append(int(np.argmax(scores > scores.max() * (1 - 1e-9))))
        gains.append(scores[taken[-1]])
    return taken, gains


def penalized_leave_one_out(P, Y, penalties):
    """Errors of fits without each row; coefficients of orthogonal columns are penalized, (N, q).

    What makes the columns orthogonal is taken from all rows.
    """
    R = np.linalg.qr(P)[1]
    A = R / np.diag(R)[:, None]  # columns are W A, with W orthogonal
    errors = []
    for i in range(len(P)):
        rest = np.arange(len(P)) != i
        G = P[rest].T @ P[rest] + A.T @ np.diag(penalties) @ A
        errors.append(Y[i] - P[i] @ np.linalg.solve(G, P[rest].T @ Y[rest]))
    return np.array(errors)
