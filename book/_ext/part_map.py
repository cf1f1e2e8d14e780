"""``{part-map}``: the argument as a map: each part with its picture, its sentence and its chapters.

The content has one line for each part: its number, a colon, and the sentence. The parts themselves are those of the
table of contents; one without a sentence, or a sentence without a part, is a warning.
"""

import re
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

from rope_lab.show.figures import part_picture

log = logging.getLogger(__name__)
CHAPTER = re.compile(r"book/(\d\d)_\w+")


class map_node(nodes.General, nodes.Element):  # noqa: N801  (docutils names its nodes in lower case)
    """Holds the place of the map until all titles are known."""


class PartMap(SphinxDirective):
    """``{part-map}`` with one line for each part."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        self.assert_has_content()
        said = [line.partition(":") for line in self.content if line.strip()]
        self.env.metadata[self.env.docname]["part_map"] = True
        node = map_node(said={number.strip(): sentence.strip() for number, _, sentence in said})
        self.set_source_info(node)
        return [node]


def pages_with_map(_: Sphinx, env: BuildEnvironment) -> list[str]:
    """Write them again in each build: a title or a picture may have changed."""
    return [page for page, notes in env.metadata.items() if notes.get("part_map")]


def fill(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Write the map."""
    for node in list(doctree.findall(map_node)):
        parts = {}
        for part in app.env.external_site_map.root.subtrees:  # type: ignore[attr-defined]
            chapters = [str(page) for page in part.items if CHAPTER.fullmatch(str(page))]
            number, _, title = part.caption.partition(". ")
            if chapters:
                parts[number] = (title, chapters)
        for number in parts.keys() ^ node["said"].keys():
            log.warning("part %s: expected one sentence for each part of the table of contents", number, location=node)
        shown = [card(app, docname, number, *parts[number], node["said"].get(number, "")) for number in parts]
        node.replace_self(nodes.raw("", f'<div class="part-map">{"".join(shown)}</div>', format="html"))


def card(app: Sphinx, docname: str, number: str, title: str, chapters: list[str], sentence: str) -> str:
    """One part as HTML."""
    links = "".join(
        f'<li><a href="{app.builder.get_relative_uri(docname, page)}">'
        f"<span>{int(page[5:7])}</span> {escape(app.env.titles[page].astext())}</a></li>"
        for page in chapters
    )
    return (
        f'<section class="part-card">{part_picture(number)._repr_html_()}<p class="part-name">Part {number} · '
        f"{escape(title)}</p><p>{escape(sentence)}</p><ul>{links}</ul></section>"
    )


def pass_by(self: Any, node: nodes.Element) -> None:
    """The node is replaced before a page is written."""


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_node(map_node, html=(pass_by, pass_by))
    app.add_directive("part-map", PartMap)
    app.connect("env-updated", pages_with_map)
    app.connect("doctree-resolved", fill)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
