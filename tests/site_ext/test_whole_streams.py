"""What a cell prints stands on the page as it was printed, in one piece or in several."""

import io
import re

import nbformat
import pytest
from bs4 import BeautifulSoup
from myst_nb.core import render
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

PRINTED = "n = 1  0.0\n\n   n = 2  0.5\n"
PIECES = ("n = 1 ", " 0.0\n\n", "   n = 2  0.5\n")


def printed(folder, *pieces, extensions=("whole_streams",)):
    """The boxes of a page with one cell that printed these pieces, as a build of the book shows them."""
    outputs = [nbformat.v4.new_output("stream", name=name, text=text) for name, text in pieces]
    cell = nbformat.v4.new_code_cell("...", outputs=outputs, execution_count=1)
    (folder / "source").mkdir()
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), folder / "source" / "index.ipynb")
    settings = {
        "extensions": ["myst_nb", *extensions],
        "html_theme": "basic",
        "nb_execution_mode": "off",
        "nb_merge_streams": True,
        "suppress_warnings": ["myst.header", "toc.no_title"],
    }
    warnings = io.StringIO()
    with patch_docutils(), docutils_namespace():
        app = Sphinx(folder / "source", None, folder / "out", folder / "trees", "html", settings, None, warnings)
        app.build()
    page = BeautifulSoup((folder / "out" / "index.html").read_text(encoding="utf-8"), "html.parser")
    return [box.get_text() for box in page.select(".cell_output pre")]


@pytest.fixture(autouse=True)
def restored(monkeypatch):
    """The extension replaces a function of MyST-NB; afterwards the old one is back."""
    monkeypatch.setattr(render, "coalesce_streams", render.coalesce_streams)


def test_a_line_that_arrived_in_two_pieces_is_one_line_and_blank_lines_stay(tmp_path):
    assert printed(tmp_path, *(("stdout", piece) for piece in PIECES)) == [PRINTED]


def test_the_errors_come_after_what_was_printed(tmp_path):
    pieces = [("stderr", "care"), ("stdout", PIECES[0]), ("stderr", "ful\n"), ("stdout", "".join(PIECES[1:]))]
    assert printed(tmp_path, *pieces) == [PRINTED, "careful\n"]


def test_control_without_the_extension_the_line_is_torn(tmp_path):
    assert re.search(r"^n = 1\n", *printed(tmp_path, *(("stdout", piece) for piece in PIECES), extensions=()))
