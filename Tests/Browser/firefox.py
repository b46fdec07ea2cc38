"""The gallery in Firefox, driven through its own WebDriver BiDi: opens the grid, scrolls, searches, enlarges, zooms, and
prints what it saw. Ends with 1 if that is not what it should be. `Scripts/test-firefox` runs it."""

import base64
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from conftest import ROOT, serving
from websockets.sync.client import connect

TIMEOUT = 120
SHOWN = "document.querySelectorAll('.cell[data-state=shown]').length"
SETTLED = "!document.querySelector('.cell[data-state=waiting], .cell[data-state=empty]')"
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "ArrowRight": "\ue014", "End": "\ue010", "Home": "\ue011"}


class Firefox:
    """A Firefox without a window, and its only tab."""

    def __init__(self, process, socket):
        self.process = process
        self.socket = socket
        self.count = 0
        self.errors = []
        self.command("session.new", capabilities={})
        self.command("session.subscribe", events=["log.entryAdded"])
        self.tab = self.command("browsingContext.getTree")["contexts"][0]["context"]

    def command(self, method, **parameters):
        self.count += 1
        self.socket.send(json.dumps({"id": self.count, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.recv(timeout=TIMEOUT))
            if message.get("method") == "log.entryAdded" and message["params"]["level"] == "error":
                self.errors.append(message["params"]["text"])
            if message.get("id") != self.count:
                continue
            assert message["type"] == "success", f"{method}: {message}"
            return message["result"]

    def open(self, address):
        self.command("browsingContext.navigate", context=self.tab, url=address, wait="complete")

    def size(self, width, height):
        viewport = {"width": width, "height": height}
        self.command("browsingContext.setViewport", context=self.tab, viewport=viewport)

    def evaluate(self, expression):
        text = f"Promise.resolve({expression}).then((value) => JSON.stringify(value ?? null))"
        target = {"context": self.tab}
        result = self.command("script.evaluate", expression=text, target=target, awaitPromise=True)
        assert result["type"] == "success", result
        return json.loads(result["result"]["value"])

    def wait(self, expression):
        """Waits until an expression of the page is true."""
        # Real time: the browser is another process.
        end = time.monotonic() + TIMEOUT
        while not self.evaluate(f"Boolean({expression})"):
            assert time.monotonic() < end, f"not true in time: {expression}"
            self.evaluate("new Promise(requestAnimationFrame)")

    def act(self, kind, *actions, **parameters):
        source = {"type": kind, "id": kind, "actions": list(actions), **parameters}
        self.command("input.performActions", context=self.tab, actions=[source])

    def press(self, *keys):
        for key in keys:
            value = KEYS.get(key, key)
            self.act("key", {"type": "keyDown", "value": value}, {"type": "keyUp", "value": value})

    def click(self, selector, count=1):
        """Clicks the middle of an element."""
        middle = f"(({{ x, y, width, height }}) => [x + width / 2, y + height / 2])({self.box(selector)})"
        x, y = (round(value) for value in self.evaluate(middle))
        clicks = [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}] * count
        self.act("pointer", {"type": "pointerMove", "x": x, "y": y}, *clicks, parameters={"pointerType": "mouse"})

    def wheel(self, distance):
        self.act("wheel", {"type": "scroll", "x": 400, "y": 400, "deltaX": 0, "deltaY": distance})

    @staticmethod
    def box(selector):
        return f"document.querySelector({json.dumps(selector)}).getBoundingClientRect()"

    def photograph(self, name):
        """Keeps a picture of the tab in the folder $PICTURES, if that is set."""
        if not (folder := os.environ.get("PICTURES")):
            return
        data = self.command("browsingContext.captureScreenshot", context=self.tab)["data"]
        (Path(folder) / f"firefox-{name}.png").write_bytes(base64.b64decode(data))


@contextlib.contextmanager
def firefox(folder):
    command = ["firefox-esr", "--headless", "--no-remote", "--profile", folder, "--remote-debugging-port", "0"]
    environment = {**os.environ, "HOME": folder, "MOZ_DISABLE_CONTENT_SANDBOX": "1"}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        try:
            address = None
            for line in process.stderr:
                if found := re.search(r"WebDriver BiDi listening on (ws://\S+)", line):
                    address = found[1]
                    break
            assert address, "Firefox does not listen"
            threading.Thread(target=process.stderr.read, daemon=True).start()
            with connect(f"{address}/session", max_size=None, open_timeout=TIMEOUT) as socket:
                yield Firefox(process, socket)
        finally:
            process.terminate()


def look(page, address):
    """Yields what is seen: names and values, and whether they are right."""
    page.size(1280, 800)
    page.open(address + "/?order=name")
    page.wait(f"{SHOWN} > 10 && {SETTLED}")
    page.photograph("grid")
    yield "count", page.evaluate("document.querySelector('#count').textContent"), lambda text: "pictures" in text
    yield "cells with a thumbnail", page.evaluate(SHOWN), lambda count: count > 10
    yield "images without pixels", page.evaluate(
        "[...document.querySelectorAll('.cell[data-state=shown] img')].filter((image) => !image.naturalWidth).length"
    ), lambda count: count == 0
    page.wheel(2000)
    page.wait(f"scrollY > 0 && {SETTLED}")
    yield "scrolled to", page.evaluate("scrollY"), lambda offset: offset > 0
    page.wait("location.search.includes('at=')")
    yield "address", page.evaluate("location.search"), lambda text: "at=" in text
    page.press("/", *"lake")
    page.wait("location.search.includes('q=lake')")
    page.wait(f"{SHOWN} > 3 && {SETTLED}")
    page.photograph("search")
    yield "found", page.evaluate("document.querySelector('#count').textContent"), lambda text: "pictures" in text
    page.click(".cell")
    page.wait("document.querySelector('#viewer .slide:not([inert])[data-state=shown]')")
    page.photograph("viewer")
    yield "enlarged", page.evaluate("document.querySelector('#viewer .caption').textContent"), lambda text: "lake" in text.lower()
    frame = ".slide:not([inert]) .frame"
    width = page.evaluate(f"{page.box(frame)}.width")
    page.press("+")
    page.wait(f"document.querySelector('.stage.zoomed') && {page.box(frame)}.width > {width} * 1.4")
    yield "zoom by keys", page.evaluate(f"{page.box(frame)}.width") / width, lambda zoom: zoom > 1.4
    page.press("0")
    page.wait(f"!document.querySelector('.stage.zoomed') && {page.box(frame)}.width < {width} + 1")
    page.click(frame, count=2)
    page.wait(f"document.querySelector('.stage.zoomed') && {page.box(frame)}.width > {width} * 1.1")
    page.photograph("zoom")
    yield "zoom by a double click", page.evaluate(f"{page.box(frame)}.width") / width, lambda zoom: zoom > 1.1
    page.press("0", "i")
    page.wait("document.querySelector('#viewer .panel dl')")
    page.photograph("panel")
    yield "panel", page.evaluate("document.querySelector('#viewer .panel').innerText"), lambda text: "File" in text
    page.press("i", "ArrowRight")
    page.wait("document.querySelector('#viewer .position').textContent.startsWith('2 of')")
    page.press("Escape")
    page.wait("!document.querySelector('#viewer')")
    for width in (320, 1280):
        page.size(width, 800)
        page.evaluate("new Promise(requestAnimationFrame)")
        page.wait(f"innerWidth === {width} && {SETTLED}")
        page.photograph(f"{width}")
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        yield f"pixels beyond a screen of {width}", wide, lambda count: count <= 0
    yield "errors", page.errors, lambda errors: errors == []


def main():
    isRight = True
    with tempfile.TemporaryDirectory() as folder:
        environment = {"XDG_CACHE_HOME": folder}
        with serving(ROOT / "TestImages/gallery", environment=environment) as address, firefox(folder) as page:
            print(page.evaluate("navigator.userAgent"))
            for name, value, check in look(page, address):
                isRight &= bool(check(value))
                print(f"{'ok' if check(value) else 'WRONG'}\t{name}: {value}", flush=True)
    sys.exit(0 if isRight else 1)


if __name__ == "__main__":
    main()
