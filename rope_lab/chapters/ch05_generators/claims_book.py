"""What chapter 5 says on its own account: who must be skew, and everything about four dimensions."""

import numpy as np
import sympy as sp
from scipy.linalg import logm

from rope_lab.algebra import bch, generators, orthogonal_powers, rotation, symbolic
from rope_lab.claims import exact
from rope_lab.claims.ledger import claim

m, n, t, theta = sp.symbols("m n t theta", real=True)
x, y, z = sp.symbols("x y z", real=True)


@claim(
    "book.generator-velocity",
    statement=r"Along $x_t = e^{tB} x$ the velocity is $B x_t$, and $\frac{\mathrm d}{\mathrm dt} |x_t|^2 = x_t^\top "
    r"(B + B^\top)\, x_t$. It is zero for every $x$ if and only if $B^\top = -B$.",
    witness=r"The quarter turn: $(x_1, x_2)$ moves along $(-x_2, x_1)$, which is perpendicular to it.",
    holds=lambda B, v: (v.T * (B + B.T) * v)[0],
    control=lambda B, v: (v.T * (B - B.T) * v)[0],
    cases="matrices of size 3, of any entries",
)
def lengths_change_by_the_symmetric_part(rate):
    B = sp.Matrix(3, 3, sp.symbols("b_1:4_1:4", real=True))
    v, h = sp.Matrix(sp.symbols("x_1:4", real=True)), sp.Symbol("h", real=True)
    N = B.upper_triangular(1)  # its series ends with the square
    exact.tied(sp.eye(3) + h * N + (h * N) ** 2 / 2, lambda at: generators.exponential(np.vectorize(at)(h * N)))
    moved = v + h * B * v  # e^(hB) v up to h^2, which a derivative at 0 does not see
    if sp.expand((moved.T * moved)[0].diff(h).subs(h, 0) - rate(B, v)) != 0:
        return False
    conditions = sp.Poly(sp.expand(rate(B, v)), *v).coeffs()  # all zero, as a polynomial in x
    solved = sp.solve(conditions, list(B), dict=True)[0]
    left = B.subs(solved)
    return left + left.T == sp.zeros(3, 3) and len(solved) == 6


@claim(
    "book.witness-ellipse",
    statement=r"The witness moves on ellipses: $\exp\Bigl(t \begin{pmatrix} 0 & -4\pi \\ \pi & 0 \end{pmatrix}\Bigr) = "
    r"\begin{pmatrix} \cos 2\pi t & -2\sin 2\pi t \\ \tfrac12 \sin 2\pi t & \cos 2\pi t \end{pmatrix}$.",
    witness=r"At every whole $t$ it is $I$; at $t = \tfrac14$ it stretches one axis by $[[2]]$ and halves the other.",
    computed=lambda: np.linalg.svd(generators.exponential([[0, -np.pi], [np.pi / 4, 0]]), compute_uv=False)[0],
    holds=sp.Integer(2),
    control=sp.Rational(1, 2),  # the long axis taken for the short one
)
def the_witness_in_closed_form(stretch):
    B = sp.Matrix([[0, -4 * sp.pi], [sp.pi, 0]])
    turn = exact.rotation_2d(2 * sp.pi * t)
    R = sp.Matrix([[turn[0, 0], stretch * turn[0, 1]], [turn[1, 0] / stretch, turn[1, 1]]])
    k = sp.Symbol("k", integer=True)
    solves = symbolic.same(R.diff(t), R * B) and R.subs(t, 0) == R.subs(t, k) == sp.eye(2)
    return solves and exact.tied(R, lambda at: generators.exponential(np.vectorize(at)(t * B))) == R


@claim(
    "book.plane-generators",
    statement=r"A real $2 \times 2$ matrix $B$ with $e^B$ orthogonal is skew, or it has trace 0 and determinant "
    r"$(j\pi)^2$ with $j = 1, 2, \dots$, and then $e^B = (-1)^j I$.",
    witness=r"$\begin{pmatrix} 0 & -2\pi \\ \pi/2 & 0 \end{pmatrix}$: $j = 1$, not skew, $e^B = -I$.",
    holds=sp.sin,
    control=sp.cos,
)
def two_dimensions_completely(factor):
    # det e^B = e^(tr B) = 1, so tr B = 0 and B^2 = -w^2 I; with w > 0, e^B = cos(w) I + sin(w)/w B.
    # With an imaginary w the factor is sinh(s)/s, s = |w|, and with w = 0 it is 1: never zero.
    s = sp.Symbol("s", positive=True)
    B = sp.Matrix([[x, -y], [z, -x]])
    if sp.expand(B**2 + sp.det(B) * sp.eye(2)) != sp.zeros(2, 2):
        return False
    w = sp.sqrt(sp.det(B))
    closed = sp.cos(w) * sp.eye(2) + sp.sin(w) / w * B
    exact.tied(closed, lambda at: generators.exponential(np.vectorize(at)(B)))
    # A rotation has equal entries on the diagonal and opposite ones beside it: s x = 0 and s (z - y) = 0.
    R = B * s
    if {sp.expand(R[0, 0] - R[1, 1]), sp.expand(R[0, 1] + R[1, 0])} != {2 * s * x, s * z - s * y}:
        return False
    if B.subs({x: 0, z: y}) != -B.subs({x: 0, z: y}).T:
        return False
    k = sp.Symbol("k", integer=True, positive=True)
    free = factor(k * sp.pi) == 0 and factor(sp.pi / 2) != 0  # where sin(w) = 0 nothing is asked of x, y, z
    witness = closed.subs({x: 0, y: 2 * sp.pi, z: sp.pi / 2})
    positive = (sp.sin(sp.I * s) / (sp.I * s)).is_positive
    return bool(free and positive and sp.cos(k * sp.pi) == (-1) ** k and witness == -sp.eye(2))


def _mixed(first, second, c):
    """Two planes at two speeds, with a slanted basis: not skew unless the speeds agree or c = 0."""
    J, K = generators.generator_2d(first), generators.generator_2d(second)
    return np.block([[J, c * (K - J)], [np.zeros((2, 2)), K]])


@claim(
    "book.mixed-planes",
    statement=r"$B = \begin{pmatrix} J_\theta & c\,(J_{\theta+2\pi} - J_\theta) \\ 0 & J_{\theta+2\pi} "
    r"\end{pmatrix}$ is not skew for $c \ne 0$, and at every whole $n$ the matrix $e^{nB}$ is the rotation by "
    r"$n\theta$ in both planes.",
    witness=r"$\theta = 1$, $c = 1$: the step $e^B$ is RoPE with two equal frequencies, and not the identity.",
    holds=2 * sp.pi,
    control=sp.pi,
)
def a_slanted_basis_of_two_aliases(turn):
    c, k = sp.Symbol("c", real=True), sp.Symbol("k", integer=True)
    identity, nothing = sp.eye(2), sp.zeros(2, 2)
    S = sp.Matrix(sp.BlockMatrix([[identity, c * identity], [nothing, identity]]))
    J, K = (sp.Matrix([[0, -f], [f, 0]]) for f in (theta, theta + turn))
    B = sp.BlockMatrix([[J, c * (K - J)], [nothing, K]]).as_explicit()
    if sp.expand(S * sp.diag(J, K) * S.inv() - B) != sp.zeros(4, 4) or sp.solve((B + B.T)[0, 3], c) != [0]:
        return False
    R = S * exact.rotation_matrix(k, theta=[theta, theta + turn]) * S.inv()  # e^(kB)
    exact.tied(R, lambda at: generators.exponential(at(k) * _mixed(at(theta), at(theta + turn), at(c))))
    return symbolic.same(R.applyfunc(sp.expand), exact.rotation_matrix(k, theta=[theta, theta]))


@claim(
    "book.slow-skew",
    statement=r"If $e^B$ is orthogonal and every eigenvalue of $B$ has an imaginary part of size less than $\pi$, then "
    r"$B^\top = -B$, and no other such $B$ has this $e^B$.",
    correction=r"At $\pi$ itself it fails; see book.plane-generators.",
    witness=r"$\begin{pmatrix} 0 & -2\pi \\ \pi/2 & 0 \end{pmatrix}$ has the eigenvalues $\pm \mathrm i\pi$; it is not "
    r"skew.",
    tolerance=1e-8,
    holds=0.0,
    control=2 * np.pi,  # one plane faster by a turn: outside the strip
)
def slow_generators_are_skew(extra, rng):
    worst = 0.0
    for theta in (0.3, 1.0, 2.5):
        B = _mixed(theta, theta + extra, 0.7)  # a slanted basis; e^B is orthogonal either way
        step = generators.exponential(B)
        worst = max(worst, np.abs(step.T @ step - np.eye(4)).max(), np.abs(B + B.T).max())
        slow = generators.exponential(_mixed(theta, theta + 0.5, 0.7))  # in the strip, not skew: not orthogonal
        worst = max(worst, float(generators.is_orthogonal(slow, tolerance=0.01)))
    for d in (2, 3, 5):  # and the logarithm with its eigenvalues in the strip is B, found from the step alone
        A = rng.normal(size=(d, d))
        B = 3 * (A - A.T) / np.linalg.norm(A - A.T, 2)
        step = generators.exponential(B)
        worst = max(worst, *(np.abs(log(step) - B).max() for log in (logm, orthogonal_powers.skew_logarithm)))
    return float(worst)


# --- four dimensions ---

SIX = sp.symbols("b_21 b_31 b_41 b_32 b_42 b_43", real=True)


def _skew(entries) -> sp.Matrix:
    """The exact twin of `generators.skew_4d`."""
    b21, b31, b41, b32, b42, b43 = entries
    lower = sp.Matrix([[0, 0, 0, 0], [b21, 0, 0, 0], [b31, b32, 0, 0], [b41, b42, b43, 0]])
    return lower - lower.T


def _halves(entries, signs):
    dual = [sign * entry for sign, entry in zip(signs, reversed(entries), strict=True)]
    pairs = list(zip(entries, dual, strict=True))
    return _skew([(e + f) / 2 for e, f in pairs]), _skew([(e - f) / 2 for e, f in pairs])


def _radii(crossed):
    """The squares of r_+ and r_-."""
    b21, b31, b41, b32, b42, b43 = SIX
    return tuple((b21 + s * b43) ** 2 + (b31 + s * crossed * b42) ** 2 + (b41 + s * b32) ** 2 for s in (1, -1))


THREE_ONE = generators.skew_4d([3.0, 0, 0, 0, 0, 1])  # b_21 and b_43


@claim(
    "book.four-halves",
    statement=r"A skew $4 \times 4$ matrix is a sum $B = B_+ + B_-$ of skew matrices with $B_+B_- = B_-B_+$ and "
    r"$B_\pm^2 = -\tfrac14 r_\pm^2 I$, with $r_\pm^2 = (b_{21} \pm b_{43})^2 + (b_{31} \mp b_{42})^2 + (b_{41} \pm "
    r"b_{32})^2$.",
    witness=r"$b_{21} = 3$, $b_{43} = 1$: $B_+$ turns both planes by $[[2]]$, $B_-$ by $[[1]]$ and $[[-1]]$.",
    computed=lambda: tuple(
        generators.halves_4d(THREE_ONE)[half][at] for half, at in ((0, (1, 0)), (1, (1, 0)), (1, (3, 2)))
    ),
    holds=(1, -1, 1, 1, -1, 1),
    control=(1, 1, 1, 1, 1, 1),  # the sign of the crossed pair forgotten
)
def two_commuting_halves(signs):
    S, A = _halves(SIX, signs)
    plus, minus = _radii(signs[1])
    zeros = S + A - _skew(SIX), 4 * S**2 + plus * sp.eye(4), 4 * A**2 + minus * sp.eye(4), S * A - A * S
    if any(sp.expand(matrix) != sp.zeros(4, 4) for matrix in zeros):
        return False
    three = sp.Matrix.vstack(_skew(SIX), S, A)

    def by_code(at):
        return np.vstack([B := generators.skew_4d([at(entry) for entry in SIX]), *generators.halves_4d(B)])

    return exact.tied(three, by_code) == three


@claim(
    "book.four-angles",
    statement=r"The angles of a skew $4 \times 4$ matrix are $\theta_{0,1} = \tfrac12 (r_+ \pm r_-)$, up to sign, with "
    r"$r_\pm^2 = (b_{21} \pm b_{43})^2 + (b_{31} \mp b_{42})^2 + (b_{41} \pm b_{32})^2$.",
    witness=r"$b_{21} = 3$, $b_{43} = 1$, and zeros: $r_+ = [[4]]$, $r_- = [[2]]$, the angles are $[[3]]$ and $[[1]]$.",
    computed=lambda: (
        *(2 * np.linalg.norm(half[0]) for half in generators.halves_4d(THREE_ONE)),
        *generators.angles_4d(THREE_ONE),
    ),
    holds=-1,
    control=+1,  # the sign of the crossed pair forgotten
)
def two_angles_in_closed_form(crossed):
    plus, minus = _radii(crossed)
    first, second = ((sp.sqrt(plus) + sign * sp.sqrt(minus)) / 2 for sign in (1, -1))
    w = sp.Symbol("w")
    wanted = sp.expand((w**2 + first**2) * (w**2 + second**2))  # the planes' eigenvalues are +- i theta
    if sp.expand(_skew(SIX).charpoly(w).as_expr() - wanted) != 0:
        return False
    angles = sp.Matrix([[first, second]])
    return exact.tied(angles, lambda at: generators.angles_4d(generators.skew_4d([at(b) for b in SIX]))) == angles


# --- the series, and the integers ---


@claim(
    "book.bch-four",
    statement=r"The exponent of $e^{mX} e^{nY}$ up to the fourth degree is $mX + nY$ ${}+ \tfrac12 mn\,C$ "
    r"${}+ \tfrac1{12} m^2 n\,[X, C]$ ${}- \tfrac1{12} m n^2\,[Y, C]$ ${}- \tfrac1{24} m^2 n^2\,[Y, [X, C]]$ "
    r"with $C = [X, Y]$.",
    witness=r"$X$ and $Y$ commute: only $mX + nY$ is left.",
    holds=-1,
    control=+1,  # a sign at the third order
)
def the_series_to_order_four(sign):
    X, Y = bch.X, bch.Y
    C = bch.commutator(X, Y)
    third = m**2 * n * bch.commutator(X, C) + sign * m * n**2 * bch.commutator(Y, C)
    fourth = -(m**2) * n**2 * bch.commutator(Y, bch.commutator(X, C)) / 24
    return sp.expand(m * X + n * Y + m * n * C / 2 + third / 12 + fourth - bch.series(4, m=m, n=n)) == 0


@claim(
    "book.alias-classes",
    statement=r"Two lists of frequencies give the same rotations at all whole positions, up to one orthogonal change "
    r"of basis, if and only if they agree after each is reduced modulo $2\pi$, folded into $[0, \pi]$, and sorted.",
    witness=r"$\theta = 5$ and $2\pi - 5 = [[1.283]]\dots$: mirror images at every whole $n$.",
    computed=lambda: float(generators.alias([5.0])[0]),
    tolerance=1e-9,
    holds=generators.alias,
    control=lambda a: np.sort(np.mod(a, np.pi))[::-1],  # half a turn taken for a whole one
)
def what_the_integers_see(fold, rng):
    def traces(frequencies):
        """Traces of the powers 1 to d: they fix the eigenvalues of an orthogonal matrix, and it up to a basis."""
        whole = np.arange(1, 2 * len(frequencies) + 1)
        return np.trace(rotation.rotation_matrix(whole, theta=frequencies), axis1=-2, axis2=-1)

    worst = 0.0
    for planes in (1, 2, 4):
        one = rng.uniform(-9, 9, size=planes)
        signs, turns = rng.choice([-1, 1], size=planes), rng.integers(-2, 3, size=planes)
        other = rng.permutation(signs * one + 2 * np.pi * turns)
        unrelated = rng.uniform(0, np.pi, size=planes)  # and a list that must not be taken for it
        apart = np.abs(traces(one) - traces(unrelated)).max()
        folded_apart = np.abs(fold(one) - fold(unrelated)).max()
        worst = max(worst, np.abs(traces(one) - traces(fold(one))).max(), np.abs(fold(one) - fold(other)).max())
        worst = max(worst, float((apart > 1e-6) != (folded_apart > 1e-6)))
        rest = np.mod(one, 2 * np.pi)
        worst = max(worst, np.abs(np.sort(fold(one)) - np.sort(np.minimum(rest, 2 * np.pi - rest))).max())
    return float(worst)
