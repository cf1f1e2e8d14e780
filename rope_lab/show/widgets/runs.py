"""What the explorers of result cards share: the panel that is shown, its runs by seed, and intervals. Twin: runs.js."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from rope_lab.training.results import cards, intervals
from rope_lab.training.results.cards import Card

__all__ = ["by_seed", "committed", "interval", "quantiles", "shown"]


def committed(experiments: str = "*") -> list[Card]:
    """Every card that comes with the package, of the experiments whose names match the pattern."""
    return cards.load_every(experiments)


def quantiles(seeds: int) -> list[float]:
    """t_{0.975, n-1} at index n, for every number n of shared seeds up to ``seeds``; 0 where there is no interval."""
    return [0.0, 0.0, *(intervals.t_quantile(0.975, n - 1) for n in range(2, seeds + 1))]


def shown(state: dict) -> dict | None:
    """The panel that the state names, or else the first one."""
    panels = state["panels"]
    return next((panel for panel in panels if panel["key"] == state["panel"]), panels[0] if panels else None)


def by_seed(panel: dict, pick: Callable[[dict], Any]) -> dict[str, dict[int, Any]]:
    """The values that ``pick`` takes from the runs, by variant and seed."""
    found: dict[str, dict[int, Any]] = {name: {} for name in panel["names"]}
    for run in panel["runs"]:
        found[run["variant"]][run["seed"]] = pick(run)
    return found


def interval(values: Collection[float]) -> dict[str, Any]:
    """The interval of `intervals.interval` as the script writes it: None for what too few differences cannot say.

    >>> interval([1.0, 3.0])["difference"], interval([1.0]), interval([])["n"]
    (2.0, {'n': 1, 'difference': 1.0, 'half': None}, 0)
    """
    if not values:
        return {"n": 0, "difference": None, "half": None}
    found = intervals.interval(values)
    return {"n": found.n, "difference": found.mean, "half": found.half if found.n > 1 else None}
