"""A page is shown when its fonts have come, so that nothing moves; a font that does not come holds no page up."""

import time

import pytest

SEEN = 'getComputedStyle(document.querySelector(".bd-article h1")).visibility'
SHIFT = """window.shift = 0;
new PerformanceObserver((list) => {
  for (const { hadRecentInput, value } of list.getEntries()) if (!hadRecentInput) window.shift += value;
}).observe({ type: "layout-shift", buffered: true });"""


@pytest.fixture
def slow(browser, site):
    """Opens the landing page on a tablet with fonts that come so many seconds late, or never."""
    contexts = []

    def open_page(seconds):
        contexts.append(browser.new_context(viewport={"width": 768, "height": 1024}))
        page = contexts[-1].new_page()
        page.add_init_script(SHIFT)

        def bring(route):
            if seconds is not None:
                time.sleep(seconds)
                route.continue_()

        page.route("**/_static/fonts/*.woff2", bring)
        page.goto(f"{site.http}book/intro.html", wait_until="domcontentloaded")
        return page

    yield open_page
    for context in contexts:
        context.unroute_all(behavior="ignoreErrors")
        context.close()


def test_nothing_moves_when_the_fonts_come_late(slow):
    page = slow(0.05)
    page.wait_for_function(f'{SEEN} === "visible"')
    page.evaluate("async () => { await document.fonts.ready; await new Promise((done) => setTimeout(done, 700)); }")
    assert page.evaluate("window.shift") < 0.05


def test_a_font_that_never_comes_holds_no_page_up(slow):
    page = slow(None)
    page.wait_for_function(f'{SEEN} === "visible"', timeout=5000)
    assert not page.evaluate("""document.fonts.check("1em 'Source Serif 4'")""")


def test_control_without_the_script_the_page_does_not_wait(browser, site):
    page = browser.new_page()
    page.route("**/_static/fonts.js*", lambda route: route.abort())
    page.goto(f"{site.http}book/intro.html")
    assert page.evaluate("document.documentElement.dataset.fonts") is None
    page.close()
