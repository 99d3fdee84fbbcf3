"""Facts about the data, and code that gets the same path again."""

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import KBinsDiscretizer

from orthoselect import __version__, compare, select, stability
from orthoselect.errors import InputError
from orthoselect.show.facts import python_code, response_names
from orthoselect.show.summary import summarize


@pytest.fixture
def table(rng):
    X = rng.normal(size=(60, 6))
    return X, np.array(["yes", "no"])[(X[:, 0] + X[:, 1] > 0).astype(int)]


CALLS = [
    {},
    {"method": "jmi", "bins": 4},
    {"method": "jmi", "bins": KBinsDiscretizer(3, encode="ordinal", strategy="uniform")},
    {"method": "mrmr_quotient", "constant": 0.5, "n_features_to_select": 0.5},
    {"include": [4], "exclude": ["x1"], "groups": {"both": [0, 2]}},
    {"n_features_to_select": np.int64(2), "categorical_features": None},
    {"sample_weight": np.arange(60) % 3, "response_encoding": "ordinal"},
    {"method": "lasso", "standardize": False},
]


@pytest.mark.parametrize("options", CALLS, ids=str)
def test_the_code_finds_the_same_path_again(options, table):
    data, target = table
    path = select(data, target, **{"n_features_to_select": 3, **options})
    scope = {"data": data, "target": target, "sample_weight": options.get("sample_weight")}
    exec(python_code(path, data, []), scope)
    assert scope["path"] == path
    for name, value in path.options.items():
        assert repr(scope["path"].options[name]) == repr(value) or name == "n_features_to_select"


def test_the_code_leaves_defaults_out(table):
    code = python_code(select(*table, 2), table[0], [])
    assert code.splitlines()[-1] == "path = select(data, target, 2, 'socc')"


def test_rows_columns_and_classes_are_told(table):
    X, y = table
    facts = summarize(select(X, y, 2), X, y)["data"]
    assert (facts["rows"], facts["columns"]) == (60, 6)
    assert facts["classes"] == [
        {"name": "no", "count": int((y == "no").sum())},
        {"name": "yes", "count": int((y == "yes").sum())},
    ]
    assert facts["response"] is None
    assert facts["weighted"] is False


def test_numbers_are_told_by_their_spread(table):
    X, _ = table
    y = X[:, 0] * 3 + 1
    facts = summarize(select(X, y, 1), X, y)["data"]
    assert facts["classes"] is None
    expected = {"min": y.min(), "max": y.max(), "mean": y.mean(), "std": y.std()}
    assert facts["response"] == pytest.approx(expected)


def test_responses_are_called_by_their_names(library):
    numbers = [0.5, 1.5, 2.5]
    frame = library.frame({"left": numbers, "name": numbers})
    assert response_names(frame, 2) == ["left", "name"]
    assert response_names(library.frame({"name": numbers}), 1) == ["name"]
    assert response_names(library.column(numbers), 1) == ["y"]
    assert response_names(library.column(numbers), 1, "price") == ["price"]


def test_series_know_their_name():
    pd = pytest.importorskip("pandas")
    assert response_names(pd.Series([1, 2], name="price"), 1) == ["price"]
    assert response_names(pd.Series([1, 2], name=0), 1) == ["0"]
    assert response_names(pd.Series([1, 2], index=["columns", "name"]), 1) == ["y"]


def test_versions_are_told(table):
    told = summarize(select(*table, 1), *table)["reproduce"]["versions"]
    assert told["orthoselect"] == __version__
    assert told["numpy"] == np.__version__
    assert set(told) == {"orthoselect", "python", "numpy", "scipy", "scikit-learn"}


def test_several_responses_have_the_names_given():
    numbers = np.ones((3, 2))
    assert response_names(numbers, 2, "y, y2") == ["y", "y2"]
    assert response_names(numbers, 2, ("y, z", "y2")) == ["y, z", "y2"]
    assert response_names(numbers, 2, "y") == ["y0", "y1"]
    assert response_names(numbers[:, 0], 1, ["y, z"]) == ["y, z"]
    with pytest.raises(InputError, match=r"one name for each column.*2 in all; got 3"):
        response_names(numbers, 2, ["a", "b", "c"])


def test_the_summary_takes_a_list_of_names(table):
    X, _ = table
    Y = X[:, :2] + 1.0
    summary = summarize(select(X, Y, 2), X, Y, target_name=["left", "right"])
    assert summary["target"] == "left, right"
    assert "left and right" in summary["sentence"]
    kinds = [{"name": name, "kind": "numbers"} for name in ("left", "right")]
    assert summary["responses"] == kinds


def test_rows_without_weight_are_not_counted_into_classes(table):
    X, y = table
    w = np.arange(60) % 3
    facts = summarize(select(X, y, 2, sample_weight=w), X, y, sample_weight=w)["data"]
    assert (facts["rows"], facts["rows_with_weight"]) == (60, 40)
    assert sum(one["count"] for one in facts["classes"]) == 40


@pytest.mark.filterwarnings("ignore:left out:orthoselect.errors.SelectionWarning")
def test_every_page_says_why_a_column_was_left_out(rng):
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "spare"])
    frame["name"] = [f"row {i}" for i in range(60)]
    frame["target"] = np.where(frame["a"] > 0, "yes", "no")
    options = {"exclude": ["spare"]}
    expected = [
        {"name": "spare", "reason": "excluded on request"},
        {"name": "name", "reason": "identifier: all values are distinct text"},
    ]
    path = select(frame, "target", 1, **options)
    assert summarize(path, frame, "target")["data"]["left_out"] == expected
    compared = compare(frame, "target", ["socc"], [1], folds=2, **options)
    assert compared.setting.data["left_out"] == expected
    halves = stability(frame, "target", n_features_to_select=1, n_pairs=2, **options)
    assert halves.to_dict()["data"]["left_out"] == expected
