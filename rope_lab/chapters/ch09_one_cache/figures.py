"""Chapter 9's static figures: one step of decoding with one cache, and what models keep for each token."""

import numpy as np

from rope_lab.algebra.cache_size import MODELS, bytes_per_token
from rope_lab.algebra.rotation import rotation_2d
from rope_lab.show.style import LIGHT
from rope_lab.show.svg import Picture, figure

__all__ = ["bytes_for_each_token", "one_step"]

KIND = {"mha": "o", "gqa": "s", "mqa": "^", "mla": "D"}


def one_step(*, tokens: int = 5, theta: float = 0.6) -> Picture:
    """A row of cached latents, each turned by its position; their weighted sum; and the sum turned back.

    Args:
        tokens: Number of cached latents.
        theta: Radians per position.

    Returns:
        A `Picture`: inline SVG with title and description.

    Raises:
        ArithmeticError: If the sum that was turned back is not the relative one.
    """
    c = np.array([rotation_2d(0.2 * (-1.0) ** n) @ [1.0, 0.0] for n in range(tokens)])  # what the tokens say
    a = np.linspace(1.0, 2.0, tokens) / np.linspace(1.0, 2.0, tokens).sum()
    m = tokens - 1
    turned = np.array([rotation_2d(n * theta) @ c[n] for n in range(tokens)])
    total = a @ turned
    back = rotation_2d(-m * theta) @ total
    expected = sum(a[n] * rotation_2d((n - m) * theta) @ c[n] for n in range(tokens))
    if not np.allclose(back, expected):
        raise ArithmeticError("the picture's sum is not the relative one")
    desc = (
        f"{tokens} boxes in a row, the cache. Each holds one arrow, a latent turned by its position: the arrows swing "
        "round from box to box. Lines lead from the boxes to a circle, the weighted sum of the same arrows. "
        "A last circle shows the sum turned back by the query's position."
    )
    with figure(title="One step of decoding with one cache", desc=desc, size=(4.8, 3.6)) as fig:
        axes = fig.subplots()
        axes.set(xlim=(-0.8, 5.6), ylim=(-3.3, 1.5), aspect="equal")
        axes.axis("off")
        for n in range(tokens):
            axes.plot(*_square(1.1 * n, 0.0, 0.5), color=LIGHT["muted"], lw=1)
            _arrow(axes, (1.1 * n, 0.0), 0.42 * turned[n], LIGHT["key"])
            axes.text(1.1 * n, 0.72, f"$\\mathcal{{R}}_{n}c_{n}$", ha="center", fontsize=13.5)
            axes.plot([1.1 * n, 1.1], [-0.5, -1.62], color=LIGHT["hair"], lw=6 * a[n])
        axes.text(-0.5, 1.2, "the cache: key and value in one", color=LIGHT["muted"])
        for at, vector, colour, label in (
            (1.1, total, "value", "weighted sum"),
            (3.9, back, "output", f"output: turned back {m} steps"),
        ):
            round_ = np.linspace(0, 2 * np.pi, 80)
            axes.plot(at + 0.6 * np.cos(round_), -2.2 + 0.6 * np.sin(round_), color=LIGHT["muted"], lw=1)
            _arrow(axes, (at, -2.2), 0.6 * vector / np.linalg.norm(vector), LIGHT[colour])
            axes.text(at, -3.15, label, ha="center")
        axes.annotate("", (3.15, -2.2), (1.85, -2.2), arrowprops={"arrowstyle": "->", "color": LIGHT["ink"]})
        axes.text(2.5, -2.0, f"$\\mathcal{{R}}_{m}^\\top$", ha="center", fontsize=13.5)
    return fig.picture


def bytes_for_each_token() -> Picture:
    """Kibibytes for each token in bfloat16, published models, from the largest to the smallest."""
    models = sorted(MODELS, key=lambda shape: bytes_per_token(shape.built, shape))
    kept = [bytes_per_token(shape.built, shape) / 1024 for shape in models]
    listed = "; ".join(f"{s.name}, {s.built.upper()}: {k:,.1f}" for s, k in zip(models[::-1], kept[::-1], strict=True))
    desc = f"Kibibytes in the cache for each token, on a logarithmic axis. {listed}."
    with figure(title="What one token leaves in the cache", desc=desc, size=(4.8, 3.8)) as fig:
        axes = fig.subplots()
        axes.set(xscale="log", xlabel="KiB for each token, bfloat16", xlim=(40, 12000), ylim=(-0.7, len(models) - 0.3))
        axes.set_yticks(range(len(models)), [shape.name for shape in models])
        axes.set_xticks([100, 1000, 10000], ["100", "1,000", "10,000"])
        axes.minorticks_off()
        axes.grid(visible=True, axis="x")
        for row, (shape, size) in enumerate(zip(models, kept, strict=True)):
            axes.plot([size], [row], KIND[shape.built], ms=6, color=LIGHT["ink"])
            axes.text(
                size * 1.18,
                row,
                f"{size:,.0f}  {shape.built.upper()}",
                va="center",
                bbox={"facecolor": LIGHT["paper"], "edgecolor": "none", "pad": 1.5},
            )
    return fig.picture


def _square(x, y, r):
    return [x - r, x + r, x + r, x - r, x - r], [y - r, y - r, y + r, y + r, y - r]


def _arrow(axes, start, vector, colour):
    end = (start[0] + vector[0], start[1] + vector[1])
    look = {"arrowstyle": "-|>", "color": colour, "lw": 2, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", end, start, arrowprops=look)
