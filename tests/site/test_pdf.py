"""The book as one PDF, tried on two chapters: contents, bookmarks, links, running heads, no empty sheet."""

import re

import pytest
import yaml
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, NameObject, NumberObject

from book import pdf
from tests.site.pages import ROOT

pytestmark = pytest.mark.xdist_group("pdf")  # one worker prints
PARTS = [("I. Rotate", ["book/01_one_plane"]), ("II. Complete", ["book/07_many_axes"])]
FEWEST = 150  # letters on a sheet, below which it is nearly empty


NO_ADDRESS = pytest.param("", id="no address", marks=pytest.mark.deep)


@pytest.fixture(scope="module", params=[NO_ADDRESS, pytest.param("https://name.org/rope-lab/", id="address")])
def made(request, browser, html, tmp_path_factory):
    to = tmp_path_factory.mktemp("pdf") / "book.pdf"
    pdf.make(browser, html, to, PARTS, title="RoPE Lab", author="A. N. Author", address=request.param)
    return PdfReader(to), request.param


def titles(outline):
    return [titles(item) if isinstance(item, list) else item.title for item in outline]


def on_sheet(reader, number):
    return " ".join(reader.pages[number - 1].extract_text().split())


def links(reader):
    """The links of all sheets: named places within, addresses without."""
    notes = [note.get_object() for page in reader.pages for note in page.get("/Annots", ())]
    return [note for note in notes if note.get("/Subtype") == "/Link"]


def empty_sheets(reader):
    """Sheets with hardly a word: the cover, and the end of a chapter, may be short."""
    ends = {place - 1 for name, place in pdf.sheets(reader).items() if name.startswith("book-") and "--" not in name}
    return [
        number
        for number in range(2, len(reader.pages) + 1)
        if number not in ends | {len(reader.pages)} and len(on_sheet(reader, number)) < FEWEST
    ]


def test_bookmarks_are_parts_chapters_and_sections(made):
    reader, _ = made
    first, (chapter, sections), second, _ = titles(reader.outline)
    assert (first, chapter, second) == ("I. Rotate", "1. One plane", "II. Complete")
    assert "Keep" in sections


def test_the_contents_name_the_sheet_on_which_a_section_stands(made):
    reader, _ = made
    listed = " ".join(on_sheet(reader, number) for number in (2, 3))
    for item in ("1. One plane", "7. Many axes", "The rotation matrix"):
        number = int(re.search(rf"{re.escape(item)}\D*?(\d+)", listed)[1])
        assert item in on_sheet(reader, number)
    assert re.search(r"Exercises ?\d+ Keep ?\d+ Further reading ?\d+ Code ?\d+", listed)  # one line for each chapter


def test_a_sheet_has_its_running_head_and_its_number(made):
    reader, _ = made
    number = pdf.sheets(reader)["book-07_many_axes"] + 1
    text = on_sheet(reader, number)
    assert "II. Complete" in text
    assert "7. Many axes" in text
    assert re.search(rf"\b{number}\b", text)


def test_links_lead_somewhere(made):
    reader, address = made
    places = set(reader.named_destinations)
    within = [note["/Dest"] for note in links(reader) if "/Dest" in note]
    assert len(within) > 25  # the contents, and the references
    assert [place for place in within if isinstance(place, str) and place not in places] == []
    out = {note["/A"]["/URI"] for note in links(reader) if "/URI" in note.get("/A", {})}
    assert not [uri for uri in out if uri.startswith("file:")]
    assert any(uri.startswith(f"{address}book/01_one_plane.html") for uri in out) == bool(address)


def test_no_sheet_is_nearly_empty(made):
    assert empty_sheets(made[0]) == []


def test_every_page_but_labs_and_api_is_printed():
    printed = [page for _, pages in pdf.parts_of(yaml.safe_load((ROOT / "_toc.yml").read_text())) for page in pages]
    assert {"book/01_one_plane", "book/18_precision", "book/errata", "book/notation"} <= set(printed)
    assert not [page for page in printed if page.startswith(("notebooks/", "book/api"))]


def test_control_what_is_cut_is_told(browser, tmp_path):
    page = tmp_path / "wide.html"
    page.write_text('<div class="chapter" style="width: 300px"><pre style="width: 900px">wide</pre></div>')
    context = browser.new_context(viewport=pdf.PAPER)
    context.add_init_script(path=pdf.HERE / "pdf.js")
    tab = context.new_page()
    tab.goto(page.as_uri())
    assert tab.evaluate("bookOnPaper.fit()") == ["wide"]
    context.close()


def test_a_running_head_keeps_its_letters():
    parts = [("Part", [pdf.Chapter("book/x", "", "CRoPE\u2019s tables", [])])]
    text = pdf.book(parts, title="", author="", address="", styles={}, links=[])
    assert 'content: "CRoPE\u2019s tables"' in text


def test_the_styles_of_every_page_are_there_ours_after_others_and_those_for_paper_last():
    one, other = ["a/ledger.css?v=1", "a/print.css"], ["a/cells.css", "a/ledger.css?v=1", "a/print.css"]
    assert pdf.each_once(one + other) == ["a/cells.css", "a/ledger.css?v=1", "a/print.css"]


@pytest.fixture(scope="module")
def taken(browser, html):
    """What a page hands over, by its name."""
    context = browser.new_context(viewport=pdf.PAPER, reduced_motion="reduce")
    context.add_init_script(path=ROOT / "book" / "pdf.js")
    tab = context.new_page()
    yield lambda page: pdf.take(tab, html, [page], page, "")[0].html
    context.close()


@pytest.mark.deep
def test_choices_of_the_ledger_stay_on_the_screen(taken):
    assert "Kind of claim" not in taken("book/ledger")


def test_the_small_model_hands_over_its_texts_and_no_empty_picture(taken):
    html = taken("book/small_model")
    assert "rope-texts" in html
    assert html.count('class="rope-figure') == 1  # the curve; heads and clocks are drawn once the model is loaded


def test_a_book_with_many_tags_is_finished(tmp_path):
    """The array of tags of the whole book is longer than what pypdf reads by default."""
    draft = PdfWriter()
    draft.add_blank_page(100, 100)
    draft.root_object[NameObject("/Tags")] = ArrayObject([NumberObject(0)] * 100_001)
    draft.write(tmp_path / "draft.pdf")
    pdf.finish(PdfReader(tmp_path / "draft.pdf"), [], tmp_path / "book.pdf", title="T", author="A")
    assert PdfReader(tmp_path / "book.pdf").metadata.title == "T"
