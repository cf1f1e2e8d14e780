"""``{errata}``: what to read differently in the sources, made from the ledger and the table in claims/errata.py.

For each item whose claims are entered: what is printed, what to read instead, the smallest witness, who is affected.
"""

from itertools import groupby

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

from rope_lab.claims import SOURCES, Claim, load
from rope_lab.claims.errata import ERRATA, Erratum


class Errata(SphinxDirective):
    def run(self):
        self.env.metadata[self.env.docname]["ledger"] = True  # read at each build, as the ledger's page is
        ledger = load()
        shown = [
            (number, item, claims)
            for number, item in enumerate(ERRATA, 1)
            if (claims := [ledger[name] for name in item.claims if name in ledger])
        ]
        counted = (
            f"{len(shown)} items."
            if len(shown) == len(ERRATA)
            else (f"{len(shown)} of {len(ERRATA)} items; the others wait for the chapters that check them.")
        )
        sections = []
        for source, items in groupby(shown, key=lambda entry: entry[1].source):
            part = section(SOURCES[source], f"errata-{source}")
            part += [self.item(*entry) for entry in items]
            sections.append(part)
        return [nodes.paragraph("", counted, classes=["errata-count"]), *sections]

    def item(self, number: int, item: Erratum, claims: list[Claim]) -> nodes.section:
        label = f"erratum-{item.id}"
        part = section(f"{number}. {item.title}", label)
        domain = self.env.get_domain("std")
        domain.note_hyperlink_target(label, self.env.docname, label, item.title)
        for claim in claims:
            part += self.fields(
                {
                    "Where": f"{SOURCES[claim.source]}, {claim.locus} ({{ref}}`{claim.id} <claim-{claim.id.lower()}>`)",
                    "Printed" if claim.verdict == "false" else "Said": claim.statement,
                    "Read instead": claim.correction,
                    "Smallest witness": claim.witness,
                }
            )
        part += self.fields({"Who is affected": item.affected})
        return part

    def fields(self, texts: dict[str, str]) -> nodes.field_list:
        return nodes.field_list(
            "",
            *(
                nodes.field("", nodes.field_name("", name), nodes.field_body("", *self.myst(text)))
                for name, text in texts.items()
                if text
            ),
            classes=["erratum"],
        )

    def myst(self, text: str) -> list[nodes.Node]:
        parent = nodes.Element()
        self.state.nested_parse(StringList(text.splitlines(), self.env.docname), self.content_offset, parent)
        return parent.children


def section(title: str, label: str) -> nodes.section:
    return nodes.section("", nodes.title("", title), ids=[label], names=[label])


def setup(app):
    app.add_directive("errata", Errata)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
