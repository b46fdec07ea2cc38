"""The page with the real server, its pipeline and its cache; photo services are on loopback."""

import shutil
import urllib.request

from conftest import PAGE, TIMEOUT, numbered_picture, png, poll, serving, show_tab
from test_files import OTHERS, as_sent

SHOWN = ".cell[data-state=shown]"


def test_a_folder_is_shown_searched_and_enlarged(tab, served):
    tab.goto(served + "/")
    tab.wait_for_selector(SHOWN)
    tab.fill("#query", "lake-1")
    tab.keyboard.press("Enter")
    tab.wait_for_function("() => document.body.innerText.includes('10 pictures')")
    tab.click(SHOWN)
    tab.wait_for_selector(".slide[data-state=shown]")
    tab.keyboard.press("ArrowRight")
    tab.wait_for_selector(".slide[data-state=shown]")
    tab.keyboard.press("Escape")
    tab.wait_for_selector("#viewer", state="hidden")


def test_scripts_are_sent_as_the_tests_of_the_page_have_them(served):
    for file in PAGE.glob("*.js"):
        if file.stem not in OTHERS:
            with urllib.request.urlopen(f"{served}/page/{file.name}") as response:
                assert response.read().decode().strip() == as_sent(file).strip(), file.name


def test_a_copied_folder_has_the_months_in_which_it_was_photographed(tab, tmp_path):
    (tmp_path / "phone").mkdir()
    for number in range(12):
        taken = f"2024:{number % 3 + 6:02}:15 10:00:{number:02}"
        (tmp_path / "phone" / f"{number:02}.png").write_bytes(png(300, 200, (40, 110, 160), taken))
    (tmp_path / "phone/IMG_20230102_030405.png").write_bytes(numbered_picture(1))
    # Copied without their times, so that all are of now.
    copy = shutil.copytree(tmp_path / "phone", tmp_path / "copy", copy_function=shutil.copyfile)
    for _ in range(2):
        with serving(copy, environment={"XDG_CACHE_HOME": str(tmp_path / "cache")}) as address:
            tab.goto(address + "/")
            tab.wait_for_selector(SHOWN)
            tab.wait_for_function("() => document.querySelector('#headers').innerText.includes('January 2023')")
            headings = [text.strip() for text in tab.inner_text("#headers").splitlines() if "20" in text]
            assert headings == ["August 2024", "July 2024", "June 2024", "January 2023"]
            tab.click(SHOWN)
            tab.wait_for_selector("#viewer[open]")
            assert "August 15, 2024 (from the camera)" in tab.inner_text(".facts")
            tab.keyboard.press("i")
            tab.wait_for_selector(".panel:has-text('August 15, 2024 10:00 – from the camera')")
            tab.keyboard.press("End")
            tab.wait_for_function("() => document.querySelector('.facts').innerText.includes('January 2, 2023')")
            assert "(from its name)" in tab.inner_text(".facts")


def has_placeholders(items):
    """Whether the first ones have: they are in view on the first screen."""
    first = [(item.get("hash") or "", item.get("color") or "") for item in items[:5]]
    return len(items) == 30 and all(len(hash) >= 8 and color.startswith("#") for hash, color in first)


def test_a_second_visit_has_placeholders_from_the_first_moment(tab, served):
    lists = []
    tab.on("request", lambda request: "/items?" in request.url and lists.append(request.url))
    tab.goto(served + "/")
    tab.wait_for_selector(SHOWN)
    # They are stored a moment after their pictures were sent. A list that has been replaced meanwhile is refused.
    get_items = "async url => (await (await fetch(url)).json()).items ?? []"
    poll(tab, lambda: has_placeholders(tab.evaluate(get_items, lists[-1])), "placeholders are stored")
    with tab.expect_response(lambda response: "/items?" in response.url and response.ok) as response:
        tab.goto(served + "/")
    items = response.value.json()["items"]
    assert has_placeholders(items), items
    assert (items[0]["width"], items[0]["height"]) != (None, None)


def test_a_search_is_scrolled_to_its_tenth_page_and_its_end(tab, service, searched):
    tab.goto(searched + "/?q=lake")
    tab.wait_for_selector(SHOWN)
    poll(tab, lambda: tab.mouse.wheel(0, 1200) or max(service.pages, default=0) >= 10, "the tenth page")
    assert sorted(set(service.pages)) == list(range(1, max(service.pages) + 1))
    tab.wait_for_selector(SHOWN)
    assert "at=" in tab.evaluate("location.search")


def test_the_address_goes_back_and_forward_between_searches(tab, searched):
    tab.goto(searched + "/?q=lake")
    tab.wait_for_selector(SHOWN)
    tab.fill("#query", "hills")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**q=hills**")
    tab.wait_for_selector(SHOWN)
    tab.go_back()
    tab.wait_for_url("**q=lake**")
    assert tab.input_value("#query") == "lake"
    tab.go_forward()
    tab.wait_for_url("**q=hills**")


def test_nothing_found_has_its_words(tab, searched):
    tab.goto(searched + "/?q=nothing")
    tab.wait_for_selector(".cell", state="detached")
    tab.wait_for_function("() => document.body.innerText.toLowerCase().includes('no picture for')")


def test_what_was_seen_is_shown_offline_and_the_search_goes_on_once_the_service_is_back(tab, service, searched):
    tab.goto(searched + "/?q=lake")
    tab.wait_for_selector(SHOWN)
    service.is_reachable = False
    tab.goto(searched + "/?q=lake")
    tab.wait_for_function("() => document.body.innerText.includes('No connection')")
    tab.wait_for_selector(SHOWN)
    service.is_reachable = True
    tab.wait_for_function("() => !document.body.innerText.includes('No connection')")
    tab.wait_for_selector(SHOWN)


def test_a_hidden_picture_goes_and_comes_back_and_its_file_stays(tab, served):
    tab.goto(served + "/?q=lake-2")
    tab.wait_for_function("() => document.body.innerText.includes('10 pictures')")
    tab.click(SHOWN)
    tab.wait_for_selector(".slide[data-state=shown]")
    tab.keyboard.press("Delete")
    tab.wait_for_function("() => document.body.innerText.includes('9 pictures')")
    tab.get_by_role("button", name="Undo").click()
    tab.wait_for_function("() => document.body.innerText.includes('10 pictures')")


def test_eight_tabs_of_a_gallery_all_show_pictures(browser, served):
    context = browser.new_context(viewport={"width": 800, "height": 600})
    context.set_default_timeout(TIMEOUT)
    try:
        tabs = []
        for _ in range(8):
            for tab in tabs:
                show_tab(tab, False)
            tabs.append(context.new_page())
            tabs[-1].goto(served + "/")
            tabs[-1].wait_for_selector(SHOWN)
        # The first one again: it goes on with its session, and hears what it missed.
        show_tab(tabs[-1], False)
        tabs[1].evaluate("window.isSamePage = true")
        show_tab(tabs[1], True)
        tabs[1].click(SHOWN)
        tabs[1].wait_for_selector("#viewer[open]")
        tabs[1].keyboard.press("Delete")
        tabs[1].wait_for_function("() => document.body.innerText.includes('29 pictures')")
        show_tab(tabs[1], False)
        show_tab(tabs[0], True)
        tabs[0].fill("#query", "lake-1")
        tabs[0].wait_for_function("() => document.body.innerText.includes('10 pictures')")
        show_tab(tabs[0], False)
        show_tab(tabs[1], True)
        tabs[1].get_by_role("button", name="Undo").click()
        tabs[1].wait_for_function("() => document.body.innerText.includes('30 pictures')")
    finally:
        context.close()


def test_a_search_that_was_typed_without_a_connection_is_carried_out_with_one(tab, served):
    tab.goto(served + "/")
    tab.wait_for_selector(SHOWN)
    tab.context.set_offline(True)
    with tab.expect_event("requestfailed", lambda request: request.url.endswith("/search")):
        tab.fill("#query", "lake-1")
    tab.context.set_offline(False)
    tab.wait_for_function("() => document.body.innerText.includes('10 pictures')")


def test_eight_tabs_that_are_opened_at_once_and_hidden_leave_room_for_the_one_that_is_seen(browser, served):
    context = browser.new_context(viewport={"width": 800, "height": 600})
    context.set_default_timeout(TIMEOUT)
    context.add_init_script("Object.defineProperty(document, 'hidden', { configurable: true, get: () => true })")
    try:
        tabs = [context.new_page() for _ in range(8)]
        for tab in tabs:
            tab.goto(served + "/", wait_until="commit")
        show_tab(tabs[-1], True)
        tabs[-1].wait_for_selector(SHOWN)
    finally:
        context.close()


def test_a_picture_that_cannot_be_cut_stays_at_its_large_form(tab, tmp_path):
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures/large.png").write_bytes(png(5000, 3000, (40, 110, 160)))
    with serving(tmp_path / "pictures", environment={"XDG_CACHE_HOME": str(tmp_path)}) as address:
        tab.goto(address)
        # Its size is not known before it was read: the page asks again.
        with tab.expect_response(lambda response: "count=1&" in response.url + "&"):
            tab.click(SHOWN)

        def has_size():
            tab.keyboard.press("+")
            tab.keyboard.press("0")
            return "5,000" in tab.inner_text("#viewer")

        poll(tab, has_size, "its size")
        with tab.expect_response(lambda response: "+" in response.url) as refused:
            tab.mouse.dblclick(640, 400)
        assert refused.value.status == 204
        tab.wait_for_selector(".slide:not([inert])[data-state=shown]")
        tab.wait_for_function("() => !document.querySelector('.windows img')")
        asked = []
        tab.on("request", lambda request: asked.append(request.url))
        tab.keyboard.press("ArrowRight")
        tab.wait_for_function("() => document.querySelector('.slide:not([inert]) .large').src.includes('4096x4096')")
        tab.wait_for_selector(".softness:text-is('Shown at 82 % of its full size: this file cannot be read in parts.')")
        assert not any("+" in url for url in asked)


def test_what_was_hidden_by_mistake_is_there_after_a_reload_and_comes_back(tab, served):
    tab.goto(served + "/?q=lake-0")
    tab.wait_for_function("() => document.body.innerText.includes('10 pictures')")
    tab.click(SHOWN)
    tab.wait_for_selector(".slide[data-state=shown]")
    for _ in range(3):
        before = tab.inner_text(".position")
        tab.keyboard.press("Delete")
        tab.wait_for_function("text => document.querySelector('.position').textContent !== text", arg=before)
    tab.keyboard.press("Escape")
    tab.goto(served + "/")
    tab.wait_for_selector("#hidden:has-text('3 hidden – show')")
    tab.click("#hidden")
    tab.wait_for_function("() => document.body.innerText.includes('30 pictures')")
    tab.wait_for_selector("#hidden", state="hidden")


def test_a_picture_that_is_replaced_in_place_is_shown_with_its_new_date(tab, tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    for number in range(2):
        (folder / f"{number}.png").write_bytes(png(300, 200, (40, 110, 160), "2024:06:15 10:00:00"))
    with serving(folder, environment={"XDG_CACHE_HOME": str(tmp_path / "cache")}) as address:
        tab.goto(address + "/")
        tab.wait_for_function("() => document.querySelector('#headers').innerText.includes('June 2024')")
        tab.wait_for_selector(SHOWN)
        with (folder / "1.png").open("r+b") as file:
            file.write(png(360, 200, (160, 110, 40), "2025:02:03 10:00:00"))
            file.truncate()
        tab.wait_for_function("() => document.querySelector('#headers').innerText.includes('February 2025')")
        tab.click(".cell[aria-label^='1.png']")
        tab.wait_for_selector("#viewer .facts:has-text('360 × 200')")
        assert "February 3, 2025 (from the camera)" in tab.inner_text(".facts")


def test_a_damaged_picture_is_asked_for_once(tab, tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    (folder / "a.png").write_bytes(numbered_picture(1))
    (folder / "b.png").write_bytes(b"no picture")
    with serving(folder, environment={"XDG_CACHE_HOME": str(tmp_path / "cache")}) as address:
        requests = []
        for _ in range(3):
            tab.goto(address + "/")
            tab.wait_for_selector(".cell[data-state=failed]")
            with urllib.request.urlopen(address + "/metrics") as response:
                lines = response.read().decode().splitlines()
            requests.append([line for line in lines if 'route="picture",status="415"' in line])
        assert len(requests[0]) == 1 and requests[0] == requests[1] == requests[2]
