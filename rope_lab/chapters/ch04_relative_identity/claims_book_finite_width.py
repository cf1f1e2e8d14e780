"""Beside chapter 4's theorem on two families: which functions of the offset they can have, and three of their steps."""

from fractions import Fraction

import numpy as np
import sympy as sp

from rope_lab.algebra import finite_width, generators, rotation, symbolic
from rope_lab.claims import exact
from rope_lab.claims.ledger import claim

n, theta = sp.symbols("n theta", real=True)


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
    r"block of order $s$ around a plane $2s$.",
    witness=r"RoPE with ALiBi's bias in one plane, $\cos r - r/8$: $[[4]]$.",
    computed=lambda: finite_width.hankel_rank(_at(lambda r: sp.cos(r) - sp.Rational(r, 8), 10)),
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
    holds=lambda k: sp.expand_func(sp.binomial(n, k)),
    control=lambda k: n**k / sp.factorial(k),  # as in an exponential
)
def powers_of_a_unipotent_step(weight):
    for size in (2, 3, 4):
        entries = sp.symbols(f"a_1:{size * size + 1}")
        N = sp.Matrix(size, size, lambda i, j: entries[size * i + j] if j > i else 0)  # noqa: B023
        power = sum((weight(k) * N**k for k in range(size)), sp.zeros(size, size))
        step = sp.expand(power * (sp.eye(size) + N) - power.subs(n, n + 1))
        if step != sp.zeros(size, size) or power.subs(n, 0) != sp.eye(size):
            return False
    return True


@claim(
    "book.width-jordan",
    statement=r"$M = \begin{pmatrix} R_\theta & R_\theta\\ 0 & R_\theta \end{pmatrix}$ has the powers "
    r"$M^n = \begin{pmatrix} R_{n\theta} & n R_{n\theta}\\ 0 & R_{n\theta} \end{pmatrix}$. With the query in the first "
    r"plane and the key in the second the logit is $(n - m)\, q^\top R_{(n-m)\theta}\, k$.",
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
    return symbolic.same(power(n) * M, power(n + 1)) and power(0) == sp.eye(4)


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
            worst = max(worst, np.abs(_boost(count, rate) - P @ two(count * rate) @ P.T).max())
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
        worst = max(worst, np.abs(_boost(place(m), 0.8).T @ _boost(n, 0.8) - _boost(n - m, 0.8)).max())
    return worst
