"""Chapter 17, Which RoPE is this? What can be read off a callable, and what a change of convention asks of weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from rope_lab.algebra import half_precision, rotation
from rope_lab.exercises.core import Question, Task
from rope_lab.exercises.turn import Turn

# --- the prediction: what a test that moves both positions can see ---


def _what_a_shift_test_misses() -> list[bool]:
    rng = np.random.default_rng(17)
    q, k = rng.normal(size=(2, 8))
    right = rotation.frequencies(8)

    def passes(theta, layout="interleaved"):
        def logit(by):
            at = {"theta": theta, "layout": layout}
            return rotation.rotate(q, 3.0 + by, **at) @ rotation.rotate(k, 8.0 + by, **at)

        return bool(np.allclose([logit(by) for by in (1.0, 50.0)], logit(0.0)))

    base, direction, nothing = (passes(theta) for theta in (rotation.frequencies(8, base=500.0), -right, 0 * right))
    convention = base and direction and passes(right, layout="half")
    return [not (convention or nothing), convention and not nothing, nothing and not convention, convention and nothing]


# --- a base from one frequency ---


def _base_of_a_partial_head() -> float:
    theta = rotation.frequencies(32, base=10000.0)
    return float(theta[1] ** (-32 / 2))


# --- which change of the schedule is it? ---


def _which_change() -> list[bool]:
    old, s = rotation.frequencies(8), 4.0
    new = old / s

    def has_a_base(theta):
        slopes = np.log(theta[1:]) / np.arange(1, len(theta))
        return bool(np.isclose(theta[0], 1.0) and np.allclose(slopes, slopes[0]))

    larger, ntk = (rotation.frequencies(8, base=base) for base in (40000.0, 10000.0 * s ** (8 / 6)))
    interpolated = np.allclose(new, old / s) and not has_a_base(new)
    return [np.allclose(new, larger), np.allclose(new, ntk), bool(interpolated), has_a_base(new)]


# --- the first task: direction and frequency of every plane ---


def signed_frequencies(turn, pairs):
    found = []
    for a, b in pairs:
        x = np.zeros(1 + max(max(pair) for pair in pairs))
        x[a] = 1.0
        y = turn(x, 1)
        found.append(np.arctan2(y[b], y[a]))
    return np.array(found)


def _each(turn, pairs, read):
    size = 1 + max(max(pair) for pair in pairs)
    return np.array([read(turn(np.eye(size)[a], 1), a, b) for a, b in pairs])


_HEADS: list[tuple[int, float, Any]] = [(4, 10000.0, 1), (8, 500.0, -1), (6, 100.0, (3, -2, -8)), (16, 10000.0, -1)]
_TURNS = [Turn(*head[:2], layout, head[2]) for layout in ("interleaved", "half") for head in _HEADS]


def _question(turn):
    return turn, [tuple(pair) for pair in rotation.planes(turn.head_dim, layout=turn.layout).tolist()]


# --- the second task: weights for code that turns the other way ---


def turn_back(W, n_heads):
    flipped = W.reshape(n_heads, -1, 2, W.shape[-1]).copy()
    flipped[:, :, 1] *= -1
    return flipped.reshape(W.shape)


def _other_way_round(result, W, n_heads) -> str:
    """Every head's logits, once with W and counter-clockwise, once with the result and clockwise."""
    got = np.asarray(result, dtype=float)
    if got.shape != W.shape:
        return f"the result has the shape {got.shape}; W has {W.shape}"
    head_dim = len(W) // n_heads
    theta = rotation.frequencies(head_dim, base=100.0)
    for offset in (0.0, 1.0, 7.0):
        R = rotation.rotation_matrix(offset, theta=theta)
        for head in range(n_heads):
            old, new = (V[head * head_dim : (head + 1) * head_dim] for V in (W, got))
            if not np.allclose(new.T @ R.T @ new, old.T @ R @ old):
                return f"at offset {offset:g} head {head} has other logits than before"
    return ""


def _weights(n_heads: int, planes: int, seed: int):
    head_dim = 2 * planes
    return np.random.default_rng(seed).normal(size=(n_heads * head_dim, head_dim + 1)), n_heads


_checkpoints = st.builds(_weights, st.integers(1, 3), st.integers(1, 4), st.integers(0, 99))


EXERCISES = (
    Question(
        id="ch17.predict-shift-test",
        kind="prediction",
        prompt=r"You port a model. Your test turns random queries and keys with the new code, moves both by the same "
        r"number of positions, and finds that no logit changes. What can still be wrong?",
        choices=(
            r"Nothing: this is the law of RoPE.",
            r"The base, the layout or the direction. But something does turn.",
            r"Perhaps nothing turns at all. If something does, it is the right thing.",
            r"All of that: another base, another layout, another direction, or no rotation at all.",
        ),
        answer="D",
        truth=_what_a_shift_test_misses,
        why=r"The test asks whether logits depend on $n - m$ alone. Every base, layout and direction has this "
        r"property, and a function that returns its input has it too. The test knows the family. It does not tell its "
        r"members apart, and nothing in it asks whether anything turns.",
        feedback={
            "A": r"It is a law of RoPE, and it holds for many functions. A law of a family does not pick one member.",
            "B": r"Think of the function that returns its input. Which of its logits change when both positions move?",
            "C": r"Put another base into the test in your mind. Does any logit then depend on more than the offset?",
        },
    ),
    Question(
        id="ch17.partial-base",
        prompt=r"A head has 128 coordinates, and 32 of them turn. The second plane turns by $0.56234$ radians per "
        r"position, the first by 1. The configuration writes the exponent as $2i/32$. What base does it name?",
        answer=10000.0,
        tolerance=20.0,
        truth=_base_of_a_partial_head,
        hint=r"$\theta_1 = \mathrm{base}^{-2/32}$. Solve for the base.",
        why=r"$0.56234^{-16} \approx 10000$. With the exponent $2i/128$ one would say $10^{16}$, and mean the "
        r"same function. The rotary width belongs to the base.",
        feedback={
            "1e16": r"You counted the exponent over all 128. This configuration counts it over the 32 that turn.",
            "10": r"You went from the whole head to the rotary width, and the question names that width already.",
            "1.778": r"This is one over the frequency. The exponent has still to be undone.",
        },
    ),
    Question(
        id="ch17.which-scheme",
        prompt=r"The original model of width 8 has $\theta = (1,\ 0.1,\ 0.01,\ 0.001)$. A fingerprint of its "
        r"long-context version says $(0.25,\ 0.025,\ 0.0025,\ 0.00025)$. What did they change?",
        choices=(
            r"They took four times the base.",
            r"They took the base that makes the last plane four times slower, $10000 \cdot 4^{8/6}$.",
            r"They divided the positions by 4.",
            r"They took some other base: every list of frequencies has one.",
        ),
        answer="C",
        truth=_which_change,
        hint=r"What is $\theta_0$, for every base?",
        why=r"Each frequency is a quarter of the old one, also the first. No base does that: $\theta_0 = 1$ for all of "
        r"them. Dividing positions by 4 does it, and so does dividing the frequencies: the two are one function.",
        feedback={
            "A": r"With a larger base the first plane keeps its speed. Compare the first entries.",
            "B": r"That base leaves the first plane alone and slows each plane by a different factor.",
            "D": r"Look at the first entry. What is a base to the power of zero?",
        },
    ),
    Task(
        id="ch17.signed-frequencies",
        statement=r"""
        You get `turn(x, n)`, which rotates a vector as for position `n`, and the list `pairs` of its planes: `(a, b)`
        with `a < b`, which together cover all coordinates. Write `signed_frequencies(turn, pairs)`: an array with the
        angle in radians by which each plane turns per position, from $a$ towards $b$; negative where it turns the
        other way. All are smaller than $\pi$.
        """,
        solution=signed_frequencies,
        examples=st.sampled_from(_TURNS).map(_question),
        mistakes={
            r"the cosine alone does not know the direction": lambda turn, pairs: _each(
                turn,
                pairs,
                lambda y, a, b: np.arccos(np.clip(y[a], -1, 1)),  # noqa: ARG005
            ),
            r"the sine alone is not the angle": lambda turn, pairs: _each(
                turn,
                pairs,
                lambda y, a, b: y[b],  # noqa: ARG005
            ),
            r"sine and cosine have changed places": lambda turn, pairs: _each(
                turn, pairs, lambda y, a, b: np.arctan2(y[a], y[b])
            ),
        },
        hint=r"Ask with $e_a$ at position 1. The answer has $\cos\theta$ at $a$ and $\pm\sin\theta$ at $b$. Which "
        r"function takes both and gives an angle with its sign?",
        why=r"With the signs you have the direction, with the sizes the base. For slow planes the sine carries all the "
        r"digits: $\cos 10^{-4}$ is 1 in half precision.",
    ),
    Task(
        id="ch17.turn-back",
        statement=r"""
        `W`, of shape `(n_heads * head_dim, width)`, is a query or key projection for interleaved code that turns
        counter-clockwise. The new code is interleaved too, but turns clockwise. Write
        `turn_back(W, n_heads)`: weights of the same shape that give the old logits in the new code, when queries and
        keys are both treated like this.
        """,
        solution=turn_back,
        examples=_checkpoints,
        judge=_other_way_round,
        mistakes={
            r"all signs have changed, and so nothing has": lambda W, n_heads: -W,  # noqa: ARG005
            r"the rows are in another order, and turn as before": lambda W, n_heads: W.reshape(
                n_heads, -1, 2, W.shape[-1]
            )[:, ::-1].reshape(W.shape),
            r"nothing has been changed": lambda W, n_heads: W,  # noqa: ARG005
        },
        hint=r"$\mathrm{diag}(1, -1)\, R_\varphi\, \mathrm{diag}(1, -1) = R_{-\varphi}$.",
        why=r"One sign in each plane. Exchanging the two rows of each plane does it as well: that is another mirror.",
    ),
)


# --- the game of the lab: 36 suspects ---


def remaining(answers, seen):
    return np.flatnonzero(np.abs(answers - seen).max(axis=1) <= 1e-6)


def _case(rows: int, numbers: int, seed: int):
    rng = np.random.default_rng(seed)
    answers = rng.integers(-1, 2, size=(rows, numbers)) / 2
    seen = answers[rng.integers(rows)] + 1e-9
    return np.vstack([answers, seen + 3e-6 * (np.arange(numbers) == 0)]), seen  # the last row is off by too much


def _first_that_names_all() -> float:
    n = np.arange(300.0)
    clocks = n, n + 1, half_precision.round_to(n, dtype="bfloat16")
    each = [
        rotation.rotate(np.eye(8)[:, None], m, theta=way * rotation.frequencies(8, base=base), layout=layout)
        for layout in ("interleaved", "half")
        for way in (1, -1)
        for base in (500.0, 10_000.0, 500_000.0)
        for m in clocks
    ]
    apart = np.stack(each).round(6) + 0.0  # (suspects, coordinates, positions, 8)
    return float(next(i for i in range(300) for a in apart[:, :, i].swapaxes(0, 1) if len(np.unique(a, axis=0)) == 36))


LAB = (
    Task(
        id="ch17.remaining",
        statement=r"""
        `answers` has a row for each suspect: the numbers that this suspect would give to a question. `seen` is the row
        that the sealed one has given. Write `remaining(answers, seen)`: an array with the numbers of the suspects that
        it can still be, counted from 0. Equal means here: no number is off by more than $10^{-6}$.
        """,
        solution=remaining,
        examples=st.builds(_case, st.integers(1, 6), st.integers(1, 3), st.integers(0, 99)),
        mistakes={
            r"one equal number is enough": lambda answers, seen: np.flatnonzero(
                np.abs(answers - seen).min(axis=-1) < 1e-6
            ),
            r"those who answer otherwise are kept": lambda answers, seen: np.flatnonzero(
                np.abs(answers - seen).max(axis=-1) > 1e-6
            ),
            r"signs are not compared": lambda answers, seen: remaining(np.abs(answers), np.abs(seen)),
            r"equal to the last digit is too strict": lambda answers, seen: np.flatnonzero(
                (answers == seen).all(axis=-1)
            ),
            r"NumPy's own tolerance is ten times wider, and relative": lambda answers, seen: np.flatnonzero(
                np.isclose(answers, seen).all(axis=-1)
            ),
        },
        hint=r"Take the largest difference in each row, and `np.flatnonzero` of a comparison.",
        why=r"A question is as good as the list that it leaves.",
    ),
    Question(
        id="ch17.one-question",
        prompt=r"Which is the smallest position at which a single unit vector names every one of the 36 suspects?",
        answer=257.0,
        tolerance=0.1,
        truth=_first_that_names_all,
        hint=r"Up to which position does bfloat16 have every whole number? Let the map begin a little before.",
        why=r"257 is the first position that bfloat16 does not have: it becomes 256, while who counts from one is at "
        r"258. Coordinate 2 does it, whose plane turns at another speed for each base, in both layouts.",
        feedback={
            "256": r"bfloat16 has 256 exactly, so the suspects that round are not seen yet.",
            "259": r"bfloat16 makes 260 of 259, and so does who counts from one: the two are alike there.",
            "261": r"This works, and there is a smaller one.",
        },
    ),
)
