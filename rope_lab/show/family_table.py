"""What turns in each family of transformers, as a table that a reader searches: a row for each kind of layer.

Like the atlas it is filtered by atlas.js of the book. Without the script the table stands there whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

from rope_lab.show.atlas_table import filter_form, with_calls, with_commas, with_joints

__all__ = ["FamilyTable"]

HEADINGS = ("family", "layers", "layout", "coordinates", "base or rule", "norms", "a shift")
Answer = dict[str, Any]  # what one kind of layer does: an entry of ``answers``


class FamilyTable:
    """Rows of the families, as `rope_lab.audit.probe_results` hands them on.

    Args:
        probed: The table of what turns.
        moved: The table of what a shift changes, as `rope_lab.audit.shift_results` hands it on; None: no such column.

    >>> FamilyTable({"transformers": "5", "date": "2026-11-01", "rows": [{"model": "x", "skipped": "too large"}]})
    1 rows, transformers 5 of 2026-11-01
    """

    def __init__(self, probed: dict[str, Any], moved: dict[str, Any] | None = None) -> None:
        self.about = f"transformers {probed['transformers']} of {probed['date']}"
        self.moved = {row["model"]: row for row in moved["rows"]} if moved else {}
        self.rows = [(row, answer) for row in probed["rows"] for answer in _answers(row)]

    def __repr__(self) -> str:
        return f"{len(self.rows)} rows, {self.about}"

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col">{name}</th>' for name in HEADINGS)
        all_facts = [self._facts(row, answer) for row, answer in self.rows]
        body = "".join(self._row(*found, facts) for found, facts in zip(self.rows, all_facts, strict=True))
        own = "rope-lab audit --model config.json --probe"
        form = filter_form("A family, a function, a word", all_facts, label="Filter the families", own=own)
        return (
            f'{form}<div class="rope-table"><div class="pst-scrollable-table-container" tabindex="0" '
            f'role="region" aria-label="The families: {escape(self.about)}"><table class="table atlas families">'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div></div>"
        )

    def _facts(self, row: dict[str, Any], answer: Answer | None) -> dict[str, str]:
        return family_facts(answer) | {"shift": shift_words(self.moved.get(row["model"])).partition(":")[0]}

    def _row(self, row: dict[str, Any], answer: Answer | None, facts: dict[str, str]) -> str:
        marks = " ".join(f'data-{name}="{escape(value, quote=True)}"' for name, value in facts.items())
        name = f'<th scope="row"><code>{with_joints(row["model"])}</code>{_fold(row, answer)}</th>'
        if answer is None:
            why = escape(row["skipped"])
            return f'<tr {marks}>{name}<td colspan="{len(HEADINGS) - 1}">not answered: {why}</td></tr>'
        told = [*family_cells(row, answer), shift_words(self.moved.get(row["model"]))]
        cells = (
            f'<td data-what="{what}">{with_calls(cell)}</td>'
            for what, cell in zip(HEADINGS[1:], told, strict=True)
            if cell
        )
        return f"<tr {marks}>{name}{''.join(cells)}</tr>"


def _answers(row: dict[str, Any]) -> Iterator[Answer | None]:
    yield from [None] if row["skipped"] else row["answers"]


def family_facts(answer: Answer | None) -> dict[str, str]:
    """The facts that a row can be chosen by: its layout, how much of a head turns, and where the norms stand."""
    if answer is None:
        return dict.fromkeys(("layout", "turns", "norms"), "not answered")
    seen = _seen(answer)
    if not answer["met"]:
        return dict.fromkeys(("layout", "turns", "norms"), "no meeting seen")
    if seen is None or not seen["rotated_dims"]:
        return {"layout": "no rotation", "turns": "nothing", "norms": "nothing turns"}
    share = "the whole head" if seen["rotated_dims"] == seen["head_dim"] else "a part of the head"
    norms = _norms(answer)
    return {
        "layout": layout_read(answer, seen).partition(",")[0],
        "turns": share,
        "norms": norms if norms == "none" else f"{norms} the turn",
    }


def family_cells(row: dict[str, Any], answer: Answer) -> list[str]:
    """The cells of a row after its name and before the shift, in words."""
    layers = _layers(answer["layers"], row["layers"])
    seen = _seen(answer)
    if answer["problem"]:
        return [layers, f"not read: {answer['problem']}", *[DASH] * 3]
    if seen is None or not seen["rotated_dims"]:
        return [layers, answer["words"][0], *[DASH] * 3]
    base = f"base {seen['base']:.10g}" if seen["base"] else seen["scheme"]
    if seen["base"] and seen["scheme"] != "one base":
        base += f" ({seen['scheme']})"
    layout = layout_read(answer, seen) + {1: "", -1: ", clockwise", 0: ", both ways"}[seen["direction"]]
    layout += "; written in halves" if _reads_neighbours(answer, seen) else ""
    layout += "" if answer["agree"] else "; queries and keys differ"
    layout += "; values turn too" if answer["values"] else ""
    return [layers, layout, _coordinates(seen), with_commas(base), _norms(answer)]


DASH = "\N{EN DASH}"


def shift_words(row: dict[str, Any] | None) -> str:
    """The effect of a shift of all tokens, in a few words."""
    if row is None or row["skipped"]:
        return "not moved"
    if row["relative"]:
        return "changes nothing"
    return f"changes the logits: {', '.join(row['causes'])}" if row["causes"] else "changes the logits"


def _seen(answer: Answer) -> dict[str, Any] | None:
    """The part of the answer on queries, or on keys where queries do not turn."""
    return answer["queries"] or answer["keys"]


def _norms(answer: Answer) -> str:
    found = [word for word in ("before", "after") if answer[f"norms_{word}"]]
    return " and ".join(found) or "none"


def layout_read(answer: Answer, seen: dict[str, Any]) -> str:
    """The layout of the coordinates as a function reads them, which is the order that the weights are stored for."""
    return "interleaved" if _reads_neighbours(answer, seen) else seen["layout"]


def _reads_neighbours(answer: Answer, seen: dict[str, Any]) -> bool:
    return answer["halves"] and seen["layout"] == "half-split"


def _layers(members: list[int], all_layers: int) -> str:
    if len(members) == all_layers:
        return "all"
    in_a_row = len(members) > 1 and members == list(range(members[0], members[-1] + 1))
    named = f"{members[0]} to {members[-1]}" if in_a_row else ", ".join(map(str, members))
    return f"{named} (of {all_layers})"


def _coordinates(seen: dict[str, Any]) -> str:
    turned, whole, where = seen["rotated_dims"], seen["head_dim"], seen["coordinates"]
    if turned == whole:
        return "all"
    places = {
        f"0-{turned - 1}": f"the first {turned} of {whole}",
        f"{whole - turned}-{whole - 1}": f"the last {turned} of {whole}",
    }
    return places.get(where, f"{turned} of {whole}: {where}")


def _fold(row: dict[str, Any], answer: Answer | None) -> str:
    """Under the name of a family: what the command prints about this kind of layer, and the command."""
    words = "".join(f"<p>{with_joints(with_commas(line))}</p>" for line in (answer["words"] if answer else ()))
    command = f'rope-lab audit <span class="unbroken">--model</span> {with_joints(row["model"])}'
    asked = f'{command} <span class="unbroken">--probe</span>'
    return f"<details><summary>how to repeat it</summary><p><code>{asked}</code></p>{words}</details>"
