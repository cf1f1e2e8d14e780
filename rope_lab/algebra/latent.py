"""Attention over one shared latent, slow and obviously right: one query at a time, every rotation a matrix.

A token is kept as one vector c of width $d_c$, the latent. Keys and values are made from it, or it is both of them.

>>> rng = np.random.default_rng(0)
>>> q, c, theta = rng.normal(size=(5, 4)), rng.normal(size=(5, 4)), [1.0, 0.1]
>>> near = decode(q, c, "undo", positions=range(5), theta=theta)
>>> far = decode(q, c, "undo", positions=range(700, 705), theta=theta)
>>> bool(np.allclose(near.outputs, far.outputs)), near.numbers  # one cached tensor, and relative
(True, 20)
"""

from typing import Literal, NamedTuple, get_args

import numpy as np
from jaxtyping import Float64
from numpy.typing import ArrayLike

from rope_lab.algebra.arguments import expect_frequencies, expect_one_of, expect_real, expect_shapes, expect_turning
from rope_lab.algebra.placements import row_softmax
from rope_lab.algebra.rotation import rotation_matrix

Way = Literal["two caches", "turn again", "turned values", "undo"]
WAYS: tuple[Way, ...] = get_args(Way)
"""The four ways to `decode` over one shared latent: ``two caches``, ``turn again``, ``turned values``, ``undo``."""


class Decoded(NamedTuple):
    """The outputs of a decoding run, and what it cost."""

    outputs: Float64[np.ndarray, "T d_c"]
    numbers: int  # kept in the cache at the end
    turned: int  # cached vectors that were turned on the way, each counted as often as it was turned


def softmax(s: ArrayLike) -> Float64[np.ndarray, "keys"]:
    r"""Attention weights of one query: $a_n = e^{s_n} / \sum_j e^{s_j}$.

    Args:
        s: (keys,), the logits of at least one key.

    Returns:
        (keys,), float64.

    Raises:
        ValueError: if ``s`` has another shape.

    Claims:
        `su19.mla-mqa-eq`

    >>> softmax([0.0, 1.0]).round(4)
    array([0.2689, 0.7311])
    """
    s = expect_real(s, name="s")
    if s.ndim != 1 or not len(s):
        raise ValueError(f"s: expected the logits of one query, (keys,) with a key at least, got shape {s.shape}")
    return row_softmax(s)


def expanded(
    q: Float64[np.ndarray, "H T d"],
    c: Float64[np.ndarray, "T d_c"],
    *,
    W_k: Float64[np.ndarray, "H d d_c"],
    W_v: Float64[np.ndarray, "H d_v d_c"],
) -> Float64[np.ndarray, "H T d_v"]:
    r"""Causal attention whose heads make their own keys and values from one latent; no positions.

    $o_m = \sum_{n \le m} a_{mn}\, W_v c_n, \quad s_{mn} = q_m^\top (W_k c_n)$ in each head

    Logits are not divided by a root.

    Args:
        q: (H, T, d), the queries of each head.
        c: (T, d_c), the latents.
        W_k: (H, d, d_c), what makes a head's keys.
        W_v: (H, d_v, d_c), what makes its values.

    Returns:
        (H, T, d_v), float64.

    Raises:
        ValueError: If shapes do not fit.

    Claims:
        `su19.mla-mqa-approx`
    """
    q, c, W_k, W_v = expect_shapes(q=(q, "H T d"), c=(c, "T d_c"), W_k=(W_k, "H d d_c"), W_v=(W_v, "H d_v d_c"))
    out = np.zeros((*q.shape[:2], W_v.shape[1]))
    for h in range(q.shape[0]):
        for m in range(q.shape[1]):
            a = softmax([q[h, m] @ (W_k[h] @ c[n]) for n in range(m + 1)])
            out[h, m] = sum(a[n] * (W_v[h] @ c[n]) for n in range(m + 1))
    return out


def absorbed(
    q: Float64[np.ndarray, "H T d"],
    c: Float64[np.ndarray, "T d_c"],
    *,
    W_k: Float64[np.ndarray, "H d d_c"],
    W_v: Float64[np.ndarray, "H d_v d_c"],
) -> Float64[np.ndarray, "H T d_v"]:
    r"""The outputs of `expanded` without a key or a value in sight: all heads attend to the latents themselves.

    $o_m = W_v \sum_{n \le m} a_{mn}\, c_n, \quad s_{mn} = (W_k^\top q_m)^\top c_n$

    Args:
        q, c, W_k, W_v: as in `expanded`, which it equals.

    Claims:
        `su19.mla-mqa-approx`
    """
    q, c, W_k, W_v = expect_shapes(q=(q, "H T d"), c=(c, "T d_c"), W_k=(W_k, "H d d_c"), W_v=(W_v, "H d_v d_c"))
    out = np.zeros((*q.shape[:2], W_v.shape[1]))
    for h in range(q.shape[0]):
        for m in range(q.shape[1]):
            a = softmax([(W_k[h].T @ q[h, m]) @ c[n] for n in range(m + 1)])
            out[h, m] = W_v[h] @ sum(a[n] * c[n] for n in range(m + 1))
    return out


def spliced(
    q: Float64[np.ndarray, "H T d"],
    c: Float64[np.ndarray, "T d_c"],
    *,
    q_rope: Float64[np.ndarray, "H T d_r"],
    k_rope: Float64[np.ndarray, "T d_r"],
    W_k: Float64[np.ndarray, "H d d_c"],
    W_v: Float64[np.ndarray, "H d_v d_c"],
    positions: ArrayLike,
    theta: ArrayLike,
) -> Float64[np.ndarray, "H T d_v"]:
    r"""MLA's way: most of the logit without positions, and a small rotary part beside it, with a key of its own.

    $o_m = \sum_{n \le m} a_{mn} W_v c_n$,
    $s_{mn} = q_m^\top W_k c_n + (\mathcal R_m q^r_m)^\top \mathcal R_n k^r_n$

    Values are not turned.

    Args:
        q, c, W_k, W_v: as in `expanded`.
        q_rope: (H, T, d_r), the rotary part of each head's queries.
        k_rope: (T, d_r), the rotary key that all heads share.
        positions: (T,), any reals.
        theta: (d_r/2,), radians per position, in the interleaved layout.

    Returns:
        (H, T, d_v), float64.

    Claims:
        `book.latent-splice`
    """
    own = {"q_rope": (q_rope, "H T d_r"), "k_rope": (k_rope, "T d_r"), "positions": (positions, "T")}
    arrays = expect_shapes(q=(q, "H T d"), c=(c, "T d_c"), W_k=(W_k, "H d d_c"), W_v=(W_v, "H d_v d_c"), **own)
    q, c, W_k, W_v, q_rope, k_rope, at = arrays
    expect_turning(k_rope, expect_frequencies(theta), at)
    R = rotation_matrix(at, theta=theta)
    out = np.zeros((*q.shape[:2], W_v.shape[1]))
    for h in range(q.shape[0]):
        for m in range(q.shape[1]):
            s = [q[h, m] @ W_k[h] @ c[n] + (R[m] @ q_rope[h, m]) @ (R[n] @ k_rope[n]) for n in range(m + 1)]
            a = softmax(s)
            out[h, m] = sum(a[n] * (W_v[h] @ c[n]) for n in range(m + 1))
    return out


def relative(
    q: Float64[np.ndarray, "T d_c"], c: Float64[np.ndarray, "T d_c"], *, positions: ArrayLike, theta: ArrayLike
) -> Float64[np.ndarray, "T d_c"]:
    r"""The shared form as it should be, written with offsets alone: no position occurs by itself.

    $o_m = \sum_{n \le m} a_{mn}\, \mathcal R_{n-m} c_n, \quad s_{mn} = q_m^\top \mathcal R_{n-m} c_n$

    Args:
        q, c, positions, theta: as in `decode`.

    Returns:
        (T, d_c), float64.

    Claims:
        `su19.mla-vo-shared`
    """
    q, c, at = _one_head(q, c, positions)
    expect_turning(c, expect_frequencies(theta), at)
    out = np.zeros_like(c)
    for m in range(len(c)):
        R = rotation_matrix(at[: m + 1] - at[m], theta=theta)
        a = softmax([q[m] @ R[n] @ c[n] for n in range(m + 1)])
        out[m] = sum(a[n] * (R[n] @ c[n]) for n in range(m + 1))
    return out


def decode(
    q: Float64[np.ndarray, "T d_c"],
    c: Float64[np.ndarray, "T d_c"],
    way: Way,
    *,
    positions: ArrayLike,
    theta: ArrayLike,
) -> Decoded:
    r"""Decode token by token in one of the four `WAYS`, and count what is kept and what is turned.

    Logits are $(\mathcal R_m q_m)^\top \mathcal R_n c_n$ in each. ``"two caches"`` keeps $c_n$ and $\mathcal R_n c_n$;
    ``"turn again"`` keeps $c_n$ and turns all of them at each step; both sum $a_{mn} c_n$. ``"turned values"`` keeps
    $\mathcal R_n c_n$ and sums it; ``"undo"`` does that too and turns the sum back by $\mathcal R_m^\top$.

    Args:
        q: (T, d_c), the queries of one head.
        c: (T, d_c), the latents.
        way: one of `WAYS`.
        positions: (T,), any reals.
        theta: (d_c/2,), radians per position, in the interleaved layout.

    Returns:
        The outputs in float64, and the two counts.

    Raises:
        ValueError: if the way is unknown, or if shapes do not fit.

    Claims:
        `su19.mla-dilemma-share`, `su19.mla-dilemma-abs`, `su19.mla-vo-shared`

    >>> for way in WAYS:
    ...     run = decode(np.eye(4), np.eye(4), way, positions=range(4), theta=[1.0, 0.1])
    ...     print(f"{way:13} {run.numbers:2} numbers kept, {run.turned:2} vectors turned")
    two caches    32 numbers kept,  4 vectors turned
    turn again    16 numbers kept, 10 vectors turned
    turned values 16 numbers kept,  4 vectors turned
    undo          16 numbers kept,  4 vectors turned
    """
    expect_one_of(way, WAYS, name="way")
    q, c, at = _one_head(q, c, positions)
    plain, turned, outputs, count = [], [], [], 0  # the two caches; a way leaves the one empty that it does not keep
    expect_turning(c, expect_frequencies(theta), at)
    R = rotation_matrix(at, theta=theta)
    for m in range(len(c)):
        if way in ("two caches", "turn again"):
            plain.append(c[m])
        if way != "turn again":
            turned.append(R[m] @ c[m])
            count += 1
        keys = turned or [R[n] @ plain[n] for n in range(m + 1)]
        count += 0 if turned else len(keys)
        a = softmax([(R[m] @ q[m]) @ key for key in keys])
        total = sum(a[n] * value for n, value in enumerate(plain or turned))
        outputs.append(R[m].T @ total if way == "undo" else total)
    return Decoded(np.array(outputs), sum(x.size for x in plain + turned), count)


def _one_head(q: ArrayLike, c: ArrayLike, positions: ArrayLike) -> list[np.ndarray]:
    q, c, at = arrays = [expect_real(x, name=n) for n, x in (("q", q), ("c", c), ("positions", positions))]
    if q.ndim != 2 or c.shape != q.shape or at.shape != (len(q),):
        raise ValueError(
            f"expected q and c of one shape (T, d_c) and positions (T,), got {q.shape}, {c.shape}, {at.shape}; "
            "one row belongs to one token"
        )
    return arrays


def training_form(W: ArrayLike, *, theta: ArrayLike) -> tuple[Float64[np.ndarray, "d_v d_v"], float]:
    r"""The best $X$ for $W \mathcal R_1 = X W$, and how far the two sides stay apart.

    $X = W \mathcal R_1 W^+$; the residual is the Frobenius norm of $W \mathcal R_1 (I - W^+ W)$, and no $X$ has less.

    If it is zero, values $v_n = W c_n$ of width $d_v$ can be made first and turned afterwards. That is so if and only
    if $\mathcal R_1$ maps the kernel of W to itself.

    Args:
        W: (d_v, d_c).
        theta: (d_c/2,), radians per position, in the interleaved layout.

    Returns:
        X, (d_v, d_v) in float64, and the residual.

    Raises:
        ValueError: if W does not fit the frequencies.

    Claims:
        `su19.mla-training`, `book.latent-training`

    >>> _, apart = training_form(np.eye(4)[:2], theta=[1.0, 0.1])  # a whole plane
    >>> _, mixed = training_form(np.eye(4)[[0, 2]], theta=[1.0, 0.1])  # half of each of two
    >>> round(apart, 6), round(mixed, 2)
    (0.0, 0.85)
    """
    W = expect_real(W, name="W")
    R = rotation_matrix(1.0, theta=theta)
    if W.ndim != 2 or W.shape[1] != len(R):
        raise ValueError(f"W: expected (d_v, {len(R)}) for {len(R) // 2} frequencies, got shape {W.shape}")
    inverse = np.linalg.pinv(W)
    return W @ R @ inverse, float(np.linalg.norm(W @ R @ (np.eye(len(R)) - inverse @ W)))
