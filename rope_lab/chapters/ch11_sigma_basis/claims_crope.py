"""CRoPE's look at one 2 x 2 block (its section 3.2): four matrices, two of them complex-linear, two mirrors."""

import numpy as np
import sympy as sp

from rope_lab.algebra import symbolic, widely_linear
from rope_lab.claims import exact
from rope_lab.claims.ledger import claim

a0, a1, a2, a3 = COORDINATES = sp.symbols("a_0:4", real=True)
x, y = sp.symbols("x y", real=True)


def sigma(k):
    return sp.Matrix(widely_linear.SIGMA[k].astype(int))


def block(p, q, r, s):
    """The combination of the four, after a look at the algebra."""
    made = p * sigma(0) + q * sigma(1) + r * sigma(2) + s * sigma(3)
    return exact.tied(made, lambda at: widely_linear.join([[complex(at(p), at(r))]], [[complex(at(s), at(q))]]))


def complexified(vector):
    return vector[0] + sp.I * vector[1]


@claim(
    "crope.sigma.basis",
    locus="3.2, figure 2",
    statement=r"Every real $2 \times 2$ matrix is a combination $a_0\sigma_0 + a_1\sigma_1 + a_2\sigma_2 + "
    r"a_3\sigma_3$ of four.",
    correction=r"A remark: on complex numbers it acts as $z \mapsto (a_0 + \mathrm i a_2)\, z + (a_3 + \mathrm i "
    r"a_1)\, \bar z$.",
    witness=r"$\begin{pmatrix} 1 & 2\\ 3 & 4\end{pmatrix} = [[2.5]]\,\sigma_0 + [[2.5]]\,\sigma_1 + [[0.5]]\,\sigma_2 "
    r"- [[1.5]]\,\sigma_3$.",
    computed=lambda: tuple(abs(widely_linear.sigma_coordinates([[1, 2], [3, 4]])[0, 0])),
    holds=lambda: (a0 + sp.I * a2, a3 + sp.I * a1),
    control=lambda: (a0 + sp.I * a2, a1 + sp.I * a3),  # the two mirrors mixed up
)
def four_matrices_are_a_basis(parts):
    independent = sp.Matrix([list(sigma(k)) for k in range(4)]).det() != 0
    A, B = parts()
    z = x + sp.I * y
    acts = sp.expand(A * z + B * sp.conjugate(z) - complexified(block(*COORDINATES) * sp.Matrix([x, y]))) == 0
    for k in range(4):  # and the algebra reads the same coordinates off
        if widely_linear.sigma_coordinates(widely_linear.SIGMA[k]).ravel().tolist() != np.eye(4)[k].tolist():
            return False
    return bool(independent and acts)


@claim(
    "crope.sigma.geometry",
    locus="3.2",
    statement=r"$\sigma_0$ is the identity, $\sigma_1$ the mirror at the line of $45^\circ$, $\sigma_2$ the turn by "
    r"$90^\circ$, $\sigma_3$ the mirror at the first axis.",
    correction=r"All four are real here; the middle one of Pauli's three matrices is imaginary.",
    witness=r"$\sigma_1$ swaps the axes, $\sigma_2$ sends $(1, 0)$ to $(0, 1)$, $\sigma_3$ flips the second axis.",
    holds=(0, 45, 90, 0),
    control=(0, -45, 90, 0),  # the other diagonal
)
def turns_and_mirrors(degrees):
    def turn(degree):
        return exact.rotation_2d(sp.pi * degree / 180)

    def mirror(degree):
        return turn(degree) * sp.diag(1, -1) * turn(degree).T

    said = (turn(degrees[0]), mirror(degrees[1]), turn(degrees[2]), mirror(degrees[3]))
    return all(symbolic.same(sigma(k), said[k]) for k in range(4))


@claim(
    "crope.sigma.span",
    locus="3.2",
    statement=r"The blocks of CRoPE's weights use only $\sigma_0$ and $\sigma_2$.",
    correction=r"These are the real matrices that commute with multiplication by $\mathrm i$; $\sigma_1$ and "
    r"$\sigma_3$ anticommute with it. Block by block: $2n^2$ of the $4n^2$ dimensions.",
    witness=r"$a + \mathrm i b$ is the block $\begin{pmatrix} a & -b\\ b & a\end{pmatrix} = a\,\sigma_0 + "
    r"b\,\sigma_2$.",
    cases="a weight of 2 by 3 planes",
    holds={0, 2},
    control={0, 3},  # the diagonal ones
)
def two_of_the_four(used):
    import torch

    from rope_lab.nn.complex_planes import real_matrix

    J = sp.Matrix(widely_linear.times_i(2).astype(int))
    commuting = {k for k in range(4) if J * sigma(k) == sigma(k) * J}
    anticommuting = {k for k in range(4) if J * sigma(k) == -sigma(k) * J}
    a, b = torch.arange(12.0).reshape(2, 2, 3)
    built = real_matrix(a, b, out_groups=2, in_groups=3).double().numpy()  # the layer's own weight, interleaved
    in_layer = {k for k in range(4) if widely_linear.sigma_coordinates(built)[..., k].any()}
    return commuting == used == in_layer and anticommuting == {0, 1, 2, 3} - used


@claim(
    "crope.sigma.rot-scale",
    locus="3.2, figure 2 (b)",
    statement=r"$a\,\sigma_0 + b\,\sigma_2$ is a rotation times a length: by $\varphi = \arg(a + \mathrm i b)$ and "
    r"$r = |a + \mathrm i b|$.",
    witness=r"$\sigma_0 + \sigma_2$ turns by $45^\circ$ and stretches by $\sqrt 2$.",
    holds=+1,
    control=-1,  # turned the other way
)
def turn_and_stretch(sign):
    r, angle = sp.sqrt(a0**2 + a2**2), sp.atan2(a2, a0)
    turn = exact.rotation_2d(theta := sp.Symbol("theta", real=True))
    return (r * turn.subs(theta, sign * angle) - block(a0, 0, a2, 0)).applyfunc(sp.simplify) == sp.zeros(2, 2)


@claim(
    "crope.sigma.missing-reflections",
    locus="3.2, figure 2 (b)",
    statement=r"What CRoPE's blocks leave out are reflections: $c\,\sigma_1 + d\,\sigma_3$ is a mirror times a length. "
    r"The mirror's line stands at half the angle of $d + \mathrm i c$.",
    correction=r"The missing part is $\tfrac12 (W + JWJ)$, in any size (`book.split`), block by block a scaled "
    r"mirror. It holds half of the expected energy of a matrix with independent entries of mean $0$ and equal "
    r"variance.",
    witness=r"$\sigma_1$: $d + \mathrm i c = \mathrm i$ has the angle $90^\circ$, and the line stands at $45^\circ$.",
    holds=lambda line: 2 * line,
    control=lambda line: line,  # the angle not halved
)
def a_mirror_and_a_stretch(angle):
    r, line = sp.symbols("r alpha", real=True)
    turn = exact.rotation_2d(line)
    mirror = turn * sp.diag(1, -1) * turn.T
    coordinates = (0, r * sp.sin(angle(line)), 0, r * sp.cos(angle(line)))
    for rows, columns in ((2, 2), (2, 6), (4, 4)):
        whole, J = np.eye(rows * columns).reshape(-1, rows, columns), widely_linear.times_i
        missing = np.array([widely_linear.split(E)[1] for E in whole])
        if (2 * missing != whole + J(rows) @ whole @ J(columns)).any():
            return False
        mirrors = [widely_linear.sigma_coordinates(part)[..., [0, 2]] for part in missing]
        if np.any(mirrors) or any((part**2).sum() * 2 != 1 for part in missing):  # a half of the energy of each entry
            return False
    return symbolic.same(r * mirror, block(*coordinates))


@claim(
    "crope.sigma.single-vector",
    locus="3.2",
    statement=r"Turns with a length, and mirrors with a length, can each carry one vector (not zero) to any place in "
    r"the plane.",
    tier="minor",
    witness=r"$z$ to $w$: multiply $z$ by $w/z$, or $\bar z$ by $w/\bar z$.",
    holds=lambda z, w: (w / z, w / sp.conjugate(z)),
    control=lambda z, w: (w / z, w / z),  # the same factor for both
)
def one_vector_goes_anywhere(factors):
    u, v = sp.symbols("u v", real=True)
    z, w = x + sp.I * y, u + sp.I * v
    (p, q), (r, s) = ((sp.re(f), sp.im(f)) for f in map(sp.expand_complex, factors(z, w)))
    images = [block(p, 0, q, 0) * sp.Matrix([x, y]), block(0, s, 0, r) * sp.Matrix([x, y])]
    return all(sp.simplify(complexified(image) - w) == 0 for image in images)


@claim(
    "crope.sigma.multi-vector",
    locus="3.2",
    statement=r"The two families differ when several vectors are carried at once.",
    tier="minor",
    correction=r"Two vectors that are not parallel have $4$ numbers of freedom for their images. Each family reaches "
    r"$2$ of these $4$ dimensions; only their sum reaches every pair of images.",
    witness=r"$1 \mapsto 1$ and $\mathrm i \mapsto -\mathrm i$: a mirror does it, and no turn does.",
    holds=(2, 2, 4),
    control=(4, 4, 4),  # as if each family could do it alone
)
def two_vectors_at_once(reached):
    u, v = sp.symbols("u v", real=True)
    M = block(*COORDINATES)
    images = sp.Matrix([*(M * sp.Matrix([x, y])), *(M * sp.Matrix([u, v]))]).jacobian(COORDINATES)
    independent = sp.expand(images.det() - 4 * (x * v - y * u) ** 2) == 0  # all four, unless the two are parallel
    alone = [sp.expand(images[:2, k].det() ** 2 - (x**2 + y**2) ** 2) == 0 for k in ([0, 2], [1, 3])]  # two of them
    once = images.subs({x: 1, y: 2, u: -1, v: 3})
    return independent and all(alone) and tuple(once[:, k].rank() for k in ([0, 2], [1, 3], [0, 1, 2, 3])) == reached


@claim(
    "crope.sigma.expressivity",
    locus="3.2",
    statement=r"Reflections add to what a model can express.",
    correction=r"A remark: a reflection of all queries *and* all keys does not; it only replaces $\theta$ by "
    r"$-\theta$. Mixtures do. For $D = 2$ the logits over all offsets form a family of dimension $6$ with real "
    r"weights and $2$ with complex ones.",
    witness=r"$\sigma_3 R_\theta \sigma_3 = R_{-\theta}$; the ranks of two Jacobians are $2$ and $6$.",
    holds=(2, 6),
    control=(4, 8),  # the numbers of weights
)
def what_mirrors_add(dimensions):
    angle = sp.Symbol("theta", real=True)
    if not symbolic.same(sigma(3) * exact.rotation_2d(angle) * sigma(3), exact.rotation_2d(-angle)):
        return False
    J = sp.Matrix(widely_linear.times_i(2).astype(int))

    def dimension(used):
        names = [sp.Symbol(f"{side}_{k}") for side in "qk" for k in used]
        W_q, W_k = (sum((sp.Symbol(f"{side}_{k}") * sigma(k) for k in used), sp.zeros(2, 2)) for side in "qk")
        # R_n is cos + sin J in one plane, so these two forms are the whole family over offsets.
        family = sp.Matrix([*(W_q.T * W_k), *(W_q.T * J * W_k)])
        # One rank for all invertible weights: another W_q S and W_k T only change the bases of the same forms.
        generic = dict(zip(names, (3, -1, 2, 5, 7, 1, -4, 11), strict=False))
        return family.jacobian(names).subs(generic).rank()

    return (dimension((0, 2)), dimension((0, 1, 2, 3))) == dimensions


@claim(
    "crope.remark.activation",
    locus="3.2",
    statement=r"Activations with parameters proved marginal; the best models today have none.",
    verdict="empirical",
    date="2026-11-21",
    tier="minor",
    correction=r"So for a learned slope in the activation. Gated feed-forward layers, as in LLaMA, do learn a gate: a "
    r"third matrix beside the usual two.",
)
def activations_with_parameters():
    """Read: the sentence. It is about other people's experiments, and nothing is computed."""
