"""``{errata}``: what to read differently in the sources, made from the ledger.

First a list of all items, each with its formula, struck and mended. Then for each item that a claim brings: chips with
what kind of slip it is and what it matters for; where a formula differs, the printed one above the one to read, with
what differs struck and underlined, and the numbers that the witness gets from either, computed now; then what is
printed, what to read instead, the smallest witness, who is affected.
"""

import re
from itertools import groupby, starmap

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

from rope_lab.claims import SOURCES, Claim, Erratum, load
from rope_lab.claims.errata import errata_items
from rope_lab.claims.mend import corrected_formula, mended_formula, printed_formula
from rope_lab.claims.witness import computed_number

KINDS = {"conditional": "needs a condition", "ambiguous": "two readings"}


class Errata(SphinxDirective):
    def run(self):
        self.env.metadata[self.env.docname]["ledger"] = True  # read at each build, as the ledger's page is
        shown = errata_items()
        sections = []
        for source, items in groupby(shown, key=lambda item: item[1][0].source):
            part = section(SOURCES[source], f"errata-{source}")
            part += [self.item(*item) for item in items]
            sections.append(part)
        return [nodes.bullet_list("", *starmap(line, shown), classes=["errata-list"]), *sections]

    def item(self, item: Erratum, claims: list[Claim]) -> nodes.section:
        label = f"erratum-{item.id}"
        part = section(f"{item.number}. {item.title}", label)
        domain = self.env.get_domain("std")
        domain.note_hyperlink_target(label, self.env.docname, label, item.title)
        part += self.chips(item, claims)
        for claim in claims:
            part += slip(claim) if claim.mend else []
            verb = "Printed" if claim.verdict == "false" else "Said"
            entry = f"{{ref}}`{claim.id} <claim-{claim.id.lower()}>`"
            told = claim.mend and only_formula(claim.statement) == bare(printed_formula(claim.mend))
            part += self.fields(
                {
                    "Where": f"{SOURCES[claim.source]}, {claim.locus} ({entry})",
                    verb: "" if told else claim.statement,
                    "Read instead": claim.correction,
                    "Smallest witness": claim.witness,
                }
            )
        part += self.fields({"Who is affected": item.affected, "Picture": self.picture(item, claims[0].chapter)})
        return part

    def chips(self, item: Erratum, claims: list[Claim]) -> nodes.paragraph:
        """The kind of slip, and what it matters for."""
        kinds = dict.fromkeys(words for claim in claims if (words := kind(claim)))
        return nodes.paragraph(
            "",
            "",
            *(nodes.inline("", words, classes=["erratum-kind"]) for words in kinds),
            nodes.inline("", f"matters for {item.matters}", classes=["erratum-matters"]),
            classes=["erratum-chips"],
        )

    def picture(self, item: Erratum, chapter: int) -> str:
        here = any(page.startswith(f"book/{chapter:02d}_") for page in self.env.found_docs)
        return f"{{ref}}`in chapter {chapter} <{item.picture}>`" if item.picture and here else ""

    def fields(self, texts: dict[str, str]) -> nodes.field_list:
        return nodes.field_list(
            "",
            *(
                nodes.field("", nodes.field_name("", name), nodes.field_body("", *self.myst(with_links(text))))
                for name, text in texts.items()
                if text
            ),
            classes=["erratum"],
        )

    def myst(self, text: str) -> list[nodes.Node]:
        parent = nodes.Element()
        self.state.nested_parse(StringList(text.splitlines(), self.env.docname), self.content_offset, parent)
        return parent.children


def line(item: Erratum, claims: list[Claim]) -> nodes.list_item:
    """An item in the list of all: its number and title, which lead to it, and the first formula that it mends."""
    to = nodes.reference("", f"{item.number}. {item.title}", refid=f"erratum-{item.id}", internal=True)
    mend = next((claim.mend for claim in claims if claim.mend), "")
    formula = [nodes.Text(" "), nodes.math("", mended_formula(mend))] if mend else []
    return nodes.list_item("", nodes.paragraph("", "", to, *formula))


def with_links(text: str) -> str:
    """A text in which the id of a claim between backquotes leads to its entry in the ledger."""

    def link(found: re.Match[str]) -> str:
        return f"{{ref}}`{found[1]} <claim-{found[1].lower()}>`" if found[1] in load() else found[0]

    return re.sub(r"(?<!\})`([^`\s]+)`", link, text)


def kind(claim: Claim) -> str:
    """The kind of slip in a word or two, as kind as it is true."""
    if claim.verdict == "false":
        return "slip" if claim.slip else "a step that fails"
    return KINDS.get(claim.verdict, "")


def slip(claim: Claim) -> nodes.field_list:
    """The formula as printed and as it should be read, and beside each the number that the witness gets from it."""
    numbers = ["", ""]
    if claim.gives:
        values = claim.computed()
        numbers = [computed_number(claim.witness_numbers[at], values[at]) for at in claim.gives]
    formulas = printed_formula(claim.mend, marks=True), corrected_formula(claim.mend, marks=True)
    said = "Printed" if claim.verdict == "false" else "Said"
    rows = []
    for name, formula, number in zip((said, "Read"), formulas, numbers, strict=True):
        shown = nodes.paragraph("", "", nodes.math("", rf"\displaystyle {formula}"))
        if number:
            tex = number if re.search(r"\d|\\|^-?[A-Z]$", number) else rf"\text{{{number}}}"
            gives = nodes.inline("", "gives ", nodes.math("", tex), classes=["slip-gives"])
            shown += [nodes.Text(" "), gives]
        rows.append(nodes.field("", nodes.field_name("", name), nodes.field_body("", shown)))
    return nodes.field_list("", *rows, classes=["slip"])


def only_formula(statement: str) -> str:
    """The formula of a statement that has one, at its end: all that it says is then in the box."""
    found = re.fullmatch(r"[^$]*\$([^$]+)\$\.", statement)
    return bare(found[1]) if found else ""


def bare(formula: str) -> str:
    """A formula without spaces and braces, which make no difference to what it says."""
    return re.sub(r"[\s{}]+", "", formula)


def section(title: str, label: str) -> nodes.section:
    return nodes.section("", nodes.title("", title), ids=[label], names=[label])


def setup(app):
    app.add_directive("errata", Errata)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
