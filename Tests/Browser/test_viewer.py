"""The enlarged view, hiding and undoing."""


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
    touch = view.context.new_cdp_session(view.page)
    for kind, x in [("touchStart", 320), ("touchMove", 240), ("touchMove", 120), ("touchMove", 60), ("touchEnd", None)]:
        points = [] if x is None else [{"x": x, "y": 400}]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
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
