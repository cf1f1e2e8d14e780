"""What the explorers of result cards share: the panel that is shown, its runs by seed, and intervals. Twin: runs.js."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from statistics import fmean
from typing import Any

from rope_lab.training.results import cards
from rope_lab.training.results.cards import Card

__all__ = ["by_seed", "committed", "interval", "quantiles", "shown"]


def committed(experiments: str = "*") -> Iterator[Card]:
    """Every card that comes with the package, of the experiments whose names match the pattern."""
    for folder in sorted(folder for folder in cards.RESULTS.glob(f"{experiments}/*") if folder.is_dir()):
        yield from cards.load_all(folder.parent.name, folder.name)


def quantiles(found: Iterable[Card]) -> list[float]:
    """t_{0.975, n-1} at index n, for every number of seeds up to that of the cards; 0 where there is no interval."""
    seeds = len({card.seed for card in found})
    return [0.0, 0.0, *(cards.t_quantile(0.975, n - 1) for n in range(2, seeds + 1))]


def shown(state: dict) -> dict | None:
    """The panel that the state names, or else the first one."""
    panels = state["panels"]
    return next((panel for panel in panels if panel["key"] == state["panel"]), panels[0] if panels else None)


def by_seed(panel: dict, pick: Callable[[dict], Any]) -> dict[str, dict[int, Any]]:
    """What ``pick`` takes from each run, by variant and seed."""
    found: dict[str, dict[int, Any]] = {name: {} for name in panel["names"]}
    for run in panel["runs"]:
        found[run["variant"]][run["seed"]] = pick(run)
    return found


def interval(values: Sequence[float], t: Sequence[float]) -> dict[str, Any]:
    """Mean and half width t s / sqrt(n) of paired differences; ``half`` is None for fewer than two.

    >>> interval([1.0, 3.0], [0.0, 0.0, 12.706])
    {'n': 2, 'difference': 2.0, 'half': 12.706}
    """
    n = len(values)
    if n < 2:
        return {"n": n, "difference": values[0] if n else None, "half": None}
    mean = fmean(values)
    sd = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1))
    return {"n": n, "difference": mean, "half": t[n] * (sd / math.sqrt(n))}
