"""Where next: at the end of a chapter the next chapter, and its lab beside it; at the end of a lab, back and on.

In the order of the table of contents a lab stands between its chapter and the next one. A reader of the book goes from
chapter to chapter; the theme's links, which follow that order, stay on all other pages. A page before the chapters that
has a lab goes with them. A lab's first sentence leads to its chapter, too: in the notebook it is plain, for Colab.
"""

import re
from html import escape
from typing import Any, NamedTuple

from chapters import CHAPTER
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

PAGE = re.compile(r"(book|notebooks)/(\w+)")
BELONGS = re.compile(r"(?<=This lab belongs to )(chapter \d+|the page of the same name)\b")


class Link(NamedTuple):
    """One link: its class, what it is, and the page that it leads to."""

    kind: str
    says: str
    page: str


def links(chapters: list[str], labs: set[str], page: str, *, after: str | None = None) -> list[Link]:
    """The links of a chapter or a lab: forward, sideways and back, as far as they exist; ``after`` follows the last."""
    found = PAGE.fullmatch(page)
    if not found or f"book/{found[2]}" not in chapters:
        return []
    chapter, lab = f"book/{found[2]}", f"notebooks/{found[2]}"
    at = chapters.index(chapter)
    ahead, behind = chapters[at + 1 :], chapters[:at]
    row = [Link("next-chapter", f"Next {word(ahead[0])}", ahead[0])] if ahead else []
    if not row and after:
        row = [Link("next-chapter", "Next", after)]
    if page == lab:
        return [*row, Link("this-chapter", f"Back to the {word(chapter)}", chapter)]
    if lab in labs:
        row.append(Link("this-lab", f"Run this {word(chapter)}", lab))
    return [*row, Link("previous-chapter", f"Previous {word(behind[-1])}", behind[-1])] if behind else row


def word(page: str) -> str:
    """A reader's word for a page."""
    return "chapter" if CHAPTER.fullmatch(page) else "page"


def chapters_of(app: Sphinx) -> list[str]:
    """The chapters and what else has a lab, in the order of the table of contents."""
    parts = app.env.external_site_map.root.subtrees  # type: ignore[attr-defined]
    pages = [page for part in parts for page in map(str, part.items)]
    return [page for page in pages if CHAPTER.fullmatch(page) or lab_of(page) in app.env.found_docs]


def lab_of(page: str) -> str:
    """The lab of a chapter, if it has one."""
    return f"notebooks/{page.removeprefix('book/')}"


def after_the_last(app: Sphinx) -> str | None:
    """The page that follows the last chapter and its lab in the table of contents."""
    relations, chapters = app.env.collect_relations(), chapters_of(app)
    passed = {*chapters, *map(lab_of, chapters)}
    page: str | None = next(reversed(chapters), None)
    while page in passed:
        page = relations[page][2]
    return page


def link_first_sentence(
    app: Sphinx,
    pagename: str,
    templatename: str,  # noqa: ARG001  (Sphinx fixes the signature)
    context: dict[str, Any],
    doctree: nodes.document | None,  # noqa: ARG001
) -> None:
    """In a lab, make the words that say where it belongs a link."""
    chapter = pagename.replace("notebooks/", "book/")
    if "body" in context and pagename == lab_of(chapter) and chapter in app.env.found_docs:
        to = escape(app.builder.get_relative_uri(pagename, chapter))
        context["body"] = BELONGS.sub(rf'<a class="reference internal" href="{to}">\1</a>', context["body"], count=1)


def place(
    app: Sphinx,
    pagename: str,
    templatename: str,  # noqa: ARG001  (Sphinx fixes the signature)
    context: dict[str, Any],
    doctree: nodes.document | None,  # noqa: ARG001
) -> None:
    """Put the links at the end of a page, in the place of the theme's own, and into the page's head."""
    if "body" not in context:
        return
    row = links(chapters_of(app), app.env.found_docs, pagename, after=after_the_last(app))
    if not row:
        return
    shown = []
    for kind, says, page in row:
        number = ".".join(map(str, app.env.toc_secnumbers.get(page, {}).get("", ())))
        title = (f"{number}. " if number and page.startswith("book/") else "") + app.env.titles[page].astext()
        to = escape(app.builder.get_relative_uri(pagename, page))
        shown.append(f'<a class="{kind}" href="{to}"><span>{says}</span> {escape(title)}</a>')
        if kind in ("next-chapter", "previous-chapter"):
            context["next" if kind == "next-chapter" else "prev"] = {"link": to, "title": escape(title)}
    context["theme_show_prev_next"] = False
    context["body"] += f'<nav class="chapter-links d-print-none" aria-label="Where next">{"".join(shown)}</nav>'


def setup(app: Sphinx) -> ExtensionMetadata:
    app.connect("html-page-context", link_first_sentence)  # the copy in Markdown, at 550, has it too
    app.connect("html-page-context", place, priority=600)  # after what else stands in the body
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
