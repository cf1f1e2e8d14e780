"""Tables that a phone has no room for become cards, and no others do."""

import pytest
from table_cards import TABLE, carded, width

MATH = "<m-tex><m-math><m-c></m-c></m-math><m-heard><math><msub><mi>θ</mi><mi>i</mi></msub></math></m-heard></m-tex>"


def html(*rows: list[str], kind: str = "table") -> str:
    head, *body = rows
    cells = [[f"<td><p>{cell}</p></td>" for cell in row] for row in body]
    lines = "".join(f"<tr>{''.join(row)}</tr>" for row in cells)
    head = "".join(f'<th class="head"><p>{name}</p></th>' for name in head)
    return f'<table class="{kind}">\n<thead>\n<tr>{head}</tr></thead>\n<tbody>\n{lines}</tbody>\n</table>'


@pytest.mark.parametrize(
    ("table", "cards"),
    [
        (html(["a", "b", "c"], ["1", "2", "3"]), False),
        (html(["model", "loss"], ["RoPE", "word " * 60]), False),  # two columns have room for words
        (html(["name", "why", "how"], ["x", "a few words " * 6, "some more words " * 4]), True),
        (
            html(
                ["comparison", "mean", "95 %", "99 %", "outcome"], ["CRoPE - RoPE", *["−0.0123 ± 0.0123"] * 3, "open"]
            ),
            True,
        ),
        (
            html(["a", "b", "c"], ["1", "2", "incomprehensibilities " * 2], ["antidisestablishmentarianism", "x", "y"]),
            True,
        ),
        (html(["a", "b", "c"], [MATH, MATH, MATH]), False),
        (html(["name", "why", "how"], ["x", "a few words " * 6, "more words " * 6], kind="table atlas"), False),
    ],
)
def test_a_table_is_marked_where_a_phone_has_no_room(table, cards):
    assert ("cards" in TABLE.sub(carded, table)) is cards


def test_each_cell_says_its_column_and_the_verdict_is_told_apart():
    made = TABLE.sub(carded, html(["name of " + MATH, 'a "b"', "verdict", ""], ["x", "words " * 20, "holds", "y"]))
    assert made.count("<td data-what=") == 3
    assert 'data-what="name of θi"' in made
    assert 'data-what="a &quot;b&quot;">words' in made
    assert '<td data-what="verdict" data-verdict>holds' in made
    assert "<td>y" in made


@pytest.mark.parametrize(("first", "counts"), [("25", True), ("2, memory", True), ("RoPE", False), ("x 25", False)])
def test_a_row_that_begins_with_a_number_says_what_it_counts(first, counts):
    made = TABLE.sub(carded, html(["minutes", "does", "then"], [first, "words " * 20, "more " * 20]))
    assert made.count("data-number") == made.count('<td data-number data-what="minutes">') == counts
    named = [["coarse grid", "words " * 20, ""], [first, "words " * 20, ""]]
    assert TABLE.sub(carded, html(["list", "does", "then"], *named)).count("data-number") == (first == "25")


def test_a_number_is_not_broken_and_a_sentence_is():
    assert width("3.25 ± 0.01") == 11
    assert width("three or four") == 5
