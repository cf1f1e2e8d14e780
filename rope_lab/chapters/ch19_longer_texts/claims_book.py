"""Chapter 19: which angles are new and what schedules do about it, the bound for the base, and lists that change."""

import math
from typing import Any

import mpmath
import numpy as np
from scipy.optimize import brentq
from scipy.special import sici

from rope_lab.algebra import frequency_schedules, longer_texts, rotation, schedule
from rope_lab.algebra.frequency_schedules import (
    NTK,
    ByParts,
    DynamicNTK,
    Linear,
    Llama3,
    LongRoPE,
    Schedule,
    Yarn,
    YarnPaper,
)
from rope_lab.chapters.ch19_longer_texts import results
from rope_lab.claims.ledger import claim
from rope_lab.training.results import cards

WINDOW = 8192  # in which Llama 3 8B was trained


def _lists(rule, *, width=128, base=500000.0):
    return rule.frequencies(width, base=base), rotation.frequencies(width, base=base)


@claim(
    "book.longer-met",
    statement=r"A plane that makes a whole turn in $L$ tokens has met every angle, up to half a step $\theta/2$. A "
    r"plane that does not is, at every later position $n$ of its first turn, at a new angle: $(n - L + 1)\theta$ "
    r"beyond the last that it met, and $2\pi - n\theta$ before the first.",
    witness=r"Llama 3 8B, $L = 8192$: $[[29]]$ of 64 planes do not complete a turn.",
    computed=lambda: int((schedule.turns(WINDOW, theta=rotation.frequencies(128, base=5e5)) < 1).sum()),
    holds=lambda L, theta: schedule.turns(L, theta=[theta])[0] >= 1,
    control=lambda L, theta: schedule.turns(L, theta=[theta])[0] >= 0.5,
    tolerance=1e-9,
)
def what_a_plane_has_met(met, rng):
    misses = []
    for L in (50, 400):
        for theta in (5.9 / L, 6.3 / L, *np.exp(rng.uniform(np.log(2 / L), np.log(0.5), size=20))):
            angles = np.arange(L) * theta
            later = np.arange(L, 3 * L)
            gap = np.abs((later[:, None] * theta - angles + np.pi) % (2 * np.pi) - np.pi).min(axis=1)
            if met(L, theta):
                misses.append(max(0.0, gap.max() - theta / 2))
            else:
                beyond, before = (later - L + 1) * theta, 2 * np.pi - later * theta
                misses += np.abs(gap - np.minimum(beyond, before))[before > 0].tolist() or [np.inf]
    return max(misses)


@claim(
    "book.longer-neighbours",
    statement=r"Interpolation by $s$ brings neighbours together: from one token to the next the logit of $q$ and $k$ "
    r"changes by at most $\sum_i \frac{\theta_i}{s} |q_i||k_i|$.",
    witness=r"$s = 8$: the fastest hand turns by $[[0.125]]$ rad from word to word, where it turned by $1$.",
    computed=lambda: float(_lists(Linear(factor=8))[0][0]),
    tolerance=1e-12,
    holds=lambda theta, s: theta / s,
    control=lambda theta, s: theta / s**2,
)
def neighbours_move_together(slower, rng):
    misses = []
    for s in (2.0, 8.0):
        theta = rotation.frequencies(16, base=100.0)
        for _ in range(20):
            q, k = rng.normal(size=(2, 16))
            lengths = [np.hypot(x[0::2], x[1::2]) for x in (q, k)]
            bounds, used = slower(theta, s) * lengths[0] * lengths[1], Linear(factor=s).frequencies(16, base=100.0)
            at: dict[str, Any] = {"q_positions": [0.0], "k_positions": np.arange(400.0)}
            for p in (8, 1):  # all planes, and the first alone
                keys = np.tile(k[: 2 * p], (400, 1))
                logits = rotation.logits(q[None, : 2 * p], keys, **at, theta=used[:p])[0]
                share = np.abs(np.diff(logits)).max() / bounds[:p].sum()
                misses.append(max(0.0, share - 1))
            misses.append(max(0.0, 0.98 - share))  # so no bound that is much smaller would do, nor one much larger
    return max(misses)


@claim(
    "book.longer-ntk-reach",
    statement=r"NTK-aware scaling by $s$ makes plane $i$ of $p$ slower by $s^{i/(p-1)}$. The first plane $i^*$ that "
    r"does not complete a turn in $L$ tokens ends its angles at $s^{i^*/(p-1)} L$ tokens, which is the reach of the "
    r"list.",
    witness=r"Llama 3 8B: $i^* = [[35]]$, so a factor of 8 reaches $[[3.17]]$ windows.",
    computed=lambda: (
        int(np.argmax(schedule.turns(WINDOW, theta=rotation.frequencies(128, base=5e5)) < 1)),
        longer_texts.reach(*_lists(NTK(factor=8))[:1], trained=_lists(NTK(factor=8))[1], window=WINDOW) / WINDOW,
    ),
    tolerance=1e-9,
    holds=lambda s, first, p: s ** (first / (p - 1)),
    control=lambda s, first, p: s,  # noqa: ARG005 - what its factor promises
)
def how_far_a_larger_base_reaches(windows, rng):
    misses = []
    for width, base, L in ((64, 1e4, 4096), (128, 5e5, 8192), (256, 1e6, 8192)):
        s = rng.uniform(2, 16)
        used, trained = _lists(NTK(factor=s), width=width, base=base)
        first = int(np.argmax(schedule.turns(L, theta=trained) < 1))
        found = longer_texts.reach(used, trained=trained, window=L)
        misses.append(abs(found / L / windows(s, first, width // 2) - 1))
        misses.append(np.abs(trained / used / windows(s, np.arange(width // 2), width // 2) - 1).max())
    return max(misses)


@claim(
    "book.longer-parts-reach",
    statement=r"By parts with $\alpha = 1$, every plane with less than one turn in the window is slowed by all of "
    r"$s$. So the list reaches $sL$ tokens: no plane is at an angle that it never met, up to half a step. Llama 3's "
    r"rule, YaRN's paper and YaRN's code all do.",
    witness=r"Llama 3.1, $s = 8$: $[[65536]]$ tokens. With $\alpha = \tfrac12$ it would be $[[32874]]$.",
    computed=lambda: (
        _reached(Llama3(factor=8, window=WINDOW)),
        _reached(ByParts(factor=8, window=WINDOW, slow=0.5, fast=4)),
    ),
    tolerance=1e-9,
    holds=1.0,
    control=0.5,  # planes between half a turn and one are kept in part, and go beyond
)
def by_parts_reaches_the_new_window(slow, rng):
    misses = []
    for width, base, L in ((128, 5e5, 8192), (128, 1e4, 4096)):
        s = rng.uniform(2, 16)
        for rule in (
            Llama3(factor=s, window=L, slow=slow),
            YarnPaper(factor=s, window=L, slow=slow),
            Yarn(factor=s, window=L, slow=slow),
        ):
            used, trained = _lists(rule, width=width, base=base)
            misses.append(abs(longer_texts.reach(used, trained=trained, window=L) / (s * L) - 1))
    return max(misses)


def _reached(rule):
    used, trained = _lists(rule)
    return int(longer_texts.reach(used, trained=trained, window=WINDOW))


@claim(
    "book.longer-yarn-worst",
    statement=r"With the ends of its ramp neither rounded nor cut off, a plane of YaRN's code is never slower than "
    r"that of its paper, and faster by less than $(\beta - 1) / \ln \beta$, at any factor, window and base, if "
    r"$\alpha = 1$. In a window of less than $2\pi\beta$ the code cuts the fast end off: plane 0 stays, with fewer "
    r"than $\beta$ turns.",
    witness=r"$\beta = 32$: below $[[8.94]]$. Llama 2, $s = 16$, with rounded ends as the code has them: "
    r"$[[25]]$ of 64 planes differ by more than 1 %, the worst by $[[3.04]]$.",
    computed=lambda: (31 / math.log(32), *_yarn_gap(Yarn(factor=16, window=4096), width=128, base=1e4)),
    cases="beta 4 and 32, factors 2, 16 and 1e6, (base, window) = (1e4, 202), (1e4, 4096) and (1e6, 32768); cut off "
    "in windows of 25 and 201",
    holds=lambda beta: (beta - 1) / math.log(beta),
    control=lambda beta: (beta - 1) / math.log(beta) / 2,
)
def the_code_against_the_paper(most):
    seen = []
    for beta in (4.0, 32.0):
        cut: dict[str, Any] = {"factor": 2.0, "window": int(2 * math.pi * beta), "fast": beta}
        code, paper = (made.frequencies(128, base=1e4)[0] for made in (Yarn(**cut, whole=False), YarnPaper(**cut)))
        if not code == 1 > paper:
            return False
        for s in (2.0, 16.0, 1e6):
            for base, L in ((1e4, 202), (1e4, 4096), (1e6, 32768)):
                code = Yarn(factor=s, window=L, fast=beta, whole=False).frequencies(4096, base=base)
                paper = YarnPaper(factor=s, window=L, fast=beta).frequencies(4096, base=base)
                seen.append(code / paper / most(beta))
                if (code < paper * (1 - 1e-12)).any():
                    return False
    return bool(0.9 < max(ratio.max() for ratio in seen) < 1)  # never reached, and no smaller number would do


def _yarn_gap(rule, *, width, base):
    code = rule.frequencies(width, base=base)
    ratio = code / YarnPaper(factor=rule.factor, window=rule.window).frequencies(width, base=base)
    return int((np.abs(ratio - 1) > 0.01).sum()), float(ratio.max())


@claim(
    "book.longer-factor",
    statement=r"Cosines and sines times $m$ multiply the turning part of a logit by $m^2$, and leave the rest: with "
    r"$q = (q_t, q_r)$ it is $m^2\, q_t^\top R\, k_t + q_r^\top k_r$. Only if every coordinate turns is this a "
    r"temperature of the softmax.",
    witness=r"$s = 4$: $m^2 = [[1.296]]$. A head of 256 coordinates that turns 64 of them gets it on a quarter.",
    computed=lambda: Yarn(factor=4, window=32768).attention_factor ** 2,
    tolerance=1e-12,
    holds=lambda turning, rest, m: m**2 * turning + rest,
    control=lambda turning, rest, m: m**2 * (turning + rest),  # a temperature
)
def the_factor_sees_what_turns(logit, rng):
    misses = []
    for width in (64, 256):
        made = Yarn(factor=rng.uniform(2, 40), window=4096)
        theta, m = made.frequencies(64, base=1e4), made.attention_factor
        q, k = rng.normal(size=(2, width))
        at, to = rng.integers(0, 9000, size=2)
        turned = [m * rotation.rotate(x[:64], n, theta=theta) for x, n in ((q, at), (k, to))]
        whole = turned[0] @ turned[1] + q[64:] @ k[64:]
        turning = rotation.rotate(q[:64], at, theta=theta) @ rotation.rotate(k[:64], to, theta=theta)
        misses.append(abs(whole - logit(turning, q[64:] @ k[64:], m)))
    return max(misses)


@claim(
    "book.longer-two-scales",
    statement=r"Of two settings `mscale` $= a$ and `mscale_all_dim` $= b$, cosines and sines get $m(a)/m(b)$ with "
    r"$m(x) = 0.1\,x \ln s + 1$. Where the attention multiplies all logits by $m(b)^2$ as well, the turning part ends "
    r"with $m(a)^2$ and the rest with $m(b)^2$: equal scales are a temperature, and the tables then have the factor 1.",
    witness=r"$s = 40$, $a = b = 1$: the tables have factor $[[1]]$, and all logits are multiplied by $[[1.87]]$.",
    computed=lambda: (
        Yarn(factor=40, window=4096, mscale=1.0, mscale_all_dim=1.0).attention_factor,
        Yarn(factor=40, window=4096).attention_factor ** 2,
    ),
    tolerance=1e-12,
    holds=lambda a, _b, s: (0.1 * a * math.log(s) + 1) ** 2,
    control=lambda _a, b, s: (0.1 * b * math.log(s) + 1) ** 2,
)
def two_scales_of_one_temperature(turning, rng):
    misses = []
    for _ in range(20):
        s, (a, b) = rng.uniform(2, 64), rng.uniform(0.2, 2, size=2)
        tables = Yarn(factor=s, window=4096, mscale=a, mscale_all_dim=b).attention_factor
        everywhere = Yarn(factor=s, window=4096, mscale=b, mscale_all_dim=1e-300).attention_factor ** 2
        misses.append(abs(tables**2 * everywhere - turning(a, b, s)))
    return max(misses)


@claim(
    "book.longer-short-texts",
    statement=r"Two lists of frequencies between $0$ and $\pi$ give the same logits at offset 1, for every query and "
    r"key, only if they are one list. So a schedule that stays on changes short texts as well.",
    witness=r"YaRN by 4 on a base of $10^6$ and a window of 32,768: at offset 1000 the planes are off by up to "
    r"$[[0.52]]$ rad.",
    computed=lambda: _off_at(1000),
    tolerance=1e-9,
    holds=lambda theta, turns: theta,  # noqa: ARG005 - the list itself
    control=lambda theta, turns: theta + 2 * np.pi * turns,  # another list with the same logits at whole offsets
)
def logits_know_their_list(other, rng):
    misses, units = [], np.eye(16)[0::2]
    at: dict[str, Any] = {"q_positions": np.zeros(8), "k_positions": np.ones(8)}
    for _ in range(20):
        theta = other(rng.uniform(0, np.pi, size=8), rng.integers(1, 4, size=8))
        cosines = np.diag(rotation.logits(units, units, **at, theta=theta))
        misses.append(np.abs(np.arccos(cosines) - theta).max())  # the list, read off its logits
    return max(misses)


def _off_at(offset):
    used, trained = _lists(Yarn(factor=4, window=32768), base=1e6)
    return float(np.abs(offset * (used - trained)).max())


@claim(
    "book.longer-lists-relative",
    statement=r"Interpolation, NTK, by parts, YaRN, Llama 3's rule, and at a fixed length dynamic NTK and LongRoPE are "
    r"lists of frequencies. So the logit depends on the offset alone.",
    witness=r"Seven schedules, two of them fixed at 6000 tokens.",
    tolerance=1e-9,
    holds=lambda rule, n: rule.at(6000),  # noqa: ARG005 - one list for the whole text
    control=lambda rule, n: rule.at(n + 1),  # the list of the text as long as it was when this token was read
)
def fixed_lists_are_relative(fixed, rng):
    misses = []
    for rule in _seven():
        q, k = rng.normal(size=(2, 16))
        logits = []
        for m in (0, 900, 5900):
            turned = [
                rotation.rotate(x, n, theta=fixed(rule, n).frequencies(16, base=1e4)) for x, n in ((q, m + 60), (k, m))
            ]
            logits.append(turned[0] @ turned[1])
        misses.append(np.ptp(logits))
    return max(misses)


def _seven() -> list[Schedule]:
    return [
        Linear(factor=4),
        NTK(factor=4),
        ByParts(factor=4, window=4096),
        Yarn(factor=4, window=4096),
        Llama3(factor=4, window=4096),
        frequency_schedules.DynamicNTK(factor=4, window=1000),
        frequency_schedules.LongRoPE(short=(1.0,) * 8, long=(2.0,) * 8, window=930, factor=4),
    ]


# The published lower bound for the base: its criterion, its islands, and its limit for wide heads.

UNIT = 2.0**-53


def _error(length, theta):
    """More than float64 can err: in the frequency, the product and two exponentials, at the last offset."""
    return length * theta.max() * 40 * UNIT + 1e-13


def _passes(base, length, *, head_dim=128):
    """Whether the decay is negative nowhere: True, False, or None where float64 cannot tell."""
    theta = rotation.frequencies(head_dim, base=base)
    low = longer_texts.lowest_decay(length, theta=theta).value
    return None if abs(low) <= _error(length, theta) else low > 0


def _digits(base, offset, *, head_dim=128):
    """The decay at one offset, in 40 digits."""
    with mpmath.workdps(40):
        planes = head_dim // 2
        angles = (offset * mpmath.mpf(base) ** (-mpmath.mpf(i) / planes) for i in range(planes))
        return float(mpmath.fsum(map(mpmath.cos, angles)) / planes)


@claim(
    "book.longer-islands",
    statement=r"Ask that $f(r) = \frac1p \sum_i \cos(r\theta_i) \ge 0$ for all $r < L$. The bases that pass are not "
    r"all those above a bound: above one that passes there are bases that fail.",
    witness=r"head_dim 128, $L = 32768$: $6.3 \cdot 10^5$ passes, and $10^6$ fails, $f([[28259]]) = [[-0.0121]]$.",
    computed=lambda: (
        longer_texts.lowest_decay(32768, theta=rotation.frequencies(128, base=1e6)).offset,
        _digits(10**6, 28259),
    ),
    cases="head_dim 128, 11 bases at 3 lengths",
    holds=lambda base, passing: base in passing,
    control=lambda base, passing: base >= min(passing),  # a lower bound
)
def the_bound_has_islands(says):
    tried = {
        8192: {84_200: True, 100_000: False, 150_000: True, 300_000: True, 394_000: False, 500_000: True},
        32768: {500_000: False, 630_000: True, 1_000_000: False, 2_000_000: True},
        4096: {10_000: False},
    }
    for length, bases in tried.items():
        found = {base: _passes(float(base), length) for base in bases}
        if None in found.values() or found != bases:
            return False
        for base, passed in bases.items():
            low = longer_texts.lowest_decay(length, theta=rotation.frequencies(128, base=float(base)))
            if abs(_digits(base, low.offset) - low.value) > 1e-9:  # forty digits agree where it matters
                return False
            passing = {float(b) for b, well in bases.items() if well} or {np.inf}
            if says(base, passing) != passed:
                return False
    return True


@claim(
    "book.longer-bound-limit",
    statement=r"For heads of many planes, in long texts, the criterion tends to a bound: $b > L / x_0$ with the first "
    r"zero $x_0$ of the cosine integral, $\mathrm{Ci}(x_0) = 0$, that is $b > 1.622\, L$.",
    witness=r"$x_0 = [[0.6165]]$, so $L = 8192$ asks for $b > [[13287.8]]$. Heads of 128 need far more.",
    computed=lambda: (_first_zero(), 8192 / _first_zero()),
    cases="L = 4096 and 32768, with a base below the bound and three above",
    tolerance=1e-4,
    holds=lambda: 1 * _first_zero(),
    control=lambda: 1 / (2 * np.pi),  # a slowest plane that ends its turn with the text
)
def the_bound_of_wide_heads(zero):
    misses = []
    for length in (4096, 32768):
        offsets = np.arange(1.0, length)
        bound = brentq(_lowest_of_many, length / 2, 10.0 * length, args=(offsets,))
        if [_lowest_of_many(bound * much, offsets) > 0 for much in (0.9, 1.1, 3, 30)] != [False, True, True, True]:
            return np.inf
        misses.append(abs(length / bound - zero()))
    return max(misses)


def _lowest_of_many(base, offsets):
    """The lowest decay of a head of so many planes that their sum is an integral."""
    return float(schedule.dense_decay(offsets, base=base).min())


def _first_zero():
    return float(brentq(lambda x: sici(x)[1], 0.1, 1.0, xtol=1e-13))


# Lists that change while a text is read: what a cache of turned keys then says, and how it is repaired.

SWITCH = LongRoPE(short=(1.0,) * 8, long=tuple(1.0 + 0.5 * i for i in range(8)), window=5500, factor=4)
DYNAMIC = DynamicNTK(factor=4, window=4096)
GROWING = (DYNAMIC, SWITCH)


def _list(rule, n):
    return rule.at(int(n)).frequencies(16, base=10000.0)


def _worst_phase():
    old, new = (DYNAMIC.at(n).frequencies(128, base=10000.0) for n in (5001, 6001))
    return int(np.abs(5000 * (old - new)).max())


def _one_common_turn(key, n, old, new):
    """The best shift of all planes by one number of positions, as after a token was dropped: tried on a fine grid."""
    shifts = np.linspace(-n, n, 20001)
    wanted = np.exp(1j * n * (new - old))
    best = shifts[np.abs(np.exp(1j * np.outer(shifts, new)) - wanted).max(axis=1).argmin()]
    return rotation.rotate(key, best, theta=new)


@claim(
    "book.longer-stale-keys",
    statement=r"Let the key be turned at position $n$ by the list $\theta$ of that time, and the query at $m$ by "
    r"today's list $\theta'$. Plane $i$ adds $|q_i||k_i| \cos(\varphi_i + n\theta_i - m\theta'_i)$, which is that of "
    r"today's list with a phase of $n(\theta_i - \theta'_i)$ too much.",
    witness=r"Dynamic NTK by 4 from 4096 tokens, a key of position 5000 read at 6000: up to $[[77]]$ rad.",
    computed=_worst_phase,
    tolerance=1e-8,
    holds=lambda n, old, new: n * (old - new),
    control=lambda n, old, new: n * old * 0,  # noqa: ARG005 - as if the cache were fresh
)
def what_a_stale_key_says(phase, rng):
    misses = []
    for rule in GROWING:
        q, k = rng.normal(size=(2, 16))
        n, m = 5000.0, 6000.0
        old, new = _list(rule, n + 1), _list(rule, m + 1)
        cached = rotation.rotate(q, m, theta=new) @ rotation.rotate(k, n, theta=old)
        q_planes, k_planes = q[0::2] + 1j * q[1::2], k[0::2] + 1j * k[1::2]
        logit = (np.conj(q_planes) * k_planes * np.exp(1j * ((n - m) * new + phase(n, old, new)))).real.sum()
        misses.append(abs(cached - logit))
    return max(misses)


@claim(
    "book.longer-returned",
    statement=r"A cache is repaired without the text: turn each plane of a key of position $n$ by "
    r"$n(\theta'_i - \theta_i)$ more, and it is the key that today's list would have made.",
    witness=r"Turns of one plane add up: $n\theta_i + n(\theta'_i - \theta_i) = n\theta'_i$.",
    tolerance=1e-8,
    holds=lambda key, n, old, new: rotation.rotate(key, n, theta=new - old),
    control=_one_common_turn,
)
def each_plane_turned_again(repair, rng):
    misses = []
    for rule in GROWING:
        for n in (17, 4500, 5000):
            k = rng.normal(size=16)
            old, new = _list(rule, n + 1), _list(rule, 6000)
            fresh = rotation.rotate(k, n, theta=new)
            misses.append(np.abs(repair(rotation.rotate(k, n, theta=old), n, old, new) - fresh).max())
    return max(misses)


@claim(
    "book.longer-log-temperature",
    statement=r"A query that is multiplied by $t_m = 1 + \beta \ln(1 + \lfloor m/L \rfloor)$ with $\beta > 0$ keeps "
    r"the order of its logits, and the logit of an offset is $t_m$ times a function of the offset: its size grows with "
    r"the number of whole windows before $m$.",
    witness=r"$\beta = 0.1$, $L = 8192$: within the first window $t = [[1]]$, at position 8192 it is $[[1.069]]$.",
    computed=lambda: tuple(1 + 0.1 * float(np.log1p(np.floor(m / 8192))) for m in (8191, 8192)),
    tolerance=1e-9,
    holds=lambda windows, beta: 1 + beta * np.log(1 + windows),
    control=lambda windows, beta: 1.0,  # noqa: ARG005 - a logit that is relative
)
def a_temperature_that_grows(temperature, rng):
    theta, keys, q, misses = rotation.frequencies(16), rng.normal(size=(20, 16)), rng.normal(size=16), []
    for beta, L in ((0.1, 50), *zip(rng.uniform(0.01, 1, size=3), (7, 64, 300), strict=True)):
        rows = []
        for m in (30, 60, 400):
            at: dict[str, Any] = {"q_positions": [float(m)], "k_positions": m - np.arange(20.0), "theta": theta}
            row = rotation.logits((1 + beta * np.log1p(np.floor(m / L))) * q[None], keys, **at)[0]
            same = (row.argsort() == rotation.logits(q[None], keys, **at)[0].argsort()).all()
            rows.append(row / temperature(m // L, beta) if same else np.inf * row)
        misses.append(np.ptp(rows, axis=0).max())
    return max(misses)


def _outcomes(family, *wanted):
    found = results.stretched(cards.load_all("crope-stretched", "cpu")).get(family)
    right = found and tuple(each.outcome for each in found) == wanted
    return "not attempted" if found is None else "reproduced" if right else "not reproduced"


@claim(
    "book.crope-stretched",
    statement=r"In `crope-stretched` a text of eight windows costs CRoPE QKV, after a short tuning under YaRN, as much "
    r"as RoPE, inside 0.02 nats per character. Under linear and under NTK-aware scaling five seeds do not decide it.",
    verdict="empirical",
    correction=r"The plan asked for one answer under all three schedules, so its question is open.",
    witness=r"Five seeds, three schedules. Cards: `crope-stretched`.",
)
def stretched():
    return _outcomes("stretched", "undecided", "undecided", "equivalent")


@claim(
    "book.crope-rounded",
    statement=r"In `crope-stretched` eight and four bits for each weight of q, k and v cost CRoPE QKV as much as RoPE: "
    r"the difference of the costs lies inside 0.02 nats per character.",
    verdict="empirical",
    witness=r"Five seeds, two widths. Cards: `crope-stretched`.",
)
def rounded():
    return _outcomes("rounded", "equivalent", "equivalent")
