"""Chapter 15's widget: CRoPE's tables as paired differences, the published ones over them, and a margin to move."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

import traitlets
from traitlets import Enum, Float, List, Unicode

from rope_lab.chapters.ch15_crope_tables import plan_answers
from rope_lab.chapters.ch15_crope_tables.plan_answers import verdict
from rope_lab.show.widgets.kit import Widget, state
from rope_lab.show.widgets.runs import by_seed, committed, interval, quantiles, shown
from rope_lab.training.results import cards
from rope_lab.training.results.cards import Card

__all__ = ["TableExplorer", "at_own_rates", "panels_of", "verdict"]

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


def at_own_rates(found: Iterable[Card], own: Mapping[str, float], *, named: str, experiment: str = "") -> list[dict]:
    """One panel of runs at several rates: of each variant those at its own one.

    Args:
        found: Result cards with rates in their configurations.
        own: The rate of each variant; a variant without one is left out.
        named: What the panel calls this choice, such as "each at its own best rate".
        experiment: The name of the panel, where the cards are of several experiments. Default: the cards' own.

    Returns:
        A list of one dict as `panels_of` gives them, empty where no card is at such a rate.
    """
    return panels_of(
        replace(card, experiment=experiment or card.experiment, config={**card.config, "setting": named})
        for card in found
        if card.config["lr"] == own.get(card.variant)
    )


def _five_tables() -> list[dict]:
    """The tables of the chapter: at close rates, on the plan's grid, after more steps, at the old rate, the paper's."""
    planned, close = committed("crope-confirm"), plan_answers.best_of_close_rates()
    long = [card for card in committed("crope-confirm-lengths") if card.config["steps"] == 2000]
    old, paper = (
        [card for card in cards.load_all("crope-table1", rung) if card.setting == "WikiText-2"]
        for rung in ("cpu", "paper")
    )
    tables = {
        "close rates": at_own_rates(plan_answers.close_cards(), close, named="", experiment="close"),
        "coarse grid": at_own_rates(planned, plan_answers.own_rates(), named=""),
        "2,000 steps": panels_of(long),
        "one rate": panels_of(old),
        "the paper's setting": panels_of(paper),
    }
    return [{**panel, "key": key} for key, panels in tables.items() for panel in panels]


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

    State: the ``panel`` (a list of runs), the ``metric`` (final or best loss), the ``reference`` ("" for the
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
        return _five_tables()

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
            f"Interactive figure: CRoPE's experiments in {len(self.panels)} tables, as differences to a reference, "
            "paired by seed, with 95 % intervals and the published differences beside them. One moves a margin and "
            "sees which differences are smaller, which are larger, and which stay open."
        )


def _published(losses: dict, name: str, reference: str) -> dict[str, float | None]:
    """The printed difference, and the root of the sum of the two squared numbers after ±."""
    if name not in losses or reference not in losses or losses[name] == losses[reference]:
        return {"published": None, "spread": None}
    (a, s), (b, r) = losses[name], losses[reference]
    return {"published": a - b, "spread": math.sqrt(s**2 + r**2)}
