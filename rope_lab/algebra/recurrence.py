r"""Attention with the weights $\gamma^{m-n}$ on rotated values, four times over: slow, in float64, and all equal.

>>> v = np.random.default_rng(0).normal(size=(50, 4))
>>> decay = {"gamma": 0.9, "theta": [1.0, 0.1]}
>>> by_definition = decay_attention(v, **decay)
>>> bool(np.allclose(recurrent(v, **decay), by_definition))
True
>>> bool(np.allclose(rotate_then_decay(v, **decay), by_definition))
True
>>> bool(np.allclose(convolved(v, **decay), by_definition))
True
"""

import numpy as np
from jaxtyping import Complex128, Float64
from numpy.typing import ArrayLike

from rope_lab.algebra.arguments import (
    Layout,
    expect_float,
    expect_frequencies,
    expect_real,
    expect_turning,
    expect_whole,
)
from rope_lab.algebra.rotation import rotate, rotation_matrix
from rope_lab.algebra.widely_linear import to_complex, to_real

__all__ = [
    "convolved",
    "decay_attention",
    "impulse_response",
    "recurrent",
    "retention",
    "retention_recurrent",
    "rotate_then_decay",
    "sign_changes",
]


def decay_attention(
    v: ArrayLike, *, gamma: ArrayLike, theta: ArrayLike, layout: Layout = "interleaved"
) -> Float64[np.ndarray, "T head_dim"]:
    r"""The definition: causal attention on rotated values whose weights are powers of a decay.

    $o_m = \mathcal R_m^\top \sum_{n \le m} \gamma^{m-n}\, \mathcal R_n v_n$, positions $1, \ldots, T$

    All finite gammas are allowed: these are finite sums, though above 1 they grow without bound. Quadratic in T.

    Args:
        v: (T, head_dim); T may be 0.
        gamma: One finite number, or one for each plane.
        theta: (head_dim/2,), radians per position.
        layout: "interleaved" or "half".

    Returns:
        (T, head_dim), float64.

    Raises:
        TypeError: If an argument is not real.
        ValueError: If it is not finite or not of that shape.

    Claims:
        ``su19.rnn-special``

    >>> decay_attention([[1.0, 0.0], [0.0, 0.0]], gamma=0.5, theta=np.pi / 2).round(12) + 0.0
    array([[ 1. ,  0. ],
           [ 0. , -0.5]])
    """
    v, gamma, theta = _given(v, gamma, theta)
    turned = _turn(v, theta, layout)
    steps = np.arange(len(v))
    behind = steps[:, None] - steps  # m - n
    with np.errstate(over="ignore"):  # a gamma above 1 may leave the range of the numbers: inf says so
        weights = np.where(behind >= 0, _shrink(gamma, layout)[:, None, None] ** np.maximum(behind, 0), 0.0)
    return _turn(np.einsum("cmn,nc->mc", weights, turned), theta, layout, back=True)  # weights: (head_dim, T, T)


def recurrent(
    v: ArrayLike, *, gamma: ArrayLike, theta: ArrayLike, layout: Layout = "interleaved", state: ArrayLike | None = None
) -> Float64[np.ndarray, "T head_dim"]:
    r"""Compute `decay_attention` one step at a time: a recurrence whose state turns back and shrinks.

    $h_t = \gamma\, \mathcal R_1^\top h_{t-1} + v_t$, in complex coordinates $\tilde h_t = \gamma e^{-\mathrm i\theta}\,
    \tilde h_{t-1} + \tilde v_t$

    Args:
        v: (T, head_dim).
        gamma: One finite number, or one for each plane.
        theta: (head_dim/2,), radians per position.
        layout: "interleaved" or "half".
        state: $h_0$, (head_dim,); None: zero.

    Returns:
        $h_1, \ldots, h_T$, (T, head_dim), float64; the last row is the state from which a later call goes on.

    Raises:
        ValueError: If the shapes do not fit.

    Claims:
        ``su19.rnn-geometric``

    >>> first, rest = recurrent([[1.0, 0.0]], gamma=0.5, theta=1.0), [[0.0, 1.0]]
    >>> later = recurrent(rest, gamma=0.5, theta=1.0, state=first[-1])
    >>> bool(np.allclose(later[-1], recurrent([[1.0, 0.0], *rest], gamma=0.5, theta=1.0)[-1]))
    True
    """
    v, gamma, theta = _given(v, gamma, theta)
    back = rotation_matrix(1.0, theta=theta, layout=layout).T
    shrink = _shrink(gamma, layout)
    h = np.zeros(v.shape[1]) if state is None else expect_real(state, name="state")
    if h.shape != v.shape[1:]:
        raise ValueError(f"state: expected shape {v.shape[1:]}, got {h.shape}; give the last row returned")
    states = np.empty_like(v)
    for t, v_t in enumerate(v):
        h = shrink * (back @ h) + v_t
        states[t] = h
    return states


def rotate_then_decay(
    v: ArrayLike, *, gamma: ArrayLike, theta: ArrayLike, layout: Layout = "interleaved"
) -> Float64[np.ndarray, "T head_dim"]:
    r"""Compute `decay_attention` in a turning frame, where the decay is real and each coordinate decays by itself.

    $u_t = \gamma\, u_{t-1} + \mathcal R_t v_t, \quad o_t = \mathcal R_t^\top u_t$

    Args:
        v: (T, head_dim).
        gamma: One finite number, or one for each plane.
        theta: (head_dim/2,), radians per position.
        layout: "interleaved" or "half".

    Returns:
        (T, head_dim), float64.

    Claims:
        ``book.decay-frame``
    """
    v, gamma, theta = _given(v, gamma, theta)
    turned, shrink = _turn(v, theta, layout), _shrink(gamma, layout)
    u, states = np.zeros(v.shape[1]), np.empty_like(v)
    for t, x in enumerate(turned):
        u = shrink * u + x
        states[t] = u
    return _turn(states, theta, layout, back=True)


def convolved(
    v: ArrayLike, *, gamma: ArrayLike, theta: ArrayLike, layout: Layout = "interleaved"
) -> Float64[np.ndarray, "T head_dim"]:
    r"""Compute `decay_attention` as a convolution with the impulse response, by the fast Fourier transform.

    $\tilde o = \kappa * \tilde v, \quad \kappa_r = (\gamma e^{-\mathrm i\theta})^r$

    Both are padded to twice the length, because a Fourier transform is circular. The error is relative to the largest
    output, not to each.

    Args:
        v: (T, head_dim).
        gamma: One finite number, or one for each plane.
        theta: (head_dim/2,), radians per position.
        layout: "interleaved" or "half".

    Returns:
        (T, head_dim), float64.

    Claims:
        ``book.decay-convolution``
    """
    v, gamma, theta = _given(v, gamma, theta)
    if not len(v):
        return v.copy()
    size = 2 * len(v)
    kernel = np.fft.fft(impulse_response(len(v), gamma=gamma, theta=theta), size, axis=0)
    product = kernel * np.fft.fft(to_complex(v, layout=layout), size, axis=0)
    return to_real(np.fft.ifft(product, axis=0)[: len(v)], layout=layout)


def impulse_response(length: int, *, gamma: ArrayLike, theta: ArrayLike) -> Complex128[np.ndarray, "T planes"]:
    r"""The outputs after a single 1 as input: $\kappa_r = (\gamma e^{-\mathrm i\theta})^r$ for $r = 0, 1, \ldots$

    Args:
        length: How many steps, 0 or more.
        gamma: One number, or one for each plane.
        theta: One number, or one for each plane, radians per position.

    Returns:
        (length, planes), complex128.

    Raises:
        TypeError: If ``length`` is not a whole number.
        ValueError: If it is negative.

    Claims:
        ``su19.rnn-geometric``

    >>> impulse_response(3, gamma=0.5, theta=np.pi).round(12)[:, 0].real
    array([ 1.  , -0.5 ,  0.25])
    """
    gamma, theta = (np.atleast_1d(expect_real(x, name=n)) for n, x in (("gamma", gamma), ("theta", theta)))
    if max(gamma.ndim, theta.ndim) > 1 or (len(gamma) != len(theta) and 1 not in (len(gamma), len(theta))):
        raise ValueError(f"gamma: expected one number for each plane of theta, got {gamma.shape} and {theta.shape}")
    r = np.arange(expect_whole(length, name="length", least=0, limit=2**20, fix="it counts steps"))[:, None]
    with np.errstate(over="ignore"):
        return gamma**r * np.exp(-1j * theta * r)


def retention(
    q: ArrayLike, k: ArrayLike, v: ArrayLike, *, gamma: float, theta: ArrayLike
) -> Float64[np.ndarray, "T value_dim"]:
    r"""RetNet's retention, by its definition: the rotation sits on queries and keys, and values are left alone.

    $o_m = \sum_{n \le m} \gamma^{m-n}\, \langle \mathcal R_m q_m, \mathcal R_n k_n\rangle\, v_n$

    Args:
        q: (T, head_dim).
        k: (T, head_dim).
        v: (T, any width).
        gamma: One number.
        theta: (head_dim/2,), radians per position, interleaved layout.

    Returns:
        The shape of v, float64.

    Raises:
        ValueError: If the shapes do not fit.

    Claims:
        ``su19.lru-retnet``
    """
    (q, k, v), gamma = _three(q, k, v), expect_float(gamma, name="gamma")
    at = np.arange(len(q))
    behind = at[:, None] - at
    logits = rotate(q, at, theta=theta) @ rotate(k, at, theta=theta).T
    return (np.where(behind >= 0, gamma ** np.maximum(behind, 0), 0.0) * logits) @ v


def retention_recurrent(
    q: ArrayLike, k: ArrayLike, v: ArrayLike, *, gamma: float, theta: ArrayLike
) -> Float64[np.ndarray, "T value_dim"]:
    r"""Retention one step at a time: our recurrence on the matrices $k_t v_t^\top$, read out by the plain query.

    $S_t = \gamma\, \mathcal R_1^\top S_{t-1} + k_t v_t^\top, \quad o_t = S_t^\top q_t$

    The state is head_dim by value width, whatever T is.

    Args:
        q: (T, head_dim).
        k: (T, head_dim).
        v: (T, any width).
        gamma: One number.
        theta: (head_dim/2,), radians per position, interleaved layout.

    Returns:
        The shape of v, float64.

    Raises:
        ValueError: If the shapes do not fit.

    Claims:
        ``su19.lru-retnet``
    """
    (q, k, v), gamma = _three(q, k, v), expect_float(gamma, name="gamma")
    expect_turning(q, expect_frequencies(theta), np.zeros(()))
    back = rotation_matrix(1.0, theta=theta).T
    S, outputs = np.zeros((k.shape[1], v.shape[1])), np.empty_like(v)
    for t in range(len(q)):
        S = gamma * back @ S + np.outer(k[t], v[t])
        outputs[t] = S.T @ q[t]
    return outputs


def _three(q: ArrayLike, k: ArrayLike, v: ArrayLike) -> list[np.ndarray]:
    q, k, v = arrays = [expect_real(x, name=name) for name, x in (("q", q), ("k", k), ("v", v))]
    if q.ndim != 2 or v.ndim != 2 or k.shape != q.shape or len(v) != len(q):
        raise ValueError(
            f"expected q and k of one shape (T, d) and v (T, any width), got {q.shape}, {k.shape}, {v.shape}; "
            "one row belongs to one token"
        )
    return arrays


def sign_changes(values: ArrayLike) -> int:
    """Count how often a sequence goes from positive to negative or back; zeros in between are skipped.

    Args:
        values: (T,), real numbers.

    Returns:
        An int.

    Raises:
        TypeError: If `values` are not real.
        ValueError: If one of them is not finite.

    >>> sign_changes([1.0, 0.0, -2.0, -1.0, 3.0])
    2
    """
    signs = np.sign(expect_real(values, name="values"))
    signs = signs[signs != 0]
    return int((signs[1:] != signs[:-1]).sum())


def _shrink(gamma: np.ndarray, layout: Layout) -> np.ndarray:
    """The decay of each coordinate: both coordinates of a plane have the plane's."""
    return to_real(gamma * (1 + 1j), layout=layout)


def _turn(x: np.ndarray, theta: np.ndarray, layout: Layout, *, back: bool = False) -> np.ndarray:
    positions = np.arange(1.0, len(x) + 1)  # 1 to T: the state before the first value then stands at 0, unturned
    return rotate(x, -positions if back else positions, theta=theta, layout=layout)


def _given(v: ArrayLike, gamma: ArrayLike, theta: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    v, gamma, theta = expect_real(v, name="v"), expect_real(gamma, name="gamma"), expect_frequencies(theta)
    if v.ndim != 2 or v.shape[1] != 2 * len(theta):
        raise ValueError(
            f"v: expected (T, {2 * theta.size}) for {theta.size} frequencies, got shape {v.shape}; "
            "give one theta for each plane, or split the heads first"
        )
    if gamma.shape not in ((), theta.shape):
        raise ValueError(
            f"gamma: expected one number or one for each of {theta.size} planes, got shape {gamma.shape}; "
            "one head at a time"
        )
    return v, np.broadcast_to(gamma, theta.shape), theta
