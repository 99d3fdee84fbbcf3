"""The registry of methods, and how `select` hands options on."""

import inspect

import numpy as np
import pytest

import orthoselect
from orthoselect import select
from orthoselect.errors import InputError
from orthoselect.methods import GENERAL, METHODS


@pytest.fixture
def X(rng):
    return rng.normal(size=(40, 5))


@pytest.fixture
def y(X):
    return (X[:, 2] + X[:, 0] > 0).astype(int)


def test_is_public():
    assert orthoselect.methods.METHODS is METHODS


@pytest.mark.parametrize("name", METHODS)
def test_every_method_selects_under_its_name(X, y, name):
    X = np.round(X)
    path = select(X, y, 3, method=name)
    assert path.method == name
    assert len(path) == 3
    assert len(set(path.features)) == 3
    assert path.features[0] in (0, 2)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_says_what_it_is(name):
    method = METHODS[name]
    assert method.name == method.make().name == name
    assert method.takes <= set(GENERAL)
    assert "\n" not in method.summary
    assert "https://" in method.source
    for part in (name, method.summary, method.source, *method.options):
        assert part in repr(method)
    assert method.summary in repr(METHODS)
    assert f"<td>{name}</td>" in METHODS._repr_html_()


def test_general_options_are_those_of_select_with_the_same_defaults():
    parameters = inspect.signature(select).parameters
    assert {name: parameters[name].default for name in GENERAL} == GENERAL


@pytest.mark.parametrize("name", METHODS)
def test_options_that_a_method_does_not_take_are_refused(X, y, name):
    given = {
        "task": "classification",
        "response_encoding": "ordinal",
        "categorical_features": [0],
        "groups": {"a": [0, 1]},
        "sample_weight": np.ones(40),
    }
    for option in set(GENERAL) - METHODS[name].takes:
        with pytest.raises(InputError, match=f"{name!r} does not take `{option}`"):
            select(X, y, 2, method=name, **{option: given[option]})
        select(np.round(X), y, 2, method=name, **{option: GENERAL[option]})


@pytest.mark.parametrize("name", METHODS)
def test_unknown_options_name_those_it_takes(X, y, name):
    with pytest.raises(InputError, match="has no option `colour`") as raised:
        select(X, y, 2, method=name, colour="red")
    for option in [*METHODS[name].takes, *METHODS[name].options]:
        assert f"`{option}`" in str(raised.value)


@pytest.mark.parametrize("name", METHODS)
def test_columns_of_labels_are_taken_or_refused_by_name(y, X, name):
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(np.round(X)).set_axis(list("abcde"), axis=1)
    table["color"] = np.array(["red", "green"])[y]
    if "categorical_features" in METHODS[name].takes:
        assert select(table, y, 1, method=name).names == ["color"]
    else:
        with pytest.raises(InputError, match=f"{name!r} takes columns of numbers; `color` holds"):
            select(table, y, 2, method=name)
        assert select(table, y, 1, method=name, exclude="color").names == ["c"]


def test_unknown_methods_list_the_known_nearest_first(X, y):
    with pytest.raises(InputError, match=r"`method` should be one of 'socc'.*; got 'soc'"):
        select(X, y, 2, method="soc")
