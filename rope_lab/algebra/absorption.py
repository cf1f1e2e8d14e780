r"""A change of basis that a model has already paid for: P goes into $W_q$ and $W_k$, head by head.

>>> rng = np.random.default_rng(0)
>>> A = rng.normal(size=(4, 4))
>>> W_q, W_k, x = rng.normal(size=(2, 4, 8)), rng.normal(size=(2, 4, 8)), rng.normal(size=(5, 8))
>>> form = skew_normal_form(A - A.T)
>>> before = attention_logits(x, W_q, W_k, B=A - A.T)
>>> after = attention_logits(x, *absorb(W_q, W_k, P=form.P), B=form.blocks)
>>> bool(np.allclose(before, after))
True
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float64
from numpy.typing import ArrayLike

from rope_lab.algebra.arguments import expect_real
from rope_lab.algebra.generators import power
from rope_lab.algebra.normal_form import skew_normal_form

__all__ = ["Weights", "absorb", "absorb_generators", "attention_logits"]


class Weights(NamedTuple):
    """The two projections, one matrix for each head: (n_heads, head_dim, width), (n_kv_heads, head_dim, width)."""

    W_q: Float64[np.ndarray, "n_heads head_dim width"]
    W_k: Float64[np.ndarray, "n_kv_heads head_dim width"]


def absorb(W_q: ArrayLike, W_k: ArrayLike, *, P: ArrayLike) -> Weights:
    r"""Move a change of basis from the rotation into the weights of queries and keys.

    $W_q^{(h)} \to P_g^\top\, W_q^{(h)}, \quad W_k^{(g)} \to P_g^{-1}\, W_k^{(g)}$

    Query head h uses key head $g = \lfloor h\, n_{kv} / n \rfloor$. An orthogonal P has $P^{-1} = P^\top$, and both
    weights get the same factor. A bias is one more column of W, for a component of the input that is always 1: it takes
    part.

    Exact if $B_g = P_g \Lambda_g P_g^{-1}$, every query head of a group turns by its key head's $B_g$, and between the
    weights and the rotation stands nothing that P does not pass through: a norm without gains does let an orthogonal P
    through, gains for single channels do not.

    Args:
        W_q: (n_heads, head_dim, width).
        W_k: (n_kv_heads, head_dim, width), where n_kv_heads divides n_heads.
        P: One invertible (head_dim, head_dim), or one for each key head.

    Returns:
        The new weights, float64.

    Raises:
        ValueError: If the shapes do not fit or P is singular.

    Claims:
        ``su6.absorb-identity``, ``su6.absorb-no-loss``, ``book.absorb-shared-keys``

    >>> absorb([[[1.0], [2.0]]], [[[3.0], [4.0]]], P=[[0.0, -1.0], [1.0, 0.0]]).W_q[0].ravel().tolist()
    [2.0, -1.0]
    """
    W_q, W_k, per_group = _heads(W_q, W_k)
    P = _per_key_head(P, W_k, name="P")
    if (worst := np.linalg.cond(P).max()) > 1e12:
        raise ValueError(
            f"P: expected an invertible matrix, got one with condition number {worst:.1e}; "
            "take the orthogonal P of skew_normal_form"
        )
    P_of_query = np.repeat(P, per_group, axis=0)
    return Weights(np.swapaxes(P_of_query, -1, -2) @ W_q, np.linalg.solve(P, W_k))


def absorb_generators(
    W_q: ArrayLike, W_k: ArrayLike, *, B: ArrayLike
) -> tuple[Weights, Float64[np.ndarray, "n_kv_heads planes"]]:
    r"""Ordinary RoPE from a head that turns by $e^{nB}$: the new weights, and the frequencies of each key head.

    $q^\top e^{(n-m)B} k = (P^\top q)^\top\, \mathcal R_{n-m}\, (P^\top k), \quad B = P \Lambda P^\top$

    With these weights and ``theta`` of its key head, `rotation.logits` gives every logit of the original.

    Args:
        W_q: (n_heads, head_dim, width).
        W_k: (n_kv_heads, head_dim, width).
        B: One skew (head_dim, head_dim) with even head_dim, or one for each key head.

    Returns:
        The new weights, and theta, (n_kv_heads, head_dim/2), radians per position; float64.

    Raises:
        ValueError: If the shapes do not fit, head_dim is odd, or ``B`` is not skew.

    Claims:
        ``su6.absorb-no-loss``

    >>> new, theta = absorb_generators(np.ones((2, 2, 3)), np.ones((1, 2, 3)), B=[[0.0, 0.5], [-0.5, 0.0]])
    >>> theta.tolist()
    [[0.5]]
    """
    W_q, W_k, _ = _heads(W_q, W_k)
    if W_k.shape[1] % 2:
        raise ValueError(
            f"B: expected an even head_dim, got {W_k.shape[1]}; an odd one leaves a component that stands "
            "still, so add a zero row to W_q and W_k"
        )
    forms = [skew_normal_form(one) for one in _per_key_head(B, W_k, name="B")]
    return absorb(W_q, W_k, P=np.stack([form.P for form in forms])), np.stack([form.theta for form in forms])


def attention_logits(
    x: ArrayLike, W_q: ArrayLike, W_k: ArrayLike, *, B: ArrayLike, positions: ArrayLike | None = None
) -> Float64[np.ndarray, "n_heads queries keys"]:
    r"""All logits of a layer whose position n acts as $e^{nB}$, B skew: the slow reference.

    $s^{(h)}_{mn} = (e^{mB} W_q^{(h)} x_m)^\top (e^{nB} W_k^{(g)} x_n)$

    Not divided by the root of head_dim.

    Args:
        x: (T, width).
        W_q: (n_heads, head_dim, width).
        W_k: (n_kv_heads, head_dim, width).
        B: One skew (head_dim, head_dim), or one for each key head.
        positions: (T,), any reals; None: 0, 1, 2, ...

    Returns:
        (n_heads, T, T), float64.

    Raises:
        ValueError: If the shapes do not fit or ``B`` is not skew.

    Claims:
        ``su6.absorb-identity``

    >>> attention_logits([[1.0], [1.0]], [[[1.0], [0.0]]], [[[1.0], [0.0]]], B=np.zeros((2, 2)))
    array([[[1., 1.],
            [1., 1.]]])
    """
    x = expect_real(x, name="x")
    W_q, W_k, per_group = _heads(W_q, W_k)
    if x.ndim != 2 or x.shape[1] != W_q.shape[2]:
        raise ValueError(f"x: expected (T, {W_q.shape[2]}), got shape {x.shape}; one row for each position")
    places = np.arange(len(x), dtype=float) if positions is None else expect_real(positions, name="positions")
    if places.shape != (len(x),):
        raise ValueError(f"positions: expected ({len(x)},), got shape {places.shape}; one for each row of x")
    B = _per_key_head(B, W_k, name="B")
    turns = np.stack([power(one, places) for one in B])  # (n_kv_heads, T, head_dim, head_dim)
    q = np.einsum("htij,hjw,tw->hti", np.repeat(turns, per_group, axis=0), W_q, x)
    k = np.einsum("htij,hjw,tw->hti", turns, W_k, x)
    return q @ np.swapaxes(np.repeat(k, per_group, axis=0), -1, -2)


def _heads(W_q: ArrayLike, W_k: ArrayLike) -> tuple[np.ndarray, np.ndarray, int]:
    W_q, W_k = expect_real(W_q, name="W_q"), expect_real(W_k, name="W_k")
    if W_q.ndim != 3 or W_k.ndim != 3 or W_q.shape[1:] != W_k.shape[1:]:
        raise ValueError(
            "W_q, W_k: expected (n_heads, head_dim, width) and (n_kv_heads, head_dim, width), got shapes "
            f"{W_q.shape} and {W_k.shape}; cut a layer's weight with W.reshape(n_heads, head_dim, width)"
        )
    if not len(W_k) or len(W_q) % len(W_k):
        raise ValueError(
            f"W_q: expected a multiple of {len(W_k)} heads, one group for each key head, got {len(W_q)}; "
            "compare n_heads and n_kv_heads in the model's config"
        )
    return W_q, W_k, len(W_q) // len(W_k)


def _per_key_head(matrix: ArrayLike, W_k: np.ndarray, *, name: str) -> np.ndarray:
    matrix = expect_real(matrix, name=name)
    n_kv_heads, head_dim, _ = W_k.shape
    if matrix.shape not in ((head_dim, head_dim), (n_kv_heads, head_dim, head_dim)):
        raise ValueError(
            f"{name}: expected ({head_dim}, {head_dim}), or one such matrix for each of the {n_kv_heads} "
            f"key heads, got shape {matrix.shape}; the heads of a group share one"
        )
    return np.broadcast_to(matrix, (n_kv_heads, head_dim, head_dim))
