r"""Forms of a complex-linear head: the freedom that they have, the phase that they cannot see, and a wider embedding.

>>> rng = np.random.default_rng(0)
>>> F = rng.normal(size=(4, 4))
>>> seen = phase_average(F)  # what is left of a form when every word is turned by every common phase
>>> bool(np.allclose(seen, split(F)[0]))
True
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float64
from numpy.typing import ArrayLike

from rope_lab.algebra.arguments import Layout, expect_complex, expect_even, expect_real, expect_shapes, expect_square
from rope_lab.algebra.widely_linear import join, split, to_complex, to_real

__all__ = ["gauge", "phase_average", "real_input", "widen"]


def gauge(
    W_q: ArrayLike, W_k: ArrayLike, factors: ArrayLike, *, layout: Layout = "interleaved"
) -> tuple[Float64[np.ndarray, "head_dim width"], Float64[np.ndarray, "head_dim width"]]:
    r"""Other weights of one head with the same logits at every offset: one complex factor for each plane.

    $\tilde q_i \to \tilde q_i / \bar c_i, \qquad \tilde k_i \to c_i\, \tilde k_i$

    Args:
        W_q: (d, n), outputs in rows.
        W_k: (d, n), outputs in rows.
        factors: (d/2,), $c_i$, complex, none 0.
        layout: "interleaved" or "half".

    Returns:
        The new W_q and W_k, float64.

    Raises:
        ValueError: If a factor is 0 or there is not one for each plane.

    Claims:
        ``book.gauge``

    >>> W_q, W_k = gauge(np.eye(2), np.eye(2), [2.0])
    >>> W_q.tolist(), W_k.tolist()
    ([[0.5, 0.0], [0.0, 0.5]], [[2.0, 0.0], [0.0, 2.0]])
    """
    W_q, W_k = expect_shapes(W_q=(W_q, "d n"), W_k=(W_k, "d n"))
    planes = expect_even(len(W_q), name="rows of W_q") // 2
    factors = expect_complex(factors, name="factors")
    if factors.shape != (planes,) or not factors.all():
        raise ValueError(
            f"factors: expected {planes} complex numbers, none of them 0, got {factors}; 1 leaves a plane as it is"
        )

    def times(W, by):
        return to_real(to_complex(W.T, layout=layout) * by, layout=layout).T

    return times(W_q, 1 / factors.conj()), times(W_k, factors)


def phase_average(form: ArrayLike, *, layout: Layout = "interleaved") -> Float64[np.ndarray, "width width"]:
    r"""The mean of a form over a common phase of all words: the nearest form that a complex-linear model can have.

    $\frac1{2\pi}\int e^{-J\varphi} F\, e^{J\varphi}\, d\varphi = \tfrac12 (F - JFJ)$, the complex-linear part of F

    Args:
        form: (n, n); the logit is $x^\top F\, y$.
        layout: "interleaved" or "half".

    Returns:
        (n, n), float64.

    Raises:
        ValueError: If the form is not square.

    Claims:
        ``book.more-head-planes``

    >>> phase_average([[1.0, 0.0], [0.0, -1.0]]).tolist()  # nothing is left of a mirror
    [[0.0, 0.0], [0.0, 0.0]]
    """
    return split(expect_square(form, name="form", fix="it takes two words of one stream"), layout=layout)[0]


def widen(W: ArrayLike) -> Float64[np.ndarray, "head_dim twice_width"]:
    r"""A complex-linear map on a stream of twice the width that does to $\tilde x = x + 0\mathrm i$ what W does to x.

    Row a and row b of a plane become one complex row, $\tilde w = w_a + \mathrm i\, w_b$, so the numbers in it are
    those of W: $\tilde w\, x = (w_a x) + \mathrm i\,(w_b x)$.

    Args:
        W: (d, n), outputs in rows, interleaved.

    Returns:
        (d, 2n), float64, for the input `real_input`.

    Raises:
        ValueError: If d is odd.

    Claims:
        ``unsaid.crope-width``

    >>> W = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> (widen(W) @ real_input([5.0, 6.0])).tolist() == (W @ [5.0, 6.0]).tolist()
    True
    """
    rows = to_complex(expect_real(W, name="W").T).T  # (d/2, n), complex
    return join(rows, 0 * rows)


def real_input(x: ArrayLike) -> Float64[np.ndarray, "*batch twice_width"]:
    r"""The vector $\tilde x = x + 0\mathrm i$, laid out in planes: (..., n) to (..., 2n), a zero after each number.

    Args:
        x: (..., n), real numbers.

    Returns:
        (..., 2n), float64, interleaved.

    Raises:
        TypeError: If `x` is not real.
        ValueError: If it is not finite.

    >>> real_input([5.0, 6.0])
    array([5., 0., 6., 0.])
    """
    return to_real(expect_real(x, name="x").astype(np.complex128))
