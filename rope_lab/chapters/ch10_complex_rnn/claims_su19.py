"""What part 19 says on the way from rotated values to a complex linear RNN."""

import numpy as np
import sympy as sp

from rope_lab.algebra import recurrence, rotation, symbolic
from rope_lab.claims import exact
from rope_lab.claims.ledger import claim

gamma, theta = sp.symbols("gamma theta", positive=True)
phi = sp.Symbol("varphi", real=True)
m, n = sp.symbols("m n", integer=True)
u, v = (sp.Matrix(sp.symbols(f"{name}_1:3", real=True)) for name in "uv")


def _turn(offset):
    return exact.rotation_2d(offset * theta)


def _number(vector):
    return vector[0] + sp.I * vector[1]


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
    cases="one plane, any number of steps",
    holds=+1,
    control=-1,  # R_(i-j): turned the other way
)
def decaying_weights(sign):
    term = gamma ** (m - n) * _turn(sign * (n - m)) * v
    if not symbolic.same(_turn(m).T * gamma ** (m - n) * _turn(n) * v, term):  # one term of the sum stands for all
        return False
    exact.tied(
        sum((step * term.subs({m: 3, n: step}) for step in range(4)), start=sp.zeros(2, 1)).T,
        lambda at: recurrence.decay_attention(np.outer(range(4), [*map(at, v)]), gamma=at(gamma), theta=at(theta))[3],
    )
    return True


@claim(
    "su19.rnn-complex-form",
    locus="Related Work, the sentence before the last formula",
    statement=r"In complex coordinates the block-diagonal $\mathcal R_{j-i}$ is the diagonal matrix of "
    r"$e^{\mathrm i\theta(j-i)}$.",
    correction=r"Remark: with $\tilde v = v_1 + \mathrm i v_2$ in each plane. The whole complex number is kept, "
    r"not its real part.",
    witness=r"A quarter turn takes $(1, 0)$ to $(0, 1)$, which is $\mathrm i \cdot 1$.",
    cases="one plane, with a symbol for the angle",
    holds=sp.exp(sp.I * phi),
    control=sp.exp(-sp.I * phi),  # the conjugate: x_1 - i x_2 turns like this
)
def one_complex_number(factor):
    return symbolic.same(_number(exact.rotation_2d(phi) * v), factor * _number(v))


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
    # The output is R_n^T u, where u is the sum of gamma^(n-j) R_j v_j so far; one more step from any u:
    before, after = _turn(n).T * u, _turn(n + 1).T * (gamma * u + _turn(n + 1) * v)
    if not symbolic.same(_number(after), rate * _number(before) + _number(v)):
        return False
    exact.tied(
        sp.Matrix([(rate**step).as_real_imag() for step in range(4)]),
        lambda at: recurrence.recurrent([[1, 0]] + 3 * [[0, 0]], gamma=at(gamma), theta=at(theta)),
    )
    return True


@claim(
    "su19.rnn-complete",
    locus="Related Work, after the last formula",
    statement=r"A linear RNN with complex decay is in theory more complete than one with purely real decay.",
    correction=r"Remark, what it means: no finite sum $\sum_k c_k \lambda_k^r$ with real $\lambda_k$ equals "
    r"$\gamma^r \cos r\theta$ for all $r \ge 0$, unless $\theta$ is a multiple of $\pi$. On a window of $L$ steps, $L$ "
    r"different real decays fit any kernel (claim book.decay-window).",
    witness=r"$\theta = \pi$: the kernel is $(-\gamma)^n$, one real decay.",
    holds=sp.cos,
    control=sp.cosh,  # half the sum of two real decays
)
def its_recurrence_has_no_real_root(first):
    """The shortest recurrence of a sum of exponentials has exactly their bases as roots: here none of them is real."""

    def kernel(n):
        return gamma**n * first(n * theta)

    x, both, square = sp.Symbol("x"), 2 * gamma * first(theta), (gamma * sp.sin(theta)) ** 2
    laws = [
        (kernel(n + 2), both * kernel(n + 1) - gamma**2 * kernel(n)),
        (kernel(1) ** 2 - kernel(0) * kernel(2), square),  # unless sin(theta) = 0, no shorter recurrence
        (sp.discriminant(x**2 - both * x + gamma**2, x), -4 * square),  # and no real root
    ]
    if not all(symbolic.same(*law) for law in laws):
        return False
    exact.tied(
        sp.Matrix([kernel(step) for step in range(8)]),
        lambda at: recurrence.impulse_response(8, gamma=at(gamma), theta=at(theta)).real,
    )
    return True


@claim(
    "su19.lru-retnet",
    locus="Related Work, first and last sentence",
    statement=r"VO-RoPE is the form between attention and complex linear RNNs such as LRU and RetNet; adding it "
    r"takes a real linear RNN to a complex one.",
    verdict="conditional",
    correction=r"So for LRU, whose state takes in the values. RetNet rotates queries and keys and leaves values alone: "
    r"$S_t = \gamma \mathcal R_1^\top S_{t-1} + k_t v_t^\top$. With linear attention, QK-RoPE already gives a "
    r"complex decay.",
    differs="the source (a blog post) counts RetNet among networks with rotated values",
    witness=r"One key, one value, both $1$ in the first plane: $S$ is turned at each step, and no $v$ ever was.",
    tolerance=1e-11,
    holds=lambda q, k, v, g, t: recurrence.retention_recurrent(q, k, v, gamma=g, theta=t),
    control=lambda q, k, v, g, t: recurrence.retention_recurrent(q, k, v, gamma=g, theta=0 * t),  # a real decay
)
def retention_has_a_complex_state(run, rng):
    q, k, v = rng.normal(size=(20, 4)), rng.normal(size=(20, 4)), rng.normal(size=(20, 3))
    g, theta_, since = rng.uniform(0.5, 1), rng.uniform(0.1, 3, size=2), np.arange(20) - 19  # n - t at the last step
    expected = recurrence.retention(q, k, v, gamma=g, theta=theta_)
    S = (rotation.rotate(k, since, theta=theta_).T * g**-since) @ v  # the state as a sum over the past
    return float(max(np.abs(run(q, k, v, g, theta_) - expected).max(), np.abs(S.T @ q[-1] - expected[-1]).max()))


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
