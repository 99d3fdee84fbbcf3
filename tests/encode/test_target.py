"""Classes or numbers: what a response is decided to be."""

import warnings

import numpy as np
import pytest

from orthoselect.encode import TargetColumn, build_response
from orthoselect.errors import (
    InputError,
    OneRowClassWarning,
    ReadAsClassesWarning,
    ReadAsNamesWarning,
    ReadAsQuantityWarning,
)


def built(*columns, task="auto", encoding="dummy", weights=None, **more):
    columns = [TargetColumn(f"y{k}", np.asarray(c), **more) for k, c in enumerate(columns)]
    return build_response(columns, task, encoding, weights)


def test_classes_are_reported_in_order():
    response = built(["b", "a", "c", "a"], categorical=True)
    assert response.task == "classification"
    assert response.classes == [("a", "b", "c")]
    assert response.m == 2


def test_given_order_of_classes():
    response = built(["b", "a", "c", "a"], categorical=True, order=["c", "b", "a", "z"])
    assert response.classes == [("c", "b", "a")]


def test_one_fraction_makes_all_numeric_columns_quantities():
    response = built([0, 1, 2, 1], [0.0, 1.0, 0.5, 1.0])
    assert response.task == "regression"
    assert response.classes == []
    assert response.m == 2


def test_labels_beside_quantities_stay_labels():
    columns = [
        TargetColumn("kind", np.array(["a", "b", "c", "a"], dtype=object), categorical=True),
        TargetColumn("size", np.array([0.5, 1.0, 2.0, 3.0])),
    ]
    response = build_response(columns, "auto", "dummy", None)
    assert response.classes == [("a", "b", "c")]
    assert response.m == 3


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.float32, np.float64])
def test_whole_numbers_are_classes(dtype):
    assert built(np.array([1, 2, 3, 1], dtype)).classes == [(1, 2, 3)]


def test_rows_without_weight_decide_nothing():
    weights = np.array([1.0, 1.0, 0.0, 1.0])
    response = built([0.0, 1.0, 0.5, 1.0], weights=weights)
    assert response.classes == [(0.0, 1.0)]
    assert response.m == 1
    assert built(["a", "b", "z", "b"], categorical=True, weights=weights).classes == [("a", "b")]


@pytest.mark.parametrize("task", ["classify", None, "", ["auto"]])
def test_unknown_task_lists_the_known_ones(task):
    with pytest.raises(InputError, match="'auto', 'classification', 'regression'; got"):
        built([0, 1], task=task)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("task", ["auto", "regression", "classification"])
def test_values_that_are_not_finite_are_counted(bad, task):
    with pytest.raises(
        InputError, match=r"y1 should (hold finite values; it contains|have no missing values;) 2 "
    ):
        built([0.0, 1.0, 2.0], [0.5, bad, bad], task=task)


@pytest.mark.parametrize("gap", [None, float("nan"), float("inf"), "nan"])
def test_objects_that_are_not_finite_are_refused_as_quantities(gap):
    with pytest.raises(InputError, match="y0 "):
        built(np.array([1.5, gap, 2.5], dtype=object), task="regression", categorical=True)


def test_text_is_no_quantity():
    with pytest.raises(InputError, match=r"y0 should hold numbers for `task='regression'`.*str"):
        built(["a", "b"], task="regression", categorical=True)


def long_tail(n_rows, mean):
    return np.random.default_rng(0).poisson(mean, n_rows)


@pytest.mark.parametrize(
    "y",
    [
        np.arange(60) % 10,  # digits
        np.repeat(np.arange(40), 10),
        np.repeat(np.arange(1, 27), 30),  # letters
        np.array([1992, 1993, 1994] * 20),
        np.array([1, 5, 5, 1]),
    ],
)
@pytest.mark.parametrize("dtype", [int, float, np.int16])
def test_few_whole_numbers_and_codes_are_classes(y, dtype):
    assert built(y.astype(dtype)).task == "classification"


@pytest.mark.parametrize(
    ("y", "told"),
    [
        (np.array([0, 1, 2, 3, 7, 12] * 20), "0, 1, 2, 3, 7, 12 and is read as 6 classes"),
        (np.array([3, 1, 4, 5]), "1, 3, 4, 5 and is read as 4 classes"),
        (np.array([0, 2, 9]).repeat(30), "`task='regression'` if it is a quantity"),
    ],
)
@pytest.mark.parametrize("dtype", [int, float, np.uint8])
def test_classes_that_leave_numbers_out_are_told(y, told, dtype):
    with pytest.warns(ReadAsClassesWarning, match=told):
        assert built(y.astype(dtype)).task == "classification"
    assert built(y.astype(dtype), task="classification").task == "classification"


@pytest.mark.parametrize(
    ("y", "n_distinct"),
    [
        (np.arange(120), "120"),  # every gain was 1
        (np.arange(3000, 6000, 25).repeat(3), "120"),  # grams
        (np.arange(1990, 2019).repeat(10), "29"),
        (long_tail(900, 20), str(len(set(long_tail(900, 20).tolist())))),
        (np.arange(6), "6"),
        (np.arange(5000).repeat(2), "more than 1000"),
        (np.r_[0:15, np.zeros(500, dtype=int)], "15"),  # a tail is no class
    ],
)
@pytest.mark.parametrize("dtype", [int, float])
def test_many_whole_numbers_are_a_quantity_and_a_warning_says_so(y, n_distinct, dtype):
    with pytest.warns(ReadAsQuantityWarning, match=rf"holds {n_distinct} distinct.*task="):
        assert built(y.astype(dtype)).task == "regression"
    assert built(y, task="regression").task == "regression"
    if len(y) < 5000:
        assert built(y, task="classification").task == "classification"
        text = built(y.astype(str), categorical=True, task="classification")
        assert text.task == "classification"


def test_rows_without_weight_do_not_make_labels_a_quantity():
    y, weights = np.arange(40) % 20, np.zeros(40)
    weights[[0, 1, 2, 3, 20, 21, 22, 23]] = 1.0
    assert built(y, weights=weights).m == 3


def test_too_many_classes_to_code_are_refused_before_they_are_coded():
    y = np.arange(40_000)
    with pytest.raises(InputError, match=r"40000 classes.*task='regression'"):
        built(y, task="classification")


def names(n_alone, n_twice):
    """Return labels of which some stand in one row each, the others in two."""
    return np.array(
        [f"n{k}" for k in [*range(n_alone + n_twice), *range(n_alone, n_alone + n_twice)]]
    )


def test_text_that_looks_like_names_is_told():
    y = names(166, 87)
    with pytest.warns(
        ReadAsNamesWarning, match=r"y0 holds 253 different .* in 340 rows, 166 of"
    ):
        assert built(y).m == 252
    with pytest.warns(OneRowClassWarning, match=r"classes `n0`, .* and 161 more of y0 have 1 row"):
        assert built(y, task="classification").m == 252
    numbers = np.unique(y, return_inverse=True)[1]  # which somebody calls classes
    with pytest.warns(OneRowClassWarning):
        assert built(numbers, task="classification").m == 252


def test_text_that_is_hardly_anything_but_names_is_an_error():
    with pytest.raises(InputError, match=r"y0 should .* 338 of its 340 rows .*`task='classif"):
        built(names(338, 1))
    with pytest.warns(ReadAsNamesWarning):
        built(names(88, 6))
    with pytest.warns(OneRowClassWarning):
        assert built(names(338, 1), task="classification").m == 338


@pytest.mark.parametrize("labels", [names(0, 40), np.arange(10), names(5, 6)])
def test_few_rows_of_all_classes_are_no_names(labels, recwarn):
    built(labels, task="classification")
    assert not [w for w in recwarn if w.category is ReadAsNamesWarning]


@pytest.mark.parametrize("y", [["a", "b", "c"], [3, 1, 2], [False, True]])
def test_a_class_of_one_row_is_told(y):
    y = np.array(y)
    one, *others = np.sort(y).tolist()
    many = np.array([one, *others * 5])
    with pytest.warns(OneRowClassWarning, match=f"class `{one}` of y0 has 1 row only: a feature"):
        built(many)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        built(np.array([*many, one]))
    # Rows without weight do not count.
    weights = np.ones(len(many) + 1)
    weights[-1] = 0
    with pytest.warns(OneRowClassWarning, match=f"class `{one}`"):
        built(np.array([*many, one]), weights=weights)
