"""What chapter 7 says on its own account of mirrors: where they come from, when they commute, where they fit."""

import numpy as np
import sympy as sp
from scipy.linalg import block_diag, expm

from rope_lab.algebra import normal_form, orthogonal_powers, rotation, symbolic
from rope_lab.claims import exact
from rope_lab.claims.ledger import claim

theta = sp.Symbol("theta", real=True)


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
    there = orthogonal_powers.mirror(np.array(across.subs(theta, 0.8), dtype=float).ravel())
    tied = np.allclose(there, np.array(O.subs(theta, 0.8), dtype=float))
    return bool(tied and symbolic.same(O * O, sp.eye(2)) and symbolic.same(O * line, line))


@claim(
    "book.minus-one-eigenvalue",
    statement=r"An orthogonal $O$ with determinant $-1$ sends some $v \ne 0$ to $-v$.",
    witness=r"$O + I = O\,(I + O)^\top$. Take determinants: $\det(O + I) = \det O \cdot \det(O + I)$, so it is $0$.",
    holds=-1,
    control=+1,  # a rotation of the plane or of four dimensions need not
)
def it_flips_an_axis(det):
    a, b, c = sp.symbols("a b c", real=True)
    skew = {2: sp.Matrix([[0, a], [-a, 0]]), 3: sp.Matrix([[0, a, b], [-a, 0, c], [-b, -c, 0]])}
    for size, S in skew.items():
        eye = sp.eye(size)
        # Cayley's form, of nearly all there are. O is N / s, and everything is multiplied by s.
        N, s = (eye - S) * (eye + S).adjugate() * sp.diag(*[1] * (size - 1), det), (eye + S).det()
        if sp.expand(s * (N + s * eye) - N * (s * eye + N).T) != sp.zeros(size):
            return False
        if sp.expand((N + s * eye).det()) != 0:
            return False
        floats = np.array((N / s).subs({a: 0.3, b: -1.2, c: 0.7}), dtype=float)
        v = orthogonal_powers.adapted_axis(floats)
        if np.abs(floats @ v + v).max() > 1e-12:
            return False
    return True


@claim(
    "book.mirror-commutes",
    statement=r"$O M_v O^\top = M_{Ov}$. So the mirror along $v$ commutes with an orthogonal $O$ exactly if "
    r"$O v = v$ or $O v = -v$.",
    witness=r"$O = \begin{pmatrix} 0 & 1\\ 1 & 0 \end{pmatrix}$: the mirror along $(1, -1)$ commutes, the one along a "
    r"coordinate axis does not.",
    holds=lambda turn, v: turn * v,
    control=lambda turn, v: turn.T * v,  # carried the other way
)
def a_mirror_is_carried_along(carried):
    def mirror(v):
        return sp.eye(2) - 2 * v * v.T  # along a unit vector

    a, t = sp.symbols("a t", real=True)
    v = sp.Matrix([sp.cos(a), sp.sin(a)])
    there = orthogonal_powers.mirror([np.cos(0.4), np.sin(0.4)])
    tied = np.allclose(np.array(mirror(v.subs(a, 0.4)), dtype=float), there)
    for O in (exact.rotation_2d(t), exact.rotation_2d(t) * sp.diag(1, -1)):  # noqa: E741
        if not symbolic.same(O * mirror(v) * O.T, mirror(carried(O, v))):
            return False
    return tied


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
    holds=lambda m, n: 1 - 2 * ((n - m) % 2),
    control=lambda m, n: 1 - 2 * (m * n % 2),  # signs, but not of the offset
)
def a_sign_for_even_and_odd(sign):
    q, k = sp.Matrix(sp.symbols("q_1:4")), sp.Matrix(sp.symbols("k_1:4"))
    O = sp.diag(exact.rotation_2d(sp.pi / 2), -1)  # noqa: E741
    half = exact.rotation_2d(sp.pi)
    for m in range(-2, 3):
        for n in range(-2, 3):
            logit = ((O**m * q).T * (O**n * k))[0]
            plane = (q[:2, 0].T * (exact.rotation_2d(sp.pi / 2) ** (n - m)) * k[:2, 0])[0]
            if sp.expand(logit - plane - sign(m, n) * q[2] * k[2]) != 0:
                return False
            if (half**m).T * half**n != sign(m, n) * sp.eye(2):
                return False
    return True


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
)
def the_power_of_commuting_factors(axis):
    slanted = sp.Matrix([[2, -2, 1], [1, 2, 2], [2, 1, -2]]) / 3  # orthogonal
    beside = slanted * sp.diag(exact.rotation_2d(sp.pi / 3), -1) * slanted.T
    for O, v in ((sp.Matrix([[0, 1], [1, 0]]), sp.Matrix([1, -1])), (beside, slanted[:, 2])):  # noqa: E741
        w = axis(v)
        M = sp.eye(O.rows) - 2 * w * w.T / (w.T * w)[0]
        O_plus = O * M
        floats = orthogonal_powers.split_off(np.array(O, dtype=float), axis=np.array(w, dtype=float).ravel())
        if not all(np.allclose(np.array(x, dtype=float), y) for x, y in zip((O_plus, M), floats, strict=True)):
            return False
        if v != -O * v or any(sp.simplify(M**n * O_plus**n - O**n) != sp.zeros(O.rows) for n in (1, 2, 3, -1)):
            return False
    return True
