"""The words of each section, for search: counted where they stand, and not again in what holds it."""

import json
import re
from itertools import accumulate

import pytest
from docutils import nodes
from search_sections import sections_of

from tests.site_ext.tiny_book import build

PAGE = """# One plane

Rotations of the plane.

## Turning

A rotation keeps lengths. Two rotations add.

### Aside

A zebra crosses $zebra$.

## Rest

Nothing here.
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("book")
    build(folder, PAGE, extensions=["search_sections"])
    text = (folder / "out" / "_static" / "section-words.js").read_text(encoding="utf-8")
    return folder, json.loads(re.fullmatch(r"globalThis\.ropeSections = (.*);\n", text)[1])


def places(made, word):
    """The anchors on the page where a stem stands, and how often."""
    flat = made["words"].get(word, [])
    found = [(made["sections"][at], count) for at, count in zip(accumulate(flat[::2]), flat[1::2], strict=True)]
    return {anchor: count for (page, anchor, _), count in found if page == "book/01_one_plane"}


def test_a_word_belongs_to_the_innermost_section(made):
    assert places(made[1], "rotat") == {"": 1, "turning": 2}
    assert places(made[1], "zebra") == {"aside": 1}  # not in mathematics, not in the section around it
    assert places(made[1], "nowher") == {}


def test_the_scripts_are_on_the_search_page_alone(made):
    out = made[0] / "out"
    scripts = {name: (out / name).read_text(encoding="utf-8") for name in ("search.html", "book/01_one_plane.html")}
    assert {name: "section-words.js" in text for name, text in scripts.items()} == dict(
        zip(scripts, (True, False), strict=True)
    )
    assert scripts["search.html"].index("section-words.js") < scripts["search.html"].index("search_sections.js")


def test_a_page_that_is_read_again_has_its_new_words_alone(made):
    build(made[0], PAGE.replace("zebra", "heron"), extensions=["search_sections"])
    text = (made[0] / "out" / "_static" / "section-words.js").read_text(encoding="utf-8")
    assert '"heron"' in text
    assert '"zebra"' not in text


def test_the_text_of_a_theorem_is_a_part_of_the_section_around_it():
    """sphinx-proof writes it as a section, and all of them have one name."""
    inner = nodes.section("", nodes.paragraph("", "A zebra crosses."), ids=["proof-content"])
    outer = nodes.section("", nodes.title("", "Turning"), nodes.paragraph("", "Lengths stay."), inner, ids=["turning"])
    page = nodes.document(None, None)
    page += nodes.section("", nodes.title("", "One plane"), outer, ids=["one-plane"])
    (_, first, _), (anchor, title, stems) = sections_of(page)
    assert (first, anchor, title) == ("One plane", "turning", "Turning")
    assert stems["zebra"] == 1
