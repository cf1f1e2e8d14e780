"""What part 6 says of linear attention, where a nonlinear map stands before the rotation; and of history."""

import numpy as np
import sympy as sp
from scipy.linalg import block_diag, expm

from rope_lab.algebra import linear_attention, rotation
from rope_lab.claims import exact
from rope_lab.claims.ledger import claim
from rope_lab.training.results import cards, intervals

LINEAR = "Completeness Analysis, eq 11"


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
    J = np.array([[0.0, -1.0], [1.0, 0.0]])
    Lambda = block_diag(*(t * J for t in theta))
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
    correction=r"For ReLU and the same $d$: absorbable for all $W_q$, $W_k$ exactly if $e^B$ is a row of plane "
    r"rotations once its coordinates are sorted. In $d = 2$ it always is, so the smallest even $d$ with a "
    r"witness is $4$.",
    witness=r"$P = \tfrac12 H_4$ (Hadamard), cosines $\tfrac35$ and $\tfrac5{13}$: $e^B$ is rational and has no entry "
    r"$0$. What a ReLU lets through has at least eight.",
    holds=lambda: sp.Matrix(4, 4, lambda i, j: sp.Rational(*linear_attention.mixed_basis()[i][j].as_integer_ratio())),
    control=lambda: sp.Matrix([[1, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 1]]),  # a permutation: absorbed
)
def too_few_zeros_for_a_relu(basis):
    P = basis()
    turns = [exact.rotation_2d(sp.acos(sp.Rational(3, 5))), exact.rotation_2d(sp.acos(sp.Rational(5, 13)))]
    O = P * sp.diag(*turns) * P.T  # noqa: E741
    eye = sp.eye(4)
    if eye != P.T * P or eye != O.T * O or O.det() != 1:
        return False
    if not all(linear_attention.relu_blocks(np.array(turn, dtype=float)) for turn in turns):  # d = 2: no witness
        return False
    # C^-1 diag(2 x 2 blocks) C with a positive monomial C has at most two entries in each row that are not 0.
    full = sum(entry != 0 for entry in O) > 2 * 4
    return bool(full and not linear_attention.relu_blocks(np.array(O, dtype=float)))


@claim(
    "su6.linattn-improve",
    locus="Completeness Analysis, its last sentence",
    statement=r"Two more parameter matrices, behind the feature maps, may improve linear attention.",
    verdict="empirical",
    tier="empirical",
    correction=r"The book trains no linear attention with positions. What is proven is that these matrices can add "
    r"functions (su6.linattn-not-absorbable), not that they help.",
)
def two_matrices_behind_the_features():
    if not cards.load_all("linear-attention", "cpu"):
        return "not attempted"
    gain = intervals.paired(cards.load_all("linear-attention", "cpu"), "two-matrices", "plain")
    return "reproduced" if gain.decided and gain.mean < 0 else "not reproduced"


@claim(
    "su6.history-4",
    locus="the introductions of parts 6 and 19",
    statement=r"Part 4 of the series studied the solutions $e^{nB}$, and the general $O^n$ is new in part 6. Part 19 "
    r"says that part 4 proved the general solution $O^n$.",
    verdict="ambiguous",
    tier="minor",
    correction=r"The two articles attribute the result differently, in the versions we read. The mathematics is "
    r"su19.general-solution.",
    date="2026-11-21",
)
def who_proved_what():
    """Read: the first paragraphs of both articles."""
