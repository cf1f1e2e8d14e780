"""Chapter 1's static figures: two hands after a common shift, a turn that undoes part of another, three losses."""

from math import atan2, cos, pi, sin
from statistics import fmean

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Arc, Circle, Wedge

from rope_lab.algebra.rotation import rotate
from rope_lab.show.style import LIGHT
from rope_lab.show.svg import Picture, figure, line
from rope_lab.training.results import cards

__all__ = ["forward_and_back", "same_offset", "what_positions_bring"]

_Q, _K, _THETA = np.array([0.88, 0.28]), np.array([0.82, -0.3]), 0.35


def same_offset(*, m: int = 1, n: int = 5, shift: int = 7) -> Picture:
    """Two clock faces: (m, n) on the left, both moved by ``shift`` on the right; the same angle, the same logit.

    Args:
        m: Position of the query.
        n: Position of the key.
        shift: How many positions both move.

    Returns:
        A `Picture`: inline SVG with title and description.
    """
    logits = [_turned(_Q, m + s) @ _turned(_K, n + s) for s in (0, shift)]
    desc = (
        f"Left: query at position {m}, key at position {n}. Right: both moved {shift} places along. Both hands have "
        f"turned by the same further angle; the angle between them and the logit, {logits[0]:.2f}, are as before."
    )
    title = "Shifting query and key together turns the picture and nothing else"
    with figure(title=title, desc=desc, size=(4.9, 3.1)) as fig:
        for axes, s, logit in zip(fig.subplots(1, 2), (0, shift), logits, strict=True):
            _clock(axes, m + s, n + s, logit)
        for part in [*axes.lines[:2], *axes.patches[1:]]:  # the right clock walks from where the left one stands
            fig.plays(part, turn=shift * _THETA, seconds=2.5)
        for name in axes.texts[:3]:
            fig.plays(name, turn=shift * _THETA, upright=True, seconds=2.5)
    return fig.picture


def what_positions_bring() -> Picture:
    """Validation loss of three models that differ in their positions alone, mean of the seeds, from the cards.

    Returns:
        A `Picture`: inline SVG with title and description.

    Raises:
        ValueError: If a model has no card.
    """
    found = cards.load_all("crope-afterwards", "cpu")
    told = {"NoPE": "no positions", "absolute scaled": "sinusoids added", "RoPE": "rotation"}
    lines = {}
    for variant in told:
        own = [card.curve for card in found if card.variant == variant]
        if not own:
            raise ValueError(f"expected cards of crope-afterwards with {variant}; `rope-lab sweep` makes them")
        read = [i for i, loss in enumerate(own[0]["valid_loss"]) if loss is not None and own[0]["step"][i] >= 100]
        lines[variant] = [(own[0]["step"][i], fmean(curve["valid_loss"][i] for curve in own)) for i in read]
    ends = ", ".join(f"{told[name]} {points[-1][1]:.2f}" for name, points in lines.items())
    desc = f"Three falling lines of validation loss against training steps. At the end: {ends} nats for each token."
    with figure(title="What positions bring", desc=desc, size=(4.8, 2.9)) as fig:
        axes = fig.subplots()
        looks = ((":", "top"), ("--", "bottom"), ("-", "center"))
        for (name, points), (dash, side) in zip(lines.items(), looks, strict=True):
            axes.plot(*zip(*points, strict=True), dash, color=LIGHT["ink"], lw=1.8)
            axes.text(points[-1][0] + 8, points[-1][1], told[name], va=side, fontsize=11)
        axes.set(xlabel="step", ylabel="loss, nats per token", xlim=(90, 670), xticks=range(100, 501, 100))
    return fig.picture


MEASURED = {"gain": lambda: _end("NoPE") - _end("RoPE"), "sinusoids": lambda: _end("absolute scaled") - _end("NoPE")}


def _end(variant: str) -> float:
    return fmean(card.loss() for card in cards.load_all("crope-afterwards", "cpu") if card.variant == variant)


def forward_and_back(*, m: int = 1, n: int = 5) -> Picture:
    """The law of the offset as two arcs: ``n`` steps forward for the key, ``m`` steps back for the query.

    Args:
        m: Position of the query, at most n.
        n: Position of the key.

    Returns:
        A `Picture`: inline SVG with title and description.
    """
    desc = (
        f"From the right, an arc goes {n} steps forward around a circle. A second arc goes {m} back from its end. "
        f"The hand that is left has turned by {n - m}, the offset."
    )
    with figure(title="Forward and back: only the offset is left", desc=desc, size=(4.9, 2.5)) as fig:
        axes = fig.subplots()
        axes.set(xlim=(-1.75, 2.55), ylim=(-0.12, 1.95), aspect="equal")
        axes.axis("off")
        axes.plot([0, 1.62], [0, 0], color=LIGHT["hair"], lw=1)
        for step in range(n + 1):
            axes.plot(*np.outer(_arm(step), (0.97, 1.03)), color=LIGHT["muted"], lw=1)
        axes.plot(*np.stack([_arm(step) for step in np.linspace(0, n, 60)], axis=1), color=LIGHT["hair"], lw=1)
        axes.plot(*np.outer(_arm(n - m), (0, 0.97)), color=LIGHT["ink"], lw=2.6, solid_capstyle="butt")
        _arc(axes, 0, n, 1.22, "key")
        _arc(axes, n, n - m, 1.45, "query")
        end, back, left = _arm((n - m) * 0.48), _arm(n - m / 2), _arm(n - m)
        words, (u, v) = f"key, $R_{{{n}}}$:\n{n} steps forward", 1.42 * end
        axes.text(u, v, words, color=LIGHT["key"], va="center", fontsize=12)
        axes.text(
            1.58 * back[0],
            1.58 * back[1],
            rf"query, $R_{{{m}}}^{{\top}}$: {m} back",
            color=LIGHT["query"],
            ha="center",
            va="bottom",
            fontsize=12,
        )
        axes.text(
            0.6 * left[0] - 0.08,
            0.6 * left[1],
            rf"$R_{{{n - m}}}$",
            color=LIGHT["ink"],
            ha="right",
            va="center",
            fontsize=14,
        )
        axes.plot(0, 0, "o", color=LIGHT["ink"], ms=5)
    return fig.picture


def _arm(position: float) -> np.ndarray:
    return np.array([cos(position * _THETA), sin(position * _THETA)])


def _arc(axes: Axes, start: float, end: float, radius: float, role: str) -> None:
    way = radius * np.stack([_arm(position) for position in np.linspace(start, end, 60)], axis=1)
    axes.plot(*way, **line(role) | {"lw": 2.2}, solid_capstyle="butt", dash_capstyle="butt")
    along = np.array([-_arm(end)[1], _arm(end)[0]]) * np.sign(end - start)
    tip, across = way[:, -1] + 0.09 * along, _arm(end)
    axes.fill(*np.stack([tip, way[:, -1] + 0.055 * across, way[:, -1] - 0.055 * across]).T, color=LIGHT[role], lw=0)


def _turned(vector: np.ndarray, position: int) -> np.ndarray:
    return rotate(vector[None, :], np.array([position]), theta=np.array([_THETA]))[0]


def _clock(axes: Axes, m: int, n: int, logit: float) -> None:
    axes.set(xlim=(-1.4, 1.4), ylim=(-1.85, 1.45), aspect="equal")
    axes.axis("off")
    axes.add_patch(Circle((0, 0), 1, fill=False, color=LIGHT["hair"], lw=1))
    q, k = _turned(_Q, m), _turned(_K, n)
    start, end = atan2(q[1], q[0]), atan2(k[1], k[0])
    end += 2 * pi if end < start else 0
    degrees = {"theta1": np.degrees(start), "theta2": np.degrees(end)}
    axes.add_patch(Wedge((0, 0), 0.42, **degrees, color=LIGHT["ink"], alpha=0.1, lw=0))
    axes.add_patch(Arc((0, 0), 0.84, 0.84, **degrees, color=LIGHT["ink"], lw=1.3))
    middle = (start + end) / 2
    axes.text(0.67 * cos(middle), 0.67 * sin(middle), f"{end - start:.2f}", ha="center", va="center")
    for vector, name, role, position in ((q, "q", "query", m), (k, "k", "key", n)):
        _hand(axes, vector, role)
        x, y = 1.34 * vector / np.hypot(*vector)
        axes.text(x, y, rf"$R_{{{position}}}{name}$", color=LIGHT[role], ha="center", va="center", fontsize=15)
    axes.plot(0, 0, "o", color=LIGHT["ink"], ms=5)
    axes.text(0, -1.5, rf"$m={m},\quad n={n}$", ha="center", va="center", fontsize=14)
    axes.text(0, -1.76, f"logit {logit:.2f}", ha="center", va="center", fontsize=12)


def _hand(axes: Axes, tip: np.ndarray, role: str) -> None:
    along = tip / np.hypot(*tip)
    across = np.array([-along[1], along[0]])
    base = tip - 0.11 * along
    axes.plot([0, base[0]], [0, base[1]], **line(role) | {"lw": 2.6}, solid_capstyle="butt", dash_capstyle="butt")
    axes.fill(*np.stack([tip, base + 0.04 * across, base - 0.04 * across]).T, color=LIGHT[role], lw=0)
