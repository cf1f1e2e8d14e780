"""Chapter 13's static figures: the task, the limit that is no delta, the tilted parabola, and the trained heads."""

import numpy as np

from rope_lab.algebra import additive_head, one_head, rotation, schedule
from rope_lab.show.style import LIGHT
from rope_lab.show.svg import Picture, figure
from rope_lab.training.results import cards, intervals

__all__ = ["no_delta", "the_task", "tilted", "trained_heads"]


def the_task() -> Picture:
    """A line of tokens: those that say next point one on, those that say next-next two."""
    kinds = [1, 2, 1, 1, 2, 2, 1, 1]
    desc = (
        "Eight tokens in a row; each says next or next-next. An arrow leads from a token that says next to the token "
        "beside it, and from one that says next-next to the token after that."
    )
    with figure(title="Each token points as far ahead as it says", desc=desc, size=(4.8, 1.3)) as fig:
        axes = fig.subplots()
        axes.set(xlim=(-0.5, 8.3), ylim=(-0.8, 0.9))
        axes.axis("off")
        for m, s in enumerate(kinds):
            look = LIGHT["one"] if s == 1 else LIGHT["two"]
            word = "next" if s == 1 else "next-\nnext"
            axes.text(m, 0, word, ha="center", va="center", color=look, linespacing=1.1)
            axes.text(m, -0.55, f"${m}$", ha="center", va="center", color=LIGHT["muted"])
            axes.annotate(
                "",
                (m + s - 0.06, 0.24),
                (m + 0.06, 0.24),
                arrowprops={
                    "arrowstyle": "-|>",
                    "color": look,
                    "lw": 1.4,
                    "connectionstyle": f"arc3,rad={-0.75 if s == 1 else -0.5}",
                    "linestyle": "-" if s == 1 else "--",
                },
            )
    return fig.picture


def no_delta(*, sizes: tuple[int, ...] = (32, 128, 1024), reach: int = 12) -> Picture:
    """Normalised logits, which hardly change with d, beside softmax weights, which do.

    Args:
        sizes: Three widths of a head, even.
        reach: Farthest distance drawn, in positions, at most 64.

    Returns:
        A `Picture`: inline SVG with title and description.

    Raises:
        ValueError: If there are not three sizes.
    """
    k = np.arange(-reach, reach + 1)
    weights = {d: one_head.target_weight(64, theta=rotation.frequencies(d)) for d in sizes}
    desc = (
        f"Two panels against the distance from the wanted key, for {', '.join(map(str, sizes))} dimensions. Left: "
        "logits divided by the largest; the curves nearly agree and stay above one half. Right: softmax weights; "
        f"the weight of the wanted key is {', '.join(f'{w:.2f}' for w in weights.values())}."
    )
    with figure(title="The logits are no delta; the softmax becomes one", desc=desc, size=(4.8, 3.1)) as fig:
        left, right = fig.subplots(1, 2, sharey=True)
        for d, dash, ink in zip(sizes, ("-", "--", ":"), ("one", "two", "muted"), strict=True):
            theta = rotation.frequencies(d)
            share = schedule.decay(k, theta=theta)
            left.plot(k, share, color=LIGHT[ink], linestyle=dash, lw=1.6)
            wide = np.exp(d / 2 * (schedule.decay(np.arange(-64, 65), theta=theta) - 1))
            right.plot(k, (wide / wide.sum())[64 - reach : 65 + reach], color=LIGHT[ink], linestyle=dash, lw=1.6)
            right.text(1.5, weights[d] - 0.02, f"$d = {d}$", color=LIGHT[ink], fontsize=11, va="top")
        left.set(title="logit / largest", ylim=(0, 1.06))
        right.set(title="softmax weight")
        fig.supxlabel("distance from the wanted key", fontsize=11)
        return fig.picture


def tilted(*, m: int = 6, window: int = 16) -> Picture:
    """Two peaks over the keys, halfway between the two wanted ones, and what a tilt to either side makes of them.

    The first is a parabola, the second a sum of sinusoids. Played, the parabola follows its query, and then it tilts.

    Args:
        m: Position of the query.
        window: Number of keys.

    Returns:
        A `Picture`: inline SVG with title and description.
    """
    n, keys, back = np.linspace(0, window - 1, 200), np.arange(window), min(3, m)
    head = additive_head.sinusoid_head(window)
    rows: dict[float, np.ndarray] = {s: head.logits(m=m, kind=s - 1) for s in (1, 2)}
    rows[1.5] = (rows[1] + rows[2]) / 2  # the tilts cancel
    desc = (
        f"Two panels with a logit over the key's position, for a query at {m}. Left parabolas, right sums of "
        f"sinusoids, each shown below its top. The dotted peak stands halfway between {m + 1} and {m + 2}. Tilted down "
        f"to the right, the top is at {m + 1}; tilted up, at {m + 2}."
    )
    with figure(title="A tilt moves the top", desc=desc, size=(4.8, 3.0)) as fig:
        left, right = fig.subplots(1, 2)
        lasting = 2.5
        for s, ink, dash in ((1.5, "muted", ":"), (1, "one", "-"), (2, "two", "--")):
            look = {"color": LIGHT[ink], "linestyle": dash, "lw": 1.7}
            parts = left.plot(n, -((n - m - s) ** 2), **look)
            right.plot(keys, rows[s] - rows[s].max(), **look)
            if s != 1.5:
                parts += left.plot(m + s, 0, "o", ms=5, color=LIGHT[ink])
                right.plot(m + s, 0, "o", ms=5, color=LIGHT[ink])
            for part in parts:  # a parabola moves as one piece: untilted as far as the query goes, then to its own top
                way = [[m - back + 1.5, 0.0], [m + 1.5, 0.0], [m + s, 0.0]]
                fig.plays(part, along=np.array(way), seconds=lasting)
        for axes, low, title in ((left, -17, "parabola"), (right, -130, "sinusoids")):
            axes.set(title=title, xlabel="position of the key", ylim=(low, -low / 5), xlim=(0, window - 1))
            for s, word, side in ((1, "next", "right"), (2, "next-next", "left")):
                ink = LIGHT["one" if s == 1 else "two"]
                name = axes.text(m + s + s - 1.5, -low / 25, word, color=ink, ha=side)
                if axes is left:
                    fig.plays(name, appear=True, begin=lasting)
            stand = axes.vlines(m, low, 0, color=LIGHT["muted"], lw=0.8)
            if axes is left:
                name = left.text(m + 0.3, 0.94 * low, "query", ha="left", color=LIGHT["muted"])
                for part in (stand, name):
                    fig.plays(part, along=np.array([[m - back, 0.0], [m, 0.0], [m, 0.0]]), seconds=lasting)
        left.set_ylabel("logit, below the top")
    return fig.picture


def _moved() -> tuple[float, ...]:
    """Shares of right answers of the heads with absolute positions that were moved about: every seed, every length."""
    runs = [card for card in cards.load_all("one-head", "cpu") if card.variant == "absolute, moved"]
    return tuple(share for card in runs for share in card.measured["accuracy"])


def _worst(name: str) -> float:
    return min(card.measured["accuracy"][-1] for card in cards.load_all("one-head", "cpu") if card.variant == name)


def _ahead() -> tuple[float, ...]:
    """Return by how many points CRoPE gets more right than RoPE in the longest sentences, seed by seed."""
    runs = cards.load_all("one-head", "cpu")
    right = {(c.variant, c.seed): 100 * c.measured["accuracy"][-1] for c in runs}
    return tuple(right["CRoPE", seed] - right["RoPE", seed] for seed in {c.seed for c in runs})


MEASURED = {
    "moved": _moved,
    "beyond": lambda: tuple(
        c.measured["accuracy"][1] for c in cards.load_all("one-head", "cpu") if c.variant == "absolute"
    ),
    "worst-rope": lambda: _worst("RoPE"),
    "worst-crope": lambda: _worst("CRoPE"),
    "leads": _ahead,
    "lead": lambda: intervals.interval(_ahead()).mean,
    "lead-half": lambda: intervals.interval(_ahead()).half,
}


def trained_heads() -> Picture:
    """Share of right answers against the length of the test sentence, a line for each seed, from the cards."""
    runs = cards.load_all("one-head", "cpu")
    looks = {"RoPE": "one", "CRoPE": "linear", "absolute": "two", "absolute, moved": "muted"}
    mean = {name: np.mean([c.measured["accuracy"] for c in runs if c.variant == name], axis=0) for name in looks}
    desc = "Share of right answers against sentence length, five seeds each; trained on 32 tokens. " + " ".join(
        f"{name}: on average {values[0]:.2f} at 32, {values[1]:.2f} at 64, {values[-1]:.2f} at 512."
        for name, values in mean.items()
    )
    with figure(
        title="Five heads of each kind, trained on sentences of 32 tokens", desc=desc, heights=(3.2, 3.4)
    ) as fig:
        axes = fig.subplots()
        lengths = runs[0].measured["length"]
        axes.set(
            xscale="log", ylim=(0, 1.05), xlim=(28, 1500), xlabel="length of the test sentence", ylabel="share right"
        )
        axes.set_xticks(lengths, [str(length) for length in lengths])
        axes.minorticks_off()
        axes.axhline(1 / 8, color=LIGHT["muted"], lw=0.8)
        axes.text(29, 0.06, "guessing", color=LIGHT["muted"])
        dashes = {"RoPE": "-", "CRoPE": "-.", "absolute": "--", "absolute, moved": ":"}
        for card in runs:
            colour, dash = LIGHT[looks[card.variant]], dashes[card.variant]
            axes.plot(lengths, card.measured["accuracy"], color=colour, lw=1.1, linestyle=dash)
        for name, look in looks.items():
            axes.text(560, mean[name][-1], name.replace(" ", "\n"), color=LIGHT[look], va="center")
    return fig.picture
