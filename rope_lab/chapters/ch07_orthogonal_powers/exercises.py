"""Chapter 7, Orthogonal powers: mirrors, half steps, a mirror that commutes, and positions on a grid."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from scipy.linalg import block_diag

from rope_lab.algebra.orthogonal_powers import mirror, orthogonal_power
from rope_lab.algebra.rotation import rotation_2d
from rope_lab.exercises.core import Question, Task

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


# --- the first task: a mirror that commutes ---


def commuting_mirror(step):
    values, vectors = np.linalg.eig(step)
    v = vectors[:, np.argmin(np.abs(values + 1))].real
    return np.eye(len(step)) - 2 * np.outer(v, v) / (v @ v)


def _judge(M, step) -> str:
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


# --- the second task: a grid ---


def grid_rotate(v, x, y, theta):
    out = np.empty(len(v))
    for i, (a, b) in enumerate(theta):
        angle = x * a + y * b
        c, s = np.cos(angle), np.sin(angle)
        out[2 * i] = c * v[2 * i] - s * v[2 * i + 1]
        out[2 * i + 1] = s * v[2 * i] + c * v[2 * i + 1]
    return out


def _plane_angles(v, angles):
    blocks = block_diag(*(rotation_2d(angle) for angle in angles))
    return blocks @ v


_numbers = st.integers(-8, 8).map(lambda n: n / 4)


@st.composite
def _on_a_grid(draw):
    planes = draw(st.integers(1, 3))
    v = draw(st.lists(_numbers, min_size=2 * planes, max_size=2 * planes))
    theta = draw(st.lists(st.tuples(_numbers, _numbers), min_size=planes, max_size=planes))
    return np.array(v), draw(_numbers), draw(_numbers), np.array(theta)


EXERCISES = (
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
        id="ch07.commuting-mirror",
        statement=r"""
        The step $O$ is an orthogonal $3 \times 3$ matrix with determinant $-1$. Write `commuting_mirror(step)`, where
        `step` is $O$: the matrix $M = I - 2 v v^\top / v^\top v$ of a mirror along one axis, such that $O M = M O$.
        """,
        solution=commuting_mirror,
        examples=_mirrored(),
        judge=_judge,
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
    Task(
        id="ch07.grid-rotate",
        statement=r"""
        Positions on a grid. `v` has $d$ entries, neighbours make a plane; `theta` has one row for each plane, with two
        numbers. Write `grid_rotate(v, x, y, theta)`: plane $i$ of `v` turned by
        $x\,\theta_{i,1} + y\,\theta_{i,2}$ radians, counter-clockwise.
        """,
        solution=grid_rotate,
        examples=_on_a_grid(),
        mistakes={
            r"it turns clockwise": lambda v, x, y, theta: grid_rotate(v, -x, -y, theta),
            r"x and y change places": lambda v, x, y, theta: grid_rotate(v, y, x, theta),
            r"the angle is a distance": lambda v, x, y, theta: _plane_angles(
                v, np.hypot(x * theta[:, 0], y * theta[:, 1])
            ),
            r"y is forgotten": lambda v, x, y, theta: grid_rotate(v, x, 0.0, theta),  # noqa: ARG005
        },
        hint=r"One angle for each plane: `theta @ [x, y]`. Then it is chapter 2's rotation.",
        why=r"The axial form is the case where each row of `theta` has a zero.",
    ),
)
