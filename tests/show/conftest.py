"""A browser for the tests of pages, and pages written to disk."""

import pytest

import browsers
import studies
import summaries


@pytest.fixture(scope="session")
def shared_browser():
    driver = browsers.start()
    yield driver
    driver.quit()


@pytest.fixture
def browser(shared_browser):
    """Return the browser as it is when it starts: wide, light, its logs empty."""
    shared_browser.get("about:blank")
    shared_browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
    width = {"width": 1200, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    shared_browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", width)
    for kind in ("browser", "performance"):
        shared_browser.get_log(kind)
    return shared_browser


# What is rendered; a study has a page of its own, and its charts.
SUMMARIES = {
    "two classes": lambda: summaries.selection_of("breast_cancer", 6),
    "nasty names": lambda: summaries.selection_of("wine", 6, summaries.NASTY),
    "numbers": summaries.levels_of_numbers,
    "ten classes": lambda: summaries.selection_of("digits", 5),
    "bare": summaries.bare,
    "what if": summaries.with_what_if,
    "comparison": summaries.comparison,
}


def rendered(name):
    from orthoselect.show.page import render
    from orthoselect_study import pages

    return pages.as_page(*studies.report()) if name == "study" else render(SUMMARIES[name]())


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    """Return a function from a name to the address of its page, each written once."""
    pytest.importorskip("matplotlib")
    folder, written = tmp_path_factory.mktemp("pages"), {}

    def page(name):
        if name not in written:
            file = folder / f"{name.replace(' ', '_')}.html"
            file.write_text(rendered(name), encoding="utf-8")
            written[name] = file.as_uri()
        return written[name]

    return page
