"""What a data set knows of its target and its columns, whatever kind its table is."""

import numpy as np
import pytest
import scipy.sparse as sp

from orthoselect import select
from orthoselect.errors import InputError, UnknownColumnError
from orthoselect.read import Dataset

NAMES = ["a", "b", "c"]
VALUES = np.array([[1.0, 0, 3], [0, 5, 6], [7, 8, 0]])


def arrow(values):
    pa = pytest.importorskip("pyarrow")
    return pa.table({name: values[:, j] for j, name in enumerate(NAMES)})


KINDS = {
    "array": np.asarray,
    "csr": sp.csr_array,
    "csc": sp.csc_array,
    "arrow": arrow,
}


@pytest.fixture(params=KINDS)
def dataset(request):
    made = KINDS[request.param](VALUES)
    return Dataset(made, NAMES, target=np.array([0, 1, 1]), target_name="kind", name="t")


def values(dataset):
    return np.column_stack([np.asarray(dataset.column(name)) for name in dataset.names])


def test_columns_by_name(dataset):
    assert np.array_equal(values(dataset), VALUES)
    assert dataset.n_rows == 3
    assert dataset.places["b"] == 1
    assert "b" in dataset.places
    assert "kind" not in dataset.places


def test_rows_are_taken_with_their_target(dataset):
    taken = dataset.take_rows(np.array([True, False, True]))
    assert np.array_equal(values(taken), VALUES[[0, 2]])
    assert taken.target.tolist() == [0, 1]
    assert type(taken.data) is type(dataset.data)
    assert dataset.n_rows == 3


def test_columns_are_dropped(dataset):
    kept = dataset.without(["b"])
    assert list(kept.names) == ["a", "c"]
    assert np.array_equal(values(kept), VALUES[:, [0, 2]])
    assert dataset.without(()) is dataset


def test_names_reach_the_path(dataset, rng):
    X = rng.normal(size=(30, 3))
    data = KINDS["array"](X) if isinstance(dataset.data, np.ndarray) else None
    data = sp.csr_array(X) if sp.issparse(dataset.data) else data
    data = arrow(X) if data is None else data
    found = Dataset(data, NAMES, target=X[:, 1] > 0, left_out={"b": "no reason"})
    path = select(found, None, 2)
    assert set(path.names) == {"a", "c"}
    assert set(select(found, "a", 1, exclude=["b"]).names) == {"c"}


def test_target_by_name_by_alias_and_by_value(dataset):
    assert dataset.find_target("a") == "a"
    for given in (None, "kind", "target", "y"):
        assert dataset.find_target(given) is dataset.target
    mine = np.zeros(3)
    assert dataset.find_target(mine) is mine
    with pytest.raises(UnknownColumnError, match=r"`target`.*no `kinds`: did you mean `kind`\?"):
        dataset.find_target("kinds")


def test_column_called_target_goes_first():
    found = Dataset(VALUES, ["a", "y", "target"], target=np.zeros(3), target_name="kind")
    assert found.find_target("y") == "y"
    assert found.find_target("target") == "target"


def test_aliases_mean_nothing_without_a_known_target():
    found = Dataset(VALUES, NAMES, name="t")
    with pytest.raises(UnknownColumnError):
        found.find_target("target")
    with pytest.raises(InputError, match=r"`t` should come with the name of its target.*`a`, `b`"):
        found.find_target(None)
