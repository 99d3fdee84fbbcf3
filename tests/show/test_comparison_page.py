"""The page of a comparison: baselines, words about its numbers, and tables that fit the screen."""

import pytest

import summaries

pytest.importorskip("matplotlib")

from orthoselect.methods import METHODS
from orthoselect.show.page import render
from outlines import Outline

MANY = ("socc", "err", "mser", "obcc", "mim", "jmi", "cmim", "mrmr_difference", "mrmr_quotient")


@pytest.fixture(scope="module")
def page():
    return render(summaries.comparison())


def test_baselines_are_in_the_tables_and_beside_the_curves(page):
    words = Outline(page).words
    assert words.count("all features") >= 3
    assert words.count("no features") >= 3
    assert "what all features are" in words.lower()


def test_the_page_says_what_is_optimistic_and_what_whiskers_are(page):
    words = Outline(page).words
    assert "The highest of many scores is optimistic." in words
    assert "The best of several methods is optimistic" in words
    assert "whiskers are one standard error" in words


def test_a_baseline_that_failed_is_told_with_the_reason():
    comparison = summaries.comparison()
    lost = dict.fromkeys(("validation", "validation_se", "train", "difference", "difference_se"))
    comparison["baselines"][0] |= {**lost, "failed": "not run: it is <too> large."}
    words = Outline(render(comparison)).words
    assert "not run: it is <too> large." in words


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("size", ["few", "many"])
def test_no_table_of_scores_is_wider_than_the_screen(browser, tmp_path, size, width, scheme):
    many = {"methods": MANY, "sizes": tuple(range(1, 21))} if size == "many" else {}
    assert set(MANY) <= set(METHODS)
    file = tmp_path / "comparison.html"
    file.write_text(render(summaries.comparison(**many)), encoding="utf-8")
    screen = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": features})
    browser.get(file.as_uri())
    wide = """
    return [...document.querySelectorAll('#best .region, #scores .region, #methods .region')]
      .filter(region => region.scrollWidth > region.clientWidth + 1)
      .map(region => region.getAttribute('aria-label'))"""
    assert browser.execute_script(wide) == []
    page = "return document.documentElement.scrollWidth"
    assert browser.execute_script(page) <= width
