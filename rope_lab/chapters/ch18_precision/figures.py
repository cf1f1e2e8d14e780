"""Chapter 18's static figures: tokens that fall on the same place, and what each cast costs along the text."""

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from rope_lab.algebra.half_precision import Rounding, round_to, turn_errors
from rope_lab.algebra.rotation import frequencies
from rope_lab.show.style import LIGHT
from rope_lab.show.svg import Picture, figure

__all__ = ["LINES", "errors", "rounding_along_the_text", "ruler"]

HEAD_DIM, BASE, REACH = 128, 500000.0, 2**17
LINES = (
    ("positions in bfloat16", (100, 3.5), "o", Rounding(position="bfloat16")),
    ("angles in bfloat16", (1.2, 0.3), "v", Rounding(angle="bfloat16")),
    ("cos and sin in bfloat16", (40, 4.6e-3), "s", Rounding(table="bfloat16")),
    ("cos and sin in float16", (1.2, 9e-5), "D", Rounding(table="float16")),
    ("angles in float32", (450, 7e-6), "^", Rounding(theta="float32", angle="float32")),
)
"""The five lines of the figure: what is cast, where its name stands (position, error), how it is drawn, the casts."""


def ruler(*, first: int = 244, last: int = 272) -> Picture:
    """Tokens above, the places that bfloat16 has for them below, and a line from each token to its place.

    Three rulers, one below the other: around 256, around 512 and around 1024. Played, they scroll in one after another.

    Args:
        first: The first token of the upper ruler, at most 256; the others begin 256 and 768 tokens further on.
        last: The last one, above 256.

    Returns:
        A `Picture`: inline SVG with title and description.

    Raises:
        ValueError: If 256, where tokens begin to merge, is not between them.
    """
    if not first <= 256 < last:
        raise ValueError(f"ruler: expected first <= 256 < last, got {first} and {last}; that is where tokens merge")
    drawn = {}
    for middle in (256, 512, 1024):
        tokens = np.arange(first, last + 1) + middle - 256
        drawn[middle] = tokens, round_to(tokens, dtype="bfloat16")
    counted = [len(np.unique(places)) for _, places in drawn.values()]
    desc = (
        f"The tokens {first} to {last} in a row, and below them the numbers of bfloat16. Up to 256 each token has its "
        f"own number; from there on there are only the even ones, and two or three tokens share one: {counted[0]} "
        f"places. Below, as many tokens around 512 fall on {counted[1]} numbers, and around 1024 on {counted[2]}."
    )
    with figure(title="Where bfloat16 puts the positions around 256, 512 and 1024", desc=desc, size=(4.8, 4.2)) as fig:
        for axes, (middle, row) in zip(fig.subplots(3, 1), drawn.items(), strict=True):
            parts = _ruler(axes, middle, *row)
            if middle > 256:  # the longer texts come after the picture's beginning
                begin = 1.0 if middle == 512 else 3.0
                for part in parts:
                    fig.plays(part, along=np.array([[9.0, 0.0], [0.0, 0.0]]), appear=True, begin=begin, seconds=2)
    return fig.picture


def _ruler(axes: Axes, middle: int, tokens: np.ndarray, places: np.ndarray) -> list[Artist]:
    """One ruler, and what it is made of."""
    axes.axis("off")
    axes.set(xlim=(tokens[0] - 1, tokens[-1] + 1), ylim=(-0.75, 1.65))
    ends = np.stack([np.stack([tokens, np.ones(len(tokens))], 1), np.stack([places, np.zeros(len(tokens))], 1)], 1)
    parts: list[Artist] = [
        axes.add_collection(LineCollection(list(ends), colors=LIGHT["two"], linewidths=1)),
        *axes.plot(tokens, np.ones(len(tokens)), "o", ms=4, color=LIGHT["ink"]),
        *axes.plot(np.unique(places), np.zeros(len(np.unique(places))), "s", ms=5, color=LIGHT["two"]),
    ]
    for n in (tokens[0], middle, tokens[-1]):
        parts.append(axes.text(n, 1.25, str(n), ha="center"))
        parts.append(axes.text(n, -0.5, str(n), ha="center", color=LIGHT["two"]))
    between = (tokens[0] + middle) / 2
    parts.append(axes.text(between, 1.25, "tokens", ha="center", color=LIGHT["muted"]))
    parts.append(axes.text(between, -0.5, "bfloat16", ha="center", color=LIGHT["muted"]))
    return parts


def errors() -> list[tuple[str, np.ndarray, np.ndarray]]:
    """For each line: its name, the upper ends of the stretches of positions, and the worst error in each."""
    theta = frequencies(HEAD_DIM, base=BASE)
    ends = 2 ** np.arange(1, 18)
    lines = []
    for name, _, _, rounding in LINES:
        worst = []
        for end in ends.tolist():
            positions = np.unique(np.linspace(end // 2, end - 1, 160).round())
            worst.append(turn_errors(positions, theta=theta, rounding=rounding).max())
        lines.append((name, ends, np.array(worst)))
    return lines


def rounding_along_the_text() -> Picture:
    """The worst error of a rotated vector in each octave of positions, for five ways to round."""
    desc = (
        f"Worst error of a rotated vector, relative to its length, against the position up to {REACH:,}, on "
        "logarithmic axes. Cosines and sines in a half format: flat lines. Angles in float32: a straight rise, "
        "which crosses the line of the bfloat16 table near the end. Positions in bfloat16: nothing up to 256, then at "
        "once as wrong as can be. Angles in bfloat16: as wrong as can be after a few hundred positions."
    )
    with figure(title="What each cast costs along the text", desc=desc, size=(4.8, 4.4)) as fig:
        axes = fig.subplots()
        axes.set(xscale="log", yscale="log", xlabel="position", ylabel="error of a rotated vector")
        axes.set(xlim=(1, REACH * 1.4), ylim=(2e-8, 8))
        axes.set_xticks([1, 16, 256, 4096, 65536], ["1", "16", "256", "4,096", "65,536"])
        exponents = range(-7, 1, 1)
        axes.set_yticks([10.0**p for p in exponents], [f"$10^{{{p}}}$" for p in exponents], fontsize=13.5)
        axes.minorticks_off()
        for (name, ends, worst), (_, place, marker, _) in zip(errors(), LINES, strict=True):
            there = worst > 0
            ink, lw = ("two", 6) if name == LINES[0][0] else ("ink", 1.2)  # the first lies under another
            axes.plot(ends[there], worst[there], marker=marker, ms=4, lw=lw, color=LIGHT[ink])
            axes.text(*place, name)
    return fig.picture
