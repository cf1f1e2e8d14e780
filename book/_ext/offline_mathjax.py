"""Copy the part of MathJax that the pages use from the sphinx-mathjax-offline package into ``_static/mathjax``.

The package's own extension would copy everything (three output formats, every font) into the site.
"""

from collections.abc import Iterator
from importlib.metadata import files
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util.fileutil import copy_asset_file
from sphinx.util.typing import ExtensionMetadata

PACKAGE = "sphinx-mathjax-offline"
# The loader asks for input/tex/extensions/ when a page uses \boldsymbol, \cancel or \textcolor.
WANTED = ("tex-chtml.js", "input/tex/extensions/", "output/chtml/fonts/woff-v2/")


def wanted() -> Iterator[tuple[Path, str]]:
    """The files that the site needs: where each lies, and where it goes below ``_static/mathjax``."""
    for file in files(PACKAGE) or ():
        _, found, tail = file.as_posix().partition("static/mathjax/")
        if found and tail.startswith(WANTED):
            yield Path(str(file.locate())), tail


def copy_mathjax(app: Sphinx, exception: Exception | None) -> None:
    """Copy the files when an HTML build has succeeded."""
    if exception or app.builder.format != "html":
        return
    for source, tail in wanted():
        target = Path(app.outdir, "_static", "mathjax", tail)
        target.parent.mkdir(parents=True, exist_ok=True)
        copy_asset_file(str(source), str(target))


def setup(app: Sphinx) -> ExtensionMetadata:
    app.connect("build-finished", copy_mathjax)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
