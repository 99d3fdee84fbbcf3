from itertools import pairwise

import numpy as np
import pytest

import naive
from coded_tables import KINDS, random_problem, sparse_of
from orthoselect import native
from orthoselect.counts import DenseCodes, Logarithms, SparseCodes, count
from orthoselect.counts.base import as_units
from orthoselect.counts.packed import common_ones, packing_pays
from orthoselect.counts.tables import CodeCounts
from orthoselect.errors import InputError
from orthoselect.matrix import threads

TERMS = 200


@pytest.fixture(params=["kernels", "NumPy"])
def way(request, monkeypatch):
    """With the compiled kernels, and without."""
    if request.param == "NumPy":
        monkeypatch.setattr(native, "_kernels", None)
    elif native.kernels() is None:
        pytest.skip("there are no kernels")
    return request.param


def dense(*features, levels=None, dtype=np.uint8):
    values = np.array(features, dtype=dtype)
    return DenseCodes(values, values.max(axis=1) + 1 if levels is None else np.array(levels))


def all_sums(counts, T):
    """Every sum a kind can give, as one list of arrays."""
    pairs = [counts.pairs(j, T) for j in range(counts.shape[1])]
    return [*counts.margins(T), *(part for pair in pairs for part in pair)]


def assert_agree(counts, codes, y, w=None):
    T = counts.logarithms(TERMS)
    twin = naive.count_sums(codes.values.tolist(), y.tolist(), w)
    rows = max(counts.total, 1e-300)

    def same(ours, theirs):
        assert np.allclose(T.nats(ours), np.array(theirs) / rows, rtol=1e-9, atol=1e-9)

    same(T.of(counts.total), twin["n"])
    same(counts.classes(T), twin["y"])
    X, XY = counts.margins(T)
    same(X, twin["x"])
    same(XY, twin["xy"])
    for j in range(counts.shape[1]):
        XJ, XJY = counts.pairs(j, T)
        same(XJ, twin["xj"][j])
        same(XJY, twin["xjy"][j])


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_counts_as_a_dictionary_does(kind, way, numbers):
    for seed in numbers(180):
        codes, y, c = random_problem(seed)
        assert_agree(KINDS[kind](codes, y, c), codes, y)


def test_kinds_agree_to_the_last_unit(monkeypatch, numbers):
    for seed in numbers(240):
        codes, y, c = random_problem(1000 + seed)
        T = Logarithms(len(y), TERMS)
        made = {name: kind(codes, y, c) for name, kind in KINDS.items()}
        made["chosen"] = count(codes, y, c)
        reference = all_sums(made["counted"], T)
        for counts in made.values():
            for ours, theirs in zip(all_sums(counts, T), reference):
                assert ours.dtype == np.int64
                assert np.array_equal(ours, theirs)
        with monkeypatch.context() as patch:
            patch.setattr(native, "_kernels", None)
            for name, kind in KINDS.items():
                for counts in (made[name], kind(codes, y, c)):
                    for ours, theirs in zip(all_sums(counts, T), reference):
                        assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("levels", [300, 5000, 65535])
@pytest.mark.parametrize("kind", ["counted", "sparse", "weighted", "weighted sparse"])
def test_many_levels_are_counted_without_large_tables(kind, levels, way, rng):
    dtype = np.uint16 if levels < 65536 else np.uint32
    values = rng.integers(0, levels, (4, 400)).astype(dtype)
    values[1] = np.minimum(values[1], 3)
    values[3] = levels - 1 - values[0]
    codes, y = DenseCodes(values, np.full(4, levels)), rng.integers(0, 3, 400)
    counts = KINDS[kind](codes, y, 3)
    assert_agree(counts, codes, y)
    XJ, XJY = counts.pairs(2, counts.logarithms(TERMS))
    assert XJ[0] == XJ[3]
    assert XJY[0] == XJY[3]


def test_whole_tables_of_many_cells_are_counted(way, rng):
    """Too many for places of 16 bits, too few to be sorted."""
    values = rng.integers(0, 200, (3, 12000)).astype(np.uint8)
    y = rng.integers(0, 2, 12000)
    codes = DenseCodes(values, np.array([200, 200, 200]))
    counts = KINDS["counted"](codes, y, 2)
    T = counts.logarithms(TERMS)
    table = np.zeros((200, 200, 2), dtype=np.int64)
    np.add.at(table, (values[0], values[1], y), 1)
    XJ, XJY = counts.pairs(1, T)
    assert XJ[0] == T.of(table.sum(axis=2)).sum()
    assert XJY[0] == T.of(table).sum()


@pytest.mark.parametrize("rows", [1023, 1024, 1025, 1300, 5000])
def test_long_rows_of_bits_are_counted_by_many_words_at_a_time(rows, way, rng):
    """A thousand rows of a class are sixteen words, which processors with wide registers add up."""
    y = np.repeat([0, 1], [rows, 3000])
    values = rng.integers(0, 3, (4, len(y))).astype(np.uint8)
    values[3] = 1  # ones only: the largest sums that bytes have to hold
    codes = DenseCodes(values, np.full(4, 3))
    packed, counted = (KINDS[kind](codes, y, 2) for kind in ("packed", "counted"))
    T = Logarithms(len(y), TERMS)
    for ours, theirs in zip(all_sums(packed, T), all_sums(counted, T)):
        assert np.array_equal(ours, theirs)
    assert packed.pairs(3, T)[0][3] == T.of(len(y))


@pytest.mark.parametrize("kind", KINDS)
def test_a_duplicate_under_other_names_gives_the_same_integers(kind, way, rng):
    for _ in range(20):
        first = rng.integers(0, 4, 90)
        names = rng.permutation(4)
        other = rng.integers(0, 3, 90)
        codes, y = dense(first, names[first], other, levels=[4, 4, 3]), rng.integers(0, 3, 90)
        counts = KINDS[kind](codes, y, 3)
        T = counts.logarithms(TERMS)
        X, XY = counts.margins(T)
        assert X[0] == X[1]
        assert XY[0] == XY[1]
        (XJ, XJY), (XI, XIY) = counts.pairs(0, T), counts.pairs(1, T)
        assert np.array_equal(XJ, XI)
        assert np.array_equal(XJY, XIY)
        assert XJ[0] == X[0]


@pytest.mark.parametrize("kind", KINDS)
def test_the_information_of_independent_features_is_exactly_zero(kind, way):
    a, b, y = (part.ravel() for part in np.indices((3, 7, 4)))
    codes = dense(a, b)
    counts = KINDS[kind](codes, y, 4)
    T = counts.logarithms(TERMS)
    (X, XY), (XJ, XJY) = counts.margins(T), counts.pairs(1, T)
    TN, TY = T.of(len(y)), counts.classes(T)
    assert TN + XJ[0] - X[0] - X[1] == 0
    assert (XY - X - TY + TN == 0).all()
    assert XJY[0] - XJ[0] - TY + TN == 0
    assert XJY[0] - XJ[0] - XY[1] + X[1] == 0


@pytest.mark.parametrize("kind", KINDS)
def test_no_features_have_no_sums(kind, way):
    codes = DenseCodes(np.zeros((0, 5), dtype=np.uint8), np.zeros(0, dtype=np.int64))
    counts = KINDS[kind](codes, np.array([0, 1, 1, 0, 1]), 2)
    assert [len(part) for part in counts.margins(counts.logarithms(TERMS))] == [0, 0]


def random_weights(rng, N, whole):
    w = rng.integers(0, 5, N).astype(float) if whole else rng.exponential(size=N)
    w[rng.random(N) < 0.2] = 0
    w[rng.integers(N)] = 2.0 if whole else 2.5
    return w


@pytest.mark.parametrize("whole", [True, False], ids=["whole", "real"])
@pytest.mark.parametrize("make", [lambda codes: codes, sparse_of], ids=["dense", "sparse"])
def test_weighted_counts_are_those_of_a_dictionary(make, whole, way, rng, numbers):
    for seed in numbers(60):
        codes, y, c = random_problem(seed)
        w = random_weights(rng, len(y), whole)
        counts = count(make(codes), y, c, w)
        assert_agree(counts, codes, y, w)
        assert whole == (counts.logarithms(TERMS).table is not None)


@pytest.mark.parametrize("make", [lambda codes: codes, sparse_of], ids=["dense", "sparse"])
def test_a_whole_weight_is_a_repeated_row(make, way, rng, numbers):
    for seed in numbers(40):
        codes, y, c = random_problem(seed)
        w = random_weights(rng, len(y), whole=True)
        again = np.repeat(np.arange(len(y)), w.astype(int))
        repeated = DenseCodes(np.ascontiguousarray(codes.values[:, again]), codes.levels)
        one, other = count(make(codes), y, c, w), count(repeated, y[again], c)
        T = one.logarithms(TERMS)
        assert one.classes(T) == other.classes(T)
        for ours, theirs in zip(all_sums(one, T), all_sums(other, T)):
            assert np.array_equal(ours, theirs)


def test_real_weights_let_no_rounding_decide(way, rng, numbers):
    """The same rows in another order, and levels under other names, give the same to the bit."""
    for seed in numbers(40):
        codes, y, c = random_problem(seed)
        w = random_weights(rng, len(y), whole=False)
        shuffled = rng.permutation(len(y))
        renamed = codes.levels[:, None] - 1 - codes.values[:, shuffled].astype(np.int64)
        other_codes = DenseCodes(np.ascontiguousarray(renamed, codes.values.dtype), codes.levels)
        one, other = count(codes, y, c, w), count(other_codes, y[shuffled], c, w[shuffled])
        T = one.logarithms(TERMS)
        for ours, theirs in zip(all_sums(one, T), all_sums(other, T)):
            assert np.array_equal(ours, theirs)


def test_dense_and_sparse_agree_on_real_weights_to_the_bit(way, rng, numbers):
    for seed in numbers(40):
        codes, y, c = random_problem(seed)
        w = random_weights(rng, len(y), whole=False)
        one, other = count(codes, y, c, w), count(sparse_of(codes), y, c, w)
        T = one.logarithms(TERMS)
        for ours, theirs in zip(all_sums(one, T), all_sums(other, T)):
            assert np.array_equal(ours, theirs)


def test_very_large_whole_weights_need_no_table(rng):
    codes, y, c = random_problem(3)
    w = rng.integers(1, 10**9, len(y)).astype(float)
    counts = CodeCounts(codes, y, c, w)
    assert counts.logarithms(TERMS).table is None
    assert_agree(counts, codes, y, w)


@pytest.mark.parametrize("scale", [1e-305, 1e-9, 1.0, 1e9, 1e300])
def test_weights_of_any_size_keep_their_digits(scale, rng):
    w = rng.random(50) * scale
    units, exponent = as_units(w)
    assert np.allclose(np.ldexp(units.astype(float), -exponent), w, rtol=1e-9, atol=0)


def test_weights_of_zero_and_one_choose_rows(rng):
    codes, y, c = random_problem(7)
    keep = rng.random(len(y)) < 0.5
    keep[0] = True
    counts = count(codes, y, c, keep.astype(float))
    assert counts.kind != "weighted"
    assert counts.shape == (keep.sum(), codes.shape[1])
    rows = DenseCodes(codes.values[:, keep], codes.levels)
    assert_agree(counts, rows, y[keep])


def test_threads_change_nothing(monkeypatch, way, rng):
    monkeypatch.setattr("orthoselect.counts.base._WORTH_A_THREAD", 0.0)
    codes, y = dense(*rng.integers(0, 3, (37, 500))), rng.integers(0, 4, 500)
    for kind in KINDS.values():
        sums = []
        for allowed in (1, 2, 5):
            monkeypatch.setattr(threads, "n_threads", lambda allowed=allowed: allowed)
            counts = kind(codes, y, 4)
            sums.append(all_sums(counts, counts.logarithms(TERMS)))
        for other in sums[1:]:
            assert all(np.array_equal(a, b) for a, b in zip(sums[0], other))


def test_ones_are_counted_without_numpy_2(monkeypatch, rng):
    planes = rng.integers(0, 2**63, (3, 7), dtype=np.int64).astype(np.uint64)
    segments = np.array([0, 2, 6, 7])
    expected = [
        [sum(int(word).bit_count() for word in row[a:b]) for a, b in pairwise(segments)]
        for row in planes
    ]
    assert common_ones(planes, None, segments).tolist() == expected
    monkeypatch.delattr(np, "bitwise_count", raising=False)
    assert common_ones(planes, None, segments).tolist() == expected
    assert common_ones(planes[:, ::2], None, np.array([0, 4])).shape == (3, 1)


@pytest.mark.parametrize(
    ("levels", "kind"), [(2, "packed"), (3, "packed"), (10, "packed"), (20, "counted")]
)
def test_few_levels_are_packed_and_many_are_not(levels, kind, rng):
    codes = dense(*rng.integers(0, levels, (20, 6000)), levels=[levels] * 20)
    assert count(codes, rng.integers(0, 2, 6000), 2).kind == kind


def test_one_feature_of_many_levels_keeps_all_from_being_packed(rng):
    values = rng.integers(0, 2, (50, 300)).astype(np.uint16)
    values[7] = rng.permutation(300)
    codes = DenseCodes(values, values.max(axis=1).astype(np.int64) + 1)
    assert count(codes, rng.integers(0, 2, 300), 2).kind == "counted"
    assert not packing_pays(codes, rng.integers(0, 2, 300), 2)


def test_sparse_codes_stay_sparse():
    codes, y, c = random_problem(5)
    assert count(sparse_of(codes), y, c).kind == "sparse"


GOOD = dense([0, 1, 1], [2, 0, 1])
SPARSE = sparse_of(GOOD)


@pytest.mark.parametrize(
    ("codes", "y", "w", "match"),
    [
        (dense([0, 3, 1], levels=[3]), [0, 1, 1], None, "feature 0 has 3 levels and a code 3"),
        (GOOD, [0, 2, 1], None, "from 0 to 1 for 2 classes"),
        (GOOD, [0, -1, 1], None, "from 0 to 1 for 2 classes"),
        (GOOD, [0, 1], None, "class of each of the 3 rows"),
        (GOOD, [0.0, 1.0, 1.0], None, "whole number"),
        (GOOD, [0, 1, 1], [1.0, -1.0, 1.0], "not negative"),
        (GOOD, [0, 1, 1], [0.0, 0.0, 0.0], "not all zero"),
        (GOOD, [0, 1, 1], [np.nan, 1.0, 1.0], "finite"),
        (GOOD, [0, 1, 1], [1.0, 1.0], "shape"),
        (SparseCodes(SPARSE.indptr, SPARSE.indices + 3, SPARSE.codes, (3, 2), SPARSE.levels),
         [0, 1, 1], None, "rows from 0 to 2"),
        (SparseCodes(SPARSE.indptr, SPARSE.indices, SPARSE.codes - 1, (3, 2), SPARSE.levels),
         [0, 1, 1], None, "at least 1"),
        (SparseCodes(SPARSE.indptr, SPARSE.indices, SPARSE.codes, (3, 2), SPARSE.levels - 1),
         [0, 1, 1], None, "below the number of levels"),
    ],
)  # fmt: skip
def test_what_is_out_of_bounds_is_named(codes, y, w, match):
    with pytest.raises(InputError, match=match):
        count(codes, y, 2, w)


def test_codes_of_other_shapes_or_types_are_refused():
    with pytest.raises(InputError, match="uint8"):
        DenseCodes(np.zeros((1, 3), dtype=int), np.array([1]))
    with pytest.raises(InputError, match="one row for each"):
        DenseCodes(np.zeros((1, 3), dtype=np.uint8), np.array([1, 1]))
    with pytest.raises(InputError, match="features"):
        SparseCodes(SPARSE.indptr[:-1], SPARSE.indices, SPARSE.codes, (3, 2), SPARSE.levels)
    with pytest.raises(InputError, match="ends with"):
        SparseCodes(SPARSE.indptr, SPARSE.indices[:-1], SPARSE.codes, (3, 2), SPARSE.levels)


@pytest.mark.parametrize("kind", ["packed", "counted", "sparse"])
def test_logarithms_that_are_too_short_are_refused(kind, way):
    codes, y = dense([0, 1, 1, 0], [2, 0, 1, 1]), np.array([0, 1, 1, 1])
    counts = KINDS[kind](codes, y, 2)
    with pytest.raises(InputError, match="counts up to 4"):
        counts.pairs(0, Logarithms(3, TERMS))
