"""Chapter 20, what many small turns of a rounded cache do to the slow planes."""

from typing import Literal

import numpy as np

from rope_lab.algebra import half_precision, rotation, rounded_cache
from rope_lab.algebra.half_precision import FORMATS
from rope_lab.claims.ledger import claim

HALVES: tuple[Literal["bfloat16", "float16"], ...] = ("bfloat16", "float16")


def _pairs(rng, dtype, *, ratio):
    """Pairs of numbers of a format, whose coordinates differ by a factor of at most ``ratio``."""
    a = rng.uniform(0.5, 4.0, size=2000)
    b = a * np.exp(rng.uniform(-np.log(ratio), np.log(ratio), size=2000))
    pairs = half_precision.round_to(np.stack((a, b), -1) * rng.choice([-1, 1], size=(2000, 2)), dtype=dtype)
    return pairs[np.abs(np.log(np.abs(pairs[:, 0] / pairs[:, 1]))) <= np.log(ratio)]


@claim(
    "book.cache-frozen",
    statement=r"A cached pair, with coordinates that differ by a factor of at most $r$, stands still under a turn by "
    r"$\varphi$ if $\varphi r + \varphi^2/2 < 2^{-p-1}$: each coordinate would change by less than half the way to its "
    r"next number.",
    witness=r"bfloat16, $r = 1$: below $[[0.00195]]$ radians nothing moves. Of the 64 planes of a head with base "
    r"10,000, a shift by one place turns the last $[[20]]$ by less.",
    computed=lambda: (
        rounded_cache.still_below("bfloat16"),
        (rotation.frequencies(128) < rounded_cache.still_below("bfloat16")).sum(),
    ),
    holds=lambda dtype, ratio: 0.999 * rounded_cache.still_below(dtype, ratio=ratio),
    control=lambda dtype, ratio: 4 * rounded_cache.still_below(dtype, ratio=ratio),  # two steps in place of half a one
)
def too_small_a_turn(angle):
    rng = np.random.default_rng(20)
    for dtype in HALVES:
        for ratio in (1.0, 2.0, 8.0):
            pairs = _pairs(rng, dtype, ratio=ratio)
            after = rounded_cache.turned_again(pairs, theta=[angle(dtype, ratio)], steps=3, store=dtype)
            if not np.array_equal(pairs, after):
                return False
    return True


@claim(
    "book.cache-lag",
    statement=r"A pair that stands still lags by $N\varphi$ after $N$ turns. It misses its place by "
    r"$2\,|\sin(N\varphi/2)|$ of its length: linear in $N$ at first, not like $\sqrt N$.",
    tolerance=1e-12,
    witness=r"$\varphi = 0.001$ in bfloat16, $N = 1000$: $[[0.959]]$.",
    computed=lambda: rounded_cache.turn_miss([1.0, 1.0], theta=[1e-3], steps=1000, store="bfloat16")[0],
    holds=lambda N, phi: 2 * abs(np.sin(N * phi / 2)),
    control=lambda N, phi: 2 * abs(np.sin(np.sqrt(N) * phi / 2)),  # as if errors had random signs
)
def linear_in_the_number_of_turns(law, rng):
    misses = []
    for dtype in HALVES:
        phi = rng.uniform(0.3, 0.9) * rounded_cache.still_below(dtype)
        pair = half_precision.round_to(np.full(2, rng.uniform(1, 2)), dtype=dtype)
        for N in (10, 100, 1000):
            miss = rounded_cache.turn_miss(pair, theta=[phi], steps=N, store=dtype)[0]
            misses.append(abs(miss - law(N, phi)))
    return max(misses)


@claim(
    "book.cache-one-turn",
    statement=r"One turn from a rounded cache into a rounded cache errs by at most $2^{-p}$ of the length of each "
    r"pair, however far it goes, if nothing falls below the smallest normal number.",
    tolerance=1e-9,
    witness=r"bfloat16: $2^{-8} = [[0.39]]\,\%$, for a shift by one place and for a shift by a million.",
    computed=lambda: 100 * 2**-8,
    holds=1,
    control=64,  # the same way in 64 turns
)
def one_rounding(turns, rng):
    theta, worst = rotation.frequencies(32), 0.0
    for dtype in HALVES:
        keys = rng.normal(size=(40, 32))
        for far in (64, 4096, 10**6):
            miss = rounded_cache.turn_miss(keys, theta=theta, steps=turns, by=far / turns, store=dtype)
            worst = max(worst, float(miss.max()) - 2.0 ** -FORMATS[dtype].bits)
    return max(0.0, worst)


@claim(
    "book.cache-many-turns",
    statement=r"$N$ turns err by at most $(1 + u)^N - 1$ of the length of each pair, $u = 2^{-p}$.",
    tolerance=1e-9,
    witness=r"bfloat16, $N = 64$: at most $[[28.3]]\,\%$.",
    computed=lambda: 100 * ((1 + 2**-8) ** 64 - 1),
    holds=lambda N, u: (1 + u) ** N - 1,
    control=lambda N, u: np.sqrt(N) * u / 2,  # a random walk
)
def a_bound_for_many(bound, rng):
    theta, worst = rotation.frequencies(32), 0.0
    for dtype in HALVES:
        keys, u = rng.normal(size=(40, 32)), 2.0 ** -FORMATS[dtype].bits
        for N in (4, 64):
            miss = rounded_cache.turn_miss(keys, theta=theta, steps=N, store=dtype)
            worst = max(worst, float(miss.max()) - bound(N, u))
    return max(0.0, worst)
