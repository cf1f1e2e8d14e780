"""Where a link leads: the place that its address names stands in view, with the browser's own smooth scrolling."""

import pytest

from tests.site.pages import still

MARK = 'a[href*="ledger.html#claim-"]'
SIGN = "a.mark-sign[data-claims]"  # it opens a card, whose link leads on
LEDGER = "book/ledger.html#claim-su19.rot-law"
# Where a reader presses which link, over http or from a file, on a window of which width.
CASES = [
    ("book/01_one_plane", SIGN, "http", 1440),
    ("book/17_which_rope", SIGN, "file", 390),
    ("book/01_one_plane", SIGN, "file", 390),
    ("book/04_relative_identity", SIGN, "http", 1280),
    ("book/ledger.html#claim-crope.half-params", 'a[href*="12_what_crope_removes.html#mark-"]', "file", 390),
    (LEDGER, 'a[href*="01_one_plane.html#mark-"]', "http", 1440),
    ("book/errata", MARK, "http", 390),
    ("book/api_nn", MARK, "http", 1280),
    ("book/crope_laboratory", 'a[href*="#table-2"]', "http", 1280),
]
FOLLOW = """a => {
  if (a.dataset.claims) {
    a.click();
    a = document.querySelector("#mark-card .mark-more a");
  }
  a.click();
  return a.href;
}"""
LANDED = """() => {
  const place = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!place) return "no such place";
  const { top, bottom } = place.getBoundingClientRect();
  return top >= 0 && top < innerHeight && bottom > 0 ? "" : `${location.hash} stands at ${Math.round(top)}`;
}"""


@pytest.fixture
def open_page(browser):
    """A function that opens a fresh page whose motion is not reduced: the site's other tests reduce it."""
    contexts = []

    def open_page(width):
        contexts.append(browser.new_context(viewport={"width": width, "height": 844}, reduced_motion="no-preference"))
        contexts[-1].set_default_timeout(60_000)
        return contexts[-1].new_page()

    yield open_page
    for context in contexts:
        context.close()


@pytest.mark.deep(keep=1)
@pytest.mark.parametrize(("start", "link", "way", "width"), CASES)
def test_a_link_lands_where_it_says(open_page, site, start, link, way, width):
    page = open_page(width)
    page.goto(getattr(site, way) + (start if "#" in start else f"{start}.html"))
    for warmth in ("cold", "warm"):
        if warmth == "warm":
            page.go_back()
        still(page)
        there = page.locator(link).first.evaluate(FOLLOW)
        page.wait_for_url(there)
        still(page)
        assert page.evaluate(LANDED) == "", warmth


FOLDED = "details.fold:not(.claims-of-page) [id^=mark-], details.fold:not(.claims-of-page) [id^=equation-]"


@pytest.mark.deep(keep=1)
@pytest.mark.parametrize(("way", "width"), [("file", 390), ("http", 1280)])
def test_a_link_into_a_fold_opens_it(open_page, site, way, width):
    page = open_page(width)
    at = f"{getattr(site, way)}book/05_generators.html"
    page.goto(at)
    place = page.locator(FOLDED).last.get_attribute("id")
    page.goto("about:blank")
    page.goto(f"{at}#{place}")
    still(page)
    assert page.evaluate(LANDED) == ""
    assert page.evaluate("id => document.getElementById(id).closest('details').open", place)
    page.evaluate("scrollTo({ top: 0, behavior: 'instant' })")
    assert "stands at" in page.evaluate(LANDED)  # the control
