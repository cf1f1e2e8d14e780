"""Chapter 3, Two layouts: which components turn together, and what the choice asks of the weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from rope_lab.algebra import layouts, rotation
from rope_lab.algebra.arguments import Layout
from rope_lab.exercises.core import Question, Task
from rope_lab.exercises.turn import Turn

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
    right_at_zero, relative, wrong_elsewhere = (
        np.allclose(home, 0),
        np.allclose(wrong, shifted),
        not np.allclose(wrong, right),
    )
    found = (right_at_zero and wrong_elsewhere, relative)
    return [found == wanted for wanted in ((True, False), (True, True), (False, False), (False, True))]


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


# --- an instrument: who turns with whom? ---


_SIZES = [(4, 10000.0, 1, 0), (8, 10000.0, 1, 4), (6, 500.0, -1, 0), (16, 10000.0, -1, 8)]
_TURNS = [
    Turn(head_dim, base, layout, direction, rotary_dim)
    for layout in ("interleaved", "half")
    for head_dim, base, direction, rotary_dim in _SIZES
]


def partners(turn, head_dim):
    found = np.arange(head_dim)
    for j in range(head_dim):
        probe = np.zeros(head_dim)
        probe[j] = 1.0
        others = np.abs(turn(probe, 1))
        others[j] = 0.0
        if others.max() > 1e-9:
            found[j] = np.argmax(others)
    return found


def _partners_by(seen):
    """A wrong attempt: ``seen(turn, probe)`` is looked at, the probe's own component left out."""

    def attempt(turn, head_dim):
        guesses = []
        for j, probe in enumerate(np.eye(head_dim)):
            others = seen(turn, probe)
            others[j] = 0.0
            guesses.append(int(np.argmax(others)) if others.max() > 1e-9 else j)
        return np.array(guesses)

    return attempt


def _always_somebody(turn, head_dim):
    rest = [np.abs(turn(probe, 1)) * (np.arange(head_dim) != j) for j, probe in enumerate(np.eye(head_dim))]
    return np.array([int(np.argmax(others)) for others in rest])


EXERCISES = (
    Question(
        id="ch03.predict-mixup",
        kind="prediction",
        prompt=r"A model was trained with neighbouring components as planes: 0 and 1, 2 and 3, and so on. Its weights "
        r"are loaded into code that turns component $i$ together with $i + d/2$, in queries and in keys. All shapes "
        r"fit. What can you say about the logits?",
        choices=(
            r"Right at offset 0, wrong elsewhere; they depend on both positions.",
            r"Right at offset 0, wrong elsewhere; they depend on the offset alone.",
            r"Wrong at every offset, 0 included; they depend on both positions.",
            r"Wrong at every offset, 0 included; they depend on the offset alone.",
        ),
        answer="B",
        truth=_what_a_mix_up_does,
        feedback={
            "A": r"Half of this is right. Now ask what the other code does to a query and a key that both move by one "
            r"place: is it still a rotation by the position?",
            "C": r"Take a word that is compared with itself. By how much does the second turn go beyond the first? And "
            r"what happens if both words move by one place?",
            "D": r"You saw that the wrong code is a rotation, too. Then look at a word that is compared with itself.",
        },
        why=r"Each layout by itself is a family of rotations with the relative law, and both start from the identity. "
        r"So the logits depend on the offset alone, and at offset 0 nothing has turned. But the components of each "
        r"plane are now turned with two different frequencies.",
    ),
    Question(
        id="ch03.way-back",
        prompt=r"A head has 128 components, and only the first 32 turn (`rotary_dim=32`). Its weights are half-split, "
        r"and you reorder the rows for interleaved code. Counted from zero, which old row becomes row 5?",
        answer=18,
        tolerance=0.1,
        truth=lambda: layouts.projection_permutation(1, 128, rotary_dim=32, to="interleaved")[5],
        hint=r"In interleaved code rows 4 and 5 are plane 2. Which two rows are plane 2 in half-split code with 32 "
        r"turning components?",
        feedback={
            "10": r"That is the other direction: the row that half-split code wants in place 5.",
            "66": r"You added half of the head. The planes lie within the part that turns.",
            "2": r"That is the first member of the plane; row 5 is the second one.",
            "5": r"Only the rows behind the turning part stay where they are.",
        },
        why=r"Row $5 = 2 \cdot 2 + 1$ is the second member of plane 2. In half-split order with 32 turning components "
        r"plane 2 consists of rows $2$ and $2 + 16 = 18$.",
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
        statement=r"Write `partners(turn, head_dim)`. You get a function `turn(x, n)` that rotates a vector `x` of "
        r"shape `(head_dim,)` as for position `n`. Return an array of `head_dim` numbers: for each component the one "
        r"that turns together with it, and the component itself if it does not turn at all. You may only call `turn` "
        r"and look.",
        solution=partners,
        examples=st.sampled_from(_TURNS).map(lambda turn: (turn, turn.head_dim)),
        mistakes={
            "every component was filled, so every component changes": _partners_by(
                lambda turn, probe: np.abs(turn(np.ones(len(probe)), 1) - 1)
            ),
            "at position 0 nothing turns": _partners_by(lambda turn, probe: np.abs(turn(probe, 0))),
            "the sign was not taken off: one of the two partners comes out negative": _partners_by(
                lambda turn, probe: turn(probe, 1)
            ),
            "a component that does not turn was given a partner": _always_somebody,
        },
        hint=r"Turn a vector that is zero except in component $j$. Its partner is the other component that comes out "
        r"different from zero; if there is none, $j$ does not turn.",
        why=r"The first entry decides the layout: 1 means interleaved, half of the turning components means "
        r"half-split. The last part of the book turns this into an instrument that also reads off the base, the "
        r"direction and how many components turn.",
    ),
)


# --- what the lab alone asks: stripes, half repairs, and a deck of cards ---


def only_offset(S):
    return bool(np.allclose(S[1:, 1:], S[:-1, :-1]))


def _logits_by_offset(size: int, bend: str):
    m, n = np.arange(size)[:, None], np.arange(size)
    S = np.cos(0.7 * (m + n if bend == "other diagonals" else n - m))
    if bend == "beside the middle":
        S[-1, -2] += 1
    elif bend == "an end of the middle":
        S[-1, -1] += 1
    elif bend == "the middle":
        S = S + np.diag(np.arange(1.0, size + 1))
    elif bend == "rows":
        S = S + m
    return (S,)


_BENDS = ("nothing", "other diagonals", "beside the middle", "an end of the middle", "the middle", "rows")


def _settings_with_stripes() -> float:
    p, theta, at = rotation.layout_permutation(8), rotation.frequencies(8), np.arange(9)
    q, k = np.random.default_rng(3).normal(size=(2, 8))
    both: tuple[Layout, Layout] = ("half", "interleaved")
    Q, K = ([rotation.rotate(y, at, theta=theta, layout=c) for c in both for y in (x, x[p])] for x in (q, k))
    return sum(only_offset(a @ b.T) for a in Q for b in K)


def _largest_deck() -> float:
    def home(cards: int) -> bool:
        row = deck = np.arange(cards)
        return any(np.array_equal(row := row[rotation.layout_permutation(cards)], deck) for _ in range(8))

    return max(cards for cards in range(2, 101, 2) if home(cards))


LAB = (
    Task(
        id="ch03.stripes",
        statement=r"`S` is a square matrix of logits, with a row for each query position and a column for each key "
        r"position, both $0, 1, 2, \dots$ Write `only_offset(S)`: `True` if the logits depend on the offset alone, "
        r"that is, if all entries of a diagonal are equal up to rounding, and `False` otherwise.",
        solution=only_offset,
        examples=st.tuples(st.integers(2, 7), st.sampled_from(_BENDS)).map(lambda case: _logits_by_offset(*case)),
        mistakes={
            "only the main diagonal is looked at": lambda S: bool(np.allclose(np.diag(S), S[0, 0])),
            "the main diagonal is left out": lambda S: all(np.ptp(np.diag(S, r)) < 1e-9 for r in range(1, len(S))),
            "the other diagonals, from right to left": lambda S: only_offset(S[::-1]),
        },
        hint=r"One step down and one to the right leads along a diagonal. Compare `S` without its first row and column "
        r"with `S` without its last ones.",
    ),
    Question(
        id="ch03.sixteen",
        prompt=r"The code of q and the code of k are interleaved or half-split, and the rows of q and those of k are "
        r"reordered or not: sixteen settings. In how many of them do the logits depend on the offset alone?",
        answer=8,
        tolerance=0.1,
        unit="settings",
        truth=_settings_with_stripes,
        hint=r"Look at the settings in which your test says yes. What do the two codes have in common?",
        feedback={
            "2": r"In two settings the logits are as trained. More settings have stripes.",
            "4": r"Half a repair counts too: are there stripes if the rows of q alone are reordered?",
            "16": r"Run q in one code and k in the other, and look at the map again.",
        },
        why=r"It is those in which q and k run the same code. With reordered rows of q alone, the logit is "
        r"$q^\top P^\top \mathcal R^{\text{half}}_{n-m}\, k$: the offset alone, and wrong even at offset 0.",
    ),
    Question(
        id="ch03.deck",
        prompt=r"The components of a deck are put into half-split order again and again. Which is the largest deck of "
        r"at most 100 cards, an even number, that is home after 8 times or sooner?",
        answer=86,
        tolerance=0.1,
        unit="cards",
        truth=_largest_deck,
        hint=r"Each time, place $j$ gets the card of place $2j$, modulo the number of cards less one. When is $2^8$ "
        r"the same as 1?",
        feedback={
            "52": r"The deck of bridge needs eight. A larger one does it as well.",
            "64": r"It needs six. A larger one is home after eight.",
        },
        why=r"$2^8 - 1 = 255 = 3 \cdot 85$, so doubling eight times changes nothing modulo 85: that is a deck of 86.",
    ),
)
