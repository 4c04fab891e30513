"""A Chromium without a window, for the tests of the viewer's page and for the screenshots of the docs.

Every page is watched: what breaks its policy, what fails in its scripts, what opens a dialog and what sets
``window.hacked`` is written down. In the scripts of tests, ``one`` and ``all`` find elements.
"""

from __future__ import annotations

import base64
import io
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from tests.support.interop import interop

ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--mute-audio",
    "--autoplay-policy=no-user-gesture-required",
)
WATCH = """
window.seen = [];
window.one = (selector) => document.querySelector(selector);
window.all = (selector) => [...document.querySelectorAll(selector)];
document.addEventListener("securitypolicyviolation", (event) =>
    window.seen.push("policy: " + event.violatedDirective + " " + event.blockedURI));
addEventListener("error", (event) => event.message && window.seen.push("error: " + event.message), true);
addEventListener("unhandledrejection", (event) => window.seen.push("rejected: " + event.reason));
for (const name of ["alert", "confirm", "prompt"]) window[name] = () => window.seen.push("dialog: " + name);
"""


class Browser:
    """A page of the browser, and what tests do with it."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver
        self.command("Page.addScriptToEvaluateOnNewDocument", source=WATCH)

    def begin(self) -> None:
        """Nothing is open, and the page has its first size."""
        self.look()
        self.driver.get("about:blank")

    def command(self, name: str, **parameters: Any) -> Any:
        """A command of Chromium's own protocol."""
        return self.driver.execute_cdp_cmd(name, parameters)

    def look(self, width: int = 1280, height: int = 800, colours: str = "light", dense: int = 1) -> None:
        """The size of the page, and whether the system is light or dark."""
        size = {"width": width, "height": height, "deviceScaleFactor": dense, "mobile": False}
        self.command("Emulation.setDeviceMetricsOverride", **size)
        media = [
            {"name": "prefers-color-scheme", "value": colours},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]
        self.command("Emulation.setEmulatedMedia", features=media)

    def open(self, url: str) -> None:
        """Another page, from the beginning, even if only what follows the # differs."""
        self.driver.get("about:blank")
        self.driver.get(url)

    def run(self, script: str, *arguments: Any) -> Any:
        """The value of a script that ends with ``return``."""
        return self.driver.execute_script(script, *arguments)

    def until(self, condition: str, *arguments: Any) -> Any:
        """The value of an expression, when it has become true."""
        from selenium.common.exceptions import TimeoutException  # noqa: PLC0415 - only where it is installed
        from selenium.webdriver.support.ui import WebDriverWait  # noqa: PLC0415

        try:
            wait = WebDriverWait(self.driver, 30, poll_frequency=0.02)
            return wait.until(
                lambda _: self.run(f"try {{ return {condition} }} catch {{ return false }}", *arguments)
            )
        except TimeoutException:
            text = self.run("return document.body.innerText.slice(0, 2000)")
            pytest.fail(f"never true: {condition}\n{self.seen()}\n{text}")

    def texts(self, selector: str) -> list[str]:
        """The texts of all elements that a selector finds."""
        return list(self.run("return all(arguments[0]).map((found) => found.textContent)", selector))

    def click(self, selector: str) -> None:
        """A click with the mouse in the middle of an element."""
        from selenium.common.exceptions import (  # noqa: PLC0415
            ElementClickInterceptedException,
            StaleElementReferenceException,
        )

        for _ in range(20):  # the page may draw the element anew at any time
            self.until("one(arguments[0])", selector)
            with suppress(StaleElementReferenceException, ElementClickInterceptedException):
                found = self.driver.find_element("css selector", selector)
                self.run("arguments[0].scrollIntoView({block: 'nearest', inline: 'nearest'})", found)
                found.click()
                return
        pytest.fail(f"never stands still: {selector}")

    def keys(self, *keys: str) -> None:
        """Keys, pressed one after the other where the focus is."""
        from selenium.webdriver import ActionChains  # noqa: PLC0415

        for key in keys:
            ActionChains(self.driver).send_keys(key).perform()

    def requests(self, part: str) -> list[str]:
        """What the page has asked for so far, of those addresses that hold ``part``."""
        names = self.run("return performance.getEntriesByType('resource').map((one) => one.name)")
        return [name for name in names if part in name]

    def seen(self) -> list[str]:
        """What should not have happened in this page."""
        hacked = self.run("return window.hacked === undefined ? [] : ['hacked: ' + window.hacked]")
        return [*self.run("return window.seen"), *hacked]

    def picture(self) -> Any:
        """The page as it is seen, as an image of Pillow."""
        from PIL import Image  # noqa: PLC0415

        data = self.command("Page.captureScreenshot", format="png")["data"]
        return Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB")


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser with a profile of its own."""
    webdriver = interop("selenium.webdriver")
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        reason = "needs Chromium: apt-get install chromium chromium-driver"
        assert not os.environ.get("PURERECORD_REQUIRE_INTEROP"), reason
        pytest.skip(reason)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = webdriver.ChromeOptions()
        options.binary_location = chromium
        for argument in (*ARGUMENTS, f"--user-data-dir={profile}", "--window-size=1280,800"):
            options.add_argument(argument)
        service = webdriver.chrome.service.Service(driver)
        running = webdriver.Chrome(options=options, service=service)
        try:
            yield Browser(running)
        finally:
            running.quit()
