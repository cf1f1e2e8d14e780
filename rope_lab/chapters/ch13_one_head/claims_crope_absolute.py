"""CRoPE's third example (its section 4.3): what a layer with absolute positions can do, and what that costs."""

from dataclasses import replace

import numpy as np
import sympy as sp

from rope_lab.algebra import additive_head, one_head, rotation
from rope_lab.claims import exact
from rope_lab.claims.entry import Erratum
from rope_lab.claims.ledger import claim


def least_weight(head, rng, *, queries=9):
    """The least softmax weight on the wanted key: both kinds of query, at places all over the window."""
    window, worst = len(head.positions), 1.0
    contents = 30 * rng.normal(size=(window, head.content))
    for m in np.linspace(0, window - 3, queries).astype(int):
        for kind in (0, 1):
            logits = head.logits(m=int(m), kind=kind, contents=contents)
            worst = min(worst, float(np.exp(-np.logaddexp.reduce(logits - logits[m + 1 + kind]))))
    return worst


def _lead(N, e):
    return sp.log((N - 1) * (1 - e) / e)


@claim(
    "crope.eq24",
    locus="4.3, eq 24",
    statement=r"The task asks that the logit of the wanted key be far above all others, so that it gets nearly all of "
    r"the weight.",
    tier="minor",
    correction=r"In numbers: a lead of $\ln\frac{(N-1)(1-\epsilon)}{\epsilon}$ over $N - 1$ equal others gives it the "
    r"weight $1 - \epsilon$.",
    witness=r"$N = 1000$, $\epsilon = 0.01$: a lead of $[[11.5]]$.",
    computed=lambda: float(_lead(1000, sp.Rational(1, 100))),
    holds=_lead,
    control=lambda N, e: sp.log(N * (1 - e) / e),  # the wanted key counted among the others
)
def how_far_above(lead):
    N, e, ahead = sp.symbols("N epsilon lead", positive=True)
    weight = 1 / (1 + (N - 1) * sp.exp(-ahead))
    circle = 2 * np.pi * np.arange(9) / 9  # four keys on either side: at each of them, these cosines add up to 0
    exact.tied(
        sp.Matrix([weight.subs(N, 9)]), lambda at: one_head.target_weight(4, theta=circle, amplitude=at(ahead) / 9)
    )
    return sp.simplify(weight.subs(ahead, lead(N, e)) - (1 - e)) == 0


def _reads(*, kinds, positions):
    """A change of a head: its query no longer reads the kind of the token, or its position."""

    def head_of(head):
        W_q = head.W_q.copy()
        W_q[:, : head.kinds] *= kinds
        W_q[:, head.kinds + head.content :] *= positions
        return replace(head, W_q=W_q)

    return head_of


@claim(
    "crope.eq25-26",
    locus="4.3, eqs 25 and 26",
    statement=r"The task asks that the keys keep the position only, $W_k(x + p) \approx W_k p$, and the queries the "
    r"token only, $W_q(x + p) \approx W_q x$; the two are in tension.",
    verdict="false",
    mend=r"W_k(x + p) \approx W_k p[-, \quad W_q(x + p) \approx W_q x-]",
    correction=r"The first is a fair demand, and it can be met exactly: let content and position use different "
    r"coordinates. The second is not needed, and cannot be: a query that has lost its position has the same logits "
    r"everywhere. It must keep both. So the tension is not forced.",
    witness=r"Positions $(1, n, n^2)$, $c = 5$: weight at least $[[0.986]]$ on the wanted key of every query. Without "
    r"the position in the query, two queries at different places have one row of logits.",
    computed=lambda: (
        f"{np.floor(1000 * least_weight(additive_head.parabola_head(64), np.random.default_rng(0))) / 1000}"
    ),
    erratum=Erratum(
        12,
        "crope-absolute",
        "What absolute positions cannot do",
        "Whoever concludes that added positions cannot solve the task. They can on a finite window; for all "
        "positions at once the paper is right about bounded ones.",
        matters="proofs",
        also=("crope.abs-impossible",),
    ),
    tolerance=1e-4,
    holds=_reads(kinds=1, positions=1),
    printed=_reads(kinds=1, positions=0),
    control=_reads(kinds=0, positions=1),  # the other half lost
)
def the_query_keeps_both(query, rng):
    head = additive_head.parabola_head(64)
    blind = not head.W_k[:, : head.kinds + head.content].any()  # equation 25, exactly
    return max(0.0, 0.986 - least_weight(query(head), rng)) if blind else np.inf


@claim(
    "crope.abs-impossible",
    locus="4.3",
    statement=r"With absolute positions added to the embedding, one layer cannot do the task for all $i$; the task is "
    r"impossible for it.",
    verdict="conditional",
    correction=r"Right for all $i$ at once, if the position vectors are bounded, as sinusoids are, and the lead is "
    r"to be uniform: that follows from `book.head-tilt`. On any finite window one head can do it with the logits "
    r"$-c\,(n - m - s)^2$ from $p_n = (1, n, n^2)$; where the slowest plane is nearly straight over the window, one "
    r"with the usual sinusoids can.",
    differs="the source says that no such head exists",
    witness=r"$(1, n, n^2)$: weight at least $[[0.986]]$ for 64 and for 1000 positions, and in fact for all $i$, as "
    r"these are not bounded. Sinusoids with $D = 128$: at least $0.9999$ for 1024 positions.",
    computed=lambda: (
        f"{np.floor(1000 * least_weight(additive_head.parabola_head(64), np.random.default_rng(0))) / 1000}"
    ),
    tolerance=1e-4,
    holds=1.0,
    control=0.5,  # half the tilt: both kinds of token see the point between
)
def a_window_can_be_done(tilt, rng):
    short, head = 0.0, additive_head.sinusoid_head(64)
    theta, n, b, c = rotation.frequencies(128), np.arange(64), head.W_q[-1, 1], np.linalg.norm(head.W_q[0])
    slow = theta[theta * 64 <= 1][0]
    for m, (kind, side) in ((m, way) for m in (0, 30, 61) for way in ((0, -1), (1, 1))):  # its formula on the page
        said = c * np.cos(np.outer(n - m - 1.5, theta)).sum(axis=1) + side * b * np.sin((n - 63 / 2) * slow)
        short = max(short, np.abs(head.logits(m=m, kind=kind) / said - 1).max())
    for build, window, least in (
        (additive_head.parabola_head, 64, 0.986),
        (additive_head.parabola_head, 1000, 0.986),
        (additive_head.sinusoid_head, 1024, 0.9999),
    ):
        head = build(window)
        W_q = head.W_q.copy()
        W_q[:, : head.kinds] *= tilt
        short = max(short, least - least_weight(replace(head, W_q=W_q), rng, queries=5))
    return max(0.0, short)


def _sinusoids_at_1024():
    short, long = (additive_head.sinusoid_head(window, margin=1.0) for window in (512, 1024))
    reach = np.ptp(long.tilt()[1:]) / additive_head.least_tilt_range(1024, margin=1.0)
    return reach, long.W_q.max() / short.W_q.max(), round(5 * 32 / one_head.neighbour_gap(rotation.frequencies(64)))


@claim(
    "crope.toy-advantage",
    locus="4.3, last paragraph",
    statement=r"The example shows an advantage of RoPE over absolute positions, and CRoPE keeps it.",
    verdict="conditional",
    correction=r"The advantage is one of size. With absolute positions, what the token adds to the logits must span at "
    r"least $2\varepsilon (N - 2)$ over a window of $N$, where $\varepsilon$ is the lead of the wanted key. With "
    r"RoPE or "
    r"CRoPE an amplitude that does not depend on $N$ will do, in windows shorter than the first return of the logits.",
    differs="the source does not say how large the advantage is",
    witness=r"$(1, n, n^2)$ reaches the bound exactly on the keys $1, \dots, N-1$. The sinusoidal head needs "
    r"$[[1.07]]$ times as much at $N = 1024$, and its largest weight is $[[2.0]]$ times that at $N = 512$. A rotated "
    r"head of 64 dimensions that leads by 5 nats has logits up to $[[148]]$.",
    computed=_sinusoids_at_1024,
    cases="windows of 16 and 128, and keys up to 16, 128 and 200 places away",
    tolerance=1e-9,
    holds=lambda N, lead: additive_head.least_tilt_range(N, margin=lead),
    control=lambda N, lead: 2 * lead,  # noqa: ARG005 - the same for every window
)
def linear_against_constant(bound):
    worst = 0.0
    for window in (16, 128):
        tilt = additive_head.parabola_head(window, steepness=5.0).tilt()
        worst = max(worst, abs(np.ptp(tilt[1:]) / bound(window, 5.0) - 1))
    gap = one_head.neighbour_gap(rotation.frequencies(64))
    keys = np.arange(-200, 201)
    logits = one_head.offset_logits(keys, offset=1, theta=rotation.frequencies(64))
    leads = [np.sort(logits[abs(keys) <= N])[-1] - np.sort(logits[abs(keys) <= N])[-2] for N in (16, 128, 200)]
    return max(worst, np.abs(np.array(leads) - gap).max())
