"""The minutes of a page: counted by hand here, and by the extension there."""

import pytest
import reading_time
from docutils import nodes

from tests.site_ext.tiny_book import build

WORDS = " ".join(["word"] * 148)  # with the two words of its heading: a minute
EXTENSIONS = ["sphinx_proof", "folds", "reading_time"]


def minutes(folder, page, **settings):
    app, told, warnings = build(folder, page, extensions=EXTENSIONS, **settings)
    return app.env.metadata["book/01_one_plane"]["minutes"], told, warnings


EQUATION = "$$ 1 = 1 $$\n{step}`blog.props`\n\n"
CODE = "```python\n" + "x = 1\n\n" * 60 + "```\n"  # 60 lines and 60 empty ones: 3.5 minutes


TABLE = "| a |\n|---|\n" + "| word word word |\n" * 150  # 451 words, a minute and a word

PAGES = {
    "a table": (f"# One\n\n{TABLE}\n", 7, 7),
    "a table in a fold": (f"# One\n\n## Two\n\n:::{{fold}} Three\n{TABLE}\n:::\n", 6, 7),
    "a minute of words": (f"# One plane\n\n{WORDS}\n", 6, 6),
    "a word more": (f"# One plane\n\n{WORDS} another\n", 7, 7),
    "a formula in a line is one word": (f"# One plane\n\n{WORDS[:-5]} $a b c$\n", 6, 6),
    "equations": ("# One\n\n" + EQUATION * 12, 13, 13),  # 7 minutes and a word
    "code": (f"# One\n\n{CODE}", 9, 9),
    "words in a fold": (f"# One\n\n## Two\n\n:::{{fold}} Three\n{WORDS}\n:::\n", 6, 7),
    "the sentence of a fold": (f"# One plane\n\n## A\n\n:::{{fold}} {WORDS}\nso\n:::\n", 7, 7),
    "the rest of a section": ("# One\n\n## Two\n\n:::{fold} Three\n:::\n\n" + EQUATION * 12, 6, 13),
    "with a subsection": (
        "# One\n\n## Two\n\n:::{fold} Three\n:::\n\n### Four\n\n" + EQUATION * 12 + "\n## Five\n\nsix",
        6,
        13,
    ),
    "a folded proof": (f"# One\n\n````{{prf:proof}}\n:class: fold\n\nSo.\n\n{CODE}````\n", 6, 9),
    "a proof": (f"# One\n\n````{{prf:proof}}\nSo.\n\n{CODE}````\n", 9, 9),
}


@pytest.mark.deep(keep=2)
@pytest.mark.parametrize(("page", "core", "every"), PAGES.values(), ids=PAGES)
def test_minutes_are_those_counted_by_hand(tmp_path, page, core, every):
    assert minutes(tmp_path, page)[0] == (core, every)


def test_the_page_says_its_minutes_and_the_build_lists_them(tmp_path):
    page = f"# One plane\n\n```{{aims}}\nturn a *hand*.\n```\n\n## Two\n\n:::{{fold}} Three\n:::\n\n{CODE}"
    found, told, warnings = minutes(tmp_path, page)
    assert warnings == ""
    html = (tmp_path / "out" / "book" / "01_one_plane.html").read_text(encoding="utf-8")
    assert f"<strong>In {found[0]} minutes</strong> you can turn a <em>hand</em>." in html
    assert f"minutes, core path and all: 1: {found[0]}/{found[1]}" in told


def test_a_chapter_above_the_limit_is_a_warning_on_every_build(tmp_path):
    for page in (f"# One plane\n\n{WORDS}\n", None):
        assert "the core path takes 6 minutes, and 5 is the limit" in minutes(tmp_path, page, reading_limit=5)[2]
    assert minutes(tmp_path, None, reading_limit=6)[2] == ""
    assert "and 4 is the limit" in minutes(tmp_path, None, reading_limit=6, reading_limits={"book/01_one_plane": 4})[2]


@pytest.mark.parametrize(
    ("tag", "lines", "cells"),
    [("", 1, 451), ("tag_hide-input", 0, 451), ("tag_hide-output", 1, 0), ("tag_hide-cell", 0, 0)],
)
def test_a_table_that_a_cell_makes_counts_and_its_words_for_terminals_do_not(tag, lines, cells):
    html = "<style>.a {b: c}</style><p>no word</p><table><tr>" + "<td class='x'>word</td>" * 451 + "</tr></table>"
    code = nodes.container("", nodes.literal_block("", "x = 1"), classes=["cell_input"])
    made = nodes.container("", nodes.raw("", html, format="html"), nodes.literal_block("", "so | many\n"))
    made["classes"] = ["cell_output"]
    page = nodes.section("", nodes.paragraph("", "two words"), nodes.container("", code, made, classes=[tag]))
    found = reading_time.count(page)
    assert [(part.words, part.lines, part.cells) for part in found] == [(2, lines, cells), (2, 1, 451)]


def test_aims_are_one_paragraph(tmp_path):
    assert "{aims} holds one paragraph" in minutes(tmp_path, "# One\n\n```{aims}\na\n\nb\n```\n")[2]
