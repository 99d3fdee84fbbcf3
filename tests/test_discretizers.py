"""MeanStdDiscretizer and RandomBinarizer as scikit-learn citizens, and what they give."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import naive
from orthoselect import MeanStdDiscretizer, MutualInformationSelector, RandomBinarizer, select
from orthoselect.discretizers import equal_width
from orthoselect.errors import InputError


@parametrize_with_checks(
    [MeanStdDiscretizer(), MeanStdDiscretizer(n_bins=4), RandomBinarizer(random_state=0)]
)
def test_passes_every_check_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture
def X(rng):
    X = rng.normal(size=(50, 5))
    X[:, 1] = 3.0
    X[:, 2] *= rng.random(50) < 0.3
    return X


@pytest.mark.parametrize("n_bins", [3, 4])
def test_codes_are_the_definition(X, n_bins):
    codes = MeanStdDiscretizer(n_bins).fit_transform(X)
    assert codes.dtype == np.uint8
    for k in range(5):
        assert codes[:, k].tolist() == naive.mean_std_levels(X[:, k], n_bins)


def test_new_data_are_cut_where_the_training_data_were(X):
    cut = MeanStdDiscretizer().fit(X)
    far = np.vstack([X - 1000, X + 1000])
    codes = cut.transform(far)
    assert (codes[:50, [0, 2, 3, 4]] == 0).all()
    assert (codes[50:, [0, 2, 3, 4]] == 2).all()
    assert (codes[:, 1] == 0).all()  # was constant


def test_sparse_tables_stay_sparse_and_mean_the_same(X):
    X[:, 0] = np.abs(X[:, 0])
    for n_bins in (3, 4):
        cut = MeanStdDiscretizer(n_bins).fit(sp.csr_array(X))
        coded = cut.transform(sp.csr_array(X))
        assert sp.issparse(coded)
        assert coded.dtype == np.uint8
        np.testing.assert_array_equal(coded.toarray(), cut.transform(X))
        assert not coded.toarray()[X == 0].any()
        dense = MeanStdDiscretizer(n_bins).fit_transform(X)
        for k in range(5):
            pairs = set(zip(dense[:, k], coded.toarray()[:, k]))
            assert len(pairs) == len(set(dense[:, k]))


def test_sparse_after_dense_is_refused(X):
    with pytest.raises(InputError, match="Fit on a sparse table"):
        MeanStdDiscretizer().fit(X).transform(sp.csr_array(X))


@pytest.mark.parametrize("n_bins", [2, 5, "3", True])
def test_other_numbers_of_bins_are_refused(X, n_bins):
    with pytest.raises(InputError, match="3 or 4"):
        MeanStdDiscretizer(n_bins).fit(X)


@pytest.mark.parametrize("estimator", [MeanStdDiscretizer(), RandomBinarizer(random_state=1)])
def test_frames_keep_their_names(X, estimator):
    frame = pd.DataFrame(X, columns=list("abcde"))
    made = clone(estimator).set_output(transform="pandas").fit(frame)
    assert made.get_feature_names_out().tolist() == list("abcde")
    assert made.transform(frame).columns.tolist() == list("abcde")
    out = clone(estimator).set_output(transform="polars").fit_transform(pl.DataFrame(frame))
    assert out.columns == list("abcde")


def test_selecting_codes_is_selecting_with_bins(X, rng):
    y = rng.integers(0, 2, 50)
    pipe = make_pipeline(MeanStdDiscretizer(), MutualInformationSelector(3, bins="from_data"))
    expected = select(X, y, 3, "jmi", bins="mean_std_3")
    assert pipe.fit(X, y)[1].path_ == expected
    assert select(X, y, 3, "jmi", bins=MeanStdDiscretizer()) == expected
    assert select(sp.csr_array(X), y, 3, "jmi", bins=MeanStdDiscretizer()) == expected
    X = X[:, [0, 2, 3, 4]]  # KBinsDiscretizer warns of constants
    assert select(X, y, 3, "jmi", bins=equal_width(4)) == select(X, y, 3, "jmi", bins=4)


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


@pytest.mark.parametrize("n_bins", [3.0, "3", True, None, 5])
def test_the_number_of_bins_is_three_or_four(n_bins):
    with pytest.raises(InputError, match="`n_bins` should be 3 or 4"):
        MeanStdDiscretizer(n_bins).fit([[1.0], [2.0]])


@pytest.mark.parametrize("maximum", ["a", 0, -1.0, True, float("nan"), float("inf")])
def test_the_maximum_is_a_number_above_zero(maximum):
    with pytest.raises(InputError, match="`maximum` should be a number above 0"):
        RandomBinarizer(maximum=maximum).fit([[1.0], [2.0]])
