"""MeanStdDiscretizer as a scikit-learn citizen, and what it gives."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import naive
import orthoselect
from orthoselect import MeanStdDiscretizer, MutualInformationSelector, select
from orthoselect.discretizers import equal_width
from orthoselect.errors import InputError


@parametrize_with_checks([MeanStdDiscretizer(), MeanStdDiscretizer(n_bins=4)])
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


def test_frames_keep_their_names(X):
    estimator = MeanStdDiscretizer()
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


@pytest.mark.parametrize("n_bins", [3.0, "3", True, None, 5])
def test_the_number_of_bins_is_three_or_four(n_bins):
    with pytest.raises(InputError, match="`n_bins` should be 3 or 4"):
        MeanStdDiscretizer(n_bins).fit([[1.0], [2.0]])


def test_what_went_to_the_study_says_so():
    with pytest.raises(ImportError, match="from orthoselect_study import RandomBinarizer"):
        from orthoselect import RandomBinarizer
    with pytest.raises(ImportError, match="from orthoselect_study import RandomBinarizer"):
        from orthoselect.discretizers import RandomBinarizer  # noqa: F401
    with pytest.raises(AttributeError, match="no attribute 'Binarizer'"):
        orthoselect.discretizers.Binarizer  # noqa: B018
