"""Chapter 2's static figures: how long each plane takes for one turn, and which angles it shows in a window."""

import numpy as np

from rope_lab.algebra.rotation import frequencies
from rope_lab.algebra.schedule import turns, wavelengths
from rope_lab.show.style import LIGHT
from rope_lab.show.svg import Picture, figure

__all__ = ["angles_met", "one_turn"]


def one_turn(
    *,
    head_dim: int = 128,
    names: tuple[str, str] = ("Llama 2", "Llama 3 8B"),
    bases: tuple[float, float] = (10000.0, 500000.0),
    windows: tuple[int, int] = (4096, 8192),
) -> Picture:
    """Wavelength against plane, for two models; open marks are planes that complete no turn in the model's window.

    Args:
        head_dim: Width of the head, even.
        names: What the two models are called.
        bases: Their bases.
        windows: Positions that each of them saw in training.

    Returns:
        A `Picture`: inline SVG with title and description.
    """
    planes, waves = np.arange(head_dim // 2), [wavelengths(head_dim, base=base) for base in bases]
    never = [int((wave > window).sum()) for wave, window in zip(waves, windows, strict=True)]
    each = [
        f"{name}, base {base:,.0f}, window {window}: {count} of {len(planes)} planes complete no turn."
        for name, base, window, count in zip(names, bases, windows, never, strict=True)
    ]
    desc = (
        "Positions for one turn against the number of the plane, on a logarithmic axis: two straight lines of dots, "
        "filled below the window of the model and open above it. " + " ".join(each)
    )
    with figure(title="How long each plane takes for one turn", desc=desc, size=(4.9, 3.8)) as fig:
        axes = fig.subplots()
        axes.set(yscale="log", xlabel="plane $i$", ylabel="positions for one turn", xlim=(-1, head_dim // 2 + 36))
        axes.set_xticks(range(0, head_dim // 2 + 1, 16))
        powers = [10**p for p in range(1, 7)]
        axes.set_yticks(powers, [f"{power:,}" for power in powers])
        axes.minorticks_off()
        for name, wave, base, window, count, marker in zip(names, waves, bases, windows, never, "os", strict=True):
            axes.axhline(window, color=LIGHT["muted"], lw=1, xmax=0.645)
            turned = wave <= window
            axes.plot(planes[turned], wave[turned], marker, ms=3.5, color=LIGHT["ink"])
            axes.plot(planes[~turned], wave[~turned], marker, ms=3.5, mfc="none", mew=1, color=LIGHT["ink"])
            label = f"{name}:\nbase {base:,.0f},\n{count} of {len(planes)} make no turn"
            axes.text(len(planes) + 2, wave[-1], label, va="center")
        label = f"windows: {windows[1]:,}\nand {windows[0]:,}"
        axes.text(len(planes) + 2, 0.9 * windows[1], label, va="top", color=LIGHT["muted"])
    return fig.picture


def angles_met(*, head_dim: int = 128, base: float = 500000.0, window: int = 8192) -> Picture:
    """For each plane, the part of the circle that occurs in a window, and in one twice as long.

    Args:
        head_dim: Width of the head, even.
        base: Its base.
        window: Positions that a model sees in training.

    Returns:
        A `Picture`: inline SVG with title and description.
    """
    planes = np.arange(head_dim // 2)
    met, wanted = (np.minimum(turns(n, theta=frequencies(head_dim, base=base)), 1) for n in (window, 2 * window))
    new = int((wanted > met).sum())
    desc = (
        f"A bar for each of {len(planes)} planes: the part of the circle that occurs within {window:,} positions. It "
        f"is the whole circle for the fast planes and falls off for the slow ones. A text twice as long adds angles in "
        f"{new} planes."
    )
    with figure(title="The part of the circle that each plane meets in training", desc=desc, size=(4.9, 2.6)) as fig:
        axes = fig.subplots()
        axes.set(xlabel="plane $i$", xlim=(-1, len(planes)), ylim=(0, 1.05))
        axes.set_yticks([0, 0.5, 1], ["0", "half", "whole"])
        axes.set_xticks(range(0, len(planes) + 1, 16))
        axes.bar(planes, wanted, 0.8, color="none", edgecolor=LIGHT["ink"], lw=0.8)
        axes.bar(planes, met, 0.8, color=LIGHT["muted"], lw=0)
        axes.text(planes[met < 1][0] + 5, 0.87, f"open: new in a text\nof {2 * window:,} tokens", va="center")
        axes.text(2, 0.5, f"part of the circle\nmet in {window:,} tokens", va="center", color=LIGHT["paper"])
    return fig.picture
