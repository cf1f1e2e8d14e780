"""Beside part 19: frequencies of their own for values, and what a rotation on one side knows about order."""

from typing import Any

import numpy as np

from rope_lab.algebra import placements, rotation
from rope_lab.claims.ledger import claim


@claim(
    "unsaid.vo-freq",
    locus="in none of the sources",
    statement=r"Values and outputs may turn at other frequencies than queries and keys. What must agree is $v$ with "
    r"$o$, and $q$ with $k$.",
    witness=r"Values at $\theta$, outputs back at $\theta'$: alone, at $m = n$, the value arrives turned by "
    r"$m(\theta - \theta')$.",
    tolerance=1e-11,
    holds=lambda qk, vo: (qk, qk, vo, vo),  # of q, k, v and o
    control=lambda qk, vo: (qk, qk, vo, qk),  # the output turns back at the queries' frequencies
)
def frequencies_of_their_own(four, rng):
    q, k, v = rng.normal(size=(3, 6, 6))
    qk, vo = rotation.frequencies(6, base=50.0), np.array([0.9, 0.4, 0.01])

    def y(shift, of_q, of_k, of_v, of_o):
        at = np.arange(6) + shift
        here: dict[str, Any] = {"q_positions": at, "k_positions": at, "theta": of_q, "theta_vo": of_v}
        keys = rotation.rotate(k, at, theta=of_k - of_q)  # the layer turns them by of_q more
        return rotation.rotate(placements.attention(q, keys, v, rotated="qkv", **here), -at, theta=of_o)

    moved = [
        max(np.abs(y(shift, *their) - y(0, *their)).max() for shift in (1, 7, -20))
        for their in (four(qk, vo), (qk, vo, vo, vo), (qk, qk, vo, qk))
    ]
    return moved[0] if min(moved[1:]) > 0.01 else 1.0  # without k as q, or o as v, a shift is seen


@claim(
    "unsaid.single-side-order",
    locus="in none of the sources",
    statement=r"In one head without a mask, exchange the places of the pairs $(k_n, v_n)$ and leave the query where it "
    r"is. The output does not notice under NoPE, Q, O and QO. It does under each of the other twelve placements: "
    r"wherever $k$ or $v$ turns.",
    correction=r"One ingredient of the published ranking, and no explanation of it: V is sensitive to order and comes "
    r"last there, K is and comes third. And a causal mask tells NoPE about order as well.",
    witness=r"Q alone: the logit is $(\mathcal R_m q)^\top k_n$, in which $n$ is only a name.",
    tolerance=1e-12,
    holds=("", "q", "o", "qo"),
    control=("", "q", "o", "v"),  # any single side but the keys
)
def who_notices_an_exchange(blind, rng):
    q, (k, v) = rng.normal(size=(2, 6)), rng.normal(size=(2, 7, 6))
    here: dict[str, Any] = {
        "q_positions": [3.0, 6.0],
        "k_positions": np.arange(7),
        "theta": rotation.frequencies(6, base=50.0),
    }
    orders, change = (np.roll(np.arange(7), 2), [0, 4, 2, 3, 1, 5, 6]), {}  # all of them move; two change places
    for rotated in placements.PLACEMENTS:
        before, *after = (
            placements.attention(q, *pairs, rotated=rotated, causal=False, **here)
            for pairs in ((k, v), *((k[order], v[order]) for order in orders))
        )
        change[rotated] = [np.abs(before - there).max() for there in after]
    deaf = [rotated for rotated in placements.PLACEMENTS if rotated not in blind and min(change[rotated]) < 0.01]
    return max(float(bool(deaf)), *(max(change[rotated]) for rotated in blind))
