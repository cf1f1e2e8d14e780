"""What chapter 2 says on its own account: sums of cosines, bounds, real positions, and where decay comes from."""

import numpy as np
import sympy as sp
from scipy.integrate import quad

from rope_lab.algebra import rotation, schedule, symbolic
from rope_lab.claims import exact
from rope_lab.claims.ledger import claim


def _by_plane(x):
    return x.reshape(*x.shape[:-1], -1, 2) @ [1, 1j]


@claim(
    "book.sum-of-cosines",
    statement=r"The logit is a sum of one cosine for each plane, "
    r"$\sum_i |q_i|\,|k_i| \cos(\varphi_i + (n-m)\theta_i)$, where "
    r"$|q_i|$, $|k_i|$ are the lengths in plane $i$ and $\varphi_i$ is the angle there from query to key.",
    witness=r"$q = k = (1, 0, 1, 0)$: the logit is $\cos(r\theta_0) + \cos(r\theta_1)$ at offset $r$.",
    tolerance=1e-11,
    holds=lambda m, n: n - m,
    control=lambda m, n: m - n,
)
def one_cosine_for_each_plane(offset, rng):
    theta = rotation.frequencies(16)
    q, k, positions = rng.normal(size=(1, 16)), rng.normal(size=(1, 16)), rng.uniform(-99, 99, size=(20, 2))
    pair = (_by_plane(q).conj() * _by_plane(k))[0]
    return max(
        abs(
            rotation.logits(q, k, q_positions=[m], k_positions=[n], theta=theta).item()
            - (np.abs(pair) * np.cos(np.angle(pair) + offset(m, n) * theta)).sum()
        )
        for m, n in positions
    )


@claim(
    "book.plane-bound",
    statement=r"Each plane keeps its own length, so at every offset the logit obeys "
    r"$|q_m^\top k_n| \le \sum_i |q_i|\,|k_i| \le |q|\,|k|$.",
    witness=r"$q = (1, 0, 0, 0)$ and $k = (0, 0, 1, 0)$ share no plane: their logit is $[[0]]$ at every offset.",
    computed=lambda: rotation.logits(
        [[1, 0, 0, 0]], [[0, 0, 1, 0]], q_positions=[0], k_positions=[9], theta=[1, 0.1]
    ).item(),
    tolerance=1e-12,
    holds=lambda planes: planes.sum(axis=-1),
    control=lambda planes: planes.max(axis=-1),  # the strongest plane alone
)
def no_logit_leaves_the_bound(bound, rng):
    theta, positions = rotation.frequencies(8), rng.uniform(-500, 500, size=60)
    q, k = rng.normal(size=(2, 60, 8))
    k[0] = q[0] * np.repeat(rng.uniform(0.5, 2, size=4), 2)  # in phase in every plane: here the bound is reached
    s = rotation.logits(q, k, q_positions=positions, k_positions=positions, theta=theta)
    by_plane = np.abs(_by_plane(q))[:, None] * np.abs(_by_plane(k))[None]
    whole = np.linalg.norm(q, axis=-1)[:, None] * np.linalg.norm(k, axis=-1)[None]
    over = [np.abs(s) / bound(by_plane) - 1, bound(by_plane) / whole - 1]
    return max(0.0, *(part.max() for part in over))


@claim(
    "book.real-positions",
    statement=r"Positions may be any real numbers, and dividing every position by $s$ is the same as dividing every "
    r"frequency by $s$: $\mathcal R_{n/s}$ with $\theta$ is $\mathcal R_n$ with $\theta / s$. Two half steps make one, "
    r"$\mathcal R_{1/2} \mathcal R_{1/2} = \mathcal R_1$.",
    witness=r"A quarter turn per position: position $\tfrac12$ is an eighth of a turn.",
    cases="two planes",
    holds=lambda t, s: t / s,
    control=lambda t, s: t * s,
)
def squeezed_positions_are_slower_planes(slowed):
    n, a, b = sp.symbols("n theta_0 theta_1", real=True)
    s = sp.Symbol("s", positive=True)
    half, one = (exact.rotation_matrix(p, theta=(a, b)) for p in (sp.Rational(1, 2), 1))
    squeezed = exact.rotation_matrix(n / s, theta=(a, b))
    return symbolic.same(half * half, one) and symbolic.same(
        squeezed, exact.rotation_matrix(n, theta=(slowed(a, s), slowed(b, s)))
    )


@claim(
    "book.base-stretch",
    statement=r"Let $d > 2$ and multiply the base by $s^{d/(d-2)}$. The fastest plane stays as it is, the slowest "
    r"becomes slower by the factor $s$, and those between by $s^{2i/(d-2)}$.",
    witness=r"$d = 4$, base $10^4$, $s = 2$: base $[[4 \cdot 10^4]]$; the frequencies $[[1, 0.01]]$ become $[[1, "
    r"0.005]]$.",
    computed=lambda: (2 ** (4 / (4 - 2)) * 1e4, *(rotation.frequencies(4, base=base).tolist() for base in (1e4, 4e4))),
    tolerance=1e-12,
    holds=lambda s, d: s ** (d / (d - 2)),
    control=lambda s, d: s,  # noqa: ARG005 - the base multiplied by s itself
)
def slowest_plane_slowed_by_s(factor, rng):
    worst = 0.0
    for d in (4, 64, 128):
        s, base = rng.uniform(1.5, 8), rng.uniform(50, 1e6)
        ratio = rotation.frequencies(d, base=base) / rotation.frequencies(d, base=base * factor(s, d))
        worst = max(worst, np.abs(ratio / s ** (2 * np.arange(d // 2) / (d - 2)) - 1).max())
    return worst


@claim(
    "book.decay-integral",
    statement=r"With ever more planes the mean of the cosines becomes $\int_0^1 \cos(r\,\mathrm{base}^{-u})\,du = "
    r"\frac{1}{\ln\mathrm{base}} \int_{r/\mathrm{base}}^{r} \frac{\cos t}{t}\,dt$.",
    witness=r"Base $10^4$: $[[0.9740]]$, $[[0.6824]]$, $[[0.4368]]$, $[[0.1877]]$ at $r = 1, 10, 100, 1000$.",
    computed=lambda: tuple(schedule.dense_decay([1, 10, 100, 1000])),
    tolerance=1e-6,
    holds=lambda r, base: r / base,
    control=lambda r, base: 1 / base,  # noqa: ARG005 - the lower end not moved along
)
def mean_of_cosines_as_an_integral(lower, rng):
    worst = 0.0
    for r, base in ((rng.uniform(0.5, 20), rng.uniform(20, 1e4)) for _ in range(3)):
        integral = quad(lambda t: np.cos(t) / t, lower(r, base), r, limit=400)[0] / np.log(base)
        planes = rotation.frequencies(400_000, base=base)
        trapezoid = (1 - np.cos(r) + np.cos(r / base) - 1) / 400_000  # a sum of left ends errs by half of f(0) - f(1)
        many = schedule.decay(r, theta=planes).item() + trapezoid
        worst = max(worst, abs(integral - schedule.dense_decay(r, base=base).item()), abs(integral - many))
    return worst


@claim(
    "book.logit-variance",
    statement=r"For a random query and an independent random key with second moments $M_q = \mathrm{E}\,q q^\top$ and "
    r"$M_k = \mathrm{E}\,k k^\top$, the mean square of the logit at offset $r$ is "
    r"$\mathrm{tr}(M_q \mathcal R_r M_k \mathcal R_r^\top)$.",
    witness=r"Each of $q$, $k$ is $(1, 0)$ or $(-1, 0)$: the mean square is $\cos^2(r\theta)$.",
    tolerance=1e-11,
    holds=lambda r, **moments: schedule.logit_variance(1 * r, **moments),
    control=lambda r, **moments: schedule.logit_variance(0 * r, **moments),  # the rotation forgotten
)
def mean_square_of_a_lottery(mean_square, rng):
    theta, worst = rotation.frequencies(4), 0.0
    for r in rng.uniform(-30, 30, size=5):
        q, k = rng.normal(size=(2, 6, 4))  # six queries and six keys, equally likely
        s = rotation.logits(q, k, q_positions=np.zeros(6), k_positions=np.full(6, r), theta=theta)
        found = mean_square(r, theta=theta, q_moments=q.T @ q / 6, k_moments=k.T @ k / 6)
        worst = max(worst, abs(found - (s**2).mean()))
    return worst


@claim(
    "book.isotropic-flat",
    statement=r"If the key's directions are evenly spread in each plane, $M_k = \mathrm{diag}(\sigma_0^2, \sigma_0^2, "
    r"\sigma_1^2, \sigma_1^2, \dots)$, then $\mathcal R_r M_k \mathcal R_r^\top = M_k$, and the mean square of the "
    r"logit, $\mathrm{tr}(M_q M_k)$, does not depend on the offset, whatever $M_q$ is. The same holds with $q$ and $k$ "
    r"exchanged.",
    witness=r"With the variances $1.9$ and $0.1$ in the plane of both $q$ and $k$ the mean square is "
    r"$[[3.62]] \cos^2(r\theta) + [[0.38]] \sin^2(r\theta)$, which falls from $3.62$ to $0.38$.",
    computed=lambda: tuple(
        schedule.logit_variance([0, 1], theta=[np.pi / 2], q_moments=np.diag([1.9, 0.1]), k_moments=np.diag([1.9, 0.1]))
    ),
    cases="two planes",
    holds=lambda a, b: sp.diag(a, a, b, b),
    control=lambda a, b: sp.diag(a, b, a, b),  # as much in every plane, but not evenly spread in it
)
def a_key_that_looks_the_same_from_all_sides(spread):
    r, a, b = sp.symbols("r a b", real=True)
    M_k = spread(a, b)
    M_q = sp.Matrix(4, 4, lambda i, j: sp.Symbol(f"m_{min(i, j)}{max(i, j)}"))
    R = exact.rotation_matrix(r, theta=sp.symbols("theta_0 theta_1", real=True))
    traces = ((one * R * other * R.T).trace() for one, other in ((M_q, M_k), (M_k, M_q)))
    return symbolic.same(R * M_k * R.T, M_k) and all(symbolic.same(found, (M_q * M_k).trace()) for found in traces)


def _mean_squares():
    M = np.kron(np.ones((2, 2)), np.eye(2) / 2)
    return tuple(schedule.logit_variance([0, 1], theta=[np.pi, 0], q_moments=M, k_moments=M))


@claim(
    "book.correlated-planes",
    statement=r"Isotropy in each plane is not enough. Let $q = (w, w)$ and $k = (u, u)$ with two independent random "
    r"directions $w$, $u$ of the plane. The mean square of the logit is $1 + \cos(r(\theta_0 - \theta_1))$.",
    witness=r"$\theta = (\pi, 0)$: it is $[[2]]$ at offset $0$ and $[[0]]$ at offset $1$.",
    computed=_mean_squares,
    holds=1,
    control=0,  # the correlation between the planes dropped
)
def planes_that_point_together(correlation):
    r, a, b = sp.symbols("r theta_0 theta_1", real=True)
    w, v = sp.symbols("w v", real=True)  # the angles of two independent directions of the plane
    one, other = (sp.Matrix([sp.cos(at), sp.sin(at)]) for at in (w, w if correlation else v))
    word = sp.Matrix.vstack(one, other)
    M = (word * word.T).applyfunc(lambda e: sp.integrate(e, (w, 0, 2 * sp.pi), (v, 0, 2 * sp.pi)) / (4 * sp.pi**2))
    R = exact.rotation_matrix(r, theta=(a, b))
    return symbolic.same((M * R * M * R.T).trace(), 1 + sp.cos(r * (a - b)))
