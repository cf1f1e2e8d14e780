"""What chapter 4 says on its own account: the proof, what the law alone implies, and what two families may do."""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import sympy as sp
from scipy.linalg import circulant

from rope_lab.algebra import finite_width, generators, longer_texts, rotation, schedule, solutions, symbolic
from rope_lab.chapters.ch04_relative_identity import key_order
from rope_lab.claims import exact
from rope_lab.claims.ledger import claim

m, n, theta = sp.symbols("m n theta", real=True)
thetas = sp.symbols("theta_0:3", real=True)


@claim(
    "book.relative-plane",
    statement=r"One plane, multiplied out: the diagonal of $R_\alpha^\top R_\beta$ is "
    r"$\cos\alpha\cos\beta + \sin\alpha\sin\beta = \cos(\beta-\alpha)$, and below it stands "
    r"$\cos\alpha\sin\beta - \sin\alpha\cos\beta = \sin(\beta-\alpha)$.",
    witness=r"$\alpha = \beta$: the diagonal is $\cos^2 + \sin^2 = 1$, and below it stands $0$.",
    holds=+1,
    control=-1,  # the sign that the transpose supplies
)
def one_plane_entry_by_entry(sign):
    a, b = m * theta, n * theta
    cosine = sp.cos(a) * sp.cos(b) + sign * sp.sin(a) * sp.sin(b)
    sine = sp.cos(a) * sp.sin(b) - sign * sp.sin(a) * sp.cos(b)
    product = exact.rotation_2d(a).T * exact.rotation_2d(b)
    by_entry = sp.Matrix([[cosine, -sine], [sine, cosine]])
    return symbolic.same(product, by_entry) and symbolic.same(by_entry, exact.rotation_2d(b - a))


@claim(
    "book.relative-step",
    statement=r"The step of the induction. If $X_m^\top X_n = X_{n-m}$ in $k$ dimensions and $R_m^\top R_n = "
    r"R_{n-m}$ in two, then $\mathrm{diag}(X_n, R_n)$ satisfies the same law in $k + 2$.",
    witness=r"The size $k$ stays a symbol: SymPy multiplies the blocks without knowing it.",
    holds=lambda family: family(m).T * family(n),
    control=lambda family: family(m) * family(n),  # the transpose dropped
)
def the_law_passes_to_one_more_plane(product):
    def family(position):
        A, R = symbolic.member("A", position, symbolic.K), symbolic.member("R", position, 2)
        return symbolic.block_sum(A, R)

    start, by_block, put_in, goal = symbolic.induction_step(m, n)
    multiplied = sp.block_collapse(product(family))
    return bool(start == family(m).T * family(n) and multiplied == by_block and put_in == goal == family(n - m))


@claim(
    "book.relative-any-d",
    statement=r"For every even $d$ and all frequencies, $\mathcal R_m^\top \mathcal R_n = \mathcal R_{n-m}$: one "
    r"plane is the base case, and each further plane is one step.",
    witness=r"Two, four and six dimensions, also multiplied out whole.",
    holds=lambda position, theta: exact.rotation_matrix(position, theta=theta),
    control=lambda position, theta: exact.rotation_matrix(position**2, theta=theta),  # angles not proportional to n
)
def base_case_and_step(R):
    *_, put_in, goal = symbolic.induction_step(m, n)
    heads = (thetas[:1], thetas[:2], thetas)
    return put_in == goal and all(symbolic.same(R(m, head).T * R(n, head), R(n - m, head)) for head in heads)


@claim(
    "book.relative-basis",
    statement=r"Another orthonormal basis, the same law: if $R_n$ satisfies it and $U$ is orthogonal, so does "
    r"$U R_n U^\top$. The half-split layout is the case where $U$ is a permutation.",
    witness=r"$U = 2I$ is not orthogonal: the left side is multiplied by $16$, the right side by $4$.",
    tolerance=1e-12,
    holds=lambda Q: Q,
    control=lambda Q: 2 * Q,
)
def the_law_in_another_basis(change, rng):
    theta = rotation.frequencies(6, base=7.0)

    def turn(n, **layout):
        return rotation.rotation_matrix(n, theta=theta, **layout)

    U = change(np.linalg.qr(rng.normal(size=(6, 6)))[0])
    swap = np.eye(6)[rotation.layout_permutation(6)]
    halves = max(np.abs(swap @ turn(n) @ swap.T - turn(n, layout="half")).max() for n in range(-3, 4))
    return max(halves, solutions.law_residual(lambda n: U @ turn(n) @ U.T))


@claim(
    "book.relative-mixed-layouts",
    statement=r"Turn the query in one layout and the key in the other, and in a head of two planes or more the law is "
    r"lost: the product $\mathcal R_m^\top \mathcal R_n'$ is no function of $n - m$.",
    witness=r"At $m = n = 0$ the product is $I$; at $m = n = 1$, with $\theta_0 = 1$, it is not.",
    tolerance=1e-12,
    holds=("half", "half"),
    control=("interleaved", "half"),
)
def one_layout_for_both(layouts, rng):
    theta = rotation.frequencies(6)
    q, k = rng.normal(size=(2, 6))

    def logit(m, n):
        a, b = (
            rotation.rotate(x, at, theta=theta, layout=layout)
            for x, at, layout in zip((q, k), (m, n), layouts, strict=True)
        )
        return a @ b

    return max(abs(logit(s, 2 + s) - logit(0, 2)) for s in (1, 5, 40))


# Backwards: what the law alone implies, and what two families may do.

k = sp.Symbol("k", real=True)


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
    # And back, by the two laws alone: the left side of the law is R_{-m} R_n, and the group law adds the indices.
    i, j = sp.symbols("i j", cls=sp.Wild)
    back = (R_T(m) * R(n)).replace(R_T, lambda at: R(-at)).replace(R(i) * R(j), R(i + j)) == R(offset(m, n))
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
    worst, phase = 0.0, np.array([np.pi, *rng.uniform(0, 2, size=2)])

    def filtered(n, kept):  # solutions that are made in another way: filters on a ring of five places
        return circulant(np.fft.irfft(np.array(kept) * np.exp(1j * n * phase), 5))

    families: list[tuple[int, Callable[[int], Any]]] = [
        (int(np.dot(kept, (1, 2, 2))), partial(filtered, kept=kept)) for kept in np.ndindex(2, 2, 2)
    ]
    for d, rank in [(size, upto) for size in (2, 3, 5) for upto in range(size + 1)]:
        U, O = (np.linalg.qr(rng.normal(size=(size, size)))[0] for size in (d, rank))  # noqa: E741
        families.append((rank, solutions.solution(O, basis=U)))
    for rank, family in families:
        O_found, U_found = solutions.classify(family)
        if O_found.shape != (rank, rank):
            return np.inf
        first, padded = np.zeros((2, len(U_found), len(U_found)))
        first[:, :rank] = U_found[:, :rank]
        padded[:rank, :rank] = O_found
        orthogonal = np.abs(O_found.T @ O_found - np.eye(rank)).max(initial=0)
        worst = max(worst, solutions.law_residual(family), orthogonal)
        for n in (1, 2, 5):
            worst = max(worst, np.abs(form(first, padded, n) - family(n)).max())
            worst = max(worst, np.abs(form(first, padded.T, n) - family(-n)).max())
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
    power: Callable[[int], Any] = solutions.solution(O, basis=np.eye(4))
    offset_only = max(np.abs((C @ power(m)).T @ (C @ power(n)) - power(n - m)).max() for m in (-2, 3) for n in (0, 5))
    return max(offset_only, solutions.law_residual(lambda n: factor(C) @ power(n)))


@claim(
    "book.relative-one-family",
    statement=r"Let queries and keys have families of their own, $Q_m = M^{-m\top} Q_0$ and $K_n = M^n K_0$. If the "
    r"two are one family of invertible matrices, then $M$ is orthogonal.",
    witness=r"$n = 1$, $Q_0 = K_0$ invertible: $M^{-\top} Q_0 = M Q_0$, so $M^\top M = I$.",
    holds=lambda M: M.T * M,
    control=lambda M: M * M,  # a reflection has M M = I as well, and so has many a matrix that is not orthogonal
)
def one_family_needs_an_orthogonal_step(product):
    M, first = (sp.MatrixSymbol(name, symbolic.K, symbolic.K) for name in "MQ")  # of any size
    query, key = M.T.I * first, M * first  # both at position 1: in one family they are equal
    by_query, by_key = ((M.T * one * first.I).doit() for one in (query, key))  # and then so are these two
    turn = exact.rotation_2d(thetas[0])  # RoPE is such a family; a turn that stretches is not
    ours = symbolic.same(product(turn), sp.eye(2)) and not symbolic.same(product(2 * turn), sp.eye(2))
    return bool(by_query == sp.Identity(symbolic.K) and by_key == product(M)) and ours


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
    query = g**m * exact.rotation_matrix(m, theta=thetas[:1])
    keys = g ** (sign * n) * exact.rotation_matrix(n, theta=thetas[:1])
    goal = exact.rotation_matrix(n - m, theta=thetas[:1])
    scale = sp.powsimp(g**m * g ** (sign * n) / g ** (m - n))
    *_, put_in, more = symbolic.induction_step(m, n)  # one plane here, and each further one is a step
    return put_in == more and scale == 1 and symbolic.same(sp.simplify((query.T * keys) / g ** (m - n)), goal)


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


# Which functions of the offset the two families can have, and three steps of that theorem.


def _at(function, size):
    return [function(r) for r in range(2 * size - 1)]


@claim(
    "book.width-rank",
    statement=r"Let $\varphi_m^\top \psi_n = g(n - m)$ for all whole $m$, $n$, with any vectors of $w$ numbers. Then "
    r"$g(r) = a^\top M^r b$ with an invertible $M$ of size at most $w$. The least $w$ is the rank of the matrix with "
    r"the entries $g(i + j)$.",
    witness=r"$g(r) = \cos r$: rank $[[2]]$, whatever the size of the matrix. $g(r) = r \cos r$: rank $[[4]]$.",
    computed=lambda: tuple(finite_width.hankel_rank(_at(g, 12)) for g in (sp.cos, lambda r: r * sp.cos(r))),
    tolerance=1e-7,
    holds=lambda rank: rank,
    control=lambda rank: rank - 1,
)
def built_from_its_own_values(width, rng):
    worst = 0.0
    for terms in ([(0.9, 1), (0.5, 1)], [(1.0, 2)], [(np.exp(0.7j), 1)], [(0.95 * np.exp(1.1j), 2), (1.0, 1)]):
        pieces = [(z**power, rng.uniform(1, 2), z, power) for z, most in terms for power in range(most)]

        def g(r, pieces=pieces):
            return sum(c * (np.asarray(r, dtype=float) ** power * z ** np.asarray(r)).real for _, c, z, power in pieces)

        table = g(np.subtract.outer(np.arange(12), np.arange(12)))  # of any vectors' dot products: no rank above theirs
        rank = int(np.linalg.matrix_rank(table, tol=1e-9))
        found = width(rank)
        query, step, key = finite_width.relative_features(g(np.arange(2 * found)), width=found)
        for r in (-9, -1, 0, 5, 14):
            worst = max(worst, abs(query @ np.linalg.matrix_power(step, r) @ key - g(r)))
    return float(worst)


# Each function with its exponentials: how many there are, and the highest power of r beside them.
_KNOWN = (
    (lambda r: 1, [(1, 0)]),  # noqa: ARG005 - no position at all
    (lambda r: Fraction(1, 2) ** r, [(1, 0)]),
    (sp.cos, [(2, 0)]),
    (lambda r: sp.Rational(9, 10) ** r * sp.cos(r), [(2, 0)]),
    (lambda r: r, [(1, 1)]),
    (lambda r: Fraction(-r * r, 2), [(1, 2)]),
    (lambda r: sp.cos(r) - sp.Rational(r, 8), [(2, 0), (1, 1)]),
    (lambda r: sum(sp.cos(r * sp.Rational(1, 10) ** i) for i in range(3)), [(6, 0)]),
    (lambda r: r * sp.cos(r), [(2, 1)]),
    (lambda r: r**2 * sp.cos(r), [(2, 2)]),
)


@claim(
    "book.width-list",
    statement=r"The width of $\sum_k p_k(r)\,\lambda_k^r$ is the sum of $1 + \deg p_k$ over the different "
    r"$\lambda_k \ne 0$. A decay has 1, a plane of RoPE or xPos 2, ALiBi's bias 2, a head of $p$ planes $2p$, a Jordan "
    r"block of order $s$ around a plane $2s$, if the frequencies are distinct and lie strictly between 0 and $\pi$.",
    witness=r"RoPE with ALiBi's bias in one plane, $\cos r - r/8$: $[[4]]$.",
    computed=lambda: finite_width.hankel_rank(_at(lambda r: sp.cos(r) - sp.Rational(r, 8), 10)),
    cases="ten functions, each with a matrix of ten rows, in numbers of 100 digits",
    holds=lambda terms: sum(count * (power + 1) for count, power in terms),
    control=lambda terms: sum(count for count, _ in terms),  # the powers forgotten
)
def one_number_for_each_power(width):
    return all(finite_width.hankel_rank(_at(g, 10)) == width(terms) for g, terms in _KNOWN)


def _cut_off(g):
    """The polynomial of degree 3 with the same first four values: an exponential polynomial that looks alike."""
    first = [g(r) for r in range(4)]
    steps = [sum((-1) ** (k - i) * sp.binomial(k, i) * first[i] for i in range(k + 1)) for k in range(4)]
    return lambda r: sum(step * sp.binomial(r, k) for k, step in enumerate(steps))


@claim(
    "book.width-infinite",
    statement=r"$1/(1 + r)$, $\log(1 + r)$ and $\sqrt r$ are no exponential polynomials, nor is $\cos(r)/(1 + r)$: the "
    r"rank of their matrices grows with every row, and no finite width has them.",
    witness=r"An exponential polynomial that goes to $0$ does so exponentially fast. $1/(1+r)$ does not, nor do the "
    r"differences $\log(2 + r) - \log(1 + r)$ and $\sqrt{r+1} - \sqrt r$. Of $20$ rows of $1/(1+i+j)$, $[[20]]$ are "
    r"independent.",
    computed=lambda: finite_width.hankel_rank(_at(lambda r: Fraction(1, 1 + r), 20)),
    cases="four functions, each with 2, 5, 9, 14 and 20 rows, in numbers of 100 digits",
    holds=lambda g: g,
    control=_cut_off,
)
def no_width_is_enough(seen):
    functions = (lambda r: sp.Rational(1, 1 + r), lambda r: sp.log(1 + r), sp.sqrt, lambda r: sp.cos(r) / (1 + r))
    return all(finite_width.hankel_rank(_at(seen(g), size)) == size for g in functions for size in (2, 5, 9, 14, 20))


@claim(
    "book.width-window",
    statement=r"A causal window of $L$ offsets needs at least $N/L$ numbers for $N$ tokens, whatever stands in the "
    r"masked half, if $L$ divides $N$. It is a mask and no encoding of finite width, though its matrix has rank $L$.",
    witness=r"$L = 8$: tokens $0, 8, 16, \ldots$ as keys and $7, 15, 23, \ldots$ as queries make a triangle with ones "
    r"on its diagonal.",
    cases="a window of 8 offsets and 64 tokens",
    holds=lambda r: int(r < 8),
    control=lambda r: Fraction(1, 2) ** r,  # a decay: below the diagonal it is small and not 0
)
def a_triangle_of_rows(g):
    rows, columns = range(7, 64, 8), range(0, 64, 8)
    diagonal = all(g(m - n) != 0 for m, n in zip(rows, columns, strict=True))
    below = all(g(m - n) == 0 for i, m in enumerate(rows) for n in list(columns)[:i])
    return diagonal and below and finite_width.hankel_rank(_at(g, 12)) == 8


@claim(
    "book.width-unipotent",
    statement=r"If $(M - I)^w = 0$, the entries of $M^n$ are polynomials in $n$ of degree below $w$: "
    r"$M^n = \sum_{k<w} \binom nk (M - I)^k$. ALiBi's shear is the case $w = 2$.",
    witness=r"$w = 3$: $M^n = I + n(M - I) + \tfrac{n(n-1)}{2}(M - I)^2$.",
    cases="sizes 2, 3 and 4",
    holds=lambda k: sp.expand_func(sp.binomial(n, k)),
    control=lambda k: n**k / sp.factorial(k),  # as in an exponential
)
def powers_of_a_unipotent_step(weight):
    for size in (2, 3, 4):
        entries = sp.symbols(f"a_1:{size * size + 1}")
        upper = sp.Matrix(size, size, lambda i, j: entries[size * i + j] if j > i else 0)  # noqa: B023
        polynomial = [int(sp.binomial(r, size - 1)) for r in range(2 * size)]
        ours = sp.Matrix(finite_width.relative_features(polynomial, width=size).step.round().astype(int))
        for N in (upper, ours - sp.eye(size)):
            power = sum((weight(k) * N**k for k in range(size)), sp.zeros(size, size))
            step = sp.expand(power * (sp.eye(size) + N) - power.subs(n, n + 1))
            if step != sp.zeros(size, size) or power.subs(n, 0) != sp.eye(size):
                return False
    return True


@claim(
    "book.width-jordan",
    statement=r"$M = \begin{pmatrix} R_\theta & R_\theta\\ 0 & R_\theta \end{pmatrix}$ has the powers "
    r"$M^n = \begin{pmatrix} R_{n\theta} & n R_{n\theta}\\ 0 & R_{n\theta} \end{pmatrix}$. Step keys "
    r"by $M$ and queries by $(M^{-1})^\top$, the query in the first plane and the key in the second: the logit is "
    r"$(n - m)\, q^\top R_{(n-m)\theta}\, k$.",
    witness=r"$n = 2$: the block above is $R_\theta R_\theta + R_\theta R_\theta = 2 R_{2\theta}$.",
    holds=lambda R: R,
    control=lambda R: sp.eye(2),  # noqa: ARG005 - Jordan's own form, with a 1: its power has n R_{(n-1) theta}
)
def a_turn_with_a_shear(above):
    def power(count):
        R = exact.rotation_2d(count * theta)
        return sp.Matrix(sp.BlockMatrix([[R, count * R], [sp.zeros(2, 2), R]]))

    R = exact.rotation_2d(theta)
    M = sp.Matrix(sp.BlockMatrix([[R, above(R)], [sp.zeros(2, 2), R]]))
    between = (power(-m) * power(n))[:2, 2:]  # from the key in the second plane to the query in the first
    logit = symbolic.same(between, (n - m) * exact.rotation_2d((n - m) * theta))
    return logit and symbolic.same(power(n) * M, power(n + 1)) and power(0) == sp.eye(4)


def _boost(count, rate):
    return generators.exponential(count * np.array([[0.0, rate], [rate, 0.0]]))


@claim(
    "book.boost-two-decays",
    statement=r"A boost $e^{nB}$, $B = \begin{pmatrix} 0 & b\\ b & 0 \end{pmatrix}$, is "
    r"$P\,\mathrm{diag}(e^{bn}, e^{-bn})\,P^\top$ with the fixed eighth of a turn $P = R_{\pi/4}$: a growth and a "
    r"decay, which never turn.",
    witness=r"$b = 1$, $n = 1$: $\cosh 1 = \tfrac12(e + e^{-1}) = [[1.543]]$.",
    computed=lambda: _boost(1, 1.0)[0, 0],
    tolerance=1e-11,
    holds=lambda exponent: np.diag(np.exp([exponent, -exponent])),
    control=rotation.rotation_2d,  # a turn: b imaginary
)
def one_grows_and_one_falls(two, rng):
    P, worst = rotation.rotation_2d(np.pi / 4), 0.0
    for rate in rng.uniform(0.1, 1.0, size=4):
        for count in (-3, 1, 2.5):
            c, s = np.cosh(count * rate), np.sinh(count * rate)
            for boost in (_boost(count, rate), np.array([[c, s], [s, c]])):
                worst = max(worst, np.abs(boost - P @ two(count * rate) @ P.T).max())
    return worst


@claim(
    "book.boost-one-family",
    statement=r"Boosts are symmetric, so one family of them for queries and keys gives $B_m^\top B_n = B_{m+n}$: the "
    r"sum of the positions. With $B_{-m}$ for the query it is $B_{n-m}$.",
    witness=r"Both at position 5 with $b = 1$: $\cosh 10$ with one family, and $1$ with two.",
    tolerance=1e-10,
    holds=lambda m: -m,
    control=lambda m: m,
)
def the_query_goes_back(place, rng):
    worst = 0.0
    for m, n in rng.uniform(-2, 2, size=(6, 2)):
        for query, seen in ((place(m), n - m), (m, m + n)):
            worst = max(worst, np.abs(_boost(query, 0.8).T @ _boost(n, 0.8) - _boost(seen, 0.8)).max())
    return worst


# Two keys that change their order when both are held at another place.


def _of_llama_3():
    flips = key_order.order_flips(131072, theta=rotation.frequencies(128, base=5e5))
    return tuple(flips[[999, 8191, 131071]])


@claim(
    "book.order-flips",
    statement=r"Let the difference of two keys be normal, with the same spread in every direction, and independent of "
    r"the query $q$. Hold both keys at one place, and then $r$ places away. The order of their scores changes with "
    r"probability $\arccos f(r)/\pi$, where $f(r) = \sum_i |q_i|^2 \cos(r\theta_i) / \sum_i |q_i|^2$: for a query of "
    r"equal length in each plane the mean cosine. A score's mean square change is $2(1 - f(r))$ of its mean square. "
    r"At two random places of a window of $L$ the probability is the mean, "
    r"$\frac{2}{\pi L^2} \sum_{r=1}^{L-1} (L - r) \arccos f(r)$.",
    witness=r"$d = 128$, base $5 \cdot 10^5$: $[[0.318]]$ in a window of $1000$, $[[0.376]]$ in $8192$, $[[0.447]]$ in "
    r"$131072$.",
    computed=_of_llama_3,
    tolerance=1e-4,
    holds=lambda f: np.arccos(f) / np.pi,
    control=lambda f: np.arccos(f) / (2 * np.pi),  # one wedge, and not the one on its other side
)
def two_turned_queries_and_two_wedges(chance, rng):
    theta, worst = rotation.frequencies(8, base=50.0), 0.0
    circle = np.exp(2j * np.pi * (np.arange(40_000) + 0.5) / 40_000).view(float).reshape(-1, 2)
    for r, sizes in zip(rng.integers(1, 400, size=3), (np.ones(4), *rng.uniform(0.3, 3, size=(2, 4))), strict=True):
        q = (sizes * np.exp(1j * rng.uniform(0, 2 * np.pi, size=4))).view(float)
        here, there = rotation.rotate(q, [0, -r], theta=theta)  # what the difference of the keys is multiplied by
        across = there - (there @ here) / (here @ here) * here
        shadows = circle @ [x / np.sqrt(x @ x) for x in (here, across)]
        f, found = sizes**2 @ np.cos(r * theta) / (q @ q), []
        for keys in (shadows, rng.normal(size=(10_000, 8))):
            first, later = (
                rotation.logits(q[None], keys, q_positions=[0], k_positions=np.full(len(keys), n), theta=theta)[0]
                for n in (0, r)
            )
            found += [((first * later < 0).mean(), ((first - later) ** 2).mean() / (first**2).mean())]
        (counted, moved), (drawn, _) = found
        if abs(drawn - counted) > 0.03:
            return np.inf
        worst = max(worst, abs(counted - chance(f)), abs(moved - 2 * (1 - f)))
    apart = schedule.decay(np.abs(np.subtract.outer(np.arange(9), np.arange(9))), theta=theta)
    return max(worst, abs(chance(np.minimum(apart, 1)).mean() - key_order.order_flips(9, theta=theta)[-1]))


@claim(
    "book.resting-planes",
    statement=r"Let a share $\rho$ of the planes of a head of $d$ coordinates rest, and let the others have different "
    r"frequencies between $0$ and $\pi$. Along an ever longer text the mean cosine $f$ has the mean $\rho$ and the "
    r"variance $(1 - \rho)/d$. So for a query of equal length in each plane of a wide head the probability of "
    r"`book.order-flips` tends to $\arccos(\rho)/\pi$: to $1/2$ if none rests.",
    witness=r"$32$ of $64$ planes at rest, base $10^4$: $[[0.333]]$ in a window of $131072$; with none at rest "
    r"$[[0.500]]$.",
    computed=lambda: tuple(
        key_order.order_flips(131072, theta=np.where(np.arange(64) < 64 - rest, rotation.frequencies(128), 0))[-1]
        for rest in (32, 0)
    ),
    tolerance=2.5e-4,
    holds=key_order.resting_limit,
    control=lambda share: 0.5,  # noqa: ARG005 - a coin, whatever rests
)
def only_resting_planes_agree_far_away(limit, rng):
    worst = 0.0
    for share in (0, 0.25, 0.5, 0.75, 1):
        theta = (np.arange(512) + rng.uniform(0.2, 0.8, size=512)) * 3 / 512
        theta[: round(512 * share)] = 0
        f = longer_texts.decay_along(30_000, theta=theta)
        if not np.isclose(f.var(), (1 - share) / 1024, rtol=0.1, atol=1e-12):
            return np.inf
        flips = key_order.order_flips(30_000, theta=theta)[-1]
        worst = max(worst, abs(f.mean() - share), abs(flips - limit(share)))
    return worst
