"""The errata page: an item comes with its first claim, and says all four things."""

import html
import re
import shutil
from dataclasses import replace
from types import SimpleNamespace

import errata_pages
import pytest
from bs4 import BeautifulSoup
from docutils import nodes

from rope_lab.claims import load
from rope_lab.claims.errata import errata_items
from tests.site_ext.tiny_book import build, ledger_entries

pytestmark = pytest.mark.xdist_group("errata")  # one worker makes the page, which has the results of all claims

PAGE = "# One\n"


def errata(folder):
    """Build the page; returns its text without tags, its HTML and the warnings."""
    (folder / "source" / "book").mkdir(parents=True)
    (folder / "source" / "book" / "errata.md").write_text("---\norphan: true\n---\n# Errata\n\n```{errata}\n```\n")
    _, _, warnings = build(folder, PAGE, "*")
    text = (folder / "out" / "book" / "errata.html").read_text(encoding="utf-8")
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", text))), text, warnings


@pytest.fixture(scope="module")
def page(html, tmp_path_factory):
    folder = tmp_path_factory.mktemp("errata")
    kept = html.parent / "claim-results.json"  # of the build: they need not be run once more
    if kept.exists():
        shutil.copy(kept, folder)
    return *errata(folder), ledger_entries(folder)


@pytest.mark.deep
@pytest.mark.parametrize(("item", "claims"), errata_items(), ids=lambda value: getattr(value, "id", ""))
def test_an_item_says_what_where_and_who(page, item, claims):
    words, text, warnings, entries = page
    assert warnings == ""
    part = re.search(rf'<section id="erratum-{item.id}">.*?</section>', text, re.DOTALL)[0]
    assert item.title in part
    for name in [claim.id for claim in claims]:
        assert f'href="ledger.html#claim-{name.lower()}"' in part
        assert f'href="errata.html#erratum-{item.id}"' in entries[f"claim-{name.lower()}"]
    assert part.count("Read instead") == part.count("Smallest witness") == len(claims)
    assert f"matters for {item.matters}" in part
    assert part.count("Who is affected") == 1
    assert item.affected in words


@pytest.mark.deep
def test_an_item_that_names_another_claim_leads_to_it(page):
    text = BeautifulSoup(page[1], "html.parser")
    (said,) = [body for body in text.select("dl.erratum dd") if "(see crope.eq27-sign)" in body.get_text()]
    assert said.a["href"] == "ledger.html#claim-crope.eq27-sign"


@pytest.mark.deep
@pytest.mark.parametrize("name", [name for name, claim in load().items() if claim.mend])
def test_a_slip_is_shown_printed_above_what_to_read(page, name):
    claim = load()[name]
    text = BeautifulSoup(page[1], "html.parser")
    where = next(link for link in text.select("dl.erratum a") if link.get_text() == name)
    box = where.find_parent("dl").find_previous_sibling("dl")
    printed, read = (field.span.get_text() for field in box.select("dd"))
    struck, new = re.findall(r"\[-(.+?)-\]", claim.mend), re.findall(r"\[\+(.+?)\+\]", claim.mend)
    for piece in struck:
        assert rf"\cancel{{{piece}}}" in printed
    for piece in new:
        assert rf"\underline{{{piece}}}" in read
    assert "underline" not in printed
    assert "cancel" not in read
    numbers = [given.get_text() for given in box.select(".slip-gives")]
    assert len(numbers) == 2 * bool(claim.gives)
    for at, number in zip(claim.gives or (), numbers, strict=True):
        assert claim.witness_numbers[at] in number


def test_the_numbers_beside_a_slip_are_computed_now(tmp_path, ledger):
    name = "su19.mla-mqa-eq"
    for other in [other for other in ledger if other != name]:
        del ledger[other]
    ledger[name] = replace(ledger[name], computed=lambda: ([0.25, 0.75], [0.12341, 0.87659]))
    words, _, _ = errata(tmp_path)
    assert "gives \\(0.1234, 0.8766\\)" in words
    assert "gives \\(0.2500, 0.7500\\)" in words


def test_an_id_between_backquotes_leads_to_its_entry_and_code_does_not():
    linked = "{ref}`crope.eq27-sign <claim-crope.eq27-sign>`"
    assert errata_pages.with_links("See `crope.eq27-sign`, not `R_n`.") == f"See {linked}, not `R_n`."


def test_what_is_wrong_is_struck_and_what_to_read_is_underlined():
    claim = next(claim for claim in load().values() if "[-" in claim.mend and "[+" in claim.mend)
    printed, read = (next(field.findall(nodes.math)).astext() for field in errata_pages.slip(claim))
    assert (r"\cancel" in printed, r"\underline" in printed) == (True, False)
    assert (r"\cancel" in read, r"\underline" in read) == (False, True)


def test_a_picture_is_named_where_there_is_one_and_its_chapter_is_in_the_book():
    page = SimpleNamespace(env=SimpleNamespace(found_docs={"book/04_relative_identity"}))
    shown = [
        errata_pages.Errata.picture(page, SimpleNamespace(picture=picture), chapter)
        for picture, chapter in (("fig-one", 4), ("", 4), ("fig-one", 5))
    ]
    assert shown == ["{ref}`in chapter 4 <fig-one>`", "", ""]


@pytest.mark.deep
def test_chips_say_the_kind_in_polite_words(page):
    text = BeautifulSoup(page[1], "html.parser")

    def chips(name):
        return [chip.get_text() for chip in text.select(f"#erratum-{name} > .erratum-chips > span")]

    assert chips("blog-values") == ["slip", "matters for code"]
    assert chips("su6-det") == ["a step that fails", "needs a condition", "matters for proofs"]
    assert chips("crope-half") == ["two readings", "matters for numbers"]


@pytest.mark.deep
def test_the_numbers_on_the_page(page):
    assert [int(number) for number in re.findall(r"<h\d>(\d+)\. ", page[1])] == list(range(1, 17))


@pytest.mark.deep
def test_an_item_comes_with_its_claims(tmp_path, ledger):
    for name in [name for name in ledger if not name.startswith("blog.")]:
        del ledger[name]
    _, text, _ = errata(tmp_path)
    assert set(re.findall(r'id="(erratum-[\w-]+)"', text)) == {
        "erratum-blog-values",
        "erratum-blog-swaps",
        "erratum-blog-logit",
    }
    listed = re.findall(r'<li><p><a [^>]*href="#([\w-]+)"[^>]*>(?:<[^>]*>)*([^<]*)(?:<[^>]*>)*', text)
    assert listed[0] == ("erratum-blog-values", "4. One letter in the output")
    assert [name for name, _ in listed] == ["erratum-blog-values", "erratum-blog-swaps", "erratum-blog-logit"]
    assert r"\cancel{v_n}\underline{v_i}" in text


@pytest.mark.deep
def test_two_things_are_not_printed(page):
    assert "RoPER" not in page[0]
    assert "seventh cell" not in page[0]
