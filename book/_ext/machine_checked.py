"""What Coq has checked of a claim: the lines of proofs/theorems.json that name it, for its entry and for its card."""

import json
from functools import cache
from html import escape
from pathlib import Path

from docutils import nodes

TABLE = Path(__file__).resolve().parents[2] / "proofs" / "theorems.json"
FOLD = "<details><summary>The formal statement</summary>{}</details>"  # an entry is folded already, a card is not


@cache
def table() -> dict:
    """The table that `make proofs` holds against Coq."""
    return json.loads(TABLE.read_text(encoding="utf-8"))


def machine_checked(claim_id: str) -> list[nodes.Node]:
    """A line for each theorem about the claim, and all their statements below; nothing for other claims."""
    rows = [row for row in table()["theorems"] if claim_id in row["claims"]]
    return [*map(line, rows), nodes.raw("", formal(rows), format="html", classes=["formal"])] if rows else []


def line(row: dict) -> nodes.paragraph:
    """The name of a theorem, its file, its axioms, and what it covers where that is less than the claim."""
    words = f", axioms: {', '.join(row['axioms']) or 'none'}." + (f" Covers {row['covers']}" if row["covers"] else "")
    name, file = (nodes.literal("", text) for text in (row["name"], f"proofs/{row['file']}"))
    return nodes.paragraph("", "", name, nodes.Text(" in "), file, nodes.Text(words))


def formal(rows: list[dict]) -> str:
    """The statements as they stand in the files, below the definitions that they use."""
    used = {word for row in rows for word in row["uses"]}
    parts = [text for word, text in table()["definitions"].items() if word in used]
    text = "\n\n".join([*parts, *(row["statement"] for row in rows)])
    return f'<pre class="formal">{escape(text, quote=False)}</pre>'


def folded(field: nodes.Element) -> nodes.Element:
    """A copy of an entry's field in which the formal statement is folded."""
    copy = field.deepcopy()
    for node in list(copy.findall(nodes.raw)):
        if "formal" in node["classes"]:
            node.replace_self(nodes.raw("", FOLD.format(node.astext()), format="html"))
    return copy
