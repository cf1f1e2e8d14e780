"""What chapter 4 says on its own account, backwards: what the law alone implies, and what two families may do."""

import numpy as np
import sympy as sp

from rope_lab.algebra import solutions, symbolic
from rope_lab.claims import exact
from rope_lab.claims.ledger import claim

m, n, k = sp.symbols("m n k", real=True)
thetas = sp.symbols("theta_0:2", real=True)


@claim(
    "book.relative-two-laws",
    statement=r"The law $R_m^\top R_n = R_{n-m}$ alone implies $R_n^\top = R_{-n}$ and $R_m R_n = R_{m+n}$, for "
    r"square matrices of any size, invertible or not; and these two imply it.",
    witness=r"$R_n = R_0^\top R_n$ by the law at $m = 0$. Transpose it: $R_n^\top = R_n^\top R_0$, and that is "
    r"$R_{-n}$ by the law again.",
    holds=lambda m, n: n - m,
    control=lambda m, n: m - n,
)
def transpose_and_group_law_follow(offset):
    R, R_T = solutions.R, solutions.R_T

    def law(word):
        return solutions.by_law(word, offset=offset)

    def turned(word):
        return solutions.by_transpose(word)

    first = law(R_T(0) * R(n)) == R(n)
    flipped = solutions.transposed(R_T(0) * R(n))  # so this is the transpose of R_n
    second = flipped == R_T(n) * R(0) and law(flipped) == R(-n)
    group = law(turned(R(m) * R(n))) == R(m + n)
    # And back: with R_m^T = R_{-m}, the left side of the law is R_{-m} R_n, and the group law adds the indices.
    back = law(turned(R(-m) * R(n))) == R(n - m)
    return bool(first and second and group and back)


@claim(
    "book.relative-projection",
    statement=r"In every solution $R_0$ is symmetric and its own square, an orthogonal projection; and "
    r"$R_0 R_n = R_n = R_n R_0$, $R_n^\top R_n = R_0 = R_n R_n^\top$.",
    witness=r"$R_n = \mathrm{diag}(1, 0)$ at every $n$: a projection, and a solution.",
    holds=0,
    control=1,  # R_1 in the place of R_0
)
def what_stands_at_position_zero(zero):
    R, R_T = solutions.R, solutions.R_T

    def value(word):
        return solutions.by_law(solutions.by_transpose(word))

    P = R(zero)
    symmetric = R(-zero) == P  # the transpose of R_n is R_{-n}: book.relative-two-laws
    idempotent = value(P * P) == P
    keeps = value(P * R(n)) == R(n) == value(R(n) * P)
    isometry = solutions.by_law(R_T(n) * R(n)) == P == value(R(n) * R(-n))
    return bool(symmetric and idempotent and keeps and isometry)


@claim(
    "book.relative-normal-form",
    statement=r"Every solution on the integers is $R_n = U\,\mathrm{diag}(O^n, 0)\,U^\top$ with $U$ and $O$ "
    r"orthogonal; each of these is a solution.",
    witness=r"$R_n = \mathrm{diag}((-1)^n, 0)$: $U = I$, $O = -1$.",
    tolerance=1e-10,
    holds=lambda first, turn, n: first @ np.linalg.matrix_power(turn, n) @ first.T,
    control=lambda first, turn, n: first @ np.linalg.matrix_power(turn, n),  # the other U forgotten
)
def built_and_taken_apart(form, rng):
    worst = 0.0
    for d in (2, 3, 5):
        for rank in range(d + 1):
            U, O = (np.linalg.qr(rng.normal(size=(size, size)))[0] for size in (d, rank))  # noqa: E741
            family = solutions.solution(O, basis=U)
            O_found, U_found = solutions.classify(family)
            if O_found.shape != (rank, rank):
                return np.inf
            first = np.zeros((d, d))
            first[:, :rank] = U_found[:, :rank]
            padded = np.zeros((d, d))
            padded[:rank, :rank] = O_found
            orthogonal = np.abs(O_found.T @ O_found - np.eye(rank)).max(initial=0)
            worst = max(worst, solutions.law_residual(family), orthogonal)
            worst = max([worst, *(np.abs(form(first, padded, n) - family(n)).max() for n in (1, 2, 5))])
    return worst


@claim(
    "book.relative-invertible",
    statement=r"If one $R_a$ of a solution is invertible, then $R_0 = I$ and all of them are orthogonal.",
    witness=r"$R_0 R_a = R_a$: cancel $R_a$.",
    holds=lambda R: R(k),
    control=lambda R: R(0),  # as if the product were R_0: then nothing could be cancelled
)
def cancel_the_invertible_one(claimed):
    R, R_T = solutions.R, solutions.R_T
    product = solutions.by_law(solutions.by_transpose(R(0) * R(k)))
    # Cancelled, this is R_0 = I; and then the next line says that every R_n is orthogonal.
    return bool(product == claimed(R) and solutions.by_law(R_T(n) * R(n)) == R(0))


@claim(
    "book.relative-co",
    statement=r"A fixed orthogonal factor in front, $R_n = C\,O^n$, is a solution only if $C = I$. For $C \ne I$ "
    r"the product $R_m^\top R_n = O^{n-m}$ still depends on $n - m$ alone, but it is not $R_{n-m}$.",
    witness=r"One dimension, $C = -1$, $O = 1$: $R_m^\top R_n = 1$, and $R_{n-m} = -1$.",
    tolerance=1e-12,
    holds=lambda C: np.eye(len(C)),
    control=lambda C: C,
)
def a_factor_in_front(factor, rng):
    C, O = (np.linalg.qr(rng.normal(size=(4, 4)))[0] for _ in range(2))  # noqa: E741
    C = factor(C)
    power = solutions.solution(O, basis=np.eye(4))
    offset_only = max(np.abs((C @ power(m)).T @ (C @ power(n)) - power(n - m)).max() for m in (-2, 3) for n in (0, 5))
    return max(offset_only, solutions.law_residual(lambda n: C @ power(n)))


@claim(
    "book.relative-one-family",
    statement=r"Let queries and keys have families of their own, $Q_m = M^{-m\top} Q_0$ and $K_n = M^n K_0$. If the "
    r"two are one family, then $M$ is orthogonal.",
    witness=r"$n = 1$, $Q_0 = K_0$ invertible: $M^{-\top} Q_0 = M Q_0$, so $M^\top M = I$.",
    holds=lambda M: M.T * M,
    control=lambda M: M * M,  # a reflection has M M = I as well, and so has many a matrix that is not orthogonal
)
def one_family_needs_an_orthogonal_step(product):
    for size in (2, 3):
        M = sp.Matrix(size, size, sp.symbols(f"m_1:{size**2 + 1}"))  # any step at all, no entry is given a value
        gap = M.adjugate().T - M.det() * M  # zero exactly if M^-T = M: A_1 = B_1 with A_0 cancelled, times det M
        if not symbolic.same(M.T * gap, M.det() * (sp.eye(size) - product(M))):
            return False
    return True  # so where the gap is zero and det M is not, the product is I


@claim(
    "book.relative-decay",
    statement=r"Queries $\gamma^{m} R_m$, keys $\gamma^{-n} R_n$: the product is $\gamma^{m-n} R_{n-m}$. A key that "
    r"came earlier is damped for $0 < \gamma < 1$, and the offset is still all that counts.",
    witness=r"$\gamma = \tfrac12$, one step back: the logit is halved, wherever it happens.",
    holds=-1,
    control=+1,  # the same growth for queries and keys: one family, and a law lost
)
def decay_from_two_families(sign):
    g = sp.Symbol("gamma", positive=True)
    query = g**m * exact.rotation_matrix(m, theta=thetas)
    keys = g ** (sign * n) * exact.rotation_matrix(n, theta=thetas)
    goal = exact.rotation_matrix(n - m, theta=thetas)
    scale = sp.powsimp(g**m * g ** (sign * n) / g ** (m - n))
    return scale == 1 and symbolic.same(sp.simplify((query.T * keys) / g ** (m - n)), goal)


@claim(
    "book.relative-alibi",
    statement=r"A bias that is linear in the offset is a pair of families with the shear "
    r"$M = \begin{pmatrix} 1 & b\\ 0 & 1 \end{pmatrix}$: give the query two more coordinates $(1, 0)$ and the key "
    r"$(0, 1)$, map them by $M^{-m\top}$ and $M^n$, and the logit grows by $b\,(n - m)$.",
    witness=r"$m = 0$: the second column of $M^n$ begins with $b\,n$.",
    holds=lambda shear, m: shear(-m).T,
    control=lambda shear, m: shear(m),  # one family for both: the bias is b n, whatever m is
)
def a_linear_bias_from_a_shear(queries):
    b, *entries = sp.symbols("b q_1 q_2 k_1 k_2", real=True)
    q, k = sp.Matrix(entries[:2]), sp.Matrix(entries[2:])

    def shear(power):
        return sp.Matrix([[1, b * power], [0, 1]])

    if sp.expand(shear(n) * shear(1) - shear(n + 1)) != sp.zeros(2, 2) or shear(0) != sp.eye(2):
        return False  # so it is a power of M
    query = sp.Matrix([exact.rotation_2d(m) * q, queries(shear, m) * sp.Matrix([1, 0])])
    key = sp.Matrix([exact.rotation_2d(n) * k, shear(n) * sp.Matrix([0, 1])])
    goal = (q.T * exact.rotation_2d(n - m) * k)[0] + b * (n - m)
    return symbolic.same(query.dot(key), goal)
