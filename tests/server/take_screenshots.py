"""Take the screenshots in docs/images, from a running playground (``make playground``).

Run: python tests/server/take_screenshots.py http://127.0.0.1:8000/ docs/images
"""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

WIDE, PHONE = {"width": 1180, "height": 900}, {"width": 390, "height": 844}
PICTURES = {
    "playground-labels.png": ("#model=digits", WIDE, "light"),
    "playground-sequences.png": ("#model=strings", WIDE, "light"),
    "playground-dark.png": ("#model=digits", WIDE, "dark"),
    "playground-phone.png": ("#model=digits", PHONE, "light"),
}


def main(address: str, folder: str) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for name, (fragment, viewport, scheme) in PICTURES.items():
            page = browser.new_page(viewport=viewport, color_scheme=scheme, reduced_motion="reduce")
            page.goto(address + fragment)
            page.locator("#sentence").wait_for()
            if viewport is PHONE:
                page.locator("#result").evaluate("result => result.scrollIntoView()")
            page.screenshot(path=Path(folder) / name)
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
