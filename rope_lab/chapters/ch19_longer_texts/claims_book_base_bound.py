"""Chapter 19, the published lower bound for the base: its criterion, its islands, and its limit for wide heads."""

import mpmath
import numpy as np
from scipy.optimize import brentq
from scipy.special import sici

from rope_lab.algebra import longer_texts, rotation, schedule
from rope_lab.claims.ledger import claim

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
    statement=r"For heads of many planes the criterion tends to a bound: $b > L / x_0$ with the zero $x_0$ of the "
    r"cosine integral, $\mathrm{Ci}(x_0) = 0$, that is $b > 1.622\, L$.",
    witness=r"$x_0 = [[0.6165]]$, so $L = 8192$ asks for $b > [[13287.8]]$. Heads of 128 need far more.",
    computed=lambda: (_first_zero(), 8192 / _first_zero()),
    tolerance=1e-4,
    holds=lambda: 1 * _first_zero(),
    control=lambda: 1 / (2 * np.pi),  # a slowest plane that ends its turn with the text
)
def the_bound_of_wide_heads(zero, _rng):
    misses = []
    for length in (4096, 32768):
        bound = brentq(_lowest_of_many, length / 2, 10.0 * length, args=(np.arange(1.0, length),))
        misses.append(abs(length / bound - zero()))
    return max(misses)


def _lowest_of_many(base, offsets):
    """The lowest decay of a head of so many planes that their sum is an integral."""
    return float(schedule.dense_decay(offsets, base=base).min())


def _first_zero():
    return float(brentq(lambda x: sici(x)[1], 0.1, 1.0, xtol=1e-13))
