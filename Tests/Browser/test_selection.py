"""Selecting pictures by mouse, keys and touch, and what is done with them."""

SELECTED = "[...document.querySelectorAll('.cell[aria-selected=true]')].map(cell => cell.cell.index)"


def cell(view, index):
    return view.page.locator(".cell").nth(index)


CORNER = {"x": 12, "y": 12}
# Requests for items wait until `open()`, unless they are cancelled; those from `broken` on fail.
GATE = """() => {
  const send = window.fetch;
  let open;
  const opened = new Promise((resolve) => (open = resolve));
  window.gate = { open, broken: Infinity, last: 0 };
  window.fetch = async (path, options = {}) => {
    if (String(path).includes('/items')) {
      const from = Number(new URL(path, location.href).searchParams.get('from'));
      gate.last = Math.max(gate.last, from);
      const cancelled = new Promise((_, reject) => {
        options.signal?.addEventListener('abort', () => reject(options.signal.reason));
      });
      await Promise.race([opened, cancelled]);
      if (from >= gate.broken) throw new TypeError();
    }
    return send(path, options);
  };
}"""


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


def test_a_finger_that_moves_at_once_scrolls(gallery):
    view = gallery(390, 844, has_touch=True, is_mobile=True).open(patience=20)
    view.wait_for_pictures()
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


def test_all_of_a_list_is_selected_by_a_key_and_by_touch(gallery):
    view = gallery().open(count=1500, total=1500)
    view.wait_for_pictures()
    view.page.keyboard.press("Control+a")
    view.page.wait_for_selector("#selection p:text-is('1,500 selected')")
    # Those that were never on the screen, too.
    cell(view, 3).click()
    view.page.wait_for_selector("#selection p:text-is('1,499 selected')")
    view.page.click("#selection .hide")
    view.wait("standIn.snapshot.count === 1")
    # In a field it selects the text.
    view.page.fill("#query", "lake")
    view.page.keyboard.press("Control+a")
    assert view.page.evaluate("getSelection().toString()") == "lake"
    assert not view.page.is_visible("#selection")
    phone = gallery(390, 844, has_touch=True, is_mobile=True).open()
    phone.wait_for_pictures()
    phone.page.tap("#select")
    phone.page.tap("#selection .all")
    phone.page.wait_for_selector("#selection p:text-is('40 selected')")


def test_more_than_can_be_chosen_is_selected_as_a_whole_to_download(gallery):
    view = gallery().open(kind="folder", count=9000, total=9000)
    view.wait_for_pictures()
    view.page.keyboard.press("Control+a")
    view.page.wait_for_selector("#selection p:text-is('All 9,000 selected')")
    assert view.page.locator(".cell[aria-selected=false]").count() == 0
    assert view.page.is_disabled("#selection .hide")
    view.page.click("#selection .download")
    assert view.page.locator("#download [name=scope] option").all_inner_texts() == ["All 9,000 pictures shown here"]
    view.page.click("#download .close")
    # The whole follows the list; a click begins with one.
    view.revise(count=8000, total=8000)
    view.page.wait_for_selector("#selection p:text-is('All 8,000 selected')")
    # What Delete would hide is not seen, and all of other results are others.
    cell(view, 2).press("Delete")
    assert not view.page.locator("#toast:has-text('hidden')").count()
    view.page.fill("#query", "lake")
    view.page.keyboard.press("Enter")
    view.page.wait_for_selector("#selection p:text-is('Select pictures')")
    view.page.keyboard.press("Control+a")
    cell(view, 2).click()
    wait_selected(view, 2)


def test_a_selection_outlives_searches(gallery):
    view = gallery().open()
    view.page.evaluate(
        """() => {
          standIn.search = (query) => {
            standIn.hidden = query ? [0, 1, 2, 3] : [];
            standIn.revise({ query, count: query ? 36 : 40, total: query ? 36 : 40 });
          };
        }"""
    )
    view.wait_for_pictures()
    for index in (3, 8):
        cell(view, index).click(position=CORNER)
    view.page.fill("#query", "hills", force=True)
    view.page.wait_for_selector("#selection p:text-is('2 selected, 1 elsewhere')")
    cell(view, 6).click()
    view.page.wait_for_selector("#selection p:text-is('3 selected, 1 elsewhere')")
    view.page.fill("#query", "", force=True)
    view.page.wait_for_selector("#selection p:text-is('3 selected')")
    wait_selected(view, 3, 8, 10)


def test_back_ends_a_sheet_and_a_selection_before_it_leaves(gallery):
    view = gallery(390, 844, has_touch=True, is_mobile=True).open(kind="folder")
    view.wait_for_pictures()
    length = view.page.evaluate("history.length")
    view.page.tap("#select")
    view.page.tap(".cell >> nth=1")
    view.page.tap("#selection .download")
    view.page.wait_for_selector("#download[open]")
    view.page.evaluate("history.back()")
    view.page.wait_for_selector("#download", state="detached")
    wait_selected(view, 1)
    # One that was closed otherwise leaves no step behind.
    view.page.tap("#selection .download")
    view.page.tap("#download .close")
    view.page.wait_for_selector("#download", state="detached")
    view.wait("history.state.covers === 1")
    view.page.evaluate("history.back()")
    view.page.wait_for_selector("#selection", state="hidden")
    view.page.tap("#select")
    view.page.tap("#selection .clear")
    view.wait("!history.state?.covers")
    assert view.page.evaluate("history.length") == length + 1
    view.page.tap(".cell >> nth=1")
    view.page.wait_for_selector("#viewer[open]")
    view.page.evaluate("history.back()")
    view.page.wait_for_selector("#viewer", state="detached")


def far_range(gallery):
    """A gallery in which a range of more than thousand pictures is about to be selected; its length."""
    view = gallery().open(count=3000, total=3000)
    view.wait_for_pictures()
    cell(view, 0).click(position=CORNER)
    view.page.focus("#scrubber")
    for _ in range(10):
        view.page.keyboard.press("PageDown")
    view.wait("document.querySelector('.cell').cell.index > 1000")
    view.wait_for_pictures()
    view.page.evaluate(GATE)
    return view, view.page.evaluate("document.querySelectorAll('.cell')[5].cell.index + 1")


def test_a_range_has_all_pictures_between_wherever_the_window_moves(gallery):
    view, length = far_range(gallery)
    cell(view, 5).click(modifiers=["Shift"])
    # The window moves while the items are on their way.
    view.page.evaluate("scrollBy({ top: 60000, behavior: 'instant' })")
    view.wait("length => gate.last > length + 300", length)
    view.page.evaluate("gate.open()")
    view.page.wait_for_selector(f"#selection p:text-is('{length:,} selected')")


def test_a_range_that_cannot_be_loaded_is_told_and_selects_nothing(gallery):
    view, _ = far_range(gallery)
    view.page.evaluate("gate.broken = 500; gate.open()")
    cell(view, 5).click(modifiers=["Shift"])
    view.page.wait_for_selector("#toast:has-text('Not all pictures between could be loaded')")
    assert view.page.inner_text("#selection p") == "1 selected"


def test_a_pinch_changes_the_size_by_steps_and_selects_nothing(gallery):
    view = gallery(390, 844, has_touch=True, is_mobile=True).open(patience=4, count=400, total=400)
    view.wait_for_pictures()
    view.touch("touchStart", (190, 740))
    view.touch("touchStart", (190, 740), (190, 680))
    # Real time: a finger that stays so long selects.
    view.wait("start => performance.now() > start + 2400", view.page.evaluate("performance.now()"))
    for apart, size in (100, 1.4), (180, 2):
        view.touch("touchMove", (190, 740), (190, 740 - apart))
        view.wait("size => Number(localStorage.density) === size", size)
    view.touch("touchEnd")
    wait_selected(view)
    assert not view.page.is_visible("#selection")


def test_all_pictures_can_be_hidden(gallery):
    view = gallery().open(count=2, total=2)
    view.wait_for_pictures()
    for index in (0, 1):
        cell(view, index).click(position=CORNER)
    view.page.click("#selection .hide")
    view.page.wait_for_selector("#toast:has-text('2 pictures are hidden.')")
    view.page.wait_for_selector("#selection", state="hidden")
    view.page.click("#toast button")
    view.wait("document.querySelectorAll('.cell').length === 2")


def test_a_selection_follows_its_pictures_in_changed_results(gallery):
    view = gallery().open()
    view.wait_for_pictures()
    for index in (12, 10):
        cell(view, index).click(position=CORNER)
    # Another tab hides a picture before them, then one of them.
    view.page.evaluate("standIn.hidden = [0]")
    view.revise(count=39, total=39, hidden=1)
    view.wait("document.querySelector('.cell').cell.item?.id === 'i1'")
    wait_selected(view, 9, 11)
    view.page.evaluate("standIn.hidden = [0, 12]")
    view.revise(count=38, total=38, hidden=2)
    view.page.wait_for_selector("#selection p:text-is('1 selected')")
    # A range begins where its picture is now.
    cell(view, 12).click(modifiers=["Shift"])
    wait_selected(view, 9, 10, 11, 12)
    view.page.click("#selection .hide")
    view.page.wait_for_selector("#toast:has-text('4 pictures are hidden.')")
    assert view.sent("delete") == [{"ids": ["i10", "i11", "i13", "i14"]}]


def test_what_was_hidden_before_the_server_failed_can_be_brought_back(gallery):
    # Identifiers of which two are a message.
    view = gallery().open(idLength=6000)
    view.wait_for_pictures()
    view.page.evaluate(
        """() => {
          const send = window.fetch;
          let messages = 0;
          window.fetch = async (path, options) => {
            if (String(path).endsWith('/delete') && ++messages === 2) throw new TypeError();
            return send(path, options);
          };
        }"""
    )
    for index in (3, 4, 5):
        cell(view, index).click(position=CORNER)
    view.page.click("#selection .hide")
    view.page.wait_for_selector("#toast:has-text('Only 2 of 3 pictures are hidden.')")
    view.page.wait_for_selector("#selection p:text-is('1 selected')")
    view.page.click("#toast button")
    view.wait("standIn.snapshot.count === 40")


def test_more_pictures_than_a_message_takes_are_brought_back(gallery):
    view = gallery().open(idLength=6000)
    view.wait_for_pictures()
    cell(view, 0).click(position=CORNER)
    cell(view, 11).click(modifiers=["Shift"])
    view.page.wait_for_selector("#selection p:text-is('12 selected')")
    view.page.click("#selection .hide")
    view.page.click("#toast:has-text('12 pictures are hidden.') button")
    view.wait("standIn.snapshot.count === 40")
    assert max(len(str(body)) for body in view.sent("undo")) < 64 << 10


def test_escape_in_the_search_field_keeps_the_selection(gallery):
    view = gallery().open()
    view.wait_for_pictures()
    cell(view, 10).click(position=CORNER)
    view.page.focus("#query")
    view.page.keyboard.press("Escape")
    wait_selected(view, 10)
    view.page.focus(".cell >> nth=10")
    view.page.keyboard.press("Escape")
    view.page.wait_for_selector("#selection", state="hidden")


def test_sheets_over_other_results_leave_the_selection(gallery):
    view = gallery().open(kind="folder", count=40, total=40)
    view.wait_for_pictures()
    view.page.click("#select")
    cell(view, 2).click()
    view.page.fill("#query", "lake")
    view.page.keyboard.press("Enter")
    view.wait("location.search.includes('lake')")
    view.page.click("#selection .download")
    view.page.click("#download .close")
    view.wait("!document.querySelector('#download[open]') && history.state.covers === 1 && !history.state.isCover")
    assert view.page.is_visible("#selection") and "1 " in view.page.inner_text("#selection p")
    # Ended by its button, it undoes no search; then each step back is a real one.
    view.page.click("#selection .clear")
    view.wait("history.state.covers === 0")
    assert "lake" in view.search
    view.page.go_back()
    view.wait("!location.search.includes('lake')")
    view.page.click("#select")
    view.wait("!document.querySelector('#selection').hidden")
    view.page.go_back()
    view.wait("document.querySelector('#selection').hidden")


def test_the_second_click_of_two_opens_nothing(gallery):
    view = gallery().open()
    view.wait_for_pictures()
    # The first one has closed the view that stood above.
    cell(view, 2).dispatch_event("click", {"detail": 2})
    assert not view.page.is_visible("#viewer")
    cell(view, 2).dispatch_event("click", {"detail": 1})
    view.page.wait_for_selector("#viewer[open]")


def test_back_ends_a_selection_after_a_step_forward(gallery):
    view = gallery().open(kind="folder", count=40, total=40)
    view.wait_for_pictures()
    view.page.click("#select")
    view.page.go_back()
    view.wait("document.querySelector('#selection').hidden")
    view.page.go_forward()
    view.page.click("#select")
    view.wait("!document.querySelector('#selection').hidden")
    view.page.go_back()
    view.wait("document.querySelector('#selection').hidden")
