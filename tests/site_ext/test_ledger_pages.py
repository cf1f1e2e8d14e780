"""The ledger's page: one entry for each claim, with its mathematics, its evidence and its check."""

import html
import re

import pytest

from rope_lab.claims import claim, load, select
from tests.site_ext.tiny_book import build

PAGE = "# One\n"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ledger")
    app, _, warnings = build(folder, PAGE, "ch1")
    assert warnings == ""
    return (folder / "out" / "book" / "ledger.html").read_text(encoding="utf-8"), app


def entry(text: str, name: str) -> str:
    return re.search(rf'<details class="ledger-entry"[^>]*id="claim-{re.escape(name)}".*?</details>', text, re.S)[0]


def plain(text: str) -> str:
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", text)))


@pytest.mark.parametrize("name", [c.id for c in select("ch1")])
def test_an_entry_tells_everything(page, name):
    text, app = page
    shown, known = entry(text, name), load()[name]
    for attribute in ("source", "chapter", "tier", "evidence"):
        assert f'data-{attribute}="{getattr(known, attribute)}"' in shown
    assert f'data-verdict="{known.words}"' in shown
    assert 'data-outcome="holds" data-source=' in shown
    assert 'data-state="held"' in shown
    assert "The control is rejected" in shown
    assert ("So is the formula as printed." in shown) == (known.printed is not None)
    assert ("tolerance 1e-" in shown) == (known.evidence == "numeric")
    assert 'href="01_one_plane.html"' in shown
    assert f"def {known.check.__name__}(" in plain(shown)
    assert "control=" in plain(shown)
    assert "statement=" not in plain(shown)
    assert app.env.get_domain("std").labels[f"claim-{name}"] == ("book/ledger", f"claim-{name}", name)


def test_a_row_says_the_result_before_it_is_opened(page):
    row = plain(re.search(r"<summary>.*?</summary>", entry(page[0], "su19.rot-law"), re.DOTALL)[0])
    assert re.search(r"su19.rot-law ?true ?exact ?control rejected ?holds ?chapter 1", row), row
    row = plain(re.search(r"<summary>.*?</summary>", entry(page[0], "blog.angle"), re.DOTALL)[0])
    assert re.search(r"numeric \de-\d\d ≤ 1e-\d\d", row), row


def test_mathematics_is_inline_and_waits_until_a_row_is_opened(page):
    text = re.search(r'<div class="body".*', page[0], re.DOTALL)[0]
    prose = re.sub(r"<pre>.*?</pre>", "", text, flags=re.DOTALL)
    assert "$" not in prose
    assert prose.count('class="math-later notranslate nohighlight"') > 40
    assert 'class="math ' not in prose
    slip = entry(text, "blog.output-sum")
    assert "as printed: a slip" in slip
    assert "Read instead" in slip
    assert "false" not in plain(slip).lower()


def test_every_claim_has_one_row(page):
    assert page[0].count("<summary>") == page[0].count('class="ledger-entry"') == len(select("ch1"))


def test_the_filter_counts_its_choices(page):
    form = re.search(r"<form.*?</form>", page[0], re.DOTALL)[0]
    exact = sum(c.evidence == "exact" for c in select("ch1"))
    assert f'<option value="exact">exact ({exact})</option>' in form
    assert " hidden>" in form  # no script, no filter, all rows


def test_an_entry_leads_to_its_first_mark_on_each_page(tmp_path):
    page = "# One\n\n{claim}`blog.props` first.\n\n$$ 1 = 1 $$\n{step}`blog.props`\n"
    _, _, warnings = build(tmp_path, page, "blog.props")
    assert warnings == ""
    shown = (tmp_path / "out" / "book" / "ledger.html").read_text(encoding="utf-8")
    assert '<a class="reference internal" href="01_one_plane.html#mark-blog.props">One</a>' in shown
    marked = (tmp_path / "out" / "book" / "01_one_plane.html").read_text(encoding="utf-8")
    assert marked.count('id="mark-blog.props"') == 1


def test_kinds_are_counted_apart(page):
    counted = re.search(r'<p class="ledger-summary">(.*?)</p>', page[0])[1]
    assert re.fullmatch(r"\d+ claims\. exact: \d+ hold; numeric: \d+ hold\.", counted)


def test_a_pattern_that_matches_nothing(tmp_path):
    _, _, warnings = build(tmp_path, PAGE, ledger="su20")
    assert "no claim matches 'su20'" in warnings


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"date": "2026-01-31"}, "Read in the source on 2026-01-31; nothing was run."),
        ({}, "By experiment: not attempted."),
    ],
)
@pytest.mark.usefixtures("ledger")
def test_what_is_not_green_says_so(tmp_path, changes, sentence):
    claim("book.planted", locus="here", statement="so", verdict="empirical", chapter=17, **changes)(
        lambda: "not attempted"
    )
    _, _, warnings = build(tmp_path, PAGE, ledger="book.planted")
    text = (tmp_path / "out" / "book" / "ledger.html").read_text(encoding="utf-8")
    assert warnings == ""
    assert sentence in plain(text)
    assert re.search(r"In the book:? chapter 17", plain(text))  # no page yet, so no link
    assert 'data-outcome="holds"' not in text
    assert 'data-state="open"' in text
