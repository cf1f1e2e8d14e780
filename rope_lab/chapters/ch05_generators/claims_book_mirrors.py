"""Beside part 6: mirrors, half steps and the parity channel of a step with determinant -1."""

import numpy as np
import sympy as sp
from scipy.linalg import block_diag, expm

from rope_lab.algebra import normal_form, orthogonal_powers, rotation, symbolic
from rope_lab.claims import exact
from rope_lab.claims.ledger import claim

theta = sp.Symbol("theta", real=True)
SLANTED = sp.Matrix([[2, -2, 1], [1, 2, 2], [2, 1, -2]]) / 3  # orthogonal, with determinant -1


@claim(
    "book.mirror-powers",
    statement=r"In the plane, a turn after a mirror is a mirror, whatever the angle: "
    r"$O = R_\theta\,\mathrm{diag}(1, -1)$ has $O^2 = I$. It keeps the line at the angle $\theta/2$.",
    witness=r"$\theta = \tfrac\pi2$: exchange the coordinates, and exchange them again.",
    holds=sp.diag(1, -1),
    control=sp.diag(-1, -1),  # a half turn in the place of the mirror
)
def twice_is_nothing(flip):
    O = exact.rotation_2d(theta) * flip  # noqa: E741 - the book's letter
    line = sp.Matrix([sp.cos(theta / 2), sp.sin(theta / 2)])
    across = exact.rotation_2d(sp.pi / 2) * line
    reverses = symbolic.same(flip * exact.rotation_2d(theta), exact.rotation_2d(-theta) * flip)
    holds = reverses and symbolic.same(O * O, sp.eye(2)) and symbolic.same(O * line, line)
    return holds and exact.tied(O, lambda at: orthogonal_powers.mirror([at(entry) for entry in across])) == O


@claim(
    "book.minus-one-eigenvalue",
    statement=r"An orthogonal $O$ with determinant $-1$ sends some $v \ne 0$ to $-v$.",
    witness=r"$O + I = O\,(I + O)^\top$. Take determinants: $\det(O + I) = \det O \cdot \det(O + I)$, so it is $0$.",
    holds=-1,
    control=+1,  # a rotation of the plane or of four dimensions need not
)
def it_flips_an_axis(det):
    O, eye, p = sp.MatrixSymbol("O", symbolic.K, symbolic.K), sp.Identity(symbolic.K), sp.Symbol("p")  # noqa: E741
    product = O * (eye + O).T
    right = sp.det(product).subs({sp.det(O): det, sp.det((eye + O).T): p})  # p = det(O + I), or of the transpose
    if sp.expand(product).subs(O * O.T, eye).doit() != O + eye or sp.solve(right - p, p) != [0]:
        return False

    def flipped(at):
        v = orthogonal_powers.adapted_axis(one := np.vectorize(at)(matrix))
        return [*(one @ v + v), v @ v]

    for matrix in (SLANTED, sp.diag(1, SLANTED)):
        exact.tied(sp.Matrix([[0] * matrix.rows + [1]]), flipped)
    return True


@claim(
    "book.mirror-commutes",
    statement=r"$O M_v O^\top = M_{Ov}$. So the mirror along $v$ commutes with an orthogonal $O$ if and only if "
    r"$O v = v$ or $O v = -v$.",
    witness=r"$O = \begin{pmatrix} 0 & 1\\ 1 & 0 \end{pmatrix}$: the mirror along $(1, -1)$ commutes, the one along a "
    r"coordinate axis does not.",
    holds=lambda turn, v: turn * v,
    control=lambda turn, v: turn.T * v,  # carried the other way
    cases="the plane, with all its turns and mirrors",
)
def a_mirror_is_carried_along(carried):
    def mirror(v):
        return sp.eye(2) - 2 * v * v.T  # along a unit vector

    a, t = sp.symbols("a t", real=True)
    v = sp.Matrix([sp.cos(a), sp.sin(a)])
    M = exact.tied(mirror(v), lambda at: orthogonal_powers.mirror([at(entry) for entry in v]))
    for O in (exact.rotation_2d(t), exact.rotation_2d(t) * sp.diag(1, -1)):  # noqa: E741
        gap = O * M - M * O  # no gap if and only if O v and v have the product 1 or -1
        commutes = symbolic.same((gap.T * gap).trace(), 8 - 8 * (v.T * O * v)[0] ** 2)
        if not commutes or not symbolic.same(O * M * O.T, mirror(carried(O, v))):
            return False
    return True


@claim(
    "book.parity-wider",
    statement=r"A parity channel fits into ordinary rotations with two more dimensions: if $d$ is even and "
    r"$\det O = -1$, then $q^\top O^n k = \hat q^\top e^{nB} \hat k$ with $\hat q = (q, 0, 0)$, $\hat k = (k, 0, 0)$ "
    r"and a skew $B$.",
    witness=r"$\mathrm{diag}(O, -1, 1)$ has determinant $1$, so it has a skew logarithm; two $-1$ become a half turn.",
    tolerance=1e-9,
    holds=2,
    control=0,  # the same size: the mirror has to go, and the sign goes with it
)
def two_more_dimensions(more, rng):
    worst = 0.0
    for d in (2, 4, 6):
        q, k, axis = rng.normal(size=(3, d))
        O = orthogonal_powers.mirror(axis) @ _turn(rng, d)  # noqa: E741
        if more:
            wide = np.eye(d + more)
            wide[:d, :d] = O
            wide[d, d] = -1.0
        else:
            wide, _ = orthogonal_powers.split_off(O, axis=orthogonal_powers.adapted_axis(O))
        B = orthogonal_powers.skew_logarithm(wide)
        for n in (-2, 1, 5):
            logit = np.pad(q, (0, more)) @ expm(n * B) @ np.pad(k, (0, more))
            worst = max(worst, abs(logit - q @ orthogonal_powers.orthogonal_power(O, n) @ k))
    return worst


def _turn(rng, d):
    Q = np.linalg.qr(rng.normal(size=(d, d)))[0]
    return Q if np.linalg.det(Q) > 0 else Q @ orthogonal_powers.mirror(np.eye(d)[0])


@claim(
    "book.parity-logit",
    statement=r"Coordinates $q'$ and $k'$ on the flipped axis add $(-1)^{n-m} q' k'$ to the logit: one sign for even "
    r"offsets, the other for odd ones. A plane with $\theta = \pi$ does the same for two coordinates.",
    witness=r"$q' = k' = 1$: the logit gains $1$ at even offsets and loses $1$ at odd ones.",
    holds=lambda m, n: (-1) ** (n - m),
    control=lambda m, n: (-1) ** (m * n),  # signs, but not of the offset
)
def a_sign_for_even_and_odd(sign):
    m, n = sp.symbols("m n", integer=True)
    signs = (-1) ** m * (-1) ** n
    q, k = sp.Matrix(sp.symbols("q_1:4")), sp.Matrix(sp.symbols("k_1:4"))

    def power(place):
        return sp.diag(exact.rotation_2d(place * theta), (-1) ** place)

    if sp.simplify(signs - sign(m, n)) != 0 or not symbolic.same(power(n + 1), power(n) * power(1)):
        return False
    logit = ((power(m) * q).T * power(n) * k)[0]
    plane = (q[:2, 0].T * exact.rotation_2d((n - m) * theta) * k[:2, 0])[0]
    half = (power(m).T * power(n)).subs(theta, sp.pi)
    return symbolic.same(logit - plane, signs * q[2] * k[2]) and half == signs * sp.eye(3)


@claim(
    "book.parity-form",
    statement=r"If $\det O = -1$: $O^n = P\,\mathrm{diag}(R_{n\theta_0}, R_{n\theta_1}, \ldots, 1, (-1)^n)\,P^\top$"
    r" with an orthogonal $P$, for all whole $n$. The entry $1$ is there for even $d$ and absent for odd $d$.",
    witness=r"$d = 1$: $O = -1$ and $O^n = (-1)^n$.",
    tolerance=1e-10,
    holds=lambda n: 1 - 2 * (n % 2),
    control=lambda n: 1,  # noqa: ARG005 - the turns alone
)
def turns_and_one_sign(parity, rng):
    worst = 0.0
    for d in range(1, 8):
        O = _turn(rng, d) @ orthogonal_powers.mirror(rng.normal(size=d))  # noqa: E741
        form = normal_form.orthogonal_normal_form(O)
        if form.signs.tolist() != ([1.0, -1.0] if d % 2 == 0 else [-1.0]):
            return np.inf
        for n in (-2, 1, 3, 6):
            rest = np.diag([*[1.0] * (len(form.signs) - 1), parity(n)])
            blocks = block_diag(*(rotation.rotation_2d(n * angle) for angle in form.theta), rest)
            power = np.linalg.matrix_power(O if n > 0 else O.T, abs(n))
            worst = max(worst, np.abs(form.P @ blocks @ form.P.T - power).max())
            worst = max(worst, np.abs(orthogonal_powers.orthogonal_power(O, n) - power).max())
    return worst


@claim(
    "book.mirror-split",
    statement=r"If $Ov = -v$ and $O_+ = O M_v$, then the two factors commute and $O^n = M_v^n\, O_+^n$ for all "
    r"whole $n$.",
    witness=r"$O = \begin{pmatrix} 0 & 1\\ 1 & 0 \end{pmatrix}$, $v = (1, -1)$: $M_v = O$ and $O_+ = I$.",
    holds=lambda v: v,
    control=lambda v: sp.eye(v.rows)[:, -1],  # a coordinate axis
    cases="two coordinates exchanged, and a turn by 60 degrees beside a mirror, with the powers -1, 1, 2 and 3",
)
def the_power_of_commuting_factors(axis):
    beside = SLANTED * sp.diag(exact.rotation_2d(sp.pi / 3), -1) * SLANTED.T
    for O, v in ((sp.Matrix([[0, 1], [1, 0]]), sp.Matrix([1, -1])), (beside, SLANTED[:, 2])):  # noqa: E741
        w = axis(v)
        M = sp.eye(O.rows) - 2 * w * w.T / (w.T * w)[0]
        O_plus = O * M
        floats = orthogonal_powers.split_off(np.array(O, dtype=float), axis=np.array(w, dtype=float).ravel())
        if not all(np.allclose(np.array(x, dtype=float), y) for x, y in zip((O_plus, M), floats, strict=True)):
            return False
        B = orthogonal_powers.skew_logarithm(floats[0])
        if not all(np.allclose(expm(n * B), np.array(O_plus**n, dtype=float)) for n in (1, 2, 3, -1)):
            return False
        if v != -O * v or any(sp.simplify(M**n * O_plus**n - O**n) != sp.zeros(O.rows) for n in (1, 2, 3, -1)):
            return False
    return True
