"""The book's numbers: counted, linked to what they count, measured, and a name that nobody counts is refused."""

import re

import checked_numbers
import pytest

from rope_lab.claims import LABELS, load
from rope_lab.claims.errata import errata_items
from rope_lab.training.results.cards import load_every
from tests.site_ext import tiny_book

PAGE = """# One plane

There are {count}`claims` claims. In {count}`chaos minutes` minutes it was killed {count}`chaos kills` times.

```{checked-numbers}
```

$$ a = b $$

{claim}`su19.rot-law`

{proves}`su19.rot-law` So it is.
"""


def test_each_number_is_counted_and_leads_to_what_it_counts(tmp_path):
    tiny_book.build(tmp_path, PAGE, extensions=["checked_numbers"])
    text = (tmp_path / "out" / "book" / "01_one_plane.html").read_text()
    claims = load().values()
    assert f"There are {len(claims)} claims." in text
    assert re.search(r"In [1-9]\d* minutes it was killed [1-9][\d,]* times", text)
    rows = dict(re.findall(r'href="([^"]+)"><strong>([\d,]+)</strong>', text))
    assert re.findall(r'href="ledger.html"><strong>(\d+)', text) == [
        str(len(claims)),
        "1",
    ]  # of them proved on the page
    for kind in LABELS:
        assert rows[f"ledger.html?evidence={kind}"] == str(sum(claim.evidence == kind for claim in claims))
    assert rows["errata.html"] == str(len(errata_items()))
    assert rows["result_cards.html"] == f"{len(load_every()):,}"
    assert rows["how_checked.html"] == "1"


def test_control_a_name_that_nobody_counts_is_refused(tmp_path):
    with pytest.raises(Exception, match="got 'lemons'"):
        tiny_book.build(tmp_path, "# T\n\nThere are {count}`lemons`.\n", extensions=["checked_numbers"])


@pytest.mark.parametrize(
    ("value", "form", "words"),
    [
        (0.0304, "hundredths", "three hundredths"),
        ((0.0304, 0.0282), "hundredths", "three hundredths"),
        ((0.031, 0.0192), "hundredths", "two to three hundredths"),
        (0.1086, "tenths", "a tenth"),
        (0.1246, "more than tenths", "more than a tenth"),
        (0.0049, "less than thousandths", "less than five thousandths"),
        (0.54, "halves", "half"),
        (5.43, "more than times", "more than five times"),
        (2.1, "times", "twice"),
        (108.2, "hundreds", "a hundred"),
        (0.94, "more than in ten", "more than nine in ten"),
        ((18, 56), "of", "18 of 56"),
        ((3.68, 3.21, 3.4), ".1f", "3.2 to 3.7"),
        ((1.84, 1.09), ".1f and", "1.8 and 1.1"),
        (0.0754, ".0f %", "8 %"),
        ((0.503, 0.608), ".0f %", "50 to 61 %"),
        ((1400.0, 2700.0), ",.0f", "1,400 to 2,700"),
    ],
)
def test_a_number_is_said(value, form, words):
    assert checked_numbers.said(value, form) == words


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (0.026, "hundredths"),  # between two and three
        ((0.016, 0.029), "hundredths"),
        (0.004, "hundredths"),  # none
        (0.13, "hundredths"),  # no word for thirteen
        (5.6, "more than times"),  # nearly six
        (2.0, "more than ones"),
        (-0.03, "hundredths"),  # the other side
        (float("nan"), ".2f"),
        (18.5, "of"),
        (3.0, "dozens"),
        (3.0, "at least ones"),
    ],
)
def test_control_what_words_cannot_say_is_refused(value, form):
    with pytest.raises(ValueError, match=r"expected .* got .*; |format code"):
        checked_numbers.said(value, form)


def test_every_number_of_a_page_can_be_said_and_is_asked_for():
    known, asked = checked_numbers.measured(), set()
    for page in tiny_book.ROOT.glob("book/*.md"):
        for text in re.findall(r"\{measured\}`([^`]+)`", page.read_text(encoding="utf-8")):
            assert checked_numbers.in_words(text, known, where=page.stem)
            asked.add(text.partition(", ")[0])
    assert asked == set(known)


def test_a_page_says_another_number_when_the_cards_have_changed(tmp_path, monkeypatch):
    for page, lead in (("# T\n\nBy {measured}`ch15.lead, hundredths` of a nat.\n", 0.031), (None, 0.052)):
        monkeypatch.setattr(checked_numbers, "measured", lambda lead=lead: {"ch15.lead": lambda: lead})
        tiny_book.build(tmp_path, page, extensions=["checked_numbers"])
        said = (tmp_path / "out" / "book" / "01_one_plane.html").read_text()
        assert f"By {checked_numbers.said(lead, 'hundredths')} of a nat." in said


@pytest.mark.parametrize(
    ("asked", "told"),
    [("ch15.led, .2f", r"expected one of ch01.gain, .*got 'ch15.led'"), ("ch15.lead, tenths", "ask for digits")],
)
def test_control_a_number_that_nobody_measured_or_can_say_is_refused(tmp_path, asked, told):
    with pytest.raises(Exception, match=told):
        tiny_book.build(tmp_path, f"# T\n\nBy {{measured}}`{asked}`.\n", extensions=["checked_numbers"])
