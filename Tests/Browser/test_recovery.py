"""The page recovers by itself: from sleep, from a server that restarts, and from a folder that changes while it is open."""

import contextlib
import os
import shutil
import socket
import threading

import pytest
from conftest import numbered_picture, serving
from test_server import SHOWN

COUNT = "count => document.querySelector('#count').textContent === count"
#: The names of the cells on screen, each with the place of its upper edge.
SCROLLED = """() => scrollY > 0 && document.querySelector(".cell[data-state=shown]")
  && !document.querySelector(".cell[data-state=waiting]")"""
PLACES = """() => Object.fromEntries([...document.querySelectorAll('.cell')]
  .filter((cell) => cell.cell.item && cell.getBoundingClientRect().bottom > 64)
  .filter((cell) => cell.getBoundingClientRect().top < innerHeight)
  .map((cell) => [cell.cell.item.id, Math.round(cell.getBoundingClientRect().top)]))"""

IN_PLACE = f"([id, top]) => ({PLACES})()[id] === top"


class Wire:
    """Passes bytes between browsers and a server. Its connections can die as those of a machine that slept: they stay
    open, and nothing comes."""

    def __init__(self, address):
        self.target = ("127.0.0.1", int(address.rsplit(":", 1)[1]))
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.isDead = False
        self.living = set()
        self.sockets = []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                near, far = self.listener.accept()[0], socket.create_connection(self.target)
                self.sockets += [near, far]
                if not self.isDead:
                    self.living |= {near, far}
                for ends in [(near, far), (far, near)]:
                    threading.Thread(target=self.pass_on, args=ends, daemon=True).start()

    def pass_on(self, source, sink):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if source in self.living:
                    sink.sendall(data)
            if source in self.living:
                sink.shutdown(socket.SHUT_WR)

    def die(self):
        """Ends nothing, but no byte passes any more."""
        self.isDead = True
        self.living.clear()

    def wake(self):
        """Lets new connections live."""
        self.isDead = False

    def close(self):
        for each in [self.listener, *self.sockets]:
            each.close()


def place(folder, names):
    """Puts pictures into a folder at once."""
    new = folder.parent / f"{folder.name}.new"
    new.mkdir()
    (new / "one").write_bytes(numbered_picture(1))
    for name in names:
        os.link(new / "one", new / name)
    (new / "one").unlink()
    new.rename(folder)


@pytest.fixture
def environment(tmp_path):
    return {"XDG_CACHE_HOME": str(tmp_path / "cache")}


def test_the_stream_has_signs_of_life(tab, served):
    with tab.expect_request(lambda request: request.url.endswith("/events")) as request:
        tab.goto(served + "/")
    alive = """url => new Promise((resolve) =>
      new EventSource(url).addEventListener('alive', ({ data }) => resolve(data)))"""
    assert tab.evaluate(alive, request.value.url) == "1"


def test_after_a_sleep_the_page_asks_again_and_shows_what_is_now(tab, tmp_path, environment):
    place(tmp_path / "pictures", [f"{number:03}.png" for number in range(300)])
    with serving(tmp_path / "pictures", environment=environment) as server:
        wire = Wire(server)
        tab.clock.install()
        tab.goto(wire.address + "/?order=name")
        tab.wait_for_selector(SHOWN)
        # The large form, and the items and thumbnails beyond, are under way when the connections die.
        wire.die()
        tab.click(SHOWN)
        tab.wait_for_selector("#viewer[open] .slide[data-state=loading]")
        os.rename(tmp_path / "pictures/299.png", tmp_path / "pictures/-.png")
        for number in range(20):
            (tmp_path / f"pictures/a{number:02}.png").write_bytes(numbered_picture(number))
        wire.wake()
        tab.clock.fast_forward("08:00:00")
        tab.wait_for_selector("#viewer .slide:not([inert])[data-state=shown]")
        tab.wait_for_selector("#viewer .position:has-text('2 of 320')")
        tab.keyboard.press("End")
        tab.wait_for_selector("#viewer .caption:has-text('a19.png')")
        tab.keyboard.press("Escape")
        tab.wait_for_function("() => !document.querySelector('.cell[data-state=waiting], .cell[data-state=empty]')")
        assert tab.is_hidden("#strip")
        wire.close()


def test_a_server_that_hangs_is_named_soon(tab, served):
    wire = Wire(served)
    tab.clock.install()
    tab.goto(wire.address + "/")
    tab.wait_for_selector(SHOWN)
    wire.die()
    tab.clock.run_for(10_000)
    assert tab.is_hidden("#strip")
    tab.clock.run_for(7000)
    tab.wait_for_selector("#strip:has-text('The server does not respond.')")
    wire.wake()
    # What hangs is dropped after the same time.
    tab.clock.run_for(17_000)
    tab.wait_for_selector("#strip", state="hidden")
    wire.close()


def test_a_server_that_restarts_is_found_again_at_its_place(tab, tmp_path, environment):
    place(tmp_path / "pictures", [f"{number:03}.png" for number in range(300)])
    with serving(tmp_path / "pictures", environment=environment) as address:
        tab.goto(address + "/?order=name&q=png")
        tab.wait_for_selector(SHOWN)
        tab.evaluate("window.isSamePage = true")
        tab.focus("#scrubber")
        tab.keyboard.press("PageDown")
        tab.keyboard.press("PageDown")
        tab.wait_for_function(SCROLLED)
        before = tab.evaluate(PLACES)
    tab.wait_for_selector("#strip:visible")
    os.remove(tmp_path / "pictures/299.png")
    port = address.rsplit(":", 1)[1]
    with serving(tmp_path / "pictures", environment=environment, port=port):
        tab.wait_for_function(COUNT, arg="299 pictures")
        tab.wait_for_selector("#strip", state="hidden")
        first = sorted(before)[0]
        tab.wait_for_function(IN_PLACE, arg=[first, before[first]])
        assert tab.evaluate("window.isSamePage")
        # Its token is new.
        tab.fill("#query", "28")
        tab.wait_for_function(COUNT, arg="13 pictures")


def test_a_shared_gallery_that_restarts_asks_for_its_password_and_goes_on(tab, tmp_path, environment):
    place(tmp_path / "pictures", [f"{number}.png" for number in range(9)])
    (tmp_path / "password").write_text("correct horse")
    (tmp_path / "password").chmod(0o600)
    arguments = [tmp_path / "pictures", "--password-file", tmp_path / "password"]

    def enter():
        tab.fill("[name=password]", "correct horse")
        tab.keyboard.press("Enter")
        tab.wait_for_selector(SHOWN)

    with serving(*arguments, environment=environment) as address:
        tab.goto(address)
        enter()
    tab.wait_for_selector("#strip:visible")
    with serving(*arguments, environment=environment, port=address.rsplit(":", 1)[1]):
        enter()
        tab.fill("#query", "8")
        tab.wait_for_function(COUNT, arg="1 picture")


def test_what_is_on_screen_stays_in_place_while_ten_thousand_come_and_go(tab, tmp_path, environment):
    (tmp_path / "all").mkdir()
    place(tmp_path / "all/m", [f"{number:03}.png" for number in range(400)])
    place(tmp_path / "a", [f"{number:05}.png" for number in range(10_000)])
    with serving(tmp_path / "all", environment=environment) as address:
        tab.goto(address + "/?order=name")
        tab.wait_for_function(COUNT, arg="400 pictures")
        tab.focus("#scrubber")
        tab.keyboard.press("PageDown")
        tab.keyboard.press("PageDown")
        tab.wait_for_function(SCROLLED)
        before = tab.evaluate(PLACES)
        (tmp_path / "a").rename(tmp_path / "all/a")
        tab.wait_for_function(COUNT, arg="10,400 pictures")
        first = sorted(before)[0]
        tab.wait_for_function(IN_PLACE, arg=[first, before[first]])
        # They go, and so do the first on screen: the next ones stay.
        gone = sorted(before)[:3]
        for name in gone:
            os.remove(tmp_path / "all" / name)
        (tmp_path / "all/a").rename(tmp_path / "a")
        tab.wait_for_function(COUNT, arg="397 pictures")
        next_one = sorted(set(before) - set(gone))[0]
        tab.wait_for_function(IN_PLACE, arg=[next_one, before[next_one]])


def test_the_viewer_says_that_its_picture_is_gone(tab, tmp_path, environment):
    place(tmp_path / "pictures", [f"{number}.png" for number in range(5)])
    with serving(tmp_path / "pictures", environment=environment) as address:
        tab.goto(address + "/?order=name")
        tab.click(".cell[aria-label^='2.png']")
        tab.wait_for_selector("#viewer .slide:not([inert])[data-state=shown]")
        os.remove(tmp_path / "pictures/2.png")
        tab.wait_for_selector("#toast:has-text('“2.png” is not here any more.')")
        tab.wait_for_selector("#viewer .caption:has-text('3.png')")
        # One that is hidden is not gone.
        tab.keyboard.press("Delete")
        tab.wait_for_selector("#toast:has-text('“3.png” is hidden.')")
        tab.wait_for_selector("#viewer .caption:has-text('4.png')")
        assert "not here" not in tab.inner_text("#toast")


def test_a_folder_that_vanishes_comes_back(tab, tmp_path, environment):
    place(tmp_path / "pictures", [f"{number:03}.png" for number in range(120)])
    with serving(tmp_path / "pictures", environment=environment) as address:
        tab.goto(address + "/?order=name")
        tab.wait_for_selector(SHOWN)
        tab.evaluate("scrollTo(0, 900)")
        tab.wait_for_function("() => location.search.includes('at=')")
        place_of = "() => new URLSearchParams(location.search).get('at')"
        before = tab.evaluate(place_of)
        (tmp_path / "pictures").rename(tmp_path / "elsewhere")
        tab.wait_for_selector("#state:has-text('did not work')")
        shutil.copytree(tmp_path / "elsewhere", tmp_path / "pictures")
        tab.wait_for_function(COUNT, arg="120 pictures")
        tab.wait_for_selector(SHOWN)
        tab.wait_for_function("() => scrollY > 600")
        tab.wait_for_function(f"before => ({place_of})() === before", arg=before)
