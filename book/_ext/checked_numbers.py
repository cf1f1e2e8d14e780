"""``{count}`claims` ``: one number of the book; ``{checked-numbers}``: all of them, each with the page that shows it.

``{measured}`ch15.lead, hundredths` ``: a number that a room computes from its result cards, in the form that follows
its name. It stands in ``MEASURED`` of a module ``figures*`` of the room; `said` has the forms.

All are made when all pages have been read, so a page never says another number than the one that it leads to.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from docutils import nodes
from equation_marks import proved
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective, SphinxRole
from sphinx.util.typing import ExtensionMetadata

from rope_lab.chapters import modules
from rope_lab.claims import load
from rope_lab.claims.errata import errata_items
from rope_lab.training.results.cards import load_every

LEDGER = "book/ledger"
CHAOS = Path(__file__).resolve().parents[2] / "tests" / "chaos.json"
# What is counted, what it is, the page that shows it, and the ledger's filter.
ROWS: tuple[tuple[str, str, str, dict[str, str]], ...] = (
    ("formulas", "displayed formulas, each tied to a check or to a definition", "book/how_checked", {}),
    ("claims", "claims, each with how we know it", LEDGER, {}),
    ("proved", "of them proved on a page, and checked besides", LEDGER, {}),
    ("exact", "exact: computer algebra or whole numbers, for all that is said", LEDGER, {"evidence": "exact"}),
    ("cases", "checked in cases, which the entry names", LEDGER, {"evidence": "cases"}),
    ("numeric", "checked on random numbers", LEDGER, {"evidence": "numeric"}),
    ("experiment", "by experiment: reproduced, not reproduced or not attempted", LEDGER, {"evidence": "experiment"}),
    ("read", "read in the source, with nothing to run", LEDGER, {"evidence": "read"}),
    ("errata", "places where a source should be read differently", "book/errata", {}),
    ("runs", "training runs, each with the card that it wrote", "book/result_cards", {}),
)

WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
UNITS = {  # what a form counts in; how a sentence says one of them, and how several
    "hundreds": (100, "a hundred", "{} hundred"),
    "ones": (1, "one", "{}"),
    "times": (1, "once", "{} times"),
    "halves": (1 / 2, "half", "{} halves"),
    "quarters": (1 / 4, "a quarter", "{} quarters"),
    "tenths": (1 / 10, "a tenth", "{} tenths"),
    "in ten": (1 / 10, "one in ten", "{} in ten"),
    "hundredths": (1 / 100, "a hundredth", "{} hundredths"),
    "thousandths": (1 / 1000, "a thousandth", "{} thousandths"),
}
DIGITS = re.compile(r"(?P<spec>,?\.\df)(?P<percent> %)?(?P<both> and)?")
Measured = float | tuple[float, ...]  # one number; or several, of which a sentence says the least and the largest


def measured() -> dict[str, Callable[[], Measured]]:
    """The functions of the rooms that compute numbers of sentences, by the names that pages use."""
    rooms = [(module.__name__.split(".")[2], getattr(module, "MEASURED", {})) for module in modules("figures*")]
    return {f"{room[:4]}.{name}": number for room, own in rooms for name, number in own.items()}


def said(value: Measured, form: str) -> str:
    """Return a number as a sentence says it, and several as a range.

    ``.2f`` prints digits, ``,.0f`` a comma after thousands, ``.0f %`` per cent; with ``and`` at its end, two that are
    no range. ``of`` prints whole numbers: 18 of 56. A name of `UNITS` prints words, which must be right to a quarter
    of a unit; after ``more than`` or ``less than`` the number lies beyond what they say, by at most half a unit.
    """
    many = value if isinstance(value, tuple) else (value,)
    if not all(0 < one < math.inf for one in many):  # the sentence names the side, and now it is the other one
        raise ValueError(f"expected numbers above zero, got {value}; write the sentence anew")
    if form == "of":
        return " of ".join(f"{one:,d}" for one in many)
    ends = (min(many), max(many))
    if digits := DIGITS.fullmatch(form):
        factor, shown = (100 if digits["percent"] else 1), (many if digits["both"] else ends)
        parts = dict.fromkeys(f"{one * factor:{digits['spec']}}" for one in shown)
        return (" and " if digits["both"] else " to ").join(parts) + (digits["percent"] or "")
    than, _, unit = form.rpartition("than ")
    if unit not in UNITS or than not in ("", "more ", "less "):
        forms = f"digits such as '.2f', 'of', or one of {', '.join(UNITS)}, with or without 'more than'"
        raise ValueError(f"expected {forms}; got the form {form!r}; write one of these")
    size, single, several = UNITS[unit]
    whole = {"": round, "more ": math.floor, "less ": math.ceil}[than]
    counts = [whole(one / size) for one in ends]
    off = [abs(one / size - count) for one, count in zip(ends, counts, strict=True)]
    fits = all(0 < far <= 1 / 2 for far in off) if than else max(off) <= 1 / 4
    if not (fits and counts[0] >= 1 and counts[1] <= len(WORDS)):
        raise ValueError(f"expected what {form!r} can say, got {value}; ask for digits, or for another unit")
    words = list(dict.fromkeys(WORDS[count - 1] for count in counts))
    text = single if counts == [1, 1] else several.format(" to ".join(words)).replace("two times", "twice")
    return f"{than}{'than ' if than else ''}{text}"


def counted(env: BuildEnvironment) -> dict[str, int]:
    """Every number by its name; the minutes of a chapter under the name of its page, and what the chaos run counted."""
    claims = load().values()
    by = Counter(claim.evidence for claim in claims)
    rows = {name: by[value] for name, _, _, query in ROWS for value in query.values()}
    return rows | {
        "formulas": sum(len(notes.get("equations", ())) for notes in env.metadata.values()),
        "claims": len(claims),
        "proved": len({name for page in env.metadata for name in proved(env, page)}),
        "errata": len(errata_items()),
        "runs": len(load_every()),
        **{f"chaos {name}": number for name, number in json.loads(CHAOS.read_text("utf-8"))["counts"].items()},
        **{f"minutes of {page}": notes["minutes"][0] for page, notes in env.metadata.items() if "minutes" in notes},
    }


class count_node(nodes.Inline, nodes.Element):  # noqa: N801  (docutils names its nodes in lower case)
    """Holds the place of one number until all pages are read."""


class measured_node(nodes.Inline, nodes.Element):  # noqa: N801
    """Holds the place of what a room computes."""


class rows_node(nodes.General, nodes.Element):  # noqa: N801
    """Holds the place of the list."""


class Number(SphinxRole):
    """``{count}`name` ``, or ``{measured}`name, form` ``."""

    def __init__(self, kind: type[nodes.Element]) -> None:
        super().__init__()
        self.kind = kind

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        self.env.metadata[self.env.docname]["counts"] = True
        node = self.kind(name=self.text)
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
    if asked := list(doctree.findall(measured_node)):
        known = measured()
        for node in asked:
            node.replace_self(nodes.Text(in_words(node["name"], known, where=docname)))
    if not any(doctree.findall(lambda node: isinstance(node, (count_node, rows_node)))):
        return
    numbers = counted(app.env)
    for node in list(doctree.findall(count_node)):
        if node["name"] not in numbers:
            known = ", ".join(sorted(numbers))
            raise ValueError(f"{docname}: expected one of {known} in {{count}}, got {node['name']!r}")
        node.replace_self(nodes.Text(f"{numbers[node['name']]:,}"))
    for node in list(doctree.findall(rows_node)):
        node.replace_self(rows(app, docname, numbers))


def in_words(text: str, known: dict[str, Callable[[], Measured]], *, where: str) -> str:
    """The words of a page for ``name, form``; an error names the page and the place."""
    name, _, form = text.partition(", ")
    if name not in known:
        raise ValueError(f"{where}: expected one of {', '.join(sorted(known))} in {{measured}}, got {name!r}")
    try:
        return said(known[name](), form)
    except ValueError as error:
        raise ValueError(f"{where}: {{measured}} {text!r}: {error}") from error


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
    """All nodes are replaced before a page is written."""


def setup(app: Sphinx) -> ExtensionMetadata:
    for node in (count_node, measured_node, rows_node):
        app.add_node(node, html=(pass_by, pass_by))
    app.add_role("count", Number(count_node))
    app.add_role("measured", Number(measured_node))
    app.add_directive("checked-numbers", CheckedNumbers)
    app.connect("env-updated", pages_with_numbers)
    app.connect("doctree-resolved", fill)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
