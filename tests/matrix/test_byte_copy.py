"""The copy in bytes: what it says of products with columns, and how far that may be off."""

import numpy as np
import pytest

import orthoselect.native
from orthoselect.matrix import DenseMatrix, center
from orthoselect.matrix.byte_copy import (
    MOST_DIRECTIONS,
    QUAD_ROWS,
    cut_direction,
    multiply,
    room_for_copy,
    write_bytes,
)
from orthoselect.native import available

NASTY = {
    "normal": lambda rng, N: rng.normal(size=N),
    "skewed": lambda rng, N: np.exp(3 * rng.normal(size=N)),
    "one huge outlier": lambda rng, N: np.where(np.arange(N) == N // 2, 1e9, rng.normal(size=N)),
    "one outlier in the sample": lambda rng, N: np.where(
        np.arange(N) == 0, 1e9, rng.normal(size=N)
    ),
    "zero but for a few": lambda rng, N: np.where(rng.random(N) < 0.02, rng.normal(size=N), 0.0),
    "one row only": lambda rng, N: (np.arange(N) == N - 1).astype(float),
    "two values": lambda rng, N: (rng.random(N) < 0.3).astype(float),
    "heavy tails": lambda rng, N: rng.standard_cauchy(N),
    "a million spreads from zero": lambda rng, N: 1e6 + rng.normal(size=N),
    "huge": lambda rng, N: 1e200 * rng.normal(size=N),
    "tiny": lambda rng, N: 1e-200 * rng.normal(size=N),
    "hardly float32's": lambda rng, N: 1e-42 * rng.normal(size=N),
    "constant": lambda rng, N: np.full(N, 3.25),
    "drifting": lambda rng, N: np.linspace(0, 1, N) ** 8,
}


def nasty_table(rng, N, dtype=np.float64):
    """All nasty columns, each twice: as it is, and nearly."""
    columns = [make(rng, N) for make in NASTY.values()]
    with np.errstate(over="ignore"):
        return np.column_stack(
            [*columns, *(x * (1 + 1e-7 * rng.normal(size=N)) for x in columns)]
        ).astype(dtype)


def copied(X, V=None):
    """The scaled matrix with its copy in bytes."""
    V = np.zeros((len(X), 0)) if V is None else V
    return center(DenseMatrix(np.ascontiguousarray(X)), V, copy=True)[0]


def directions(rng, X, k):
    """Orthonormal directions: some of columns, one of a single row, others at random."""
    N = len(X)
    single = np.zeros(N)
    single[N // 3] = 1.0
    A = np.column_stack([X[:, : k // 2], single, rng.normal(size=(N, k))])
    return np.linalg.qr(A - A.mean(axis=0))[0][:, :k]


def check_products(scaled, unit, Q):
    """Compare Q̃'ũ with Q'u of unit columns, all directions together."""
    parts = [scaled.copy.products(part) for part in np.array_split(Q, -(-Q.shape[1] // 6), axis=1)]
    found, lost = (np.concatenate(each) for each in zip(*parts))
    off = np.linalg.norm(found - Q.T @ unit, axis=0)
    errors = scaled.copy.errors
    allowed = errors + np.linalg.norm(lost) * (1 + errors)
    assert (off <= allowed + 1e-12).all()
    return off, allowed


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("N", [3, 5, 40, 301, 3000])
@pytest.mark.parametrize("seed", range(4))
def test_products_are_off_by_no_more_than_is_said(seed, N, dtype):
    rng = np.random.default_rng(seed)
    X = nasty_table(rng, N)
    if dtype == np.float32:
        X = X[:, np.abs(X).max(axis=0) < 1e30].astype(dtype)
    scaled = copied(X)
    unit = scaled.columns(np.arange(X.shape[1]))
    check_products(scaled, unit, directions(rng, unit, min(9, N - 1)))


def test_what_the_bytes_leave_out_is_the_norm_that_is_said(rng):
    X = nasty_table(rng, 500)
    scaled = copied(X)
    copy = scaled.copy
    words = copy.copy.reshape(len(copy.copy), -1, 64, QUAD_ROWS).transpose(1, 3, 0, 2)
    k = words.reshape(-1, 64 * len(copy.copy))[:500, : X.shape[1]].astype(float) - 128
    said = (k - k.mean(axis=0)) * copy.units
    off = np.linalg.norm(scaled.columns(np.arange(X.shape[1])) - said, axis=0)
    assert (off <= copy.errors).all()
    assert np.array_equal(k.sum(axis=0), copy.sums)
    assert np.median(off / np.maximum(copy.errors, 1e-300)) > 0.9, "bounds should not be loose"


def test_ordinary_columns_leave_out_a_hundredth(rng):
    errors = copied(rng.normal(size=(2000, 300))).copy.errors
    assert np.median(errors) < 0.0125
    assert errors.max() < 0.04, "else they are cut again"


def test_columns_that_a_sample_says_nothing_of_are_cut_again(rng):
    X = rng.normal(size=(3000, 40))
    X[: 3000 // 2, 7] *= 1e-9  # most sampled rows are in neither half alone
    X[:, 9] = np.where(np.arange(3000) == 17, 50.0, X[:, 9])
    many = X * np.where(np.arange(3000)[:, None] % 93 == 0, 0.0, 1.0)
    for table in (X, many):  # a few, one by one; all, in one more read
        errors = copied(table).copy.errors
        assert errors.max() < 0.2
    assert np.delete(copied(many).copy.errors, 9).max() < 0.02
    assert copied(many).work.passes == 2


@pytest.mark.skipif(not available(), reason="there are no kernels")
@pytest.mark.parametrize("N", [1, 4, 7, 300])
def test_every_processor_finds_the_same_whole_numbers(N, rng, monkeypatch):
    n = 130
    k = rng.integers(-127, 128, (N, n)).astype(float)
    k[:, 0], k[:, 1] = 127, -127  # nothing may saturate
    copy = room_for_copy(N, n)
    write_bytes(k, copy, 0)
    for b in range(1, MOST_DIRECTIONS + 1):
        words = rng.integers(-128, 128, (2 * b, 4 * copy.shape[1])).astype(np.int8)
        words[0], words[1] = 127, -128
        ways = [np.full((b, 64 * len(copy)), np.nan) for _ in range(4)]
        for most, out in enumerate(ways[:3]):
            multiply(copy, words, out, most)
        with monkeypatch.context() as patch:
            patch.setattr(orthoselect.native, "_kernels", None)
            multiply(copy, words, ways[3])
        exact = words.astype(np.int64)
        numbers = (
            copy.reshape(len(copy), -1, 64, 4).transpose(1, 3, 0, 2).reshape(-1, 64 * len(copy))
        )
        expected = (256 * exact[::2] + exact[1::2]) @ numbers.astype(np.int64)
        for out in ways:
            assert np.array_equal(out, expected)


@pytest.mark.skipif(not available(), reason="there are no kernels")
def test_sums_of_very_many_rows_do_not_overflow():
    N = (1 << 16) + 8
    copy = room_for_copy(N, 1)
    copy[:] = 255
    words = np.full((2, N), -128, dtype=np.int8)
    words[0] = 127
    for most in range(3):
        out = np.empty((1, 64))
        multiply(copy, words, out, most)
        assert (out == 255.0 * N * (256 * 127 - 128)).all()


@pytest.mark.parametrize("seed", range(5))
def test_kernel_and_numpy_cut_the_same_bytes(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    X = nasty_table(rng, 203)
    V = np.linalg.qr(rng.normal(size=(203, 3)))[0]
    V = np.linalg.qr(V - V.mean(axis=0))[0]
    ours, VtX = center(DenseMatrix(X), V, copy=True)
    monkeypatch.setattr(orthoselect.native, "_kernels", None)
    twin, expected = center(DenseMatrix(X), V, copy=True)
    assert VtX == pytest.approx(expected, abs=1e-12)
    assert ours.copy.errors == pytest.approx(twin.copy.errors, rel=1e-3, abs=1e-9)
    close = (ours.copy.copy.astype(int) - twin.copy.copy.astype(int))[:, :51]
    assert np.abs(close).max() <= 1
    assert np.mean(close != 0) < 1e-3


def test_the_first_look_with_a_copy_is_the_one_without(rng):
    for dtype in (np.float64, np.float32, np.uint8):
        X = (20 * rng.normal(size=(700, 90)) + 100).astype(dtype)
        V = np.linalg.qr(rng.normal(size=(700, 2)) - 0.0)[0]
        V -= V.mean(axis=0)
        with_copy, VtX = center(DenseMatrix(X), V, copy=True)
        without, expected = center(DenseMatrix(X), V)
        assert with_copy.means == pytest.approx(without.means, rel=1e-13)
        assert with_copy.norms == pytest.approx(without.norms, rel=1e-13)
        assert VtX == pytest.approx(expected, abs=1e-12)


def test_a_direction_is_cut_into_two_bytes_and_what_is_left_is_said(rng):
    for q in (rng.normal(size=100), np.eye(100)[3], rng.standard_cauchy(100), np.zeros(100)):
        whole, unit, lost = cut_direction(q)
        assert np.abs(whole).max(initial=0) <= 127 * 256
        assert np.linalg.norm(q - unit * whole) <= lost
        assert lost <= 1e-3 * np.linalg.norm(q) + 1e-11
