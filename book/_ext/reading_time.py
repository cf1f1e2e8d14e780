"""How long a page takes to read: ``{aims}`` says it on the page, ``{chapter-map}`` lists it for all chapters.

The reader is an engineer with school mathematics: `WORDS` words a minute, `CELLS` words of tables, written or made by
a cell, `EQUATION` seconds for a displayed equation, `CODE` seconds for a line of code that is shown, and `ACTIVE`
minutes for the widget and the exercises. The core path is what is not folded. A chapter whose core path is longer than
``reading_limit`` minutes, or than ``reading_limits`` says for it, is a warning, and warnings stop the build.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from typing import Any

from chapters import CHAPTER, chapters_by_part
from docutils import nodes
from folds import fold_node, fold_summary, folds_proof
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

log = logging.getLogger(__name__)
WORDS, CELLS, EQUATION, CODE, ACTIVE = 150, 450, 35, 3.5, 5
TABLE, TAG = re.compile(r"<table\b.*?</table>", re.DOTALL), re.compile(r"<[^>]*>")
FOLDED = {"tag_hide-input": "cell_input", "tag_hide-output": "cell_output"}  # the part of a cell that a tag folds
APART = ("quiz", "task")  # exercises: their time is in ACTIVE


@dataclass
class Count:
    """What there is to read."""

    words: int = 0
    cells: int = 0  # words of tables
    equations: int = 0
    lines: int = 0

    @property
    def minutes(self) -> int:
        """Whole minutes, rounded up."""
        words = self.words / WORDS + self.cells / CELLS
        return ceil(words + (self.equations * EQUATION + self.lines * CODE) / 60 + ACTIVE)


def pieces(node: nodes.Node, *, folded: bool = False) -> Iterator[tuple[nodes.Node, bool]]:
    """The texts, equations, codes and tables under a node, in order, and whether each of them is folded."""
    if isinstance(node, nodes.table):
        yield node, folded
        return
    if isinstance(node, (nodes.Text, nodes.math, nodes.math_block, nodes.literal_block)):
        yield node, folded
        return
    if isinstance(node, (nodes.comment, nodes.raw, nodes.Invisible, nodes.system_message)):
        return
    classes = set(node.get("classes", ())) if isinstance(node, nodes.Element) else set()
    attributes = node.get("attributes", {}) if isinstance(node, nodes.Element) else {}
    if "cell_output" in classes:
        yield from ((output, folded) for output in node.findall(nodes.raw))
        return
    if set(attributes.get("class", "").split()) & set(APART):
        return
    inner = folded or "tag_hide-cell" in classes or folds_proof(node) or isinstance(node, fold_node)
    for child in node.children:
        part = any(FOLDED[tag] in child["classes"] for tag in classes & FOLDED.keys())
        yield from pieces(child, folded=folded if isinstance(child, fold_summary) else inner or part)
        if isinstance(child, fold_node) and child["rest"]:
            inner = True


def count(doctree: nodes.Node) -> tuple[Count, Count]:
    """The core path of a page, and all of it.

    The first is what a reader meets who opens no fold: the sentence of each fold is a part of it.
    """
    core, every = Count(), Count()
    for piece, folded in pieces(doctree):
        for total in [every] if folded else [core, every]:
            if isinstance(piece, nodes.math_block):
                total.equations += "output" not in piece["classes"]
            elif isinstance(piece, nodes.table):
                total.cells += sum(len(cell.astext().split()) for cell in piece.findall(nodes.entry))
            elif isinstance(piece, nodes.raw):
                total.cells += sum(len(TAG.sub(" ", table).split()) for table in TABLE.findall(piece.astext()))
            elif isinstance(piece, nodes.literal_block):
                total.lines += sum(bool(line.strip()) for line in piece.astext().splitlines())
            else:
                total.words += 1 if isinstance(piece, nodes.math) else len(piece.astext().split())
    return core, every


class aims_node(nodes.General, nodes.Element):  # noqa: N801  (docutils names its nodes in lower case)
    """Holds the place of the minutes until the page is read to its end."""


class Aims(SphinxDirective):
    """``{aims}``: what a reader can do afterwards, as the end of the sentence "In N minutes you can ..."."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        self.assert_has_content()
        node = aims_node()
        self.state.nested_parse(self.content, self.content_offset, node)
        if len(node) != 1 or not isinstance(node[0], nodes.paragraph):
            raise self.error('{aims} holds one paragraph that goes on from "In N minutes you can"')
        return [node]


class map_node(nodes.General, nodes.Element):  # noqa: N801
    """Holds the place of the table of chapters until all pages are read."""


class ChapterMap(SphinxDirective):
    """``{chapter-map}``: every chapter with its minutes."""

    def run(self) -> list[nodes.Node]:
        self.env.metadata[self.env.docname]["chapter_map"] = True
        return [map_node()]


def measure(app: Sphinx, doctree: nodes.document) -> None:
    """Note the minutes of one page, and say them where the page asks."""
    core, every = count(doctree)
    app.env.metadata[app.env.docname]["minutes"] = (core.minutes, every.minutes)
    for node in list(doctree.findall(aims_node)):
        words = node[0]
        words.insert(0, nodes.strong("", f"In {core.minutes} minutes"))
        words.insert(1, nodes.Text(" you can "))
        words["classes"].append("aims")
        node.replace_self(words)


def report(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Warn of chapters that are too long; write the pages with a map again, for the minutes may have changed."""
    for page, notes in env.metadata.items():
        core, _ = notes.get("minutes", (0, 0))
        limit = app.config.reading_limits.get(page, app.config.reading_limit)
        if limit and CHAPTER.fullmatch(page) and core > limit:
            log.warning("the core path takes %d minutes, and %d is the limit: fold or cut", core, limit, location=page)
    chapters = {page: notes["minutes"] for page, notes in env.metadata.items() if CHAPTER.fullmatch(page)}
    told = ", ".join(f"{int(page[5:7])}: {core}/{every}" for page, (core, every) in sorted(chapters.items()))
    log.info("minutes, core path and all: %s", told)
    return [page for page, notes in env.metadata.items() if notes.get("chapter_map")]


def fill_map(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Write the table of chapters."""
    for node in list(doctree.findall(map_node)):
        node.replace_self(table(app, docname))


def table(app: Sphinx, docname: str) -> nodes.table:
    """Part, chapter, minutes of the core path, minutes of all."""
    rows = [[[nodes.Text(word)] for word in ("Part", "Chapter", "Minutes", "With all folds")]]
    for caption, pages in chapters_by_part(app.env).items():
        part = caption
        for page in pages:
            core, every = app.env.metadata[page]["minutes"]
            title = f"{int(page[5:7])}. {app.env.titles[page].astext()}"
            to = app.builder.get_relative_uri(docname, page)
            link = nodes.reference("", title, internal=True, refuri=to)
            rows.append([[nodes.Text(part)], [link], [nodes.Text(str(core))], [nodes.Text(str(every))]])
            part = ""
    grid = nodes.table(classes=["chapter-map"])
    group = nodes.tgroup(cols=4)
    group += [nodes.colspec(colwidth=width) for width in (22, 50, 10, 18)]
    lines = [nodes.row("", *(nodes.entry("", nodes.paragraph("", "", *cell)) for cell in row)) for row in rows]
    group += [nodes.thead("", lines[0]), nodes.tbody("", *lines[1:])]
    grid += group
    return grid


def pass_by(self: Any, node: nodes.Element) -> None:
    """Both nodes are replaced before a page is written."""


def setup(app: Sphinx) -> ExtensionMetadata:
    app.setup_extension("folds")
    app.add_config_value("reading_limit", 0, "", int)  # minutes; 0 for none
    app.add_config_value("reading_limits", {}, "", dict)  # of single pages
    for node in (aims_node, map_node):
        app.add_node(node, html=(pass_by, pass_by))
    app.add_directive("aims", Aims)
    app.add_directive("chapter-map", ChapterMap)
    app.connect("doctree-read", measure)
    app.connect("env-updated", report)
    app.connect("doctree-resolved", fill_map)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
