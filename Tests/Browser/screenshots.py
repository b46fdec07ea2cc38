"""Makes the screenshots of docs/gallery.md: the gallery of TestImages in Chromium, in both colour schemes, on a large screen
and a phone's. `Scripts/screenshots` runs it."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from conftest import ROOT, TIMEOUT, serving
from playwright.sync_api import sync_playwright

SETTLED = """() => document.querySelector('.cell[data-state=shown]') &&
  !document.querySelector('.cell[data-state=waiting], .cell[data-state=empty]') &&
  [...document.images].every((image) => image.complete) &&
  document.getAnimations().every((animation) => animation.playState !== 'running')"""
LARGE = "#viewer .slide:not([inert])[data-state=shown]"


def grid(page):
    page.wait_for_selector("#albums img")


def enlarge(page, name="lake-oeschinen"):
    page.fill("#query", name)
    page.wait_for_function("() => document.querySelector('#count').textContent === '1 picture'")
    page.click(".cell")
    page.wait_for_selector(LARGE)


def panel(page):
    enlarge(page, "kayak")
    page.keyboard.press("i")
    page.wait_for_selector(".panel dt:has-text('Size')")


def select(page):
    page.click("#albums a:has-text('alps')")
    page.wait_for_function("() => document.querySelector('#count').textContent === '5 pictures'")
    page.wait_for_function(SETTLED)
    page.click("#select")
    for place in (0, 2, 3):
        page.click(f".cell >> nth={place}")


SCENES = [
    ("grid", 1280, 800, "light", grid), ("viewer", 1280, 800, "dark", enlarge), ("panel", 390, 844, "light", panel),
    ("selection", 390, 844, "dark", select),
]


def main(target):
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium-headless-shell", args=["--no-sandbox"])
        with serving(ROOT / "TestImages/gallery", environment={"XDG_CACHE_HOME": folder}) as address:
            for name, width, height, scheme, show in SCENES:
                screen = {"width": width, "height": height}
                context = browser.new_context(viewport=screen, color_scheme=scheme, reduced_motion="reduce")
                page = context.new_page()
                page.set_default_timeout(TIMEOUT)
                page.goto(address)
                page.wait_for_function(SETTLED)
                show(page)
                page.wait_for_function(SETTLED)
                page.screenshot(path=f"{folder}/gallery-{name}.png")
                context.close()
        browser.close()
        pictures = sorted(str(path) for path in Path(folder).glob("gallery-*.png"))
        form = ["--size", "1280", "--format", "webp", "--quality", "64", "--name", "{name}.{ext}"]
        subprocess.run([os.environ["THUMBS"], "convert", *pictures, "--output", f"{folder}/out", *form, "-q"], check=True)
        for path in Path(folder, "out").glob("*.webp"):
            Path(target, path.name).write_bytes(path.read_bytes())
            print(f"{path.name}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main(sys.argv[1])
