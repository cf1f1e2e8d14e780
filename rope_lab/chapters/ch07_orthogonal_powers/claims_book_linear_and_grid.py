"""What chapter 7 says on its own account of ReLU features and of positions with two coordinates."""

from itertools import product

import numpy as np
import sympy as sp
from scipy.linalg import block_diag

from rope_lab.algebra import grid_positions, linear_attention, many_axes, rotation
from rope_lab.claims import exact
from rope_lab.claims.ledger import claim

J = np.array([[0.0, -1.0], [1.0, 0.0]])


@claim(
    "book.relu-monomial",
    statement=r"A matrix passes through a ReLU, $\mathrm{relu}(C x) = C\,\mathrm{relu}(x)$ for all $x$, exactly if "
    r"each row has at most one entry that is not $0$, and that entry is positive.",
    witness=r"$C = (1, 1)$ and $x = (1, -1)$: the left side is $0$, the right side $1$.",
    holds=lambda row: sum(entry != 0 for entry in row) <= 1 and min(row) >= 0,
    control=lambda row: sum(entry != 0 for entry in row) <= 1,  # the sign forgotten
)
def what_a_relu_lets_through(criterion):
    # Row by row; whole numbers are exact. The places try each entry alone, and each two against one another.
    places = [np.array(x, dtype=float) for x in product((-1, 0, 1), repeat=3)]
    for row in product((-2, -1, 0, 1, 3), repeat=3):
        C = np.array([row], dtype=float)
        passes = all((linear_attention.relu(C @ x) == C @ linear_attention.relu(x)).all() for x in places)
        if passes != criterion(row):
            return False
    return True


@claim(
    "book.grid-commute",
    statement=r"$R_{x,y} = e^{xB_1 + yB_2}$ with skew $B_1$ and $B_2$ satisfies $R_p^\top R_{p'} = R_{p'-p}$ for all "
    r"places $p$, $p'$ exactly if $B_1 B_2 = B_2 B_1$.",
    witness=r"Turns about two axes of space do not commute, and the law fails.",
    tolerance=1e-10,
    holds=lambda P, Q: (P, P),  # noqa: ARG005 - one basis for both generators
    control=lambda P, Q: (P, Q),
)
def the_law_on_a_grid(bases, rng):
    worst = 0.0
    for planes in (1, 2):
        P, Q = (np.linalg.qr(rng.normal(size=(2 * planes, 2 * planes)))[0] for _ in range(2))
        theta = rng.normal(size=(2, planes))
        B_1, B_2 = (
            basis @ block_diag(*(t * J for t in row)) @ basis.T for basis, row in zip(bases(P, Q), theta, strict=True)
        )
        B_1, B_2 = (B_1 - B_1.T) / 2, (B_2 - B_2.T) / 2
        law = grid_positions.grid_law_residual(B_1, B_2, span=(-1.0, 0.0, 1.5))
        commute = np.abs(B_1 @ B_2 - B_2 @ B_1).max()
        if (law > 1e-6) != (commute > 1e-6):
            return np.inf  # the one without the other
        worst = max(worst, law)
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
    worst = 0.0
    for theta in (rng.normal(size=(3, 2)), many_axes.axial_frequencies(8, base=9.0)):
        P = np.linalg.qr(rng.normal(size=(2 * len(theta), 2 * len(theta))))[0]
        B_1, B_2 = (P @ block_diag(*(t * J for t in column)) @ P.T for column in theta.T)
        B_1, B_2 = (B_1 - B_1.T) / 2, (B_2 - B_2.T) / 2
        for x, y in ((1.0, 2.0), (-3.0, 0.5), (4.0, -1.0)):
            claimed = P @ block_diag(*(rotation.rotation_2d(a) for a in angle(x, y, theta))) @ P.T
            worst = max(worst, np.abs(grid_positions.grid_turn(x, y, B_1=B_1, B_2=B_2) - claimed).max())
    return worst


@claim(
    "book.grid-one-direction",
    statement=r"Generators that are multiples of one, $B_1 = w_1 B$ and $B_2 = w_2 B$, commute, and the head then "
    r"knows of a place the number $w_1 x + w_2 y$ alone: it cannot tell places apart on a line across $w$.",
    witness=r"$w = (1, 2)$: the places $(0, 0)$ and $(2, -1)$ have one turn.",
    tolerance=1e-12,
    holds=lambda theta: theta,
    control=lambda theta: theta[::-1],  # they commute as well, but each plane has its own direction
)
def blind_across_one_direction(second, rng):
    theta, P = np.array([1.0, 0.3, 0.05]), np.linalg.qr(rng.normal(size=(6, 6)))[0]
    B_1, B_2 = (P @ block_diag(*(t * J for t in row)) @ P.T for row in (theta, 2 * second(theta)))
    B_1, B_2 = (B_1 - B_1.T) / 2, (B_2 - B_2.T) / 2
    return max(
        np.abs(
            grid_positions.grid_turn(x, y, B_1=B_1, B_2=B_2) - grid_positions.grid_turn(x + 2, y - 1, B_1=B_1, B_2=B_2)
        ).max()
        for x, y in ((0.0, 0.0), (1.0, 3.0))
    )
