"""Chapter 15's static figures, drawn from result cards: curves, and shares over a pairing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from rope_lab.show.style import LIGHT
from rope_lab.show.svg import Picture, figure
from rope_lab.training.results.cards import Card

__all__ = ["curves", "layers", "planes"]

_LOOK = {"RoPE": ("ink", "-", "o"), "CRoPE QKV": ("linear", "--", "s"), "absolute scaled": ("conjugate", "-.", "^")}
_PAIRINGS = ("random", "laid out", "best of all layers", "best", "best of one")


def curves(found: Sequence[Card], *, corpus: str, since: int = 100) -> Picture:
    """Training and validation loss of three models, mean over the seeds, from step ``since`` on.

    Args:
        found: Result cards of one experiment.
        corpus: The corpus whose runs are drawn.
        since: The first training step to draw.

    Returns:
        A `Picture`: inline SVG with title and description.
    """
    found = [card for card in found if card.setting == corpus]
    names = [name for name in _LOOK if any(card.variant == name for card in found)]
    ends = ", ".join(f"{name} {_mean(found, name, 'valid_loss')[1][-1]:.2f}" for name in names)
    desc = (
        "Two panels, training loss above and validation loss below, each the mean over the seeds. "
        f"At the last step the validation losses are: {ends}."
    )
    seeds = len({card.seed for card in found})
    runs = f"{f'means of {seeds} seeds' if seeds > 1 else 'one seed'} at the rate {found[0].config['lr']:g}"
    with figure(title=f"Training and validation loss on {corpus}, {runs}", desc=desc, heights=(4.8, 5.2)) as fig:
        above, below = fig.subplots(2, 1, sharex=True, sharey=True)
        for axes, kind, title in ((above, "train_loss", "training"), (below, "valid_loss", "validation")):
            for name in names:
                ink, dash, marker = _LOOK[name]
                steps, losses = (values[_mean(found, name, kind)[0] >= since] for values in _mean(found, name, kind))
                seen, often = marker if kind == "valid_loss" else None, -(-len(steps) // 25)
                look = {"marker": seen, "markevery": often, "lw": 1.8, "ms": 5}
                axes.plot(steps, losses, dash, color=LIGHT[ink], label=name, **look)
            axes.set(ylabel="loss, nats per token", title=f"{corpus}, {title}")
        below.set_xlabel("step")
        for axes in (above, below):  # whose scales are one: both are drawn before
            fig.name_lines(axes)
    return fig.picture


def _mean(runs: Sequence[Card], name: str, kind: str) -> tuple[np.ndarray, np.ndarray]:
    own = [card.curve for card in runs if card.variant == name]
    read = [i for i, loss in enumerate(own[0][kind]) if loss is not None]
    return np.array(own[0]["step"])[read], np.mean([[curve[kind][i] for i in read] for curve in own], axis=0)


def layers(found: Sequence[Card], *, variant: str = "RoPE") -> Picture:
    """Complex-linear share of W_q and W_k over each kind of pairing, trained and untrained; one mark for each layer.

    Args:
        found: Result cards of one experiment. Those without measured shares are left out.
        variant: The variant to draw.

    Returns:
        A `Picture`: inline SVG with title and description.
    """
    shares = [card.measured["halves"] for card in found if card.variant == variant and "halves" in card.measured]
    desc = (
        "Five columns, one for each kind of pairing, from random to the best for one matrix. In each, marks for every "
        "layer of the trained and of the untrained model. Random and laid-out pairings lie at one half in both; the "
        "best ones lie higher in both, and most highly where a pairing is chosen for one matrix alone."
    )
    with figure(title=f"Complex-linear share of Q and K, {variant}", desc=desc, heights=(3.8, 4.2)) as fig:
        axes = fig.subplots()
        axes.axhline(0.5, color=LIGHT["muted"], lw=1)
        for side, when, ink, filled in ((-0.17, "untrained", "muted", False), (0.17, "trained", "linear", True)):
            for x, name in enumerate(_PAIRINGS):
                _marks(axes, x + side, shares, when, name, ink=ink, filled=filled)
        axes.plot([], [], "o", mfc="none", color=LIGHT["muted"], label="untrained: circle Q, square K")
        axes.plot([], [], "o", color=LIGHT["linear"], label="trained: filled")
        axes.set(ylabel="share that is complex-linear", ylim=(0.44, 1.0), xlim=(-0.5, len(_PAIRINGS) - 0.5))
        best = ("best,\nall\nlayers", "best,\none\nlayer", "best,\none\nmatrix")
        axes.set_xticks(range(len(_PAIRINGS)), ["random", "laid\nout", *best])
        axes.legend(loc="upper left")
    return fig.picture


def _marks(axes: Axes, x: float, shares: Sequence[dict], when: str, name: str, *, ink: str, filled: bool) -> None:
    for role, marker, nudge in (("q", "o", -0.06), ("k", "s", 0.06)):
        heights = [height for share in shares for height in share[when][name][role]]
        axes.plot(
            np.full(len(heights), x + nudge),
            heights,
            marker,
            ms=4.5,
            color=LIGHT[ink],
            alpha=0.8,
            mfc=LIGHT[ink] if filled else "none",
        )


def planes(found: Sequence[Card], *, variant: str = "RoPE") -> Picture:
    """Share of each plane of each head over the best pairing of its layer: one panel a layer, frequencies falling.

    Args:
        found: Result cards of one experiment. Those without measured shares are left out.
        variant: The variant to draw.

    Returns:
        A `Picture`: inline SVG with title and description.
    """
    measured = [
        card.measured["halves"]["planes"] for card in found if card.variant == variant and "halves" in card.measured
    ]
    q, k = (np.mean([m[role] for m in measured], axis=0) for role in "qk")  # (layers, heads, planes)
    ends = [f"{x[:, :, part].mean():.2f}" for part in (slice(0, 4), slice(-4, None)) for x in (q, k)]
    desc = (
        f"{len(q)} panels, one for each layer; thin lines are heads, thick ones their mean, queries solid and keys "
        f"dashed. The first four planes have a mean share of {ends[0]} for queries and {ends[1]} for keys, the last "
        f"four {ends[2]} and {ends[3]}."
    )
    with figure(title="Share by layer, head and frequency", desc=desc, heights=(4.2, 4.2)) as fig:
        for layer in range(len(q)):
            axes = fig.add_subplot(-(-len(q) // 2), 2, layer + 1)
            for x, ink, dash in ((q, "query", "-"), (k, "key", "--")):
                axes.plot(x[layer].T, dash, color=LIGHT[ink], lw=0.8, alpha=0.35)
                axes.plot(x[layer].mean(0), dash, color=LIGHT[ink], lw=2.2)
            axes.axhline(0.5, color=LIGHT["muted"], lw=1)
            axes.set(title=f"layer {layer}", ylim=(0.4, 1.0), ylabel="share")
            axes.margins(x=0.12)
            axes.set_xticks([0, q.shape[2] - 1], ["fast", "slow"])
            axes.label_outer()
        first = fig.axes[0]
        for height, words, ink in ((0.9, "queries", "query"), (0.77, "keys, dashed", "key")):
            first.text(0.98, height, words, transform=first.transAxes, ha="right", color=LIGHT[ink])
    return fig.picture
