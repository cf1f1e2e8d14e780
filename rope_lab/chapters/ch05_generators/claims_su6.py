"""What part 6 says about matrix exponentials: which generators are allowed, and what they make."""

import numpy as np
import sympy as sp

from rope_lab.algebra import bch, generators, symbolic
from rope_lab.algebra.orthogonal_powers import skew_logarithm
from rope_lab.claims import exact
from rope_lab.claims.ledger import claim

m, n, t, theta = sp.symbols("m n t theta", real=True)


def _power(B: sp.Matrix, time) -> sp.Matrix:
    """e^(tB) of a 2 x 2 matrix of trace 0, exact, after a look at the float64 reference."""
    squared = sp.sqrt(sp.det(B))  # B^2 = -det(B) I
    closed = B.applyfunc(lambda entry: entry * time) if squared == 0 else B * sp.sin(time * squared) / squared
    result = closed + sp.eye(2) * sp.cos(time * squared)
    return exact.tied(result, lambda at: generators.exponential(np.vectorize(at)(time * B)))


def _law(B: sp.Matrix, step) -> bool:
    """Does e^(nB) satisfy the law at all whole multiples of the step? If and only if one step is orthogonal."""
    R = _power(B, step)
    return symbolic.same(R.T * R, sp.eye(2))


GENERATORS = (  # 2 x 2, trace 0
    sp.Matrix([[0, -1], [1, 0]]),  # skew
    sp.Matrix([[0, -4 * sp.pi], [sp.pi, 0]]),  # two half-axes, back after every whole step
    sp.Matrix([[0, -2 * sp.pi], [sp.pi / 2, 0]]),  # every whole step is a half turn
    sp.Matrix([[0, -2], [sp.Rational(1, 2), 0]]),  # the same ellipse, never back in time
    sp.Matrix([[0, 1], [1, 0]]),  # symmetric
    sp.Matrix([[0, 1], [0, 0]]),  # a shear
)


@claim(
    "su6.bch-order2",
    locus="General Exponential Solution, eq 3",
    statement=r"$e^{mB^\top} e^{nB} = \exp\bigl(mB^\top + nB + \tfrac12 mn\,[B^\top, B] + \dots\bigr)$, the rest of "
    r"total degree three or more in $m$ and $n$.",
    correction=r"As a series in $m$ and $n$. Where $|mB^\top| + |nB| < \ln 2$ it is known to converge; further out, "
    r"as at whole positions when $B$ is large, it need not.",
    witness=r"$B^\top = -B$: all commutators vanish and the exponent is $(n-m)B$.",
    holds=sp.Rational(1, 2),
    control=-sp.Rational(1, 2),  # the commutator the other way round
)
def second_order_of_the_series(coefficient):
    second = m * bch.X + n * bch.Y + m * n * coefficient * bch.commutator(bch.X, bch.Y)
    # The rest begins at order three: put the series back into the exponential, and compare with the product.
    s = sp.Symbol("s")
    scaled = second.subs({m: s * m, n: s * n}, simultaneous=True)
    product = sp.expand((1 + s * m * bch.X + (s * m * bch.X) ** 2 / 2) * (1 + s * n * bch.Y + (s * n * bch.Y) ** 2 / 2))
    gap = sp.expand(1 + scaled + scaled**2 / 2 - product)
    return bool(all(gap.coeff(s, k) == 0 for k in range(3)) and sp.expand(second - bch.series(2, m=m, n=n)) == 0)


@claim(
    "su6.bch-implies-skew",
    locus="General Exponential Solution, eq 4",
    statement=r"If $\mathcal R_n = e^{nB}$ satisfies $\mathcal R_m^\top \mathcal R_n = \mathcal R_{n-m}$, then "
    r"$B^\top = -B$.",
    verdict="conditional",
    differs="the source (a blog post) does not say whether positions are whole or real",
    mend=r"\begin{gathered} (e^{mB})^\top e^{nB} = e^{(n-m)B} \\ [+(\text{real positions})+] \;\Rightarrow\; "
    r"B^\top = -B \end{gathered}",
    correction=r"True if the positions are real numbers: differentiate $(e^{tB})^\top e^{tB} = I$ at $t = 0$. On whole "
    r"positions the law says only that $e^B$ is orthogonal; a skew matrix with the same $e^{nB}$ can replace $B$.",
    witness=r"$B = \begin{pmatrix} 0 & -4\pi \\ \pi & 0 \end{pmatrix}$ is not skew, and $e^{nB} = I$ at every whole "
    r"$n$. At $n = \tfrac14$ it is $\begin{pmatrix} [[0]] & [[-2]] \\ [[\tfrac12]] & [[0]] \end{pmatrix}$.",
    computed=lambda: tuple(generators.exponential([[0, -np.pi], [np.pi / 4, 0]]).ravel()),
    holds=lambda B, positions: B.T == -B if positions == "real" else _law(B, 1),
    printed=lambda B, positions: B.T == -B,  # noqa: ARG005 - whatever the positions are
    control=lambda B, positions: _law(B, 1),  # noqa: ARG005 - whole positions taken for all
    cases="a circle, three ellipses, a symmetric matrix and a shear; positions 1, 2, 3, 1/2, 1/4 and the root of 2",
)
def who_satisfies_the_law(condition):
    for B in GENERATORS:
        whole = all(_law(B, step) for step in (1, 2, 3))
        if whole:  # and some skew matrix makes the same step
            step = _power(B, 1)
            exact.tied(step, lambda at: generators.power(skew_logarithm(np.vectorize(at)(step)), 1))  # noqa: B023
        real = whole and all(_law(B, step) for step in (sp.Rational(1, 2), sp.Rational(1, 4), sp.sqrt(2)))
        if bool(condition(B, "whole")) != whole or bool(condition(B, "real")) != real:
            return False
    return True


@claim(
    "su6.exp-orth",
    locus="General Orthogonal Solution, first line",
    statement=r"If $B^\top = -B$, then $(e^B)^\top e^B = I$.",
    correction=r"And with it the relative law at all real $m$ and $n$: $(e^{mB})^\top e^{nB} = e^{(n-m)B}$.",
    witness=r"One plane: $R_\theta^\top R_\theta = I$.",
    tolerance=1e-12,
    holds=lambda A: (A - A.T) / 2,
    control=lambda A: (A + A.T) / 2,
)
def skew_makes_orthogonal(part, rng):
    worst = 0.0
    for d in (2, 3, 8):
        B, (here, there) = part(rng.normal(size=(d, d))), 2 * rng.normal(size=2)
        at_one, at_here, at_there, apart = (generators.exponential(x * B) for x in (1, here, there, there - here))
        gaps = at_one.T @ at_one - np.eye(d), at_here.T @ at_there - apart
        worst = max(worst, float(np.abs(gaps).max()))
    return worst


@claim(
    "su6.exp-power",
    locus="General Orthogonal Solution, first line",
    statement=r"$e^{nB} = (e^B)^n$.",
    tier="minor",
    correction=r"For whole $n$, and for any square $B$; at other $n$ the right side has no meaning of its own. "
    r"At all real $m$ and $n$, $e^{mB} e^{nB} = e^{(m+n)B}$.",
    witness=r"One plane: $R_{n\theta} = (R_\theta)^n$.",
    tolerance=1e-11,
    holds=generators.exponential,
    control=np.exp,  # entry by entry
)
def exponentials_of_multiples(exp, rng):
    worst = 0.0
    for d in (2, 3, 8):
        A = rng.normal(size=(d, d)) / np.sqrt(8 * d)
        for k in (-2, 0, 1, 5):
            gap = exp(k * A) - np.linalg.matrix_power(exp(A), k)
            sums = exp(k * A) @ exp(0.7 * A) - exp((k + 0.7) * A)  # the exponents add, whole or not
            worst = max(worst, float(np.abs(gap).max()), float(np.abs(sums).max()))
    return worst


def _solves(R: sp.Matrix, Lambda: sp.Matrix, time: sp.Symbol) -> bool:
    """R' = R Lambda and R = I at the start: only the exponential does that."""
    return symbolic.same(R.diff(time), R * Lambda) and R.subs(time, 0) == sp.eye(R.rows)


@claim(
    "su6.rtheta-exp",
    locus="Completeness Analysis, eq 7",
    statement=r"$R_\theta = e^{J_\theta}$ with $J_\theta = \begin{pmatrix} 0 & -\theta \\ \theta & 0 \end{pmatrix}$.",
    witness=r"$J_\theta^2 = -\theta^2 I$, so the even powers make the cosine and the odd ones the sine.",
    holds=lambda angle: sp.Matrix([[0, -angle], [angle, 0]]),
    control=lambda angle: sp.Matrix([[0, angle], [-angle, 0]]),  # clockwise
)
def one_plane_is_an_exponential(J):
    B = J(theta)
    solves = J(theta) ** 2 == -(theta**2) * sp.eye(2) and _solves(exact.rotation_2d(t * theta), B, t)
    return solves and exact.tied(B, lambda at: generators.generator_2d(at(theta))) == B


@claim(
    "su6.blockdiag-exp",
    locus="Completeness Analysis, eq 6",
    statement=r"The block form is an exponential: $\mathrm{diag}(R_{n\theta_i}) = \exp\bigl(n\,\mathrm{diag}"
    r"(J_{\theta_i})\bigr)$.",
    witness=r"Block-diagonal matrices are multiplied block by block, so each block has a series of its own.",
    holds=lambda freq: sp.diag(*(sp.Matrix([[0, -f], [f, 0]]) for f in freq)),
    control=lambda freq: sp.diag(*(sp.Matrix([[0, -f], [f, 0]]) for f in reversed(freq))),  # the slowest plane first
    cases="three planes, of any frequencies",
)
def blocks_are_an_exponential(Lambda):
    freq = sp.symbols("theta_0:3", real=True)
    B = Lambda(freq)
    solves = _solves(exact.rotation_matrix(t, theta=freq), B, t)
    return solves and exact.tied(B, lambda at: generators.generator_matrix([at(f) for f in freq])) == B
