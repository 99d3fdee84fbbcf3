"""What users say about columns, groups, sizes and weights."""

import decimal
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import naive
from orthoselect import OrthogonalSelector, select
from orthoselect.column_spec import find_columns, find_groups
from orthoselect.encode.weights import check_weights
from orthoselect.errors import (
    InputError,
    SearchStoppedWarning,
    ShapeError,
    TooManyRequestedWarning,
    UnknownColumnError,
)
from orthoselect.problem import count_to_select

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

N, n = 50, 6
NAMES = ["age", "height", "weight", "income", "rooms", "floor"]


@pytest.fixture
def X(rng):
    return rng.normal(size=(N, n))


@pytest.fixture
def y(X, rng):
    return np.digitize(X[:, 0] + X[:, 1] * 0.5 - X[:, 5] + rng.normal(size=N), [-1, 1])


@pytest.fixture
def frame(X):
    return pd.DataFrame(X, columns=NAMES)


def same(path, reference):
    assert [step.columns for step in path] == [step.columns for step in reference]
    assert path.gains == pytest.approx(reference.gains, rel=1e-9)
    return True


# Naming columns


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        (None, []),
        ([], []),
        ((), []),
        ("height", [1]),
        (["weight", "age"], [2, 0]),
        (("age",), [0]),
        (3, [3]),
        (-1, [5]),
        ([-6, "floor", 2], [0, 5, 2]),
        (np.array([4, 1]), [4, 1]),
        (np.int8(2), [2]),
        (np.array(["rooms", "age"]), [4, 0]),
        (np.array(["rooms"], dtype=object), [4]),
        (range(2), [0, 1]),
        ({"age": 1}.keys(), [0]),
        ([False, True, False, False, False, True], [1, 5]),
        (np.arange(n) > 3, [4, 5]),
        (np.zeros(n, bool), []),
        (pd.Index(["age", "floor"]), [0, 5]),
        (pd.Series([True, False] * 3, index=NAMES), [0, 2, 4]),
        (pl.Series(["age"]), [0]),
    ],
)
def test_names_indices_and_masks(spec, found):
    assert find_columns(spec, NAMES, "exclude") == found
    assert all(type(column) is int for column in find_columns(spec, NAMES, "exclude"))


def test_group_names_stand_for_their_columns():
    assert find_columns(["g", "age"], NAMES, "include", {"g": [4, 2]}) == [4, 2, 0]


BAD_SPECS = [
    3.5,
    object(),
    slice(0, 2),
    np.array("age"),
    [["age"]],
    [{"age": 1}],
    [None],
    [3.7],
    np.array([0.0, 1.0]),
    99,
    -7,
    "agee",
    ["age", "AGE"],
    [True] * 5,
    [True, "age"],
    b"age",
]


@pytest.mark.parametrize("spec", BAD_SPECS, ids=lambda spec: type(spec).__name__)
@pytest.mark.parametrize("argument", ["include", "exclude", "categorical_features"])
def test_columns_that_are_not_there_name_the_argument(frame, y, argument, spec):
    with pytest.raises(InputError, match=f"`{argument}`"):
        select(frame, y, 2, **{argument: spec})


def test_near_names_are_suggested(frame, y):
    with pytest.raises(
        UnknownColumnError, match=r"no `hieght`: did you mean `height`(, `weight`)?"
    ):
        select(frame, y, 2, include="hieght")
    with pytest.raises(UnknownColumnError, match=r"the columns are `age`, `height`.* and 1 more"):
        select(frame, y, 2, exclude=["zzzz"])
    with pytest.raises(UnknownColumnError, match="did you mean `bodily`"):
        select(frame, y, 2, include="bodilly", groups={"bodily": ["height", "weight"]})


# Include and exclude


@pytest.mark.parametrize("spec", [["rooms", "income"], [4, 3], [-2, "income"], [np.int64(4), -3]])
def test_included_features_come_first_with_their_true_gains(frame, X, y, spec):
    path = select(frame, y, 5, include=spec)
    blocks = [X[:, [j]] for j in range(n)]
    selected, gains = naive.forward(blocks, naive.one_hot(y), 5, include=[4, 3])
    assert path.features == selected
    assert path.gains == pytest.approx(gains, abs=1e-12)
    assert [step.total for step in path] == pytest.approx(np.cumsum(gains))


def test_excluded_features_are_out_of_the_race(frame, X, y):
    first = select(frame, y, 1).names
    path = select(frame, y, 3, exclude=first)
    assert first[0] not in path.names
    assert path.n_candidates == n - 1
    kept = [j for j in range(n) if NAMES[j] not in first]
    selected, gains = naive.forward([X[:, [j]] for j in kept], naive.one_hot(y), 3)
    assert path.features == [kept[f] for f in selected]
    assert path.gains == pytest.approx(gains)


def test_excluding_twice_is_no_sin(frame, y):
    assert same(select(frame, y, 2, exclude=["age", 0, -6]), select(frame, y, 2, exclude="age"))


def test_including_twice_names_the_column(frame, y):
    for spec in (["age", "age"], ["age", 0], [0, -6]):
        with pytest.raises(InputError, match="`include` should name each column once; `age`"):
            select(frame, y, 3, include=spec)


def test_including_what_is_excluded_names_the_column(frame, y):
    with pytest.raises(InputError, match="one role; `age` is in `exclude` and in `include`"):
        select(frame, y, 3, include=["age", "floor"], exclude=[0, 1])


def test_including_the_target_says_so(frame, y):
    with pytest.raises(InputError, match="`kind`"):
        select(frame.assign(kind=y), "kind", 2, include="kind")


def test_included_constant_and_dependent_columns_gain_nothing_and_stay(frame, X, y):
    table = frame.assign(same=3.0, sum=X[:, 0] + X[:, 1] * 2, text="a")
    order = ["same", "age", "text", "height", "sum"]
    path = select(table, y, 6, include=order)
    assert path.names[:5] == order
    assert path.gains[0] == 0
    assert path.gains[2] == 0
    assert path.gains[4] == 0
    blocks = [X[:, [j]] for j in range(n)]
    selected, gains = naive.forward(blocks, naive.one_hot(y), 3, include=[0, 1])
    assert path.features[5] == selected[2]
    assert [path.gains[k] for k in (1, 3, 5)] == pytest.approx(gains)


def test_more_included_than_asked_for(frame, y):
    with pytest.raises(InputError, match=r"at least .*`include`, 3; got 2"):
        select(frame, y, 2, include=[0, 1, 2])


def test_exactly_the_included_ones(frame, y):
    assert select(frame, y, 2, include=["floor", "age"]).names == ["floor", "age"]


def test_all_columns_excluded_is_refused(frame, y):
    with pytest.raises(InputError, match="are all columns of the table"):
        select(frame, y, 1, exclude=NAMES)


def test_integers_are_positions_and_the_message_says_so(frame, y):
    with pytest.raises(InputError, match=r"positions, from 0 to 5.*got `6`"):
        select(frame, y, 1, include=[6])


def test_group_with_another_columns_name_is_refused(frame, y):
    with pytest.raises(InputError, match="`weight` is another column's"):
        select(frame, y, 1, groups={"weight": ["height", 0]})
    select(frame, y, 1, groups={"weight": ["height", "weight"]})


# Groups


def test_groups_as_mapping_and_as_labels_agree(frame, X, y):
    mapping = {"body": ["height", "weight"], "home": [4, -1]}
    labels = [None, "body", "body", np.nan, "home", "home"]
    path = select(frame, y, 3, groups=mapping)
    assert same(select(frame, y, 3, groups=labels), path)
    assert same(select(X, y, 3, groups=np.array(labels, dtype=object)), path)
    assert same(select(frame, y, 3, groups=pd.Series(labels, dtype=object)), path)
    assert path.n_candidates == 4
    blocks = [X[:, [0]], X[:, 1:3], X[:, [3]], X[:, 4:6]]
    selected, gains = naive.forward(blocks, naive.one_hot(y), 3)
    assert [step.columns for step in path] == [[(0,), (1, 2), (3,), (4, 5)][f] for f in selected]
    assert path.gains == pytest.approx(gains, abs=1e-12)


def test_selected_lists_columns_group_by_group(frame, y):
    groups = {"home": ["floor", "rooms"], "body": ["weight", "height"]}
    selector = OrthogonalSelector(4, groups=groups).fit(frame, y)
    assert selector.selected_.tolist() == [c for step in selector.path_ for c in step.columns]
    assert sorted(selector.selected_) == [0, 1, 2, 3, 4, 5]
    by_name = {step.name: step for step in selector.path_}
    assert by_name["home"].columns == (5, 4)
    assert by_name["home"].feature == 4
    assert selector.transform(frame).shape == (N, 6)


def test_integer_group_labels(X, y):
    path = select(X, y, 2, groups=[0, 0, 1, 1, 2, 2])
    assert {step.name for step in path} <= {"0", "1", "2"}
    assert all(len(step.columns) == 2 for step in path)


def test_missing_labels_of_any_library_leave_columns_alone(X, y):
    labels = pd.Series([pd.NA, "g", "g", pd.NA, "h", "h"], dtype="string")
    expected = select(X, y, 3, groups=[None, "g", "g", None, "h", "h"])
    assert same(select(X, y, 3, groups=labels), expected)
    assert same(select(X, y, 3, groups=labels.astype(object).tolist()), expected)


def test_group_names_serve_in_include_and_exclude(frame, y):
    groups = {"body": ["height", "weight"], "home": ["rooms", "floor"]}
    path = select(frame, y, 2, groups=groups, include=["home"], exclude="body")
    assert path[0].name == "home"
    assert path[0].columns == (4, 5)
    assert path.n_candidates == 3
    # Any column of a group stands for it.
    assert select(frame, y, 2, groups=groups, include=["floor"])[0].name == "home"
    assert select(frame, y, 2, groups=groups, include=["floor", "rooms"]).names[0] == "home"
    assert len(select(frame, y, 2, groups=groups, include=["floor", "rooms"])) == 2


def test_a_group_without_its_excluded_column(frame, X, y):
    path = select(frame, y, 1, groups={"all": NAMES}, exclude=["weight"])
    assert path[0].columns == (0, 1, 3, 4, 5)
    assert path.gains == pytest.approx([naive.value(np.delete(X, 2, axis=1), naive.one_hot(y))])


def test_a_group_counts_as_one_feature(frame, y):
    path = select(frame, y, 0.5, groups={"g": NAMES[:3]})
    assert path.n_candidates == 4
    assert len(path) == 2


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ({"g": ["age", "rooms"], "h": ["rooms"]}, "one group at most; `rooms`"),
        ({"g": ["age", 0]}, "one group at most; `age`"),
        ({"g": []}, "every group should have columns; `g`"),
        ({"g": None, "h": ["age"]}, "every group should have columns; `g`"),
        ({"g": ["agee"]}, r"`groups\['g'\]`.*did you mean `age`"),
        ({"g": 9}, r"`groups\['g'\]`.*`9`"),
        ({"g": 3.5}, "groups"),
        ({1: ["age"], "1": ["floor"]}, "groups?"),
        (["g"] * 5, "one label for each of the 6 columns; it has 5"),
        ([], "it has 0"),
        (5, "`groups`"),
        (object(), "`groups`"),
        (np.zeros((n, 2)), "`groups`"),
    ],
)
def test_groups_that_make_no_sense(frame, y, groups, words):
    with pytest.raises(InputError, match=words):
        select(frame, y, 2, groups=groups)


def test_groups_are_found_in_order():
    groups = {"b": [1, 0], "a": "floor"}
    assert find_groups(groups, NAMES) == {"b": [1, 0], "a": [5]}
    assert find_groups(None, NAMES) == {}
    assert find_groups({}, NAMES) == {}


# Sizes


@pytest.mark.parametrize("bad", [0, -1, 1.0, 2.5, 0.0, -0.5, True, False, "3", np.nan, np.inf])
def test_sizes_that_are_none_name_the_value(X, y, bad):
    with pytest.raises(InputError, match=r"`n_features_to_select` should be .* got") as caught:
        select(X, y, bad)
    assert repr(bad) in str(caught.value)
    with pytest.raises(InputError):
        OrthogonalSelector(bad).fit(X, y)


@pytest.mark.parametrize("bad", [np.bool_(True), [2], np.array([2, 3]), decimal.Decimal(7), 2j])
def test_sizes_of_odd_types(X, y, bad):
    with pytest.raises(InputError, match="n_features_to_select"):
        select(X, y, bad)


@pytest.mark.parametrize(
    ("wanted", "size"),
    [
        (3, 3),
        (np.int8(3), 3),
        (np.uint64(3), 3),
        (np.int64(6), 6),
        (0.5, 3),
        (np.float32(0.5), 3),
        (np.float64(0.34), 2),
        (0.999, 5),
        (0.01, 1),
    ],
)
def test_counts_and_fractions(X, y, wanted, size):
    assert len(select(X, y, wanted)) == size


def test_fractions_of_every_hundred():
    """0.29 * 100 is 28.999999999999996 in binary."""
    for k in range(1, 100):
        assert count_to_select(k / 100, 100, 0) == k


def test_more_than_there_are_warns_and_takes_all(X, y):
    with pytest.warns(TooManyRequestedWarning, match="is 7, but there are 6 features"):
        path = select(X, y, 7)
    assert sorted(path.features) == list(range(n))
    with pytest.warns(TooManyRequestedWarning, match="there are 4 features"):
        assert len(select(X, y, 10**30, exclude=[0, 1])) == 4


def test_fraction_counts_what_is_left_to_choose_from(X, y):
    assert len(select(X, y, 0.5, exclude=[0, 1])) == 2


# Choices


@pytest.mark.parametrize("argument", ["method", "search", "task"])
@pytest.mark.parametrize("value", ["", "Forward", None, 3, ["socc"], {}])
def test_unknown_choices_list_the_known(X, y, argument, value):
    with pytest.raises(InputError, match=f"`{argument}` should be one of .*; got"):
        select(X, y, 2, **{argument: value})


# Weights


@pytest.mark.parametrize("kind", ["numbers", "classes", "mixed"])
def test_whole_weights_are_repeated_rows(frame, y, rng, kind):
    w = rng.integers(0, 4, N)
    table = frame.assign(text=np.array(list("abcd"))[rng.integers(0, 4, N)])
    if kind == "numbers":
        table, y = frame, np.sin(np.arange(N)) + frame["age"].to_numpy()
    elif kind == "classes":
        table = frame
    repeated = table.iloc[np.repeat(np.arange(N), w)].reset_index(drop=True)
    path = select(table, y, 5, sample_weight=w)
    assert same(path, select(repeated, np.repeat(y, w), 5))


@pytest.mark.parametrize("seed", range(4))
def test_no_weight_is_no_row(frame, y, seed):
    """Also where a class, a level or all variation of a column is only in rows without weight."""
    rng = np.random.default_rng(seed)
    w = np.where(rng.random(N) < 0.3, 0.0, rng.random(N) + 0.1)
    out = np.flatnonzero(w == 0)
    letters = np.array(list("bcd"))[rng.integers(0, 3, N)]
    letters[out[0]], letters[out[1]] = "a", "z"
    classes = np.array(["u", "v", "w"])[y]
    classes[out[2]], classes[out[3]] = "a", "z"
    still = np.full(N, 0.1)
    still[out[4:7]] = [5.0, -7.0, 1e9]
    far = frame["age"].to_numpy().copy()
    far[out[0]] = 1e300
    table = frame.assign(text=letters, still=still, age=far)
    kept = w > 0
    with pytest.warns(SearchStoppedWarning):
        expected = select(table[kept], classes[kept], 8, sample_weight=w[kept])
    with pytest.warns(SearchStoppedWarning):
        path = select(table, classes, 8, sample_weight=w)
    assert same(path, expected)
    assert "still" not in path.names
    assert path.ceiling == expected.ceiling == 2


@pytest.mark.parametrize(
    "kind",
    [
        np.ascontiguousarray,
        np.asfortranarray,
        sp.csr_array,
        lambda X: pd.DataFrame(X, columns=NAMES),
        lambda X: pd.DataFrame(X, columns=NAMES).assign(text=["a", "b"] * (N // 2)),
    ],
    ids=["C order", "Fortran order", "sparse", "frame", "frame with text"],
)
@pytest.mark.parametrize("huge", [1e100, 1e160, 1e300])
def test_huge_numbers_without_weight_cost_no_digits(X, y, kind, huge):
    w = np.linspace(0.5, 2, N)
    w[3] = 0.0
    expected = select(kind(X), y, 4, sample_weight=w)
    X = X.copy()
    X[3, :2] = huge
    assert same(select(kind(X), y, 4, sample_weight=w), expected)


def test_weights_agree_with_the_definition(X, y, rng):
    w = rng.random(N)
    selected, gains = naive.forward([X[:, [j]] for j in range(n)], naive.one_hot(y), n, w)
    path = select(X, y, n, sample_weight=w)
    assert path.features == selected
    assert path.gains == pytest.approx(gains, abs=1e-12)


@pytest.mark.parametrize(
    "make",
    [
        list,
        lambda w: w.astype(np.float32),
        lambda w: w.astype(int),
        lambda w: pd.Series(w, index=np.arange(N)[::-1]),
        lambda w: pl.Series(w),
        lambda w: pa.chunked_array([w]),
        lambda w: w * 1e300,
        lambda w: w * 1e-300,
        lambda w: np.broadcast_to(w, w.shape),
    ],
)
def test_weights_of_any_kind_and_scale(X, y, make):
    w = np.arange(N) % 4.0
    assert same(select(X, y, 4, sample_weight=make(w)), select(X, y, 4, sample_weight=w))


@pytest.mark.parametrize("value", [1.0, 7.0, 1e-300, 1e308])
def test_equal_weights_are_no_weights(X, y, value):
    assert check_weights(np.full(N, value), N) is None
    assert same(select(X, y, 4, sample_weight=np.full(N, value)), select(X, y, 4))


def test_booleans_choose_rows(X, y):
    w = np.arange(N) % 3 > 0
    assert same(select(X, y, 4, sample_weight=w), select(X[w], y[w], 4))


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (-np.ones(N), r"row 0 has -1\.0, and 50 row"),
        (np.r_[1.0, -1.0, np.ones(N - 2)], r"row 1 has -1\.0, and 1 row"),
        (np.r_[np.ones(N - 1), np.nan], r"`sample_weight` \(1 missing of 50\)"),
        (np.r_[np.inf, np.ones(N - 1)], "row 0 has inf"),
        (np.zeros(N), "all zero"),
        (np.r_[1e-300, 1e40, np.ones(N - 2)], r"more than 1e330; it goes from 1e-300 to 1e\+40"),
        (np.ones(N - 1), r"each of the 50 rows; got shape \(49,\)"),
        (np.ones((N, 1)), r"got shape \(50, 1\)"),
        (3, r"got shape \(\)"),
        (np.r_[1.0, np.zeros(N - 1)], "at least 2 rows"),
        ([None] * N, r"`sample_weight` \(50 missing of 50\)"),
        (["a"] * N, "`sample_weight`"),
        ("balanced", "`sample_weight`"),
        (np.ones(N) * 1j, "`sample_weight`"),
        ({0: 1}, "`sample_weight`"),
        ([[1], [1, 2]], "`sample_weight`"),
        (object(), "`sample_weight`"),
    ],
    ids=range(17),
)
def test_weights_that_make_no_sense(X, y, weights, words):
    with pytest.raises(InputError, match=words):
        select(X, y, 2, sample_weight=weights)


def test_wrong_length_is_a_shape_error():
    with pytest.raises(ShapeError):
        check_weights(np.ones(3), 4)


def test_nothing_but_our_own_warnings(frame, y):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        select(frame, y, 99, sample_weight=np.arange(N))
    assert {w.category.__module__ for w in caught} == {"orthoselect.errors"}
