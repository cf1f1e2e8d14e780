"""A formula between double dollars stands on lines of its own in the API reference, where nothing cuts it."""

from api_reference import restructured
from docutils import nodes
from docutils.core import publish_doctree

from tests.site_ext.tiny_book import build

DOCSTRING = r"""What it does.

With $a_n$, for each head:
$$ y_m = \sum_n a_n
   v_n $$
and $x_m = W y_m$ at the end."""


def test_a_displayed_formula_is_a_block_between_its_sentences():
    document = publish_doctree("\n".join(restructured(DOCSTRING.split("\n"))), settings_overrides={"report_level": 2})
    assert [block.astext() for block in document.findall(nodes.math_block)] == [r"y_m = \sum_n a_n v_n"]
    assert [formula.astext() for formula in document.findall(nodes.math)] == ["a_n", "x_m = W y_m"]
    assert document.children[-1].astext().startswith("and ")


def test_a_formula_of_a_docstring_needs_no_mark(tmp_path):
    """Its claims stand in their own block. The same formula in a chapter is warned of."""
    directive = "```{eval-rst}\n.. py:function:: f()\n\n   .. math:: a = b\n```\n"
    assert "equation without a mark" not in build(tmp_path / "in a docstring", f"# One\n\n{directive}")[2]
    assert "equation without a mark" in build(tmp_path / "in a chapter", "# One\n\n$$a = b$$\n")[2]
