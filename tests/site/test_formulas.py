"""Displayed formulas keep all their ink, fit a phone with their numbers, and the first paint has the screen's theme."""

import pytest

from tests.site.pages import PHONE, Visit
from tests.site.test_landing import still

# The top of a glyph above the box that clips it, in pixels: a transpose that has lost its bar.
BEHEADED = """() => [...document.querySelectorAll("mjx-container[display=true]")].flatMap((box) => {
  const top = box.getBoundingClientRect().top;
  const lost = [...box.querySelectorAll("mjx-c")].map((glyph) => top - glyph.getBoundingClientRect().top);
  return lost.filter((pixels) => pixels > 0.5);
})"""
WIDE = """() => [...document.querySelectorAll("div.math")]
  .filter((box) => box.checkVisibility() && box.querySelector(".eqno") && box.scrollWidth > box.clientWidth + 1)
  .map((box) => box.id)"""


def test_no_formula_is_beheaded(visit: Visit):
    assert visit.page.evaluate(BEHEADED) == []


def test_a_numbered_formula_fits_a_phone(visit: Visit):
    if visit.phone:
        assert visit.page.evaluate(WIDE) == []


def test_control_a_formula_without_its_padding_is_beheaded(browser, site):
    page = browser.new_page()
    page.goto(f"{site.file}book/01_one_plane.html")
    still(page)
    page.add_style_tag(content="mjx-container[display=true] > mjx-math { position: relative; top: -2em; }")
    assert page.evaluate(BEHEADED)
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("way", ["http", "file"])
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
