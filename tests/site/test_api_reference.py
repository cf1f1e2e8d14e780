"""The API reference: every public name has its entry, and the search finds it."""

import importlib
import inspect
import json
import re

import pytest
from api_reference import home_of, sources

from rope_lab.claims import Claim
from tests.test_public_names import FOLDERS


def public_objects():
    """The full name of every public object, in the folder where it is at home."""
    return [
        f"{folder}.{name}"
        for folder in FOLDERS
        for module, names in sources(folder).items()
        if home_of(module, folder) == folder
        for name in names
    ]


def without_entry(names, pages):
    entries = {name for page in pages for name in re.findall(r' id="([^"]+)"', page)}
    return [name for name in names if name not in entries]


@pytest.fixture(scope="module")
def pages(html):
    return [page.read_text(encoding="utf-8") for page in sorted((html / "book").glob("api*.html"))]


def test_every_public_name_has_an_entry(pages):
    assert without_entry(public_objects(), pages) == []


def test_control_a_name_without_entry_is_seen(pages):
    assert without_entry(["rope_lab.nn.NoSuchLayer"], pages) == ["rope_lab.nn.NoSuchLayer"]


def test_no_page_says_a_heading_twice(pages):
    said = [re.findall(r"<h[1-3]>(.*?)<a", page) for page in pages]
    assert all(said)
    assert [heading for page in said for heading in {*page} if page.count(heading) > 1] == []


def test_a_stressed_word_has_no_asterisks(pages):
    words = [re.sub(r"<[^>]+>", "", page) for page in pages]
    assert [found[0] for page in words for found in re.finditer(r"(?<![\w*])\*[a-z]+\*(?!\w)", page)] == []


def test_the_sentence_of_a_property_is_not_read_as_its_type(pages):
    """Napoleon takes what stands before a colon in its first line for a type."""
    words = [" ".join(re.sub(r"<[^>]+>", "", page).split()) for page in pages]
    assert [found[0] for page in words for found in re.finditer(r".{60}\bType: .{30}", page)] == []
    assert any(Claim.source.__doc__ in page for page in words)


def test_the_search_knows_them(html):
    text = (html / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text.removeprefix("Search.setIndex(").rstrip().removesuffix(")"))
    known = {f"{prefix}.{entry[4]}" for prefix, entries in index["objects"].items() for entry in entries}
    assert set(public_objects()) <= known


def test_shapes_and_errors_are_rendered(pages):
    """Of one function: the shapes of its signature, its formula as mathematics, its claims as links."""
    text = next(page for page in pages if 'id="rope_lab.nn.recurrence.linear_rnn"' in page)
    entry = text.split('id="rope_lab.nn.recurrence.linear_rnn"')[1].split("</dd></dl>")[0]
    assert "*batch T d" in re.sub(r"<[^>]+>", "", entry)
    assert 'class="math' in entry
    assert "ledger.html#claim-su19.rnn-geometric" in entry
    assert inspect.getdoc(importlib.import_module("rope_lab.nn").linear_rnn).split("\n")[0] in entry
