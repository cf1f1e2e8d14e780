"""The explorers of result cards in a browser: every name is whole, however long, on a phone and on a tablet."""

import pytest
from playwright.sync_api import expect

from rope_lab.chapters.ch10_complex_rnn.impulse_response import ImpulseResponse
from rope_lab.chapters.ch14_tiny_gpt.learning_curves import LearningCurves
from rope_lab.chapters.ch16_nine_placements.ordering_explorer import OrderingExplorer
from tests.site.pages import drawn

CUT = """(root) => {
  const { left, right } = root.getBoundingClientRect();
  return [...root.querySelectorAll("svg text, p")].filter((text) => {
    const box = text.getBoundingClientRect();
    return text.checkVisibility() && (box.left < left - 1 || box.right > right + 1);
  }).map((text) => text.textContent);
}"""


@pytest.mark.deep(keep=1)
@pytest.mark.parametrize(
    ("cls", "width"), [(OrderingExplorer, 360), (LearningCurves, 360), (LearningCurves, 768), (OrderingExplorer, 768)]
)
def test_no_name_of_any_experiment_is_cut(cls, width, show):
    page = show(cls(), viewport={"width": width, "height": 800})
    choice = page.locator('select[data-name="panel"]')
    keys = choice.locator("option").evaluate_all("all => all.map((option) => option.value)")
    assert len(keys) > 3
    cut = {}
    for key in keys:
        choice.select_option(key)
        drawn(page)
        cut[key] = page.locator(f".rope-{cls.slug}").evaluate(CUT)
    assert {key: texts for key, texts in cut.items() if texts} == {}


def test_names_under_columns_lean_only_where_they_must(show):
    page = show(OrderingExplorer(panel="one cache"), viewport={"width": 1280, "height": 800})
    leaning = page.locator(".rope-pinned svg text[transform]")
    expect(leaning).to_have_count(3)
    page.locator('select[data-name="panel"]').select_option(index=0)
    expect(leaning).to_have_count(0)


def test_the_names_of_the_lines_fit_the_smallest_phone(show):
    page = show(ImpulseResponse(decays="3"), viewport={"width": 270, "height": 800})
    drawn(page)
    assert page.locator(".rope-impulse_response").evaluate(CUT) == []
