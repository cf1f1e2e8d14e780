"""What chapter 10 says on its own account: the forms of one sum, turns that the text chooses, and sign changes."""

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import sympy as sp
from numpy.lib.stride_tricks import sliding_window_view

from rope_lab.algebra import latent, recurrence, rotation
from rope_lab.algebra.widely_linear import to_complex, to_real
from rope_lab.claims import exact
from rope_lab.claims.ledger import claim
from rope_lab.training.results import cards

gamma = sp.Symbol("gamma", positive=True)
THETA = np.array([1.0, 0.3])


def _residual(form, rng, **decay):
    v = rng.normal(size=(40, 4))
    found, others = form(v, **decay), (recurrence.decay_attention, recurrence.recurrent)
    return max(float(np.abs(found - other(v, **decay)).max()) for other in others)


def _wrong_way(v, **decay):
    """Rotated, decayed, and not rotated back."""
    o = recurrence.rotate_then_decay(v, **decay)
    return to_real(to_complex(o) * np.exp(1j * np.outer(np.arange(1, len(v) + 1), decay["theta"])))


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
    return _residual(form, rng, gamma=rng.uniform(0.5, 1, size=2), theta=rng.uniform(0.1, 3, size=2))


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
    v, gamma, theta, worst = rng.normal(size=(48, 4)), rng.uniform(0.5, 1), rng.uniform(0.1, 3, size=2), 0.0
    whole = recurrence.recurrent(v, gamma=gamma, theta=theta)
    for K in (1, 2, 8, 24):
        ends = np.array([recurrence.recurrent(part, gamma=gamma, theta=theta)[-1] for part in v.reshape(-1, K, 4)])
        carried = recurrence.recurrent(ends, gamma=gamma ** power(K), theta=power(K) * theta)
        worst = max(worst, float(np.abs(carried - whole[K - 1 :: K]).max()))
    return worst


@claim(
    "book.decay-running-sum",
    statement=r"Among K steps that begin from zero, each value counts as what will be left of it at the end: "
    r"$c_t = \lambda^{t-K} \sum_{s \le t} \lambda^{K-s} v_s$, $\lambda = \gamma e^{-\mathrm i\theta}$.",
    tolerance=1e-11,
    witness=r"$K = 2$: the sums are $\lambda v_1$ and $\lambda v_1 + v_2$; the first, over $\lambda$, is $c_1 = v_1$.",
    holds=lambda t, K: t - K,
    control=lambda t, _: t,  # multiplied back as if the values had been counted from the beginning
)
def a_running_sum(exponent, rng):
    gamma, theta, worst = rng.uniform(0.8, 1), rng.uniform(0.1, 3, size=2), 0.0
    rate = gamma * np.exp(-1j * theta)
    for K in (1, 2, 7, 32):
        v, t = rng.normal(size=(K, 4)), np.arange(1, K + 1)[:, None]
        sums = np.cumsum(rate ** (K - t) * to_complex(v), axis=0)
        found = to_real(rate ** exponent(t, K) * sums)
        worst = max(worst, float(np.abs(found - recurrence.recurrent(v, gamma=gamma, theta=theta)).max()))
    return worst


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
    computed=lambda: latent.softmax([-math.log(2), 0]).tolist(),
    holds=lambda m: (1 - gamma**m) / (1 - gamma),
    control=lambda _: 1 / (1 - gamma),  # the sum over an endless past
)
def softmax_divides(total):
    m, n = sp.symbols("m n", integer=True, positive=True)
    logit = sp.expand_log(-(m - n) * sp.log(1 / gamma) - sp.log(gamma ** (m - n)))  # it is the logarithm of gamma^(m-n)
    step = total(m + 1) - (gamma * total(m) + 1)  # a row more: each power grows by one, and a 1 comes in
    if any(sp.cancel(sp.expand(zero)) != 0 for zero in (logit, step, total(1) - 1)):
        return False
    exact.tied(  # and so say the states of our recurrence on ones, whose decay is real
        sp.Matrix([total(row) for row in range(1, 6)]),
        lambda at: recurrence.recurrent([[1, 0]] * 5, gamma=at(gamma), theta=0)[:, :1],
    )
    return True


# Turns that the text chooses: sums of angles, parity, and what fixed turns can't say.


@claim(
    "book.input-sum",
    statement=r"If token $t$ turns one plane by its own angle $\phi_t$, the product of the turns is one turn by "
    r"$\Phi_n = \phi_1 + \dots + \phi_n$, in any order. The logit is that of RoPE at the places $\Phi$: "
    r"$q^\top R_{\Phi_n - \Phi_m}\, k$.",
    witness=r"All $\phi_t = \theta$: $\Phi_n = n\theta$, and this is RoPE.",
    tolerance=1e-12,
    holds=[2, 2, 2, 2, 2, 2],
    control=[2, 0, 2, 0, 2, 0],  # turns of space about two axes: the order matters
)
def one_turn_by_the_sum(axes, rng):
    def about(axis, angle):
        turn, plane = np.eye(3), [(axis + 1) % 3, (axis + 2) % 3]
        turn[np.ix_(plane, plane)] = rotation.rotation_2d(angle)
        return turn

    phi = rng.uniform(-3, 3, size=len(axes))
    turned = np.eye(3)
    for axis, angle in zip(axes, phi, strict=True):
        turned = about(axis, angle) @ turned
    order = rng.permutation(len(phi))
    other = np.eye(3)
    for i in order:
        other = about(axes[i], phi[i]) @ other
    q, k, places = rng.normal(size=2), rng.normal(size=2), np.cumsum(phi)
    logit = rotation.logits(q[None], k[None], q_positions=places[1:2], k_positions=places[4:5], theta=[1.0])[0, 0]
    middle = np.eye(3)
    for axis, angle in zip(axes[2:5], phi[2:5], strict=True):
        middle = about(axis, angle) @ middle
    miss = abs(np.append(q, 0) @ middle @ np.append(k, 0) - logit)
    return max(np.abs(turned - other).max(), np.abs(turned - about(2, places[-1])).max(), miss)


@claim(
    "book.input-parity",
    statement=r"A plane that each bit $x_t$ turns by $\pi x_t$ ends at $(-1)^{x_1 + \dots + x_N}$ times its start: the "
    r"sign is the parity, at any length.",
    witness=r"Two ones make a whole turn.",
    holds=lambda bit: sp.pi * bit,
    control=lambda bit: sp.pi * bit / 2,  # a quarter turn: two ones look like a minus
)
def the_sign_is_the_parity(angle):
    ones = sp.Symbol("S", integer=True)  # how many came before: the state is (-1)^S I, and at first S is 0
    return all(
        exact.rotation_2d(angle(bit)) * (-1) ** ones == sp.expand((-1) ** (ones + bit)) * sp.eye(2) for bit in (0, 1)
    )


@claim(
    "book.input-fixed",
    statement=r"With fixed turns and decays the state $h_t = \gamma R_\theta^\top h_{t-1} + v(x_t)$ and every linear "
    r"readout $f$ of it are sums of one term for each bit. So $f(0,0) + f(1,1) = f(0,1) + f(1,0)$, and no threshold "
    r"on $f$ says whether two bits differ.",
    witness=r"Parity wants $f(0,0)$ and $f(1,1)$ on one side of the threshold, $f(0,1)$ and $f(1,0)$ on the other: the "
    r"two sums would differ.",
    tolerance=1e-12,
    holds=lambda theta, bits: theta + 0 * bits,
    control=lambda theta, bits: theta * bits,  # the bit chooses the turn
)
def fixed_turns_only_add(angle, rng):
    worst = 0.0
    for _ in range(5):
        gamma, theta, start = rng.uniform(0.5, 1.0), rng.uniform(0.5, 3.0), rng.normal(size=2)
        value, readout = rng.normal(size=(2, 2)), rng.normal(size=2)
        f = {}
        for bits in product((0, 1), repeat=2):
            state = start
            for bit in bits:
                turn = angle(theta, bit)
                state = recurrence.recurrent(value[[bit]], gamma=gamma, theta=turn, state=state)[-1]
            f[bits] = readout @ state
        worst = max(worst, abs(f[0, 0] + f[1, 1] - f[0, 1] - f[1, 0]))
    return worst


# What a turn can do for ever and real decays cannot: sign changes, a window, and a bell.


def _sum_of_decays(decays, weights, length):
    return [sum(c * x**n for c, x in zip(weights, decays, strict=True)) for n in range(length)]


def _alternating(N):
    """Weights of N positive decays whose sum is +1, -1, +1, ... at n = 0, ..., N - 1."""
    decays = [Fraction(k + 1, N + 1) for k in range(N)]
    matrix = sp.Matrix(N, N, lambda n, k: sp.Rational(decays[k].numerator, decays[k].denominator) ** n)
    weights = matrix.LUsolve(sp.Matrix([(-1) ** n for n in range(N)]))
    return decays, [Fraction(int(w.p), int(w.q)) for w in weights]


def _signs_of_the_witness():
    first, second, *later = _sum_of_decays((1 / 3, 2 / 3), (2, -1), 60)
    return first, second, "negative" if max(later) < 0 else "not always negative"


@claim(
    "book.decay-sign-changes",
    statement=r"A sum of $N$ different positive decays, $\sum_k c_k \lambda_k^r$ with $c_k \ne 0$, changes sign at "
    r"most $N - 1$ times over all $r \ge 0$, and some sum does.",
    witness=r"$N = 2$: $2 \cdot (\tfrac13)^r - (\tfrac23)^r$ is $[[1]]$, $[[0]]$, then [[negative]] for ever.",
    computed=_signs_of_the_witness,
    cases="44 sums of 2 to 5 decays, 40 of them random, over 60 steps",
    holds=lambda N: N - 1,
    control=lambda N: N - 2,
)
def few_sign_changes(bound):
    rng = np.random.default_rng(10)
    for N in (2, 3, 4, 5):
        sums, changes = [_alternating(N)], []
        for _ in range(10):
            decays = [Fraction(int(x), 20) for x in rng.choice(np.arange(1, 20), size=N, replace=False)]
            sums.append((decays, [Fraction(int(c)) for c in rng.integers(1, 10, size=N) * rng.choice([-1, 1], size=N)]))
        for decays, weights in sums:  # in fractions, where zero is zero; our kernels say the same
            values = np.array(_sum_of_decays(decays, weights, 60), dtype=float)
            kernels = recurrence.impulse_response(60, gamma=np.array(decays, dtype=float), theta=0).real
            if not np.allclose(kernels @ np.array(weights, dtype=float), values):
                return False
            changes.append(recurrence.sign_changes(values))
        if max(changes) != bound(N):
            return False
    return True


@claim(
    "book.decay-signed",
    statement=r"With real decays of both signs, $N$ in all, the even steps and the odd steps of the sum are each a sum "
    r"of at most $N$ positive decays $\lambda_k^2$. A negative decay adds an alternation and nothing else.",
    witness=r"$(-\tfrac12)^n$: on even steps $(\tfrac14)^{n/2}$, on odd steps $-\tfrac12 (\tfrac14)^{(n-1)/2}$.",
    holds=lambda x: x**2,
    control=lambda x: -(x**2),
)
def even_steps_and_odd_steps(squared):
    k, n, N = sp.symbols("k n N", integer=True, positive=True)
    c, x = sp.IndexedBase("c", real=True)[k], sp.IndexedBase("lambda", real=True)[k]
    for odd in (0, 1):
        sums = [sp.Sum(c * term, (k, 1, N)).expand() for term in (x ** (2 * n + odd), x**odd * squared(x) ** n)]
        if sums[0] != sums[1]:
            return False
    alternating = sp.Matrix([(-1) ** step * gamma**step for step in range(6)])  # a negative decay
    exact.tied(alternating, lambda at: recurrence.impulse_response(6, gamma=-at(gamma), theta=0).real)
    return True


@claim(
    "book.decay-turns-for-ever",
    statement=r"For $0 < \theta < \pi$ the kernel $\gamma^r \cos r\theta$ changes sign infinitely often: any stretch "
    r"of one and a half turns holds a positive and a negative value.",
    witness=r"A quarter turn: $1, 0, -\gamma^2, 0, \gamma^4$, and so on.",
    cases="40 angles, over 400 steps, with the decay 0.95",
    holds=lambda theta: theta,
    control=lambda theta: 0 * theta,  # a real decay, which keeps its sign
)
def never_at_rest(turn):
    theta, steps = np.linspace(0.05, 3.1, 40), np.arange(400)
    kernels = 0.95**steps * np.cos(np.outer(turn(theta), steps))
    for angle, kernel in zip(theta, kernels, strict=True):
        stretch = 1 + math.ceil(3 * np.pi / angle)  # as many values as one and a half turns hold
        if any(part.min() >= 0 or part.max() <= 0 for part in sliding_window_view(kernel, stretch)):
            return False
    return np.allclose(kernels, recurrence.impulse_response(400, gamma=0.95, theta=turn(theta)).real.T)


@claim(
    "book.decay-window",
    statement=r"On a window of $L$ steps, any $L$ different real decays fit any kernel exactly.",
    witness=r"The matrix of the powers $\lambda_k^r$ is Vandermonde's; its determinant is the product of differences.",
    cases="L = 2, 3, 4 and 5, with symbols for the decays",
    holds=lambda decays: decays,
    control=lambda decays: (decays[0], *decays[:-1]),  # a twin
)
def real_decays_fit_a_window(chosen):
    return all(_vandermonde(chosen(sp.symbols(f"lambda_1:{L + 1}", real=True))) for L in (2, 3, 4, 5))


def _vandermonde(decays):
    L = len(decays)
    powers = exact.tied(
        sp.Matrix(L, L, lambda n, k: decays[k] ** n),
        lambda at: recurrence.impulse_response(L, gamma=[at(x) for x in decays], theta=0).real,
    )
    differences = sp.prod(b - a for a, b in combinations(decays, 2))
    return differences != 0 and sp.expand(powers.det(method="laplace") - differences) == 0


@claim(
    "book.decay-bell",
    statement=r"A layer of 16 numbers with complex decay learns to say how many steps ago a bell rang, modulo 7, over "
    r"128 steps: after 400 updates of Adam at the one peak rate 0.02, at least 99 of 100 answers are right with every "
    r"seed of five or more. With 16 real decays, positive or of both signs, trained in the same way, fewer than 30 of "
    r"100 are.",
    verdict="empirical",
    tier="empirical",
    witness="The cards of the experiment complex-rnn at the rung cpu.",
)
def the_bell():
    setting = {"state": 16, "length": 128, "steps": 400, "rate": 0.02}
    found = [card for card in cards.load_all("complex-rnn", "cpu") if setting.items() <= card.config.items()]
    right = {
        name: [card.final["accuracy"] for card in found if card.variant == name]
        for name in ("complex decay", "real decay", "signed decay")
    }
    if any(len(values) < 5 for values in right.values()):
        return "not attempted"
    learned = min(right["complex decay"]) >= 0.99
    return "reproduced" if learned and max(right["real decay"] + right["signed decay"]) < 0.3 else "not reproduced"
