"""What chapter 11 says on its own account: the split of a real map, the conjugate, and the logit's second part."""

import numpy as np
import sympy as sp

from rope_lab.algebra import rotation, symbolic, widely_linear
from rope_lab.claims import exact
from rope_lab.claims.ledger import claim

p, q, r, s = sp.symbols("p q r s", real=True)
M = sp.Matrix([[p, q], [r, s]])


def times_i(size):
    return sp.Matrix(widely_linear.times_i(size).astype(int))


def number(matrix, z):
    """The real matrix of one plane, applied to a complex number."""
    image = matrix * sp.Matrix([sp.re(z), sp.im(z)])
    return image[0] + sp.I * image[1]


def parts():
    """A and B of the block M, in symbols, after a look at the algebra."""
    A, B = ((p + s) + sp.I * (r - q)) / 2, ((p - s) + sp.I * (r + q)) / 2
    there = [part.item() for part in widely_linear.complex_parts([[1, 2], [3, 5]])]
    here = [complex(part.subs({p: 1, q: 2, r: 3, s: 5})) for part in (A, B)]
    if here != there:
        raise ArithmeticError(f"algebra.widely_linear reads {there} where the formula gives {here}")
    return A, B


@claim(
    "book.split",
    statement=r"Every real matrix of even sizes is in exactly one way the sum of a complex-linear and a "
    r"conjugate-linear map: $\tilde y = A\,\tilde x + B\,\bar{\tilde x}$. With $J$, multiplication by $\mathrm i$, "
    r"the two are $\tfrac12 (W - JWJ)$ and $\tfrac12 (W + JWJ)$.",
    witness=r"$\mathrm{diag}(1, 0) = \tfrac12 I + \tfrac12\,\mathrm{diag}(1, -1)$: the real part is $\tfrac12 z + "
    r"\tfrac12 \bar z$.",
    holds=-1,
    control=+1,  # the sign of J W J
)
def linear_plus_conjugate(sign):
    # J and K multiply by i on the two sides, in any sizes: nothing more is used of them than J^2 = K^2 = -1.
    J, K, W, A, B = sp.symbols("J K W A B", commutative=False)

    def half(V, sign):
        return sp.expand(V + sign * J * V * K) / 2

    def zero(word, known):
        return sp.expand(sp.expand(word).subs(known).subs({J**2: -1, K**2: -1})) == 0

    linear, conjugate = half(W, sign), half(W, -sign)
    words = linear + conjugate - W, J * linear - linear * K, J * conjugate + conjugate * K
    made = all(zero(word, {}) for word in words)
    alone = zero(half(A + B, sign) - A, {J * A: A * K, J * B: -B * K})  # of any such sum A is this half
    J_4, J_2, V = widely_linear.times_i(4), widely_linear.times_i(2), np.arange(8).reshape(4, 2)
    ours = np.array_equal(2 * widely_linear.split(V)[0], V + sign * J_4 @ V @ J_2)
    return made and alone and ours and np.array_equal(J_4 @ J_4, -np.eye(4))


@claim(
    "book.block-parts",
    statement=r"The block $\begin{pmatrix} p & q\\ r & s\end{pmatrix}$ is $z \mapsto A z + B \bar z$ with $2A = (p + "
    r"s) + \mathrm i\,(r - q)$ and $2B = (p - s) + \mathrm i\,(r + q)$.",
    witness=r"$p = 1$, the others $0$: $A = B = [[\tfrac12]]$, and $\tfrac12 z + \tfrac12\bar z$ is the real part.",
    computed=lambda: float(widely_linear.complex_parts([[1, 0], [0, 0]])[0][0, 0].real),
    holds=lambda A, B: (A, B),
    control=lambda A, B: (sp.conjugate(A), B),  # r - q taken the wrong way round
)
def one_block(read):
    x, y = sp.symbols("x y", real=True)
    A, B = read(*parts())
    z = x + sp.I * y
    return sp.expand(A * z + B * sp.conjugate(z) - number(M, z)) == 0


@claim(
    "book.commutes-with-j",
    statement=r"A real map is complex-linear if and only if it commutes with $J$: if it does not matter whether one "
    r"turns by a quarter before it or after it.",
    witness=r"$\sigma_3 J = -J \sigma_3$: a mirror turns the other way.",
    cases="one block",
    holds=lambda J: J * M - M * J,
    control=lambda J: J * M + M * J,
)
def commutator(bracket):
    _, B = parts()
    gap = bracket(times_i(2))  # it must vanish where B does, and only there
    equations = [sp.re(B), sp.im(B)]
    solution = sp.solve(list(gap), list(M), dict=True)
    return solution == sp.solve(equations, list(M), dict=True)


@claim(
    "book.energies-add",
    statement=r"The two halves are orthogonal, so their energies add: $|W|^2 = 2|A|^2 + 2|B|^2$, with the sums of all "
    r"squared entries.",
    witness=r"$\mathrm{diag}(3, 1)$: $A = [[2]]$, $B = [[1]]$, and $9 + 1 = [[8]] + [[2]]$.",
    computed=lambda: (
        *(float(part[0, 0].real) for part in widely_linear.complex_parts(np.diag([3, 1]))),
        *widely_linear.energies(np.diag([3, 1])),
    ),
    cases="one block",
    holds=2,
    control=1,  # as if a complex number were written once
)
def pythagoras(factor):
    A, B = parts()
    total = factor * sum(sp.re(part) ** 2 + sp.im(part) ** 2 for part in (A, B))
    symbols = sp.expand(total - sum(entry**2 for entry in M)) == 0
    turned = times_i(2) * M * times_i(2)
    right_angle = sp.expand(sum((M - turned).multiply_elementwise(M + turned))) == 0
    return symbols and right_angle and widely_linear.energies([[3, 0], [0, 1]]) == (factor * 4, factor)


@claim(
    "book.nearest-linear",
    statement=r"The complex-linear half of $W$ is the complex-linear map nearest to it: $|W - C|^2 = |W_+ - C|^2 + "
    r"|W_-|^2$ for every complex-linear $C$, with the halves $W_+$ and $W_-$ of $W$.",
    witness=r"$W = \mathrm{diag}(1, 0)$: nearest is $[[\tfrac12]] I$, and what is left has energy $[[\tfrac12]]$.",
    computed=lambda: (float(widely_linear.split(np.diag([1, 0]))[0][0, 0]), widely_linear.energies(np.diag([1, 0]))[1]),
    cases="one block",
    holds=lambda a, b: sp.Matrix([[a, -b], [b, a]]),
    control=lambda a, b: sp.Matrix([[a, b], [b, a]]),  # not complex-linear
)
def a_right_angle(linear):
    a, b = sp.symbols("a b", real=True)
    J, C = times_i(2), linear(a, b)
    halves = sp.Matrix.vstack((M - J * M * J) / 2, (M + J * M * J) / 2)
    exact.tied(halves, lambda at: np.vstack(widely_linear.split([[at(p), at(q)], [at(r), at(s)]])))
    plus, minus = halves[:2, :], halves[2:, :]

    def energy(matrix):
        return sum(entry**2 for entry in matrix)

    return sp.expand(energy(M - C) - energy(plus - C) - energy(minus)) == 0


@claim(
    "book.sigma-ellipse",
    statement=r"$z \mapsto Az + B\bar z$ has the determinant $|A|^2 - |B|^2$, and carries the unit circle to an "
    r"ellipse with the half axes $|A| + |B|$ and $\bigl||A| - |B|\bigr|$.",
    witness=r"$|A| = |B|$: the plane is squashed onto a line. $\mathrm{diag}(1, 0)$ is such a map.",
    holds=(+1, -1),
    control=(+1, +1),  # as if mirrors kept the direction of turning
)
def circle_to_ellipse(signs):
    A, B = (sp.expand(sp.re(part) ** 2 + sp.im(part) ** 2) for part in parts())  # the squared moduli
    determinant = sp.expand(signs[0] * A + signs[1] * B - M.det()) == 0
    # Squared half axes are the eigenvalues of M^T M: their sum and their product decide.
    gram = M.T * M
    total = sp.expand(gram.trace() - 2 * (A + B)) == 0  # (|A| + |B|)^2 + (|A| - |B|)^2
    product = sp.expand(gram.det() - (A + signs[1] * B) ** 2) == 0
    return determinant and total and product


# With the conjugate positions subtract, without it they add.

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
        for W, sign, bar in ((W_q, -1, np.conj), (W_k, +1, np.asarray)):  # the row of the query, and the key
            one, turned_one = (bar(widely_linear.to_complex(w @ W.T)) for w in (x, turned))
            worst = max(worst, np.abs(turned_one - np.exp(sign * 1j * angle) * one).max())
    return worst


# The second part of the complex logit is the logit of a query that was turned by a right angle.


@claim(
    "book.query-times-i",
    statement=r"Let $z = \sum_i \overline{\tilde q_i}\,\tilde k_i\, e^{\mathrm i(n-m)\theta_i}$. Its real part is the "
    r"logit, and its imaginary part is the logit of the query $\mathrm i q$ with the same keys: $-\mathrm{Im}\,z$ that "
    r"of $-\mathrm i q$. The quarter turn may come before or after the rotation.",
    witness=r"$\overline{\mathrm i}\, z = -\mathrm i z$ has the real part $\mathrm{Im}\, z$.",
    tolerance=1e-12,
    holds="interleaved",
    control="half",  # a quarter turn in the other layout: pairs that do not turn together
)
def a_quarter_turn_of_the_query(layout, rng):
    d, theta = 8, rotation.frequencies(8, base=50.0)
    q, k, J = rng.normal(size=d), rng.normal(size=d), widely_linear.times_i(d, layout=layout)
    z_q, z_k = (widely_linear.to_complex(x) for x in (q, k))
    misses = []
    for m, n in ((3.0, 11.0), (40.0, 2.0)):
        z = (z_q.conj() * z_k * np.exp(1j * (n - m) * theta)).sum()
        turned = rotation.logits((J @ q)[None], k[None], q_positions=[m], k_positions=[n], theta=theta)[0, 0]
        after = J @ rotation.rotate(q[None], [m], theta=theta)[0] @ rotation.rotate(k[None], [n], theta=theta)[0]
        plain = rotation.logits(q[None], k[None], q_positions=[m], k_positions=[n], theta=theta)[0, 0]
        misses += [abs(plain - z.real), abs(turned - z.imag), abs(after - z.imag)]
    return max(misses)
