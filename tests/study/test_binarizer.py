"""RandomBinarizer as a scikit-learn citizen, and what it gives."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from orthoselect.errors import InputError
from orthoselect_study import RandomBinarizer


@parametrize_with_checks([RandomBinarizer(random_state=0)])
def test_passes_every_check_of_scikit_learn(estimator, check):
    check(estimator)


def test_frames_keep_their_names(rng):
    estimator = RandomBinarizer(random_state=1)
    frame = pd.DataFrame(rng.random((50, 5)), columns=list("abcde"))
    made = clone(estimator).set_output(transform="pandas").fit(frame)
    assert made.get_feature_names_out().tolist() == list("abcde")
    assert made.transform(frame).columns.tolist() == list("abcde")
    out = clone(estimator).set_output(transform="polars").fit_transform(pl.DataFrame(frame))
    assert out.columns == list("abcde")


def test_bits_are_drawn_in_proportion():
    """Of 4,000 draws with chance p about 4,000 p are ones: within five standard deviations."""
    rng = np.random.default_rng(0)
    grey = np.array([0, 1, 64, 128, 200, 254, 255])
    X = np.hstack([np.tile(grey, (4000, 1)), rng.normal(size=(4000, 1))])
    bits = RandomBinarizer(maximum=255, random_state=0).fit_transform(X)[:, :7]
    p = grey / 255
    assert (np.abs(bits.mean(axis=0) - p) <= 5 * np.sqrt(p * (1 - p) / 4000)).all()
    assert np.abs(np.corrcoef(bits[:, 2:6].T) - np.eye(4)).max() < 0.08


def test_bits_come_from_the_seed_and_the_row_alone(rng):
    X = rng.integers(0, 256, (60, 20)).astype(float)
    binarizer = RandomBinarizer(random_state=3).fit(X)
    bits = binarizer.transform(X)
    np.testing.assert_array_equal(bits, binarizer.transform(X))
    order = rng.permutation(60)[:30]
    np.testing.assert_array_equal(bits[order], binarizer.transform(X[order]))
    np.testing.assert_array_equal(bits, binarizer.transform(X.astype(np.uint8)))
    np.testing.assert_array_equal(bits, RandomBinarizer(random_state=3).fit_transform(X))
    other = RandomBinarizer(random_state=4).fit_transform(X)
    assert 0.2 < (bits != other).mean() < 0.5


def test_sparse_bits_are_the_dense_ones(rng):
    X = rng.integers(0, 256, (40, 30)) * (rng.random((40, 30)) < 0.2)
    binarizer = RandomBinarizer(random_state=0).fit(X)
    bits = binarizer.transform(sp.csr_array(X))
    assert sp.issparse(bits)
    np.testing.assert_array_equal(bits.toarray(), binarizer.transform(X))


def test_maximum_is_learned_or_given(rng):
    X = rng.random((30, 4))
    assert RandomBinarizer().fit(X).maximum_ == X.max()
    assert RandomBinarizer(maximum=2.0).fit(X).maximum_ == 2.0
    learned = RandomBinarizer(random_state=0).fit(X)
    assert learned.transform(10 * X + 1).all()
    assert not learned.transform(-X).any()
    assert not RandomBinarizer().fit_transform(-X).any()
    with pytest.raises(InputError, match="above 0; got -1"):
        RandomBinarizer(maximum=-1).fit(X)


@pytest.mark.parametrize("maximum", ["a", 0, -1.0, True, float("nan"), float("inf")])
def test_the_maximum_is_a_number_above_zero(maximum):
    with pytest.raises(InputError, match="`maximum` should be a number above 0"):
        RandomBinarizer(maximum=maximum).fit([[1.0], [2.0]])
