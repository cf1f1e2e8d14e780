"""Long cells are marked, and no others."""

import pytest
from docutils import nodes
from docutils.utils import new_document
from long_cells import mark


@pytest.mark.parametrize(
    ("name", "lines", "marked"), [("cell_input", 16, True), ("cell_input", 15, False), ("cell_output", 16, False)]
)
def test_code_of_more_than_fifteen_lines_is_marked(name, lines, marked):
    page, code = new_document("page"), "x\n" * lines
    warning = nodes.system_message("", nodes.paragraph("", "no lexer"))  # MyST-NB may put one there
    page += nodes.container("", warning, nodes.literal_block(code, code), classes=[name])
    mark(None, page)
    assert ("long-code" in page[0]["classes"]) == marked
