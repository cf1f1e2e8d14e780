"""Chapter 3, Two layouts: which coordinates turn together, and what the choice asks of the weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from rope_lab.algebra import layouts, rotation
from rope_lab.algebra.arguments import Layout
from rope_lab.exercises.core import Question, Task

# --- the prediction: trained in one layout, run in the other ---


def _what_a_mix_up_does() -> list[bool]:
    rng, d = np.random.default_rng(3), 16
    theta = rotation.frequencies(d)

    def logit(q, k, m, n, layout):
        at: dict[str, Any] = {"q_positions": [m], "k_positions": [n], "theta": theta}
        return rotation.logits(q[None], k[None], **at, layout=layout).item()

    draws = [rng.normal(size=(2, d)) for _ in range(20)]
    right, wrong, shifted, home = np.array(
        [
            (
                logit(q, k, 3, 8, "interleaved"),
                logit(q, k, 3, 8, "half"),
                logit(q, k, 90, 95, "half"),
                logit(q, k, 5, 5, "half") - q @ k,
            )
            for q, k in draws
        ]
    ).T
    relative = np.allclose(wrong, shifted) and np.allclose(home, 0)
    return [False, np.allclose(right, wrong), bool(relative and not np.allclose(right, wrong)), not relative]


# --- the fast form of the half-split layout ---


def rotate_half(x, angles):
    a, b = np.split(x, 2)
    c, s = np.cos(angles), np.sin(angles)
    return np.concatenate([a * c - b * s, a * s + b * c])


def _blockwise_signs(x, angles):
    a, b = np.split(x, 2)
    c, s = np.cos(angles), np.sin(angles)
    return np.concatenate([a * c + b * s, a * s - b * c])


def _interleaved(x, angles):
    return layouts.rotate_elementwise(x, 1, theta=angles)


_number = st.floats(-3, 3, allow_nan=False).map(lambda value: round(value, 2))


def _vector(size: int):
    return st.lists(_number, min_size=size, max_size=size).map(np.array)


_turns = st.integers(1, 4).flatmap(lambda planes: st.tuples(_vector(2 * planes), _vector(planes)))


# --- the weights of one model, for the code of another ---


def to_half(W, n_heads):
    heads = W.reshape(n_heads, -1, 2, W.shape[-1])
    return heads.transpose(0, 2, 1, 3).reshape(W.shape)


def _weights(n_heads: int, planes: int, width: int):
    rows = 2 * planes * n_heads
    return np.arange(rows * width, dtype=float).reshape(rows, width), n_heads


_checkpoints = st.tuples(st.integers(1, 3), st.integers(1, 4), st.integers(1, 3)).map(lambda sizes: _weights(*sizes))


# --- an instrument: which coordinate turns with the first? ---


@dataclass(frozen=True)
class Turn:
    """A rotation of vectors of one length, with a layout that it does not tell."""

    head_dim: int
    base: float
    layout: Layout
    direction: int  # +1 counter-clockwise, -1 clockwise

    def __call__(self, x, n):
        theta = rotation.frequencies(self.head_dim, base=self.base)
        return rotation.rotate(np.asarray(x, dtype=float), self.direction * n, theta=theta, layout=self.layout)

    def __repr__(self) -> str:
        way = "counter-clockwise" if self.direction > 0 else "clockwise"
        return f"(x, n) -> x turned {way}, head_dim={self.head_dim}, base={self.base:g}, {self.layout}"


_TURNS = [
    Turn(head_dim, base, layout, direction)
    for layout in ("interleaved", "half")
    for head_dim, base, direction in [(4, 10000.0, 1), (8, 10000.0, 1), (6, 500.0, -1), (16, 10000.0, -1)]
]


def partner_of_first(turn, head_dim):
    x = np.zeros(head_dim)
    x[0] = 1.0
    return 1 + int(np.argmax(np.abs(turn(x, 1)[1:])))


def _changed(turn, x, n):
    return 1 + int(np.argmax(np.abs(turn(x, n) - x)[1:] > 1e-9))


EXERCISES = (
    Question(
        id="ch03.predict-mixup",
        kind="prediction",
        prompt=r"A model was trained with neighbouring coordinates as planes: 0 and 1, 2 and 3, and so on. Its weights "
        r"are loaded into code that turns coordinate $i$ together with $i + d/2$. All shapes fit. What happens?",
        choices=(
            r"An error: the weights do not fit the code.",
            r"Nothing: a pair is a pair, and the logits are the same.",
            r"It runs. The logits still depend on the offset alone, and are right at offset 0; elsewhere they are "
            r"wrong.",
            r"It runs, but the logits now depend on where the words stand, and not only on how far apart they are.",
        ),
        answer="C",
        truth=_what_a_mix_up_does,
        why=r"Each layout by itself is a rotation with the relative law, and both start from the identity. So nothing "
        r"looks broken: only the coordinates of one plane are turned with two frequencies that the training never "
        r"used for them.",
    ),
    Question(
        id="ch03.swaps",
        prompt=r"A head has $d = 10$ coordinates. How many swaps of two rows, at the least, bring the half-split order "
        r"$0, 2, 4, 6, 8, 1, 3, 5, 7, 9$ into the order $0, 1, \dots, 9$?",
        answer=6,
        tolerance=0.1,
        unit="swaps",
        truth=lambda: layouts.minimal_swaps(rotation.layout_permutation(10)),
        hint=r"Follow the loops: place 1 holds 2, place 2 holds 4, place 4 holds 8, and so on until you are back at "
        r"1. A loop of $r$ places takes $r - 1$ swaps.",
        why=r"The loops are $1 \to 2 \to 4 \to 8 \to 7 \to 5$ and $3 \to 6$; 0 and 9 stay. That is $5 + 1$. "
        r"By moves it would be $d/2 - 1 = 4$.",
    ),
    Task(
        id="ch03.rotate-half",
        statement=r"Write `rotate_half(x, angles)` for the half-split layout: `x` has shape `(d,)`, `angles` has shape "
        r"`(d/2,)` and holds one angle in radians for each plane. Turn every plane counter-clockwise, without "
        r"building a matrix.",
        solution=rotate_half,
        examples=_turns,
        mistakes={
            "it pairs neighbours: that is the interleaved layout": _interleaved,
            "it turns clockwise": lambda x, angles: rotate_half(x, -angles),
            "the minus stands on the second half: a reflection": _blockwise_signs,
            "every plane turns by the first angle": lambda x, angles: rotate_half(x, np.full_like(angles, angles[0])),
        },
        hint=r"Cut `x` into its halves $x'$ and $x''$. The result has the halves $x' \odot c - x'' \odot s$ and "
        r"$x' \odot s + x'' \odot c$.",
        why=r"As one line it is $x \odot (c, c) + (-x'', x') \odot (s, s)$, which is what much model code spells out.",
    ),
    Task(
        id="ch03.to-half",
        statement=r"Write `to_half(W, n_heads)`: `W` of shape `(n_heads * head_dim, width)` is a query or key "
        r"projection trained with interleaved planes. Return the matrix of the same shape, its rows put in the order "
        r"that half-split code needs.",
        solution=to_half,
        examples=_checkpoints,
        mistakes={
            "the rows are reordered across the heads, not within each": lambda W, n_heads: to_half(W, 1),  # noqa: ARG005
            "that is the way back": lambda W, n_heads: W[
                layouts.projection_permutation(n_heads, len(W) // n_heads, to="interleaved")
            ],
            "nothing has been reordered": lambda W, n_heads: W,  # noqa: ARG005
        },
        hint=r"Within one head the new order of rows is $0, 2, 4, \dots, 1, 3, 5, \dots$. Split the row axis into "
        r"heads, planes and the two members of a plane; two of these three axes change places.",
        why=r"Queries and keys are permuted alike, so no dot product between them changes, and each pair meets the "
        r"frequency that it was trained with.",
    ),
    Task(
        id="ch03.find-layout",
        statement=r"Write `partner_of_first(turn, head_dim)`. You get a function `turn(x, n)` that rotates a vector "
        r"`x` of shape `(head_dim,)`, with `head_dim` at least 4, as for position `n`. Return the number of the "
        r"coordinate that turns together with coordinate 0. You may only call `turn` and look.",
        solution=partner_of_first,
        examples=st.sampled_from(_TURNS).map(lambda turn: (turn, turn.head_dim)),
        mistakes={
            "every coordinate was filled, so every coordinate changes": lambda turn, d: _changed(turn, np.ones(d), 1),
            "at position 0 nothing turns": lambda turn, d: _changed(turn, np.eye(d)[0], 0),
            "the sign was not taken off: some code turns clockwise": lambda turn, d: (
                1 + int(np.argmax(turn(np.eye(d)[0], 1)[1:]))
            ),
        },
        hint=r"Turn a vector that is zero except in coordinate 0. Its partner is the other coordinate that comes out "
        r"different from zero.",
        why=r"1 means interleaved, $d/2$ means half-split: one probe decides it. The last part of the book turns this "
        r"into an instrument that also reads off the base, the direction and how many coordinates turn.",
    ),
)
