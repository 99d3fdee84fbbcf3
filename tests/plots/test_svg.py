"""Figures as SVG inside a page: colors, ids, text."""

import re
import sys
import xml.etree.ElementTree as ET

import pytest

import summaries
from orthoselect.errors import InputError
from orthoselect.plots import (
    PALETTE,
    draw_correlations,
    draw_distribution,
    draw_path,
    draw_separation,
    new_figure,
    to_svg,
)

pytest.importorskip("matplotlib")
STEPS = [
    {"name": name, "gain": 0.1, "total": 0.1 * (place + 1)}
    for place, name in enumerate(summaries.NASTY)
]


def path_figure(steps=STEPS, ceiling=2.0):
    figure = new_figure(500, 400)
    draw_path(steps, ceiling, figure.subplots())
    return figure


def texts(svg):
    return ["".join(one.itertext()) for one in ET.fromstring(svg).iter("text")]


def ids(svg):
    return re.findall(r'\bid="([^"]+)"', svg)


def test_names_are_text_whatever_they_hold():
    svg = to_svg(path_figure(), 'a <path> & "more"')
    found = texts(svg)
    assert "<script>alert(1)</script>" in found
    assert '"><img src=x onerror=alert(1)>' in found
    assert "$x_1$ {{ 7 * 7 }}" in found
    assert "two lines and a tab" in found
    assert "体重 (kg) \N{GRINNING FACE}" in found
    assert "(no name)" in found
    assert "<script" not in svg
    assert "<img" not in svg
    assert ET.fromstring(svg).attrib["aria-label"] == 'a <path> & "more"'
    assert ET.fromstring(svg).attrib["role"] == "img"


def test_long_names_lose_their_middle():
    [long] = [text for text in texts(to_svg(path_figure(), "x")) if text.startswith("long")]
    assert len(long) <= 32
    assert "…" in long
    assert long.endswith("end")


def test_colors_are_variables_of_the_page_and_text_is_left_alone():
    """One name spells a color of the palette inside a style."""
    svg = to_svg(path_figure([{"name": "fill: #0f5ea8", "gain": 1.0, "total": 1.0}]), "x")
    assert "fill: #0f5ea8" in texts(svg)
    styles = re.findall(r'style="([^"]*)"', svg)
    bare = [style for style in styles if re.search(r"(fill|stroke): #", style)]
    assert bare == []
    assert f"var(--chart-accent, {PALETTE['accent']})" in svg


def test_every_role_has_a_color_of_its_own():
    assert len(set(PALETTE.values())) == len(PALETTE)


def test_two_figures_share_no_id_and_every_reference_is_met():
    first = to_svg(path_figure(), "x")
    second = to_svg(path_figure(ceiling=3.0), "x")
    named = to_svg(path_figure(), "x", prefix="mine")
    assert ids(first)
    assert not set(ids(first)) & set(ids(second))
    assert all(one.startswith("mine-") for one in ids(named))
    for svg in (first, second, named):
        referred = re.findall(r"url\(#([^)]+)\)", svg) + re.findall(r'href="#([^"]+)"', svg)
        assert set(referred) == set(ids(svg))
        assert len(ids(svg)) == len(set(ids(svg)))


def test_the_same_figure_gives_the_same_text():
    assert to_svg(path_figure(), "x") == to_svg(path_figure(), "x")


def test_nothing_in_it_reaches_the_rest_of_the_page():
    svg = to_svg(path_figure(), "x")
    assert "<style" not in svg
    assert "<metadata" not in svg
    assert "http" not in svg


def test_settings_of_the_user_are_neither_used_nor_changed():
    import matplotlib as mpl

    plain = to_svg(path_figure(), "x")
    with mpl.rc_context({"svg.fonttype": "path", "savefig.facecolor": "red"}):
        before = dict(mpl.rcParams)
        assert to_svg(path_figure(), "x") == plain
        assert dict(mpl.rcParams) == before


def test_pages_leave_pyplot_alone(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)  # an import would raise
    assert to_svg(path_figure(), "x").startswith("<svg")


def test_missing_matplotlib_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"pip install 'orthoselect\[report\]'"):
        new_figure(10, 10)


def test_thousands_of_points_are_thinned_and_stay_small():
    points = [[float(n % 83), float(n % 67), n % 3] for n in range(20_000)]
    axes = [{"label": "one", "canonical_correlation": 0.9}, {"label": "two"}]
    figure = new_figure(600, 400)
    separation = {"kind": "classes", "classes": ["a", "b", "c"], "axes": axes, "points": points}
    draw_separation(separation, figure.subplots(), with_legend=True)
    svg = to_svg(figure, "x")
    assert 1200 < svg.count("<use") <= 1500 + 10
    assert len(svg) < 120_000
    assert {"a", "b", "c"} <= set(texts(svg))


def test_class_names_that_begin_with_an_underscore_are_in_the_legend():
    points = [[0.0, 0.0, 0], [1.0, 1.0, 1]]
    axes = [{"label": "one"}, {"label": "two"}]
    figure = new_figure(600, 400)
    separation = {"kind": "classes", "classes": ["_a", "$b$"], "axes": axes, "points": points}
    draw_separation(separation, figure.subplots(), with_legend=True)
    assert texts(to_svg(figure, "x")).count("_a") == 2  # at its center and in the legend
    assert texts(to_svg(figure, "x")).count("$b$") == 2


def test_rare_levels_are_counted_together():
    levels = [f"level {n}" for n in range(40)]
    by_class = [{"class": "a", "n": 820, "counts": list(range(1, 41))}]
    figure = new_figure(300, 200)
    axes = figure.subplots()
    one = {"name": "x", "kind": "categorical", "levels": levels, "by_class": by_class}
    draw_distribution(one, axes)
    names = [label.get_text() for label in axes.get_xticklabels()]
    assert names == [f"level {n}" for n in range(31, 40)] + ["31 more"]


def test_unknown_distribution_is_refused():
    with pytest.raises(InputError, match="got 'cubic'"):
        draw_distribution({"name": "x", "kind": "cubic"}, new_figure(100, 100).subplots())


def test_correlations_without_a_sign_show_none():
    figure = new_figure(200, 200)
    matrix = [[1.0, -0.5, None], [-0.5, 1.0, -0.001], [None, -0.001, 1.0]]
    signed = [[True, False, True], [False, True, True], [True, True, True]]
    part = {"names": ["a", "b", "c"], "matrix": matrix, "signed": signed}
    draw_correlations(part, figure.subplots())
    found = texts(to_svg(figure, "x"))
    assert "0.50" in found
    assert "0.00" in found
    assert "\N{EN DASH}" in found
    assert not any("\N{MINUS SIGN}" in text for text in found)
