"""What the article on RoPE says about its two layouts and about the fast form of each."""

import numpy as np
import sympy as sp

from rope_lab.algebra import layouts, rotation, symbolic
from rope_lab.claims import exact
from rope_lab.claims.entry import Erratum
from rope_lab.claims.ledger import claim

n = sp.Symbol("n", real=True)


def frequencies_of(head_dim):
    return list(sp.symbols(f"theta_0:{head_dim // 2}", real=True))


def interleaved(head_dim):
    """The matrix of position n in the interleaved layout, in symbols."""
    return exact.rotation_matrix(n, theta=frequencies_of(head_dim))


def permutation(head_dim):
    """The matrix P with P x_interleaved = x_half."""
    return sp.eye(head_dim)[rotation.layout_permutation(head_dim).tolist(), :]


def blocks(head_dim, sign=-1):
    """C and S, the diagonal matrices of cosines and sines, as (C, sign S; S, C)."""
    C, S = (sp.diag(*[f(n * t) for t in frequencies_of(head_dim)]) for f in (sp.cos, sp.sin))
    return sp.Matrix(sp.BlockMatrix([[C, sign * S], [S, C]]))


def is_the_reference(matrix, head_dim):
    """Is this symbolic matrix the half-split one of `algebra.rotation`?"""
    values = dict(zip(frequencies_of(head_dim), rotation.frequencies(head_dim), strict=True)) | {n: 1.25}
    want = rotation.rotation_matrix(1.25, theta=rotation.frequencies(head_dim), layout="half")
    return bool(np.allclose(np.array(matrix.subs(values), dtype=float), want, rtol=0, atol=1e-12))


def _against_the_matrix(fast, rng, layout):
    theta, x, positions = rotation.frequencies(64), rng.normal(size=(20, 64)), rng.uniform(-1000, 1000, size=20)
    R = rotation.rotation_matrix(positions, theta=theta, layout=layout)
    return np.abs(fast(x, positions, theta) - (R @ x[..., None])[..., 0]).max()


@claim(
    "blog.efficient-interleaved",
    locus="first fast form",
    statement=r"In the interleaved layout $\mathcal R_n x = x \odot c + \mathrm{rot}(x) \odot s$: the cosines and "
    r"sines stand twice each, and $\mathrm{rot}(x) = (-x_2, x_1, -x_4, x_3, \dots)$.",
    correction=r"A remark: the circled cross in the source is the product entry by entry, $\odot$, not Kronecker's.",
    witness=r"$d = 64$ and twenty positions up to $\pm 1000$: nothing but rounding is left.",
    tolerance=1e-11,
    holds=lambda x, at, theta: layouts.rotate_elementwise(x, at, theta=theta),
    control=lambda x, at, theta: layouts.rotate_elementwise(x, -at, theta=theta),  # the minus on the other component
)
def elementwise_interleaved(fast, rng):
    return _against_the_matrix(fast, rng, "interleaved")


@claim(
    "blog.half-efficient",
    locus="last formula",
    statement=r"In the half-split layout $\mathcal R_n x = x \odot (c, c) + (-x'', x') \odot (s, s)$, where $x'$ and "
    r"$x''$ are the two halves of $x$.",
    witness=r"$d = 64$ and twenty positions up to $\pm 1000$: nothing but rounding is left.",
    tolerance=1e-11,
    holds=lambda x, at, theta: layouts.rotate_elementwise(x, at, theta=theta, layout="half"),
    control=lambda x, at, theta: layouts.rotate_elementwise(x, at, theta=theta),  # the other layout
)
def elementwise_half(fast, rng):
    return _against_the_matrix(fast, rng, "half")


@claim(
    "blog.efficient-cost",
    locus="before the fast form",
    statement=r"For $d > 4$ the matrix is mostly zeros, so multiplying by it in full is wasteful; the elementwise form "
    r"costs less.",
    tier="minor",
    witness=r"$d = 128$: [[16384]] products against [[256]]. In general $d^2$ against $2d$; at $d = 2$ the two are "
    r"equal.",
    computed=lambda: (128**2, np.count_nonzero(rotation.rotation_matrix(1.0, theta=rotation.frequencies(128)))),
    cases="head_dim 2, 4, 64 and 128, in both layouts",
    holds=lambda d: 2 * d,
    control=lambda d: d * d,  # the zeros are multiplied too
)
def only_what_is_not_zero(products):
    matrices = {
        (d, layout): rotation.rotation_matrix(1.0, theta=rotation.frequencies(d), layout=layout)
        for d in (2, 4, 64, 128)
        for layout in ("interleaved", "half")
    }
    return all(bool(np.count_nonzero(R) == products(d)) for (d, _), R in matrices.items())


@claim(
    "blog.pairings",
    locus="two implementations",
    statement=r"A pair is $(x_{2i+1}, x_{2i+2})$ in one implementation and $(x_i, x_{i+d/2})$ in the other.",
    tier="minor",
    correction=r"The ranges differ: $i = 0, \dots, d/2 - 1$ in the first, $i = 1, \dots, d/2$ in the second. Counted "
    r"from zero the pairs are $(2i, 2i + 1)$ and $(i, i + d/2)$, both with $i = 0, \dots, d/2 - 1$.",
    witness=r"$d = 6$: [[01, 23, 45]] against [[03, 14, 25]].",
    computed=lambda: tuple(
        ", ".join(f"{a}{b}" for a, b in rotation.planes(6, layout=layout)) for layout in ("interleaved", "half")
    ),
    cases="head_dim 2, 4, 6 and 16",
    holds=lambda d: ([(2 * i, 2 * i + 1) for i in range(d // 2)], [(i, i + d // 2) for i in range(d // 2)]),
    control=lambda d: ([(2 * i, 2 * i + 1) for i in range(d // 2)], [(i, d - 1 - i) for i in range(d // 2)]),  # folded
)
def who_turns_with_whom(pairs):
    def read_off(d, layout):
        R = rotation.rotation_matrix(1.0, theta=rotation.frequencies(d), layout=layout)
        return [(int(a), int(b)) for a, b in np.argwhere(R) if a < b]

    return all(pairs(d) == (read_off(d, "interleaved"), read_off(d, "half")) for d in (2, 4, 6, 16))


@claim(
    "blog.llama-layout",
    locus="two implementations, first bullet",
    statement=r"LLaMA's own code is the interleaved implementation.",
    verdict="empirical",
    date="2026-11-21",
    tier="minor",
    correction=r"True of Meta's code, which views neighbouring components as complex numbers (llama/model.py in "
    r"meta-llama/llama). Hugging Face's LLaMA is half-split, and its converter permutes the rows of $W_q$ and $W_k$ "
    r"(transformers, issue 25199).",
)
def which_layout_llama_has():
    """Read: the two files named above, and the issue."""


@claim(
    "blog.half-matrix",
    locus="second matrix",
    statement=r"The half-split matrix is $\begin{pmatrix} C & -S\\ S & C \end{pmatrix}$ with the diagonal matrices "
    r"$C$ of $\cos n\theta_i$ and $S$ of $\sin n\theta_i$. It is $P \mathcal R_n P^\top$ for the permutation $P$ "
    r"between the layouts.",
    correction=r"In the version we read the array has an empty cell in some rows; the block form is what is meant.",
    witness=r"$d = 6$, entry by entry in symbols.",
    cases="head_dim 2, 4 and 6",
    holds=lambda R, P: P * R * P.T,
    control=lambda R, P: P * R,  # the rows alone
)
def blocks_of_diagonals(permuted):
    return all(
        is_the_reference(blocks(d), d) and permuted(interleaved(d), permutation(d)) == blocks(d) for d in (2, 4, 6)
    )


@claim(
    "blog.half-orth",
    locus="item 1",
    statement=r"The half-split matrix is orthogonal: $\mathcal R \mathcal R^\top = I$.",
    witness=r"$\begin{pmatrix} C & -S\\ S & C \end{pmatrix}\begin{pmatrix} C & S\\ -S & C \end{pmatrix} = "
    r"\begin{pmatrix} C^2 + S^2 & 0\\ 0 & S^2 + C^2 \end{pmatrix}$, since diagonal matrices commute.",
    cases="head_dim 2, 4 and 6",
    holds=-1,
    control=+1,  # the minus forgotten
)
def half_is_orthogonal(sign):
    return is_the_reference(blocks(6), 6) and all(
        symbolic.same(blocks(d, sign) * blocks(d, sign).T, sp.eye(d)) for d in (2, 4, 6)
    )


@claim(
    "blog.half-det",
    locus="item 2",
    statement=r"The half-split matrix has $\det \mathcal R = 1$.",
    witness=r"$C$ and $S$ commute, so the determinant is $\det(C^2 + S^2) = \det I$.",
    cases="head_dim 2, 4 and 6",
    holds=-1,
    control=+1,
)
def half_has_determinant_one(sign):
    return is_the_reference(blocks(6), 6) and all(
        symbolic.same(blocks(d, sign).det(method="berkowitz"), sp.Integer(1)) for d in (2, 4, 6)
    )


@claim(
    "blog.row-swaps",
    locus="item 2",
    differs="the source calls the moves swaps",
    statement=r"The half-split matrix becomes the interleaved one by $d/2 - 1$ row swaps and as many column swaps.",
    verdict="conditional",
    mend=r"d/2 - 1\ [-\text{swaps}-][+\text{moves}+]",
    correction=r"$d/2 - 1$ counts *moves*: take a row out, insert it elsewhere. That is the least number, for every "
    r"even $d$. Exchanges of two rows take $d$ minus the number of cycles: $0, 1, 3, 4, 6, 9, 11, 10, \dots$ for "
    r"$d = 2, 4, 6, \dots$, which is $d/2 - 1$ for $d = 2$ and $d = 4$ only. The conclusion $\det \mathcal R = 1$ "
    r"stands either way.",
    witness=r"$d = 6$: [[two]] moves, [[three]] swaps. $d = 64$: [[31]] moves, [[50]] swaps.",
    computed=lambda: tuple(
        count(rotation.layout_permutation(d))
        for d in (6, 64)
        for count in (layouts.minimal_moves, layouts.minimal_swaps)
    ),
    erratum=Erratum(
        5,
        "blog-swaps",
        "Moves of rows, not swaps",
        "Whoever counts the swaps to find the sign of the determinant. The conclusion, determinant 1, stands.",
        matters="proofs",
    ),
    cases="every even head_dim up to 128",
    holds=layouts.minimal_moves,
    control=layouts.minimal_swaps,  # the count of exchanges
)
def moves_not_swaps(count):
    exchanges = [layouts.minimal_swaps(rotation.layout_permutation(d)) for d in range(2, 130, 2)]
    as_many = [d for d, swaps in zip(range(2, 130, 2), exchanges, strict=True) if swaps == d // 2 - 1]
    moves = all(count(rotation.layout_permutation(d)) == d // 2 - 1 for d in range(2, 130, 2))
    return moves and exchanges[:8] == [0, 1, 3, 4, 6, 9, 11, 10] and as_many == [2, 4]


@claim(
    "blog.det-parity",
    locus="item 2",
    statement=r"Row and column exchanges come to an even number in total, so the determinant stays 1.",
    tier="minor",
    correction=r"The reason that needs no count: rows and columns undergo the same permutation, "
    r"$\det(P \mathcal R P^\top) = \mathrm{sgn}(p)^2 \det \mathcal R$.",
    witness=r"$d = 4$: the permutation of the rows alone has the sign $[[-1]]$; with the columns, $[[+1]]$.",
    computed=lambda: tuple(
        np.linalg.det(rotation.rotation_matrix(1, theta=[1, 0.1])[np.ix_(p, columns)])
        for p in [rotation.layout_permutation(4)]
        for columns in (np.arange(4), p)
    ),
    cases="head_dim 2, 4, 6 and 8",
    holds=lambda exchanges: exchanges,
    control=lambda exchanges: exchanges[:0],  # the columns forgotten
)
def the_exchanges_are_even_in_total(of_columns):
    for d in (2, 4, 6, 8):
        R, rows = blocks(d), layouts.row_swaps(rotation.layout_permutation(d))
        columns = of_columns(rows)
        for a, b in rows:
            R = R.elementary_row_op("n<->m", row1=a, row2=b)
        for a, b in columns:
            R = R.elementary_col_op("n<->m", col1=a, col2=b)
        sign = permutation(d).det()  # sgn(p): each exchange of rows changes it
        if interleaved(d) != R or sign != (-1) ** len(rows) or (len(rows) + len(columns)) % 2:
            return False
    return True


@claim(
    "blog.same-effects",
    locus="after the two implementations",
    statement=r"The second implementation has the same effects as the first.",
    correction=r"A remark: the two make the same *class* of functions. With one and the same $W_q$, $W_k$ the logits "
    r"differ; they agree once the rows of both, head by head, are put in the other order.",
    witness=r"$d = 4$, a quarter turn in plane 0, $q = k = (1, 0, 0, 0)$ agree; $q = (1, 0, 0, 0)$, "
    r"$k = (0, 1, 0, 0)$ at offset 1: $[[-1]]$ interleaved, $[[0]]$ half-split.",
    computed=lambda: tuple(
        rotation.logits(
            [[1, 0, 0, 0]], [[0, 1, 0, 0]], q_positions=[0], k_positions=[1], theta=[np.pi / 2, 0], layout=layout
        ).item()
        for layout in ("interleaved", "half")
    ),
    tolerance=1e-11,
    holds=lambda W: W[rotation.layout_permutation(len(W))],
    control=lambda W: W,  # the trained weights as they are
)
def logits_after_reordering(carry, rng):
    d, at, x = 16, rng.uniform(-50, 50, size=7), rng.normal(size=(7, 10))
    common, worst = {"q_positions": at, "k_positions": at, "theta": rotation.frequencies(d)}, 0.0
    for W_q, W_k in rng.normal(size=(3, 2, d, 10)):  # head by head
        one = rotation.logits(x @ W_q.T, x @ W_k.T, **common)
        other = rotation.logits(x @ carry(W_q).T, x @ carry(W_k).T, **common, layout="half")
        q, k = (carry(rotation.rotate(x @ W.T, at, theta=common["theta"]).T).T for W in (W_q, W_k))  # first turned
        worst = max(worst, np.abs(one - other).max(), np.abs(q @ k.T - other).max())
    return worst
