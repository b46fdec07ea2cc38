"""The grid by keys, and what a screen reader hears."""

ACTIVE = "document.activeElement.cell?.index"


def test_arrows_move_between_cells(gallery):
    view = gallery().open(count=500, total=500)
    view.wait_for_pictures()
    view.page.focus(".cell")
    for key, index in [
        ("ArrowRight", 1),
        ("ArrowDown", 6),
        ("ArrowDown", 11),
        ("ArrowLeft", 10),
        ("ArrowUp", 5),
        ("End", 499),
        ("ArrowDown", 499),
        ("Home", 0),
        ("ArrowLeft", 0),
    ]:
        view.page.keyboard.press(key)
        view.wait(f"{ACTIVE} === {index}")
    view.page.keyboard.press("PageDown")
    view.wait(f"{ACTIVE} > 5")
    view.page.keyboard.press("Enter")
    view.page.wait_for_selector("#viewer[open]")


def test_one_cell_is_in_the_tab_order(gallery):
    view = gallery().open(count=500, total=500)
    view.wait_for_pictures()
    stops = "document.querySelectorAll('.cell[tabindex=\"0\"]').length"
    assert view.page.evaluate(stops) == 1
    view.page.mouse.move(400, 400)
    view.page.mouse.wheel(0, 4000)
    view.wait("scrollY > 3000")
    view.wait_for_pictures()
    assert view.page.evaluate(stops) == 1


def test_cells_tell_what_they_show_and_where_they_are(gallery):
    view = gallery().open(count=500, total=500)
    view.wait_for_pictures()
    assert view.page.get_attribute("#grid", "aria-rowcount") == "100"
    assert view.page.get_attribute(".row >> nth=1", "aria-rowindex") == "2"
    assert view.page.get_attribute(".cell >> nth=1", "aria-label") == "lake-1.jpg, by Ada Lindqvist, November 20, 2026"
    view.wait("document.querySelector('#live').textContent === '500 pictures'")


def test_the_scrubber_is_a_slider(gallery):
    sections = [{"title": "May 2026", "count": 300}, {"title": "April 2026", "count": 300}]
    view = gallery().open(kind="folder", count=600, total=600, sections=sections)
    view.wait_for_pictures()
    view.page.focus("#scrubber")
    view.page.keyboard.press("PageDown")
    view.wait("document.querySelector('#scrubber').ariaValueText === 'April 2026'")
    view.page.keyboard.press("End")
    view.wait("document.querySelector('#scrubber').ariaValueNow === '100'")


def test_reduced_motion_has_no_fades(gallery):
    view = gallery(reduced_motion="reduce").open()
    view.wait_for_pictures()
    duration = "getComputedStyle(document.querySelector('.cell img')).transitionDuration"
    assert view.page.evaluate(duration) == "0s"
