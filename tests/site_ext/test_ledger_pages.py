"""The ledger's page: one entry for each claim, with its mathematics, its evidence and its check."""

import html
import inspect
import re
from collections import Counter

import pytest
from bs4 import BeautifulSoup
from ledger_text import KINDS, check_source

from rope_lab.claims import claim, load, select
from tests.site_ext.tiny_book import build, ledger_entries

PAGE, pytestmark = "# One\n", pytest.mark.xdist_group("ledger page")  # which one worker makes


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ledger")
    app, _, warnings = build(folder, PAGE, "ch1")
    assert warnings == ""
    return whole(folder), app


def whole(folder) -> str:
    """The ledger's page with what waits in its script put back under the rows."""
    text = (folder / "out" / "book" / "ledger.html").read_text(encoding="utf-8")
    for name, body in ledger_entries(folder).items():
        text = re.sub(
            rf'(id="{re.escape(name)}".*?</summary>).*?(?=</details>)', rf"\1{{{name}}}", text, flags=re.DOTALL
        )
        text = text.replace(f"{{{name}}}", body)
    return text


def test_the_page_has_rows_and_the_script_the_rest(tmp_path):
    _, _, warnings = build(tmp_path, PAGE, "blog.props")
    assert warnings == ""
    text = (tmp_path / "out" / "book" / "ledger.html").read_text(encoding="utf-8")
    body = ledger_entries(tmp_path)["claim-blog.props"]
    assert 'data-entries="../_static/ledger-entries.js?v=' in text
    for told in ("The control is rejected", "<pre>", "The check ·"):
        assert told in body
        assert told not in text
    assert '<a href="ledger.md">The entry, in Markdown</a>' in entry(text, "blog.props")


def entry(text: str, name: str) -> str:
    return re.search(rf'<details class="ledger-entry"[^>]*id="claim-{re.escape(name)}".*?</details>', text, re.S)[0]


def fields(text: str, name: str) -> dict[str, str]:
    """What the filter goes by: an entry's own values before those of its chapter."""
    row = BeautifulSoup(text, "html.parser").find(id=f"claim-{name}")
    both = row.find_parent("section", class_="ledger-chapter").attrs | row.attrs
    return {field.removeprefix("data-"): value for field, value in both.items() if field.startswith("data-")}


def plain(text: str) -> str:
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", text)))


@pytest.mark.deep(keep=8)
@pytest.mark.parametrize("name", [c.id for c in select("ch1")])
def test_an_entry_tells_everything(page, name):
    text, app = page
    shown, known = entry(text, name), load()[name]
    told = fields(text, name)
    assert {field: told[field] for field in ("source", "tier", "evidence")} == {
        field: getattr(known, field) for field in ("source", "tier", "evidence")
    }
    assert (told["chapter"], told["verdict"], told["outcome"]) == ("1", known.words, "holds")
    assert '<span class="held">holds</span>' in shown
    assert "The control is rejected" in shown
    assert ("So is the formula as printed." in shown) == (known.printed is not None)
    assert ("tolerance 1e-" in shown) == (known.evidence == "numeric")
    assert 'href="01_one_plane.html"' in shown
    assert f"def {known.check.__name__}(" in plain(shown)
    assert "control=" in plain(shown)
    assert "statement=" not in plain(shown)
    assert app.env.get_domain("std").labels[f"claim-{name}"] == ("book/ledger", f"claim-{name}", name)


def test_a_row_says_the_sentence_first_and_then_the_result(page):
    row = plain(re.search(r"<summary>.*?</summary>", entry(page[0], "su19.rot-law"), re.DOTALL)[0])
    known = load()["su19.rot-law"]
    assert row.startswith(known.statement.partition("$")[0].strip())
    assert row.endswith("true · exact · control rejected · holds · su19.rot-law")
    row = plain(re.search(r"<summary>.*?</summary>", entry(page[0], "blog.angle"), re.DOTALL)[0])
    assert re.search(r"checked on random numbers \de-\d\d ≤ 1e-\d\d", row), row
    assert plain(entry(page[0], "blog.angle")).count("At position") == 1  # and not again below


@pytest.mark.parametrize("name", ["blog.output-sum", "blog.relative-def", "su19.rot-law"])
def test_a_row_and_its_dot_have_the_shape_of_the_kind(page, name):
    kind = {"false": "print", "conditional": "conditional", "true": "true"}[load()[name].verdict]
    assert f'<summary><i class="claim-shape {kind}"></i>' in entry(page[0], name)
    assert fields(page[0], name)["kind"] == kind
    (dot,) = BeautifulSoup(page[0], "html.parser").select(f".ledger-picture [href='#claim-{name}']")
    assert dot["class"] == ["claim-shape", kind]
    assert dot["aria-label"] == f"{name}, {load()[name].words}"


def test_the_picture_has_a_dot_for_each_claim_and_a_row_for_each_chapter(page):
    text = BeautifulSoup(page[0], "html.parser")
    claims = [row["id"] for row in text.select(".ledger-entry")]
    assert sorted(dot["href"].removeprefix("#") for dot in text.select(".ledger-picture .claim-shape")) == sorted(
        claims
    )
    (row,) = text.select(".ledger-picture > li")
    assert row.a.get_text() == "1. One"
    heading = text.find(id=row.a["href"].removeprefix("#")).get_text()
    assert heading.startswith(f"1. One {sum(claim.chapter == 1 for claim in load().values())} claims: ")


@pytest.mark.deep
def test_each_kind_is_a_chip_with_its_number(page):
    text = BeautifulSoup(page[0], "html.parser")
    chips = {chip.input["value"]: int(chip.b.get_text()) for chip in text.select(".ledger-chips label")}
    counted = Counter(fields(page[0], claim.id.lower())["kind"] for claim in select("ch1"))
    assert chips == dict.fromkeys(KINDS, 0) | {"": len(select("ch1"))} | counted


def test_the_code_of_a_check_has_the_colours_of_the_theme(page):
    code = BeautifulSoup(entry(page[0], "blog.angle"), "html.parser").select_one(".highlight pre")
    assert code.select_one(".k").get_text() == "lambda"
    assert code.select_one(".nf").get_text() == load()["blog.angle"].check.__name__
    assert html.unescape(code.get_text()) == check_source(load()["blog.angle"]) + "\n"


@pytest.mark.deep
def test_another_page_counts_and_leads_to_what_it_counted(tmp_path, ledger):
    for name in [name for name in ledger if not name.startswith("blog.")]:
        del ledger[name]
    page = "# One\n\nOf these {claim-count}`kind=print` are slips, and {claim-count}`kind=print&chapter=99` are none.\n"
    _, _, warnings = build(tmp_path, page)
    assert warnings.count("no claim has") == warnings.count("no claim has kind=print&chapter=99") == 1
    text = (tmp_path / "out" / "book" / "01_one_plane.html").read_text(encoding="utf-8")
    wrong = sum(entry.verdict == "false" for entry in load().values())
    assert f'<a class="reference internal" href="ledger.html?kind=print">{wrong}</a>' in text


def test_a_chapter_says_what_most_of_its_claims_have_and_a_row_only_what_it_has_instead(page):
    (chapter,) = BeautifulSoup(page[0], "html.parser").select(".ledger-chapter")
    rows = chapter.select(".ledger-entry")
    assert not any("data-chapter" in row.attrs for row in rows)
    for field in ("kind", "source", "verdict", "evidence", "tier"):
        own = [row[f"data-{field}"] for row in rows if f"data-{field}" in row.attrs]
        assert chapter[f"data-{field}"] not in own
        assert len(rows) - len(own) >= max(Counter(own).values(), default=0)


def test_mathematics_is_inline(page):
    text = re.search(r'<div class="body".*', page[0], re.DOTALL)[0]
    prose = re.sub(r"<pre>.*?</pre>", "", text, flags=re.DOTALL)
    assert "$" not in prose
    assert prose.count('<span class="math notranslate nohighlight"') > 40
    assert '<div class="math' not in prose
    slip = entry(prose, "blog.output-sum")
    assert "as printed: a slip" in slip
    assert "Read instead" in slip
    assert "false" not in plain(slip).lower()


def test_every_claim_has_one_row(page):
    assert page[0].count("<summary>") == page[0].count('class="ledger-entry"') == len(select("ch1"))


def test_the_filter_offers_what_the_rows_have_once_each(page):
    form = re.search(r"<form.*?</form>", page[0], re.DOTALL)[0]
    assert form.count('<option value="exact">exact</option>') == 1
    assert " hidden>" in form  # no script, no filter, all rows


def test_an_entry_leads_to_its_first_mark_on_each_page(tmp_path):
    page = "# One\n\n{claim}`blog.props` first.\n\n$$ 1 = 1 $$\n{step}`blog.props`\n"
    _, _, warnings = build(tmp_path, page, "blog.props")
    assert warnings == ""
    shown = whole(tmp_path)
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
    text = whole(tmp_path)
    assert warnings == ""
    assert sentence in plain(text)
    assert re.search(r"In the book:? chapter 17", plain(text))  # no page yet, so no link
    assert fields(text, "book.planted")["outcome"] != "holds"
    assert 'class="open">' in text


def test_no_check_shows_what_it_tells_the_linter():
    told = [claim for claim in load().values() if "noqa" in inspect.getsource(claim.check)]
    assert told  # control
    assert not [claim.id for claim in told if "noqa" in check_source(claim)]
    assert "# the content keeps its angle" in "".join(check_source(claim) for claim in load().values())
