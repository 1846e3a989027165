"""Take the screenshot of a page for the README, or of an element of a page for the documentation.

``python -m tests.browser.picture PAGE PICTURE [SELECTOR]``, with a CSS selector such as "#pairs .charts".
"""

import base64
import sys
from pathlib import Path

from tests.browser.conftest import Browser, find_browser

WIDTH, HEIGHT, SCALE = 1440, 1100, 0.7
# Of the window; text in a picture of a wider one would be small in the documentation.
WIDTH_OF_ELEMENT = 1000
PLACE = (
    "const { x, y, width, height } = document.querySelector(arguments[0]).getBoundingClientRect();"
    "return { x: x + scrollX, y: y + scrollY, width, height }"
)


def main(page: str, picture: str, selector: str | None = None) -> None:
    browser = find_browser() or sys.exit("chromium and chromedriver are needed: tests/browser/install.sh")
    try:
        browser.open(Path(page).resolve(), WIDTH if selector is None else WIDTH_OF_ELEMENT)
        settings = {"format": "png", "clip": _area(browser, selector), "captureBeyondViewport": True}
        shot = browser.driver.execute_cdp_cmd("Page.captureScreenshot", settings)
    finally:
        browser.driver.quit()
    Path(picture).parent.mkdir(parents=True, exist_ok=True)
    Path(picture).write_bytes(base64.b64decode(shot["data"]))


def _area(browser: Browser, selector: str | None) -> object:
    """Return the part of the page that the picture shows."""
    if selector is None:
        return {"x": 0, "y": 0, "width": WIDTH, "height": HEIGHT, "scale": SCALE}
    return {**browser.run(PLACE, selector), "scale": 1}


if __name__ == "__main__":
    main(*sys.argv[1:])
