"""The page in a real browser: alone, readable in every setting, and quick to use."""

import base64
import json
import os
import re

import pytest

import browsers

if not os.environ.get("CI"):  # there a missing library is an error, like a missing browser
    pytest.importorskip("selenium", reason="the browser tests need selenium: it is not installed")
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys


def test_a_missing_browser_skips_here_and_fails_in_ci(monkeypatch):
    monkeypatch.setattr(browsers.shutil, "which", lambda name: None)
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="no browser on this machine"):
        browsers.start()
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="should install a browser"):
        browsers.start()


NAMES = ["two classes", "nasty names", "numbers", "ten classes", "bare"]
NAMES += ["what if", "comparison", "study"]
ROWS = "table[data-controls] tbody tr:not([hidden])"


def emulate(browser, *, width=1200, scheme="light", media=""):
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": [feature]})
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def column(browser, number):
    script = (
        f"return [...document.querySelectorAll('{ROWS}')].map(r => r.cells[{number}].innerText)"
    )
    return [text.strip() for text in browser.execute_script(script)]


def numbers(texts):
    """The numbers in cells; half of it for one that is only bounded, as in <0.0001."""
    minus = [text.replace("\N{MINUS SIGN}", "-").rstrip("%") for text in texts]
    return [
        float(text.lstrip("<>")) / (2 if text[0] in "<>" else 1)
        for text in minus
        if text != "\N{EN DASH}"
    ]


@pytest.mark.parametrize("name", NAMES)
def test_page_opens_from_disk_without_errors_or_requests(browser, pages, name):
    browser.get(pages(name))
    assert browser.find_element(By.TAG_NAME, "h1").text
    assert [entry["message"] for entry in browser.get_log("browser")] == []
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]
    assert {url for url in asked if not url.startswith("data:")} == {pages(name)}


@pytest.mark.parametrize("width", [1200, 360])
@pytest.mark.parametrize("name", [name for name in NAMES if name != "bare"])
def test_charts_are_seen(browser, pages, name, width):
    emulate(browser, width=width)
    browser.get(pages(name))
    script = """
    return [...document.querySelectorAll('svg[role=img]')].map(svg => svg.getBoundingClientRect())
      .filter(box => box.width).map(box => [box.width, box.height])"""
    boxes = browser.execute_script(script)
    assert len(boxes) >= (1 if name == "comparison" else 4)
    assert all(wide > 80 and high > 60 for wide, high in boxes)


@pytest.mark.parametrize("name", ["two classes", "comparison", "study"])
def test_text_of_charts_is_readable_on_a_phone(browser, pages, name):
    emulate(browser, width=360)
    browser.get(pages(name))
    script = """
    const size = text => parseFloat(getComputedStyle(text).fontSize);
    const scale = svg => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
    return [...document.querySelectorAll('svg[role=img]')].filter(svg => svg.clientWidth).flatMap(
      svg => [...svg.querySelectorAll('text')].map(text => size(text) * scale(svg)))"""
    sizes = browser.execute_script(script)
    assert sizes
    assert min(sizes) >= 8.5


def test_features_sort_by_a_click_both_ways(browser, pages):
    browser.get(pages("two classes"))
    heads = browser.find_elements(By.CSS_SELECTOR, "table[data-controls] thead th")
    relevance = numbers(column(browser, 2))
    assert relevance == sorted(relevance, reverse=True)
    assert heads[2].get_attribute("aria-sort") == "descending"
    heads[3].find_element(By.TAG_NAME, "button").click()
    assert heads[2].get_attribute("aria-sort") == "none"
    assert heads[3].get_attribute("aria-sort") == "descending"
    gains = column(browser, 3)
    assert numbers(gains) == sorted(numbers(gains), reverse=True)
    assert gains[-1] == "\N{EN DASH}"
    heads[3].find_element(By.TAG_NAME, "button").click()
    assert heads[3].get_attribute("aria-sort") == "ascending"
    gains = column(browser, 3)
    assert numbers(gains) == sorted(numbers(gains))
    assert gains[-1] == "\N{EN DASH}"  # what has no number stays last
    heads[1].find_element(By.TAG_NAME, "button").click()
    verdicts = column(browser, 1)
    assert verdicts[:6] == [f"selected {step}" for step in range(1, 7)]


def test_features_sort_by_the_keyboard(browser, pages):
    browser.get(pages("two classes"))
    box = browser.find_element(By.CSS_SELECTOR, "#feature-controls select")
    box.send_keys(Keys.TAB)  # to the region of the table
    browser.switch_to.active_element.send_keys(Keys.TAB)  # to its first header
    focused = browser.switch_to.active_element
    assert focused.text == "Feature"
    outline = "return getComputedStyle(document.activeElement).outlineStyle"
    assert browser.execute_script(outline) == "solid"
    focused.send_keys(Keys.ENTER)
    names = column(browser, 0)
    assert names == sorted(names, key=str.lower)
    browser.switch_to.active_element.send_keys(Keys.SPACE)
    assert column(browser, 0) == names[::-1]


def test_features_are_filtered_by_name_and_verdict(browser, pages):
    browser.get(pages("two classes"))
    browser.find_element(By.CSS_SELECTOR, "#feature-controls input").send_keys("WORST")
    names = column(browser, 0)
    assert len(names) == 10
    assert all(name.startswith("worst") for name in names)
    browser.find_element(By.CSS_SELECTOR, "#feature-controls select").send_keys("selected")
    assert 0 < len(column(browser, 0)) < 10
    assert all(verdict.startswith("selected") for verdict in column(browser, 1))
    shown = browser.find_element(By.CSS_SELECTOR, "#feature-controls output").text
    assert shown == f"{len(column(browser, 0))} of 30 shown"


def test_page_is_whole_without_a_script(browser, pages):
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(pages("two classes"))
        rows = browser.find_elements(By.CSS_SELECTOR, "table[data-controls] tbody tr")
        assert len([row for row in rows if row.is_displayed()]) == 30
        assert not browser.find_element(By.ID, "feature-controls").is_displayed()
        assert not browser.find_elements(By.CSS_SELECTOR, "button")
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


# Every text with its color and the backgrounds behind it, the nearest last.
COLORS = """
const seen = [];
for (const element of document.querySelectorAll('body *')) {
  const own = [...element.childNodes].some(n => n.nodeType === 3 && n.data.trim());
  const box = element.getBoundingClientRect();
  if (!own || !box.width || element.closest('.skip, .visually-hidden')) continue;
  const style = getComputedStyle(element);
  const inside = element.closest('svg');
  const behind = [];
  for (let e = inside ?? element; e; e = e.parentElement) {
    behind.unshift(getComputedStyle(e).backgroundColor);
  }
  seen.push([element.textContent.trim().slice(0, 40), inside ? style.fill : style.color, behind]);
}
return seen;
"""


def rgba(color):
    parts = [float(part) for part in re.findall(r"[\d.]+", color)]
    return [*parts, 1.0][:4]


def luminance(color):
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
        for c in (v / 255 for v in color)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(front, behind):
    back = [255.0, 255.0, 255.0]
    for color in behind:
        *tint, alpha = rgba(color)
        back = [alpha * a + (1 - alpha) * b for a, b in zip(tint, back)]
    light, dark = sorted([luminance(rgba(front)[:3]), luminance(back)], reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "name", ["two classes", "numbers", "bare", "what if", "comparison", "study"]
)
def test_every_text_has_contrast_in_both_schemes(browser, pages, name, scheme):
    emulate(browser, scheme=scheme)
    browser.get(pages(name))
    found = browser.execute_script(COLORS)
    assert len(found) > 40
    poor = [(text, front) for text, front, behind in found if contrast(front, behind) < 4.5]
    assert poor == []


def test_dark_scheme_turns_the_page_and_its_charts_dark(browser, pages):
    looks = {}
    for scheme in ("light", "dark"):
        emulate(browser, scheme=scheme)
        browser.get(pages("ten classes"))
        script = """
        return [getComputedStyle(document.body).backgroundColor,
                getComputedStyle(document.querySelector('#path svg text')).fill,
                getComputedStyle(document.querySelector('#separation svg[role=img] use')).fill]"""
        looks[scheme] = browser.execute_script(script)
    page, text, point = zip(looks["light"], looks["dark"])
    assert luminance(rgba(page[0])[:3]) > 0.9
    assert luminance(rgba(page[1])[:3]) < 0.02
    assert luminance(rgba(text[0])[:3]) < luminance(rgba(text[1])[:3])
    assert point[0] != point[1]


# Boxes of the text that is seen, cut to the scrolling region that holds it.
TEXT_BOXES = """
const boxes = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const node = walker.currentNode, element = node.parentElement;
  const folded = 'details:not([open]) > :not(summary)';
  const unseen = `script, style, select, .skip, .visually-hidden, thead, ${folded}`;
  if (!node.data.trim() || element.closest(unseen)) continue;
  const region = element.closest('.region, pre')?.getBoundingClientRect();
  const range = document.createRange();
  range.selectNodeContents(node);
  for (const box of range.getClientRects()) {
    const cut = [box.left, box.top, box.right, box.bottom];
    if (region) {
      cut[0] = Math.max(cut[0], region.left); cut[1] = Math.max(cut[1], region.top);
      cut[2] = Math.min(cut[2], region.right); cut[3] = Math.min(cut[3], region.bottom);
    }
    const seen = cut[2] - cut[0] > 1 && cut[3] - cut[1] > 1;
    if (seen) boxes.push([node.data.trim().slice(0, 30), ...cut]);
  }
}
return boxes;
"""


def overlapping(boxes, slack=3.0):
    """Pairs of boxes that share more than lines of text touching each other do."""
    boxes = sorted(boxes, key=lambda box: box[2])
    found = []
    for place, (text, left, top, right, bottom) in enumerate(boxes):
        for other, a, b, c, d in boxes[place + 1 :]:
            if b > bottom:
                break
            if min(right, c) - max(left, a) > slack and min(bottom, d) - max(top, b) > 2 * slack:
                found.append((text, other))
    return found


def test_overlap_check_sees_an_overlap():
    assert overlapping([["a", 0, 0, 50, 20], ["b", 40, 5, 90, 25]]) == [("a", "b")]
    assert overlapping([["a", 0, 0, 50, 20], ["b", 0, 18, 50, 38]]) == []


@pytest.mark.parametrize("width", [360, 768, 1200])
@pytest.mark.parametrize("name", NAMES)
def test_nothing_overlaps_and_the_page_does_not_scroll_sideways(browser, pages, name, width):
    emulate(browser, width=width)
    browser.get(pages(name))
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    boxes = browser.execute_script(TEXT_BOXES)
    assert len(boxes) > 40
    assert overlapping(boxes) == []
    assert [box for box in boxes if box[1] < 0 or box[3] > width] == []


@pytest.mark.parametrize("name", NAMES)
def test_page_does_not_scroll_sideways_at_390(browser, pages, name):
    emulate(browser, width=390)
    browser.get(pages(name))
    browser.execute_script("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 390


def test_tables_that_scroll_say_so_on_a_phone_only(browser, pages):
    script = """
    return [...document.querySelectorAll('.region')].filter(r => r.checkVisibility()).map(
      r => [r.scrollWidth > r.clientWidth + 1, r.nextElementSibling.checkVisibility(),
            r.nextElementSibling.textContent])"""
    for width in (390, 1280):
        emulate(browser, width=width)
        browser.get(pages("two classes"))
        wait = "requestAnimationFrame(() => requestAnimationFrame(arguments[0]))"
        browser.execute_async_script(wait)
        seen = browser.execute_script(script)
        assert all(told.startswith("Slide the table") for _, _, told in seen)
        assert [scrolls for scrolls, _, _ in seen] == [hint for _, hint, _ in seen]
        assert any(scrolls for scrolls, _, _ in seen) == (width == 390)


def test_code_is_copied_by_a_click(browser, pages):
    address = pages("two classes")
    browser.get(address)
    blocks = browser.find_elements(By.CSS_SELECTOR, "#use > .snippet")
    titles = ["The chosen columns", "A pipeline of scikit-learn", "The command"]
    assert [block.find_element(By.TAG_NAME, "h3").text for block in blocks] == titles
    browser.execute_script(
        "window.copied = []; document.addEventListener('copy',"
        " () => window.copied.push(String(getSelection())));"
        "Object.defineProperty(navigator, 'clipboard', {value: {writeText: text => {"
        " window.copied.push(text); return Promise.resolve(); }}, configurable: true})"
    )
    for block in blocks:
        block.find_element(By.TAG_NAME, "button").click()
        code = block.find_element(By.TAG_NAME, "pre").get_attribute("textContent")
        assert browser.execute_script("return window.copied.at(-1)") == code
    assert [block.find_element(By.CSS_SELECTOR, ".copy").text for block in blocks] == ["Copied"] * 3
    # Where a page may not write to the clipboard.
    browser.execute_script("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    blocks[0].find_element(By.TAG_NAME, "button").click()
    copied = browser.execute_script("return window.copied.at(-1)")
    assert copied.strip() == blocks[0].find_element(By.TAG_NAME, "pre").text.strip()


def test_wide_screens_keep_the_list_of_sections_in_sight(browser, pages):
    browser.get(pages("two classes"))
    browser.execute_script("document.getElementById('separation').scrollIntoView()")
    browser.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    nav = browser.find_element(By.TAG_NAME, "nav")
    top = browser.execute_script("return arguments[0].getBoundingClientRect().top", nav)
    assert 0 <= top < 100
    current = nav.find_element(By.CSS_SELECTOR, "[aria-current]")
    assert current.get_attribute("href").endswith("#separation")


def test_skip_link_is_the_first_stop_and_leads_to_the_answer(browser, pages):
    browser.get(pages("two classes"))
    browser.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
    link = browser.switch_to.active_element
    assert link.text == "Skip to the answer"
    link.send_keys(Keys.ENTER)
    assert browser.switch_to.active_element.get_attribute("id") == "main"


def test_names_run_nothing(browser, pages):
    browser.get(pages("nasty names"))
    from selenium.common.exceptions import NoAlertPresentException

    with pytest.raises(NoAlertPresentException):
        _ = browser.switch_to.alert
    assert not browser.find_elements(By.TAG_NAME, "img")
    assert len(browser.find_elements(By.TAG_NAME, "script")) == 1
    text = browser.find_element(By.TAG_NAME, "main").text
    assert "<script>alert(1)</script>" in text
    assert '"><img src=x onerror=alert(1)>' in text
    drawn = browser.execute_script(
        "return [...document.querySelectorAll('svg text')].map(one => one.textContent)"
    )
    assert any("alert(1)</script>" in one for one in drawn)


def test_paper_shows_all_rows_and_no_controls(browser, pages):
    browser.get(pages("two classes"))
    browser.find_element(By.CSS_SELECTOR, "#feature-controls input").send_keys("worst")
    emulate(browser, width=690, scheme="dark", media="print")
    rows = browser.find_elements(By.CSS_SELECTOR, "table[data-controls] tbody tr")
    assert len([row for row in rows if row.is_displayed()]) == 30
    for hidden in ("nav", "#feature-controls"):
        assert not browser.find_element(By.CSS_SELECTOR, hidden).is_displayed()
    region = browser.find_element(By.CSS_SELECTOR, "#others .region")
    assert browser.execute_script(
        "return arguments[0].clientHeight >= arguments[0].scrollHeight", region
    )
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 690
    ink = browser.execute_script("return getComputedStyle(document.querySelector('h2')).color")
    assert luminance(rgba(ink)[:3]) < 0.05  # dark ink, though the screen is dark


@pytest.mark.parametrize("name", ["two classes", "comparison"])
def test_page_prints_to_several_sheets(browser, pages, name):
    browser.get(pages(name))
    printed = browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    pdf = base64.b64decode(printed["data"])
    assert pdf.startswith(b"%PDF")
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 20
