"""Selections from mixed tables, compared with the definition."""

import numpy as np
import pytest
import scipy.sparse as sp

import naive
from orthoselect import OrthogonalSelector, select
from orthoselect.errors import InputError, SearchStoppedWarning, UnknownColumnError

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

N = 48


def agrees(path, blocks, Y, t, w=None, include=(), places=None):
    """Compare with the definition; `places` are the columns of each block."""
    selected, gains = naive.forward(blocks, Y, t, w, include)
    places = [(f,) for f in range(len(blocks))] if places is None else places
    assert [step.columns for step in path] == [tuple(places[f]) for f in selected]
    assert path.gains == pytest.approx(gains, abs=1e-9)
    assert path.total == pytest.approx(sum(gains), abs=1e-9)
    return True


def mixed(seed):
    """Draw a table, its features by definition, a response and options."""
    rng = np.random.default_rng(seed)
    columns, blocks = {}, []
    for k in range(rng.integers(4, 9)):
        if rng.random() < 0.4:
            levels = np.array(list("dacbfe"))[: rng.integers(1, 6)]
            values = levels[rng.integers(0, len(levels), N)]
            blocks.append(naive.one_hot(values))
        else:
            values = rng.normal(size=N) * 10.0 ** rng.integers(-3, 4)
            values = np.round(values, 1) if rng.random() < 0.3 else values
            blocks.append(values[:, None])
        columns[f"c{k}"] = values
    signal = blocks[0][:, 0] / (np.ptp(blocks[0][:, 0]) or 1) + 0.3 * rng.normal(size=N)
    if rng.random() < 0.5:
        y = np.array(["v", "u", "w"])[np.digitize(signal, np.quantile(signal, [0.3, 0.7]))]
        Y = naive.one_hot(y)
    else:
        y = np.c_[signal, rng.normal(size=N)][:, : rng.integers(1, 3)]
        Y = y
    w = None
    if rng.random() < 0.5:
        w = rng.integers(0, 4, N).astype(float) if rng.random() < 0.5 else rng.random(N)
    return rng, columns, blocks, y, Y, w


@pytest.mark.filterwarnings("ignore::orthoselect.errors.SearchStoppedWarning")
@pytest.mark.parametrize("seed", range(40))
def test_mixed_tables_agree_with_the_definition(library, seed):
    rng, columns, blocks, y, Y, w = mixed(seed)
    X = library.frame({name: library.column(values) for name, values in columns.items()})
    n = len(blocks)
    places, groups = [(f,) for f in range(n)], None
    if rng.random() < 0.6:
        members = rng.permutation(n)[:3].tolist()
        groups = {"trio": [f"c{f}" for f in members]}
        rest = [f for f in range(n) if f not in members]
        # A group stands where its first column stands.
        order = sorted([*rest, min(members)])
        places = [tuple(members) if f == min(members) else (f,) for f in order]
        blocks = [np.hstack([blocks[c] for c in columns_]) for columns_ in places]
    include = ()
    names = None
    if rng.random() < 0.4:
        include = (int(rng.integers(len(places))),)
        names = [f"c{places[f][0]}" for f in include]
    t = min(len(places), 5)
    path = select(X, y, t, groups=groups, include=names, sample_weight=w)
    assert agrees(path, blocks, Y, t, w, include, places)


# Categorical features


@pytest.fixture
def table(rng):
    """Three levels that explain the classes, four that do not, and three numbers."""
    kind = np.array(["x", "y", "z"])[rng.integers(0, 3, N)]
    other = np.array(["p", "q", "r", "s"])[rng.integers(0, 4, N)]
    numbers = rng.normal(size=(N, 3))
    y = np.where(rng.random(N) < 0.85, kind, "w")
    return {"a": numbers[:, 0], "kind": kind, "b": numbers[:, 1], "other": other}, y


def test_categorical_features_are_selected_whole(library, table):
    columns, y = table
    X = library.frame({k: library.column(v) for k, v in columns.items()})
    path = select(X, y, 4)
    assert path.names[0] == "kind"
    assert path[0].columns == (1,)
    blocks = [
        columns["a"],
        naive.one_hot(columns["kind"]),
        columns["b"],
        naive.one_hot(columns["other"]),
    ]
    assert agrees(path, blocks, naive.one_hot(y), 4)


def test_selector_keeps_the_categorical_column(table):
    columns, y = table
    X = pd.DataFrame(columns)
    selector = OrthogonalSelector(1).fit(X, y)
    assert selector.get_feature_names_out().tolist() == ["kind"]
    assert selector.transform(X).shape == (N, 1)


def test_rank_counts_not_width(rng):
    """A level for every row of a class adds no more than the rank it has."""
    kind = np.array(list("abcd"))[rng.integers(0, 4, N)]
    X = pd.DataFrame({"kind": kind, "again": np.char.upper(kind), "x": rng.normal(size=N)})
    y = np.where(rng.random(N) < 0.8, kind, "e")
    with pytest.warns(SearchStoppedWarning):
        path = select(X, y, 3)
    assert path.names == ["kind", "x"]
    blocks = [naive.one_hot(kind), naive.one_hot(kind), X[["x"]].to_numpy()]
    assert agrees(path, blocks, naive.one_hot(y), 3, places=[(0,), (1,), (2,)])


def test_merged_levels_after_fine_ones_add_nothing(rng):
    kind = np.array(list("abcd"))[rng.integers(0, 4, N)]
    coarse = np.where(np.isin(kind, ["a", "b"]), "low", "high")
    X = pd.DataFrame({"coarse": coarse, "kind": kind})
    path = select(X, rng.permutation(np.arange(N) % 3), 2, include=["kind", "coarse"])
    assert path.gains[1] == 0
    path = select(X, np.arange(N) % 3, 2, include=["coarse", "kind"])
    assert path.gains[1] > 0


def test_a_single_level_is_never_selected(library, rng):
    X = library.frame({"one": library.column(["u"] * N), "x": rng.normal(size=N)})
    with pytest.warns(SearchStoppedWarning, match="constant"):
        path = select(X, np.arange(N) % 3, 2)
    assert path.names == ["x"]


def test_only_single_levels_give_an_empty_path(library):
    X = library.frame({"one": library.column(["u"] * N)})
    with pytest.warns(SearchStoppedWarning):
        assert len(select(X, np.arange(N) % 3, 1)) == 0


@pytest.fixture
def codes(rng):
    return rng.integers(0, 4, size=(N, 4))


@pytest.mark.parametrize(
    "spec",
    [
        ["c1", "c3"],
        [1, 3],
        [-3, "c3"],
        np.array([False, True, False, True]),
        (3, 1),
    ],
    ids=["names", "indices", "both", "mask", "tuple"],
)
def test_numbers_may_be_named_as_categorical(library, codes, spec):
    y = (codes.sum(axis=1) + codes[:, 1] ** 2) % 3
    X = library.frame({f"c{j}": codes[:, j] for j in range(4)})
    expected = [
        codes[:, [0]],
        naive.one_hot(codes[:, 1]),
        codes[:, [2]],
        naive.one_hot(codes[:, 3]),
    ]
    assert agrees(select(X, y, 4, categorical_features=spec), expected, naive.one_hot(y), 4)


@pytest.mark.parametrize("kind", [np.asarray, np.asfortranarray, sp.csr_array, sp.coo_matrix])
def test_all_and_none(codes, kind):
    y = (codes.sum(axis=1) + codes[:, 1] ** 2) % 3
    X = kind(codes)
    Y = naive.one_hot(y)
    every = [naive.one_hot(c) for c in codes.T]
    assert agrees(select(X, y, 4, categorical_features="all"), every, Y, 4)
    none = [c[:, None] for c in codes.T]
    assert agrees(select(X, y, 4, categorical_features=None), none, Y, 4)
    assert agrees(select(X, y, 4), none, Y, 4)
    one = [none[0], every[1], none[2], none[3]]
    assert agrees(select(X, y, 4, categorical_features=[1]), one, Y, 4)


def test_named_columns_are_categorical_besides_those_of_the_dtype(library, table):
    columns, y = table
    columns = {**columns, "code": np.arange(N) % 3}
    X = library.frame({k: library.column(v) for k, v in columns.items()})
    Y = naive.one_hot(y)
    blocks = [v[:, None] if v.dtype.kind != "U" else naive.one_hot(v) for v in columns.values()]
    assert agrees(select(X, y, 5), blocks, Y, 5)
    blocks[4] = naive.one_hot(columns["code"])
    assert agrees(select(X, y, 5, categorical_features=["code"]), blocks, Y, 5)


def test_all_leaves_target_and_excluded_columns_alone(codes):
    X = pd.DataFrame(codes, columns=list("abcd")).assign(bad=[{}] * N)
    path = select(X, "b", 3, categorical_features="all", exclude="bad")
    blocks = [naive.one_hot(codes[:, j]) for j in (0, 2, 3)]
    assert agrees(path, blocks, naive.one_hot(codes[:, 1]), 3, places=[(0,), (2,), (3,)])


def test_unknown_categorical_columns(codes):
    X = pd.DataFrame(codes, columns=["color", "shape", "size", "age"])
    with pytest.raises(UnknownColumnError, match=r"`categorical_features`.*did you mean `color`"):
        select(X, codes[:, 0], 2, categorical_features=["colour"])
    with pytest.raises(InputError, match="as a mask should have one entry for each of the 4"):
        select(X, codes[:, 0], 2, categorical_features=[True, False])


def test_names_of_levels_never_matter(rng):
    kind = rng.integers(0, 5, N)
    X = pd.DataFrame({"kind": kind.astype(str), "x": rng.normal(size=N)})
    y = (kind + np.arange(N) % 2) % 3
    expected = select(X, y, 2)
    for _ in range(5):
        names = rng.permutation([f"level {k}" for k in range(5)])
        path = select(X.assign(kind=names[kind]), y, 2)
        assert path.features == expected.features
        assert path.gains == pytest.approx(expected.gains)


def test_booleans_are_numbers_and_two_levels_are_the_same(library, rng):
    flag = rng.random(N) < 0.4
    x = rng.normal(size=N)
    y = (flag + x > 0.3).astype(int)
    as_flag = select(library.frame({"flag": flag, "x": x}), y, 2)
    text = library.column(np.where(flag, "yes", "no"))
    as_text = select(library.frame({"flag": text, "x": x}), y, 2)
    assert as_flag.gains == pytest.approx(as_text.gains)
    assert as_flag.features == as_text.features


# Groups that mix numbers and labels


@pytest.mark.parametrize("order", [["kind", "a"], ["a", "kind"], ["b", "kind", "a", "other"]])
def test_groups_of_numbers_and_labels(library, table, order):
    columns, y = table
    X = library.frame({k: library.column(v) for k, v in columns.items()})
    names = list(columns)
    coded = {k: naive.one_hot(v) if v.dtype.kind == "U" else v[:, None] for k, v in columns.items()}
    members = [names.index(k) for k in order]
    features = [min(members), *(f for f in range(4) if f not in members)]
    features.sort()
    places = [tuple(members) if f == min(members) else (f,) for f in features]
    blocks = [np.hstack([coded[names[c]] for c in place]) for place in places]
    t = len(places)
    path = select(X, y, t, groups={"g": order})
    assert agrees(path, blocks, naive.one_hot(y), t, places=places)
    assert {step.name for step in path if len(step.columns) > 1} == {"g"}


def test_included_group_with_a_dependent_member(rng):
    A = rng.normal(size=(N, 3))
    X = np.c_[A, A[:, 0] - A[:, 1], np.ones(N)]
    groups = {"g": [0, 1, 3, 4]}
    y = A[:, 0] + A[:, 2] + rng.normal(size=N)
    path = select(X, y, 2, groups=groups, include="g")
    blocks = [X[:, [0, 1, 3, 4]], X[:, [2]]]
    assert agrees(path, blocks, y[:, None], 2, include=[0], places=[(0, 1, 3, 4), (2,)])


def test_gains_of_groups_add_up_to_canonical_correlations(rng):
    X, Y = rng.normal(size=(N, 6)), rng.normal(size=(N, 2))
    Y[:, 0] += X[:, 2]
    path = select(X, Y, 3, groups=[0, 0, 1, 1, 2, 2])
    assert path.total == pytest.approx(naive.value(X, Y))


# Zero weight and absent levels, in one table


@pytest.mark.filterwarnings("ignore::orthoselect.errors.SearchStoppedWarning")
@pytest.mark.parametrize("seed", range(6))
def test_levels_without_weight_are_absent(library, seed):
    rng = np.random.default_rng(seed)
    kind = np.array(list("bcd"))[rng.integers(0, 3, N)]
    w = rng.integers(0, 3, N).astype(float)
    kind[np.flatnonzero(w == 0)[:4]] = ["a", "z", "a", "y"]
    x, y = rng.normal(size=N), rng.integers(0, 3, N)
    X = library.frame({"kind": library.column(kind), "x": x})
    kept = w > 0
    part = library.frame({"kind": library.column(kind[kept]), "x": x[kept]})
    path, expected = (
        select(X, y, 2, sample_weight=w),
        select(part, y[kept], 2, sample_weight=w[kept]),
    )
    assert path.features == expected.features
    assert path.gains == pytest.approx(expected.gains, rel=1e-9)


def test_float32_precision_is_kept_in_mixed_frames(library):
    """A float32 sum of float32 columns depends on them, whatever stands beside it."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 200)).astype(np.float32)
    beside = rng.normal(size=200)
    X = library.frame({"a": a, "b": b, "sum": a + b, "beside": beside})
    y = a + 0.5 * b + 0.1 * beside + 0.3 * rng.normal(size=200)
    with pytest.warns(SearchStoppedWarning, match="no rank is left"):
        path = select(X, y, 4)
    assert len(path) == 3
