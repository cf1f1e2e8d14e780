"""What the article on RoPE's two layouts says about one plane."""

from typing import Any

import numpy as np
import sympy as sp

from rope_lab.algebra import latent, placements, rotation, symbolic
from rope_lab.claims import exact
from rope_lab.claims.entry import Erratum
from rope_lab.claims.ledger import claim

m, n, a, b = sp.symbols("m n a b", real=True)
theta = sp.Symbol("theta", real=True)


@claim(
    "blog.attn-def",
    locus="eq 2",
    statement=r"The attention weight is the softmax over the keys of the scaled logit: "
    r"$\alpha_{mn} = e^{q_m^\top k_n / \sqrt d} / \sum_{j=1}^N e^{q_m^\top k_j / \sqrt d}$.",
    tier="minor",
    correction=r"$N$ is the number of tokens, not the input sequence itself; no causal mask is written.",
    witness=r"Two weights of one query differ by the factor $e^{(s_{mn} - s_{mj})/\sqrt d}$, and they sum to 1.",
    tolerance=1e-12,
    holds=lambda s, d: np.exp(s / np.sqrt(d)) / np.exp(s / np.sqrt(d)).sum(axis=-1, keepdims=True),
    control=lambda s, d: np.exp(s / d) / np.exp(s / d).sum(axis=-1, keepdims=True),  # the root forgotten
)
def softmax_of_the_scaled_logit(weights, rng):
    d, positions = 8, np.arange(6.0)
    q, k = rng.normal(size=(2, 6, d))
    at: Any = {"q_positions": positions, "k_positions": positions, "theta": rotation.frequencies(d)}
    s = rotation.logits(q, k, **at)
    alpha = weights(s, d)
    log_ratio = np.log(alpha[:, 1:] / alpha[:, :1]) - (s[:, 1:] - s[:, :1]) / d**0.5
    ours = np.abs(alpha - placements.attention_weights(q, k, **at, rotated="qk", causal=False)).max()
    return max(np.abs(alpha.sum(axis=-1) - 1).max(), np.abs(log_ratio).max(), ours)


@claim(
    "blog.output-sum",
    locus="eq 3",
    statement=r"The output is printed as $o_m = \sum_{i=1}^N \alpha_{m,i} v_n$.",
    verdict="false",
    slip=True,
    mend=r"o_m = \sum_{i=1}^N \alpha_{m,i} [-v_n-][+v_i+]",
    gives=(1, 0),
    correction=r"Read $v_i$ for $v_n$: $o_m = \sum_{i=1}^N \alpha_{m,i} v_i$. As printed nothing is summed but the "
    r"weights, and the result is $v_n$ itself.",
    witness=r"Weights $\tfrac12, \tfrac13, \tfrac16$ and values $1, 2, 6$: the mixture is $[[\tfrac{13}{6}]]$; "
    r"the printed sum gives $[[6]]$ for $n = 3$.",
    computed=lambda: tuple(float(np.dot([1 / 2, 1 / 3, 1 / 6], values)) for values in ([1, 2, 6], [6, 6, 6])),
    erratum=Erratum(
        4,
        "blog-values",
        "One letter in the output",
        "Whoever copies the formula into code: nothing would be mixed.",
        matters="code",
    ),
    tolerance=1e-12,
    holds=lambda weights, values, _: sum(w * v for w, v in zip(weights, values, strict=True)),
    printed=lambda weights, values, n: sum(w * values[n] for w in weights),
    control=lambda weights, values, _: sum(w * v for w, v in zip(weights, values[::-1], strict=True)),
)
def each_value_counts_with_its_own_weight(output, rng):
    (q, k, v), at = rng.normal(size=(3, 6, 4)), np.arange(6)
    where: Any = {
        "q_positions": at,
        "k_positions": at,
        "rotated": "qk",
        "theta": rotation.frequencies(4),
        "causal": False,
    }
    weights = placements.attention_weights(q, k, **where)
    return np.abs([output(row, v, 2) for row in weights] - placements.attention(q, k, v, **where)).max()


def _logits(q, k, q_positions, k_positions):
    return rotation.logits(q, k, q_positions=q_positions, k_positions=k_positions, theta=0.7)


@claim(
    "blog.relative-def",
    locus="eq 4 and the line after eq 7",
    statement=r"The attention score of a query and a key depends on their contents and on the relative distance alone.",
    verdict="conditional",
    differs="true of the logit, not of the weight",
    mend=r"[-\text{score}-][+q_m^\top k_n+]\ \text{ depends on } n - m \text{ alone}",
    correction=r"True of the logit $q_m^\top k_n$. The softmax weight $\alpha_{mn}$, which the article calls the "
    r"score, also depends on every other key; what survives: it does not change when all positions move together.",
    witness=r"Two keys with logits $0$ and $0$ weigh $[[\tfrac12]]$ each. Give the second the logit $\ln 3$: the "
    r"first now weighs $[[\tfrac14]]$, and its own logit is still $0$.",
    computed=lambda: tuple(float(latent.softmax(s)[0]) for s in ([0, 0], [0, np.log(3)])),
    erratum=Erratum(
        6,
        "blog-logit",
        "The logit is relative, the weight is more",
        "Whoever reads one attention weight as a function of one distance.",
        matters="readers",
    ),
    tolerance=1e-12,
    holds=_logits,
    printed=lambda q, k, q_positions, k_positions: placements.row_softmax(_logits(q, k, q_positions, k_positions)),
    control=lambda q, k, q_positions, k_positions: _logits(q, k, q_positions, 0 * k_positions),  # keys left unrotated
)
def score_ignores_shifts_and_other_keys(score, rng):
    q, k = rng.normal(size=(1, 2)), rng.normal(size=(3, 2))
    at, keys_at = np.array([4.0]), np.array([1.0, 2.0, 6.5])
    before, *row = score(q, k, at, keys_at)[0]
    shifted = score(q, k, at + 11.25, keys_at + 11.25)[0]  # if all logits of a query stay, so do its weights
    others = score(q, np.vstack([k[:1], rng.normal(size=(2, 2))]), at, np.array([1.0, 9.0, 3.0]))[0, 0]
    apart = score(q, k, at, keys_at + 0.5)[0, 0]  # the key alone moves: a score that stays put sees no distance
    return max(np.abs(shifted - [before, *row]).max(), abs(others - before), float(abs(apart - before) < 1e-3))


@claim(
    "blog.len2",
    locus="before eq 5",
    statement=r"In two dimensions there is a solution: project, then rotate, $f(x, m) = R_m W x$.",
    tier="minor",
    correction=r"It is $Wx$, the vector in the head, that has length 2. The embedding $x$ may have any length.",
    witness=r"Embeddings of length 5 with $2 \times 5$ projections: the logit still sees $n - m$ alone.",
    tolerance=1e-12,
    holds=lambda position: position,
    control=lambda position: position**2 / 8,  # an angle that does not grow in step with the position
)
def two_dimensions_in_the_head_are_enough(turn, rng):
    (W_q, W_k), (x, y) = rng.normal(size=(2, 2, 5)), rng.normal(size=(2, 5))

    def logit(m, n):
        return rotation.rotate(W_q @ x, turn(m), theta=0.7) @ rotation.rotate(W_k @ y, turn(n), theta=0.7)

    by_offset = (W_q @ x) @ rotation.rotation_2d(3 * 0.7) @ (W_k @ y)
    return max(abs(logit(m, m + 3.0) - by_offset) for m in (0.0, 1.0, 17.0, -4.5))


@claim(
    "blog.order-wr",
    locus="before eq 5",
    statement=r"The projection comes first, the rotation second: $R_m (W x)$.",
    correction=r"The order matters. $W_q R_m x$ against $W_k R_n y$ gives a relative logit for all $x$, $y$ only if "
    r"$W_q^\top W_k$ commutes with the rotations: `book.commutes-in-plane`.",
    witness=r"$W_q^\top W_k = \mathrm{diag}(1, 0)$, a quarter turn per position, $x = y = (1, 0)$: rotated first, the "
    r"logit is $[[1]]$ at $m = n = 0$ and $[[0]]$ at $m = n = 1$.",
    computed=lambda: tuple(rotation.rotate([1, 0], n, theta=[np.pi / 2])[0] ** 2 for n in (0, 1)),
    tolerance=1e-12,
    holds=lambda W, x, position: rotation.rotate(W @ x, position, theta=0.7),
    control=lambda W, x, position: W @ rotation.rotate(x, position, theta=0.7),
)
def logit_after_a_common_shift(encode, rng):
    (W_q, W_k), (x, y) = rng.normal(size=(2, 2, 2)), rng.normal(size=(2, 2))

    def logit(m, n):
        return encode(W_q, x, m) @ encode(W_k, y, n)

    by_offset = (W_q @ x) @ rotation.rotation_2d(3 * 0.7) @ (W_k @ y)
    return max(abs(logit(shift, 3 + shift) - by_offset) for shift in (0, 1, 2, 40, -0.5))


@claim(
    "blog.angle",
    locus="after eq 5",
    statement=r"At position $m$ the vector is turned by the angle $m\theta$.",
    tier="minor",
    correction=r"The vector that is turned is $W x_m$, not $x_m$; it turns counter-clockwise.",
    witness=r"As a complex number the vector is multiplied by $e^{im\theta}$.",
    tolerance=1e-12,
    holds=lambda position, theta: np.exp(1j * position * theta),
    control=lambda position, theta: np.exp(-1j * position * theta),  # clockwise
)
def rotation_is_a_complex_factor(factor, rng):
    x, positions, theta = rng.normal(size=2), rng.uniform(-50, 50, size=20), rng.uniform(0.1, 1.0)
    turned = rotation.rotate(x, positions, theta=theta) @ [1, 1j]
    return np.abs(turned - factor(positions, theta) * (x @ [1, 1j])).max()


@claim(
    "blog.inner-chain",
    locus="eq 7",
    statement=r"Six lines lead from $(R_m W_q x_m)^\top (R_n W_k x_n)$ to $(W_q x_m)^\top R_{n-m} (W_k x_n)$.",
    correction=r"Every line holds; the fourth and the fifth are the same line.",
    witness=r"Each line, expanded, is the same polynomial in $\cos$ and $\sin$ of $m\theta$ and $n\theta$.",
    holds=lambda R, m: R(m).inv(),
    control=lambda R, m: R(m),  # the inverse forgotten
)
def every_line_of_the_derivation(inverse):
    q, k = sp.Matrix(sp.symbols("q_1:3", real=True)), sp.Matrix(sp.symbols("k_1:3", real=True))

    def R(position):
        return exact.rotation_2d(position * theta)

    lines = [
        (R(m) * q).T * (R(n) * k),
        q.T * R(m).T * R(n) * k,
        q.T * sp.simplify(inverse(R, m)) * R(n) * k,
        q.T * R(-m) * R(n) * k,
        q.T * R(n - m) * k,
    ]
    return all(symbolic.same(line, lines[-1]) for line in lines[:-1])


@claim(
    "blog.props",
    locus="the box “Tip”",
    statement=r"Rotations of a plane obey $R_m R_n = R_{m+n}$, $R_m^{-1} = R_m^\top$ and $R_m^{-1} = R_{-m}$.",
    witness=r"A reflection is orthogonal too, so it passes $M^{-1} = M^\top$, and fails the other two.",
    holds=+1,
    control=-1,  # a reflection
)
def group_law_and_inverse(side):
    def R(angle):
        return exact.rotation_2d(angle) * sp.diag(1, side)

    inverses = all(symbolic.same(inverse * R(a), sp.eye(2)) for inverse in (R(a).T, R(-a)))
    return inverses and symbolic.same(R(a) * R(b), R(a + b))
