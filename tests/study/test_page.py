"""The page of a study as text: whole, escaped, alone; and its figures."""

import json
import re

import numpy as np
import pytest

import studies
from orthoselect.plots import PALETTE
from orthoselect_study import figures
from orthoselect_study.methods import METHODS
from orthoselect_study.pages import as_page as render
from orthoselect_study.reporting import how_to_reproduce
from outlines import Outline

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def made():
    """Return a report and its charts."""
    return studies.report()


@pytest.fixture(scope="module")
def outline(made):
    return Outline(render(*made))


def test_sections_are_the_answer_the_experiments_the_ranks_and_the_commands(made, outline):
    told, _ = made
    expected = ["answer", *(f"experiment-{part['name']}" for part in told["experiments"])]
    expected += ["overall", "reproduce"]
    assert [attributes["id"] for _, attributes in outline.all("section")] == expected
    links = [a["href"] for _, a in outline.all("a") if a["href"].startswith("#")]
    assert links[1:] == [f"#{place}" for place in expected]


def test_all_that_is_told_is_on_the_page(made, outline):
    told, _ = made
    assert told["sentence"] in outline.words
    for part in [*told["experiments"], told["overall"]]:
        assert all(text.replace("`", "") in outline.words for text in part["findings"][:1])
        assert all(figure["title"] in outline.words for figure in part["figures"])
        for table in part["tables"]:
            assert table["title"] in outline.words
            assert table["note"] in outline.words
            assert f"{table['rows'][0][1]}" in outline.words
    assert "bars Dexter MIM: it broke" in outline.words
    assert "11 of 12 done, 3 min of work" in outline.words
    assert "30 s, and 2 min by LASSO and Net" in outline.words
    assert "1 missing" in outline.words
    for run in told["reproduce"]["runs"]:
        assert " ".join(run["code"].split()) in outline.words
    assert "orthoselect study report --output results" in outline.words


def test_every_figure_is_there_twice_and_in_colors_of_the_page(made):
    told, drawn = made
    page = render(told, drawn)
    assert page.count('role="img"') == 2 * len(drawn) == 10
    for svg in re.findall(r'<svg viewBox.*?role="img".*?</svg>', page, re.S):
        assert "var(--chart-" in svg
        bare = re.findall(r"(?:fill|stroke): (#\w+)", svg)
        assert bare == []


def test_page_is_whole_and_loads_nothing(outline):
    found = [attributes["id"] for _, attributes in outline.tags if "id" in attributes]
    assert len(found) == len(set(found))
    assert not outline.all("img", "iframe", "object", "embed", "base", "form")
    assert all("src" not in attributes for _, attributes in outline.tags)
    assert len(outline.all("script")) == 1
    assert all("scope" in attributes for _, attributes in outline.all("th"))
    assert len(outline.all("caption")) == len(outline.all("table")) == 9


def test_page_of_a_study_is_small(made):
    assert len(render(*made).encode()) < 1_500_000


def test_every_text_is_escaped(made):
    attack = "<script>alert(1)</script>"
    bars = figures.draw_bars("bars", attack, {attack: {attack: 1.0}}, attack, best=max)
    drawn = {**made[1], "bars": bars.chart()}
    page = render(studies.told(f"{attack} \x07\u202e"), drawn)
    assert page.count("<script>") == 1
    assert page.count("</script>") == 1
    assert "\x07" not in page
    assert "\u202e" not in page
    assert page.count("&lt;script&gt;alert") > 40


def test_report_is_plain_and_gives_the_same_page_after_json(made):
    told, drawn = made
    assert render(json.loads(json.dumps(told, allow_nan=False)), drawn) == render(told, drawn)


def test_numbers_stand_right_and_words_left(outline):
    heads = [a for _, a in outline.all("th") if a["scope"] == "col"]
    shown = ["num" in attributes.get("class", "") for attributes in heads[:4]]
    assert shown == [False, True, True, True]  # method, score with error, number, difference


def test_every_method_has_a_look_of_its_own():
    looks = [figures.look(name) for name in METHODS]
    assert len({(one["color"], str(one["linestyle"])) for one in looks}) == len(METHODS)
    assert {one["color"] for one in looks} <= set(PALETTE.values())
    assert figures.look("of somebody else")["color"] in PALETTE.values()


def test_pixels_lie_where_they_were_selected():
    from matplotlib.collections import PatchCollection

    canvas = figures.draw_maps("maps", "Maps", {"OLS": [0, 30, 783]}, (28, 28)).on_canvas()
    (squares,) = [c for c in canvas.axes[0].collections if isinstance(c, PatchCollection)]
    corners = [path.vertices.min(axis=0).tolist() for path in squares.get_paths()]
    assert corners == [[0, 0], [2, 1], [27, 27]]
    depths = squares.get_facecolors()[:, 3]
    assert np.all(np.diff(depths) < 0)


def gains():
    steps = {"a step": {"one": 1.0, "two": 0.5}}
    return figures.draw_bars("gains", "Gains", steps, "gain", best=max)


def test_files_are_on_white_in_plain_colors(made, tmp_path):
    saved = gains().save(tmp_path)
    assert saved == {"name": "gains", "title": "Gains", "png": "gains.png", "svg": "gains.svg"}
    svg = (tmp_path / "gains.svg").read_text()
    assert svg.startswith("<svg")
    assert "var(" not in svg
    assert f'fill="{PALETTE["paper"]}"' in svg
    assert 'xmlns="http://www.w3.org/2000/svg"' in svg


def test_settings_of_the_user_change_no_figure():
    import matplotlib as mpl

    before = gains().chart()
    with mpl.rc_context({"font.size": 30, "axes.grid": True, "lines.linewidth": 9}):
        assert gains().chart() == before


def test_experiments_with_the_same_settings_share_a_command():
    rng = np.random.default_rng(0)
    parts = [
        studies.part("iris", None, rng, seed=3),
        studies.part("uci", None, rng, seed=3, jobs=2),
        studies.part("mnist", None, rng, seed=3, data=None, rows=500),
    ]
    first, second = how_to_reproduce(parts, "results")["runs"]
    assert first["experiments"] == ["iris", "uci"]
    assert first["code"].startswith("orthoselect study run iris uci ")
    assert "--seed 3" in first["code"]
    assert second["experiments"] == ["mnist"]
    assert "rows=500" in second["code"]  # the command has no such option
