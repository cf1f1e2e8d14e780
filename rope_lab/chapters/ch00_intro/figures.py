"""The introduction's pictures: which chapter needs which, the engineer's short tour, and one small picture a part."""

from collections.abc import Callable
from typing import Any

import numpy as np

from rope_lab.algebra import half_precision
from rope_lab.algebra.rotation import frequencies, rotate
from rope_lab.show.style import FLAG, LIGHT
from rope_lab.show.svg import Picture, figure
from rope_lab.training.results import cards

__all__ = ["NEEDS", "PARTS", "TOUR", "book_map", "part_picture"]

# fmt: off
PLACES = {  # of each chapter: column, row
    1: (0, 3.5), 2: (1, 3.5), 3: (2, 6.1), 17: (3, 6.4), 18: (2, 5.0), 4: (3, 5.6), 5: (4, 5.6), 6: (5, 5.6),
    7: (3, 4.85), 8: (2, 2.8), 9: (3, 3.5), 10: (3, 2.8), 14: (2.35, 1.95), 16: (4, 1.8), 11: (2, 0.2), 12: (3, 0.0),
    15: (4, 0.9), 13: (3, -0.7), 19: (5, 6.4), 20: (5.2, 3.0), 21: (3, 7.2),
}
NEEDS = {  # as the chapters say it, without what the needed chapter needs itself
    2: (1,), 3: (2,), 17: (3,), 18: (1,), 4: (3,), 5: (4,), 6: (5,), 7: (3,), 8: (1,), 9: (8,), 10: (8,), 11: (1,),
    12: (11,), 13: (2, 11), 14: (1,), 15: (11, 14), 16: (8, 14), 19: (17,), 20: (9, 18), 21: (3,),
}
# fmt: on
TOUR = (1, 2, 3, 17)
WORDS = {  # beside a chapter, or above the middle of three
    "your code": (3.35, 6.68),
    "rounding": (1.62, 4.36),
    "longer texts": (5.4, 6.4),
    "no other way": (5.4, 5.6),
    "one cache": (1.45, 3.7),
    "cache surgery": (4.95, 2.4),
    "recurrence": (3.4, 2.74),
    "trained models": (4.4, 1.4),
    "complex weights": (3.4, -0.3),
    "many axes": (3.4, 4.85),
    "norms and layers": (3.4, 7.2),
}


def book_map() -> Picture:
    """Every chapter as a disc with its number, lines from what it needs, the engineer's tour filled.

    Returns:
        A `Picture`: inline SVG with title and description.
    """
    said = "; ".join(f"{n} needs {' and '.join(map(str, NEEDS[n]))}" for n in sorted(NEEDS))
    with figure(
        title="What needs what",
        desc=f"The chapters by number, each to the right of what it needs: {said}. "
        f"Filled: {', '.join(map(str, TOUR))}.",
        size=(4.7, 4.3),
    ) as fig:
        axes = fig.subplots()
        axes.axis("off")
        axes.set(xlim=(-0.35, 7.35), ylim=(-1.1, 7.6))
        for n, needed in NEEDS.items():
            for m in needed:
                axes.plot(*zip(PLACES[m], PLACES[n], strict=True), color=LIGHT["muted"], lw=1, zorder=1)
        for n, place in PLACES.items():
            filled = n in TOUR
            axes.plot(*place, "o", ms=20, mec=LIGHT["ink"], mfc=LIGHT["ink" if filled else "paper"], mew=1.2, zorder=2)
            ink = LIGHT["paper" if filled else "ink"]
            axes.text(*place, str(n), ha="center", va="center", fontsize=11, color=ink, zorder=3)
        for words, at in WORDS.items():
            axes.text(*at, words, va="center", fontsize=11)
    return fig.picture


def _hand(axes: Any, tip: np.ndarray, role: str, *, at: tuple[float, float] = (0, 0), alpha: float = 1) -> None:
    arrow = {"arrowstyle": "-|>", "lw": 2, "color": LIGHT[role], "shrinkA": 0, "shrinkB": 0, "alpha": alpha}
    axes.annotate("", np.add(at, tip), at, arrowprops=arrow)


def _square(axes: Any, *, wide: float = 2.4) -> None:
    axes.set(xlim=(-wide, wide), ylim=(-1.35, 1.35), aspect="equal")


def _rotate(axes: Any) -> None:
    turn = np.linspace(0, 2 * np.pi, 90)
    for place, at in ((0, -1.45), (5, 1.45)):
        axes.plot(at + np.cos(turn), np.sin(turn), color=LIGHT["muted"], lw=0.8)
        for role, angle in (("query", 0.3), ("key", 1.2)):
            tip = rotate([0.95, 0.0], place, theta=0.4) @ _turn(angle)
            _hand(axes, tip, role, at=(at, 0))
            axes.text(*(1.25 * tip + [at, 0]), f"${role[0]}$", color=LIGHT[role], ha="center", va="center")
    _square(axes, wide=2.7)


def _turn(angle: float) -> np.ndarray:
    return np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])


def _complete(axes: Any) -> None:
    times = np.linspace(0, 34, 900)
    x = rotate(np.tile([1.0, 0.0], (len(times), 2)), times, theta=[1.0, 0.382])
    axes.plot(-1.3 + 0.55 * (x[:, 0] + x[:, 2]), 0.55 * (x[:, 1] + x[:, 3]), color=LIGHT["muted"], lw=0.9)
    for plane, (at, wide) in enumerate(((0.62, 0.62), (1.75, 0.42))):
        axes.plot(at + wide * x[:, 2 * plane], wide * x[:, 2 * plane + 1], color=LIGHT["ink"], lw=1.6)
    _square(axes)


def _values(axes: Any) -> None:
    places = np.linspace(-2, 0.6, 4)
    for n, at in enumerate(places):
        _hand(axes, rotate([0.6, 0.0], n, theta=0.7), "value", at=(at, -0.4))
        axes.plot(at, -0.4, ".", color=LIGHT["value"])
    seen = rotate(np.tile([0.6, 0.0], (4, 1)), np.arange(4) - 3, theta=0.7)
    tip = 0.55 * seen.sum(axis=0)
    _hand(axes, tip, "output", at=(1.5, 0.3))
    axes.plot(1.5, 0.3, ".", color=LIGHT["output"])
    axes.text(-0.65, -0.95, "$v$", color=LIGHT["value"], ha="center", va="center")
    axes.text(*(1.3 * tip + [1.5, 0.3]), "$o$", color=LIGHT["output"], ha="center", va="center")
    _square(axes)


def _complex(axes: Any) -> None:
    for sign, role, alpha in ((1, "linear", 1.0), (-1, "conjugate", 1.0)):
        flag = 0.9 * FLAG @ _turn(0.35) + [0.25, 0.12]
        axes.fill(*(flag * [1.5, sign]).T, color=LIGHT[role], alpha=0.35 * alpha, lw=0)
        axes.plot(*(np.vstack([flag, flag[:1]]) * [1.5, sign]).T, color=LIGHT[role], lw=1.4)
    axes.axhline(0, color=LIGHT["muted"], lw=0.8)
    axes.set(xlim=(-0.9, 2.5), ylim=(-1.25, 1.25))


def _laboratory(axes: Any) -> None:
    for card in cards.load_all("crope-table1", "cpu"):
        read = [(step, loss) for step, loss in zip(*map(card.curve.get, _CURVE), strict=True) if loss is not None]
        axes.plot(*zip(*read, strict=True), color=LIGHT["ink"], lw=0.9, alpha=0.55)
    axes.margins(0.04, 0.08)


def _wild(axes: Any) -> None:
    places = np.linspace(480, 540, 400)
    axes.plot(places, places, color=LIGHT["muted"], lw=1)
    axes.plot(places, half_precision.round_to(places, dtype="bfloat16"), color=LIGHT["ink"], lw=2)
    axes.margins(0.04, 0.08)


def _long(axes: Any) -> None:
    theta = frequencies(64, base=500000.0)
    share = np.clip((np.arange(len(theta)) - 9) / 9, 0, 1)
    axes.plot(np.log(theta), color=LIGHT["muted"], lw=1)
    axes.plot(np.log((1 - share) * theta + share * theta / 30), color=LIGHT["ink"], lw=2)
    axes.margins(0.04, 0.08)


_CURVE = ("step", "valid_loss")
PARTS: dict[str, tuple[str, Callable[[Any], None]]] = {
    "I": ("Two clocks. The hands of query and key have turned, and the angle between them is the same.", _rotate),
    "II": ("A winding orbit falls apart into two circles.", _complete),
    "III": ("Four values, each turned further than the one before, and the output that is turned back.", _values),
    "IV": ("A letter F and its mirror image: the two halves of a real map of the plane.", _complex),
    "V": ("Learning curves of small models: the loss falls as training goes on.", _laboratory),
    "VI": ("A straight line, and the stairs that rounded positions make of it.", _wild),
    "VII": ("A falling list of frequencies, and the same list bent down at its slow end.", _long),
}


def part_picture(number: str) -> Picture:
    """A small picture without words for one part of the book.

    Args:
        number: The part's Roman number.

    Returns:
        A `Picture`: inline SVG with title and description.

    Raises:
        KeyError: If there is no picture for this part; `PARTS` has them.
    """
    desc, draw = PARTS[number]
    with figure(title=f"Part {number}", desc=desc, size=(2.4, 1.2)) as fig:
        axes = fig.subplots()
        axes.axis("off")
        draw(axes)
    return fig.picture
