"""The summary as a whole: complete and plain for every method and kind of input."""

import json
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import KBinsDiscretizer

from orthoselect import OrthogonalSelector, select, statistics
from orthoselect.encode import encode_response
from orthoselect.errors import ConstantTargetError, InputError, SelectionWarning
from orthoselect.methods import METHODS
from orthoselect.show.summary import summarize
from problems import EXPLAINING

KEYS = {
    "kind", "title", "created", "target", "responses", "task", "sentence", "method", "ceiling",
    "n_candidates", "stopped", "stats", "options", "steps", "method_summary", "method_source",
    "chosen",
    "set", "features", "substitutes", "reachable", "separation", "distributions", "correlations",
    "data", "missing", "reproduce", "adds_up", "judged_by", "cautions", "clusters", "recipes",
    "what_if",
}  # fmt: skip
FEATURE = {
    "feature", "name", "kind", "verdict", "step", "relevance", "gain", "remains", "explained_by",
    "explained",
}  # fmt: skip
VERDICTS = {"selected", "nearly chosen", "redundant", "irrelevant", "useful", "constant"}
DATA = {
    "rows", "rows_with_weight", "columns", "classes", "response", "kinds", "left_out", "weighted",
    "warnings", "missing",
}  # fmt: skip
DISTRIBUTIONS = {
    "numeric": {"name", "kind", "edges", "by_class"},
    "categorical": {"name", "kind", "levels", "by_class"},
    "numeric-response": {"name", "kind", "points", "edges", "means"},
    "categorical-response": {"name", "kind", "levels", "quartiles", "n"},
}


def told(X, y, t=3, method="socc", **options):
    """Select, summarize and check that the summary is complete, plain and consistent."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)
        path = select(X, y, t, method, **options)
    summary = summarize(path, X, y, sample_weight=options.get("sample_weight"))
    check(summary, path)
    return summary


def check(summary, path):
    assert set(summary) == KEYS
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert {key: summary[key] for key in path.to_dict()} == path.to_dict()
    assert len(summary["features"]) == path.n_candidates
    for feature in summary["features"]:
        assert set(feature) == FEATURE
        assert feature["verdict"] in VERDICTS
        assert (feature["verdict"] == "selected") == (feature["step"] is not None)
        assert feature["remains"] is None or 0 <= feature["remains"] <= 1
        assert feature["explained"] is None or 0 <= feature["explained"] <= 1
    assert [entry["name"] for entry in summary["substitutes"]] == path.names
    for entry in summary["substitutes"]:
        assert len(entry["runners_up"]) <= 5
        taken = set(path.names[: entry["step"]])
        assert not {up["name"] for up in entry["runners_up"]} & taken
    for entry in summary["distributions"]:
        assert set(entry) == DISTRIBUTIONS[entry["kind"]]
    t = len(path)
    assert np.array(summary["correlations"]["matrix"], dtype=float).size == t * t
    assert set(summary["data"]) == DATA
    assert summary["sentence"].endswith(".")


@pytest.fixture
def table(rng):
    X = rng.normal(size=(120, 7))
    X[:, 4] = X[:, 0] + 0.2 * rng.normal(size=120)
    X[:, 5] = 3.0
    y = (X[:, 0] + X[:, 1] > 0).astype(int) + (X[:, 2] > 0.5)
    return X, y


@pytest.mark.parametrize("method", EXPLAINING)
def test_every_method_is_told(method, table):
    X, y = table
    summary = told(X, y, 3, method)
    assert summary["method"] == method
    assert summary["kind"] == "selection"
    assert summary["task"] == "classification"


@pytest.mark.parametrize("method", EXPLAINING)
def test_every_method_is_told_on_an_array_of_whole_numbers_with_ties(method, rng):
    X = rng.integers(0, 3, size=(60, 6))
    told(X, rng.integers(0, 2, 60), 4, method)


@pytest.mark.parametrize("method", [m for m in EXPLAINING if "sample_weight" in METHODS[m].takes])
def test_every_method_is_told_with_weights(method, table, rng):
    X, y = table
    told(X, y, 3, method, sample_weight=rng.integers(0, 4, len(y)))


@pytest.mark.parametrize("method", [m for m in EXPLAINING if "groups" in METHODS[m].takes])
def test_mixed_tables_with_groups_are_told(method, library, rng):
    N = 90
    frame = {f"n{k}": rng.normal(size=N) for k in range(4)}
    frame["color"] = np.array(["red", "green", "blue"])[rng.integers(0, 3, N)]
    frame["size"] = np.array(["S", "L"])[rng.integers(0, 2, N)]
    label = np.array(["no", "yes"])[((frame["n0"] > 0) | (frame["color"] == "red")).astype(int)]
    frame["label"] = label
    data = library.frame(frame)
    options = {"groups": {"pair": ["n1", "size"]}, "include": ["n2"], "exclude": ["n3"]}
    summary = told(data, "label", 4, method, **options)
    assert summary["target"] == "label"
    assert summary["data"]["kinds"] == {"numeric": 2, "categorical": 1, "group": 1}
    assert summary["data"]["left_out"] == [{"name": "n3", "reason": "excluded on request"}]
    assert summary["steps"][0]["name"] == "n2"
    assert {f["kind"] for f in summary["features"]} == {"numeric", "categorical", "group"}


@pytest.mark.parametrize("kind", ["csr", "csc", "float32", "integers", "list", "objects"])
def test_every_storage_is_told(kind, table):
    X, y = table
    made = {
        "csr": sp.csr_array,
        "csc": sp.csc_matrix,
        "float32": lambda A: A.astype(np.float32),
        "integers": lambda A: np.round(A).astype(np.int8),
        "list": lambda A: A.tolist(),
        "objects": lambda A: A.astype(object),
    }[kind]
    assert told(made(X), y)["features"][0]["name"] == "x0"


def test_dataframes_are_told(library, table):
    X, y = table
    frame = library.frame({f"c{k}": X[:, k] for k in range(7)} | {"species": y})
    assert told(frame, "species")["target"] == "species"
    several = library.frame({"left": X[:, 0] + X[:, 1], "right": X[:, 2] + X[:, 0]})
    summary = told(library.frame({f"c{k}": X[:, k] for k in range(7)}), several)
    assert summary["target"] == "left, right"
    assert summary["set"]["r2"] is None


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_several_responses_are_told(task, table, rng):
    X, y = table
    Y = np.column_stack([y, X[:, 3] > 0]) if task == "classification" else X[:, :2] @ np.eye(2)
    summary = told(X, Y, 3)
    assert summary["task"] == task
    assert len(summary["set"]["canonical_correlations"]) >= 2
    assert (summary["set"]["fisher"] is None) == (task == "regression")
    assert summary["separation"]["response"] == "y0"
    if task == "classification":
        told(X, Y, 3, "jmi")


def test_an_empty_path_is_told(table):
    summary = told(np.ones((120, 6)), table[1])
    assert summary["steps"] == summary["substitutes"] == summary["distributions"] == []
    assert summary["separation"] is None
    assert summary["set"]["canonical_correlations"] == []
    assert summary["correlations"] == {"names": [], "matrix": [], "signed": []}


def test_one_class_is_refused(table):
    path = select(*table, 3, "jmi")
    with pytest.raises(ConstantTargetError, match=r"every row has 1\."):
        summarize(path, table[0], np.ones(120, dtype=int))


def test_an_included_constant_is_told(table):
    X, y = table
    summary = told(X, y, 2, include=[5])
    constant = summary["features"][5]
    assert constant["verdict"] == "selected"
    assert constant["remains"] is None
    assert summary["correlations"]["matrix"][0] == [None, None]
    told(X, y, 2, "err", include=[5])


def test_extreme_numbers_are_told(table):
    X, y = table
    told(X * 1e160, y)
    told(X * 1e-200, y)
    told(X * 1e160, X[:, 0] * 1e300, 2)
    told(X + 1e9, y)


def test_the_set_has_the_canonical_correlations_of_its_features(table):
    X, y = table
    summary = told(X, y, 3)
    taken = X[:, [step["feature"] for step in summary["steps"]]]
    R = statistics.canonical_correlations(taken, encode_response(y))
    assert summary["set"]["canonical_correlations"] == pytest.approx(R)
    assert summary["set"]["fisher"] == pytest.approx(statistics.fisher_criteria(taken, y))
    assert summary["set"]["sum_of_squares"] == pytest.approx(summary["steps"][-1]["total"])


def test_the_set_counts_whole_weights_as_copies_of_rows(table, rng):
    X, y = table
    w = rng.integers(0, 4, len(y))
    weighted = told(X, y, 3, sample_weight=w)["set"]
    copies = told(np.repeat(X, w, axis=0), np.repeat(y, w), 3)["set"]
    assert weighted["canonical_correlations"] == pytest.approx(copies["canonical_correlations"])
    assert weighted["fisher"] == pytest.approx(copies["fisher"])


def test_perfect_separation_has_no_number_for_fisher():
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    summary = told(X, ["a", "a", "b", "b"], 1)
    assert summary["set"]["canonical_correlations"] == pytest.approx([1.0])
    assert summary["set"]["fisher"] == [None]


def test_r2_is_that_of_least_squares(table):
    X, _ = table
    y = X[:, 0] + 0.5 * X[:, 3] + np.sin(np.arange(120))
    summary = told(X, y, 2)
    taken = X[:, [step["feature"] for step in summary["steps"]]]
    assert summary["set"]["r2"] == pytest.approx(statistics.multiple_correlation(taken, y) ** 2)
    assert summary["set"]["fisher"] is None


def test_correlations_are_pearsons_and_have_no_sign_for_blocks(rng):
    X = rng.normal(size=(100, 3))
    X[:, 1] -= X[:, 0]
    X[:, 2] = np.round(2 * X[:, 0])
    y = X @ [1.0, 2.0, 3.0]
    plain = told(X, y, 3)["correlations"]
    order = [int(name[1:]) for name in plain["names"]]
    assert np.array(plain["matrix"]) == pytest.approx(np.corrcoef(X[:, order].T))
    assert np.array(plain["signed"]).all()
    blocks = told(X, y, 3, categorical_features=[2])["correlations"]
    at = blocks["names"].index("x2")
    assert not np.array(blocks["signed"])[at].any()
    other = blocks["names"].index("x0")
    indicators = encode_response(X[:, 2].astype(int))
    R = statistics.multiple_correlation(indicators, X[:, 0])
    assert blocks["matrix"][at][other] == pytest.approx(R)


def test_blocks_are_correlated_by_their_largest_canonical_correlation(rng):
    a = rng.integers(0, 4, 200)
    X = np.column_stack([a, (a + (rng.random(200) < 0.3)) % 3])
    y = a + rng.normal(size=200)
    told_ = told(X, y, 2, categorical_features=[0, 1])["correlations"]
    R = statistics.canonical_correlations(encode_response(X[:, 0]), encode_response(X[:, 1]))
    assert R[0] > R[1] + 0.05
    assert told_["matrix"][0] == pytest.approx([1.0, R[0]])


def test_what_was_warned_of_is_not_warned_of_again(rng):
    """Of the response, of levels as codes, and of levels as indicators."""
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"id": [f"row{k}" for k in range(60)], "x": rng.normal(size=60)})
    y = np.arange(60) // 3
    for method in ("socc", "jmi"):
        with pytest.warns(SelectionWarning):
            path = select(frame, y, 1, method)
        summarize(path, frame, y)  # warnings are errors


def test_whole_weights_stay_whole_where_the_method_wants_them(table):
    X, y = table
    X = np.delete(X, 5, axis=1)  # a discretizer complains about a constant
    bins = KBinsDiscretizer(3, encode="ordinal", strategy="uniform")
    told(X, y, 2, "jmi", bins=bins, sample_weight=1 + np.arange(120) % 3)


def test_paths_of_selectors_can_be_told(table):
    X, y = table
    path = OrthogonalSelector(3).fit(X, y).path_
    check(summarize(path, X, y), path)


def test_arguments_reach_the_summary(table):
    X, y = table
    path = select(X, y, 2)
    summary = summarize(
        path,
        X,
        y,
        source="flowers.csv",
        target_name="species",
        command="orthoselect select flowers.csv",
        left_out={"id": "all values differ"},
        warnings=[UserWarning("mind the gap")],
    )
    assert summary["title"] == "flowers.csv"
    assert summary["target"] == "species"
    assert summary["reproduce"]["command"] == "orthoselect select flowers.csv"
    assert summary["data"]["left_out"] == [{"name": "id", "reason": "all values differ"}]
    assert summary["data"]["warnings"] == ["mind the gap"]


def test_summaries_are_the_same_each_time(table):
    X, y = table
    path = select(np.tile(X, (20, 1)), np.tile(y, 20), 3)
    first = summarize(path, np.tile(X, (20, 1)), np.tile(y, 20))
    again = summarize(path, np.tile(X, (20, 1)), np.tile(y, 20))
    first["created"] = again["created"] = ""
    assert first == again


def test_inputs_are_only_read(table):
    X, y = table
    X, y = X.copy(), y.copy()
    X.flags.writeable = y.flags.writeable = False
    told(X, y)


# What does not fit


def test_weights_are_asked_for_if_the_path_had_some(table):
    X, y = table
    w = np.arange(120) % 3
    with pytest.raises(InputError, match="pass the same ones as `sample_weight`"):
        summarize(select(X, y, 2, sample_weight=w), X, y)
    with pytest.raises(InputError, match="found without row weights"):
        summarize(select(X, y, 2), X, y, sample_weight=w)


def test_other_columns_do_not_fit(table):
    X, y = table
    path = select(X, y, 2)
    with pytest.raises(InputError, match="chose from 7 features, and these are 6"):
        summarize(path, X[:, 1:], y)


def test_other_names_do_not_fit(table):
    pd = pytest.importorskip("pandas")
    X, y = table
    frame = pd.DataFrame(X, columns=list("abcdefg"))
    with pytest.raises(InputError, match=r"`c`, column 2 of the table, is `C` here"):
        summarize(select(frame, y, 2), frame.rename(columns=str.upper), y)
    path = select(frame, y, 2, exclude=["c"])
    with pytest.raises(InputError, match=r"those that the path was found on: `exclude`.*`c`"):
        summarize(path, frame.rename(columns={"c": "z"}), y)


def test_other_rows_or_another_target_do_not_fit(table):
    X, y = table
    path = select(X, y, 2)
    with pytest.raises(InputError, match=r"step 1, `x2`, added 0\.\d+ when the path was found"):
        summarize(path, X[:80], y[:80])
    with pytest.raises(InputError, match="step 1"):
        summarize(path, X, y[::-1])


def test_so_many_columns_reach_so_much(rng):
    X = rng.normal(size=(60, 4))
    y = np.repeat(np.arange(4), 15)
    summary = summarize(select(X, y, 4), X, y)
    assert summary["reachable"] == [1, 2, 3, 3]
    groups = {"pair": [0, 1]}
    path = select(X, y, 2, groups=groups, include=["pair"])
    assert summarize(path, X, y)["reachable"] == [2, 3]
    assert summarize(select(X, y, 2, "mim", bins=3), X, y)["reachable"] is None
