"""The foot of each page: the version that one reads, and how to cite the page.

The address stands there once the book has one of its own (``html_baseurl``).
"""

import re
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

import rope_lab


def bibtex(page: str, title: str, *, book: str, authors: str, year: str, address: str) -> str:
    """A page as an entry of BibTeX; without an address while the book has none."""
    key = re.sub(r"\W+", "_", f"{book} {page.rpartition('/')[2]}".lower())
    fields = {
        "author": f"{{{authors}}}",
        "title": re.sub(r"([_&%#$])", r"\\\1", title),
        "booktitle": book,
        "year": year,
        "note": f"Version {rope_lab.__version__}",
        "url": address,
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@incollection{{{key},", *lines, "}"])


def foot(
    app: Sphinx,
    pagename: str,
    templatename: str,  # noqa: ARG001  (Sphinx fixes the signature)
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Write the foot of a page that has a text."""
    if doctree is None:
        return
    config = app.config
    address = config.html_baseurl and config.html_baseurl + app.builder.get_target_uri(pagename)
    title = re.sub(r"<[^>]+>", "", context.get("title", ""))
    year = config.copyright.rpartition(" ")[2]
    entry = bibtex(pagename, title, book=config.project, authors=config.author, year=year, address=address)
    context["theme_extra_footer"] = (
        f'<details class="cite"><summary>{escape(config.project)} {rope_lab.__version__}: cite this page</summary>'
        f"<pre>{escape(entry)}</pre></details>"
    )


def setup(app: Sphinx) -> ExtensionMetadata:
    app.connect("html-page-context", foot)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
