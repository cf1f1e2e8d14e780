"""``{count}`claims` ``: one number of the book; ``{checked-numbers}``: all of them, each with the page that shows it.

They are counted when all pages have been read, so a page never says another number than the one that it leads to.
"""

from collections import Counter
from typing import Any
from urllib.parse import urlencode

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective, SphinxRole
from sphinx.util.typing import ExtensionMetadata

from rope_lab.claims import load
from rope_lab.claims.errata import errata_items
from rope_lab.training.results.cards import load_every

LEDGER = "book/ledger"
# What is counted, what it is, the page that shows it, and the ledger's filter.
ROWS: tuple[tuple[str, str, str, dict[str, str]], ...] = (
    ("formulas", "displayed formulas, each tied to a check or to a definition", "book/how_checked", {}),
    ("claims", "claims, each with the function that checks it", LEDGER, {}),
    ("exact", "of them proved by algebra or by whole numbers", LEDGER, {"evidence": "exact"}),
    ("conditional", "of them true only under a condition", LEDGER, {"kind": "conditional"}),
    ("errata", "places where a source should be read differently", "book/errata", {}),
    ("runs", "training runs, each with the card that it wrote", "book/result_cards", {}),
)


def counted(env: BuildEnvironment) -> dict[str, int]:
    """Every number by its name; the minutes of a chapter under the name of its page."""
    claims = load().values()
    by = Counter([claim.evidence for claim in claims]) + Counter([claim.verdict for claim in claims])
    rows = {name: by[value] for name, _, _, query in ROWS for value in query.values()}
    return rows | {
        "formulas": sum(len(notes.get("equations", ())) for notes in env.metadata.values()),
        "claims": len(claims),
        "errata": len(errata_items()),
        "runs": len(load_every()),
        **{f"minutes of {page}": notes["minutes"][0] for page, notes in env.metadata.items() if "minutes" in notes},
    }


class count_node(nodes.Inline, nodes.Element):  # noqa: N801  (docutils names its nodes in lower case)
    """Holds the place of one number until all pages are read."""


class rows_node(nodes.General, nodes.Element):  # noqa: N801
    """Holds the place of the list."""


class Count(SphinxRole):
    """``{count}`name` ``."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        self.env.metadata[self.env.docname]["counts"] = True
        node = count_node(name=self.text)
        self.set_source_info(node)
        return [node], []


class CheckedNumbers(SphinxDirective):
    """``{checked-numbers}``."""

    def run(self) -> list[nodes.Node]:
        self.env.metadata[self.env.docname]["counts"] = True
        return [rows_node()]


def pages_with_numbers(_: Sphinx, env: BuildEnvironment) -> list[str]:
    """Write them again in each build: a number may have changed."""
    return [page for page, notes in env.metadata.items() if notes.get("counts")]


def fill(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put the numbers in their places."""
    if not app.env.metadata[docname].get("counts"):
        return  # most pages show none, and to count takes a while
    numbers = counted(app.env)
    for node in list(doctree.findall(count_node)):
        if node["name"] not in numbers:
            known = ", ".join(sorted(numbers))
            raise ValueError(f"{docname}: expected one of {known} in {{count}}, got {node['name']!r}")
        node.replace_self(nodes.Text(f"{numbers[node['name']]:,}"))
    for node in list(doctree.findall(rows_node)):
        node.replace_self(rows(app, docname, numbers))


def rows(app: Sphinx, docname: str, numbers: dict[str, int]) -> nodes.bullet_list:
    """The list: each number is a link to what it counts."""
    items = nodes.bullet_list(classes=["checked-numbers"])
    for name, words, page, query in ROWS:
        to = app.builder.get_relative_uri(docname, page) + (f"?{urlencode(query)}" if query else "")
        number = nodes.strong("", f"{numbers[name]:,}")
        link = nodes.reference("", "", number, nodes.Text(f" {words}"), internal=True, refuri=to)
        items += nodes.list_item("", nodes.paragraph("", "", link))
    return items


def pass_by(self: Any, node: nodes.Element) -> None:
    """Both nodes are replaced before a page is written."""


def setup(app: Sphinx) -> ExtensionMetadata:
    for node in (count_node, rows_node):
        app.add_node(node, html=(pass_by, pass_by))
    app.add_role("count", Count())
    app.add_directive("checked-numbers", CheckedNumbers)
    app.connect("env-updated", pages_with_numbers)
    app.connect("doctree-resolved", fill)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
