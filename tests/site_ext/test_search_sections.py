"""The words of each section, for search: counted where they stand, and not again in what holds it."""

import json
import re
import shutil
import subprocess
from itertools import accumulate

import pytest
from docutils import nodes
from search_sections import ENGLISH, index, sections_of
from symptom_pages import anchor as anchor_of
from symptom_pages import rows

from tests.site_ext.tiny_book import ROOT, build

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
    return {anchor: count for (page, anchor, *_), count in found if page == "book/01_one_plane"}


def test_a_word_belongs_to_the_innermost_section(made):
    assert places(made[1], "rotat") == {"": 1, "turning": 2}
    assert places(made[1], "zebra") == {"aside": 1}  # not in mathematics, not in the section around it
    assert places(made[1], "nowher") == {}


def test_no_word_stands_in_two_indexes(made):
    text = (made[0] / "out" / "searchindex.js").read_text(encoding="utf-8")
    index_of_sphinx = json.loads(re.fullmatch(r"Search\.setIndex\((.*)\)", text)[1])
    assert (index_of_sphinx["terms"], index_of_sphinx["titleterms"]) == ({}, {})
    assert "Turning" in index_of_sphinx["alltitles"]


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
    (_, first, _, _), (anchor, title, _, stems) = sections_of(page)
    assert (first, anchor, title) == ("One plane", "turning", "Turning")
    assert stems["zebra"] == 1


# Typed as people type it, and the row that should be among the first three hits.
TYPED = {
    "gguf garbage": "a-gguf-and-its-safetensors-have-q-and-k-in-different-orders",
    "my model writes loops after I converted the weights": "fine-for-twenty-words-then-gibberish",
    "nan loss in fp16": "nan-in-float16-at-long-positions",
    "all keys matched but garbage after fsdp": "nan-or-garbage-after-fsdp-the-meta-device-or-to-empty",
    "triton rope kernel loss does not go down": "loss-stays-flat-or-q-proj-gets-no-gradient-with-a-fused-rope-kernel",
    "low acceptance rate speculative decoding": (
        "drafts-of-speculative-decoding-are-rejected-which-place-and-how-to-roll-back"
    ),
    "zigzag ring attention loss mismatch": ("context-parallel-or-sequence-parallel-zigzag-each-rank-counts-from-0"),
    "cls token vit rope": "class-token-and-register-tokens-which-rows-turn",
    "long prompt wrong after first 64 rows": "wrong-from-some-row-of-a-prompt-on",
    "words after an image are gibberish": "the-first-word-after-a-picture-rope-deltas",
    "why is the kv cache output different": "good-without-the-cache-wrong-with-it",
    "dinov3 higher resolution is worse": "a-vit-at-another-resolution-whole-coordinates-or-from-1-to-1",
}
RUN = """
const { readFileSync } = require("node:fs");
const [stems, script, told, typed] = JSON.parse(readFileSync(0, "utf8"));
globalThis.location = { search: "" };
(0, eval)(stems);
globalThis.ropeSections = told;
globalThis.Scorer = { term: 5 };
const pages = [...new Set(told.sections.map(([page]) => page))];
globalThis.Search = { _index: { docnames: pages, titles: pages, filenames: pages } };
(0, eval)(script);
const words = (text) => text.toLowerCase().split(/[^a-z0-9_]+/).filter((word) => word && !/^\\d+$/.test(word));
const wanted = (text) => new Set(words(text).map((word) => new Stemmer().stemWord(word)));
const ask = ([text, without]) => Search.performTermsSearch(wanted(text), wanted(without));
console.log(JSON.stringify(typed.map((one) => ask(one).map(([page, , anchor]) => page + anchor))));
"""


def hits(pages, typed):
    """The addresses that the page's script finds, for each pair: what is typed, and words that must not be there."""
    if not shutil.which("node"):
        pytest.skip("Node.js is absent")
    script = (ROOT / "book" / "_static" / "search_sections.js").read_text(encoding="utf-8")
    given = json.dumps([ENGLISH.js_stemmer_code, script, index(pages), typed])
    run = subprocess.run(["node", "-e", RUN], input=given, check=False, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def section(anchor, title, text, also=""):
    language = ENGLISH({})
    stems = [language.stem(word) for word in language.split(f"{title} {also} {text}".lower())]
    return anchor, title, also, {stem: stems.count(stem) for stem in stems}


def test_symptoms_are_found_in_the_words_that_people_type():
    found = [
        section(
            anchor_of(row),
            row["heading"],
            " ".join([row["symptom"], *row["causes"], *row["causes"].values()]),
            row["also"],
        )
        for row in rows()
    ]
    for wanted, seen in zip(TYPED.values(), hits({"s": found}, [(text, "") for text in TYPED]), strict=True):
        assert f"s#{wanted}" in seen[:3]


def test_any_word_finds_more_words_rank_higher_and_a_title_counts_twice():
    page = [
        section("", "Birds", "what flies"),
        section("one", "Of herons", "fish"),
        section("two", "Of gulls", "fish and chips"),
        section("three", "Of terns", "a heron and a gull on chips, fish", also="sea swallow"),
        section("four", "Of kites", "nothing here, chips"),
    ]
    asked = [("fish zyzzyva", ""), ("heron fish chips", ""), ("swallow fish", ""), ("chips", "gull"), ("how chips", "")]
    fish, three, swallow, without, filler = hits({"b": page}, asked)
    assert set(fish) == {"b#one", "b#two", "b#three"}
    assert three == ["b#three", "b#one", "b#two", "b#four"]
    assert swallow[0] == "b#three"
    assert set(without) == {"b#four"}
    assert set(filler) == {"b#two", "b#three", "b#four"}
    assert hits({"b": page}, [("zyzzyva", "")]) == [[]]
