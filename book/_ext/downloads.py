"""``{downloads}``: the book to take away: one PDF, and a zip that works offline, as the latest release has them.

They are files of a release, so the links stand there only when the book is published, that is when it has an address
of its own (``html_baseurl``).
"""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

FILES = {
    "rope-lab.pdf": "The book as one PDF",
    "rope-lab-book.zip": "The website as a zip that works offline",
    "rope-lab-figures.zip": "Every figure as SVG and PNG, and the widgets as PNG",
}


class downloads_node(nodes.General, nodes.Element):  # noqa: N801  (docutils names its nodes in lower case)
    """Holds the place of the links until the page is written."""


class Downloads(SphinxDirective):
    """The directive: nothing to say."""

    def run(self) -> list[nodes.Node]:
        return [downloads_node()]


def links(repository: str) -> nodes.bullet_list:
    """The files of the latest release."""
    listed = nodes.bullet_list(classes=["downloads"])
    for name, says in FILES.items():
        link = nodes.reference("", says, refuri=f"{repository}/releases/latest/download/{name}")
        listed += nodes.list_item("", nodes.paragraph("", "", link))
    return listed


def fill(app: Sphinx, doctree: nodes.document, docname: str) -> None:  # noqa: ARG001  (Sphinx fixes the signature)
    """Write the links, if there is a release to link to."""
    repository = app.config.html_theme_options.get("repository_url")
    for node in list(doctree.findall(downloads_node)):
        node.replace_self(links(repository) if app.config.html_baseurl and repository else [])


def pass_by(self: Any, node: nodes.Element) -> None:
    """The node is replaced before a page is written."""


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_node(downloads_node, html=(pass_by, pass_by))
    app.add_directive("downloads", Downloads)
    app.connect("doctree-resolved", fill)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
