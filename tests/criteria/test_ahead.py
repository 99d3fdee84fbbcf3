"""Steps made all at once are those made one by one."""

import warnings

import numpy as np
import pytest

from orthoselect import native, select
from orthoselect.criteria.ahead import NONE_AHEAD
from orthoselect.criteria.gains import Gains
from orthoselect.methods import METHODS
from orthoselect.problem import open_problem
from orthoselect.selection import start

needs_kernels = pytest.mark.skipif(not native.available(), reason="kernels were not built")


def table(kind, rng):
    X = rng.normal(size=(80, 9)) @ rng.normal(size=(9, 9))
    y = X[:, :4] @ rng.normal(size=4) + rng.normal(size=80)
    if kind == "classes":
        y = np.digitize(y, np.quantile(y, [0.3, 0.6]))
    if kind == "ties":
        X[:, 5], X[:, 2] = X[:, 0], -3.0 * X[:, 1]
    if kind == "dependent":
        X[:, 6] = X[:, 0] + X[:, 1] + 1e-7 * X[:, 6]
        X[:, 7] = X[:, 2] - X[:, 3]
    if kind == "far":
        X += 1e7
    if kind == "constant":
        X[:, 4] = 3.0
    return X, y


KINDS = ("quantity", "classes", "ties", "dependent", "far", "constant")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("exclude", [None, [0, 3]])
def test_steps_ahead_are_those_one_by_one(kind, exclude, monkeypatch):
    for seed in range(15):
        X, y = table(kind, np.random.default_rng(seed))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ahead = select(X, y, 7, exclude=exclude)
            with monkeypatch.context() as patch:
                patch.setattr(Gains, "steps_ahead", one_by_one)
                alone = select(X, y, 7, exclude=exclude)
        assert ahead.names == alone.names
        assert ahead.gains == pytest.approx(alone.gains, rel=1e-9, abs=1e-14)
        assert ahead.stopped == alone.stopped


def one_by_one(self, G, ids, candidates, count):
    return NONE_AHEAD


def test_wrong_shapes_are_refused():
    kernels = native.kernels()
    if kernels is None:
        pytest.skip("kernels were not built")
    rules = (0.0,) * 9
    right = [
        np.eye(4), np.ones((2, 4)), np.ones(4), np.ones(4), np.ones(4), np.arange(4),
        np.ones(4, dtype=bool), rules, np.ones((3, 4)), np.ones(4 + 2 + 12),
        np.zeros(3, dtype=np.int64), np.ones(3),
    ]  # fmt: skip
    assert kernels.walk(*right) >= 0
    for place, array in enumerate(right):
        if place != 7:  # the rules
            wrong = [*right[:place], array[:-1].copy(), *right[place + 1 :]]
            with pytest.raises(ValueError, match="shapes"):
                kernels.walk(*wrong)
    for names in (np.arange(4) - 1, np.arange(4) + 1):
        with pytest.raises(ValueError, match="shapes"):
            kernels.walk(*right[:5], names, *right[6:])


@pytest.fixture
def found(monkeypatch):
    """What was made ahead, call by call."""
    made, plain = [], Gains.steps_ahead

    def watched(*args):
        made.append(plain(*args))
        return made[-1]

    monkeypatch.setattr(Gains, "steps_ahead", watched)
    return made


@needs_kernels
def test_all_steps_of_a_plain_table_are_made_at_once(found):
    X, y = table("classes", np.random.default_rng(0))
    select(X, y, 7)
    (ahead,) = found
    assert ahead.n_taken == 7


@needs_kernels
def test_steps_ahead_end_before_a_tie(found):
    X, y = table("quantity", np.random.default_rng(1))
    best = select(X, y, 1)[0].feature
    found.clear()
    X[:, (best + 1) % 9] = 2.0 * X[:, best]
    select(X, y, 5)
    (ahead,) = found
    assert ahead.n_taken == 0


def test_gains_after_steps_ahead_are_those_of_the_general_way(monkeypatch):
    X, y = table("classes", np.random.default_rng(3))
    criterion = METHODS["socc"].make()
    problem = open_problem(X, y, keep_whole_weights=True)
    design = criterion.prepare(problem.table, problem.groups, problem.skip, problem.weights)
    told = []
    for is_ahead in (True, False):
        if not is_ahead:
            monkeypatch.setattr(Gains, "steps_ahead", one_by_one)
        state, open_ = start(criterion, design, problem, 7), np.ones(9, dtype=bool)
        for _ in range(3):
            best = state.best(open_)
            open_[best] = False
            state.add(best)
        told.append(state.gains())
        state.add(int(np.flatnonzero(open_)[0]))  # which nobody has foreseen
        told.append(state.gains())
        open_[:4] = False
        told.append([state.best(open_)])
    for ahead, alone in zip(told[:3], told[3:]):
        np.testing.assert_allclose(ahead, alone, rtol=1e-9)
