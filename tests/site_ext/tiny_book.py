"""A book of one page and a ledger, built by Sphinx with the extensions of the book."""

import io
import json
import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

ROOT = Path(__file__).resolve().parents[2]


def build(folder: Path, page: str | None = None, ledger: str = "blog.props", extensions=(), **more):
    """Build a page and a ledger page; returns the application, what it told, and its warnings."""
    source = folder / "source"
    (source / "book").mkdir(parents=True, exist_ok=True)
    if page is not None:
        (source / "book" / "01_one_plane.md").write_text(page, encoding="utf-8")
        (source / "index.md").write_text("# T\n\n```{toctree}\nbook/01_one_plane\nbook/ledger\n```", encoding="utf-8")
        (source / "book" / "ledger.md").write_text(f"# Ledger\n\n```{{ledger}} {ledger}\n```", encoding="utf-8")
    settings = {
        "extensions": ["myst_parser", "equation_marks", "ledger_pages", "mark_cards", *extensions],
        "html_theme": "basic",
        "nitpicky": True,
        "myst_enable_extensions": ["amsmath", "colon_fence", "dollarmath"],
        "myst_dmath_double_inline": True,
        "html_static_path": [str(ROOT / "book" / "_static")],
        "mathjax_path": "none.js",
    } | more
    status, warnings = io.StringIO(), io.StringIO()
    with patch_docutils(), docutils_namespace():
        app = Sphinx(source, None, folder / "out", folder / "trees", "html", settings, status=status, warning=warnings)
        app.build()
    return app, *(re.sub(r"\x1b\[[\d;]*m", "", told.getvalue()) for told in (status, warnings))


def ledger_entries(folder: Path) -> dict[str, str]:
    """The bodies of the ledger's entries, which a script brings, by the names of the entries."""
    script = (folder / "out" / "_static" / "ledger-entries.js").read_text(encoding="utf-8")
    return json.loads(re.fullmatch(r"globalThis\.ropeLedgerEntries = (.*);\n", script)[1])
