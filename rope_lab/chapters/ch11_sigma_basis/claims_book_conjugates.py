"""What chapter 11 says on its own account: with the conjugate positions subtract, without it they add."""

import numpy as np
import sympy as sp

from rope_lab.algebra import rotation, symbolic, widely_linear
from rope_lab.claims import exact
from rope_lab.claims.ledger import claim

m, n, theta = sp.symbols("m n theta", real=True)


def _pair(name):
    a, b = sp.symbols(f"{name}_1:3", real=True)
    return sp.Matrix([a, b]), a + sp.I * b


def _phase(angle):
    return sp.cos(angle) + sp.I * sp.sin(angle)


@claim(
    "book.dagger-offset",
    statement=r"Turn query and key, then multiply with the conjugate: $\overline{e^{\mathrm i m\theta} \tilde q}\; "
    r"e^{\mathrm i n\theta} \tilde k = e^{\mathrm i (n - m)\theta}\, \bar{\tilde q}\, \tilde k$.",
    witness=r"Its real part is the logit of chapter 1.",
    holds=sp.conjugate,
    control=lambda z: z,  # the conjugate forgotten
)
def conjugate_gives_the_difference(bar):
    (query, q_tilde), (key, k_tilde) = _pair("q"), _pair("k")
    product = sp.expand(bar(_phase(m * theta) * q_tilde) * _phase(n * theta) * k_tilde)
    offset = _phase((n - m) * theta) * sp.conjugate(q_tilde) * k_tilde
    logit = (exact.rotation_2d(m * theta) * query).dot(exact.rotation_2d(n * theta) * key)
    one = sp.Matrix([product - offset]).expand(complex=True)
    real = sp.Matrix([sp.re(product) - logit]).expand(complex=True)
    return symbolic.same(one, sp.zeros(1, 1)) and symbolic.same(real, sp.zeros(1, 1))


@claim(
    "book.transpose-sum",
    statement=r"Without the conjugate the positions add: $e^{\mathrm i m\theta} \tilde q\; e^{\mathrm i n\theta} "
    r"\tilde k = e^{\mathrm i (m + n)\theta}\, \tilde q\, \tilde k$.",
    witness=r"$\tilde q = \tilde k = 1$: the logit is $\cos (m + n)\theta$, another one at each place of the text.",
    holds=lambda m, n: m + n,
    control=lambda m, n: n - m,  # what one would want
)
def transpose_gives_the_sum(combined):
    (query, q_tilde), (key, k_tilde) = _pair("q"), _pair("k")
    turned = [exact.rotation_2d(at * theta) * vector for at, vector in ((m, query), (n, key))]
    product = sp.expand((turned[0][0] + sp.I * turned[0][1]) * (turned[1][0] + sp.I * turned[1][1]))
    said = sp.expand(_phase(combined(m, n) * theta) * q_tilde * k_tilde)
    return symbolic.same(sp.Matrix([product]), sp.Matrix([said]))


@claim(
    "book.literal-transpose",
    statement=r"Taken literally, eq 12 of CRoPE mirrors the query: $\mathrm{Re}[\tilde q\, e^{\mathrm i (n-m)\theta}\, "
    r"\tilde k] = (\sigma_3 q)^\top R_{(n-m)\theta}\, k$ in each plane.",
    witness=r"$q = k = (0, 1)$ and $m = n$: $\sigma_3 q = (0, -1)$, and the logit is $[[-1]]$.",
    computed=lambda: float((widely_linear.to_complex([0, 1]) ** 2)[0].real),
    holds=3,
    control=1,  # mirrored at the other line
)
def a_mirrored_query(which):
    (query, q_tilde), (key, k_tilde) = _pair("q"), _pair("k")
    sigma = sp.Matrix(widely_linear.SIGMA[which].astype(int))
    literal = sp.re(sp.expand(q_tilde * _phase((n - m) * theta) * k_tilde))
    return symbolic.same(literal, (sigma * query).dot(exact.rotation_2d((n - m) * theta) * key))


@claim(
    "book.literal-eq13",
    statement=r"Taken literally, eq 13 of CRoPE is a RoPE model whose keys are complex-linear and whose queries are "
    r"conjugate-linear: $\tilde q = \tilde W_q \bar{\tilde x}$.",
    tolerance=1e-11,
    witness=r"$\tilde x^\top \tilde W_q^\dagger = (\tilde W_q \bar{\tilde x})^\dagger$. One plane, $\tilde W_q = 1$: "
    r"the query is the mirrored word.",
    holds=lambda W: widely_linear.join(0 * W, W),
    control=lambda W: widely_linear.join(W, 0 * W),  # what is meant
)
def conjugate_linear_queries(query_map, rng):
    worst, freq = 0.0, rotation.frequencies(8)
    for _ in range(4):
        W_q, W_k = rng.normal(size=(2, 4, 4)) + 1j * rng.normal(size=(2, 4, 4))
        x, y = rng.normal(size=(2, 8))
        at_m, at_n = rng.uniform(-20, 20, size=2)
        query = rotation.rotate(query_map(W_q) @ x, at_m, theta=freq)
        logit = query @ rotation.rotate(widely_linear.join(W_k, 0 * W_k) @ y, at_n, theta=freq)
        back = np.exp(-1j * (at_m - at_n) * freq)
        x_tilde, y_tilde = widely_linear.to_complex(x), widely_linear.to_complex(y)
        worst = max(worst, abs((x_tilde @ W_q.conj().T @ (back * (W_k @ y_tilde))).real - logit))
    return worst


@claim(
    "book.common-phase",
    statement=r"With complex-linear $W_q$ and $W_k$, no biases, and every word multiplied by one phase: $(\tilde W_q "
    r"e^{\mathrm i\varphi} \tilde x)^\dagger = e^{-\mathrm i\varphi} (\tilde W_q \tilde x)^\dagger$, the key has "
    r"$e^{\mathrm i\varphi}$, and the logit stays.",
    tolerance=1e-11,
    witness=r"$\varphi = \pi$: $x \mapsto -x$ for all words changes no logit of any model without biases. A quarter "
    r"turn does change those of real weights.",
    holds=lambda W: widely_linear.split(W)[0],
    control=lambda W: W,
)
def a_phase_for_all(weights, rng):
    worst, freq, positions = 0.0, rotation.frequencies(8), np.arange(5.0)
    for angle in (np.pi / 2, *rng.uniform(0.5, 2.5, size=3)):
        W_q, W_k = (weights(W) for W in rng.normal(size=(2, 8, 6)))
        x = rng.normal(size=(5, 6))
        turned = widely_linear.to_real(np.exp(1j * angle) * widely_linear.to_complex(x))
        before, after = (
            rotation.logits(w @ W_q.T, w @ W_k.T, q_positions=positions, k_positions=positions, theta=freq)
            for w in (x, turned)
        )
        worst = max(worst, np.abs(after - before).max())
    return worst
