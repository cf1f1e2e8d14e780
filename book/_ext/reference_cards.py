"""What a reference leads to, on a card where the reference stands: equations, theorems, letters of the notation page.

The card is the one that a sign opens (mark_cards.js). A page carries the cards of what it refers to and no others, also
where that stands in another chapter, so they work from a file. The links are ordinary links.

A letter gets a card at its first use in the running text of a chapter, by this rule: the formula there is, sign for
sign, a symbol of the notation page; and either exactly one of the entries that have this symbol names the chapter in
its last column, or only one entry has it and the chapter is a later one. A bare Latin letter, which the book uses again
for other things, needs the first. The sign ``:=`` of a definition opens the entry that its mark names.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from chapters import CHAPTER
from docutils import nodes
from equation_marks import mark_node
from mark_cards import add_cards, card_node, drop, inside
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.domains.math import MathDomain
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.typing import ExtensionMetadata

NOTATION = "book/notation"
BARE = re.compile(r"[A-Za-z]")


class symbol_node(nodes.reference):  # noqa: N801  (docutils names its nodes in lower case)
    """A letter that is a link: its name is what it stands for, since a formula is no text."""


@dataclass(frozen=True)
class Entry:
    """A row of the notation page."""

    anchor: str
    cells: list[nodes.Element]  # symbol, in code, meaning, chapters
    symbols: frozenset[str]
    chapters: frozenset[int]


class References(SphinxPostTransform):
    """Put the cards of a page into it, and a link on the first use of each letter. Runs before marks are moved."""

    default_priority = 4

    def run(self, **kwargs: Any) -> None:  # noqa: ARG002  (Sphinx fixes the signature)
        self.page = self.env.docname
        cards: dict[str, card_node] = {}
        for xref in list(self.document.findall(pending_xref)):
            made = self.equation(xref) or self.theorem(xref)
            if made:
                cards.setdefault(made["ids"][0], made)
        if NOTATION in self.env.found_docs and self.page != NOTATION:
            for entry in [*self.defined(), *self.first_uses()]:
                cards.setdefault(f"card-{entry.anchor}", self.letter(entry))
        if cards:
            add_cards(self.document, cards.values())

    def equation(self, xref: pending_xref) -> card_node | None:
        """The card of an equation that is referred to by its label."""
        if (xref.get("refdomain"), xref["reftype"]) != ("math", "eq"):
            return None
        label = xref["reftarget"]
        page, _ = cast(MathDomain, self.env.get_domain("math")).equations.get(label, (None, None))
        equation = page and next((eq for eq in self.read(page, nodes.math_block) if eq.get("label") == label), None)
        if not equation:
            return None
        return self.card(nodes.make_id(f"equation-{label}"), [plain(equation)], xref, page)

    def theorem(self, xref: pending_xref) -> card_node | None:
        """The card of a theorem, a lemma or an example."""
        if xref.get("refdomain") != "prf":
            return None
        label = xref["reftarget"]
        page = getattr(self.env, "proof_list", {}).get(label, {}).get("docname")
        box = page and next((node for node in self.read(page, nodes.Element) if node.get("label") == label), None)
        if not box:
            return None
        title = box.get("title", "").strip(" ()")
        head = [nodes.paragraph("", "", nodes.strong("", title))] if title else []
        body = next(box.findall(nodes.section), nodes.section())
        return self.card(label, [*head, *map(plain, body)], xref, page)

    def card(self, anchor: str, content: list[nodes.Element], xref: pending_xref, page: str) -> card_node:
        """A card: the content, and a copy of the reference, which leads to the place."""
        where = "" if page == self.page else f", in “{self.env.titles[page].astext()}”"
        more = nodes.paragraph("", "Go to ", xref.deepcopy(), nodes.Text(where), classes=["mark-more"])
        return card_node("", *content, more, ids=[f"card-{anchor}"])

    def letter(self, entry: Entry) -> card_node:
        """The card of a letter: how it is written, its name in the code, what it means."""
        symbol, code, meaning, _ = ([plain(part) for part in cell] for cell in entry.cells)
        for name in code:
            name.insert(0, nodes.Text("In code: "))
        link = nodes.reference("", "The notation page", internal=True, refuri=self.to(entry))
        more = nodes.paragraph("", "", link, classes=["mark-more"])
        return card_node("", *symbol, *meaning, *code, more, ids=[f"card-{entry.anchor}"])

    def to(self, entry: Entry) -> str:
        return f"{self.app.builder.get_relative_uri(self.page, NOTATION)}#{entry.anchor}"

    def defined(self) -> Iterator[Entry]:
        """The entries that the page's marks name."""
        names = {f"notation-{mark['name']}".lower() for mark in self.document.findall(mark_node)}
        return (entry for entry in self.entries() if entry.anchor in names)

    def first_uses(self) -> Iterator[Entry]:
        """Make the first use of each entry's letters in a chapter a link to it."""
        chapter = CHAPTER.fullmatch(self.page)
        if not chapter:
            return
        known = symbols_of(self.entries(), int(chapter[1]))
        for formula in list(self.document.findall(nodes.math)):
            running = isinstance(formula.parent, nodes.paragraph) and not inside(formula, card_node, nodes.entry)
            if running and (entry := known.get(formula.astext())):
                name = entry.anchor.removeprefix("notation-").replace("-", " ")
                link = symbol_node("", refuri=self.to(entry), name=name)
                formula.replace_self(link)
                link += formula
                known = {symbol: other for symbol, other in known.items() if other is not entry}
                yield entry

    def entries(self) -> list[Entry]:
        """The notation page, read once in a build."""
        kept = getattr(self.app, "notation_entries", None)
        if kept is None:
            kept = [entry for row in self.read(NOTATION, nodes.row) if (entry := entry_of(row))]
            self.app.notation_entries = kept  # type: ignore[attr-defined]
        return kept

    def read(self, page: str, kind: type[nodes.Element]) -> Iterator[nodes.Element]:
        """The elements of a page as it was written; each page is loaded once in a build."""
        trees = getattr(self.app, "pages_referred_to", None)
        if trees is None:
            trees = self.app.pages_referred_to = {}  # type: ignore[attr-defined]
        if page not in trees:
            trees[page] = self.env.get_doctree(page)
        return trees[page].findall(kind)


def plain(node: nodes.Element) -> Any:
    """A copy without places, numbers, marks and citations."""
    copy = node.deepcopy()
    for mark in list(copy.findall(mark_node)):
        drop(mark)
    for cited in [xref for xref in copy.findall(pending_xref) if xref.get("refdomain") == "cite"]:
        cited.replace_self(cited.children)
    for element in copy.findall(nodes.Element):
        element["ids"], element["names"] = [], []
        if isinstance(element, nodes.math_block):
            element["number"] = element["label"] = None
    return copy


def entry_of(row: nodes.row) -> Entry | None:
    """A row of the notation page as an entry; nothing for a head or for another table."""
    named = [name for part in row.findall(nodes.Element) for name in part["ids"] if name.startswith("notation-")]
    if not named or len(row) != 4:
        return None
    written = [part for formula in row[0].findall(nodes.math) for part in parts(formula.astext())]
    spans = re.findall(r"(\d+)(?: to (\d+))?", row[3].astext())
    chapters = {number for first, last in spans for number in range(int(first), int(last or first) + 1)}
    return Entry(named[0], list(row), frozenset(written), frozenset(chapters))


def parts(formula: str) -> list[str]:
    r"""The symbols of a formula on the notation page: ``\rho_q, \rho_k`` has two, ``P = R_0`` is about ``P``."""
    return [part.partition("=")[0].strip() for part in re.split(r",(?![^(\[{]*[)\]}])", formula)]


def symbols_of(entries: list[Entry], chapter: int) -> dict[str, Entry]:
    """The symbols that have one meaning in a chapter, by the rule above."""
    known = {}
    for symbol in {symbol for entry in entries for symbol in entry.symbols}:
        having = [entry for entry in entries if symbol in entry.symbols]
        here = [entry for entry in having if chapter in entry.chapters]
        if not here and len(having) == 1 and not BARE.fullmatch(symbol) and chapter > min(having[0].chapters):
            here = having
        if len(here) == 1:
            known[symbol] = here[0]
    return known


def visit_symbol(self: Any, node: symbol_node) -> None:
    """Open the link; self is the translator of the builder."""
    label = {"aria-label": node["name"]}
    self.body.append(self.starttag(node, "a", "", CLASS="symbol reference internal", href=node["refuri"], **label))


def depart_symbol(self: Any, _: symbol_node) -> None:
    self.body.append("</a>")


def setup(app: Sphinx) -> ExtensionMetadata:
    app.setup_extension("mark_cards")
    app.add_node(symbol_node, html=(visit_symbol, depart_symbol))
    app.add_post_transform(References)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
