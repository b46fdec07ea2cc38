"""Fixtures of the browser tests: Debian's Chromium, the page with a stand-in for the server, and the real server.

The page's files are read from the source tree; only the tests of test_server.py need a built program, which the
environment variable THUMBS names.
"""

import contextlib
import http.server
import itertools
import json
import os
import re
import struct
import subprocess
import sys
import threading
import time
import zlib
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from photo_service import PhotoService
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "Sources/CGalleryPage/Page"
STAND_IN = Path(__file__).with_name("stand-in.js").read_text()
ORIGIN = "http://gallery.invalid"
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
# Real time: what a page may take on a busy machine: it asks again for what has not come after 20 s, more than once.
TIMEOUT = 120_000
NUMBERS = itertools.count()
# Whether tests go through all of their cases, as before a release.
ALL_CASES = "THUMBNAILER_ALL_CASES" in os.environ
# Fixtures that take seconds to make: the tests of each run in one process.
SHARED = ["many"]


def png(width, height, color, taken=None):
    """A picture of one colour, with the time at which it was taken in its EXIF data."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + bytes(color) * width) * height
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    exif = b""
    if taken:
        # A directory that leads to one with DateTimeOriginal.
        first = struct.pack(">HHHIII", 1, 0x8769, 4, 1, 26, 0)
        second = struct.pack(">HHHIII", 1, 0x9003, 2, 20, 44, 0)
        exif = chunk(b"eXIf", b"MM\0*" + struct.pack(">I", 8) + first + second + taken.encode() + b"\0")
    data = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + exif + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + data


PICTURE = png(60, 40, (40, 110, 160))


def numbered_picture(number):
    """A picture whose colour and width tell its number."""
    return png(300 + number % 30, 200, (number * 8 % 256, 120, 255 - number * 8 % 256))


class Files(http.server.ThreadingHTTPServer):
    """Serves the page's files and its pictures at ORIGIN. Routes of Playwright's would do so too, through three processes
    for each of the fifty files. A cookie names the gallery of a request: a header that Playwright adds is missing from
    one request in thousands."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), FileHandler)
        self.galleries = {}
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        # A tab that is closed leaves its requests.
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class FileHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body in one packet.
    wbufsize = -1

    def log_message(self, *_):
        pass

    def do_GET(self):
        path = urlsplit(self.path).path
        if path.startswith("/picture/"):
            self.send_picture(self.server.galleries[self.headers["Cookie"]], path)
            return
        file = PAGE / ("index.html" if path == "/" else path.removeprefix("/page/"))
        if file.is_file():
            self.send(200, TYPES[file.suffix], file.read_bytes(), {"Content-Security-Policy": POLICY})
        else:
            self.send(404, "text/plain", b"")

    def send_picture(self, gallery, path):
        is_first = path not in gallery.pictures
        gallery.pictures.append(path)
        key = path.split("/")[2]
        if is_first and gallery.held:
            gallery.held.wait(30)
        if path.endswith("/details"):
            self.send(200, "application/json", json.dumps(gallery.details).encode())
        elif "+" in path and key in gallery.whole:
            self.send(204, "text/plain", b"")
        elif key in gallery.refusals:
            status, code, headers = gallery.refusals[key]
            body = json.dumps({"error": code, "message": "VipsJpeg: a message for programmers (maximumPixels)"})
            self.send(status, "application/json", body.encode(), headers)
        else:
            # Windows of an original stay in the browser's cache.
            self.send(200, "image/png", PICTURE, {"Cache-Control": "max-age=600"} if "+" in path else {})

    def send(self, status, kind, body, headers=()):
        self.send_response(status)
        for name, value in {
            "Content-Type": kind, "Content-Length": str(len(body)), "Cache-Control": "no-store", **dict(headers)
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


class Gallery:
    """The page with a stand-in for its server, in a tab of its own."""

    def __init__(self, context):
        self.context = context
        self.page = context.new_page()
        self.page.set_default_timeout(TIMEOUT)
        self.errors = []
        self.pictures = []
        self.refusals = {}
        # The keys of pictures that cannot be cut.
        self.whole = set()
        # An event that the first response for each picture waits for.
        self.held = None
        self.details = {}
        self.session = None
        self.touched = None
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", self._hear)

    def _hear(self, message):
        if "Content Security Policy" in message.text:
            self.errors.append(message.text)

    def open(self, address="/", patience=1, **setup):
        """Opens the page, whose timers take `patience` times as long: for what must happen before one of them ends,
        however slow this machine is, or after many."""
        self.page.add_init_script(f"window.standInSetup = {json.dumps(setup)};")
        if patience != 1:
            self.page.add_init_script(
                f"""const timer = setTimeout;
                window.setTimeout = (action, pause = 0, ...rest) => timer(action, pause * {patience}, ...rest);"""
            )
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
        """Waits until an expression of the page, or a function of an argument, is true; Playwright's own way needs `eval`,
        which is forbidden."""
        is_function = re.match(r"(\w+|\(\w*\)) *=>", expression)
        is_true = self.page.evaluate(
            """async argument => {
              const end = performance.now() + TIMEOUT;
              while (!await (TEST)) {
                if (performance.now() > end) return false;
                await new Promise(requestAnimationFrame);
              }
              return true;
            }""".replace("TEST", f"({expression})(argument)" if is_function else expression).replace("TIMEOUT", str(TIMEOUT)),
            argument,
        )
        assert is_true, f"not true in time: {expression}"

    def set(self, **change):
        self.page.evaluate("change => standIn.set(change)", change)

    def revise(self, **change):
        self.page.evaluate("change => standIn.revise(change)", change)

    def show_tab(self, is_shown):
        show_tab(self.page, is_shown)

    def sent(self, verb):
        """The bodies of the requests with this verb."""
        return [call["body"] for call in self.page.evaluate("standIn.sent") if call["verb"] == verb]

    def touch(self, kind, *points):
        """Touches the screen with fingers at these points: `touchStart`, `touchMove`, `touchEnd`.

        20 ms after the touch before, by what the events say.
        """
        # A touch ends in the session in which it began.
        self.session = self.session or self.context.new_cdp_session(self.page)
        points = [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(points)]
        # Real time: never before what happened already: Chromium ends a tab whose time goes back.
        self.touched = self.touched + 0.02 if self.touched else time.time()
        self.session.send(
            "Input.dispatchTouchEvent", {"type": kind, "touchPoints": points, "timestamp": self.touched}
        )

    def wait_for_picture(self, form):
        """Waits until a form of a picture was requested."""
        poll(self.page, lambda: any(path.endswith(form) for path in self.pictures), f"{form} is requested")

    @property
    def search(self):
        return self.page.evaluate("location.search")

    def wait_for_pictures(self):
        # What was done just before is drawn in the next frame: until then the pictures of before are there.
        self.page.evaluate("new Promise(requestAnimationFrame)")
        self.wait("document.querySelector('[data-state=shown]') && !document.querySelector('[data-state=waiting]')")


def poll(page, is_true, what, pause=20):
    """Asks again until a condition of the test's own is true, or what a page may take is over; meanwhile what happens in
    the page reaches its handlers."""
    # Real time: the page is another process, whose events come while this one waits.
    deadline = time.monotonic() + TIMEOUT / 1000
    while not is_true():
        assert time.monotonic() < deadline, f"not in time: {what}"
        page.wait_for_timeout(pause)


def show_tab(page, is_shown):
    """Puts a tab out of sight or back: what Chromium tells a page when another tab is chosen."""
    page.evaluate(
        """isShown => {
          Object.defineProperty(document, 'hidden', { configurable: true, get: () => !isShown });
          document.dispatchEvent(new Event('visibilitychange'));
        }""",
        is_shown,
    )


def pytest_collection_modifyitems(items):
    for item in items:
        for name in SHARED:
            if name in item.fixturenames:
                item.add_marker(pytest.mark.xdist_group(name))


@pytest.fixture(scope="session")
def files():
    files = Files()
    yield files
    files.shutdown()
    files.server_close()


@pytest.fixture(scope="session")
def browser(files):
    mapped = f"--host-resolver-rules=MAP {urlsplit(ORIGIN).hostname} 127.0.0.1:{files.server_port}"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium-headless-shell", args=["--no-sandbox", "--disable-gpu", mapped]
        )
        yield browser
        browser.close()


@pytest.fixture
def gallery(browser, files):
    """Makes galleries: `gallery(width=390, …)`; every one must have passed without an error of its script."""
    opened = []

    def make(width=1280, height=800, **options):
        name = str(next(NUMBERS))
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        context.add_cookies([{"name": "gallery", "value": name, "url": ORIGIN}])
        opened.append(Gallery(context))
        files.galleries[f"gallery={name}"] = opened[-1]
        return opened[-1]

    yield make
    for each in opened:
        each.context.close()
        assert each.errors == []


@contextlib.contextmanager
def serving(*arguments, environment, port=0):
    """Runs `thumbs serve`, and yields its address."""
    program = os.environ.get("THUMBS")
    if not program:
        pytest.skip("THUMBS names no program")
    command = [program, "serve", *map(str, arguments), "--port", str(port)]
    environment = {**os.environ, **environment}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        try:
            address = server.stdout.readline().strip()
            assert address.startswith("http://127.0.0.1:"), "the server told no address"
            yield address.rstrip("/")
        finally:
            server.terminate()


@pytest.fixture(scope="session")
def served(tmp_path_factory):
    """The address of a server that shows a folder of thirty pictures."""
    folder = tmp_path_factory.mktemp("pictures")
    for number in range(30):
        file = folder / f"lake-{number:02}.png"
        file.write_bytes(numbered_picture(number))
        # One time for all: in the order of their names, however long writing them takes.
        os.utime(file, (1_700_000_000, 1_700_000_000))
    with serving(folder, environment={"XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache"))}) as address:
        yield address


@pytest.fixture
def service():
    """A photo service of 600 photos."""
    service = PhotoService(numbered_picture, 600)
    yield service
    service.stop()


@pytest.fixture
def searched(service, tmp_path):
    """The address of a server that searches the photo service."""
    arguments = ["--provider", f"unsplash:{service.base}", "--allow-private-networks"]
    environment = {"XDG_CACHE_HOME": str(tmp_path), "UNSPLASH_ACCESS_KEY": "key"}
    with serving(*arguments, environment=environment) as address:
        yield address


@pytest.fixture
def tab(browser):
    """A tab; every one must have ended without an error of its script."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.set_default_timeout(TIMEOUT)
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    context.close()
    assert errors == []
