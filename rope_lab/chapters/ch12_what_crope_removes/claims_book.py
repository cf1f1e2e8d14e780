"""What chapter 12 says on its own account: what no logit shows, what no head brings back, and which pairing is best."""

from itertools import product

import numpy as np

from rope_lab.algebra import complex_forms, dimension_counts, pairing, rotation, widely_linear
from rope_lab.claims.ledger import claim

OFFSETS = (-2, 0, 1, 5)


def forms(W_q, W_k, theta):
    """The form of one head at some offsets."""
    return np.array([W_q.T @ rotation.rotation_matrix(at, theta=theta) @ W_k for at in OFFSETS])


@claim(
    "book.gauge",
    statement=r"The logit at the offset $\Delta$ is $\mathrm{Re} \sum_i e^{\mathrm i \Delta\theta_i}\, "
    r"\overline{\tilde q_i}\, \tilde k_i$, with a complex row of $W_q$ and of $W_k$ for each plane. So "
    r"$\tilde q_i \to \tilde q_i / \bar c_i$ and $\tilde k_i \to c_i \tilde k_i$, with a complex number "
    r"$c_i \ne 0$ for each plane, changes no logit at any offset. With distinct frequencies between $0$ and "
    r"$\pi$, no other direction in $(W_q, W_k)$ is free at a generic point: counted for $(d, D) = (2, 4)$, $(4, 4)$ "
    r"and $(4, 6)$.",
    tolerance=1e-11,
    witness=r"$c_i = 2$: halve the queries and double the keys. $c_i = \mathrm i$: turn both by a quarter.",
    holds=complex_forms.gauge,
    control=lambda W_q, W_k, factors: (
        complex_forms.gauge(W_q, W_k, factors.conj())[0],  # the conjugate left out
        complex_forms.gauge(W_q, W_k, factors)[1],
    ),
)
def a_factor_for_each_plane(others, rng):
    worst, theta = 0.0, [0.9, 0.2]
    for _ in range(3):
        W_q, W_k = rng.normal(size=(2, 4, 6))
        factors = rng.uniform(0.5, 2, 2) * np.exp(1j * rng.uniform(0.5, 2.5, 2))
        q, k = others(W_q, W_k, factors)
        u, v = (W[::2] + 1j * W[1::2] for W in (W_q, W_k))  # two real rows are one complex row
        planes = [(u.conj().T * np.exp(1j * at * np.array(theta)) @ v).real for at in OFFSETS]
        worst = max(worst, *(np.abs(forms(a, b, theta) - planes).max() for a, b in ((q, k), (W_q, W_k))))
    for (d, n), c in product(((2, 4), (4, 4), (4, 6)), (False, True)):  # and the free directions are as many as the
        rank = dimension_counts.jacobian_rank(head_dim=d, width=n, complex_linear=c, offsets=range(d + 1))
        free = dimension_counts.weight_dimension(head_dim=d, width=n, complex_linear=c) - rank
        if free != dimension_counts.gauge_dimension(head_dim=d):  # real numbers in the factors
            return np.inf
    return worst


@claim(
    "book.more-head-planes",
    statement=r"Let $F$ be a form, so that the logit is $x^\top F y$. Of all forms that complex-linear heads can have, "
    r"of any width and number, the nearest is $F_+ = \tfrac12 (F - JFJ)$, the mean of $F$ over a common phase of both "
    r"words. The distance is $|F_-|$.",
    tolerance=1e-10,
    witness=r"$F = \mathrm{diag}(1, -1)$: the mean is $0$, and nothing of this form can be had.",
    holds=complex_forms.phase_average,
    control=lambda F: (F + F.T) / 2,  # another projection: onto the symmetric forms
)
def no_head_is_wide_enough(nearest, rng):
    worst, n = 0.0, 4
    J = widely_linear.times_i(n)
    for d in (2, 8, 40):
        F = rng.normal(size=(n, n))
        reached = []  # forms of complex-linear heads of width d, at several offsets
        for _ in range(8):
            W_q, W_k = (widely_linear.split(W)[0] for W in rng.normal(size=(2, d, n)))
            reached += [*forms(W_q, W_k, rng.uniform(0.1, 3, d // 2))]
        columns = np.array([form.ravel() / np.abs(form).max() for form in reached]).T
        best = (columns @ np.linalg.lstsq(columns, F.ravel(), rcond=1e-9)[0]).reshape(n, n)
        over_phases = np.mean([turn.T @ F @ turn for turn in (np.eye(n), J)], axis=0)  # two phases are enough
        worst = max(worst, np.abs(nearest(F) - best).max(), np.abs(nearest(F) - over_phases).max())
        worst = max(worst, abs(np.linalg.norm(F - best) - np.linalg.norm(widely_linear.split(F)[1])))
    return worst


@claim(
    "book.random-basis",
    statement=r"Take any map $W$, complex-linear or not, and choose the basis of its input at random, all orthogonal "
    r"bases alike. On average half of its energy is complex-linear. So it is already over the $2^n$ changes of sign of "
    r"the coordinates.",
    witness=r"The identity of the plane: flip one coordinate, and it is a mirror. Two of four choices of sign are "
    r"complex-linear, two are conjugate-linear.",
    tolerance=1e-12,
    holds=0.5,
    control=1.0,  # as if the map were complex-linear in every basis
)
def half_on_average(share, rng):
    worst, real = 0.0, rng.normal(size=(6, 4))
    flips = [np.diag(signs) for signs in product((1, -1), repeat=4)]
    for W in (widely_linear.split(real)[0], real, np.eye(4)):
        J = pairing.random_pairing(4, rng)  # and the same basis, with all changes of sign
        worst = max(worst, abs(np.mean([pairing.linear_share(W, S @ J @ S) for S in flips]) - share))
    return worst


@claim(
    "book.best-pairing",
    statement=r"Let $A = W^\top J_{\mathrm{out}} W$; it is skew, with angles $\theta_i \ge 0$ in its normal form $P\, "
    r"\mathrm{diag}(J_{\theta_i})\, P^\top$. Over a pairing $J$ of the input the complex-linear energy of $W$ is "
    r"$\tfrac12 |W|^2 - \tfrac12 \mathrm{tr}(AJ)$. It is at most $\tfrac12 |W|^2 + \sum_i \theta_i$, and $J = P\, "
    r"\mathrm{diag}(J_1)\, P^\top$ reaches that.",
    tolerance=1e-9,
    witness=r"The mirror $\mathrm{diag}(1, -1)$: over $J$ it has no complex-linear part, over $-J$ it is all "
    r"complex-linear.",
    holds=pairing.best_pairing,
    control=lambda W: -pairing.best_pairing(W),  # turned backwards: the worst
)
def nothing_beats_it(choose, rng):
    worst = 0.0
    for rows, columns in ((4, 6), (8, 4), (6, 6)):
        W = rng.normal(size=(rows, columns))
        A = W.T @ widely_linear.times_i(rows) @ W
        bound = (W**2).sum() / 2 + np.linalg.svd(A, compute_uv=False).sum() / 2  # each angle is there twice

        def energy(J, W=W):
            return (pairing.linear_part(W, J) ** 2).sum()

        J = choose(W)
        drawn = [pairing.random_pairing(columns, rng) for _ in range(10)]
        formula = [abs(energy(K) - (W**2).sum() / 2 + np.trace(A @ K) / 2) for K in [J, *drawn]]
        worst = max(worst, abs(energy(J) - bound), *formula, *(energy(K) - bound for K in drawn))
    return worst
