r"""The series of Baker, Campbell and Hausdorff: which exponent $e^{mX} e^{nY}$ has when X and Y do not commute.

The letters X and Y stand for matrices of which nothing is known. A polynomial in them is a dictionary from words,
such as "XXY", to exact fractions; SymPy writes the result.
"""

from __future__ import annotations

from fractions import Fraction
from math import factorial

import numpy as np
import sympy as sp
from jaxtyping import Float64
from numpy.typing import ArrayLike

from rope_lab.algebra.arguments import expect_kind, expect_square, expect_whole

__all__ = ["X", "Y", "coefficients", "commutator", "exponent", "series"]

X = sp.Symbol("X", commutative=False)
"""The first of the two letters of `series`: it does not commute with `Y`."""
Y = sp.Symbol("Y", commutative=False)
"""The second letter."""

MOST = 8  # words double with each order


def commutator(A: sp.Expr, B: sp.Expr) -> sp.Expr:
    r"""$[A, B] = AB - BA$, multiplied out.

    Args:
        A: A SymPy expression in letters that do not commute, such as X and Y.
        B: Another one.

    Returns:
        A SymPy expression, expanded; 0 if A and B commute.

    >>> commutator(X, Y)
    X*Y - Y*X
    """
    A, B = (expect_kind(x, sp.Expr, name=name) for name, x in (("A", A), ("B", B)))
    return sp.expand(A * B - B * A)


def coefficients(order: int) -> dict[str, Fraction]:
    r"""The coefficients in $\ln(e^X e^Y)$ of the words of at most ``order`` letters, where they are not 0.

    $\ln(1 + Z) = Z - \tfrac12 Z^2 + \tfrac13 Z^3 - \dots$ with $Z = e^X e^Y - 1$, whose words have one letter or more

    Args:
        order: 1 to 8.

    Returns:
        From each word, such as "XXY", to an exact fraction.

    Raises:
        TypeError: If ``order`` is not a whole number.
        ValueError: If it is not from 1 to 8.

    Claims:
        ``su6.bch-order2``, ``book.bch-four``

    >>> coefficients(2)
    {'X': Fraction(1, 1), 'Y': Fraction(1, 1), 'XY': Fraction(1, 2), 'YX': Fraction(-1, 2)}
    """
    order = expect_whole(order, name="order", least=1, most=MOST, fix="the words double with each order")
    pairs = [(a, b) for a in range(order + 1) for b in range(order + 1) if 0 < a + b <= order]
    Z = {"X" * a + "Y" * b: Fraction(1, factorial(a) * factorial(b)) for a, b in pairs}
    total: dict[str, Fraction] = {}
    Z_to_k = {"": Fraction(1)}
    for k in range(1, order + 1):
        Z_to_k = _times(Z_to_k, Z, order)
        for word, value in Z_to_k.items():
            total[word] = total.get(word, Fraction(0)) + Fraction((-1) ** (k + 1), k) * value
    return {word: total[word] for word in sorted(total, key=lambda w: (len(w), w)) if total[word]}


def series(order: int, *, m: sp.Expr | int = 1, n: sp.Expr | int = 1) -> sp.Expr:
    r"""The exponent of $e^{mX} e^{nY}$ up to total degree ``order`` in m and n, as a SymPy expression.

    $mX + nY + \tfrac12 mn\,[X, Y] + \dots$

    Args:
        order: 1 to 8.
        m: Factor of X.
        n: Factor of Y.

    Returns:
        An expression in the non-commutative symbols X and Y of this module.

    Claims:
        ``su6.bch-order2``

    >>> series(2)
    X + X*Y/2 + Y - Y*X/2
    """
    letters = {"X": X, "Y": Y}
    m, n = (expect_kind(sp.Integer(x) if type(x) is int else x, sp.Expr, name=a) for a, x in (("m", m), ("n", n)))
    return sp.Add(
        *(
            sp.Rational(value.numerator, value.denominator)
            * m ** word.count("X")
            * n ** word.count("Y")
            * sp.Mul(*(letters[letter] for letter in word))
            for word, value in coefficients(order).items()
        )
    )


def exponent(A: ArrayLike, B: ArrayLike, *, order: int) -> Float64[np.ndarray, "d d"]:
    r"""The series with matrices in it: $\ln(e^A e^B)$ up to products of ``order`` factors.

    It converges where $|A| + |B| < \ln 2$ in the spectral norm; further out it may go anywhere.

    Args:
        A: (d, d).
        B: (d, d).
        order: 1 to 8.

    Returns:
        (d, d), float64.

    Raises:
        ValueError: If the shapes differ or are not square.

    Claims:
        ``su6.bch-order2``

    >>> exponent([[0, 1, 0], [0, 0, 0], [0, 0, 0]], [[0, 0, 0], [0, 0, 1], [0, 0, 0]], order=4)
    array([[0. , 1. , 0.5],
           [0. , 0. , 1. ],
           [0. , 0. , 0. ]])
    """
    A, B = expect_square(A, name="A"), expect_square(B, name="B")
    if A.shape != B.shape:
        raise ValueError(f"A, B: expected two matrices of one size, got {A.shape} and {B.shape}; both act on one space")
    known = {"X": A, "Y": B}

    def product(word: str) -> np.ndarray:
        if word not in known:
            known[word] = product(word[:-1]) @ known[word[-1]]
        return known[word]

    return sum((float(value) * product(word) for word, value in coefficients(order).items()), np.zeros_like(A))


def _times(one: dict[str, Fraction], other: dict[str, Fraction], order: int) -> dict[str, Fraction]:
    result: dict[str, Fraction] = {}
    for left, a in one.items():
        for right, b in other.items():
            if len(left) + len(right) <= order:
                result[left + right] = result.get(left + right, Fraction(0)) + a * b
    return result
