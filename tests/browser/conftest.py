"""A headless Chromium; without it, tests are skipped, except under CI."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait
from tests.needs import missing

FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars")

# All charts with data.
DRAWN = (
    "[...document.querySelectorAll('.chart')]"
    ".every((one) => one.closest('[hidden]') || 'drawn' in one.dataset)"
)


class Browser:
    """A browser without network access that opens pages one after another."""

    def __init__(self, chromium: str, driver: str) -> None:
        options = Options()
        options.binary_location = chromium
        for flag in FLAGS:
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(driver))
        self._command("Network.enable")
        nothing = {"latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
        self._command("Network.emulateNetworkConditions", offline=True, **nothing)

    def _command(self, name: str, **arguments: object) -> None:
        self.driver.execute_cdp_cmd(name, arguments)

    def open(self, page: Path, width: int = 1440, theme: str = "light") -> None:
        """Open a page and wait for its charts."""
        mobile = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 800}
        self._command("Emulation.setDeviceMetricsOverride", **mobile)
        scheme = {"name": "prefers-color-scheme", "value": theme}
        self._command("Emulation.setEmulatedMedia", features=[scheme])
        self.driver.get(page.as_uri())
        self.wait(DRAWN)

    def run(self, script: str, *arguments: object) -> object:
        return self.driver.execute_script(script, *arguments)

    def count(self, selector: str) -> object:
        return self.run("return document.querySelectorAll(arguments[0]).length", selector)

    def wait(self, condition: str) -> None:
        WebDriverWait(self.driver, 30, 0.05).until(lambda _: self.run(f"return {condition}"))

    def texts(self, selector: str) -> list[str]:
        script = "return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent.trim())"
        found = self.run(script, selector)
        assert isinstance(found, list)
        return found

    def choose(self, selector: str, value: str) -> None:
        """Choose or enter a value, as a user does."""
        self.run(
            "const one = document.querySelector(arguments[0]); one.value = arguments[1];"
            "for (const kind of ['input', 'change']) one.dispatchEvent(new Event(kind, { bubbles: true }))",
            selector,
            value,
        )

    def complaints(self) -> list[str]:
        """Return all messages of the console, including warnings."""
        return [entry["message"] for entry in self.driver.get_log("browser")]


def find_browser() -> Browser | None:
    program, driver = shutil.which("chromium"), shutil.which("chromedriver")
    return Browser(program, driver) if program and driver else None


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    browser = find_browser() or missing("chromium and chromedriver are needed (Debian: chromium-driver)")
    yield browser
    browser.driver.quit()
