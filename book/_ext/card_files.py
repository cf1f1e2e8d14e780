"""Write every result card into two files to take away: ``_static/cards.json`` and ``_static/cards.csv``."""

from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

from rope_lab.training.results.cards import load_every
from rope_lab.training.results.flat_cards import as_csv, as_json


def write(app: Sphinx, exception: Exception | None) -> None:
    """Write both when an HTML build has succeeded."""
    if exception or app.builder.format != "html":
        return
    found = load_every()
    static = Path(app.outdir, "_static")
    (static / "cards.csv").write_text(as_csv(found), encoding="utf-8")
    (static / "cards.json").write_text(as_json(found), encoding="utf-8")


def setup(app: Sphinx) -> ExtensionMetadata:
    app.connect("build-finished", write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
