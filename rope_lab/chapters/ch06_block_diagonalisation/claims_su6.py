"""Part 6 on its main point: a general rotation is the block-diagonal one in another basis, and the weights take it."""

import numpy as np
import sympy as sp
from scipy.linalg import block_diag, expm

from rope_lab.algebra import absorption, generators, normal_form, rotation, symbolic
from rope_lab.claims import exact
from rope_lab.claims.ledger import claim

# Angles of the planes: all different, repeated, zero, and so near to each other that only rounding keeps them apart.
ANGLES = ((1.0,), (2.0, 0.5), (1.0, 1.0), (0.0, 0.0), (3.0, 0.0, 1.0), (1.0, 1.0 + 1e-13, 1.0 - 1e-13, 1e-9))


def _skew(A):
    return A - np.swapaxes(A, -1, -2)


def _basis(rng, d):
    return np.linalg.qr(rng.normal(size=(d, d)))[0]


@claim(
    "su6.skew-normal-form",
    locus="eq 8",
    statement=r"Every skew matrix of even order is block-diagonal in another basis: $B = P \Lambda P^{-1}$ with "
    r"$\Lambda = \mathrm{diag}(J_{\theta_0}, J_{\theta_1}, \dots)$ and $P$ invertible.",
    correction=r"Stronger, and needed later: $P$ can be taken orthogonal, $P^{-1} = P^\top$. An odd order leaves one "
    r"more $0$. The blocks are $2 \times 2$: over the real numbers $B \ne 0$ is never diagonal.",
    witness=r"$d = 2$: $B = \theta J$ already, and $P = I$.",
    tolerance=1e-12,
    holds=lambda form: form.P @ form.blocks @ form.P.T,
    control=lambda form: form.P.T @ form.blocks @ form.P,  # the basis and its inverse exchanged
)
def planes_of_a_skew_matrix(rebuilt, rng):
    worst = 0.0
    cases = [_skew(rng.normal(size=(d, d))) for d in (2, 3, 4, 6, 7, 16)]
    for theta in ANGLES:
        P = _basis(rng, 2 * len(theta))
        cases.append(_skew(P @ block_diag(*generators.generator_2d(np.array(theta))) @ P.T) / 2)
    for B in cases:
        form = normal_form.skew_normal_form(B)
        gap = np.linalg.norm(rebuilt(form) - B) / max(float(np.linalg.norm(B)), 1.0)
        worst = max(worst, gap, np.abs(form.P.T @ form.P - np.eye(len(B))).max(), np.diff([*form.theta, 0.0]).max())
    return worst


n = sp.Symbol("n", real=True)
thetas = sp.symbols("theta_0:2", real=True)
SHEARED = sp.Matrix([[1, 2, 0, 1], [0, 1, 3, 0], [1, 0, 1, 2], [0, 0, 0, 1]])  # invertible, far from orthogonal


@claim(
    "su6.exp-similar",
    locus="eq 9",
    statement=r"$e^{n P \Lambda P^{-1}} = P\, e^{n \Lambda} P^{-1}$ for every invertible $P$.",
    tier="minor",
    witness=r"Both sides start at $I$ and solve $\frac{\mathrm d}{\mathrm dn} F = P \Lambda P^{-1} F$; an equation of "
    r"this kind has one solution.",
    holds=lambda P: P.inv(),
    control=lambda P: P.T,  # right for an orthogonal P only
)
def the_exponential_follows_the_basis(back):
    P, L, F = (sp.MatrixSymbol(letter, symbolic.K, symbolic.K) for letter in "PLF")  # F' = L F, and F = I at the start
    starts = (P * back(P)).doit() == sp.Identity(symbolic.K)
    if not starts or (P * L * back(P) * P * F * back(P)).doit() != P * L * F * back(P):
        return False
    turn = exact.rotation_matrix(n, theta=thetas)
    step, family = (SHEARED * matrix * back(SHEARED) for matrix in (turn.diff(n).subs(n, 0), turn))
    return exact.tied(family, lambda at: generators.exponential(np.vectorize(at)(n * step))) == family


@claim(
    "su6.absorb-identity",
    locus="eq 10",
    statement=r"$q^\top e^{(n-m)B} k = (P^\top q)^\top e^{(n-m)\Lambda} (P^{-1} k)$ for $B = P \Lambda P^{-1}$.",
    witness=r"$m = n$: $q^\top k = q^\top P P^{-1} k$. With $P^\top$ on both sides it would be $q^\top P P^\top k$.",
    tolerance=1e-9,
    holds=lambda W_q, W_k, P: absorption.absorb(W_q, W_k, P=P),
    control=lambda W_q, W_k, P: (absorption.absorb(W_q, W_k, P=P).W_q, P.T @ W_k),  # the transpose for the key too
)
def the_basis_moves_into_query_and_key(moved, rng):
    theta, worst = np.array([1.3, 0.4]), 0.0
    x, W_q, W_k = rng.normal(size=(4, 6)), rng.normal(size=(1, 4, 6)), rng.normal(size=(1, 4, 6))
    for P in (_basis(rng, 4), np.eye(4) + 0.4 * rng.normal(size=(4, 4))):
        B = P @ block_diag(*generators.generator_2d(theta)) @ np.linalg.inv(P)
        direct = [[a @ expm((n - m) * B) @ b for n, b in enumerate(x @ W_k[0].T)] for m, a in enumerate(x @ W_q[0].T)]
        new_q, new_k = moved(W_q, W_k, P)
        rope = rotation.logits(x @ new_q[0].T, x @ new_k[0].T, q_positions=range(4), k_positions=range(4), theta=theta)
        worst = max(worst, np.abs(rope - direct).max())
        worst = max(worst, np.abs(new_q[0] - P.T @ W_q[0]).max(), np.abs(P @ new_k[0] - W_k[0]).max())
    return worst


@claim(
    "su6.absorb-no-loss",
    locus="after eq 10, and Summary",
    statement=r"In softmax attention $P^\top$ and $P^{-1}$ can be absorbed into $W_q$ and $W_k$. So the block-diagonal "
    r"form of RoPE loses no generality.",
    correction=r"True of what the article asks: whether this form loses anything against $e^{nB}$. In models more has "
    r"to hold. The frequencies are free: with a fixed schedule generality is lost. One $B$ for each key head. Between "
    r"the weights and the rotation stands nothing that $P$ does not pass. $d$ is even. It is about which functions a "
    r"model has, not about how it learns them.",
    witness=r"$d = 2$: with $\theta = 1$ no weights give $\cos 2(n-m)$: $s_0 + s_2 - 2\cos(1)\,s_1 = [[0.796]] \ne 0$.",
    computed=lambda: np.cos(0) + np.cos(4) - 2 * np.cos(1) * np.cos(2),
    tolerance=1e-10,
    holds=lambda theta: theta,
    control=lambda theta: np.stack([rotation.frequencies(2 * theta.shape[1])] * len(theta)),  # the usual schedule
)
def any_generator_becomes_rope(frequencies, rng):
    worst = 0.0
    for n_heads, n_kv_heads in ((2, 2), (4, 2), (3, 1)):  # every head its own keys, groups, one for all
        x, places = rng.normal(size=(5, 8)), rng.uniform(-4.0, 4.0, size=5)
        W_q, W_k = rng.normal(size=(n_heads, 6, 8)), rng.normal(size=(n_kv_heads, 6, 8))
        B = _skew(rng.normal(size=(n_kv_heads, 6, 6)))
        before = absorption.attention_logits(x, W_q, W_k, B=B, positions=places)
        new, theta = absorption.absorb_generators(W_q, W_k, B=B)
        theta = frequencies(theta)
        for h in range(n_heads):
            g = h * n_kv_heads // n_heads
            q, k = x @ new.W_q[h].T, x @ new.W_k[g].T
            after = rotation.logits(q, k, q_positions=places, k_positions=places, theta=theta[g])
            worst = max(worst, np.abs(after - before[h]).max())
    return worst / np.abs(before).max()
