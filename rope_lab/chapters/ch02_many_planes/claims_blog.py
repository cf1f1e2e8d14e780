"""What the article on RoPE's two layouts says about many planes."""

import numpy as np
import sympy as sp

from rope_lab.algebra import rotation, symbolic
from rope_lab.claims import exact
from rope_lab.claims.ledger import claim

m = sp.Symbol("m", real=True)
theta = sp.symbols("theta_1:4", real=True)


@claim(
    "blog.block-R",
    locus="matrix for d dimensions, the box “Tip”",
    statement=r"The matrix with one plane's rotation after another along its diagonal is a rotation itself: "
    r"$\mathcal R \mathcal R^\top = I$ and $\det \mathcal R = 1$.",
    witness=r"Mirror one of the planes instead: $M M^\top = I$ still, but $\det M = -1$.",
    cases="three planes",
    holds=lambda R: R,
    control=lambda R: R * sp.diag(1, 1, 1, -1, 1, 1),  # the second plane mirrored
)
def orthogonal_with_determinant_one(matrix):
    R = matrix(exact.rotation_matrix(m, theta=theta))
    return symbolic.same(R * R.T, sp.eye(6)) and symbolic.same(R.det(method="berkowitz"), sp.Integer(1))


@claim(
    "blog.theta",
    locus="theta formula",
    statement=r"The frequencies are $\theta_i = 10000^{-2(i-1)/d}$, $i = 1, \dots, d/2$.",
    correction=r"They run from $1$ down to $10^{-4(1 - 2/d)}$. The value $10^{-4}$ itself never occurs.",
    witness=r"$d = 128$: the slowest plane has $[[1.1548 \cdot 10^{-4}]]$.",
    computed=lambda: float(rotation.frequencies(128)[-1]),
    tolerance=1e-12,
    holds=lambda i, d: 10000.0 ** (-2 * (i - 1) / d),
    control=lambda i, d: 10000.0 ** (-2 * i / d),  # counted from one, written as if from zero: ends at 10^-4
)
def frequencies_counted_from_one(theta_of, rng):
    worst = 0.0
    for d in (2, 128, *(2 * rng.integers(1, 200, size=5))):
        printed = theta_of(np.arange(1, d // 2 + 1), d)
        ours = rotation.frequencies(int(d))
        worst = max(worst, np.abs(printed / ours - 1).max(), abs(ours[-1] / 10 ** (-4 * (1 - 2 / d)) - 1))
    return worst
