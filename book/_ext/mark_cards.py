"""What a reader sees of the marks: a few words beside an equation's number, and a card with what stands behind it.

The words say how this book knows the formula above: proved on this page, exact, checked in cases, and so on; of several
claims, the weakest, which comes first on the card. A tag below says how a source prints it otherwise. Both open the
card (mark_cards.js); without JavaScript they lead to the ledger. Lines of a proof show no sign. A mark of a theorem
stands on its title line, one in running text is a place that the ledger leads to. A list of all claims ends the page.
"""

import hashlib
import re
from collections.abc import Iterable
from html import escape
from typing import Any

from claim_results import result
from docutils import nodes
from equation_marks import compared, mark_node, marks_under, proved
from folds import fold_node, fold_summary
from ledger_pages import entry_node
from ledger_text import CORRECTION, state
from machine_checked import TABLE, folded
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.typing import ExtensionMetadata
from sphinx_proof.nodes import NODE_TYPES, proof_node

from rope_lab.claims import LABELS, Claim, load

PROVED = "proved on this page"
SHOWN = ("Evidence", "Machine-checked", *CORRECTION.values(), "Note", "Witness", "Source")  # of an entry, on its card
WHO = {"su19": "Su, part 19", "su6": "Su, part 6", "blog": "The article", "crope": "CRoPE"}  # who printed something
TAGS = {"false": "printed otherwise", "conditional": "a condition is not said", "ambiguous": "can be read in two ways"}
LEDGER = "book/ledger"


class marked_node(nodes.General, nodes.Element):  # noqa: N801  (docutils names its nodes in lower case)
    """An equation and the signs beside it."""


class cards_node(nodes.comment):  # noqa: N801
    """The texts of a page's cards. A comment to Sphinx, so that its search finds them in the ledger only."""


class card_node(nodes.General, nodes.Element):  # noqa: N801
    """What the card says of one claim."""


class Signs(SphinxPostTransform):
    """Take every mark out of the text and show it where it belongs. Runs before references are resolved."""

    default_priority = 5

    def run(self, **kwargs: Any) -> None:  # noqa: ARG002  (Sphinx fixes the signature)
        marks = list(self.document.findall(mark_node))
        if not marks:
            return
        self.page = self.env.docname
        self.proved = proved(self.env, self.page)
        for equation in list(self.document.findall(nodes.math_block)):
            if under := marks_under(equation):
                self.beside(equation, under)
        for theorem in self.document.findall(lambda node: isinstance(node, tuple(NODE_TYPES.values()))):
            self.on_title(theorem)
        for mark in list(self.document.findall(mark_node)):  # those that stand in running text
            leave_place(mark)
        ledger = load()
        claims = [name for name in dict.fromkeys(mark["name"] for mark in marks) if name in ledger]
        if claims and LEDGER in self.env.found_docs:
            entries = self.entries()
            read = compared(self.env, self.page)
            texts = [
                card_text(entry, proved=name in self.proved, read=read.get(name))
                for name in claims
                if (entry := entries.get(f"claim-{name}".lower())) is not None
            ]
            (self.document.next_node(nodes.section) or self.document).append(self.listed(claims))
            add_cards(self.document, texts)

    def beside(self, equation: nodes.math_block, under: list[mark_node]) -> None:
        """Put the sign of an equation beside it; on a line of a proof, leave only the place."""
        proven = inside(equation, proof_node) is not None
        shown = [mark for mark in under if mark["kind"] in ("claim", "defines") and not proven]
        places = [place for mark in under for place in mark["ids"]]
        for mark in under:
            drop(mark)
        holder, parent = marked_node(), equation.parent
        parent.insert(parent.index(equation), holder)
        parent.remove(equation)
        holder += equation
        holder += html(self.signs(shown, places))

    def on_title(self, theorem: nodes.Element) -> None:
        """Move the marks of a theorem, which stand under no equation, to its title line: one sign for all."""
        marks = [mark for mark in theorem.findall(mark_node) if mark["kind"] == "claim"]
        places = [place for mark in marks for place in mark["ids"]]
        for mark in marks:
            drop(mark)
        if marks:
            theorem[0] += html(self.signs(marks, places))

    def signs(self, marks: list[mark_node], places: list[str]) -> str:
        """The sign and the words beside it, or only the places where there is nothing to show."""
        shown = "".join(f'<span class="mark-place" id="{escape(place)}"></span>' for place in places)
        ledger = load()
        claims = [ledger[mark["name"]] for mark in marks if mark["kind"] == "claim" and mark["name"] in ledger]
        defined = [mark["name"] for mark in marks if mark["kind"] == "defines"]
        if claims:
            claims.sort(key=lambda claim: -[PROVED, *LABELS.values()].index(self.strength(claim)))
            weakest = self.strength(claims[0])
            label = f"{weakest}: {', '.join(claim.id for claim in claims)}"
            shown += self.link("mark-sign", claims, weakest, f' aria-label="{label}"')
            shown += "".join(self.link("mark-tag", [claim], words) for claim in claims if (words := tag(claim)))
        elif defined:
            to = f"{self.uri('book/notation')}#notation-{defined[0].lower()}"
            label = f"definition: {defined[0]}"
            shown += f'<a class="mark-sign mark-defines" href="{to}" aria-label="{label}">definition</a>'
        return f'<span class="marks">{shown}</span>'

    def strength(self, claim: Claim) -> str:
        """The words for how this page knows a claim."""
        return PROVED if claim.id in self.proved else LABELS[claim.evidence]

    def link(self, kind: str, claims: list[Claim], text: str, more: str = "") -> str:
        """A sign or a tag: a link to the ledger, which mark_cards.js turns into the way to a card."""
        to, *_ = names = [claim.id.lower() for claim in claims]
        data = f'data-claims="{" ".join(names)}"'
        words = re.sub(r"\b([A-Za-z])_(\w)\b", r"\1<sub>\2</sub>", escape(text))
        return f'<a class="{kind}" href="{self.uri(LEDGER)}#claim-{to}" {data}{more}>{words}</a>'

    def uri(self, page: str) -> str:
        return self.app.builder.get_relative_uri(self.page, page)

    def entries(self) -> dict[str, entry_node]:
        """The entries of the ledger, read once in a build."""
        kept = getattr(self.app, "ledger_entries", None)
        if kept is None:
            ledger = self.env.get_doctree(LEDGER)
            kept = {place: entry for entry in ledger.findall(entry_node) for place in entry["ids"]}
            self.app.ledger_entries = kept  # type: ignore[attr-defined]
        return kept

    def listed(self, claims: list[str]) -> fold_node:
        """All claims of the page, for whoever checks it."""
        items = []
        for name in claims:
            outcome = result(self.app, name)
            sign = {"held": "✓", "failed": "✗", "open": "○"}[state(outcome)]
            entry = nodes.reference("", name, internal=True, refuri=f"{self.uri(LEDGER)}#claim-{name.lower()}")
            place = nodes.reference("", "in the text", internal=True, refuri=f"#mark-{name.lower()}")
            words = f" · {outcome.claim.words} · {'fails' if outcome.failed else outcome.outcome} · "
            items.append(nodes.list_item("", nodes.paragraph("", f"{sign} ", entry, nodes.Text(words), place)))
        title = (
            f"For whoever checks: the {len(claims)} claims of this page."
            if len(claims) > 1
            else "The claim of this page."
        )
        return fold_node(
            "", fold_summary("", title), nodes.bullet_list("", *items), rest=False, classes=["claims-of-page"]
        )


def tag(claim: Claim) -> str:
    """The difference of the source's print from the formula here, in words; empty where there is none."""
    words = (claim.differs or TAGS.get(claim.verdict, "")).replace(" = ", "\u00a0=\u00a0")
    if not words or claim.source not in WHO:
        return ""
    who = WHO[claim.source]
    return words.replace("the source", who, 1) if words.startswith("the source ") else f"{who}: {words}"


def html(text: str) -> nodes.raw:
    return nodes.raw("", text, format="html")


def inside(node: nodes.Node, *kinds: type) -> nodes.Element | None:
    """The nearest element of such a kind that holds the node."""
    parent = node.parent
    while parent is not None and not isinstance(parent, kinds):
        parent = parent.parent
    return parent


def drop(mark: mark_node) -> None:
    """Remove a mark, the space that stood after it, and a paragraph that had nothing else."""
    parent, at = mark.parent, mark.parent.index(mark)
    parent.remove(mark)
    if at < len(parent) and isinstance(parent[at], nodes.Text):
        after = parent[at].lstrip() if at == 0 or parent[at - 1].astext()[-1:].isspace() else parent[at]
        parent.remove(parent[at])
        if after:
            parent.insert(at, nodes.Text(after))
    blank = all(isinstance(rest, nodes.Text) and not rest.strip() for rest in parent)
    if blank and isinstance(parent, nodes.paragraph) and parent.parent is not None:  # None: the top of a copy
        parent.parent.remove(parent)


def leave_place(mark: mark_node) -> None:
    """A mark in running text: nothing to see, and a place to lead to if it is the first of its claim."""
    spans = "".join(f'<span class="mark-place" id="{escape(place)}"></span>' for place in mark["ids"])
    mark.replace_self(html(spans)) if spans else drop(mark)


def add_cards(document: nodes.document, cards: Iterable[card_node]) -> None:
    """Put cards into a page."""
    holder = document.next_node(cards_node)
    if holder is None:
        holder = cards_node()
        (document.next_node(nodes.section) or document).append(holder)
    holder.extend(cards)


def card_text(entry: entry_node, *, proved: bool, read: str | None) -> card_node:
    """The text of one claim's card: the statement, what this page adds, its condition, the outcome, the witness."""
    fields = next(entry.findall(nodes.field_list))
    named = {field[0].astext(): field for field in fields}
    text = card_node(ids=[f"card-{entry['ids'][0]}"])
    sentence = next(node for node in entry.findall(nodes.inline) if "ledger-sentence" in node["classes"])
    text += nodes.paragraph("", "", *(node.deepcopy() for node in sentence))
    added = nodes.paragraph("", "")
    if proved:
        place = entry["ids"][0].replace("claim-", "#proof-", 1)
        link = nodes.reference("", "Proved on this page", internal=True, refuri=place)
        added += [link, nodes.Text(", and checked besides. ")]
    added += [nodes.Text(f"The text of the formula was compared with this entry on {read}.")] if read else []
    text += [added] if proved or read else []
    text += nodes.field_list("", *(folded(named[name]) for name in SHOWN if name in named), classes=["mark-fields"])
    return text


def visit_marked(self: Any, node: marked_node) -> None:
    """Open the element; self is the translator of the builder."""
    self.body.append(self.starttag(node, "div", CLASS="marked"))


def depart_marked(self: Any, node: marked_node) -> None:  # noqa: ARG001
    self.body.append("</div>\n")


def visit_card(self: Any, node: card_node) -> None:
    self.body.append(self.starttag(node, "div", CLASS="mark-entry"))


def depart_card(self: Any, node: card_node) -> None:  # noqa: ARG001
    self.body.append("</div>\n")


def visit_cards(self: Any, node: cards_node) -> None:  # noqa: ARG001
    self.body.append('<template class="mark-texts">\n')


def depart_cards(self: Any, node: cards_node) -> None:  # noqa: ARG001
    self.body.append("</template>\n")


def pass_by(self: Any, node: nodes.Element) -> None:
    """Other builders show what is inside."""


def skip(self: Any, node: nodes.Element) -> None:  # noqa: ARG001
    """Other builders have no cards."""
    raise nodes.SkipNode


def texts(_: Sphinx, config: Config) -> None:
    """Make the words of all claims a part of the configuration, so that pages whose cards changed are written again."""
    words = repr([(c.id, c.statement, c.verdict, c.correction, c.differs, c.witness) for c in load().values()])
    config.card_texts = hashlib.sha256(words.encode() + TABLE.read_bytes()).hexdigest()


def setup(app: Sphinx) -> ExtensionMetadata:
    app.setup_extension("equation_marks")
    app.setup_extension("folds")
    app.setup_extension("ledger_pages")
    others: dict[str, Any] = dict.fromkeys(("latex", "text", "man", "texinfo"), (pass_by, pass_by))
    app.add_node(marked_node, html=(visit_marked, depart_marked), **others)
    app.add_node(cards_node, html=(visit_cards, depart_cards), **dict.fromkeys(others, (skip, None)))
    app.add_node(card_node, html=(visit_card, depart_card), **dict.fromkeys(others, (skip, None)))
    app.add_config_value("card_texts", "", "html", str)
    app.add_post_transform(Signs)
    app.add_css_file("mark_cards.css")
    app.add_js_file("mark_cards.js", loading_method="defer")
    app.connect("config-inited", texts)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
