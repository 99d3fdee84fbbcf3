"""scikit-learn transformers that turn numbers into levels: learned on one table, used on others.

For bins of equal width there is scikit-learn's own
``KBinsDiscretizer(n_bins, strategy="uniform", encode="ordinal")``; `equal_width` makes one that
looks at all rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.preprocessing import KBinsDiscretizer
from sklearn.utils.validation import check_is_fitted, validate_data

from orthoselect.encode.bins import canonical, column_blocks, level_of_zero, zero_first
from orthoselect.encode.rules import mean_std_cuts
from orthoselect.errors import InputError


class Discretizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """What the transformers share: reading tables, and tags."""

    def _read(self, X: Any, *, reset: bool) -> Any:
        """Return X as an array or as sparse columns without written zeros; it is only read."""
        read = validate_data(self, X, reset=reset, accept_sparse="csc", dtype="numeric")
        return canonical(read) if sp.issparse(read) else read

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []  # codes, whatever went in
        return tags


class MeanStdDiscretizer(Discretizer):
    """Cut every column at one standard deviation about its mean.

    With mean m and standard deviation s of the training data (that of the population, ddof=0) the
    codes are 0, 1, 2 with cuts at m - s and m + s, or 0, 1, 2, 3 with cuts at m - s, m and m + s.
    A value equal to a cut (up to rounding) gets the code above it. New data are cut at the same
    places; values beyond the training data fall into the end bins. A column that was constant has
    one level, 0, for ever.

    Parameters
    ----------
    n_bins : {3, 4}, default=3

    Attributes
    ----------
    cuts_ : array of shape (n_features_in_, n_bins - 1)
        Where each column is cut; infinite for columns that were constant.
    zero_first_ : bool
        Whether the codes are named for sparse tables, as they are when it was fitted on one: the
        level of zero is called 0, so that it need not be written down; the levels below it, if
        any, are called one higher.
    n_features_in_ : int
    feature_names_in_ : array of str
        Only if X has column names.

    Examples
    --------
    >>> import numpy as np
    >>> from orthoselect import MeanStdDiscretizer
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [14.0]])  # m = 4, s = 5.1
    >>> cut = MeanStdDiscretizer(n_bins=4).fit(X)
    >>> cut.transform(X).ravel()
    array([1, 1, 1, 1, 3], dtype=uint8)
    >>> cut.transform([[-100.0], [4.0], [100.0]]).ravel()
    array([0, 2, 3], dtype=uint8)
    """

    def __init__(self, n_bins: int = 3) -> None:
        self.n_bins = n_bins

    def fit(self, X: Any, y: Any = None) -> MeanStdDiscretizer:
        """Find the cuts.

        Parameters
        ----------
        X : array-like, SciPy sparse or dataframe of shape (N, n)
        y : ignored

        Returns
        -------
        self : MeanStdDiscretizer
        """
        if not isinstance(self.n_bins, (int, np.integer)) or self.n_bins not in (3, 4):
            raise InputError(f"`n_bins` should be 3 or 4; got {self.n_bins!r}.")
        X = self._read(X, reset=True)
        self.cuts_ = np.empty((X.shape[1], self.n_bins - 1))
        for at, columns in column_blocks(X):
            self.cuts_[at] = mean_std_cuts(columns, self.n_bins)
        self.zero_first_ = sp.issparse(X)
        return self

    def transform(self, X: Any) -> Any:
        """Return the code of every value.

        Parameters
        ----------
        X : array-like, SciPy sparse or dataframe of shape (N, n)
            Sparse only if it was fitted on a sparse table.

        Returns
        -------
        codes : uint8 array or sparse matrix of shape (N, n)
        """
        check_is_fitted(self)
        X = self._read(X, reset=False)
        if sp.issparse(X):
            if not self.zero_first_:
                raise InputError(
                    "X should be dense, as the table that this MeanStdDiscretizer was fitted on; "
                    "it is sparse. Fit on a sparse table, or pass `X.toarray()`."
                )
            stored = [columns.cut(self.cuts_[at]) for at, columns in column_blocks(X)]
            data = np.concatenate([np.empty(0, dtype=np.uint8), *stored])
            coded = sp.csc_matrix((data, X.indices.copy(), X.indptr.copy()), shape=X.shape)
            coded.eliminate_zeros()
            return coded
        codes = np.empty(X.shape, dtype=np.uint8)
        for at, columns in column_blocks(X):
            levels = columns.cut(self.cuts_[at])
            if self.zero_first_:
                levels = zero_first(levels, level_of_zero(self.cuts_[at])[:, None])
            codes[:, at] = levels.T
        return codes


def equal_width(n_bins: int) -> KBinsDiscretizer:
    """Return scikit-learn's discretizer for at least 2 bins of equal width.

    >>> equal_width(4).fit_transform([[0.0], [1.0], [2.0], [4.0]]).ravel()
    array([0., 1., 2., 3.])
    """
    return KBinsDiscretizer(n_bins, strategy="uniform", encode="ordinal", subsample=None)


def __getattr__(name: str) -> Any:
    if name == "RandomBinarizer":
        raise ImportError(
            "`RandomBinarizer` should be imported from `orthoselect_study`, the package of the "
            "study, which alone uses it. Write `from orthoselect_study import RandomBinarizer`."
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
