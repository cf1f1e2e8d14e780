"""What no source says about the head that looks ahead: with finitely many planes its logits come back."""

import numpy as np

from rope_lab.algebra import one_head, schedule
from rope_lab.claims.ledger import claim


@claim(
    "unsaid.recurrence",
    locus="in none of the sources",
    statement=r"With finitely many planes the logits are almost periodic in the offset. Among the offsets $1, \dots, "
    r"C^p$ there is one at which each of the $p$ planes is within $2\pi/C$ of where it began, whatever the "
    r"frequencies. So over all integers no wanted key keeps a lead.",
    witness=r"One plane, $\theta = 1$: $\cos 710 = 1 - [[1.8 \cdot 10^{-9}]]$. Two planes, $\theta = (1, 0.01)$: the "
    r"mean cosine at $84823$ is $[[0.999999]]$.",
    computed=lambda: (1 - schedule.decay(710, theta=[1]), schedule.decay(84823, theta=[1, 0.01])),
    tolerance=1e-9,
    holds=lambda Q, p: Q**p,
    control=lambda Q, p: Q,  # noqa: ARG005 - the planes one at a time
)
def it_comes_back(limit, rng):
    known = one_head.returns([1.0], above=0.99, until=1000)[-1] == 710 and (
        one_head.returns([1.0, 0.01], above=0.999, until=90_000)[-1] == 84823
    )
    lack = 0.0
    for Q, p in ((10, 2), (6, 3), (25, 2)):
        for theta in rng.uniform(0, 2 * np.pi, size=(8, p)):
            k = np.arange(1, limit(Q, p) + 1)
            worst_plane = np.cos(np.multiply.outer(k, theta)).min(axis=1).max()
            lack = max(lack, np.cos(2 * np.pi / Q) - worst_plane)
    near = abs(1 - schedule.decay(710, theta=[1.0]) - 1.8e-9) < 1e-10
    return max(0.0, lack) if known and near else np.inf
