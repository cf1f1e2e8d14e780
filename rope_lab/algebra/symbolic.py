"""The rotations as SymPy matrices, a decision whether two trigonometric expressions are the same, and the induction
that carries the relative law from one plane to any even dimension.

Two functions here have the names of their float64 forms in `rotation`, so they are called through the module:
``symbolic.rotation_2d``, ``symbolic.rotation_matrix``.
"""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from rope_lab.algebra.arguments import LONGEST, expect_kind, expect_whole

__all__ = ["block_sum", "induction_step", "member", "rotation_2d", "rotation_matrix", "same"]


def rotation_2d(angle: sp.Expr | float) -> sp.Matrix:
    r"""The counter-clockwise rotation of one plane, exact.

    $R_\varphi = \begin{pmatrix} \cos\varphi & -\sin\varphi \\ \sin\varphi & \cos\varphi \end{pmatrix}$

    Args:
        angle: In radians, a number or an expression.

    Returns:
        A 2 x 2 SymPy matrix.

    >>> rotation_2d(sp.pi / 2)
    Matrix([
    [0, -1],
    [1,  0]])
    """
    angle = sp.sympify(angle)
    return sp.Matrix([[sp.cos(angle), -sp.sin(angle)], [sp.sin(angle), sp.cos(angle)]])


def rotation_matrix(position: sp.Expr | float, *, theta: Sequence[sp.Expr | float]) -> sp.Matrix:
    r"""One rotation per plane, by the angles $n\theta_i$, as the blocks of a matrix (interleaved layout).

    $R_n = \mathrm{diag}(R_{n\theta_0}, \dots, R_{n\theta_{d/2-1}})$

    Args:
        position: A number or an expression.
        theta: One frequency for each plane, radians per position.

    Returns:
        A SymPy matrix with two rows for each plane.

    >>> rotation_matrix(1, theta=[sp.pi, 0])
    Matrix([
    [-1,  0, 0, 0],
    [ 0, -1, 0, 0],
    [ 0,  0, 1, 0],
    [ 0,  0, 0, 1]])
    """
    return sp.diag(*(rotation_2d(sp.sympify(position) * frequency) for frequency in theta))


def same(left: sp.Expr | sp.Matrix, right: sp.Expr | sp.Matrix) -> bool:
    r"""Are two polynomials in sines, cosines and other symbols equal everywhere?

    Both sides are written with $e^{i\varphi}$ and multiplied out. Powers of $e^{i\varphi}$ are independent of one
    another, so what does not cancel is a difference: the answer needs no heuristics.

    >>> x = sp.Symbol("x", real=True)
    >>> same(sp.cos(x) ** 2 + sp.sin(x) ** 2, sp.Integer(1)), same(sp.cos(x), sp.sin(x))
    (True, False)
    """
    difference = sp.Matrix([sp.sympify(left)]) - sp.Matrix([sp.sympify(right)])
    return all(sp.expand(sp.expand(entry).rewrite(sp.exp)) == 0 for entry in difference)


# --- any even dimension: the step of the induction, with blocks whose size is a symbol -----------------------------

K = sp.Symbol("k", integer=True, positive=True)  # how many rows the first block has: never given a value


def member(name: str, position: sp.Expr | int, size: sp.Expr | int) -> sp.MatrixSymbol:
    r"""The matrix $A_n$ of a family ``name``, of which nothing is known but its size.

    >>> n = sp.Symbol("n")
    >>> member("A", n, K).shape, member("A", n - sp.Symbol("m"), 2)
    ((k, k), A_n-m)
    """
    index = sp.sstr(sp.expand(position), order="rev-lex").replace(" ", "")
    return sp.MatrixSymbol(f"{name}_{index}", size, size)


def block_sum(first: sp.MatrixExpr, second: sp.MatrixExpr) -> sp.BlockMatrix:
    r"""Two matrices as the diagonal blocks of one: $\mathrm{diag}(A, B)$.

    >>> block_sum(member("A", 1, K), member("B", 1, 2)).shape
    (k + 2, k + 2)
    """
    above, below = sp.ZeroMatrix(first.rows, second.cols), sp.ZeroMatrix(second.rows, first.cols)
    return sp.BlockMatrix([[first, above], [below, second]])


def induction_step(m: sp.Expr, n: sp.Expr) -> list[sp.MatrixExpr]:
    r"""The lines that carry the law from $k$ dimensions to $k + 2$; each equals the one before it.

    The lines are $\mathcal R_m^\top \mathcal R_n$ with $\mathcal R_n = \mathrm{diag}(A_n, R_n)$; multiplied block by
    block; then $A_m^\top A_n = A_{n-m}$ and $R_m^\top R_n = R_{n-m}$ put in, the hypothesis and the base case; then
    $\mathcal R_{n-m}$. SymPy does not know $k$, so this is one argument for every $k$. The first two lines are equal by
    block multiplication, the last two by being the same expression.

    Args:
        m: Query position, an expression.
        n: Key position, an expression.

    Returns:
        Four matrix expressions.

    Claims:
        ``book.relative-step``

    >>> lines = induction_step(*sp.symbols("m n"))
    >>> lines[1]
    Matrix([
    [A_m.T*A_n,         0],
    [        0, R_m.T*R_n]])
    >>> lines[2] == lines[3]
    True
    """

    m, n = (
        expect_kind(
            sp.Integer(expect_whole(x, name=a, least=-LONGEST, most=LONGEST)) if type(x) is int else x, sp.Expr, name=a
        )
        for a, x in (("m", m), ("n", n))
    )

    def family(position):
        return block_sum(member("A", position, K), member("R", position, 2))

    start = family(m).T * family(n)
    by_block = sp.block_collapse(start)
    known = {member(x, m, s).T * member(x, n, s): member(x, n - m, s) for x, s in (("A", K), ("R", 2))}
    return [start, by_block, by_block.subs(known), family(n - m)]
