"""Tables as integer codes: which column becomes what."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import KBinsDiscretizer

import naive
from matrices import row_blocks
from orthoselect import select
from orthoselect.counts import DenseCodes, SparseCodes
from orthoselect.encode import NumberedNames, Table, build_codes, coded_design, find_labels
from orthoselect.errors import (
    InputError,
    ManyLevelsWarning,
    NonFiniteError,
    UncutNumbersWarning,
)

N = 40


def table_of(X, labels=None, names=None):
    names = names or NumberedNames(X.shape[1])
    return Table(X.shape[0], names, X, np.arange(X.shape[1]), labels or {})


def codes_of(X, bins="auto", **options):
    """Codes feature by feature, written out, whatever their storage."""
    design = build_codes(table_of(X), {}, set(), bins, **options)
    return written_out(design.codes), design.codes.levels.tolist()


def written_out(codes):
    codes.check()
    if isinstance(codes, DenseCodes):
        return codes.values
    full = np.zeros(codes.shape, dtype=codes.codes.dtype)
    owner = np.repeat(np.arange(codes.shape[1]), np.diff(codes.indptr))
    full[codes.indices, owner] = codes.codes
    return full.T


def same_partition(a, b):
    return len(set(zip(a, b))) == len(set(a)) == len(set(b))


@pytest.fixture
def mixed(rng):
    """Columns: 0 ones and zeros, 1 whole numbers with gaps, 2 fractions, 3 many whole numbers."""
    X = np.empty((600, 4))
    X[:, 0] = rng.integers(0, 2, 600)
    X[:, 1] = rng.choice([-5, 0, 1000], 600)
    X[:, 2] = rng.normal(size=600)
    X[:, 3] = rng.permutation(600) * 3
    return X


@pytest.mark.parametrize("kind", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_matrix])
def test_auto_takes_few_whole_numbers_as_they_are_and_cuts_the_rest(mixed, kind):
    codes, levels = codes_of(kind(mixed))
    for k in (0, 1):
        assert same_partition(mixed[:, k], codes[k])
    for k in (2, 3):
        assert same_partition(naive.mean_std_levels(mixed[:, k], 3), codes[k])
    assert levels == [2, 3, 3, 3]


def test_auto_is_about_values_not_dtypes(mixed):
    whole = mixed[:, [0, 1, 3]]
    expected = codes_of(whole)
    for dtype in (np.int16, np.int64, np.float32):
        found = codes_of(whole.astype(dtype))
        np.testing.assert_array_equal(found[0], expected[0])
    assert codes_of(mixed[:, :1].astype(bool))[0].tolist() == [mixed[:, 0].tolist()]


def test_256_whole_numbers_are_few_and_257_many():
    few, many = np.arange(600) % 256, np.arange(600) % 257
    assert codes_of(np.column_stack([few, many]))[1] == [256, 3]
    assert codes_of(sp.csc_array(np.column_stack([few, many])))[1] == [256, 3]


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("bins", ["mean_std_3", "mean_std_4"])
def test_mean_std_cuts_every_numeric_column(mixed, kind, bins):
    codes, _ = codes_of(kind(mixed), bins)
    for k in range(4):
        assert same_partition(naive.mean_std_levels(mixed[:, k], int(bins[-1])), codes[k])


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_a_number_means_equal_width(mixed, kind):
    codes, _ = codes_of(kind(mixed), 7)
    expected = KBinsDiscretizer(7, strategy="uniform", encode="ordinal").fit_transform(mixed)
    for k in range(4):
        assert same_partition(expected[:, k], codes[k])


def test_a_discretizer_is_fitted_and_left_alone(mixed):
    cut = KBinsDiscretizer(5, strategy="uniform", encode="ordinal")
    codes, _ = codes_of(mixed, cut)
    np.testing.assert_array_equal(codes, codes_of(mixed, 5)[0])
    assert not hasattr(cut, "bin_edges_")
    with pytest.raises(InputError, match=r"one code for each number.*encode='ordinal'"):
        codes_of(mixed, KBinsDiscretizer(5, strategy="uniform", encode="onehot-dense"))


def test_a_discretizer_sees_only_columns_of_numbers_in_use(mixed, rng):
    class Recorder:
        def fit(self, X):
            seen.append(X.copy())
            return self

        def transform(self, X):
            return X > 0

    seen = []
    mixed[3, 2] = np.nan
    labels = {1: find_labels(mixed[:, 1])}
    table = table_of(mixed, labels)
    design = build_codes(table, {"pair": [0, 3]}, {2}, Recorder())
    np.testing.assert_array_equal(seen[0], mixed[:, [0, 3]])
    assert design.codes.levels.tolist() == [3, 3]  # 0 and 3 together, of four one is missing


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_from_data_takes_every_value_and_refuses_too_many(mixed, kind):
    codes, levels = codes_of(kind(mixed[:, :2] / 3), "from_data")
    assert same_partition(mixed[:, 1], codes[1])
    assert levels == [2, 3]
    with pytest.raises(InputError, match=r"`x2` .*at most 256 .*it has 600.*bins"):
        codes_of(kind(mixed), "from_data")


@pytest.mark.parametrize("bins", [0, 1, 257, True, 2.0, "uniform", None, KBinsDiscretizer])
def test_wrong_bins_are_named(bins):
    with pytest.raises(InputError, match="`bins` should be"):
        build_codes(table_of(np.eye(3)), {}, set(), bins)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("bins", ["auto", "from_data", "mean_std_4", 3])
def test_nan_and_infinity_are_named(kind, bins, rng):
    X = rng.normal(size=(N, 4))
    X[3, 1] = np.nan
    X[4, 3] = np.inf
    with pytest.raises(NonFiniteError, match=r"column `x1` has 1 NaN value.*1 more"):
        build_codes(table_of(kind(X)), {}, set(), bins)
    with pytest.raises(NonFiniteError, match=r"`x3` has 1 infinity"):
        build_codes(table_of(kind(X)), {}, {1}, bins)
    assert build_codes(table_of(kind(np.round(X))), {}, {1, 3}, bins).codes.shape == (N, 2)


def test_a_discretizer_never_sees_nan(rng):
    X = rng.normal(size=(N, 2))
    X[0, 1] = np.nan
    with pytest.raises(NonFiniteError, match="x1"):
        codes_of(X, KBinsDiscretizer(3, encode="ordinal"))


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_labels_and_groups_are_coded_beside_numbers(kind, rng):
    X = rng.integers(0, 3, (N, 5)).astype(float)
    labels = {1: find_labels(np.array(list("abcd"))[rng.integers(0, 4, N)])}
    table = table_of(kind(X), labels, ["a", "b", "c", "d", "e"])
    design = build_codes(table, {"pair": [4, 1], "one": [2]}, {0})
    assert [f.name for f in design.features] == ["pair", "one", "d"]
    codes = written_out(design.codes)
    assert same_partition(list(zip(X[:, 4], labels[1].codes)), codes[0])
    assert same_partition(X[:, 2], codes[1])
    assert same_partition(X[:, 3], codes[2])
    assert design.name_of_column(2) == "d"
    assert isinstance(design.codes, SparseCodes if kind is sp.csr_array else DenseCodes)


def test_more_than_256_labels_get_wider_codes():
    X = np.zeros((1200, 2))
    table = table_of(X, {1: find_labels(np.arange(1200) % 400)})
    codes = build_codes(table, {}, set()).codes
    assert codes.values.dtype == np.uint16
    assert codes.levels.tolist() == [1, 400]


def test_identifiers_are_warned_of():
    with pytest.warns(ManyLevelsWarning, match="categorical column `x0` has 40 levels"):
        build_codes(table_of(np.zeros((N, 1)), {0: find_labels(np.arange(N))}), {}, set())
    table = table_of(np.column_stack([np.arange(N), np.arange(N)]))
    with pytest.warns(ManyLevelsWarning, match="group `both` has 40 levels"):
        build_codes(table, {"both": [0, 1]}, set())


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_whole_numbers_that_hardly_repeat_are_warned_of(kind):
    X = np.column_stack([np.arange(N) % 2, np.arange(N) // 2 * 7, np.arange(N) % 21 + 1])
    assert codes_of(kind(X[:, :2]))[1] == [2, 20]  # half as many as rows
    with pytest.warns(UncutNumbersWarning, match="`x2` holds 21 distinct whole numbers in 40"):
        codes_of(kind(X))
    assert codes_of(kind(X), "from_data")[1][-1] == 21  # as told
    build_codes(table_of(kind(X)), {}, {2})


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("bins", ["auto", "from_data", "mean_std_3", 4])
def test_rows_without_weight_are_absent(kind, bins, rng):
    X = np.round(rng.normal(size=(N, 4)), 1)
    X[:, 3] = rng.integers(0, 3, N)
    weights = rng.integers(0, 3, N).astype(float)
    X[weights == 0] = 1e6
    labels = {0: find_labels(np.where(weights == 0, 9, np.arange(N) % 3))}
    design = build_codes(table_of(kind(X), labels), {}, set(), bins, weights)
    copies = np.repeat(np.arange(N), weights.astype(int))
    repeated = Table(
        len(copies), NumberedNames(4), kind(X[copies]), np.arange(4),
        {0: find_labels(labels[0].codes[copies])},
    )  # fmt: skip
    expected = build_codes(repeated, {}, set(), bins)
    assert design.rows.tolist() == (weights > 0).tolist()
    found = np.repeat(written_out(design.codes), weights[weights > 0].astype(int), axis=1)
    assert all(map(same_partition, found, written_out(expected.codes)))
    assert design.codes.levels.tolist() == expected.codes.levels.tolist()


def test_sparse_tables_are_only_read():
    X = sp.csc_array((np.array([0.0, 2.0, 1.0]), np.array([1, 0, 0]), [0, 2, 3]), shape=(2, 2))
    before = X.copy()
    X.has_canonical_format = False
    build_codes(table_of(X), {}, set())
    np.testing.assert_array_equal(X.data, before.data)
    np.testing.assert_array_equal(X.indices, before.indices)


def test_column_order_of_storage_is_no_matter(rng):
    X = rng.normal(size=(60, 50))
    y = rng.integers(0, 2, 60)
    assert select(X, y, 5, "cmim") == select(np.asfortranarray(X), y, 5, "cmim")


@pytest.mark.filterwarnings("ignore::orthoselect.errors.SelectionWarning")
def test_tables_of_levels_that_do_not_fit_into_memory_are_refused_in_blocks(monkeypatch):
    X = np.column_stack([np.arange(300) % 90, np.arange(300) % 70]).astype(float)
    monkeypatch.setattr(coded_design, "free_memory", lambda: 20_000)
    with pytest.raises(InputError, match=r"`x0` \(90\) and `x1` \(70\).* 202 kB .*`exclude`"):
        select(row_blocks(X), np.arange(300) % 2, 2, method="jmi", categorical_features="all")
