"""CRoPE's complex form of the logit (its section 3.1): the conjugate, and why complex weights make another model."""

import numpy as np
import sympy as sp

from rope_lab.algebra import rotation, symbolic, widely_linear
from rope_lab.claims import exact
from rope_lab.claims.entry import Erratum
from rope_lab.claims.ledger import claim

m, n, theta = sp.symbols("m n theta", real=True)
J = sp.Matrix(widely_linear.times_i(2).astype(int))


def unit_vectors(size):
    return list(np.eye(size))


def unit_matrices(size):
    return [np.eye(size * size)[i].reshape(size, size) for i in range(size * size)]


@claim(
    "crope.abs.not-complex-linear",
    locus="abstract; 3.1",
    statement=r"A real projection $W$ is in general no complex-linear map of the embedding, read as complex numbers.",
    witness=r"$\mathrm{diag}(1, 0)$ sends $1$ to $1$ and $\mathrm i$ to $0$, and not to $\mathrm i$. A matrix with a "
    r"single entry is half complex-linear and half conjugate-linear.",
    cases="all matrices of 4 by 4 with a single entry, in both layouts",
    holds=(2, 2),
    control=(4, 0),  # as if every weight alone were complex-linear
)
def each_weight_is_half_and_half(energies):
    weights = [2 * E for E in unit_matrices(4)]
    return all(widely_linear.energies(W, layout=of) == energies for of in ("interleaved", "half") for W in weights)


@claim(
    "crope.half-params",
    locus="abstract, 1, 3.1",
    statement=r"A complex $\tfrac D2 \times \tfrac D2$ matrix has half the real parameters of a real $D \times D$ one.",
    correction=r"Weights, that is; biases stay as many. $D$ is even.",
    witness=r"$2 (D/2)^2 = D^2/2$. For $D = 2$: two numbers in the place of four.",
    holds=lambda D: 2 * (D // 2) ** 2,
    control=lambda D: (D // 2) ** 2,  # a complex number counted once
)
def parameters_of_the_layer(count):
    from rope_lab.nn.complex_linear import ComplexLinear

    k = sp.Symbol("k", integer=True, positive=True)
    for D in (2, 4, 128):
        layers = [ComplexLinear(D, D, layout="interleaved", bias=bias) for bias in (False, True)]
        if [sum(p.numel() for p in layer.parameters()) for layer in layers] != [count(D), count(D) + D]:
            return False
    # The same number is the dimension of the space of complex-linear maps: the trace of the projection on it.
    return count(2 * k) == (2 * k) ** 2 / 2 and all(
        sum((E * widely_linear.split(E)[0]).sum() for E in unit_matrices(D)) == count(D) for D in (2, 4, 6)
    )


@claim(
    "crope.eq8-9",
    locus="3.1, eq 8 and 9",
    statement=r"A query and a key become complex: $\tilde q = (q_1 + \mathrm i q_2,\ q_3 + \mathrm i q_4, \dots)$.",
    correction=r"A remark: this fixes the interleaved layout.",
    witness=r"$(1, 2, 3, 4) \mapsto (1 + 2\mathrm i, 3 + 4\mathrm i)$.",
    cases="8 components",
    holds=lambda x: x[0::2] + 1j * x[1::2],
    control=lambda x: x[: len(x) // 2] + 1j * x[len(x) // 2 :],  # the pairs of the half-split layout
)
def pairs_of_neighbours(complexify):
    for x in (*unit_vectors(8), np.arange(1.0, 9.0)):  # a linear map is known by its unit vectors
        z = widely_linear.to_complex(x)
        if (z != complexify(x)).any() or (widely_linear.to_real(z) != x).any():
            return False
    return True


@claim(
    "crope.eq10",
    locus="3.1, eq 10",
    statement=r"$\tilde{\mathcal R}_m = \mathrm{diag}(e^{\mathrm i m\theta_1}, \dots, e^{\mathrm i m\theta_{D/2}})$ "
    r"does to $\tilde q$ what $\mathcal R_m$ does to $q$.",
    witness=r"$e^{\mathrm i\varphi}(q_1 + \mathrm i q_2)$ has the real part $q_1\cos\varphi - q_2\sin\varphi$.",
    cases="two planes",
    holds=+1,
    control=-1,  # the turn in the other direction
)
def phases_on_the_diagonal(sign):
    freq, q = sp.symbols("theta_0:2", real=True), sp.Matrix(sp.symbols("q_0:4", real=True))
    turned = exact.rotation_matrix(m, theta=freq) * q
    for plane in (0, 1):
        a, b = 2 * plane, 2 * plane + 1
        phase = sp.cos(m * freq[plane]) + sign * sp.I * sp.sin(m * freq[plane])
        if sp.expand(phase * (q[a] + sp.I * q[b]) - turned[a] - sp.I * turned[b]) != 0:
            return False
    return True


def _with_and_without_conjugate():
    """q = k = (0, 1) at one place: the real part of conj(q) k, and of q k."""
    q = k = widely_linear.to_complex([0, 1])[0]
    return (q.conj() * k).real, (q * k).real


@claim(
    "crope.eq11",
    locus="3.1, eq 11",
    statement=r"$q_m^\top k_n = \mathrm{Re}[\tilde q_m^\top \tilde k_n]$.",
    verdict="false",
    slip=True,
    mend=r"q_m^\top k_n = \mathrm{Re}[\tilde q_m^{[-\top-][+\dagger+]} \tilde k_n]",
    gives=(1, 0),
    correction=r"Read $\mathrm{Re}[\tilde q_m^\dagger \tilde k_n]$: the conjugate transpose. The same holds for eq 12 "
    r"and 13, and with it the paper's argument stands.",
    witness=r"$q = k = (0, 1)$: the left side is $[[1]]$, the printed right side $\mathrm{Re}[\mathrm i \cdot \mathrm "
    r"i] = [[-1]]$.",
    computed=_with_and_without_conjugate,
    erratum=Erratum(
        8,
        "crope-dagger",
        "A transpose for a conjugate transpose",
        "Whoever computes with the complex vectors as printed. With the conjugate transpose the equations hold, and "
        "the argument with them.",
        matters="code",
        also=("crope.eq12", "crope.eq13", "crope.eq27-sign", "crope.eq28-form", "crope.realform"),
    ),
    cases="all pairs of unit vectors with 6 components",
    holds=lambda q, k: (q.conj() @ k).real,
    printed=lambda q, k: (q @ k).real,
    control=lambda q, k: (q.conj() @ k).imag,  # the cross product
)
def the_dot_product(complex_form):
    # Both sides are linear in q and in k: the unit vectors decide.
    pairs = [(q, k) for q in unit_vectors(6) for k in unit_vectors(6)]
    return all(q @ k == complex_form(widely_linear.to_complex(q), widely_linear.to_complex(k)) for q, k in pairs)


def _plane(name):
    a, b = sp.symbols(f"{name}_1:3", real=True)
    return sp.Matrix([a, b]), a + sp.I * b


def _phase(angle):
    return sp.cos(angle) + sp.I * sp.sin(angle)


@claim(
    "crope.eq12",
    locus="3.1, eq 12",
    statement=r"The logit is $\mathrm{Re}[\tilde q_m^\top \tilde{\mathcal R}^*_{m-n} \tilde k_n]$, exactly equivalent "
    r"to eq 7.",
    verdict="false",
    slip=True,
    mend=r"\mathrm{Re}[\tilde q_m^{[-\top-][+\dagger+]} \tilde{\mathcal R}^*_{m-n} \tilde k_n]",
    gives=(0, 1),
    correction=r"Read $\tilde q_m^\dagger$ for $\tilde q_m^\top$, as in eq 11; then it is exactly equivalent. As "
    r"printed it is the logit of $q$ with every second component negated.",
    witness=r"$q = k = (0, 1)$, $m = n$: $[[-1]]$ as printed, $[[1]]$ in eq 7.",
    computed=lambda: _with_and_without_conjugate()[::-1],
    cases="one plane",
    holds=lambda q, R, k: sp.conjugate(q) * sp.conjugate(R) * k,
    printed=lambda q, R, k: q * sp.conjugate(R) * k,
    control=lambda q, R, k: sp.conjugate(q) * R * k,  # the star on the rotation dropped
)
def the_logit_in_complex_form(form):
    (q, q_tilde), (k, k_tilde) = _plane("q"), _plane("k")
    logit = (exact.rotation_2d(m * theta) * q).dot(exact.rotation_2d(n * theta) * k)
    said = sp.re(sp.expand(form(q_tilde, _phase((m - n) * theta), k_tilde)))
    return symbolic.same(sp.Matrix([[said]]), sp.Matrix([[logit]]))


@claim(
    "crope.eq13",
    locus="3.1, eq 13",
    statement=r"With complex weights the logit is $\mathrm{Re}[\tilde x_m^\top \tilde W_q^\dagger \tilde{\mathcal "
    r"R}^*_{m-n} \tilde W_k\, \tilde x_n]$.",
    verdict="false",
    slip=True,
    tolerance=1e-11,
    mend=r"\mathrm{Re}[\tilde x_m^{[-\top-][+\dagger+]} \tilde W_q^\dagger \tilde{\mathcal R}^*_{m-n} "
    r"\tilde W_k\, \tilde x_n]",
    gives=(0, 1),
    correction=r"Read $\tilde x_m^\dagger$ for $\tilde x_m^\top$, as in eq 11. The dagger on $\tilde W_q$ shows what "
    r"is meant. As printed the query would be $\tilde W_q \bar{\tilde x}_m$: conjugate-linear.",
    witness=r"$D = 2$, $\tilde W_q = \tilde W_k = 1$, $m = n$, both words $(0, 1)$: $[[-1]]$ as printed, $[[1]]$ as "
    r"meant.",
    computed=lambda: _with_and_without_conjugate()[::-1],
    holds=lambda x, W_q, R, W_k, y: (x.conj() @ W_q.conj().T @ R.conj() @ W_k @ y).real,
    printed=lambda x, W_q, R, W_k, y: (x @ W_q.conj().T @ R.conj() @ W_k @ y).real,
    control=lambda x, W_q, R, W_k, y: (x.conj() @ W_q.T @ R.conj() @ W_k @ y).real,  # the weights not conjugated
)
def the_logit_with_complex_weights(form, rng):
    worst, D, freq = 0.0, 8, rotation.frequencies(8)
    for _ in range(4):
        W_q, W_k = rng.normal(size=(2, 4, 4)) + 1j * rng.normal(size=(2, 4, 4))
        x, y = rng.normal(size=(2, D))
        at_m, at_n = rng.uniform(-20, 20, size=2)
        real_q, real_k = (widely_linear.join(W, 0 * W) for W in (W_q, W_k))
        logit = rotation.rotate(real_q @ x, at_m, theta=freq) @ rotation.rotate(real_k @ y, at_n, theta=freq)
        R = widely_linear.complex_matrix(rotation.rotation_matrix(at_m - at_n, theta=freq))
        said = form(widely_linear.to_complex(x), W_q, R, W_k, widely_linear.to_complex(y))
        worst = max(worst, abs(said - logit))
    return worst


@claim(
    "crope.eq13-not-equivalent",
    locus="3.1, after eq 13",
    statement=r"The model with complex weights is not equivalent to RoPE: there are real weights whose logits it "
    r"cannot make.",
    correction=r"The sharp reason. Multiply the embedding of every word by one phase $e^{\mathrm i\varphi}$: with "
    r"complex weights (and no biases) no logit changes. With real weights logits do.",
    witness=r"$D = 2$, $W_q = \mathrm{diag}(1, -1)$, $W_k = I$, $m = n$: the logit of $x$ and $y$ is $x_1y_1 - "
    r"x_2y_2$. For $x = y = (1, 0)$ it is $[[1]]$; after a quarter turn of both it is $[[-1]]$.",
    computed=lambda: tuple(
        float(x @ np.diag([1, -1]) @ x) for x in ([1, 0], rotation.rotate([1, 0], 1, theta=[np.pi / 2]))
    ),
    holds=lambda W, J: (W - J * W * J) / 2,
    control=lambda W, _: W,  # real weights as they come
)
def a_common_phase_changes_no_logit(weights):
    J_2 = widely_linear.times_i(2)
    ours = all(np.array_equal(2 * widely_linear.split(E)[0], E - J_2 @ E @ J_2) for E in unit_matrices(2))
    R, mirror = exact.rotation_2d((n - m) * theta), sp.diag(1, -1)
    # The logit of x and y is x^T W_q^T R W_k y. In any size: of i only i^2 = -1 is used, of R that it commutes with i.
    i, W_qT, turn, W_k = sp.symbols("i W_qT R W_k", commutative=False)
    form = weights(W_qT, i) * (turn - i * turn * i) / 2 * weights(W_k, i)
    c, s = sp.symbols("c s")  # of the phase: c^2 + s^2 = 1
    change = (c - s * i) * form * (c + s * i) - (c**2 + s**2) * form
    witness = J.T * mirror * J != mirror and J * R == R * J
    return ours and witness and sp.expand(sp.expand(change).subs(i**2, -1)) == 0
