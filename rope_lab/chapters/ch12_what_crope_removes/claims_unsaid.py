"""What CRoPE does not say: a wider embedding, values, multiplications, frequencies that coincide."""

from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from rope_lab.algebra import budget, complex_forms, dimension_counts, widely_linear
from rope_lab.claims.ledger import claim


@claim(
    "unsaid.crope-width",
    locus="beside crope",
    statement=r"RoPE on an embedding of width $D$ is CRoPE on an embedding of width $2D$, restricted to real inputs "
    r"$\tilde x = x + 0\mathrm i$, with as many parameters in $Q$, $K$ and $V$.",
    witness=r"One plane: $\tilde q = (w_1 + \mathrm i w_2)\, x = w_1 x + \mathrm i\, w_2 x$. Two rows of $W$ are one "
    r"complex row.",
    cases="random whole numbers for (d, D) = (2, 2) and (4, 6)",
    holds=complex_forms.widen,
    control=lambda W: complex_forms.widen(W * np.resize([1, -1], len(W))[:, None]),  # the conjugate row
)
def twice_the_width(widened):
    from rope_lab.nn.complex_linear import ComplexLinear

    rng = np.random.default_rng(0)
    for d, n in ((2, 2), (4, 6)):
        W, x = rng.integers(-9, 9, (d, n)), rng.integers(-9, 9, (5, n))
        wide = widened(W)
        same = (complex_forms.real_input(x) @ wide.T == x @ W.T).all()  # integers: no rounding
        built = sum(p.numel() for p in ComplexLinear(2 * n, d, layout="interleaved").parameters())
        if not same or widely_linear.split(wide)[1].any() or built != W.size:
            return False
    return True


@claim(
    "unsaid.crope-v",
    locus="beside crope",
    statement=r"Values are not rotated. With $W_o$ real and free, the products $W_o W_v$ of one head with $d \le D$ "
    r"have dimension $d(2D - d)$; with a complex-linear $W_v$ it is $dD + \tfrac12 d(D - d)$. That is not half, and "
    r"nothing is lost where $d = D$.",
    witness=r"$(d, D) = (4, 4)$: $[[16]]$ and $[[16]]$. $(2, 8)$: $[[28]]$ and $[[22]]$. $(4, 8)$: $[[48]]$ and "
    r"$[[40]]$.",
    computed=lambda: tuple(
        dimension_counts.value_dimension(head_dim=d, width=n, complex_linear=c)
        for d, n in ((4, 4), (2, 8), (4, 8))
        for c in (False, True)
    ),
    cases="(d, D) = (4, 4), (2, 8) and (4, 8)",
    holds=lambda d, n: (d * (2 * n - d), n * d + d * (n - d) // 2),
    control=lambda d, n: (d * (2 * n - d), d * (2 * n - d) // 2),  # half
)
def values_lose_less(formula):
    for d, n in ((4, 4), (2, 8), (4, 8)):
        shapes: list[dict[str, Any]] = [{"head_dim": d, "width": n, "complex_linear": c} for c in (False, True)]
        ranks = tuple(dimension_counts.value_rank(**shape) for shape in shapes)
        if not ranks == formula(d, n) == tuple(dimension_counts.value_dimension(**shape) for shape in shapes):
            return False
    return True


@claim(
    "unsaid.crope-flops",
    locus="beside crope",
    statement=r"Parameters halve, multiplications do not: a complex weight takes $4$ real products where a dense block "
    r"takes $4$, and $3$ by Gauss's rule. The cache stays as it is.",
    witness=r"$(a + \mathrm i b)(x + \mathrm i y)$ has the products $ax$, $by$, $ay$, $bx$. Gauss: $a(x + y)$, $(a + "
    r"b)y$, $(b - a)x$.",
    cases="one complex weight in symbols, and the counts of one model",
    holds=(Fraction(1, 2), Fraction(1), Fraction(3, 4), Fraction(1)),
    control=(Fraction(1, 2), Fraction(1, 2), Fraction(3, 8), Fraction(1, 2)),  # all of it halved with the parameters
)
def products_do_not_halve(ratios):
    a, b, x, y = sp.symbols("a b x y", real=True)
    p, q, r = a * (x + y), (a + b) * y, (b - a) * x
    if sp.expand((a + sp.I * b) * (x + sp.I * y) - ((p - q) + sp.I * (p + r))) != 0:
        return False
    shape = budget.ModelShape(width=64, heads=4, layers=2)
    dense, small = (budget.parameters(shape, which)["q"] for which in ("dense", "qkv"))
    one, four = (budget.multiplications(shape, which, context=9)["q"] for which in ("dense", "qkv"))
    three = budget.multiplications(shape, "qkv", context=9, gauss=True)["q"]
    kept = [budget.cache(shape, which) for which in ("dense", "qkv")]
    return (Fraction(small, dense), Fraction(four, one), Fraction(three, one), Fraction(kept[1], kept[0])) == ratios


TURN, OTHER, BACK = *dimension_counts.TURNS[:2], (Fraction(3, 5), Fraction(-4, 5))
CASES: dict[str, Any] = {
    "distinct": (TURN, OTHER),
    "equal": (TURN, TURN),
    "opposite": (TURN, BACK),
    "one at 0": (TURN, (1, 0)),
    "one at pi": (TURN, (-1, 0)),
}


def _by_formula(turns):
    theta = [float(sp.atan2(*map(sp.Rational, (sin, cos)))) for cos, sin in turns]
    shapes: list[dict[str, Any]] = [{"head_dim": 4, "width": 6, "complex_linear": c} for c in (False, True)]
    return tuple(dimension_counts.family_dimension(**shape, theta=theta) for shape in shapes)


@claim(
    "unsaid.crope-degenerate",
    locus="beside crope and su6",
    statement=r"Where frequencies coincide modulo $2\pi$, the family over all offsets has fewer dimensions. For RoPE "
    r"also where $\theta$ meets $-\theta$, and at $0$ and $\pi$. For CRoPE nowhere else.",
    witness=r"$d = 4$, $D = 6$, RoPE and CRoPE: distinct $[[44]]$ and $[[20]]$, equal $[[40]]$ and $[[16]]$, opposite "
    r"$[[40]]$ and $[[20]]$, one at $0$ or at $\pi$ $[[42]]$ and $[[20]]$.",
    computed=lambda: tuple(dimension for case in list(CASES.values())[:4] for dimension in _by_formula(case)),
    cases="(d, D) = (4, 6) and five pairs of frequencies; (6, 8) and three equal ones",
    holds=((44, 20), (40, 16), (40, 20), (42, 20), (42, 20)),
    control=((44, 20), (40, 16), (40, 16), (42, 18), (42, 18)),  # as if the last three cost CRoPE something too
)
def frequencies_that_meet(formula):
    for turns, dimensions in zip(CASES.values(), formula, strict=True):
        shapes: list[dict[str, Any]] = [{"head_dim": 4, "width": 6, "complex_linear": c} for c in (False, True)]
        ranks = tuple(dimension_counts.jacobian_rank(**shape, offsets=range(5), turns=turns) for shape in shapes)
        if not ranks == dimensions == _by_formula(turns):
            return False
    if [dimension_counts.family_dimension(**shape, theta=[1, 1 + 2 * np.pi]) for shape in shapes] != [40, 16]:
        return False  # a whole turn more is the same frequency
    wide: list[dict[str, Any]] = [{"head_dim": 6, "width": 8, "complex_linear": c} for c in (False, True)]
    three = [dimension_counts.jacobian_rank(**shape, offsets=range(3), turns=3 * [TURN]) for shape in wide]
    return three == [2 * 3 * (2 * 8 - 3), 2 * 3 * (8 - 3)]
