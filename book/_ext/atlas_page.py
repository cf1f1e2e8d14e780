"""The script and the style of the atlas, on the page that has it."""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

FILTER = 'id="atlas-filter"'


def serve(
    app: Sphinx,
    pagename: str,  # noqa: ARG001  (Sphinx fixes the signature)
    templatename: str,  # noqa: ARG001
    context: dict[str, Any],
    doctree: nodes.document | None,  # noqa: ARG001
) -> None:
    """Add atlas.js and atlas.css where the filter stands."""
    if FILTER in context.get("body", ""):
        app.add_css_file("atlas.css")
        app.add_js_file("atlas.js", loading_method="defer")


def setup(app: Sphinx) -> ExtensionMetadata:
    app.connect("html-page-context", serve)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
