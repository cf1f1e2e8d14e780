"""What chapter 1 says on its own account: how turns add, what is not seen, and a plane's logit by angles."""

from typing import Any

import numpy as np
import sympy as sp

from rope_lab.algebra import rotation, symbolic
from rope_lab.claims import exact
from rope_lab.claims.ledger import claim

a, b, delta, theta = sp.symbols("alpha beta delta theta", real=True)
x = sp.Matrix(sp.symbols("x_1:3", real=True))


@claim(
    "book.rotation-addition",
    statement=r"Turning twice adds the angles, $R_\alpha R_\beta = R_{\alpha+\beta}$. Read entry by entry, these are "
    r"the addition theorems: $\cos(\alpha+\beta) = \cos\alpha\cos\beta - \sin\alpha\sin\beta$ and "
    r"$\sin(\alpha+\beta) = \sin\alpha\cos\beta + \cos\alpha\sin\beta$.",
    witness=r"Two eighths of a turn make a quarter: $\cos\tfrac{\pi}{2} = [[\tfrac12]] - [[\tfrac12]] = [[0]]$.",
    computed=lambda: (np.cos(np.pi / 4) ** 2, np.sin(np.pi / 4) ** 2, rotation.rotation_2d(np.pi / 2)[0, 0]),
    holds=-1,
    control=+1,  # the sign between the two products
)
def addition_theorems(sign):
    product = exact.rotation_2d(a) * exact.rotation_2d(b)
    cosine = sp.cos(a) * sp.cos(b) + sign * sp.sin(a) * sp.sin(b)
    sine = sp.sin(a) * sp.cos(b) - sign * sp.cos(a) * sp.sin(b)
    by_entry = sp.Matrix([[cosine, -sine], [sine, cosine]])
    return symbolic.same(product, exact.rotation_2d(a + b)) and symbolic.same(product, by_entry)


@claim(
    "book.rotation-complex",
    statement=r"Write the plane as complex numbers, $\tilde x = x_1 + i x_2$. Then $R_\theta$ multiplies by "
    r"$e^{i\theta}$, and the dot product $q^\top k$ is the real part of $\overline{\tilde q}\,\tilde k$.",
    witness=r"$e^{i\theta}(x_1 + i x_2)$ has real part $x_1\cos\theta - x_2\sin\theta$.",
    holds=sp.I,
    control=-sp.I,  # the other direction
)
def rotation_multiplies_by_a_unit_number(i):
    q, k = sp.Matrix(sp.symbols("q_1:3", real=True)), sp.Matrix(sp.symbols("k_1:3", real=True))
    turned = exact.rotation_2d(theta) * x
    product = sp.expand((sp.cos(theta) + i * sp.sin(theta)) * (x[0] + sp.I * x[1]))
    dot = sp.re(sp.expand((q[0] - sp.I * q[1]) * (k[0] + sp.I * k[1])))
    return symbolic.same(turned[0] + sp.I * turned[1], product) and symbolic.same(dot, q.dot(k))


@claim(
    "book.dot-product-angle",
    statement=r"Let $q$ point in the direction $\alpha$ and $k$ in the direction $\beta$. Then "
    r"$q^\top R_\delta k = |q|\,|k| \cos(\beta - \alpha + \delta)$: turning the key by $\delta$ adds $\delta$ to the "
    r"angle from $q$ to $k$.",
    witness=r"$\alpha = \beta$ and a quarter turn: the logit is $0$.",
    holds=b - a + delta,
    control=b - a - delta,
)
def logit_is_the_cosine_of_the_angle_between(angle):
    length_q, length_k = sp.symbols("r_q r_k", positive=True)
    q = length_q * sp.Matrix([sp.cos(a), sp.sin(a)])
    k = length_k * sp.Matrix([sp.cos(b), sp.sin(b)])
    cosine = length_q * length_k * sp.cos(angle)
    logit = (exact.rotation_2d(m * theta) * q).dot(exact.rotation_2d(n * theta) * k)  # here delta is (n - m) theta
    turned_key = symbolic.same((q.T * exact.rotation_2d(delta) * k)[0], cosine)
    return turned_key and symbolic.same(logit, cosine.subs(delta, (n - m) * theta))


@claim(
    "book.shift-both",
    statement=r"Move every position by the same $s$, whole or not: every logit stays. "
    r"$(\mathcal R_{m+s} q)^\top (\mathcal R_{n+s} k) = (\mathcal R_m q)^\top (\mathcal R_n k)$.",
    witness=r"Move the keys alone and the logits change.",
    tolerance=1e-11,
    holds=lambda s: (s, s),
    control=lambda s: (0.0, s),  # the keys alone
)
def logits_after_a_shift(moves, rng):
    theta, at = rotation.frequencies(8), np.sort(rng.uniform(0, 100, size=12))
    q, k = rng.normal(size=(2, 12, 8))

    def logits(for_q, for_k):
        return rotation.logits(q, k, q_positions=at + for_q, k_positions=at + for_k, theta=theta)

    return max(np.abs(logits(*moves(s)) - logits(0.0, 0.0)).max() for s in (1.0, -7.5, 300.25))


@claim(
    "book.commutes-in-plane",
    statement=r"A $2 \times 2$ matrix commutes with every rotation if and only if it is "
    r"$\begin{pmatrix} a & -b \\ b & a \end{pmatrix}$, a rotation times a number. Only such a $W_q^\top W_k$ may stand "
    r"behind the rotations without spoiling the relative logit.",
    witness=r"$\mathrm{diag}(1, 0)$ does not: it takes a quarter turn of $(1, 0)$ to $0$, not to $(0, 1)$.",
    holds=lambda a, b: sp.Matrix([[a, -b], [b, a]]),
    control=lambda a, b: sp.Matrix([[a, b], [b, -a]]),  # a reflection times a number
)
def what_commutes_with_a_rotation(family):
    M = sp.Matrix(2, 2, sp.symbols("m_1:5"))
    R = exact.rotation_2d(theta)
    conditions = M * R - R * M
    solutions = sp.solve([sp.expand(entry / sp.sin(theta)) for entry in conditions], list(M), dict=True)
    all_that_commute = M.subs(solutions[0])
    free = sorted(all_that_commute.free_symbols, key=str)
    W = family(*sp.symbols("a b"))
    relative = symbolic.same(exact.rotation_2d(a).T * W * exact.rotation_2d(b), W * exact.rotation_2d(b - a))
    commutes = symbolic.same(W * R, R * W)
    # Only such: a relative logit is at (s, s) what it is at (0, 0), so R^T M R = M, and that is M R = R M.
    commutes &= symbolic.same(R * (R.T * M * R - M), conditions)
    return relative and commutes and len(solutions) == 1 and len(free) == len(W.free_symbols) == 2


# A plane's logit with the angles of the contents taken out of it.

m, n, alpha = sp.symbols("m n alpha", real=True)
mu, nu = sp.symbols("mu nu", positive=True)


@claim(
    "book.polar-logit",
    statement=r"Let the contents give lengths $\mu, \nu > 0$ alone: the query $(\mu, 0)$ and the key "
    r"$\nu(\cos\delta, \sin\delta)$ with a fixed $\delta$. RoPE's logit of this plane is "
    r"$\mu\nu\cos((n - m)\theta + \delta)$.",
    witness=r"$\delta = 0$: the largest logit is at offset 0.",
    holds=lambda delta: delta,
    control=lambda delta: delta - alpha,  # a query with an angle of its own
)
def lengths_and_one_phase(phase):
    query = exact.rotation_2d(m * theta) * sp.Matrix([mu, 0])
    key = exact.rotation_2d(n * theta) * nu * sp.Matrix([sp.cos(delta), sp.sin(delta)])
    goal = mu * nu * sp.cos((n - m) * theta + phase(delta))
    return symbolic.same(sp.Matrix([query.dot(key)]), sp.Matrix([goal]))


@claim(
    "book.polar-peak",
    statement=r"In such a plane every query and key has its largest logit at the same offset, $-\delta/\theta$. In "
    r"RoPE the angles $\alpha$ and $\beta$ of query and key move it to $(\alpha - \beta)/\theta$. Both come back "
    r"every $2\pi/\theta$ positions.",
    witness=r"$\delta = 0$: no content can make a plane look one step back.",
    tolerance=1e-12,
    holds=lambda x, angle: np.array([np.hypot(*x) * np.cos(angle), np.hypot(*x) * np.sin(angle)]),
    control=lambda x, angle: x,  # noqa: ARG005 - the content keeps its angle
)
def one_best_offset(content, rng):
    theta, delta, worst = 0.7, -1.2, 0.0
    for q, k in rng.normal(size=(8, 2, 2)):
        angle = np.arctan2(q[1], q[0]) - np.arctan2(k[1], k[0])
        for query, key, best in ((content(q, 0.0), content(k, delta), -delta / theta), (q, k, angle / theta)):
            at: dict[str, Any] = {"k_positions": best + 2 * np.pi / theta * np.arange(-1, 2), "theta": [theta]}
            seen = rotation.logits(query[None], np.tile(key, (3, 1)), q_positions=[0.0], **at)
            worst = max(worst, np.abs(1 - seen / (np.hypot(*q) * np.hypot(*k))).max())  # none is larger: unsaid.norm
    return worst
