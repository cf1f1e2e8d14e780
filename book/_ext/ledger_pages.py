"""``{ledger} [pattern]``: the entries of the claims ledger, one row each, with all that is known folded under it.

A row is a ``<details>`` with the id ``claim-<id>``; its source, chapter, verdict, kind of evidence and outcome stand in
``data-`` attributes, which ledger.js filters by. Statement, correction and witness are parsed as MyST; their
mathematics is typeset by ledger.js when a row is opened, because a thousand formulas would hold the page up.
"""

from collections import Counter
from html import escape

from claim_results import result
from docutils import nodes
from docutils.statemachine import StringList
from ledger_text import CORRECTION, check_source, columns, evidence, state
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from rope_lab.claims import SOURCES, Result, select
from rope_lab.claims.errata import erratum_of
from rope_lab.claims.verification import outcome_words, summary

log = logging.getLogger(__name__)
FILTERS = {
    "source": "Source",
    "chapter": "Chapter",
    "verdict": "Verdict",
    "evidence": "Evidence",
    "tier": "Tier",
    "outcome": "Outcome",
}
HEAD = ("Claim", "Verdict", "Evidence", "Control", "Outcome", "Ch.")


class entry_node(nodes.General, nodes.Element):  # noqa: N801 - docutils names its nodes so
    """One claim on the page."""


class row_node(nodes.General, nodes.Element):  # noqa: N801
    """What is seen of a claim before it is opened."""


class where_node(nodes.General, nodes.Element):  # noqa: N801
    """The pages that state a claim: known only when all pages are read."""


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
        counts = nodes.paragraph("", f"{len(results)} claims. {summary(results)}.", classes=["ledger-summary"])
        head = "".join(f"<span>{name}</span>" for name in HEAD)
        opening = html(f'{form(results)}<div class="ledger"><div class="ledger-head" aria-hidden="true">{head}</div>')
        return [counts, opening, *map(self.entry, results), html("</div>")]

    def entry(self, found: Result) -> nodes.Element:
        claim, label = found.claim, f"claim-{found.claim.id}".lower()
        node = entry_node(ids=[label], classes=["ledger-entry"], data=data(found))
        self.env.get_domain("std").note_hyperlink_target(label, self.env.docname, label, claim.id)
        row = row_node("", nodes.literal("", claim.id))
        for name, (unseen, text, numbers) in columns(found).items():
            row += (cell := nodes.inline("", "", classes=[f"ledger-{name}"]))
            cell += nodes.inline("", unseen, classes=["ledger-unseen"]) if unseen else []
            cell += nodes.Text(text)
            cell += [nodes.Text(" "), nodes.inline("", numbers.strip(), classes=["ledger-numbers"])] if numbers else []
        fields = {
            CORRECTION.get(claim.verdict, "Note"): self.myst(claim.correction),
            "Witness": self.myst(claim.witness),
            "Evidence": self.myst(evidence(found)),
            "Source": [] if claim.source == "book" else self.myst(f"{SOURCES[claim.source]}, {claim.locus}"),
            "In the book": [nodes.paragraph("", "", where_node(claim=claim.id, chapter=claim.chapter))],
            "Erratum": self.erratum(claim.id),
        }
        shown = nodes.field_list(
            "",
            *(
                nodes.field("", nodes.field_name("", name), nodes.field_body("", *body))
                for name, body in fields.items()
                if body
            ),
        )
        # Without colours, which would weigh six times the text, on a page of a few hundred checks.
        code = nodes.literal_block("", source := check_source(claim), language="none")
        code.source, code.rawsource = self.env.docname, source
        link = nodes.reference("", "link to this entry", refid=label, internal=True)
        node += [
            row,
            *self.myst(claim.statement),
            shown,
            nodes.paragraph("", "", nodes.Text("The check · "), link, classes=["ledger-check"]),
            code,
        ]
        return node

    def erratum(self, claim_id: str) -> list[nodes.Node]:
        item = erratum_of(claim_id)
        if item is None or "book/errata" not in self.env.found_docs:
            return []
        return self.myst(f"{{ref}}`{item.title} <erratum-{item.id}>`")

    def myst(self, text: str) -> list[nodes.Node]:
        parent = nodes.Element()
        self.state.nested_parse(StringList(text.splitlines(), self.env.docname), self.content_offset, parent)
        return parent.children


def data(found: Result) -> dict[str, str]:
    """What a row is filtered by. A slip and a wrong step are told apart, as everywhere."""
    claim = found.claim
    return {
        "source": claim.source,
        "chapter": str(claim.chapter),
        "verdict": claim.words,
        "evidence": claim.evidence,
        "tier": claim.tier,
        "outcome": "fails" if found.failed else found.outcome,
        "state": state(found),
    }


def form(results: list[Result]) -> str:
    """The filter, hidden until ledger.js serves it; each choice says how many rows it has."""
    rows, fields = [data(found) for found in results], []
    for name, title in FILTERS.items():
        counted = Counter(row[name] for row in rows)
        options = "".join(
            f'<option value="{escape(value)}">{escape(words(name, value))} ({number})</option>'
            for value, number in counted.items()
        )
        fields.append(f'<label>{title} <select name="{name}"><option value="">all</option>{options}</select></label>')
    return (
        f'<form class="ledger-filter" role="search" aria-label="Filter the claims" hidden>'
        f'<label class="ledger-words">Words <input type="search" name="q" autocomplete="off"></label>'
        f'{"".join(fields)}<p><output aria-live="polite">{len(rows)} of {len(rows)} claims</output> '
        f'<button type="reset">Show all</button></p></form>'
    )


def words(name: str, value: str) -> str:
    return SOURCES[value] if name == "source" else value


def html(text: str) -> nodes.raw:
    return nodes.raw("", text, format="html")


def find_places(app, doctree, docname):
    """Fill in where a claim stands: under which equations, and in which chapter if under none yet."""
    for node in list(doctree.findall(where_node)):
        pages = [
            page
            for page in sorted(app.env.found_docs)
            if any(
                mark == node["claim"] and kind != "defines" for _, kind, mark in app.env.metadata[page].get("marks", ())
            )
        ]
        anchors = {page: f"#mark-{node['claim']}".lower() for page in pages}
        chapter = f"book/{node['chapter']:02d}_"
        pages = pages or [page for page in sorted(app.env.found_docs) if page.startswith(chapter)]
        links = [
            nodes.reference(
                "",
                app.env.titles[page].astext(),
                internal=True,
                refuri=app.builder.get_relative_uri(docname, page) + anchors.get(page, ""),
            )
            for page in pages
        ]
        parts = [part for link in links for part in (nodes.Text("; "), link)][1:]
        node.replace_self(parts or [nodes.Text(f"chapter {node['chapter']}")])


def visit_entry(self, node):
    node["from"] = len(self.body)
    self.body.append(self.starttag(node, "details", **{f"data-{name}": value for name, value in node["data"].items()}))


def depart_entry(self, node):
    start = node["from"]
    text = "".join(self.body[start:]).replace('<span class="math ', '<span class="math-later ')
    self.body[start:] = [text, "</details>\n"]


def visit_row(self, _):
    self.body.append("<summary>")


def depart_row(self, _):
    self.body.append("</summary>\n")


def pass_through(*_):
    """Other builders show what is inside."""


def always_read(_, env, *__):
    """The results on a ledger page are those of this build."""
    return [page for page, notes in env.metadata.items() if notes.get("ledger")]


def setup(app):
    app.setup_extension("equation_marks")
    app.setup_extension("errata_pages")
    other = dict.fromkeys(("latex", "text", "man", "texinfo"), (pass_through, pass_through))
    app.add_node(entry_node, html=(visit_entry, depart_entry), **other)
    app.add_node(row_node, html=(visit_row, depart_row), **other)
    app.add_directive("ledger", Ledger)
    app.add_css_file("ledger.css")
    app.add_js_file("ledger.js", loading_method="defer")
    app.connect("env-get-outdated", always_read)
    app.connect("doctree-resolved", find_places)
    return {"version": "2", "parallel_read_safe": True, "parallel_write_safe": True}
