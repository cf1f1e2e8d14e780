"""The foot of each page: the version, commit and licences of what one reads, and how to cite the page.

The address stands there once the book has one of its own (``html_baseurl``).
"""

import re
import subprocess
from functools import cache
from html import escape
from pathlib import Path
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


@cache
def commit(root: Path) -> str:
    """The commit that is checked out, with a "+" where the tree differs from it, and its date; nothing without git."""

    def git(*asked: str) -> str:
        run = subprocess.run(["git", "-C", str(root), *asked], check=False, capture_output=True, text=True)
        return "" if run.returncode else run.stdout.strip()

    name, _, day = git("log", "-1", "--format=%h %cs").partition(" ")
    return f"commit {name}{'+' * bool(git('status', '--porcelain', '-uno'))} of {day}" if name else ""


def foot(
    app: Sphinx,
    pagename: str,
    templatename: str,  # noqa: ARG001  (Sphinx fixes the signature)
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Write the foot of a page; one that has a text can be cited."""
    config, licences = app.config, f"{app.builder.get_relative_uri(pagename, app.config.root_doc)}#take-it-with-you"
    edition = [f"{config.project} {rope_lab.__version__}", commit(Path(app.confdir))]
    context["theme_extra_footer"] = (
        f"<p>{escape(', '.join(filter(None, edition)))}. Text, figures and labs: CC BY 4.0; code: MIT "
        f'(<a href="{licences}">both in words</a>).</p>'
    )
    if doctree is not None:
        address = config.html_baseurl and config.html_baseurl + app.builder.get_target_uri(pagename)
        title = re.sub(r"<[^>]+>", "", context.get("title", ""))
        year = config.copyright.rpartition(" ")[2]
        entry = bibtex(pagename, title, book=config.project, authors=config.author, year=year, address=address)
        context["theme_extra_footer"] += (
            f'<details class="cite"><summary>Cite this page</summary><pre>{escape(entry)}</pre></details>'
        )


def setup(app: Sphinx) -> ExtensionMetadata:
    app.connect("html-page-context", foot)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
