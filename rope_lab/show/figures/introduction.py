"""The introduction's picture: which chapter needs which, and the engineer's short tour through them."""

from rope_lab.show.style import LIGHT
from rope_lab.show.svg import Picture, figure

__all__ = ["NEEDS", "TOUR", "book_map"]

# fmt: off
PLACES = {  # of each chapter: column, row
    1: (0, 3.5), 2: (1, 3.5), 3: (2, 6.1), 17: (3, 6.1), 18: (2, 5.2), 4: (2, 4.2), 5: (3, 4.2), 6: (4, 4.2),
    7: (5, 4.2), 8: (2, 2.8), 9: (3, 3.3), 10: (3, 2.68), 14: (2, 1.6), 16: (4, 1.7), 11: (2, 0.2), 12: (3, 0.5),
    15: (4, 1), 13: (3, -0.3),
}
NEEDS = {  # without what the needed chapter needs itself
    2: (1,), 3: (2,), 17: (3,), 18: (2,), 4: (2,), 5: (4,), 6: (5,), 7: (6,), 8: (2,), 9: (8,), 10: (8,), 11: (2,),
    12: (11,), 13: (11,), 14: (2,), 15: (12, 14), 16: (8, 14),
}
# fmt: on
TOUR = (1, 2, 3, 17)
WORDS = {  # beside a chapter, or above the middle of three
    "your code": (3.4, 6.1),
    "rounding": (2.4, 5.2),
    "no other way": (3.4, 4.8),
    "one cache": (3.4, 3.3),
    "recurrence": (3.4, 2.68),
    "trained models": (4.4, 1.4),
    "complex weights": (3.4, -0.3),
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
        size=(4.8, 3.9),
    ) as fig:
        axes = fig.subplots()
        axes.axis("off")
        axes.set(xlim=(-0.35, 6.3), ylim=(-0.8, 6.5))
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
