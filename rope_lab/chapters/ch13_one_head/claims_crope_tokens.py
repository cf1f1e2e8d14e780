"""CRoPE's first example (its section 4.1): compare tokens. With it, the same estimate from 4.2."""

from typing import Any

import numpy as np
import sympy as sp

from rope_lab.algebra import additive_head, rotation, widely_linear
from rope_lab.claims.entry import Erratum
from rope_lab.claims.ledger import claim


def _logit(u, v, e, f):
    """The logit of u in the place e and v in the place f, where places are added and W = I."""
    W = np.column_stack((v, u, np.eye(len(u))))  # two kinds of token, then the place
    return additive_head.AdditiveHead(np.stack((e, f)), W, W, 2).logits(m=0, kind=1)[1]


def _sum_against_part(bound, rng, *, large, small):
    """The logit against u^T v: the worst of many draws, and of parallel vectors that reach the bound."""
    worst = 0.0
    for _ in range(200):
        drawn = np.array([[large], [large], [small], [small]]) * rng.normal(size=(4, 16))
        norms = np.linalg.norm(drawn, axis=1)
        one = rng.normal(size=16) / 4
        apart, reached = (abs(_logit(*uvef) - uvef[0] @ uvef[1]) for uvef in (drawn, np.outer(norms, one)))
        allowed = bound(*norms)
        worst = max(worst, apart - allowed, abs(reached / (allowed * (one @ one)) - 1))
    return worst


_ALL_THREE: dict[str, Any] = {
    "holds": lambda u, v, e, f: u * f + e * v + e * f,
    "control": lambda *norms: norms[2] * norms[3],
}


@claim(
    "crope.eq14-15",
    locus="4.1, eqs 14 and 15",
    statement=r"If $W_q = W_k = I$ and embeddings are much longer than position vectors, the logit of absolute "
    r"encoding is about $x_m^\top x_n$.",
    verdict="conditional",
    tier="minor",
    correction=r"Small against $|x|^2$, and not small as such: the difference is at most $|x||p'| + |p||x'| + "
    r"|p||p'|$, and that is reached. Softmax sees differences as such.",
    witness=r"$x = x' = 100$, $p = p' = 1$ in one dimension: $[[10201]]$ against $[[10000]]$.",
    computed=lambda: tuple(_logit(*(np.array([at]) for at in (100.0, 100.0, p, p))) for p in (1.0, 0.0)),
    tolerance=1e-9,
    **_ALL_THREE,
)
def long_embeddings(bound, rng):
    return _sum_against_part(bound, rng, large=50.0, small=0.5)


@claim(
    "crope.eq19-20",
    locus="4.2, eqs 19 and 20",
    statement=r"If $W_q = W_k = I$ and embeddings are much shorter than position vectors, the logit is about "
    r"$p_m^\top p_n$.",
    verdict="conditional",
    tier="minor",
    correction=r"Small against $|p|^2$, and not small as such: the difference is at most $|x||p'| + |p||x'| + "
    r"|x||x'|$.",
    witness=r"The numbers of crope.eq14-15, exchanged.",
    tolerance=1e-9,
    **_ALL_THREE,
)
def long_positions(bound, rng):
    return _sum_against_part(bound, rng, large=20.0, small=0.1)


@claim(
    "crope.eq15-similarity",
    locus="4.1, after eq 15",
    statement=r"$x_m^\top x_n$ is larger when the tokens are similar.",
    verdict="conditional",
    tier="minor",
    correction=r"Among tokens of equal length: $x^\top y = \tfrac12 (|x|^2 + |y|^2 - |x - y|^2)$.",
    witness=r"$(1, 0)^\top (3, 0) = 3$ is larger than $(1, 0)^\top (1, 0) = 1$.",
    holds=lambda x2, y2, d2: sp.Rational(1, 2) * (x2 + y2 - d2),
    control=lambda x2, _, d2: x2 - sp.Rational(1, 2) * d2,  # lengths taken to be equal
)
def similar_and_long(formula):
    i, n = sp.symbols("i n", integer=True, positive=True)
    x, y = (sp.IndexedBase(name)[i] for name in "xy")
    xx, yy, dd, xy = (sp.Sum(term, (i, 1, n)) for term in (x**2, y**2, (x - y) ** 2, x * y))  # of any width n
    u, v = np.array([[1, -2, 4], [3, 0, 5]])
    ours = 2 * _logit(u, v, 0 * u, 0 * v) == int(2 * formula(*(sp.Integer(w @ w) for w in (u, v, u - v))))
    return bool(ours) and sp.factor_terms(sp.expand(formula(xx, yy, dd) - xy)) == 0


@claim(
    "crope.eq16-order",
    locus="4.1, before eq 16",
    statement=r"With $\theta$ in ascending order, the planes from some $l_t$ on are the slow ones.",
    verdict="false",
    slip=True,
    mend=r"\theta_1, \theta_2, \dots \ \text{ in }\ [-\text{ascending}-][+\text{descending}+]\ \text{ order}",
    correction=r"Read descending order, as the usual schedule has it; or $l \le l_t$ for $l \ge l_t$.",
    witness=r"$D = 32$, window 100: in ascending order the planes with $1/\theta > 1000$ are the first [[three]] of "
    r"[[16]].",
    computed=lambda: ((1 / rotation.frequencies(32) > 1000).sum(), 16),
    erratum=Erratum(
        9,
        "crope-order",
        "Order and index of the planes",
        "Whoever builds the vector of Section 4.1 coordinate by coordinate. The construction works with the slow "
        "planes, which are the ones meant.",
        matters="code",
        also=("crope.eq16-index",),
    ),
    cases="width 32 and a window of 100",
    tolerance=1e-4,
    holds=lambda theta: theta,
    printed=lambda theta: theta[::-1],
    control=lambda theta: np.concatenate((theta[::2], theta[1::2])),
)
def the_slow_planes_come_last(order):
    slow = 1 / order(rotation.frequencies(32)) > 10 * 100 * (1 + 1e-9)
    return float((~slow[np.argmax(slow) :]).sum()) if slow.sum() == 3 else np.inf


@claim(
    "crope.eq16-exists",
    locus="4.1, before eq 16",
    statement=r"For a given window $w$ there are planes with $1/\theta \gg w$.",
    verdict="conditional",
    correction=r"Only if $w \ll \mathrm{base}$: the slowest plane has $1/\theta = \mathrm{base}^{1 - 2/D}$, less than "
    r"the base for any $D$.",
    witness=r"Base $10^4$, $w = 1024$: $1/\theta < [[9.77]]\, w$ for every $D$; at $D = 128$ it is $[[8.5]]\, w$.",
    computed=lambda: tuple(1 / slowest / 1024 for slowest in (1e-4, rotation.frequencies(128)[-1])),
    tolerance=1e-12,
    holds=lambda d, base: base ** (1 - 2 / d),
    control=lambda d, base: base,  # noqa: ARG005 - the last exponent taken for 1
)
def how_slow_the_slowest_is(reach, rng):
    sizes = [32, 128, 4096, *(2 * int(p) for p in rng.integers(2, 60, size=4))]
    if any(1 / rotation.frequencies(d)[-1] >= 10 * 1024 for d in sizes):
        return np.inf
    return max(abs(reach(d, 1e4) * rotation.frequencies(d)[-1] - 1) for d in sizes)


def _largest_error(first, *, w, theta):
    """Over offsets up to w, the largest |x^T R_k^T y - x^T y| for unit x, y that use the coordinates from ``first``."""
    R = rotation.rotation_matrix(np.arange(w + 1), theta=theta)[:, first - 1 :, first - 1 :]
    return float(np.linalg.norm(R - np.eye(R.shape[-1]), ord=2, axis=(1, 2)).max())


def _errors_of_the_two_readings():
    coarse, fine = (_largest_error(first, w=100, theta=rotation.frequencies(32)) for first in (14, 2 * 14 - 1))
    return round(coarse, 3), fine


@claim(
    "crope.eq16-index",
    locus="4.1, eq 16",
    statement=r"The token is written into the coordinates from $x_{l_t}$ on.",
    verdict="false",
    slip=True,
    tier="minor",
    mend=r"x_{[-l_t-][+2 l_t - 1+]}, \dots",
    gives=(0, 1),
    correction=r"$l$ counts planes, and a plane has two coordinates: read $x_{2 l_t - 1}$.",
    witness=r"$D = 32$, window 100, $l_t = 14$: from $x_{14}$ on, a logit may err by $[[2]]$; from $x_{27}$ on, by "
    r"$[[0.06]]$.",
    computed=_errors_of_the_two_readings,
    cases="width 32, a window of 100 and plane 14",
    tolerance=1e-9,
    holds=lambda plane: 2 * plane - 1,
    printed=lambda plane: plane,
    control=lambda plane: 2 * plane - 3,  # one plane too early
)
def the_first_coordinate(first):
    theta, at = rotation.frequencies(32), first(14)
    R = rotation.rotation_matrix(100, theta=theta)[at - 1 :, at - 1 :]
    whole = np.abs(R @ R.T - np.eye(len(R))).max()  # no plane is cut in two
    return max(abs(_largest_error(at, w=100, theta=theta) - 2 * np.sin(100 * theta[13] / 2)), whole)


@claim(
    "crope.eq17-18",
    locus="4.1, eqs 17 and 18",
    statement=r"Then the logit is about $x_m^\top x_n$ for all offsets within the window $w$.",
    correction=r"In numbers: it errs by at most $2 \sin(w \theta_{l_t}/2)\, |x||y|$ if $w\theta_{l_t} \le \pi$.",
    witness=r"$D = 32$, $w = 100$, the last three planes: $[[0.056]]\, |x||y|$.",
    computed=lambda: 100 * rotation.frequencies(32)[-3],
    cases="width 32 and three pairs of plane and window",
    tolerance=1e-12,
    holds=lambda w, slowest: 2 * np.sin(w * slowest / 2),
    control=lambda w, slowest: 1 - np.cos(w * slowest),  # as if x and y were parallel
)
def slow_planes_hardly_turn(bound):
    theta = rotation.frequencies(32)
    return max(
        abs(_largest_error(2 * plane - 1, w=w, theta=theta) - bound(w, theta[plane - 1]))
        for plane, w in ((14, 100), (12, 100), (16, 1000))
    )


@claim(
    "crope.sec4.1-crope-same",
    locus="4.1",
    statement=r"CRoPE can do this in the same way.",
    tier="minor",
    witness=r"The projections of the example are $W = I$, and $I$ is complex-linear.",
    cases="width 32, a window of 100 and the last three planes",
    tolerance=1e-12,
    holds=lambda A: (A, 0 * A),
    control=lambda A: (0 * A, A),  # the same numbers, acting on the conjugate
)
def the_weights_are_complex_linear(parts):
    theta = rotation.frequencies(32)
    W = widely_linear.join(*parts(np.diag(np.arange(1, 17) >= 14)))  # I, on the planes from the 14th on
    R = rotation.rotation_matrix(np.arange(101), theta=theta)
    error = np.linalg.norm(W.T @ R @ W - W.T @ W, ord=2, axis=(1, 2)).max()
    return max(np.abs(widely_linear.split(W)[1]).max(), abs(error - 2 * np.sin(100 * theta[13] / 2)))
