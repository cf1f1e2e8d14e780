"""Attention with the rotation on any subset of q, k, v, o: the slow definition, and the test whether a shift is seen.

>>> [subset or "none" for subset in PLACEMENTS if is_relative(subset)]
['none', 'qk', 'vo', 'qkvo']
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import combinations

import numpy as np
from jaxtyping import Float64
from numpy.typing import ArrayLike

from rope_lab.algebra.arguments import Layout, expect_flag, expect_float, expect_kind, expect_real, shown
from rope_lab.algebra.rotation import rotate

__all__ = ["PLACEMENTS", "ROLES", "attention", "attention_weights", "is_relative", "moved", "roles"]

ROLES = "qkvo"
PLACEMENTS = tuple("".join(letters) for size in range(5) for letters in combinations(ROLES, size))
"""All 16 subsets of q, k, v, o that may turn, as words: ``""``, ``q``, ``k``, up to ``qkvo``."""


def roles(subset: str, *, name: str = "rotated") -> str:
    """The letters of ``subset`` in the order q, k, v, o.

    Args:
        subset: the letters, in any order and case; "" for none.
        name: what a refusal calls the argument.

    Raises:
        TypeError: if ``subset`` is not text.
        ValueError: if it has another letter, or one of them twice.

    >>> roles("OV"), roles("")
    ('vo', '')
    """
    name = expect_kind(name, str, name="name")
    if not isinstance(subset, str):
        raise TypeError(f"{name}: expected letters such as 'qk', got {shown(subset)}; \"\" for none")
    letters = subset.lower()
    if set(letters) - set(ROLES) or len(set(letters)) != len(letters):
        raise ValueError(f"{name}: expected some of the letters q, k, v, o, each once, got {shown(subset)}")
    return "".join(role for role in ROLES if role in letters)


def is_relative(subset: str) -> bool:
    r"""Does the output of this placement depend on relative positions alone?

    $(q \in S \Leftrightarrow k \in S)$ and $(v \in S \Leftrightarrow o \in S)$

    That is the theorem of chapter 8; `moved` measures it.

    Args:
        subset: The letters of what is rotated, some of q, k, v, o, in any order and case; "" for none.

    Returns:
        True if neither or both of q and k are among them, and neither or both of v and o.

    Raises:
        TypeError: If `subset` is not text.
        ValueError: If it has another letter, or one of them twice.

    Claims:
        `book.four-of-sixteen`

    >>> is_relative("qkvo"), is_relative("kvo")
    (True, False)
    """
    letters = roles(subset)
    return ("q" in letters) == ("k" in letters) and ("v" in letters) == ("o" in letters)


def attention_weights(
    q: ArrayLike,
    k: ArrayLike,
    *,
    q_positions: ArrayLike,
    k_positions: ArrayLike,
    rotated: str,
    theta: ArrayLike,
    causal: bool = True,
    layout: Layout = "interleaved",
) -> Float64[np.ndarray, "*batch queries keys"]:
    r"""Every query's weights over the keys.

    $a_{mn} = \mathrm{softmax}_n\bigl((\rho_q(m)\,q_m)^\top \rho_k(n)\,k_n / \sqrt d\bigr)$, where $\rho_x(n)$ is
    $\mathcal R_n$ if x is in ``rotated`` and $I$ otherwise

    Args:
        q: (..., Tq, d).
        k: (..., Tk, d).
        q_positions: (Tq,), any finite reals.
        k_positions: (Tk,).
        rotated: which of q, k, v, o turn with their position, as letters.
        theta: (d/2,), radians per position.
        causal: whether a query sees only the keys at its own position and before it.
        layout: which coordinates form a plane.

    Returns:
        (..., Tq, Tk), float64; each row sums to 1.

    Raises:
        ValueError: if the lengths do not fit, or if a query sees no key.

    Claims:
        `su19.attn-def`

    >>> attention_weights([[1.0, 0.0]], [[1.0, 0.0]] * 2, q_positions=[1], k_positions=[0, 1], rotated="", theta=[1.0])
    array([[0.5, 0.5]])
    """
    q, m = _at(q, q_positions, name="q"), expect_real(q_positions, name="q_positions")
    k, n = _at(k, k_positions, name="k"), expect_real(k_positions, name="k_positions")
    letters = roles(rotated)
    q = rotate(q, m, theta=theta, layout=layout) if "q" in letters else q
    k = rotate(k, n, theta=theta, layout=layout) if "k" in letters else k
    s = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    if expect_flag(causal, name="causal"):
        seen = n <= m[:, None]
        if not seen.any(axis=1).all():
            raise ValueError(f"k_positions: expected a key at or before each query, got keys at {n}, queries at {m}")
        s = np.where(seen, s, -np.inf)
    return row_softmax(s)


def row_softmax(s: np.ndarray) -> np.ndarray:
    r"""Return $e^{s_n} / \sum_j e^{s_j}$ along the last axis of float64 logits; one of $-\infty$ gets the weight 0."""
    a = np.exp(s - s.max(axis=-1, keepdims=True))  # no exponent above 0: nothing overflows
    return a / a.sum(axis=-1, keepdims=True)


def attention(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    *,
    q_positions: ArrayLike,
    k_positions: ArrayLike,
    rotated: str,
    theta: ArrayLike,
    theta_vo: ArrayLike | None = None,
    causal: bool = True,
    layout: Layout = "interleaved",
) -> Float64[np.ndarray, "*batch queries width"]:
    r"""One head of attention, as it is defined.

    $y_m = \rho_o(m)^\top \sum_n a_{mn}\, \rho_v(n)\, v_n$ with the weights of `attention_weights`

    The output turns *back*, and before any projection of it.

    Args:
        q, k, q_positions, k_positions, rotated, theta, causal, layout: as in `attention_weights`.
        v: (..., Tk, d'), where d' may differ from d.
        theta_vo: (d'/2,), the frequencies of v and o; None: those of q and k.

    Returns:
        (..., Tq, d'), float64.

    Raises:
        ValueError: as `attention_weights` does.

    Claims:
        `su19.vo-relative`, `unsaid.vo-freq`

    >>> x = [[1.0, 0.0]]  # alone, a token attends to itself: its value turns forth and back
    >>> attention(x, x, x, q_positions=[3], k_positions=[3], rotated="vo", theta=[1.0]).round(12) + 0.0
    array([[1., 0.]])
    """
    a = attention_weights(
        q,
        k,
        q_positions=q_positions,
        k_positions=k_positions,
        rotated=rotated,
        theta=theta,
        causal=causal,
        layout=layout,
    )
    v, letters = _at(v, k_positions, name="v"), roles(rotated)
    turn = partial(rotate, theta=theta if theta_vo is None else theta_vo, layout=layout)
    y = a @ (turn(v, k_positions) if "v" in letters else v)
    return turn(y, -expect_real(q_positions, name="q_positions")) if "o" in letters else y


def moved(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    *,
    shift: float,
    q_positions: ArrayLike,
    k_positions: ArrayLike,
    rotated: str,
    theta: ArrayLike,
    theta_vo: ArrayLike | None = None,
    causal: bool = True,
    layout: Layout = "interleaved",
) -> tuple[float, float]:
    r"""The shift test: by how much weights and outputs change when every token moves by ``shift`` positions.

    $\max |a_{m+s,\,n+s} - a_{mn}|$ and $\max |y_{m+s} - y_m|$, the contents being the same

    Args:
        q, k, v, q_positions, k_positions, rotated, theta, theta_vo, causal, layout: as in `attention`.
        shift: how far every token moves, any real number.

    Returns:
        The two maxima. Both are zero for every shift and all contents if and only if the placement is relative.

    Claims:
        `su19.abs-list`

    >>> rng = np.random.default_rng(0)
    >>> q, k, v = rng.normal(size=(3, 5, 4))
    >>> here = {"q_positions": range(5), "k_positions": range(5), "theta": [1.0, 0.1]}
    >>> [bool(change < 1e-9) for change in moved(q, k, v, shift=9, rotated="v", **here)]
    [True, False]
    """
    m, n = expect_real(q_positions, name="q_positions"), expect_real(k_positions, name="k_positions")
    shift = expect_float(shift, name="shift")
    weights = partial(attention_weights, q, k, rotated=rotated, theta=theta, causal=causal, layout=layout)
    outputs = partial(attention, q, k, v, rotated=rotated, theta=theta, theta_vo=theta_vo, causal=causal, layout=layout)

    def change(f: Callable[..., np.ndarray]) -> float:
        moved_on = f(q_positions=m + shift, k_positions=n + shift)
        return float(np.abs(f(q_positions=m, k_positions=n) - moved_on).max(initial=0))

    return change(weights), change(outputs)


def _at(x: ArrayLike, positions: ArrayLike, *, name: str) -> Float64[np.ndarray, "*batch T width"]:
    """The vectors of x as an array, one for each position."""
    x, T = expect_real(x, name=name), expect_real(positions, name="positions").shape
    if x.ndim < 2 or len(T) != 1 or x.shape[-2] != T[0] or not T[0]:
        raise ValueError(
            f"{name}: expected (..., T, d) with one position for each of at least one token, got shape {x.shape} and "
            f"positions of shape {T}; write one vector as x[None, :]"
        )
    return x
