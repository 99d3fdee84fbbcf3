"""Curves of a comparison."""

from itertools import pairwise

import pytest

import summaries
from orthoselect.plots import draw_comparison, new_figure

pytest.importorskip("matplotlib")


def test_every_method_is_named_at_its_end():
    comparison = summaries.comparison()
    axes = draw_comparison(comparison["curves"], new_figure(700, 400).subplots())
    names = {text.get_text() for text in axes.texts if text.arrow_patch is not None}
    assert names == {method["name"] for method in comparison["methods"]}


def test_each_method_has_a_color_and_a_mark_of_its_own():
    comparison = summaries.comparison()
    axes = draw_comparison(comparison["curves"], new_figure(700, 400).subplots(), with_names=False)
    marks = [line for line in axes.get_lines() if line.get_marker() not in ("", "None", None)]
    assert len(marks) == len(comparison["methods"])
    looks = {(line.get_color(), line.get_marker()) for line in marks}
    assert len(looks) == len(comparison["methods"])
    assert not [text for text in axes.texts if text.arrow_patch is not None]


def test_whiskers_are_one_standard_error_and_none_covers_another():
    comparison = summaries.comparison()
    axes = draw_comparison(comparison["curves"], new_figure(700, 400).subplots(), with_names=False)
    whiskers = [segment for group in axes.collections for segment in group.get_segments()]
    assert len(whiskers) == len(comparison["curves"]) - n_below(axes)
    places = sorted(segment[0, 0] for segment in whiskers)
    assert min(b - a for a, b in pairwise(places)) > 0.1
    first = comparison["curves"][0]
    assert whiskers[0][1, 1] == pytest.approx(first["validation"] + first["validation_se"])
    assert whiskers[0][0, 1] == pytest.approx(first["validation"] - first["validation_se"])


def test_there_are_no_bands():
    comparison = summaries.comparison()
    axes = draw_comparison(comparison["curves"], new_figure(700, 400).subplots())
    assert all(type(group).__name__ == "LineCollection" for group in axes.collections)


def n_below(axes):
    return sum(text.get_text().startswith("\N{DOWNWARDS ARROW}") for text in axes.texts)


def line_of(name, n_features, score):
    return {"method": name, "n_features": n_features, "validation": score, "validation_se": 0.01}


def test_baselines_are_lines_across_with_their_names():
    curves = curves_of({"a": [0.8, 0.85, 0.9]})
    lines = [line_of("all features", 9, 0.92), line_of("no features", 0, 0.75)]
    axes = draw_comparison(curves, new_figure(600, 400).subplots(), baselines=lines)
    across = [line for line in axes.get_lines() if len(set(line.get_ydata())) == 1]
    assert {line.get_ydata()[0] for line in across} == {0.92, 0.75}
    assert {"a", "all features", "no features"} == {text.get_text() for text in axes.texts}


def test_a_baseline_far_below_is_written_at_the_foot():
    curves = curves_of({"a": [0.8, 0.85, 0.9]})
    lines = [line_of("no features", 0, 0.1)]
    axes = draw_comparison(curves, new_figure(600, 400).subplots(), baselines=lines)
    assert axes.get_ylim()[0] > 0.6
    assert "\N{DOWNWARDS ARROW} no features: 0.1" in {text.get_text() for text in axes.texts}


def test_curves_without_scores_are_left_out():
    nothing = {"method": "b", "n_features": 1, "validation": None, "validation_se": None}
    one = {**nothing, "method": "a", "validation": 0.5}
    axes = draw_comparison([one, nothing], new_figure(300, 200).subplots())
    assert [text.get_text() for text in axes.texts] == ["a"]


def curves_of(scores):
    return [
        {"method": method, "n_features": size, "validation": score, "validation_se": 0.0}
        for method, own in scores.items()
        for size, score in enumerate(own, start=1)
    ]


def test_a_score_far_below_all_others_is_written_instead_of_drawn():
    scores = {"a": [0.9, 0.92, 0.93, 0.94, 0.95, 0.95], "b": [0.1, 0.91, 0.92, 0.93, 0.94, 0.94]}
    axes = draw_comparison(curves_of(scores), new_figure(600, 400).subplots(), with_names=False)
    assert axes.get_ylim()[0] > 0.8
    assert [text.get_text() for text in axes.texts] == ["\N{DOWNWARDS ARROW} b with 1: 0.1"]


def test_ordinary_scores_are_all_in_the_scale():
    scores = {"a": [0.5, 0.6, 0.7, 0.8, 0.85, 0.9], "b": [0.4, 0.6, 0.65, 0.7, 0.8, 0.85]}
    axes = draw_comparison(curves_of(scores), new_figure(600, 400).subplots(), with_names=False)
    assert axes.get_ylim()[0] <= 0.4
    assert not list(axes.texts)
