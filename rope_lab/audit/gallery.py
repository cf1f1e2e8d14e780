"""The gallery: known ways to get it wrong, a few lines each, with the law that catches each of them.

>>> wrong = {mistake.name: mistake for mistake in GALLERY}
>>> [law.name for law in wrong["q only"].examine(head_dim=8) if not law.ok]
['relativity', 'non-vacuity']
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rope_lab.algebra.arguments import Layout
from rope_lab.algebra.half_precision import round_to
from rope_lab.algebra.layouts import quarter_turn, rotate_elementwise
from rope_lab.algebra.rotation import frequencies
from rope_lab.audit.law_suite import Law, laws
from rope_lab.audit.probe import RotaryCallable


@dataclass(frozen=True)
class Mistake:
    """One way to get it wrong: f turns q, and k unless ``keys`` does."""

    name: str
    about: str  # what happened, in one or two sentences
    f: RotaryCallable
    caught_by: str  # the name of a law
    fix: str  # what to do, in a few words
    keys: RotaryCallable | None = None
    expected: dict[str, Any] = field(default_factory=dict)  # what its author meant, if no law alone can know it

    def examine(self, *, head_dim: int = 8) -> list[Law]:
        """Check every law of `laws` on this mistake."""
        return laws(self.f, head_dim=head_dim, keys=self.keys, expected=self.expected)


def right(x: np.ndarray, positions: np.ndarray, *, base: float = 10000.0, layout: Layout = "half") -> np.ndarray:
    """What all of them meant to write."""
    return rotate_elementwise(x, positions, theta=frequencies(x.shape[-1], base=base), layout=layout)


def wrong_base(x, positions):
    return right(x, positions, base=1000.0)


def flipped_sign(x, positions):
    return right(x, -np.asarray(positions))


def other_layout(x, positions):
    return right(x, positions, layout="interleaved")


def mismatched_tables(x, positions):
    """Tables for the interleaved layout, applied in the half-split one."""
    angle = np.repeat(positions[:, None] * frequencies(x.shape[-1]), 2, axis=-1)
    return x * np.cos(angle) + quarter_turn(x, layout="half") * np.sin(angle)


def head_axis(x, positions):  # noqa: ARG001
    """The tables lie along the wrong axis: all tokens of a head turn by the same angle."""
    return np.swapaxes(right(np.swapaxes(x, -2, -3), np.arange(x.shape[-3])), -2, -3)


def batch_axis(x, positions):  # noqa: ARG001
    return np.stack([right(row, np.full(x.shape[-2], n)) for n, row in enumerate(x)])


def no_op(x, positions):  # noqa: ARG001
    return x


def half_positions(x, positions):
    return right(x, round_to(positions, dtype="bfloat16"))


def half_angles(x, positions):
    angle = round_to(np.asarray(positions)[:, None] * frequencies(x.shape[-1]), dtype="bfloat16")
    angle = np.concatenate([angle, angle], axis=-1)
    return x * np.cos(angle) + quarter_turn(x, layout="half") * np.sin(angle)


def norm_leak(x, positions):
    """A decay meant for q and its inverse for k, applied to q and k alike."""
    return right(x, positions) * 0.999 ** np.asarray(positions)[:, None]


def wrong_pairs(x, positions, *, share=0.5):
    """Partial rotation of the first r coordinates, but paired as if all of them turned."""
    r, d = int(x.shape[-1] * share), x.shape[-1]
    turning = np.r_[: r // 2, d // 2 : d // 2 + r // 2]
    y = np.array(x)
    y[..., turning] = right(x[..., turning], positions)
    return y


def other_base_in_cache(x, positions):
    return right(x, positions, base=500000.0)


class StaleCache:
    """Layers share tables by width alone; the second layer asked for another base and gets the first one's."""

    def __init__(self):
        self.tables = {}

    def layer(self, base):
        def f(x, positions):
            theta = self.tables.setdefault(x.shape[-1], frequencies(x.shape[-1], base=base))
            return rotate_elementwise(x, positions, theta=theta, layout="half")

        return f


def stale_theta(x, positions):
    cache = StaleCache()
    cache.layer(10000.0)(x, positions)
    return cache.layer(500000.0)(x, positions)


def forgets_offset(x, positions):
    """Decoding one token at a time, the first row of the table is taken for every token."""
    return right(x, np.arange(len(positions)))


def one_based(x, positions):
    return right(x, np.asarray(positions) + 1)


def twice(x, positions):
    """Turned in the projection and again in the attention."""
    return right(right(x, positions), positions)


def degrees(x, positions):
    return right(x, np.degrees(positions))


MEANT = {"layout": "half-split", "base": 10000.0, "direction": 1}
# Each known mistake, with the law that catches it. Claim: `book.audit-gallery`.
GALLERY = (
    Mistake(
        "wrong base",
        "Trained with base 10000, run with 1000: a lawful rotation, but not the one of this model.",
        wrong_base,
        "expected base",
        "Take the base from the checkpoint's configuration.",
        expected=MEANT,
    ),
    Mistake(
        "flipped sign",
        "Both turn clockwise: the logits depend on m - n in place of n - m.",
        flipped_sign,
        "expected direction",
        "Change the sign of every sine.",
        expected=MEANT,
    ),
    Mistake(
        "other layout",
        "The weights are for the half-split layout, the rotation is interleaved: lawful, and wrong for these weights.",
        other_layout,
        "expected layout",
        "Permute the weights of q and k, or use the other rotation.",
        expected=MEANT,
    ),
    Mistake(
        "mismatched cos/sin layout",
        "The tables are for the interleaved layout, the pairs for the half-split one.",
        mismatched_tables,
        "isometry",
        "Build the tables for the pairs that the rotation uses.",
    ),
    Mistake(
        "head axis as position",
        "The tables are laid along the heads.",
        head_axis,
        "non-vacuity",
        "Lay cosines and sines along the axis of the tokens.",
    ),
    Mistake(
        "batch axis as position",
        "The tables are laid along the batch.",
        batch_axis,
        "non-vacuity",
        "Lay cosines and sines along the axis of the tokens.",
    ),
    Mistake(
        "no-op",
        "Nothing turns. Every test of a norm or of shifted positions passes.",
        no_op,
        "non-vacuity",
        "Pass the positions on, and use what comes back.",
    ),
    Mistake(
        "bf16 positions",
        "Positions were cast with the model: from 257 on, neighbours share one.",
        half_positions,
        "long positions",
        "Multiply positions by the frequencies in float32.",
    ),
    Mistake(
        "bf16 angles",
        "Positions are whole, but n theta is rounded to 8 bits.",
        half_angles,
        "long positions",
        "Compute angles in float32, and only then round cosine and sine.",
    ),
    Mistake(
        "norm leak",
        "A decay that belongs on q, and its inverse on k, is on both.",
        norm_leak,
        "isometry",
        "Put the inverse factor on k.",
    ),
    Mistake("q only", "The keys were forgotten.", right, "non-vacuity", "Turn k as well.", keys=no_op),
    Mistake(
        "opposite signs",
        "q turns one way, k the other: the logits depend on n + m.",
        right,
        "relativity",
        "Turn q and k by the same function.",
        keys=flipped_sign,
    ),
    Mistake(
        "wrong partial pairing",
        "The first half of the width turns, paired across the whole width.",
        wrong_pairs,
        "expected layout",
        "Cut the turning coordinates out first, then pair them.",
        expected={"layout": "half-split"},
    ),
    Mistake(
        "cached keys under another base",
        "The keys were cached before the base was changed.",
        right,
        "relativity",
        "Compute the cached keys anew.",
        keys=other_base_in_cache,
    ),
    Mistake(
        "stale cache that forgot theta",
        "A table shared by width alone: the second base is never used.",
        stale_theta,
        "expected base",
        "Give each layer its own tables, or key the cache by the base too.",
        expected={"base": 500000.0},
    ),
    Mistake(
        "decoding forgets the offset",
        "Each new token is turned as if it were the first.",
        forgets_offset,
        "cached decoding",
        "Start the positions at the length of the cache.",
    ),
    Mistake(
        "counting from one",
        "Position 0 turns too. Harmless until keys come from elsewhere.",
        one_based,
        "identity at zero",
        "Count from zero.",
    ),
    Mistake(
        "turned twice",
        "Once in the projection, once in the attention: every frequency doubled.",
        twice,
        "expected base",
        "Remove one of the two rotations.",
        expected=MEANT,
    ),
    Mistake(
        "degrees for radians",
        "The angle went through a conversion.",
        degrees,
        "expected base",
        "Leave the angle in radians.",
        expected=MEANT,
    ),
)
