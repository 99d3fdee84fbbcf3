"""Every kind of table gives the selection of the plain float64 array, and is left as it was."""

import copy
import datetime
import decimal

import numpy as np
import pytest
import scipy.sparse as sp

from orthoselect import OrthogonalSelector, select
from orthoselect.errors import (
    InputError,
    LeftOutWarning,
    ManyLevelsWarning,
    MissingValueError,
    NonFiniteError,
    ShapeError,
)

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

N, n = 60, 6
NAMES = [f"col{j}" for j in range(n)]


@pytest.fixture
def whole():
    """Small whole numbers, exact in every dtype; half of them are zero."""
    rng = np.random.default_rng(1)
    X = rng.integers(-4, 5, size=(N, n)).astype(float)
    X[rng.random((N, n)) < 0.5] = 0.0
    return X


@pytest.fixture
def y(whole):
    rng = np.random.default_rng(2)
    return np.digitize(whole[:, 1] - whole[:, 4] + rng.normal(size=N), [-2.0, 1.0])


def same(path, reference, rel=1e-9):
    assert path.features == reference.features
    assert path.gains == pytest.approx(reference.gains, rel=rel)
    return True


def reference(X, y, **options):
    return select(np.ascontiguousarray(X, dtype=np.float64), y, 4, **options)


# Arrays


def padded(X):
    big = np.full((2 * N, 3 * n), np.nan)
    big[::2, ::3] = X
    return big[::2, ::3]


def readonly(X):
    X = X.copy()
    X.flags.writeable = False
    return X


ARRAYS = {
    "C order": np.ascontiguousarray,
    "Fortran order": np.asfortranarray,
    "strided": padded,
    "negative strides": lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    "read-only": readonly,
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: X.astype(np.float16),
    "longdouble": lambda X: X.astype(np.longdouble),
    "big-endian": lambda X: X.astype(">f8"),
    "big-endian int": lambda X: X.astype(">i4"),
    "int8": lambda X: X.astype(np.int8),
    "int64": lambda X: X.astype(np.int64),
    "object": lambda X: X.astype(object),
    "object of ints": lambda X: X.astype(int).astype(object),
    "nested lists": lambda X: X.tolist(),
    "list of arrays": lambda X: list(X),
    "tuple of tuples": lambda X: tuple(map(tuple, X.tolist())),
    "matrix subclass": lambda X: np.ascontiguousarray(X).view(type("Sub", (np.ndarray,), {})),
}


@pytest.mark.parametrize("kind", ARRAYS)
def test_arrays_of_any_layout_give_the_same_path(whole, y, kind):
    assert same(select(ARRAYS[kind](whole), y, 4), reference(whole, y))


def test_memory_mapped_array(whole, y, tmp_path):
    np.save(tmp_path / "X.npy", whole)
    X = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert same(select(X, y, 4), reference(whole, y))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint64])
def test_unsigned_integers_do_not_wrap(whole, y, dtype):
    X = whole + 4
    assert same(select(X.astype(dtype), y, 4), reference(X, y))


def test_booleans(whole, y):
    X = whole > 0
    assert same(select(X, y, 4), reference(X, y))


@pytest.mark.parametrize("kind", ["C order", "Fortran order", "strided", "negative strides"])
def test_arrays_are_left_as_they_were(whole, y, kind):
    X, weights = ARRAYS[kind](whole), np.linspace(0, 2, N)
    before = X.copy(), X.flags.writeable, X.strides, y.copy(), weights.copy()
    OrthogonalSelector(4).fit(X, y, sample_weight=weights)
    select(X, y, 2, categorical_features="all", exclude=[0])
    select(X, np.cos(np.arange(N)), 4)
    after = X, X.flags.writeable, X.strides, y, weights
    for was, is_ in zip(before, after):
        np.testing.assert_array_equal(was, is_)


def test_masked_entries_are_not_read_as_numbers(whole, y):
    X = np.ma.masked_array(whole, mask=whole == 4)
    with pytest.raises(InputError, match=r"mask|missing|NaN"):
        select(X, y, 2)


@pytest.mark.parametrize("dtype", [np.int16, np.uint16])
def test_frames_of_small_integers_are_as_exact_as_arrays(library, dtype):
    """One row in a thousand differs, by one unit in thirty thousand."""
    rng = np.random.default_rng(0)
    a, b = np.full(1000, 30000, dtype), rng.integers(0, 100, 1000).astype(dtype)
    a[5] += 1
    y = (np.arange(1000) == 5).astype(int)
    assert select(np.column_stack([a, b]), y, 1).names == ["x0"]
    assert select(library.frame({"a": a, "b": b}), y, 1).names == ["a"]


# Sparse


FORMATS = ["csr", "csc", "coo", "bsr", "dia", "dok", "lil"]


@pytest.mark.parametrize("family", ["matrix", "array"])
@pytest.mark.parametrize("kind", FORMATS)
def test_sparse_formats_give_the_same_path(whole, y, kind, family):
    X = getattr(sp, f"{kind}_{family}")(whole)
    dense, kept = X.toarray(), copy.deepcopy(X)
    assert same(select(X, y, 4), reference(whole, y))
    assert same(select(X, y, 4, exclude=[1]), reference(whole, y, exclude=[1]))
    np.testing.assert_array_equal(X.toarray(), dense)
    assert X.format == kept.format
    assert X.nnz == kept.nnz


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.int64, np.uint8, bool])
def test_sparse_dtypes_give_the_same_path(whole, y, dtype):
    X = np.abs(whole) if dtype in (np.uint8, bool) else whole
    X = X.astype(dtype)
    assert same(select(sp.csr_array(X), y, 4), reference(X, y))


def duplicated(X, make):
    """Every entry split in two that add up to it, unsorted, with explicit zeros between."""
    rows, cols = np.nonzero(X)
    values = X[rows, cols]
    rows, cols = np.r_[rows, rows, [0, 1, 2]], np.r_[cols, cols, [0, 0, 3]]
    values = np.r_[values - 7, np.full(len(values), 7.0), [0.0, 0.0, 0.0]]
    shuffled = np.random.default_rng(0).permutation(len(rows))
    coo = sp.coo_array((values[shuffled], (rows[shuffled], cols[shuffled])), shape=X.shape)
    if make == "coo":
        return coo
    # By hand: tocsc() would add up the duplicates.
    major, minor = (coo.col, coo.row) if make == "csc" else (coo.row, coo.col)
    order = np.argsort(major, kind="stable")
    size = X.shape[1] if make == "csc" else X.shape[0]
    pointers = np.r_[0, np.cumsum(np.bincount(major, minlength=size))]
    kind = sp.csc_array if make == "csc" else sp.csr_array
    return kind((coo.data[order], minor[order], pointers), shape=X.shape)


@pytest.mark.parametrize("make", ["csc", "csr", "coo"])
def test_duplicate_entries_add_up_and_stay_where_they_are(whole, y, make):
    X = duplicated(whole, make)
    data, nnz = X.data.copy(), X.nnz
    np.testing.assert_array_equal(X.toarray(), whole)
    assert same(select(X, y, 4), reference(whole, y))
    assert X.nnz == nnz
    np.testing.assert_array_equal(X.data, data)


@pytest.mark.parametrize("make", ["csc", "csr"])
def test_canonical_flags_are_left_as_they_were(whole, y, make):
    X = duplicated(whole, make)
    assert not X.has_canonical_format
    select(X, y, 2)
    select(X, y, 2, exclude=[0])
    select(X, y, 2, categorical_features=[0])
    select(X, "x1", 2, task="classification")
    assert not X.has_canonical_format
    assert not X.has_sorted_indices


def test_read_only_sparse(whole, y):
    X = sp.csc_array(whole)
    for part in (X.data, X.indices, X.indptr):
        part.flags.writeable = False
    assert same(select(X, y, 4), reference(whole, y))


def test_sparse_with_64_bit_indices(whole, y):
    X = sp.csc_array(whole)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    assert same(select(X, y, 4), reference(whole, y))


def test_sparse_column_as_categories(whole, y):
    given = select(sp.csr_array(whole), y, 3, categorical_features=[1])
    assert same(given, select(whole, y, 3, categorical_features=[1]))


@pytest.mark.skipif(not hasattr(sp.coo_array(np.eye(2)), "coords"), reason="no 1-d arrays in SciPy")
def test_one_dimensional_sparse_array_is_refused(whole, y):
    with pytest.raises(ShapeError, match="2-dimensional"):
        select(sp.coo_array(whole[:, 0]), y)


# Dataframes


def test_frames_give_the_same_path(library, whole, y):
    X = library.frame({name: whole[:, j] for j, name in enumerate(NAMES)})
    path = select(X, y, 4)
    assert same(path, reference(whole, y))
    assert path.names == [NAMES[j] for j in path.features]


@pytest.mark.parametrize("dtype", ["float32", "int8", "int16", "int32", "int64"])
def test_frames_of_any_numeric_dtype(library, whole, y, dtype):
    X = library.frame({name: whole[:, j].astype(dtype) for j, name in enumerate(NAMES)})
    assert same(select(X, y, 4), reference(whole, y))


def test_frames_of_mixed_dtypes(library, whole, y):
    kinds = ["float32", "int8", "float64", "uint8", "int64", "bool"]
    columns = [np.abs(whole[:, j]).astype(kind) for j, kind in enumerate(kinds)]
    X = library.frame(dict(zip(NAMES, columns)))
    assert same(select(X, y, 4), reference(np.column_stack(columns), y))


def test_frame_of_booleans(library, whole, y):
    X = library.frame({name: whole[:, j] > 0 for j, name in enumerate(NAMES)})
    assert same(select(X, y, 4), reference(whole > 0, y))


def test_text_and_categorical_columns_agree(library, whole, y):
    """Strings, the library's categories, and codes named as categorical are one feature."""
    letters = np.array(list("zyxwvutsr"))[(whole[:, 0] + 4).astype(int)]
    expected = select(whole, y, 4, categorical_features=[0])
    rest = {name: whole[:, j] for j, name in enumerate(NAMES) if j}
    for column in (
        library.column(letters),
        library.labels(letters),
        library.labels(letters, order=list("stuvwxyzrq")),
    ):
        assert same(select(library.frame({"col0": column, **rest}), y, 4), expected)


def test_target_by_name_keeps_positions_in_the_data(library, whole, y):
    columns = {"goal": y, **{name: whole[:, j] for j, name in enumerate(NAMES)}}
    path = select(library.frame(columns), "goal", 4)
    expected = reference(whole, y)
    assert path.features == [f + 1 for f in expected.features]
    assert path.gains == pytest.approx(expected.gains)
    assert path.n_candidates == n


@pytest.mark.parametrize(
    "dtype",
    ["Float64", "Float32", "Int64", "Int8", "double[pyarrow]", "float[pyarrow]", "int64[pyarrow]"],
)
def test_pandas_extension_numbers(whole, y, dtype):
    X = pd.DataFrame(whole, columns=NAMES).astype(dtype)
    assert same(select(X, y, 4), reference(whole, y))
    assert same(select(X.assign(col0=whole[:, 0]), y, 4), reference(whole, y))


@pytest.mark.parametrize("dtype", ["boolean", "bool[pyarrow]"])
def test_pandas_extension_booleans(whole, y, dtype):
    X = pd.DataFrame(whole > 0, columns=NAMES).astype(dtype)
    assert same(select(X, y, 4), reference(whole > 0, y))


@pytest.mark.parametrize("dtype", ["string", "string[pyarrow]", "category", object])
def test_pandas_text_dtypes(whole, y, dtype):
    text = pd.Series(whole[:, 0].astype(str)).astype(dtype)
    X = pd.DataFrame(whole, columns=NAMES).assign(col0=text)
    assert same(select(X, y, 4), select(whole, y, 4, categorical_features=[0]))


def test_pandas_arrow_dictionary(whole, y):
    kind = pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
    text = pd.Series(whole[:, 0].astype(str).tolist(), dtype=kind)
    X = pd.DataFrame(whole, columns=NAMES).assign(col0=text)
    assert same(select(X, y, 4), select(whole, y, 4, categorical_features=[0]))


def test_pandas_category_of_numbers_is_categorical(whole, y):
    X = pd.DataFrame(whole, columns=NAMES).astype({"col0": "category"})
    assert same(select(X, y, 4), select(whole, y, 4, categorical_features=[0]))
    assert same(select(X, y, 4, categorical_features=None), reference(whole, y))


@pytest.mark.parametrize("as_target", [False, True])
def test_pandas_intervals_of_cut_are_categories(whole, y, as_target):
    bins = pd.cut(pd.Series(whole[:, 0]), [-5, -1, 0.5, 5])
    codes = bins.cat.codes.to_numpy()
    if as_target:
        assert same(select(whole, bins, 3), select(whole, codes, 3))
        ordinal = select(whole, bins, 3, response_encoding="ordinal")
        assert same(ordinal, select(whole, codes, 3, response_encoding="ordinal"))
    else:
        X = pd.DataFrame(whole, columns=NAMES).assign(col0=bins)
        expected = select(np.c_[codes, whole[:, 1:]], y, 4, categorical_features=[0])
        assert same(select(X, y, 4), expected)


def test_pandas_ordered_category_of_timestamps(whole, y):
    days = pd.to_datetime(["2021-01-01", "2020-01-01", "2022-01-01"])
    dates = pd.Categorical(days[y], categories=days, ordered=True)
    path = select(whole, pd.Series(dates), 3, response_encoding="ordinal")
    assert same(path, select(whole, y, 3, response_encoding="ordinal"))


def test_pandas_object_columns_are_looked_into(whole, y):
    X = pd.DataFrame(whole, columns=NAMES).astype(object)
    assert same(select(X, y, 4), reference(whole, y))


@pytest.mark.parametrize("fill", [0.0, np.nan, 4.0])
def test_pandas_sparse_columns(whole, y, fill):
    X = pd.DataFrame(whole, columns=NAMES).astype(pd.SparseDtype(float, fill))
    assert same(select(X, y, 4), reference(whole, y))


def test_pandas_sparse_columns_of_unlike_dtypes(whole, y):
    positive = whole[:, 1] > 0
    X = pd.DataFrame(
        {
            "a": pd.arrays.SparseArray(whole[:, 0], fill_value=0.0),
            "b": pd.arrays.SparseArray(positive, fill_value=False),
            "c": pd.arrays.SparseArray(whole[:, 2].astype(int), fill_value=0),
        }
    )
    assert same(select(X, y, 3), select(np.c_[whole[:, 0], positive, whole[:, 2]], y, 3))


def test_pandas_sparse_beside_dense_columns(whole, y):
    X = pd.DataFrame(whole, columns=NAMES).astype({"col1": pd.SparseDtype(float, 0.0)})
    assert same(select(X, y, 4), reference(whole, y))


def test_pandas_sparse_dummies_beside_numbers(whole, y):
    letters = pd.DataFrame({"k": np.array(list("abc"))[y], "x": whole[:, 0]})
    X = pd.get_dummies(letters, sparse=True)
    assert same(select(X, y, 2), select(X.astype(float).to_numpy(), y, 2))


def test_pandas_sparse_names_are_unique(whole, y):
    X = pd.DataFrame(whole, columns=list("aabcde")).astype(pd.SparseDtype(float, 0.0))
    with pytest.raises(InputError, match="unique; `a`"):
        select(X, y, 2)


@pytest.mark.parametrize("kinds", [{}, {0: "float32"}, {0: "category"}, {0: bool}])
@pytest.mark.parametrize("labels", [range(n), [5, 4, 3, 2, 1, 0], [10, -1, 7, 0, 3, 2]])
def test_pandas_integer_labels_are_names_not_places(whole, y, labels, kinds):
    labels = list(labels)
    plain = pd.DataFrame(whole, columns=NAMES).astype({NAMES[k]: v for k, v in kinds.items()})
    X = plain.set_axis(labels, axis=1)
    assert same(select(X, y, 4), select(plain, y, 4))
    assert same(select(X, y, 3, exclude=[2]), select(plain, y, 3, exclude=[2]))
    assert same(select(X, y, 3, include=str(labels[4])), select(plain, y, 3, include=4))
    assert select(X, str(labels[3]), 1).names == [
        str(labels[NAMES.index(select(plain, NAMES[3], 1).names[0])])
    ]


def test_pandas_index_is_ignored(whole, y):
    index = np.random.default_rng(0).permutation(N) // 3
    X = pd.DataFrame(whole, columns=NAMES, index=index)
    X["text"] = np.array(list("abc"))[np.arange(N) % 3]
    plain = X.reset_index(drop=True)
    target = pd.Series(y, index=index[::-1])
    weights = pd.Series(np.arange(N) % 3, index=index[::-1])
    given = select(X, target, 4, sample_weight=weights, exclude="col1")
    expected = select(plain, y, 4, sample_weight=np.arange(N) % 3, exclude="col1")
    assert same(given, expected)
    assert same(select(X, "text", 3), select(plain, "text", 3))


def test_pandas_frame_is_left_as_it_was(whole, y):
    X = pd.DataFrame(whole, columns=NAMES).assign(
        text=np.array(list("abc"))[np.arange(N) % 3],
        kind=pd.Categorical(np.arange(N) % 4),
        big=pd.array(np.arange(N) * 2, dtype="Int64"),
    )
    before, dtypes = X.copy(deep=True), X.dtypes.copy()
    select(X, "text", 4, include="col2", exclude="col3", sample_weight=np.arange(N))
    OrthogonalSelector(4).fit(X, y)
    pd.testing.assert_frame_equal(X, before)
    pd.testing.assert_series_equal(X.dtypes, dtypes)


def test_multi_index_columns_have_names(whole, y):
    columns = pd.MultiIndex.from_product([["u", "v"], list("abc")])
    path = select(pd.DataFrame(whole, columns=columns), y, 4)
    assert same(path, reference(whole, y))


POLARS_NUMBERS = ["Float64", "Float32", "Int8", "Int16", "Int32", "Int64", "Decimal", "Int128"]


@pytest.mark.parametrize("dtype", POLARS_NUMBERS)
def test_polars_numbers(whole, y, dtype):
    if not hasattr(pl, dtype):
        pytest.skip(f"this polars has no {dtype}")
    kind = pl.Decimal(10, 2) if dtype == "Decimal" else getattr(pl, dtype)
    X = pl.DataFrame({name: whole[:, j] for j, name in enumerate(NAMES)})
    X = X.with_columns(pl.all().cast(pl.Int64).cast(kind))
    assert same(select(X, y, 4), reference(whole, y))
    mixed = X.with_columns(pl.Series("col0", whole[:, 0]))
    assert same(select(mixed, y, 4), reference(whole, y))


@pytest.mark.parametrize("kind", ["String", "Categorical", "Enum"])
def test_polars_text(whole, y, kind):
    text = [str(int(v)) for v in whole[:, 0]]
    dtype = pl.Enum(sorted({*text, "unused"})) if kind == "Enum" else getattr(pl, kind)
    X = pl.DataFrame({name: whole[:, j] for j, name in enumerate(NAMES)})
    X = X.with_columns(pl.Series("col0", text, dtype=dtype))
    assert same(select(X, y, 4), select(whole, y, 4, categorical_features=[0]))


def test_pyarrow_in_chunks(whole, y):
    parts = [
        pa.table(
            {
                "text": pa.array([str(int(v)) for v in rows[:, 0]]).dictionary_encode(),
                **{NAMES[j]: rows[:, j] for j in range(1, n)},
            }
        )
        for rows in np.array_split(whole, 5)
    ]
    X = pa.concat_tables(parts)
    assert X.column("col1").num_chunks == 5
    assert same(select(X, y, 4), select(whole, y, 4, categorical_features=[0]))


def test_pyarrow_decimal_and_large_strings(whole, y):
    numbers = [decimal.Decimal(int(v)) for v in whole[:, 1]]
    X = pa.table(
        {
            "col0": pa.array([str(int(v)) for v in whole[:, 0]], pa.large_string()),
            "col1": pa.array(numbers, pa.decimal128(5, 1)),
            **{NAMES[j]: whole[:, j] for j in range(2, n)},
        }
    )
    assert same(select(X, y, 4), select(whole, y, 4, categorical_features=[0]))


# Missing values, dates and other things that are no numbers


@pytest.mark.parametrize("count", [1, 3])
def test_missing_numbers_name_the_first_column_and_count(library, whole, y, count):
    for dtype in (float, int, bool):
        gap = whole[:, 2].astype(dtype).tolist()
        gap[5 : 5 + count] = [None] * count
        columns = {name: whole[:, j] for j, name in enumerate(NAMES)}
        if library.name == "pandas" and dtype is not float:
            gap = pd.array(gap, dtype="Int64" if dtype is int else "boolean")
        columns["col2"] = library.column(gap)
        with pytest.raises(NonFiniteError, match=rf"`col2` \({count} missing of {N}\)"):
            select(library.frame(columns), y, 2)
        assert len(select(library.frame(columns), y, 2, exclude="col2")) == 2


def test_missing_numbers_in_two_columns(library, whole, y):
    X = whole.copy()
    X[3, 4], X[5:7, 1], X[9, 1] = np.nan, np.nan, np.inf
    frame = library.frame({name: X[:, j] for j, name in enumerate(NAMES)})
    with pytest.raises(NonFiniteError, match=r"2 columns .*`col1` \(2 missing and 1 inf.*`col4`"):
        select(frame, y, 2)
    with pytest.raises(NonFiniteError, match=r"2 columns .*`x1` \(2 missing and 1 inf.*`x4`"):
        select(sp.csr_array(X), y, 2)


@pytest.mark.parametrize("gap", [None, np.nan, "NA", "NaT"])
def test_missing_among_object_numbers(whole, y, gap):
    gap = {"NA": pd.NA, "NaT": pd.NaT}.get(gap, gap)
    column = whole[:, 2].astype(object)
    column[5:7] = gap
    X = pd.DataFrame(whole, columns=NAMES).assign(col2=pd.Series(column, dtype=object))
    with pytest.raises(InputError, match=r"`col2`.*2"):
        select(X, y, 2)


def test_missing_labels_name_the_column_and_count(library, whole, y):
    text = whole[:, 0].astype(str).tolist()
    text[2], text[7] = None, None
    columns = {name: whole[:, j] for j, name in enumerate(NAMES)}
    X = library.frame({**columns, "text": library.column(text)})
    with pytest.raises(MissingValueError, match=r"`text` \(2 missing"):
        select(X, y, 2)
    assert len(select(X, y, 2, exclude=["text"])) == 2


@pytest.mark.parametrize("dtype", ["category", "string", object, "string[pyarrow]"])
@pytest.mark.parametrize("gap", [None, np.nan])
def test_missing_pandas_labels(whole, y, dtype, gap):
    text = pd.Series(whole[:, 0].astype(str), dtype=object)
    text[3] = gap
    X = pd.DataFrame(whole, columns=NAMES).assign(text=text.astype(dtype))
    with pytest.raises(MissingValueError, match=r"`text` \(1 missing"):
        select(X, y, 2)


def test_missing_numbers_named_as_categorical(library, whole, y):
    gap = whole[:, 2].tolist()
    gap[5] = None
    columns = {name: whole[:, j] for j, name in enumerate(NAMES)}
    X = library.frame({**columns, "col2": library.column(gap)})
    with pytest.raises(MissingValueError, match=r"`col2` \(1 missing"):
        select(X, y, 2, categorical_features=["col2"])


DAYS = [datetime.date(2020, 1, 1 + k % 3) for k in range(N)]


@pytest.mark.parametrize(
    "values",
    [
        DAYS,
        [datetime.datetime(2020, 1, 1 + k % 3) for k in range(N)],
        [datetime.timedelta(hours=k % 3) for k in range(N)],
        [datetime.time(k % 3) for k in range(N)],
    ],
    ids=["date", "datetime", "timedelta", "time"],
)
def test_dates_are_left_out_by_name_unless_excluded(library, whole, y, values):
    X = library.frame({"when": library.column(values), "x": whole[:, 0]})
    with pytest.warns(LeftOutWarning, match=r"`when` \(dates or times\)"):
        assert select(X, y, 1).names == ["x"]
    assert select(X, y, 1, exclude=["when"]).names == ["x"]


def test_dates_may_be_named_as_categorical(library, whole):
    X = library.frame({"when": library.column(DAYS), "x": whole[:, 0]})
    y = np.array([day.day for day in DAYS])
    path = select(X, y, 1, categorical_features=["when"])
    assert path.names == ["when"]
    assert path.total == pytest.approx(2)


def test_missing_dates_named_as_categorical(library, whole, y):
    X = library.frame({"when": library.column([None, *DAYS[1:]]), "x": whole[:, 0]})
    with pytest.raises(MissingValueError, match=r"`when` \(1 missing"):
        select(X, y, 1, categorical_features=["when"])


def test_missing_datetimes_named_as_categorical(whole, y):
    when = pd.Series(pd.to_datetime(DAYS))
    when[3] = pd.NaT
    X = pd.DataFrame({"when": when, "x": whole[:, 0]})
    with pytest.raises(MissingValueError, match=r"`when` \(1 missing"):
        select(X, y, 1, categorical_features=["when"])


@pytest.mark.parametrize("dtype", ["M8[D]", "M8[ns]", "m8[s]"])
def test_arrays_of_dates_are_refused(y, dtype):
    X = np.arange(2 * N).reshape(N, 2).astype(dtype)
    with pytest.raises((InputError, TypeError), match=r"date|numbers"):
        select(X, y, 1)


@pytest.mark.parametrize(
    "anything",
    [
        [np.nan] * N,
        [{"a": 1}] * N,
        [[1, 2]] * N,
        [None] * N,
        DAYS,
        [b"raw"] * N,
        ["text", None] * (N // 2),
    ],
    ids=["nan", "dicts", "lists", "nulls", "dates", "bytes", "gaps"],
)
def test_excluded_columns_may_hold_anything(library, whole, y, anything):
    columns = {name: whole[:, j] for j, name in enumerate(NAMES)}
    X = library.frame({"odd": library.column(anything), **columns})
    path = select(X, y, 4, exclude=["odd"])
    assert path.features == [f + 1 for f in reference(whole, y).features]
    assert path.gains == pytest.approx(reference(whole, y).gains)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e300])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, sp.csc_matrix, np.asfortranarray])
def test_excluded_array_columns_may_hold_anything(whole, y, kind, value):
    X = whole.copy()
    X[:, 2] = value
    path = select(kind(X), y, 4, exclude=[2])
    assert same(path, reference(whole, y, exclude=[2]))


UNHASHABLE = {"dicts": [{"a": 1}] * N, "lists": [[1, 2]] * N}


@pytest.mark.parametrize("odd", UNHASHABLE)
@pytest.mark.parametrize("categorical", ["from_dtype", "all", None, ["odd"]])
def test_nested_columns_are_left_out_by_name(library, whole, y, odd, categorical):
    if library.name != "pandas" and odd == "dicts" and categorical not in ("from_dtype", None):
        pytest.skip("a struct is one value, and hashable")
    X = library.frame({"odd": library.column(UNHASHABLE[odd]), "x": whole[:, 0]})
    if categorical == ["odd"]:
        with pytest.raises((InputError, TypeError), match="`odd`"):
            select(X, y, 1, categorical_features=categorical)
        return
    spec = None if categorical == "all" else categorical
    with pytest.warns(LeftOutWarning, match=r"`odd` \(lists or records\)"):
        assert select(X, y, 1, categorical_features=spec).names == ["x"]


@pytest.mark.parametrize("categorical", ["from_dtype", "all"])
def test_dicts_in_object_arrays_are_left_out(whole, y, categorical):
    X = whole.astype(object)
    X[:, 1] = [{} for _ in range(N)]
    with pytest.warns(LeftOutWarning, match=r"`x1` \(lists or records\)"):
        assert len(select(X, y, 1, categorical_features=categorical)) == 1


def test_text_without_categorical_features_says_what_to_do(library, whole, y):
    X = library.frame({"text": library.column(["u", "v"] * (N // 2)), "x": whole[:, 0]})
    with pytest.raises(InputError, match="`text` should hold numbers") as caught:
        select(X, y, 1, categorical_features=None)
    expected = str(caught.value).split(";")[0]
    assert "strings" not in expected, "it says that strings are fine, and refuses a string"


def test_integer_too_large_for_a_float_is_refused(whole, y):
    X = whole.astype(object)
    X[3, 2] = 10**400
    with pytest.raises(InputError, match="x2"):
        select(X, y, 1)


def test_identifier_columns_are_left_out_unless_included(library, whole, y):
    X = library.frame({"id": library.column([f"r{k}" for k in range(N)]), "x": whole[:, 0]})
    with pytest.warns(LeftOutWarning, match=r"`id` \(identifier"):
        assert select(X, y, 1).names == ["x"]
    with pytest.warns(ManyLevelsWarning, match="`id` has 60 levels in 60 rows.*`exclude`"):
        assert select(X, y, 1, include="id").names == ["id"]
    assert select(X, y, 1, exclude="id").names == ["x"]


def test_duplicate_column_names_are_refused(whole, y):
    for X in (
        pd.DataFrame(whole, columns=list("abbcde")),
        pd.DataFrame(whole, columns=[1, "1", 2, 3, 4, 5]),
        pa.Table.from_arrays([pa.array(c) for c in whole.T], names=list("abbcde")),
    ):
        with pytest.raises(InputError, match=r"unique; `(b|1)` occurs more than once") as caught:
            select(X, y, 2)
        assert type(caught.value).__module__ == "orthoselect.errors"


def test_lazy_frames_and_series_are_refused(library, whole, y):
    with pytest.raises(ShapeError, match="single column"):
        select(library.column(whole[:, 0]), y)
    if library.name == "polars":
        lazy = library.frame({"a": whole[:, 0]}).lazy()
        with pytest.raises(InputError, match=r"[Cc]ollect"):
            select(lazy, y)


BAD_TABLES = {
    "one dimension": np.zeros(N),
    "three dimensions": np.zeros((N, 2, 2)),
    "no rows": np.zeros((0, 3)),
    "one row": np.zeros((1, 3)),
    "no columns": np.zeros((N, 0)),
    "sparse without columns": sp.csr_array((N, 0)),
    "sparse without rows": sp.csr_array((0, 3)),
    "complex": np.zeros((N, 2), complex),
    "sparse complex": sp.csr_array(np.eye(N, 3, dtype=complex)),
    "ragged": [[1, 2], *[[3]] * (N - 1)],
    "ragged inside": [[1, [2]], *[[3, 4]] * (N - 1)],
    "None": None,
    "a number": 3,
    "a dictionary": {"a": [1] * N},
    "a set": {1, 2},
    "a generator": (row for row in [[1.0]] * N),
    "bytes": b"abc",
    "an object": object(),
    "an empty list": [],
    "a list of empty lists": [[]] * N,
    "a record array": np.zeros((N, 2), dtype=[("a", float)]),
}


@pytest.mark.parametrize("kind", BAD_TABLES)
def test_tables_of_the_wrong_kind_are_refused(y, kind):
    with pytest.raises(InputError, match=r"X|column"):
        select(BAD_TABLES[kind], y, 1)


def test_empty_frames_are_refused(library, y):
    with pytest.raises(ShapeError, match="0 sample"):
        select(library.frame({"a": np.zeros(0)}), y[:0], 1)
    with pytest.raises(ShapeError, match="1 sample"):
        select(library.frame({"a": np.zeros(1)}), y[:1], 1)
    with pytest.raises(ShapeError, match="0 feature"):
        select(library.frame({}), y, 1)


def test_complex_pandas_columns_are_refused(whole, y):
    X = pd.DataFrame(whole, columns=NAMES).assign(col1=whole[:, 1] + 1j)
    with pytest.raises(InputError, match=r"`col1`|[Cc]omplex"):
        select(X, y, 1)
