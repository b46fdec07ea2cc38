"""The list of hidden pictures as a file, which is saved and read by the page."""

import json

import pytest
from conftest import numbered_picture, serving
from test_access import LOOKS, assert_accessible, shown
from test_server import SHOWN


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "pictures"
    (folder / "\u00e9t\u00e9").mkdir(parents=True)
    for number in range(4):
        (folder / "\u00e9t\u00e9" / f"{number}.png").write_bytes(numbered_picture(number))
    return folder


def test_hidden_pictures_move_to_another_machine_in_a_file(tab, folder, tmp_path):
    with serving(folder, environment={"XDG_CACHE_HOME": str(tmp_path / "one")}) as address:
        tab.goto(address + "/?order=name")
        tab.wait_for_selector(SHOWN)
        for left in (3, 2):
            name = tab.get_attribute(".cell >> nth=0", "aria-label")
            tab.focus(".cell >> nth=0")
            tab.keyboard.press("Delete")
            tab.wait_for_function("text => document.querySelector('#count').textContent === text", arg=f"{left} pictures")
            # The grid follows the count.
            tab.wait_for_function("name => document.querySelector('.cell').ariaLabel !== name", arg=name)
        tab.click("#hidden")
        with tab.expect_download() as event:
            tab.click("#hiding-sheet a")
        file = event.value.path()
        assert event.value.suggested_filename == "hidden-pictures.json"
        hidden = json.loads(file.read_text())
        assert hidden == {"hidden": ["\u00e9t\u00e9/0.png", "\u00e9t\u00e9/1.png"]}
    with serving(folder, environment={"XDG_CACHE_HOME": str(tmp_path / "other")}) as address:
        tab.goto(address + "/?order=name")
        tab.wait_for_function("() => document.querySelector('#count').textContent === '4 pictures'")
        # Without a selection, too.
        tab.click("#select")
        tab.click("#selection .hide")
        assert tab.is_hidden("#hiding-sheet [type=submit]")
        tab.set_input_files("#hiding-sheet input", file)
        tab.wait_for_selector("#hiding-sheet [role=status]:has-text('Hidden now: 2 pictures of the file.')")
        tab.wait_for_function("() => document.querySelector('#count').textContent === '2 pictures'")


OTHER_FILES = [
    b"", b"\0\1\2", b"[]", b"null", b"{}", b'{"hidden":"a.png"}', b'{"hidden":[1]}', b'{"hidden":[["a.png"]]}',
    b'{"hidden":[""]}', b'{"hidden":["/etc/passwd"]}', b'{"hidden":["a.png","../b.png"]}', b'{"hidden":["a/../../b"]}',
    b'{"hidden":["//a/%2e%2E/%ff"]}', b'{"hidden":' + b"[" * 1_000_000 + b"]" * 1_000_000 + b"}",
    b'{"hidden":["' + b"a" * 5_000_000 + b'"]}',
]


def test_other_files_are_refused_in_words(gallery):
    view = gallery().open()
    view.wait_for_pictures()
    view.page.click("#select")
    view.page.click("#selection .hide")
    status = view.page.locator("#hiding-sheet [role=status]")
    for content in OTHER_FILES:
        # What it said of the file before.
        status.evaluate("status => status.replaceChildren()")
        view.page.set_input_files("#hiding-sheet input", {"name": "a.json", "mimeType": "", "buffer": content})
        status.filter(has_text="That is no list of hidden pictures").wait_for()
        assert view.sent("delete") == [], content[:40]


@pytest.mark.parametrize("scheme, width", LOOKS)
def test_axe_finds_nothing_in_the_sheet(gallery, scheme, width):
    view = shown(gallery, scheme, width)
    view.page.click("#select")
    view.page.click("#selection .hide")
    view.page.wait_for_selector("#hiding-sheet[open]")
    assert_accessible(view)
    assert view.page.evaluate("document.documentElement.scrollWidth") <= width
