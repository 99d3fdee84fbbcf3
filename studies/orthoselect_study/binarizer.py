"""Grey levels as bits, drawn at random: how the paper's methods that count see MNIST."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from orthoselect.discretizers import Discretizer
from orthoselect.errors import InputError

_Words = NDArray[np.uint64]
_BLOCK = 16  # columns of a dense table at a time: no float copy of all of it is made


class RandomBinarizer(Discretizer):
    """Turn grey levels into ones and zeros at random: 1 with probability value / maximum.

    The chance of a cell comes from `random_state`, its column and the values of its row alone. So
    the same row gives the same bits, in whatever table and place it stands, and sparse and dense
    tables of the same numbers give the same. (Rows that are equal in all columns get equal bits.)

    Parameters
    ----------
    maximum : float, default=None
        The value that is certainly 1; 255 for bytes, say. None: the largest of the training data.
        Values above it are 1, values below zero are 0.
    random_state : int, RandomState instance or None, default=None
        Seed of the chances. None: another one for every fit.

    Attributes
    ----------
    maximum_ : float
    seed_ : int
    n_features_in_ : int
    feature_names_in_ : array of str
        Only if X has column names.

    Examples
    --------
    >>> import numpy as np
    >>> from orthoselect_study import RandomBinarizer
    >>> X = np.arange(30).reshape(10, 3) * 255 // 29
    >>> RandomBinarizer(random_state=0).fit_transform(X).mean(axis=1)
    array([0.        , 0.        , 0.66666667, 0.66666667, 1.        ,
           0.33333333, 0.33333333, 0.66666667, 1.        , 1.        ])
    """

    def __init__(self, *, maximum: float | None = None, random_state: Any = None) -> None:
        self.maximum = maximum
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> RandomBinarizer:
        """Find the maximum, and draw the seed.

        Parameters
        ----------
        X : array-like, SciPy sparse or dataframe of shape (N, n)
        y : ignored

        Returns
        -------
        self : RandomBinarizer
        """
        number = isinstance(self.maximum, numbers.Real) and not isinstance(self.maximum, bool)
        if self.maximum is not None and not (number and 0 < self.maximum < np.inf):
            raise InputError(f"`maximum` should be a number above 0; got {self.maximum!r}.")
        X = self._read(X, reset=True)
        largest = float(X.max()) if 0 not in X.shape else 0.0
        self.maximum_ = largest if self.maximum is None else float(self.maximum)
        self.seed_ = int(check_random_state(self.random_state).randint(2**31 - 1))
        return self

    def transform(self, X: Any) -> Any:
        """Return ones and zeros.

        Parameters
        ----------
        X : array-like, SciPy sparse or dataframe of shape (N, n)

        Returns
        -------
        bits : uint8 array or sparse matrix of shape (N, n)
        """
        check_is_fitted(self)
        X = self._read(X, reset=False)
        seed = _mixed(np.array([self.seed_], dtype=np.uint64))
        keys = _mixed(np.arange(X.shape[1], dtype=np.uint64) + seed)  # a random word a column
        rows = np.zeros(X.shape[0], dtype=np.uint64)
        if sp.issparse(X):
            own = np.repeat(keys, np.diff(X.indptr))
            np.add.at(rows, X.indices, _mixed(_words(X.data) + own))
            bits = self._bits(rows[X.indices] + own, X.data)
            coded = sp.csc_matrix((bits, X.indices.copy(), X.indptr.copy()), shape=X.shape)
            coded.eliminate_zeros()
            return coded
        blocks = [slice(first, first + _BLOCK) for first in range(0, X.shape[1], _BLOCK)]
        for at in blocks:
            words = _mixed(_words(X[:, at]) + keys[at])
            words[X[:, at] == 0] = 0  # as the zeros of sparse tables, which nobody sees
            rows += words.sum(axis=1, dtype=np.uint64)
        bits = np.empty(X.shape, dtype=np.uint8)
        for at in blocks:
            bits[:, at] = self._bits(rows[:, None] + keys[at], X[:, at])
        return bits

    def _bits(self, words: _Words, values: NDArray) -> NDArray[np.uint8]:
        """Return the bits of cells by their values, and by the words of their rows and columns."""
        chances = (_mixed(words + np.uint64(1)) >> np.uint64(11)) * 2.0**-53  # in [0, 1)
        return ((chances * self.maximum_ < values) & (values > 0)).astype(np.uint8)


def _words(values: NDArray) -> _Words:
    """Return the 64 bits of each value as a number."""
    return np.ascontiguousarray(values, dtype=np.float64).view(np.uint64)


def _mixed(words: _Words) -> _Words:
    """Scramble 64-bit words: the finalizer of SplitMix64 (Steele, Lea and Flood 2014)."""
    z = words + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
