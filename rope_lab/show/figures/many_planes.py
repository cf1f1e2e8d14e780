"""Chapter 2's static figure: how long each plane takes for one turn, and which of them never finish it."""

import numpy as np

from rope_lab.algebra.schedule import wavelengths
from rope_lab.show.style import LIGHT
from rope_lab.show.svg import Picture, figure

__all__ = ["one_turn"]


def one_turn(*, head_dim: int = 128, bases: tuple[float, float] = (10000.0, 500000.0), window: int = 4096) -> Picture:
    """Wavelength against plane, for two bases; a line at the window, above which no plane completes a turn.

    Args:
        head_dim: Width of the head, even.
        bases: Two bases.
        window: Positions that a model sees.

    Returns:
        A `Picture`: inline SVG with title and description.
    """
    planes, waves = np.arange(head_dim // 2), [wavelengths(head_dim, base=base) for base in bases]
    never = [int((wave > window).sum()) for wave in waves]
    desc = (
        f"Positions for one turn against the number of the plane, on a logarithmic axis: two straight lines of dots. "
        f"Of {len(planes)} planes, {never[0]} lie above the window of {window} positions with base {bases[0]:,.0f}, "
        f"and {never[1]} with base {bases[1]:,.0f}."
    )
    with figure(title="How long each plane takes for one turn", desc=desc, size=(5.0, 3.6)) as fig:
        axes = fig.subplots()
        axes.set(yscale="log", xlabel="plane $i$", ylabel="positions for one turn", xlim=(-1, head_dim // 2 + 22))
        axes.set_xticks(range(0, head_dim // 2 + 1, 16))
        powers = [10**p for p in range(1, 7)]
        axes.set_yticks(powers, [f"{power:,}" for power in powers])
        axes.minorticks_off()
        axes.axhspan(window, waves[1][-1] * 4, color=LIGHT["ink"], alpha=0.06, lw=0)
        axes.axhline(window, color=LIGHT["muted"], lw=1)
        axes.text(0, window * 40, f"here: no whole turn\nin {window:,} positions", color=LIGHT["muted"], fontsize=10)
        for wave, base, count, marker in zip(waves, bases, never, ("o", "s"), strict=True):
            turned = wave <= window
            axes.plot(planes[turned], wave[turned], marker, ms=3.5, color=LIGHT["ink"])
            axes.plot(planes[~turned], wave[~turned], marker, ms=3.5, mfc="none", mew=1, color=LIGHT["ink"])
            label = f"base {base:,.0f}:\n{count} of {len(planes)}"
            axes.text(len(planes) + 0.5, wave[-1], label, va="center", fontsize=10)
    return fig.picture
