"""What chapter 17 says on its own account: what a call tells, the instruments, and what a list of frequencies says."""

import math
from itertools import combinations, permutations, product

import numpy as np
import sympy as sp

from rope_lab import audit
from rope_lab.algebra import frequency_schedules, layouts, rotation, schedule, symbolic
from rope_lab.algebra.arguments import LAYOUTS
from rope_lab.audit.frequency_rule import explain
from rope_lab.claims import exact
from rope_lab.claims.ledger import claim

n, theta, phi = sp.symbols("n theta varphi", real=True)
whole = sp.Symbol("n", integer=True)
thetas = sp.symbols("theta_0:3", positive=True)  # with two, the way to halves and the way back are the same


def _exact_turn(position, layout):
    """The exact rotation of three planes in either layout, tied to the float64 reference."""
    R = exact.rotation_matrix(position, theta=thetas)
    order = list(range(6)) if layout == "interleaved" else rotation.layout_permutation(6).tolist()
    return R[order, order]


@claim(
    "book.audit-column",
    statement=r"The answer to a unit vector $e_a$ has two entries: $\cos n\theta_i$ at $a$ and $\pm\sin n\theta_i$ at "
    r"its partner $b > a$, plus for counter-clockwise and minus for clockwise.",
    cases="3 planes, in each layout and direction",
    witness=r"Half-split, $d = 6$, $a = 0$: $\cos n\theta_0$ at $0$ and $\sin n\theta_0$ at $3$.",
    holds=+1,
    control=-1,  # the two directions taken for each other
)
def answer_to_a_unit_vector(sign):
    for layout in LAYOUTS:
        for direction in (1, -1):
            F = _exact_turn(direction * n, layout)
            for i, (a, b) in enumerate(rotation.planes(6, layout=layout).tolist()):
                column = sp.zeros(6, 1)
                column[a] = sp.cos(n * thetas[i])
                column[b] = sign * direction * sp.sin(n * thetas[i])
                if not symbolic.same(F[:, a], column):
                    return False
    return True


@claim(
    "book.audit-read",
    statement=r"A plane's direction and frequency are the angle of one answer: $s\theta = \mathrm{atan2}(y_b, y_a)$ "
    r"with $y = f(e_a, 1)$, as long as $0 < \theta < \pi$.",
    witness=r"$\arccos y_a$ gives $\theta$ without its sign: a clockwise plane looks like the other kind.",
    tolerance=1e-12,
    holds=np.arctan2,
    control=lambda y_b, y_a: np.arccos(np.clip(y_a, -1, 1)),  # noqa: ARG005 - that it forgets y_b is the mistake
)
def signed_frequency(read, rng):
    misses = []
    for direction in (1, -1):
        for frequency in (np.pi * rng.uniform(0.01, 0.99), 1e-6):
            y_a, y_b = rotation.rotate([1.0, 0.0], direction, theta=frequency)
            misses.append(abs(read(y_b, y_a) - direction * frequency) / frequency)
    return max(misses)


@claim(
    "book.audit-alias",
    statement=r"Asked at whole positions only, $\theta$ and $\theta + 2\pi$ give the same answers for ever.",
    witness=r"At position $\tfrac12$ the two differ by half a turn.",
    holds=2 * sp.pi,
    control=sp.pi,
)
def whole_positions_see_a_frequency_up_to_a_turn(more):
    other = exact.rotation_2d(whole * (theta + more))
    return symbolic.same(sp.expand_trig(other.applyfunc(sp.expand)), sp.expand_trig(exact.rotation_2d(whole * theta)))


@claim(
    "book.audit-gauge",
    statement=r"Let the $F_n$ and $F'_n$ be invertible. Both give the same logit for all queries, keys and positions "
    r"if and only if $F'_n = C F_n$ with one orthogonal matrix $C$ for all positions.",
    witness=r"$C$ a permutation: code that reads neighbours and writes halves. $C = R_1$: code that starts to count at "
    r"one. With a $C_n$ that depends on $n$ the logits differ.",
    tolerance=1e-12,
    holds=lambda Q, n: Q,  # noqa: ARG005 - the same at every position
    control=np.linalg.matrix_power,  # orthogonal, but another one at each position
)
def equal_logits_mean_one_orthogonal_factor(factor, rng):
    Q, freq = np.linalg.qr(rng.normal(size=(6, 6)))[0], rotation.frequencies(6, base=50.0)
    some = np.eye(6) + rng.normal(size=(5, 6, 6)) / 9  # invertible, and no rotation
    one = np.hstack([T @ rotation.rotation_matrix(at, theta=freq) for at, T in enumerate(some)])
    other = np.hstack([factor(Q, at) @ F for at, F in enumerate(np.split(one, 5, axis=1))])
    logits = np.abs(other.T @ other - one.T @ one).max()
    values, vectors = np.linalg.eigh(other.T @ other)  # and back: a family that is made from the logits alone
    found = np.sqrt(values[-6:, None]) * vectors[:, -6:].T
    C = found[:, :6] @ np.linalg.inv(one[:, :6])
    return max(logits, np.abs(found - C @ one).max(), np.abs(C.T @ C - np.eye(6)).max())


@claim(
    "book.audit-flip",
    statement=r"Change the sign of one coordinate of a plane before and after, and the turn goes the other way: "
    r"$M R_\varphi M = R_{-\varphi}$ with $M = \mathrm{diag}(1, -1)$.",
    witness=r"With both signs changed, $M = -I$, nothing changes.",
    holds=sp.diag(1, -1),
    control=-sp.eye(2),
)
def one_sign_turns_the_direction(M):
    return symbolic.same(M * exact.rotation_2d(phi) * M, exact.rotation_2d(-phi))


def _by_planes(position, layout, freqs):
    """A matrix like that of `_exact_turn`, put together plane by plane instead of reordered."""
    R = sp.zeros(6, 6)
    for frequency, pair in zip(freqs, rotation.planes(6, layout=layout).tolist(), strict=True):
        block = exact.rotation_2d(position * frequency)
        for (row, a), (column, b) in product(enumerate(pair), repeat=2):
            R[a, b] = block[row, column]
    return R


@claim(
    "book.audit-carry",
    statement=r"Layout, direction and the order of the planes are a choice of coordinates: a permutation $S$ with "
    r"signs gives $S \mathcal R_n S^\top = \mathcal R'_n$.",
    cases="3 planes, in each layout, in each order and with each choice of directions",
    witness=r"From interleaved, counter-clockwise, to each of the $2 \cdot 6 \cdot 8$ kinds, with symbols for $n$ and "
    r"$\theta_i$.",
    holds=True,
    control=False,  # the coordinates reordered, the signs forgotten
)
def every_kind_from_one(flip):
    R = exact.rotation_matrix(n, theta=thetas)
    for layout, order, signs in product(LAYOUTS, permutations(range(3)), product((1, -1), repeat=3)):
        S = sp.zeros(6, 6)
        for (a, b), plane, sign in zip(rotation.planes(6, layout=layout).tolist(), order, signs, strict=True):
            S[a, 2 * plane], S[b, 2 * plane + 1] = 1, sign if flip else 1
        turned = [sign * thetas[plane] for plane, sign in zip(order, signs, strict=True)]
        if not symbolic.same(S * R * S.T, _by_planes(n, layout, turned)):
            return False
    return True


@claim(
    "book.audit-trace",
    statement=r"The sum of the diagonal of $\mathcal R_t$ is $d - r + 2 \sum_i \cos t\theta_i$, where $r$ coordinates "
    r"turn. It is the same in each layout and direction.",
    cases="3 planes beside 3 coordinates that do not turn",
    witness=r"$t = 0$: $d - r + 2 \cdot r/2 = d$.",
    holds=2,
    control=1,  # each plane has two coordinates on the diagonal
)
def trace_of_a_turn(each):
    t = sp.Symbol("t", real=True)
    for layout in LAYOUTS:
        for direction in (1, -1):
            R = sp.diag(_exact_turn(direction * t, layout), sp.eye(3))  # three coordinates do not turn
            if not symbolic.same(R.trace(), 3 + each * sum(sp.cos(t * freq) for freq in thetas)):
                return False
    return True


@claim(
    "book.audit-spectrum",
    statement=r"If $A \mathcal R_t A^{-1} = \mathcal R'_t$ for all real $t$, with any invertible $A$, then both have "
    r"the same list of frequencies, apart from order and sign.",
    cases="3 planes and one matrix A",
    witness=r"The even derivatives of the trace at $t = 0$ are the power sums of the $\theta_i^2$, and power sums "
    r"determine the numbers. A sum of the odd powers would see the sign; it does not occur.",
    holds=2,
    control=1,  # derivatives of every order: the odd ones are zero
)
def trace_tells_the_power_sums(step):
    t = sp.Symbol("t", real=True)
    A = sp.Matrix(6, 6, lambda i, j: (i + 1) ** j)
    trace = sp.expand((A * exact.rotation_matrix(t, theta=thetas) * A.inv()).trace())
    for k in (1, 2, 3):
        found = sp.diff(trace, t, step * k).subs(t, 0)
        if not symbolic.same(found, 2 * (-1) ** k * sum(freq ** (step * k) for freq in thetas)):
            return False
    x, (p_1, p_2, p_3) = sp.Symbol("x"), [sum(freq ** (2 * k) for freq in thetas) for k in (1, 2, 3)]
    roots = x**3 - p_1 * x**2 + (p_1**2 - p_2) / 2 * x - (p_1**3 - 3 * p_1 * p_2 + 2 * p_3) / 6
    return sp.expand(sp.prod([x - freq**2 for freq in thetas]) - roots) == 0  # the sums say the numbers


# The instruments of `rope_lab.audit`: the converter of weights, and what the laws catch by name.

HEADS, D, R, WIDTH = 3, 10, 6, 12  # three planes: with two, the way there and the way back are the same


def _head_logits(W_q, W_k, x, *, layout, way=1):
    """The logits of every head, the first R coordinates turned."""
    at, theta, logits = np.arange(len(x), dtype=float), way * rotation.frequencies(R), []
    for head in range(HEADS):
        rows = slice(head * D, head * D + D)
        turned = []
        for W in (W_q, W_k):
            y = x @ W[rows].T
            turned.append(np.concatenate([rotation.rotate(y[:, :R], at, theta=theta, layout=layout), y[:, R:]], axis=1))
        logits.append(turned[0] @ turned[1].T)
    return np.array(logits)


@claim(
    "book.audit-convert",
    statement=r"With $S \mathcal R_n S^\top = \mathcal R'_n$ and an orthogonal $S$, the weights $SW_q$, $SW_k$ in the "
    r"new code give the logits of $W_q$, $W_k$ in the old.",
    witness=r"Three heads, six of ten coordinates turned: permuted among the six, the logits stay; permuted over the "
    r"whole head, they do not.",
    tolerance=1e-11,
    holds=R,
    control=D,  # as if the whole head turned
)
def converted_weights_keep_the_logits(rotary_dim, rng):
    W_q, W_k = rng.normal(size=(2, HEADS * D, WIDTH)) / 3
    x = rng.normal(size=(5, WIDTH))
    there = [
        audit.permute_rotary(W, n_heads=HEADS, layout_from="interleaved", layout_to="half", rotary_dim=rotary_dim)
        for W in (W_q, W_k)
    ]
    one, other = _head_logits(W_q, W_k, x, layout="interleaved"), _head_logits(there[0], there[1], x, layout="half")
    signs = np.tile([1] * (R // 2) + [-1] * (R // 2) + [1] * (D - R), HEADS)[:, None]  # and the other direction
    back = _head_logits(signs * there[0], signs * there[1], x, layout="half", way=-1)
    S, (F, G) = (
        np.linalg.qr(rng.normal(size=(R, R)))[0],
        rotation.rotation_matrix([3, 8], theta=rotation.frequencies(R)),
    )
    q, k = W_q[:R] @ x[0], W_k[:R] @ x[1]  # and any orthogonal S: the new code turns by S F S^T
    free = (S @ F @ S.T @ S @ q) @ (S @ G @ S.T @ S @ k) - (F @ q) @ (G @ k)
    return max(np.abs(one - other).max(), np.abs(one - back).max(), abs(free))


@claim(
    "book.audit-gallery",
    statement=r"Each mistake of the gallery breaks the law that it is listed with, and correct rotations in either "
    r"layout, with any base and direction, break none.",
    witness=r"Relativity alone catches less than half of them: a wrong base and a function that turns nothing pass.",
    tolerance=1e-9,
    holds=lambda mistake: mistake.caught_by,
    control=lambda mistake: "relativity",  # noqa: ARG005 - one test for everything
)
def every_mistake_by_name(law, rng):
    missed, relative = 0, 0
    for mistake in audit.GALLERY:
        seen_laws = mistake.examine(head_dim=8, only={"relativity", mistake.caught_by})
        broken = {seen.name for seen in seen_laws if not seen.ok}
        relative += "relativity" in broken
        if law(mistake) not in broken:
            return 1.0
    for layout, way in product(LAYOUTS, (1, -1)):
        theta = way * rotation.frequencies(8, base=np.exp(rng.uniform(3, 13)))

        def sound(x, positions, theta=theta, layout=layout):
            return layouts.rotate_elementwise(x, positions, theta=theta, layout=layout)

        missed += sum(not seen.ok for seen in audit.laws(sound, head_dim=8))
    return float(missed + (2 * relative >= len(audit.GALLERY)))


# What a list of frequencies says about the base, and what it cannot say; what one call can tell.


@claim(
    "book.audit-base-line",
    statement=r"A list of frequencies has a base if and only if $\ln \theta_i$ is proportional to $u_i = 2i/r$; then "
    r"$\ln \mathrm{base}$ is minus the slope.",
    witness=r"$\theta_0 = 1$ for every base. So a list that starts elsewhere has none.",
    tolerance=1e-12,
    holds=lambda i, r: 2 * i / r,
    control=lambda i, r: 2 * (i + 1) / r,  # planes counted from one
)
def straight_line_through_zero(place, rng):
    misses = []
    for r in (4, 32, 128):
        log_base = rng.uniform(1, 16)
        theta = rotation.frequencies(r, base=np.exp(log_base))
        misses.append(np.abs(np.log(theta) + place(np.arange(r // 2), r) * log_base).max())
        line = np.exp(-log_base * place(np.arange(r // 2), r))  # and back: a line through zero has this base
        misses.append(np.abs(line / rotation.frequencies(r, base=np.exp(log_base)) - 1).max())
        bent = theta * np.append(rng.uniform(1.1, 2, r // 2 - 1), 1)  # and what is no such line has none
        misses.append(float(explain(bent, width=r).base is not None))
    return max(misses)


@claim(
    "book.audit-base-partial",
    statement=r"With $r$ of $d$ coordinates turned, a base with the exponent $2i/d$ and its power "
    r"$\mathrm{base}^{r/d}$ with the exponent $2i/r$ are the same embedding.",
    witness=r"$d = 128$, $r = 32$: base $10000$ over the whole head is base $[[10]]$ over the turned part.",
    computed=lambda: 10000 ** (32 / 128),
    tolerance=1e-12,
    holds=lambda r, d: r / d,
    control=lambda r, d: d / r,
)
def two_bases_one_embedding(power, rng):
    misses = []
    for r, d in ((32, 128), (16, 64), (6, 10)):
        base = np.exp(rng.uniform(1, 12))
        whole = rotation.frequencies(d, base=base)[: r // 2]
        misses.append(np.abs(np.log(whole / rotation.frequencies(r, base=base ** power(r, d)))).max())
    return max(misses)


@claim(
    "book.audit-ntk",
    statement=r"The base $\mathrm{base} \cdot \sigma^{r/(r-2)}$ leaves the first plane as it is and makes the last one "
    r"$\sigma$ times slower. It is a base like any other.",
    witness=r"$r = 4$, base $10000$, $\sigma = 4$: the base is $[[160000]]$, and $\theta_1 = [[1/400]]$.",
    computed=lambda: (10000 * 4 ** (4 / (4 - 2)), float(rotation.frequencies(4, base=160000)[1])),
    tolerance=1e-12,
    holds=lambda r: r / (r - 2),
    control=lambda r: 1.0,  # noqa: ARG005 - the base itself multiplied by s
)
def a_larger_base(power, rng):
    misses = []
    for r in (4, 64, 128):
        base, s = np.exp(rng.uniform(2, 12)), rng.uniform(2, 16)
        old, new = rotation.frequencies(r, base=base), rotation.frequencies(r, base=base * s ** power(r))
        made = frequency_schedules.NTK(factor=s).frequencies(r, base=base)
        misses += [abs(new[0] / old[0] - 1), abs(new[-1] * s / old[-1] - 1), np.abs(made / new - 1).max()]
    return max(misses)


@claim(
    "book.audit-interpolation",
    statement=r"Positions divided by $\sigma$ and frequencies divided by $\sigma$ are the same embedding. Its line "
    r"starts at $-\ln \sigma$ and has the old slope.",
    witness=r"$\sigma = 4$: position 4 turns the first plane by 1 radian, as position 1 did.",
    tolerance=1e-12,
    holds=lambda s: frequency_schedules.Linear(factor=s),
    control=lambda s: frequency_schedules.NTK(factor=s),
)
def slower_clock_or_shorter_steps(rule, rng):
    base, s, x, positions = np.exp(rng.uniform(2, 12)), rng.uniform(2, 16), rng.normal(size=8), [1.0, 7.0, -3.5]
    theta = rule(s).frequencies(8, base=base)
    one = rotation.rotate(x, np.divide(positions, s), theta=rotation.frequencies(8, base=base))
    other = (x[::2] + 1j * x[1::2]) * np.exp(1j * np.outer(positions, theta))
    line = np.log(theta) + np.log(s) + np.arange(0, 8, 2) / 8 * np.log(base)
    return max(np.abs(one[:, ::2] + 1j * one[:, 1::2] - other).max(), np.abs(line).max())


def _slowed(theta, kept, s):
    return theta * (kept + (1 - kept) / s)


@claim(
    "book.schedule-llama3",
    statement=r"Llama 3 says its rule by wavelengths $\lambda_i$ in a window of $L$ positions: below $L/4$ a plane "
    r"stays, above $L$ it is $s$ times slower, and between them a share $(L/\lambda_i - 1)/3$ stays. This is by parts, "
    r"$\theta_i\bigl(\gamma_i + \frac{1-\gamma_i}{s}\bigr)$ with $\gamma_i = \mathrm{clip}\bigl(\frac{L/\lambda_i - "
    r"\alpha}{\beta - \alpha}, 0, 1\bigr)$, for $\alpha = 1$ and $\beta = 4$ turns.",
    witness=r"$s = 8$, $L = 8192$, base $500000$, $d = 128$: the first $[[29]]$ planes stay, the last $[[29]]$ are "
    r"$8$ times slower.",
    computed=lambda: _stay_and_slow(frequency_schedules.Llama3(factor=8, window=8192)),
    tolerance=1e-12,
    holds=(1.0, 4.0),
    control=(1.0, 32.0),  # YaRN's turns
)
def llama3_is_by_parts(pair, rng):
    slow, fast = pair
    misses = []
    for width, base, L in ((64, 1e4, 4096), (128, 5e5, 8192)):
        s, theta = rng.uniform(2, 32), rotation.frequencies(width, base=base)
        waves = schedule.wavelengths(width, base=base)
        between = (L / waves - 1) / 3
        printed = np.where(waves < L / 4, theta, np.where(waves > L, theta / s, _slowed(theta, between, s)))
        parts = frequency_schedules.ByParts(factor=s, window=L, slow=slow, fast=fast)
        named = frequency_schedules.Llama3(factor=s, window=L)
        misses += [np.abs(made.frequencies(width, base=base) / printed - 1).max() for made in (parts, named)]
        a, b = rng.uniform(0.3, 2), rng.uniform(3, 40)  # by parts itself, with any two numbers of turns
        ramp = np.clip((L / waves - a) / (b - a), 0, 1)
        parts = frequency_schedules.ByParts(factor=s, window=L, slow=a, fast=b)
        misses.append(np.abs(parts.frequencies(width, base=base) / _slowed(theta, ramp, s) - 1).max())
    return max(misses)


def _stay_and_slow(rule):
    plain = rotation.frequencies(128, base=5e5)
    ratio = plain / rule.frequencies(128, base=5e5)
    return int((ratio == 1).sum()), int((np.abs(ratio - rule.factor) < 1e-9).sum())


@claim(
    "book.schedule-yarn",
    statement=r"YaRN's code is not YaRN's paper. Of a plane that makes $r$ turns in the window, between $\alpha$ and "
    r"$\beta$, the paper keeps the share $(r - \alpha)/(\beta - \alpha)$. The code, before it rounds its ends to whole "
    r"planes or cuts them off, keeps $\ln(r/\alpha) / \ln(\beta/\alpha)$, which is more.",
    witness=r"$s = 4$, $L = 4096$, base $10000$, $d = 128$: plane $33$ keeps $[[0.499]]$ in the code, and $[[0.15]]$ "
    r"in the paper.",
    computed=lambda: (
        _kept(frequency_schedules.Yarn(factor=4, window=4096, whole=False)),
        _kept(frequency_schedules.YarnPaper(factor=4, window=4096)),
    ),
    tolerance=1e-9,
    holds=lambda r, a, b: np.log(r / a) / np.log(b / a),
    control=lambda r, a, b: (r - a) / (b - a),  # the paper's
)
def the_code_is_not_the_paper(share, rng):
    misses = []
    for width, base, L in ((64, 1e4, 4096), (128, 1e6, 32768)):
        s, theta = rng.uniform(2, 32), rotation.frequencies(width, base=base)
        r = schedule.turns(L, theta=theta)
        code = frequency_schedules.Yarn(factor=s, window=L, whole=False).frequencies(width, base=base)
        paper = frequency_schedules.YarnPaper(factor=s, window=L).frequencies(width, base=base)
        ramp = (r > 1) & (r < 32)
        misses += [
            np.abs(code / _slowed(theta, np.clip(share(r, 1, 32), 0, 1), s) - 1).max(),
            np.abs(paper / _slowed(theta, np.clip((r - 1) / 31, 0, 1), s) - 1).max(),
            float((code <= paper)[ramp].any()),  # more is kept, so the code's plane is faster
        ]
    return max(misses)


def _kept(rule, plane=33):
    plain = rotation.frequencies(128)
    ratio = (rule.frequencies(128, base=10000.0) / plain)[plane]
    return round(float((ratio - 1 / rule.factor) / (1 - 1 / rule.factor)), 3)


@claim(
    "book.schedule-window",
    statement=r"By parts and in YaRN's code, a window and the two numbers of turns can be multiplied by one number, "
    r"and the frequencies stay as they are. So a list alone does not tell its window.",
    witness=r"$L = 8192$ with $1$ and $4$ turns, and $L = 16384$ with $2$ and $8$ turns.",
    tolerance=1e-12,
    holds=lambda turned, c: turned * c,
    control=lambda turned, c: turned,  # noqa: ARG005 - the window alone
)
def a_window_is_known_up_to_the_turns(changed, rng):
    misses = []
    for c in (2, 3, 10):
        s, slow, fast = rng.uniform(2, 32), rng.uniform(0.5, 2), rng.uniform(4, 40)
        for kind in (frequency_schedules.ByParts, frequency_schedules.Yarn):
            one = kind(factor=s, window=4096, slow=slow, fast=fast)
            other = kind(factor=s, window=4096 * c, slow=changed(slow, c), fast=changed(fast, c))
            misses.append(np.abs(one.frequencies(128, base=1e4) / other.frequencies(128, base=1e4) - 1).max())
    return max(misses)


@claim(
    "book.audit-one-call",
    statement=r"If $f$ is known to be rotary, one call is enough: for almost every $x$, two turning coordinates keep "
    r"their length, $y_a^2 + y_b^2 = x_a^2 + x_b^2$, if and only if they are a plane.",
    witness=r"All [[28]] pairs of eight coordinates. A unit vector is not enough: it leaves [[16]] of them.",
    computed=lambda: (math.comb(8, 2), len(_kept_lengths(np.eye(8)[0], 1, "half"))),
    tolerance=1e-9,
    holds=lambda rng: rng.normal(size=8),
    control=lambda rng: np.eye(8)[rng.integers(8)],
)
def only_planes_keep_the_length(question, rng):
    for layout in ("interleaved", "half"):
        for direction in (1, -1):
            if _kept_lengths(question(rng), direction, layout) != rotation.planes(8, layout=layout).tolist():
                return 1.0
    return 0.0


def _kept_lengths(x, direction, layout):
    """The pairs of coordinates whose length one turn keeps."""
    gap = rotation.rotate(x, direction, theta=rotation.frequencies(8, base=100.0), layout=layout) ** 2 - x**2
    return [[a, b] for a, b in combinations(range(8), 2) if abs(gap[a] + gap[b]) < 1e-9]


@claim(
    "book.audit-shift-test",
    statement=r"Moving query and key by the same number of positions leaves every logit as it is, also with a wrong "
    r"base, a wrong layout, a wrong direction, and with no rotation at all.",
    witness=r"Each is a family with $F_m^\top F_n = G_{n-m}$, and the test asks for nothing else.",
    tolerance=1e-11,
    holds=lambda x, at, theta: rotation.rotate(x, at, theta=theta),
    control=lambda x, at, theta: rotation.rotate(x, at, theta=theta, layout="half"),  # for the query alone
)
def what_a_shift_cannot_see(turn_query, rng):
    q, k = rng.normal(size=(2, 8))
    schedules = {
        "right": rotation.frequencies(8),
        "base": rotation.frequencies(8, base=500.0),
        "direction": -rotation.frequencies(8),
        "nothing": np.zeros(4),
    }

    def moved(theta, turn_q, turn_k):
        there = [turn_q(q, 3.0 + by, theta) @ turn_k(k, 8.0 + by, theta) for by in (0.0, 1.0, 90.0)]
        return max(abs(there[0] - there[1]), abs(there[0] - there[2]))

    def plain(x, at, theta):
        return rotation.rotate(x, at, theta=theta)

    def half(x, at, theta):
        return rotation.rotate(x, at, theta=theta, layout="half")

    return max(
        *(moved(theta, turn_query, plain) for theta in schedules.values()), moved(schedules["right"], half, half)
    )
