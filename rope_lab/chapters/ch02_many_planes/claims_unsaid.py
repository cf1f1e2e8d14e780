"""What no source says about the schedule: its reach, its decay, and planes that stand still."""

import numpy as np
import sympy as sp

from rope_lab.algebra import rotation, schedule, symbolic
from rope_lab.claims import exact
from rope_lab.claims.ledger import claim

LLAMA = ((10000.0, 18), (500000.0, 32))  # base, and the planes of 64 that do not turn once in 4096 positions


@claim(
    "unsaid.theta-choice",
    locus="in none of the sources",
    statement=r"Plane $i$ turns once in $\lambda_i = 2\pi\,\mathrm{base}^{2i/d}$ positions, from $2\pi$ to "
    r"$2\pi\,\mathrm{base}^{1-2/d}$. In a window of $L > 2\pi$ positions, "
    r"$\max\bigl(0,\ \tfrac d2 - 1 - \lfloor \tfrac d2 \ln\tfrac{L}{2\pi} / \ln \mathrm{base} \rfloor\bigr)$ planes "
    r"never complete a turn. A plane that turns exactly once has completed it.",
    witness=r"$d = 128$, $4096$ positions: $[[18]]$ of $64$ planes for base $10^4$, and $[[32]]$ of $64$ for $5 \cdot "
    r"10^5$.",
    computed=lambda: tuple(
        (schedule.turns(4096, theta=rotation.frequencies(128, base=base)) < 1).sum() for base in (1e4, 5e5)
    ),
    tolerance=1e-12,
    holds=lambda i, d, base: 2 * np.pi * base ** (2 * i / d),
    control=lambda i, d, base: 2 * np.pi * base ** (2 * (i + 1) / d),  # as if the slowest frequency were 1/base
)
def wavelengths_and_planes_that_never_turn(wavelength, rng):
    worst = 0.0
    for d, base in [(128, 1e4), (128, 5e5), *((int(2 * rng.integers(2, 99)), rng.uniform(50, 1e6)) for _ in range(4))]:
        waves, window = wavelength(np.arange(d // 2), d, base), int(rng.integers(10, 10**5))
        turned = schedule.turns(window, theta=rotation.frequencies(d, base=base)) >= 1
        counted = max(0, d // 2 - 1 - int(np.floor(d / 2 * np.log(window / (2 * np.pi)) / np.log(base))))
        miscounted = (turned != (waves <= window)).sum() + abs((~turned).sum() - counted)
        worst = max(worst, np.abs(waves / schedule.wavelengths(d, base=base) - 1).max(), miscounted)
    known = [(wavelength(np.arange(64), 128, base) > 4096).sum() - count for base, count in LLAMA]
    return max(worst, *np.abs(known))


def _a_real_head():
    offsets, theta = [1, 10, 100, 1000], rotation.frequencies(128)
    step = np.diff(schedule.decay([11, 12], theta=theta)).item()
    return *schedule.decay(offsets, theta=theta), *schedule.log_law(offsets), "up" if step > 0 else "down"


@claim(
    "unsaid.decay",
    locus="in none of the sources",
    statement=r"Let query and key be equal, with the same length in each of the $d/2$ planes. Their logit at offset "
    r"$r$, divided by that at $0$, follows $1 - (\ln r + \gamma)/\ln \mathrm{base}$: logarithmic, and not monotone. "
    r"For a random query and an independent random key, one of them isotropic in each plane and "
    r"uncorrelated between planes, the variance of the logit is the same at every offset.",
    correction=r"The formula wants $1 \ll r \ll \mathrm{base}$ and many planes, $d \gg r \ln\mathrm{base}$; with the "
    r"$64$ planes of a real head it is the trend only. Without isotropy the variance may fall, and with correlated "
    r"planes it may swing; see `book.correlated-planes`.",
    witness=r"$d = 128$: $[[0.97]]$, $[[0.67]]$, $[[0.48]]$, $[[0.16]]$ at $r = 1, 10, 100, 1000$; the formula gives "
    r"$[[0.94]]$, $[[0.69]]$, $[[0.44]]$, $[[0.19]]$. Step $11 \to 12$ goes [[up]].",
    computed=_a_real_head,
    tolerance=1e-6,
    holds=lambda r, base: schedule.log_law(r, base=base),
    control=lambda r, base: 1 - np.log(r) / np.log(base),  # Euler's constant forgotten
)
def logarithmic_rough_and_flat(law, rng):
    far = np.geomspace(1e5, 1e7, 12)  # 1 << r << base, as many planes as one likes
    misses = np.abs(schedule.dense_decay(far, base=1e12) - law(far, 1e12)).max()
    near, planes = np.geomspace(30, 300, 12), rotation.frequencies(65536)
    trend = np.abs(schedule.decay(near, theta=planes) - schedule.dense_decay(near)).max() < 1e-3
    head, turn, keys_at = rotation.frequencies(128), rng.uniform(0, 2 * np.pi, size=64), np.arange(13)
    x = np.stack([np.cos(turn), np.sin(turn)], axis=-1).reshape(1, 128)  # as long in each plane: its logit at 0 is 64
    f = schedule.decay(keys_at, theta=head)
    equal = np.abs(rotation.logits(x, np.tile(x, (13, 1)), q_positions=[0], k_positions=keys_at, theta=head) / 64 - f)
    A, lengths = rng.normal(size=(8, 8)), rng.uniform(0.5, 2, size=4)
    moments = (A @ A.T, np.diag(np.repeat(lengths, 2)))
    variance, exchanged = (
        schedule.logit_variance(np.arange(40), theta=rotation.frequencies(8), q_moments=one, k_moments=other)
        for one, other in (moments, moments[::-1])
    )
    rises = f[12] > f[11] and (np.diff(f[:12]) < 0).all()
    return max(misses, equal.max(), *(np.ptp(v) / v[0] for v in (variance, exchanged))) if trend and rises else np.inf


@claim(
    "unsaid.partial",
    locus="in none of the sources",
    statement=r"Rotating only a part of each head is the same as giving the other planes the frequency $0$. It still "
    r"obeys $\mathcal R_m^\top \mathcal R_n = \mathcal R_{n-m}$, and the rest of the logit sees no position at all.",
    witness=r"$q = k = (0, 0, 1, 0)$ with the second plane left alone: the logit is $[[1]]$ at every offset.",
    computed=lambda: rotation.logits(
        [[0, 0, 1, 0]], [[0, 0, 1, 0]], q_positions=[0], k_positions=[9], theta=[1, 0]
    ).item(),
    cases="one plane that turns, and one that stands still",
    holds=lambda n, t: exact.rotation_matrix(n, theta=(t, 0)),
    control=lambda n, t: exact.rotation_matrix(n, theta=(t, 0)) * sp.diag(1, 1, exact.rotation_2d(1)),  # a fixed turn
)
def planes_that_stand_still(matrix):
    m, n, t = sp.symbols("m n theta", real=True)
    law = symbolic.same(matrix(m, t).T * matrix(n, t), matrix(n - m, t))
    return law and symbolic.same(matrix(n, t), sp.diag(exact.rotation_2d(n * t), sp.eye(2)))  # a part, and the rest
