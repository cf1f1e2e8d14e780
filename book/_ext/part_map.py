"""``{part-map}``: the argument as a map: each part with its picture, its sentence (argument.yml) and its chapters."""

from html import escape
from typing import Any

from chapters import chapters_by_part
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

from rope_lab.show.figures import part_picture


class part_map_node(nodes.General, nodes.Element):  # noqa: N801  (docutils names its nodes in lower case)
    """Holds the place of the map until all titles are known."""


class PartMap(SphinxDirective):
    """``{part-map}``."""

    def run(self) -> list[nodes.Node]:
        self.env.metadata[self.env.docname]["part_map"] = True
        return [part_map_node()]


def pages_with_map(_: Sphinx, env: BuildEnvironment) -> list[str]:
    """Write them again in each build: a title or a picture may have changed."""
    return [page for page, notes in env.metadata.items() if notes.get("part_map")]


def fill(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Write the map."""
    for node in list(doctree.findall(part_map_node)):
        says = {part.first: part.says for part in app.env.argument_parts}  # type: ignore[attr-defined]
        shown = [
            card(app, docname, caption, pages, says.get(pages[0], ""))
            for caption, pages in chapters_by_part(app.env).items()
        ]
        node.replace_self(nodes.raw("", f'<div class="part-map">{"".join(shown)}</div>', format="html"))


def card(app: Sphinx, docname: str, caption: str, chapters: list[str], sentence: str) -> str:
    """One part as HTML."""
    number, _, title = caption.partition(". ")
    links = "".join(
        f'<li><span>{int(page[5:7])}</span> <a href="{app.builder.get_relative_uri(docname, page)}">'
        f"{escape(app.env.titles[page].astext())}</a></li>"
        for page in chapters
    )
    return (
        f'<section class="part-card">{part_picture(number)._repr_html_()}<p class="part-name">Part {number} · '
        f"{escape(title)}</p><p>{escape(sentence)}</p><ul>{links}</ul></section>"
    )


def pass_by(self: Any, node: nodes.Element) -> None:
    """The node is replaced before a page is written."""


def setup(app: Sphinx) -> ExtensionMetadata:
    app.setup_extension("argument")
    app.add_node(part_map_node, html=(pass_by, pass_by))
    app.add_directive("part-map", PartMap)
    app.connect("env-updated", pages_with_map)
    app.connect("doctree-resolved", fill)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
