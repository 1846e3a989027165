"""Take the screenshot for the README: ``python -m tests.browser.picture PAGE PICTURE``."""

import base64
import sys
from pathlib import Path

from tests.browser.conftest import find_browser

WIDTH, HEIGHT, SCALE = 1440, 1100, 0.7


def main(page: str, picture: str) -> None:
    browser = find_browser() or sys.exit("chromium and chromedriver are needed: tests/browser/install.sh")
    try:
        browser.open(Path(page).resolve(), WIDTH)
        area = {"x": 0, "y": 0, "width": WIDTH, "height": HEIGHT, "scale": SCALE}
        settings = {"format": "png", "clip": area, "captureBeyondViewport": True}
        shot = browser.driver.execute_cdp_cmd("Page.captureScreenshot", settings)
    finally:
        browser.driver.quit()
    Path(picture).parent.mkdir(parents=True, exist_ok=True)
    Path(picture).write_bytes(base64.b64decode(shot["data"]))


if __name__ == "__main__":
    main(*sys.argv[1:])
