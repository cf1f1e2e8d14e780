"""What chapter 3 says on its own account: the shuffle and its cycles, the fewest steps, and what a mix-up leaves."""

from itertools import combinations, permutations
from math import gcd
from typing import Any

import numpy as np
import sympy as sp

from rope_lab.algebra import layouts, rotation, symbolic
from rope_lab.claims import exact
from rope_lab.claims.ledger import claim

n = sp.Symbol("n", real=True)


@claim(
    "book.layout-shuffle",
    statement=r"Half-split component $j$ is interleaved component $p(j) = 2j \bmod (d - 1)$; the last stays last.",
    witness=r"$d = 6$: $0, 2, 4$, then $6 \bmod 5 = 1$, $8 \bmod 5 = 3$, and $5$.",
    cases="every even head_dim up to 128",
    holds=lambda j, d: 2 * j % (d - 1),
    control=lambda j, d: 2 * j % d,  # one too many
)
def doubling(p):
    return all(
        rotation.layout_permutation(d).tolist() == [p(j, d) for j in range(d - 1)] + [d - 1] for d in range(2, 130, 2)
    )


@claim(
    "book.layout-cycles",
    statement=r"The permutation has $1 + \sum_{e \mid d - 1} \varphi(e) / \mathrm{ord}_e(2)$ cycles, where "
    r"$\varphi(e)$ counts the numbers up to $e$ without a common factor with it and $\mathrm{ord}_e(2)$ is the "
    r"least $t \ge 1$ for which $e$ divides $2^t - 1$.",
    witness=r"$d = 64$: $63$ has the divisors $1, 3, 7, 9, 21, 63$, which give $1 + 1 + 2 + 1 + 2 + 6$ cycles; with "
    r"the last component $[[14]]$.",
    computed=lambda: len(layouts.cycles(rotation.layout_permutation(64))),
    cases="every even head_dim up to 128",
    holds=1,
    control=0,  # the component that stays last forgotten
)
def cycles_by_divisors(last):
    def order(e):
        return next(power for power in range(1, e + 1) if (2**power - 1) % e == 0)

    def count(d):
        divisors = [e for e in range(1, d) if (d - 1) % e == 0]
        return last + sum(sum(gcd(u, e) == 1 for u in range(1, e + 1)) // order(e) for e in divisors)

    return all(count(d) == len(layouts.cycles(rotation.layout_permutation(d))) for d in range(2, 130, 2))


@claim(
    "book.layout-parity",
    statement=r"With $h = d/2$ planes the permutation has the sign $(-1)^{h(h-1)/2}$.",
    witness=r"Odd component $2j + 1$ passes $h - 1 - j$ even ones, and the sum over $j$ is $h(h-1)/2$. "
    r"$h = 2$: $[[-1]]$; $h = 4$: $[[+1]]$.",
    computed=lambda: tuple(layouts.parity(rotation.layout_permutation(2 * k)) for k in (2, 4)),
    cases="1 to 64 planes",
    holds=lambda k: k * (k - 1) // 2,
    control=lambda k: k - 1,  # as if each of the moves were an exchange
)
def sign_of_the_shuffle(exponent):
    return all(layouts.parity(rotation.layout_permutation(2 * k)) == (-1) ** exponent(k) for k in range(1, 65))


def _fewest(size, step):
    """The fewest steps from the sorted row to every permutation, by trying all of them."""
    steps, edge = {tuple(range(size)): 0}, [tuple(range(size))]
    while edge:
        reached = {new: steps[old] + 1 for old in edge for new in step(old) if new not in steps}
        steps |= reached
        edge = list(reached)
    return steps


def _swapped(row):
    for a, b in combinations(range(len(row)), 2):
        yield (*row[:a], row[b], *row[a + 1 : b], row[a], *row[b + 1 :])


def _moved(row):
    for a, b in permutations(range(len(row)), 2):
        rest = row[:a] + row[a + 1 :]
        yield (*rest[:b], row[a], *rest[b:])


@claim(
    "book.minimal-swaps",
    statement=r"The fewest exchanges that put $d$ rows in order are $d$ minus the number of cycles of their "
    r"permutation.",
    witness=r"All 120 orders of five rows, by trying every exchange. An exchange changes the number of cycles by one.",
    cases="all 120 orders of five rows",
    holds=layouts.minimal_swaps,
    control=layouts.minimal_moves,
)
def fewest_swaps(count):
    return all(count(list(row)) == steps for row, steps in _fewest(5, _swapped).items())


@claim(
    "book.minimal-moves",
    statement=r"The fewest moves that put $d$ rows in order are $d$ minus the length of a longest increasing "
    r"subsequence.",
    witness=r"All 120 orders of five rows, by trying every move. Rows that are never moved keep their order.",
    cases="all 120 orders of five rows",
    holds=layouts.minimal_moves,
    control=layouts.minimal_swaps,
)
def fewest_moves(count):
    return all(count(list(row)) == steps for row, steps in _fewest(5, _moved).items())


@claim(
    "book.det-half-way",
    statement=r"A rotation is the square of the rotation half as far, $\mathcal R_n = \mathcal R_{n/2}^2$; so its "
    r"determinant is a square of $\pm 1$, in either layout.",
    witness=r"A reflection has determinant $-1$, and no real matrix squares to it.",
    cases="two planes, in both layouts",
    holds=sp.Rational(1, 2),
    control=sp.Rational(1, 3),  # a third of the way
)
def a_square(share):
    theta = sp.symbols("theta_0:2", real=True)
    P = sp.eye(4)[rotation.layout_permutation(4).tolist(), :]

    def both(position):
        R = exact.rotation_matrix(position, theta=theta)
        return R, P * R * P.T

    return all(symbolic.same(part**2, whole) for part, whole in zip(both(share * n), both(n), strict=True))


@claim(
    "book.mixed-layouts",
    statement=r"Weights run in the wrong layout, $W_q$ and $W_k$ alike, still give logits that see $n - m$ alone and "
    r"are right at offset 0. Only one of the two in the wrong layout gives logits that see the positions themselves.",
    witness=r"Each layout is a family with $\mathcal R_m^\top \mathcal R_n = \mathcal R_{n-m}$ and $\mathcal R_0 = I$; "
    r"for one matrix of each there is no such law.",
    tolerance=1e-11,
    holds=("half", "half"),
    control=("interleaved", "half"),
)
def a_mix_up_is_quiet(kinds, rng):
    d, theta = 16, rotation.frequencies(16)
    q, k = rng.normal(size=(2, d))

    def logit(m, at):
        q_m = rotation.rotate(q, m, theta=theta, layout=kinds[0])
        return q_m @ rotation.rotate(k, at, theta=theta, layout=kinds[1])

    def by_offset(offset):
        return q @ rotation.rotation_matrix(offset, theta=theta, layout="half") @ k

    moved = max(abs(logit(s, r + s) - by_offset(r)) for s in (0.0, 1.0, 17.0, -4.5) for r in (3.0, -8.5))
    return max(moved, *(abs(logit(s, s) - q @ k) for s in (0.0, 1.0, 40.0)))


@claim(
    "book.layout-vectors",
    statement=r"A vector with one entry per component that acts between projection and rotation, a bias or the gain of "
    r"a norm on $q$ and $k$, is permuted with the rows.",
    witness=r"A layer with biases and gains: with them permuted the logits agree, without they do not.",
    tolerance=1e-11,
    holds=lambda vector: vector[rotation.layout_permutation(len(vector))],
    control=lambda vector: vector,
)
def biases_and_gains(carry, rng):
    d, at = 8, np.arange(6.0)
    p, x = rotation.layout_permutation(d), rng.normal(size=(6, 10))
    W, b, g = rng.normal(size=(2, d, 10)), rng.normal(size=(2, d)), rng.uniform(0.5, 2, size=(2, d))

    def projected(W, b, g):
        y = x @ W.T + b
        return g * y / np.sqrt((y**2).mean(axis=-1, keepdims=True))

    common: dict[str, Any] = {"q_positions": at, "k_positions": at, "theta": rotation.frequencies(d)}
    one = rotation.logits(*(projected(W[i], b[i], g[i]) for i in (0, 1)), **common)
    other = rotation.logits(*(projected(W[i][p], carry(b[i]), carry(g[i])) for i in (0, 1)), **common, layout="half")
    return np.abs(one - other).max()
