"""Part 6 on its main point: a general rotation is the block-diagonal one in another basis, and who takes it."""

from itertools import permutations

import numpy as np
import sympy as sp
from scipy.linalg import block_diag, expm

from rope_lab.algebra import absorption, generators, linear_attention, normal_form, rotation, symbolic
from rope_lab.chapters.ch06_block_diagonalisation import results
from rope_lab.claims import exact
from rope_lab.claims.ledger import claim

# Angles of the planes: all different, repeated, zero, and so near to each other that only rounding keeps them apart.
ANGLES = ((1.0,), (2.0, 0.5), (1.0, 1.0), (0.0, 0.0), (3.0, 0.0, 1.0), (1.0, 1.0 + 1e-13, 1.0 - 1e-13, 1e-9))
LINEAR = "Completeness Analysis, eq 11"
QUARTER = exact.rotation_2d(sp.pi / 2)


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


@claim(
    "su6.linattn-identity",
    locus=LINEAR,
    statement=r"If $B = P \Lambda P^{-1}$, then $\phi(q)^\top e^{(n-m)B} \varphi(k) = (P^\top \phi(q))^\top "
    r"e^{(n-m)\Lambda} (P^{-1} \varphi(k))$ for any feature maps.",
    tier="minor",
    witness=r"The two new matrices stand outside the feature maps.",
    tolerance=1e-10,
    holds=np.linalg.inv,
    control=lambda P: P.T,  # as if P were orthogonal
)
def the_basis_moves_to_the_features(key_side, rng):
    theta = np.array([0.9, 0.31])
    Lambda = block_diag(*generators.generator_2d(theta))
    # Each plane stretched by a number of its own: P is not orthogonal, and B is still skew.
    P = np.linalg.qr(rng.normal(size=(4, 4)))[0] @ np.diag([1.5, 1.5, 0.6, 0.6])
    B = P @ Lambda @ np.linalg.inv(P)
    worst = np.abs(B + B.T).max()
    for offset in (-3, 0, 1, 8):
        q, k = rng.normal(size=(2, 4))
        blocks = rotation.rotation_matrix(offset, theta=theta)
        for feature in (linear_attention.relu, np.exp):
            left = linear_attention.kernel(q, k, expm(offset * B), feature=feature)
            right = (P.T @ feature(q)) @ blocks @ (key_side(P) @ feature(k))
            worst = max(worst, abs(left - right))
    return worst


@claim(
    "su6.linattn-not-absorbable",
    locus=LINEAR + ", the sentences after it",
    statement=r"With a nonlinear feature map, $P^\top$ and $P^{-1}$ need not be absorbable into the projections.",
    correction=r"For ReLU and the same $d$: absorbable for all $W_q$, $W_k$ if and only if $e^B$ is a row of plane "
    r"rotations once its coordinates are sorted. In $d = 2$ it always is, so the smallest even $d$ with a "
    r"witness is $4$.",
    witness=r"$P = \tfrac12 H_4$ (Hadamard), cosines $\tfrac35$ and $\tfrac5{13}$: $e^B$ is rational and has no entry "
    r"$0$. What a ReLU lets through has at least eight.",
    holds=lambda: sp.Matrix(4, 4, lambda i, j: sp.Rational(*linear_attention.mixed_basis()[i][j].as_integer_ratio())),
    control=lambda: sp.Matrix([[1, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 1]]),  # a permutation: absorbed
    cases="the witness of four dimensions in all orders of its coordinates, and two turns of the plane",
)
def too_few_zeros_for_a_relu(basis):
    P = basis()
    turns = [exact.rotation_2d(sp.acos(sp.Rational(3, 5))), exact.rotation_2d(sp.acos(sp.Rational(5, 13)))]
    O = P * sp.diag(*turns) * P.T  # noqa: E741
    eye = sp.eye(4)
    if eye != P.T * P or eye != O.T * O or O.det() != 1:
        return False
    *planes, step = (np.array(65 * matrix).astype(int) / 65 for matrix in (*turns, O))  # whole numbers over 65
    if not all(linear_attention.relu_blocks(plane) for plane in planes):  # d = 2: no witness
        return False
    J = sp.diag(QUARTER, QUARTER)
    for order in permutations(range(4)):  # a row of turns keeps the first two apart, and commutes with J
        sorted_O = O.extract(order, order)
        if sorted_O[:2, 2:].is_zero_matrix and sorted_O * J == J * sorted_O:
            return False
    # C^-1 diag(2 x 2 blocks) C with a positive monomial C has at most two entries in each row that are not 0; O has 4.
    printed = sp.Matrix([[32, 56, 7, -4], [-56, 32, 4, 7], [7, -4, 32, 56], [4, 7, -56, 32]]) / 65
    return printed == O and not linear_attention.relu_blocks(step)


@claim(
    "su6.linattn-improve",
    locus="Completeness Analysis, its last sentence",
    statement=r"Two more parameter matrices, behind the feature maps, may improve linear attention.",
    verdict="empirical",
    tier="empirical",
    correction=r"In our runs they do, with relu and with elu + 1 as feature maps: one layer that reads 64 characters, "
    r"each model at rates that other seeds choose, by a plan that was written before the runs. They are more "
    r"parameters, too, and the layer is small.",
    witness=r"Two comparisons, eight seeds each. Cards: `linear-attention`.",
)
def two_matrices_behind_the_features():
    found = results.two_matrices()
    if not found:
        return "not attempted"
    return "reproduced" if all(each.outcome == "better" for each in found) else "not reproduced"
