"""The static site that `thumbs site` writes, opened as files and from a server below a path, with script and without."""

import functools
import http.server
import os
import shutil
import subprocess
import threading
import time
from pathlib import Path
from urllib.parse import unquote_to_bytes, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from conftest import ALL_CASES, PICTURE, TIMEOUT, numbered_picture, png

ALBUM = 'lakes #1 & "50%" <?> %41'
SHOWN = "#viewer .slide:not([inert])[data-state=shown]"
# In the gate those that differ in both.
LOOKS = [("dark", 1280), ("light", 320)]
if ALL_CASES:
    LOOKS += [("light", 1280), ("dark", 390)]


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A site of fifteen pictures: twelve on the first page, two in an album, and one in the album within it."""
    base = tmp_path_factory.mktemp("site")
    pictures = base / "pictures"
    (pictures / ALBUM / "märz").mkdir(parents=True)
    for number in range(12):
        (pictures / f"IMG_202401{number + 10}_120000.png").write_bytes(numbered_picture(number))
    (pictures / ALBUM / "märz/Müritz.png").write_bytes(numbered_picture(20))
    (pictures / ALBUM / "a'b\\c?.png").write_bytes(numbered_picture(21))
    Path(os.fsdecode(os.fsencode(pictures / ALBUM) + b"/caf\xe9 \xff.png")).write_bytes(numbered_picture(22))
    program = os.environ.get("THUMBS") or pytest.skip("THUMBS names no program")
    subprocess.run([program, "site", pictures, "--output", base / "www/below", "--originals", "-q"], check=True)
    shutil.rmtree(pictures)
    return base / "www"


class Server(http.server.SimpleHTTPRequestHandler):
    """Serves files by the bytes of their names, as web servers do but Python's own does not."""

    def translate_path(self, path):
        return os.path.join(self.directory, os.fsdecode(unquote_to_bytes(urlsplit(path).path.lstrip("/"))))

    def log_message(self, *_):
        pass


@pytest.fixture(params=["file", "http"])
def address(request, folder):
    """The address of the first page, with a slash at its end."""
    if request.param == "file":
        yield (folder / "below").as_uri() + "/"
        return
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Server, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/below/"
        server.shutdown()


@pytest.fixture
def tab(browser):
    """Makes tabs, each of which must end without an error of its script, a request that fails, or one elsewhere."""
    contexts, errors = [], []

    def make(width=1280, height=800, **options):
        context = browser.new_context(viewport={"width": width, "height": height}, reduced_motion="reduce", **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(TIMEOUT)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("requestfailed", lambda request: "ABORTED" in request.failure or errors.append(request.url))
        page.on("response", lambda response: response.status >= 400 and errors.append(response.url))
        page.on("console", lambda message: "Content Security Policy" in message.text and errors.append(message.text))
        return page

    yield make
    for context in contexts:
        context.close()
    assert errors == []


def images_are_shown(page):
    page.wait_for_function("() => [...document.images].every((image) => image.complete && image.naturalWidth > 0)")


def test_without_script_albums_and_pictures_are_links(address, tab):
    page = tab(java_script_enabled=False)
    page.goto(address + "index.html")
    assert page.locator(".photos img").count() == 13
    assert page.locator("h2").all_inner_texts() == ["Albums", "January 2024"]
    # The name of an album is a link, too, and its cover is one for pointers only.
    assert page.locator("figcaption a:has-text('lakes')").get_attribute("href").endswith("/index.html")
    assert page.locator(f"figure:has-text('{ALBUM}') a").first.get_attribute("tabindex") == "-1"
    assert page.locator("input, dialog").count() == 0
    page.click(f"figure:has-text('{ALBUM}') a")
    page.wait_for_selector("h1:has-text('lakes')")
    assert page.locator("figure").count() == 3 and page.locator("h1").inner_text() == ALBUM
    page.click("figure:has-text('märz') a")
    page.wait_for_selector("h1:has-text('märz')")
    page.click(".cell a")
    page.wait_for_url("**/M%c3%bcritz-1600x1600.jpg")
    page.go_back()
    page.click("nav a >> nth=0")
    page.wait_for_selector("h1:has-text('pictures')")


def test_names_of_any_bytes_are_shown(address, tab):
    page = tab()
    page.goto(address + "index.html")
    page.click(f"figure:has-text('{ALBUM}') a")
    page.wait_for_selector("h1:has-text('lakes')")
    images_are_shown(page)
    for place in range(2):
        page.click(f"a[data-size] >> nth={place}")
        page.wait_for_selector(SHOWN)
        page.keyboard.press("Escape")
        page.wait_for_selector("#viewer", state="detached")


def test_pictures_are_enlarged_and_the_way_back_closes_them(address, tab):
    page = tab()
    page.goto(address + "index.html")
    page.click("a[data-size] >> nth=1")
    page.wait_for_selector(SHOWN)
    assert page.locator(".position").inner_text() == "2 of 12"
    assert page.locator(".caption").inner_text() == "IMG_20240120_120000.png"
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(".position:has-text('3 of 12')")
    assert page.url.endswith("#IMG_20240119_120000-512x512.jpg")
    page.keyboard.press("+")
    page.wait_for_selector(".stage.zoomed")
    page.keyboard.press("i")
    page.wait_for_selector(".panel:has-text('19 January 2024'), .panel:has-text('January 19, 2024')")
    # That of the picture, whose enlarged form is not larger.
    width = 300 + 9
    page.wait_for_selector(f".panel:has-text('{width} × 200')")
    assert page.locator("a.download").get_attribute("href").endswith("site-files/originals/IMG_20240119_120000.png")
    page.go_back()
    page.wait_for_selector("#viewer", state="detached")
    assert page.evaluate("document.activeElement.closest('figure').id") == "IMG_20240119_120000-512x512.jpg"
    # The address of a picture, as it was copied.
    page.goto(address + "index.html?#IMG_20240119_120000-512x512.jpg")
    page.wait_for_selector(SHOWN)
    page.keyboard.press("Escape")
    page.wait_for_selector("#viewer", state="detached")
    assert "#" not in page.url


def test_a_finger_goes_to_the_next_picture(address, tab):
    page = tab(390, 844, has_touch=True, is_mobile=True)
    page.goto(address + "index.html")
    page.tap("a[data-size] >> nth=0")
    page.wait_for_selector(SHOWN)
    session = page.context.new_cdp_session(page)
    # Real time: never before what happened already.
    begun = time.time()
    for step, (kind, x) in enumerate([("touchStart", 330), ("touchMove", 200), ("touchMove", 60), ("touchEnd", None)]):
        touch = {"type": kind, "touchPoints": [] if x is None else [{"x": x, "y": 400}]}
        # 20 ms after each other, by what the events say.
        session.send("Input.dispatchTouchEvent", {**touch, "timestamp": begun + 0.02 * step})
    page.wait_for_selector(".position:has-text('2 of 12')")


def test_a_search_finds_pictures_of_all_albums(address, tab):
    page = tab()
    page.goto(address + "index.html")
    page.fill("input", "MURITZ lakes")
    page.wait_for_selector("[role=main]:visible p:has-text('1 found')")
    images_are_shown(page)
    page.click("[role=main]:visible a")
    page.wait_for_selector(SHOWN)
    assert page.locator(".caption").inner_text() == "Müritz.png"
    page.keyboard.press("Escape")
    page.wait_for_selector("#viewer", state="detached")
    page.fill("input", "JAN 2024")
    page.wait_for_selector("[role=main]:visible p:has-text('12 found')")
    page.fill("input", "january 2023")
    page.wait_for_selector("[role=main]:visible p:has-text('0 found')")
    # As the server's search does: months in numbers and other languages, umlauts in both spellings.
    for query, count in {
        "lakes caf": 1, "2024-01": 12, "01/2024": 12, "1.2024": 12, "2024-1": 12, "2024-02": 0, "januar 2024": 12,
        "janvier": 12, "mueritz": 1, "MÜRITZ": 1, "maerz": 1, "mue": 0,
    }.items():
        page.fill("input", query)
        page.wait_for_selector(f"[role=main]:visible p:text-is('{count} found')")
    page.fill("input", "")
    page.wait_for_selector("h2:visible")


@pytest.mark.parametrize("scheme, width", LOOKS)
def test_axe_finds_nothing_and_nothing_is_cut_off(tab, folder, scheme, width):
    def check():
        page.wait_for_function("() => document.getAnimations().every((each) => each.playState !== 'running')")
        # Without its requests for style sheets, which the policy forbids.
        found = Axe().run(page, options={"preload": False}).response["violations"]
        assert found == [], [(rule["id"], node["html"]) for rule in found for node in rule["nodes"]]
        assert page.evaluate("document.documentElement.scrollWidth") == width

    page = tab(width, 844, color_scheme=scheme)
    page.goto((folder / "below/index.html").as_uri())
    images_are_shown(page)
    check()
    page.click("a[data-size] >> nth=0")
    page.wait_for_selector(SHOWN)
    page.keyboard.press("i")
    check()
    page.keyboard.press("Escape")
    page.fill("input", "img")
    page.wait_for_selector("[role=main]:visible p:has-text('12 found')")
    check()
    page.goto(page.url.replace("index.html", f"{'lakes%20%231%20%26%20%2250%25%22%20%3C%3F%3E%20%2541'}/index.html"))
    images_are_shown(page)
    check()


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A site of 450 pictures, one of 3000 pixels, and one in an album."""
    base = tmp_path_factory.mktemp("many")
    pictures = base / "pictures"
    (pictures / "album").mkdir(parents=True)
    (pictures / "one.png").write_bytes(png(3000, 2000, (40, 110, 160)))
    for number in range(449):
        (pictures / f"IMG_20240101_{number:06}.png").write_bytes(PICTURE)
    (pictures / "album/lake.png").write_bytes(PICTURE)
    program = os.environ.get("THUMBS") or pytest.skip("THUMBS names no program")
    command = [program, "site", pictures, "--output", base / "www", "--originals"]
    subprocess.run([*command, "--view-size", "320"], check=True)
    return base / "www"


def test_all_that_is_found_is_shown_in_portions(tab, many):
    page = tab()
    page.goto((many / "index.html").as_uri())
    page.fill("input", "img")
    page.wait_for_selector("[role=main]:visible p:has-text('449 found')")
    figures = page.locator("[role=main]:visible figure")
    assert figures.count() == 200
    page.click("button:has-text('More')")
    assert figures.count() == 400
    assert page.evaluate("[...document.querySelectorAll('[role=main]:not([hidden]) a')].indexOf(document.activeElement)") == 200
    page.keyboard.press("End")
    page.click("button:has-text('More')")
    assert figures.count() == 449 and page.is_hidden("button:has-text('More')")


def test_the_viewer_says_the_size_of_the_picture(tab, many):
    page = tab()
    page.goto((many / "index.html").as_uri() + "#one-319x319.jpg")
    page.wait_for_selector(SHOWN)
    page.wait_for_selector(".facts:has-text('3,000 × 2,000')")
    page.keyboard.press("i")
    page.wait_for_selector(".panel:has-text('3,000 × 2,000 (6.0 MP)')")


def test_a_thumbnail_that_is_gone_leaves_its_cell(browser, many, tmp_path):
    copy = shutil.copytree(many / "album", tmp_path / "site/album").parent
    shutil.copytree(many / "site-files", copy / "site-files")
    next((copy / "album").glob("lake*-319x319*")).write_bytes(b"broken")
    context = browser.new_context()
    try:
        page = context.new_page()
        page.goto((copy / "album/index.html").as_uri())
        page.wait_for_function("() => document.querySelector('.cell img').src.startsWith('data:')")
    finally:
        context.close()
