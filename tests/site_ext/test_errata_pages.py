"""The errata page: an item appears when a claim of it is entered, and says all four things."""

import html
import re

import pytest

from rope_lab.claims import load
from rope_lab.claims.errata import ERRATA
from tests.site_ext.tiny_book import build

PAGE = "# One\n"


def errata(folder):
    """Build the page; returns its text without tags, its HTML and the warnings."""
    (folder / "source" / "book").mkdir(parents=True)
    (folder / "source" / "book" / "errata.md").write_text("---\norphan: true\n---\n# Errata\n\n```{errata}\n```\n")
    _, _, warnings = build(folder, PAGE, "*")
    text = (folder / "out" / "book" / "errata.html").read_text(encoding="utf-8")
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", text))), text, warnings


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("errata")
    return *errata(folder), (folder / "out" / "book" / "ledger.html").read_text(encoding="utf-8")


def entered(item):
    return [name for name in item.claims if name in load()]


@pytest.mark.parametrize("item", [item for item in ERRATA if entered(item)], ids=lambda item: item.id)
def test_an_item_says_what_where_and_who(page, item):
    words, text, warnings, rows = page
    assert warnings == ""
    part = re.search(rf'<section id="erratum-{item.id}">.*?</section>', text, re.DOTALL)[0]
    assert item.title in part
    for name in entered(item):
        assert f'href="ledger.html#claim-{name.lower()}"' in part
        row = re.search(rf'id="claim-{re.escape(name.lower())}".*?</details>', rows, re.DOTALL)[0]
        assert f'href="errata.html#erratum-{item.id}"' in row
    assert part.count("Read instead") == part.count("Smallest witness") == len(entered(item))
    assert part.count("Who is affected") == 1
    assert item.affected in words


def test_numbers_are_those_of_the_whole_list(page):
    shown = [int(number) for number in re.findall(r"<h\d>(\d+)\. ", page[1])]
    assert shown == [number for number, item in enumerate(ERRATA, 1) if entered(item)]


def test_an_item_waits_for_its_claims(tmp_path, ledger):
    for name in [name for name in ledger if not name.startswith("blog.")]:
        del ledger[name]
    words, text, _ = errata(tmp_path)
    assert set(re.findall(r'id="(erratum-[\w-]+)"', text)) == {
        "erratum-blog-values",
        "erratum-blog-swaps",
        "erratum-blog-logit",
    }
    assert "3 of 16 items; the others wait" in words


def test_two_things_are_not_printed(page):
    assert "RoPER" not in page[0]
    assert "seventh cell" not in page[0]
