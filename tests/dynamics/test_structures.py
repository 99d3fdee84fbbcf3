"""Terms of known systems: swaps and exact search find them where forward selection does not."""

import warnings

import pytest

from dynamics_systems import LORENZ, MOTOR, lorenz, motor
from orthoselect import NARX
from orthoselect.errors import SelectionWarning


def motor_found(seed, n_terms, search):
    u, y = motor(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)  # few rows, little noise
        model = NARX(n_terms, y_lags=3, u_lags=3, delay=1, degree=3, search=search).fit(u, y)
    return {term.name: term.coef for term in model.terms_}


def test_swaps_find_the_terms_of_a_motor_where_forward_selection_does_not():
    right = {}
    for search in ("forward", "swap"):
        found = [motor_found(seed, 9, search) for seed in range(6)]
        right[search] = sum(set(each) == set(MOTOR) for each in found)
    assert right["swap"] >= right["forward"] + 2
    assert right["swap"] >= 5


def test_the_number_of_terms_is_chosen_among_the_best_sets_of_each_size():
    """Forward selection needs more terms than there are to explain as much."""
    found = motor_found(0, "auto", "swap")
    assert found == pytest.approx(MOTOR, abs=1e-6)
    assert len(motor_found(0, "auto", "forward")) > len(MOTOR)


def test_exact_search_finds_the_lorenz_equations_under_noise():
    how = {"y_lags": 0, "u_lags": 0, "degree": 3, "structure": "each", "max_terms": 8}
    right = {"forward": 0, "exact": 0}
    for search in right:
        for seed in range(2):
            model = NARX(search=search, **how).fit(*lorenz(seed))
            found = {name: {t.name for t in model.terms_ if t.output == name} for name in LORENZ}
            right[search] += sum(found[name] == LORENZ[name] for name in LORENZ)
    assert right["exact"] == 6
    assert right["forward"] <= 3
