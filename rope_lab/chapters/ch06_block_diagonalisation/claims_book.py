"""What chapter 6 says on its own account: the closed form in four dimensions, the freedom of P, and the conditions."""

from itertools import product

import numpy as np
import sympy as sp

from rope_lab.algebra import absorption, linear_attention, normal_form, rotation, symbolic
from rope_lab.claims import exact
from rope_lab.claims.ledger import claim

ENTRIES = sp.symbols("b_12 b_13 b_14 b_23 b_24 b_34", real=True)
PAIRS = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))


def _generator(entries):
    B = sp.zeros(4, 4)
    for (i, j), entry in zip(PAIRS, entries, strict=True):
        B[i, j], B[j, i] = entry, -entry
    return B


def _basis(rng, d):
    return np.linalg.qr(rng.normal(size=(d, d)))[0]


def _skew(A):
    return A - A.T


def normed(u):
    """RMS norm, without gains."""
    return u / np.sqrt(np.mean(u**2, axis=-1, keepdims=True))


@claim(
    "book.plane-of-an-eigenvector",
    statement=r"Let $B$ be skew and $B^2 u = -\theta^2 u$ with $|u| = 1$, $\theta > 0$. Then $v = Bu/\theta$ is of "
    r"length one and perpendicular to $u$, and $Bu = \theta v$, $Bv = -\theta u$.",
    witness=r"$d = 2$: $u = (1, 0)$ and $v = (0, 1)$.",
    tolerance=1e-12,
    holds=lambda B, u, theta: B @ u / theta,
    control=lambda B, u, theta: B.T @ u / theta,  # the sign: the plane would turn the other way
)
def one_plane_from_one_vector(second, rng):
    worst = 0.0
    for d in (2, 4, 7):
        B = _skew(rng.normal(size=(d, d)))
        theta = normal_form.skew_normal_form(B).theta[0]
        squares, vectors = np.linalg.eigh(B @ B)
        u = vectors[:, 0]  # the most negative eigenvalue: the fastest plane
        v = second(B, u, theta)
        worst = max(
            worst,
            abs(squares[0] + theta**2) / theta**2,
            abs(u @ v),
            abs(v @ v - 1),
            np.abs(B @ u - theta * v).max() / theta,
            np.abs(B @ v + theta * u).max() / theta,
        )
    return worst


@claim(
    "book.four-dimensions",
    statement=r"In four dimensions the two angles are a closed form of the six entries: "
    r"$\theta_0 \pm \theta_1 = \sqrt{\Sigma \pm 2|\mathrm{Pf}|}$, where $\Sigma$ is the sum of the squares and "
    r"$\mathrm{Pf} = b_{12} b_{34} - b_{13} b_{24} + b_{14} b_{23}$.",
    witness=r"$b_{12} = 3$, $b_{34} = 1$, the others $0$: $\Sigma = 10$, $\mathrm{Pf} = 3$, and $4, 2$ are the sum and "
    r"the difference of $3$ and $1$.",
    holds=-1,
    control=+1,  # the sign of the middle product
)
def closed_form_in_four_dimensions(sign):
    b12, b13, b14, b23, b24, b34 = ENTRIES
    total, pfaffian = sum(b**2 for b in ENTRIES), b12 * b34 + sign * b13 * b24 + b14 * b23
    square, t = sp.symbols("t_0 t_1"), sp.Symbol("t")
    polynomial = _generator(ENTRIES).charpoly(t).as_expr()
    wanted = t**4 + (square[0] + square[1]) * t**2 + square[0] * square[1]  # (t^2 + theta_0^2)(t^2 + theta_1^2)
    wanted = wanted.subs(square[1], total - square[0]).expand()
    # theta_0^2 + theta_1^2 = Sigma and theta_0^2 theta_1^2 = Pf^2: the coefficients of the characteristic polynomial
    agrees = sp.expand(polynomial - (t**4 + total * t**2 + pfaffian**2)) == 0 and wanted.coeff(t, 2) == sp.expand(total)
    roots = sp.Matrix([[sp.sqrt(total + s * 2 * sp.Abs(pfaffian)) for s in (1, -1)]])

    def by_code(at):
        theta = normal_form.skew_normal_form(np.vectorize(at)(_generator(ENTRIES))).theta
        return np.array([theta[0] + theta[1], theta[0] - theta[1]])

    return agrees and exact.tied(roots, by_code) == roots


@claim(
    "book.fast-plane",
    statement=r"In four dimensions with $\theta_0 > \theta_1$, the orthogonal projection on the faster plane is "
    r"$-(B^2 + \theta_1^2 I) / (\theta_0^2 - \theta_1^2)$. Any column of it that is not $0$ lies in that plane.",
    witness=r"$B = \mathrm{diag}(J_{\theta_0}, J_{\theta_1})$: $B^2 = -\mathrm{diag}(\theta_0^2 I, \theta_1^2 I)$, and "
    r"the formula gives $\mathrm{diag}(I, 0)$.",
    tolerance=1e-10,
    holds=lambda B, fast, slow: -(B @ B + slow**2 * np.eye(4)) / (fast**2 - slow**2),
    control=lambda B, fast, slow: -(B @ B + fast**2 * np.eye(4)) / (fast**2 - slow**2),  # the other speed
)
def projection_on_the_faster_plane(projection, rng):
    worst = 0.0
    for speeds in ([2.0, 0.5], [3.0, 0.0], [1.0, 0.9]):
        basis = _basis(rng, 4)
        B = _skew(basis @ np.kron(np.diag(speeds), rotation.rotation_2d(np.pi / 2)) @ basis.T) / 2
        form = normal_form.skew_normal_form(B)
        plane = form.P[:, :2]
        worst = max(worst, np.abs(projection(B, *form.theta) - plane @ plane.T).max())
    return worst


@claim(
    "book.orthogonal-normal-form",
    statement=r"Every orthogonal matrix is $O = P\,\mathrm{diag}(R_{\theta_0}, R_{\theta_1}, \dots, \pm 1)\,P^\top$ "
    r"with $P$ orthogonal. Two $-1$ make a half turn, so at most one $1$ and one $-1$ are left: both for even $d$ and "
    r"determinant $-1$, none for even $d$ and determinant $1$.",
    witness=r"$\mathrm{diag}(-1, -1) = R_\pi$, and $\mathrm{diag}(1, -1)$ is no rotation.",
    tolerance=1e-12,
    holds=lambda form: form.blocks,
    control=lambda form: form.blocks.T,  # each plane turned the other way
)
def planes_of_an_orthogonal_matrix(middle, rng):
    worst = 0.0
    for d in (2, 3, 4, 7, 10):
        Q = _basis(rng, d)
        for flips in range(min(d, 4)):
            O = Q @ np.diag([-1.0] * flips + [1.0] * (d - flips)) @ (_basis(rng, d) if flips < 2 else Q.T)  # noqa: E741
            form = normal_form.orthogonal_normal_form(O)
            lone = {(0, 1): 0, (0, -1): 2}.get((d % 2, round(np.linalg.det(O))), 1)
            gap = np.abs(form.P @ middle(form) @ form.P.T - O).max()
            worst = max(worst, gap, np.abs(form.P.T @ form.P - np.eye(d)).max(), abs(len(form.signs) - lone))
    return worst


@claim(
    "book.freedom-of-basis",
    statement=r"If the angles of $\Lambda$ are positive and all different, the matrices that commute with it are "
    r"exactly those that turn and stretch each plane by itself: $d$ numbers. Hence $P$ is unique up to them, and with "
    r"$P$ orthogonal up to a turn in each plane.",
    witness=r"$d = 4$: four numbers for the angles $2, 1$; eight for $1, 1$, because then planes can be mixed.",
    holds=sp.symbols("theta_0:2", positive=True),
    control=(1, 1),
    cases="two planes",
)
def what_commutes_with_the_blocks(angles):
    t = sp.Symbol("t", real=True)
    generator = exact.rotation_matrix(t, theta=angles).diff(t).subs(t, 0)
    letters = sp.symbols("z_0:16")
    Z = sp.Matrix(4, 4, letters)
    solved = sp.linsolve(list(generator * Z - Z * generator), letters)
    (general,) = solved
    Z = sp.Matrix(4, 4, general)
    inside = all(Z[i, j] == 0 for i in (0, 1) for j in (2, 3)) and all(Z[i, j] == 0 for i in (2, 3) for j in (0, 1))
    return (
        len(Z.free_symbols) == 4
        and inside
        and all(Z[i, i] == Z[i + 1, i + 1] and Z[i, i + 1] == -Z[i + 1, i] for i in (0, 2))
    )


@claim(
    "book.fixed-schedule",
    statement=r"A head of one plane with frequency $\theta$ has logits $s_r$ with $s_r + s_{r+2} = 2\cos\theta\, "
    r"s_{r+1}$, whatever its weights. So weights cannot change the frequency.",
    witness=r"$\theta = 1$ and $s_r = \cos 2r$: $s_0 + s_2 - 2\cos(1)\,s_1 = [[0.796]]$.",
    computed=lambda: np.cos(0) + np.cos(4) - 2 * np.cos(1) * np.cos(2),
    holds=1,
    control=2,  # twice the frequency: another head
)
def logits_remember_the_frequency(times):
    r, theta = sp.symbols("r theta", real=True)
    q, k = sp.Matrix(sp.symbols("q_1:3")), sp.Matrix(sp.symbols("k_1:3"))

    def logit(at):
        return (q.T * exact.rotation_2d(times * theta * at) * k)[0]

    return symbolic.same(logit(r) + logit(r + 2), 2 * sp.cos(theta) * logit(r + 1))


@claim(
    "book.absorb-shared-keys",
    statement=r"Query heads that share a key head, with a generator $B_h$ each: one change of basis serves all of them "
    r"if and only if the $B_h$ commute. The normal form of a generic combination of them then gives it.",
    witness=r"One plane: all generators are multiples of $J$ and commute. From $d = 4$ on, most pairs do not.",
    tolerance=1e-10,
    holds=lambda B, C: B @ C - C @ B,
    control=lambda B, C: B @ C + C @ B,  # the sign
)
def one_basis_for_a_group(bracket, rng):
    outside = 1.0 - np.kron(np.eye(3), np.ones((2, 2)))
    x, W_q, W_k = rng.normal(size=(4, 8)), rng.normal(size=(2, 6, 8)), rng.normal(size=(1, 6, 8))

    def generator(P):
        return P @ np.kron(np.diag(rng.normal(size=3)), rotation.rotation_2d(np.pi / 2)) @ P.T

    def measured(B, C):
        P = normal_form.skew_normal_form(B + np.sqrt(2) * C).P
        new, inside = absorption.absorb(W_q, W_k, P=P), [P.T @ one @ P for one in (B, C)]
        gaps = [  # of each query head: its logits as it was, and with the one new key weight and planes that turn
            absorption.attention_logits(x, W_q[h : h + 1], W_k, B=one, positions=places)[0]
            - rotation.logits(q, k, q_positions=places, k_positions=places, theta=turned[1::2, ::2].diagonal())
            for h, (one, turned) in enumerate(zip((B, C), inside, strict=True))
            for q, k, places in [(x @ new.W_q[h].T, x @ new.W_k[0].T, np.arange(4.0))]
        ]
        return np.abs(outside * inside).max(), np.abs(gaps).max(), np.abs(bracket(B, C)).max()

    P = _basis(rng, 6)
    B = generator(P)
    alike = [*measured(B, generator(P)), *measured(B, B @ B @ B)]  # in the same planes; and a cube commutes
    alone = measured(B, generator(_basis(rng, 6)))  # in planes of its own
    return max(alike) if min(alone) > 0.01 else np.inf


@claim(
    "book.absorb-norm",
    statement=r"Put an RMS norm on queries and keys between the weights and the rotation. An orthogonal $P$ passes "
    r"through the norm, and through one gain for all components: the absorption stays exact. Gains for single ones "
    r"stop it in general.",
    witness=r"$P$ the quarter turn, gains $(1, 2)$, $u = (1, 0)$: $P^\top(g \odot u) = ([[0, -1]])$, and "
    r"$g \odot P^\top u = ([[0, -2]])$.",
    computed=lambda: (
        (rotation.rotation_2d(np.pi / 2).T @ [1, 0]).tolist(),
        np.multiply([1, 2], rotation.rotation_2d(np.pi / 2).T @ [1, 0]).tolist(),
    ),
    tolerance=1e-10,
    holds=(1.7, 1.7, 1.7, 1.7),
    control=(1.0, 2.0, 0.5, 1.5),
)
def a_norm_before_the_rotation(gains, rng):
    def gained(u):
        return np.array(gains) * normed(u)

    x, W_q, W_k = rng.normal(size=(4, 6)), rng.normal(size=(1, 4, 6)), rng.normal(size=(1, 4, 6))
    form = normal_form.skew_normal_form(_skew(rng.normal(size=(4, 4))))
    new = absorption.absorb(W_q, W_k, P=form.P)
    one, places = np.eye(4)[None], range(4)

    def general(q, k):  # each position's own query and key, turned by e^{nB}
        B = form.P @ form.blocks @ form.P.T
        return np.array(
            [
                [
                    absorption.attention_logits(np.stack([a, b]), one, one, B=B, positions=[m, n])[0, 0, 1]
                    for n, b in enumerate(k)
                ]
                for m, a in enumerate(q)
            ]
        )

    before = general(gained(x @ W_q[0].T), gained(x @ W_k[0].T))
    after = rotation.logits(
        gained(x @ new.W_q[0].T), gained(x @ new.W_k[0].T), q_positions=places, k_positions=places, theta=form.theta
    )
    u = rng.normal(size=(3, 4))
    return max(np.abs(after - before).max(), np.abs(gained(u @ form.P) - gained(u) @ form.P).max())


@claim(
    "book.norm-after",
    statement=r"Normalise queries and keys after the rotation. Without gains the norm may as well stand before it. "
    r"With gains $g$ for queries and $g'$ for keys the logit depends on the offset alone if the products $g_i g'_i$ "
    r"are equal within each plane; in general it does not.",
    witness=r"One plane, $\theta = \pi/2$, $q = k = (1, 0)$, products $(1, 4)$: at $m = n = 0$ the logit is $[[2]]$, "
    r"at $m = n = 1$ it is $[[8]]$.",
    computed=lambda: tuple(x**2 + 4 * y**2 for x, y in map(normed, rotation.rotation_2d([0, np.pi / 2])[:, :, 0])),
    tolerance=1e-10,
    holds=(0.5, 2.0, 3.0, 0.25),
    control=(0.5, 1.5, 3.0, 0.25),
)
def a_norm_after_the_rotation(key_gains, rng):
    theta, query_gains = np.array([1.3, 0.4]), np.array([2.0, 0.5, 1.0, 12.0])  # products (1, 1, 3, 3) for `holds`
    q, k = rng.normal(size=(2, 4))
    turns = rotation.rotation_matrix([0.0, 3.0, 5.5, 8.5, -20.0, -17.0], theta=theta)
    worst = np.abs(normed(turns @ q) - turns @ normed(q)).max()
    logits = [
        (query_gains * normed(turns[m] @ q)) @ (np.array(key_gains) * normed(turns[m + 1] @ k)) for m in (0, 2, 4)
    ]
    G = np.diag(query_gains * key_gains)
    moved = [normed(q) @ turns[m].T @ G @ turns[m + 1] @ normed(k) for m in (0, 2, 4)]
    return float(max(worst, np.ptp(logits), np.abs(np.subtract(logits, moved)).max()))


@claim(
    "book.relu-monomial",
    statement=r"A matrix passes through a ReLU, $\mathrm{relu}(C x) = C\,\mathrm{relu}(x)$ for all $x$, if and only if "
    r"each row has at most one entry that is not $0$, and that entry is positive.",
    witness=r"$C = (1, 1)$ and $x = (1, -1)$: the left side is $0$, the right side $1$.",
    holds=lambda row: sum(entry != 0 for entry in row) <= 1 and min(row) >= 0,
    control=lambda row: sum(entry != 0 for entry in row) <= 1,  # the sign forgotten
    cases="125 rows of three whole numbers",
)
def what_a_relu_lets_through(criterion):
    # Row by row. The places try each entry alone, and each two against one another.
    places = [np.array(x, dtype=float) for x in product((-1, 0, 1), repeat=3)]
    for row in product((-2, -1, 0, 1, 3), repeat=3):
        C = np.array([row], dtype=float)
        passes = all((linear_attention.relu(C @ x) == C @ linear_attention.relu(x)).all() for x in places)
        if passes != criterion(row):
            return False
    return True
