"""What a page says of itself: one description, tags, and absolute addresses only where the book has one."""

import re

import pytest
from docutils import nodes
from page_head import LONGEST, description, shortened

from book import pdf
from tests.site_ext import tiny_book

PAGE = """# One plane

Attention without positions cannot tell $R_m$ words apart, whatever *order* they stand in & how many.

Second paragraph.
"""
ADDRESS = "https://name.org/rope-lab"


@pytest.fixture
def built(tmp_path):
    def build(address, root="index", moved=()):
        more = {"html_baseurl": address, "html_title": "RoPE Lab", "root_doc": root, "moved_pages": dict(moved)}
        more["exclude_patterns"] = ["index.md"] if root != "index" else []
        _, _, warnings = tiny_book.build(
            tmp_path, PAGE, extensions=["front_page", "page_head"], head_title="The book: proved", **more
        )
        return tmp_path / "out", warnings

    return build


def tag(text, name):
    found = re.findall(rf'<meta (?:name|property)="{name}" content="([^"]*)"', text)
    assert len(found) <= 1
    return found[0] if found else None


def test_a_page_is_described_by_its_first_paragraph(built):
    out, _ = built("")
    text = (out / "book" / "01_one_plane.html").read_text()
    said = "Attention without positions cannot tell R_m words apart, whatever order they stand in &amp; how many."
    assert tag(text, "description") == tag(text, "og:description") == said
    assert (tag(text, "og:title"), tag(text, "og:type"), tag(text, "twitter:card")) == (
        "One plane",
        "article",
        "summary",
    )


@pytest.mark.parametrize("address", ["", "https://example.org/rope-lab/", "https://example.github.io/rope-lab"])
def test_while_the_address_is_a_placeholder_nothing_absolute_is_written(built, address):
    out, _ = built(address)
    for path in out.rglob("*.html"):
        text = path.read_text()
        assert "canonical" not in text
        assert tag(text, "og:url") is tag(text, "og:image") is None
        assert "example.org" not in text
    assert not (out / "sitemap.xml").exists()


@pytest.mark.parametrize("written", [None, "", "https://example.org/rope-lab/", "https://example.github.io/rope-lab"])
def test_the_pdf_prints_no_placeholder(written):
    settings = {"title": "T", "author": "A", "html": {"baseurl": written}}
    assert pdf.cover(settings) == {"title": "T", "author": "A", "address": ""}
    assert pdf.cover(settings | {"html": {"baseurl": ADDRESS}})["address"] == f"{ADDRESS}/"


@pytest.mark.parametrize("address", [ADDRESS, f"{ADDRESS}/"])
def test_with_an_address_pages_sitemap_and_404_carry_it(built, address):
    out, _ = built(address)
    text = (out / "book" / "01_one_plane.html").read_text()
    page = f"{ADDRESS}/book/01_one_plane.html"
    assert f'<link rel="canonical" href="{page}" />' in text
    assert tag(text, "og:url") == page
    listed = re.findall("<loc>(.*?)</loc>", (out / "sitemap.xml").read_text())
    assert page in listed
    assert len(listed) == 3
    assert not [entry for entry in listed if re.search("404|search|genindex", entry)]
    lost = (out / "404.html").read_text()
    local = re.findall(r'(?: href| src)="(?![a-z]+:|#)([^"]+)"', lost)
    assert local
    assert all(link.startswith("/rope-lab/") for link in local)
    assert "canonical" not in lost
    assert tag(lost, "robots") == "noindex"


def test_an_address_that_is_none_is_a_warning(built):
    _, warnings = built("name.org/rope-lab")
    assert "expected an address like https://name.org/rope-lab/, got 'name.org/rope-lab'" in warnings


@pytest.mark.parametrize("address", ["", ADDRESS])
def test_an_old_address_leads_on(built, address):
    out, _ = built(address, moved={"book/one": "book/01_one_plane"})
    old, new = ((out / "book" / name).read_text() for name in ("one.html", "01_one_plane.html"))
    assert 'location.replace("../book/01_one_plane.html" + location.search + location.hash)' in old
    assert 'url=../book/01_one_plane.html"' in old
    assert tag(old, "og:url") == tag(new, "og:url")
    assert "location.replace" not in new
    assert 'href="../_static/' in old or 'href="data:,"' in old


@pytest.mark.parametrize("address", ["", ADDRESS])
def test_the_root_is_the_first_page_and_its_own_address_leads_there(built, address):
    out, _ = built(address, root="book/01_one_plane")
    text, old = (out / name for name in ("index.html", "book/01_one_plane.html"))
    text, old = text.read_text(), old.read_text()
    assert "<title>The book: proved</title>" in text
    assert "<title>The book: proved</title>" in old
    assert "<h1>One plane" in text
    assert 'url=../index.html"' in old
    assert 'location.replace("../index.html" + location.search + location.hash)' in old
    assert 'href="index.html"' in (out / "404.html").read_text() or address
    assert 'href="../index.html"' in (out / "book" / "ledger.html").read_text()
    for name in ("description", "og:title", "og:url", "og:type"):
        assert tag(text, name) == tag(old, name)
    assert tag(text, "og:type") == "website"
    assert ("canonical" in text) is bool(address)


def test_aims_come_before_the_first_paragraph_and_long_texts_are_cut_at_a_sentence():
    aims = nodes.paragraph("", "In 20 minutes you can turn a plane.", classes=["aims"])
    page = nodes.section(
        "", nodes.paragraph("", "A first paragraph that is long enough to be taken as what it is about."), aims
    )
    assert description(page, "T", "P") == "In 20 minutes you can turn a plane."
    assert description(None, "Search", "RoPE Lab") == "Search: a page of RoPE Lab."
    long = "A sentence of some length that says what the page is about, and no more. " * 4
    assert shortened(long) == " ".join(["A sentence of some length that says what the page is about, and no more."] * 2)
    cut = shortened("word " * 100)
    assert len(cut) <= LONGEST + 1
    assert cut.endswith("word…")


def test_every_page_names_a_policy_before_its_first_script_which_is_the_memory(built):
    out, _ = built("", root="book/01_one_plane", moved={"book/old": "book/01_one_plane"})
    pages = {file.relative_to(out).as_posix(): file.read_text() for file in out.rglob("*.html")}
    assert {"index.html", "book/old.html", "404.html", "search.html", "book/ledger.html"} <= pages.keys()
    for name, text in pages.items():
        before, _, after = text.partition('<meta http-equiv="Content-Security-Policy" content="')
        policy = after.partition('"')[0]
        asks = "'self'" if name == "search.html" else "'none'"  # the search reads the pages that it finds
        assert f"connect-src {asks};" in policy
        assert not re.search(r"http|\*|'unsafe-eval'", policy)
        assert "<script" not in before
        if 'http-equiv="refresh"' not in text:
            assert re.search(r"<script[^>]*>", text)[0].endswith('_static/memory.js">')
