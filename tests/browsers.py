"""A browser for tests: Debian's chromium with its driver, nothing downloaded."""

import os
import shutil

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def start():
    """Return a headless browser; without one, skip, or fail where CI promises one."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    driver = shutil.which("chromedriver")
    if not (browser and driver):
        lacking = "browser" if not browser else "chromedriver"
        if os.environ.get("CI"):
            pytest.fail(f"CI should install a {lacking} before the tests run; there is none")
        pytest.skip(f"no {lacking} on this machine: install chromium and chromium-driver")
    webdriver = pytest.importorskip("selenium.webdriver")
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for flag in ("--headless=new", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(flag)
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.add_argument("--no-sandbox")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=Service(executable_path=driver))
