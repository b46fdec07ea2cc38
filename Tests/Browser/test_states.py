"""What the page says and offers in each state of the results, and of the connection."""

import threading


def test_cells_without_pictures_stand_while_results_are_looked_for(gallery):
    view = gallery().open()
    view.wait_for_pictures()
    view.revise(query="lake", state="loading", count=0, total=None, more=False)
    view.wait("document.querySelectorAll('.cell[data-state=empty]').length > 10")
    assert view.page.is_hidden("#state")


def test_an_empty_result_says_so(gallery):
    view = gallery().open("/?q=nothing")
    view.revise(query="nothing", state="empty", count=0, total=0, more=False)
    view.page.wait_for_selector("#state:visible")
    assert "No pictures for “nothing”" in view.page.inner_text("#state")
    view.wait("document.querySelector('#live').textContent.includes('No pictures')")


def test_a_failed_search_can_be_retried(gallery):
    view = gallery().open()
    view.revise(state="failed", message="The photo service does not answer.", count=0, total=None, more=False)
    view.page.wait_for_selector("#state:visible")
    assert "does not answer" in view.page.inner_text("#state")
    view.page.click("#state button")
    view.wait("standIn.sent.some(({ verb }) => verb === 'retry')")
    view.revise(state="loaded", message=None, count=40, total=40)
    view.wait_for_pictures()
    assert view.page.is_hidden("#state")


def test_another_search_that_failed_comes_at_its_beginning(gallery):
    view = gallery().open()
    view.wait_for_pictures()
    view.page.evaluate("scrollTo(0, 2000)")
    view.wait("location.search.includes('at=')")
    # Sooner than a sign of waiting is shown.
    view.revise(query="other", state="failed", message="It does not answer.", count=0, total=None, more=False)
    view.page.wait_for_selector("#state:visible")
    view.revise(state="loaded", message=None, count=300, total=300)
    view.wait_for_pictures()
    assert view.page.evaluate("scrollY") == 0


def test_the_next_page_is_announced_and_can_be_retried(gallery):
    view = gallery().open(count=40, total=80)
    view.wait_for_pictures()
    view.set(state="loadingNextPage")
    view.page.wait_for_selector("#foot[data-kind=loading]")
    assert view.page.inner_text("#foot") == "More pictures are coming"
    view.set(state="failed", message="the next page did not come")
    view.page.wait_for_selector("#foot[data-kind=failed]")
    assert view.page.inner_text("#foot span") == "The next page did not come."
    view.page.click("#foot button")
    view.wait("standIn.sent.some(({ verb }) => verb === 'retry')")
    view.set(state="loaded", message=None, count=80)
    view.page.focus("#scrubber")
    view.page.keyboard.press("End")
    view.wait("[...document.querySelectorAll('.cell')].some(cell => cell.cell.index === 79)")


def test_the_end_of_the_list_is_said(gallery):
    view = gallery().open(count=40, total=80)
    view.wait_for_pictures()
    view.page.wait_for_selector("#foot[data-kind=loading]")
    view.set(count=80, total=80, more=False)
    view.page.wait_for_selector("#foot[data-kind=end]")
    view.page.focus("#scrubber")
    view.page.keyboard.press("End")
    view.wait("document.querySelector('#foot').getBoundingClientRect().bottom <= innerHeight + 1")
    assert view.page.inner_text("#foot") == "That is all: 80 pictures."


def test_stored_pictures_that_begin_again_say_so(gallery):
    sections = [{"title": None, "count": 7}, {"title": "From the beginning again", "count": 33}]
    view = gallery().open(sections=sections)
    view.wait_for_pictures()
    assert view.page.inner_text("#headers h2") == "From the beginning again"
    assert view.page.evaluate("document.querySelectorAll('.row')[1].children.length") == 2


def test_offline_shows_a_strip_until_the_connection_is_back(gallery):
    view = gallery().open()
    view.wait_for_pictures()
    view.set(offline=True)
    view.page.wait_for_selector("#strip:visible")
    assert "Stored pictures are shown" in view.page.inner_text("#strip")
    assert view.page.evaluate("document.querySelectorAll('.cell[data-state=shown]').length") > 10
    view.set(offline=False)
    view.page.wait_for_selector("#strip", state="hidden")


def test_dates_that_are_being_read_are_counted(gallery):
    view = gallery()
    view.page.clock.install()
    view.open(kind="folder").wait_for_pictures()
    view.set(dating=[1200, 5000])
    text = "Reading dates: 1,200 of 5,000. Until then the times of the files give the order."
    view.page.wait_for_selector(f"#strip:visible:text-is('{text}')")
    view.wait("text => document.querySelector('#live').textContent === text", text)
    # What is said aloud are the beginning and the end.
    view.page.evaluate(
        """() => {
          window.said = [];
          const live = document.querySelector('#live');
          new MutationObserver(() => live.textContent && said.push(live.textContent)).observe(live, { childList: true });
        }"""
    )
    view.set(dating=[4800, 5000])
    view.page.wait_for_selector("#strip:has-text('4,800')")
    view.page.clock.run_for(1000)
    view.set(dating=None)
    view.page.wait_for_selector("#strip", state="hidden")
    view.wait("said.length > 0")
    assert not any("4,800" in text for text in view.page.evaluate("said"))


def test_a_long_message_is_whole_on_a_phone(gallery):
    view = gallery(320, 600).open()
    view.wait_for_pictures()
    view.page.evaluate("standIn.hidden = [0]")
    view.revise(count=39, total=39, hidden=1)
    view.page.click("#hidden")
    view.page.wait_for_selector("#toast span:text-is('1 picture shown again.')")
    span = "(() => { const { scrollWidth, clientWidth } = document.querySelector('#toast span'); return scrollWidth <= clientWidth; })()"
    assert view.page.evaluate(span)
    view.page.evaluate("document.querySelector('#toast span').textContent = 'All pictures are hidden here now. '.repeat(6)")
    assert view.page.evaluate(span)
    box = view.page.locator("#toast").bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 320 and box["width"] > 250


def test_a_failed_cell_offers_no_circle_to_select_it(gallery):
    view = gallery().open()
    key = "00000000000000000000000000000002"
    view.refusals[key] = (415, "damaged", {})
    view.page.reload()
    view.page.wait_for_selector(".cell[data-state=failed]")
    view.page.hover(".cell[data-state=failed]")
    content = "document.querySelector('.cell:hover') && getComputedStyle(document.querySelector('.cell:hover'), '::before').content"
    assert view.page.evaluate(content) == "none"
    view.page.hover(".cell[data-state=shown]")
    assert view.page.evaluate(content) == '""'
    # Newer results leave its words.
    label = view.page.get_attribute(".cell[data-state=failed]", "aria-label")
    count = view.page.evaluate("standIn.snapshot.count") - 1
    view.revise(count=count, total=count)
    view.page.wait_for_selector(f"#count:has-text('{count:,}')")
    view.wait_for_pictures()
    assert view.page.get_attribute(".cell[data-state=failed]", "aria-label") == label and "." in label


def test_a_search_without_a_connection_waits_in_plain_words(gallery):
    view = gallery().open()
    message = "unsplash cannot be reached: Could not resolve host: api.invalid; check the network and the address"
    view.revise(query="lake", state="offline", message=message, count=0, total=None, more=False)
    view.page.wait_for_selector("#state:visible")
    assert view.page.inner_text("#state p") == "The search goes on by itself when the connection is back."


def test_a_lost_server_is_reconnected_without_a_reload(gallery):
    view = gallery().open()
    view.wait_for_pictures()
    view.page.evaluate("window.isSamePage = true; standIn.down()")
    view.page.wait_for_selector("#strip:visible")
    assert "The server does not respond" in view.page.inner_text("#strip")
    view.page.evaluate("standIn.up()")
    view.page.wait_for_selector("#strip", state="hidden")
    assert view.page.evaluate("window.isSamePage")
    assert view.page.evaluate("document.querySelectorAll('.cell[data-state=shown]').length") > 10


def test_a_server_that_has_to_search_again_keeps_the_place(gallery):
    view = gallery().open(count=500, total=500, kind="folder")
    view.wait_for_pictures()
    view.page.focus("#scrubber")
    view.page.keyboard.press("PageDown")
    view.page.keyboard.press("PageDown")
    view.wait_for_pictures()
    place = view.page.evaluate("scrollY")
    assert place > 0
    view.revise(state="loading", count=0, total=None)
    view.wait("document.querySelector('#count').textContent === ''")
    assert view.page.evaluate("document.querySelectorAll('.cell[data-state=shown]').length") > 10
    view.revise(state="loaded", count=500, total=500)
    view.wait("document.querySelector('#count').textContent === '500 pictures'")
    view.wait_for_pictures()
    assert view.page.evaluate("scrollY") == place


def test_a_tab_out_of_sight_lets_go_of_its_stream_and_takes_it_up_with_what_it_missed(gallery):
    view = gallery().open(count=500, total=500, kind="folder")
    view.wait_for_pictures()
    view.page.focus("#scrubber")
    view.page.keyboard.press("PageDown")
    view.wait_for_pictures()
    place = view.page.evaluate("scrollY")
    view.show_tab(False)
    view.wait("standIn.streamCount === 0")
    assert view.sent("away") == [{}]
    view.revise(count=501, total=501)
    assert view.page.inner_text("#count") == "500 pictures"
    view.show_tab(True)
    view.wait("document.querySelector('#count').textContent === '501 pictures'")
    assert view.page.evaluate("standIn.streamCount") == 1
    assert len(view.sent("sessions")) == 1
    view.wait_for_pictures()
    assert view.page.evaluate("scrollY") == place
    assert not view.page.is_visible("#strip")


def test_a_tab_that_is_left_for_a_moment_or_loses_its_server_meanwhile_is_not_lost(gallery):
    view = gallery()
    view.page.clock.install()
    view.open().wait_for_pictures()
    view.show_tab(False)
    view.show_tab(True)
    view.page.clock.run_for(1500)
    assert view.sent("away") == []
    # A server that goes while the tab is out of sight is found again, and let go of again.
    view.show_tab(False)
    view.page.evaluate("standIn.down()")
    view.page.evaluate("standIn.up()")
    view.wait("standIn.sent.some(({ verb }) => verb === 'away')")
    view.wait("standIn.streamCount === 0")
    view.show_tab(True)
    view.wait("standIn.streamCount === 1")
    assert not view.page.is_visible("#strip")


def test_a_closed_tab_ends_its_session(gallery):
    view = gallery().open()
    view.wait_for_pictures()
    view.page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))")
    assert view.sent("end") == []
    view.page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', { persisted: false }))")
    assert view.sent("end") == [{}]


def test_every_request_with_an_effect_has_the_token(gallery):
    view = gallery().open()
    view.wait_for_pictures()
    view.wait("standIn.sent.some(({ verb }) => verb === 'viewport')")
    calls = view.page.evaluate("standIn.sent.filter(({ body }) => body)")
    assert {call["token"] for call in calls} == {"secret"}


def test_pictures_that_let_others_go_first_come_in_the_end(gallery):
    view = gallery()
    view.held = threading.Event()
    view.open(patience=0.05)
    view.wait("document.querySelector('.cell[data-state=shown], .cell[data-state=failed]')")
    view.held.set()
    view.wait_for_pictures()
    assert view.page.evaluate("document.querySelectorAll('.cell[data-state=failed]').length") == 0


def test_pictures_that_a_restarted_server_did_not_know_yet_are_shown_with_its_list(gallery):
    view = gallery()
    keys = [f"{number:032x}" for number in range(40)]
    view.refusals = {key: (404, "not-found", {}) for key in keys}
    view.open(kind="folder")
    view.wait("document.querySelectorAll('.cell[data-state=failed]').length > 10")
    view.refusals = {}
    view.revise()
    view.wait_for_pictures()
    assert view.page.evaluate("document.querySelectorAll('.cell[data-state=failed]').length") == 0


def test_an_enlarged_picture_that_failed_without_a_connection_comes_with_it(gallery):
    view = gallery()
    view.refusals = {f"{3:032x}": (404, "not-found", {})}
    view.open("/?open=i3")
    view.page.wait_for_selector("#viewer .card:has-text('Not there')")
    view.refusals = {}
    view.page.evaluate("standIn.down()")
    view.page.wait_for_selector("#strip:visible")
    view.page.evaluate("standIn.up()")
    view.page.wait_for_selector("#viewer .slide:not([inert])[data-state=shown]")
    assert view.page.query_selector("#viewer .card") is None
