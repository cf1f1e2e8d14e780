"""Beside part 6: what a rotation does to the normaliser of linear attention."""

import sympy as sp

from rope_lab.algebra import linear_attention
from rope_lab.claims import exact
from rope_lab.claims.ledger import claim


@claim(
    "unsaid.linattn-normaliser",
    locus="extends part 6",
    statement=r"A rotated kernel $\phi(q)^\top R_{n-m}\, \phi(k)$ of non-negative features takes negative values, and "
    r"their sum may be $0$. So it cannot be the normaliser of linear attention.",
    witness=r"$\phi(q) = \phi(k) = (1, 0)$, $\theta = \pi$: the kernel is $[[1, -1, 1, -1]], \ldots$, and over two "
    r"keys the sum is $[[0]]$.",
    computed=lambda: (
        [exact.rotation_2d(n * sp.pi)[0, 0] for n in range(4)],
        sum(exact.rotation_2d(n * sp.pi)[0, 0] for n in range(2)),
    ),
    holds=1,
    control=0,  # the normaliser left without rotation
)
def a_sum_of_weights_that_vanishes(turns):
    feature = sp.Matrix(linear_attention.relu([1, -1]).astype(int).tolist())
    # At an offset of 0 and of -1; and a negative one that is not at an angle of the schedule's choice.
    angles = 0, -sp.pi, 2 * sp.pi / 3
    here, back, third = ((feature.T * exact.rotation_2d(turns * angle) * feature)[0] for angle in angles)
    return bool(here == -back == 1 and third < 0)
