"""The page with the real server."""


def test_the_folder_is_shown_searched_and_enlarged(browser, served):
    page = browser.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.goto(served + "/")
    page.wait_for_selector(".cell[data-state=shown]")
    page.fill("#query", "lake")
    with page.expect_response("**/items?*"):
        page.keyboard.press("Enter")
    page.wait_for_selector(".cell[data-state=shown]")
    page.click(".cell[data-state=shown]")
    page.wait_for_selector(".slide[data-state=shown]")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(".slide[data-state=shown]")
    page.keyboard.press("Escape")
    page.wait_for_selector("#viewer", state="hidden")
    assert errors == []
    page.close()
