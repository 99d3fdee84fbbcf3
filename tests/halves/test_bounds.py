"""Size, threshold and false features: two of them determine the third."""

import math

import numpy as np
import pytest

import naive
from orthoselect.errors import InputError
from orthoselect.halves.bounds import ASSUMPTIONS, false_features, largest_tail, settle


# What R's stabs prints: cutoff, q and PFER of a number of features and pairs, in published output.
@pytest.mark.parametrize(
    ("p", "q", "threshold", "n_pairs", "bound"),
    [(88, 20, 0.8, 50, "3.743316"), (32, 15, 0.97, 100, "0.975"), (9, 2, 0.75, 50, "0.454")],
)
def test_values_that_stabs_prints(p, q, threshold, n_pairs, bound):
    digits = len(bound.partition(".")[2])
    assert f"{false_features(p, q, threshold, n_pairs):.{digits}f}" == bound


def test_sizes_and_thresholds_that_stabs_finds():
    assert settle(9, 50, threshold=0.75, pfer=1).q == 2  # its vignette, body fat
    assert settle(32, 100, q=15, pfer=1).threshold == 0.97


def test_the_bound_without_assumption_is_that_of_meinshausen_and_buehlmann():
    for p, q, tau in [(100, 10, 0.6), (1000, 50, 0.9), (20, 3, 1.0)]:
        expected = q**2 / p / (2 * tau - 1)
        assert false_features(p, q, tau, 50, "none") == pytest.approx(expected)


def test_where_the_theorem_on_one_peak_is_silent_its_assumption_does_not_help():
    for p, q, tau, B in [(9, 8, 0.9, 50), (100, 60, 1.0, 50), (10, 5, 0.6, 50), (100, 5, 0.51, 50)]:
        assert false_features(p, q, tau, B) == false_features(p, q, tau, B, "none")


@pytest.mark.parametrize(("p", "n_pairs"), [(20, 10), (100, 50), (5000, 50)])
def test_stronger_assumptions_give_lower_bounds_which_fall_with_the_threshold(p, n_pairs):
    for q in (1, p // 5):
        tables = {a: [] for a in ASSUMPTIONS}
        for halves in range(n_pairs + 1, 2 * n_pairs + 1, max(1, n_pairs // 6)):
            for a in ASSUMPTIONS:
                tables[a].append(false_features(p, q, halves / (2 * n_pairs), n_pairs, a))
        none, unimodal, concave = (np.array(tables[a]) for a in ("none", "unimodal", "r_concave"))
        assert (concave <= unimodal).all()
        assert (unimodal <= none).all()
        for bounds in (none, unimodal, concave):
            assert (np.diff(bounds) <= 1e-12).all()


@pytest.mark.parametrize(("r", "n"), [(-0.5, 6), (-0.25, 12)])
def test_no_r_concave_distribution_has_a_larger_tail(r, n):
    rng, closest = np.random.default_rng(n), 0.0
    for _ in range(250):
        f = naive.random_r_concave(rng, n, r)
        mean = float(np.arange(n + 1) @ f) / n
        first = int(rng.integers(1, n + 1))
        tail, most = f[first:].sum(), largest_tail(round(mean, 6) + 1e-6, first / n, n, r)
        assert tail <= most + 1e-9
        closest = max(closest, tail / most if most < 1 else 0.0)
    assert closest > 0.9  # or it would say little


def test_the_largest_tail_is_reached():
    """By the distribution that the docstring speaks of, found by trying all of them."""
    n, r, mean, first = 8, -0.5, 0.12, 5
    reached = 0.0
    for k in range(1, n):
        for a in np.geomspace(1e-3, 1e3, 1000):
            f = np.append((a + np.arange(k + 1)) ** (1 / r), 0.0)
            line = (a + k + 1) ** (1 / r)
            part = ((mean * n - np.arange(k + 1)) @ f[:-1]) / (k + 1 - mean * n)
            if 0 <= part <= line * (1 + 1e-12):
                f[-1] = part
                reached = max(reached, f[first:].sum() / f.sum())
    assert reached <= largest_tail(mean, first / n, n, r) < 1.01 * reached


@pytest.mark.parametrize("assumption", ASSUMPTIONS)
@pytest.mark.parametrize("p", [3, 10, 300])
def test_what_is_settled_keeps_what_was_asked_and_no_more_would(p, assumption):
    for threshold in (0.6, 0.75, 0.9):
        found = settle(p, 20, threshold=threshold, pfer=2, assumption=assumption)
        assert found.bound <= 2
        if found.q + 1 < p:
            assert false_features(p, found.q + 1, threshold, 20, assumption) > 2
    for q in (1, max(1, p // 20)):
        found = settle(p, 20, q=q, pfer=1, assumption=assumption)
        assert found.bound <= 1
        lower = found.threshold - 1 / 40
        assert lower <= 0.5 or false_features(p, q, lower, 20, assumption) > 1


def test_by_default_one_false_feature_and_three_quarters():
    found = settle(100, 50)
    assert (found.q, found.threshold) == (9, 0.75)
    assert found.bound <= 1


def test_a_fraction_is_of_the_candidates():
    assert settle(100, 50, q=0.05).q == 5
    assert settle(7, 50, q=0.01).q == 1


def test_a_threshold_is_a_share_that_frequencies_have():
    assert settle(100, 5, q=2, threshold=0.75).threshold == 0.8
    assert settle(100, 50, q=2, threshold=0.55).threshold == 0.55  # whatever floats say


def test_fewer_pairs_have_a_higher_bound():
    full = settle(50, 50, q=4, threshold=0.8)
    cut = full.with_pairs(3)
    assert (cut.n_pairs, cut.q) == (3, 4)
    assert cut.threshold == pytest.approx(5 / 6)
    assert cut.bound == false_features(50, 4, 5 / 6, 3)
    assert math.isfinite(full.with_pairs(1).bound)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"q": 3, "threshold": 0.8, "pfer": 1}, "got all three"),
        ({"threshold": 0.5}, "above 0.5"),
        ({"threshold": 1.01}, "1 at most"),
        ({"threshold": "high"}, "'high'"),
        ({"pfer": 0}, "above 0"),
        ({"pfer": math.inf}, "inf"),
        ({"pfer": True}, "True"),
        ({"q": 0}, "at least 1"),
        ({"q": 1.5}, "1.5"),
        ({"q": "auto"}, "'auto'"),
        ({"q": 20}, "below the number of features to choose from, 20"),
        ({"q": 15, "pfer": 0.01}, "Take 2 at most, or allow `pfer=11.3`"),
        ({"threshold": 0.6, "pfer": 0.001}, "Allow `pfer="),
        ({"assumption": "normal"}, "'r_concave'"),
    ],
)
def test_what_is_impossible_is_said_with_what_would_do(asked, words):
    with pytest.raises(InputError, match=words.replace("(", r"\(")) as raised:
        settle(20, 50, **asked)
    assert "\n" not in str(raised.value)


def test_what_would_do_does():
    """The number in the error is one that is not refused."""
    with pytest.raises(InputError, match=r"allow `pfer=") as raised:
        settle(30, 50, q=20, pfer=0.5)
    words = str(raised.value)
    settle(30, 50, q=20, pfer=float(words.rpartition("pfer=")[2].partition("`")[0]))
    settle(30, 50, q=int(words.rpartition("Take ")[2].split()[0]), pfer=0.5)


def test_one_feature_is_no_choice():
    with pytest.raises(InputError, match="at least two features"):
        settle(1, 50)
