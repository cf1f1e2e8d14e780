"""Chapter 2's static figure: how long each plane takes for one turn, and which of them never finish it."""

import numpy as np

from rope_lab.algebra.schedule import wavelengths
from rope_lab.show.style import LIGHT
from rope_lab.show.svg import Picture, figure

__all__ = ["one_turn"]


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
    with figure(title="How long each plane takes for one turn", desc=desc, size=(5.0, 3.8)) as fig:
        axes = fig.subplots()
        axes.set(yscale="log", xlabel="plane $i$", ylabel="positions for one turn", xlim=(-1, head_dim // 2 + 31))
        axes.set_xticks(range(0, head_dim // 2 + 1, 16))
        powers = [10**p for p in range(1, 7)]
        axes.set_yticks(powers, [f"{power:,}" for power in powers])
        axes.minorticks_off()
        for name, wave, base, window, count, marker in zip(names, waves, bases, windows, never, "os", strict=True):
            axes.axhline(window, color=LIGHT["muted"], lw=1, xmax=0.68)
            turned = wave <= window
            axes.plot(planes[turned], wave[turned], marker, ms=3.5, color=LIGHT["ink"])
            axes.plot(planes[~turned], wave[~turned], marker, ms=3.5, mfc="none", mew=1, color=LIGHT["ink"])
            label = f"{name}, base {base:,.0f}:\n{count} of {len(planes)} make no turn"
            axes.text(len(planes) - 1, wave[-1] * 1.5, label, va="bottom", ha="center", fontsize=10)
        axes.text(
            0, windows[-1] * 1.4, f"windows: {windows[0]:,} and {windows[1]:,}", color=LIGHT["muted"], fontsize=10
        )
        axes.set_ylim(top=waves[-1][-1] * 12)
    return fig.picture
