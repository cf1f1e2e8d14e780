"""Chapter 10's static figures: what is left of one value, and what three kinds of decay learned."""

import numpy as np

from rope_lab.algebra.recurrence import impulse_response
from rope_lab.show.style import LIGHT, ROLES
from rope_lab.show.svg import Picture, figure
from rope_lab.training.results import cards

__all__ = ["bell_curves", "fading_and_turning"]


def fading_and_turning(*, gamma: float = 0.9, theta: float = 0.5, steps: int = 8) -> Picture:
    """One value at later steps: an arrow that shrinks, and one that also turns back.

    Args:
        gamma: Decay per step, from 0 to 1.
        theta: Radians per step.
        steps: Number of arrows in a row.

    Returns:
        A `Picture`: inline SVG with title and description.
    """
    real = gamma ** np.arange(steps)
    turning = impulse_response(steps, gamma=gamma, theta=theta)[:, 0]
    desc = (
        f"Two rows of {steps} arrows, one for each step after a value came in. In the upper row every arrow points to "
        f"the right and each is {gamma:g} times as long as the one before. In the lower row the arrows shrink in the "
        "same way, and each is also turned clockwise against the one before."
    )
    with figure(title="What is left of one value", desc=desc, size=(4.8, 1.8)) as fig:
        axes = fig.subplots()
        axes.set(xlim=(-2.0, steps), ylim=(-1.0, 2.35), aspect="equal")
        axes.axis("off")
        for row, name, values in ((1.7, "real", real + 0j), (0.0, "complex", turning)):
            axes.text(-2.0, row, name, va="center", fontsize=11)
            for n, z in enumerate(values):
                axes.plot(n, row, "o", ms=3, color=LIGHT["muted"])
                arrow = axes.annotate(
                    "",
                    (n + 0.85 * z.real, row + 0.85 * z.imag),
                    (n, row),
                    arrowprops={"arrowstyle": "-|>", "color": LIGHT["value"], "lw": 1.8, "shrinkA": 0, "shrinkB": 0},
                )
                if n and arrow.arrow_patch:
                    fig.plays(arrow.arrow_patch, appear=True, begin=0.4 * n)
        axes.text(0.0, 2.1, "value", color=LIGHT["value"])
        for n in range(steps):
            axes.text(n, 0.85, f"${n}$", ha="center", va="center", color=LIGHT["muted"])
        axes.text(-2.0, 0.85, "steps later", va="center", color=LIGHT["muted"])
    return fig.picture


def bell_curves() -> Picture:
    """Training loss of the bell's three models, a line for each seed, from the committed cards."""
    runs = cards.load_all("complex-rnn", "cpu")
    looks = {"complex decay": "one", "real decay": "two", "signed decay": "two"}
    last = {name: np.mean([card.loss() for card in runs if card.variant == name]) for name in looks}
    desc = (
        "Training loss against step for five seeds of each model. "
        + " ".join(f"With {name} the loss ends near {value:.2f}." for name, value in last.items())
        + f" A guess without knowledge costs {np.log(7):.2f}."
    )
    with figure(title="Learning to count a bell", desc=desc, heights=(3.2, 3.3)) as fig:
        axes = fig.subplots()
        axes.set(xlabel="update", ylabel="loss in nats, five seeds of each layer", xlim=(0, 400), ylim=(0, 2.15))
        axes.axhline(np.log(7), color=LIGHT["muted"], lw=1)
        axes.text(398, np.log(7) + 0.05, r"guessing: $\ln 7$", ha="right", color=LIGHT["muted"])
        for card in runs:
            role = ROLES[looks[card.variant]]
            axes.plot(
                card.curve["step"],
                card.curve["train_loss"],
                color=LIGHT[role.name],
                lw=1.3,
                linestyle=(0, role.dash) if role.dash else "-",
            )
        axes.text(130, 0.22, "complex decay", color=LIGHT["one"])
        words = "real decay, of one sign (upper)\nor of both (lower)"
        axes.text(190, 1.58, words, va="center", color=LIGHT["two"])
    return fig.picture
