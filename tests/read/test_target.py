"""Responses of every kind: what they are taken for, and what is refused."""

import decimal

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.utils.multiclass import type_of_target

from orthoselect import OrthogonalSelector, select
from orthoselect.errors import (
    ConstantTargetError,
    InputError,
    MissingValueError,
    ReadAsQuantityWarning,
    ShapeError,
)

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

N = 60


@pytest.fixture
def X(rng):
    return rng.normal(size=(N, 5))


@pytest.fixture
def codes(X, rng):
    return np.digitize(X[:, 1] + X[:, 3] ** 2 + 0.3 * rng.normal(size=N), [0.0, 1.5])


def same(path, reference):
    assert path.features == reference.features
    assert path.gains == pytest.approx(reference.gains, rel=1e-9)
    assert path.ceiling == reference.ceiling
    return True


NAMES = np.array(["pear", "apple", "fig"])  # not in alphabetical order

LABELS = {
    "ints": lambda k: k,
    "list": lambda k: k.tolist(),
    "tuple": lambda k: tuple(k.tolist()),
    "negative ints": lambda k: -k - 3,
    "huge ints": lambda k: k + 2**60,
    "ints beyond 64 bits": lambda k: [int(v) + 2**70 for v in k],
    "uint8": lambda k: k.astype(np.uint8),
    "whole floats": lambda k: k.astype(float) - 1,
    "float32": lambda k: k.astype(np.float32),
    "column vector": lambda k: k[:, None],
    "strings": lambda k: NAMES[k],
    "list of strings": lambda k: NAMES[k].tolist(),
    "object strings": lambda k: NAMES[k].astype(object),
    "bytes": lambda k: NAMES[k].astype("S"),
    "object ints": lambda k: k.astype(object),
    "mixed objects": lambda k: np.array(["a", 2, None, ("t", 1)], dtype=object)[[0, 1, 3]][k],
    "list of mixed": lambda k: [["a", 2, 3.5][v] for v in k],
    "read-only": lambda k: np.broadcast_to(k, k.shape),
    "strided": lambda k: np.repeat(k, 2)[::2],
    "pandas": lambda k: pd.Series(k, index=np.arange(N)[::-1]),
    "pandas strings": lambda k: pd.Series(NAMES[k]),
    "pandas objects": lambda k: pd.Series(NAMES[k], dtype=object),
    "pandas string dtype": lambda k: pd.Series(NAMES[k], dtype="string"),
    "pandas Int64": lambda k: pd.Series(k, dtype="Int64"),
    "pandas arrow": lambda k: pd.Series(k, dtype="int64[pyarrow]"),
    "pandas array": lambda k: pd.array(k, dtype="Int64"),
    "pandas index": lambda k: pd.Index(NAMES[k]),
    "pandas frame": lambda k: pd.DataFrame({"y": k}),
    "pandas frame, integer label": lambda k: pd.DataFrame(k),
    "pandas categorical": lambda k: pd.Series(NAMES[k]).astype("category"),
    "bare categorical": lambda k: pd.Categorical(NAMES[k]),
    "bare categorical of floats": lambda k: pd.Categorical(k + 0.5),
    "categorical of floats": lambda k: pd.Series(k + 0.5).astype("category"),
    "ordered, unused": lambda k: pd.Series(
        pd.Categorical(NAMES[k], categories=["kiwi", *NAMES, "lime"], ordered=True)
    ),
    "polars": lambda k: pl.Series(k),
    "polars strings": lambda k: pl.Series(NAMES[k].tolist()),
    "polars categorical": lambda k: pl.Series(NAMES[k].tolist(), dtype=pl.Categorical),
    "polars enum": lambda k: pl.Series(NAMES[k].tolist(), dtype=pl.Enum(["kiwi", *NAMES])),
    "polars frame": lambda k: pl.DataFrame({"y": NAMES[k].tolist()}),
    "pyarrow array": lambda k: pa.array(NAMES[k].tolist()),
    "pyarrow chunks": lambda k: pa.chunked_array([NAMES[k[:7]].tolist(), NAMES[k[7:]].tolist()]),
    "pyarrow dictionary": lambda k: pa.chunked_array(
        [pa.array(NAMES[k].tolist()).dictionary_encode()]
    ),
    "pyarrow bare dictionary": lambda k: pa.array(NAMES[k].tolist()).dictionary_encode(),
    "pyarrow table": lambda k: pa.table({"y": k}),
    "sparse column": lambda k: sp.csr_array(k[:, None]),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_any_kind_give_the_same_path(X, codes, kind):
    assert same(select(X, LABELS[kind](codes), 4), select(X, codes, 4))


@pytest.mark.parametrize(
    "make",
    [
        lambda b: b,
        lambda b: b.tolist(),
        lambda b: b.astype(object),
        lambda b: np.where(b, 1, -1),
        lambda b: np.where(b, "no", "yes"),
        lambda b: pd.Series(b),
        lambda b: pd.Series(b, dtype="boolean"),
        lambda b: pl.Series(b),
        lambda b: pa.chunked_array([b]),
        lambda b: pa.array(b.tolist()),
    ],
)
def test_two_classes_of_any_kind(X, codes, make):
    assert same(select(X, make(codes == 1), 4), select(X, (codes == 1).astype(int), 4))


@pytest.mark.parametrize("task", ["auto", "classification"])
def test_order_of_class_names_never_matters(X, codes, rng, task):
    for _ in range(5):
        names = rng.permutation(np.array(["b", "a", "c"]))
        assert same(select(X, names[codes], 4, task=task), select(X, codes, 4))


@pytest.mark.parametrize(
    "make",
    [
        lambda k: k,
        lambda k: k - 3,
        lambda k: pd.Series(pd.Categorical(NAMES[k], categories=[*NAMES, "kiwi"], ordered=True)),
        lambda k: pd.Categorical(NAMES[k], categories=NAMES, ordered=True),
        lambda k: pd.DataFrame({"y": pd.Categorical(NAMES[k], categories=NAMES, ordered=True)}),
        lambda k: pd.Series(pd.Categorical(4 - k, categories=[4, 3, 2], ordered=True)),
        lambda k: pl.Series(NAMES[k].tolist(), dtype=pl.Enum([*NAMES, "kiwi"])),
        lambda k: pl.DataFrame({"y": pl.Series(NAMES[k].tolist(), dtype=pl.Enum(list(NAMES)))}),
        lambda k: pa.chunked_array(
            [pa.DictionaryArray.from_arrays(pa.array(k), list(NAMES), ordered=True)]
        ),
        lambda k: pa.DictionaryArray.from_arrays(pa.array(k), list(NAMES), ordered=True),
    ],
    ids=[
        "ints",
        "shifted ints",
        "pandas",
        "bare categorical",
        "pandas frame",
        "pandas ints in reverse",
        "polars enum",
        "polars frame",
        "pyarrow",
        "bare pyarrow",
    ],
)
def test_ordinal_uses_the_order_of_the_dtype(X, codes, make):
    expected = select(X, codes.astype(float), 4, task="regression")
    assert same(select(X, make(codes), 4, response_encoding="ordinal"), expected)


def test_ordinal_without_an_order_sorts(library, X, codes):
    alphabetical = np.argsort(np.argsort(NAMES))[codes]
    expected = select(X, alphabetical.astype(float), 4, task="regression")
    for y in (library.column(NAMES[codes]), library.labels(NAMES[codes])):
        assert same(select(X, y, 4, response_encoding="ordinal"), expected)
        turned = np.arange(N)[::-1]
        path = select(X[turned], library.column(NAMES[codes][turned]), 4, task="classification")
        assert same(path, select(X, codes, 4))


def test_ordinal_is_another_model(X, codes):
    assert select(X, codes, 4, response_encoding="ordinal").ceiling == 1
    assert select(X, codes, 4).ceiling == 2


# Several responses


def test_several_numbers_in_any_container(library, X, rng):
    Y = np.column_stack([X[:, 0] + rng.normal(size=N), X[:, 2] - X[:, 1]])
    expected = select(X, Y, 4)
    assert expected.ceiling == 2
    assert same(select(X, library.frame({"u": Y[:, 0], "v": Y[:, 1]}), 4), expected)
    assert same(select(X, Y.tolist(), 4), expected)
    assert same(select(X, np.asfortranarray(Y), 4), expected)
    assert same(select(X, Y[:, ::-1], 4), expected)
    assert same(select(X, np.c_[Y, Y @ [1, 2]], 4), expected)


def test_frames_of_targets_with_integer_labels(X, codes):
    Y = np.c_[codes, codes == 1]
    assert same(select(X, pd.DataFrame(Y), 4), select(X, Y, 4))
    assert same(select(X, pd.DataFrame(Y, columns=[1, 0]), 4), select(X, Y, 4))


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil"])
def test_multilabel_indicator_dense_and_sparse(X, codes, kind):
    Y = np.c_[codes == 0, codes > 0, X[:, 0] > 0, np.zeros(N)].astype(int)
    expected = select(X, Y, 4)
    assert expected.ceiling == 2
    for family in ("matrix", "array"):
        assert same(select(X, getattr(sp, f"{kind}_{family}")(Y), 4), expected)
    assert same(select(X, Y.astype(bool), 4), expected)
    assert same(select(X, Y.astype(float), 4), expected)


def test_several_class_columns_are_each_coded(X, codes):
    other = (X[:, 0] > 0).astype(int)
    expected = select(X, np.c_[np.eye(3)[codes], other] + 0.5, 4)
    assert expected.ceiling == 3
    assert same(select(X, np.c_[codes, other], 4), expected)
    assert same(select(X, np.c_[NAMES[codes], NAMES[other]], 4), expected)
    assert same(select(X, pd.DataFrame({"a": NAMES[codes], "b": other}), 4), expected)


def test_labels_beside_numbers(library, X, codes, rng):
    number = X[:, 2] + rng.normal(size=N)
    expected = select(X, np.c_[np.eye(3)[codes], number], 4)
    y = library.frame({"kind": library.column(NAMES[codes]), "size": number})
    assert same(select(X, y, 4), expected)
    y = library.frame({"size": number, "kind": library.labels(NAMES[codes])})
    assert same(select(X, y, 4), expected)


# What "auto" decides

FEW = np.arange(N) % 4

TARGETS = {
    "binary": FEW % 2,
    "binary floats": (FEW % 2).astype(float),
    "binary minus one": FEW % 2 * 2 - 1,
    "booleans": FEW == 1,
    "strings": NAMES[FEW % 3],
    "two strings": NAMES[FEW % 2],
    "multiclass": FEW,
    "whole floats": FEW.astype(float),
    "negative whole floats": -FEW.astype(np.float32),
    "halves": FEW / 2,
    "one fraction": np.r_[0.5, FEW[1:]],
    "continuous": np.sin(np.arange(N)),
    "tiny fractions": FEW + 1e-12,
    "continuous column": np.sin(np.arange(N))[:, None],
    "whole column": FEW[:, None],
    "two continuous": np.sin(np.arange(2 * N)).reshape(N, 2),
    "whole beside continuous": np.c_[FEW, np.sin(np.arange(N))],
    "indicator": np.c_[FEW % 2, FEW > 1].astype(int),
    "float indicator": np.c_[FEW % 2, FEW > 1].astype(float),
    "boolean indicator": np.c_[FEW == 2, FEW > 1],
    "multioutput": np.c_[FEW, FEW[::-1]],
    "float multioutput": np.c_[FEW, FEW[::-1]].astype(float),
    "string multioutput": np.c_[NAMES[FEW % 3], NAMES[FEW[::-1] % 3]],
    "sparse indicator": sp.csr_matrix(np.c_[FEW % 2, FEW > 1].astype(int)),
    "list": (FEW % 3).tolist(),
    "list of lists": np.c_[FEW % 2, FEW > 1].astype(int).tolist(),
}


@pytest.mark.parametrize("name", TARGETS)
def test_auto_agrees_with_scikit_learn(X, name):
    y = TARGETS[name]
    task = "regression" if "continuous" in type_of_target(y) else "classification"
    assert same(select(X, y, 3), select(X, y, 3, task=task))


@pytest.mark.parametrize("name", ["multiclass", "whole floats", "multioutput", "whole column"])
def test_the_two_tasks_are_not_the_same(X, name):
    """Else the test above could not fail."""
    y = TARGETS[name]
    assert select(X, y, 3, task="regression").ceiling < select(X, y, 3).ceiling


def test_forced_tasks(X, codes):
    as_number = select(X, codes, 3, task="regression")
    assert same(as_number, select(X, codes + 0.0, 3, task="regression"))
    assert same(as_number, select(X, codes, 3, response_encoding="ordinal"))
    halves = codes / 2
    assert same(select(X, halves, 3, task="classification"), select(X, codes, 3))
    assert same(select(X, codes == 1, 3, task="regression"), select(X, codes == 1, 3))


def test_numbers_in_object_arrays_are_numbers(X):
    y = np.sin(np.arange(N))
    expected = select(X, y, 3)
    for cast in (float, np.float64, np.float32, decimal.Decimal):
        values = np.empty(N, dtype=object)
        values[:] = [cast(v) for v in y]
        path = select(X, values, 3)
        assert path.features == expected.features, cast
        assert path.gains == pytest.approx(expected.gains, rel=1e-5)
        assert same(select(X, pd.Series(values), 3), path)


def test_decimal_numbers(library, X):
    y = np.round(np.sin(np.arange(N)), 3)
    if library.name == "polars":
        column = pl.Series(y).cast(pl.Decimal(10, 3))
    else:
        values = [decimal.Decimal(f"{v:.3f}") for v in y]
        kind = pa.decimal128(10, 3)
        column = (
            pa.chunked_array([pa.array(values, kind)])
            if library.name == "pyarrow"
            else pd.Series(values, dtype=pd.ArrowDtype(kind))
        )
    assert same(select(X, column, 3), select(X, y, 3))


@pytest.mark.parametrize("dtype", [int, float, object])
def test_many_whole_numbers_are_a_quantity(X, dtype):
    y = np.arange(N).astype(dtype)
    with pytest.warns(ReadAsQuantityWarning, match=r"60 distinct whole numbers.*classification"):
        assert select(X, y, 1).ceiling == 1
    assert select(X, y, 1, task="regression").ceiling == 1
    assert select(X, y, 1, task="classification").ceiling == N - 1


def test_many_labels_that_are_not_numbers_do_not_warn(library, X):
    names = np.array([f"k{v % 20}" for v in range(N)])
    assert select(X, library.column(names), 1).ceiling == 19
    assert select(X, library.labels(names), 1).ceiling == 19
    assert select(X, pd.Series(np.arange(N) % 20).astype("category"), 1).ceiling == 19
    assert select(X, pd.Categorical(np.arange(N) % 20), 1).ceiling == 19


def test_few_numeric_labels_do_not_warn(X):
    assert select(X, np.arange(N) % 10, 1).ceiling == 9


# What is refused


GAPS = {
    "nan": lambda y: np.r_[np.nan, y[1:]],
    "inf": lambda y: np.r_[-np.inf, y[1:]],
    "None among numbers": lambda y: np.array([None, *y[1:]], dtype=object),
    "None in a list": lambda y: [None, *y[1:].tolist()],
    "nan among strings": lambda y: np.array([np.nan, *NAMES[y[1:]]], dtype=object),
    "None among strings": lambda y: [None, *NAMES[y[1:]].tolist()],
    "NA": lambda y: pd.Series(y, dtype="Int64").mask(np.arange(N) == 0),
    "NA strings": lambda y: pd.Series(NAMES[y], dtype="string").mask(np.arange(N) == 0),
    "categorical": lambda y: pd.Series(NAMES[y]).astype("category").mask(np.arange(N) == 0),
    "bare categorical": lambda y: pd.Categorical.from_codes(np.r_[-1, y[1:]], NAMES),
    "polars": lambda y: pl.Series([None, *y[1:].tolist()]),
    "polars strings": lambda y: pl.Series([None, *NAMES[y[1:]].tolist()]),
    "polars booleans": lambda y: pl.Series([None, *(y[1:] > 0).tolist()]),
    "polars floats": lambda y: pl.Series([None, *(y[1:] + 0.5).tolist()]),
    "pyarrow": lambda y: pa.chunked_array([[None, *y[1:].tolist()]]),
    "pyarrow booleans": lambda y: pa.chunked_array([[None, *(y[1:] > 0).tolist()]]),
    "pyarrow array": lambda y: pa.array([None, *y[1:].tolist()]),
    "frame": lambda y: pd.DataFrame({"a": y, "b": np.r_[np.nan, y[1:]]}),
    "matrix": lambda y: np.c_[y, np.r_[np.nan, y[1:]]],
    "sparse": lambda y: sp.csr_array(np.c_[y, np.r_[np.nan, y[1:]]]),
    "text that is no number": lambda y: np.array(["nan", *y[1:].astype(str)], dtype=object),
}


@pytest.mark.parametrize("task", ["auto", "regression", "classification"])
@pytest.mark.parametrize("kind", GAPS)
def test_missing_responses_are_refused_and_counted(X, codes, kind, task):
    if kind == "text that is no number" and task != "regression":
        pytest.skip("'nan' is a fine name for a class")
    with pytest.raises(
        InputError, match=r"`y` \(the target, 1 missing|^y .*\b1\b|numbers for `task"
    ):
        select(X, GAPS[kind](codes), 2, task=task)


def test_masked_response_is_not_read_as_numbers(X, codes):
    with pytest.raises(InputError, match=r"mask|missing|NaN"):
        select(X, np.ma.masked_array(codes, mask=codes == 1), 2)


BAD = {
    "None": (None, InputError),
    "a number": (30, InputError),
    "too short": (np.zeros(N - 1), ShapeError),
    "too long": (np.zeros(N + 1), ShapeError),
    "three dimensions": (np.zeros((N, 2, 2)), ShapeError),
    "no columns": (np.zeros((N, 0)), ShapeError),
    "no rows": ([], ShapeError),
    "complex": (np.arange(N) * 1j, InputError),
    "a dictionary": ({"a": 1}, InputError),
    "a set": ({"a", "b"}, InputError),
    "a generator": ((v for v in range(N)), InputError),
    "ragged": ([[1], [1, 2]] * (N // 2), InputError),
    "an empty frame": (pd.DataFrame(index=range(N)), ShapeError),
    "a lazy frame": (pl.DataFrame({"y": np.arange(N)}).lazy(), InputError),
    "dates": (pd.Series(pd.date_range("2020", periods=N)), InputError),
    "an array of dates": (np.arange(N).astype("M8[D]"), InputError),
    "an array of spans": (np.arange(N).astype("m8[D]"), InputError),
    "a record array": (np.zeros(N, dtype=[("a", int), ("b", int)]), InputError),
    "repeated names": (pd.DataFrame(np.zeros((N, 2)), columns=["a", "a"]), InputError),
    "an int beyond floats": (np.array([10**400, *range(N - 1)], dtype=object), InputError),
}


@pytest.mark.parametrize("kind", BAD)
def test_responses_of_the_wrong_kind_are_refused(X, kind):
    y, error = BAD[kind]
    with pytest.raises(error, match=r"\by\b|target"):
        select(X, y, 1, task="regression" if "beyond" in kind else "auto")


@pytest.mark.parametrize("value", [{"a": 1}, [1, 2], {1, 2}])
@pytest.mark.parametrize("container", [pd.Series, list, "array"])
def test_unhashable_labels_are_refused(X, value, container):
    values = np.empty(N, dtype=object)
    values[:] = [value] * N
    y = values if container == "array" else container(values)
    if container is list and isinstance(value, list):
        pytest.skip("a list of lists is two responses")
    with pytest.raises(InputError, match=r"`y` holds none of these \(lists or records\)"):
        select(X, y, 1)


def test_lengths_are_named(X, library):
    with pytest.raises(ShapeError, match=r"X has 60, y has 59"):
        select(X, library.column(np.arange(N - 1)), 1)


def test_lazy_response_says_what_to_do(X):
    with pytest.raises(InputError, match=r"[Cc]ollect"):
        select(X, pl.DataFrame({"y": np.arange(N) % 2}).lazy(), 1)


def test_a_number_as_target_is_a_name_first_and_a_position_then(rng):
    frame = pd.DataFrame(rng.normal(size=(9, 3)), columns=[2, "b", 0])
    assert same(select(frame, 2, 1), select(frame, "2", 1))
    assert same(select(frame, 1, 1), select(frame, "b", 1))
    assert same(select(frame, -1, 1), select(frame, "0", 1))
    with pytest.raises(InputError, match="`target` should be positions, from 0 to 2"):
        select(frame, 7, 1)


@pytest.mark.parametrize(
    "y", [np.zeros(N, int), ["a"] * N, np.full(N, 0.1), [True] * N, np.zeros((N, 2))]
)
def test_a_constant_response_is_an_error_that_says_its_value(X, y):
    value = np.ravel(y)[0].item()
    words = rf"should have at least two classes or different numbers; every row has {value!r}[.,]"
    with pytest.raises(ConstantTargetError, match=words.replace("0.0", "0")):
        select(X, y, 2)
    with pytest.raises(ConstantTargetError):
        OrthogonalSelector(2).fit(X, y)


def test_rows_without_weight_do_not_make_a_response_vary(X):
    weights = (np.arange(N) > 0).astype(float)
    for y, value in ((np.arange(N) > 0, "True"), (np.where(np.arange(N) > 0, 0.5, 9.25), "0.5")):
        with pytest.raises(ConstantTargetError, match=f"every row has {value}"):
            select(X, y, 2, sample_weight=weights)


def test_response_of_one_category_with_unused_ones(X):
    y = pd.Series(pd.Categorical(["a"] * N, categories=["a", "b"]))
    with pytest.raises(ConstantTargetError, match="every row has 'a'"):
        select(X, y, 2)


def test_a_missing_value_error_is_an_input_error():
    assert issubclass(MissingValueError, InputError)
    assert issubclass(InputError, ValueError)


@pytest.mark.parametrize("factor", [1e-310, 1e-300, 1e-160, 1e160, 1e300])
def test_responses_of_any_magnitude(X, factor):
    y = np.sin(np.arange(N))
    path, expected = select(X, y * factor, 3, task="regression"), select(X, y, 3)
    assert path.features == expected.features
    assert path.gains == pytest.approx(expected.gains, rel=1e-9 if factor > 1e-305 else 1e-3)
