"""Exact rotations that are tied to the code: each one agrees with `rope_lab.algebra.rotation`, or is refused.

A proof in SymPy speaks about the float64 reference only as long as the two are the same matrix. So an exact check takes
its rotations from here, and a sign that is broken in either of them breaks the proof.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import sympy as sp

from rope_lab.algebra import rotation, symbolic

__all__ = ["rotation_2d", "rotation_matrix", "tied"]


def rotation_2d(angle: sp.Expr | float) -> sp.Matrix:
    """`symbolic.rotation_2d`, after a look at `rotation.rotation_2d` at one angle.

    ArithmeticError if the two differ.

    >>> rotation_2d(sp.pi)
    Matrix([
    [-1,  0],
    [ 0, -1]])
    """
    angle = sp.sympify(angle)
    return tied(symbolic.rotation_2d(angle), lambda at: rotation.rotation_2d(at(angle)))


def rotation_matrix(position: sp.Expr | float, *, theta: Sequence[sp.Expr | float]) -> sp.Matrix:
    """`symbolic.rotation_matrix`, after a look at `rotation.rotation_matrix` at one position. Errors as above."""
    position, theta = sp.sympify(position), [sp.sympify(frequency) for frequency in theta]
    return tied(
        symbolic.rotation_matrix(position, theta=theta),
        lambda at: rotation.rotation_matrix(at(position), theta=[at(frequency) for frequency in theta]),
    )


def tied(exact: sp.Matrix, floats: Callable[[Callable[..., float]], Any]) -> sp.Matrix:
    """``exact`` itself, after a look at what code in float64 gives where its symbols are numbers.

    Args:
        exact: A matrix of SymPy.
        floats: The same of our code. It is handed a function that makes a number of any expression in these symbols.

    Raises:
        ArithmeticError: If the two differ by more than rounding.

    >>> t = sp.Symbol("t", real=True)
    >>> tied(symbolic.rotation_2d(2 * t), lambda at: rotation.rotation_2d(at(2 * t)))[0, 0]
    cos(2*t)
    """
    names = sorted(exact.free_symbols, key=str)
    values = {name: sp.sqrt(number + 2) / 2 for number, name in enumerate(names)}
    here = np.array(exact.subs(values).evalf(20), dtype=float)
    there = floats(lambda expression: float(sp.sympify(expression).subs(values)))
    if not np.allclose(here, there, rtol=0.0, atol=1e-12):
        raise ArithmeticError(
            f"the exact form and the code differ by {np.abs(here - there).max():.1e}; "
            "a proof about the one says nothing about the other"
        )
    return exact
