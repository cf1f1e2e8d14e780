"""What chapter 11 says on its own account: the split of a real map, and its geometry."""

import numpy as np
import sympy as sp

from rope_lab.algebra import widely_linear
from rope_lab.claims.ledger import claim

p, q, r, s = sp.symbols("p q r s", real=True)
M = sp.Matrix([[p, q], [r, s]])


def times_i(size):
    return sp.Matrix(widely_linear.times_i(size).astype(int))


def number(matrix, z):
    """The real matrix of one plane, applied to a complex number."""
    image = matrix * sp.Matrix([sp.re(z), sp.im(z)])
    return image[0] + sp.I * image[1]


def parts():
    """A and B of the block M, in symbols, after a look at the algebra."""
    A, B = ((p + s) + sp.I * (r - q)) / 2, ((p - s) + sp.I * (r + q)) / 2
    there = [part.item() for part in widely_linear.complex_parts([[1, 2], [3, 5]])]
    here = [complex(part.subs({p: 1, q: 2, r: 3, s: 5})) for part in (A, B)]
    if here != there:
        raise ArithmeticError(f"algebra.widely_linear reads {there} where the formula gives {here}")
    return A, B


@claim(
    "book.split",
    statement=r"Every real matrix of even sizes is in exactly one way the sum of a complex-linear and a "
    r"conjugate-linear map: $\tilde y = A\,\tilde x + B\,\bar{\tilde x}$. With $J$, multiplication by $\mathrm i$, "
    r"the two are $\tfrac12 (W - JWJ)$ and $\tfrac12 (W + JWJ)$.",
    witness=r"$\mathrm{diag}(1, 0) = \tfrac12 I + \tfrac12\,\mathrm{diag}(1, -1)$: the real part is $\tfrac12 z + "
    r"\tfrac12 \bar z$.",
    holds=-1,
    control=+1,  # the sign of J W J
)
def linear_plus_conjugate(sign):
    J, J_in = times_i(4), times_i(2)
    W = sp.Matrix(4, 2, sp.symbols("w_0:8"))
    turned = J * W * J_in
    linear, conjugate = (W + sign * turned) / 2, (W - sign * turned) / 2
    rejoined = (linear + conjugate - W).expand() == sp.zeros(4, 2)
    commutes = (J * linear - linear * J_in).expand() == sp.zeros(4, 2)
    anticommutes = (J * conjugate + conjugate * J_in).expand() == sp.zeros(4, 2)
    values = np.arange(1.0, 9.0).reshape(4, 2)
    ours = np.array(linear.subs(dict(zip(W, values.ravel(), strict=True))), dtype=float)
    return rejoined and commutes and anticommutes and bool((ours == widely_linear.split(values)[0]).all())


@claim(
    "book.block-parts",
    statement=r"The block $\begin{pmatrix} p & q\\ r & s\end{pmatrix}$ is $z \mapsto A z + B \bar z$ with $2A = (p + "
    r"s) + \mathrm i\,(r - q)$ and $2B = (p - s) + \mathrm i\,(r + q)$.",
    witness=r"$p = 1$, the others $0$: $A = B = [[\tfrac12]]$, and $\tfrac12 z + \tfrac12\bar z$ is the real part.",
    computed=lambda: float(widely_linear.complex_parts([[1, 0], [0, 0]])[0][0, 0].real),
    holds=lambda A, B: (A, B),
    control=lambda A, B: (sp.conjugate(A), B),  # r - q taken the wrong way round
)
def one_block(read):
    x, y = sp.symbols("x y", real=True)
    A, B = read(*parts())
    z = x + sp.I * y
    return sp.expand(A * z + B * sp.conjugate(z) - number(M, z)) == 0


@claim(
    "book.commutes-with-j",
    statement=r"A real map is complex-linear exactly if it commutes with $J$: if it does not matter whether one turns "
    r"by a quarter before it or after it.",
    witness=r"$\sigma_3 J = -J \sigma_3$: a mirror turns the other way.",
    holds=lambda J: J * M - M * J,
    control=lambda J: J * M + M * J,
)
def commutator(bracket):
    _, B = parts()
    gap = bracket(times_i(2))  # it must vanish where B does, and only there
    equations = [sp.re(B), sp.im(B)]
    solution = sp.solve(list(gap), list(M), dict=True)
    return solution == sp.solve(equations, list(M), dict=True)


@claim(
    "book.energies-add",
    statement=r"The two halves are orthogonal, so their energies add: $|W|^2 = 2|A|^2 + 2|B|^2$, with the sums of all "
    r"squared entries.",
    witness=r"$\mathrm{diag}(3, 1)$: $A = [[2]]$, $B = [[1]]$, and $9 + 1 = [[8]] + [[2]]$.",
    computed=lambda: (
        *(float(part[0, 0].real) for part in widely_linear.complex_parts(np.diag([3, 1]))),
        *widely_linear.energies(np.diag([3, 1])),
    ),
    holds=2,
    control=1,  # as if a complex number were written once
)
def pythagoras(factor):
    A, B = parts()
    total = factor * sum(sp.re(part) ** 2 + sp.im(part) ** 2 for part in (A, B))
    symbols = sp.expand(total - sum(entry**2 for entry in M)) == 0
    return symbols and widely_linear.energies([[3, 0], [0, 1]]) == (factor * 4.0, factor * 1.0)


@claim(
    "book.nearest-linear",
    statement=r"The complex-linear half of $W$ is the complex-linear map nearest to it: $|W - C|^2 = |W_+ - C|^2 + "
    r"|W_-|^2$ for every complex-linear $C$, with the halves $W_+$ and $W_-$ of $W$.",
    witness=r"$W = \mathrm{diag}(1, 0)$: nearest is $[[\tfrac12]] I$, and what is left has energy $[[\tfrac12]]$.",
    computed=lambda: (float(widely_linear.split(np.diag([1, 0]))[0][0, 0]), widely_linear.energies(np.diag([1, 0]))[1]),
    holds=lambda a, b: sp.Matrix([[a, -b], [b, a]]),
    control=lambda a, b: sp.Matrix([[a, b], [b, a]]),  # not complex-linear
)
def a_right_angle(linear):
    a, b = sp.symbols("a b", real=True)
    J, C = times_i(2), linear(a, b)
    plus, minus = (M - J * M * J) / 2, (M + J * M * J) / 2

    def energy(matrix):
        return sum(entry**2 for entry in matrix)

    exact_here = sp.expand(energy(M - C) - energy(plus - C) - energy(minus)) == 0
    left = widely_linear.split([[1, 0], [0, 0]])
    return exact_here and left[0].tolist() == [[0.5, 0], [0, 0.5]] and float((left[1] ** 2).sum()) == 0.5


@claim(
    "book.sigma-ellipse",
    statement=r"$z \mapsto Az + B\bar z$ has the determinant $|A|^2 - |B|^2$, and carries the unit circle to an "
    r"ellipse with the half axes $|A| + |B|$ and $\bigl||A| - |B|\bigr|$.",
    witness=r"$|A| = |B|$: the plane is squashed onto a line. $\mathrm{diag}(1, 0)$ is such a map.",
    holds=(+1, -1),
    control=(+1, +1),  # as if mirrors kept the direction of turning
)
def circle_to_ellipse(signs):
    A, B = (sp.expand(sp.re(part) ** 2 + sp.im(part) ** 2) for part in parts())  # the squared moduli
    determinant = sp.expand(signs[0] * A + signs[1] * B - M.det()) == 0
    # Squared half axes are the eigenvalues of M^T M: their sum and their product decide.
    gram = M.T * M
    total = sp.expand(gram.trace() - 2 * (A + B)) == 0  # (|A| + |B|)^2 + (|A| - |B|)^2
    product = sp.expand(gram.det() - (A + signs[1] * B) ** 2) == 0
    return determinant and total and product
