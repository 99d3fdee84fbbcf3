"""The page of a stability: its figures, what they suppose, and tables that fit the screen."""

import json

import pytest

from orthoselect import report, stability
from orthoselect.errors import InputError

pytest.importorskip("matplotlib")

from orthoselect.show.page import SECTIONS, render
from outlines import Outline


@pytest.fixture(scope="module")
def found():
    return stability("breast_cancer", None, 4, n_pairs=10)


def test_the_page_has_all_sections_and_says_what_it_supposes(found):
    page = render(found.to_dict())
    outline = Outline(page)
    ids = {attributes.get("id") for _, attributes in outline.all("section")}
    assert set(SECTIONS["stability"]) == ids
    assert found.sentence in outline.words
    for words in found.assumptions:
        assert words in outline.words
    assert "worst radius" in outline.words
    assert outline.words.count("%") > 30


def test_a_page_without_substitutes_has_no_section_of_them():
    found = stability(
        [[0, 1], [1, 0], [2, 1], [3, 0], [4, 1], [5, 0]], [0, 0, 0, 1, 1, 1], n_pairs=2
    )
    outline = Outline(render(found.to_dict()))
    assert "substitutes" not in {attributes.get("id") for _, attributes in outline.all("section")}


def test_json_is_the_result(found, tmp_path):
    found.report(tmp_path / "s.json", title="Cells")
    told = json.loads((tmp_path / "s.json").read_text(encoding="utf-8"))
    assert told == {**found.to_dict(), "title": "Cells"}
    with pytest.raises(InputError, match=r"should end in \.html"):
        found.report(tmp_path / "s.txt")
    with pytest.raises(InputError, match="comparison or a stability"):
        report(found, None, None, tmp_path / "s.json", sample_weight=[1])


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_wider_than_the_screen(browser, tmp_path, found, width):
    file = found.report(tmp_path / "s.html")
    screen = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    browser.get(file.as_uri())
    wide = """
    return [...document.querySelectorAll('.region')]
      .filter(region => region.scrollWidth > region.clientWidth + 1)
      .map(region => region.getAttribute('aria-label'))"""
    assert browser.execute_script(wide) == []
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
