"""Levels by compiled kernels, in a few threads, are those of NumPy to the last one."""

import numpy as np
import pytest

from orthoselect import native
from orthoselect.encode import Table, bins, build_codes
from orthoselect.errors import InputError

pytestmark = [
    pytest.mark.skipif(not native.available(), reason="there are no kernels"),
    pytest.mark.filterwarnings("ignore::orthoselect.errors.UncutNumbersWarning"),
]
BINS = ["auto", "from_data", "mean_std_3", "mean_std_4", 2, 10, 40, 256]
TYPES = ["f8", "f4", "f2", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?", ">f8", "g"]


def hostile(rng, dtype):
    """Return a table (N, n) of few values a column: ties on cuts, constants, far ends."""
    N, n = int(rng.integers(1, 700)), int(rng.integers(1, 80))
    X = np.floor(rng.random((N, n)) * rng.integers(1, 110, n)) - (0 if dtype[0] in "u?" else 50)
    X[:, ::7] = X[0, ::7]
    X[:, 3::7] = np.where(rng.random((N, len(X[0, 3::7]))) < 0.5, X.min(), X.max())
    if dtype in ("f8", "i8", ">f8"):
        X[:, 1::9] += 2.0**40
    if dtype in ("f8", "f4", ">f8", "g"):
        X[:, 2::5] /= 3
        X[:, 4::9] *= -0.0
    return X.astype(dtype)


def stored(rng, X):
    """Return the same numbers in another order in memory."""
    spread = np.zeros((2 * X.shape[0], 3 * X.shape[1]), X.dtype)
    spread[::2, ::3] = X
    unaligned = np.zeros(X.nbytes + 1, np.uint8)[1:].view(X.dtype).reshape(X.shape)
    unaligned[:] = X
    ways = [X, np.asfortranarray(X), spread[::2, ::3], X[::-1, ::-1][::-1, ::-1], unaligned]
    return ways[rng.integers(len(ways))]


def coded(X, rule, weights, exclude):
    names = [f"x{k}" for k in range(X.shape[1])]
    table = Table(len(X), names, X, np.arange(X.shape[1]), {})
    try:
        found = build_codes(table, {}, exclude, rule, weights).codes
    except InputError as error:
        return str(error)
    return found.values.tolist(), found.levels.tolist()


@pytest.mark.parametrize("dtype", TYPES)
def test_levels_are_those_of_numpy(dtype, numbers, monkeypatch, two_threads):
    monkeypatch.setattr(bins, "_BLOCK_BYTES", 1 << 12)  # several blocks
    monkeypatch.setattr(bins, "_COST_OF_A_CELL", 1e9)  # and threads
    for seed in numbers(24):
        rng = np.random.default_rng(seed)
        X = hostile(rng, dtype)
        if X.dtype.kind == "f" and seed % 5 == 0:
            X[rng.integers(len(X)), rng.integers(X.shape[1])] = rng.choice(
                [np.nan, np.inf, -np.inf]
            )
        weights = rng.integers(0, 3, len(X)).astype(float) if seed % 3 == 0 else None
        if weights is not None:
            weights[0] = 1.0
        rule = BINS[seed % len(BINS)]
        exclude = (
            set(rng.permutation(X.shape[1])[: X.shape[1] // 3].tolist()) if seed % 2 else set()
        )
        X = stored(rng, X)
        X.flags.writeable = False
        ours = coded(X, rule, weights, exclude)
        with monkeypatch.context() as without:
            without.setattr(native, "_kernels", None)
            assert ours == coded(X, rule, weights, exclude), (seed, rule)


def test_the_first_column_of_too_many_values_is_named_whichever_thread_is_first(
    monkeypatch, two_threads
):
    monkeypatch.setattr(bins, "_BLOCK_BYTES", 1 << 12)
    monkeypatch.setattr(bins, "_COST_OF_A_CELL", 1e9)
    X = np.random.default_rng(0).normal(size=(300, 400))
    X[:, :70] = 0
    for _ in range(5):
        assert coded(X, "from_data", None, set()).startswith("column `x70`")
