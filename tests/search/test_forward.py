"""The greedy walk: its order, its end, what it keeps and what it costs."""

import numpy as np
import pytest

from orthoselect import select
from orthoselect.criteria import State, plan
from orthoselect.errors import SearchStoppedWarning, SelectionInterrupted
from orthoselect.matrix import DenseMatrix
from orthoselect.search import ForwardSearch


class Countdown(State):
    """Features worth 3, 2, 1 and nothing."""

    def __init__(self, fails_at=None):
        self.worth, self.fails_at = [0.0, 2.0, 3.0, 1.0], fails_at

    def best(self, candidates):
        open_ = [f for f in range(4) if candidates[f] and self.worth[f] > 0]
        return max(open_, key=self.worth.__getitem__, default=None)

    def add(self, f):
        if f == self.fails_at:
            raise KeyboardInterrupt
        self.value += self.worth[f]
        return self.worth[f]

    def gains(self):
        return np.array(self.worth)

    def exhausted(self):
        return "nothing left"


def walk(size, include=(), candidates=(True,) * 4):
    steps = ForwardSearch().run(Countdown(), size, include, np.array(candidates))
    return [(step.feature, step.gain, step.value) for step in steps]


def test_takes_the_best_first():
    assert walk(2) == [(2, 3.0, 3.0), (1, 2.0, 5.0)]


def test_stops_when_nothing_adds():
    assert [step[0] for step in walk(4)] == [2, 1, 3]


def test_included_come_first_in_their_order():
    assert [step[0] for step in walk(3, include=[0, 3])] == [0, 3, 2]


def test_takes_only_candidates():
    assert [step[0] for step in walk(4, candidates=[True, True, False, True])] == [1, 3]


def mnist_like(N=6000, n=784, classes=10):
    """Pixels that lean on some thirty strokes, many of them mostly dark."""
    rng = np.random.default_rng(0)
    strokes = rng.normal(size=(N, 30))
    X = np.maximum(strokes @ rng.normal(size=(30, n)) + 2 * rng.normal(size=(N, n)) - 3, 0)
    y = (strokes[:, :classes] + rng.normal(size=(N, classes))).argmax(axis=1)
    return X, y


def test_fifty_features_take_fewer_than_fifteen_passes():
    X, y = mnist_like()
    stats = select(X, y, 50).stats
    assert stats["strategy"] == "gram columns"
    assert stats["passes"] < 15
    assert stats["products"] < 300


def test_tall_table_is_read_once():
    X, y = mnist_like(6000, 40, 3)
    path = select(X, y, 10)
    assert path.stats["strategy"] == "whole gram"
    assert path.stats["passes"] == 1


def test_a_sample_of_the_rows_saves_a_pass(monkeypatch):
    """Columns that share factors: those that lead at first are much alike, and few of them win."""
    rng = np.random.default_rng(1)
    factors = rng.normal(size=(20000, 10))
    X = factors @ rng.normal(size=(10, 60)) + rng.normal(size=(20000, 60))
    y = (factors[:, :3] + rng.normal(size=(20000, 3))).argmax(axis=1)
    monkeypatch.setattr(plan, "whole_gram_pays", lambda *_: False)
    assert not plan.sampling_pays(DenseMatrix(X), 10, 0)  # too small for it to pay
    without = select(X, y, 10)
    monkeypatch.setattr(plan, "_SAMPLES_IN_A_PASS", 1)
    path = select(X, y, 10)
    assert path.stats["passes"] < without.stats["passes"]
    assert path.features == without.features
    np.testing.assert_allclose(path.gains, without.gains, rtol=1e-10)


def test_one_feature_of_a_wide_table_takes_one_pass():
    X, y = mnist_like(500, 784, 3)
    assert select(X, y, 1).stats["passes"] == 1


def test_why_it_stopped_does_not_hang_on_what_was_fetched(monkeypatch):
    """With ten rows nothing is left of any column when the response is explained."""
    monkeypatch.setattr(plan, "whole_gram_pays", lambda *_: False)
    monkeypatch.setattr(plan, "rows_pay", lambda *_: False)
    for seed in range(10):
        X = np.random.default_rng(seed).normal(size=(12, 10)).astype(np.float32).T
        reasons = set()
        for ahead in (1, 2, 6, 12):
            monkeypatch.setattr(plan, "columns_ahead", lambda *_, ahead=ahead: ahead)
            with pytest.warns(SearchStoppedWarning) as caught:
                path = select(X, np.arange(10) % 2, 12)
            assert path.stopped in str(caught[0].message)
            reasons.add(path.stopped)
        assert len(reasons) == 1


def test_interruption_keeps_the_steps_made(monkeypatch):
    X, y = mnist_like(300, 60, 3)
    expected = select(X, y, 8)
    from orthoselect.criteria.cancorr import CanonicalState

    add = CanonicalState.add

    def interrupted_add(state, f):
        if f == expected.features[5]:
            raise KeyboardInterrupt
        return add(state, f)

    monkeypatch.setattr(CanonicalState, "add", interrupted_add)
    with pytest.raises(SelectionInterrupted, match="after 5") as caught:
        select(X, y, 8)
    assert caught.value.path.features == expected.features[:5]
    assert isinstance(caught.value, KeyboardInterrupt)
