"""The signs beside equations: each opens its card, by mouse, keyboard or finger, over http and from files."""

import pytest

from tests.site.pages import DESK, PHONE
from tests.site.test_landing import still

SIGN = "a.mark-sign[data-claims]"
OPEN = "document.querySelector('#mark-card').matches(':popover-open')"
INSIDE = """() => {
  const { left, right, top, bottom } = document.querySelector("#mark-card").getBoundingClientRect();
  return left >= 0 && right <= innerWidth + 1 && top >= 0 && bottom <= innerHeight + 1 && bottom - top > 60;
}"""


@pytest.fixture
def chapter(browser, site):
    """A function that opens a chapter on a desk or on a phone."""
    contexts = []

    def chapter(name, *, phone=False, way="http"):
        contexts.append(browser.new_context(viewport=PHONE if phone else DESK, has_touch=phone))
        page = contexts[-1].new_page()
        page.goto(f"{getattr(site, way)}book/{name}.html")
        still(page)
        return page

    yield chapter
    for context in contexts:
        context.close()


@pytest.mark.parametrize(("name", "way"), [("01_one_plane", "http"), ("12_what_crope_removes", "file")])
def test_pointing_opens_a_card_and_leaving_shuts_it(chapter, name, way):
    page = chapter(name, way=way)
    sign = page.locator(f"{SIGN}:visible").first
    sign.scroll_into_view_if_needed()
    sign.hover()
    page.wait_for_function(OPEN)
    assert page.evaluate(INSIDE)
    assert "The control is rejected" in page.locator("#mark-card").inner_text()
    page.wait_for_function("!document.querySelector('#mark-card .math-later')")
    page.mouse.move(5, 5)
    page.wait_for_function(f"!{OPEN}")


def test_every_card_of_a_page_is_typeset(chapter):
    page = chapter("12_what_crope_removes")
    page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true })")
    signs = page.locator("a[data-claims]:visible")
    assert signs.count() > 10
    for sign in signs.all():
        sign.evaluate("a => a.click()")
        page.wait_for_function(f"{OPEN} && !document.querySelector('#mark-card .math:not(:has(mjx-container))')")
        said = page.locator("#mark-card").inner_text()
        assert "\\(" not in said, said
        assert not page.locator("#mark-card mjx-merror").count()


def test_the_keyboard_opens_it_and_reaches_its_link(chapter):
    page = chapter("01_one_plane")
    sign = page.locator(f"{SIGN}:visible").first
    page.keyboard.press("Tab")  # the browser now shows where the focus is
    sign.focus()
    page.wait_for_function(OPEN)
    assert sign.get_attribute("aria-expanded") == "true"
    page.keyboard.press("ArrowDown")
    assert "ledger.html#claim-" in page.evaluate("document.activeElement.href")
    page.keyboard.press("Escape")
    page.wait_for_function(f"!{OPEN}")
    assert sign.get_attribute("aria-expanded") == "false"


def test_a_finger_opens_a_sheet_at_the_foot_of_a_phone(chapter):
    page = chapter("01_one_plane", phone=True)
    sign = page.locator(f"{SIGN}:visible").first
    sign.tap()
    page.wait_for_function(OPEN)
    assert page.evaluate(INSIDE)
    assert page.evaluate("innerHeight - document.querySelector('#mark-card').getBoundingClientRect().bottom") < 2
    page.touchscreen.tap(100, 60)
    page.wait_for_function(f"!{OPEN}")


def test_signs_can_be_hidden_and_stay_hidden(chapter):
    page = chapter("01_one_plane")
    assert page.locator(f"{SIGN}:visible").count()
    page.locator("details.claims-of-page summary").click()
    page.locator(".marks-switch").click()
    assert page.locator(f"{SIGN}:visible").count() == 0
    page.reload()
    still(page)
    assert page.locator(f"{SIGN}:visible").count() == 0
