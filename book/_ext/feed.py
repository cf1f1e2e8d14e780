"""``feed.xml``: an RSS feed of what changed in the book, and of the errata of its sources.

One item for each version of ``CHANGELOG.md``, and one for each erratum of the ledger. Addresses in it are absolute;
while the book has no address of its own (``html_baseurl``), the items have none.
"""

import re
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

from markdown_it import MarkdownIt
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

from rope_lab.claims.errata import errata_items

NAME = "feed.xml"


class Item(NamedTuple):
    """One item: its id, its title, its text in Markdown, the page it stands on, and its day if it has one."""

    id: str
    title: str
    text: str
    page: str
    day: str = ""


def changes(changelog: str) -> list[Item]:
    """The versions of a changelog, newest first. What is not released yet has no day."""
    items = []
    for section in re.split(r"^## ", changelog, flags=re.MULTILINE)[1:]:
        head, _, text = section.partition("\n")
        version, _, day = head.replace("[", "").replace("]", "").partition(" - ")
        title = "Since the last release" if version.strip() == "Unreleased" else f"Version {version.strip()}"
        items.append(Item(f"changes-{version.strip().lower()}", title, text.strip(), "", day.strip()))
    return items


def errata() -> list[Item]:
    """The items of the page of errata."""
    items = []
    for erratum, claims in errata_items():
        told = [f"{claim.locus}: {claim.correction}" for claim in claims if claim.correction]
        text = "\n\n".join([*told, erratum.affected])
        items.append(
            Item(f"erratum-{erratum.id}", f"Erratum {erratum.number}: {erratum.title}", text, "book/errata.html")
        )
    return items


def feed(items: list[Item], *, title: str, base: str) -> str:
    """The feed as XML."""
    rss = ET.Element("rss", version="2.0")
    channel = ET.SubElement(rss, "channel")
    ET.SubElement(channel, "title").text = title
    if base:
        ET.SubElement(channel, "link").text = base
    ET.SubElement(channel, "description").text = f"What changed in {title}, and errata of the texts that it reads."
    for item in items:
        entry = ET.SubElement(channel, "item")
        ET.SubElement(entry, "title").text = item.title
        if base:
            place = f"#{item.id}" if item.page else ""
            ET.SubElement(entry, "link").text = f"{base}{item.page}{place}"
        ET.SubElement(entry, "guid", isPermaLink="false").text = item.id
        if item.day:
            ET.SubElement(entry, "pubDate").text = format_datetime(datetime.fromisoformat(item.day).replace(tzinfo=UTC))
        ET.SubElement(entry, "description").text = MarkdownIt().render(item.text)
    ET.indent(rss)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(rss, encoding="unicode") + "\n"


def write(app: Sphinx, exception: Exception | None) -> None:
    """Write the feed when an HTML build has succeeded."""
    if not exception and app.builder.format == "html":
        changelog = Path(app.srcdir, "CHANGELOG.md").read_text(encoding="utf-8")
        text = feed([*changes(changelog), *errata()], title=app.config.project, base=app.config.html_baseurl)
        Path(app.outdir, NAME).write_text(text, encoding="utf-8")


def name(app: Sphinx, pagename: str, templatename: str, context: dict, doctree: object) -> None:  # noqa: ARG001
    """Name the feed in the head of each page."""
    root = context["pathto"](NAME, 1)
    link = f'<link rel="alternate" type="application/rss+xml" href="{root}" title="Changes and errata" />'
    context["metatags"] = f"{context.get('metatags', '')}\n    {link}"


def setup(app: Sphinx) -> ExtensionMetadata:
    app.connect("html-page-context", name)
    app.connect("build-finished", write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
