"""Names beside the ends of curves."""

from itertools import pairwise

import pytest

from orthoselect.plots import new_figure
from orthoselect.plots.style import apart, name_ends

pytest.importorskip("matplotlib")


def test_names_are_pushed_apart_as_far_as_needed():
    assert apart([100.0, 50.0], 15) == [100.0, 50.0]
    close = apart([50.0, 50.0, 49.0], 15)
    assert [a - b for a, b in pairwise(close)] == pytest.approx([15, 15])
    assert abs(sum(close) / 3 - 149 / 3) < 1e-9
    assert apart([], 15) == []


@pytest.mark.parametrize("score", [0.0, 1.0])
def test_names_of_curves_that_end_together_stay_beside_the_axes(score):
    axes = new_figure(300, 200).subplots()
    axes.set_ylim(0, 1)
    name_ends([(1, score, f"curve {n}", "#0f5ea8", "-") for n in range(8)], axes, 150)
    heights = [150 * text.xy[1] + text.xyann[1] for text in axes.texts]
    assert len(heights) == 8
    assert min(heights) >= 0
    assert max(heights) <= 150
