"""The built-in data sets: names, labels in words, targets known."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from orthoselect import select
from orthoselect.errors import InputError
from orthoselect.read import BUILT_IN, built_in, read_source

CLASSES = {
    "iris": {"setosa", "versicolor", "virginica"},
    "breast_cancer": {"malignant", "benign"},
    "wine": {"class_0", "class_1", "class_2"},
    "digits": set(range(10)),
}


@pytest.mark.parametrize("name", BUILT_IN)
def test_what_is_said_of_a_set_is_so(name):
    said, found = BUILT_IN[name], read_source(name)
    assert found.data.shape == (said.rows, said.columns) == (found.n_rows, len(found.names))
    assert found.target_name == said.target
    assert len(found.target) == said.rows
    assert (found.name, found.format, found.text) == (name, "built-in", None)
    assert said.name == name


@pytest.mark.parametrize("name", CLASSES)
def test_classes_have_their_names(name):
    assert set(read_source(name).target.tolist()) == CLASSES[name]


def test_rows_keep_their_class():
    sklearn_datasets = pytest.importorskip("sklearn.datasets")
    bunch = sklearn_datasets.load_breast_cancer()
    found = read_source("breast_cancer")
    assert ((found.target == "benign") == (bunch.target == 1)).all()
    assert found.names[0] == "mean radius"


def test_diabetes_is_a_regression():
    assert read_source("diabetes").target.dtype.kind == "f"
    assert select("diabetes", None, 1).names == ["bmi"]


@pytest.mark.parametrize("target", [None, "species", "target", "y"])
def test_target_need_not_be_named(target):
    assert select("iris", target, 1).names == ["petal length (cm)"]


def test_column_of_a_set_as_target():
    assert select("iris", "petal width (cm)", 1, task="regression").n_candidates == 3


def test_unknown_target_suggests_the_known_one():
    with pytest.raises(InputError, match=r"`specie`: did you mean `species`\?"):
        select("iris", "specie", 1)


def test_columns_can_be_dropped():
    found = read_source("iris", drop=["petal length (cm)"])
    assert found.data.shape == (150, 3)
    assert "petal length (cm)" not in found.names


def test_file_of_that_name_goes_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("iris").mkdir()
    assert read_source("iris").format == "built-in", "a folder is no table"
    shutil.rmtree("iris")
    Path("iris").write_text("a,b\n1,2\n")
    assert read_source("iris", format="csv").names == ["a", "b"]
    with pytest.raises(InputError, match="should end in one of"):
        read_source("iris")


def test_path_is_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="there is no such file"):
        read_source(Path("iris"))


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_file_is_read_as_scikit_learn_loads_it(name):
    """Read without it, which takes seconds to load: the same numbers, names and classes."""
    found, loaded = built_in._from_file(name), built_in._by_loader(name)
    assert (found is None) == (name == "diabetes")
    for mine, theirs in zip(found or loaded, loaded):
        assert type(mine) is type(theirs)
        assert np.array_equal(mine, theirs)
        assert getattr(mine, "dtype", None) == getattr(theirs, "dtype", None)


def test_a_set_is_loaded_where_its_file_is_not_as_expected(monkeypatch, tmp_path):
    expected = read_source("iris")
    folder = tmp_path / "datasets" / "data"
    folder.mkdir(parents=True)
    spec = SimpleNamespace(submodule_search_locations=[str(tmp_path)])
    monkeypatch.setattr(built_in, "find_spec", lambda name: spec)
    for text in (None, "150,4,a,b,c\n1,2,3,4,0\n"):
        if text is not None:
            (folder / "iris.csv").write_text(text)
        found = read_source("iris")
        assert np.array_equal(found.data, expected.data)
        assert np.array_equal(found.target, expected.target)
