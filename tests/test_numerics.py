"""Nasty tables: each edge that has broken a selector somewhere."""

import warnings
from itertools import takewhile

import numpy as np
import pytest

import naive
import problems
from matrices import STORAGES
from orthoselect import OrthogonalSelector, select
from orthoselect.errors import (
    ConstantTargetError,
    NonFiniteError,
    SearchStoppedWarning,
    TooManyRequestedWarning,
)

pytestmark = pytest.mark.usefixtures("strategy")


@pytest.fixture
def table():
    rng = np.random.default_rng(11)
    X = rng.normal(size=(120, 8)) + rng.normal(size=(120, 2)) @ rng.normal(size=(2, 8))
    y = np.digitize(X[:, 1] - X[:, 4] + rng.normal(size=120), [-1, 1])
    return X, y


def true_totals(X, y, features, tolerance=1e-13):
    Y = naive.one_hot(y)
    return [
        naive.value(X[:, features[: k + 1]], Y, tolerance=tolerance) for k in range(len(features))
    ]


def totals(path):
    return [step.total for step in path]


@pytest.mark.parametrize("value", [0.0, 0.1, 1e9, -1e-300])
def test_constant_columns_are_never_selected(table, value):
    X, y = table
    X = np.insert(X, 3, value, axis=1)
    with pytest.warns(SearchStoppedWarning, match="8 of the 9"):
        path = select(X, y, 9)
    assert 3 not in path.features


@pytest.mark.parametrize("spread", [1e-3, 1e-6, 1e-9, 1e-12])
def test_nearly_constant_columns_count_by_their_variation(table, spread):
    X, y = table
    Z = X.copy()
    Z[:, 1] = 1.0 + spread * X[:, 1]
    path = select(Z, y, 8)
    assert sorted(path.features) == list(range(8))
    assert totals(path) == pytest.approx(true_totals(Z, y, path.features), abs=1e-8)


def test_exact_duplicates_are_selected_once_and_the_lowest_wins(table):
    X, y = table
    Z = np.column_stack([X, X[:, ::-1] * -3.0 + 2.0])
    with pytest.warns(SearchStoppedWarning, match="8 of the 16"):
        path = select(Z, y, 16)
    assert path.features == select(X, y, 8).features


@pytest.mark.parametrize("noise", [1e-3, 1e-5, 1e-7, 1e-9, 1e-11, 1e-12])
def test_near_duplicates_add_what_their_noise_adds(table, noise):
    X, y = table
    rng = np.random.default_rng(0)
    Z = np.column_stack([X, X * (1 + noise * rng.normal(size=X.shape))])
    path = select(Z, y, 16)
    assert all(gain <= 1 for gain in path.gains)
    assert path.total <= 2
    # The noise itself is only known to eps / noise.
    tolerance = max(1e-8, 1e-15 / noise)
    assert totals(path) == pytest.approx(
        true_totals(Z, y, path.features, tolerance=1e-15), abs=tolerance
    )


def test_thirteen_columns_of_rank_eight():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(90, 8)) @ rng.normal(size=(8, 13))
    y = rng.integers(0, 3, 90)
    with pytest.warns(SearchStoppedWarning, match="8 of the 13.*no rank is left"):
        path = select(X, y, 13)
    assert path.total == pytest.approx(naive.value(X, naive.one_hot(y)), abs=1e-8)
    assert path.stopped


@pytest.mark.parametrize("kind", ["C order", "csr"])
def test_fewer_rows_than_features_and_steps(kind):
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(12, 40)), rng.integers(0, 3, 12)
    with pytest.warns(SearchStoppedWarning, match="completely"):
        path = select(STORAGES[kind](X), y, 30)
    assert len(path) <= 11
    assert path.total == pytest.approx(2.0, abs=1e-9)
    assert path.total <= 2


def test_more_features_than_there_are(table):
    X, y = table
    with pytest.warns(TooManyRequestedWarning, match="is 99, but there are 8"):
        path = select(X, y, 99)
    assert len(path) == 8


@pytest.mark.parametrize("kind", ["C order", "csr"])
def test_scales_from_tiny_to_huge(table, kind):
    X, y = table
    scales = 10.0 ** np.linspace(-12, 12, 8)
    path, plain = select(STORAGES[kind](X * scales), y, 8), select(X, y, 8)
    assert path.features == plain.features
    assert path.gains == pytest.approx(plain.gains, abs=1e-10)


def test_scales_beyond_the_square_root_of_the_float_range(table):
    X, y = table
    scales = [1e-300, 1e300, 1.0, 1e-200, 1e200, 1.0, 1e155, 1e-163]
    assert select(X * scales, y, 8).features == select(X, y, 8).features


@pytest.mark.parametrize("kind", ["C order", "Fortran order", "csr"])
def test_shift_by_a_billion(table, kind):
    X, y = table
    stored = X + 1e9
    path = select(STORAGES[kind](stored), y, 8)
    exact = stored - 1e9  # a difference of near numbers is exact
    assert path.features == select(exact, y, 8).features
    assert totals(path) == pytest.approx(true_totals(exact, y, path.features), abs=1e-8)


def test_timestamp_that_is_constant_in_the_first_rows():
    rng = np.random.default_rng(0)
    clock = 1.7e9 + np.sort(np.maximum(rng.normal(size=400) * 100, 0.0))
    X = np.column_stack([rng.normal(size=(400, 3)), clock])
    y = (clock - 1.7e9 + 30 * rng.normal(size=400) > 50).astype(int)
    path = select(X, y, 4)
    exact = X - [0, 0, 0, 1.7e9]
    assert path.features[0] == 3
    assert totals(path) == pytest.approx(true_totals(exact, y, path.features), abs=1e-8)


def test_a_constant_response_is_an_error(table):
    X, _ = table
    with pytest.raises(ConstantTargetError, match=r"every row has 1\."):
        select(X, np.ones(120, dtype=int), 3)
    with pytest.raises(ConstantTargetError, match=r"every row has 0\.1\."):
        select(X, np.full(120, 0.1), 3, task="regression")


def test_one_of_several_responses_is_constant(table):
    X, _ = table
    Y = np.column_stack([X[:, 0] + X[:, 5], np.full(120, 3.3)])
    path = select(X, Y, 2)
    assert path.ceiling == 1
    assert path.total == pytest.approx(1.0)


def test_class_with_one_member(table):
    X, y = table
    y = y.copy()
    y[7] = y.max() + 1
    path = select(X, y, 5)
    assert path.ceiling == 3
    assert totals(path) == pytest.approx(true_totals(X, y, path.features), abs=1e-8)


def test_every_row_its_own_class():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 3))
    path = select(X, list("abcdef"), 3)
    assert path.gains == pytest.approx([1, 1, 1])
    assert path.features == [0, 1, 2]


def test_two_rows():
    path = select([[1.0, 5.0, 5.0], [2.0, 5.0, 6.0]], ["a", "b"], 1)
    assert path.features == [0]
    assert path.gains == pytest.approx([1.0])


def test_one_feature(table):
    X, y = table
    path = select(X[:, [1]], y, 1)
    assert path.gains == pytest.approx([naive.value(X[:, [1]], naive.one_hot(y))])


@pytest.mark.parametrize("kind", ["C order", "csr"])
def test_perfect_separation_leaves_nothing(table, kind):
    X, y = table
    two = (y > 0).astype(int)
    Z = np.column_stack([X, two * 7.0])
    with pytest.warns(SearchStoppedWarning, match="1 of the 4.*completely"):
        path = select(STORAGES[kind](Z), two, 4)
    assert path.features == [8]
    assert path.gains == pytest.approx([1.0])
    assert path.total <= 1.0


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", list(STORAGES))
def test_nonfinite_values_are_named_and_counted(table, kind, bad):
    X, y = table
    X = X.copy()
    X[[3, 5], 6] = bad
    X[0, 7] = bad
    words = r"`x6` \(2 missing.*`x7` \(1 " if np.isnan(bad) else "`x6` has 2 inf.*1 more column"
    with pytest.raises(NonFiniteError, match=words):
        OrthogonalSelector(3).fit(STORAGES[kind](X), y)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nonfinite_response_is_named(table, bad):
    X, _ = table
    y = X[:, 0].copy()
    y[4] = bad
    with pytest.raises(
        ValueError, match=r"y should hold finite values; it contains 1|`y` \(the target, 1 missing"
    ):
        select(X, y, 3)


def test_float32_beside_float64(table):
    X, y = table
    narrow = X.astype(np.float32)
    path, exact = select(narrow, y, 8), select(narrow.astype(float), y, 8)
    assert path.features == exact.features
    assert path.gains == pytest.approx(exact.gains, abs=1e-8)
    assert path.features == select(X, y, 8).features


def test_float32_rank_is_judged_by_float32_rounding():
    rng = np.random.default_rng(4)
    X = (rng.normal(size=(90, 8)) @ rng.normal(size=(8, 13))).astype(np.float32)
    y = rng.integers(0, 2, 90)
    with pytest.warns(SearchStoppedWarning, match="8 of the 13"):
        select(X, y, 13)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int16, np.uint32, np.int64, bool])
def test_integers_do_not_overflow(dtype):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2 if dtype is bool else 120, (300, 6)).astype(dtype)
    y = (X[:, 2].astype(float) + X[:, 0] > np.median(X[:, 2].astype(float) + X[:, 0])).astype(int)
    assert select(X, y, 4) == select(X.astype(float), y, 4)


def test_float32_selects_like_float64_among_long_near_copies():
    rng = np.random.default_rng(0)
    N = 100_000
    x0 = (rng.random(N) < 0.5).astype(float)
    flip = rng.random((N, 2)) < 2e-4
    X = np.column_stack([x0, np.abs(x0 - flip[:, 0]), 1.8 * np.abs(x0 - flip[:, 1])])
    X = np.column_stack([X, rng.normal(size=(N, 5))]).astype(np.float32)
    y = x0 + 40 * (X[:, 1] - x0) + 41 * (X[:, 2] / 1.8 - x0) + rng.normal(size=N)
    narrow = select(X, y, 3, include=[0], task="regression")
    wide = select(X.astype(float), y, 3, include=[0], task="regression")
    assert narrow.features == wide.features
    assert narrow.gains == pytest.approx(wide.gains, abs=1e-8)


@pytest.mark.parametrize("scale", [1e-37, 1e-22, 1e-14, 1e14, 1e20, 1e37])
def test_float32_scales_at_the_ends_of_its_range(table, scale):
    X, y = table
    scales = np.where(np.arange(8) % 2, scale, 1.0)
    narrow = (X * scales).astype(np.float32)
    path, exact = select(narrow, y, 8), select(narrow.astype(float), y, 8)
    assert path.features == exact.features
    assert path.gains == pytest.approx(exact.gains, abs=1e-7)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e300])
def test_excluded_columns_may_hold_anything_without_a_warning(table, bad):
    X, y = table
    X = X.copy()
    X[::2, 3] = bad
    kept = [0, 1, 2, 4, 5, 6, 7]
    path = select(X, y, 5, exclude=[3])
    assert path.features == [kept[f] for f in select(X[:, kept], y, 5).features]


@pytest.mark.usefixtures("two_threads")
def test_overflow_in_a_thread_is_no_warning():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_000, 60))
    y = (X[:, 7] + rng.normal(size=40_000) > 0).astype(int)
    assert select(X * 1e200, y, 3).features == select(X, y, 3).features


@pytest.mark.parametrize("seed", range(25))
def test_gains_of_float32_are_those_of_the_same_numbers_in_float64(seed, strategy):
    rng = np.random.default_rng(seed)
    N, n = int(rng.integers(30, 400)), int(rng.integers(3, 60))
    X = problems.columns(rng, N, n)
    X = (X / np.maximum(np.abs(X).max(axis=0), 1e-300)).astype(np.float32)
    if rng.random() < 0.3:
        X[:, -1] = X[:, 0]  # a duplicate is included below, and adds nothing
    y, _, task = problems.response(rng, N, X.astype(float))
    options = {"task": task, "include": [0, n - 1] if rng.random() < 0.3 else None}
    if rng.random() < 0.3:
        options["sample_weight"] = rng.integers(0, 4, N)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        single = select(X, y, min(12, n), **options)
        double = select(X.astype(float), y, min(12, n), **options)
    # float32 columns depend on each other sooner: then the two go their own ways.
    pairs = zip(single, double)
    alike = [a.feature == b.feature and (a.gain > 0) == (b.gain > 1e-12) for a, b in pairs]
    agreed = len([*takewhile(bool, alike)])
    assert agreed
    np.testing.assert_allclose(single.gains[:agreed], double.gains[:agreed], rtol=1e-8, atol=1e-11)
    totals = [step.total for step in single]
    np.testing.assert_allclose(totals, np.cumsum(single.gains), rtol=1e-12)


@pytest.mark.filterwarnings("ignore::orthoselect.errors.ReadAsQuantityWarning")
@pytest.mark.parametrize("seed", [9, 10, 11])
def test_columns_much_alike_in_float32_are_measured_whatever_was_measured_before(seed):
    rng = np.random.default_rng(seed)
    X = np.cumsum(rng.normal(size=(300, 260)), axis=1).astype(np.float32)
    y = rng.integers(0, 100, 300)
    assert select(X, y, 33).features == select(X.astype(float), y, 33).features


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("noise", [0.1, 0.01, 1e-4])
def test_float32_columns_far_from_zero_depend_on_each_other_however_they_are_multiplied(
    seed, noise
):
    """Plenty is left of a column, and yet no more than the roundings of its stored numbers."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 300)
    B = rng.normal(size=(300, 6))
    B[:, 0] += y
    X = B @ rng.normal(size=(6, 60)) + noise * rng.normal(size=(300, 60)) + 1e4
    X = X.astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        few, more, turned = select(X, y, 10), select(X, y, 13), select(np.asfortranarray(X), y, 10)
    assert few.features == turned.features == more.features[:10]
    assert few.gains == pytest.approx(turned.gains, rel=1e-6)


@pytest.mark.parametrize("method", ["socc", "err", "obcc"])
@pytest.mark.parametrize("scale", [1e-150, 1e-170, 1e-300, 1e-310])
def test_tiny_columns_whose_sums_are_zero_are_not_constant(scale, method):
    """Their squares are zero, and so are their sums over all rows and over each class."""
    a, b, x = (np.tile(v, 100) for v in ([1.0, 1, -1, -1], [1.0, -1, 1, -1], [1.0, -1, -1, 1]))
    noise = np.random.default_rng(0).normal(size=(400, 30))
    X = np.column_stack([a + x + b / 9, x * scale, noise])
    y = (a > 0).astype(float) if method == "socc" else a + 2.0
    assert select(X, y, 2, method).features == [0, 1]


@pytest.mark.parametrize("kind", ["C order", "csc"])
def test_a_column_depends_if_roundings_of_those_before_it_say_so(kind):
    """Two columns 1e-13 apart tell what they differ by to three digits, and no more."""
    a, e, f, u = np.random.default_rng(0).normal(size=(4, 40))
    near = np.column_stack([a, a + 1e-13 * e, e + 0.05 * f])
    with pytest.warns(SearchStoppedWarning, match="no rank is left"):
        path = select(STORAGES[kind](near), 5 * a + u, 3, include=[0, 1], task="regression")
    assert path.features == [0, 1]
    far = np.column_stack([a, a + 1e-10 * e, e + 0.05 * f])
    path = select(STORAGES[kind](far), 5 * a + u, 3, include=[0, 1], task="regression")
    assert path.features == [0, 1, 2]
