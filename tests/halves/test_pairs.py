"""Halves complement each other, and have like shares of the classes."""

import numpy as np
import pytest

from orthoselect.encode import Labels
from orthoselect.errors import InputError
from orthoselect.halves.pairs import check_enough, pair_of_blocks, pair_of_rows, strata_of


@pytest.mark.parametrize("seed", range(20))
def test_every_row_is_in_one_half_and_classes_are_cut_in_two(seed):
    rng = np.random.default_rng(seed)
    strata = rng.choice(rng.integers(1, 6), size=rng.integers(4, 80))
    strata = np.unique(strata, return_inverse=True)[1]
    for number in range(5):
        first, second = pair_of_rows(strata, seed, number)
        assert sorted([*first, *second]) == list(range(len(strata)))
        assert abs(len(first) - len(second)) <= 1
        counts = [np.bincount(strata[half], minlength=strata.max() + 1) for half in (first, second)]
        assert np.abs(counts[0] - counts[1]).max() <= 1
        for half in (first, second):
            assert (np.diff(half) > 0).all()


def test_the_same_numbers_give_the_same_pair_and_others_another():
    strata = np.zeros(40, dtype=int)
    pairs = {
        tuple(pair_of_rows(strata, seed, number)[0]) for seed in range(5) for number in range(20)
    }
    assert len(pairs) == 100
    again = pair_of_rows(strata, 3, 7)
    assert all((a == b).all() for a, b in zip(again, pair_of_rows(strata, 3, 7)))


def test_all_rows_are_as_often_in_either_half_and_with_every_other():
    """Also rows of odd strata, one of which has no partner."""
    strata = np.array([0, 0, 0, 0, 1, 1, 1, 2])
    together, in_first = np.zeros((8, 8)), np.zeros(8)
    for number in range(4000):
        first, second = pair_of_rows(strata, 0, number)
        in_first[first] += 1
        for half in (first, second):
            together[np.ix_(half, half)] += 1
    assert np.abs(in_first / 4000 - 0.5).max() < 0.04
    assert np.abs(together[:4, 4:7] / 4000 - 0.5).max() < 0.04
    assert np.abs(together[0, 1:4] / 4000 - 1 / 3).max() < 0.04


def test_halves_of_blocks():
    for n_blocks in (16, 64):
        first, second = pair_of_blocks(n_blocks, 0, 1)
        assert len(first) == len(second) == n_blocks // 2
        assert sorted([*first, *second]) == list(range(n_blocks))


def test_strata_are_the_classes_of_all_responses():
    a, b = Labels(np.array([0, 0, 1, 1]), ("x", "y")), Labels(np.array([0, 1, 0, 1]), ("u", "v"))
    assert len(set(strata_of([a, b, np.zeros((4, 1))], 4).tolist())) == 4
    assert strata_of([np.zeros((4, 1))], 4).tolist() == [0] * 4


def test_too_little_to_cut_in_two():
    with pytest.raises(InputError, match="4 rows, two for each half; there are 3"):
        check_enough(np.zeros(3, dtype=int), None)
    with pytest.raises(InputError, match="at least two classes should have two rows"):
        check_enough(np.array([0] * 9 + [1]), 2)
    check_enough(np.array([0, 0, 1, 1, 2]), 3)
