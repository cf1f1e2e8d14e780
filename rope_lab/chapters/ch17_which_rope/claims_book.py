"""What chapter 17 says on its own account: what can be found out about a rotary embedding by calling it."""

from itertools import pairwise

import numpy as np
import sympy as sp

from rope_lab.algebra import rotation, symbolic
from rope_lab.algebra.arguments import LAYOUTS
from rope_lab.claims import exact
from rope_lab.claims.ledger import claim

n, theta, phi = sp.symbols("n theta varphi", real=True)
whole = sp.Symbol("n", integer=True)
thetas = sp.symbols("theta_0:2", positive=True)


def _exact_turn(position, layout):
    """The exact rotation of two planes in either layout, tied to the float64 reference."""
    R = exact.rotation_matrix(position, theta=thetas)
    order = list(range(4)) if layout == "interleaved" else rotation.layout_permutation(4).tolist()
    return R[order, order]


@claim(
    "book.audit-column",
    statement=r"The answer to a unit vector $e_a$ has two entries: $\cos n\theta_i$ at $a$ and $\pm\sin n\theta_i$ at "
    r"its partner $b > a$, plus for counter-clockwise and minus for clockwise.",
    witness=r"Half-split, $d = 4$, $a = 0$: $\cos n\theta_0$ at $0$ and $\sin n\theta_0$ at $2$.",
    holds=+1,
    control=-1,  # the two directions taken for each other
)
def answer_to_a_unit_vector(sign):
    for layout in LAYOUTS:
        for direction in (1, -1):
            F = _exact_turn(direction * n, layout)
            for i, (a, b) in enumerate(rotation.planes(4, layout=layout).tolist()):
                column = sp.zeros(4, 1)
                column[a] = sp.cos(n * thetas[i])
                column[b] = sign * direction * sp.sin(n * thetas[i])
                if not symbolic.same(F[:, a], column):
                    return False
    return True


@claim(
    "book.audit-read",
    statement=r"A plane's direction and frequency are the angle of one answer: $s\theta = \mathrm{atan2}(y_b, y_a)$ "
    r"with $y = f(e_a, 1)$, as long as $0 < \theta < \pi$.",
    witness=r"$\arccos y_a$ gives $\theta$ without its sign: a clockwise plane looks like the other kind.",
    tolerance=1e-12,
    holds=np.arctan2,
    control=lambda y_b, y_a: np.arccos(np.clip(y_a, -1, 1)),  # noqa: ARG005 - that it forgets y_b is the mistake
)
def signed_frequency(read, rng):
    misses = []
    for direction in (1, -1):
        for frequency in (np.pi * rng.uniform(0.01, 0.99), 1e-6):
            y_a, y_b = rotation.rotate([1.0, 0.0], direction, theta=frequency)
            misses.append(abs(read(y_b, y_a) - direction * frequency) / frequency)
    return max(misses)


@claim(
    "book.audit-alias",
    statement=r"Asked at whole positions only, $\theta$ and $\theta + 2\pi$ give the same answers for ever.",
    witness=r"At position $\tfrac12$ the two differ by half a turn.",
    holds=2 * sp.pi,
    control=sp.pi,
)
def whole_positions_see_a_frequency_up_to_a_turn(more):
    other = exact.rotation_2d(whole * (theta + more))
    return symbolic.same(sp.expand_trig(other.applyfunc(sp.expand)), sp.expand_trig(exact.rotation_2d(whole * theta)))


@claim(
    "book.audit-gauge",
    statement=r"Let the $F_n$ and $F'_n$ be invertible. Both give the same logit for all queries, keys and positions "
    r"exactly if $F'_n = C F_n$ with one orthogonal matrix $C$ for all positions.",
    witness=r"$C$ a permutation: code that reads neighbours and writes halves. $C = R_1$: code that starts to count at "
    r"one. With a $C_n$ that depends on $n$ the logits differ.",
    tolerance=1e-12,
    holds=lambda Q, n: Q,  # noqa: ARG005 - the same at every position
    control=np.linalg.matrix_power,  # orthogonal, but another one at each position
)
def equal_logits_mean_one_orthogonal_factor(factor, rng):
    freq = rotation.frequencies(6, base=50.0)
    Q = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    one = [rotation.rotation_matrix(at, theta=freq) for at in range(5)]
    other = [factor(Q, at) @ F for at, F in enumerate(one)]
    logits = max(
        np.abs(B.T @ D - A.T @ C).max()
        for A, B in zip(one, other, strict=True)
        for C, D in zip(one, other, strict=True)
    )
    found = [D @ np.linalg.inv(C) for C, D in zip(one, other, strict=True)]  # and back: the factor from the two
    constant = max(np.abs(A - B).max() for A, B in pairwise(found))
    return max(logits, constant, np.abs(found[0].T @ found[0] - np.eye(6)).max())


@claim(
    "book.audit-flip",
    statement=r"Change the sign of one coordinate of a plane before and after, and the turn goes the other way: "
    r"$M R_\varphi M = R_{-\varphi}$ with $M = \mathrm{diag}(1, -1)$.",
    witness=r"With both signs changed, $M = -I$, nothing changes.",
    holds=sp.diag(1, -1),
    control=-sp.eye(2),
)
def one_sign_turns_the_direction(M):
    return symbolic.same(M * exact.rotation_2d(phi) * M, exact.rotation_2d(-phi))


def _by_planes(position, layout):
    """The same as `_exact_turn`, put together plane by plane instead of reordered."""
    R = sp.zeros(4, 4)
    for frequency, pair in zip(thetas, rotation.planes(4, layout=layout).tolist(), strict=True):
        block = exact.rotation_2d(position * frequency)
        for row, a in enumerate(pair):
            for column, b in enumerate(pair):
                R[a, b] = block[row, column]
    return R


def _signed_permutation(direction, layout, *, flip=True):
    """S with S R_n S^T = the same planes in another layout, turned the other way where direction is -1."""
    S = sp.eye(4)[list(range(4)) if layout == "interleaved" else rotation.layout_permutation(4).tolist(), :]
    if flip and direction < 0:
        for _, b in rotation.planes(4, layout=layout).tolist():
            S[b, :] = -S[b, :]
    return S


@claim(
    "book.audit-carry",
    statement=r"Layout, direction and the order of the planes are a choice of coordinates: a permutation $S$ with "
    r"signs gives $S \mathcal R_n S^\top = \mathcal R'_n$.",
    witness=r"From interleaved, counter-clockwise, to each of the four kinds, with symbols for $n$ and $\theta_i$.",
    holds=True,
    control=False,  # the coordinates reordered, the signs forgotten
)
def every_kind_from_one(flip):
    R = exact.rotation_matrix(n, theta=thetas)
    for layout in LAYOUTS:
        for direction in (1, -1):
            S = _signed_permutation(direction, layout, flip=flip)
            if not symbolic.same(S * R * S.T, _by_planes(direction * n, layout)):
                return False
    return True


@claim(
    "book.audit-trace",
    statement=r"The sum of the diagonal of $\mathcal R_t$ is $d - r + 2 \sum_i \cos t\theta_i$, where $r$ coordinates "
    r"turn. It is the same in each layout and direction.",
    witness=r"$t = 0$: $d - r + 2 \cdot r/2 = d$.",
    holds=2,
    control=1,  # each plane has two coordinates on the diagonal
)
def trace_of_a_turn(each):
    t = sp.Symbol("t", real=True)
    for layout in LAYOUTS:
        for direction in (1, -1):
            R = sp.diag(_exact_turn(direction * t, layout), sp.eye(3))  # three coordinates do not turn
            if not symbolic.same(R.trace(), 3 + each * sum(sp.cos(t * freq) for freq in thetas)):
                return False
    return True


@claim(
    "book.audit-spectrum",
    statement=r"If $A \mathcal R_t A^{-1} = \mathcal R'_t$ for all real $t$, with any invertible $A$, then both have "
    r"the same list of frequencies, apart from order and sign.",
    witness=r"The even derivatives of the trace at $t = 0$ are the power sums of the $\theta_i^2$, and power sums "
    r"determine the numbers. A sum of the odd powers would see the sign; it does not occur.",
    holds=2,
    control=1,  # derivatives of every order: the odd ones are zero
)
def trace_tells_the_power_sums(step):
    t = sp.Symbol("t", real=True)
    trace = exact.rotation_matrix(t, theta=thetas).trace()
    for k in (1, 2, 3):
        found = sp.diff(trace, t, step * k).subs(t, 0)
        if not symbolic.same(found, 2 * (-1) ** k * sum(freq ** (step * k) for freq in thetas)):
            return False
    a, b = sp.symbols("a b")  # and with the power sums of two numbers known, the two are the roots of one polynomial
    first, second = a + b, a**2 + b**2
    x = sp.Symbol("x")
    return sp.expand((x - a) * (x - b) - (x**2 - first * x + (first**2 - second) / 2)) == 0
