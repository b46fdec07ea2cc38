"""Fixtures of the browser tests: Debian's Chromium, the page with a stand-in for the server, and the real server.

The page's files are read from the source tree; only tests with the `served` fixture need a built program, which is
taken from the environment variable THUMBS, or a server that already runs, from THUMBS_SERVE_URL.
"""

import json
import os
import re
import struct
import subprocess
import time
import zlib
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "Sources/CGalleryPage/Page"
STAND_IN = Path(__file__).with_name("stand-in.js").read_text()
ORIGIN = "http://gallery.invalid"
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
TIMEOUT = 10_000


def png(width, height, color):
    """A picture of one colour."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + bytes(color) * width) * height
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


PICTURE = png(60, 40, (40, 110, 160))


class Gallery:
    """The page with a stand-in for its server, in a tab of its own."""

    def __init__(self, context):
        self.context = context
        self.page = context.new_page()
        self.page.set_default_timeout(TIMEOUT)
        self.errors = []
        self.pictures = []
        self.refusals = {}
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", self._hear)
        context.route(ORIGIN + "/**", self._serve)

    def _hear(self, message):
        if "Content Security Policy" in message.text:
            self.errors.append(message.text)

    def _serve(self, route):
        path = urlsplit(route.request.url).path
        if path.startswith("/picture/"):
            self.pictures.append(path)
            key = path.split("/")[2]
            if key in self.refusals:
                status, headers = self.refusals[key]
                body = json.dumps({"error": "refused", "message": "The picture could not be fetched."})
                route.fulfill(status=status, headers=headers, body=body)
            else:
                route.fulfill(status=200, content_type="image/png", body=PICTURE)
            return
        file = PAGE / ("index.html" if path == "/" else path.removeprefix("/page/"))
        headers = {"Content-Type": TYPES[file.suffix], "Content-Security-Policy": POLICY}
        route.fulfill(status=200, headers=headers, body=file.read_bytes())

    def open(self, address="/", **setup):
        self.page.add_init_script(f"window.standInSetup = {json.dumps(setup)};")
        self.page.add_init_script(STAND_IN)
        self.page.add_init_script(
            """window.shifts = 0;
            new PerformanceObserver((list) => {
              for (const entry of list.getEntries()) window.shifts += entry.value;
            }).observe({ type: 'layout-shift', buffered: true });"""
        )
        self.page.goto(ORIGIN + address)
        self.page.wait_for_selector("html[data-kind]")
        return self

    def wait(self, expression, argument=None):
        """Waits until an expression of the page is true; Playwright's own way needs `eval`, which is forbidden."""
        deadline = time.monotonic() + TIMEOUT / 1000
        while not self.page.evaluate(expression, argument):
            assert time.monotonic() < deadline, f"not true in time: {expression}"
            self.page.evaluate("new Promise(requestAnimationFrame)")

    def set(self, **change):
        self.page.evaluate("change => standIn.set(change)", change)

    def revise(self, **change):
        self.page.evaluate("change => standIn.revise(change)", change)

    def sent(self, verb):
        """The bodies of the requests with this verb."""
        return [call["body"] for call in self.page.evaluate("standIn.sent") if call["verb"] == verb]

    @property
    def search(self):
        return self.page.evaluate("location.search")

    def wait_for_pictures(self):
        self.wait("document.querySelector('[data-state=shown]') && !document.querySelector('[data-state=waiting]')")


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def gallery(browser):
    """Makes galleries: `gallery(width=390, …)`; every one must have passed without an error of its script."""
    opened = []

    def make(width=1280, height=800, **options):
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        opened.append(Gallery(context))
        return opened[-1]

    yield make
    for each in opened:
        each.context.close()
        assert each.errors == []


@pytest.fixture(scope="session")
def served(tmp_path_factory):
    """The address of a server that shows a folder of thirty pictures."""
    if os.environ.get("THUMBS_SERVE_URL"):
        yield os.environ["THUMBS_SERVE_URL"].rstrip("/")
        return
    program = os.environ.get("THUMBS")
    if not program:
        pytest.skip("THUMBS names no program")
    folder = tmp_path_factory.mktemp("pictures")
    for number in range(30):
        picture = png(300 + number, 200, (number * 8, 120, 255 - number * 8))
        (folder / f"lake-{number:02}.png").write_bytes(picture)
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache"))}
    command = [program, "serve", str(folder), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        for line in server.stdout:
            found = re.search(r"http://127\.0\.0\.1:\d+", line)
            if found:
                yield found[0]
                break
        else:
            pytest.fail("the server told no address")
        server.terminate()
