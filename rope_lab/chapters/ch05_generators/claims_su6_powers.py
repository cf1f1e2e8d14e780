"""What part 6 says of orthogonal matrices and their powers, and of history."""

import numpy as np
import sympy as sp
from scipy.linalg import block_diag, expm

from rope_lab.algebra import generators, orthogonal_powers, rotation, symbolic
from rope_lab.claims import exact
from rope_lab.claims.entry import Erratum
from rope_lab.claims.ledger import claim

HERE = "General Orthogonal Solution, paragraph after the box"
BELOW = "General Orthogonal Solution, paragraph on determinant -1"
FLIP = sp.diag(1, -1)
QUARTER = exact.rotation_2d(sp.pi / 2)
SWAP = QUARTER * FLIP  # exchanges two coordinates
_RATIONAL = sp.Matrix([[1, 2, 2], [2, 1, -2], [2, -2, 1]]) / 3  # orthogonal, with determinant -1


def _is_no_square(O: sp.Matrix) -> bool:  # noqa: E741
    """Whether the determinant forbids it: every S S has a square for its determinant, and so has every exponential."""
    S = sp.Matrix(2, 2, sp.symbols("a b c d", real=True))
    return sp.expand((S * S).det() - S.det() ** 2) == 0 and bool(O.det() < 0)


def _has_logarithm(O: sp.Matrix) -> bool:  # noqa: E741 - the book's letter
    """Whether `skew_logarithm` finds one, or refuses because of the determinant."""
    try:
        exact.tied(O, lambda at: expm(orthogonal_powers.skew_logarithm(np.vectorize(at)(O))))
    except ValueError as error:
        if "determinant -1" not in str(error):
            raise
        return False
    return True


@claim(
    "su6.not-all-exp",
    locus=HERE,
    statement=r"Not every real orthogonal matrix is $e^B$ with a real $B$.",
    witness=r"$\mathrm{diag}(1, -1)$. An exponential is a square, $e^B = (e^{B/2})^2$, and "
    r"$\det S^2 = (\det S)^2 \ge 0$.",
    holds=FLIP,
    control=-sp.eye(2),  # two mirrors: this one is an exponential
)
def no_real_matrix_done_twice(O):  # noqa: E741
    return bool(sp.eye(2) == O.T * O and _is_no_square(O) and not _has_logarithm(O))


@claim(
    "su6.det-exp",
    locus=HERE,
    statement=r"$\det e^A = e^{\operatorname{tr} A} > 0$; so an orthogonal matrix that is an exponential has "
    r"determinant $1$.",
    witness=r"$A = \theta J$: the trace is $0$, and $\det R_\theta = 1$.",
    holds=lambda A: A.trace(),
    control=sum,  # all entries in the place of the diagonal ones
    cases="matrices of size 1, 2 and 3, of any entries",
)
def the_determinant_grows_like_the_trace(rate):
    # Where M' = A M, the derivative of det M is tr(adj(M) M'), by Jacobi. It is rate(A) det M: with M(0) = I, done.
    for size in (1, 2, 3):
        A, M = (sp.Matrix(size, size, sp.symbols(f"{x}_1:{size**2 + 1}")) for x in "am")
        if sp.expand((M.adjugate() * A * M).trace() - rate(A) * M.det()) != 0:
            return False
    t = sp.Symbol("t", real=True)
    R = exact.rotation_2d(t)
    return bool(R.diff(t) == QUARTER * R and sp.simplify(R.det()) == 1)


@claim(
    "su6.broader",
    locus=HERE,
    statement=r"The families $O^n$ are strictly more than the families $e^{nB}$.",
    correction=r"On whole positions. For real ones the powers of a matrix with determinant $-1$ do not exist.",
    witness=r"$\mathrm{diag}(1, -1)^n$ satisfies the law, and is no exponential at $n = 1$.",
    holds=FLIP,
    control=QUARTER,  # its powers are e^{nB}: nothing new
)
def a_family_that_is_no_exponential(O):  # noqa: E741
    theta, x, k = sp.Symbol("theta", real=True), sp.Symbol("x"), sp.Symbol("k", integer=True)
    span = range(-2, 3)  # O has the period 2: these stand for all whole positions
    obeys = all((O**m).T * O**n == O ** (n - m) for m in span for n in span)
    # And e^{kB} is the k-th power of e^B: series in one letter, and B may stand for it. Our turns do so too.
    turn = exact.rotation_2d(theta)
    contained = all(symbolic.same(exact.rotation_2d(n * theta), turn**n) for n in range(4))
    contained = contained and sp.exp(x) ** k == sp.exp(k * x)
    return bool(contained and obeys and _is_no_square(O) and not _has_logarithm(O))


@claim(
    "su6.det1-converse",
    locus=HERE,
    statement=r"Every orthogonal matrix with determinant $1$ is $e^B$ with a skew $B$.",
    correction=r"$B$ is not unique: each angle counts up to $2\pi$, and a pair of $-1$ may turn either way.",
    witness=r"$-I$ in the plane is the half turn, $B = \pi J$ or $B = -\pi J$.",
    tolerance=1e-10,
    holds=lambda B: B,
    control=lambda B: B.T,  # the turn the other way round
)
def an_exponential_for_each(generator, rng):
    worst = 0.0
    for angles, rest in (
        ((0.7,), ()),
        ((0.7, -2.1), (1,)),
        ((), (-1, -1)),
        ((0.4,), (-1, -1, -1, -1)),
        ((1.0, 1.0), (1, -1, -1)),
    ):
        core = block_diag(*(rotation.rotation_2d(a) for a in angles), *([[s]] for s in rest))
        P = np.linalg.qr(rng.normal(size=core.shape))[0]
        O = P @ core @ P.T  # noqa: E741
        B = generator(orthogonal_powers.skew_logarithm(O))
        lap = P[:, :2] @ generators.generator_2d(2 * np.pi) @ P[:, :2].T  # one whole turn more in the first plane
        worst = max(worst, np.abs(expm(B) - O).max(), np.abs(expm(B + lap) - O).max(), np.abs(B + B.T).max())
    return worst


@claim(
    "su6.det-minus-factor",
    locus=BELOW,
    statement=r"An orthogonal $O$ with determinant $-1$ is $O_+ I_-$, where $I_-$ is diagonal with one $-1$ and "
    r"$\det O_+ = 1$.",
    tier="minor",
    witness=r"$O_+ = O I_-$, with the $-1$ in any place.",
    holds=lambda matrix, I_minus: matrix * I_minus,
    control=lambda matrix, I_minus: I_minus * matrix,  # the mirror on the other side
    cases="matrices of size 3, with the -1 in each place",
)
def a_mirror_split_off(rest):
    M = sp.Matrix(3, 3, sp.symbols("o_1:10"))  # no entry has a value: what is shown holds for every O
    floats = np.array(_RATIONAL, dtype=float)
    for place in range(3):
        I_minus = sp.diag(*((-1) ** (i == place) for i in range(3)))
        O_plus = rest(M, I_minus)
        if sp.expand(O_plus * I_minus - M) != sp.zeros(3) or sp.expand(O_plus.det() + M.det()) != 0:
            return False
        if I_minus.T * I_minus != sp.eye(3):  # so O_+ is orthogonal where O is
            return False
        here = orthogonal_powers.split_off(floats, axis=np.eye(3)[place])
        exactly = rest(_RATIONAL, I_minus), I_minus
        if not all(np.allclose(np.array(x, dtype=float), y) for x, y in zip(exactly, here, strict=True)):
            return False
    return True


def _coordinate(O: sp.Matrix) -> sp.Matrix:  # noqa: E741
    return sp.eye(len(O.col(0)))[:, -1]


def _adapted(O: sp.Matrix) -> sp.Matrix:  # noqa: E741
    return (O + sp.eye(O.rows)).nullspace()[0]


def _parts(O: sp.Matrix, axis: sp.Matrix) -> tuple[sp.Matrix, sp.Matrix]:  # noqa: E741
    """The exact O_+ and M, after a look at the algebra's."""
    M = sp.eye(O.rows) - 2 * axis * axis.T / (axis.T * axis)[0]
    there = orthogonal_powers.split_off(np.array(O, dtype=float), axis=np.array(axis, dtype=float).ravel())
    if not all(np.allclose(np.array(x, dtype=float), y) for x, y in zip((O * M, M), there, strict=True)):
        raise ArithmeticError("the exact factors differ from those of algebra.orthogonal_powers")
    return O * M, M


def _mirror_first(O, n, axis):  # noqa: E741
    O_plus, M = _parts(O, axis(O))
    return M**n * O_plus**n


def _mirror_last(O, n, axis):  # noqa: E741
    O_plus, M = _parts(O, axis(O))
    return O_plus**n * M**n


def _named_powers():
    """The powers 1 and 2 of the witness, as printed and in truth, each by its name."""
    names = {"O": SWAP, "-O": -SWAP, "I": sp.eye(2), "-I": -sp.eye(2)}
    powers = [*(_mirror_first(SWAP, n, _coordinate) for n in (1, 2)), SWAP, SWAP**2]
    return tuple(next(name for name, matrix in names.items() if matrix == power) for power in powers)


@claim(
    "su6.det-minus-power",
    locus=BELOW,
    statement=r"With $O = O_+ I_-$ and $O_+ = e^B$: $O^n = (O_+ I_-)^n = I_-^n\, e^{nB}$.",
    verdict="false",
    differs="printed with the mirror of a coordinate axis",
    mend=r"O^n = [-I_-^n-][+M_v^n+]\, e^{nB}",
    gives=(0, 2),
    correction=r"The step needs $O_+ I_- = I_- O_+$; at $n = 1$ it says just that. It can always be arranged: take for "
    r"$I_-$ the mirror $M_v$ along an eigenvector of $O$ for the eigenvalue $-1$. Then $O^n = M_v^n\, e^{nB}$.",
    witness=r"$O = \begin{pmatrix} 0 & 1\\ 1 & 0 \end{pmatrix} = R_{\pi/2}\,\mathrm{diag}(1, -1)$. Printed: $[[-O]]$ "
    r"at $n = 1$ and $[[-I]]$ at $n = 2$. True: $[[O]]$ and $[[I]]$.",
    computed=_named_powers,
    erratum=Erratum(
        2,
        "su6-det",
        "A determinant of −1",
        "Whoever wants a reflection inside a position code. A rotation has determinant 1, so the RoPE of every "
        "model is untouched.",
        matters="proofs",
        picture="picture-three-powers",
        also=("su6.det-minus-conclusion", "su19.iso-rotation"),
    ),
    holds=lambda matrix, n: _mirror_first(matrix, n, _adapted),
    printed=lambda matrix, n: _mirror_first(matrix, n, _coordinate),
    control=lambda matrix, n: _mirror_last(matrix, n, _coordinate),  # in their own order, and still not the power
    cases="two coordinates exchanged, a mirror of size 3, a turn by 60 degrees beside a mirror; n = -1, 1, 2 and 3",
)
def the_power_of_a_product(formula):
    turned = sp.diag(exact.rotation_2d(sp.pi / 3), -1)  # a plane beside a mirror, in a slanted rational basis
    P = sp.Matrix([[2, -2, 1], [1, 2, 2], [2, 1, -2]]) / 3
    for O in (SWAP, _RATIONAL, P * turned * P.T):  # noqa: E741
        if any(sp.simplify(formula(O, n) - O**n) != sp.zeros(O.rows) for n in (1, 2, 3, -1)):
            return False
    return True


@claim(
    "su6.det-minus-conclusion",
    locus=BELOW + ", its end",
    statement=r"Solutions $O^n$ with determinant $-1$ are a simple transform of $e^{nB}$, so it is enough to study "
    r"$e^{nB}$.",
    verdict="conditional",
    correction=r"$O^n = P\,\mathrm{diag}(R_{n\theta_0}, \ldots, 1, (-1)^n)\,P^\top$: an exponential and one parity "
    r"channel $(-1)^n$. For even $d$ no rotation of the same $d$ has this channel; one of $d + 2$ has.",
    witness=r"$d = 2$: $\mathrm{diag}(1, -1)^n$ has the eigenvalues $1$ and $(-1)^n$.",
    tolerance=1e-9,
    holds=lambda n: -1.0 if n % 2 else 1.0,
    control=lambda n: 1.0,  # noqa: ARG005 - the exponential alone
)
def an_exponential_and_one_sign(parity, rng):
    worst = 0.0
    for d in range(2, 9):
        O = np.linalg.qr(rng.normal(size=(d, d)))[0]  # noqa: E741
        if np.linalg.det(O) > 0:
            O = O @ orthogonal_powers.mirror(rng.normal(size=d))  # noqa: E741
        v = orthogonal_powers.adapted_axis(O)
        O_plus, _ = orthogonal_powers.split_off(O, axis=v)
        B = orthogonal_powers.skew_logarithm(O_plus)
        eigenvalues = np.linalg.eigvals(O)
        flipped, kept = (int(np.sum(np.abs(eigenvalues - s) < 1e-9)) for s in (-1, 1))
        if flipped % 2 != 1 or kept % 2 != (d + 1) % 2:
            return np.inf
        for n in (-3, 1, 2, 7):
            power = np.linalg.matrix_power(O if n > 0 else O.T, abs(n))
            # On the axis stands the sign; the exponential does the rest and leaves the axis where it is.
            claimed = expm(n * B) + (parity(n) - 1) * np.outer(v, v)
            found = orthogonal_powers.orthogonal_power(O, n)
            worst = max(worst, np.abs(claimed - power).max(), np.abs(found - power).max())
    return worst


@claim(
    "su6.history-4",
    locus="the introductions of parts 6 and 19",
    statement=r"Part 4 of the series studied the solutions $e^{nB}$, and the general $O^n$ is new in part 6. Part 19 "
    r"says that part 4 proved the general solution $O^n$.",
    verdict="ambiguous",
    tier="minor",
    correction=r"The two articles attribute the result differently, in the versions we read. The mathematics is "
    r"su19.general-solution.",
    date="2026-11-21",
)
def who_proved_what():
    """Read: the first paragraphs of both articles."""
