"""Reading progress, kept in the reader's browser: progress.js follows it, and ``{continue}`` leads back to it.

The directive leaves an empty paragraph that ``continue.js`` fills at once, if this browser has been here before.
"""

from posixpath import dirname, relpath

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata


class Continue(SphinxDirective):
    """``{continue}``: a link to where the reader stopped."""

    def run(self) -> list[nodes.Node]:
        here = self.env.app.builder.get_target_uri(self.env.docname)  # the root stands elsewhere than its source
        script = relpath("_static/continue.js", dirname(here) or ".")
        return [nodes.raw("", f'<p class="continue" hidden></p><script src="{script}"></script>', format="html")]


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_directive("continue", Continue)
    app.add_js_file("progress.js", loading_method="defer")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
