"""Openers of the built site: a figure that waits for the reader's guess, and the question on the first screen."""

import re

import pytest
from playwright.sync_api import expect

from book._ext.repository import repository
from tests.deep import sampled
from tests.site.pages import CHAPTER, DESK, PHONE, page_names, shift

CHAPTERS = [name for name in page_names() if CHAPTER.fullmatch(name)]
WITH_FIGURE = list(range(1, 22))
SHARED = [1, 2, 3, 6, 8, 10, 12, 13, 18]  # the whole figure stands further down
WITH_NUMBER = [3, 12, 14, 15, 16]  # which tells nothing before the guess
MOVED = ".rope-hero :is(input:checked, input[type=range])"


def chapter(number):
    return next(name for name in CHAPTERS if name.startswith(f"book/{number:02}_"))


@pytest.fixture
def open_page(browser, site):
    contexts = []

    def visit(name, **context):
        contexts.append(
            browser.new_context(**{"viewport": {"width": 1440, "height": 900}, "reduced_motion": "reduce", **context})
        )
        page = contexts[-1].new_page()
        page.goto(f"{site.http}{name}.html")
        page.wait_for_selector("form.quiz[data-state]")
        return page

    yield visit
    for context in contexts:
        context.close()


def hero(page):
    """The figure of the opener: its form, its first control."""
    figure = page.locator(".opener-figure .rope-hero")
    expect(figure).to_have_count(1)
    return page.locator("form.opener-form"), figure.locator("input").first


def commit(form):
    form.locator("input[name=answer]").first.check()
    form.get_by_role("button", name="This is my answer").click()


def step(form):
    """One step of the control: to the right, or to the left where it stands at its end."""
    control = form.locator(MOVED)
    at_end = control.evaluate("one => one.type === 'range' && one.value === one.max")
    control.press("ArrowLeft" if at_end else "ArrowRight")


def test_the_chapters_with_a_figure_are_these(html):
    found = [
        int(name[5:7]) for name in CHAPTERS if "opener-figure" in (html / f"{name}.html").read_text(encoding="utf-8")
    ]
    assert found == WITH_FIGURE


@pytest.mark.deep(keep=2)
@pytest.mark.parametrize("number", sampled(WITH_FIGURE, WITH_FIGURE[2::6]))
def test_the_figure_waits_for_the_guess_and_remembers_it(number, open_page):
    page = open_page(chapter(number))
    form, control = hero(page)
    drawing = form.locator(".rope-hero svg")
    whose = "(part) => getComputedStyle(part).containerType"
    assert form.evaluate(whose) == "inline-size"
    assert form.locator(".rope-hero").evaluate(whose) == "normal"  # one within another is now and then left undrawn
    expect(control).to_be_disabled()
    expect(form).to_contain_text("Choose an answer. Then you can move this.")
    told = form.locator(".rope-hero .rope-readout dd")
    if number in WITH_NUMBER:
        expect(told).to_have_text("?")
    still = drawing.inner_html()
    expect(control).to_be_visible()
    control.click(force=True)
    assert drawing.inner_html() == still
    commit(form)
    expect(control).to_be_enabled()
    expect(form.locator(MOVED)).to_be_focused()
    expect(form).to_contain_text("Now move it.")
    if number in WITH_NUMBER:
        expect(told).to_have_text(re.compile(r"\d"))
    still = drawing.inner_html()
    step(form)
    page.wait_for_function("([svg, was]) => svg.innerHTML !== was", arg=[drawing.element_handle(), still])
    if number in SHARED:
        follows(page, control)
    page.reload()
    form, control = hero(page)
    expect(control).to_be_enabled()
    expect(form).to_contain_text("You said A")
    form.get_by_role("button", name="Start again").click()
    expect(control).to_be_disabled()


def follows(page, control):
    """Wait until the whole figure has the state of the opener."""
    name = control.get_attribute("data-name")
    whole = f".rope:not(.rope-hero) input[data-name={name}]"
    expect(page.locator(whole).first).to_be_attached()
    page.wait_for_function(  # it follows with its next frame
        """([small, whole]) => {
          const now = (which) => [...document.querySelectorAll(which)]
            .filter((one) => one.type === 'range' || one.checked).map((one) => one.value);
          return now(whole).includes(now(small)[0]);
        }""",
        arg=[f".rope-hero input[data-name={name}]", whole],
    )


@pytest.mark.deep
def test_the_clocks_of_chapter_2_do_not_tell_the_answer_before_it(open_page):
    page = open_page(chapter(2))
    assert shift(page) < 0.05  # nothing jumps when the figure starts
    form, _ = hero(page)
    expect(form.locator(".rope-hero svg .dash")).to_have_count(0)
    assert "29" not in form.locator(".rope-hero svg desc").text_content()
    commit(form)
    expect(form.locator(".rope-hero svg .dash")).to_have_count(29)


@pytest.mark.where(r"\{quiz\}")
def test_the_question_is_on_the_first_screen(visit):
    height = (PHONE if visit.phone else DESK)["height"]
    assert visit.first_screen["question"] < height
    if visit.name[5:7] != "16":  # its readers put nine names in order first
        assert visit.first_screen["prompt"] + 60 < height


def test_a_chapter_leads_to_its_lab_in_colab_and_to_the_repository_if_that_has_an_address(html):
    """The options of the theme are set in two places; both must arrive."""
    text = (html / "book" / "01_one_plane.html").read_text(encoding="utf-8")
    colab = r'href="https://colab\.research\.google\.com/github/[^"]+/notebooks/01_one_plane\.ipynb"'
    for link in (colab, r'href="https://github\.com/[^"]+/issues/new\?'):
        assert bool(re.search(link, text)) == bool(repository()[0])
    assert 'alt="Two hands of a clock"' in text
    assert "colab.research" not in (html / "book" / "ledger.html").read_text(encoding="utf-8")
