"""Chapter 21's static figures: how far each table turns an axis, and three things that are called interleaved."""

import numpy as np

from rope_lab.algebra.many_axes import (
    axial_frequencies,
    interleaved_frequencies,
    mixed_frequencies,
    section_frequencies,
)
from rope_lab.show.style import LIGHT
from rope_lab.show.svg import Picture, figure

__all__ = ["three_interleavings", "turns_of_tables"]

STEPS = 64
AXES = ("time", "height", "width")
MARKERS = ("s", "^", "o")


def turns_of_tables() -> Picture:
    """The turn of every plane of a head of 128 along each axis across 64 patches, for four tables."""
    vision = ((0, 0), (1, 0))  # these know no time
    tables = {
        "sections": section_frequencies([16, 24, 24], base=1e6),
        "interleaved": interleaved_frequencies([24, 20, 20], base=5e6),
        "axial": np.pad(axial_frequencies(128, base=10000.0), vision),
        "mixed": np.pad(mixed_frequencies(128, angles=0.5, base=10.0), vision),
    }
    far = {name: [float(np.abs(column).max() * STEPS) for column in table.T] for name, table in tables.items()}
    desc = (
        f"Four rows of dots, one dot for each plane and axis; to the right, the turn across {STEPS} steps on a "
        "logarithmic scale, with a line at a whole turn. The fastest plane of height and of width: "
        + "; ".join(f"{name} {h:.2g} and {w:.2g} radians" for name, (_, h, w) in far.items())
        + ". By sections all dots of the width lie far to the left of a whole turn."
    )
    with figure(title=f"How far each axis turns across {STEPS} steps", desc=desc, size=(4.8, 4.9)) as fig:
        axes = fig.subplots()
        axes.set(xscale="log", xlim=(4e-6, 300), ylim=(17.2, -2.2), xlabel="turn, in radians")
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.axvline(2 * np.pi, color=LIGHT["muted"], lw=1, dashes=(4, 3))
        axes.text(2 * np.pi, -1.6, "a whole turn", ha="right", fontsize=10, color=LIGHT["muted"])
        for row, (name, table) in enumerate(tables.items()):
            top = 4.4 * row
            axes.text(5e-6, top - 1.0, name, fontsize=11, va="center", weight="bold")
            for a, (axis, marker) in enumerate(zip(AXES, MARKERS, strict=True)):
                column = np.abs(table[:, a])
                column = column[column > 0] * STEPS
                if len(column):
                    axes.plot(column, np.full(len(column), top + a), marker, ms=3, mew=0, color=LIGHT["ink"], alpha=0.7)
                    axes.text(330, top + a, axis, fontsize=10, va="center", clip_on=False)
    return fig.picture


def three_interleavings() -> Picture:
    """Pairs of coordinates, axes over the planes, and layers without rotation: three meanings of one word."""
    desc = (
        "Three rows. Coordinates: eight cells in a row, neighbours joined by a bow to one plane, which is the "
        "interleaved layout. Planes: eight discs in a row with the letters t, h, w, t, h, w, t, t, which are "
        "interleaved axes. Layers: eight bars in a row, every fourth one empty, which are interleaved layers without "
        "rotation."
    )
    with figure(title="Three things that are called interleaved", desc=desc, size=(4.8, 3.6)) as fig:
        axes = fig.subplots()
        axes.axis("off")
        axes.set(xlim=(-0.7, 7.7), ylim=(-0.9, 6.9))
        ink, paper = LIGHT["ink"], LIGHT["paper"]
        titles = ("pairs of coordinates: a layout", "axes over the planes: a table", "layers without rotation: a list")
        for y, words in zip((6.2, 3.7, 1.2), titles, strict=True):
            axes.text(-0.45, y, words, fontsize=11, va="center")
        for i in range(8):
            axes.plot(i, 5.0, "s", ms=19, mec=ink, mfc=paper, mew=1.2)
            axes.text(i, 5.0, str(i), ha="center", va="center", fontsize=11)
            axes.plot(i, 2.5, "o", ms=20, mec=ink, mfc=paper, mew=1.2)
            axes.text(i, 2.5, "thwthwtt"[i], ha="center", va="center", fontsize=11)
            rests = i % 4 == 3
            axes.bar(i, 1.0, 0.62, -0.5, ec=ink, fc=paper if rests else ink, lw=1.2)
        for i in range(0, 8, 2):
            bow = np.linspace(0, np.pi, 20)
            axes.plot(i + 0.5 - 0.5 * np.cos(bow), 5.45 + 0.3 * np.sin(bow), color=ink, lw=1.4)
    return fig.picture
