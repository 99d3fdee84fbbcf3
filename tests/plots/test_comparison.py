"""Curves of a comparison."""

from itertools import pairwise

import pytest

import summaries
from orthoselect.plots import draw_comparison, new_figure
from orthoselect.plots.comparison import _apart

pytest.importorskip("matplotlib")


def test_every_method_is_named_at_its_end():
    comparison = summaries.comparison()
    axes = draw_comparison(comparison["curves"], new_figure(700, 400).subplots())
    names = {text.get_text() for text in axes.texts}
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
    assert not list(axes.texts)


def test_curves_without_scores_are_left_out():
    nothing = {"method": "b", "n_features": 1, "validation": None, "validation_std": None}
    nothing |= {"train": None, "train_std": None}
    one = {**nothing, "method": "a", "validation": 0.5}
    axes = draw_comparison([one, nothing], new_figure(300, 200).subplots())
    assert [text.get_text() for text in axes.texts] == ["a"]


def test_names_are_pushed_apart_as_far_as_needed():
    assert _apart([100.0, 50.0], 15) == [100.0, 50.0]
    close = _apart([50.0, 50.0, 49.0], 15)
    assert [a - b for a, b in pairwise(close)] == pytest.approx([15, 15])
    assert abs(sum(close) / 3 - 149 / 3) < 1e-9
    assert _apart([], 15) == []
