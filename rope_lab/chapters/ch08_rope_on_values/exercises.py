"""Chapter 8, RoPE on values: sixteen placements, the turn back, and an instrument that tells their fates apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from rope_lab.algebra.placements import PLACEMENTS, attention, attention_weights, moved
from rope_lab.algebra.rotation import rotate, rotation_2d
from rope_lab.exercises.core import Question, Task

_ALONG: dict[str, Any] = {"q_positions": np.arange(4), "k_positions": np.arange(4), "theta": [0.7]}


def _how_many() -> list[bool]:
    x = np.random.default_rng(8).normal(size=(3, 4, 2))
    still = [max(max(moved(*x, shift=s, rotated=p, **_ALONG)) for s in (1, 5)) < 1e-9 for p in PLACEMENTS]
    return [sum(still) == count for count in (2, 4, 8, 15)]


def _two_halves() -> float:
    x, key = np.array([[1.0, 0.0], [1.0, 0.0]]), np.zeros((2, 2))
    y = attention(key[:1], key, x, q_positions=[7], k_positions=[4, 7], rotated="vo", theta=[np.pi / 6])
    return float(np.linalg.norm(y))


_PROJECTIONS = (
    np.diag([1.0, 2.0]),
    np.array([[3.0, -4.0], [4.0, 3.0]]),
    np.array([[0.0, 1.0], [1.0, 0.0]]),
    np.array([[1.0, 1.0], [0.0, 1.0]]),
)


def _turns_back_afterwards(W) -> bool:
    def between(m, n):
        return rotation_2d(0.7 * m).T @ W @ rotation_2d(0.7 * n)

    return all(np.allclose(between(m + s, n + s), between(m, n)) for m in (0, 2) for n in (0, 1) for s in (1, 5))


# --- the first task: one output under VO ---


def vo_output(a, v, theta):
    n = np.arange(len(v))
    z = v[:, 0] + 1j * v[:, 1]
    arrived = np.exp(1j * theta * (n - n[-1])) * z
    y = a @ arrived
    return np.array([y.real, y.imag])


def _mixed(a, v, angles):
    return np.asarray(a) @ rotate(v, angles, theta=[1.0])


_quarters = st.integers(-4, 4).map(lambda n: n / 4)


@st.composite
def _rows(draw):
    """Weights of one to four words, their values, and a frequency."""
    T = draw(st.integers(1, 4))
    parts = np.array(draw(st.lists(st.integers(1, 4), min_size=T, max_size=T)), dtype=float)
    v = np.array(draw(st.lists(st.tuples(_quarters, _quarters), min_size=T, max_size=T)), dtype=float)
    return parts / parts.sum(), v, draw(st.integers(1, 6)) / 4


# --- the second task: an instrument ---


@dataclass(frozen=True)
class Head:
    """A head with random contents: called with a shift, it gives weights (4, 4) and outputs (4, 2).

    It comes back after ``period`` places, moves only with every second or third one (``every``), and of what moves
    it shows a row or two (``shown``).
    """

    rotated: str
    seed: int
    period: float = 2 * np.pi / 0.7
    every: int = 1
    shown: str = "all words"

    def __call__(self, shift) -> tuple[np.ndarray, np.ndarray]:
        q, k, v = np.random.default_rng(self.seed).normal(size=(3, 4, 2))

        def at(place):
            here = {"q_positions": np.arange(4) + place, "k_positions": np.arange(4) + place}
            here |= {"rotated": self.rotated, "theta": [2 * np.pi / self.period]}
            return attention_weights(q, k, **here), attention(q, k, v, **here)

        moves = zip(at(0), at(shift // self.every), strict=True)
        return tuple(start + _SHOWN[self.shown] @ (end - start) for start, end in moves)

    def __repr__(self) -> str:
        seen = f"back after {self.period:.3g} places, shift s moves by s // {self.every}, seen at {self.shown}"
        return f"a head that rotates {self.rotated.upper() or 'nothing'}: {seen}"


_SHOWN = {"all words": np.eye(4)} | {f"word {i}": np.diag(np.eye(4)[i]) for i in range(4)}
_SHOWN["word 2 against word 3"] = np.outer([0, 0, 1, -1], [0, 0, 0.1, 0])  # all sums over the words stay
_HEADS = st.builds(Head, st.sampled_from(PLACEMENTS), st.integers(0, 99)) | st.builds(
    Head,
    st.sampled_from(PLACEMENTS),
    st.integers(0, 99),
    st.sampled_from([2, 5]),
    st.sampled_from([1, 2]),
    st.sampled_from([*_SHOWN]),
)


def fate(head):
    weights, outputs = head(0)
    for shift in (1, 2, 5):
        moved_weights, _ = head(shift)
        if not np.allclose(moved_weights, weights):
            return 2
    for shift in (1, 2, 5):
        _, moved_outputs = head(shift)
        if not np.allclose(moved_outputs, outputs):
            return 1
    return 0


def _outputs_only(head) -> int:
    return int(not np.allclose(head(0)[1], head(5)[1]))


def _first_word_only(head) -> int:
    (a, y), (b, z) = head(0), head(5)
    return 2 if not np.allclose(a[0], b[0]) else int(not np.allclose(y[0], z[0]))


def _lengths_only(head) -> int:
    (a, y), (b, z) = head(0), head(5)
    if not np.allclose(a, b):
        return 2
    return int(not np.allclose(np.linalg.norm(y, axis=1), np.linalg.norm(z, axis=1)))


EXERCISES = (
    Question(
        id="ch08.predict-placements",
        kind="prediction",
        prompt=r"Queries, keys, values, outputs: each may be rotated by its position or left alone (the output is "
        r"turned the other way). That makes sixteen placements. In how many of them does the layer give the same "
        r"outputs wherever the sentence stands? (The figure shows one of them: values rotated, and nothing else.)",
        choices=(
            r"In two: nothing rotated, or $q$ with $k$.",
            r"In four: $q$ and $k$ must be treated alike, and so must $v$ and $o$.",
            r"In eight: whenever an even number of the four is rotated.",
            r"In fifteen: all but the one that rotates all four.",
        ),
        answer="B",
        truth=_how_many,
        feedback={
            "A": r"You left out that the output may be turned back: $v$ and $o$ together are as good as neither.",
            "C": r"You counted rotations. But $q$ with $v$ is an even number, too. No turn of $q$ "
            r"undoes one of $v$.",
            "D": r"A sum does not remove a turn: a sum of turned values is the turned sum. And the softmax removes a "
            r"constant that is added to all logits, which a turn of $q$ alone is not.",
        },
        why=r"They are $\varnothing$, QK, VO and QKVO. The logits need both of $q, k$ or neither; the values need both "
        r"of $v, o$ or neither. Two independent choices of two make four.",
    ),
    Question(
        id="ch08.two-halves",
        prompt=r"VO, one plane, $\theta = \pi/6$ per position. The query at position $7$ gives half of its weight to "
        r"itself and half to position $4$. Both values are $(1, 0)$. How long is the output?",
        answer=0.7071,
        tolerance=0.005,
        truth=_two_halves,
        feedback={
            "1": "You added two equal values. But the one from position $4$ does not arrive as it was sent.",
            "1.4142": "You forgot the weights: each of the two counts one half.",
            "0": "You turned by half a turn. The distance is three positions, and each turns by $\\pi/6$.",
            "0.5": "You took one of the two alone. The output is the sum of both.",
        },
        hint=r"Its own value arrives as it is. By which angle does the other one arrive turned? Then add the halves.",
        why=r"The other one arrives turned by $(4 - 7)\,\pi/6 = -\pi/2$, as $(0, -1)$. Half of each gives "
        r"$(\tfrac12, -\tfrac12)$, and its length is $1/\sqrt 2$. Without the rotation it would be $1$: equal values "
        r"from different distances partly cancel.",
    ),
    Question(
        id="ch08.after-projection",
        prompt=r"Somebody turns the output back *after* the projection $W_o$, in a head of one plane with "
        r"$\theta = 0.7$. For which of these $W_o$ is the layer relative all the same?",
        choices=(
            r"$\begin{pmatrix} 1 & 0 \\ 0 & 2 \end{pmatrix}$",
            r"$\begin{pmatrix} 3 & -4 \\ 4 & 3 \end{pmatrix}$",
            r"$\begin{pmatrix} 0 & 1 \\ 1 & 0 \end{pmatrix}$",
            r"$\begin{pmatrix} 1 & 1 \\ 0 & 1 \end{pmatrix}$",
        ),
        answer="B",
        truth=lambda: [_turns_back_afterwards(W) for W in _PROJECTIONS],
        feedback={
            "A": "This one stretches one direction of the plane. After a turn it would stretch another one.",
            "C": "This is a mirror. Behind a mirror a turn goes the other way, so the sum of the positions is left.",
            "D": "This one shears along one direction of the plane. After a turn it would shear along another one.",
        },
        hint=r"Between the two rotations stands $R_m^\top W_o R_n$. When may $W_o$ change places with a rotation?",
        why=r"It is five times a rotation: multiplication by the complex number $3 + 4\mathrm i$. Those, "
        r"and only those, commute with a turn of the plane.",
    ),
    Task(
        id="ch08.vo-output",
        statement=r"""
        One plane. `a` holds the weights that the *last* word gives to the `T` words of a text, `v` their values, shape
        `(T, 2)`; the words stand at positions $0, 1, \dots, T-1$ and a position turns by `theta` radians. Write
        `vo_output(a, v, theta)`: the output of the last word under VO, an array of two numbers.
        """,
        solution=vo_output,
        examples=_rows(),
        mistakes={
            r"the values turn and the output does not turn back": lambda a, v, t: _mixed(a, v, np.arange(len(v)) * t),
            r"the output turns on instead of back": lambda a, v, t: _mixed(a, v, (np.arange(len(v)) + len(v) - 1) * t),
            r"the offset is query minus key": lambda a, v, t: _mixed(a, v, (len(v) - 1 - np.arange(len(v))) * t),
            r"the query is taken to stand at T": lambda a, v, t: _mixed(a, v, (np.arange(len(v)) - len(v)) * t),
            r"nothing turns": lambda a, v, _: np.asarray(a) @ v,
        },
        hint=r"Each value arrives turned by $(n - m)\,\theta$, and here $m = T - 1$. So the last value is not turned "
        r"at all.",
        why=r"In complex numbers a turn is a factor, and the whole output is one weighted sum.",
    ),
    Task(
        id="ch08.fate",
        statement=r"""
        An instrument. `head` is a function: `head(shift)` gives the weights, shape `(4, 4)`, and the outputs, shape
        `(4, 2)`, of a causal head of four words of which the first stands at `shift`, a whole number. Write
        `fate(head)`. It returns `0` if no shift moves anything, `1` if the weights stay and the outputs move, and `2`
        if the weights move. Compare with `np.allclose`. For the heads that `check` draws, shifts up to 5 are enough.
        """,
        solution=fate,
        examples=st.tuples(_HEADS),
        mistakes={
            r"only the outputs are looked at": _outputs_only,
            r"only the first word is looked at": _first_word_only,
            r"lengths of outputs are compared, not outputs": _lengths_only,
        },
        hint=r"Call `head(0)` once and `head` at several other places: some heads come back after a few. Ask about the "
        r"weights first.",
        why=r"The first word of a causal head attends to itself alone. Its weights cannot move, so it tells $v$ and "
        r"$o$ apart and knows nothing of $q$ and $k$. The proof in the chapter uses just that.",
    ),
)


# --- what the lab alone asks ---


def is_relative(rotated):
    logits = ("q" in rotated) == ("k" in rotated)
    return logits and ("v" in rotated) == ("o" in rotated)


def _blind_shift() -> int:
    x, at = np.random.default_rng(8).normal(size=(3, 6, 6)), np.arange(6)
    along: dict[str, Any] = {"q_positions": at, "k_positions": at, "theta": 2 * np.pi / np.array([4.0, 6.0, 10.0])}
    shifts = range(1, 99)
    return next(s for s in shifts if all(max(moved(*x, shift=s, rotated=p, **along)) < 1e-9 for p in PLACEMENTS))


def _groups() -> int:
    x, n = np.random.default_rng(8).normal(size=(3, 6, 2)), np.arange(6)

    def at(rotated: str, places: np.ndarray) -> list[np.ndarray]:
        here: dict[str, Any] = {"q_positions": places, "k_positions": places, "rotated": rotated, "theta": [0.7]}
        return [attention_weights(*x[:2], **here), attention(*x, **here)]

    def still(rotated: str) -> tuple[bool, ...]:
        pairs = [zip(at(rotated, n), at(rotated, moved_on), strict=True) for moved_on in (n + 3, 2 * n)]
        return tuple(np.allclose(*pair) for both in pairs for pair in both)

    return len({still(rotated) for rotated in PLACEMENTS})


LAB = (
    Task(
        id="ch08.your-rule",
        statement=r"""
        `rotated` is a word of some of the letters q, k, v and o, such as `"qkv"`; `""` says that nothing is rotated.
        Write `is_relative(rotated)`: `True` if no shift of the text moves any output, whatever the words hold, and
        `False` otherwise.
        """,
        solution=is_relative,
        examples=st.tuples(st.sampled_from(PLACEMENTS)),
        mistakes={
            r"only the number of letters is looked at": lambda rotated: len(rotated) % 2 == 0,
            r"only q and k are looked at": lambda rotated: ("q" in rotated) == ("k" in rotated),
            r"only v and o are looked at": lambda rotated: ("v" in rotated) == ("o" in rotated),
        },
        hint=r"Which rotation can undo that of q, and which one that of v? Ask about both pairs.",
    ),
    Question(
        id="ch08.blind-shift",
        prompt=r"A head has three planes that come back after $4$, $6$ and $10$ positions. Which is the smallest "
        r"shift above zero at which *all* sixteen placements pass the shift test?",
        answer=60,
        tolerance=0.1,
        unit="positions",
        truth=_blind_shift,
        feedback={
            "12": "At 12 the planes of 4 and of 6 are back, and that of 10 is not.",
            "240": "At 240 all planes have come back, but not for the first time.",
        },
        hint=r"Give the experiment `periods = (4, 6, 10)` and look at V: where does its curve touch zero?",
        why=r"All planes have made whole turns there: it is the smallest common multiple of $4$, $6$ and $10$.",
    ),
    Question(
        id="ch08.groups",
        prompt=r"Ask four things of each placement. When the text is shifted: do the weights move, do the outputs? "
        r"When it is stretched: do the weights move, do the outputs? Into how many groups with the same four answers "
        r"do the sixteen placements fall?",
        answer=6,
        tolerance=0.1,
        unit="groups",
        truth=_groups,
        feedback={
            "3": "You asked about the shift alone. A stretch tells more.",
            "16": "So many placements there are. Some give the same four answers: V and O, for example.",
        },
        hint=r"Make a tuple of four truth values for each placement, with `change(...) < 1e-9`, and count the "
        r"different ones: `len(set(...))`.",
        why=r"They are $\{\varnothing\}$, $\{VO\}$, $\{V, O\}$, $\{QK, QKVO\}$, $\{QKV, QKO\}$, and the eight whose "
        r"weights move with a shift.",
    ),
)
