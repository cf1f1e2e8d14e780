"""A still figure plays once when it is asked to, and ends as it was drawn."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from rope_lab.show import figures

STATIC = Path(__file__).parents[2] / "book" / "_static"
MOVING = (
    "same_offset",
    "every_solution",
    "two_winds",
    "three_powers",
    "two_routes",
    "fading_and_turning",
    "tilted",
    "ruler",
)
PLACES = """all => all.map((part) => {
  const { x, y, width } = part.getBoundingClientRect();
  return [x, y, width, Number(getComputedStyle(part).opacity)];
})"""


@pytest.fixture
def show(browser, tmp_path):
    contexts = []

    def open_page(name, **context):
        head = f'<!doctype html><html lang="en"><link rel="stylesheet" href="{(STATIC / "rope.css").as_uri()}">'
        script = f'<script defer src="{(STATIC / "moving_figures.js").as_uri()}"></script>'
        picture = getattr(figures, name)()._repr_html_()
        (tmp_path / "page.html").write_text(f"{head}{script}<main>{picture}</main></html>", encoding="utf-8")
        contexts.append(browser.new_context(**context))
        page = contexts[-1].new_page()
        page.goto((tmp_path / "page.html").as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()


@pytest.mark.deep(keep=3)
@pytest.mark.parametrize("name", MOVING)
def test_a_figure_plays_once_and_ends_as_it_was_drawn(name, show):
    page = show(name)
    parts = page.locator("[data-plays]")
    drawn = parts.evaluate_all(PLACES)
    assert page.evaluate("document.getAnimations().length") == 0  # nothing moves by itself
    each = "for (const motion of document.getAnimations()) motion"
    page.evaluate(f"addEventListener('click', () => {{ {each}.pause(); }})")  # heard after the button
    page.get_by_role("button", name="Play").click()
    on_the_way = "(({ delay, endTime }) => delay + 0.3 * (endTime - delay))(motion.effect.getComputedTiming())"
    page.evaluate(f"{each}.currentTime = {on_the_way}")
    assert parts.evaluate_all(PLACES) != drawn
    page.evaluate(f"{each}.updatePlaybackRate(10)")
    page.evaluate(f"{each}.play()")
    page.wait_for_function("document.getAnimations().length === 0")
    assert parts.evaluate_all(PLACES) == drawn


def test_no_button_for_who_wants_no_motion_nor_on_paper(show):
    page = show("same_offset", reduced_motion="reduce")
    expect(page.locator(".rope-play-once")).to_be_hidden()
    page = show("same_offset")
    expect(page.locator(".rope-play-once")).to_be_visible()
    page.emulate_media(media="print")
    expect(page.locator(".rope-play-once")).to_be_hidden()
