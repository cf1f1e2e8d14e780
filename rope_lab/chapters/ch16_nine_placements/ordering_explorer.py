"""Chapter 16's widget: a reader's own order first, then every pair of variants and the order that they make."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from statistics import fmean, median

import traitlets
from traitlets import Bool, Enum, Int, List, Unicode

from rope_lab.algebra import rankings
from rope_lab.chapters.ch16_nine_placements.claims_su19 import JUDGED
from rope_lab.show.widgets.kit import Widget, state
from rope_lab.show.widgets.runs import by_seed, interval, quantiles, shown
from rope_lab.training.results import cards
from rope_lab.training.results.cards import Card

__all__ = ["OrderingExplorer", "panel_of"]

_MORE = {"placements-base1e4": "from 0, base 10,000", "one-cache": "one cache"}  # their names on the page
_RUNG = "cpu"


def panel_of(found: Sequence[Card], name: str = "", *, published: dict[str, float] | None = None) -> dict:
    """The cards of one experiment, under a name, at the steps at which every one of them was validated."""
    curves = {id(c): dict(zip(c.curve["step"], c.curve["valid_loss"], strict=True)) for c in found}
    read = [{step for step, loss in curve.items() if loss is not None} for curve in curves.values()]
    steps = sorted(set.intersection(*read))
    names = list(dict.fromkeys(c.variant for c in found))
    losses = published or {}
    return {
        "key": name or f"{found[0].experiment} {found[0].rung}",
        "names": names,
        "published": {name: losses[name] for name in names} if set(names) <= set(losses) else {},
        "steps": steps,
        "t": quantiles(len({card.seed for card in found})),
        "runs": [
            {"variant": c.variant, "seed": c.seed, "losses": [round(curves[id(c)][s], 6) for s in steps]} for c in found
        ],
    }


def shifted_panel(found: Sequence[Card], *, published: dict[str, float]) -> dict:
    """The panel of runs judged at their end by their loss in windows that begin anywhere."""
    end = {"step": [found[0].final["step"]]}
    elsewhere = [replace(c, curve=end | {"valid_loss": [c.measured["shift 8"]["loss"]]}) for c in found]
    return panel_of(elsewhere, "from anywhere", published=published)


class OrderingExplorer(Widget):
    r"""All pairs of the variants of an experiment: as published, the other way, or undecided.

    State: the ``panel`` (a list of runs), the chosen pair ``one`` and ``other`` ("" for the first two that the
    panel has), how the names are put in order (``order``), the number ``at`` of the validation that is looked at, and
    the cards' losses (``panels``). A pair is decided where the 95 % interval
    $\bar d \pm t_{0.975,\,n-1}\, s / \sqrt n$ of its paired differences leaves zero out. Where it is not ``revealed``,
    the reader puts the names in order first: ``mine``, best first, empty until they have.

    >>> OrderingExplorer.compute(OrderingExplorer(panels=[]).state())["names"]
    []
    """

    title = "Ordering explorer: every pair of placements"
    panel = state(Unicode(""))
    one = state(Unicode("QK"))
    other = state(Unicode("QKVO"))
    order = state(Enum(["mean", "median", "published", "mine"], "published"))
    at = state(Int(4, min=0))  # the last of five, at the cpu rung
    revealed = state(Bool(True))
    mine = state(List(Unicode()))
    panels = state(List())

    @traitlets.default("panels")
    def _committed(self) -> list[dict]:
        nine, said = cards.load_all(JUDGED, _RUNG), cards.published("placements")["losses"][""]
        judged = [panel_of(nine, "from 0", published=said), shifted_panel(nine, published=said)] if nine else []
        return judged + [panel_of(found, name) for key, name in _MORE.items() if (found := cards.load_all(key, _RUNG))]

    @staticmethod
    def compute(state: dict) -> dict:
        panel = shown(state)
        if panel is None:
            return {"panel": "", "names": [], "cells": []}
        steps, theirs = panel["steps"], panel["published"]
        index = min(state["at"], len(steps) - 1)
        runs = by_seed(panel, lambda run: run["losses"])
        losses = {name: [run[index] for run in runs[name].values()] for name in panel["names"]}
        means = {name: fmean(own) for name, own in losses.items()}
        medians = {name: median(own) for name, own in losses.items()}

        def gaps(one: str, other: str, i: int) -> dict[int, float]:
            return {seed: runs[other][seed][i] - runs[one][seed][i] for seed in runs[one] if seed in runs[other]}

        mine = state["mine"] if sorted(state["mine"]) == sorted(panel["names"]) else []
        place = {name: float(i) for i, name in enumerate(mine)}
        key = {"mean": means, "median": medians, "published": means | theirs, "mine": place or means}[state["order"]]
        names = sorted(panel["names"], key=lambda name: (key[name], name))
        cells = []
        for one, other in combinations(names, 2):
            gap = interval(gaps(one, other, index).values())
            way = theirs[other] - theirs[one] if theirs else 0
            cells.append({"one": one, "other": other, "word": _word(gap, way), **gap})
        words = Counter(cell["word"] for cell in cells)
        one = state["one"] if state["one"] in names else names[0]
        rest = [name for name in names if name != one]
        other = state["other"] if state["other"] in rest else (rest or [""])[0]
        along = [gaps(one, other, i) for i in range(len(steps))] if other else []
        return {
            "panel": panel["key"],
            "names": names,
            "steps": steps,
            "index": index,
            "cells": cells,
            "counts": {word: words[word] for word in ("agree", "reversed", "undecided", "decided")},
            "tau": rankings.kendall_tau(means, theirs) if theirs and cells else None,
            "exchanges": (rankings.exchanges(means, theirs) if cells else 0) if theirs else None,
            "mine": {"names": mine, "here": _far(place, means), "said": _far(place, theirs)} if mine else None,
            "rows": [
                {"name": name, "mean": means[name], "median": medians[name], "said": theirs.get(name)} for name in names
            ],
            "one": one,
            "other": other,
            "seeds": [{"seed": seed, "gap": gap} for seed, gap in along[index].items()] if other else [],
            "chosen": interval(along[index].values() if other else []),
            "along": [interval(gap.values()) for gap in along],
            "published": theirs[other] - theirs[one] if theirs and other else None,
        }

    def fallback(self) -> str:
        values = self.compute(self.state())
        if not values["names"]:
            return "Interactive figure: an explorer of orders. No result card has come with this copy of the book yet."
        counts = values["counts"]
        return (
            f"Interactive figure: one puts {len(values['names'])} variants in order, and then sees a board with all "
            f"{len(values['cells'])} pairs. "
            f"At the end of training {counts['agree']} pairs are decided in the published order, {counts['reversed']} "
            f"the other way, and {counts['undecided']} are undecided. One chooses a pair and reads its paired "
            "differences, seed by seed, with their 95 % interval at every validation."
        )


def _word(gap: dict, way: float) -> str:
    if gap["half"] is None or abs(gap["difference"]) <= gap["half"]:
        return "undecided"
    return "decided" if not way else "agree" if gap["difference"] * way > 0 else "reversed"


def _far(mine: dict[str, float], other: dict[str, float]) -> int | None:
    """Pairs that a reader's order and another one put the other way round; None where there is no other."""
    return (rankings.exchanges(mine, other) if len(mine) > 1 else 0) if other else None
