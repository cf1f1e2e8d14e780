"""Chapter 1, One plane: a query at position m, a key at position n, one angle theta per position."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from rope_lab.algebra.rotation import rotation_2d
from rope_lab.exercises.core import Question, Task


def _logit(q, k, m, n, theta):
    """The definition: turn the query by m theta, the key by n theta, then the dot product."""
    return float((rotation_2d(m * theta) @ q) @ (rotation_2d(n * theta) @ k))


def _draws(count: int = 50):
    """Queries, keys, offsets and angles, the same on every run."""
    rng = np.random.default_rng(1)
    for _ in range(count):
        yield rng.normal(size=2), rng.normal(size=2), rng.uniform(-50, 50), rng.uniform(-50, 50), rng.uniform(0.05, 3)


# --- the prediction: how many stored keys have to be turned again when a word arrives ---


def _stale(arrival: int, theta: float) -> int:
    """Count the stored keys, each turned by its own position, that give the new query a wrong logit."""
    rng = np.random.default_rng(1)
    q, keys = rng.normal(size=2), rng.normal(size=(arrival, 2))
    positions = np.arange(arrival)
    stored = rotate(keys.T, positions, theta).T
    logits = stored @ rotate(q, arrival, theta)
    wanted = [q @ rotation_2d((n - arrival) * theta) @ k for n, k in zip(positions, keys, strict=True)]
    return int((~np.isclose(logits, wanted, atol=1e-9)).sum())


def _how_many_are_turned_again() -> list[bool]:
    now, much_later = _stale(400, 0.01), _stale(4000, 0.01)  # before and after the angles have come full circle
    return [now == 400, now == much_later == 0, now == 1, now == 0 and much_later == 4000]


# --- which rotation stands between them ---


def _which_rotation() -> list[bool]:
    m, n = 12, 5
    return [
        all(np.isclose(_logit(q, k, m, n, t), q @ rotation_2d(p * t) @ k) for q, k, _, _, t in _draws())
        for p in (m - n, m + n, n - m, m * n)
    ]


# --- the first task: the rotation itself ---


def rotate(x, m, theta):
    cos, sin = np.cos(m * theta), np.sin(m * theta)
    return np.array([[cos, -sin], [sin, cos]]) @ x


def _float(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high, allow_nan=False).map(lambda value: round(value, 3))


_vectors = st.lists(_float(-3, 3), min_size=2, max_size=2).map(np.array)


# --- the second task: does a score see the offset alone? ---


@dataclass(frozen=True)
class Score:
    """A score of a query and a key at their positions; it shows its formula, with R_m the rotation by m pi / 4."""

    formula: str
    compute: Callable[..., float]

    def __call__(self, q, k, m, n) -> float:
        return float(self.compute(np.asarray(q), np.asarray(k), m, n))

    def __repr__(self) -> str:
        return f"(q, k, m, n) -> {self.formula}"


def _turn(position):
    return rotation_2d(position * np.pi / 4)


_W = np.array([[1.0, 2.0], [0.0, 1.0]])

SCORES = (
    Score("(R_m q) . (R_n k)", lambda q, k, m, n: (_turn(m) @ q) @ (_turn(n) @ k)),
    Score("q . k", lambda q, k, *_: q @ k),
    Score("q . k - |m - n|", lambda q, k, m, n: q @ k - abs(m - n)),
    Score("(R_m W q) . (R_n W k)", lambda q, k, m, n: (_turn(m) @ _W @ q) @ (_turn(n) @ _W @ k)),
    Score("(R_m q) . k", lambda q, k, m, _: (_turn(m) @ q) @ k),
    Score("(R_m q) . (R_-n k)", lambda q, k, m, n: (_turn(m) @ q) @ (_turn(-n) @ k)),
    Score("(W R_m q) . (W R_n k)", lambda q, k, m, n: (_W @ _turn(m) @ q) @ (_W @ _turn(n) @ k)),
    Score("q . k + (m + n) / 100", lambda q, k, m, n: q @ k + (m + n) / 100),
    Score("q . k - |m| + |n|", lambda q, k, m, n: q @ k - abs(m) + abs(n)),
)


def is_relative(score):
    rng = np.random.default_rng(0)
    for _ in range(20):
        q, k = rng.normal(size=(2, 2))
        m, n, shift = rng.integers(-20, 21, size=3)
        moved = score(q, k, m + shift, n + shift)
        if abs(moved - score(q, k, m, n)) > 1e-6:
            return False
    return True


def _same_after(score, *moves) -> bool:
    """A wrong attempt at is_relative: a few moves (m, n, shift) of one query and key."""
    q, k = np.array([1.0, 0.5]), np.array([-0.3, 2.0])
    return all(abs(score(q, k, m + s, n + s) - score(q, k, m, n)) < 1e-6 for m, n, s in moves)


EXERCISES = (
    Question(
        id="ch01.predict-cache",
        kind="prediction",
        prompt=r"Every query and every key is an arrow, turned by as many steps as its position says. Two words are "
        r"compared by the angle between their arrows. A chat has stored 4000 turned keys, and word 4001 arrives. "
        r"How many stored keys must be turned again?",
        choices=(
            r"all 4000, each by one step",
            r"none of them",
            r"only the last one, which the new word follows",
            r"none yet; all of them when the angles have come full circle",
        ),
        answer="B",
        truth=_how_many_are_turned_again,
        why=r"The new query turns itself by 4001 steps, and that alone puts one more step between it and every stored "
        r"key: $R_{4001}^\top R_n = R_{n-4001}$. A key depends on its own position and on no other, so it is turned "
        r"once, when its word arrives. A full circle changes nothing: the law holds for all positions.",
        feedback={
            "A": r"The distances do change, all of them. But a distance has two ends, and only one of them has moved.",
            "C": r"The last key is no special case: its distance to the new word comes about as every other does.",
            "D": r"An arrow that has come full circle is the same arrow. A comparison of angles cannot tell.",
        },
    ),
    Question(
        id="ch01.between",
        prompt=r"A query $q$ stands at position $m = 12$ and a key $k$ at position $n = 5$. Their logit can be written "
        r"as $q^\top R\, k$ with a single rotation $R$ between them. Which one?",
        choices=(r"$R_{7}$", r"$R_{17}$", r"$R_{-7}$", r"$R_{60}$"),
        answer="C",
        truth=_which_rotation,
        feedback={
            "A": r"That is query position minus key position. Look at which of the two rotations is transposed.",
            "B": r"Here the two turns were added. The query's rotation is transposed, and a transpose turns back.",
            "D": r"Rotations in a row add their angles, forward or backward. Nothing multiplies the positions.",
        },
        hint=r"Write the logit as $(R_{12}\,q)^\top (R_5\,k)$. Transposing a rotation turns it back: "
        r"$R_{12}^\top = R_{-12}$.",
        why=r"$(R_{12}\,q)^\top (R_5\,k)$ is $q^\top R_{12}^\top R_5\, k$. Transposed, $R_{12}$ turns back, so between "
        r"them stands $R_{-12}\, R_5 = R_{-7}$. The index is key position minus query position, $n - m$.",
    ),
    Question(
        id="ch01.one-logit",
        prompt=r"Each position turns by $\theta = \pi/12$. The query $q = (1, 0)$ stands at position $m = 9$, the key "
        r"$k = (0, 1)$ at position $n = 7$. What is their logit?",
        answer=0.5,
        tolerance=0.005,
        truth=lambda: _logit(np.array([1.0, 0.0]), np.array([0.0, 1.0]), 9, 7, np.pi / 12),
        feedback={
            "-0.5": r"The size is right. You turned the key the other way: is the key before or after the query?",
            "0.866": r"That is the cosine of the angle. Which component of the turned key does $(1, 0)$ read?",
            "-0.866": r"That is a cosine, with a sign. Which component of the turned key does $(1, 0)$ read?",
            "0": r"Unturned, the two stand at a right angle. The offset is not zero, so one of them has to turn.",
            "1": r"That would be two arrows in the same direction. Turn the key by two steps and look where it points.",
        },
        hint=r"Only the offset $n - m = -2$ counts. Leave the query where it is and turn the key by $-2\,\theta$: "
        r"in which direction is that?",
        why=r"The logit is $q^\top R_{-2}\, k$, and $R_{-2}$ turns by $-\pi/6$, clockwise. The key "
        r"$(0, 1)$ goes to $(\sin\frac{\pi}{6},\ \cos\frac{\pi}{6})$, and the query $(1, 0)$ reads its first "
        r"coordinate.",
    ),
    Task(
        id="ch01.rotate",
        statement=r"Write `rotate(x, m, theta)`: the vector `x` of shape `(2,)` as it stands at position `m`, turned "
        r"counter-clockwise by the angle `m * theta` (radians). The position may be negative, and need not be whole.",
        solution=rotate,
        examples=st.tuples(_vectors, _float(-20, 20), _float(0, 3)),
        mistakes={
            "it turns clockwise": lambda x, m, theta: rotate(x, -m, theta),
            "the position does not enter the angle": lambda x, m, theta: rotate(x, 1, theta),  # noqa: ARG005
            "the angle is read in degrees": lambda x, m, theta: rotate(x, np.radians(m), theta),
            "the second coordinate uses the first one after it was changed": lambda x, m, theta: np.array(
                [y := rotate(x, m, theta)[0], np.sin(m * theta) * y + np.cos(m * theta) * x[1]]
            ),
        },
        hint=r"The matrix is $\begin{pmatrix}\cos m\theta & -\sin m\theta\\ \sin m\theta & \cos m\theta\end{pmatrix}$, "
        r"and `(1, 0)` must go to $(\cos m\theta, \sin m\theta)$. Which of the two sines carries the minus?",
        why=r"With $\tilde x = x_1 + i x_2$ the same thing is one product, $e^{i m \theta}\, \tilde x$.",
    ),
    Task(
        id="ch01.is-relative",
        statement=r"Write `is_relative(score)`. You get a function `score(q, k, m, n)` that gives a number for a query "
        r"and a key, each of shape `(2,)`, at whole positions `m` and `n`, which may be negative. Return `True` if the "
        r"positions matter through $n - m$ alone, and `False` if not. You may only call `score` and look.",
        solution=is_relative,
        examples=st.tuples(st.sampled_from(SCORES)),
        mistakes={
            "nothing is shifted": lambda score: _same_after(score, (7, 3, 0)),
            "only one shift is tried, and some scores come back after just that many positions": lambda score: (
                _same_after(score, (7, 3, 8), (-5, 2, 8))
            ),
            "only positions above zero are tried": lambda score: _same_after(score, (7, 3, 1), (2, 6, 5)),
            "query and key always stand at the same position": lambda score: _same_after(
                score, (0, 0, 1), (0, 0, 3), (-4, -4, 5)
            ),
        },
        hint=r"Shift both positions by the same amount: the score must not move. Try several shifts, not just one, "
        r"pairs with $m \ne n$, and positions on both sides of zero.",
        why=r"A score that ignores positions is relative too, in an empty way. $W R_m q$ is the rotation before the "
        r"projection: $R_m^\top W^\top W R_n$ is no function of $n - m$ unless $W^\top W$ commutes with "
        r"rotations. So a model projects first and rotates after.",
    ),
)


# --- what the lab alone asks: aim at a distance, and see what else is hit ---


def aim(k, back, theta):
    return rotate(k, -back, theta)


def _false_friend() -> float:
    k, theta = np.array([1.0, 0.5]), 1.0
    near = [aim(k, 3, theta) @ rotate(k, -back, theta) >= 0.99 * (k @ k) for back in range(4, 200)]
    return 4 + near.index(True)


def _alias() -> float:
    r, q, k = np.arange(-9, 10), np.array([1.0, 0.5]), np.array([-0.3, 2.0])
    angles = np.arange(0, 2 * np.pi, 1e-3)
    miss = np.abs(np.tensordot(q, rotate(k, r[:, None], angles) - rotate(k, r[:, None], 7.0), 1))
    return float(angles[miss.max(axis=0).argmin()])


LAB = (
    Task(
        id="ch01.aim",
        statement=r"Write `aim(k, back, theta)`. `k` is a key of shape `(2,)` before any turn. Return the query of the "
        r"same length, also before any turn, whose logit is the largest when this key stands `back` positions *before* "
        r"the query. Each position turns by `theta` radians.",
        solution=aim,
        examples=st.tuples(_vectors, st.integers(0, 9), _float(0.1, 3)),
        mistakes={
            "it looks ahead": rotate,
            "it looks at its own place": lambda k, back, theta: k,  # noqa: ARG005
            "it is longer than the key": lambda k, back, theta: 2 * aim(k, back, theta),
            "it points away": lambda k, back, theta: -aim(k, back, theta),
        },
        hint=r"The logit is $q^\top R_{n-m}\, k$. What is $n - m$ here, and when is the dot product of two vectors of "
        r"given lengths the largest?",
    ),
    Question(
        id="ch01.false-friend",
        prompt=r"A plane turns by one radian per position, and a query is aimed at the distance 3. Which is the next "
        r"distance whose logit is at least 99 % of the largest one?",
        answer=28,
        tolerance=0.1,
        unit="positions",
        truth=_false_friend,
        hint=r"The logit is $\cos(r - 3)$ times a constant. Try the distances $r$ from 4 on.",
        feedback={
            "9": r"After six more radians the hand is near, but $\cos 6 = 0.96$.",
            "25": r"That is how much further it is. The query was aimed at 3.",
            "47": r"It is nearer to whole turns. An earlier one is good enough.",
        },
        why=r"25 radians are nearly four turns, $8\pi = 25.13$. A hand that turns by one radian never comes back "
        r"exactly, since $\pi$ is irrational, and it comes back as nearly as you like.",
    ),
    Question(
        id="ch01.alias",
        prompt=r"A plane turns by 7 radians per position, and positions are whole numbers. Which angle between 0 and "
        r"$2\pi$ gives the same logits at all offsets?",
        answer=0.7168,
        tolerance=0.002,
        unit="radians",
        truth=_alias,
        hint=r"What does a whole turn more per position change at whole positions?",
        feedback={
            "5.566": r"That hand turns the other way round. Its logits agree only for some queries and keys.",
            "3.858": r"You took off half a turn.",
        },
        why=r"$7 - 2\pi$: a whole turn more for each position changes nothing. At position 0.5 it is half a turn, and "
        r"the two differ.",
    ),
)
