"""Chapter 15's widget: CRoPE's tables as paired differences, the published ones over them, and a margin to move."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import fmean

import traitlets
from traitlets import Enum, Float, List, Unicode

from rope_lab.chapters.ch15_crope_tables.plan_answers import verdict
from rope_lab.show.widgets.kit import Widget, state
from rope_lab.show.widgets.runs import by_seed, committed, interval, quantiles, shown
from rope_lab.training.results import cards
from rope_lab.training.results.cards import Card

__all__ = ["TableExplorer", "at_own_rates", "panels_of", "rows_at_own_rates", "verdict"]

_EMPTY = {"panel": "", "names": [], "reference": "", "rows": []}


def panels_of(found: Iterable[Card]) -> list[dict]:
    """One panel for each experiment, rung and setting: final and best loss of every run, and what was published.

    Args:
        found: Result cards, of any experiments.

    Returns:
        One dict for each panel, as the widget's state holds them.
    """
    groups: dict[tuple[str, str, str], list[Card]] = {}
    for card in found:
        groups.setdefault((card.experiment, card.rung, card.setting), []).append(card)
    return [_panel(*where, own) for where, own in groups.items()]


def at_own_rates(found: Iterable[Card], *, reference: str = "RoPE") -> list[dict]:
    """One more panel of an experiment that has each variant at its own rate and at the reference's: the own ones.

    Args:
        found: Result cards of one experiment, with rates in their configurations.
        reference: The variant whose rate the others have beside their own.

    Returns:
        A list of one dict as `panels_of` gives them, empty where the reference has no card.
    """
    found = list(found)
    rates: dict[str, set[float]] = {}
    for card in found:
        rates.setdefault(card.variant, set()).add(card.config["lr"])
    if reference not in rates:
        return []
    own = {name: (some - rates[reference]) or some for name, some in rates.items()}
    named = {"setting": "each at its own best rate"}
    return panels_of(
        replace(card, config={**card.config, **named}) for card in found if card.config["lr"] in own[card.variant]
    )


def rows_at_own_rates(found: Iterable[Card]) -> list[dict]:
    """One panel for each row of experiments that have each variant at its own rate only: rates do not part a row.

    Args:
        found: Result cards in settings named "ROW, rate RATE".

    Returns:
        One dict for each row, as `panels_of` gives them.
    """
    return panels_of(
        replace(
            card,
            config={**card.config, "setting": f"{card.setting.rpartition(', rate ')[0]}, each at its own best rate"},
        )
        for card in found
    )


def _panel(experiment: str, rung: str, setting: str, runs: Sequence[Card]) -> dict:
    last = {card.variant: fmean(c.loss() for c in runs if c.variant == card.variant) for card in runs}
    names = sorted(last, key=last.__getitem__)
    paper = cards.published(experiment).get("losses", {}).get(setting, {})
    printed = {name: paper.get(name, paper.get("absolute") if name.startswith("absolute") else None) for name in names}
    return {
        "key": " ".join(filter(None, (experiment, rung, setting))),
        "names": names,
        "reference": "RoPE" if "RoPE" in names else names[0],
        "published": {name: pair for name, pair in printed.items() if pair},
        "t": quantiles(len({card.seed for card in runs})),
        "runs": [
            {
                "variant": card.variant,
                "seed": card.seed,
                "final": round(card.loss(), 6),
                "best": round(card.loss("best"), 6),
            }
            for card in runs
        ],
    }


class TableExplorer(Widget):
    r"""Differences to a reference, paired by seed, with 95 % intervals; the published ones; and a margin $\delta$.

    State: the ``panel`` (experiment, rung, setting), the ``metric`` (final or best loss), the ``reference`` ("" for the
    panel's own), the ``margin`` in nats, and the ``view`` (near zero, or everything). A difference is "within" if its
    interval lies in $\pm\delta$, "worse" or "better" if it lies beyond, and "open" if it does neither.

    >>> TableExplorer.compute(TableExplorer(panels=[]).state())["rows"]
    []
    """

    title = "Table explorer: differences, intervals and a margin"
    panel = state(Unicode(""))
    metric = state(Enum(["final", "best"], "final"))
    reference = state(Unicode(""))
    margin = state(Float(0.02, min=0, max=0.1))
    view = state(Enum(["near", "all"], "near"))
    panels = state(List())

    @traitlets.default("panels")
    def _committed(self) -> list[dict]:
        apart = committed("crope-confirm-*")
        others = [card for card in committed("crope-*") if not card.experiment.startswith("crope-confirm-")]
        return [*at_own_rates(committed("crope-confirm")), *rows_at_own_rates(apart), *panels_of(others)]

    @staticmethod
    def compute(state: dict) -> dict:
        panel = shown(state)
        if panel is None:
            return dict(_EMPTY)
        names, printed = panel["names"], panel["published"]
        reference = state["reference"] if state["reference"] in names else panel["reference"]
        runs = by_seed(panel, lambda run: run[state["metric"]])
        rows = []
        for name in names:
            if name == reference:
                continue
            pairs = [runs[name][seed] - runs[reference][seed] for seed in runs[name] if seed in runs[reference]]
            gap = interval(pairs)
            rows.append(
                {
                    "variant": name,
                    "pairs": pairs,
                    **gap,
                    **_published(printed, name, reference),
                    "verdict": verdict(gap["difference"], gap["half"], state["margin"]),
                }
            )
        return {"panel": panel["key"], "names": names, "reference": reference, "rows": rows}

    def fallback(self) -> str:
        return (
            f"Interactive figure: the runs of CRoPE's experiments whose result cards come with the book, in "
            f"{len(self.panels)} tables, as differences to a reference, paired by seed, with 95 % intervals and the "
            "published differences beside them. One moves a margin and sees which differences are smaller, which are "
            "larger, and which stay open."
        )


def _published(losses: dict, name: str, reference: str) -> dict[str, float | None]:
    """The printed difference, and the root of the sum of the two squared numbers after ±."""
    if name not in losses or reference not in losses or losses[name] == losses[reference]:
        return {"published": None, "spread": None}
    (a, s), (b, r) = losses[name], losses[reference]
    return {"published": a - b, "spread": math.sqrt(s**2 + r**2)}
