r"""All families of matrices with $R_m^\top R_n = R_{n-m}$: what the law alone implies, and every solution of it.

Two parts. *Words*: products of $R_n$ and $R_n^\top$ in which nothing commutes, and the few rewriting rules that the
proof of chapter 4 uses; SymPy adds the indices. *Families*: functions from a position to a float64 matrix, with a
residual of the law, a builder of every solution, and `classify`, which finds the parts of a given one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

import numpy as np
import sympy as sp
from jaxtyping import Float
from numpy.typing import ArrayLike

from rope_lab.algebra.arguments import (
    expect_float,
    expect_kind,
    expect_list,
    expect_orthogonal,
    expect_real,
    expect_rule,
    expect_shapes,
    expect_square,
    expect_whole,
    shown,
)

__all__ = [
    "R_T",
    "R",
    "by_law",
    "by_transpose",
    "classify",
    "law_residual",
    "one_dimensional",
    "solution",
    "transposed",
]

Family = Callable[[Any], ArrayLike]  # from a position to a square matrix

# --- words: what follows from the law alone -------------------------------------------------------------------------

R = sp.Function("R", commutative=False)
"""A letter of words: ``R(n)`` is $R_n$, which commutes with nothing."""
R_T = sp.Function("R_T", commutative=False)
r"""The other letter: ``R_T(n)`` is $R_n^\top$."""


def transposed(word: sp.Expr) -> sp.Expr:
    """The transpose of a product: each factor transposed, in the opposite order.

    Args:
        word: A product of R and R_T.

    Returns:
        Another such product, with R and R_T exchanged.

    >>> transposed(R_T(0) * R(1))
    R_T(1)*R(0)
    """
    return sp.Mul(*(_flip(factor) for factor in reversed(_factors(word))))


def by_law(word: sp.Expr, *, offset: Callable = lambda m, n: n - m) -> sp.Expr:
    r"""Use the law wherever it applies, from left to right: $R_m^\top R_n \to R_{n-m}$.

    Args:
        word: A product of R and R_T.
        offset: The index on the right; another one gives another law, for controls.

    Returns:
        The word after as many uses as possible.

    >>> m, n = sp.symbols("m n")
    >>> by_law(R_T(m) * R(n)), by_law(R(m) * R(n))
    (R(-m + n), R(m)*R(n))
    """
    factors, offset = _factors(word), expect_rule(offset, name="offset")
    for i, (first, second) in enumerate(pairwise(factors)):
        if first.func == R_T and second.func == R:
            index = sp.expand(offset(first.args[0], second.args[0]))
            return by_law(sp.Mul(*factors[:i], R(index), *factors[i + 2 :]), offset=offset)
    return word


def by_transpose(word: sp.Expr, *, opposite: Callable = lambda n: -n) -> sp.Expr:
    r"""Write $R_n$ as $R_{-n}^\top$ wherever it is not the last factor, so that the law can take hold of it.

    Args:
        word: A product of R and R_T.
        opposite: The index of the transpose; another one gives another rule, for controls.

    Returns:
        The same product, in which at most the last factor is an R.

    >>> n = sp.Symbol("n")
    >>> by_transpose(R(n) * R(1))
    R_T(-n)*R(1)
    """
    (*front, last), opposite = _factors(word), expect_rule(opposite, name="opposite")
    return sp.Mul(*(R_T(sp.expand(opposite(f.args[0]))) if f.func == R else f for f in front), last)


def _factors(word: sp.Expr) -> list[sp.Expr]:
    """The factors in order: R(1)**2*R(3) as [R(1), R(1), R(3)]."""
    pairs = [factor.as_base_exp() for factor in sp.Mul.make_args(expect_kind(word, sp.Expr, name="word"))]
    if not all(base.func in (R, R_T) and power.is_Integer and 0 < power < 99 for base, power in pairs):
        raise ValueError(f"word: expected a product of R and R_T, got {shown(word)}; such as R_T(m) * R(n)")
    return [base for base, power in pairs for _ in range(int(power))]


def _flip(factor: sp.Expr) -> sp.Expr:
    return (R_T if factor.func == R else R)(*factor.args)


def one_dimensional(*, window: int = 2) -> set[tuple[int, ...]]:
    r"""Every solution among 1 x 1 matrices, as the numbers $(r_{-w}, \ldots, r_0, \ldots, r_w)$; SymPy solves for them.

    The equations are $r_m r_n = r_{n-m}$ for all $m$, $n$ and $n - m$ in the window.

    Args:
        window: The largest position, w.

    Returns:
        A set of tuples of 2w + 1 ints.

    Claims:
        ``su19.general-solution``

    >>> sorted(one_dimensional(window=1))
    [(-1, 1, -1), (0, 0, 0), (1, 1, 1)]
    """
    span = range(-expect_whole(window, name="window", least=1, limit=3), window + 1)
    r = {n: sp.Symbol(f"r_{n + window}") for n in span}
    equations = [r[m] * r[n] - r[n - m] for m in span for n in span if n - m in span]
    basis = sp.groebner(equations, *r.values(), order="lex")
    return {tuple(int(root[r[n]]) for n in span) for root in sp.solve(basis.exprs, list(r.values()), dict=True)}


# --- families: every solution, and the parts of a given one -----------------------------------------------------------


def law_residual(family: Family, *, positions: Iterable[float] = range(-3, 4)) -> float:
    r"""The largest error of the law: the largest entry of $|R_m^\top R_n - R_{n-m}|$ over all pairs of ``positions``.

    Args:
        family: From a position to a square matrix.
        positions: Which m and n are tried.

    Returns:
        A float.

    >>> turn = lambda n: np.linalg.matrix_power([[0, -1], [1, 0]], n)
    >>> law_residual(turn), law_residual(lambda n: 2 * turn(n))
    (0.0, 2.0)
    """
    places = expect_list(positions, name="positions", most=999)
    expect_shapes(positions=(places, "places"))
    if not places:
        raise ValueError("positions: expected one position at least, got none; such as range(-3, 4)")
    pairs = [(m, n) for m in places for n in places]
    return max(float(np.abs(_at(family, m).T @ _at(family, n) - _at(family, n - m)).max()) for m, n in pairs)


def solution(O: ArrayLike, *, basis: ArrayLike) -> Family:  # noqa: E741 - the book's letter
    r"""The family $R_n = U\,\mathrm{diag}(O^n, 0)\,U^\top$; every solution on the integers has this form.

    Args:
        O: (r, r), orthogonal, or empty for the zero solution.
        basis: The orthogonal U, (d, d) with $d \ge r$.

    Returns:
        A function that takes a whole number, also a negative one, and returns (d, d) in float64.

    Raises:
        ValueError: If one of them is not orthogonal, or O is the larger one.

    Claims:
        ``book.relative-normal-form``

    >>> keep_first = solution([[1.0]], basis=np.eye(2))
    >>> keep_first(5)
    array([[1., 0.],
           [0., 0.]])
    """
    U = expect_orthogonal(basis, name="basis")
    O = expect_orthogonal(O, name="O") if expect_real(O, name="O").size else np.zeros((0, 0))  # noqa: E741
    if len(O) > len(U):
        raise ValueError(f"basis: expected at least {len(O)} rows, as many as O has, got {len(U)}; take a larger basis")
    first = U[:, : len(O)]
    return lambda n: first @ np.linalg.matrix_power(O if n >= 0 else O.T, abs(n)) @ first.T


def classify(family: Family, *, tolerance: float = 1e-8) -> tuple[Float[np.ndarray, "r r"], Float[np.ndarray, "d d"]]:
    r"""The parts of a solution: O and U with $R_n = U\,\mathrm{diag}(O^n, 0)\,U^\top$.

    $R_0$ is the projection on the space where anything happens; the first r columns of U span it, and there $R_1$ is O.
    The law is tried for all pairs of positions from -3 to 3, and refused with a ValueError where it fails by more than
    ``tolerance``. U is not unique: any basis of the two spaces serves.

    Args:
        family: From a position to a square matrix.
        tolerance: By how much the law may fail, over all pairs of positions from -3 to 3.

    Returns:
        O, (r, r), and U, (d, d), float64.

    Raises:
        ValueError: If the law fails.

    Claims:
        ``book.relative-normal-form``

    >>> O, U = classify(lambda n: np.diag([(-1.0) ** n, 0.0]))
    >>> O
    array([[-1.]])
    """
    if (gap := law_residual(family)) > expect_float(tolerance, name="tolerance"):
        raise ValueError(
            f"family: expected R_m^T R_n = R_(n-m), got a difference of {gap:.1e}; "
            "look for a lost transpose, or for a factor that is not orthogonal"
        )
    weight, vectors = np.linalg.eigh(_at(family, 0))  # R_0 is symmetric, its eigenvalues are 0 and 1
    U = vectors[:, ::-1]
    first = U[:, : int(np.sum(weight > 0.5))]
    return first.T @ _at(family, 1) @ first, U


def _at(family: Family, n: float) -> np.ndarray:
    if not callable(family):
        raise TypeError(f"family: expected a function of the position, got {shown(family)}; see solution")
    try:
        matrix = np.asarray(family(n), dtype=float)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(
            f"family: expected a function from a position to a matrix, got {shown(family)}: {error}"
        ) from error
    return expect_square(matrix, name="family(n)")
