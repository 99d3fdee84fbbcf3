"""Comparison: records, curves, the best, words, a frame, a dictionary, text and HTML."""

import json
import pickle

import numpy as np
import pytest

from orthoselect import Comparison, compare, report
from orthoselect.errors import InputError
from orthoselect.result import ALL_FEATURES, NO_FEATURES, ComparedMethod, FoldRun, Setting

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


def baseline(name, values):
    n_features = {ALL_FEATURES: 9, NO_FEATURES: 0}[name]
    return [
        FoldRun(name, 1, fold, (), None, {n_features: (1.0, value)})
        for fold, value in enumerate(values, start=1)
    ]


def with_baselines(every, nothing, runs=None, **changes):
    """Return a comparison whose baselines have these validation scores."""
    plain = made(runs, **changes)
    names = (ALL_FEATURES, NO_FEATURES)
    more = [*baseline(ALL_FEATURES, every), *baseline(NO_FEATURES, nothing)]
    baselines = [ComparedMethod(name, f"what {name} are") for name in names]
    return Comparison([*plain.runs, *more], plain.methods, plain.setting, baselines)


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
    # Of size 1, b is above a by 0.1, 0 and 0.2: by 0.1 with a standard error of 0.09. Of size 2, a
    # is above b in one fold only.
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


def scored(**by_size):
    """Return runs of method a with these validation scores, fold by fold."""
    sizes = {int(name[1:]): values for name, values in by_size.items()}
    n_folds = len(next(iter(sizes.values())))
    return [
        FoldRun("a", 1, f + 1, ("x",) * max(sizes), 0.1, {k: (1.0, v[f]) for k, v in sizes.items()})
        for f in range(n_folds)
    ]


def test_the_sentence_names_the_fewest_features_as_good_as_the_best():
    runs = scored(n1=[0.8, 0.8, 0.8], n2=[0.7, 0.9, 1.0])
    comparison = made(runs, sizes=(1, 2))
    assert comparison.recommended["n_features"] == 1
    assert comparison.sentence == (
        "1 feature by a comes within one standard error of the best: mean accuracy 0.800 ± 0.000 "
        "on 3 validation folds, the highest is 0.867 ± 0.139 by a with 2 features (the best of 2 "
        "scores, so optimistic), as far as it was run."
    )


def test_the_sentence_says_if_no_smaller_size_comes_near():
    runs = scored(n1=[0.7, 0.71, 0.7], n2=[0.8, 0.9, 1.0])
    assert made(runs, sizes=(1, 2), scoring="auc").sentence == (
        "The highest mean AUC on 3 validation folds is 0.900 ± 0.091 by a with 2 features (the "
        "best of 2 scores, so optimistic); no smaller number of features comes within one standard "
        "error of it, as far as it was run."
    )


def test_a_single_score_is_not_called_optimistic():
    comparison = made(scored(n1=[0.7, 0.8, 0.7]), sizes=(1,))
    assert "optimistic" not in comparison.sentence
    assert not any("optimistic" in words for words in comparison.findings)


def test_nothing_to_compare_is_said():
    assert EMPTY.sentence == "No method selected a feature, so there is nothing to compare."
    assert EMPTY.findings == []
    assert EMPTY.recommended is EMPTY.highest is None


def test_the_best_is_called_optimistic_where_it_is_shown():
    assert "the best of 8 scores, so optimistic" in made().sentence
    assert any("The highest of 8 scores is optimistic" in words for words in made().findings)


def test_baselines_are_in_records_text_html_frame_and_csv():
    comparison = with_baselines([0.9, 0.9, 1.0], [0.4, 0.4, 0.4])
    assert [(row["method"], row["n_features"]) for row in comparison.baseline_scores] == [
        (NO_FEATURES, 0),
        (ALL_FEATURES, 9),
    ]
    assert {r["method"] for r in comparison.records} >= {ALL_FEATURES, NO_FEATURES}
    for shown in (comparison.to_text(), comparison._repr_html_(), comparison.to_csv()):
        assert ALL_FEATURES in shown
        assert NO_FEATURES in shown
    assert set(comparison.to_frame().method) >= {ALL_FEATURES, NO_FEATURES}
    told = {one["name"]: one for one in comparison.to_dict()["baselines"]}
    assert told[ALL_FEATURES]["validation"] == pytest.approx(2.8 / 3)
    assert told[NO_FEATURES]["summary"] == "what no features are"
    assert told[NO_FEATURES]["difference"] == pytest.approx(0.5)


def test_baselines_do_not_compete():
    comparison = with_baselines([1.0, 1.0, 1.0], [0.4, 0.4, 0.4])
    assert comparison.highest["method"] == "a"
    assert all(row["method"] in SCORES for row in comparison.best)
    assert {point["method"] for point in comparison.curves} == set(SCORES)


def test_the_sentence_says_if_all_features_are_better():
    better = with_baselines([1.0, 1.0, 1.0], [0.4, 0.4, 0.4]).sentence
    assert better.endswith("; all 9 features do better, 1.000 ± 0.000.")
    alike = with_baselines([0.8, 0.9, 1.1], [0.4, 0.4, 0.4]).sentence
    assert "all 9 features" not in alike


def test_the_sentence_says_if_no_method_beats_no_features():
    runs = scored(n1=[0.5, 0.6, 0.4], n2=[0.4, 0.7, 0.5])
    comparison = with_baselines([0.5, 0.5, 0.5], [0.5, 0.5, 0.5], runs, sizes=(1, 2))
    assert comparison.recommended["method"] == NO_FEATURES
    assert comparison.sentence.startswith(
        "No method is clearly better than no features (the most frequent class), mean accuracy "
        "0.500 ± 0.000 on 3 validation folds: the highest is within two standard errors, 0.533"
    )


def test_a_baseline_that_failed_is_told_and_has_no_score():
    plain = made()
    failed = ComparedMethod(ALL_FEATURES, "every feature", "not run: too large.")
    comparison = Comparison(plain.runs, plain.methods, plain.setting, [failed])
    assert comparison.to_dict()["baselines"][0]["validation"] is None
    assert "all features: not run: too large." in comparison.to_text()
    assert comparison.complete


def test_findings_say_what_the_standard_error_is_and_that_it_is_approximate():
    words = " ".join(made(scoring_reason="accuracy, since I say so").findings)
    assert "s √(1/3 + 1/2)" in words
    assert "Folds share training rows, so it is approximate" in words
    assert "Scored by accuracy, since I say so." in words


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
        *["kind", "title", "created", "target", "task", "estimator", "estimator_reason"],
        *["scoring", "scoring_reason", "folds", "repeats", "seed", "sizes", "complete", "methods"],
        *[
            "baselines",
            "curves",
            "best",
            "best_sizes",
            "highest",
            "recommended",
            "selected",
            "records",
        ],
        *["sentence", "findings", "data", "reproduce"],
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


def test_the_best_size_of_each_method_and_the_smallest_as_good_by_hand():
    # a: 2 and 3 have mean 0.9, so 2. b: 3 has one fold only; 1 lies 0.2, 0.2, 0.1 below 2, which
    # is more than its standard error.
    found = made().best_sizes
    assert [(one["method"], one["n_features"], one["smallest"]) for one in found] == [
        ("a", 2, 2),
        ("b", 2, 2),
        (ODD, 1, 1),
    ]
    assert found[0]["validation"] == pytest.approx(0.9)
    assert found[0]["validation_se"] == pytest.approx(0.1 * (1 / 3 + 1 / 2) ** 0.5)
    assert EMPTY.best_sizes == []


def test_other_backends_are_an_error():
    with pytest.raises(InputError, match=r"`backend` should be one of 'pandas', .*; got 'dask'"):
        made().to_frame("dask")


def test_the_text_shows_a_row_for_each_size():
    runs = [run(m, fold) for fold in range(3) for m in ("a", "b")]
    comparison = made(runs, failed=["c"])
    assert repr(comparison) == "\n".join(
        [
            "Comparison: accuracy of lda on validation rows, as far as it was run",
            "  features  best       score ± SE   below the best  as good  others as good",
            "         1  b     0.7000 ± 0.0913  0.2000 ± 0.0000",
            "         2  a     0.9000 ± 0.0913  0.0000 ± 0.0000  yes      b",
            "         3  a     0.9000 ± 0.0000  0.0000 ± 0.0913  yes",
            "  features        a            b",
            "         1  0.6000       0.7000*",
            "         2  0.9000*      0.8667",
            "         3  0.9000*  1.0000 (1)",
            "   best at       2            2",
            "      ± SE  0.0913       0.0527",
            "   as good       2            2",
            "   seconds     1.5          1.5",
            *(f"  {words}" for words in (comparison.sentence, *comparison.findings)),
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
    assert html.count("<tr>") == 4 + 8  # the best of each size; all methods
    assert "nothing to compare" in EMPTY._repr_html_()


def test_plot_draws_a_line_for_each_method_and_baseline():
    figure = pytest.importorskip("matplotlib.figure").Figure()
    comparison = with_baselines([0.9, 0.9, 1.0], [0.5, 0.4, 0.4])
    axes = comparison.plot(figure.subplots())
    words = {text.get_text() for text in axes.texts}
    assert {"a", "b", ALL_FEATURES, NO_FEATURES} <= words
    assert "accuracy" in axes.get_ylabel()


def test_report_writes_the_page_that_the_function_writes(tmp_path):
    pytest.importorskip("matplotlib")
    comparison = compare("iris", None, ["socc"], 2)
    page = comparison.report(tmp_path / "own.html", title="Iris")
    other = report(comparison, None, None, tmp_path / "other.html", title="Iris")
    assert page == tmp_path / "own.html"
    assert page.read_text(encoding="utf-8") == other.read_text(encoding="utf-8")
    told = comparison.report(tmp_path / "own.json")
    assert json.loads(told.read_text(encoding="utf-8")) == comparison.to_dict()
    with pytest.raises(InputError, match=r"\.html"):
        comparison.report(tmp_path / "own.txt")


def test_pickles():
    comparison = made()
    assert pickle.loads(pickle.dumps(comparison)).to_dict() == comparison.to_dict()
