"""Scores that can only fall: no more is counted than needed, and nothing else changes."""

import shutil

import numpy as np
import pytest
from benchmarks.lazy_cmim import lazy_cmim

from orthoselect import native, select
from orthoselect.counts import DenseCodes
from orthoselect.counts.packed import PackedCounts
from orthoselect.counts.tables import CodeCounts
from orthoselect.criteria.information import InformationState, WholeScore

pytestmark = pytest.mark.skipif(not native.available(), reason="NumPy counts all pairs")

SCORES = [("cmim", True), ("cmim", False), ("icap", True)]
KINDS = [CodeCounts, PackedCounts]


def random_codes(rng, N, n, c):
    """Return codes of few levels, with copies and constants among them, and classes."""
    y = rng.integers(0, c, N)
    levels = rng.integers(1, 5, n)
    levels[0] = 4
    values = (rng.random((n, N)) * levels[:, None]).astype(np.uint8)
    values[1::3] = np.where(rng.random((len(values[1::3]), N)) < 0.3, y % 2, values[1::3])
    levels[1::3] = np.maximum(levels[1::3], 2)
    values[2::5], levels[2::5] = values[0], levels[0]
    return DenseCodes(values, levels), y


def path(counts, name, capped, t, corrected=False):
    def score(relevance, T):
        return WholeScore(relevance, T, name=name, capped=capped)

    state = InformationState(counts, score, t, corrected)
    open_, steps = np.ones(counts.shape[1], dtype=bool), []
    while len(steps) < t and (f := state.best(open_)) is not None:
        steps.append((f, state.add(f)))
        open_[f] = False
    return steps, state


def all_counted(counts):
    counts.falling = lambda *_, **__: None
    return counts


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "capped"), SCORES)
def test_lazy_scores_are_those_of_all_pairs_ties_included(kind, name, capped, rng):
    for _ in range(40):
        N, n, c = rng.integers(2, 90), rng.integers(1, 40), rng.integers(1, 4)
        codes, y = random_codes(rng, int(N), int(n), int(c))
        t, corrected = int(rng.integers(1, 8)), bool(rng.random() < 0.3)
        lazy, state = path(kind(codes, y, int(c)), name, capped, t, corrected)
        whole, other = path(all_counted(kind(codes, y, int(c))), name, capped, t, corrected)
        assert lazy == whole
        np.testing.assert_array_equal(state.gains(), other.gains())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "capped"), SCORES)
def test_most_pairs_are_never_counted(kind, name, capped, rng):
    N, n, t = 400, 600, 12
    y = rng.integers(0, 2, N)
    told = rng.random((n, 1)) * 0.4  # features that tell more and less of the class
    values = np.where(rng.random((n, N)) < told, y, rng.integers(0, 2, (n, N))).astype(np.uint8)
    codes = DenseCodes(values, np.full(n, 2))
    steps, state = path(kind(codes, y, 2), name, capped, t)
    assert state.stats()["sweeps"] <= 1 + t // 3
    assert steps == path(all_counted(kind(codes, y, 2)), name, capped, t)[0]


def test_threads_change_no_score(monkeypatch, rng):
    codes, y = random_codes(rng, 80, 60, 3)
    alone = path(CodeCounts(codes, y, 3), "cmim", True, 8)[0]
    monkeypatch.setattr("orthoselect.counts.falling._WORTH_A_THREAD", 0.0)
    assert path(CodeCounts(codes, y, 3), "cmim", True, 8)[0] == alone


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_the_rival_in_the_benchmarks_selects_the_same(rng):
    """A loop in C of its own, from the paper; made of floats, so that its ties are not exact."""
    for _ in range(20):
        X = rng.integers(0, rng.integers(2, 7), (150, 30)).astype(np.uint8)
        y = np.where(rng.random(150) < 0.6, X[:, 3] % 3, rng.integers(0, 3, 150))
        assert lazy_cmim(X, y, 6) == select(X, y, 6, method="cmim").features
