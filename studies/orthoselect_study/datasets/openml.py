"""The same sets from OpenML, by scikit-learn's `fetch_openml` and its cache.

Sets come as plain arrays: no dataframe library is needed. Categories are numbered in the order
in which the file declares them.
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from orthoselect.errors import InputError
from orthoselect_study.datasets.base import Missing

_MFEAT = {"fourier": 14, "factors": 12, "karhunen": 16, "pixel": 20, "zernike": 22}
_MORPHOLOGICAL = 18
_LYMPH_CLASSES = {"normal": 1, "metastases": 2, "malign_lymph": 3, "fibrosis": 4}
_FLAGS_NOMINAL = ("landmass", "zone", "language", "mainhue", "topleft", "botright")


@cache
def fetch(number: int) -> Any:
    """Return the data set of this number, as scikit-learn has it.

    Raises
    ------
    Missing
        If it cannot be fetched.
    """
    from sklearn.datasets import fetch_openml

    try:
        with warnings.catch_warnings():
            # If the second try fails, too, the set is missing, and that is told.
            warnings.filterwarnings("ignore", "A network error occurred", UserWarning)
            return fetch_openml(
                data_id=number, as_frame=False, parser="liac-arff", n_retries=1, delay=0.5
            )
    except (OSError, ValueError) as error:  # no network, an answer that is none, a changed file
        raise Missing(
            f"no folder of data is given, and OpenML's set {number} could not be fetched: {error}"
        ) from None


def _whole(target: NDArray, number: int) -> NDArray:
    try:
        return np.asarray(target).astype(float).astype(np.int64)
    except ValueError as error:
        raise InputError(
            f"OpenML's set {number} should have numbers for classes; it has others: {error}."
        ) from None


def dexter() -> tuple[Any, NDArray, Any, NDArray]:
    """Training and validation rows of Dexter, which OpenML has one after the other."""
    bunch = fetch(4136)
    X, y = sp.csr_matrix(bunch.data, dtype=float), _whole(bunch.target, 4136)
    return X[:300], y[:300], X[300:600], y[300:600]


def gisette() -> tuple[Any, NDArray, Any, NDArray]:
    """Training and validation rows of Gisette, which OpenML has one after the other."""
    bunch = fetch(41026)
    X = bunch.data.toarray() if sp.issparse(bunch.data) else np.asarray(bunch.data)
    y = _whole(bunch.target, 41026)
    return X[:6000], y[:6000], X[6000:], y[6000:]


def mnist() -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Training and test rows of MNIST, which OpenML has one after the other."""
    bunch = fetch(554)
    X, y = np.asarray(bunch.data).astype(np.uint8), _whole(bunch.target, 554)
    return X[:60000], y[:60000], X[60000:], y[60000:]


def mfeat() -> tuple[NDArray, NDArray]:
    """Return the six views of Mfeat side by side, in UCI's order of columns."""
    bunches = [fetch(number) for number in (*_MFEAT.values(), _MORPHOLOGICAL)]
    y = _whole(bunches[0].target, _MFEAT["fourier"])
    for bunch in bunches[1:]:
        if not np.array_equal(_whole(bunch.target, _MORPHOLOGICAL), y):
            raise Missing("OpenML's six sets of Mfeat do not have their rows in the same order")
    return np.hstack([np.asarray(bunch.data, dtype=float) for bunch in bunches]), y - 1


def cnae9() -> tuple[NDArray, NDArray]:
    """CNAE-9."""
    bunch = fetch(1468)
    return _dense(bunch.data), _whole(bunch.target, 1468)


def lymphography() -> tuple[NDArray, NDArray]:
    """Lymphography, its classes numbered as UCI does."""
    bunch = fetch(10)
    unknown = sorted(set(bunch.target) - set(_LYMPH_CLASSES))
    if unknown:
        raise InputError(
            f"OpenML's set 10 should have the classes {', '.join(_LYMPH_CLASSES)}; "
            f"it has {', '.join(map(str, unknown))}."
        )
    return _dense(bunch.data), np.array([_LYMPH_CLASSES[name] for name in bunch.target])


def flags() -> tuple[NDArray, NDArray, list[int]]:
    """Return flags without the names of the countries, and which columns have no order."""
    bunch = fetch(285)
    names = list(bunch.feature_names)
    kept = [j for j, name in enumerate(names) if name != "name"]
    nominal = [k for k, j in enumerate(kept) if names[j] in _FLAGS_NOMINAL]
    _, y = np.unique(bunch.target, return_inverse=True)
    return _dense(bunch.data)[:, kept], y, nominal


def parkinsons() -> tuple[NDArray, NDArray]:
    """Parkinsons; OpenML's classes 1 and 2 are 0 and 1 here."""
    bunch = fetch(1488)
    return _dense(bunch.data), _whole(bunch.target, 1488) - 1


def _dense(data: Any) -> NDArray:
    return data.toarray().astype(float) if sp.issparse(data) else np.asarray(data, dtype=float)
