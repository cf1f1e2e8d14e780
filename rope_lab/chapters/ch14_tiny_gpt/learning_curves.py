"""Chapter 14's widget: the learning curves of the committed cards, and paired differences along the way."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import fmean

import traitlets
from traitlets import Enum, Float, List, Unicode

from rope_lab.show.widgets.kit import Widget, state
from rope_lab.show.widgets.runs import by_seed, committed, interval, quantiles, shown
from rope_lab.training.results.cards import Card

__all__ = ["LearningCurves", "panels_of"]

_KINDS = {"validation": "valid_loss", "training": "train_loss"}
_POINTS = 60  # at most, for each kind of curve of a run: a page carries many runs
_LEFT_OUT = (
    "crope-between",  # one rate of chapter 15's comparison, and one model at another
    "crope-control",  # its control, at four rates
    "crope-confirm-lengths",  # four lengths, most of them with one model at a rate: a table of chapter 15
    "crope-rates",  # the plan's choices of a rate: many runs, which chapter 15 shows by rate
    "placements-rates",  # the same of chapter 16
    "placements-confirm",  # and the runs that judge there, which the plan shows when all are made
    "crope-table2-again",  # runs of crope-table2, made again
    "placements-shifted",  # runs of placements, made again
)
_REFERENCES = ("RoPE", "NoPE")  # what differences are taken to at first, where a card has it


def panels_of(found: Iterable[Card]) -> list[dict]:
    """One panel for the cards of an experiment, a rung and a setting that were logged at the same steps.

    Left out: small tasks that were not validated on the way, so have one curve only.

    Args:
        found: Result cards, of any experiments.

    Returns:
        One dict for each panel, as the widget's state holds them.
    """
    groups: dict[tuple, list[Card]] = {}
    for card in found:
        if not card.curve.keys() >= set(_KINDS.values()):
            continue
        groups.setdefault((card.experiment, card.rung, card.setting, tuple(card.curve["step"])), []).append(card)
    panels: list[dict] = []
    seen: Counter[str] = Counter()
    for (*where, _), own in groups.items():
        key = " ".join(filter(None, where))
        seen[key] += 1
        panels.append(_panel(key if seen[key] == 1 else f"{key} ({seen[key]})", own))
    return panels


def _panel(key: str, own: Sequence[Card]) -> dict:
    chosen = {kind: _chosen(own[0].curve, name) for kind, name in _KINDS.items()}
    steps = own[0].curve["step"]
    runs = [
        {"variant": card.variant, "seed": card.seed}
        | {kind: [round(card.curve[name][i], 5) for i in chosen[kind]] for kind, name in _KINDS.items()}
        for card in own
    ]
    last = {card.variant: fmean(c.loss() for c in own if c.variant == card.variant) for card in own}
    names = sorted(last, key=last.__getitem__)
    return {
        "key": key,
        "names": names,
        "reference": next((n for n in _REFERENCES if n in names), names[0]),
        **{f"{kind}_steps": [steps[i] for i in chosen[kind]] for kind in _KINDS},
        "t": quantiles(len({card.seed for card in own})),
        "runs": runs,
    }


def _chosen(curve: dict, name: str) -> list[int]:
    """The points of a curve to keep: those that were read, thinned evenly, the last among them."""
    read = [i for i, loss in enumerate(curve[name]) if loss is not None]
    stride = max(1, math.ceil(len(read) / _POINTS))
    return read[::-1][::stride][::-1]


class LearningCurves(Widget):
    r"""Curves of every variant, its mean over seeds, and the difference of two of them, paired by seed.

    State: the ``panel`` (experiment, rung, setting), which ``kind`` of loss, the ``scale`` of the steps, the chosen
    ``variant`` and ``reference`` ("" for the panel's own), and ``at``, the cursor's place in hundredths of the curve.
    The 95 % interval at a step is $\bar d \pm t_{0.975,\,n-1}\, s / \sqrt n$ over the n seeds that both have.

    >>> LearningCurves.compute(LearningCurves(panels=[]).state())["names"]
    []
    """

    title = "Learning curves of the committed runs"
    panel = state(Unicode(""))
    kind = state(Enum(["validation", "training"], "validation"))
    scale = state(Enum(["linear", "log"], "linear"))
    variant = state(Unicode(""))
    reference = state(Unicode(""))
    at = state(Float(100, min=0, max=100))
    panels = state(List())

    @traitlets.default("panels")
    def _committed(self) -> list[dict]:
        return panels_of(card for card in committed() if not card.experiment.startswith(_LEFT_OUT))

    @staticmethod
    def compute(state: dict) -> dict:
        panel = shown(state)
        if panel is None:
            return {
                "panel": "",
                "names": [],
                "variant": "",
                "reference": "",
                "steps": [],
                "index": 0,
                "rows": [],
                "means": [],
                "differences": [],
            }
        names, kind, steps = panel["names"], state["kind"], panel[state["kind"] + "_steps"]
        reference = state["reference"] if state["reference"] in names else panel["reference"]
        others = [name for name in names if name != reference]
        variant = state["variant"] if state["variant"] in others else (others or [""])[0]
        index = math.floor(state["at"] / 100 * (len(steps) - 1) + 0.5)
        runs = by_seed(panel, lambda run: run[kind])

        def difference(name: str, i: int) -> dict:
            pairs = [runs[name][seed][i] - runs[reference][seed][i] for seed in runs[name] if seed in runs[reference]]
            return interval(pairs)

        rows = [
            {"variant": name, "seeds": len(runs[name]), "loss": fmean(run[index] for run in runs[name].values())}
            | (difference(name, index) if name != reference else interval([]))
            for name in names
        ]
        means = [[fmean(run[i] for run in runs[name].values()) for i in range(len(steps))] for name in names]
        return {
            "panel": panel["key"],
            "names": names,
            "variant": variant,
            "reference": reference,
            "steps": steps,
            "index": index,
            "rows": rows,
            "means": means,
            "differences": [difference(variant, i) for i in range(len(steps))] if variant else [],
        }

    def fallback(self) -> str:
        runs = sum(len(panel["runs"]) for panel in self.panels)
        return (
            f"Interactive figure: the learning curves of {runs} runs whose result cards come with the book. One "
            "chooses an experiment and two variants, and reads at any step both losses and their difference, paired by "
            "seed, with its 95 % interval."
        )
