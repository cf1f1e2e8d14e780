"""Chapter 19, lists that change while a text is read: what a cache of turned keys then says, and how it is repaired."""

import numpy as np

from rope_lab.algebra import rotation
from rope_lab.algebra.frequency_schedules import DynamicNTK, LongRoPE
from rope_lab.claims.ledger import claim

SWITCH = LongRoPE(short=(1.0,) * 8, long=tuple(1.0 + 0.5 * i for i in range(8)), window=5500, factor=4)
DYNAMIC = DynamicNTK(factor=4, window=4096)
GROWING = (DYNAMIC, SWITCH)


def _list(made, n):
    return made.at(int(n)).frequencies(16, base=10000.0)


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
    for made in GROWING:
        q, k = rng.normal(size=(2, 16))
        n, m = 5000.0, 6000.0
        old, new = _list(made, n + 1), _list(made, m + 1)
        cached = rotation.rotate(q, m, theta=new) @ rotation.rotate(k, n, theta=old)
        q_planes, k_planes = q[0::2] + 1j * q[1::2], k[0::2] + 1j * k[1::2]
        said = (np.conj(q_planes) * k_planes * np.exp(1j * ((n - m) * new + phase(n, old, new)))).real.sum()
        misses.append(abs(cached - said))
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
    for made in GROWING:
        for n in (17, 4500, 5000):
            k = rng.normal(size=16)
            old, new = _list(made, n + 1), _list(made, 6000)
            fresh = rotation.rotate(k, n, theta=new)
            misses.append(np.abs(repair(rotation.rotate(k, n, theta=old), n, old, new) - fresh).max())
    return max(misses)


@claim(
    "book.longer-log-temperature",
    statement=r"A query that is multiplied by $t_m = 1 + \beta \ln(1 + \lfloor m/L \rfloor)$ keeps the order of its "
    r"logits, and the logit of an offset grows with $m$: it is $t_m$ times a function of the offset.",
    witness=r"$\beta = 0.1$, $L = 8192$: within the first window $t = [[1]]$, at position 8192 it is $[[1.069]]$.",
    computed=lambda: tuple(1 + 0.1 * float(np.log1p(np.floor(m / 8192))) for m in (8191, 8192)),
    tolerance=1e-9,
    holds=lambda m: 1 + 0.1 * np.log1p(np.floor(m / 50)),
    control=lambda m: m * 0 + 1.0,  # a logit that is relative
)
def a_temperature_that_grows(temperature, rng):
    theta, keys = rotation.frequencies(16), rng.normal(size=(20, 16))
    q, misses = rng.normal(size=16), []
    rows = []
    for m in (30, 60, 400):
        places = m - np.arange(20.0)
        t = 1 + 0.1 * np.log(1 + np.floor(m / 50))
        row = rotation.logits(t * q[None], keys, q_positions=[float(m)], k_positions=places, theta=theta)[0]
        rows.append(row / temperature(m))
    misses = [np.ptp(rows, axis=0).max()]
    misses.append(float(len({tuple(row.argsort()) for row in rows}) - 1))
    return max(misses)
