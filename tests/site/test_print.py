"""On paper: nothing is cut at the right edge, no button is printed, folds are open, a chapter keeps its number."""

from io import BytesIO

import pytest
from pypdf import PdfReader

from tests.site.pages import still, visiting

PAPER = {"width": 680, "height": 960}  # what A4 leaves between its margins, in CSS pixels
CUT = """() => [...document.querySelectorAll("pre")]
  .filter((box) => box.checkVisibility())
  .filter((box) => box.scrollWidth > box.clientWidth + 1 || getComputedStyle(box).maskImage !== "none")
  .map((box) => box.textContent.slice(0, 60))"""
WIDE = """() => [...document.querySelectorAll("article table")].filter((table) => table.checkVisibility())
  .filter((table) => table.offsetWidth > table.parentElement.clientWidth + 1)
  .map((table) => table.caption?.textContent ?? table.textContent.slice(0, 60))"""
BUTTONS = """() => [...document.querySelectorAll("main button, main [type=submit]")]
  .filter((button) => button.checkVisibility() && !button.closest("th"))  // there its text is the name of a row
  .map((button) => button.className + " " + button.textContent.trim())"""
FADING = """() => [...document.querySelectorAll("div.cell details.hide[open] > :not(summary)")]
  .filter((code) => getComputedStyle(code).animationName !== "none").length"""  # a sheet is taken before it is there
ANSWERS = """() => [...document.querySelectorAll(":is(form.quiz, .task) details")]
  .filter((answer) => answer.checkVisibility()).length"""
SHUT = "() => [...document.querySelectorAll('details:is(.fold, .hide):not([open])')].length"


@pytest.mark.deep(keep=1)
@pytest.mark.parametrize("name", ["book/01_one_plane", "book/14_tiny_gpt"])
def test_a_printed_chapter_is_whole(browser, site, name):
    with visiting(browser, site, name) as visit:
        sheet = visit.page
        sheet.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = false })")
        sheet.set_viewport_size(PAPER)
        sheet.emulate_media(media="print")
        sheet.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert sheet.evaluate(CUT) == []
        assert sheet.evaluate(BUTTONS) == []
        assert sheet.evaluate(SHUT) == 0
        assert sheet.evaluate(FADING) == 0
        assert sheet.evaluate(ANSWERS) == 0
        assert sheet.locator("h1").locator("visible=true").first.inner_text()[:2].strip("1.4 ") == ""
        if name == "book/14_tiny_gpt":  # a table under a figure keeps the names of its rows
            names = sheet.locator(".rope-losses th button")
            assert names.count() > 1
            assert all(name.is_visible() for name in names.all())
        # The control: without its style sheet a print is cut.
        sheet.evaluate("document.querySelector('link[href*=\"print.css\"]').remove()")
        assert sheet.evaluate(CUT)
        assert sheet.evaluate(ANSWERS)
        hidden = sheet.evaluate("document.querySelectorAll('div.cell details.hide').length")
        assert sheet.evaluate(FADING) >= hidden


def printed(browser, site, name):
    """The text of each sheet of a page, as it stands when it is opened: a visit would open what is folded."""
    page = browser.new_page()
    page.goto(f"{site.file}{name}.html")
    page.wait_for_function("[...document.querySelectorAll('.rope-widget')].every((w) => w.dataset.ready === 'true')")
    sheets = PdfReader(BytesIO(page.pdf(format="A4", print_background=True))).pages
    page.close()
    return [" ".join(sheet.extract_text().split()) for sheet in sheets]


@pytest.mark.deep(keep=1)
@pytest.mark.parametrize(
    ("name", "above", "below"),
    [
        ("book/small_model", "A small model you can break", "They part at word"),
        ("book/06_block_diagonalisation", "largest entry outside the blocks", "Five things to try"),
    ],
)
def test_no_sheet_stays_white_before_what_is_tall(browser, site, name, above, below):
    sheets = printed(browser, site, name)
    assert any(above in sheet and below in sheet for sheet in sheets)


def test_pictures_of_widgets_are_drawn_anew_for_a_sheet(browser, site):
    widths = "() => [...document.querySelectorAll('.rope-figure svg')].map((drawn) => drawn.viewBox.baseVal.width)"
    with visiting(browser, site, "book/03_two_layouts") as visit:
        screen = visit.page.evaluate(widths)
        visit.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        paper = visit.page.evaluate(widths)
        visit.page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert visit.page.evaluate(widths) == screen
    assert max(screen) > 600
    assert all(sheet == max(min(wide, 320), 0.75 * wide) for sheet, wide in zip(paper, screen, strict=True))


def test_an_exercise_and_the_cell_that_checks_it_share_a_sheet(browser, site):
    sheets = printed(browser, site, "notebooks/03_two_layouts")
    for name in ("ch03.find-layout", "ch03.rotate-half", "ch03.to-half", "ch03.stripes"):
        asked = [number for number, sheet in enumerate(sheets) if f'exercise("{name}")' in sheet]
        answered = [number for number, sheet in enumerate(sheets) if f"{name}:" in sheet]
        assert asked
        assert asked == answered


@pytest.mark.deep
def test_the_last_sheet_is_not_empty(browser, site):
    assert "The lab of this chapter" in printed(browser, site, "book/11_sigma_basis")[-1]


@pytest.mark.deep
def test_answers_below_their_question_stay_closed_on_paper(browser, site):
    sheets = " ".join(printed(browser, site, "book/newer_encodings"))
    assert "Is there a pair of families for it" in sheets
    assert "What you should see" not in sheets
    assert "A polynomial of degree 2" not in sheets


@pytest.mark.deep
def test_a_date_is_not_cut_on_paper(browser, site):
    with visiting(browser, site, "book/symptoms") as visit:
        article = visit.page.locator("article")
        before = article.evaluate("(article) => article.textContent")
        visit.page.emulate_media(media="print")
        visit.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        wraps = article.locator(".paper-whole").evaluate_all(
            "all => all.map((date) => getComputedStyle(date).whiteSpace)"
        )
        assert len(wraps) > 10
        assert set(wraps) == {"nowrap"}
        assert article.evaluate("(article) => article.textContent") == before
        visit.page.set_viewport_size(PAPER)  # and an entry is not torn between columns
        entries = visit.page.locator(".symptom-list li")
        assert set(entries.evaluate_all("all => all.map((li) => getComputedStyle(li).breakInside)")) == {"avoid"}


@pytest.mark.deep
def test_the_board_that_the_screen_hides_is_printed_after_its_question(browser, site):
    with visiting(browser, site, "book/16_nine_placements") as visit:
        board = visit.page.locator(".tag_on-paper svg")
        assert not board.is_visible()
        visit.page.emulate_media(media="print")
        assert board.is_visible()
        question = visit.page.locator(".rope-ordering ol")
        assert question.bounding_box()["y"] < board.bounding_box()["y"]


@pytest.mark.deep(keep=1)
@pytest.mark.parametrize("name", ["17_which_rope", "crope_laboratory", "atlas", "result_cards"])
def test_no_column_of_a_table_is_lost_on_paper(browser, site, name):
    page = browser.new_page(viewport=PAPER)
    page.goto(f"{site.file}book/{name}.html")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(WIDE) == []
    page.evaluate("document.querySelector('link[href*=\"print.css\"]').remove()")
    assert page.evaluate(WIDE)  # the control: without its style sheet columns are lost
    page.close()


def test_paper_is_white_whatever_the_screen(browser, site):
    page = browser.new_page(color_scheme="dark")
    page.goto(f"{site.file}book/13_one_head.html")
    ink = 'getComputedStyle(document.querySelector(".bd-article p")).color'
    dark = page.evaluate(ink)
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    assert page.evaluate(ink) != dark
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen", color_scheme="dark")
    assert page.evaluate(ink) == dark
    page.close()


KEPT = """() => Object.fromEntries([".quiz-settled", ".rope-choice label", ".rope-board button"].map((name) => {
  const {breakInside, display, printColorAdjust} = getComputedStyle(document.querySelector(`article ${name}`));
  return [name, [breakInside, display, printColorAdjust]];
}))"""


@pytest.mark.deep
def test_a_printed_figure_keeps_its_cells_and_what_is_chosen(browser, site):
    with visiting(browser, site, "book/08_rope_on_values") as visit:
        visit.page.emulate_media(media="print")
        found = visit.page.evaluate(KEPT)
    assert found[".quiz-settled"][0] == "avoid"
    assert found[".rope-choice label"][2] == "exact"
    assert found[".rope-board button"][1:] == ["grid", "exact"]


def test_a_widget_is_printed_with_its_code_and_the_way_back_to_the_top_is_not(browser, site):
    """Nothing of no height stands between them: a sheet would end there. The way back would stand over the text."""
    with visiting(browser, site, "notebooks/12_what_crope_removes") as visit:
        visit.page.set_viewport_size(PAPER)
        button = visit.page.locator("#pst-back-to-top")
        button.evaluate("(button) => { button.style.display = 'block' }")  # as the theme's script does
        assert button.is_visible()
        visit.page.emulate_media(media="print")
        assert not button.is_visible()
        between = visit.page.locator(".cell:has(.rope-widget .rope) > .cell_output > .text_html")
        styles = between.evaluate_all("all => all.map((box) => getComputedStyle(box).display)")
        assert set(styles) == {"none"}


def test_the_rows_of_all_cards_are_on_the_screen_alone(browser, site):
    """They would take sixty sheets; the means stay."""
    with visiting(browser, site, "book/result_cards") as visit:
        every, means = visit.page.locator(".tag_on-screen"), visit.page.locator("#means-over-the-seeds table").first
        seen = []
        for medium in ("screen", "print"):
            visit.page.emulate_media(media=medium)
            seen.append((every.locator("table").first.is_visible(), means.is_visible()))
    assert seen == [(True, True), (False, True)]


@pytest.mark.deep
def test_a_wide_formula_in_a_line_is_not_cut_on_paper(browser, site):
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto(f"{site.file}book/ledger.html")
    page.evaluate("[...document.querySelectorAll('details')].forEach((fold, i) => { fold.open = i % 6 === 0 })")
    still(page)
    page.emulate_media(media="print")
    wide = page.locator("span.math:has(> m-tex.wide), m-tex.wide")
    assert set(wide.evaluate_all("all => all.map((box) => getComputedStyle(box).overflowX)")) == {"visible"}
    page.close()
