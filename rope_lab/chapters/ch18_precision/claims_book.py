"""What chapter 18 says on its own account: which integers a format has, and what each rounding costs a rotation."""

from fractions import Fraction

import mpmath
import numpy as np
import sympy as sp
import torch

from rope_lab.algebra import half_precision, rotation, symbolic
from rope_lab.algebra.half_precision import FORMATS, Rounding
from rope_lab.claims import exact
from rope_lab.claims.ledger import claim
from rope_lab.nn import rotary

REACH: dict[half_precision.DType, int] = {
    "bfloat16": 17,
    "float16": 15,
}  # powers of two below which the format has no infinity
FAR = np.array([255, 256, 2047, 4095, 10_007, 65_519, 99_991, 131_071])
THETA = rotation.frequencies(128)
m, n, theta, phi = sp.symbols("m n theta varphi", real=True)


@claim(
    "book.half-integers",
    statement=r"A format with $p$ significant bits has the integer $n$, within its range, if and only if $n = 2^k j$ "
    r"with $j < 2^p$.",
    witness=r"$p = 8$: $256 = 2^8 \cdot 1$ and $258 = 2 \cdot 129$ are there, $257$ is not.",
    cases="bfloat16 up to 131,072 and float16 up to 32,768",
    holds=lambda j, p: j < 2**p,
    control=lambda j, p: j < 2 ** (p - 1),  # the leading 1, which is not stored, not counted
)
def integers_that_a_format_has(short_enough):
    for dtype, reach in REACH.items():
        numbers = np.arange(1, 2**reach + 1)
        odd = numbers // (numbers & -numbers)  # n without its factors of two
        kept = half_precision.round_to(numbers, dtype=dtype) == numbers
        if not np.array_equal(kept, short_enough(odd, FORMATS[dtype].bits)):
            return False
    return True


@claim(
    "book.spacing",
    statement=r"Between $2^e$ and $2^{e+1}$ the numbers of a format with $p \le e$ significant bits lie $2^{e-p+1}$ "
    r"apart, and rounding moves a position by at most half of that. Some position in there moves by exactly half.",
    witness=r"bfloat16 between $65{,}536$ and $131{,}072$: steps of $[[512]]$, and a position moves by up to "
    r"$[[256]]$.",
    computed=lambda: (
        half_precision.spacing(100_000, dtype="bfloat16").item(),
        np.abs(half_precision.round_to(np.arange(2**16, 2**17), dtype="bfloat16") - np.arange(2**16, 2**17)).max(),
    ),
    cases="bfloat16 up to 131,072 and float16 up to 32,768",
    holds=lambda e, p: 2 ** (e - p + 1),
    control=lambda e, p: 2 ** (e - p),
)
def steps_between_powers_of_two(step):
    for dtype, reach in REACH.items():
        p = FORMATS[dtype].bits
        for e in range(p, reach):
            numbers = np.arange(2**e, 2 ** (e + 1))
            there = half_precision.round_to(numbers, dtype=dtype)
            moved = np.abs(there - numbers).max()
            steps = np.diff(np.unique(there))
            around = half_precision.spacing(numbers, dtype=dtype)
            if not ((steps == step(e, p)).all() and (around == step(e, p)).all() and 2 * moved == step(e, p)):
                return False
    return True


@claim(
    "book.half-count",
    statement=r"Of the $2^k$ positions $0, \dots, 2^k - 1$ a cast to $p < k$ significant bits leaves "
    r"$2^p + (k - p)\,2^{p-1} + 1$, if the format reaches $2^k$.",
    witness=r"bfloat16 and $2^{17} = 131{,}072$ positions: $256 + 9 \cdot 128 + 1 = [[1409]]$.",
    computed=lambda: len(np.unique(half_precision.round_to(np.arange(2**17), dtype="bfloat16"))),
    cases="bfloat16 up to 131,072 and float16 up to 32,768",
    holds=lambda k, p: 2**p + (k - p) * 2 ** (p - 1) + 1,
    control=lambda k, p: 2**p + (k - p) * 2**p + 1,  # as if each doubling brought as many as there were
)
def positions_that_are_left(count):
    for dtype, reach in REACH.items():
        p = FORMATS[dtype].bits
        for k in range(p + 1, reach + 1):
            if len(np.unique(half_precision.round_to(np.arange(2**k), dtype=dtype))) != count(k, p):
                return False
    return True


@claim(
    "book.angle-error",
    statement=r"Let the format have the position $n$ exactly. If frequency and product are each rounded to $p$ bits, "
    r"both in the format's normal range, the angle errs by at most $n\,\theta\,(2u + u^2)$ with $u = 2^{-p}$.",
    witness=r"float32, $u = 2^{-24}$, has every integer up to $2^{24}$. The first plane, $\theta = 1$, does not err.",
    cases="float32, 8 positions and 64 frequencies",
    holds=lambda: Rounding(position="float32", theta="float32", angle="float32"),
    control=lambda: Rounding(position="bfloat16", theta="float32", angle="float32"),  # the position cast on the way
)
def angles_within_two_roundings(rounding):
    angles = half_precision.rounded_angles(FAR, theta=THETA, rounding=rounding())
    u, worst = Fraction(1, 2**24), Fraction(0)
    for i, position in enumerate(FAR.tolist()):
        for j, frequency in enumerate(THETA.tolist()):
            right = position * Fraction(frequency)
            worst = max(worst, abs(Fraction(float(angles[i, j])) - right) / right)
    return u < worst <= 2 * u + u**2  # the bound holds, and one rounding alone would not explain what is seen


@claim(
    "book.rounded-frequency",
    statement=r"A rounded frequency $\hat\theta$ is a frequency: $\hat R_n = R_{n\hat\theta}$ obeys "
    r"$\hat R_m^\top \hat R_n = \hat R_{n-m}$ without error. The logit still sees the offset alone, and its angle is "
    r"off by $(n-m)(\hat\theta - \theta)$.",
    witness=r"bfloat16 takes $0.3$ to $[[0.30078125]]$; at offset $1000$ that is $[[0.78]]$ radians, at every $m$.",
    computed=lambda: (
        half_precision.round_to(0.3, dtype="bfloat16").item(),
        1000 * (half_precision.round_to(0.3, dtype="bfloat16").item() - 0.3),
    ),
    holds=lambda position, error: position * (theta + error(1)),
    control=lambda position, error: position * theta + error(position),  # the product is rounded, not the factor
)
def another_frequency_is_another_rope(angle):
    error = sp.Function("epsilon", real=True)
    left = exact_turn(angle(m, error)).T * exact_turn(angle(n, error))
    return symbolic.same(left, exact_turn(angle(n - m, error)))


def exact_turn(angle):
    """The rotation by an angle that may hold an unknown function; that one is tied to the code as a symbol."""
    unknown = sorted(angle.atoms(sp.core.function.AppliedUndef), key=str)
    names = {call: sp.Symbol(f"epsilon_{i}", real=True) for i, call in enumerate(unknown)}
    return exact.rotation_2d(angle.subs(names)).subs({name: call for call, name in names.items()})


@claim(
    "book.relativity-gap",
    statement=r"Let the angle at position $n$ err by $\varepsilon_n$ in a plane. The plane then adds "
    r"$|q|\,|k|\cos\bigl(\varphi + (n-m)\theta + \varepsilon_n - \varepsilon_m\bigr)$ to the logit: only the "
    r"difference of the two errors counts.",
    witness=r"An error that all positions share cancels. One that grows with the position does not.",
    holds=lambda e_m, e_n: e_n - e_m,
    control=lambda e_m, e_n: e_n + e_m,
)
def the_difference_of_the_errors(gap):
    e_m, e_n, at, q_length, k_length = sp.symbols("epsilon_m epsilon_n alpha q k", real=True)
    q = q_length * sp.Matrix([sp.cos(at), sp.sin(at)])
    k = k_length * sp.Matrix([sp.cos(at + phi), sp.sin(at + phi)])
    turned_q, turned_k = exact.rotation_2d(m * theta + e_m) * q, exact.rotation_2d(n * theta + e_n) * k
    added = q_length * k_length * sp.cos(phi + (n - m) * theta + gap(e_m, e_n))
    return symbolic.same((turned_q.T * turned_k)[0], added)


@claim(
    "book.relativity-bound",
    statement=r"So the logit errs by at most $\sum_i |q_i|\,|k_i|\,|\varepsilon_{n,i} - \varepsilon_{m,i}|$.",
    tolerance=1e-9,
    witness=r"A cosine moves by no more than its angle.",
    holds=lambda e_m, e_n: np.abs(e_n - e_m),
    control=lambda e_m, e_n: np.abs(np.abs(e_n) - np.abs(e_m)),  # the sizes alone: one angle too far, one too short
)
def a_bound_on_the_logit(gap, rng):
    q, k = rng.normal(size=(2, 128))
    worst, far = 0.0, np.append(FAR, rng.integers(0, 2**17, size=400))
    for rounding in (Rounding(angle="float32"), Rounding(theta="bfloat16"), Rounding(position="bfloat16")):
        at = {"q_positions": far, "k_positions": far - 3, "theta": THETA}
        e_m, e_n = (
            half_precision.rounded_angles(x, theta=THETA, rounding=rounding) - np.multiply.outer(x, THETA)
            for x in (far, far - 3)
        )
        for one in (k, np.where(np.arange(128) < 2, k, 0)):  # a key of all planes, and one of the first plane alone
            exact, cast = (half_precision.rounded_logits(q, one, rounding=how, **at) for how in (Rounding(), rounding))
            lengths = np.hypot(q[::2], q[1::2]) * np.hypot(one[::2], one[1::2])
            worst = max(worst, float((np.abs(cast - exact) - gap(e_m, e_n) @ lengths).max()))
    return worst


@claim(
    "book.table-error",
    statement=r"Let the angles be right, and cosine and sine be rounded to $p$ bits. Then every rotated vector errs "
    r"by at most $\sqrt2 \cdot 2^{-p-1}$ of its length, at every position.",
    tolerance=1e-6,
    witness=r"bfloat16: $2^{-8.5} < [[0.28]]\,\%$. Near $45^\circ$, where both entries lie between $\tfrac12$ and "
    r"$1$, it comes close to that.",
    computed=lambda: 100 * 2**-8.5,
    holds=lambda dtype: Rounding(table=dtype),
    control=lambda dtype: Rounding(position=dtype),
)
def the_same_at_every_position(where, rng):
    worst = 0.0
    for dtype, farthest in (("bfloat16", 10**6), ("float16", 65_000)):
        positions = rng.integers(0, farthest, size=400)
        errors = half_precision.turn_errors(positions, theta=THETA, rounding=where(dtype))
        share = errors.max() / (np.sqrt(2) * 2.0 ** (-FORMATS[dtype].bits - 1))
        if share < 0.9:  # a bound that nothing comes near would say nothing
            return np.inf
        worst = max(worst, share - 1)
    return worst


def _float32_angles(positions):
    angles = torch.from_numpy(positions).float()[:, None] * torch.from_numpy(THETA).float()
    return angles.cos().numpy(), angles.sin().numpy()


def _our_table(positions):
    cos, sin, _ = rotary.rotary_table(torch.from_numpy(positions), rotary.RotaryConfig(head_dim=128))
    return cos.numpy(), sin.numpy()


@claim(
    "book.float64-table",
    statement=r"A float32 table from float64 angles errs by at most $\sqrt2 \cdot 2^{-25}$ in each plane, up to rare "
    r"near-ties, at positions up to $10^6$. A table from float32 angles does not keep to that.",
    tolerance=1e-9,
    witness=r"`rope_lab.nn.rotary` against mpmath with 40 digits.",
    holds=_our_table,
    control=_float32_angles,
)
def the_table_of_our_layers(table, rng):
    positions = np.append(rng.integers(0, 10**6, size=5), 10**6 - 1)
    cos, sin = (half.astype(np.float64) for half in table(positions))
    worst = 0.0
    with mpmath.workdps(40):
        for row, position in enumerate(positions.tolist()):
            for i in range(0, 64, 3):
                angle = position * mpmath.mpf(10000) ** (-mpmath.mpf(i) / 64)
                miss = abs(mpmath.mpc(cos[row, i], sin[row, i]) - mpmath.expj(angle))
                worst = max(worst, float(miss))
    return max(0.0, worst - np.sqrt(2) * 2.0**-25)
