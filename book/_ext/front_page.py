"""The root document is ``index.html``, wherever its source lies: who opens the book, or its folder, sees it at once."""

from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.util.typing import ExtensionMetadata


class FrontPageBuilder(StandaloneHTMLBuilder):
    """HTML with the root document at the root."""

    def address(self, docname: str) -> str:
        """The name of a page in the site."""
        return "index" if docname == self.config.root_doc else docname

    def get_target_uri(self, docname: str, typ: str | None = None) -> str:
        return super().get_target_uri(self.address(docname), typ)

    def get_outfilename(self, pagename: str) -> str:
        return super().get_outfilename(self.address(pagename))


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_builder(FrontPageBuilder, override=True)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
