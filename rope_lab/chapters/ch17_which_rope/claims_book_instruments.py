"""Chapter 17, the instruments of `rope_lab.audit`: the converter of weights, and what the laws catch by name."""

import numpy as np

from rope_lab import audit
from rope_lab.algebra import layouts, rotation
from rope_lab.claims.ledger import claim

HEADS, D, R, WIDTH = 3, 10, 6, 12  # three planes: with two, the way there and the way back are the same


def _head_logits(W_q, W_k, x, *, layout):
    """The logits of every head, the first R coordinates turned."""
    at, theta, found = np.arange(len(x), dtype=float), rotation.frequencies(R), []
    for head in range(HEADS):
        rows = slice(head * D, head * D + D)
        turned = []
        for W in (W_q, W_k):
            y = x @ W[rows].T
            turned.append(np.concatenate([rotation.rotate(y[:, :R], at, theta=theta, layout=layout), y[:, R:]], axis=1))
        found.append(turned[0] @ turned[1].T)
    return np.array(found)


@claim(
    "book.audit-convert",
    statement=r"With $S \mathcal R_n S^\top = \mathcal R'_n$ and an orthogonal $S$, the weights $SW_q$, $SW_k$ in the "
    r"new code give the logits of $W_q$, $W_k$ in the old.",
    witness=r"Three heads, six of ten coordinates turned: permuted among the six, the logits stay; permuted over the "
    r"whole head, they do not.",
    tolerance=1e-11,
    holds=R,
    control=D,  # as if the whole head turned
)
def converted_weights_keep_the_logits(rotary_dim, rng):
    W_q, W_k = rng.normal(size=(2, HEADS * D, WIDTH)) / 3
    x = rng.normal(size=(5, WIDTH))
    there = [
        audit.permute_rotary(W, n_heads=HEADS, layout_from="interleaved", layout_to="half", rotary_dim=rotary_dim)
        for W in (W_q, W_k)
    ]
    one, other = _head_logits(W_q, W_k, x, layout="interleaved"), _head_logits(there[0], there[1], x, layout="half")
    return np.abs(one - other).max()


@claim(
    "book.audit-gallery",
    statement=r"Each mistake of the gallery breaks the law that it is listed with, and correct rotations in either "
    r"layout, with any base and direction, break none.",
    witness=r"Relativity alone catches less than half of them: a wrong base and a function that turns nothing pass.",
    tolerance=1e-9,
    holds=lambda mistake: mistake.caught_by,
    control=lambda mistake: "relativity",  # noqa: ARG005 - one test for everything
)
def every_mistake_by_name(law, rng):
    missed = 0
    for mistake in audit.GALLERY:
        broken = {seen.name for seen in mistake.examine(head_dim=8) if not seen.ok}
        missed += law(mistake) not in broken
    for layout in ("interleaved", "half"):
        theta = rng.choice([-1, 1]) * rotation.frequencies(8, base=np.exp(rng.uniform(3, 13)))

        def sound(x, positions, theta=theta, layout=layout):
            return layouts.rotate_elementwise(x, positions, theta=theta, layout=layout)

        missed += sum(not seen.ok for seen in audit.laws(sound, head_dim=8))
    return float(missed)
