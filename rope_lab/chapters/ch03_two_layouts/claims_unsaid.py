"""What no source says about the two layouts: which weights a change of layout touches."""

import numpy as np

from rope_lab.algebra import layouts, rotation
from rope_lab.claims.ledger import claim

HEADS, D, WIDTH = 3, 8, 10


def layer(W_q, W_k, W_v, W_o, x, *, layout):
    """Attention with rotated values as well: out = W_o of R_m^T sum_n a_mn R_n v_n, head by head."""
    theta, at, outputs = rotation.frequencies(D), np.arange(len(x), dtype=float), []
    for head in range(HEADS):
        rows = slice(head * D, head * D + D)
        q, k, v = (x @ W[rows].T for W in (W_q, W_k, W_v))
        s = rotation.logits(q, k, q_positions=at, k_positions=at, theta=theta, layout=layout)
        a = np.exp(s - s.max(axis=-1, keepdims=True))
        mixed = (a / a.sum(axis=-1, keepdims=True)) @ rotation.rotate(v, at, theta=theta, layout=layout)
        outputs.append(rotation.rotate(mixed, -at, theta=theta, layout=layout))
    return np.concatenate(outputs, axis=-1) @ W_o.T


@claim(
    "unsaid.layouts",
    locus="in none of the sources",
    statement=r"To change the layout of trained weights, permute the rows of $W_q$ and $W_k$ within each head. Where "
    r"values are rotated as well, permute the rows of $W_v$ and the columns of $W_o$ too.",
    witness=r"A layer of three heads with rotated values: with all four permuted the outputs agree; with $W_v$ and "
    r"$W_o$ forgotten they do not.",
    tolerance=1e-11,
    holds=lambda W_q, W_k, W_v, W_o, p: (W_q[p], W_k[p], W_v[p], W_o[:, p]),
    control=lambda W_q, W_k, W_v, W_o, p: (W_q[p], W_k[p], W_v, W_o),  # values forgotten
)
def whole_layer(carry, rng):
    W_q, W_k, W_v = rng.normal(size=(3, HEADS * D, WIDTH)) / 3
    W_o, x = rng.normal(size=(WIDTH, HEADS * D)) / 5, rng.normal(size=(6, WIDTH))
    p = layouts.projection_permutation(HEADS, D)
    a, b, c, e = carry(W_q, W_k, W_v, W_o, p)
    return np.abs(layer(W_q, W_k, W_v, W_o, x, layout="interleaved") - layer(a, b, c, e, x, layout="half")).max()
