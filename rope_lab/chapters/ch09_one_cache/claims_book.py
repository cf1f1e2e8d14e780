"""What chapter 9 says on its own account: counts of caches and products, and when a training form exists."""

import itertools

import numpy as np
import sympy as sp

from rope_lab.algebra import cache_size, latent, symbolic
from rope_lab.claims import exact
from rope_lab.claims.ledger import claim

V2 = cache_size.CacheShape("128 heads on a latent of 512", 60, 128, 128, 128, latent=512, rope=64)
SMALL = cache_size.CacheShape("small", 2, 6, 3, 4, latent=10, rope=2)


@claim(
    "book.cache-formulas",
    statement=r"Numbers kept for a token in one layer: MHA $2Hd$, GQA $2Gd$, MQA $2d$, MLA $d_c + d_r$, the shared "
    r"latent $d_c$. A model keeps this in each layer; each number takes its bytes.",
    witness=r"$H = 128$, $d = 128$, $d_c = 512$, $d_r = 64$: MHA keeps $[[32768]]$, MLA $[[576]]$, as much as "
    r"$[[2.25]]$ groups.",
    computed=lambda: (
        cache_size.numbers_per_token("mha", V2),
        cache_size.numbers_per_token("mla", V2),
        cache_size.numbers_per_token("mla", V2) / cache_size.numbers_per_token("mqa", V2),
    ),
    cases="two shapes: DeepSeek-V2, and six heads of width 4 on a latent of 10",
    holds=lambda H, G, d, d_c, d_r: (2 * H * d, 2 * G * d, 2 * d, d_c + d_r, d_c),
    control=lambda H, G, d, d_c, d_r: (2 * H * d, 2 * G * d, 2 * d, 2 * d_c + d_r, d_c),  # a value apart from the key
)
def numbers_kept(formulas):
    for shape in (V2, SMALL):
        counted = formulas(shape.heads, shape.kv_heads, shape.head_dim, shape.latent, shape.rope)
        if tuple(cache_size.numbers_per_token(scheme, shape) for scheme in cache_size.SCHEMES) != counted:
            return False
        for size in (1, 2, 4):
            kept = [shape.layers * number * size for number in counted]
            if [cache_size.bytes_per_token(scheme, shape, size=size) for scheme in cache_size.SCHEMES] != kept:
                return False
    x, theta = np.ones((5, 10)), np.arange(1.0, 6.0)  # and what a decoding run really keeps
    return latent.decode(x, x, "undo", positions=range(5), theta=theta).numbers == 5 * formulas(6, 3, 4, 10, 2)[-1]


@claim(
    "book.latent-cost",
    statement=r"Multiplications of one query with one key, for logit and weighted sum of $H$ heads: $H(2d + d_r)$ if "
    r"each head has made its own keys and values, $H(2d_c + d_r)$ on the latent itself, $2Hd_c$ for the shared form.",
    witness=r"$d = 128$, $d_c = 512$, $d_r = 64$: $[[320]]$, $[[1088]]$ and $[[1024]]$ for each head.",
    computed=lambda: (
        cache_size.products_per_pair("mla", V2, absorbed=False) // V2.heads,
        cache_size.products_per_pair("mla", V2, absorbed=True) // V2.heads,
        cache_size.products_per_pair("shared", V2, absorbed=True) // V2.heads,
    ),
    cases="two shapes: DeepSeek-V2, and six heads of width 4 on a latent of 10",
    holds=lambda d, d_c, d_r: (2 * d + d_r, 2 * d_c + d_r, 2 * d_c),
    control=lambda d, d_c, d_r: (2 * d + d_r, d_c + d + d_r, 2 * d_c),  # values of width d, absorbed all the same
)
def products_of_a_pair(formulas):
    forms: tuple[tuple[cache_size.Scheme, bool], ...] = (("mla", False), ("mla", True), ("shared", True))
    return all(
        tuple(cache_size.products_per_pair(scheme, shape, absorbed=form) for scheme, form in forms)
        == tuple(shape.heads * per_head for per_head in formulas(shape.head_dim, shape.latent, shape.rope))
        for shape in (V2, SMALL)
    )


@claim(
    "book.latent-turning",
    statement=r"Turning a cached latent again takes $2d_c$ multiplications, four for each plane: as many as one "
    r"head spends on it for its logit and its weighted sum.",
    witness=r"One plane: $x\cos\varphi - y\sin\varphi$ and $x\sin\varphi + y\cos\varphi$, four products; one head: "
    r"two for the logit, two for the sum.",
    cases="one plane in symbols, and the counts of DeepSeek-V2 and of six heads on a latent of 10",
    holds=4,
    control=2,  # as if each coordinate met one number
)
def a_head_more(per_plane):
    angle, x, y = sp.symbols("phi x y", real=True)
    products = sum(len(sp.Add.make_args(entry)) for entry in exact.rotation_2d(angle) * sp.Matrix([x, y]))
    return products == per_plane and all(  # a latent has latent / 2 planes
        2 * cache_size.products_per_pair("shared", shape, absorbed=True) == shape.heads * shape.latent * per_plane
        for shape in (V2, SMALL)
    )


@claim(
    "book.latent-splice",
    statement=r"MLA's logit is $q_m^\top W_k c_n + (\mathcal R_m q_m^r)^\top \mathcal R_n k_n^r = q_m^\top W_k c_n + "
    r"(q_m^r)^\top \mathcal R_{n-m} k_n^r$: positions enter through their difference, and $c_n$ is not turned.",
    witness=r"At $m = n$ the rotary part is $(q^r)^\top k^r$, wherever the two stand.",
    cases="a query of width 2, a latent of width 3 and one plane, all numbers symbols",
    holds=lambda m, n: n - m,
    control=lambda m, n: n + m,  # the transpose dropped
)
def the_rotary_part_is_relative(offset):
    m, n, theta = sp.symbols("m n theta", real=True)
    q, c, W_k = (
        sp.Matrix(r, s, sp.symbols(f"{name}:{r * s}", real=True))
        for name, r, s in (("q", 2, 1), ("c", 3, 1), ("W", 2, 3))
    )
    q_r, k_r = (sp.Matrix(2, 1, sp.symbols(f"{name}:2", real=True)) for name in ("a", "b"))

    def R(position):
        return exact.rotation_2d(position * theta)

    cached = c.col_join(R(n) * k_r)  # what MLA keeps, and what its query becomes
    query = (W_k.T * q).col_join(R(m) * q_r)
    own = sp.Matrix([1, 0, 0])  # the latent of the query's own token, which has no rotary key and the value 0
    lead = (query.T * cached)[0] - (q.T * W_k * own)[0]

    def second_output(at):
        q_, c_, q_r_, k_r_, W_k_, own_ = (np.array(M.applyfunc(at), dtype=float) for M in (q, c, q_r, k_r, W_k, own))
        words, keys = np.hstack((c_, own_)).T, np.hstack((k_r_, 0 * k_r_)).T
        queries, turned = (np.hstack((0 * x, x)).T[None] for x in (q_, q_r_))
        places = {"positions": [at(n), at(m)], "theta": [at(theta)]}
        W_v = np.eye(3)[None, 1:2]
        return latent.spliced(queries, words, q_rope=turned, k_rope=keys, W_k=W_k_[None], W_v=W_v, **places)[0, 1]

    exact.tied(sp.Matrix([c[1] / (1 + sp.exp(-lead))]), second_output)
    return symbolic.same(query.T * cached, q.T * W_k * c + q_r.T * R(offset(m, n)) * k_r)


def _kernel_is_kept(W, R):
    return all((W * R * x).is_zero_matrix for x in W.nullspace())


@claim(
    "book.latent-training",
    statement=r"There is a matrix $X$ with $W \mathcal R_1 = X W$ if and only if $\mathcal R_1$ maps the kernel of $W$ "
    r"to itself. Then $X$ can be chosen with an inverse, and $W \mathcal R_n = X^n W$ for all whole $n$.",
    witness=r"Two planes with different angles. $W$ reads the first plane: its kernel is the second, $X$ exists. "
    r"$W$ reads half of each: the kernel has dimension two as well, and there is no $X$.",
    cases="28 matrices of one or two rows, on two planes",
    holds=_kernel_is_kept,
    control=lambda W, R: len(W.nullspace()) % 2 == 0,  # only the dimension is looked at  # noqa: ARG005
)
def solvable_if_the_kernel_is_kept(condition):
    turns = [(3, 4, 5), (5, 12, 13)]
    R = sp.diag(*[sp.Matrix([[a, -b], [b, a]]) / c for a, b, c in turns])
    theta = [np.arctan2(b, a) for a, b, _ in turns]
    rows = [(1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1), (1, 2, 0, 0), (1, 0, 1, 0), (0, 1, 0, 2)]
    for chosen in itertools.chain(itertools.combinations(rows, 1), itertools.combinations(rows, 2)):
        W = sp.Matrix(chosen)
        solvable = W.col_join(W * R).rank() == W.rank()
        apart = latent.training_form(np.array(chosen, dtype=float), theta=theta)[1]
        if solvable != condition(W, R) or solvable != (apart < 1e-9):
            return False
        if solvable and not _turns_both_ways(W, R):
            return False
    return True


def _turns_both_ways(W, R):
    X = W * R * W.pinv() + sp.eye(W.rows) - W * W.pinv()  # the identity on what is orthogonal to the values
    return X.det() != 0 and X * W == W * R and X.inv() * W == W * R.T


@claim(
    "book.latent-one-speed",
    statement=r"If all planes of the latent have one frequency, every complex-linear $W$ has a training form: "
    r"$W \mathcal R_n = \mathcal R_n' W$, with $\mathcal R_n'$ the rotation of the smaller space by the same angle.",
    witness=r"From two planes to one, $W$ is $(w_1, w_2)$ with complex entries, and the rotation is the factor "
    r"$e^{\mathrm i n\theta}$ on either side of it.",
    cases="from two planes to one, all numbers symbols",
    holds=1,
    control=-1,  # conjugate-linear in the second plane
)
def complex_weights_commute_with_one_speed(sign):
    n, theta, a, b, e, f = sp.symbols("n theta a b e f", real=True)
    W = sp.Matrix([[a, -b, e, -sign * f], [b, a, f, sign * e]])
    return symbolic.same(W * exact.rotation_matrix(n, theta=[theta, theta]), exact.rotation_2d(n * theta) * W)
