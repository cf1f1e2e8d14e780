"""CRoPE's third example (its section 4.3): the head that looks one or two tokens ahead, made of rotations."""

import numpy as np
import sympy as sp

from rope_lab.algebra import one_head, rotation, schedule, symbolic, widely_linear
from rope_lab.claims import exact
from rope_lab.claims.entry import Erratum
from rope_lab.claims.ledger import claim

r, s, theta = sp.symbols("r s theta", real=True)
THETA = rotation.frequencies(64)
NEAR = np.arange(-9, 10)


def _logit(q, k=(1, 0), thetas=(theta,)):
    return (sp.Matrix([q]) * exact.rotation_matrix(r, theta=thetas) * sp.Matrix(k))[0]


@claim(
    "crope.eq27-sign",
    locus="4.3, eq 27",
    statement=r"The query $(e^{-\mathrm i\theta_1}, e^{-\mathrm i\theta_2}, \dots)$ and the key $(1, 1, \dots)$ make "
    r"token $i$ attend to token $i + 1$.",
    verdict="false",
    slip=True,
    mend=r"\tilde q = (e^{[---][+++]\mathrm i\theta_1}, e^{[---][+++]\mathrm i\theta_2}, \dots)",
    correction=r"Read $e^{+\mathrm i\theta_1}, e^{+\mathrm i\theta_2}, \dots$. As printed, with the conjugate that "
    r"equation 7 asks for, the token attends to $i - 1$. The argument is not affected.",
    differs="printed with a minus in the exponent",
    witness=r"One plane: $\mathrm{Re}[\overline{e^{-\mathrm i\theta}} e^{\mathrm i r\theta}] = \cos((r + 1)\theta)$, "
    r"largest at $r = [[-1]]$.",
    computed=lambda: NEAR[one_head.offset_logits(NEAR, offset=-1, theta=THETA).argmax()],
    cases="one plane at any frequency and for any offset, and 32 planes in numbers",
    holds=+1,
    printed=-1,
    control=+2,  # the query of the other token
)
def one_ahead(sign):
    query = (sp.cos(sign * s * theta), sp.sin(sign * s * theta))
    ours = [widely_linear.to_complex(one_head.offset_query(ahead, theta=THETA)) for ahead in (1, 2)]
    same = np.allclose(ours, np.exp(1j * sign * np.outer((1, 2), THETA)))
    return same and sp.simplify(_logit(query) - sp.cos((r - s) * theta)) == 0


@claim(
    "crope.eq28-form",
    locus="4.3, eq 28",
    statement=r"The logit is $\tilde q_m \tilde R^*_{m-n} \tilde k_n$.",
    verdict="false",
    slip=True,
    tier="minor",
    mend=r"[+\mathrm{Re}[+]\tilde q_m^{[+\dagger+]} \tilde R^*_{m-n} \tilde k_n[+]+]",
    correction=r"Read $\mathrm{Re}[\tilde q_m^\dagger \tilde R^*_{m-n} \tilde k_n]$.",
    differs="printed without the dagger and Re",
    witness=r"$\tilde q = e^{-\mathrm i\theta}$, $\tilde k = 1$, one place from the wanted key: $e^{\mathrm i\theta}$, "
    r"which is not real.",
    cases="two planes, with any vectors, offset and frequencies",
    holds=lambda q, k, turn: sp.re(sp.conjugate(q) * turn * k),
    printed=lambda q, k, turn: q * turn * k,
    control=lambda q, k, turn: sp.re(q * turn * k),  # the real part alone
)
def the_logit_in_complex_numbers(form):
    qk = sp.symbols("q_0:4 k_0:4", real=True)
    thetas = sp.symbols("theta_0:2", real=True)
    cosines = exact.tied(
        sp.Matrix([sum(sp.cos((r - s) * t) for t in thetas)]),
        lambda at: one_head.offset_logits(at(r), offset=at(s), theta=[at(t) for t in thetas]),
    )

    def number(x, y):
        return x + sp.I * y

    def logit(q, k):
        turned = (number(sp.cos(r * t), sp.sin(r * t)) for t in thetas)
        return sp.expand(sum(map(form, q, k, turned)), complex=True)

    q0, q1, k0, k1 = map(number, qk[::2], qk[1::2])
    ahead = logit([number(sp.cos(s * t), sp.sin(s * t)) for t in thetas], (1, 1))
    return symbolic.same(logit((q0, q1), (k0, k1)), _logit(qk[:4], qk[4:], thetas)) and symbolic.same(ahead, cosines)


@claim(
    "crope.eq28-limit",
    locus="4.3, eq 28",
    statement=r"As $D \to \infty$ the logits tend to $\delta(m + 1 - n)$ and $\delta(m + 2 - n)$: the attention is "
    r"exactly as desired.",
    verdict="conditional",
    mend=r"[+\mathrm{softmax}\,+] s_{mn} \to \delta(m + 1 - n)",
    correction=r"As with equations 21 and 23. In a fixed window the attention is as desired after softmax, for large "
    r"$D$, or at any $D$ for a large amplitude. The normalised logits next to the wanted one tend to $g(1) = \int_0^1 "
    r"\cos(\mathrm{base}^{-u})\,du$, for base $10^4$ to $0.974$.",
    witness=r"$D = 128$, 64 keys on either side: weight $[[0.769]]$ on the wanted key, and $[[0.062]]$ with $1/\sqrt "
    r"D$.",
    computed=lambda: tuple(
        one_head.target_weight(64, theta=rotation.frequencies(128), amplitude=c) for c in (1, 128**-0.5)
    ),
    cases="width 8, one and two places ahead, 64 keys on a side; width 4,096 with the amplitude 1; the limit at width "
    "1,048,576",
    tolerance=1e-6,
    holds=400.0,
    control=1.0,  # no amplitude
)
def any_size_with_an_amplitude(amplitude):
    theta = rotation.frequencies(8)
    keys = np.arange(-64, 65)
    worst = 0.0
    for offset in (1, 2):
        weights = np.exp(amplitude * (one_head.offset_logits(keys, offset=offset, theta=theta) - len(theta)))
        worst = max(worst, 1 - weights[64 + offset] / weights.sum())
    wide = one_head.target_weight(64, theta=rotation.frequencies(4096), amplitude=1)
    dense = abs(schedule.decay(1, theta=rotation.frequencies(2**20)) - schedule.dense_decay(1.0))
    return max(worst, 1 - wide, dense - 1e-6)


@claim(
    "crope.realform",
    locus="4.3, after eq 28",
    statement=r"In real form both queries have the entries $\cos\theta_t$ and $-\sin\theta_t$, at $2t$ and $2t + 1$.",
    verdict="false",
    slip=True,
    tier="minor",
    mend=r"(\cos [+2+]\theta_t,\ [---]\sin [+2+]\theta_t) \quad \text{at } [-2t, 2t + 1-][+2t - 1, 2t+]",
    correction=r"Read $\cos 2\theta_t$ and $\sin 2\theta_t$ for the second token, $+\sin\theta_t$ for the first (see "
    r"`crope.eq27-sign`), and the indices $2t - 1$ and $2t$.",
    witness=r"As printed, the two queries are equal.",
    cases="one plane at any frequency, and two planes in numbers",
    holds=lambda s: (sp.cos(s * theta), sp.sin(s * theta)),
    printed=lambda _: (sp.cos(theta), -sp.sin(theta)),
    control=lambda s: (sp.cos(s * theta), -sp.sin(s * theta)),  # the angle corrected, the sign not
)
def the_queries_in_real_form(query):
    ours = one_head.offset_query(2, theta=[0.3, 0.7])
    same = np.allclose(ours, [float(entry.subs(theta, t)) for t in (0.3, 0.7) for entry in query(2)])
    return same and all(sp.simplify(_logit(query(s)) - sp.cos((r - s) * theta)) == 0 for s in (1, 2))


def _embedding(kind, total, width=8):
    """Complex coordinates of a token: those of its kind sum to ``total``, the others are 0."""
    x = np.zeros(width, dtype=complex)
    x[kind::2] = total * np.array([0.5, -0.25, 1.0, -0.25])[: width // 2]
    return x


@claim(
    "crope.eq29-Wx",
    locus="4.3, eq 29",
    statement=r"If the coordinates $a_t$ belong to one kind of token and the others are $0$, $\tilde W_q \tilde x$ is "
    r"the wanted query, for both kinds.",
    verdict="conditional",
    mend=r"\tilde W_q \tilde x = [+\bigl(\textstyle\sum_t a_t\bigr)\,+] e^{\mathrm i s\theta}",
    correction=r"Up to a factor, and with the sign of equation 27 corrected: $\tilde W_q \tilde x = (\sum_t a_t)\, "
    r"e^{\mathrm i s\theta}$ for $s = 1, 2$. Its columns come in pairs, so $4 \mid D$; the rank is 2.",
    differs="the source leaves out the factor c",
    witness=r"$a = (1, 1)$ gives [[twice]] the query.",
    computed=lambda: (
        "twice"
        if np.allclose(one_head.token_projection([1, 2], theta=THETA, width=4) @ [1, 0, 1, 0], 2 * np.exp(1j * THETA))
        else ""
    ),
    erratum=Erratum(
        13,
        "crope-sums",
        "A normalisation",
        "Whoever builds the weights of Section 4.3. Suitably normalised, the construction does what the paper says.",
        matters="code",
        also=("crope.eq29-sum", "crope.eq29-keys"),
    ),
    tolerance=1e-12,
    holds=lambda total, s: total * np.exp(1j * s * THETA),
    control=lambda total, s: total * np.exp(-1j * s * THETA),
)
def the_projection_gives_the_query(query, rng):
    W = one_head.token_projection([1, 2], theta=THETA, width=8)
    totals = rng.uniform(1, 3, size=2)
    rank = np.linalg.matrix_rank(W) == 2
    return max(np.abs(W @ _embedding(s - 1, totals[s - 1]) - query(totals[s - 1], s)).max() for s in (1, 2)) / rank


@claim(
    "crope.eq29-sum",
    locus="4.3, after eq 29",
    statement=r"It is enough that $\sum_t a_t = \sum_t a'_t$.",
    verdict="conditional",
    mend=r"\sum_t a_t = \sum_t a'_t \quad [+(\text{positive})+]",
    correction=r"The common value must be a positive real number: 1 for equation 27 exactly, larger for a sharper "
    r"softmax.",
    witness=r"Sum $-1$: the wanted key has the *lowest* logit. Sum $0$: no query. Sum $\mathrm i$: the top is "
    r"elsewhere.",
    cases="sums of 1, -1, 0 and i, with 32 planes and 19 keys",
    tolerance=1e-4,
    holds=1.0,
    control=-1.0,
)
def the_common_sum(total):
    W, keys = one_head.token_projection([1, 2], theta=THETA, width=8), np.arange(-9, 10)

    def miss(value):
        misses = 0
        for s in (1, 2):
            q = widely_linear.to_real(W @ _embedding(s - 1, value))[None]
            k = np.tile(one_head.ones_key(len(THETA)), (len(keys), 1))
            logits = rotation.logits(q, k, q_positions=[0], k_positions=keys, theta=THETA)[0]
            misses += abs(int(keys[logits.argmax()]) - s) if np.ptp(logits) else 9
        return float(misses)

    return miss(total) if min(miss(0.0), miss(1j)) > 0 else np.inf


@claim(
    "crope.eq29-keys",
    locus="4.3, left open",
    statement=r"The key $(1, 1, \dots, 1)$ is available for every token.",
    verdict="conditional",
    tier="minor",
    correction=r"The paper gives no $\tilde W_k$. All entries equal will do, $\tilde W_k = c\,\mathbf 1 \mathbf "
    r"1^\top$, if the coordinates of every token have the same sum, not 0.",
    witness=r"The sums 2 and 1 give keys of lengths [[2]] to [[1]], and the longer one draws attention.",
    computed=lambda: tuple(np.linalg.norm(np.ones((32, 8)) @ np.full(8, total / 8)) / 32**0.5 for total in (2, 1)),
    tolerance=1e-12,
    holds=(2.0, 2.0, 2.0),
    control=(2.0, 1.0, 2.0),
)
def one_key_for_all(sums, rng):
    W_k = np.ones((len(THETA), 8)) / sums[0]
    x = rng.normal(size=(3, 8)) + 1j * rng.normal(size=(3, 8))
    x += (np.array(sums) - x.sum(axis=1))[:, None] / 8
    keys = widely_linear.to_real(x @ W_k.T)
    return float(np.abs(keys - one_head.ones_key(len(THETA))).max())


@claim(
    "crope.one-layer",
    locus="4.3",
    statement=r"RoPE, and CRoPE as well, do the task in one layer.",
    correction=r"With the sign corrected, a map for the keys, and an amplitude. The lead over the next best key is the "
    r"same in texts of 64 and of 512 tokens: that over a neighbour.",
    witness=r"$D = 64$, amplitude 20, texts of 64 and of 512 random tokens: the wanted weight is at least $0.9999999$.",
    tolerance=1e-7,
    holds=20.0,
    control=2.0,  # too faint
)
def one_layer_is_enough(amplitude, rng):
    worst = 0.0
    W = one_head.token_projection([1, 2], theta=THETA, width=8)
    for length in (64, 512):
        kinds = rng.integers(0, 2, size=length)
        x = np.stack([_embedding(kind, amplitude) for kind in kinds])
        q, at = widely_linear.to_real(x @ W.T), np.arange(length)
        k = widely_linear.to_real(x @ np.ones((8, len(THETA))) / amplitude)
        logits = rotation.logits(q, k, q_positions=at, k_positions=at, theta=THETA)[:-2]
        wanted = logits[at[:-2], at[:-2] + 1 + kinds[:-2]]
        lead = (wanted - np.sort(logits)[:, -2]) / (amplitude * one_head.neighbour_gap(THETA)) - 1
        worst = max(worst, float((1 - 1 / np.exp(logits - wanted[:, None]).sum(axis=1)).max()), np.abs(lead).max())
    return worst


@claim(
    "crope.in-subspace",
    locus="4.3",
    statement=r"This solution lies in the subspace of CRoPE.",
    witness=r"$\tilde W_q$ and $\tilde W_k$ are complex matrices: as real ones they commute with $J$.",
    cases="32 planes, embeddings of 8 complex coordinates",
    tolerance=1e-12,
    holds=lambda A: (A, 0 * A),
    control=lambda A: (0 * A, A),  # the same numbers, acting on the conjugate
)
def the_solution_is_complex_linear(parts):
    x, off = _embedding(1, 1j), []
    for C in (one_head.token_projection([1, 2], theta=THETA, width=8), np.ones((len(THETA), 8))):
        W = widely_linear.join(*parts(C))
        off.append(widely_linear.times_i(64) @ W - W @ widely_linear.times_i(16))
        off.append(W @ widely_linear.to_real(x) - widely_linear.to_real(C @ x))  # it is the same map
    return float(max(np.abs(difference).max() for difference in off))


@claim(
    "crope.half-redundant-task",
    locus="4.3",
    statement=r"For this task, half of RoPE's functions and parameters are redundant.",
    correction=r"A remark: for embeddings as wide as in the paper, $4 \mid D$. Exact queries for $V$ kinds of token "
    r"need $V$ real coordinates with real weights, and $V$ complex ones, so $2V$ real ones, with complex weights.",
    witness=r"Two kinds, width 2, $\theta = (1, 0.3)$: two real vectors are independent, so RoPE has the queries. As "
    r"complex numbers they are parallel, and no matrix of rank one comes nearer than $[[0.348]]$.",
    computed=lambda: np.linalg.svd(one_head.token_projection([1, 2], theta=[1.0, 0.3], width=2), compute_uv=False)[1],
    cases="two and three kinds of token, with the frequencies 1, 0.3 and 0.1",
    tolerance=1e-6,
    holds=lambda V: V,  # complex coordinates of the embedding
    control=lambda V: V - 1,
)
def complex_width(coordinates):
    left = 0.0
    for V in (2, 3):
        queries = one_head.token_projection(range(1, V + 1), theta=[1.0, 0.3, 0.1], width=V)
        singular = np.linalg.svd(queries, compute_uv=False)
        real = np.linalg.matrix_rank(widely_linear.to_real(queries.T)) == V
        need = coordinates(V)
        left = max(left, singular[need:].sum()) if real and singular[need - 1] > 1e-3 else np.inf
    return float(left)


@claim(
    "crope.figure-task",
    locus="4.3, figure 3",
    statement=r"The task: attend to token $i + 1$, or to $i + 2$.",
    tier="minor",
    correction=r"A remark: in a causal model these lie in the future. There the mirror image is meant, $i - 1$ and "
    r"$i - 2$.",
    witness=r"Under a mask, the head made for $+1$ finds the nearest it may see: itself.",
    cases="32 planes, and keys up to 30 places back",
    tolerance=1e-4,
    holds=-1,
    control=+1,
)
def the_causal_mirror(sign):
    past = np.arange(-30, 1)
    tops = (past[one_head.offset_logits(past, offset=sign * s, theta=THETA).argmax()] for s in (1, 2))
    return float(sum(abs(int(top) - sign * s) for top, s in zip(tops, (1, 2), strict=True)))
