"""Comparison: records, curves, the best, words, a frame, a dictionary, text and HTML."""

import json
import pickle

import numpy as np
import pytest

from orthoselect import Comparison, compare
from orthoselect.errors import InputError
from orthoselect.result import ComparedMethod, FoldRun, Setting

ODD = "<script>alert(1)</script>"
SCORES = {
    # Validation scores by method and size, fold by fold.
    "a": {1: [0.5, 0.7, 0.6], 2: [0.8, 0.9, 1.0], 3: [0.9, 0.9, 0.9]},
    "b": {1: [0.6, 0.7, 0.8], 2: [0.8, 0.9, 0.9], 3: [1.0]},
    ODD: {1: [0.1, 0.2, 0.3], 2: [0.1, 0.2, 0.3], 3: [0.1, 0.2, 0.3]},
}


def run(method, fold):
    scores = {size: (1.0, v[fold]) for size, v in SCORES[method].items() if fold < len(v)}
    names = ("x", ODD, "z") if fold else (ODD, "x", "y")
    return FoldRun(method, 1, fold + 1, names[: max(scores)], 0.5 + fold, scores)


def setting(**changes):
    options = {
        **{"title": "table", "target": "y", "task": "classification", "estimator": "lda"},
        **{"scoring": "accuracy", "folds": 3, "repeats": 1, "seed": 7, "sizes": (1, 2, 3)},
        **{"created": "2022-03-01T00:00:00+00:00", "data": {"rows": 9}, "reproduce": {"seed": 7}},
    }
    return Setting(**{**options, **changes})


def made(runs=None, failed=(), **changes):
    runs = [run(m, fold) for fold in (2, 0, 1) for m in SCORES] if runs is None else runs
    methods = [ComparedMethod(name, f"what {name} is") for name in SCORES]
    methods += [ComparedMethod(name, "it", f"{name} did not <b>work</b>.") for name in failed]
    return Comparison(runs, methods, setting(**changes))


EMPTY = made([])


def test_records_are_in_order_whatever_order_they_came_in():
    records = made().records
    keys = [(r["method"], r["repeat"], r["fold"], r["n_features"]) for r in records]
    assert keys == sorted(keys, key=lambda key: (list(SCORES).index(key[0]), *key[1:]))
    assert records[0] == {
        **{"method": "a", "repeat": 1, "fold": 1, "n_features": 1, "train": 1.0},
        **{"validation": 0.5, "seconds": 0.5, "features": [ODD]},
    }
    assert len(records) == 25


def test_curves_are_means_and_deviations_over_folds():
    for point in made().curves:
        values = SCORES[point["method"]][point["n_features"]]
        assert point["validation"] == pytest.approx(np.mean(values))
        assert point["folds"] == len(values)
        if len(values) == 1:
            assert point["validation_std"] is None
        else:
            assert point["validation_std"] == pytest.approx(np.std(values, ddof=1))
        assert point["train"] == 1.0
    assert len(made().curves) == 9


def test_the_best_has_the_highest_mean_of_as_many_folds():
    best = made().best
    assert [(row["n_features"], row["method"]) for row in best] == [(1, "b"), (2, "a"), (3, "a")]
    assert best[0]["validation"] == pytest.approx(0.7)
    # The standard error of the first is 0.058, that of the second 0.058, that of the third 0.
    assert [row["within"] for row in best] == [[], ["b"], []]


def test_methods_that_differ_by_rounding_are_equal():
    runs = [
        FoldRun(m, 1, fold, ("x",), 0.1, {1: (1.0, 0.9 + 1e-12 * (m == "b"))})
        for m in ("a", "b")
        for fold in (1, 2, 3)
    ]
    comparison = made(runs, sizes=(1,))
    assert comparison.best[0]["method"] == "a"
    assert comparison.best[0]["within"] == ["b"]


def test_selected_counts_folds():
    selected = made().selected
    assert [entry["method"] for entry in selected] == list(SCORES)
    assert selected[0]["features"] == [
        {"name": "x", "folds": 3},
        {"name": ODD, "folds": 3},
        {"name": "z", "folds": 2},
        {"name": "y", "folds": 1},
    ]


def test_seconds_are_the_mean_over_folds():
    assert made().seconds("a") == 1.5
    assert EMPTY.seconds("a") is None


def test_the_sentence_names_the_best_and_the_fewest_that_come_near():
    assert made().sentence == (
        "a with 2 features has the highest mean accuracy on 3 validation folds, 0.900 ± 0.100."
    )
    runs = [
        FoldRun("a", 1, f, ("x", "y"), 0.1, {1: (1.0, 0.8), 2: (1.0, v)})
        for f, v in enumerate((0.7, 0.9, 1.0), start=1)
    ]
    assert made(runs[:2], sizes=(1, 2), scoring="auc").sentence == (
        "a with 1 feature has the highest mean AUC on 2 validation folds, 0.800 ± 0.000, "
        "as far as it was run."
    )
    assert made(runs, sizes=(1, 2)).sentence == (
        "a with 2 features has the highest mean accuracy on 3 validation folds, 0.867 ± 0.153; "
        "1 feature by a comes within one standard error of it, 0.800, as far as it was run."
    )
    assert EMPTY.sentence == "No method selected a feature, so there is nothing to compare."


def test_complete_means_all_folds_of_all_that_did_not_fail():
    assert made().complete
    assert made(failed=["c"]).complete
    assert not made([run("a", 0)]).complete
    assert not made(repeats=2).complete


@pytest.mark.parametrize("comparison", [made(), made(failed=["c"]), EMPTY])
def test_the_dictionary_is_plain(comparison):
    plain = comparison.to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert list(plain) == [
        *["kind", "title", "created", "target", "task", "estimator", "scoring", "folds"],
        *["repeats", "seed", "sizes", "complete", "methods", "curves", "best", "selected"],
        *["records", "sentence", "data", "reproduce"],
    ]
    assert plain["kind"] == "comparison"
    assert plain["sizes"] == [1, 2, 3]
    assert plain["records"] == comparison.records
    assert [m["name"] for m in plain["methods"]] == [m.name for m in comparison.methods]


def test_the_dictionary_of_a_real_comparison_is_plain(rng):
    X = rng.normal(size=(40, 3))
    plain = compare(X, X[:, 0] + 0.1 * rng.normal(size=40), ["socc"], 2).to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["data"]["response"].keys() == {"min", "max", "mean", "std"}
    assert plain["data"]["classes"] is None
    versions = plain["reproduce"]["versions"]
    assert {"orthoselect", "python", "numpy", "scikit-learn"} <= versions.keys()
    plain = compare(X, X[:, 0] > 0, ["socc"], 2).to_dict()
    assert [c["name"] for c in plain["data"]["classes"]] == ["False", "True"]
    assert sum(c["count"] for c in plain["data"]["classes"]) == plain["data"]["rows"] == 40
    assert plain["data"]["response"] is None


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("comparison", [made(), EMPTY])
def test_frames_of_every_library_are_tidy(backend, comparison):
    library = pytest.importorskip(backend)
    frame = comparison.to_frame(backend)
    assert isinstance(frame, library.Table if backend == "pyarrow" else library.DataFrame)
    names = getattr(frame, "column_names", None) or list(frame.columns)
    expected = ["method", "repeat", "fold", "n_features", "train", "validation", "seconds"]
    assert list(names) == expected
    for name in expected:
        values = frame[name].to_pylist() if backend == "pyarrow" else frame[name].to_list()
        assert values == [record[name] for record in comparison.records]


def test_other_backends_are_an_error():
    with pytest.raises(InputError, match=r"`backend` should be one of 'pandas', .*; got 'dask'"):
        made().to_frame("dask")


def test_the_text_shows_a_row_for_each_size():
    runs = [run(m, fold) for fold in range(3) for m in ("a", "b")]
    assert repr(made(runs, failed=["c"])) == "\n".join(
        [
            "Comparison: accuracy of lda on validation rows, as far as it was run",
            "  features  best            score  as good, within one standard error",
            "         1  b     0.7000 ± 0.1000",
            "         2  a     0.9000 ± 0.1000  b",
            "         3  a     0.9000 ± 0.0000",
            "  features        a            b",
            "         1  0.6000       0.7000*",
            "         2  0.9000*      0.8667",
            "         3  0.9000*  1.0000 (1)",
            "   seconds     1.5          1.5",
            "  a with 2 features has the highest mean accuracy on 3 validation folds, "
            "0.900 ± 0.100, as far as it was run.",
            "  c: c did not <b>work</b>.",
        ]
    )
    assert "nothing to compare" in repr(EMPTY)


def test_html_is_escaped():
    html = made(failed=["c"])._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "did not &lt;b&gt;work&lt;/b&gt;" in html
    assert html.count("<b>") == 3  # the best of each size
    assert html.count("<tr>") == 5
    assert "nothing to compare" in EMPTY._repr_html_()


def test_plot_draws_a_line_for_each_method():
    figure = pytest.importorskip("matplotlib.figure").Figure()
    axes = made([run(m, fold) for fold in range(3) for m in ("a", "b")]).plot(figure.subplots())
    assert {"a", "b"} <= {text.get_text() for text in axes.texts}
    assert "accuracy" in axes.get_ylabel()


def test_pickles():
    comparison = made()
    assert pickle.loads(pickle.dumps(comparison)).to_dict() == comparison.to_dict()
