"""Where next: at the end of a chapter the next chapter, and its lab beside it; at the end of a lab, back and on.

In the order of the table of contents a lab stands between its chapter and the next one. A reader of the book goes from
chapter to chapter; the theme's links, which follow that order, stay on all other pages.
"""

import re
from html import escape
from typing import Any, NamedTuple

from chapters import chapters_by_part
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

PAGE = re.compile(r"(book|notebooks)/(\d\d_\w+)")


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
    made = [Link("next-chapter", "Next chapter", chapters[at + 1])] if at + 1 < len(chapters) else []
    if not made and after:
        made = [Link("next-chapter", "Next", after)]
    if page == lab:
        return [*made, Link("this-chapter", "Back to the chapter", chapter)]
    if lab in labs:
        made.append(Link("this-lab", "Run this chapter", lab))
    return [*made, Link("previous-chapter", "Previous chapter", chapters[at - 1])] if at else made


def chapters_of(app: Sphinx) -> list[str]:
    """The chapters, in the order of the table of contents."""
    return [page for pages in chapters_by_part(app.env).values() for page in pages]


def after_the_last(app: Sphinx) -> str | None:
    """The page that follows the last chapter and its lab in the table of contents."""
    relations = app.env.collect_relations()
    page: str | None = next(reversed(chapters_of(app)), None)
    while page is not None and PAGE.fullmatch(page):
        page = relations[page][2]
    return page


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
    made = links(chapters_of(app), app.env.found_docs, pagename, after=after_the_last(app))
    if not made:
        return
    shown = []
    for kind, says, page in made:
        number = ".".join(map(str, app.env.toc_secnumbers.get(page, {}).get("", ())))
        title = (f"{number}. " if number and page.startswith("book/") else "") + app.env.titles[page].astext()
        to = escape(app.builder.get_relative_uri(pagename, page))
        shown.append(f'<a class="{kind}" href="{to}"><span>{says}</span> {escape(title)}</a>')
        if kind in ("next-chapter", "previous-chapter"):
            context["next" if kind == "next-chapter" else "prev"] = {"link": to, "title": escape(title)}
    context["theme_show_prev_next"] = False
    context["body"] += f'<nav class="chapter-links d-print-none" aria-label="Where next">{"".join(shown)}</nav>'


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_css_file("chapter_links.css")
    app.connect("html-page-context", place, priority=600)  # after what else stands in the body
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
