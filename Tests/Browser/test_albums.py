"""Folders as albums, with the real server."""

import os
import subprocess

import pytest
from conftest import numbered_picture, poll, serving
from test_access import findings

COUNT = "count => document.querySelector('#count').textContent === count"


def make(folder, *paths):
    for number, path in enumerate(paths):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(numbered_picture(number))


@pytest.fixture(scope="module")
def albums(tmp_path_factory):
    """The address of a server of a folder with folders."""
    folder = tmp_path_factory.mktemp("albums") / "Pictures"
    make(folder, "2021/Alps/peak.png", "2021/Alps/hut/door.png", "2021/Sea & 100%/wave.png", "2022/peak.png", "top.png")
    make(folder, *(f"many/{number}/a.png" for number in range(60)))
    with serving(folder, environment={"XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache"))}) as address:
        yield address


def tiles(tab):
    return [text.split("\n") for text in tab.locator("#albums ul a").all_inner_texts()]


def test_covers_leave_connections_for_all_else(tab, albums):
    held, ended, isHeld = [], [], True

    def waiting():
        return [route for route in held if route.request not in ended]

    # A newer list, whose dates have been read, requests its covers anew.
    tab.on("requestfailed", lambda request: ended.append(request))
    # An image that takes long lets others go first, which would be held, too.
    tab.add_init_script(
        """const timer = setTimeout;
        window.setTimeout = (action, pause = 0, ...rest) => timer(action, pause < 5000 ? pause : 1e6, ...rest);"""
    )
    tab.route("**/picture/**", lambda route: held.append(route) if isHeld else route.continue_())
    tab.goto(albums + "/?album=many")
    tab.wait_for_selector("#albums ul a")
    poll(tab, lambda: len(waiting()) >= 4, "four covers are requested")
    # What is asked for later has its response sooner.
    assert tab.evaluate("async () => (await fetch('/page/help.js')).ok")
    assert len(waiting()) == 4
    isHeld = False
    for route in waiting():
        route.continue_()
    tab.wait_for_function("() => document.querySelectorAll('#albums img')[3].naturalWidth > 0")


def test_folders_are_opened_and_left_by_the_way_to_them(tab, albums):
    tab.goto(albums + "/")
    tab.wait_for_selector("#albums ul a")
    assert tiles(tab) == [["2021", "3 pictures"], ["2022", "1 picture"], ["many", "60 pictures"]]
    assert tab.is_hidden("#albums ol")
    tab.click("#albums a:has-text('2021')")
    tab.wait_for_function(COUNT, arg="3 pictures")
    tab.wait_for_function("() => document.querySelectorAll('#albums ul a').length === 2")
    assert tab.evaluate("location.search") == "?album=2021"
    assert tab.title() == "2021 – Pictures"
    assert tiles(tab) == [["Alps", "2 pictures"], ["Sea & 100%", "1 picture"]]
    tab.wait_for_function("() => document.querySelectorAll('#albums img')[1].naturalWidth > 0")
    assert findings(tab) == []
    tab.click("#albums a:has-text('Sea')")
    tab.wait_for_function(COUNT, arg="1 picture")
    tab.wait_for_function("() => document.querySelector('#albums ol').innerText.replace(/\\s+/g, ' ') === 'Pictures 2021 Sea & 100%'")
    tab.reload()
    tab.wait_for_function(COUNT, arg="1 picture")
    tab.click("#albums ol a:has-text('2021')")
    tab.wait_for_function(COUNT, arg="3 pictures")
    tab.go_back()
    tab.wait_for_function(COUNT, arg="1 picture")
    tab.go_back()
    tab.go_back()
    tab.wait_for_function(COUNT, arg="65 pictures")
    tab.wait_for_selector("#albums ol", state="hidden")


def test_the_last_of_several_steps_is_shown_however_slow_the_others_are(tab, albums):
    tab.goto(albums + "/")
    tab.wait_for_selector("#albums ul a")
    tab.click("#albums a:has-text('2021')")
    tab.wait_for_function("() => document.querySelectorAll('#albums ul a').length === 2")
    asked = []

    def late(route):
        asked.append(route.request.post_data_json["album"])
        if len(asked) == 1:
            tab.wait_for_function("() => !location.search")
        route.continue_()

    tab.route("**/api/sessions/*/album", late)
    tab.evaluate("document.querySelector('#albums ul a').click(); history.go(-2)")
    tab.wait_for_function(COUNT, arg="65 pictures")
    # Real time: what must not come would have come by then, and a page that is late fails nothing.
    tab.wait_for_timeout(1500)
    assert asked == ["2021/Alps", ""]
    assert tab.text_content("#count") == "65 pictures"


def test_a_step_without_a_response_holds_no_other(tab, albums):
    # A second for twenty.
    tab.add_init_script("const end = AbortSignal.timeout; AbortSignal.timeout = (time) => end.call(AbortSignal, time / 20)")
    tab.goto(albums + "/")
    tab.wait_for_selector("#albums ul a")
    tab.route("**/api/sessions/*/album", lambda route: None, times=1)
    tab.click("#albums a:has-text('2021')")
    tab.wait_for_function(COUNT, arg="3 pictures")


def test_a_step_is_sent_once_while_the_stream_is_away(tab, albums):
    tab.goto(albums + "/")
    tab.wait_for_selector("#albums ul a")
    tab.wait_for_selector(".cell[data-state=shown]")
    asked, failed = [], []

    def hold_first(route):
        asked.append(route)
        if len(asked) > 1:
            route.continue_()

    def fail(route):
        failed.append(route)
        route.abort()

    tab.route("**/api/sessions/*/album", hold_first)
    tab.route("**/events", lambda route: route.abort())
    tab.route("**/delete", fail)
    tab.click("#albums a:has-text('2021')")
    tab.focus(".cell[tabindex='0']")
    tab.keyboard.press("Delete")
    poll(tab, lambda: asked and failed, "the step and the picture to hide are sent")
    # Real time: what must not come would have come by then, and a page that is late fails nothing.
    tab.wait_for_timeout(200)
    asked[0].continue_()
    tab.wait_for_timeout(1000)
    assert len(asked) == 1


def test_an_album_is_searched_alone_or_all_are(tab, albums):
    tab.goto(albums + "/?album=2021")
    tab.wait_for_function(COUNT, arg="3 pictures")
    assert tab.get_attribute("#query", "placeholder") == "Search in 2021"
    tab.fill("#query", "peak")
    tab.wait_for_function(COUNT, arg="1 picture")
    tab.wait_for_function("() => document.querySelectorAll('#albums ul a').length === 1")
    assert tiles(tab) == [["Alps", "1 picture"]]
    tab.click("#albums a:has-text('Search all of Pictures')")
    tab.wait_for_function(COUNT, arg="2 pictures")
    assert tab.evaluate("location.search") == "?q=peak"


def test_folders_are_opened_by_keys(tab, albums):
    tab.goto(albums + "/")
    tab.wait_for_selector("#albums ul a")
    tab.focus("#albums ul a")
    tab.keyboard.press("ArrowRight")
    assert tab.evaluate("document.activeElement.innerText").startswith("2022")
    tab.keyboard.press("ArrowLeft")
    # Only one takes part in the tab order.
    assert tab.locator("#albums ul a[tabindex='0']").count() == 1
    tab.keyboard.press("Enter")
    tab.wait_for_function("() => document.activeElement.ariaCurrent === 'page'")
    assert tab.evaluate("document.activeElement.textContent") == "2021"
    assert tab.locator("#albums").get_attribute("aria-label") == "Folders"


def test_many_folders_are_shown_when_they_are_asked_for(tab, albums):
    tab.set_viewport_size({"width": 390, "height": 800})
    tab.goto(albums + "/?album=many")
    tab.wait_for_selector("#albums button")
    assert len(tiles(tab)) == 50
    tab.focus("#albums ul a")
    tab.keyboard.press("End")
    tab.keyboard.press("Enter")
    tab.wait_for_function("() => document.querySelectorAll('#albums ul a').length === 60")
    assert tab.evaluate("document.activeElement.innerText").startswith("50")
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    # The first row is below the folders, and the last picture can be reached.
    tab.focus(".cell")
    tab.keyboard.press("End")
    tab.wait_for_function(
        "() => document.activeElement.cell?.index === 59 && document.activeElement.getBoundingClientRect().bottom <= innerHeight"
    )
    tab.keyboard.press("Home")
    tab.wait_for_function("() => scrollY === 0")


def test_a_folder_that_is_not_there_says_so(tab, albums):
    tab.goto(albums + "/?album=gone")
    tab.wait_for_selector("#state:visible")
    assert "no pictures in this folder" in tab.inner_text("#state")
    tab.click("#albums ol a:has-text('Pictures')")
    tab.wait_for_function(COUNT, arg="65 pictures")


def test_folders_that_could_not_be_read_are_asked_for_again(tab, albums):
    answers = iter([lambda route: route.abort(), lambda route: route.fulfill(status=503, body="")])
    tab.route("**/albums?*", lambda route: next(answers, lambda route: route.continue_())(route))
    tab.goto(albums + "/")
    tab.wait_for_selector("#albums ul a")
    assert next(answers, None) is None


def test_films_are_counted_and_the_broken_cover_of_an_album_is_a_tile(tab, tmp_path):
    make(tmp_path, "pictures/a/2.png", "pictures/a/3.png")
    (tmp_path / "pictures/a/1.jpg").write_bytes(b"broken")
    (tmp_path / "pictures/a/4.mp4").write_bytes(b"broken")
    with serving(tmp_path / "pictures", environment={"XDG_CACHE_HOME": str(tmp_path / "cache")}) as address:
        tab.goto(address + "/?order=name")
        tab.wait_for_function(COUNT, arg="3 pictures")
        tab.wait_for_function("() => document.querySelector('#albums img')?.cover.state === 'ended'")
        assert tab.evaluate("document.querySelector('#albums img').src").startswith("data:")
        assert tiles(tab) == [["a", "3 pictures"]]
        assert tab.inner_text("#foot") == "That is all: 3 pictures. 1 film not shown."
        tab.fill("#query", "mp4")
        tab.wait_for_selector("#state:visible")
        assert tab.inner_text("#foot") == ""


def test_a_raw_file_or_heic_beside_its_jpeg_is_one_picture_if_asked_for(tab, tmp_path):
    make(tmp_path, "pictures/a.jpg", "pictures/A.HEIC", "pictures/b.heic", "pictures/c/a.heic")
    arguments = [tmp_path / "pictures", "--pair", "prefer-jpeg"]
    with serving(*arguments, environment={"XDG_CACHE_HOME": str(tmp_path / "cache")}) as address:
        tab.goto(address + "/?order=name")
        tab.wait_for_function(COUNT, arg="3 pictures")
        names = "[...document.querySelectorAll('.cell')].flatMap(({ cell }) => cell.item?.name ?? []).join(' ')"
        tab.wait_for_function(f"() => {names} === 'a.jpg b.heic c/a.heic'")


def test_a_site_among_the_pictures_is_no_album(tab, tmp_path):
    make(tmp_path, "pictures/album/a.png")
    site = [os.environ["THUMBS"], "site", tmp_path / "pictures", "--output", tmp_path / "pictures/www", "-q"]
    subprocess.run(site, check=True)
    with serving(tmp_path / "pictures", environment={"XDG_CACHE_HOME": str(tmp_path / "cache")}) as address:
        tab.goto(address)
        tab.wait_for_selector("#albums ul a")
        tab.wait_for_function(COUNT, arg="1 picture")
        assert tiles(tab) == [["album", "1 picture"]]
