"""``{ledger} [pattern]``: the entries of the claims ledger, as the checks left them in this build.

Each entry is one ``<div>`` with the label ``claim-<id>``; its source, chapter, verdict, kind of evidence and
outcome stand in ``data-`` attributes, for a script that filters. Statement, correction and witness are parsed as MyST,
so their mathematics is typeset. The code that checks the claim is folded under it.
"""

import ast
import inspect
import textwrap

from claim_results import result
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from rope_lab.claims import SOURCES, Claim, Result, select
from rope_lab.claims.report import outcome_words, summary

log = logging.getLogger(__name__)
CORRECTION = {"false": "Correction", "conditional": "Condition", "ambiguous": "Readings"}
EVIDENCE = {"exact": "Proved in exact arithmetic", "numeric": "Residual", "experiment": "By experiment",
            "read": "Read in the source"}
SUBJECTS = ("tolerance", "holds", "printed", "control")


class entry_node(nodes.General, nodes.Element):  # noqa: N801 - docutils names its nodes so
    """One claim on the page."""


class Ledger(SphinxDirective):
    optional_arguments = 1

    def run(self):
        self.env.metadata[self.env.docname]["ledger"] = True
        try:
            results = [result(self.env.app, entry.id) for entry in select(*self.arguments)]
        except ValueError as error:
            raise self.error(str(error)) from None
        for found in results:
            if found.failed:
                log.warning("claim %s %s", found.claim.id, outcome_words(found), location=self.get_location())
        counted = f"{len(results)} claims. {summary(results)}."
        counts = nodes.paragraph("", counted, classes=["ledger-summary"])
        return [counts, *self.remarkable(results), *map(self.entry, results)]

    def remarkable(self, results: list[Result]) -> list[nodes.Element]:
        """Links to the entries that are not plainly true, which a long page would hide."""
        entries = [nodes.list_item("", nodes.paragraph("", "", link(found.claim), nodes.Text(f": {found.claim.words}")))
                   for found in results if found.claim.verdict != "true"]
        return [nodes.paragraph("", "Not plainly true:"), nodes.bullet_list("", *entries)] if entries else []

    def entry(self, found: Result) -> nodes.Element:
        claim, label = found.claim, f"claim-{found.claim.id}".lower()
        node = entry_node(ids=[label], classes=["ledger-entry"], data={
            "source": claim.source, "chapter": claim.chapter, "tier": claim.tier, "verdict": claim.verdict,
            "evidence": claim.evidence, "outcome": "fails" if found.failed else found.outcome})
        self.env.get_domain("std").note_hyperlink_target(label, self.env.docname, label, claim.id)
        verdict = nodes.inline("", claim.words, classes=["ledger-verdict"])
        title = nodes.rubric("", "", link(claim), nodes.Text(" "), verdict)
        title["level"] = 3  # MyST's own attribute: <h3>
        node += [title, *self.myst(claim.statement), self.fields({
            CORRECTION.get(claim.verdict, "Note"): claim.correction,
            "Witness": claim.witness,
            "Evidence": evidence(found),
            "Where": self.where(claim)})]
        code = nodes.literal_block("", source := check_source(claim), language="python")
        code.source, code.rawsource = self.env.docname, source
        node += [html('<details class="ledger-check"><summary>The check</summary>'), code, html("</details>")]
        return node

    def fields(self, texts: dict[str, str]) -> nodes.field_list:
        return nodes.field_list("", *(
            nodes.field("", nodes.field_name("", name), nodes.field_body("", *self.myst(text)))
            for name, text in texts.items() if text))

    def where(self, claim: Claim) -> str:
        page = next((doc for doc in sorted(self.env.found_docs) if doc.startswith(f"book/{claim.chapter:02d}_")), None)
        chapter = f"chapter {claim.chapter}"
        if page:
            chapter = f"{{doc}}`{chapter} </{page}>`"
        return chapter if claim.source == "book" else f"{SOURCES[claim.source]}, {claim.locus}; {chapter}"

    def myst(self, text: str) -> list[nodes.Node]:
        parent = nodes.Element()
        self.state.nested_parse(StringList(text.splitlines(), self.env.docname), self.content_offset, parent)
        return parent.children


def link(claim: Claim) -> nodes.reference:
    """The claim's id, leading to its entry on this page."""
    return nodes.reference("", "", nodes.literal("", claim.id), refid=f"claim-{claim.id}".lower(), internal=True)


def evidence(found: Result) -> str:
    """What was run and what came out, as a sentence or two; no seconds, which differ from build to build."""
    claim, words = found.claim, EVIDENCE[found.claim.evidence]
    if found.failed or claim.evidence == "experiment":
        return f"{words}: {outcome_words(found)}."
    if claim.evidence == "read":
        return f"{words} on {claim.date}; nothing was run."
    if claim.evidence == "numeric":
        words = f"{words} {found.residual:.0e}, tolerance {claim.tolerance:.0e}"
    printed = " So is the formula as printed." if found.printed_rejected else ""
    by = "" if found.control_residual is None else f", with residual {found.control_residual:.1g}"
    return f"{words}. The control is rejected{by}.{printed}"


def check_source(claim: Claim) -> str:
    """The check and what it is tried on; the words of the entry, which stand above it, are left out."""
    text = textwrap.dedent(inspect.getsource(claim.check))
    if claim.check.__name__ == "<lambda>":
        return text
    lines, function = text.splitlines(), ast.parse(text).body[0]
    kept = [line for decorator in function.decorator_list if isinstance(decorator, ast.Call)
            for keyword in decorator.keywords if keyword.arg in SUBJECTS
            for line in lines[keyword.lineno - 1:keyword.end_lineno]]
    head = [f'@claim("{claim.id}", ...,', *kept, ")"] if kept else []
    module = "/".join(claim.check.__module__.split("."))
    return "\n".join([f"# {module}.py", *head, *lines[function.lineno - 1:]])


def html(text: str) -> nodes.raw:
    return nodes.raw("", text, format="html")


def visit_html(self, node):
    self.body.append(self.starttag(node, "div", **{f"data-{name}": value for name, value in node["data"].items()}))


def depart_html(self, _):
    self.body.append("</div>\n")


def pass_through(*_):
    """Other builders show what is inside."""


def always_read(_, env, *__):
    """The results on a ledger page are those of this build."""
    return [page for page, notes in env.metadata.items() if notes.get("ledger")]


def setup(app):
    app.setup_extension("equation_marks")
    other = (pass_through, pass_through)
    app.add_node(entry_node, html=(visit_html, depart_html), latex=other, text=other, man=other, texinfo=other)
    app.add_directive("ledger", Ledger)
    app.connect("env-get-outdated", always_read)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
