"""What a turn can do for ever and real decays cannot: chapter 10 on sign changes, a window, and a bell."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import sympy as sp

from rope_lab.claims.ledger import claim
from rope_lab.training.results import cards


def _sum_of_decays(decays, weights, length):
    return [sum(c * x**n for c, x in zip(weights, decays, strict=True)) for n in range(length)]


def _changes(values) -> int:
    signs = [v > 0 for v in values if v]
    return sum(a != b for a, b in pairwise(signs))


def _alternating(N):
    """Weights of N positive decays whose sum is +1, -1, +1, ... at n = 0, ..., N - 1."""
    decays = [Fraction(k + 1, N + 1) for k in range(N)]
    matrix = sp.Matrix(N, N, lambda n, k: sp.Rational(decays[k].numerator, decays[k].denominator) ** n)
    weights = matrix.LUsolve(sp.Matrix([(-1) ** n for n in range(N)]))
    return decays, [Fraction(int(w.p), int(w.q)) for w in weights]


def _signs_of_the_witness():
    first, second, *later = _sum_of_decays((1 / 3, 2 / 3), (2, -1), 60)
    return first, second, "negative" if max(later) < 0 else "not always negative"


@claim(
    "book.decay-sign-changes",
    statement=r"A sum of $N$ different positive decays, $\sum_k c_k \lambda_k^n$ with $c_k \ne 0$, changes sign at "
    r"most $N - 1$ times over all $n \ge 0$, and some sum does.",
    witness=r"$N = 2$: $2 \cdot (\tfrac13)^n - (\tfrac23)^n$ is $[[1]]$, $[[0]]$, then [[negative]] for ever.",
    computed=_signs_of_the_witness,
    holds=lambda N: N - 1,
    control=lambda N: N - 2,
)
def few_sign_changes(bound):
    rng, most = np.random.default_rng(10), {}
    for N in (2, 3, 4, 5):
        cases = [_alternating(N)]
        for _ in range(10):
            decays = sorted({Fraction(int(x), 20) for x in rng.integers(1, 20, size=N)})
            cases.append((decays, [Fraction(int(c)) for c in rng.integers(-9, 10, size=len(decays))]))
        most[N] = max(_changes(_sum_of_decays(decays, weights, 60)) for decays, weights in cases)
    return all(most[N] == bound(N) for N in most)


@claim(
    "book.decay-signed",
    statement=r"With real decays of both signs, $N$ in all, the even steps and the odd steps of the sum are each a sum "
    r"of at most $N$ positive decays $\lambda_k^2$. A negative decay adds an alternation and nothing else.",
    witness=r"$(-\tfrac12)^n$: on even steps $(\tfrac14)^{n/2}$, on odd steps $-\tfrac12 (\tfrac14)^{(n-1)/2}$.",
    holds=lambda x: x**2,
    control=lambda x: -(x**2),
)
def even_steps_and_odd_steps(squared):
    decays, weights = [Fraction(1, 2), Fraction(-1, 2), Fraction(-3, 4), Fraction(1, 5)], [3, -2, 1, 5]
    whole = _sum_of_decays(decays, weights, 24)
    squares = [squared(x) for x in decays]
    even = _sum_of_decays(squares, weights, 12)
    odd = _sum_of_decays(squares, [c * x for c, x in zip(weights, decays, strict=True)], 12)
    return whole[0::2] == even and whole[1::2] == odd


@claim(
    "book.decay-turns-for-ever",
    statement=r"For $0 < \theta < \pi$ the kernel $\gamma^n \cos n\theta$ changes sign infinitely often: any stretch "
    r"of one and a half turns holds a positive and a negative value.",
    witness=r"$\cos\theta = \tfrac35$: the signs over 60 steps, by the integers of $5^n \cos n\theta$.",
    holds=lambda cosine: cosine,
    control=lambda cosine: 1 / cosine,  # beyond 1 or -1: a hyperbolic cosine, which never comes back
)
def never_at_rest(kind):
    return all(_comes_back(kind(sp.Rational(*ratio)), at_most) for ratio, at_most in _STRETCHES)


# Cosines, and as many values as one and a half turns hold: 1 + the least n with n theta >= 3 pi.
_STRETCHES = (((3, 5), 12), ((-3, 5), 6), ((12, 13), 25), ((-12, 13), 5), ((1, 7), 8))


def _comes_back(cosine, stretch):
    c = [sp.Integer(1), cosine]
    while len(c) < 60:
        c.append(2 * cosine * c[-1] - c[-2])  # cos(n+1) = 2 cos cos(n) - cos(n-1)
    return all(min(part) < 0 < max(part) for part in (c[k : k + stretch] for k in range(len(c) - stretch + 1)))


@claim(
    "book.decay-window",
    statement=r"On a window of $L$ steps, any $L$ different real decays fit any kernel exactly.",
    witness=r"The matrix of the powers $\lambda_k^n$ is Vandermonde's; its determinant is the product of differences.",
    holds=[sp.Rational(k + 1, 6) for k in range(5)],
    control=[sp.Rational(1, 6), sp.Rational(1, 6), sp.Rational(1, 2), sp.Rational(2, 3), sp.Rational(5, 6)],  # a twin
)
def real_decays_fit_a_window(decays):
    matrix = sp.Matrix(5, 5, lambda n, k: decays[k] ** n)
    differences = sp.prod(decays[b] - decays[a] for a in range(5) for b in range(a + 1, 5))
    kernel = sp.Matrix([1, 0, -1, 0, 1])  # cos(n pi/2)
    return bool(matrix.det() == differences != 0 and matrix * matrix.LUsolve(kernel) == kernel)


@claim(
    "book.decay-bell",
    statement=r"A layer of 16 numbers with complex decay learns to say how many steps ago a bell rang, modulo 7, over "
    r"128 steps: at least 99 of 100 answers are right with every seed. With real decays of equal number, positive or "
    r"of both signs, fewer than 30 of 100 are.",
    verdict="empirical",
    tier="empirical",
    witness="The cards of the experiment complex-rnn.",
)
def the_bell():
    found = cards.load_all("complex-rnn", "cpu")
    right = {
        name: [card.final["accuracy"] for card in found if card.variant == name]
        for name in ("complex decay", "real decay", "signed decay")
    }
    if any(len(values) < 5 for values in right.values()):
        return "not attempted"
    learned = min(right["complex decay"]) >= 0.99
    return "reproduced" if learned and max(right["real decay"] + right["signed decay"]) < 0.3 else "not reproduced"
