"""The line above a chapter's title."""

import re

import openers
import pytest

PARTS = [("I. Rotate", ["book/01_one", "book/02_two"]), ("II. Complete & more", ["book/03_three"])]


@pytest.mark.parametrize(
    ("page", "said", "lit"),
    [
        ("book/01_one", "Part I · Rotate chapter 1 of 3", 0),
        ("book/03_three", "Part II · Complete &amp; more chapter 3 of 3", 2),
    ],
)
def test_a_chapter_says_its_part_and_its_place(page, said, lit):
    line = openers.line(PARTS, page)
    assert " ".join(re.sub(r"<[^>]+>", " ", line).split()) == said
    assert [bool(tick) for tick in re.findall(r"<s( class='lit')?>", line)].index(True) == lit
    assert line.count("class='lit'") == 1


def test_control_another_page_has_no_place():
    with pytest.raises(ValueError, match="book/notation"):
        openers.line(PARTS, "book/notation")
