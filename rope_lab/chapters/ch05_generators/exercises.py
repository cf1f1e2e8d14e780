"""Chapter 5: what may stand between two positions, which lists of frequencies agree, and which steps have a half."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st
from scipy.linalg import block_diag, expm

from rope_lab.algebra import generators, rotation
from rope_lab.algebra.orthogonal_powers import mirror, orthogonal_power
from rope_lab.algebra.rotation import rotation_2d
from rope_lab.exercises.core import Question, Task


def _where_the_hands_part() -> list[bool]:
    """Tokens 0 to 7 at half of their positions: degrees between the hands of the two planes."""
    slow, fast = (rotation.rotation_2d(np.arange(8) / 2 * theta)[:, :, 0] for theta in (1.0, 1.0 + 2 * np.pi))
    apart = np.rad2deg(np.arccos(np.clip((slow * fast).sum(axis=1), -1, 1))).round(4).tolist()
    every_second = apart == [0, 180] * 4
    return [not any(apart), every_second, apart[1:] == [180] * 7, apart == sorted(set(apart))]


def _angles_counted() -> int:
    B = generators.skew_4d([0.3, -1.1, 0.7, 0.2, 1.9, -0.4])
    return len({round(abs(value), 9) for value in np.linalg.eigvals(B).imag})


def _which_change_between() -> list[bool]:
    """For four changes of (1, 0.5): same at whole positions up to a basis, and different at half positions?"""
    half = np.arange(9) / 2

    def traces(theta, positions):
        return [2 * sum(math.cos(p * t) for t in theta) for p in positions]

    start, verdicts = (1.0, 0.5), []
    for other in ((0.5, 1.0), (-1.0, 0.5), (1.0 + 2 * np.pi, 0.5), (1.0 + np.pi, 0.5)):
        whole = np.allclose(traces(start, half[::2]), traces(other, half[::2]))
        between = np.allclose(traces(start, half), traces(other, half))
        verdicts.append(bool(whole and not between))
    return verdicts


# --- the first task: the exponential ---


def power(B, n):
    total = term = np.eye(len(B))
    for k in range(1, 60):
        term = term @ (n * B) / k
        total = total + term
    return total


def _matrix(entries):
    size = math.isqrt(len(entries))
    return np.array(entries[: size * size]).reshape(size, size)


_quarters = st.integers(-4, 4).map(lambda k: k / 4)
_squares = st.sampled_from([1, 4, 9]).flatmap(lambda k: st.lists(_quarters, min_size=k, max_size=k)).map(_matrix)
_ones = st.sampled_from([np.ones((3, 3)), -np.ones((3, 3))])  # the longest series that the statement allows


# --- the second task: does a generator serve positions of this spacing? ---


def serves(B, step):
    R = expm(step * B)
    return np.allclose(R.T @ R, np.eye(len(B)))


_ellipse = st.builds(
    lambda turns, stretch: 2 * np.pi * turns * np.array([[0.0, -stretch], [1 / stretch, 0.0]]),
    st.sampled_from([0.25, 0.5, 1.0, 2.0]),
    st.sampled_from([1.0, 2.0, 0.5]),
)
_growing = st.sampled_from([0.1, -0.2]).map(lambda rate: np.array([[rate, -1.0], [1.0, rate]]))
_steps = st.sampled_from([0.25, 0.5, 1.0, 2.0])


# --- steps with a mirror ---


_FLIP = np.diag([1.0, -1.0])


def _squared() -> list[bool]:
    turn = rotation_2d(np.deg2rad(40))
    square = orthogonal_power(turn @ _FLIP, 2)
    offered = (turn @ turn, turn @ turn @ _FLIP, np.eye(2), _FLIP)
    return [bool(np.allclose(square, matrix)) for matrix in offered]


def _has_half(*blocks) -> bool:
    try:
        half = orthogonal_power(block_diag(*blocks), 0.5)
    except ValueError:
        return False
    return bool(np.allclose(half @ half, block_diag(*blocks)))


def _order() -> float:
    O = block_diag(rotation_2d(2 * np.pi / 3), -1.0)  # noqa: E741 - the book's letter
    return float(next(n for n in range(1, 99) if np.allclose(orthogonal_power(O, n), np.eye(3))))


def commuting_mirror(step):
    values, vectors = np.linalg.eig(step)
    v = vectors[:, np.argmin(np.abs(values + 1))].real
    return np.eye(len(step)) - 2 * np.outer(v, v) / (v @ v)


def _judge_mirror(M, step) -> str:
    M = np.asarray(M, dtype=float)
    if M.shape != step.shape:
        return f"M has the shape {M.shape}, the step has {step.shape}."
    if not np.allclose(M @ M, np.eye(len(step)), atol=1e-7) or not np.allclose(M, M.T, atol=1e-7):
        return "M is no mirror: it should be symmetric, and M M should be I."
    if not np.isclose(np.trace(M), len(step) - 2, atol=1e-7):
        return "M is no mirror along one axis: exactly one of its eigenvalues should be -1."
    if not np.allclose(step @ M, M @ step, atol=1e-6):
        return "M does not commute with the step."
    return ""


@st.composite
def _mirrored(draw):
    """An orthogonal 3 x 3 matrix with determinant -1, in a random basis; its angle is not near 0 or a half turn."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    angle = draw(st.sampled_from([0.4, 1.0, 1.9, 2.6, -0.8, -2.2]))
    P = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return (P @ block_diag(rotation_2d(angle), -1.0) @ P.T,)


# --- in the lab: all frequencies through the same dots, and a formula that is right by luck ---


def same_dots(theta, limit):
    turns = 2 * np.pi * np.arange(limit)
    found = np.concatenate([turns + theta, turns - theta])
    return np.sort(found[(found >= 0) & (found <= limit)])


def _survivors() -> float:
    found, halves = same_dots(1.0, 100.0), np.arange(20) / 2
    return float(sum(np.allclose(np.cos(theta * halves), np.cos(halves)) for theta in found))


def _right_power() -> float:
    """The n from -6 to 6, besides 0, at which the last axis serves for ten random steps with determinant -1."""
    rng, M, power = np.random.default_rng(0), mirror([0.0, 0, 1]), np.linalg.matrix_power
    steps = np.linalg.qr(rng.normal(size=(10, 3, 3)))[0]
    steps *= -np.linalg.det(steps)[:, None, None]
    return float(*(n for n in range(-6, 7) if n and np.allclose(power(M, n) @ power(steps @ M, n), power(steps, n))))


EXERCISES = (
    Question(
        id="ch05.predict-squeeze",
        kind="prediction",
        prompt=r"Think of the two planes as two clock hands. One turns by $1$ radian per position, the other by "
        r"$1 + 2\pi$. Before the halving the two hands coincide, so at every token you see a single hand. After it, "
        r"token $1$ stands at position $\tfrac12$, token $2$ at $1$, and so on. How do the two hands compare then?",
        choices=(
            r"They point in the same direction at every token.",
            r"They point in opposite directions at every second token.",
            r"They point in opposite directions at all tokens but the first.",
            r"They drift apart, a little more with every token.",
        ),
        answer="B",
        truth=_where_the_hands_part,
        feedback={
            "A": r"At whole positions this is so. Token 1 stands at position $\tfrac12$ now: how much of the "
            r"additional turn has the faster hand made there?",
            "C": r"Try token 2. It stands at position 1.",
            "D": r"The angle between the hands does grow with every token. But only what is left after whole turns is "
            r"seen.",
        },
        why=r"The faster hand makes one additional turn per position, so half a turn per token. After an odd number of "
        r"tokens the hands are opposite, after an even number they agree. So if query and key are an odd "
        r"number of tokens apart, one of them is reversed against the other model's, and this plane's part of the "
        r"logit has opposite signs in the two models.",
    ),
    Question(
        id="ch07.predict-mirror",
        kind="prediction",
        prompt=r"In the plane, let $O$ do two things: first flip the second coordinate, then turn by $40°$. What does "
        r"$O$ do if it is applied twice?",
        choices=(
            r"It turns by $80°$.",
            r"It flips and then turns by $80°$.",
            r"Nothing: $O^2 = I$.",
            r"It flips the second coordinate.",
        ),
        answer="C",
        truth=_squared,
        feedback={
            "A": r"The two turns do not simply add. There is a flip between them.",
            "B": r"Count the flips: there are two of them.",
            "D": r"Try the point $(1, 0)$. After the first step it stands at $40°$; flip it, and turn again.",
        },
        why=r"The second flip turns the first turn round: flip, $+40°$, flip, $+40°$ is $-40°$ and then $+40°$. So "
        r"every power of $O$ is $O$ or $I$.",
    ),
    Question(
        id="ch05.predict-angles",
        kind="prediction",
        prompt=r"A skew matrix of four dimensions has six free entries, and $e^{nB}$ turns the space. How many "
        r"different speeds, in radians per position, can this turning have at most?",
        answer=2,
        tolerance=0.1,
        truth=_angles_counted,
        feedback={
            "6": r"Each entry alone would turn one pair of coordinates. Together they do not act one by one.",
            "4": r"A turning needs a plane, and a plane takes two dimensions.",
            "3": r"Three speeds need three planes, and four dimensions have room for two.",
        },
        why=r"Two. Six entries say *which* two planes turn and how fast; four of the six go into the planes. In $d$ "
        r"dimensions it is $d/2$ speeds out of $d(d-1)/2$ entries.",
    ),
    Question(
        id="ch05.alias",
        prompt=r"A plane turns by $\theta = 5$ radians per position, and all positions are whole numbers. A slower "
        r"plane, with a frequency between $0$ and $\pi$, does the same work after one mirror is put into $W_q$ and "
        r"$W_k$. What is its frequency?",
        answer=2 * math.pi - 5,
        tolerance=0.005,
        unit="radians per position",
        truth=lambda: float(generators.alias(5.0)[0]),
        feedback={
            "-1.283": r"This is the same turn, with the opposite sense. What does the mirror change?",
            "1.858": r"You took away half a turn. Half a turn is a minus sign, and a whole position sees it.",
            "5": r"The frequency asked for is slower: it lies below $\pi$.",
        },
        hint=r"Turning by 5 radians is turning back by $2\pi - 5$. A mirror changes the sense of turning.",
        why=r"$5 - 2\pi = -1.283\dots$, the same matrix at every whole $n$. Mirroring one axis makes it $+1.283\dots$.",
    ),
    Question(
        id="ch07.half-step",
        prompt=r"Positions are halved, so that a model needs $O^{1/2}$: a real matrix that, done twice, is $O$. For "
        r"which $O$ is there one?",
        choices=(
            r"$\mathrm{diag}(1, -1)$",
            r"$\mathrm{diag}(-1, -1)$",
            r"$\mathrm{diag}(-1, -1, -1)$",
            r"$\mathrm{diag}(R_\varphi, -1)$ with $\varphi = 0.7$",
        ),
        answer="B",
        truth=lambda: [
            _has_half(*blocks) for blocks in ((1.0, -1.0), (-1.0, -1.0), (-1.0, -1.0, -1.0), (rotation_2d(0.7), -1.0))
        ],
        feedback={
            "A": r"A flip would have to be half done. Compare determinants.",
            "C": r"Two of the three minus signs pair up. What about the third?",
            "D": r"The plane can be halved. Can the last coordinate?",
        },
        hint=r"What is the determinant of a matrix that is done twice?",
        why=r"$\det S^2 = (\det S)^2$ is not negative, so only the second is left. It is a half turn, and the quarter "
        r"turn is half of it. The third has three $-1$: two pair up, one stays.",
    ),
    Task(
        id="ch05.serves",
        statement=r"""
        Write `serves(B, step)`. It returns `True` if $e^{nB}$ satisfies the law at all positions $n$ that are whole
        multiples of `step`, and `False` otherwise. You may use `scipy.linalg.expm`.
        """,
        solution=serves,
        examples=st.tuples(_ellipse | _growing | _ellipse.map(lambda B: np.pad(B, (0, 1))), _steps),
        mistakes={
            r"it asks whether $B$ is skew": lambda B, step: np.allclose(B.T, -B),  # noqa: ARG005
            r"it looks at position 1, whatever the step is": lambda B, step: serves(B, 1.0),  # noqa: ARG005
            r"it asks for the determinant 1 only": lambda B, step: np.isclose(np.linalg.det(expm(step * B)), 1),
        },
        hint=r"The positions are $0, \pm s, \pm 2s, \dots$, so the family is made of the powers of one matrix. Which "
        r"one, and what does chapter 4 ask of it?",
        why=r"With $O = e^{sB}$ the family is $O^k$, and the law holds if and only if $O$ is orthogonal. The finer the "
        r"step, the more generators are refused; in the limit only the skew ones remain.",
    ),
    Task(
        id="ch07.commuting-mirror",
        statement=r"""
        The step $O$ is an orthogonal $3 \times 3$ matrix with determinant $-1$. Write `commuting_mirror(step)`, where
        `step` is $O$: the matrix $M = I - 2 v v^\top / v^\top v$ of a mirror along one axis, such that $O M = M O$.
        """,
        solution=commuting_mirror,
        examples=_mirrored(),
        judge=_judge_mirror,
        mistakes={
            r"the mirror flips the last coordinate": lambda step: np.diag([1.0, 1.0, -1.0]),  # noqa: ARG005
            r"the identity commutes with everything, and is no mirror": lambda step: np.eye(3),  # noqa: ARG005
            r"minus the identity commutes too, and flips three axes": lambda step: -np.eye(3),  # noqa: ARG005
            r"the axis is a column of O": lambda step: mirror(step[:, 0]),
        },
        hint=r"$O M_v O^\top = M_{Ov}$, so $v$ has to be an eigenvector. Which eigenvalue does every such $O$ have?",
        why=r"`np.linalg.eig` returns complex vectors, because a turn has no real ones; the one for $-1$ is real. The "
        r"package takes it from the normal form, which never leaves the real numbers.",
    ),
    Question(
        id="ch05.between",
        prompt=r"A model has the frequencies $(1, 0.5)$ and reads whole positions. Somebody replaces the two "
        r"frequencies by others and adapts the basis inside $W_q$ and $W_k$, and no logit changes. Then the positions "
        r"are squeezed: they are divided by 2, so that half positions occur. Now the old and the new model differ. "
        r"Which frequencies are the new ones?",
        choices=(
            r"$(0.5, 1)$: the planes trade their speeds.",
            r"$(-1, 0.5)$: the first plane turns the other way.",
            r"$(1 + 2\pi, 0.5)$: the first plane makes one more turn per position.",
            r"$(1 + \pi, 0.5)$: the first plane makes half a turn more per position.",
        ),
        answer="C",
        truth=_which_change_between,
        feedback={
            "A": r"A new order of the planes is a change of basis. It is the same at half positions.",
            "B": r"The other sense is a mirror, which the basis can absorb at every real position.",
            "D": r"Half a turn more per position changes the sign at position 1. That would be seen at once.",
        },
        hint=r"Two of them are harmless at every real position. One is seen at once, at position 1.",
        why=r"Order and sign are a change of basis, at all real positions. A whole extra turn is invisible at whole "
        r"positions and is half a turn at $n = \tfrac12$: a factor $-1$. Half a turn more is $-1$ at $n = 1$ already.",
    ),
    Question(
        id="ch07.order",
        prompt=r"In three dimensions $O = P\,\mathrm{diag}(R_{2\pi/3}, -1)\,P^\top$. What is the smallest $n > 0$ with "
        r"$O^n = I$?",
        answer=6.0,
        tolerance=0.1,
        truth=_order,
        feedback={
            "3": r"The plane is back after 3 steps. Where is the flipped axis then?",
            "2": r"The flipped axis is back after 2 steps. Where is the plane then?",
            "12": r"It is back then, but not for the first time.",
        },
        hint=r"The plane is back after $3$ steps. When is the flipped axis back?",
        why=r"The plane needs a multiple of $3$, the axis a multiple of $2$: so $6$. After $3$ steps $O^3$ is the "
        r"mirror alone: the parity channel has split itself off.",
    ),
    Task(
        id="ch05.power",
        statement=r"""
        Write `power(B, n)`, the matrix $e^{nB}$ from its series. `B` is a square array of at most three rows, with
        entries at most 1 in size, and `n` is a number from -3 to 3. Sixty terms of the series are plenty. Return an
        array of the shape of `B`.
        """,
        solution=power,
        examples=st.tuples(_squares | _ones, st.integers(-12, 12).map(lambda k: k / 4) | st.just(3.0)),
        mistakes={
            r"every entry by itself is put into the exponential": lambda B, n: np.exp(n * B),
            r"the series stops after the linear term": lambda B, n: np.eye(len(B)) + n * B,
            r"the powers are taken entry by entry": lambda B, n: np.eye(len(B)) + np.exp(n * B) - 1,
            r"$n$ is used once and not in every power": lambda B, n: np.eye(len(B)) + n * (expm(B) - np.eye(len(B))),
        },
        hint=r"Keep the last term $(nB)^k / k!$ and make the next one from it: multiply by $nB$ and divide by $k + 1$.",
        why=r"For large $nB$ the terms grow before they shrink, and digits are lost. The package halves the matrix "
        r"until it is small, and then squares the result as often.",
        tolerance=1e-8,
    ),
)

LAB = (
    Task(
        id="ch05.same-dots",
        statement=r"""
        At whole positions $n$ somebody sees $\cos n\theta$, with $0 < \theta < \pi$. Write `same_dots(theta, limit)`:
        all frequencies from $0$ to `limit` with the same cosines at all whole positions, sorted, in an
        array. The first of them is $\theta$ itself; `limit` is larger than $\pi$.
        """,
        solution=same_dots,
        examples=st.tuples(st.integers(1, 30).map(lambda k: k / 10), st.integers(4, 30).map(float)),
        mistakes={
            r"$2\pi k - \theta$ is forgotten": lambda theta, limit: np.arange(theta, limit, 2 * np.pi),
            r"half turns are added, and not whole ones": lambda theta, limit: np.arange(theta, limit, np.pi),
            r"the list ends after one whole turn": lambda theta, limit: same_dots(theta, min(limit, 2 * np.pi)),
        },
        hint=r"$\cos n\theta$ stays the same for $\theta + 2\pi$ and for $-\theta$. Which numbers can you reach?",
        why=r"These are $2\pi k + \theta$ and $2\pi k - \theta$, and no others: the dot at $n = 1$ allows no more.",
    ),
    Question(
        id="ch05.survivors",
        prompt=r"Take all frequencies from 0 to 100 that share the cosines of $\theta = 1$ at whole positions. How "
        r"many of them share its cosines at half positions, too?",
        answer=16,
        tolerance=0.1,
        truth=_survivors,
        feedback={
            "32": r"So many pass at whole positions. Try position $\tfrac12$.",
            "8": r"So many of the kind $2\pi k + \theta$. The other kind has survivors, too.",
        },
        hint=r"Compare `np.cos(t * halves)` with `np.cos(halves)` for each `t` in your list; `halves` is "
        r"`np.arange(20) / 2`.",
        why=r"Half positions see a frequency modulo $4\pi$. So every second whole turn is found out, and half of "
        r"the 32 stay. At any one spacing infinitely many frequencies pass, if there is no limit.",
    ),
    Question(
        id="ch05.right-power",
        prompt=r"Split the mirror of the last axis off, $O = O_+ M$. At which whole $n$, besides $0$, is "
        r"$O^n = M^n O_+^n$ for every $O$? Negative ones count.",
        answer=-1,
        tolerance=0.1,
        truth=_right_power,
        feedback={"1": r"There the formula says $O_+ M = M O_+$, and in general this is false."},
        hint=r"Try several seeds, and look at the left part of the picture.",
        why=r"$O^{-1} = (O_+ M)^{-1} = M^{-1} O_+^{-1}$: an inverse exchanges the two factors. This is the order "
        r"in the formula.",
    ),
)
