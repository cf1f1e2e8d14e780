"""What was once too wide: tables of settings and of the appendix, and the bar of a chapter on the smallest phone."""

import pytest

# How far each of the tables reaches beyond its box, in pixels, with all folds around it and in it open.
BEYOND = """tables => tables.map((table) => {
  for (const fold of table.querySelectorAll("details")) fold.open = true;
  for (let fold = table.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  const box = table.closest(".pst-scrollable-table-container");
  return box.scrollWidth - box.clientWidth;
})"""


@pytest.mark.parametrize(
    ("name", "widths", "tables"),
    [
        ("16_nine_placements", (390, 768), "table.cards"),
        pytest.param("15_crope_tables", (390, 768), "table.cards", marks=pytest.mark.deep),
        pytest.param("result_cards", (390,), "table.cards", marks=pytest.mark.deep),
        ("17_which_rope", (768,), ".rope-table table"),
        ("atlas", (1280,), "table.atlas"),
        ("speed", (1280, 768), ".rope-table table"),
    ],
)
def test_a_table_fits_its_page(browser, site, name, widths, tables):
    page = browser.new_page(viewport={"width": widths[0], "height": 900})
    page.goto(f"{site.http}book/{name}.html")
    for width in widths:
        page.set_viewport_size({"width": width, "height": 900})
        beyond = page.locator(tables).evaluate_all(BEYOND)
        assert beyond
        assert max(beyond) <= 1, width
    page.close()


@pytest.mark.parametrize("name", ["book/05_generators", "notebooks/15_crope_tables"])
def test_the_bar_of_a_chapter_fits_the_smallest_phone(browser, site, name):
    page = browser.new_page(viewport={"width": 320, "height": 600})
    page.goto(f"{site.http}{name}.html")
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    page.close()


@pytest.mark.deep(keep=2)
@pytest.mark.parametrize("name", ["01_one_plane", "02_many_planes", "14_tiny_gpt", "15_crope_tables"])
def test_code_in_a_fold_is_not_cut_while_there_is_room(browser, site, name):
    page = browser.new_page(viewport={"width": 768, "height": 900})
    page.goto(f"{site.http}book/{name}.html")
    cut = page.locator("details.fold pre").evaluate_all(
        """all => all.filter((code) => {
          for (let fold = code.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
          return code.scrollWidth > code.clientWidth + 1;
        }).map((code) => code.textContent)"""
    )
    assert cut == []
    page.close()
