"""The line above a chapter's title: its part, and its place among the chapters."""

import re
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

CHAPTER = re.compile(r"book/\d\d_\w+")


def line(parts: list[tuple[str, list[str]]], page: str) -> str:
    """The line of one chapter: ``Part I · Rotate``, a tick for each chapter with this one lit, ``chapter 1 of 18``."""
    chapters = [chapter for _, pages in parts for chapter in pages]
    number, caption = chapters.index(page) + 1, next(caption for caption, pages in parts if page in pages)
    roman, _, title = caption.partition(". ")
    ticks = "".join("<s class='lit'></s>" if chapter == page else "<s></s>" for chapter in chapters)
    return (
        f'<p class="opener"><span>Part {escape(roman)} · {escape(title)}</span>'
        f'<span class="ticks" aria-hidden="true">{ticks}</span><span>chapter {number} of {len(chapters)}</span></p>'
    )


def open_chapter(
    app: Sphinx,
    pagename: str,
    templatename: str,  # noqa: ARG001  (Sphinx fixes the signature)
    context: dict[str, Any],
    doctree: nodes.document | None,  # noqa: ARG001
) -> None:
    """Put the line above the title of a chapter."""
    if not CHAPTER.fullmatch(pagename) or "body" not in context:
        return
    subtrees = app.env.external_site_map.root.subtrees  # type: ignore[attr-defined]
    parts = [(part.caption, [str(item) for item in part.items if CHAPTER.fullmatch(str(item))]) for part in subtrees]
    context["body"] = line(parts, pagename) + context["body"]


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_css_file("openers.css")
    app.connect("html-page-context", open_chapter)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
