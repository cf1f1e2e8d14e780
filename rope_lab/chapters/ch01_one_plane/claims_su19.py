"""What "RoPE on values" reviews before it begins: attention, the rotation law, the relative logit."""

from typing import Any

import numpy as np
import sympy as sp

from rope_lab.algebra import placements, rotation, symbolic
from rope_lab.claims import exact
from rope_lab.claims.ledger import claim

m, n, shift = sp.symbols("m n s", real=True)
theta = sp.symbols("theta_0 theta_1", real=True)


@claim(
    "su19.attn-def",
    locus="Basic Review, eq 1",
    statement=r"Attention mixes the values, $o_m = \sum_n a_{mn} v_n$, with the weights "
    r"$a_{mn} = e^{s_{mn}} / \sum_{j} e^{s_{mj}}$ of the logits $s_{mn} = q_m^\top k_n$. The scale is left out.",
    tier="minor",
    correction=r"The sum in the denominator runs over an index of its own; the article reuses that of the numerator.",
    witness=r"Values that are all equal come back unchanged, whatever the logits: the weights of a query sum to 1.",
    tolerance=1e-12,
    holds=lambda s: np.exp(s) / np.exp(s).sum(axis=1, keepdims=True),
    control=lambda s: np.exp(s) / np.exp(s).sum(axis=0, keepdims=True),  # each key divides its weight among the queries
)
def weights_of_each_query_sum_to_one(weights, rng):
    q, k = rng.normal(size=(2, 7, 8))
    common: Any = {"q_positions": np.zeros(7), "k_positions": np.zeros(7), "theta": rotation.frequencies(8)}
    s = rotation.logits(q, k, **common)  # everyone at position 0: R_0 = I, so these are plain dot products
    a, same_value, v = weights(s), rng.normal(size=8), rng.normal(size=(7, 8))
    mixed = placements.attention(q * np.sqrt(8), k, v, rotated="", causal=False, **common)  # the root undoes the scale
    ratio = a[:, 1:] / a[:, :1] / np.exp([[q_m @ (k_n - k[0]) for k_n in k[1:]] for q_m in q])
    equal = np.abs(a @ np.tile(same_value, (7, 1)) - same_value).max()
    return max(equal, np.abs(ratio - 1).max(), np.abs(a @ v - mixed).max())


def _holds_in_one_plane_more() -> bool:
    """The step of chapter 4, from k dimensions to k + 2: what one plane has, any number of them has."""
    *_, put_in, goal = symbolic.induction_step(m, n)
    return put_in == goal


@claim(
    "su19.rot-law",
    locus="Basic Review, last formula",
    statement=r"One rotation undoes another up to the difference of positions: "
    r"$\mathcal R_m^\top \mathcal R_n = \mathcal R_{n-m}$, plane by plane and for all planes together.",
    witness=r"A quarter turn per position: $R_1^\top R_3 = R_2 = -I$.",
    holds=lambda m, n: n - m,
    control=lambda m, n: m - n,
)
def transposed_rotation_times_rotation(offset):
    def R(position):
        return exact.rotation_matrix(position, theta=theta)

    return _holds_in_one_plane_more() and symbolic.same(R(m).T * R(n), R(offset(m, n)))


@claim(
    "su19.qk-relative",
    locus="Basic Review, eq 3",
    statement=r"Rotate the query by its position and the key by its own. Their logit "
    r"$(\mathcal R_m q)^\top (\mathcal R_n k) = q^\top \mathcal R_{n-m} k$ knows the contents and $n-m$, nothing else.",
    witness=r"Move both by $s$: the symbol $s$ cancels from the expanded logit.",
    holds=lambda Rm, Rn: Rm.T * Rn,
    control=lambda Rm, Rn: Rm * Rn,  # the transpose dropped: this one sees m + n
)
def logit_sees_the_offset_only(between):
    q, k = sp.Matrix(sp.symbols("q_1:5", real=True)), sp.Matrix(sp.symbols("k_1:5", real=True))

    def logit(m, n):
        return (q.T * between(exact.rotation_matrix(m, theta=theta), exact.rotation_matrix(n, theta=theta)) * k)[0]

    by_offset = (q.T * exact.rotation_matrix(n - m, theta=theta) * k)[0]
    moved = symbolic.same(logit(m + shift, n + shift), logit(m, n))
    return moved and symbolic.same(logit(m, n), by_offset) and _holds_in_one_plane_more()
