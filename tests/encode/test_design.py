"""Designs: which columns of the matrix each feature owns."""

import numpy as np
import pytest
import scipy.sparse as sp

import naive
from orthoselect.encode import NumberedNames, Table, build_design, find_labels
from orthoselect.errors import ManyLevelsWarning

N = 12


@pytest.fixture
def table(rng):
    """Columns: 0 number, 1 labels of three levels, 2 number, 3 labels of one level, 4 number."""
    return Table(
        n_rows=N,
        names=["a", "three", "b", "one", "c"],
        numeric=rng.normal(size=(N, 3)),
        numeric_at=np.array([0, 2, 4]),
        labels={1: find_labels(np.arange(N) % 3), 3: find_labels(np.zeros(N, int))},
    )


def owned(design):
    return {f.name: design.columns_of(k).tolist() for k, f in enumerate(design.features)}


def test_every_column_is_a_feature(table):
    design = build_design(table, {}, set())
    assert [f.columns for f in design.features] == [(0,), (1,), (2,), (3,), (4,)]
    assert owned(design) == {"a": [0], "three": [3, 4], "b": [1], "one": [], "c": [2]}
    assert design.matrix.shape == (N, 5)
    assert len(design.unowned) == 0


def test_indicators_span_the_levels(table):
    design = build_design(table, {}, set())
    block = design.matrix.columns(design.columns_of(1))
    usual = np.bincount(np.arange(N) % 3).argmax()
    expected = np.delete(naive.one_hot(np.arange(N) % 3), usual, axis=1)
    np.testing.assert_array_equal(block, expected)


@pytest.mark.parametrize("exclude", [{0}, {1}, {1, 3}, {0, 2, 4}, {0, 1, 2, 3, 4}])
def test_excluded_columns_belong_to_nobody(table, exclude):
    design = build_design(table, {}, exclude)
    kept = {0, 1, 2, 3, 4} - exclude
    assert {c for f in design.features for c in f.columns} == kept
    width = {0: 1, 1: 2, 2: 1, 3: 0, 4: 1}
    assert design.matrix.shape[1] - len(design.unowned) == sum(width[c] for c in kept)


def test_a_group_stands_where_its_first_column_stands(table):
    design = build_design(table, {"g": [4, 1]}, set())
    assert [f.name for f in design.features] == ["a", "g", "b", "one"]
    assert design.features[1].columns == (4, 1)
    assert owned(design)["g"] == [2, 3, 4]
    assert design.single.tolist() == [0, -1, 1, -1]


def test_a_group_loses_its_excluded_columns(table):
    design = build_design(table, {"g": [0, 1, 4], "gone": [2, 3]}, {0, 2, 3})
    assert [(f.name, f.columns) for f in design.features] == [("g", (1, 4))]
    assert owned(design) == {"g": [3, 4, 2]}


def test_a_group_of_one_is_a_single_column(table):
    design = build_design(table, {"g": [2]}, set())
    assert [f.name for f in design.features] == ["a", "three", "g", "one", "c"]
    assert design.single.tolist() == [0, -1, 1, -1, 2]


def test_places_of_columns(table):
    features = build_design(table, {"g": [4, 1]}, {0}).features
    assert [f.name for f in features] == ["g", "b", "one"]
    assert features.places([4]) == [0]
    assert features.places([1]) == [0]
    assert features.places([3, 1, 4, 2]) == [2, 0, 1]
    assert features.places([]) == []


def test_name_of_column(table):
    design = build_design(table, {"g": [4, 1]}, set())
    names = [design.name_of_column(j) for j in range(5)]
    assert names == ["a", "b", "g", "g", "g"]


def test_sparse_numbers_stay_sparse_beside_labels(table):
    numbers = sp.random(N, 3, 0.3, format="csr", random_state=0)
    mixed = Table(N, table.names, numbers, table.numeric_at, table.labels)
    design = build_design(mixed, {}, set())
    np.testing.assert_array_equal(design.matrix.columns(np.arange(3)), numbers.toarray())


def test_a_table_of_labels_only():
    table = Table(N, ["k"], np.empty((N, 0)), np.array([], int), {0: find_labels(np.arange(N) % 4)})
    design = build_design(table, {}, set())
    assert design.matrix.shape == (N, 3)
    assert owned(design) == {"k": [0, 1, 2]}


def test_labels_that_are_nearly_unique_warn():
    labels = {0: find_labels(np.arange(40))}
    table = Table(40, ["id"], np.empty((40, 0)), np.array([], int), labels)
    with pytest.warns(ManyLevelsWarning, match=r"`id` has 40 levels in 40 rows.*`exclude`"):
        build_design(table, {}, set())


@pytest.mark.filterwarnings("ignore::orthoselect.errors.ManyLevelsWarning")
def test_no_number_of_levels_is_too_large():
    labels = {0: find_labels(np.arange(9000))}
    table = Table(9000, ["id"], np.empty((9000, 0)), np.array([], int), labels)
    assert build_design(table, {}, set()).matrix.shape == (9000, 8999)


def test_numbered_names_are_a_sequence():
    names = NumberedNames(3)
    assert list(names) == ["x0", "x1", "x2"]
    assert names[-1] == "x2"
    assert names[1:] == ["x1", "x2"]
    assert "x2" in names
    assert len(names) == 3
    with pytest.raises(IndexError):
        names[3]
