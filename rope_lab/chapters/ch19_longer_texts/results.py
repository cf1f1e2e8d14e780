"""What the cards of ``longer-texts`` and ``cache-stream`` say: losses by bins, and the comparisons of their plan.

A page, a figure and a claim take their numbers from here. The plan stands in ``experiments.py``.

>>> from rope_lab.training.results import cards, interval
>>> gaps = beyond_gaps(cards.load_all("longer-texts", "cpu"))
>>> interval(gaps["NTK-aware minus interpolation, beyond, tuned"].values()).decided
True
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Literal

from rope_lab.training.results.cards import Card
from rope_lab.training.results.equivalence import Finding, family

When = Literal["before", "after"]
BySeed = dict[int, float]


def bins(
    found: Iterable[Card], scheme: str = "as trained", *, variant: str = "RoPE", when: When = "before"
) -> dict[int, list[float]]:
    """Losses of ``longer-texts`` along the window, by seed: one mean for each bin of positions.

    Args:
        found: Cards of ``longer-texts``.
        scheme: A schedule by the name that the cards have, such as "NTK-aware"; `schemes` lists them.
        variant: "RoPE", "NoPE" or "small base".
        when: "before" or "after" the tuning.

    Returns:
        Under each seed the losses in nats per character, from the first bin of positions to the last. Seeds without
        such a card are left out.
    """
    read = {card.seed: card.measured["longer texts"][when] for card in found if card.variant == variant}
    return {seed: here[scheme] for seed, here in sorted(read.items()) if scheme in here}


def schemes(found: Iterable[Card], *, when: When = "before") -> list[str]:
    """The schedules that the cards of ``longer-texts`` hold, in their order."""
    return list(dict.fromkeys(name for card in found for name in card.measured["longer texts"][when]))


def middles(card: Card) -> list[float]:
    """The position in the middle of each bin of a card of ``longer-texts``."""
    read = card.measured["longer texts"]
    return [(k + 0.5) * read["width"] for k in range(read["length"] // read["width"])]


def inside(
    found: Sequence[Card], scheme: str = "as trained", *, variant: str = "RoPE", when: When = "before"
) -> BySeed:
    """The loss at the last bin of the trained window, by seed; arguments as in `bins`."""
    return {seed: row[_known(found) - 1] for seed, row in bins(found, scheme, variant=variant, when=when).items()}


def beyond(
    found: Sequence[Card], scheme: str = "as trained", *, variant: str = "RoPE", when: When = "before"
) -> BySeed:
    """The mean loss over the bins beyond the trained window, by seed; arguments as in `bins`."""
    return {seed: fmean(row[_known(found) :]) for seed, row in bins(found, scheme, variant=variant, when=when).items()}


def minus(one: Mapping[int, float], other: Mapping[int, float]) -> BySeed:
    """The difference for each seed that both have.

    >>> minus({0: 2.0, 1: 2.5}, {0: 1.5, 1: 2.0, 2: 7.0})
    {0: 0.5, 1: 0.5}
    """
    return {seed: one[seed] - other[seed] for seed in sorted(one.keys() & other.keys())}


def beyond_gaps(found: Sequence[Card]) -> dict[str, BySeed]:
    """The primary comparisons of ``longer-texts``, in nats per character; those without a card are left out.

    Args:
        found: Cards of ``longer-texts``.

    Returns:
        By name, in the order of the plan, a difference for each seed; `interval` makes a mean and an interval of them.
    """
    asked = {
        "RoPE, no schedule: beyond minus inside": (beyond(found), inside(found)),
        "NTK-aware minus interpolation, beyond, untuned": (beyond(found, "NTK-aware"), beyond(found, "linear")),
        "YaRN, attention factor minus none, beyond, untuned": (beyond(found, "YaRN"), beyond(found, "YaRN, no factor")),
        "NTK-aware minus interpolation, beyond, tuned": (
            beyond(found, "NTK-aware", when="after"),
            beyond(found, "linear", when="after"),
        ),
        "no positions: beyond minus inside": (beyond(found, variant="NoPE"), inside(found, variant="NoPE")),
        "small base: beyond minus inside": (beyond(found, variant="small base"), inside(found, variant="small base")),
    }
    gaps = {name: minus(*pair) for name, pair in asked.items()}
    return {name: by_seed for name, by_seed in gaps.items() if by_seed}


def along(found: Iterable[Card], way: str) -> dict[int, list[float]]:
    """Losses of ``cache-stream`` along the streams, by seed: one mean for each window of steps.

    Args:
        found: Cards of ``cache-stream``.
        way: How keys get to their new places, by the name that the cards have; `ways` lists them.

    Returns:
        Under each seed the losses in nats per character; in the first the cache fills up.
    """
    return {card.seed: card.measured["stream"]["ways"][way] for card in sorted(found, key=lambda card: card.seed)}


def ways(found: Iterable[Card]) -> list[str]:
    """The ways that the cards of ``cache-stream`` hold, in their order."""
    return list(dict.fromkeys(name for card in found for name in card.measured["stream"]["ways"]))


def later_half(found: Iterable[Card], way: str) -> BySeed:
    """The mean loss over the second half of the streams, by seed; arguments as in `along`."""
    return {seed: fmean(row[len(row) // 2 :]) for seed, row in along(found, way).items()}


def stream_gaps(found: Sequence[Card]) -> dict[str, BySeed]:
    """The comparisons of ``cache-stream``, primary ones first, in nats per character; none where there is no card.

    Args:
        found: Cards of ``cache-stream``.

    Returns:
        By name, two primary comparisons and then the controls: a difference for each seed.
    """
    asked = {
        "re-turned in bfloat16 minus in float32": ("re-turned, bfloat16", "re-turned"),
        "re-turned in float32 minus recomputed": ("re-turned", "recomputed"),
        "unturned in float32 minus re-turned in float32": ("unturned", "re-turned"),
        "unturned in bfloat16 minus in float32": ("unturned, bfloat16", "unturned"),
        "by blocks, bfloat16 minus float32": ("by blocks, bfloat16", "by blocks"),
    }
    return {name: minus(*(later_half(found, way) for way in pair)) for name, pair in asked.items()} if found else {}


def _known(runs: Iterable[Card]) -> int:
    """The number of bins within the trained window."""
    card = next(iter(runs))
    return card.config["seq_len"] // card.measured["longer texts"]["width"]


def stretched(found: Sequence[Card]) -> dict[str, list[Finding]]:
    """The two families of ``crope-stretched``, CRoPE QKV minus RoPE in nats per character: what each costs the two.

    Args:
        found: Its cards.

    Returns:
        Findings under "stretched", by schedule after the tuning, and "rounded", by bits; none while a card is missing.
    """
    cost: dict[str, dict[str, BySeed]] = {"stretched": {}, "rounded": {}}
    for sign, variant in ((1, "CRoPE QKV"), (-1, "RoPE")):
        own = [card for card in found if card.variant == variant]
        if {card.seed for card in own} != set(range(5)):
            return {}
        within = inside(own, variant=variant)
        for scheme in ("linear", "NTK-aware", "YaRN"):
            far = beyond(own, scheme, variant=variant, when="after")
            _add(cost["stretched"].setdefault(scheme, {}), minus(far, within), sign)
        for bits in ("8 bits", "4 bits"):
            losses = {card.seed: card.measured["rounded"] for card in own}
            _add(cost["rounded"].setdefault(bits, {}), {s: of[bits] - of["whole"] for s, of in losses.items()}, sign)
    return {
        name: family({each: list(by_seed.values()) for each, by_seed in own.items()}, margin=0.02)
        for name, own in cost.items()
    }


def _add(total: BySeed, values: BySeed, sign: int) -> None:
    for seed, value in values.items():
        total[seed] = total.get(seed, 0.0) + sign * value
