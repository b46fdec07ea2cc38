"""What axe finds in each part of the page, in both colour schemes and on a phone."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from conftest import ALL_CASES

MONTHS = [{"title": "May 2026", "count": 300}, {"title": "April 2026", "count": 300}]
# In the gate those that differ in both.
LOOKS = [("light", 1280), ("dark", 390)]
if ALL_CASES:
    LOOKS += [("dark", 1280), ("light", 390)]


def assert_accessible(view):
    """Rules of WCAG 2.2 A and AA, and of good practice."""
    # Colours that still change would be measured on their way.
    view.wait("document.getAnimations().every((animation) => animation.playState !== 'running')")
    assert findings(view.page) == []


def findings(page):
    """The rules that a page breaks, and by what."""
    found = Axe().run(page).response["violations"]
    return [(rule["id"], node["html"], node["failureSummary"]) for rule in found for node in rule["nodes"]]


def shown(gallery, scheme, width, **setup):
    view = gallery(width, 844, color_scheme=scheme, reduced_motion="reduce")
    view.refusals["2".zfill(32)] = (422, "damaged", {})
    view.details = {"camera": "NIKON Z 6", "latitude": 1.5, "longitude": 2.5, "bytes": 1234}
    view.open(**{"kind": "folder", "count": 600, "total": 600, "sections": MONTHS, **setup})
    view.wait_for_pictures()
    return view


def test_every_control_is_on_a_screen_of_320_pixels(gallery):
    cut = """[...document.querySelectorAll('button, select, input, a')].filter((element) => {
      const { left, right } = element.getBoundingClientRect();
      return element.checkVisibility() && !element.closest('[inert]') && (left < 0 || right > 320);
    }).map((element) => element.outerHTML)"""
    view = shown(gallery, "light", 320)
    view.set(hidden=1234)
    view.page.wait_for_selector("#hidden:visible")
    assert view.page.evaluate(cut) == []
    assert view.page.evaluate("document.documentElement.scrollWidth") == 320
    view.page.click("#select")
    view.page.wait_for_selector("#selection:visible")
    assert view.page.evaluate(cut) == []
    view.page.keyboard.press("Escape")
    view.page.click(".cell >> nth=1")
    view.page.wait_for_selector(".slide:not([inert])[data-state=shown]")
    view.page.keyboard.press("i")
    view.page.keyboard.press("Space")
    view.page.wait_for_selector(".interval:visible")
    assert view.page.evaluate(cut) == []


@pytest.mark.parametrize("scheme, width", LOOKS)
def test_axe_finds_nothing_in_the_grid_and_its_states(gallery, scheme, width):
    view = shown(gallery, scheme, width)
    view.page.wait_for_selector(".cell[data-state=failed]")
    assert_accessible(view)
    view.set(offline=True, hidden=3)
    view.page.wait_for_selector("#strip:visible")
    assert_accessible(view)
    view.revise(state="failed", message="it did not work", count=0, total=None)
    view.page.wait_for_selector("#state button")
    assert_accessible(view)


@pytest.mark.parametrize("scheme, width", LOOKS)
def test_axe_finds_nothing_in_a_selection(gallery, scheme, width):
    view = shown(gallery, scheme, width)
    view.page.focus(".cell >> nth=1")
    view.page.keyboard.press("x")
    view.page.wait_for_selector("#selection:has-text('1 selected')")
    assert_accessible(view)


@pytest.mark.parametrize("scheme, width", LOOKS)
def test_axe_finds_nothing_in_an_enlarged_picture_and_its_panel(gallery, scheme, width):
    view = shown(gallery, scheme, width)
    view.page.click(".cell >> nth=1")
    view.page.wait_for_selector(".slide:not([inert])[data-state=shown]")
    assert_accessible(view)
    view.page.keyboard.press("i")
    view.page.wait_for_selector(".panel:has-text('NIKON')")
    assert_accessible(view)
    view.page.keyboard.press("ArrowRight")
    view.page.wait_for_selector(".card")
    assert_accessible(view)
    view.page.keyboard.press("?")
    view.page.wait_for_selector("#shortcuts-title")
    assert_accessible(view)
