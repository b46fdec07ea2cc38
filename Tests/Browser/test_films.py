"""Films and Live Photos: real films, the real server and its ffmpeg."""

import subprocess

import pytest
from conftest import numbered_picture, serving
from test_access import findings

FILM = "#viewer .slide:not([inert]) video"


def film(path, *options, seconds=3):
    source = f"testsrc=size=320x180:rate=10:duration={seconds}"
    subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", source, *options, path], check=True)


@pytest.fixture(scope="module")
def films(tmp_path_factory):
    """The address of a server of two films, a Live Photo, a film that no browser plays, one that is none, and a picture."""
    folder = tmp_path_factory.mktemp("films")
    film(folder / "a.webm", "-c:v", "libvpx")
    film(folder / "b.mp4", "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", seconds=62)
    (folder / "c.png").write_bytes(numbered_picture(1))
    film(folder / "d.mov", "-c:v", "libx264", "-pix_fmt", "yuv420p")
    film(folder / "d.jpg", "-frames:v", "1")
    film(folder / "e.mpg", "-c:v", "mpeg2video", "-r", "25")
    (folder / "f.mp4").write_bytes(b"no film")
    with serving(folder, environment={"XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache"))}) as address:
        yield address + "/?order=name"


def show(tab, films, name):
    tab.goto(films)
    tab.wait_for_selector(".cell[data-state=failed]")
    tab.click(f".cell[aria-label^='{name}']")
    tab.wait_for_selector("#viewer[open]")


def test_films_are_listed_with_their_posters_and_running_times(tab, films):
    tab.goto(films)
    tab.wait_for_selector(".cell[data-state=failed]")
    tab.wait_for_function("() => document.querySelectorAll('.cell[data-state=shown]').length === 5")
    kinds = tab.eval_on_selector_all(".cell:not([data-state=empty])", "cells => cells.map(({ dataset }) => dataset.kind)")
    assert kinds[:4] == ["0:03", "1:02", "", "Live"] and kinds[4].startswith("0:0") or kinds[4] == "Film"
    assert kinds[5] == "Film"
    assert tab.get_attribute(".cell >> nth=1", "aria-label").startswith("b.mp4, film of 1:02")
    assert tab.get_attribute(".cell >> nth=3", "aria-label").startswith("d.jpg, Live Photo")
    label = tab.get_attribute(".cell[data-state=failed]", "aria-label")
    assert "A film. There is no picture of it. Press to play it." in label
    assert tab.inner_text("#count") == "2 pictures and 4 films"


def test_a_click_plays_a_film_and_the_next_one_pauses_it(tab, films):
    show(tab, films, "a.webm")
    video = tab.wait_for_selector(FILM)
    video.evaluate("video => { video.muted = video.loop = true; }")
    box = video.bounding_box()
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 4)
    tab.mouse.click(*middle)
    tab.wait_for_function("video => !video.paused && video.currentTime > 0", arg=video)
    # Not a double click.
    tab.wait_for_timeout(1000)
    assert not video.evaluate("video => video.paused")
    tab.mouse.click(*middle)
    tab.wait_for_function("video => video.paused", arg=video)


@pytest.mark.parametrize("name", ["a.webm", "b.mp4"])
def test_a_film_plays_and_is_sought_in_its_ranges(tab, films, name):
    show(tab, films, name)
    requests = []
    tab.on("request", lambda request: request.url.endswith("/film") and requests.append(request.headers.get("range")))
    video = tab.wait_for_selector(FILM)
    # Nothing is fetched before it is played.
    assert video.evaluate("video => [video.preload, video.controls, video.readyState]") == ["none", True, 0]
    assert requests == []
    video.evaluate("async video => { video.muted = true; await video.play(); video.currentTime = video.duration - 1; }")
    tab.wait_for_function("video => !video.seeking && video.currentTime > video.duration - 1.1", arg=video)
    assert requests and requests[0].startswith("bytes=")
    assert findings(tab) == []
    tab.keyboard.press("Escape")
    tab.wait_for_selector("#viewer", state="detached")
    # The request has ended with it.
    assert video.evaluate("video => [video.isConnected, video.getAttribute('src')]") == [False, None]


def test_the_keys_of_a_film_are_its_own(tab, films):
    show(tab, films, "b.mp4")
    tab.focus(FILM)
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press(" ")
    tab.wait_for_function("selector => !document.querySelector(selector).paused", arg=FILM)
    assert tab.inner_text("#viewer .caption") == "b.mp4"
    assert tab.get_attribute("#viewer .play", "aria-pressed") == "false"
    tab.click("#viewer .next")
    tab.wait_for_function("() => document.querySelector('#viewer .caption').textContent === 'c.png'")
    tab.wait_for_selector("#viewer video", state="detached")


def test_a_live_photo_plays_while_it_is_pressed(tab, films):
    show(tab, films, "d.jpg")
    tab.wait_for_selector(".slide:not([inert])[data-state=shown]")
    box = tab.query_selector(".slide:not([inert]) .frame").bounding_box()
    tab.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    tab.mouse.down()
    tab.wait_for_function("selector => document.querySelector(selector)?.currentTime > 0", arg=FILM)
    assert tab.get_attribute("#viewer .live", "aria-pressed") == "true"
    tab.mouse.up()
    tab.wait_for_selector(FILM, state="detached")
    assert tab.get_attribute("#viewer .live", "aria-pressed") == "false"
    # By the keyboard.
    tab.keyboard.press("l")
    tab.wait_for_function("selector => document.querySelector(selector)?.currentTime > 0", arg=FILM)
    tab.focus("#viewer .live")
    tab.keyboard.press("Enter")
    tab.wait_for_selector(FILM, state="detached")
    assert findings(tab) == []
    tab.keyboard.press("ArrowLeft")
    tab.wait_for_selector("#viewer .live", state="hidden")


def test_what_the_browser_cannot_play_can_be_downloaded(tab, films):
    show(tab, films, "e.mpg")
    tab.evaluate("selector => { document.querySelector(selector).play().catch(() => {}); }", FILM)
    tab.wait_for_selector("#viewer .card")
    assert "This browser cannot play this film" in tab.inner_text("#viewer .card")
    assert "cannot play" in tab.inner_text("#viewer .failure")
    assert findings(tab) == []
    with tab.expect_download() as download:
        tab.click("#viewer .card a")
    assert download.value.suggested_filename == "e.mpg"


def test_a_film_in_a_slide_show_plays_without_sound_to_its_end(tab, films):
    show(tab, films, "a.webm")
    tab.click("#viewer .play")
    tab.select_option("#viewer .interval", "30")
    video = tab.wait_for_selector(FILM)
    tab.wait_for_function("video => !video.paused && video.muted && video.currentTime > 0", arg=video)
    # Its end, and not the interval, leads to the next film, which plays, too.
    tab.wait_for_function("() => document.querySelector('#viewer .caption').textContent === 'b.mp4'")
    assert video.evaluate("video => video.isConnected") is False
    tab.wait_for_function("selector => document.querySelector(selector)?.currentTime > 0", arg=FILM)
    assert tab.get_attribute("#viewer .play", "aria-pressed") == "true"
    # One that is paused stays for the interval.
    tab.select_option("#viewer .interval", "3")
    tab.evaluate("selector => document.querySelector(selector).pause()", FILM)
    tab.wait_for_function("() => document.querySelector('#viewer .caption').textContent === 'c.png'")


def test_a_film_that_stalls_ends_no_slide_show_and_the_next_has_sound_again(tab, films):
    # Its bytes never come.
    stalled = []
    tab.route("**/film", lambda route: stalled.append(route) if not stalled else route.continue_())
    show(tab, films, "a.webm")
    tab.click("#viewer .play")
    tab.select_option("#viewer .interval", "3")
    tab.wait_for_function("() => document.querySelector('#viewer .caption').textContent === 'b.mp4'")
    tab.wait_for_function("selector => document.querySelector(selector)?.currentTime > 0", arg=FILM)
    assert tab.eval_on_selector(FILM, "video => video.muted")
    tab.click("#viewer .play")
    assert not tab.eval_on_selector(FILM, "video => video.muted")
    stalled[0].abort()


def test_a_film_that_cannot_be_played_is_a_picture_in_a_slide_show(tab, films):
    show(tab, films, "e.mpg")
    tab.click("#viewer .play")
    tab.select_option("#viewer .interval", "3")
    tab.wait_for_function(
        """selector => !document.querySelector(selector)
        && document.querySelector('#viewer .slide:not([inert]) .large').src.includes('contain')""",
        arg=FILM,
    )
    assert not tab.query_selector("#viewer .slide:not([inert]) .card")
    tab.wait_for_function("() => document.querySelector('#viewer .caption').textContent === 'f.mp4'")
    tab.wait_for_selector("#toast:has-text('That was the last picture.')")
    assert tab.get_attribute("#viewer .play", "aria-pressed") == "false"
