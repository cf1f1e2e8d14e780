"""Chapter 6, Block diagonalisation: a general rotation, the basis in which it falls apart, and who takes the basis."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from scipy.linalg import expm

from rope_lab.algebra import rotation
from rope_lab.algebra.absorption import absorb_generators, attention_logits
from rope_lab.algebra.normal_form import skew_normal_form
from rope_lab.exercises.core import Question, Task


def _skew(A):
    return A - A.T


# --- the prediction: what a general generator adds ---


def _what_it_adds() -> list[bool]:
    rng = np.random.default_rng(0)
    W_q, W_k, x, B = (rng.normal(size=shape) for shape in ((1, 6, 8), (1, 6, 8), (5, 8), (6, 6)))
    B = _skew(B)
    new, theta = absorb_generators(W_q, W_k, B=B)
    rope = rotation.logits(
        x @ new.W_q[0].T, x @ new.W_k[0].T, q_positions=range(5), k_positions=range(5), theta=theta[0]
    )
    same = np.allclose(rope, attention_logits(x, W_q, W_k, B=B)[0])
    speeds = len(np.unique(np.abs(np.linalg.eigvals(B).imag).round(9)))
    return [not same and speeds == 3, speeds > 3, bool(same)]


# --- the two speeds of one matrix ---


def _faster_speed() -> float:
    B = np.zeros((4, 4))
    B[0, 1], B[0, 3], B[2, 3] = 2.0, 3.0, 2.0
    return float(skew_normal_form(B - B.T).theta[0])


# --- what an orthogonal P passes through ---


def _passed() -> list[bool]:
    rng = np.random.default_rng(1)
    P, u = np.linalg.qr(rng.normal(size=(6, 6)))[0], rng.normal(size=6)
    gains, bias = rng.uniform(0.5, 2, size=6), rng.normal(size=6)

    def rms(v):
        return v / np.sqrt(np.mean(v**2))

    steps = (lambda v: gains * rms(v), rms, lambda v: np.maximum(v, 0), lambda v: v + bias)
    return [bool(np.allclose(step(P.T @ u), P.T @ step(u))) for step in steps]


# --- the first task: a plane from one vector ---


def plane_of(B, u):
    theta = np.linalg.norm(B @ u)
    return theta, B @ u / theta


def _turning_vector(a, b, c, angle):
    """A skew matrix with the speeds 1 + a and a in planes that are aslant, and a unit vector of the faster plane."""
    P = expm(_skew(np.triu(np.array([[0, b, c, 1], [0, 0, 1, b], [0, 0, 0, c], [0, 0, 0, 0]], dtype=float))))
    B = P @ np.kron(np.diag([1.0 + a, a]), rotation.rotation_2d(np.pi / 2)) @ P.T
    return _skew(B) / 2, P[:, :2] @ [np.cos(angle), np.sin(angle)]


_eighths = st.integers(-8, 8).map(lambda n: n / 8)
_turning = st.builds(
    _turning_vector, st.integers(1, 16).map(lambda n: n / 8), _eighths, _eighths, st.integers(0, 6).map(float)
)


# --- the second task: who takes P ---


def absorbed(W_q, W_k, P):
    return P.T @ W_q, np.linalg.inv(P) @ W_k


def _judge(result, W_q, W_k, P) -> str:
    try:
        new_q, new_k = (np.asarray(one, dtype=float) for one in result)
    except (TypeError, ValueError):
        return "expected two weights, new_q and new_k"
    if new_q.shape != W_q.shape or new_k.shape != W_k.shape:
        return f"expected shapes {W_q.shape} and {W_k.shape}, got {new_q.shape} and {new_k.shape}"
    for r in (0.0, 1.0, 2.5):
        turn = rotation.rotation_2d(0.9 * r)
        if np.abs(W_q.T @ P @ turn @ np.linalg.inv(P) @ W_k - new_q.T @ turn @ new_k).max() > 1e-9:
            return f"the logits differ at offset {r:g}"
    return ""


def _invertible(a, b, c):
    return np.array([[1.0 + a, b], [c, 1.0]])


_matrices = st.lists(st.integers(-4, 4), min_size=6, max_size=6).map(lambda n: np.reshape(n, (2, 3)) / 2)
_bases = st.builds(
    _invertible,
    st.integers(0, 8).map(lambda n: n / 8),
    st.integers(-4, 4).map(lambda n: n / 8),
    st.integers(1, 4).map(lambda n: n / 8),
)

# --- in the lab: the slowest plane of a matrix, and the speeds of a head that shows its logits alone ---


def _slowest() -> float:
    B = _skew(np.random.default_rng(6).normal(size=(8, 8)))
    return float(skew_normal_form(2.8 * B / np.linalg.norm(B, 2)).theta[-1])


def speeds(s, planes):
    windows = np.lib.stride_tricks.sliding_window_view(s, 2 * planes + 1)
    recurrence = np.linalg.svd(windows)[2][-1]
    angles = np.angle(np.roots(recurrence))
    return np.sort(angles[angles > 0])


def _signal(quarters, phase):
    """Logits at the offsets 0 to 31 with these speeds, in quarters of a radian per position, and their number."""
    waves = [(1 + i / 2) * np.cos(k / 4 * np.arange(32) + phase + i) for i, k in enumerate(sorted(quarters))]
    return np.sum(waves, axis=0), len(waves)


_signals = st.builds(_signal, st.sets(st.integers(1, 11), min_size=1, max_size=3), st.integers(0, 5).map(float))


EXERCISES = (
    Question(
        id="ch06.predict-general",
        kind="prediction",
        prompt=r"A head has 64 components. RoPE turns the pairs (0, 1), (2, 3), and so on, each at its own speed: 32 "
        r"numbers. In the other model position $n$ acts as $e^{nB}$, with *any* skew matrix $B$ (chapter 5): 2016 "
        r"free numbers. Both models learn these numbers, and their $W_q$ and $W_k$. What can the second model do that "
        r"the first cannot?",
        choices=(
            r"It couples the pairs, so its logits can depend on the offset in new ways.",
            r"It turns at more than 32 speeds, so its logits contain more frequencies.",
            r"Nothing: with other $W_q$ and $W_k$ the first model has the same logits.",
        ),
        answer="C",
        truth=_what_it_adds,
        feedback={
            "A": r"The pairs are coupled in the coordinates that you see. What happens in another basis?",
            "B": r"Each speed needs a plane of its own, and 64 components have room for 32 planes.",
        },
        why=r"$B$ couples the pairs only because it was written in unlucky coordinates. In the right ones it is a row "
        r"of separate planes, one for each two components. The change of coordinates is a fixed matrix, and $W_q$ and "
        r"$W_k$ can take it in.",
    ),
    Question(
        id="ch06.two-speeds",
        prompt=r"Count the entries from 1. Of a skew $4 \times 4$ matrix you know $b_{12} = 2$, $b_{14} = 3$, "
        r"$b_{34} = 2$; the other entries above the diagonal are $0$. How fast does its faster plane turn?",
        answer=4.0,
        tolerance=0.01,
        unit="radians per position",
        truth=_faster_speed,
        feedback={
            "5": r"This is the sum of the two speeds.",
            "1": r"This is the slower of the two.",
            "2": r"The entries $b_{12}$ and $b_{34}$ alone would give this. But $b_{14}$ turns as well.",
        },
        hint=r"$P$ changes neither the sum of the squares of all entries nor the determinant. So "
        r"$\theta_0^2 + \theta_1^2$ is the sum of the squares of the six entries, here $17$, and "
        r"$\theta_0 \theta_1 = |b_{12} b_{34} - b_{13} b_{24} + b_{14} b_{23}|$, here $4$.",
        why=r"$(\theta_0 + \theta_1)^2 = 17 + 8$ and $(\theta_0 - \theta_1)^2 = 17 - 8$: the sum is $5$ and "
        r"the difference $3$. So the speeds are $4$ and $1$.",
    ),
    Question(
        id="ch06.passes",
        prompt=r"Between the projection and the rotation a model applies one of these to the query. Through which of "
        r"them does every orthogonal $P^\top$ pass, so that it can go on into $W_q$?",
        choices=(
            r"RMS norm, with a learned gain for each component.",
            r"RMS norm without gains.",
            r"ReLU.",
            r"Adding a bias that itself stays as it is.",
        ),
        answer="B",
        truth=_passed,
        feedback={
            "A": r"The division by the length is harmless. What do the gains do to $P^\top u$?",
            "C": r"A quarter turn of $(1, 0)$ is $(0, 1)$, a quarter turn of $(0, 1)$ is $(-1, 0)$. Compare "
            r"the two orders.",
            "D": r"With the same bias on both sides the difference is $b - P^\top b$.",
        },
        hint=r"$P^\top$ passes through $f$ if $f(P^\top u) = P^\top f(u)$ for every $u$. Try a quarter turn.",
        why=r"An RMS norm divides by a length, and $P^\top$ keeps lengths. Gains and ReLU know one component from "
        r"another, and $P^\top$ mixes components. A bias is no obstacle if it is turned too: $b \to P^\top b$.",
    ),
    Task(
        id="ch06.plane-of",
        statement=r"""
        `B` is a skew $4 \times 4$ matrix, and `u` a vector of length one in its faster plane: $B^2 u = -\theta^2 u$
        with some $\theta > 0$. Write `plane_of(B, u)`. It returns $\theta$ and the vector `v` of length one with which
        `u` spans the plane, so that $Bu = \theta v$ and $Bv = -\theta u$.
        """,
        solution=plane_of,
        examples=st.tuples(_turning).map(lambda one: one[0]),
        mistakes={
            r"v turns the other way": lambda B, u: (plane_of(B, u)[0], -plane_of(B, u)[1]),
            r"v is not made of length one": lambda B, u: (plane_of(B, u)[0], B @ u),
            r"theta is squared": lambda B, u: (plane_of(B, u)[0] ** 2, plane_of(B, u)[1]),
        },
        hint=r"What is the length of $Bu$, if $|v| = 1$?",
        why=r"$|Bu|^2 = -u^\top B^2 u = \theta^2$. So one product gives both: the length of $Bu$ is the speed, its "
        r"direction is $v$.",
    ),
    Task(
        id="ch06.absorbed",
        statement=r"""
        A head turns keys by $e^{nB}$ with $B = P \Lambda P^{-1}$, where `P` is invertible and need not be orthogonal.
        Write `absorbed(W_q, W_k, P)`: the two weights that give the same logits
        $(W_q x)^\top e^{(n-m)B}\, W_k y$ with $e^{(n-m)\Lambda}$ instead. Weights multiply from the left:
        $W_q x$.
        """,
        solution=absorbed,
        examples=st.tuples(_matrices, _matrices, _bases),
        judge=_judge,
        mistakes={
            r"P is taken for orthogonal": lambda W_q, W_k, P: (P.T @ W_q, P.T @ W_k),
            r"the query gets P itself": lambda W_q, W_k, P: (P @ W_q, np.linalg.inv(P) @ W_k),
            r"query and key are exchanged": lambda W_q, W_k, P: (np.linalg.inv(P) @ W_q, P.T @ W_k),
        },
        hint=r"Write $q^\top P\, e^{(n-m)\Lambda} P^{-1} k$ and put brackets around what belongs to the query. It "
        r"stands there transposed.",
        why=r"$q^\top P = (P^\top q)^\top$. For an orthogonal $P$, $P^{-1} = P^\top$ and both weights get one factor.",
    ),
)

LAB = (
    Question(
        id="ch06.slowest-plane",
        prompt=r"Here `B` is the matrix of eight components in the lab. How fast does its slowest plane turn? Three "
        r"digits after the point are enough.",
        answer=0.3239,
        tolerance=0.002,
        unit="radians per position",
        truth=_slowest,
        feedback={"2.8": r"This is the fastest plane. It is the first that `peel` finds."},
        hint=r"Eight components have four planes: `peel(B, 4)` returns the axes and the speeds.",
        why=r"`peel` takes the fastest plane away first, so the slowest one is found last. What is left then is zero.",
    ),
    Task(
        id="ch06.speeds",
        statement=r"""
        The array `s` holds the logits at the offsets 0, 1, 2 and so on, of a head with $p$ = `planes` planes. All its
        speeds are different and lie between $0$ and $\pi$. Then the logits obey a recurrence: there are numbers
        $c_0, \dots, c_{2p}$, not all zero, with $c_0 s_r + c_1 s_{r+1} + \dots + c_{2p} s_{r+2p} = 0$ for every $r$.
        The polynomial with these coefficients has the roots $e^{\mathrm i\theta}$ and $e^{-\mathrm i\theta}$ for each
        speed $\theta$. Write `speeds(s, planes)`: the speeds, sorted, in an array.
        """,
        solution=speeds,
        examples=st.tuples(_signals).map(lambda one: one[0]),
        mistakes={
            r"each speed is there with both signs": lambda s, planes: np.sort(
                np.r_[speeds(s, planes), -speeds(s, planes)]
            ),
            r"these are the cosines of the speeds": lambda s, planes: np.sort(np.cos(speeds(s, planes))),
            r"the fastest speed comes first": lambda s, planes: speeds(s, planes)[::-1],
        },
        hint=r"`np.lib.stride_tricks.sliding_window_view(s, 2 * planes + 1)` holds all the windows. The last row of "
        r"`np.linalg.svd(windows)[2]` is perpendicular to each of them. Then `np.roots` and `np.angle`.",
        why=r"For one plane the recurrence is $s_r - 2\cos\theta\, s_{r+1} + s_{r+2} = 0$. For more planes multiply "
        r"the polynomials.",
        tolerance=1e-6,
    ),
)
