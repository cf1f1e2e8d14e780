"""``{ledger} [pattern]``: all claims as one picture, then an entry for each, by chapter.

An entry is a ``<details>`` with the id ``claim-<id>``. What is seen of it is the claim's sentence; all that is known is
folded under it, and waits in a script of its own (ledger_bodies.py). Its kind, source, chapter, verdict, evidence and
outcome stand in ``data-`` attributes, which ledger.js filters by: on the section of its chapter, what most of the
chapter's claims have, and on the entry what it has instead. In the picture each claim is a dot: a link to its entry,
whose shape says the kind.

The address of the page understands

* ``?kind=print``: the claims of one kind; the kinds are ``KINDS`` in ledger_text.py;
* ``?source=su6&chapter=7&verdict=true&evidence=exact&tier=core&outcome=holds``: any of the fields, alone or together;
* ``?q=words``: the entries that have all these words;
* ``#claim-su19.rot-law``: one entry, opened and in view, also where the filter would hide it;
* ``#claims-of-chapter-7``: the entries of a chapter.

``{claim-count}`kind=print``` writes how many claims such an address shows, as a link to it. Statement, correction and
witness are parsed as MyST.
"""

from collections import Counter
from html import escape
from itertools import groupby
from urllib.parse import parse_qsl

from claim_results import result
from docutils import nodes
from docutils.statemachine import StringList
from ledger_text import CORRECTION, KINDS, check_source, coloured, evidence, facts, kind, state
from machine_checked import machine_checked
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

from rope_lab.claims import LABELS, SOURCES, Result, select
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


class entry_node(nodes.General, nodes.Element):  # noqa: N801 - docutils names its nodes so
    """One claim on the page."""


class row_node(nodes.General, nodes.Element):  # noqa: N801
    """What is seen of a claim before it is opened."""


class where_node(nodes.General, nodes.Element):  # noqa: N801
    """The pages that state a claim: known only when all pages are read."""


class chapter_node(nodes.General, nodes.Inline, nodes.TextElement):  # noqa: N801
    """The name of a chapter: known only when all pages are read."""


class Ledger(SphinxDirective):
    optional_arguments = 1

    def run(self):
        self.env.metadata[self.env.docname]["ledger"] = True
        try:
            results = [result(self.env.app, entry.id) for entry in select(*self.arguments)]
        except ValueError as error:
            raise self.error(str(error)) from None
        for each in results:
            if each.failed:
                log.warning("claim %s %s", each.claim.id, outcome_words(each), location=self.get_location())
        counts = nodes.paragraph("", f"{len(results)} claims. {summary(results)}.", classes=["ledger-summary"])
        chapters = [(number, list(some)) for number, some in groupby(results, key=lambda each: each.claim.chapter)]
        entries = [part for number, some in chapters for part in self.chapter(number, some)]
        return [counts, html(chips(results)), *picture(chapters), html(form(results)), *entries]

    def chapter(self, number: int, results: list[Result]) -> list[nodes.Node]:
        """A heading with what the chapter has, and the entries."""
        told = Counter(kind(each) for each in results)
        shared = common(results)
        words = ", ".join(f"{told[name]} {title.lower()}" for name, title in KINDS.items() if told[name])
        count = f"{len(results)} claims: {words}" if len(results) > 1 else f"1 claim: {words}"
        return [
            html(f'<section class="ledger-chapter" aria-labelledby="claims-of-chapter-{number}"{attributes(shared)}>'),
            html(f'<h3 id="claims-of-chapter-{number}">'),
            chapter_node(number=number, link=True),
            html(f" <small>{count}</small></h3>"),
            *(self.entry(each, shared) for each in results),
            html("</section>"),
        ]

    def entry(self, answer: Result, shared: dict[str, str]) -> nodes.Element:
        claim, label = answer.claim, f"claim-{answer.claim.id}".lower()
        own = dict(data(answer).items() - shared.items())
        node = entry_node(ids=[label], classes=["ledger-entry"], data=own)
        self.env.get_domain("std").note_hyperlink_target(label, self.env.docname, label, claim.id)
        words, *facts_of, outcome = facts(answer)
        (sentence,) = self.myst(claim.statement)
        row = row_node("", shape(answer), nodes.inline("", "", *sentence.children, classes=["ledger-sentence"]))
        row += nodes.inline("", "", classes=["ledger-facts"])
        row[-1] += [nodes.strong("", words), nodes.Text(f" · {' · '.join(facts_of)} · ")]
        row[-1] += [nodes.inline("", outcome, classes=[state(answer)]), nodes.Text(" · "), nodes.literal("", claim.id)]
        fields = {
            CORRECTION.get(claim.verdict, "Note"): self.myst(claim.correction),
            "Witness": self.myst(claim.witness),
            "Evidence": self.myst(evidence(answer)),
            "Machine-checked": machine_checked(claim.id),
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
        link = nodes.reference("", "link to this entry", refid=label, internal=True)
        code = coloured(check_source(claim))
        code = f'<div class="highlight-python"><div class="highlight"><pre>{code}</pre></div></div>'
        check = nodes.paragraph("", "", nodes.Text("The check · "), link, classes=["ledger-check"])
        node += [row, shown, check, html(code)]
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


def data(answer: Result) -> dict[str, str]:
    """The facts that a row is filtered by. A slip and a wrong step are told apart, as everywhere."""
    claim = answer.claim
    return {
        "kind": kind(answer),
        "source": claim.source,
        "chapter": str(claim.chapter),
        "verdict": claim.words,
        "evidence": claim.evidence,
        "tier": claim.tier,
        "outcome": "fails" if answer.failed else answer.outcome,
    }


def common(results: list[Result]) -> dict[str, str]:
    """The value of each field that most of these results have."""
    rows = [data(found) for found in results]
    return {name: Counter(row[name] for row in rows).most_common(1)[0][0] for name in rows[0]}


def attributes(fields: dict[str, str]) -> str:
    return "".join(f' data-{name}="{escape(value)}"' for name, value in fields.items())


def chips(results: list[Result]) -> str:
    """One choice for each kind, with its shape, so that they are the picture's legend too; served by ledger.js."""
    counted = Counter(kind(found) for found in results)
    choices = {"": ("All", len(results))} | {name: (title, counted[name]) for name, title in KINDS.items()}
    buttons = "".join(
        f'<label><input type="radio" name="kind" value="{value}" form="ledger-filter"{"" if value else " checked"}>'
        f'<i class="claim-shape {value}"></i>{title} <b>{number}</b></label>'
        for value, (title, number) in choices.items()
    )
    return f'<fieldset class="ledger-chips" disabled><legend>Group of claims</legend>{buttons}</fieldset>'


def picture(chapters: list[tuple[int, list[Result]]]) -> list[nodes.Node]:
    """All claims as dots, one row for each chapter; each dot leads to its entry. The arrow keys go from dot to dot."""
    shown = [
        html('<ol class="ledger-picture" aria-label="All claims, a row for each chapter and a dot for each claim">')
    ]
    order = list(KINDS)[::-1]
    for number, results in chapters:
        dots = "".join(
            f'<a class="claim-shape {kind(found)}" href="#claim-{found.claim.id.lower()}"'
            f' aria-label="{found.claim.id}, {found.claim.words}" tabindex="-1"></a>'
            for found in sorted(results, key=lambda found: order.index(kind(found)))
        )
        name = chapter_node(number=number, link=False)
        shown += [html(f'<li><a href="#claims-of-chapter-{number}">'), name, html(f"</a><span>{dots}</span></li>")]
    return [*shown, html("</ol>")]


def shape(found: Result) -> nodes.raw:
    """The sign of a row: the shape that its claim has in the picture. The words beside it say the same."""
    return html(f'<i class="claim-shape {kind(found)}"></i>')


def form(results: list[Result]) -> str:
    """The filter, hidden until ledger.js serves it."""
    rows, fields = [data(found) for found in results], []
    for name, title in FILTERS.items():
        options = "".join(
            f'<option value="{escape(value)}">{escape(words(name, value))}</option>'
            for value in dict.fromkeys(row[name] for row in rows)
        )
        fields.append(f'<label>{title} <select name="{name}"><option value="">all</option>{options}</select></label>')
    return (
        f'<form class="ledger-filter" id="ledger-filter" role="search" aria-label="Filter the claims" hidden>'
        f'<label class="ledger-words">Words <input type="search" name="q" autocomplete="off"></label>'
        f'{"".join(fields)}<p><output aria-live="polite">{len(rows)} of {len(rows)} claims</output> '
        f'<button type="reset">Show all</button></p></form>'
    )


class Count(SphinxRole):
    """``{claim-count}`kind=print```: how many claims have these values, as a link to the page that shows them."""

    def run(self):
        self.env.metadata[self.env.docname]["ledger"] = True
        asked = dict(parse_qsl(self.text))
        rows = [data(result(self.env.app, entry.id)) for entry in select()]
        number = sum(asked.items() <= row.items() for row in rows)
        if not number:
            log.warning("no claim has %s", self.text, location=self.get_location())
        to = self.env.app.builder.get_relative_uri(self.env.docname, "book/ledger")
        return [nodes.reference("", str(number), internal=True, refuri=f"{to}?{self.text}")], []


def words(name: str, value: str) -> str:
    return {"source": SOURCES, "evidence": LABELS}.get(name, {}).get(value, value)


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
    for heading in doctree.findall(chapter_node):
        number = heading["number"]
        page = next((page for page in sorted(app.env.found_docs) if page.startswith(f"book/{number:02d}_")), None)
        name = f"{number}. {app.env.titles[page].astext()}" if page else f"Chapter {number}"
        to = app.builder.get_relative_uri(docname, page) if page and heading["link"] else ""
        heading.append(nodes.reference("", name, internal=True, refuri=to) if to else nodes.Text(name))


def visit_entry(self, node):
    self.body.append(self.starttag(node, "details", **{f"data-{name}": value for name, value in node["data"].items()}))


def depart_entry(self, _):
    self.body.append("</details>\n")


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
    app.setup_extension("ledger_bodies")
    other = dict.fromkeys(("latex", "text", "man", "texinfo"), (pass_through, pass_through))
    app.add_node(entry_node, html=(visit_entry, depart_entry), **other)
    app.add_node(row_node, html=(visit_row, depart_row), **other)
    app.add_node(chapter_node, html=(pass_through, pass_through), **other)
    app.add_role("claim-count", Count())
    app.add_directive("ledger", Ledger)
    app.add_css_file("ledger.css")
    app.add_js_file("ledger.js", loading_method="defer")
    app.connect("env-get-outdated", always_read)
    app.connect("doctree-resolved", find_places)
    return {"version": "2", "parallel_read_safe": True, "parallel_write_safe": True}
