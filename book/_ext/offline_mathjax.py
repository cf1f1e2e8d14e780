"""Copy the part of MathJax that the pages use from the sphinx-mathjax-offline package into ``_static/mathjax``.

The package's own extension would copy everything (three output formats, every font) into the site.
"""

from importlib.metadata import files
from pathlib import Path

from sphinx.util.fileutil import copy_asset_file

PACKAGE = "sphinx-mathjax-offline"
# The loader asks for input/tex/extensions/ when a page uses \boldsymbol, \cancel or \textcolor.
WANTED = ("tex-chtml.js", "input/tex/extensions/", "output/chtml/fonts/woff-v2/")


def wanted():
    """The files that the site needs: where each lies, and where it goes below ``_static/mathjax``."""
    for file in files(PACKAGE) or ():
        _, found, tail = file.as_posix().partition("static/mathjax/")
        if found and tail.startswith(WANTED):
            yield Path(file.locate()), tail


def copy_mathjax(app, exception):
    if exception or app.builder.format != "html":
        return
    for source, tail in wanted():
        target = Path(app.outdir, "_static", "mathjax", tail)
        target.parent.mkdir(parents=True, exist_ok=True)
        copy_asset_file(str(source), str(target))


def setup(app):
    app.connect("build-finished", copy_mathjax)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
