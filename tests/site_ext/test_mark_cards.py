"""What a reader sees of marks: signs beside equations and on titles, words where a source differs, cards, a list."""

import pytest
from bs4 import BeautifulSoup
from machine_checked import table

from tests.site_ext.tiny_book import build, ledger_entries

pytestmark = pytest.mark.xdist_group("mark cards")  # one page, built once

PAGE = r"""# One plane

A formula, checked in exact arithmetic:

$$ R_m^\top R_n = R_{n-m} $$
{claim}`su19.rot-law` is the law.

A definition, a line of a proof, and a source that prints something else:

$$ R = 1 $$
{defines}`rotation`

$$ 2 = 2 $$
{step}`blog.props`

$$ o_m = \sum_i \alpha_{m,i} v_n $$
{claim}`su19.qk-relative` {claim}`blog.output-sum` {claim}`blog.angle`

A sentence that makes a claim. {claim}`blog.len2` Another.

```{prf:theorem} Lengths
It holds. {claim}`unsaid.norm`
```

```{prf:proof}
{proves}`unsaid.norm` So:

$$ 3 = 3 $$
{claim}`blog.inner-chain`
```

(notation-rotation)=
## The rotation
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cards")
    _, _, warnings = build(folder, PAGE, "ch1", extensions=["sphinx_proof"])
    assert warnings == ""
    text = (folder / "out" / "book" / "01_one_plane.html").read_text(encoding="utf-8")
    shown = BeautifulSoup(text.replace("template", "section"), "html.parser")  # it does not look into a template
    shown.entries = ledger_entries(folder)
    return shown


def beside(page, formula):
    """The signs and words beside the equation with this text."""
    (box,) = (box for box in page.select("div.marked") if formula in box.select_one("div.math").get_text())
    return box.select(".marks > a")


def test_words_say_how_a_formula_is_known(page):
    (sign,) = beside(page, r"R_m^\top")
    assert (sign.get_text(), sign["aria-label"]) == ("exact", "exact: su19.rot-law")
    assert sign["href"] == "ledger.html#claim-su19.rot-law"
    (sign,) = beside(page, "R = 1")
    assert sign.get_text() == "definition"


def test_a_sentence_goes_on_after_its_formula_without_a_mark(page):
    assert page.find("p", string="is the law.")
    (words,) = (p.get_text().split() for p in page.select("p") if "that makes a claim" in p.get_text())
    assert words == ["A", "sentence", "that", "makes", "a", "claim.", "Another."]
    assert page.select_one("p > #mark-blog\\.len2").get_text() == ""
    assert not [p for p in page.select("p") if not p.get_text() and not p.find()]  # what held two marks and a blank


def test_lines_of_a_proof_have_no_sign_and_can_be_found(page):
    assert beside(page, "2 = 2") == beside(page, "3 = 3") == []
    assert page.select_one("#mark-blog\\.inner-chain")


def test_words_stand_only_where_the_source_prints_something_else(page):
    sign, words = beside(page, r"\alpha_{m,i}")
    assert sign["data-claims"] == "blog.output-sum blog.angle su19.qk-relative"
    assert sign.get_text() == "checked on random numbers"  # weaker than exact, so first on the card
    assert words.get_text() == "The article: printed otherwise"
    assert len(page.select(".mark-tag")) == 1


def test_a_theorem_has_its_sign_on_its_title_line(page):
    (sign,) = page.select(".theorem > .admonition-title > .marks > a")
    assert (sign["data-claims"], sign.get_text()) == ("unsaid.norm", "proved on this page")
    assert "Proved on this page" in page.select_one("[id='card-claim-unsaid.norm']").get_text()


def test_each_sign_has_its_card_and_each_claim_its_line(page):
    for sign in page.select("a[data-claims]"):
        for name in sign["data-claims"].split():
            card = page.select_one(f"section.mark-texts [id='card-claim-{name}']")
            assert "The control is rejected" in card.get_text()
            assert card.p.get_text()
    claims = {"su19.rot-law", "blog.props", "blog.output-sum", "blog.angle", "blog.len2", "unsaid.norm"}
    listed = page.select("details.claims-of-page li")
    assert {line.a.get_text() for line in listed} == claims | {"blog.inner-chain", "su19.qk-relative"}
    for line in listed:
        assert page.find(id=line.select("a")[1]["href"].removeprefix("#"))


def test_a_card_says_what_is_machine_checked_and_folds_the_formal_statement(page):
    card = page.select_one("[id='card-claim-su19.rot-law']")
    rows = [row for row in table()["theorems"] if "su19.rot-law" in row["claims"]]
    (field,) = (name for name in card.select("dt") if name.get_text().startswith("Machine-checked"))
    lines = [line.get_text() for line in field.find_next("dd").select("p")]
    assert [line.partition(" Covers ")[2] for line in lines] == [row["covers"] for row in rows]
    assert lines[0].startswith("rope_law in proofs/Rope.v, axioms: none. Covers the algebra")
    assert "axioms: propositional_extensionality, " in lines[1]
    entry = BeautifulSoup(page.entries["claim-su19.rot-law"], "html.parser")
    for shown in (card.select_one("details > pre.formal"), entry.select_one("pre.formal")):
        assert all(row["statement"] in shown.get_text() for row in rows)  # what means something in HTML is escaped
        assert shown.get_text().startswith(table()["definitions"][rows[0]["uses"][0]])
    assert not entry.select("details")  # an entry is folded as a whole, and ends where a fold ends
    assert "Machine-checked" not in page.select_one("[id='card-claim-blog.angle']").get_text()


def test_no_id_is_given_twice(page):
    ids = [tag["id"] for tag in page.select("[id]")]
    assert sorted(ids) == sorted(set(ids))
