"""What is fixed of the theme, on a page of its own: where lines break after a formula, and formulas too wide."""

from pathlib import Path

import pytest

FIXES = Path(__file__).parents[2] / "book" / "_static" / "theme_fixes.js"
SCRIPT = f'<script src="{FIXES.as_uri()}"></script>'
# As MathJax leaves it, a formula is a box. It has room in the column, and nothing has room beside it.
HEAD = """<!doctype html><html lang="en"><title>Fixes</title>
<style>p { width: 100px } mjx-container { display: inline-block; width: 98px } .narrow { width: 20px }</style>"""
FORMULA = '<span class="math"><mjx-container class="{}"><math><mi>x</mi></math></mjx-container></span>'
AFTER = [". Then", ", then", "; so", ": so", ") is", "]", ".", "?!", ").</em> So"]
PARAGRAPHS = [f"<em>{FORMULA.format('')}{after}" for after in AFTER]
# Whether the first and the last character after the formula stand on its line.
ON_ITS_LINE = """all => all.map(p => {
  const box = p.querySelector("mjx-container"), text = document.createTreeWalker(p, NodeFilter.SHOW_TEXT);
  const after = document.createRange(), found = [];
  while (text.nextNode()) {
    const node = text.currentNode;
    for (let i = 0; i < node.length && !box.contains(node); i++) {
      after.setStart(node, i);
      after.setEnd(node, i + 1);
      found.push(after.getBoundingClientRect().top < box.getBoundingClientRect().bottom);
    }
  }
  return [found.at(0), found.at(-1)];
})"""


@pytest.fixture
def show(browser, tmp_path):
    """The paragraphs of a page with these, with the script or without it."""
    context = browser.new_context()

    def open_page(*paragraphs, script=SCRIPT):
        text = "".join(f"<p>{words}</p>" for words in paragraphs)
        (tmp_path / "page.html").write_text(HEAD + text + script, encoding="utf-8")
        page = context.new_page()
        page.goto((tmp_path / "page.html").as_uri())
        return page.locator("p")

    yield open_page
    context.close()


def test_a_stop_stays_on_the_line_of_its_formula_and_the_next_word_need_not(show):
    found = show(*PARAGRAPHS).evaluate_all(ON_ITS_LINE)
    assert dict(zip(AFTER, found, strict=True)) == {after: [True, after[-1] in ".?!]"] for after in AFTER}


def test_control_without_the_script_it_falls_on_the_next_line(show):
    assert show(*PARAGRAPHS, script="").evaluate_all(ON_ITS_LINE) == [[False, False]] * len(AFTER)


def test_a_word_after_a_formula_may_begin_a_line(show):
    assert show(f"{FORMULA.format('')} and").evaluate_all(ON_ITS_LINE)[0][-1] is False


def test_no_character_is_lost(show):
    assert show(*PARAGRAPHS).all_text_contents() == show(*PARAGRAPHS, script="").all_text_contents()


def test_a_formula_wider_than_its_column_is_marked_also_after_the_column_has_changed(show):
    paragraphs = show(FORMULA.format(""), FORMULA.format("narrow"))
    marked = "all => all.map(p => p.querySelector('.wide') !== null)"
    assert paragraphs.evaluate_all(marked) == [False, False]
    paragraphs.page.add_style_tag(content="p { width: 50px }")
    paragraphs.page.set_viewport_size({"width": 500, "height": 400})
    paragraphs.page.wait_for_function("document.querySelector('.wide')")
    assert paragraphs.evaluate_all(marked) == [True, False]
