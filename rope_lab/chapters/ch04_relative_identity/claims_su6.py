"""What part 6 takes as the definition of RoPE, and which matrices satisfy it."""

from functools import partial

import numpy as np
import sympy as sp

from rope_lab.algebra import solutions
from rope_lab.claims import exact
from rope_lab.claims.entry import Erratum
from rope_lab.claims.ledger import claim

_FLIP = sp.diag(1, -1)
FAMILIES = {  # name: (matrix at position n, is it O^n?)
    "nothing": (lambda _: sp.zeros(2, 2), False),
    "one coordinate": (lambda _: sp.diag(1, 0), False),
    "one coordinate, alternating": (lambda n: sp.diag((-1) ** n, 0), False),
    "standing still": (lambda _: sp.eye(2), True),
    "quarter turns": (lambda n: exact.rotation_2d(n * sp.pi / 2), True),
    "a reflection": (lambda n: _FLIP**n, True),
    "a turn in front": (lambda n: exact.rotation_2d(sp.pi / 2) * _FLIP**n, False),
    "growing": (lambda n: 2**n * sp.eye(2), False),
}


def _law(R) -> bool:
    return solutions.law_residual(R, positions=range(-2, 3)) == 0


@claim(
    "su6.def",
    locus="General Exponential Solution, eq 1",
    statement=r"RoPE is defined as any family of square matrices with $\mathcal R_m^\top \mathcal R_n = \mathcal "
    r"R_{n-m}$.",
    verdict="conditional",
    differs="the source (a blog post) leaves out one condition, R_0 = I",
    mend=r"\mathcal R_m^\top \mathcal R_n = \mathcal R_{n-m} \quad [+\mathcal R_0 = I+]",
    correction=r"Add $\mathcal R_0 = I$, which the article takes for granted. Then the solutions on the integers "
    r"are exactly the powers $O^n$ of an orthogonal matrix.",
    witness=r"$\mathcal R_n = 0$ and $\mathcal R_n = \mathrm{diag}(1, 0)$ satisfy the equation, and are no rotations.",
    erratum=Erratum(
        3,
        "su6-tacit",
        "What the definition takes for granted",
        "Whoever takes the definition as the whole truth, or knows positions as whole numbers only. Every RoPE in "
        "use satisfies what is left unsaid.",
        matters="proofs",
        picture="picture-every-solution",
        also=("su6.bch-implies-skew", "su19.general-solution"),
    ),
    cases="zero, one coordinate (two ways), the identity, quarter turns, a mirror (two ways), growth; n = -2 to 2",
    holds=lambda R: _law(R) and R(0) == sp.eye(2),
    printed=_law,
    control=lambda R: R(0) == sp.eye(2),  # the condition without the law
)
def the_definition_admits_exactly_the_powers(definition):
    return all(bool(definition(R)) == power for R, power in FAMILIES.values())


@claim(
    "su6.orthogonal-power",
    locus="General Orthogonal Solution, the boxed conclusion",
    statement=r"For every orthogonal $O$, also a reflection, $\mathcal R_n = O^n$ satisfies "
    r"$\mathcal R_m^\top \mathcal R_n = \mathcal R_{n-m}$.",
    correction=r"Positions are integers here, negative ones included.",
    witness=r"$O = \mathrm{diag}(1, -1)$: $O^m O^n$ flips the second coordinate if and only if $n - m$ is odd.",
    tolerance=1e-12,
    holds=lambda Q: Q,
    control=lambda Q: Q @ (np.eye(len(Q)) + np.diag(np.full(len(Q), 0.1))),  # each step stretches by a tenth
)
def powers_satisfy_the_law(matrix, rng):
    worst = 0.0
    for d in (1, 2, 3, 6):
        Q = np.linalg.qr(rng.normal(size=(d, d)))[0]
        flip = np.diag([-1.0] + [1.0] * (d - 1))
        for O in (matrix(Q), matrix(Q @ flip)):  # noqa: E741 - one of each determinant
            worst = max(worst, solutions.law_residual(partial(np.linalg.matrix_power, O)))
    return worst
