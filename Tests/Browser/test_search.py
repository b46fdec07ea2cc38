"""Search as one types, and what the address keeps of it."""


def test_a_pause_searches_and_results_get_an_entry_of_the_history(gallery):
    view = gallery().open()
    view.wait_for_pictures()
    view.page.keyboard.press("/")
    view.page.keyboard.type("lake")
    view.wait("location.search === '?q=lake'")
    assert view.sent("search") == [{"query": "lake"}]
    assert view.page.title() == "lake – Lakes"
    view.page.go_back()
    view.wait("location.search === ''")
    assert view.page.input_value("#query") == ""
    view.wait("standIn.snapshot.query === ''")
    view.page.go_forward()
    view.wait("standIn.snapshot.query === 'lake'")


def test_a_query_without_results_yet_leaves_the_address(gallery):
    view = gallery().open()
    view.wait_for_pictures()
    waiting = "{ query, state: 'loading', count: 0, total: null, more: false }"
    view.page.evaluate(f"standIn.search = (query) => standIn.revise({waiting})")
    view.page.fill("#query", "lake")
    view.wait("standIn.snapshot.query === 'lake'")
    assert view.search == ""
    view.revise(state="loaded", count=40, total=40)
    view.wait("location.search === '?q=lake'")


def test_enter_searches_at_once(gallery):
    view = gallery().open()
    view.wait_for_pictures()
    view.page.fill("#query", "lake")
    view.page.keyboard.press("Enter")
    assert view.search == "?q=lake"
    assert view.sent("search") == [{"query": "lake"}]


def test_typing_on_changes_one_entry_of_the_history(gallery):
    view = gallery().open(kind="folder")
    view.wait_for_pictures()
    view.page.focus("#query")
    for typed in ["l", "la", "lak"]:
        view.page.keyboard.type(typed[-1])
        view.wait("query => location.search === `?q=${query}`", typed)
    view.page.keyboard.press("Enter")
    view.page.keyboard.type("e")
    view.wait("location.search === '?q=lake'")
    view.page.go_back()
    view.wait("location.search === '?q=lak'")
    view.page.go_back()
    view.wait("location.search === ''")
    assert view.page.input_value("#query") == ""


def test_a_copied_link_shows_the_same_place(gallery):
    view = gallery().open(count=2000, total=2000, kind="folder")
    view.wait_for_pictures()
    view.page.focus("#scrubber")
    for _ in range(4):
        view.page.keyboard.press("ArrowDown")
    view.wait("new URLSearchParams(location.search).get('at') > 20")
    link = view.search
    other = gallery().open("/" + link, count=2000, total=2000, kind="folder")
    other.wait_for_pictures()
    first = """Math.min(...[...document.querySelectorAll('.cell')]
      .filter(cell => cell.getBoundingClientRect().bottom > 60).map(cell => cell.cell.index))"""
    assert other.page.evaluate(first) == int(link.removeprefix("?at="))
    assert other.search == link


def test_a_place_that_is_not_loaded_yet_is_reached_page_by_page(gallery):
    view = gallery().open("/?q=lake&at=70", count=30, total=200)
    view.wait_for_pictures()
    view.wait("standIn.sent.some(({ verb, body }) => verb === 'viewport' && body.last === 29)")
    view.set(count=60)
    view.wait("standIn.sent.some(({ verb, body }) => verb === 'viewport' && body.last === 59)")
    view.set(count=90)
    view.wait("standIn.sent.some(({ verb, body }) => verb === 'viewport' && body.first === 70)")
    assert view.search == "?q=lake&at=70"


def test_another_order_is_kept_in_the_address(gallery):
    view = gallery().open(kind="folder")
    view.wait_for_pictures()
    view.page.select_option("#order", "name")
    view.wait("standIn.sent.some(({ verb }) => verb === 'order')")
    assert view.search == "?order=name"
    assert view.sent("order") == [{"order": "name"}]
    view.page.go_back()
    view.wait("document.querySelector('#order').value === 'date'")
