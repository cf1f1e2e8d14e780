"""Two coordinates: when the turns of a grid obey the relative law, and what each plane then sees."""

from itertools import product

import numpy as np
import sympy as sp
from scipy.linalg import block_diag, expm

from rope_lab.algebra import grid_positions, many_axes, normal_form, rotation
from rope_lab.algebra.generators import generator_2d
from rope_lab.claims import exact
from rope_lab.claims.ledger import claim


@claim(
    "book.grid-commute",
    statement=r"$R_{x,y} = e^{xB_1 + yB_2}$ with skew $B_1$ and $B_2$ satisfies $R_p^\top R_{p'} = R_{p'-p}$ for all "
    r"real places $p$, $p'$ if and only if $B_1 B_2 = B_2 B_1$.",
    witness=r"Turns about two axes of space do not commute, and the law fails.",
    tolerance=1e-10,
    holds=lambda B_1, B_2: B_1 @ B_2 - B_2 @ B_1,
    control=lambda B_1, B_2: B_1 @ B_2 + B_2 @ B_1,  # the sign
)
def the_law_on_a_grid(bracket, rng):
    worst = 0.0
    for planes in (1, 2):
        P, Q = (np.linalg.qr(rng.normal(size=(2 * planes, 2 * planes)))[0] for _ in range(2))
        first, *others = (basis @ block_diag(*generator_2d(rng.normal(size=planes))) @ basis.T for basis in (P, P, Q))
        for second in others:  # in the basis of the first, and in one of its own
            law = grid_positions.grid_law_residual(first, second, span=(-1.0, 0.0, 1.5))
            gap = np.abs(bracket(first, second)).max()
            if (law > 1e-6) != (gap > 1e-6):
                return np.inf  # the one without the other
            worst = max(worst, law, gap) if gap < 1e-6 else worst
    return worst


@claim(
    "book.grid-witness",
    statement=r"Quarter turns about two axes of space do not commute: the order in which they are done matters.",
    witness=r"About the third axis and about the first: one order sends $e_1$ to $e_3$, the other to $e_2$.",
    holds=(2, 0),
    control=(2, 2),  # the same axis twice
)
def the_order_of_two_turns(axes):
    def about(axis):
        turn, plane = sp.eye(3), [(axis + 1) % 3, (axis + 2) % 3]
        quarter = exact.rotation_2d(sp.pi / 2)
        for i, j in product(range(2), repeat=2):
            turn[plane[i], plane[j]] = quarter[i, j]
        return turn

    first, second = (about(axis) for axis in axes)
    e_1 = sp.Matrix([1, 0, 0])
    return bool(second * first * e_1 == sp.Matrix([0, 0, 1]) and first * second * e_1 == sp.Matrix([0, 1, 0]))


@claim(
    "book.grid-planes",
    statement=r"Generators that commute share their planes: in one orthonormal basis plane $i$ turns by "
    r"$x\,\theta_{i,1} + y\,\theta_{i,2}$. The axial form takes $\theta_{i,2} = 0$ in one half of the planes and "
    r"$\theta_{i,1} = 0$ in the other.",
    witness=r"$d = 4$: $x$ turns the first plane, $y$ the second.",
    tolerance=1e-10,
    holds=lambda x, y, theta: x * theta[:, 0] + y * theta[:, 1],
    control=lambda x, y, theta: np.hypot(x * theta[:, 0], y * theta[:, 1]),  # a distance in the place of a sum
)
def each_plane_its_own_direction(angle, rng):
    axial, A = many_axes.axial_frequencies(8, base=9.0), rng.normal(size=(6, 6)) / 4
    worst = np.abs(np.concatenate([axial[:2, 1], axial[2:, 0]])).max()
    Q, B = np.linalg.qr(rng.normal(size=(8, 8)))[0], A - A.T
    # A matrix commutes with its cube. The planes are found from the two generators.
    for pair in ((B, B @ B @ B), [Q @ block_diag(*generator_2d(column)) @ Q.T for column in axial.T]):
        B_1, B_2 = ((one - one.T) / 2 for one in pair)
        P = normal_form.skew_normal_form(B_1 + np.sqrt(2) * B_2).P
        theta = np.stack([(P.T @ one @ P)[1::2, ::2].diagonal() for one in (B_1, B_2)], axis=-1)
        for x, y in ((1.0, 2.0), (-3.0, 0.5), (4.0, -1.0)):
            claimed = P @ block_diag(*(rotation.rotation_2d(a) for a in angle(x, y, theta))) @ P.T
            worst = max(worst, np.abs(grid_positions.grid_turn(x, y, B_1=B_1, B_2=B_2) - claimed).max())
    return worst


@claim(
    "book.grid-one-direction",
    statement=r"Generators that are multiples of one, $B_1 = w_1 B$ and $B_2 = w_2 B$, commute, and the head then "
    r"knows of a place the number $w_1 x + w_2 y$ alone, $R_{x,y} = e^{(w_1 x + w_2 y)B}$: it cannot tell places apart "
    r"on a line across $w$.",
    witness=r"$w = (1, 2)$: the places $(0, 0)$ and $(2, -1)$ have one turn.",
    tolerance=1e-12,
    holds=lambda theta: theta,
    control=lambda theta: theta[::-1],  # they commute as well, but each plane has its own direction
)
def blind_across_one_direction(second, rng):
    theta, P = np.array([1.0, 0.3, 0.05]), np.linalg.qr(rng.normal(size=(6, 6)))[0]
    w_1, w_2 = rng.normal(size=2)
    B, B_1, B_2 = (P @ block_diag(*generator_2d(row)) @ P.T for row in (theta, w_1 * theta, w_2 * second(theta)))
    B_1, B_2 = (B_1 - B_1.T) / 2, (B_2 - B_2.T) / 2
    return max(
        np.abs(grid_positions.grid_turn(x, y, B_1=B_1, B_2=B_2) - expm((w_1 * x + w_2 * y) * B)).max()
        for x, y in ((w_2, -w_1), (1.0, 3.0), (1.0 + w_2, 3.0 - w_1))  # the first is 0; the others are across from w
    )
