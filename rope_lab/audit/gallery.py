"""The gallery: known ways to get it wrong, a few lines each, with the law that catches each of them.

>>> wrong = {mistake.name: mistake for mistake in GALLERY}
>>> [law.name for law in wrong["q only"].examine(head_dim=8) if not law.ok]
['relativity', 'non-vacuity']
>>> mistake = wrong["mismatched cos/sin layout"]
>>> like_in_gallery(lambda x, n: mistake.f(x, n), head_dim=8).name, like_in_gallery(right, head_dim=8)
('mismatched cos/sin layout', None)
"""

import copy
import inspect
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rope_lab.algebra.arguments import Layout
from rope_lab.algebra.half_precision import round_to
from rope_lab.algebra.layouts import quarter_turn, rotate_elementwise
from rope_lab.algebra.rotation import frequencies
from rope_lab.audit.law_checks import FLOOR
from rope_lab.audit.law_suite import Law, laws
from rope_lab.audit.probe import Probe, RefusedError, RotaryCallable


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

    def examine(self, *, head_dim: int = 8, only: Collection[str] | None = None) -> list[Law]:
        """Check the laws of `laws`, all or `only` some, on this mistake, with nothing in its memory."""
        return laws(copy.deepcopy(self.f), head_dim=head_dim, keys=self.keys, expected=self.expected, only=only)


def right(x: np.ndarray, positions: np.ndarray, *, base: float = 10000.0, layout: Layout = "half") -> np.ndarray:
    """Rotate x as every mistake of the gallery was meant to."""
    return rotate_elementwise(x, positions, theta=frequencies(x.shape[-1], base=base), layout=layout)


def wrong_base(x, positions):
    return right(x, positions, base=1000.0)


def flipped_sign(x, positions):
    return right(x, -np.asarray(positions))


def other_layout(x, positions):
    return right(x, positions, layout="interleaved")


def mismatched_tables(x, positions, *, base=10000.0):
    """Tables for the interleaved layout, applied in the half-split one."""
    angle = np.repeat(positions[:, None] * frequencies(x.shape[-1], base=base), 2, axis=-1)
    return x * np.cos(angle) + quarter_turn(x, layout="half") * np.sin(angle)


def halves_on_neighbours(x, positions, *, base=10000.0):
    """Tables for the half-split layout, applied in the interleaved one."""
    angle = np.tile(positions[:, None] * frequencies(x.shape[-1], base=base), 2)
    return x * np.cos(angle) + quarter_turn(x, layout="interleaved") * np.sin(angle)


def all_divided(x, positions):
    return right(x, np.asarray(positions) / 4)


def cast_frequencies(x, positions):
    theta = round_to(frequencies(x.shape[-1]), dtype="bfloat16")
    return rotate_elementwise(x, positions, theta=theta, layout="half")


class KeptByLength:
    """Tables kept under the number of tokens alone: the next text of that length gets the first one's positions."""

    def __init__(self):
        self.kept = {}

    def __call__(self, x, positions):
        return right(x, self.kept.setdefault(len(positions), np.array(positions)))


class LongestText:
    """The base grows with the longest text so far, and does not come back."""

    def __init__(self, window=2048):
        self.longest = self.window = window

    def __call__(self, x, positions):
        self.longest = max(self.longest, float(np.max(positions)))
        return right(x, positions, base=10000.0 * self.longest / self.window)


class GrownTable:
    """A table that grows with the texts, in the dtype of the call that made it grow."""

    def __init__(self):
        self.angles, self.dtype = 0, np.float64

    def __call__(self, x, positions):
        if np.max(positions) >= self.angles:
            self.angles, self.dtype = int(np.max(positions)) + 1, x.dtype
        angle = np.tile(np.asarray(positions)[:, None] * frequencies(x.shape[-1]), 2)
        cos, sin = np.cos(angle).astype(self.dtype), np.sin(angle).astype(self.dtype)
        return (x * cos + quarter_turn(x, layout="half") * sin).astype(x.dtype)


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


def one_based(x, positions, *, base=10000.0):
    return right(x, np.asarray(positions) + 1, base=base)


def twice(x, positions):
    """Turned in the projection and again in the attention."""
    return right(right(x, positions), positions)


def degrees(x, positions):
    return right(x, np.degrees(positions))


MEANT = {"layout": "half-split", "base": 10000.0, "direction": 1}
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
        keys=norm_leak,  # alone it could be one half of xPos
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
    Mistake(
        "tables of halves on neighbours",
        "The other way round: tables for the half-split layout, pairs of neighbours.",
        halves_on_neighbours,
        "isometry",
        "Build the tables for the pairs that the rotation uses.",
    ),
    Mistake(
        "every frequency divided",
        "A schedule that should slow the slow planes slows all of them alike.",
        all_divided,
        "expected base",
        "Change the base, and leave the fastest plane as it is.",
        expected=MEANT,
    ),
    Mistake(
        "frequencies cast with the module",
        "The frequencies are a buffer, and went to bfloat16 with the weights.",
        cast_frequencies,
        "expected base",
        "Keep them in float32 whatever the weights are.",
        expected=MEANT,
    ),
    Mistake(
        "tables kept by length",
        "A second text of the same length gets the positions of the first.",
        KeptByLength(),
        "earlier calls",
        "Keep tables under the positions, or compute them.",
    ),
    Mistake(
        "the longest text stays",
        "A dynamic schedule remembers the longest text and treats short ones like it.",
        LongestText(),
        "earlier calls",
        "Let each text have its own base, or fix one for all.",
    ),
    Mistake(
        "table in the caller's dtype",
        "The table grows in the dtype of the call, and stays so for all that follow.",
        GrownTable(),
        "earlier dtypes",
        "Keep the table in float32, and cast its rows.",
    ),
)
"""Each known mistake, with the law that catches it. Claim: `book.audit-gallery`."""

BASES = (10000.0, 500000.0, 1000000.0, 100.0)  # of texts and of images, where a mistake can be made with any
AT = (0, 3, 1, 7, 4)


def like_in_gallery(f: Any, *, head_dim: int) -> Mistake | None:
    """The first mistake of the gallery whose answers f gives, at positions near 0 and for several bases.

    A mistake counts that a law finds in one callable without memory. What is lawful and only not what was meant is
    no mistake that answers could show.

    Args:
        f: The callable `f(x, positions)`, as in `fingerprint`.
        head_dim: The width of a head, a positive even integer.

    Returns:
        The `Mistake`, or None where f answers like none of them or does not answer.

    Raises:
        TypeError: If head_dim is not an integer.
        ValueError: If head_dim is not positive and even.
    """
    x, at = np.random.default_rng(3).normal(size=(2, 3, len(AT), head_dim)), np.array(AT)
    try:
        probe = Probe(f, head_dim=head_dim)
        answer = probe(x, at)
    except RefusedError:
        return None

    def same(other: np.ndarray) -> bool:
        return bool(np.abs(answer - other).max() <= 8 * max(FLOOR, probe.eps) * np.abs(x).max())

    if any(same(right(x, at, base=base, layout=layout)) for base in BASES for layout in ("half", "interleaved")):
        return None
    for mistake in GALLERY:
        if mistake.keys is None and not mistake.expected and inspect.isfunction(mistake.f):
            takes_base = "base" in inspect.signature(mistake.f).parameters
            if any(same(mistake.f(x, at, base=base) if takes_base else mistake.f(x, at)) for base in BASES):
                return mistake
    return None
