"""Chapter 20's static figures: which planes a rounded cache leaves behind."""

import numpy as np

from rope_lab.algebra.rotation import frequencies
from rope_lab.algebra.rounded_cache import Store, still_below, turn_miss
from rope_lab.show.style import LIGHT
from rope_lab.show.svg import Picture, figure, line

__all__ = ["frozen_planes"]

PLANES, TURNS = 64, 1024
LINES: tuple[
    tuple[Store, int, tuple[float, float], str, str], ...
] = (  # store, turns, where its name stands (plane, miss), its name, its role
    ("int8", TURNS, (9, 1.5), "int8, in blocks", "conjugate"),
    ("bfloat16", TURNS, (49.5, 0.98), "bf16", "wrong"),
    ("float16", TURNS, (44.5, 0.2), "fp16", "two"),
    ("float32", TURNS, (2, -0.2), "fp32, at 0", "linear"),
)


def frozen_planes() -> Picture:
    """The median miss of each plane of a head of 128 after 1,024 turns by one place, for four caches."""
    theta, keys = frequencies(2 * PLANES), np.random.default_rng(20).normal(size=(16, 2 * PLANES))
    misses = {
        store: np.median(turn_miss(keys, theta=theta, steps=steps, store=store), axis=0) for store, steps, *_ in LINES
    }
    frozen = int((theta < still_below("bfloat16")).sum())
    worst = int(misses["bfloat16"].argmax())
    desc = (
        f"How far the hands of each of {PLANES} planes are from their places after {TURNS:,} turns by one place, in "
        "lengths of the hand, from 0 on. In float32 the line lies at 0. In float16 it rises a little in the slow "
        f"planes. In bfloat16 it is highest around plane {worst} and falls towards the slowest, which had little way "
        f"to go. With blocks of eight bits fast planes are wrong as well. The last {frozen} planes are shaded: there a "
        "turn is less than half a step of bfloat16."
    )
    with figure(title=f"Where {TURNS:,} small turns leave the hands", desc=desc, size=(4.8, 3.4)) as fig:
        axes = fig.subplots()
        axes.set(
            xlabel="plane, from fast to slow", ylabel="miss, in lengths of the hand", xlim=(-1, 64), ylim=(-0.3, 2.6)
        )
        axes.axvspan(PLANES - frozen - 0.5, 64, color=LIGHT["ink"], alpha=0.07, lw=0)
        axes.set_xticks([0, 16, 32, 48, 63])
        for store, _, place, name, role in LINES:
            axes.plot(np.arange(PLANES), misses[store], **line(role), markevery=6)
            axes.text(*place, name, color=LIGHT[role])
    return fig.picture
