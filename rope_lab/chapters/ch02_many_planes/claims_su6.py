"""What "Completeness" says about the usual block form: how it looks, and what it costs."""

import numpy as np

from rope_lab.algebra import rotation
from rope_lab.algebra.generators import block_diag
from rope_lab.claims.ledger import claim


def _block(angle):
    return [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]


@claim(
    "su6.blockdiag-form",
    locus="Completeness Analysis, eq 5",
    statement=r"The usual rotation of position $n$ is block-diagonal, with the blocks $R_{n\theta_i}$, "
    r"$i = 0, \dots, d/2 - 1$.",
    tier="minor",
    correction=r"This is the interleaved order; other orders of the same planes are chapter 3.",
    witness=r"Quarter turns in two planes: four entries $\pm 1$ in the two blocks, and zeros elsewhere.",
    tolerance=1e-14,
    holds=lambda n, theta: block_diag(*(_block(n * t) for t in theta)),
    control=lambda n, theta: block_diag(*(_block(n * t) for t in theta[::-1])),  # slowest plane first
)
def blocks_along_the_diagonal(matrix, rng):
    theta = rotation.frequencies(8)
    return max(
        np.abs(matrix(n, theta) - rotation.rotation_matrix(n, theta=theta)).max()
        for n in (0.0, 1.0, *rng.uniform(-100, 100, size=10))
    )


@claim(
    "su6.simplest-cost",
    locus="after eq 7",
    statement=r"The block form is cheap: at most $2d$ entries that are not zero, so $2d$ multiplications for one "
    r"vector. In a random orthonormal basis the same rotation is a full matrix, which needs $d^2$.",
    tier="minor",
    witness=r"$d = 128$: $[[256]]$ against $[[16384]]$.",
    computed=lambda: (np.count_nonzero(rotation.rotation_matrix(1.0, theta=rotation.frequencies(128))), 128**2),
    tolerance=0.5,  # a count is right or off by one at least
    holds=lambda d: 2 * d,
    control=lambda d: d * d,
)
def multiplications_of_one_rotation(count, rng):
    def nonzero(matrix):
        return int((np.abs(matrix) > 1e-12).sum())

    misses = []
    for d in (4, 8, 128):
        R = rotation.rotation_matrix(3.7, theta=rng.uniform(0.2, 0.4, size=d // 2))
        P = np.linalg.qr(rng.normal(size=(d, d)))[0]  # the same rotation in another basis
        misses += [abs(nonzero(R) - count(d)), abs(nonzero(P @ R @ P.T) - d * d)]
    return max(misses)
