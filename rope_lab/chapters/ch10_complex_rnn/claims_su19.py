"""What part 19 says on the way from rotated values to a complex linear RNN."""

import numpy as np
import sympy as sp

from rope_lab.algebra import recurrence, widely_linear
from rope_lab.claims import exact
from rope_lab.claims.ledger import claim

gamma, theta = sp.symbols("gamma theta", positive=True)
phi = sp.Symbol("varphi", real=True)
STEPS = 4
V = [sp.Matrix(sp.symbols(f"x_{t} y_{t}", real=True)) for t in range(STEPS)]


def _turn(offset):
    return exact.rotation_2d(offset * theta)


def _zero(expression) -> bool:
    """Whether an expression in cosines, sines and exponentials vanishes."""
    return sp.simplify(sp.expand(sp.expand_complex(expression).rewrite(sp.exp))) == 0


def _by_definition(m):
    """R_m^T times the sum over n <= m of gamma^(m-n) R_n v_n."""
    total = sp.zeros(2, 1)
    for n in range(m + 1):
        total += gamma ** (m - n) * _turn(n) * V[n]
    return _turn(m).T * total


@claim(
    "su19.rnn-special",
    locus="Related Work, gamma formula",
    statement=r"Causal VO-RoPE with the weights $a_{ij} = \gamma^{i-j}$, $0 < \gamma < 1$, gives "
    r"$o_i = \sum_{j \le i} \gamma^{i-j} \mathcal R_{j-i} v_j$.",
    correction="Remark: these weights do not sum to 1, so this is a case of un-normalised (linear) attention.",
    witness=r"$\gamma = 0.9$, second position: the weights are $[[0.9]]$ and $[[1]]$, together $[[1.9]]$.",
    computed=lambda: (
        *recurrence.impulse_response(2, gamma=0.9, theta=[0])[::-1, 0].real,
        recurrence.convolved([[1, 0], [1, 0]], gamma=0.9, theta=[0])[1, 0],
    ),
    holds=+1,
    control=-1,  # R_(i-j): turned the other way
)
def decaying_weights(sign):
    for m in range(STEPS):
        total = sp.zeros(2, 1)
        for n in range(m + 1):
            total += gamma ** (m - n) * _turn(sign * (n - m)) * V[n]
        if not all(_zero(entry) for entry in _by_definition(m) - total):
            return False
    return True


@claim(
    "su19.rnn-complex-form",
    locus="Related Work, the sentence before the last formula",
    statement=r"In complex coordinates the block-diagonal $\mathcal R_{j-i}$ is the diagonal matrix of "
    r"$e^{\mathrm i\theta(j-i)}$.",
    correction=r"Remark: with $\tilde v = v_1 + \mathrm i v_2$ in each plane. The whole complex number is kept, "
    r"not its real part.",
    witness=r"A quarter turn takes $(1, 0)$ to $(0, 1)$, which is $\mathrm i \cdot 1$.",
    holds=sp.exp(sp.I * phi),
    control=sp.exp(-sp.I * phi),  # the conjugate: x_1 - i x_2 turns like this
)
def one_complex_number(factor):
    x, y = V[0]
    turned = exact.rotation_2d(phi) * V[0]
    return _zero(turned[0] + sp.I * turned[1] - factor * (x + sp.I * y))


@claim(
    "su19.rnn-geometric",
    locus="Related Work, last formula",
    statement=r"$o_i = \sum_{j \le i} (\gamma e^{-\mathrm i\theta})^{i-j} v_j$: the linear recurrence "
    r"$h_t = \gamma e^{-\mathrm i\theta} h_{t-1} + v_t$ with $h_0 = 0$.",
    witness=r"$v = 1, 0$ with $\gamma = \tfrac12$ and a quarter turn: $h_2 = -\tfrac12 \mathrm i$, and "
    r"$\gamma \mathcal R_{-1} (1, 0)^\top = (0, [[-\tfrac12]])^\top$.",
    computed=lambda: float(recurrence.recurrent([[1, 0], [0, 0]], gamma=0.5, theta=[np.pi / 2])[1, 1]),
    holds=gamma * sp.exp(-sp.I * theta),
    control=gamma * sp.exp(sp.I * theta),  # the other sign of theta
)
def the_recurrence(rate):
    h = sp.Integer(0)
    for t, v in enumerate(V):
        h = rate * h + v[0] + sp.I * v[1]
        out = _by_definition(t)
        if not _zero(h - out[0] - sp.I * out[1]):
            return False
    numbers = {gamma: sp.Rational(4, 5), theta: sp.Rational(7, 10)}
    here = [complex((rate**n).subs(numbers).evalf(20)) for n in range(STEPS)]  # and the float64 reference says so too
    pulse = np.zeros((STEPS, 2))
    pulse[0, 0] = 1
    there = widely_linear.to_complex(recurrence.recurrent(pulse, gamma=0.8, theta=0.7))[:, 0]
    return bool(np.allclose(here, there, rtol=0, atol=1e-12))


@claim(
    "su19.rnn-complete",
    locus="Related Work, after the last formula",
    statement=r"A linear RNN with complex decay is in theory more complete than one with purely real decay.",
    correction=r"Remark, what it means: no finite sum $\sum_k c_k \lambda_k^n$ with real $\lambda_k$ equals "
    r"$\gamma^n \cos n\theta$ for all $n \ge 0$, unless $\theta$ is a multiple of $\pi$. On a window of $L$ steps, $L$ "
    r"different real decays fit any kernel.",
    witness=r"$\theta = \pi$: the kernel is $(-\gamma)^n$, one real decay.",
    holds=sp.cos,
    control=sp.cosh,  # half the sum of two real decays
)
def its_recurrence_has_no_real_root(first):
    """The shortest recurrence of a sum of exponentials has exactly their bases as roots: here none of them is real."""
    c, x = sp.symbols("c x")
    kernel = [gamma**n * sp.chebyshevt_poly(n, c) for n in range(8)]  # cos(n theta) is a polynomial in cos(theta)
    here = [complex(k.subs({gamma: 0.9, c: first(0.7)})).real for k in kernel]
    if first is sp.cos and not np.allclose(here, recurrence.impulse_response(8, gamma=0.9, theta=0.7)[:, 0].real):
        return False
    b, a = -sp.Matrix([kernel[0:2], kernel[1:3]]).inv() * sp.Matrix(kernel[2:4])
    if any(sp.cancel(kernel[n + 2] + a * kernel[n + 1] + b * kernel[n]) != 0 for n in range(6)):
        return False
    discriminant = sp.cancel(sp.discriminant(x**2 + a * x + b, x)).subs(c, first(theta))
    return sp.simplify(discriminant + 4 * gamma**2 * sp.sin(theta) ** 2) == 0  # negative unless sin(theta) = 0


@claim(
    "su19.lru-retnet",
    locus="Related Work, first and last sentence",
    statement=r"VO-RoPE is the form between attention and complex linear RNNs such as LRU and RetNet; adding it "
    r"takes a real linear RNN to a complex one.",
    verdict="conditional",
    correction=r"So for LRU, whose state takes in the values. RetNet rotates queries and keys and leaves values alone: "
    r"$S_t = \gamma \mathcal R_1^\top S_{t-1} + k_t v_t^\top$. With linear attention, QK-RoPE already gives a "
    r"complex decay.",
    differs="the source counts it among rotated values",
    witness=r"One key, one value, both $1$ in the first plane: $S$ is turned at each step, and no $v$ ever was.",
    tolerance=1e-11,
    holds=lambda q, k, v, g, t: recurrence.retention_recurrent(q, k, v, gamma=g, theta=t),
    control=lambda q, k, v, g, t: recurrence.retention_recurrent(q, k, v, gamma=g, theta=0 * t),  # a real decay
)
def retention_has_a_complex_state(run, rng):
    q, k, v = rng.normal(size=(20, 4)), rng.normal(size=(20, 4)), rng.normal(size=(20, 3))
    theta_ = np.array([1.0, 0.3])
    return float(np.abs(run(q, k, v, 0.9, theta_) - recurrence.retention(q, k, v, gamma=0.9, theta=theta_)).max())


@claim(
    "su19.lru-vs-rwkv",
    locus="Related Work, last paragraph",
    statement=r"In language modelling the complex LRU has shown no advantage over the purely real RWKV; being more "
    r"complete may matter elsewhere.",
    verdict="empirical",
    tier="minor",
    date="2026-11-21",
    witness="The article cites no table for it, and we ran no such comparison. Chapter 10 has a task where it matters.",
)
def read_only():
    pass
