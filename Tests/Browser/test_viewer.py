"""The enlarged view, hiding and undoing."""

import math
import re
from urllib.parse import urlsplit

from conftest import ALL_CASES, poll

FRAME = "document.querySelector('.slide:not([inert]) .frame')"
ZOOM = f"Number({FRAME}.style.scale || 1)"


def opened(gallery, index=3, width=1280, height=800, setup=None, **options):
    """A gallery with an enlarged picture."""
    view = gallery(width, height, **options).open(**(setup or {}))
    view.wait_for_pictures()
    cell = view.page.locator(".cell").nth(index)
    cell.tap() if options.get("has_touch") else cell.click()
    view.page.wait_for_selector(".slide:not([inert])[data-state=shown]")
    return view


def test_the_panel_says_what_the_picture_is(gallery):
    details = {
        "aperture": 2.8,
        "bytes": 4321000,
        "camera": "NIKON Z 6",
        "exposureTime": 0.004,
        "focalLength": 50.0,
        "latitude": -33.856775,
        "lens": "50 mm f/1.8",
        "longitude": 151.2,
        "sensitivity": 400,
        "taken": "2026-11-20T08:05:09+01:00",
    }
    view = gallery()
    view.details = details
    view.open(kind="folder")
    view.wait_for_pictures()
    requests = []
    view.page.on("request", lambda request: requests.append(request.url))
    view.page.click(".cell >> nth=3")
    view.page.keyboard.press("i")
    view.page.wait_for_selector(".panel:has-text('NIKON')")
    text = view.page.inner_text(".panel")
    for words in [
        "lake-3.jpg",
        "4.3 MB",
        "November 20, 2026 08:05 (UTC+01:00) – from the camera",
        "50 mm f/1.8",
        "1/250 s, f/2.8, ISO 400, 50 mm",
        "600 × 400",
        "33.85677° S, 151.20000° E",
    ]:
        assert words in text, (words, text)
    map_link = view.page.locator(".panel a", has_text="Show on a map")
    assert map_link.get_attribute("href").startswith("https://www.openstreetmap.org/?mlat=-33.856775&mlon=151.2")
    assert map_link.get_attribute("rel") == "noopener noreferrer"
    # It stays open for the next picture, and closes as it was opened.
    view.page.keyboard.press("ArrowRight")
    view.page.wait_for_selector(".panel:has-text('lake-4.jpg')")
    assert not any("openstreetmap" in url for url in requests)
    view.page.click("#viewer .info")
    view.page.wait_for_selector(".panel", state="hidden")


def test_the_panel_of_a_service_has_author_and_licence(gallery):
    view = opened(gallery, setup={"item": {"download": None, "dateSource": None, "date": None}})
    view.page.keyboard.press("i")
    text = view.page.inner_text(".panel")
    assert "Ada Lindqvist" in text and "CC BY 4.0" in text and "Taken" not in text


def test_a_slide_show_goes_on_until_the_last_picture(gallery):
    view = gallery()
    view.page.clock.install()
    view.open(count=4, total=4)
    view.page.clock.run_for(500)
    view.page.wait_for_selector(".cell[data-state=shown]")
    view.page.click(".cell >> nth=2")
    view.page.wait_for_selector("#viewer[open]")
    view.page.keyboard.press("Space")
    view.page.select_option(".interval", "3")
    assert view.page.get_attribute(".play", "aria-pressed") == "true"
    view.page.clock.run_for(3_000)
    view.wait("location.search.includes('open=i3')")
    view.page.wait_for_selector(".slide:not([inert])[data-state=shown]", state="attached")
    view.page.clock.run_for(500)
    view.page.wait_for_selector(".view.resting")
    view.page.clock.run_for(3_000)
    view.page.wait_for_selector("#toast:has-text('last picture')")
    assert view.page.get_attribute(".play", "aria-pressed") == "false"


def test_a_key_fills_the_screen_and_leaves_it(gallery):
    view = opened(gallery)
    view.page.keyboard.press("f")
    view.wait("document.fullscreenElement?.className === 'view'")
    view.page.keyboard.press("Delete")
    view.page.wait_for_selector(".view #toast:visible")
    view.page.keyboard.press("f")
    view.wait("document.fullscreenElement === null")


def test_the_sheet_of_shortcuts_opens_anywhere(gallery):
    view = opened(gallery)
    view.page.keyboard.press("?")
    view.page.wait_for_selector("#shortcuts-title")
    view.page.keyboard.press("ArrowRight")
    view.page.keyboard.press("Escape")
    view.page.wait_for_selector("#shortcuts-title", state="detached")
    assert view.search == "?open=i3"
    view.page.keyboard.press("Escape")
    view.page.wait_for_selector("#viewer", state="hidden")
    view.page.keyboard.press("?")
    view.page.click("dialog .close")
    view.page.wait_for_selector("#shortcuts-title", state="detached")
    view.page.focus("#query")
    view.page.keyboard.type("?")
    assert view.page.query_selector("#shortcuts-title") is None


LARGE = {"item": {"width": 6000, "height": 4000}}


def test_the_wheel_zooms_about_the_pointer(gallery):
    view = opened(gallery, setup=LARGE)
    view.pictures.clear()
    box = view.page.evaluate(f"{FRAME}.getBoundingClientRect().toJSON()")
    x, y = box["x"] + box["width"] * 0.7, box["y"] + box["height"] * 0.4
    view.page.mouse.move(x, y)
    for _ in range(4):
        view.page.mouse.wheel(0, -200)
    view.wait(f"{ZOOM} > 4")
    box = view.page.evaluate(f"{FRAME}.getBoundingClientRect().toJSON()")
    assert abs((x - box["x"]) / box["width"] - 0.7) < 0.01
    assert abs((y - box["y"]) / box["height"] - 0.4) < 0.01
    # A sharper form comes, and the old one stays until then.
    view.wait_for_picture("2560x2560-contain")
    for _ in range(40):
        view.page.mouse.wheel(0, -400)
    most = view.page.evaluate(f"6000 * 4 / parseFloat({FRAME}.style.width)")
    view.wait(f"Math.abs({ZOOM} - {most}) < 0.01")
    for _ in range(60):
        view.page.mouse.wheel(0, 400)
    view.wait(f"{ZOOM} === 1")


def windows(view, paths=None):
    """The windows of the original that were requested: left, top, width and height each, and the size in pixels."""
    names = [path.split("/")[3] for path in (view.pictures if paths is None else paths)]
    found = [re.fullmatch(r"(\d+)x(\d+)\+(\d+)\+(\d+)-(\d+)x(\d+)", name) for name in names]
    parts = [tuple(map(int, match.groups())) for match in found if match]
    return [(left, top, width, height, (across, down)) for width, height, left, top, across, down in parts]


def test_what_is_seen_of_the_pixels_is_made_of_windows_of_the_original(gallery):
    view = opened(gallery, setup=LARGE)
    # 1.5 times: a form of the whole has enough pixels.
    view.page.keyboard.press("+")
    view.wait_for_picture("2048x2048-contain")
    assert windows(view) == []
    view.page.keyboard.press("0")
    # In the order of the page: the server receives them on several connections.
    sent = []
    view.page.on("request", lambda request: "/picture/" in request.url and sent.append(urlsplit(request.url).path))
    view.page.mouse.dblclick(640, 400)
    stage = view.page.evaluate("document.querySelector('.stage').getBoundingClientRect().toJSON()")
    columns = range(int((3000 - stage["width"] / 2) // 512), int((3000 + stage["width"] / 2 - 1) // 512) + 1)
    rows = range(int((2000 - stage["height"] / 2) // 512), int((2000 + stage["height"] / 2 - 1) // 512) + 1)
    view.wait(f"document.querySelectorAll('.windows img').length === {len(columns) * len(rows)}")
    expected = {(column * 512, row * 512, 512, 512, (512, 512)) for column in columns for row in rows}
    assert set(windows(view)) == expected and len(windows(view)) == len(expected)
    # The first is nearest to the middle, and lies where its pixels are.
    left, top, *_ = windows(view, sent)[0]
    assert abs(left + 256 - 3000) <= 256 and abs(top + 256 - 2000) <= 256
    view.wait(
        """([name, middle]) => {
          const image = [...document.querySelectorAll('.windows img')].find(({ src }) => src.includes(name));
          const { x, width } = image.getBoundingClientRect();
          return Math.abs(x - middle) < 1 && Math.abs(width - 512) < 1;
        }""",
        [f"+{left}+{top}-", stage["x"] + stage["width"] / 2 + left - 3000],
    )
    # The image's last pixels, in windows of their own size.
    view.pictures.clear()
    for _ in range(80):
        view.page.keyboard.press("ArrowRight")
    view.wait(f"document.querySelector('.windows img[src*=\"+5632+\"]')")
    assert {width for left, _, width, *_ in windows(view) if left == 5632} == {6000 - 5632}
    # Another picture begins without any.
    view.page.keyboard.press("0")
    view.page.keyboard.press("ArrowRight")
    view.wait("location.search === '?open=i4'")
    view.wait("!document.querySelector('.windows img')")


def test_windows_cover_the_screen_in_a_huge_picture(gallery):
    view = opened(gallery, setup={"item": {"width": 24000, "height": 12000}})
    # Windows of one reduction, a power of two, without any gap.
    covered = """(reduction) => {
      const { left, top, width, height } = document.querySelector('.stage').getBoundingClientRect();
      const places = [...document.querySelectorAll('.windows img')].filter(({ src }) => {
        const [, taken, made] = src.match(/([0-9]+)x[0-9]+[+].*-([0-9]+)x/);
        return Number(taken) === made * reduction;
      }).map((image) => image.getBoundingClientRect());
      const shares = Array.from({ length: 40 }, (_, index) => (index + 0.5) / 40);
      return shares.every((share) => [0.1, 0.9].every((other) => places.some((place) =>
        place.left <= left + share * width && place.right >= left + share * width &&
        place.top <= top + other * height && place.bottom >= top + other * height)));
    }"""
    for steps in (4, 3):
        for _ in range(steps):
            view.page.keyboard.press("+")
        view.page.keyboard.press("ArrowRight")
        view.page.keyboard.press("ArrowDown")
        per_pixel = view.page.evaluate(f"24000 / ({ZOOM} * parseFloat({FRAME}.style.width))")
        view.wait(covered, 2 ** max(0, math.floor(math.log2(per_pixel))))


def test_a_double_click_shows_the_pixels_and_the_whole_again(gallery):
    view = opened(gallery, setup=LARGE)
    view.page.mouse.dblclick(640, 400)
    view.wait(f"Math.abs({ZOOM} * parseFloat({FRAME}.style.width) - 6000) < 1")
    view.page.mouse.dblclick(640, 400)
    view.wait(f"{ZOOM} === 1")
    assert view.search == "?open=i3"


def test_a_double_click_before_the_size_is_known_shows_the_pixels_in_the_end(gallery):
    view = gallery()
    view.page.add_init_script("addEventListener('DOMContentLoaded', () => (standIn.isUnsized = true))")
    view.open("/?open=i3", **LARGE)
    view.page.wait_for_selector("#viewer [data-state=shown]")
    view.page.evaluate("addEventListener('dblclick', () => (standIn.isUnsized = false))")
    view.page.mouse.dblclick(640, 400)
    view.wait(f"Math.abs({ZOOM} * parseFloat({FRAME}.style.width) - 6000) < 1")


def test_a_zoomed_picture_is_dragged_within_its_bounds(gallery):
    view = opened(gallery, setup=LARGE)
    view.page.mouse.move(640, 400)
    view.page.mouse.dblclick(640, 400)
    view.wait(f"{ZOOM} > 1")
    before = view.page.evaluate(f"parseFloat({FRAME}.style.translate)")
    view.page.mouse.down()
    view.page.mouse.move(740, 400, steps=5)
    view.page.mouse.up()
    view.wait(f"parseFloat({FRAME}.style.translate) > {before} + 80")
    for _ in range(20):
        view.page.mouse.move(100, 400)
        view.page.mouse.down()
        view.page.mouse.move(1200, 400, steps=2)
        view.page.mouse.up()
    view.wait(f"Math.abs({FRAME}.getBoundingClientRect().left) < 1")
    # No click came of it, and the keys look around.
    assert view.page.evaluate("document.querySelector('#viewer').open")
    view.page.keyboard.press("ArrowRight")
    view.wait(f"{FRAME}.getBoundingClientRect().left < -40")
    assert view.search == "?open=i3"
    view.page.keyboard.press("PageDown")
    view.wait("location.search === '?open=i4'")
    assert view.page.evaluate(ZOOM) == 1


def test_keys_zoom(gallery):
    view = opened(gallery, setup=LARGE)
    view.page.mouse.move(5, 780)
    view.page.keyboard.press("+")
    view.page.keyboard.press("+")
    view.wait(f"Math.abs({ZOOM} - 2.25) < 0.01")
    view.page.keyboard.press("-")
    view.wait(f"Math.abs({ZOOM} - 1.5) < 0.01")
    view.page.keyboard.press("0")
    view.wait(f"{ZOOM} === 1")


def test_a_pinch_and_a_double_tap_zoom_and_no_swipe_leaves_a_zoomed_picture(gallery):
    view = opened(gallery, width=390, height=844, setup=LARGE, has_touch=True, is_mobile=True)
    view.touch("touchStart", (150, 400), (240, 400))
    for step in range(1, 6):
        view.touch("touchMove", (150 - step * 12, 400), (240 + step * 12, 400))
    view.touch("touchEnd")
    view.wait(f"Math.abs({ZOOM} - 210 / 90) < 0.1")
    view.touch("touchStart", (300, 400))
    view.touch("touchMove", (200, 400))
    view.touch("touchMove", (60, 400))
    view.touch("touchEnd")
    view.wait(f"parseFloat({FRAME}.style.translate) < -50")
    assert view.search == "?open=i3"
    for _ in range(2):
        view.touch("touchStart", (195, 400))
        view.touch("touchEnd")
    view.wait(f"{ZOOM} === 1")


def test_a_click_enlarges_and_back_closes(gallery):
    view = gallery().open()
    view.wait_for_pictures()
    view.page.click(".cell >> nth=3")
    view.page.wait_for_selector(".slide[data-state=shown]")
    assert view.search == "?open=i3"
    view.page.go_back()
    view.page.wait_for_selector("#viewer", state="hidden")
    assert view.search == ""
    assert view.page.evaluate("document.activeElement.cell.index") == 3


def test_keys_go_on_and_escape_returns_the_focus(gallery):
    view = gallery().open(count=500, total=500)
    view.wait_for_pictures()
    view.page.click(".cell >> nth=3")
    view.page.wait_for_selector("#viewer[open]")
    for _ in range(40):
        view.page.keyboard.press("ArrowRight")
    view.wait("location.search.includes('open=i43')")
    assert view.page.inner_text(".position") == "44 of 500"
    view.page.keyboard.press("Escape")
    view.wait("document.activeElement.cell?.index === 43")
    box = view.page.evaluate("document.activeElement.getBoundingClientRect().toJSON()")
    assert 56 <= box["top"] and box["bottom"] <= 800


def test_the_neighbours_are_preloaded(gallery):
    view = gallery().open()
    view.wait_for_pictures()
    view.page.click(".cell >> nth=3")
    view.page.wait_for_selector(".slide[data-state=shown] >> nth=2", state="attached")
    wanted = {path.split("/")[2].lstrip("0") for path in view.pictures if path.endswith("1600x1600-contain")}
    assert wanted == {"2", "3", "4"}


def test_a_link_to_an_enlarged_picture_opens_it(gallery):
    view = gallery().open("/?at=100&open=i117", count=500, total=500)
    view.page.wait_for_selector("#viewer[open]")
    assert view.page.inner_text(".position") == "118 of 500"
    view.page.keyboard.press("Escape")
    view.page.wait_for_selector("#viewer", state="hidden")
    assert "open" not in view.search


def test_author_and_licence_are_given(gallery):
    view = gallery().open()
    view.wait_for_pictures()
    view.page.click(".cell")
    view.page.wait_for_selector("#viewer[open]")
    facts = view.page.inner_text(".facts")
    assert "Ada Lindqvist" in facts and "CC BY 4.0" in facts
    assert view.page.get_attribute(".facts a", "rel") == "noopener noreferrer"


def test_links_lead_only_to_the_web(gallery):
    view = gallery().open(item={"page": "javascript:alert(1)", "authorURL": "data:text/html,x", "name": "<b>x</b>"})
    view.wait_for_pictures()
    view.page.click(".cell")
    view.page.wait_for_selector("#viewer[open]")
    assert view.page.query_selector(".facts a") is None
    assert view.page.inner_text(".caption") == "<b>x</b>"


def test_a_hidden_picture_can_be_brought_back(gallery):
    view = gallery().open()
    view.wait_for_pictures()
    view.page.click(".cell >> nth=5")
    view.page.wait_for_selector("#viewer[open]")
    view.page.click("#viewer .hide")
    view.wait("location.search.includes('open=i6')")
    assert view.sent("delete") == [{"ids": ["i5"]}]
    view.page.click("#toast button")
    view.wait("location.search.includes('open=i5')")
    assert view.sent("undo") == [{"ids": ["i5"]}]


def test_a_held_enter_opens_a_picture_and_hides_none(gallery):
    view = gallery().open()
    view.wait_for_pictures()
    view.page.focus(".cell >> nth=3")
    for _ in range(30):
        # Each further one is a repetition, as of a key that is held.
        view.page.keyboard.down("Enter")
    view.page.wait_for_selector("#viewer[open]")
    assert view.page.evaluate("document.activeElement.className") == "stage"
    for _ in range(30):
        view.page.keyboard.down("Enter")
    view.page.keyboard.up("Enter")
    assert view.sent("delete") == []
    assert view.search == "?open=i3"


def test_only_a_click_and_one_press_of_delete_hide(gallery):
    view = gallery().open()
    view.wait_for_pictures()
    view.page.click(".cell >> nth=5")
    view.page.wait_for_selector("#viewer[open]")
    for key in ["Enter", " "]:
        view.page.focus("#viewer .hide")
        view.page.keyboard.press(key)
        view.page.keyboard.down(key)
        view.page.keyboard.down(key)
        view.page.keyboard.up(key)
    assert view.sent("delete") == []
    view.page.click("#viewer .hide")
    view.wait("location.search.includes('open=i6')")
    # The focus is no longer on the button, where the next key would be meant for something else.
    assert view.page.evaluate("document.activeElement.className") == "stage"
    for _ in range(5):
        view.page.keyboard.down("Delete")
    view.page.keyboard.up("Delete")
    view.wait("location.search.includes('open=i7')")
    view.page.keyboard.press("Escape")
    view.wait("document.activeElement.cell?.item?.id === 'i7'")
    for _ in range(5):
        view.page.keyboard.down("Delete")
    view.page.keyboard.up("Delete")
    view.wait("document.activeElement.cell?.item?.id === 'i8'")
    assert view.sent("delete") == [{"ids": ["i5"]}, {"ids": ["i6"]}, {"ids": ["i7"]}]


def test_one_undo_brings_back_all_that_were_hidden_since_it_was_shown(gallery):
    view = gallery().open()
    view.wait_for_pictures()
    view.page.focus(".cell >> nth=2")
    for following in ["i3", "i4", "i5"]:
        view.page.keyboard.press("Delete")
        view.wait("id => document.activeElement.cell?.item?.id === id", following)
    assert view.page.inner_text("#toast span") == "3 pictures are hidden."
    view.page.keyboard.press("Control+z")
    view.wait("standIn.snapshot.count === 40")
    assert view.sent("undo") == [{"ids": ["i2", "i3", "i4"]}]
    # What is hidden next is a matter of its own.
    view.wait_for_pictures()
    view.page.focus(".cell >> nth=0")
    view.page.keyboard.press("Delete")
    view.wait("standIn.snapshot.count === 39")
    view.page.click("#toast button")
    view.wait("standIn.snapshot.count === 40")
    assert view.sent("undo")[1:] == [{"ids": ["i0"]}]


def test_the_page_says_how_many_are_hidden_and_shows_them_again(gallery):
    view = gallery().open()
    view.wait_for_pictures()
    assert not view.page.is_visible("#hidden")
    view.page.evaluate("standIn.hidden = [0, 1, 2, 3, 4, 5, 6, 7, 8]")
    view.revise(count=31, total=31, hidden=9)
    view.page.wait_for_selector("#hidden:has-text('9 hidden – show')")
    view.page.click("#hidden")
    view.page.wait_for_selector("#hidden", state="hidden")
    view.wait("document.querySelector('#count').textContent === '40 pictures'")
    assert view.page.inner_text("#toast span") == "9 pictures shown again."
    view.page.click("#toast button")
    view.page.wait_for_selector("#hidden:has-text('9 hidden – show')")
    # They stand there where all are hidden, and on a small screen.
    view.page.set_viewport_size({"width": 390, "height": 844})
    view.revise(count=0, total=0, state="empty", hidden=1234)
    view.page.wait_for_selector("#hidden:has-text('1,234 hidden – show')")
    assert view.page.evaluate("document.documentElement.scrollWidth") <= 390


def test_hiding_from_the_grid_keeps_the_place_and_the_other_pictures(gallery):
    view = gallery().open()
    view.wait_for_pictures()
    view.page.focus(".cell >> nth=2")
    view.pictures.clear()
    view.page.keyboard.press("Delete")
    view.wait("document.activeElement.cell?.item?.id === 'i3'")
    view.wait_for_pictures()
    assert len(view.pictures) <= 1


def test_the_photo_service_is_told_before_a_download(gallery):
    view = gallery().open()
    view.wait_for_pictures()
    view.page.click(".cell")
    view.page.wait_for_selector("#viewer[open]")
    with view.page.expect_download():
        view.page.click("#viewer .download")
    assert view.sent("use") == [{"id": "i0"}]


def test_a_swipe_goes_to_the_next_picture(gallery):
    view = gallery(390, 844, has_touch=True, is_mobile=True).open()
    view.wait_for_pictures()
    view.page.tap(".cell")
    view.page.wait_for_selector(".slide[data-state=shown]")
    view.touch("touchStart", (320, 400))
    for x in (240, 120, 60):
        view.touch("touchMove", (x, 400))
    view.touch("touchEnd")
    view.wait("location.search.includes('open=i1')")


def test_more_pictures_than_a_message_takes_can_be_hidden_again(gallery):
    view = gallery().open(count=9000, total=9000)
    view.wait_for_pictures()
    view.page.evaluate("standIn.hidden = Array.from({ length: 6000 }, (_, number) => number)")
    view.revise(count=3000, total=3000, hidden=6000)
    view.page.click("#hidden:has-text('6,000 hidden – show')")
    view.wait("standIn.snapshot.count === 9000")
    view.page.click("#toast button")
    view.wait("standIn.snapshot.hidden === 6000")
    assert max(len(str(body)) for body in view.sent("delete")) < 64 << 10


def slow(view):
    """Lets large forms wait until the page's `finish()`."""
    view.page.evaluate(
        """() => {
          const decode = HTMLImageElement.prototype.decode;
          const finished = new Promise((resolve) => (window.finish = resolve));
          HTMLImageElement.prototype.decode = async function () {
            if (this.className === 'large') await finished;
            return decode.call(this);
          };
        }"""
    )


def fail_items(view):
    """Lets requests for items fail while the page's `isBroken` is set."""
    view.page.evaluate(
        """() => {
          const send = window.fetch;
          window.isBroken = true;
          window.fetch = async (path, options) => {
            if (window.isBroken && String(path).includes('/items')) throw new TypeError();
            return send(path, options);
          };
        }"""
    )


def playing(gallery, **setup):
    """A slide show with an interval of three seconds, by a clock that the test moves."""
    view = gallery()
    view.page.clock.install()
    view.open(**setup)
    view.page.clock.run_for(500)
    view.page.wait_for_selector(".cell[data-state=shown]")
    slow(view)
    view.page.click(".cell >> nth=2")
    view.page.wait_for_selector("#viewer[open]")
    view.page.keyboard.press("Space")
    view.page.select_option(".interval", "3")
    view.page.clock.run_for(500)
    return view


def test_a_slide_show_waits_for_a_picture_that_loads(gallery):
    view = playing(gallery)
    view.page.clock.run_for(9_000)
    assert view.search == "?open=i2"
    view.page.evaluate("finish()")
    view.page.wait_for_selector(".slide:not([inert])[data-state=shown]", state="attached")
    view.page.clock.run_for(2_000)
    assert view.search == "?open=i2"
    view.page.clock.run_for(1_000)
    view.page.wait_for_url("**/?open=i3")


def test_a_slide_show_goes_on_below_a_sheet_and_stays_where_it_is(gallery):
    view = playing(gallery)
    view.page.evaluate("finish()")
    view.page.wait_for_selector(".slide:not([inert])[data-state=shown]", state="attached")
    view.page.keyboard.press("?")
    view.page.wait_for_selector("[aria-labelledby=shortcuts-title][open]")
    view.page.clock.run_for(3_000)
    view.page.wait_for_url("**/?open=i3")
    view.page.keyboard.press("Escape")
    view.wait("!document.querySelector('dialog.sheet[open]') && !history.state.isCover")
    assert view.search == "?open=i3" and view.page.is_visible("#viewer")


def test_a_slide_show_pauses_in_a_hidden_tab(gallery):
    view = playing(gallery)
    view.page.evaluate("finish()")
    view.page.wait_for_selector(".slide:not([inert])[data-state=shown]", state="attached")
    view.show_tab(False)
    view.page.clock.run_for(9_000)
    assert view.search == "?open=i2"
    view.show_tab(True)
    view.page.clock.run_for(3_000)
    view.page.wait_for_url("**/?open=i3")


def test_a_slide_show_goes_on_after_a_failed_request(gallery):
    view = gallery()
    view.page.clock.install()
    view.open("/?at=99&open=i99", count=1000, total=1000)
    view.page.clock.run_for(500)
    view.page.wait_for_selector(".slide:not([inert])[data-state=shown]", state="attached")
    fail_items(view)
    view.page.evaluate("standIn.revise({})")
    view.page.keyboard.press("Space")
    view.page.select_option(".interval", "3")
    view.page.clock.run_for(7_000)
    assert view.page.inner_text(".position") == "100 of 1,000"
    view.page.evaluate("isBroken = false")
    view.page.clock.run_for(3_500)
    view.page.wait_for_selector(".position:text-is('101 of 1,000')", state="attached")


def test_an_image_does_not_stick_to_a_mouse_that_was_let_go_outside(gallery):
    view = opened(gallery, setup=LARGE)
    mouse = view.page.mouse
    mouse.move(640, 400)
    mouse.down()
    mouse.move(640, 20)
    mouse.up()
    mouse.move(640, 400)
    for _ in range(5):
        mouse.wheel(0, -200)
    view.wait(f"{ZOOM} > 2")
    before = view.page.evaluate(f"{FRAME}.style.translate")
    mouse.move(760, 400, steps=5)
    assert view.page.evaluate(f"{FRAME}.style.translate") == before


def test_keys_act_on_the_enlarged_view_wherever_the_focus_is(gallery):
    view = opened(gallery, index=2, setup={"count": 4, "total": 4, **LARGE})
    view.page.click("#viewer .next")
    view.wait("location.search === '?open=i3'")
    assert view.page.evaluate("document.activeElement.className") == "stage"
    view.page.keyboard.press("ArrowLeft")
    view.wait("location.search === '?open=i2'")
    # A click on text takes the focus from everything.
    view.page.click("#viewer .caption")
    view.page.keyboard.press("+")
    view.wait(f"{ZOOM} > 1")
    assert view.page.evaluate("localStorage.density") is None
    view.page.keyboard.press("f")
    view.wait("document.fullscreenElement?.className === 'view'")


def test_back_closes_the_sheet_of_shortcuts_and_then_the_view_that_fills_the_screen(gallery):
    view = opened(gallery)
    view.page.keyboard.press("f")
    view.wait("document.fullscreenElement?.className === 'view'")
    view.page.keyboard.press("?")
    view.page.wait_for_selector(".view #shortcuts-title")
    view.page.evaluate("history.back()")
    view.page.wait_for_selector("#shortcuts-title", state="detached")
    assert view.page.is_visible("#viewer")
    view.page.evaluate("history.back()")
    view.page.wait_for_selector("#viewer", state="detached")
    view.page.click(".cell >> nth=3")
    view.page.wait_for_selector("#viewer[open]")
    assert view.page.query_selector("#viewer dialog") is None


def test_a_held_key_requests_only_what_stays(gallery):
    view = opened(gallery, setup={"patience": 20})
    view.page.keyboard.press("i")
    view.wait_for_picture("3/details")
    view.pictures.clear()
    for _ in range(20):
        view.page.keyboard.down("ArrowRight")
    view.page.keyboard.up("ArrowRight")
    view.page.wait_for_selector(".position:text-is('24 of 40')")
    view.wait_for_picture("17/details")
    assert sum(path.endswith("details") for path in view.pictures) <= 2
    assert sum("1600x1600" in path for path in view.pictures) <= 6


def test_keys_scroll_the_panel_that_has_the_focus(gallery):
    view = opened(gallery, height=300)
    view.page.keyboard.press("i")
    view.page.focus("#viewer .panel")
    for key in ["PageDown", " "]:
        before = view.page.evaluate("document.querySelector('.panel').scrollTop = 0")
        view.page.keyboard.press(key)
        view.wait("before => document.querySelector('.panel').scrollTop > before", before)
    assert view.search == "?open=i3"
    assert view.page.get_attribute(".play", "aria-pressed") == "false"


def test_a_picture_that_cannot_be_cut_says_so_and_is_asked_once(gallery):
    view = opened(gallery, setup=LARGE)
    complaints = []
    view.page.on("console", lambda message: complaints.append(message.text))
    view.whole.add("00000000000000000000000000000003")
    view.page.mouse.dblclick(640, 400)
    # 60 of 6,000 pixels have come.
    sentence = "Shown at 1 % of its full size: this file cannot be read in parts."
    view.page.wait_for_selector(f".softness:text-is('{sentence}')")
    # The largest form comes in place of the windows.
    view.wait_for_picture("00000000000000000000000000000003/4096x4096-contain")
    for key in ["ArrowLeft", "ArrowUp"] * 10:
        view.page.keyboard.press(key)
    view.page.keyboard.press("0")
    view.wait("document.querySelector('.softness').textContent === ''")
    view.page.mouse.dblclick(640, 400)
    view.page.wait_for_selector(f".softness:text-is('{sentence}')")
    assert len(windows(view)) == 1 and complaints == []
    # Another picture has its own windows.
    view.page.keyboard.press("0")
    view.page.keyboard.press("ArrowRight")
    view.wait("location.search === '?open=i4'")
    view.page.mouse.dblclick(640, 400)
    view.page.wait_for_selector(".windows img", state="attached")
    assert view.page.inner_text(".softness") == ""


def test_a_picture_whose_windows_are_refused_is_not_said_to_be_soft(gallery):
    view = opened(gallery, setup=LARGE)
    asked = []

    def refuse(route):
        asked.append(route.request.url)
        route.fulfill(status=404)

    view.page.route("**/picture/*/*+*", refuse)
    view.page.mouse.dblclick(640, 400)
    poll(view.page, lambda: asked, "a window is requested")
    for _ in range(10):
        view.page.keyboard.press("ArrowLeft")
    # Real time: what must not come would have come by then, and a page that is late fails nothing.
    view.page.wait_for_timeout(500)
    assert len(asked) == 1 and view.page.inner_text(".softness") == ""


def test_pictures_without_files_have_no_windows_and_ask_for_none(gallery):
    view = opened(gallery, setup={"item": {**LARGE["item"], "download": None}})
    view.page.mouse.dblclick(640, 400)
    view.page.wait_for_selector(".softness:text-is('Shown at 1 % of its full size.')")
    assert windows(view) == []


# The windows that are on their way, and the most of them at once.
HELD = """() => {
  window.held = new Set();
  window.most = 0;
  const { decode } = HTMLImageElement.prototype;
  HTMLImageElement.prototype.decode = function () {
    if (this.src.includes('+')) held.add(this);
    most = Math.max(most, held.size);
    return decode.call(this).finally(() => held.delete(this));
  };
}"""


def test_windows_leave_connections_for_everything_else(gallery):
    view = opened(gallery, width=2560, height=1600, setup=LARGE)
    view.page.evaluate(HELD)
    view.page.mouse.dblclick(1280, 800)
    view.wait("document.querySelectorAll('.windows img').length >= 9")
    assert 1 <= view.page.evaluate("most") <= 4


def test_windows_on_the_screen_stay_however_many_they_are(gallery):
    size = {"item": {"width": 24000, "height": 16000}}
    view = opened(gallery, width=3200, height=2400, setup=size, device_scale_factor=2)
    view.page.evaluate(HELD)
    for _ in range(3):
        view.page.keyboard.press("+")
    count = "document.querySelectorAll('.slide:not([inert]) .windows img').length"
    view.wait(f"{count} > 100")
    wanted = [-1]
    at_rest = lambda: wanted.append(len(windows(view))) or wanted[-2] == wanted[-1] and not view.page.evaluate("held.size")
    poll(view.page, at_rest, "all windows are there", pause=500)
    view.pictures.clear()
    view.page.keyboard.press("ArrowLeft")
    # Real time: what must not come would have come by then, and a page that is late fails nothing.
    view.page.wait_for_timeout(500)
    # The next column at most: what was there is not requested again.
    assert len(windows(view)) < 20, windows(view)
