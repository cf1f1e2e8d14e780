"""Numbered captions: "Figure 2.1. How long each plane takes for one turn." under each picture of a chapter.

The title that a picture gives itself (``rope_lab.show.svg``) is its caption. A ``{caption}`` directive right below the
cell adds sentences, and a name for ``{numref}``. A picture that stands a second time on its page has the number of the
first and no other.
"""

import re
from collections.abc import Iterator
from html import unescape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

log = logging.getLogger(__name__)
NUMBERED = re.compile(r"book/(\d\d_\w+|newer_encodings|crope_laboratory)")
TITLE = re.compile(r'<div class="rope-svg">.*?<title id="[^"]*">(.*?)</title>', re.DOTALL)

WIDTH = re.compile(r'<svg\b[^>]*? width="([\d.]+)')
MEASURE, SHORT = 474, 110  # the width of the text in points, and the characters that the margin has room for


class again_node(nodes.General, nodes.Element):  # noqa: N801  (docutils names its nodes in lower case)
    """In the caption of a picture that was shown before: holds the place of the first one's number."""


class Caption(SphinxDirective):
    """``{caption} name``: what there is to say below the picture of the cell above, as one paragraph."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        parsed = nodes.Element()
        self.state.nested_parse(self.content, self.content_offset, parsed)
        if len(parsed) > 1 or not all(isinstance(child, nodes.paragraph) for child in parsed):
            raise self.error("{caption} holds one paragraph, or nothing but its name")
        figure = nodes.figure(names=[nodes.fully_normalize_name(self.arguments[0])])
        self.set_source_info(figure)
        self.state.document.note_explicit_target(figure, figure)
        figure += nodes.caption("", "", *(parsed[0].children if parsed.children else ()))
        return [figure]


def pictures(doctree: nodes.document) -> Iterator[tuple[nodes.Element, str]]:
    """The cells that show a picture, each with the picture's title."""
    for cell in doctree.findall(lambda node: isinstance(node, nodes.container) and "cell" in node["classes"]):
        shown = "".join(raw.astext() for raw in cell.findall(nodes.raw) if raw.get("format") == "html")
        if title := TITLE.search(shown):
            yield cell, unescape(title[1])  # type: ignore[misc]


def frame(app: Sphinx, doctree: nodes.document) -> None:
    """Put each picture of a chapter into a figure with a caption."""
    if NUMBERED.fullmatch(app.env.docname):
        known: dict[str, nodes.figure] = {}
        for cell, title in list(pictures(doctree)):
            parent, place = cell.parent, cell.parent.index(cell)
            below = parent[place + 1] if place + 1 < len(parent) else None
            caption = below if isinstance(below, nodes.figure) and not below.children[1:] else None
            if caption is not None:
                parent.remove(caption)
            if "tag_on-paper" in cell["classes"]:  # a number would be missed on the screen
                parent[place] = nodes.figure("", cell, nodes.legend("", nodes.paragraph("", ended(title))))
            elif title in known:
                number = nodes.paragraph("", "", again_node(first=known[title]["ids"][0], title=title))
                again = nodes.legend("", number)  # it has no number of its own
                parent[place] = nodes.figure("", cell, again, classes=beside(cell))
            else:
                parent[place] = known[title] = figure(caption, cell, title)
    for lost in doctree.findall(lambda node: isinstance(node, nodes.figure) and len(node) == 1):
        if isinstance(lost[0], nodes.caption):  # type: ignore[index]
            log.warning("{caption} stands right below a cell that shows a picture of rope_lab.show", location=lost)


def figure(caption: nodes.figure | None, cell: nodes.Element, title: str) -> nodes.figure:
    """The cell with its caption: the title, and what the page adds to it."""
    box = caption if caption is not None else nodes.figure("", nodes.caption(), ids=[f"figure-{nodes.make_id(title)}"])
    words = box[0].children
    box[0].children = []
    box[0] += [nodes.Text(ended(title)), *([nodes.Text(" "), *words] if words else [])]
    box.insert(0, cell)
    if len(box[1].astext()) <= SHORT:
        box["classes"] += beside(cell)
    return box


def ended(title: str) -> str:
    """The title with the end of a sentence."""
    return title if title[-1] in ".?!" else f"{title}."


def beside(cell: nodes.Element) -> list[str]:
    """The class of a figure whose caption may stand in the margin: the picture is no wider than the text."""
    points = WIDTH.search("".join(raw.astext() for raw in cell.findall(nodes.raw)))
    return ["beside"] if points and float(points[1]) <= MEASURE else []


def number_again(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Write the number of the first picture under the second."""
    numbers = app.env.toc_fignumbers.get(docname, {}).get("figure", {})
    for node in list(doctree.findall(again_node)):
        number = ".".join(map(str, numbers[node["first"]]))
        link = nodes.reference("", f"Figure {number}", internal=True, refid=node["first"])
        node.replace_self([link, nodes.Text(f" once more: {ended(node['title'])}")])


def number_by_page(_app: Sphinx, env: BuildEnvironment) -> None:
    """Count from 1 on each page outside the chapters, whose numbers would run on from the page before."""
    for kinds in env.toc_fignumbers.values():
        for numbers in kinds.values():
            if all(len(number) == 1 for number in numbers.values()):
                numbers |= {name: (place,) for place, name in enumerate(numbers, 1)}


def pass_by(self: Any, node: nodes.Element) -> None:
    """The node is replaced before a page is written."""


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_node(again_node, html=(pass_by, pass_by))
    app.add_directive("caption", Caption)
    app.connect("doctree-read", frame, priority=600)  # the minutes count what a page says, not what a picture is called
    app.connect("env-check-consistency", number_by_page)  # the numbers are given just before
    app.connect("doctree-resolved", number_again)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
