"""A page is shown when its fonts have come, so that nothing moves; a font that does not come holds no page up."""

import pytest

from tests.site.pages import shift

SEEN = 'getComputedStyle(document.querySelector(".bd-article h1")).visibility'


@pytest.fixture
def slow(browser, site):
    """The landing page on a tablet whose clock stands still, and a function that lets its fonts come."""
    context = browser.new_context(viewport={"width": 768, "height": 1024})
    page = context.new_page()
    page.clock.install(time=0)
    page.clock.pause_at(1)
    held = []
    page.route("**/_static/fonts/*.woff2", lambda route: held.append(route) if held is not None else route.continue_())

    def bring():
        nonlocal held
        late, held = held, None
        for route in late:
            route.continue_()

    page.goto(site.http, wait_until="domcontentloaded")
    page.wait_for_function(f'{SEEN} === "hidden"')
    yield page, bring
    context.unroute_all(behavior="ignoreErrors")
    context.close()


def test_nothing_moves_when_the_fonts_come_late(slow):
    page, bring = slow
    bring()
    page.wait_for_function(f'{SEEN} === "visible"')
    page.clock.resume()
    assert shift(page) < 0.05


def test_a_font_that_never_comes_holds_no_page_up(slow):
    page, _ = slow
    page.clock.run_for(400)
    assert page.evaluate(SEEN) == "hidden"
    page.clock.run_for(200)
    page.wait_for_function(f'{SEEN} === "visible"')
    assert not page.evaluate("""document.fonts.check("1em 'Source Serif 4'")""")


def test_control_without_the_script_the_page_does_not_wait(browser, site):
    page = browser.new_page()
    page.route("**/_static/fonts.js*", lambda route: route.abort())
    page.goto(site.http)
    assert page.evaluate("document.documentElement.dataset.fonts") is None
    page.close()
