"""``{fold} One sentence``: what a reader may leave out, folded under a sentence that says what it gives.

With content, that content is folded. Without content, the rest of the section is: its text, its cells and its
subsections. A proof with the option ``:class: fold`` is folded under the word Proof. Links into a fold open it, and
print shows what is inside (folds.js).
"""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata
from sphinx_proof.nodes import proof_node

log = logging.getLogger(__name__)
PROOF = "Proof. "
SEEN = "What you should see"  # below a question about a widget: a wide page has it in the margin


class fold_node(nodes.General, nodes.Element):  # noqa: N801  (docutils names its nodes in lower case)
    """A folded part of a page. Until the page is written, one without content stands before what it will fold."""


class fold_summary(nodes.General, nodes.TextElement):  # noqa: N801
    """The sentence that is seen of it."""


class Fold(SphinxDirective):
    """The directive: one sentence as its argument."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self) -> list[nodes.Node]:
        words, messages = self.state.inline_text(" ".join(self.arguments[0].split()), self.lineno)
        node = fold_node("", fold_summary("", "", *words), rest=not self.content)
        node["classes"] += ["fold-see"] if self.arguments[0] == SEEN else []
        self.set_source_info(node)
        self.state.nested_parse(self.content, self.content_offset, node)
        return [node, *messages]


def folds_proof(node: nodes.Node) -> bool:
    """Is this a proof that its author has folded?"""
    return isinstance(node, proof_node) and "fold" in node.children[0]["classes"]  # type: ignore[index]


def check(_: Sphinx, doctree: nodes.document) -> None:
    """Warn of a fold that would take the rest of a list or a quote."""
    for node in doctree.findall(fold_node):
        if node["rest"] and not isinstance(node.parent, nodes.section):
            log.warning("a {fold} without content folds the rest of a section: it stands right in one", location=node)


def fill(_: Sphinx, doctree: nodes.document, docname: str) -> None:  # noqa: ARG001  (Sphinx fixes the signature)
    """Move into each fold what it folds. Only now: the table of contents looks for sections in sections alone."""
    for node in list(doctree.findall(fold_node)):
        if node["rest"]:
            place = node.parent.index(node) + 1
            after = node.parent.children[place:]
            del node.parent[place:]
            node.extend(after)
    for proof in list(doctree.findall(folds_proof)):
        first = next(iter(proof.findall(nodes.Text)))
        first.parent.replace(first, nodes.Text(first.removeprefix(PROOF)))
        fold = fold_node("", fold_summary("", "Proof"), classes=["fold-proof"])
        proof.replace_self(fold)
        fold += proof


def visit_fold(self: Any, node: fold_node) -> None:
    """Open the element; self is the translator of the builder."""
    self.body.append(self.starttag(node, "details", CLASS="fold"))


def depart_fold(self: Any, node: fold_node) -> None:  # noqa: ARG001
    self.body.append("</details>\n")


def visit_summary(self: Any, node: fold_summary) -> None:
    self.body.append(self.starttag(node, "summary", ""))


def depart_summary(self: Any, node: fold_summary) -> None:  # noqa: ARG001
    self.body.append("</summary>\n")


def pass_by(self: Any, node: nodes.Element) -> None:
    """Other builders show what is inside."""


def setup(app: Sphinx) -> ExtensionMetadata:
    others: dict[str, Any] = dict.fromkeys(("latex", "text", "man", "texinfo"), (pass_by, pass_by))
    app.add_node(fold_node, html=(visit_fold, depart_fold), **others)
    app.add_node(fold_summary, html=(visit_summary, depart_summary), **others)
    app.add_directive("fold", Fold)
    app.add_css_file("boxes.css")
    app.add_js_file("folds.js", loading_method="defer")
    app.connect("doctree-read", check)
    app.connect("doctree-resolved", fill, priority=900)  # after all that looks for sections, marks and references
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
