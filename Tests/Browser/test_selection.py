"""Selecting pictures by mouse, keys and touch, and what is done with them."""

SELECTED = "[...document.querySelectorAll('.cell[aria-selected=true]')].map(cell => cell.cell.index)"


def cell(view, index):
    return view.page.locator(".cell").nth(index)


def wait_selected(view, *indexes):
    view.wait(f"indexes => JSON.stringify({SELECTED}) === JSON.stringify(indexes)", list(indexes))
    if indexes:
        assert view.page.inner_text("#selection p") == f"{len(indexes)} selected"


def test_the_corner_of_a_cell_selects_and_shift_takes_all_between(gallery):
    view = gallery().open()
    view.wait_for_pictures()
    assert not view.page.is_visible("#selection")
    cell(view, 2).click(position={"x": 12, "y": 12})
    wait_selected(view, 2)
    cell(view, 5).click(modifiers=["Shift"])
    wait_selected(view, 2, 3, 4, 5)
    # As long as something is selected, each click selects.
    cell(view, 4).click()
    wait_selected(view, 2, 3, 5)
    assert view.page.query_selector("#viewer") is None
    view.page.keyboard.press("Escape")
    view.page.wait_for_selector("#selection", state="hidden")
    wait_selected(view)
    cell(view, 4).click()
    view.page.wait_for_selector("#viewer[open]")


def test_dragging_from_cell_to_cell_selects_them(gallery):
    view = gallery().open()
    view.wait_for_pictures()
    view.page.click("#select")
    assert view.page.inner_text("#selection p") == "Select pictures"
    first, last = cell(view, 1).bounding_box(), cell(view, 7).bounding_box()
    view.page.mouse.move(first["x"] + 100, first["y"] + 100)
    view.page.mouse.down()
    view.page.mouse.move(last["x"] + 100, last["y"] + 100, steps=8)
    view.page.mouse.up()
    wait_selected(view, 1, 2, 3, 4, 5, 6, 7)
    view.page.click("#selection .clear")
    view.page.wait_for_selector("#selection", state="hidden")
    assert view.page.evaluate("document.activeElement.id") == "select"


def test_keys_select(gallery):
    view = gallery().open()
    view.wait_for_pictures()
    view.page.focus(".cell >> nth=1")
    view.page.keyboard.press("x")
    wait_selected(view, 1)
    view.page.keyboard.press("Shift+ArrowRight")
    wait_selected(view, 1, 2)
    view.page.keyboard.press("Shift+ArrowDown")
    wait_selected(view, 1, 2, 3, 4, 5, 6, 7)
    view.page.keyboard.press("x")
    wait_selected(view, 1, 2, 3, 4, 5, 6)
    assert view.page.get_attribute("#grid", "aria-multiselectable") == "true"
    view.page.keyboard.press("Delete")
    view.wait("standIn.snapshot.count === 34")
    assert view.sent("delete") == [{"ids": ["i1", "i2", "i3", "i4", "i5", "i6"]}]


def test_a_selection_is_hidden_and_brought_back(gallery):
    view = gallery().open()
    view.wait_for_pictures()
    for index in (3, 8, 6):
        cell(view, index).click(position={"x": 12, "y": 12})
    wait_selected(view, 3, 6, 8)
    view.page.click("#selection .hide")
    view.page.wait_for_selector("#toast:has-text('3 pictures are hidden.')")
    view.page.wait_for_selector("#selection", state="hidden")
    assert view.sent("delete") == [{"ids": ["i3", "i6", "i8"]}]
    view.page.click("#toast button")
    view.wait("standIn.snapshot.count === 40")
    assert view.sent("undo") == [{"ids": ["i3", "i6", "i8"]}]


def test_the_links_of_a_selection_are_copied(gallery):
    view = gallery(permissions=[]).open()
    view.page.evaluate(
        "Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text) => (window.copied = text) } })"
    )
    view.wait_for_pictures()
    for index in (3, 8):
        cell(view, index).click(position={"x": 12, "y": 12})
    view.page.click("#selection .copy")
    view.page.wait_for_selector("#toast:has-text('2 links are copied.')")
    links = view.page.evaluate("copied").split("\n")
    assert links == ["http://gallery.invalid/?at=3&open=i3", "http://gallery.invalid/?at=8&open=i8"]


def test_a_finger_that_stays_selects_and_goes_on_to_others(gallery):
    view = gallery(390, 844, has_touch=True, is_mobile=True).open()
    view.wait_for_pictures()
    boxes = [cell(view, index).bounding_box() for index in range(6)]
    middles = [(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in boxes]
    view.touch("touchStart", middles[1])
    wait_selected(view, 1)
    place = view.page.evaluate("scrollY")
    for middle in middles[3], middles[4]:
        view.touch("touchMove", middle)
    wait_selected(view, 1, 2, 3, 4)
    view.touch("touchEnd")
    assert view.page.evaluate("scrollY") == place
    view.page.tap(".cell >> nth=0")
    wait_selected(view, 0, 1, 2, 3, 4)
    # A finger that moves at once scrolls.
    view.page.tap("#selection .clear")
    wait_selected(view)
    view.touch("touchStart", (200, 700))
    for y in (600, 500, 300):
        view.touch("touchMove", (200, y))
    view.touch("touchEnd")
    view.wait("scrollY > 100")
    wait_selected(view)


def test_more_than_can_be_selected_is_said(gallery):
    view = gallery().open(count=9000, total=9000)
    view.wait_for_pictures()
    cell(view, 0).click(position={"x": 12, "y": 12})
    view.page.focus("#scrubber")
    view.page.keyboard.press("End")
    view.wait("document.querySelectorAll('.cell')[5].cell.index > 8000")
    view.wait_for_pictures()
    cell(view, 5).click(modifiers=["Shift"])
    view.page.wait_for_selector("#toast:has-text('At most 2,000 pictures')")
    assert view.page.inner_text("#selection p") == "1 selected"
    # Other results have nothing that was selected.
    view.page.fill("#query", "hills", force=True)
    view.page.wait_for_selector("#selection", state="hidden")
