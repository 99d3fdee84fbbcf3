"""What every feature would add, told before it is added."""

import math
import warnings

import numpy as np
import pytest

from orthoselect import select
from orthoselect.methods import METHODS
from orthoselect.problem import open_problem
from orthoselect.selection import start

N_TAKEN = 3  # some methods work for as many features as asked for


def table(kind, rng):
    N = 60
    X = rng.normal(size=(N, 6))
    y = (X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=N) > 0).astype(int) + (X[:, 2] > 1)
    if kind == "nasty":
        X[:, 3] = X[:, 0] + 1e-6 * X[:, 4]  # hardly anything is left of it
        X[:, 4] = X[:, 1]
        X[:, 5] = 7.0
    if kind == "float32":
        X = X.astype(np.float32)
    return X, y


def gains_after(X, y, method, taken, **options):
    criterion = METHODS[method].make()
    problem = open_problem(X, y, keep_whole_weights=criterion.keeps_whole_weights, **options)
    design = criterion.prepare(problem.table, problem.groups, problem.skip, problem.weights)
    state = start(criterion, design, problem, N_TAKEN)
    for f in design.features.places(taken):
        state.add(f)
    return state.gains()


def gain_of(X, y, method, taken, f, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = select(X, y, N_TAKEN, method, include=[*taken, f], **options)
    return path.gains[len(taken)]


@pytest.mark.parametrize("kind", ["plain", "nasty", "float32"])
@pytest.mark.parametrize("method", [m for m in METHODS if METHODS[m].needs_target])
def test_gains_are_what_adding_gives(method, kind, rng):
    X, y = table(kind, rng)
    if kind == "nasty" and method in ("lasso", "elastic_net"):
        X = X[:, :3]  # their solver complains about collinear columns
    for taken in ([], [0], [0, 2]):
        gains = gains_after(X, y, method, taken)
        for f in range(X.shape[1]):
            if f in taken:
                assert math.isnan(gains[f])
            elif math.isnan(gains[f]):  # a constant is never taken, whatever it would add
                constant = np.ptp(X[:, f]) == 0
                assert constant or gain_of(X, y, method, taken, f) == pytest.approx(0, abs=1e-9)
            else:
                assert gains[f] == pytest.approx(gain_of(X, y, method, taken, f), abs=1e-5)


def test_gains_of_plain_columns_are_shown_as_they_are(rng):
    """Measuring them all anew is for those that have lost their digits."""
    X, y = table("plain", rng)
    criterion = METHODS["socc"].make()
    problem = open_problem(X, y, keep_whole_weights=criterion.keeps_whole_weights)
    design = criterion.prepare(problem.table, problem.groups, problem.skip, problem.weights)
    state = start(criterion, design, problem, N_TAKEN)
    state.add(0)
    assert np.isfinite(state.gains()[1:]).all()
    assert state._gains.n_measured == 0


def test_a_copy_of_a_taken_column_can_add_nothing(rng):
    X, y = table("nasty", rng)
    gains = gains_after(X, y, "socc", [1])
    assert np.isnan(gains[[1, 4, 5]]).all()
    assert np.isfinite(gains[[0, 2, 3]]).all()


def beside_a_hardly_known_direction(rng):
    """Columns 0 and 1 tell little of what they differ by; so column 2 depends on them."""
    a, e, f, g, u = rng.normal(size=(5, 40))
    return np.column_stack([a, a + 1e-13 * e, e + 0.05 * f, g]), a + e + f + g + u


@pytest.mark.parametrize("method", ["socc", "err", "mser", "obcc"])
def test_what_depends_by_the_roundings_of_those_taken_can_add_nothing(method, rng):
    X, y = beside_a_hardly_known_direction(rng)
    gains = gains_after(X, y, method, [0, 1], task="regression")
    assert np.isnan(gains[2])
    assert np.isfinite(gains[3])


def test_a_group_adds_what_its_columns_do_that_depend_on_none_taken(rng, strategy):
    X, y = beside_a_hardly_known_direction(rng)
    X = np.column_stack([X, X[:, 2], 2 * X[:, 0], rng.normal(size=40)])
    pairs = {"one": [2, 3], "none": [4, 5]}
    others = {"none": [4, 5]}
    gain, then = select(X, y, 4, include=[0, 1, 3, 6], groups=others).gains[2:]
    path = select(X, y, 4, include=[0, 1, "one", 6], groups=pairs)
    assert path.gains[2:] == pytest.approx([gain, then], rel=1e-9)
    gains = gains_after(X, y, "socc", [0, 1], groups=pairs)
    assert gains[2] == pytest.approx(gain, rel=1e-2)  # in memory, where rounding is another
    assert math.isnan(gains[3])


def test_groups_have_one_gain(rng):
    X, y = table("plain", rng)
    groups = {"pair": [1, 3]}
    gains = gains_after(X, y, "socc", [0], groups=groups)
    assert len(gains) == 5
    assert gains[1] == pytest.approx(gain_of(X, y, "socc", [0], "pair", groups=groups))


def test_progress_is_told_after_each_step(rng):
    X, y = table("plain", rng)
    told = []
    path = select(
        X, y, 3, progress=lambda step, number, size: told.append((step.name, number, size))
    )
    assert told == [(name, number, 3) for number, name in enumerate(path.names, start=1)]


def test_a_path_remembers_what_was_asked_for(rng):
    X, y = table("plain", rng)
    path = select(
        X, y, 2, "mrmr_quotient", include=[-1], exclude=[True] + [False] * 5, constant=0.5
    )
    assert path.options["include"] == ["x5"]
    assert path.options["exclude"] == ["x0"]
    assert path.options["constant"] == 0.5
    assert path.to_dict()["options"]["n_features_to_select"] == 2


def test_a_near_copy_wins_though_inner_products_know_nothing_of_it(rng, strategy):
    """Where gains are open, no other feature stands out before they are measured."""
    x, z, w = rng.normal(size=(3, 60))
    X = np.column_stack([x, w, x + 1e-9 * z])
    path = select(X, 2 * x + z + 0.3 * w, 3)
    assert [step.feature for step in path] == [0, 2, 1]
