"""The signs beside equations: each opens its card, by mouse, keyboard or finger, over http and from files."""

import pytest

from tests.site.pages import DESK, PHONE, still
from tests.site.test_landing import LANDED

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


@pytest.mark.deep(keep=1)
@pytest.mark.parametrize(("name", "way"), [("01_one_plane", "http"), ("12_what_crope_removes", "file")])
def test_pointing_opens_a_card_and_leaving_shuts_it(chapter, name, way):
    page = chapter(name, way=way)
    sign = page.locator(f"{SIGN}:visible").first
    sign.scroll_into_view_if_needed()
    sign.hover()
    page.wait_for_function(OPEN)
    assert page.evaluate(INSIDE)
    assert "The control is rejected" in page.locator("#mark-card").inner_text()
    page.mouse.move(5, 5)
    page.wait_for_function(f"!{OPEN}")


def test_every_card_of_a_page_is_typeset(chapter):
    page = chapter("12_what_crope_removes")
    page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true })")
    signs = page.locator("a[data-claims]:visible")
    assert signs.count() > 10
    for sign in signs.all():
        sign.evaluate("a => a.click()")
        page.wait_for_function(OPEN)
        assert not page.locator("#mark-card .math:not(:has(m-tex))").count()
        said = page.locator("#mark-card").inner_text()
        assert "\\(" not in said, said
        assert not page.locator("#mark-card m-merror").count()


def test_the_keyboard_opens_it_and_reaches_its_link(chapter):
    page = chapter("01_one_plane")
    sign = page.locator(f"{SIGN}:visible").first
    page.keyboard.press("Tab")  # the browser now shows where the focus is
    sign.focus()
    page.wait_for_function(OPEN)
    assert sign.get_attribute("aria-expanded") == "true"
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.hash").startswith(("#claim-", "#proof-"))
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
    page.touchscreen.tap(4, 60)  # beside the text
    page.wait_for_function(f"!{OPEN}")
    sign.tap()
    page.locator("#mark-card").get_by_role("button", name="Close").tap()
    page.wait_for_function(f"!{OPEN}")


@pytest.mark.deep
def test_signs_can_be_hidden_and_stay_hidden(chapter):
    page = chapter("01_one_plane")
    assert page.locator(f"{SIGN}:visible").count()
    page.locator("details.claims-of-page summary").click()
    page.locator(".marks-switch").click()
    assert page.locator(f"{SIGN}:visible").count() == 0
    page.reload()
    still(page)
    assert page.locator(f"{SIGN}:visible").count() == 0


# A reference to another chapter's equation, one to a theorem, the first use of a letter.
REFERENCES = [
    ("06_block_diagonalisation", "p a[href*='.html#equation-']", "http"),
    ("06_block_diagonalisation", "p a[href*='04_relative_identity.html#thm-']", "file"),
    ("10_complex_rnn", "p a.symbol", "file"),
]


def first(page, link):
    """The first such link in sight, in the middle of the window."""
    found = page.locator(f"{link}:visible").first
    found.evaluate("a => a.scrollIntoView({ block: 'center', behavior: 'instant' })")
    return found


@pytest.mark.deep(keep=1)
@pytest.mark.parametrize(("name", "link", "way"), REFERENCES)
def test_a_reference_previews_what_it_leads_to(chapter, name, link, way):
    page = chapter(name, way=way)
    found = first(page, link)
    found.hover()
    page.wait_for_function(OPEN)
    page.wait_for_function("document.querySelector('#mark-card m-tex')")
    assert page.evaluate(INSIDE)
    to = found.evaluate("a => a.href")
    assert page.locator("#mark-card .mark-more a").evaluate("a => a.href") == to
    found.click()  # a mouse follows the link
    page.wait_for_url(to)


@pytest.mark.deep
def test_the_keyboard_previews_a_reference_and_goes_there(chapter):
    page = chapter("06_block_diagonalisation")
    found = first(page, REFERENCES[0][1])
    page.keyboard.press("Tab")
    found.focus()
    page.wait_for_function(OPEN)
    page.keyboard.press("Escape")
    page.wait_for_function(f"!{OPEN}")
    to = found.evaluate("a => a.href")
    page.keyboard.press("Enter")
    page.wait_for_url(to)


def test_a_finger_sees_the_preview_first_and_goes_by_its_link(chapter):
    page = chapter("06_block_diagonalisation", phone=True, way="file")
    found = first(page, REFERENCES[0][1])
    start, to = page.url, found.evaluate("a => a.href")
    found.tap()
    page.wait_for_function(OPEN)
    assert page.url == start
    assert page.evaluate("innerHeight - document.querySelector('#mark-card').getBoundingClientRect().bottom") < 2
    page.locator("#mark-card .mark-more a").tap()
    page.wait_for_url(to)


@pytest.mark.deep
def test_a_dot_of_the_ledger_shows_its_claim_and_leads_to_its_entry(chapter):
    page = chapter("ledger")
    dot = first(page, ".ledger-picture .print")
    dot.hover()
    page.wait_for_function(OPEN)
    name = dot.evaluate("a => a.hash.slice(1)")
    assert name.removeprefix("claim-") in page.locator("#mark-card").inner_text().lower()
    dot.click()
    page.wait_for_function("id => document.getElementById(id).open", arg=name)
    still(page)
    assert page.evaluate(LANDED) == ""
