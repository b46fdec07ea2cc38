"""A shared gallery: the code in the terminal, the password, links, and two devices that reach it by other addresses."""

import contextlib
import os
import pty
import re
import subprocess
from urllib.parse import urlsplit

import numpy
import pytest
import zxingcpp
from conftest import TIMEOUT, numbered_picture, poll
from test_access import LOOKS, assert_accessible
from test_server import SHOWN

CELLS = "document.querySelectorAll('.cell[data-state=shown]').length"


class Shared:
    """A program that shares a folder, in a terminal."""

    def __init__(self, terminal):
        self.terminal = terminal
        self.lines = []

    def read(self, pattern):
        """Reads lines until one matches."""
        for line in self.terminal:
            self.lines.append(line.rstrip())
            if found := re.search(pattern, self.lines[-1]):
                return found[1]


@pytest.fixture
def shared(tmp_path):
    """Two folders of pictures, shared at all addresses of this machine."""
    for folder, numbers in (("lakes", range(4)), ("hills", range(4, 6))):
        (tmp_path / "pictures" / folder).mkdir(parents=True)
        for number in numbers:
            (tmp_path / "pictures" / folder / f"{number}.png").write_bytes(numbered_picture(number))
    parent, child = pty.openpty()
    command = [os.environ["THUMBS"], "serve", str(tmp_path / "pictures"), "--share", "--port", "0"]
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    with subprocess.Popen(command, stdout=child, stderr=subprocess.PIPE, text=True, env=environment) as server:
        os.close(child)
        try:
            with os.fdopen(parent, encoding="utf-8") as terminal:
                shared = Shared(terminal)
                shared.address = shared.read(r"^(http://\S+:\d+)/")
                shared.port = urlsplit(shared.address).port
                shared.password = shared.read(r"^Password: (\w+)$")
                shared.read(r"(scans the code)")
                yield shared
        finally:
            server.terminate()
            assert "plain HTTP" in server.stderr.read()


@pytest.fixture
def device(browser):
    """Makes devices: browsers without cookies, whose scripts end without an error."""
    with contextlib.ExitStack() as stack:
        errors = []

        def make(width=1280, **options):
            context = browser.new_context(viewport={"width": width, "height": 844}, **options)
            stack.callback(context.close)
            page = context.new_page()
            page.set_default_timeout(TIMEOUT)
            page.on("pageerror", lambda error: errors.append(str(error)))
            return page

        yield make
        assert errors == []


def enter(page, address, password):
    page.goto(address)
    page.fill("[name=password]", password)
    page.keyboard.press("Enter")


def test_a_phone_reads_the_code_in_the_terminal_and_sees_the_gallery(shared, device):
    rows = []
    for line in shared.lines:
        blocks = re.sub(r"\x1b\[[\d;]*m", "", line)
        if set(blocks) <= set("█▀▄ ") and len(blocks) > 20:
            rows += [["█▀".find(block) >= 0 for block in blocks], ["█▄".find(block) >= 0 for block in blocks]]
    picture = numpy.kron(numpy.array(rows, dtype=numpy.uint8) * 255, numpy.ones((6, 6), dtype=numpy.uint8))
    (code,) = zxingcpp.read_barcodes(picture)
    assert code.text.startswith(shared.address + "/login/")
    phone = device(width=390, java_script_enabled=False)
    phone.goto(code.text)
    phone.wait_for_url(shared.address + "/")
    page = device(width=390)
    page.goto(code.text)
    page.wait_for_url(shared.address + "/")
    page.wait_for_selector(SHOWN)
    assert page.evaluate("document.cookie") == ""


def test_the_password_is_asked_for_without_script_and_a_wrong_one_is_told(shared, device):
    page = device(width=320, java_script_enabled=False)
    enter(page, f"http://127.0.0.2:{shared.port}/", "wrong")
    page.wait_for_selector("[role=alert]:has-text('That is not the password.')")
    page.fill("[name=password]", shared.password)
    page.click("button")
    page.wait_for_url(f"http://127.0.0.2:{shared.port}/")
    assert page.query_selector("#viewer")


@pytest.mark.parametrize("scheme, width", LOOKS)
def test_axe_finds_nothing_in_the_form_and_the_dialog(shared, device, scheme, width):
    page = device(width, color_scheme=scheme, reduced_motion="reduce")
    view = type("View", (), {"page": page, "wait": lambda self, text: page.wait_for_function("() => " + text)})()
    enter(page, shared.address, "wrong")
    page.wait_for_selector("[role=alert]:has-text('not the password')")
    assert_accessible(view)
    enter(page, shared.address, shared.password)
    page.wait_for_selector(SHOWN)
    page.click("#select")
    page.click(".cell >> nth=1")
    page.click("#selection .share")
    page.click("text=Make a link")
    page.wait_for_selector("#share [role=status]:has-text('All who have the link')")
    assert_accessible(view)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def wait_cells(page, count):
    """Waits for the pictures themselves: their count is told first, and a selection ends when they come."""
    page.wait_for_function(f"() => {CELLS} === {count}")


def test_a_link_shows_another_device_the_selected_pictures_and_no_others(shared, device):
    owner = device()
    enter(owner, f"http://127.0.0.1:{shared.port}/", shared.password)
    owner.wait_for_selector(SHOWN)
    owner.fill("#query", "lakes")
    wait_cells(owner, 4)
    owner.click("#select")
    for number in range(2):
        owner.click(f".cell >> nth={number}")
    owner.click("#selection .share")
    owner.select_option("[name=days]", label="a day")
    owner.click("text=Make a link")
    owner.wait_for_selector("#share .made:visible")
    link = owner.input_value("#share input")
    # The owner's address leads nowhere on other devices.
    assert link.startswith(shared.address + "/s/")
    guest = device(width=390)
    guest.goto(link)
    guest.wait_for_selector(SHOWN)
    guest.wait_for_function("() => document.querySelectorAll('.cell[data-state=shown]').length === 2")
    for control in ["#search", "#select", "#selection .share"]:
        assert not guest.is_visible(control)
    # Where its owner would select.
    guest.click(SHOWN, position={"x": 12, "y": 12})
    guest.wait_for_selector(".slide[data-state=shown]")
    assert not guest.is_visible("#viewer .hide") and not guest.is_visible("#viewer .info")
    guest.keyboard.press("Delete")
    assert "open=" in guest.evaluate("location.search")
    guest.goto(guest.url)
    guest.wait_for_selector(".slide[data-state=shown]")
    assert guest.inner_text(".position").endswith("of 2")
    # The folder of both.
    owner.select_option("[name=scope]", label="All of “lakes”, also what is added")
    owner.click("text=Make a link")
    owner.wait_for_selector("#share .made:visible")
    guest.goto(owner.input_value("#share input"))
    guest.wait_for_function("() => document.querySelectorAll('.cell[data-state=shown]').length === 4")
    # An altered link asks for the password.
    guest.goto(link.replace("/s/", "/s/0"))
    guest.wait_for_selector("[role=alert]:has-text('it has ended')")
    guest.goto(shared.address)
    guest.wait_for_selector("[name=password]")


def chosen(page, query):
    """Opens the dialog for the only picture that a search finds."""
    # One of several may be the first that is shown.
    one = f"document.querySelector('#count').textContent.startsWith('1 ') && {CELLS} === 1"
    for text, is_one in (("", "false"), (query, "true")):
        page.fill("#query", text)
        page.wait_for_function(f"() => ({one}) === {is_one}")
    page.click("#select")
    page.click(".cell >> nth=0")
    page.click("#selection .share")
    return page.locator("[name=scope] option").all_inner_texts()


def test_a_late_response_is_not_the_link_of_other_pictures(shared, device):
    page = device()
    enter(page, shared.address, shared.password)
    held = []
    page.route("**/api/link", lambda route: held.append(route))

    def ask(count):
        # A request that is not out yet is not made once its dialog is closed.
        with page.expect_request("**/api/link"):
            page.click("text=Make a link")
        poll(page, lambda: len(held) == count, "a link is asked for")

    chosen(page, "lakes/0")
    ask(1)
    page.click("#share .close")
    page.wait_for_selector("#share", state="detached")
    page.click("#selection .clear")
    chosen(page, "hills/4")
    ask(2)
    for link in (1, 0):
        held[link].fulfill(status=201, json={"path": f"/s/{link}/", "host": None, "until": 2_000_000_000})
        page.wait_for_selector("#share .made:visible")
    # Real time: what must not come would have come by then, and a page that is late fails nothing.
    page.wait_for_timeout(200)
    assert page.input_value("#share input").endswith("/s/1/")
    # The link of choices that are not seen any more is not shown, either.
    ask(3)
    page.select_option("[name=days]", label="a day")
    held[-1].fulfill(status=201, json={"path": "/s/2/", "host": None, "until": 2_000_000_000})
    # Real time: what must not come would have come by then, and a page that is late fails nothing.
    page.wait_for_timeout(200)
    assert page.input_value("#share input") == ""


def test_a_list_of_links_that_fails_leaves_what_was_said(shared, device):
    page = device()
    enter(page, shared.address, shared.password)
    chosen(page, "lakes/0")
    page.route("**/api/links", lambda route: route.abort())
    page.click("text=Make a link")
    page.wait_for_selector("#share .made:visible")
    page.wait_for_selector("#share td:has-text('cannot be listed')")
    assert "All who have the link see these pictures" in page.inner_text("#share [role=status]")


def test_an_old_code_says_what_to_do(shared, device):
    page = device()
    page.goto(f"{shared.address}/login/00000000000000000000")
    assert "This code is of an earlier start: scan the one that is shown now" in page.inner_text("[role=alert]")
    page.fill("[name=password]", shared.password)
    page.keyboard.press("Enter")
    page.wait_for_selector(SHOWN)


def test_folders_are_offered_for_names_that_are_not_utf8(shared, device, tmp_path):
    folder = os.fsencode(tmp_path / "pictures")
    os.makedirs(folder + b"/\xe9t\xe9")
    for number, name in enumerate((b"/lakes/\xe9in.png", b"/\xe9root.png", b"/\xe9t\xe9/sun.png"), 10):
        with open(folder + name, "wb") as file:
            file.write(numbered_picture(number))
    page = device()
    enter(page, shared.address, shared.password)
    page.wait_for_function("() => document.querySelector('#count').textContent === '9 pictures'")
    for query, offered in (("root", None), ("sun", "//%e9t%e9"), ("in.png", "lakes")):
        options = chosen(page, query)
        assert options[1:] == ([f"All of “{offered}”, also what is added"] if offered else [])
        if offered:
            page.select_option("[name=scope]", label=options[1])
            page.click("text=Make a link")
            page.wait_for_selector("#share .made:visible")
            link = page.input_value("#share input")
            guest = device(width=390)
            guest.goto(link)
            count = "5 pictures" if offered == "lakes" else "1 picture"
            guest.wait_for_function("count => document.querySelector('#count').textContent === count", arg=count)
        page.click("#share .close")
        page.click("#selection .clear")


def test_a_deep_link_survives_the_password_and_a_wrong_one(shared, device):
    page = device(java_script_enabled=True)
    address = f"{shared.address}/?q=lakes&order=name&open=lakes%2F1.png"
    enter(page, address, "wrong")
    page.wait_for_selector("[role=alert]:has-text('That is not the password.')")
    page.fill("[name=password]", f" {shared.password}  ")
    page.keyboard.press("Enter")
    page.wait_for_url(address)
    page.wait_for_selector(".slide[data-state=shown]")
    assert page.inner_text("#viewer .caption") == "lakes/1.png"


def test_links_end_one_by_one(shared, device):
    owner = device()
    enter(owner, shared.address, shared.password)
    assert len(chosen(owner, "hills/4")) == 2
    assert owner.is_hidden("#share table")
    links = []
    for label in ("1 picture that you selected", "All of “hills”, also what is added"):
        owner.select_option("[name=scope]", label=label)
        owner.click("text=Make a link")
        owner.wait_for_selector("#share .made:visible")
        owner.wait_for_function("count => document.querySelectorAll('#share tr').length === count", arg=len(links) + 1)
        links.append(owner.input_value("#share input"))
    guest = device(width=390)
    guest.goto(links[0])
    guest.wait_for_selector(SHOWN)
    # Links end without a selection, too. What cannot be listed is no empty list.
    owner.click("#share .close")
    owner.click("#selection .clear")
    owner.route("**/api/links", lambda route: route.abort())
    owner.click("#select")
    owner.click("#selection .share")
    owner.wait_for_selector("#share td:has-text('cannot be listed')")
    assert owner.is_disabled("#share [type=submit]")
    owner.unroute("**/api/links")
    owner.click("#share .close")
    owner.click("#selection .share")
    # What and when they are.
    rows = owner.locator("#share td:first-child").all_inner_texts()
    assert all(re.fullmatch("“(hills|hills/[45].png)”, made .* at .*, until .* at .*", row) for row in rows)
    owner.click("#share button[aria-label^='End the link to “hills/']")
    owner.wait_for_function("() => document.querySelectorAll('#share tr').length === 1")
    assert "“hills”, made" in owner.inner_text("#share tr")
    assert owner.evaluate("document.activeElement.ariaLabel") == "End the link to “hills”"
    guest.goto(links[0])
    guest.wait_for_selector("[role=alert]:has-text('it has ended')")
    guest.goto(links[1])
    guest.wait_for_selector(SHOWN)
    owner.keyboard.press("Enter")
    owner.wait_for_selector("#share table", state="hidden")
    assert owner.evaluate("document.activeElement.ariaLabel") == "Close"
