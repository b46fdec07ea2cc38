"""What the grid keeps in the document, asks for and shows."""

from conftest import ALL_CASES

MONTHS = [{"title": f"Month {number}", "count": 2000} for number in range(500)]
INDEXES = "[...document.querySelectorAll('.cell')].map(cell => cell.cell.index)"


def test_a_phone_has_two_columns_and_a_wide_screen_more(gallery):
    columns = "document.querySelector('.row').children.length"
    phone = gallery(390, 844).open()
    phone.wait_for_pictures()
    assert phone.page.evaluate(columns) == 2
    wide = gallery(2560, 1440).open(count=400, total=400)
    wide.wait_for_pictures()
    assert wide.page.evaluate(columns) >= 7


def test_the_document_has_at_most_300_nodes(gallery):
    screens = [(390, 844), (2560, 1440)]
    for width, height in screens + [(1280, 800), (1440, 2560)] * ALL_CASES:
        view = gallery(width, height).open(count=1_000_000, total=1_000_000, sections=MONTHS, kind="folder")
        view.wait_for_pictures()
        for _ in range(5):
            view.page.evaluate("scrollBy({ top: innerHeight * 0.7, behavior: 'instant' })")
            view.page.evaluate("new Promise(requestAnimationFrame)")
            count = """() => {
              const walker = document.createTreeWalker(document, NodeFilter.SHOW_ALL);
              let nodes = 1;
              while (walker.nextNode()) nodes += 1;
              return nodes;
            }"""
            assert view.page.evaluate(count) <= 300


def test_cells_ask_for_a_step_of_the_pixels_that_the_screen_has(gallery):
    plain = gallery(1280, 800).open()
    plain.wait_for_pictures()
    assert all(path.endswith("/256x256-cover") for path in plain.pictures)
    dense = gallery(390, 844, device_scale_factor=3).open()
    dense.wait_for_pictures()
    assert all(path.endswith("/640x640-cover") for path in dense.pictures)


def test_nothing_shifts(gallery):
    titles = ["September 2026", "May 2026", "May", "A folder with a long name", "9 of 12"]
    sections = [{"title": title, "count": 15} for title in titles * 10]
    view = gallery().open(count=750, total=750, kind="folder", sections=sections)
    view.wait_for_pictures()
    for _ in range(8):
        view.page.mouse.move(400, 400)
        view.page.mouse.wheel(0, 900)
        view.wait_for_pictures()
    view.set(offline=True)
    view.page.wait_for_selector("#strip:visible")
    assert view.page.evaluate("shifts") == 0


def test_placeholders_are_there_before_pictures(gallery):
    view = gallery()
    view.context.route("**/picture/**", lambda route: None)
    view.open()
    view.wait("document.querySelector('.cell')?.style.backgroundImage.startsWith('url(\"data:image/bmp')")
    assert view.page.evaluate("document.querySelector('.cell').style.backgroundColor") == "rgb(51, 102, 153)"


def test_a_million_items_are_reached_by_the_scrubber_in_the_next_frame(gallery):
    view = gallery().open(count=1_000_000, total=1_000_000, sections=MONTHS, kind="folder")
    view.wait_for_pictures()
    height = view.page.evaluate("document.querySelector('#space').offsetHeight")
    assert height < 8_000_000
    box = view.page.locator("#scrubber").bounding_box()
    view.page.mouse.move(box["x"] + 4, box["y"] + box["height"] / 2)
    view.page.mouse.down()
    frame = f"new Promise((resolve) => requestAnimationFrame(() => resolve({INDEXES})))"
    indexes = view.page.evaluate(frame)
    assert 400_000 < min(indexes) < 600_000
    view.page.mouse.up()
    view.wait_for_pictures()
    assert view.page.inner_text("#scrubber .label").startswith("Month 2")


def test_scrolling_after_a_jump_moves_one_to_one(gallery):
    view = gallery().open(count=1_000_000, total=1_000_000, sections=MONTHS, kind="folder")
    view.wait_for_pictures()
    view.page.focus("#scrubber")
    for _ in range(3):
        view.page.keyboard.press("PageDown")
    view.wait(f"{INDEXES}.includes(6000)")
    view.wait_for_pictures()
    view.page.evaluate("scrollBy({ top: 2500, behavior: 'instant' })")
    view.wait("() => ![...document.querySelectorAll('.cell')].some(cell => cell.cell.index === 6000)")
    first = view.page.evaluate(f"Math.min(...{INDEXES})")
    assert 6030 <= first <= 6060


def test_page_keys_of_the_scrubber_go_from_month_to_month(gallery):
    sections = [{"title": f"Month {number}", "count": 60} for number in range(9)]
    view = gallery().open(count=540, total=540, sections=sections, kind="folder")
    view.wait_for_pictures()
    view.page.click("#rows")
    view.wait("new Set([...document.querySelectorAll('.cell')].map(cell => cell.offsetWidth)).size > 1")
    view.page.focus("#scrubber")
    for number in (1, 2, 3):
        view.page.keyboard.press("PageDown")
        view.wait(f"document.querySelector('#scrubber .label').textContent === 'Month {number}'")


def test_the_end_of_a_million_items_is_the_last_one(gallery):
    for rows in (False, True):
        view = gallery().open(count=1_000_000, total=1_000_000, sections=MONTHS, kind="folder")
        view.wait_for_pictures()
        if rows:
            view.page.click("#rows")
            view.wait("new Set([...document.querySelectorAll('.cell')].map(cell => cell.offsetWidth)).size > 1")
        view.page.focus("#scrubber")
        view.page.keyboard.press("End")
        view.wait(f"{INDEXES}.includes(999999)")
        view.wait_for_pictures()


def test_justified_rows_fill_the_width_and_keep_the_shapes(gallery):
    view = gallery().open(count=200, total=200)
    view.wait_for_pictures()
    view.page.click("#rows")
    view.wait("new Set([...document.querySelectorAll('.cell')].map(cell => cell.offsetWidth)).size > 1")
    widths = view.page.evaluate(
        """[...document.querySelectorAll('.row')].map((row) => {
          const last = row.lastElementChild.getBoundingClientRect();
          return Math.abs(last.right - document.querySelector('#space').getBoundingClientRect().right);
        })"""
    )
    assert max(widths) < 1
    view.page.reload()
    view.page.wait_for_selector("#rows[aria-pressed=true]")


def test_the_viewport_is_reported_at_most_ten_times_a_second_and_at_rest(gallery):
    view = gallery().open(count=3000, total=3000)
    view.wait_for_pictures()
    view.page.evaluate("standIn.sent.length = 0")
    view.page.mouse.move(400, 400)
    for _ in range(40):
        view.page.mouse.wheel(0, 120)
        view.page.evaluate("new Promise(requestAnimationFrame)")
    view.wait_for_pictures()
    offset = view.page.evaluate("scrollY")
    view.wait("offset => standIn.sent.some(({ verb, body }) => verb === 'viewport' && body.offset === offset)", offset)
    times = view.page.evaluate("standIn.sent.filter(({ verb }) => verb === 'viewport').map(({ time }) => time)")
    assert min(later - earlier for earlier, later in zip(times, times[1:])) > 95, times
    report = view.sent("viewport")[-1]
    assert report["columns"] == 5 and report["box"] == "256x256" and report["fit"] == "cover"
    assert report["last"] > report["first"] > 0


def test_a_fling_asks_for_few_pictures(gallery):
    view = gallery().open(patience=20, count=50_000, total=50_000)
    view.wait_for_pictures()
    view.pictures.clear()
    passed = view.page.evaluate(
        """async () => {
          for (let step = 0; step < 60; step += 1) {
            scrollBy({ top: 700, behavior: 'instant' });
            await new Promise(requestAnimationFrame);
          }
          return Math.min(...[...document.querySelectorAll('.cell')].map(cell => cell.cell.index));
        }"""
    )
    view.wait_for_pictures()
    assert passed > 500
    assert len(view.pictures) < 150


def said_in(view, selector):
    """The words that a style sheet puts into a cell."""
    return view.page.evaluate(
        """selector => {
          const cell = document.querySelector(selector);
          return [getComputedStyle(cell, '::after').content, cell.dataset.what, cell.dataset.why];
        }""",
        selector,
    )


def test_a_failed_picture_says_why_and_is_retried_by_a_click(gallery):
    view = gallery()
    view.refusals["3".zfill(32)] = (502, "unreachable", {})
    view.open()
    view.page.wait_for_selector(".cell[data-state=failed]")
    content, what, why = said_in(view, ".cell[data-state=failed]")
    assert what == "Not reachable" and why.endswith("does not respond. Press to try again.")
    assert what in content and why in content
    label = view.page.get_attribute(".cell[data-state=failed]", "aria-label")
    assert "lake-3.jpg" in label and why in label and "Vips" not in label
    view.refusals.clear()
    view.page.click(".cell[data-state=failed]")
    view.page.wait_for_selector(".cell[data-state=failed]", state="detached")
    assert view.page.query_selector("#viewer") is None


def test_a_damaged_picture_is_enlarged_to_a_card_that_says_so(gallery):
    view = gallery()
    view.refusals["3".zfill(32)] = (422, "damaged", {})
    view.open()
    view.page.click(".cell[data-state=failed]")
    view.page.wait_for_selector("#viewer .card")
    assert view.page.inner_text("#viewer .card h2") == "Damaged file"
    view.wait("document.querySelector('#viewer .failure').textContent.startsWith('Damaged file. The file is')")
    # Nothing that the browser could draw a sign of its own for.
    view.wait("[...document.querySelectorAll('.slide:not([inert]) img')].every((image) => !image.checkVisibility({ visibilityProperty: true }))")
    assert "Vips" not in view.page.inner_text("#viewer")
    # Another attempt would fail, too.
    assert view.page.query_selector("#viewer .card button") is None
    assert view.page.inner_text("#viewer .card a") == "Download"
    assert view.page.get_attribute("#viewer .card a", "href").endswith("3/original")


def test_a_picture_that_took_too_long_is_tried_again(gallery):
    view = gallery()
    view.refusals["3".zfill(32)] = (504, "timed-out", {})
    view.open()
    view.page.focus(".cell[data-state=failed]")
    view.page.evaluate("document.querySelector('.cell').click()")
    view.page.wait_for_selector(".slide:not([inert])[data-state=shown]")
    for _ in range(3):
        view.page.keyboard.press("ArrowRight")
    view.page.wait_for_selector("#viewer .card button")
    view.refusals.clear()
    view.page.click("#viewer .card button")
    view.page.wait_for_selector(".slide:not([inert])[data-state=shown]")
    assert view.page.query_selector("#viewer .card") is None


def test_white_pictures_have_an_edge(gallery):
    for scheme in ("light", "dark"):
        view = gallery(color_scheme=scheme).open()
        view.wait_for_pictures()
        edge = view.page.evaluate("getComputedStyle(document.querySelector('.cell img')).outline")
        assert edge.endswith("1px") and "0.1" in edge, edge


def test_a_busy_server_is_asked_again_by_itself(gallery):
    view = gallery()
    view.refusals["3".zfill(32)] = (503, "busy", {"Retry-After": "1"})
    view.open()
    view.wait("document.querySelectorAll('.cell[data-state=waiting]').length === 1")
    view.refusals.clear()
    view.wait_for_pictures()


def test_saving_data_asks_for_one_pixel_a_point(gallery):
    view = gallery(390, 844, device_scale_factor=3)
    view.page.add_init_script("Object.defineProperty(navigator, 'connection', { value: { saveData: true } });")
    view.open()
    view.wait_for_pictures()
    assert all(path.endswith("/192x192-cover") for path in view.pictures)
    view.page.click(".cell")
    view.page.wait_for_selector(".slide[data-state=shown]")
    assert len([path for path in view.pictures if path.endswith("-contain")]) == 1


def test_what_is_in_view_stays_when_the_order_changes(gallery):
    view = gallery().open(count=9000, total=9000, kind="folder")
    view.wait_for_pictures()
    view.page.evaluate("scrollTo({ top: 30000, behavior: 'instant' })")
    view.wait_for_pictures()
    first = """(() => {
      const cells = [...document.querySelectorAll('.cell')].filter((cell) => cell.getBoundingClientRect().bottom > 60);
      return [cells[0].cell.item.id, cells[0].getBoundingClientRect().top];
    })()"""
    # For a frame after the jump the cells in view are still to come.
    view.wait("[...document.querySelectorAll('.cell')].some((cell) => cell.getBoundingClientRect().bottom > 60)")
    view.wait_for_pictures()
    identifier, top = view.page.evaluate(first)
    view.page.evaluate("standIn.isReversed = true")
    view.revise()
    view.wait(f"{first.replace('cells[0].cell.item.id', 'cells.find(c => c.cell.item?.id === ' + repr(identifier) + ')')}[0] && standIn.sent.some(({{verb}}) => verb === 'positions')")
    view.wait_for_pictures()
    row = view.page.evaluate(
        """id => [...document.querySelectorAll('.cell')].find((cell) => cell.cell.item?.id === id)
          .getBoundingClientRect().top""",
        identifier,
    )
    assert abs(row - top) < 2


COLUMNS = "document.querySelector('.row').children.length"


def test_plus_and_minus_change_the_size_of_the_cells_and_keep_the_place(gallery):
    view = gallery().open(count=5000, total=5000)
    view.wait_for_pictures()
    view.page.evaluate("scrollTo({ top: 20000, behavior: 'instant' })")
    view.wait(f"Math.min(...{INDEXES}) > 300")
    view.wait_for_pictures()
    first = """Math.min(...[...document.querySelectorAll('.cell')]
      .filter(cell => cell.getBoundingClientRect().bottom > 62).map(cell => cell.cell.index))"""
    place = view.page.evaluate(first)
    view.page.keyboard.press("-")
    view.wait(f"{COLUMNS} === 8")
    view.wait_for_pictures()
    assert 0 <= place - view.page.evaluate(first) < 8
    for _ in range(4):
        view.page.keyboard.press("+")
    view.wait(f"{COLUMNS} === 2")
    view.page.reload()
    view.wait(f"document.querySelector('.row') && {COLUMNS} === 2")
    view.page.click("#rows")
    view.wait("document.querySelectorAll('.row')[0]?.offsetHeight > 250")
    view.page.focus("#query")
    view.page.keyboard.type("-")
    assert view.page.input_value("#query") == "-"


def test_a_pinch_changes_the_size_of_the_cells(gallery):
    view = gallery(390, 844, has_touch=True, is_mobile=True).open(count=500, total=500)
    view.wait_for_pictures()
    view.touch("touchStart", (60, 400), (320, 400))
    for step in range(1, 9):
        view.touch("touchMove", (60 + step * 14, 400), (320 - step * 14, 400))
    view.touch("touchEnd")
    view.wait(f"{COLUMNS} > 2")
    assert view.page.evaluate("visualViewport.scale") == 1


YEARS = [
    {"title": f"{month} {year}", "count": 40} for year in (2026, 2025, 2024) for month in ("November", "May", "January")
]


def test_the_scrubber_has_every_year_for_which_there_is_room(gallery):
    sections = [{"title": f"May {year}", "count": 40} for year in range(2026, 2006, -1)]
    view = gallery().open(count=800, total=800, sections=sections, kind="folder")
    view.wait_for_pictures()
    view.page.hover("#scrubber")
    names = view.page.inner_text("#scrubber .years").split()
    assert names == [str(year) for year in range(2026, 2006, -1)]


def test_the_scrubber_has_years_and_months(gallery):
    view = gallery().open(count=360, total=360, sections=YEARS, kind="folder")
    view.wait_for_pictures()
    view.page.hover("#scrubber")
    names = view.page.inner_text("#scrubber .years").split()
    assert {"2026", "2025", "2024", "May", "Jan"} <= set(names)
    assert view.page.evaluate("document.querySelector('#scrubber').style.getPropertyValue('--marks')").count("quiet") == 9
    box = view.page.locator("#scrubber").bounding_box()
    view.page.mouse.move(box["x"] + 12, box["y"] + 5)
    view.page.mouse.down()
    view.page.mouse.move(box["x"] + 12, box["y"] + box["height"] / 2, steps=4)
    view.wait("document.querySelector('#scrubber .label').innerText.endsWith('2025')")
    view.page.mouse.up()
