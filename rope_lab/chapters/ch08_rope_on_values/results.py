"""What the cards of ``how-long-ago`` say. Its plan stands in ``task.py``."""

from dataclasses import replace
from math import inf
from statistics import fmean

from rope_lab.training.experiments.rate_choice import losses_by_rate
from rope_lab.training.results import cards
from rope_lab.training.results.equivalence import Finding, small_task


def turned_values() -> list[Finding]:
    """The plan's comparisons, turned values minus none, for each question; empty while a card is missing."""
    pairs = [("QKVO", "QK"), ("VO", "nothing")]
    asked = [
        (f"{question}, {one}", f"{question}, {other}") for question in ("elapsed", "colour") for one, other in pairs
    ]
    return [replace(found, name=found.name.replace("nothing", "NoPE")) for found in small_task("how-long-ago", asked)]


def best_losses() -> dict[str, float]:
    """The mean loss of each model at the best of its rates, in nats per answer, by question and name."""
    best: dict[str, float] = {}
    for variant, of in losses_by_rate(cards.load_all("how-long-ago", "cpu")).items():
        name = variant.rpartition(", ")[0]
        best[name] = min(best.get(name, inf), *(fmean(own.values()) for own in of.values()))
    return best
