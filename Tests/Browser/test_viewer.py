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
    assert view.sent("delete") == [{"id": "i5"}]
    view.page.click("#toast button")
    view.wait("location.search.includes('open=i5')")
    assert view.sent("undo") == [{"id": "i5"}]


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
