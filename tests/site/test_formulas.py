"""Displayed formulas keep all their ink, fit a phone with their numbers, and the first paint has the screen's theme."""

import pytest

from tests.site import checks
from tests.site.checks import nothing
from tests.site.pages import DESK, PHONE, Visit, shift, still

# The top of a glyph above the box that clips it, in pixels: a transpose that has lost its bar.
BEHEADED = """() => [...document.querySelectorAll("m-tex[display=true]")].flatMap((box) => {
  const top = box.getBoundingClientRect().top;
  const lost = [...box.querySelectorAll("m-c")].map((glyph) => top - glyph.getBoundingClientRect().top);
  return lost.filter((pixels) => pixels > 0.5);
})"""
WIDE = """() => [...document.querySelectorAll("div.math")]
  .filter((box) => box.checkVisibility() && box.querySelector(".eqno") && box.scrollWidth > box.clientWidth + 1)
  .map((box) => box.id)"""


# How far each formula of a page stands beside the axis of its text, in pixels, if it leaves room for its number.
AXIS = """() => [...document.querySelectorAll("section > .marked > div.math, section > div.math")].flatMap((box) => {
  const { left, width } = box.getBoundingClientRect();
  const formula = box.querySelector("m-math").getBoundingClientRect();
  return formula.width > width - 150 ? [] : [Math.abs(formula.left + formula.width / 2 - left - width / 2)];
})"""


def test_mathematics_is_typeset_none_of_it_beheaded_and_a_numbered_formula_fits_a_phone(visit: Visit):
    nothing(checks.unset_mathematics(visit.page) + checks.literal_tex(visit.page))
    assert visit.page.evaluate(BEHEADED) == []
    assert not visit.phone or visit.page.evaluate(WIDE) == []


@pytest.mark.deep
def test_numbered_or_not_formulas_stand_on_one_axis(browser, site):
    page = browser.new_page(viewport=DESK)
    page.goto(f"{site.file}book/04_relative_identity.html")
    still(page)
    beside = page.evaluate(AXIS)
    assert len(beside) > 4
    assert max(beside) < 1.5
    page.add_style_tag(content="div.math:has(> .eqno) { display: block !important } .eqno { float: right !important }")
    assert max(page.evaluate(AXIS)) > 5  # the control: the number in the flow
    assert page.evaluate(BEHEADED) == []
    page.add_style_tag(content="m-tex[display=true] > m-math { position: relative; top: -2em; }")
    assert page.evaluate(BEHEADED)  # the control of the test above
    page.close()


@pytest.mark.deep(keep=2)
@pytest.mark.parametrize(("number", "screen"), [("01", DESK), ("04", DESK), ("04", PHONE), ("01", PHONE)])
def test_nothing_moves_while_a_chapter_loads(browser, site, number, screen):
    context = browser.new_context(viewport=screen, reduced_motion="reduce")
    page = context.new_page()
    page.goto(f"{site.http}book/{next((site.html / 'book').glob(f'{number}_*.html')).name}")
    assert shift(page) < 0.05
    page.add_style_tag(content="article { padding-top: 200px !important }")
    assert shift(page) > 0.05  # the control
    context.close()


def test_letters_wear_the_inks_of_the_figures(browser, site):
    page = browser.new_page(color_scheme="dark")
    page.goto(f"{site.file}book/01_one_plane.html")
    for role in ("query", "key", "value", "output"):
        worn = page.locator(f"p m-c.rope-{role}").first.evaluate("el => getComputedStyle(el).color")
        page.evaluate("role => { document.body.style.color = `var(--rope-${role})`; }", role)
        ink = page.evaluate("getComputedStyle(document.body).color")
        assert worn == ink
    page.close()


@pytest.mark.deep(keep=2)
@pytest.mark.parametrize(("way", "scheme"), [("http", "light"), ("http", "dark"), ("file", "dark"), ("file", "light")])
def test_the_first_paint_has_the_theme_of_the_screen(browser, site, way, scheme):
    context = browser.new_context(viewport=PHONE, color_scheme=scheme)
    page = context.new_page()
    page.add_init_script(
        """new MutationObserver((_, self) => {
          if (!document.body) return;
          window.themeAtFirst = `${document.documentElement.dataset.theme} while ${document.readyState}`;
          self.disconnect();
        }).observe(document, { childList: true, subtree: true });"""
    )
    page.goto(f"{getattr(site, way)}book/01_one_plane.html")
    assert page.evaluate("window.themeAtFirst") == f"{scheme} while loading"
    context.close()
