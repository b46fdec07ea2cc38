"""The second click of two, where the first one has uncovered something else."""

import pytest
from conftest import numbered_picture, serving
from test_viewer import opened

# Each event happens at the time that a test says, in milliseconds, however slow this machine is.
CLOCK = """
  window.time = 0;
  const times = new WeakMap();
  Object.defineProperty(Event.prototype, 'timeStamp', {
    get() {
      if (!times.has(this)) times.set(this, window.time);
      return times.get(this);
    },
  });"""


def click(view, x, y, count=1):
    view.page.mouse.move(x, y)
    view.page.mouse.down(click_count=count)
    view.page.mouse.up(click_count=count)
    # What it opens is there in the next frame.
    view.page.evaluate("new Promise(requestAnimationFrame)")


def is_closed(view):
    return view.page.query_selector("#viewer") is None and view.search == ""


# Browsers count a click as a second one only at the very same place.
@pytest.mark.parametrize("count", [1, 2])
def test_beside_an_enlarged_picture_they_close_it_and_open_no_other(gallery, count):
    view = opened(gallery)
    view.page.evaluate(CLOCK)
    click(view, 60, 500)
    view.wait("!document.querySelector('#viewer')")
    click(view, 70, 510, count)
    assert is_closed(view)
    # Keys go on at once.
    view.page.keyboard.press("Enter")
    view.page.wait_for_selector("#viewer[open]")
    view.page.keyboard.press("Escape")
    view.wait("!document.querySelector('#viewer') && !location.search")
    view.page.evaluate("window.time = 501")
    click(view, 60, 500)
    view.page.wait_for_selector("#viewer[open]")


def test_on_a_picture_they_enlarge_it(gallery):
    view = gallery().open()
    view.wait_for_pictures()
    click(view, 60, 500)
    view.page.wait_for_selector("#viewer[open]")
    click(view, 60, 500, 2)
    assert not is_closed(view)


def test_while_it_closes_they_go_back_once(gallery):
    view = opened(gallery)
    view.page.evaluate("window.steps = []; history.back = () => steps.push(-1); 0")
    for count in (1, 2):
        view.page.locator("#viewer .close").dispatch_event("click", {"detail": count})
    assert view.page.evaluate("steps") == [-1]
    for count in (1, 2):
        click(view, 60, 500, count)
    assert view.page.evaluate("steps") == [-1, -1]


def test_taps_beside_an_enlarged_picture_leave_it_and_a_swipe_closes_it(gallery):
    view = opened(gallery, width=390, height=844, has_touch=True, is_mobile=True)
    for _ in range(2):
        view.page.touchscreen.tap(200, 120)
    view.page.evaluate("new Promise(requestAnimationFrame)")
    assert not is_closed(view)
    view.touch("touchStart", (195, 300))
    for y in (350, 450, 550):
        view.touch("touchMove", (195, y))
    view.touch("touchEnd")
    view.wait("!document.querySelector('#viewer')")


def test_beside_a_sheet_they_close_it_and_open_no_picture(gallery):
    view = gallery().open()
    view.wait_for_pictures()
    view.page.evaluate(CLOCK)
    view.page.click("#help")
    for _ in range(2):
        click(view, 60, 500)
        view.wait("!document.querySelector('.sheet')")
    assert is_closed(view)


def test_on_a_folder_they_open_nothing_in_it(tab, tmp_path):
    (tmp_path / "alps/hut").mkdir(parents=True)
    for number, name in enumerate(["alps/hut/door.png", "alps/peak.png"]):
        (tmp_path / name).write_bytes(numbered_picture(number))
    with serving(tmp_path, environment={"XDG_CACHE_HOME": str(tmp_path / ".cache")}) as address:
        tab.goto(address)
        tab.evaluate(CLOCK)
        box = tab.locator("#albums ul a").bounding_box()
        tab.mouse.click(box["x"] + 60, box["y"] + 60)
        tab.wait_for_selector("#albums ul a:has-text('hut')")
        # The way to the folder stands above its folders now.
        inner = tab.locator("#albums ul a").bounding_box()
        tab.mouse.click(box["x"] + 60, max(box["y"] + 60, inner["y"] + 5))
        tab.evaluate("new Promise(requestAnimationFrame)")
        assert tab.evaluate("new URLSearchParams(location.search).get('album')") == "alps"
        tab.go_back()
        tab.wait_for_selector("#albums ul a:has-text('alps')")
