"""CRoPE's second example (its section 4.2): compare positions, and what becomes of the sum of cosines."""

from typing import Any

import numpy as np
import sympy as sp

from rope_lab.algebra import additive_head, one_head, placements, rotation, schedule
from rope_lab.claims import exact
from rope_lab.claims.entry import Erratum
from rope_lab.claims.ledger import claim


@claim(
    "crope.eq20-monotone",
    locus="4.2, after eq 20",
    statement=r"$p_m^\top p_n$ is larger when $m$ and $n$ are close.",
    verdict="conditional",
    correction=r"For sinusoidal vectors it is $\sum_i \cos((m-n)\theta_i)$: largest at $m = n$, and not falling at "
    r"every step. At width 128 its mean over the distances 1 to 100, to 1,000 and to 10,000 falls from each range to "
    r"the next.",
    witness=r"$D = 128$: the mean cosine is $[[0.6616]]$ at 11 and $[[0.6622]]$ at 12. $D = 32$: it rises from 4 to 5.",
    computed=lambda: tuple(schedule.decay([11, 12], theta=rotation.frequencies(128))),
    cases="width 128 and nine pairs of positions; two steps that rise",
    tolerance=1e-10,
    holds=lambda m, n, theta: np.cos((m - n) * theta).sum(),
    control=lambda m, n, theta: np.cos((m + n) * theta).sum(),  # no minus
)
def falls_on_the_whole(form):
    theta, p = rotation.frequencies(128), additive_head.sinusoid_head(301).positions
    rises = all(
        schedule.decay(k, theta=rotation.frequencies(d)) < schedule.decay(k + 1, theta=rotation.frequencies(d))
        for d, k in ((128, 11), (32, 4))
    )
    pairs = ((m, n) for m in (0, 3, 50) for n in (0, 7, 300))
    residual = max(abs(p[m] @ p[n] - form(m, n, theta)) for m, n in pairs)
    far = schedule.decay(np.arange(10_001), theta=theta)
    means = [part.mean() for part in np.split(far[1:], [100, 1000])]
    falls = means == sorted(means, reverse=True) and far[1:].max() < far[0]
    return residual if rises and falls else np.inf


@claim(
    "crope.eq21",
    locus="4.2, eq 21",
    statement=r"$p_m^\top p_n \to \delta(m - n)$ as $D \to \infty$.",
    verdict="conditional",
    mend=r"[+\tfrac 2D+]\, p_m^\top p_n \to [-\delta(m - n)-][+g(r)+]",
    correction=r"With the factor $\tfrac 2D$, and for frequencies that fill the circle evenly. For the usual geometric "
    r"frequencies the limit is $g(r) = [\mathrm{Ci}(r) - \mathrm{Ci}(r/\mathrm{base})] / \ln \mathrm{base}$, about "
    r"$1 - (\ln r + \gamma)/\ln\mathrm{base}$ from $r = 10$ to $1000$.",
    differs="the source has a delta for the limit",
    witness=r"Base $10^4$: $g = [[0.974]]$, $[[0.682]]$, $[[0.437]]$, $[[0.188]]$ at $r = 1, 10, 100, 1000$. For "
    r"$\theta_i = 2\pi i/(D/2)$: exactly $\delta$ for $|r| < D/2$.",
    computed=lambda: tuple(schedule.dense_decay([1, 10, 100, 1000])),
    erratum=Erratum(
        11,
        "crope-delta",
        "Sums that become a delta",
        "Whoever needs the logits themselves to vanish away from one position. The softmax weights over a window do "
        "concentrate, and that is what the argument uses.",
        matters="proofs",
        picture="picture-no-delta",
        also=("crope.eq23-limit", "crope.eq28-limit"),
    ),
    cases="base 10,000, five offsets at width 262,144, and 64 frequencies round the circle",
    tolerance=2e-5,
    holds=schedule.dense_decay,
    control=lambda r: 0 * r,  # what delta is away from 0
)
def what_it_tends_to(limit):
    offsets = np.array([1.0, 2.0, 10.0, 100.0, 1000.0])
    circle = schedule.decay(np.arange(1, 64), theta=2 * np.pi * np.arange(64) / 64)
    found = schedule.decay(offsets, theta=rotation.frequencies(2**18))
    line = np.abs(found - schedule.log_law(offsets))[2:]  # from 10 on
    return max(np.abs(found - limit(offsets)).max(), np.abs(circle).max()) if line.max() < 0.01 else np.inf


@claim(
    "crope.eq22-23",
    locus="4.2, eqs 22 and 23",
    statement=r"For the constant vector of ones and $W = I$ the logit is $\sum_i \cos((m-n)\theta_i)$.",
    verdict="false",
    slip=True,
    mend=r"\mathbf 1^\top \mathcal R_{m-n}\, \mathbf 1 = [+2+]\sum_i \cos((m-n)\theta_i)",
    gives=(1, 0),
    correction=r"A factor of 2, which does no harm: $2\sum_i \cos((m-n)\theta_i)$. Without it for the complex vector "
    r"of ones, $(1, 0, 1, 0, \dots)$.",
    witness=r"$m = n$ and $D = 4$: $\mathbf 1^\top \mathbf 1 = [[4]]$, and the sum is $[[2]]$.",
    computed=lambda: (
        float(np.ones(4) @ rotation.rotate(np.ones(4), 0.0, theta=rotation.frequencies(4))),
        float(np.cos(0.0 * rotation.frequencies(4)).sum()),
    ),
    erratum=Erratum(
        10,
        "crope-factors",
        "A factor and an index",
        "Whoever compares numbers with the page. The factor changes the scale of the logits and nothing else.",
        matters="numbers",
        also=("crope.eq6",),
    ),
    cases="two planes, at any offset and any frequencies",
    holds=2,
    printed=1,
    control=4,
)
def ones_against_ones(factor):
    r, thetas = sp.Symbol("r", real=True), sp.symbols("theta_0:2", real=True)
    R, ones = exact.rotation_matrix(r, theta=thetas), sp.ones(4, 1)
    cosines = sum(sp.cos(r * t) for t in thetas)
    half = sp.Matrix(one_head.ones_key(2).astype(int))
    return sp.simplify((ones.T * R * ones)[0] - factor * cosines) == 0 == sp.simplify((half.T * R * half)[0] - cosines)


@claim(
    "crope.eq23-limit",
    locus="4.2, after eq 23",
    statement=r"$\sum_i \cos((m-n)\theta_i) \to \delta(m-n)$ as $D \to \infty$.",
    verdict="conditional",
    mend=r"[+\mathrm{softmax}\,+] \sum_i \cos((m-n)\theta_i) \to \delta(m-n)",
    correction=r"The sum does not; its softmax over any fixed window does, which is what the argument needs: $1 - a "
    r"\sim 2 e^{(\cos 1 - \cos(1/\mathrm{base}))/2}\, e^{-\frac D2 (1 - g(1))}$. Divided by $\sqrt D$ the exponent is "
    r"$\tfrac{\sqrt D}2 (1 - g(1))$, and it takes far larger $D$.",
    differs="the source has a delta for the sum itself",
    witness=r"Base $10^4$, 64 keys on either side: $a = [[0.395]]$, $[[0.769]]$, $[[1.000]]$ for $D = 32$, $128$, "
    r"$1024$; with $1/\sqrt D$: $[[0.025]]$, $[[0.062]]$, $[[0.312]]$.",
    computed=lambda: tuple(
        one_head.target_weight(64, theta=rotation.frequencies(d), amplitude=d**power)
        for power in (0, -0.5)
        for d in (32, 128, 1024)
    ),
    cases="bases 100 and 10,000, width 16,384, 64 keys on a side",
    tolerance=2e-4,
    holds=one_head.leak_law,
    control=lambda d, base: one_head.leak_law(d, base=base) / 2,  # one neighbour only
)
def the_softmax_concentrates(law):
    d, k, off = 16384, np.arange(1, 65), []
    for base in (100.0, 1e4):
        behind = d / 2 * (1 - schedule.decay(k, theta=rotation.frequencies(d, base=base)))
        off.append(abs(float(np.log(2 * np.exp(-behind).sum() / law(d, base=base)))))
    return max(off)


@claim(
    "crope.sec4.near-perfect",
    locus="4, first paragraphs",
    statement=r"The heads made by hand become near perfect as $D \to \infty$.",
    correction=r"A remark: for the heads of 4.2 and 4.3 true of the softmax weights in a fixed window. Large $D$ is "
    r"not needed: a larger amplitude does it at any $D$.",
    witness=r"129 keys: $D = 512$ gives $[[0.998]]$, and $D = 32$ with ten times the amplitude $[[0.998]]$.",
    computed=lambda: tuple(
        one_head.target_weight(64, theta=rotation.frequencies(d), amplitude=c) for d, c in ((512, 1), (32, 10))
    ),
    cases="three heads, of width 32, 128 and 2,048, among 129 keys",
    tolerance=1e-6,
    holds=lambda d, c: one_head.target_weight(64, theta=rotation.frequencies(d), amplitude=c),
    control=lambda d, c: 1 / np.abs(schedule.decay(np.arange(-64, 65), theta=rotation.frequencies(d))).sum(),  # noqa: ARG005
)
def near_perfect(weight):
    return max(1 - weight(d, c) for d, c in ((2048, 1.0), (32, 40.0), (128, 10.0)))


@claim(
    "crope.sec4.2-constant-embedding",
    locus="4.2",
    statement=r"RoPE compares positions if the embedding of every token is the same constant vector.",
    verdict="conditional",
    correction=r"For the logits, yes. In a layer that works only what $W_q$ and $W_k$ read should be constant, one "
    r"coordinate for instance: if the whole embedding is, all values are equal and no attention shows.",
    witness=r"$\sum_n a_{mn} v = v$, whatever the weights.",
    cases="one text of three tokens, two planes",
    holds=[[1, 3, 0], [1, 0, 2], [1, 5, 5]],
    control=[[1, 3, 0]] * 3,  # the whole embedding is constant
)
def one_constant_coordinate(embeddings):
    X, at, theta = np.array(embeddings), np.arange(3), [1.0, 0.1]
    q = X[:, [0, 0, 0, 0]]  # the first coordinate alone
    where: Any = {"q_positions": at, "k_positions": at, "theta": theta}
    logits = rotation.logits(q, q, **where)
    compares = np.allclose(logits, 4 * schedule.decay(at - at[:, None], theta=theta))
    seen = placements.attention(q, q, X[:, 1:], rotated="qk", causal=False, **where)
    return bool(compares and np.ptp(seen, axis=0).max() > 0.1)
