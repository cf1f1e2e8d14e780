"""What formulas.js does, on a page of its own: formulas too wide for their column, and what a reader copies."""

from pathlib import Path

import pytest

SCRIPT = f'<script src="{(Path(__file__).parents[2] / "book" / "_static" / "formulas.js").as_uri()}"></script>'
HEAD = """<!doctype html><html lang="en"><title>Formulas</title>
<style>p { width: 100px } m-tex { display: inline-block; width: 98px } .narrow { width: 20px }</style>"""
FORMULA = '<span class="math" data-tex="x^2"><m-tex class="{}"><math><mi>x</mi></math></m-tex></span>'
COPY = """() => {
  getSelection().selectAllChildren(document.body);
  const clipboardData = new DataTransfer();
  const event = new ClipboardEvent("copy", { clipboardData, bubbles: true, cancelable: true });
  document.body.dispatchEvent(event);
  return event.defaultPrevented ? clipboardData.getData("text/plain") : null;
}"""


@pytest.fixture
def show(browser, tmp_path):
    """The paragraphs of a page with these."""
    context = browser.new_context()

    def open_page(*paragraphs):
        text = "".join(f"<p>{words}</p>" for words in paragraphs)
        (tmp_path / "page.html").write_text(HEAD + text + SCRIPT, encoding="utf-8")
        page = context.new_page()
        page.goto((tmp_path / "page.html").as_uri())
        return page.locator("p")

    yield open_page
    context.close()


def test_a_formula_wider_than_its_column_is_marked_also_after_the_column_has_changed(show):
    paragraphs = show(FORMULA.format(""), FORMULA.format("narrow"))
    marked = "all => all.map(p => p.querySelector('.wide') !== null)"
    assert paragraphs.evaluate_all(marked) == [False, False]
    paragraphs.page.add_style_tag(content="p { width: 50px }")
    paragraphs.page.set_viewport_size({"width": 500, "height": 400})
    paragraphs.page.wait_for_function("document.querySelector('.wide')")
    assert paragraphs.evaluate_all(marked) == [True, False]


def test_what_scrolls_is_reached_with_the_keyboard(show):
    paragraphs = show(FORMULA.format(""), FORMULA.format("narrow"))
    paragraphs.page.add_style_tag(
        content=".wide { overflow-x: auto; max-width: 100% } math { display: block; width: 98px }"
    )
    paragraphs.page.add_style_tag(content="p { width: 50px }")
    paragraphs.page.set_viewport_size({"width": 500, "height": 400})
    paragraphs.page.wait_for_function("document.querySelector('.wide')")
    stops = "all => all.map(p => p.querySelector('[tabindex=\"0\"]') !== null)"
    assert paragraphs.evaluate_all(stops) == [True, False]


def test_a_copied_formula_is_its_tex(show):
    page = show(f"Let {FORMULA.format('')} be large.", f"So is {FORMULA.format('').replace('span', 'div')}").page
    copied = page.evaluate(COPY)
    assert "Let $x^2$ be large." in copied
    assert "$$x^2$$" in copied


def test_text_without_formulas_is_copied_by_the_browser(show):
    assert show("Words alone.").page.evaluate(COPY) is None
