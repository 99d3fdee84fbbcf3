"""Curves of a comparison."""

import pytest

import summaries
from orthoselect.plots import draw_comparison, new_figure

pytest.importorskip("matplotlib")


def test_every_method_is_named_at_its_end():
    comparison = summaries.comparison()
    axes = draw_comparison(comparison["curves"], new_figure(700, 400).subplots())
    names = {text.get_text() for text in axes.texts if text.arrow_patch is not None}
    assert names == {method["name"] for method in comparison["methods"]}


def test_each_method_has_a_solid_and_a_dashed_line_of_one_color():
    comparison = summaries.comparison()
    axes = draw_comparison(comparison["curves"], new_figure(700, 400).subplots(), with_names=False)
    lines = axes.get_lines()
    assert len(lines) == 2 * len(comparison["methods"])
    for training, validation in zip(lines[::2], lines[1::2]):
        assert training.get_color() == validation.get_color()
        assert training.get_linestyle() != validation.get_linestyle()
    looks = {(line.get_color(), line.get_marker()) for line in lines[1::2]}
    assert len(looks) == len(comparison["methods"])
    assert not [text for text in axes.texts if text.arrow_patch is not None]


def test_curves_without_scores_are_left_out():
    nothing = {"method": "b", "n_features": 1, "validation": None, "validation_std": None}
    nothing |= {"train": None, "train_std": None}
    one = {**nothing, "method": "a", "validation": 0.5}
    axes = draw_comparison([one, nothing], new_figure(300, 200).subplots())
    assert [text.get_text() for text in axes.texts] == ["a"]


def curves_of(scores):
    return [
        {"method": method, "n_features": size, "validation": score, "train": score}
        | {"validation_std": 0.0, "train_std": 0.0}
        for method, own in scores.items()
        for size, score in enumerate(own, start=1)
    ]


def test_a_score_far_below_all_others_is_written_instead_of_drawn():
    scores = {"a": [0.9, 0.92, 0.93, 0.94, 0.95, 0.95], "b": [0.1, 0.91, 0.92, 0.93, 0.94, 0.94]}
    axes = draw_comparison(curves_of(scores), new_figure(600, 400).subplots(), with_names=False)
    assert axes.get_ylim()[0] > 0.8
    assert [text.get_text() for text in axes.texts] == ["\N{DOWNWARDS ARROW} b 0.1"]


def test_ordinary_scores_are_all_in_the_scale():
    scores = {"a": [0.5, 0.6, 0.7, 0.8, 0.85, 0.9], "b": [0.4, 0.6, 0.65, 0.7, 0.8, 0.85]}
    axes = draw_comparison(curves_of(scores), new_figure(600, 400).subplots(), with_names=False)
    assert axes.get_ylim()[0] <= 0.4
    assert not list(axes.texts)
