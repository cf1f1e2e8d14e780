"""The atlas as a table that a reader searches: a row for each code, with the classes that share it folded under it.

The filter is hidden until atlas.js of the book serves it. Without the script the table stands there whole. A page may
show the filter first, and the table further down: they are attributes of their own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from html import escape
from typing import Any

__all__ = ["AtlasTable"]

CAST = "survives casting"  # a law that a class can fail only by what others do with it
HEADINGS = ("class", "layout", "rotated", "direction", "base or rule", "laws", "a cast")
OWN = "rope-lab audit my_package.rope:MyRotary"


class AtlasTable:
    """Rows of the atlas, as `rope_lab.audit.atlas` hands them on.

    Args:
        libraries: For each library its name, version, date and rows.

    Attributes:
        form: The filter as HTML.
        table: The table as HTML.

    >>> AtlasTable([{"library": "mine", "version": "1", "date": "2026-11-01", "rows": []}])
    0 rows, mine 1 of 2026-11-01
    """

    def __init__(self, libraries: Sequence[dict[str, Any]]) -> None:
        self.rows = [(found["library"], row) for found in libraries for row in found["rows"]]
        self.about = ", ".join(f"{found['library']} {found['version']} of {found['date']}" for found in libraries)
        self.named = Counter((library, row["name"]) for library, row in self.rows)

    def __repr__(self) -> str:
        return f"{len(self.rows)} rows, {self.about}"

    def _repr_html_(self) -> str:
        return self.form + self.table

    @property
    def form(self) -> str:
        chosen = [facts(library, row) for library, row in self.rows]
        return filter_form("A class, a model, a word", chosen, label="Filter the atlas", own=OWN)

    @property
    def table(self) -> str:
        head = "".join(f'<th scope="col">{name}</th>' for name in HEADINGS)
        body = "".join(self._row(library, row) for library, row in self.rows)
        return (
            f'<div class="rope-table"><div class="pst-scrollable-table-container" tabindex="0" '
            f'role="region" aria-label="The atlas: {escape(self.about)}"><table class="table atlas">'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div></div>"
        )

    def _row(self, library: str, row: dict[str, Any]) -> str:
        told, data = cells(row), facts(library, row)
        marks = " ".join(f'data-{name}="{escape(value, quote=True)}"' for name, value in data.items())
        if row["skipped"]:
            rest = f'<td colspan="{len(HEADINGS) - 1}">not answered: {escape(row["skipped"])}</td>'
        else:
            rest = "".join(
                f'<td data-what="{what}">{with_calls(cell)}</td>' for what, cell in zip(HEADINGS[1:], told, strict=True)
            )
        home = library if self.named[library, row["name"]] == 1 else row["target"].partition(":")[0]
        name = f"<small>{with_joints(home)}</small> <code>{with_joints(row['name'])}</code>"
        return f'<tr {marks}><th scope="row">{name}{_fold(row)}</th>{rest}</tr>'


def filter_form(words: str, facts: Sequence[dict[str, str]], *, label: str, own: str) -> str:
    """The form that atlas.js serves: a field for words, a choice for each fact, a command where nothing is found."""
    fields = []
    for name in facts[0] if facts else ():
        often = Counter(fact[name] for fact in facts).most_common()
        options = "".join(f'<option value="{escape(value)}">{escape(value)}</option>' for value, _ in often)
        fields.append(f'<label>{name} <select name="{name}"><option value="">all</option>{options}</select></label>')
    return (
        f'<form class="ledger-filter" id="atlas-filter" role="search" aria-label="{label}" hidden>'
        f'<label class="ledger-words">{words} <input type="search" name="q" autocomplete="off">'
        f'</label>{"".join(fields)}<p><output aria-live="polite">{len(facts)} rows</output> '
        '<button type="reset">Show all</button></p>'
        f'<p class="atlas-own" hidden>Ask your own: <code>{own}</code></p></form>'
    )


def facts(library: str, row: dict[str, Any]) -> dict[str, str]:
    """The facts that a row can be chosen by: library, layout, how its laws stand, and what a cast does."""
    if row["skipped"]:
        return {"library": library} | dict.fromkeys(("layout", "laws", "cast"), "not answered")
    laws = "broken" if row["broken_laws"] else "by design" if row["by_design"] else "all asked hold"
    layout = row["layout"].partition(",")[0].partition(" (")[0]
    return {"library": library, "layout": layout, "laws": laws, "cast": cast(row)}


def cast(row: dict[str, Any]) -> str:
    """Say what `module.to(torch.bfloat16)` does; a row that keeps no list of what was not asked does not say."""
    if row.get("cautions", {}).get(CAST):
        return "spoils it"
    if CAST in row.get("not_asked", {}) or (len(row.get("axes", ())) > 1 and "not_asked" not in row):
        return "not asked"
    return "harmless" if "not_asked" in row else "not recorded"


def cells(row: dict[str, Any]) -> list[str]:
    """The cells of a row that was answered, after its name: in words."""
    if row["skipped"]:
        return []
    base = f"base {row['base']:.10g}" if row["base"] else row["scheme"]
    axes = row.get("axes", ())
    bases = {f"{axis['base']:.10g}" for axis in axes if axis["base"]}
    if not row["base"] and len(bases) == 1 and all(axis["base"] for axis in axes):
        base = f"base {bases.pop()} on each axis"
    if len(axes) > 1:
        base += "; planes by axis: " + ", ".join(f"{axis['planes']}" for axis in axes)
    laws = ", ".join([*row["broken_laws"], *(f"{law} (by design)" for law in row["by_design"])]) or "all asked hold"
    unasked = ", ".join(law for law in row.get("not_asked", {}) if law != CAST)
    return [
        row["layout"],
        f"{row['rotated_dims']} of {row['head_dim']}",
        {1: "+1", -1: "\N{MINUS SIGN}1", 0: "mixed"}[row["direction"]],
        with_commas(base),
        f"{laws}; not asked: {unasked}" if unasked else laws,
        cast(row),
    ]


def with_joints(name: str) -> str:
    """A name that may break before a capital letter, RoPE or a bracket, and after a line below, dot, colon or slash."""
    after = r"(?<=[^\W_]_)|(?<=[.:/])(?=[A-Za-z])"
    return re.sub(rf"(?<=[a-z0-9])(?<!Ro)(?=[A-Z]\w|\()|(?<=\w)(?=RoPE)|{after}", "<wbr>", escape(name))


def with_calls(text: str) -> str:
    """A sentence that may break within a call of a function, before its bracket, and else between words alone."""
    return re.sub(r"(?<=\w)(?=\()", "<wbr>", escape(text))


def with_commas(text: str) -> str:
    """The bases of a text as other pages write them.

    >>> with_commas("base 10000 in planes 0 to 3, base 1e+06 in the others")
    'base 10,000 in planes 0 to 3, base 1,000,000 in the others'
    """
    return re.sub(r"(?<=\bbase )(\d{5,}|\de\+\d+)\b", lambda found: f"{float(found[0]):,.0f}", text)


def _fold(row: dict[str, Any]) -> str:
    """Under the name of a class: who shares its code, what was asked, and the command that asks again."""
    shared = "".join(f"<li><code>{with_joints(target)}</code></li>" for target in row["shared"])
    words = f"and {len(row['shared'])} more" if row["shared"] else "how to repeat it"
    about = f"<p>{with_joints(row['about'])}</p>" if row.get("about") else ""
    said = [("a cast spoils it", why) for why in row.get("cautions", {}).values()]
    said += [(f"not asked, {law}", why) for law, why in row.get("not_asked", {}).items()]
    about += "".join(f"<p>{with_joints(f'{what}: {why}')}</p>" for what, why in said)
    return (
        f"<details><summary>{words}</summary>{about}<p><code>rope-lab audit {with_joints(row['target'])}</code></p>"
        f"<p>{with_joints(row['file'])}, line {row['line']}</p>{f'<ul>{shared}</ul>' if shared else ''}</details>"
    )
