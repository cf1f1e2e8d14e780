"""Equation marks: every displayed equation in ``book/`` says which check or definition stands behind it.

The mark is a role on the line under the equation, whatever its form ($$, $$ (label), {math}, amsmath):

* {claim}`su19.rot-law`: an entry of the ledger whose check and control pass;
* {step}`su19.rot-law`: a line of that claim's proof, example or solution;
* {defines}`rotation`: the entry with the label notation-rotation.

In a proof, {proves}`su19.rot-law` says what it is the proof of, and each proof says it.

A check reads no TeX. So somebody reads each formula against the claim under it, and compared.yml keeps a print of both:
where the formula, its marks or the statement has changed since, the build says so.

A mark writes nothing where it stands. What a reader sees of it, and that in running text it is a place only, is the
work of mark_cards.py.

Each build, also one that reads no page, asks for the results of the claims that pages name, prints the equation
coverage by kind, and warns of an equation without a mark, an unknown id, a claim that fails, and a proof that does not
say of what: with -W each of these stops the build.
"""

import hashlib
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any, cast

import yaml
from claim_results import result
from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.domains.std import StandardDomain
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxRole
from sphinx.util.typing import ExtensionMetadata
from sphinx_proof.nodes import proof_node

from rope_lab.claims import load
from rope_lab.claims.verification import outcome_words

log = logging.getLogger(__name__)
KINDS = ("claim", "step", "defines")
SPACE = re.compile(r"\s+|\\[,;:! ]|\\q?quad\b")  # in TeX: it says nothing


class Mark(SphinxRole):
    """One mark: what kind it is, and the claim or definition that it names."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        node = mark_node(kind=self.name, name=self.text)
        self.set_source_info(node)
        return [node], []


class mark_node(nodes.Inline, nodes.Element):  # noqa: N801  (docutils names its nodes in lower case)
    """One mark where its author wrote it."""


def marks_under(equation: nodes.math_block) -> list[mark_node]:
    """The marks that stand right under the equation, before any word."""
    below = equation.parent.children[equation.parent.index(equation) + 1 :]
    while below and isinstance(below[0], nodes.Text) and not below[0].strip():
        below = below[1:]
    marks = below[0].children if below and isinstance(below[0], nodes.paragraph) else below
    nodes_under = []
    for node in marks:
        if isinstance(node, mark_node):
            nodes_under.append(node)
        elif not isinstance(node, nodes.Text) or node.strip():
            break
    return nodes_under


def in_docstring(node: nodes.Node) -> bool:
    """Whether it stands in the entry of a name in the API reference, which lists its claims in a block of their own."""
    while node.parent is not None and not isinstance(node, addnodes.desc):
        node = node.parent
    return isinstance(node, addnodes.desc)


def collect(app: Sphinx, doctree: nodes.document) -> None:
    """Note the equations and marks of one page where Sphinx itself purges, merges and stores them."""
    notes = app.env.metadata[app.env.docname]
    if app.env.docname.startswith("book/"):
        notes["equations"] = [
            (eq.line, [(mark["kind"], mark["name"]) for mark in marks_under(eq)], eq.astext())
            for eq in doctree.findall(nodes.math_block)
            if "output" not in eq["classes"] and not in_docstring(eq)
        ]  # what a cell printed needs no mark
    notes["marks"] = [(mark.line, mark["kind"], mark["name"]) for mark in doctree.findall(mark_node)]
    notes["open proofs"] = [
        proof.line
        for proof in doctree.findall(proof_node)
        if not any(mark["kind"] == "proves" for mark in proof.findall(mark_node))
    ]
    places = set()  # the ledger's page leads to the first mark of each claim, and its card to its proof
    for mark in doctree.findall(mark_node):
        place = f"{'proof' if mark['kind'] == 'proves' else 'mark'}-{mark['name']}".lower()
        if mark["kind"] != "defines" and place not in places:
            places.add(place)
            mark["ids"].append(place)


@cache
def comparisons(root: str) -> dict[str, dict[str, Any]]:
    """The day on which the formulas of each page were read against their claims, and the print of each."""
    listed = Path(root, "book", "compared.yml")
    return yaml.safe_load(listed.read_text(encoding="utf-8")) if listed.exists() else {}


def print_of(tex: str, marks: list[tuple[str, str]]) -> str:
    """Eight digits for a formula, its marks and what their claims state."""
    ledger = load()
    said = [(kind, name, ledger[name].statement if name in ledger else "") for kind, name in marks]
    return hashlib.sha256(repr((SPACE.sub("", tex), said)).encode()).hexdigest()[:8]


def proved(env: BuildEnvironment, page: str) -> set[str]:
    """The claims that a page proves."""
    return {name for _, kind, name in env.metadata[page].get("marks", ()) if kind == "proves"}


def compared(env: BuildEnvironment, page: str) -> dict[str, str]:
    """The day on which each claim under a formula of a page was compared with it."""
    read = comparisons(env.srcdir).get(page.removeprefix("book/"), {}).get("read")
    marks = [mark for _, marks, _ in env.metadata[page].get("equations", ()) for mark in marks]
    return {name: f"{read:%d %B %Y}".lstrip("0") for kind, name in marks if kind == "claim"} if read else {}


def problem(app: Sphinx, kind: str, name: str, *, under_equation: bool) -> str:
    """The fault of a mark, in words, or an empty string."""
    if kind == "defines":
        known = f"notation-{name.lower()}" in cast(StandardDomain, app.env.get_domain("std")).anonlabels
        return "" if known else f"no entry of the notation page has the label notation-{name}"
    if name not in app.config.equation_verdicts:
        return f"no claim {name!r} in the ledger"
    outcome = result(app, name)
    if outcome.failed:
        return f"claim {name} {outcome_words(outcome)}"
    if under_equation and not (outcome.ok and outcome.control_rejected):
        return f"claim {name} has the evidence {outcome.claim.evidence!r}: an equation needs a check with a control"
    return ""


def report(app: Sphinx, env: BuildEnvironment) -> None:
    """Print the equation coverage, and warn of each mark or equation that has a problem."""
    equations = [(page, *equation) for page, notes in env.metadata.items() for equation in notes.get("equations", ())]
    under = {(page, kind, name) for page, _, marks, _ in equations for kind, name in marks}
    for page, line, marks, tex in equations:
        known = comparisons(env.srcdir).get(page.removeprefix("book/"))
        if known and (now := print_of(tex, marks)) not in known["formulas"].split():
            log.warning(
                "this formula, its marks or what they state changed: compare them, then put %s into book/compared.yml",
                now,
                location=(page, line),
            )
        if not marks:
            log.warning("equation without a mark: add {claim}, {step} or {defines} under it", location=(page, line))
    for page, notes in env.metadata.items():
        for line in notes.get("open proofs", ()):
            log.warning("a proof of nothing: add {proves} and the claim to its first line", location=(page, line))
        for line, kind, name in notes.get("marks", ()):
            if wrong := problem(app, kind, name, under_equation=(page, kind, name) in under):
                log.warning("mark {%s}: %s", kind, wrong, location=(page, line))
    first = Counter(marks[0][0] for *_, marks, _ in equations if marks)
    kinds = ", ".join(f"{kind} {first[kind]}" for kind in KINDS)
    log.info("equation coverage: %d of %d (%s); %s", first.total(), len(equations), kinds, app.claim_results.told())


def verdicts(_: Sphinx, config: Config) -> None:
    """Make the words of all verdicts a part of the configuration, so that a change of one is noticed."""
    config.equation_verdicts = {name: entry.words for name, entry in load().items()} | config.equation_verdicts


def pass_by(self: Any, node: mark_node) -> None:
    """Write nothing."""


def setup(app: Sphinx) -> ExtensionMetadata:
    app.setup_extension("claim_results")
    app.add_node(mark_node, **dict.fromkeys(("html", "latex", "text", "man", "texinfo"), (pass_by, pass_by)))
    app.add_config_value("equation_verdicts", {}, "env", dict)  # a verdict that changed: every page is read again
    for role in (*KINDS, "proves"):
        app.add_role(role, Mark())
    app.connect("config-inited", verdicts)
    app.connect("doctree-read", collect)
    app.connect("env-updated", report)
    return {"version": "2", "env_version": 5, "parallel_read_safe": True, "parallel_write_safe": True}
