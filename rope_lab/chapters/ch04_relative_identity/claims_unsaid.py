"""Beside the sources: two families, a constant factor, positions that are real numbers."""

import numpy as np
from scipy.linalg import expm

from rope_lab.algebra import rotation, solutions
from rope_lab.claims.ledger import claim

SPAN = range(-3, 4)


def _power(M, n):
    return np.linalg.matrix_power(M, n)


def _differs(product) -> float:
    """The largest change of product(m, n) when both positions move."""
    pairs = [(m, n) for m in (-1, 0, 2) for n in (0, 1)]
    return max(np.abs(product(m + s, n + s) - product(m, n)).max() for m, n in pairs for s in (-2, 1, 3))


@claim(
    "unsaid.general-qk",
    locus="in none of the sources",
    statement=r"Let queries and keys be mapped by families of square matrices of their own, one for each whole "
    r"position, and let $Q_0^\top K_0$ be invertible. Then $Q_m^\top K_n$ depends on $n - m$ alone if and only if "
    r"$Q_m = M^{-m\top} Q_0$ and $K_n = M^n K_0$ for one invertible $M$.",
    witness=r"A decay is allowed: $M = \tfrac{1}{\gamma} R_1$ makes the product $\gamma^{m-n} R_{n-m}$.",
    tolerance=1e-9,
    holds=lambda M, A_0, m: np.linalg.inv(_power(M, m)).T @ A_0,
    control=lambda M, A_0, m: _power(M, m) @ A_0,  # one step for both, and M is not orthogonal
)
def two_families(queries, rng):
    M, A_0, B_0 = (np.eye(4) + 0.3 * rng.normal(size=(4, 4)) for _ in range(3))

    def product(m, n):
        return queries(M, A_0, m).T @ _power(M, n) @ B_0

    # And back: a relative pair that was not made from an M gives one up.
    theta, decay = rotation.frequencies(4), np.array([0.9, 0.9, 0.7, 0.7])
    A = {n: rotation.rotation_matrix(n, theta=theta) * decay**n for n in SPAN}
    B = {n: rotation.rotation_matrix(n, theta=theta) * decay**-n for n in SPAN}
    step = B[1] @ np.linalg.inv(B[0])
    rebuilt_A = max(np.abs(queries(step, A[0], n) - A[n]).max() for n in SPAN)
    rebuilt_B = max(np.abs(_power(step, n) @ B[0] - B[n]).max() for n in SPAN)
    return max(_differs(product), rebuilt_A, rebuilt_B)


@claim(
    "unsaid.cosmetic-C",
    locus="in none of the sources",
    statement=r"Ask less: let $R_m^\top R_n$ depend on $n - m$ alone, with $R_0$ invertible. Then $R_n = O^n R_0$ "
    r"with $O$ orthogonal, and the constant $R_0$ can be absorbed into $W_q$ and $W_k$.",
    witness=r"$R_0 = 2I$ is allowed: every logit is multiplied by $4$.",
    tolerance=1e-10,
    holds=lambda power, C: power @ C,
    control=lambda power, C: C @ power,  # the constant on the outer side
)
def a_constant_factor(family, rng):
    O = np.linalg.qr(rng.normal(size=(4, 4)))[0]  # noqa: E741
    C = np.eye(4) + 0.4 * rng.normal(size=(4, 4))
    V = np.linalg.qr(rng.normal(size=(4, 4)))[0]  # in front: relative too, and not made in the form that is claimed
    R = {n: V @ family(_power(O, n), C) for n in range(-5, 6)}
    back = np.linalg.inv(R[0])
    same = max(np.abs(_power(R[1] @ back, n) @ R[0] - R[n]).max() for n in SPAN)
    orthogonal = solutions.law_residual(lambda n: R[n] @ back, positions=(-2, 0, 1, 3))
    return max(_differs(lambda m, n: R[m].T @ R[n]), same, orthogonal)


@claim(
    "unsaid.real-index",
    locus="in none of the sources",
    statement=r"Let the positions be real numbers, $R_0 = I$, and $R_t$ continuous in $t$. Then the law leaves exactly "
    r"$R_t = e^{tB}$ with $B^\top = -B$.",
    witness=r"One plane: $B = \theta J$ with $J$ the quarter turn, and $e^{tB} = R_{t\theta}$.",
    tolerance=1e-9,
    holds=lambda t: t,
    control=lambda t: t * abs(t),  # continuous and orthogonal at every t, but angles do not add
)
def the_generator_is_found_by_averaging(clock, rng):
    P, theta = np.linalg.qr(rng.normal(size=(4, 4)))[0], rotation.frequencies(4, base=3.0)

    def R(t):
        return P @ rotation.rotation_matrix(clock(t), theta=theta) @ P.T

    law = solutions.law_residual(R, positions=(-1.3, 0.0, 0.4, 2.2))
    nodes, weights = np.polynomial.legendre.leggauss(20)
    end = 0.8  # the mean of R over [0, end] is invertible, because R starts at I
    mean = sum(w * R(end * (x + 1) / 2) for x, w in zip(nodes, weights, strict=True)) / 2
    B = (R(end) - R(0.0)) @ np.linalg.inv(end * mean)
    A = rng.normal(size=(4, 4))  # and back: every skew matrix gives a solution
    law = max(law, solutions.law_residual(lambda t: expm(clock(t) * (A - A.T) / 4), positions=(-1.3, 0.0, 0.4, 2.2)))
    return max(law, np.abs(B + B.T).max(), *(np.abs(expm(t * B) - R(t)).max() for t in (-2.0, 0.5, 3.7)))
