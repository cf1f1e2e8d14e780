"""The forms of chapter 10's one sum: frames, chunks, running sums, convolutions, gradients; and a softmax beside it."""

import numpy as np
import sympy as sp

from rope_lab.algebra import recurrence
from rope_lab.algebra.widely_linear import to_complex, to_real
from rope_lab.claims.ledger import claim

gamma = sp.Symbol("gamma", positive=True)
THETA = np.array([1.0, 0.3])


def _residual(form, rng, **decay):
    v = rng.normal(size=(40, 4))
    found, others = form(v, **decay), (recurrence.decay_attention, recurrence.recurrent)
    return max(float(np.abs(found - other(v, **decay)).max()) for other in others)


def _wrong_way(v, **decay):
    """Rotated, decayed, and not rotated back."""
    o = recurrence.rotate_then_decay(v, **decay)
    return to_real(to_complex(o) * np.exp(1j * np.outer(np.arange(1, len(v) + 1), THETA)))


@claim(
    "book.decay-frame",
    statement=r"In a frame that turns along, the decay is real: $u_t = \gamma u_{t-1} + \mathcal R_t v_t$ and "
    r"$o_t = \mathcal R_t^\top u_t$.",
    tolerance=1e-11,
    witness=r"$u_t = \mathcal R_t h_t$; multiply $h_t = \gamma \mathcal R_1^\top h_{t-1} + v_t$ by $\mathcal R_t$.",
    holds=recurrence.rotate_then_decay,
    control=_wrong_way,
)
def a_real_decay_in_a_turning_frame(form, rng):
    return _residual(form, rng, gamma=0.9, theta=THETA)


def _circular(v, **decay):
    kernel = recurrence.impulse_response(len(v), **decay)
    product = np.fft.fft(kernel, axis=0) * np.fft.fft(to_complex(v), axis=0)
    return to_real(np.fft.ifft(product, axis=0))


@claim(
    "book.decay-convolution",
    statement=r"The sum is a convolution, $\tilde o = \kappa * \tilde v$ with $\kappa_r = "
    r"(\gamma e^{-\mathrm i\theta})^r$. A Fourier transform computes it, padded to twice the length.",
    tolerance=1e-11,
    witness=r"Without the padding the end of the sequence leaks into its beginning.",
    holds=recurrence.convolved,
    control=_circular,
)
def a_convolution(form, rng):
    return _residual(form, rng, gamma=0.99, theta=THETA)


@claim(
    "book.decay-chunks",
    statement=r"Cut time into chunks of $K$ steps. Let $e_j$ be what chunk $j$ alone ends with. The states at the ends "
    r"obey $H_j = (\gamma e^{-\mathrm i\theta})^K H_{j-1} + e_j$: the same recurrence, $K$ times as short.",
    tolerance=1e-11,
    witness=r"$K = 2$: $h_2 = \lambda^2 h_0 + (\lambda v_1 + v_2)$.",
    holds=lambda K: K,
    control=lambda _: 1,  # the carry decays by one step only
)
def ends_of_chunks(power, rng):
    v, K = rng.normal(size=(48, 4)), 8
    whole = recurrence.recurrent(v, gamma=0.9, theta=THETA)[K - 1 :: K]
    ends = np.array([recurrence.recurrent(part, gamma=0.9, theta=THETA)[-1] for part in v.reshape(-1, K, 4)])
    carried = recurrence.recurrent(ends, gamma=0.9 ** power(K), theta=power(K) * THETA)
    return float(np.abs(carried - whole).max())


@claim(
    "book.decay-running-sum",
    statement=r"Among K steps that begin from zero, each value counts as what will be left of it at the end: "
    r"$h_t = \lambda^{t-K} \sum_{s \le t} \lambda^{K-s} v_s$, $\lambda = \gamma e^{-\mathrm i\theta}$.",
    tolerance=1e-11,
    witness=r"$K = 2$: the sums are $\lambda v_1$ and $\lambda v_1 + v_2$; the first, over $\lambda$, is $h_1 = v_1$.",
    holds=lambda t, K: t - K,
    control=lambda t, _: t,  # multiplied back as if the values had been counted from the beginning
)
def a_running_sum(exponent, rng):
    K, rate = 32, 0.9 * np.exp(-1j * np.asarray(THETA))
    v, t = rng.normal(size=(K, 4)), np.arange(1, K + 1)[:, None]
    sums = np.cumsum(rate ** (K - t) * to_complex(v), axis=0)
    found = to_real(rate ** exponent(t, K) * sums)
    return float(np.abs(found - recurrence.recurrent(v, gamma=0.9, theta=THETA)).max())


@claim(
    "book.decay-gradient",
    statement=r"The gradient is the same recurrence from the other end, with the conjugate rate: "
    r"$g_t = \gamma e^{+\mathrm i\theta} g_{t+1} + \partial L / \partial h_t$.",
    tolerance=1e-9,
    witness=r"Two steps: $h_2 = \lambda v_1 + v_2$, so $v_1$ receives $\bar\lambda$ times what $h_2$ receives.",
    holds=-1,
    control=+1,  # reversed, but turning as before
)
def the_gradient_runs_back(sign, rng):
    v, upstream = rng.normal(size=(30, 4)), rng.normal(size=(30, 4))
    by_law = recurrence.recurrent(upstream[::-1], gamma=0.9, theta=sign * THETA)[::-1]
    run = np.stack([recurrence.recurrent(e, gamma=0.9, theta=THETA) for e in np.eye(120).reshape(120, 30, 4)])
    by_definition = np.einsum("itc,tc->i", run, upstream).reshape(v.shape)
    return float(np.abs(by_law - by_definition).max())


@claim(
    "book.decay-row-sum",
    statement=r"Softmax of the logits $-(m-n) \ln(1/\gamma)$ over $1 \le n \le m$ gives the weights "
    r"$\gamma^{m-n} (1-\gamma) / (1-\gamma^m)$: those of the recurrence, divided by a sum that depends on $m$.",
    witness=r"$m = 2$, $\gamma = \tfrac12$: the weights $\tfrac12, 1$ become $[[\tfrac13, \tfrac23]]$.",
    computed=lambda: np.divide([0.5, 1], 1.5).tolist(),
    holds=lambda m: (1 - gamma**m) / (1 - gamma),
    control=lambda _: 1 / (1 - gamma),  # the sum over an endless past
)
def softmax_divides(total):
    one_step = sp.simplify(sp.exp(-sp.log(1 / gamma)))
    for m in range(1, 6):
        raw = [one_step ** (m - n) for n in range(1, m + 1)]
        if any(sp.cancel(w / sum(raw) - gamma ** (m - n) / total(m)) != 0 for n, w in enumerate(raw, start=1)):
            return False
    return True
