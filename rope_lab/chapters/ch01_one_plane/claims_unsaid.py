"""What no source says about one plane, and what every reader needs."""

import numpy as np

from rope_lab.algebra import rotation
from rope_lab.claims.ledger import claim


def _minus_forgotten(x, positions, theta):
    angle = np.repeat(np.multiply.outer(positions, theta), 2, axis=-1)
    partner = x.reshape(*x.shape[:-1], -1, 2)[..., ::-1].reshape(x.shape)
    return x * np.cos(angle) + partner * np.sin(angle)


@claim(
    "unsaid.norm",
    locus="in none of the sources",
    statement=r"A rotation keeps the length, $|\mathcal R_n x| = |x|$, in each plane too; so no logit exceeds "
    r"$|q|\,|k|$ in size, at any offset.",
    witness=r"$x = (3, 4)$ has length [[5]] at every position.",
    computed=lambda: float(np.linalg.norm(rotation.rotate([3, 4], 7, theta=[1]))),
    tolerance=1e-12,
    holds=lambda x, positions, theta: rotation.rotate(x, positions, theta=theta),
    control=_minus_forgotten,
)
def lengths_survive(turn, rng):
    theta, positions = rotation.frequencies(8), rng.uniform(-1000, 1000, size=50)
    q, k = rng.normal(size=(2, 50, 8))
    q_turned, k_turned = turn(q, positions, theta), turn(k, rng.permutation(positions), theta)
    growth = [
        np.abs(np.linalg.norm(after.reshape(50, 4, 2), axis=-1) / np.linalg.norm(x.reshape(50, 4, 2), axis=-1) - 1)
        for x, after in ((q, q_turned), (k, k_turned))
    ]
    bound = np.linalg.norm(q, axis=-1) * np.linalg.norm(k, axis=-1)
    return max(np.max(growth), np.max(np.abs((q_turned * k_turned).sum(axis=-1)) / bound) - 1)


@claim(
    "unsaid.bias",
    locus="in none of the sources",
    statement=r"A bias of the query or key projection is harmless before the rotation, $R_m (W x + b)$. Added after "
    r"it, $R_m W x + b$, it makes the logit depend on the absolute positions.",
    witness=r"Half a turn per position and $q = k = b = (1, 0)$, the bias added last: the logit is $[[4]]$ at $m = n "
    r"= 0$ and $[[0]]$ at $m = n = 1$.",
    computed=lambda: tuple(float(np.sum((rotation.rotation_2d(n * np.pi) @ [1, 0] + [1, 0]) ** 2)) for n in (0, 1)),
    tolerance=1e-12,
    holds=lambda x, b, position: rotation.rotate(x + b, position, theta=0.7),
    control=lambda x, b, position: rotation.rotate(x, position, theta=0.7) + b,
)
def bias_and_a_common_shift(encode, rng):
    q, k, b_q, b_k = rng.normal(size=(4, 2))

    def logit(m, n):
        return encode(q, b_q, m) @ encode(k, b_k, n)

    def by_offset(offset):
        return (q + b_q) @ rotation.rotation_2d(offset * 0.7) @ (k + b_k)

    pairs = [(shift, offset) for shift in (0, 1, 2, 40, -0.5) for offset in (3, 0, -7.5)]
    return max(abs(logit(shift, offset + shift) - by_offset(offset)) for shift, offset in pairs)
