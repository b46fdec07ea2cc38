"""Downloads of several pictures as one zip, which Python's zipfile and unzip read."""

import os
import subprocess
import urllib.request
import zipfile

import pytest
from conftest import numbered_picture, serving
from test_access import LOOKS, assert_accessible, shown
from test_server import SHOWN

NAMES = ["alps/1.png", "alps/2.png", "alps/3.png", "sea/\u00e9t\u00e9.png", "top.png"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Pictures in folders, all of one time."""
    folder = tmp_path_factory.mktemp("zipped")
    for number, name in enumerate(NAMES):
        file = folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(numbered_picture(number))
        os.utime(file, (1_700_000_000, 1_700_000_000))
    return folder


@pytest.fixture(scope="module")
def zipped(folder, tmp_path_factory):
    """The address of a server of these pictures."""
    with serving(folder, environment={"XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache"))}) as address:
        yield address


def download(tab, scope, name="alps.zip"):
    """Downloads what the dialog offers under its name; returns the zip, its bytes, and its address."""
    tab.click("#selection .download")
    tab.select_option("#download [name=scope]", label=scope)
    with tab.expect_download() as event:
        tab.click("#download [type=submit]")
    tab.wait_for_selector("#download [role=status]:has-text('It has begun.')")
    path = event.value.path()
    assert event.value.suggested_filename == name
    assert subprocess.run(["unzip", "-tq", path], stdout=subprocess.DEVNULL, check=False).returncode == 0
    tab.click("#download .close")
    archive = zipfile.ZipFile(path)
    assert archive.testzip() is None
    return archive, path.read_bytes(), event.value.url


def test_a_download_that_is_prepared_says_so_and_is_asked_for_once(tab, zipped):
    held = []
    tab.route("**/zip", lambda route: held.append(route))
    tab.goto(zipped + "/?order=name")
    tab.wait_for_selector(SHOWN)
    tab.click("#select")
    tab.click("#selection .download")
    tab.click("#download [type=submit]")
    tab.wait_for_selector("#download [role=status]:has-text('Preparing…')")
    assert tab.is_disabled("#download [type=submit]")
    tab.keyboard.press("Enter")
    assert len(held) == 1
    held[0].fulfill(status=400, json={"error": "invalid-request", "message": "there is no such picture"})
    tab.wait_for_selector("#download [role=status]:has-text('There is no such picture')")
    assert tab.is_enabled("#download [type=submit]")


def test_a_selection_is_one_zip_of_the_files_with_their_names_and_times(tab, zipped, folder):
    tab.goto(zipped + "/?order=name")
    tab.wait_for_selector(SHOWN)
    tab.wait_for_function("() => document.querySelector('#count').textContent === '5 pictures'")
    tab.click("#select")
    tab.wait_for_selector("#selection .download:enabled")
    for number in (1, 3, 4):
        tab.click(f".cell >> nth={number}")
    archive, data, address = download(
        tab, "3 pictures that you selected", name=f"{folder.name} - 3 selected.zip"
    )
    chosen = [tab.get_attribute(f".cell >> nth={number}", "aria-label").split(",")[0] for number in (1, 3, 4)]
    assert sorted(archive.namelist()) == sorted(chosen)
    for entry in archive.infolist():
        assert archive.read(entry) == (folder / entry.filename).read_bytes()
        assert entry.compress_type == zipfile.ZIP_STORED and entry.flag_bits & 0x800
        assert entry.date_time[:2] == (2023, 11)
    # A download that was broken off goes on where it ended, with the same bytes.
    for begin in (0, 10, len(data) // 2, len(data) - 30):
        request = urllib.request.Request(address, headers={"Range": f"bytes={begin}-"})
        with urllib.request.urlopen(request) as response:
            assert response.status == 206 and response.read() == data[begin:]


def test_the_zip_of_a_search_has_its_words_in_its_name(tab, zipped):
    tab.goto(zipped + "/?album=alps")
    tab.wait_for_selector(SHOWN)
    tab.fill("#query", "/1")
    tab.wait_for_function("() => document.querySelector('#count').textContent === '1 picture'")
    tab.focus(".cell")
    tab.keyboard.press("Control+a")
    tab.wait_for_selector("#selection p:text-is('1 selected')")
    archive, _, _ = download(tab, "All 1 picture shown here", name="alps - _1.zip")
    assert archive.namelist() == ["alps/1.png"]


def test_all_that_is_shown_of_a_folder_is_one_zip(tab, zipped):
    tab.goto(zipped + "/?album=alps&order=name")
    tab.wait_for_function("() => document.querySelector('#count').textContent === '3 pictures'")
    tab.click("#select")
    archive, _, _ = download(tab, "All 3 pictures shown here")
    assert sorted(archive.namelist()) == NAMES[:3]


@pytest.mark.parametrize("scheme, width", LOOKS)
def test_axe_finds_nothing_in_the_dialog(gallery, scheme, width):
    view = shown(gallery, scheme, width)
    view.page.click("#select")
    view.page.click("#selection .download")
    view.page.wait_for_selector("#download[open]")
    assert_accessible(view)
    assert view.page.evaluate("document.documentElement.scrollWidth") <= width
    view.page.keyboard.press("Escape")
    view.page.wait_for_selector("#download", state="detached")
    assert view.page.locator("#selection").is_visible()
