"""The feed of changes and errata: well-formed, one item for each, addresses only where the book has one."""

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from feed import Item, changes, errata, feed

ROOT = Path(__file__).resolve().parents[2]
ITEMS = [
    Item("changes-1.0", "Version 1.0", "- *New* & `a < b`", "", "2026-11-01"),
    Item("erratum-x", "E", "t", "p.html"),
]


def entries(text):
    return ET.fromstring(text.encode()).findall("channel/item")


@pytest.mark.parametrize("base", ["", "https://b.org/rope-lab/"])
def test_the_feed_of_the_book_is_well_formed(base):
    items = [*changes((ROOT / "CHANGELOG.md").read_text()), *errata()]
    text = feed(items, title="RoPE Lab", base=base)
    found = entries(text)
    assert len(found) == len(items) > len(errata()) > 0
    names = [entry.findtext("guid") for entry in found]
    assert len(set(names)) == len(names)
    assert all(entry.findtext("title") and entry.findtext("description") for entry in found)
    links = [entry.findtext("link") for entry in found]
    assert all(link.startswith(base) for link in links) if base else not any(links)


def test_an_item_has_its_day_its_place_and_its_text_as_html():
    release, erratum = entries(feed(ITEMS, title="T", base="https://b.org/"))
    assert release.findtext("pubDate") == "Sun, 01 Nov 2026 00:00:00 +0000"
    assert "<em>New</em> &amp; <code>a &lt; b</code>" in release.findtext("description")
    assert erratum.findtext("link") == "https://b.org/p.html#erratum-x"
    assert erratum.findtext("pubDate") is None


def test_versions_of_a_changelog():
    log = "# Changelog\n\nWords.\n\n## Unreleased\n\n- a\n\n## [1.0.0] - 2026-11-01\n\n- b\n"
    assert changes(log) == [
        Item("changes-unreleased", "Since the last release", "- a", ""),
        Item("changes-1.0.0", "Version 1.0.0", "- b", "", "2026-11-01"),
    ]


def test_control_a_torn_feed_is_seen():
    with pytest.raises(ET.ParseError):
        entries(feed(ITEMS, title="T", base="").replace("</item>", "", 1))
