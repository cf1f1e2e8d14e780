"""What chapter 4 says on its own account, forwards: the proof for any even dimension, in any basis."""

import numpy as np
import sympy as sp

from rope_lab.algebra import rotation, solutions, symbolic
from rope_lab.claims import exact
from rope_lab.claims.ledger import claim

m, n, theta = sp.symbols("m n theta", real=True)
thetas = sp.symbols("theta_0:3", real=True)


@claim(
    "book.relative-plane",
    statement=r"One plane, multiplied out: the diagonal of $R_\alpha^\top R_\beta$ is "
    r"$\cos\alpha\cos\beta + \sin\alpha\sin\beta = \cos(\beta-\alpha)$, and below it stands "
    r"$\cos\alpha\sin\beta - \sin\alpha\cos\beta = \sin(\beta-\alpha)$.",
    witness=r"$\alpha = \beta$: the diagonal is $\cos^2 + \sin^2 = 1$, and below it stands $0$.",
    holds=+1,
    control=-1,  # the sign that the transpose supplies
)
def one_plane_entry_by_entry(sign):
    a, b = m * theta, n * theta
    cosine = sp.cos(a) * sp.cos(b) + sign * sp.sin(a) * sp.sin(b)
    sine = sp.cos(a) * sp.sin(b) - sign * sp.sin(a) * sp.cos(b)
    product = exact.rotation_2d(a).T * exact.rotation_2d(b)
    by_entry = sp.Matrix([[cosine, -sine], [sine, cosine]])
    return symbolic.same(product, by_entry) and symbolic.same(by_entry, exact.rotation_2d(b - a))


@claim(
    "book.relative-step",
    statement=r"The step of the induction. If $X_m^\top X_n = X_{n-m}$ in $k$ dimensions and $R_m^\top R_n = "
    r"R_{n-m}$ in two, then $\mathrm{diag}(X_n, R_n)$ satisfies the same law in $k + 2$.",
    witness=r"The size $k$ stays a symbol: SymPy multiplies the blocks without knowing it.",
    holds=lambda family: family(m).T * family(n),
    control=lambda family: family(m) * family(n),  # the transpose dropped
)
def the_law_passes_to_one_more_plane(product):
    def family(position):
        A, R = symbolic.member("A", position, symbolic.K), symbolic.member("R", position, 2)
        return symbolic.block_sum(A, R)

    start, by_block, put_in, goal = symbolic.induction_step(m, n)
    multiplied = sp.block_collapse(product(family))
    return bool(start == family(m).T * family(n) and multiplied == by_block and put_in == goal == family(n - m))


@claim(
    "book.relative-any-d",
    statement=r"For every even $d$ and all frequencies, $\mathcal R_m^\top \mathcal R_n = \mathcal R_{n-m}$: one "
    r"plane is the base case, and each further plane is one step.",
    witness=r"Two, four and six dimensions, also multiplied out whole.",
    holds=lambda position, theta: exact.rotation_matrix(position, theta=theta),
    control=lambda position, theta: exact.rotation_matrix(position**2, theta=theta),  # angles not proportional to n
)
def base_case_and_step(R):
    *_, put_in, goal = symbolic.induction_step(m, n)
    if put_in != goal:
        return False
    for planes in (1, 2, 3):
        freq = thetas[:planes]
        if not symbolic.same(R(m, freq).T * R(n, freq), R(n - m, freq)):
            return False
    return True


@claim(
    "book.relative-basis",
    statement=r"Another orthonormal basis, the same law: if $R_n$ satisfies it and $P$ is orthogonal, so does "
    r"$P R_n P^\top$. The half-split layout is the case where $P$ is a permutation.",
    witness=r"$P = 2I$ is not orthogonal: the left side is multiplied by $16$, the right side by $4$.",
    tolerance=1e-12,
    holds=lambda Q: Q,
    control=lambda Q: 2 * Q,
)
def the_law_in_another_basis(change, rng):
    theta = rotation.frequencies(6, base=7.0)

    def turn(n, **layout):
        return rotation.rotation_matrix(n, theta=theta, **layout)

    P = change(np.linalg.qr(rng.normal(size=(6, 6)))[0])
    swap = np.eye(6)[rotation.layout_permutation(6)]
    halves = max(np.abs(swap @ turn(n) @ swap.T - turn(n, layout="half")).max() for n in range(-3, 4))
    return max(halves, solutions.law_residual(lambda n: P @ turn(n) @ P.T))


@claim(
    "book.relative-mixed-layouts",
    statement=r"Turn the query in one layout and the key in the other, and the law is lost: the product "
    r"$\mathcal R_m^\top \mathcal R_n'$ is no function of $n - m$.",
    witness=r"At $m = n = 0$ the product is $I$; at $m = n = 1$, with $\theta_0 = 1$, it is not.",
    tolerance=1e-12,
    holds=("half", "half"),
    control=("interleaved", "half"),
)
def one_layout_for_both(layouts, rng):
    theta = rotation.frequencies(6)
    q, k = rng.normal(size=(2, 6))

    def logit(m, n):
        a, b = (
            rotation.rotate(x, at, theta=theta, layout=layout)
            for x, at, layout in zip((q, k), (m, n), layouts, strict=True)
        )
        return a @ b

    return max(abs(logit(s, 2 + s) - logit(0, 2)) for s in (1, 5, 40))
