"""Chapter 17, what a list of frequencies says about the base, and what it cannot say; what one call can tell."""

import math

import numpy as np

from rope_lab.algebra import frequency_schedules, rotation, schedule
from rope_lab.claims.ledger import claim


@claim(
    "book.audit-base-line",
    statement=r"A list of frequencies has a base exactly if $\ln \theta_i$ is proportional to $u_i = 2i/r$; then "
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
    statement=r"The base $\mathrm{base} \cdot s^{r/(r-2)}$ leaves the first plane as it is and makes the last one $s$ "
    r"times slower. It is a base like any other.",
    witness=r"$r = 4$, base $10000$, $s = 4$: the base is $[[160000]]$, and $\theta_1 = [[1/400]]$.",
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
        misses += [abs(new[0] / old[0] - 1), abs(new[-1] * s / old[-1] - 1)]
    return max(misses)


@claim(
    "book.audit-interpolation",
    statement=r"Positions divided by $s$ and frequencies divided by $s$ are the same embedding. Its line starts at "
    r"$-\ln s$ and has the old slope.",
    witness=r"$s = 4$: position 4 turns the first plane by 1 radian, as position 1 did.",
    tolerance=1e-12,
    holds=lambda theta, s: theta / s,
    control=lambda theta, s: theta * s,
)
def slower_clock_or_shorter_steps(scaled, rng):
    theta, s, x = rotation.frequencies(8), rng.uniform(2, 16), rng.normal(size=8)
    positions = np.array([1.0, 7.0, -3.5])
    one = rotation.rotate(x, positions / s, theta=theta)
    other = rotation.rotate(x, positions, theta=scaled(theta, s))
    line = np.log(scaled(theta, s)) - np.log(rotation.frequencies(8)) + np.log(s)
    return max(np.abs(one - other).max(), np.abs(line).max())


def _slowed(theta, kept, s):
    return theta * (kept + (1 - kept) / s)


@claim(
    "book.schedule-llama3",
    statement=r"Llama 3 says its rule by wavelengths $\lambda_i$ in a window of $L$ positions: below $L/4$ a plane "
    r"stays, above $L$ it is $s$ times slower, and between them a share $(L/\lambda_i - 1)/3$ stays. This is by parts, "
    r"with $1$ and $4$ turns.",
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
    return max(misses)


def _stay_and_slow(made):
    plain = rotation.frequencies(128, base=5e5)
    ratio = plain / made.frequencies(128, base=5e5)
    return int((ratio == 1).sum()), int((np.abs(ratio - made.factor) < 1e-9).sum())


@claim(
    "book.schedule-yarn",
    statement=r"YaRN's code is not YaRN's paper. Of a plane that makes $r$ turns in the window, between $\alpha$ and "
    r"$\beta$, the paper keeps the share $(r - \alpha)/(\beta - \alpha)$. The code, before it rounds its ends to whole "
    r"planes, keeps $\ln(r/\alpha) / \ln(\beta/\alpha)$, which is more.",
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


def _kept(made, plane=33):
    plain = rotation.frequencies(128)
    ratio = (made.frequencies(128, base=10000.0) / plain)[plane]
    return round(float((ratio - 1 / made.factor) / (1 - 1 / made.factor)), 3)


@claim(
    "book.schedule-window",
    statement=r"By parts, a window and the two numbers of turns can be multiplied by one number, and the frequencies "
    r"stay as they are. So a list alone does not tell its window.",
    witness=r"$L = 8192$ with $1$ and $4$ turns, and $L = 16384$ with $2$ and $8$ turns.",
    tolerance=1e-12,
    holds=lambda turned, c: turned * c,
    control=lambda turned, c: turned,  # noqa: ARG005 - the window alone
)
def a_window_is_known_up_to_the_turns(changed, rng):
    misses = []
    for c in (2, 3, 10):
        s, slow, fast = rng.uniform(2, 32), rng.uniform(0.5, 2), rng.uniform(4, 40)
        one = frequency_schedules.ByParts(factor=s, window=4096, slow=slow, fast=fast)
        other = frequency_schedules.ByParts(factor=s, window=4096 * c, slow=changed(slow, c), fast=changed(fast, c))
        misses.append(np.abs(one.frequencies(128, base=1e4) / other.frequencies(128, base=1e4) - 1).max())
    return max(misses)


def _pairings(left):
    """Every way to make pairs of an even number of things: (n - 1)(n - 3)... of them."""
    if not left:
        yield ()
        return
    first, rest = left[0], left[1:]
    for i, other in enumerate(rest):
        for more in _pairings(rest[:i] + rest[i + 1 :]):
            yield ((first, other), *more)


@claim(
    "book.audit-one-call",
    statement=r"If $f$ is known to be rotary, one call is enough: for almost every $x$ exactly one way to pair the "
    r"coordinates keeps the length in each pair, $y_a^2 + y_b^2 = x_a^2 + x_b^2$.",
    witness=r"All [[105]] pairings of eight coordinates. A unit vector is not enough: it leaves [[15]] of them.",
    computed=lambda: (math.prod(range(1, 8, 2)), math.prod(range(1, 6, 2))),
    tolerance=1e-9,
    holds=lambda rng: rng.normal(size=8),
    control=lambda rng: np.eye(8)[rng.integers(8)],
)
def one_pairing_fits(question, rng):
    theta = rotation.frequencies(8, base=100.0)
    for layout in ("interleaved", "half"):
        for direction in (1, -1):
            x = question(rng)
            y = rotation.rotate(x, direction, theta=theta, layout=layout)
            gap = y**2 - x**2
            fit = [p for p in _pairings(tuple(range(8))) if max(abs(gap[a] + gap[b]) for a, b in p) < 1e-9]
            if fit != [tuple(map(tuple, rotation.planes(8, layout=layout).tolist()))]:
                return 1.0
    return 0.0


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
