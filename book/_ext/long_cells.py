"""Cells of more than fifteen lines have a class: on paper they may be cut, the others stay whole (print.css)."""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

WHOLE = 15  # lines


def mark(_: Sphinx, doctree: nodes.document) -> None:
    """Mark the long ones of a page."""
    for code in doctree.findall(nodes.literal_block):
        if "cell_input" in code.parent.get("classes", ()) and len(code.astext().splitlines()) > WHOLE:
            code.parent["classes"].append("long-code")


def setup(app: Sphinx) -> ExtensionMetadata:
    app.connect("doctree-read", mark)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
