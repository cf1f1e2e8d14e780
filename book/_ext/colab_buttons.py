"""A chapter's Colab button opens its lab; a page without a lab shows no such button.

The theme would offer to open the page itself, which Colab cannot run. The address comes from the theme's own option
``repository_url``, so it stands in one place.
"""

from typing import Any
from urllib.parse import urlsplit

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata


def replace_button(
    app: Sphinx,
    pagename: str,
    templatename: str,  # noqa: ARG001 (Sphinx's own signature)
    context: dict[str, Any],
    doctree: nodes.document | None,  # noqa: ARG001
) -> None:
    """Replace the theme's launch button in the context of one page."""
    buttons = [b for b in context.get("header_buttons", ()) if b.get("label") != "launch-buttons"]
    theme = app.config.html_theme_options
    lab = f"notebooks/{pagename.rpartition('/')[2]}"
    if lab in app.env.found_docs and theme.get("repository_url"):
        repository = urlsplit(theme["repository_url"]).path.strip("/")
        branch = theme.get("repository_branch") or "main"
        buttons.append(
            {
                "type": "link",
                "text": "Colab",
                "label": "launch-buttons",
                "tooltip": "Run this chapter's lab in Colab",
                "icon": "fas fa-rocket",
                "url": f"https://colab.research.google.com/github/{repository}/blob/{branch}/{lab}.ipynb",
            }
        )
    context["header_buttons"] = buttons


def setup(app: Sphinx) -> ExtensionMetadata:
    app.connect("html-page-context", replace_button, priority=900)  # after the theme has put its own buttons there
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
