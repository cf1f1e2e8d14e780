"""``{errata}``: what to read differently in the sources, made from the ledger.

For each item that a claim brings: what is printed, what to read instead, the smallest witness, who is affected.
"""

from itertools import groupby

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

from rope_lab.claims import SOURCES, Claim, Erratum
from rope_lab.claims.errata import errata_items


class Errata(SphinxDirective):
    def run(self):
        self.env.metadata[self.env.docname]["ledger"] = True  # read at each build, as the ledger's page is
        shown = errata_items()
        sections = []
        for source, items in groupby(shown, key=lambda item: item[1][0].source):
            part = section(SOURCES[source], f"errata-{source}")
            part += [self.item(*item) for item in items]
            sections.append(part)
        return [nodes.paragraph("", f"{len(shown)} items.", classes=["errata-count"]), *sections]

    def item(self, item: Erratum, claims: list[Claim]) -> nodes.section:
        label = f"erratum-{item.id}"
        part = section(f"{item.number}. {item.title}", label)
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
