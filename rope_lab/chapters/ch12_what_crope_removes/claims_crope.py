"""What CRoPE removes: its savings and its "half", counted (abstract, sections 1, 3, 5.1 and 6.1)."""

from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from rope_lab.algebra import budget, dimension_counts, rotation, widely_linear
from rope_lab.claims import exact
from rope_lab.claims.entry import Erratum
from rope_lab.claims.ledger import claim

PAPER = budget.ModelShape(width=128, heads=4, layers=4)
PAPER_FULL = budget.ModelShape(width=128, heads=4, layers=4, bias=True, norms=True)
SEVEN_B = budget.ModelShape(width=4096, heads=32, layers=32, vocab=32_000, mlp_width=11_008, mlp_matrices=3, tied=False)
BOTH = (False, True)  # dense weights, complex-linear weights


def family_rank(d, n, *, complex_linear):
    return dimension_counts.jacobian_rank(head_dim=d, width=n, complex_linear=complex_linear, offsets=range(d + 1))


def percent(share):
    return round(100 * float(share), 2)


@claim(
    "crope.abs.savings50",
    locus="abstract; conclusion",
    statement=r"Complex-linear projections save nearly half of the parameters of the attention block.",
    verdict="ambiguous",
    mend=r"\tfrac12\ \text{ of }\ [-\text{the attention block}-][+Q, K, V+]",
    correction=r"Half of the $Q$, $K$ and $V$ projections, as the introduction says. With the output projection it is "
    r"the paper's own $37.5\,\%$ (its section 6.1).",
    witness=r"$1.5\,D^2$ of $3D^2$ are $[[1/2]]$; of $4D^2$ they are $[[3/8]]$.",
    computed=lambda: tuple(budget.saving(PAPER, "qkv", of=of) for of in ("qkv", "attention")),
    erratum=Erratum(
        14,
        "crope-half",
        "Half of what",
        "Whoever quotes the saving, or rebuilds the model from its description.",
        matters="numbers",
        also=("crope.model-5.1-conflict",),
    ),
    cases="the shape of the paper's model",
    holds=lambda shape: [budget.saving(shape, "qkv", of=of) for of in ("qkv", "attention")],
    control=lambda shape: [budget.saving(shape, "qkvo", of=of) for of in ("qkv", "attention")],  # W_o halved as well
)
def half_of_what_is_called_attention(shares):
    return shares(PAPER) == [Fraction(3, 6), Fraction(3, 8)]


@claim(
    "crope.abs.redundancy",
    locus="abstract",
    statement=r"The half of $W$ that is removed is redundant.",
    verdict="ambiguous",
    correction=r"A remark: the word is meant as an experience, and section 3.2 says that the space of functions gets "
    r"smaller. What is redundant exactly, in RoPE and in CRoPE, with distinct frequencies between $0$ and $\pi$, is "
    r"one complex factor for each plane: $d$ of the $2dD$ parameters in $(W_q, W_k)$ of a head, or of the $dD$.",
    witness=r"$d = 32$, $D = 128$: $[[32]]$ of $[[8192]]$, or $[[0.39]]\,\%$.",
    computed=lambda: (
        dimension_counts.gauge_dimension(head_dim=32),
        2 * 32 * 128,
        100 * dimension_counts.gauge_dimension(head_dim=32) / (2 * 32 * 128),
    ),
    cases="(d, D) = (2, 4), (4, 4) and (4, 6)",
    holds=lambda n: Fraction(1, 2 * n),
    control=lambda n: Fraction(n, 2 * n),  # the half that is removed
)
def what_changes_no_logit(share):
    for d, n in ((2, 4), (4, 4), (4, 6)):
        for complex_linear in BOTH:
            weights = dimension_counts.weight_dimension(head_dim=d, width=n, complex_linear=complex_linear)
            idle = weights - family_rank(d, n, complex_linear=complex_linear)
            if idle != dimension_counts.gauge_dimension(head_dim=d):
                return False
            if not complex_linear and Fraction(idle, weights) != share(n):
                return False
    return True


def _saved_of_all():
    shape = budget.ModelShape(width=128, heads=4, layers=4, vocab=50_257)
    dense, small = (budget.parameters(shape, reading)["total"] for reading in ("dense", "qkv"))
    return dense - small, dense


@claim(
    "crope.intro.remains-significant",
    locus="1",
    statement=r"With feed-forward layers and embeddings the saving drops below half, and remains significant.",
    verdict="conditional",
    correction=r"A remark: it depends on the size. For a 7B-shaped model it is $12.0\,\%$ of all parameters. At the "
    r"paper's own size the embedding is most of the model: $1.4\,\%$ with GPT-2's vocabulary, tied, and $4.8\,\%$ with "
    r"ten thousand words. The paper does not state its vocabulary.",
    witness=r"$[[98304]]$ of $[[7219328]]$ parameters.",
    computed=_saved_of_all,
    cases="three models: a 7B shape, and the paper's with two vocabularies",
    holds=lambda shape: budget.saving(shape, "qkv", of="model"),
    control=lambda shape: budget.saving(shape, "qkv", of="block"),  # embeddings forgotten
)
def of_the_whole_model(share):
    removed, blocks = 4 * 3 * 128 * 128 // 2, 4 * 12 * 128 * 128
    small = [budget.ModelShape(width=128, heads=4, layers=4, vocab=vocab) for vocab in (50_257, 10_000)]
    counted = all(share(shape) == Fraction(removed, blocks + shape.vocab * 128) for shape in small)
    counted &= all(shape.vocab * 128 > blocks for shape in small)  # the embedding is most of the model
    return counted and [round(100 * float(share(shape)), 1) for shape in (SEVEN_B, *small)] == [12.0, 1.4, 4.8]


@claim(
    "crope.intro.half-reserved",
    locus="1",
    statement=r"RoPE reserves half of the embedding space for positions.",
    verdict="ambiguous",
    tier="minor",
    correction=r"A remark. In each complex number of a query the position acts on the phase and not on the modulus; "
    r"read so, it is half. But no coordinate is reserved: with $W_q = W_k = I$ the form has full rank at every offset.",
    witness=r"$W_q = W_k = I$: the form is $R_\Delta$, of rank $D$.",
    cases="two planes, at any offset and any frequencies",
    holds=4,
    control=2,  # half of the coordinates
)
def no_coordinate_is_reserved(rank):
    m, t0, t1 = sp.symbols("m theta_0 theta_1", real=True)
    form = exact.rotation_matrix(m, theta=(t0, t1))
    return sp.simplify(form.det()) == 1 and form.rows == rank  # the determinant is not 0: full rank


@claim(
    "crope.eq13-dof-argument",
    locus="3.1",
    statement=r"That the model with complex weights is another one follows by counting parameters.",
    verdict="conditional",
    correction=r"Fewer parameters alone do not make fewer functions. Here the dimensions of the functions do differ: "
    r"$2dD - d$ against $dD - d$ for each head with distinct frequencies between $0$ and $\pi$.",
    witness=r"$d = 4$, $D = 6$: $[[44]]$ and $[[20]]$. And a case where counting would mislead: one offset, $d = D$. "
    r"Fix $W_q = I$, and half of the parameters make all of the forms.",
    computed=lambda: tuple(family_rank(4, 6, complex_linear=c) for c in BOTH),
    cases="(d, D) = (2, 4) and (4, 6), and (4, 4) at one offset",
    holds=lambda d, n: (2 * d * n - d, d * n - d),
    control=lambda d, n: (2 * d * n, d * n),  # the parameters
)
def dimensions_and_not_parameters(formulas):
    for d, n in ((2, 4), (4, 6)):
        if formulas(d, n) != tuple(family_rank(d, n, complex_linear=c) for c in BOTH):
            return False
    one = dimension_counts.jacobian_rank(head_dim=4, width=4, complex_linear=False, offsets=[1])
    return one == 4 * 4  # as many as W_k alone has entries, and W_q has as many again


@claim(
    "crope.half-function-space",
    locus="3.2; figure 1",
    statement=r"The function space of CRoPE is half of that of RoPE.",
    verdict="conditional",
    correction=r"In dimensions: exactly half for the weights, $dD$ of $2dD$; exactly half for the form at one offset, "
    r"$\tfrac12 d(2D - d)$ of $d(2D - d)$ with $d \le D$; a little less for the family over all offsets, $d(D - 1)$ of "
    r"$d(2D - 1)$ with distinct frequencies between $0$ and $\pi$.",
    differs="the source (section 3.2) does not say half of what",
    witness=r"$d = D = 2$: $[[2]]$ of $[[6]]$. $d = 32$, $D = 128$: $[[4064]]$ of $[[8160]]$.",
    computed=lambda: tuple(
        dimension_counts.family_dimension(head_dim=d, width=n, complex_linear=c)
        for d, n in ((2, 2), (32, 128))
        for c in (True, False)
    ),
    cases="(d, D) = (2, 2), (2, 6), (4, 4) and (4, 6)",
    holds=lambda d, n: ((2 * d * n, d * (2 * n - d), d * (2 * n - 1)), (d * n, d * (2 * n - d) // 2, d * (n - 1))),
    control=lambda d, n: (
        (2 * d * n, d * (2 * n - d), d * (2 * n - 1)),
        (d * n, d * (2 * n - d) // 2, d * (2 * n - 1) // 2),  # half everywhere
    ),
)
def three_halves(formulas):
    for d, n in ((2, 2), (2, 6), (4, 4), (4, 6)):
        counts = []
        for c in BOTH:
            shape: dict[str, Any] = {"head_dim": d, "width": n, "complex_linear": c}
            form = dimension_counts.jacobian_rank(**shape, offsets=[1])
            family = family_rank(d, n, complex_linear=c)
            closed = dimension_counts.form_dimension(**shape), dimension_counts.family_dimension(**shape)
            if closed != (form, family):
                return False
            counts.append((dimension_counts.weight_dimension(**shape), form, family))
        if tuple(counts) != formulas(d, n):
            return False
    large = [dimension_counts.family_dimension(head_dim=32, width=128, complex_linear=c) for c in BOTH]
    return large == [8160, 4064]


@claim(
    "crope.sec4.more-dims",
    locus="4",
    statement=r"The parameters that are saved can be spent on more dimensions to rotate.",
    verdict="conditional",
    correction=r"A remark: as book-keeping it is true. But more head dimensions do not bring the lost functions back: "
    r"with complex weights no logit sees a common phase, however wide the head (book.common-phase). A doubled "
    r"embedding does, for the parameters of RoPE (unsaid.crope-width).",
    witness=r"$D = 2$: the forms of complex-linear heads span $2$ dimensions at every $d$, those of real heads $4$.",
    cases="heads of width 2, 4 and 8 on a stream of width 2",
    holds=(2, 4),
    control=(4, 4),  # as if a wider head made up for it
)
def wider_heads_reach_no_further(dimensions):
    reached = {
        tuple(dimension_counts.jacobian_rank(head_dim=d, width=2, complex_linear=c, offsets=[1]) for c in (True, False))
        for d in (2, 4, 8)
    }
    most = {  # and no head reaches more: the rank is from below, and this from above
        tuple(dimension_counts.form_dimension(head_dim=d, width=2, complex_linear=c) for c in (True, False))
        for d in (2, 4, 8)
    }
    return reached == most == {dimensions}


def eq30(planes):
    """The matrix of Eq 30, and its numbers a and b."""
    a, b = (sp.Matrix(planes, planes, sp.symbols(f"{x}_0:{planes * planes}", real=True)) for x in "ab")
    W = sp.zeros(2 * planes, 2 * planes)
    for i in range(planes):
        for k in range(planes):
            W[2 * i : 2 * i + 2, 2 * k : 2 * k + 2] = sp.Matrix([[a[i, k], b[i, k]], [-b[i, k], a[i, k]]])
    return W, a, b


@claim(
    "crope.eq30-count",
    locus="5.1, eq 30",
    statement=r"The weight of eq 30 has half of the parameters of a dense one of its shape.",
    witness=r"One block: $a$ and $b$ in the place of four numbers.",
    cases="1, 2 and 3 planes, and the paper's 64",
    holds=lambda size: size * size // 2,
    control=lambda size: size * size // 4,  # the entries of the complex matrix, each counted once
)
def free_numbers_of_eq30(count):
    from rope_lab.nn.complex_linear import ComplexLinear

    for planes in (1, 2, 3):
        layer = ComplexLinear(2 * planes, 2 * planes, layout="interleaved")
        built = sum(p.numel() for p in layer.parameters())
        if len(eq30(planes)[0].free_symbols) != count(2 * planes) or built != count(2 * planes):
            return False
    return budget.parameters(PAPER, "qkv")["q"] == 4 * count(128)


@claim(
    "crope.eq30-structure",
    locus="5.1, eq 30",
    statement=r"The weight of eq 30 is the complex-linear weight of section 3.",
    correction=r"A remark: applied to columns it is $\tilde W = A - \mathrm i B$, applied to rows ($xW$) it is $A + "
    r"\mathrm i B$. Its pairs are neighbours, the interleaved layout; under half-split rotations its rows and its "
    r"columns must be permuted first, or it does not commute with them.",
    witness=r"One block, $a = 0$, $b = 1$: $(1, 0)$ goes to $(0, -1)$, so the factor is $-\mathrm i$.",
    cases="a matrix of two planes by two",
    holds=lambda a, b: a - sp.I * b,
    control=lambda a, b: a + sp.I * b,  # rows for columns
)
def eq30_as_a_complex_matrix(read):
    W, a, b = eq30(2)
    J, half = (sp.Matrix(widely_linear.times_i(4, layout=at).astype(int)) for at in ("interleaved", "half"))
    P = sp.eye(4)[rotation.layout_permutation(4).tolist(), :]
    pairs = (W, J), (P * W * P.T, half), (W, half), (P * W, half), (W * P.T, half)
    fits = [(X * j - j * X).expand() == sp.zeros(4, 4) for X, j in pairs] == [True, True, False, False, False]
    values = dict(zip([*a, *b], (1, 2, -3, 5, 4, 0, 7, -2), strict=True))
    A, B = widely_linear.complex_parts(np.array(W.subs(values), dtype=float))
    rows = widely_linear.complex_parts(np.array(W.T.subs(values), dtype=float))[0]  # x W, as a map of x
    said = np.array(read(a, b).subs(values), dtype=complex)
    return bool(fits and (said == A).all() and (rows == said.conj().T).all() and not B.any())


@claim(
    "crope.model-5.1-conflict",
    locus="5.1, third bullet; 6.1",
    statement=r"The CRoPE model is GPT-2 with the output dimensions of $Q$, $K$, $V$ and the input dimension of the "
    r"output projection halved.",
    verdict="ambiguous",
    correction=r"Three readings. Eq 30 on $Q$, $K$, $V$ and a whole $W_o$ saves $37.5\,\%$ of attention and "
    r"$12.5\,\%$ of the block, which is what section 6.1 says. Eq 30 on $W_o$ too saves $50\,\%$ and $16.7\,\%$. Real "
    r"projections with half the outputs save the same, and are plain RoPE with heads of half the width: other "
    r"functions.",
    witness=r"Relative families of one head at the paper's size: $[[4064]]$ dimensions in the first reading, "
    r"$[[4080]]$ in the last.",
    computed=lambda: (
        dimension_counts.family_dimension(head_dim=32, width=128, complex_linear=True),
        dimension_counts.family_dimension(head_dim=16, width=128, complex_linear=False),
    ),
    cases="the shape of the paper's model, and ranks of two small heads",
    holds=("qkv", "qkvo", "narrow"),
    control=("qkvo", "qkv", "narrow"),  # the first two exchanged
)
def three_readings(readings):
    shares = [[budget.saving(PAPER, r, of=of) for of in ("attention", "block")] for r in readings]
    expected = [[Fraction(3, 8), Fraction(1, 8)]] + 2 * [[Fraction(1, 2), Fraction(1, 6)]]
    first = dimension_counts.family_dimension(head_dim=32, width=128, complex_linear=True)
    last = dimension_counts.family_dimension(head_dim=16, width=128, complex_linear=False)
    small = family_rank(4, 6, complex_linear=True), family_rank(2, 6, complex_linear=False)
    return shares == expected and (first, last) == (4064, 4080) and small == (20, 22)


@claim(
    "crope.xpos-name",
    locus="5.1",
    statement=r"XPOS is the name of GPT-2 with the absolute positions of the first transformer.",
    verdict="ambiguous",
    date="2026-11-21",
    tier="minor",
    correction=r"A remark: it is not the method xPos of Sun et al., which is rotary. And the positions of GPT-2 itself "
    r"are learned.",
)
def a_name():
    """Read: the sentence. It gives a name, and nothing is computed."""


@claim(
    "crope.savings.qkvo",
    locus="6.1",
    statement=r"With the output projection the saving is around $37.5\,\%$.",
    correction=r"A remark: exactly, if there are no biases and $W_o$ stays whole. With biases it is $37.2\,\%$.",
    witness=r"$1.5/4$.",
    cases="the shape of the paper's model, with and without biases",
    holds="qkv",
    control="qkvo",  # W_o halved as well
)
def with_the_output_projection(reading):
    plain, full = (budget.saving(shape, reading, of="attention") for shape in (PAPER, PAPER_FULL))
    return plain == Fraction(3, 8) and percent(full) == 37.21


@claim(
    "crope.savings.block",
    locus="6.1",
    statement=r"With a feed-forward layer of ratio $4$ the saving is $12.5\,\%$.",
    correction=r"A remark: exactly, without biases and norms and with a whole $W_o$. With them it is $12.4\,\%$. "
    r"Without them, and with $W_o$ halved too, it is $16.7\,\%$.",
    witness=r"$1.5/12$.",
    cases="the shape of the paper's model, with and without biases and norms",
    holds="qkv",
    control="qkvo",  # W_o halved as well
)
def with_the_feed_forward_layer(reading):
    plain = [budget.saving(PAPER, reading, of=of) for of in ("qkv", "attention", "block")]
    full = budget.saving(PAPER_FULL, reading, of="block")
    halved = budget.saving(PAPER, "qkvo", of="block") == Fraction(1, 6)
    return plain == [Fraction(1, 2), Fraction(3, 8), Fraction(1, 8)] and percent(full) == 12.4 and halved
