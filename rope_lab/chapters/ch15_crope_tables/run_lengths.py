"""How many more steps a tied model needs to end where RoPE ends: the plan's lengths, read as work."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from math import exp, log

from rope_lab.chapters.ch15_crope_tables import plan_answers
from rope_lab.chapters.ch15_crope_tables.experiments_planned import SEEDS
from rope_lab.training.results.equivalence import Finding

TIED, PLAIN = "CRoPE QKV", "RoPE"
LENGTHS = (250, 500, 1000, 2000)  # steps

Ends = dict[int, dict[int, float]]  # final losses, in nats per token: the steps, the seed


def _model(variant: str, steps: int) -> plan_answers.Model:
    return variant, f"WikiText-2, {steps} steps"


def compared() -> dict[int, Finding]:
    """CRoPE QKV minus RoPE at the end of each length, each model at its own best rate there.

    Returns:
        The exploratory findings by steps, with Holm's correction over the four; empty while a card is missing.
    """
    named = {str(steps): (_model(TIED, steps), _model(PLAIN, steps)) for steps in LENGTHS}
    return {int(finding.name): finding for finding in plan_answers.exploratory("lengths", named)}


def ends(variant: str) -> Ends:
    """The final losses of a model at its own best rate, by length and seed.

    Args:
        variant: "RoPE" or "CRoPE QKV".

    Returns:
        Nats per token, by steps and seed; empty while a card is missing.
    """
    models = {steps: _model(variant, steps) for steps in LENGTHS}
    found = plan_answers.losses_elsewhere("lengths", models.values())
    return {steps: {seed: found[model, seed] for seed in SEEDS} for steps, model in models.items()} if found else {}


def steps_for(loss: float, reference: Mapping[int, float]) -> float:
    r"""The number of steps after which a reference ends at a loss.

    Its ends are joined by straight lines over $\log(\text{steps})$. Beyond the first and the last end the nearest line
    goes on.

    Args:
        loss: In nats per token.
        reference: The reference's final loss by its number of steps; it falls with every length.

    Returns:
        Steps, as a float.

    Raises:
        ValueError: If the reference has fewer than two ends, or does not fall from each to the next.

    >>> round(steps_for(3.5, {100: 4.0, 400: 3.0}), 6)
    200.0
    """
    pieces = list(pairwise(sorted(reference.items())))
    if not pieces or any(after >= before for (_, before), (_, after) in pieces):
        raise ValueError(
            f"reference: expected two ends or more, each below the one before, got {dict(reference)}; look at the runs"
        )
    (short, above), (long, below) = next((piece for piece in pieces if loss >= piece[1][1]), pieces[-1])
    return exp(log(short) + (above - loss) / (above - below) * log(long / short))


def more_steps() -> dict[int, list[float]]:
    """The share of steps more that CRoPE QKV needs to end where RoPE of the same seed ends.

    Returns:
        By CRoPE's number of steps, one share for each seed: 0.1 is ten per cent more, below 0 is fewer; empty while a
        card is missing.
    """
    plain, tied = ends(PLAIN), ends(TIED)
    if not plain or not tied:
        return {}
    return {
        steps: [
            steps / steps_for(loss, {length: own[seed] for length, own in plain.items()}) - 1
            for seed, loss in tied[steps].items()
        ]
        for steps in LENGTHS
    }
