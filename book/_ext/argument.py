"""The strip below the opener of a part's first chapter: where in the book's argument the part stands, and its law.

What it says stands in ``argument.yml`` beside this file. A part with chapters and without an entry there is a warning.
"""

from pathlib import Path
from typing import Any, NamedTuple

import yaml
from chapters import CHAPTER, chapters_by_part
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.typing import ExtensionMetadata

log = logging.getLogger(__name__)


class Part(NamedTuple):
    """A part of the book: its first chapter, and its entry."""

    first: str
    word: str
    law: str
    says: str


def parts(captions: dict[str, list[str]], entries: dict[str, dict[str, str]]) -> list[Part]:
    """The parts that have chapters, in the order of the table of contents."""
    parts_of_book = []
    for caption, pages in captions.items():
        first = next(filter(CHAPTER.fullmatch, pages), None)
        if first and caption not in entries:
            log.warning("book/_ext/argument.yml: expected an entry with word, law and says for the part %r", caption)
        elif first:
            parts_of_book.append(Part(first, **entries[caption]))
    return parts_of_book


def read_parts(app: Sphinx) -> list[Part]:
    """The parts of this book."""
    return parts(
        chapters_by_part(app.env), yaml.safe_load(Path(__file__).with_suffix(".yml").read_text(encoding="utf-8"))
    )


def strip(parts_of_book: list[Part], page: str, uri: Any) -> nodes.container:
    """One word for each part, this one lit, and under them its law; ``uri`` gives the address of a page."""
    here = next(part for part in parts_of_book if part.first == page)
    words = nodes.bullet_list(classes=["simple"])
    for part in parts_of_book:
        word: nodes.Node = nodes.strong("", part.word)
        if part is not here:
            word = nodes.reference("", part.word, internal=True, refuri=uri(part.first))
        words += nodes.list_item("", nodes.paragraph("", "", word))
    law = nodes.paragraph("", "", nodes.math(here.law, here.law), classes=["argument-law"])
    says = nodes.paragraph("", here.says, classes=["argument-says"])
    return nodes.container("", words, law, says, classes=["argument"])


def place(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put the strip below the opener of a part's first chapter: its question and its prediction come first."""
    parts_of_book = app.env.argument_parts  # type: ignore[attr-defined]
    if docname in (part.first for part in parts_of_book):
        chapter = next(iter(doctree.findall(nodes.section)))
        end = next((i for i, node in enumerate(chapter.children) if isinstance(node, nodes.section)), len(chapter))
        chapter.insert(end, strip(parts_of_book, docname, lambda page: app.builder.get_relative_uri(docname, page)))


def note(app: Sphinx, env: Any) -> None:
    """Read the entries once for a build."""
    env.argument_parts = read_parts(app)


def setup(app: Sphinx) -> ExtensionMetadata:
    app.connect("env-updated", note)
    app.connect("doctree-resolved", place)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
