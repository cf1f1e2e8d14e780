"""What the CRoPE paper recalls before its own idea: attention, positions, and rotations (its section 2)."""

import numpy as np
import sympy as sp

from rope_lab.algebra import rotation, symbolic
from rope_lab.claims import exact
from rope_lab.claims.entry import Erratum
from rope_lab.claims.ledger import claim

m, n = sp.symbols("m n", real=True)
LOGITS = sp.Matrix([[1, 2, sp.Rational(1, 2)], [1, -1, 3], [0, 0, -2]])  # row m: the query, column n: the key


def softmax(S, row, keys):
    return {j: sp.exp(S[row, j]) / sum(sp.exp(S[row, i]) for i in keys) for j in keys}


@claim(
    "crope.eq1",
    locus="2.1, eq 1",
    statement=r"The logit of query $m$ and key $n$ is $f(x_m, x_n, m, n)$, and each position attends to the preceding "
    r"ones.",
    verdict="ambiguous",
    tier="minor",
    correction=r"The sentence restricts the keys to $n \le m$; the formulas do not: eq 3 sums over $j = 1, \dots, L$. "
    r"We read them with the restriction.",
    witness=r"Three words: with the sum as printed, the first output changes when the third value does.",
    holds=lambda row, _: range(row + 1),
    control=lambda _, length: range(length),  # the sum as it stands in eq 3
)
def the_past_only(keys):
    values = sp.symbols("v_0:3", real=True)
    for row in range(3):
        weights = softmax(LOGITS, row, keys(row, 3))
        output = sum(weight * values[j] for j, weight in weights.items())
        if any(sp.diff(output, later) != 0 for later in values[row + 1 :]):
            return False
    return True


def _weights(denominator):
    return sp.Matrix(3, 3, lambda row, j: sp.exp(LOGITS[row, j]) / denominator(LOGITS, row, j))


def _sum_over_keys(S, row, _):
    return sum(sp.exp(S[row, i]) for i in range(3))


@claim(
    "crope.eq2",
    locus="2.1, eq 2",
    statement=r"The attention weight is $a_{mn} = \exp \mathrm{attn}(m \to n) / \sum_j \mathrm{attn}(m \to j)$.",
    verdict="false",
    slip=True,
    mend=r"a_{mn} = \frac{\exp \mathrm{attn}(m \to n)}{\sum_j [+\exp+] \mathrm{attn}(m \to j)}",
    gives=(0, 1),
    correction=r"Read $\sum_j \exp \mathrm{attn}(m \to j)$ in the denominator: the exponential is missing in the "
    r"version we read.",
    witness=r"Logits $(1, 2)$: as printed the weights are $e/3$ and $e^2/3$, together $[[3.37]]$ "
    r"instead of $[[1]]$. Logits $(1, -1)$: the printed denominator is $[[0]]$.",
    computed=lambda: (
        float(sum(np.exp([1, 2])) / sum([1, 2])),
        float(sum(softmax(sp.Matrix([[1, 2]]), 0, (0, 1)).values())),
        sum([1, -1]),
    ),
    erratum=Erratum(
        7,
        "crope-softmax",
        "The exponential of the softmax",
        "Whoever implements Section 2 from the page. What follows in the paper speaks of the usual softmax.",
        matters="code",
        also=("crope.eq3",),
    ),
    holds=_sum_over_keys,
    printed=lambda S, row, _: sum(S[row, i] for i in range(3)),
    control=lambda S, _, j: sum(sp.exp(S[i, j]) for i in range(3)),  # the sum over the queries
)
def weights_sum_to_one(denominator):
    return all(sp.simplify(sum(_weights(denominator).row(row)) - 1) == 0 for row in range(3))


@claim(
    "crope.eq3",
    locus="2.1, eq 3",
    statement=r"The output $o_m = \sum_j a_{mj} v_j$ is a weighted average of the values.",
    tier="minor",
    correction=r"With eq 2 as corrected there; no slip of its own.",
    witness=r"If all values are equal, the output is that value.",
    holds=_sum_over_keys,
    control=lambda S, row, _: sum(S[row, i] for i in range(3)),  # the denominator as eq 2 has it
)
def equal_values_come_back(denominator):
    v = sp.Symbol("v")
    weights = _weights(denominator)
    positive = all(w.is_positive for w in weights)
    return positive and all(sp.simplify(sum(weights[row, j] * v for j in range(3)) - v) == 0 for row in range(3))


@claim(
    "crope.eq4",
    locus="2.1, eq 4",
    statement=r"With absolute positions the logit is $(x_m + p_m)^\top W_q^\top W_k\, (x_n + p_n)$: a sum of four "
    r"terms, of word with word, word with position, position with word and position with position.",
    tier="minor",
    witness=r"Multiply out. The last term, $p_m^\top W_q^\top W_k\, p_n$, knows no words.",
    holds=1,
    control=0,  # position with word forgotten
)
def four_terms(position_with_word):
    W_q, W_k = (sp.Matrix(2, 2, sp.symbols(f"{name}_0:4")) for name in "qk")
    x, p, y, r = (sp.Matrix(sp.symbols(f"{name}_0:2")) for name in "xpyr")
    M = W_q.T * W_k
    terms = x.T * M * y + x.T * M * r + position_with_word * p.T * M * y + p.T * M * r
    return ((x + p).T * M * (y + r) - terms).expand() == sp.zeros(1, 1)


@claim(
    "crope.eq5",
    locus="2.1, eq 5",
    statement=r"With relative positions a common choice is $(x_m + \tilde p_{m-n})^\top W_q^\top W_k\, (x_n + \tilde "
    r"p_{m-n})$.",
    verdict="conditional",
    tier="minor",
    correction=r"A remark. The form is relative. We read “common choice” as an umbrella: a bias $b_{m-n}$ added to the "
    r"logit, say, is the case of two more coordinates in which words are zero.",
    witness=r"$\tilde p_r = (0, b_r, 1)$ and $W_q^\top W_k = \mathrm{diag}(M, N)$ with $N = \begin{pmatrix} 0 & 1\\ 0 "
    r"& 0\end{pmatrix}$: the logit is $x^\top M y + b_{m-n}$.",
    holds=lambda: sp.Matrix([[0, 1], [0, 0]]),
    control=lambda: sp.eye(2),  # then the bias would be squared
)
def a_bias_is_a_special_case(block):
    M, b = sp.Matrix(2, 2, sp.symbols("M_0:4")), sp.Symbol("b")
    x, y = (sp.Matrix(sp.symbols(f"{name}_0:2")) for name in "xy")
    p = sp.Matrix([0, 0, b, 1])
    longer = [sp.Matrix.vstack(word, sp.zeros(2, 1)) + p for word in (x, y)]
    logit = longer[0].T * sp.diag(M, block()) * longer[1]
    return (logit - x.T * M * y - sp.Matrix([[b]])).expand() == sp.zeros(1, 1)


@claim(
    "crope.eq6",
    locus="2.2, eq 6",
    statement=r"$\mathcal R_m$ is block-diagonal with the turns by $m\theta_1, \dots, m\theta_L$.",
    verdict="conditional",
    tier="minor",
    slip=True,
    mend=r"\theta_1, \dots, \theta_{[-L-][+D/2+]}",
    correction=r"Read $\theta_{D/2}$ for the last frequency, as in eq 10; $L$ is also the length of the sequence. The "
    r"frequencies themselves are not given.",
    witness=r"$D = 4$ and a sequence of $L = 3$ words: [[two]] planes, so $\theta_1$ and $\theta_2$.",
    computed=lambda: len(rotation.frequencies(4)),
    holds=lambda D, _: D // 2,
    printed=lambda _, L: L,
    control=lambda D, _: D,  # one frequency for each coordinate
)
def as_many_planes_as_pairs(planes):
    # A word of D components must fit the matrix, whatever the length L of the text.
    sizes = [(2, 1), (4, 3), (8, 8), (128, 1024)]
    return all(rotation.rotation_matrix(1.0, theta=np.ones(planes(D, L))).shape == (D, D) for D, L in sizes)


@claim(
    "crope.eq7",
    locus="2.2, eq 7",
    statement=r"$x_m^\top W_q^\top \mathcal R_m^\top \mathcal R_n W_k\, x_n = x_m^\top W_q^\top \mathcal R_{m-n}^\top "
    r"W_k\, x_n$.",
    witness=r"$\mathcal R_{m-n}^\top = \mathcal R_{n-m}$: the law of chapter 4, written with the other offset.",
    holds=lambda R: R.T,
    control=lambda R: R,  # the transpose dropped
)
def the_law_with_the_other_offset(turned_back):
    theta = sp.symbols("theta_0:2", real=True)
    R_m, R_n, R = (exact.rotation_matrix(at, theta=theta) for at in (m, n, m - n))
    return symbolic.same(R_m.T * R_n, turned_back(R))


@claim(
    "crope.remark.rel-extra-params",
    locus="1",
    statement=r"Earlier relative schemes need parameters of their own for positions.",
    date="2026-11-21",
    tier="minor",
    witness=r"A learned bias for each offset is one number more for each offset and head.",
)
def extra_parameters():
    """Read: the sentence, and the schemes that it names, as eq 5 sums them up."""


@claim(
    "crope.remark.context",
    locus="1, 2.3, end of 4.3, 6.1",
    statement=r"Context: rotary positions are the state of the art; positions affect how training goes; the complex "
    r"form is more natural to interpret; it combines with quantisation, pruning, experts and early exit.",
    verdict="empirical",
    date="2026-11-21",
    tier="minor",
    correction=r"Judgements and expectations; no experiment of ours bears on them.",
)
def context():
    """Read: these sentences are no mathematics, and nothing is computed."""


@claim(
    "crope.fig2-caption",
    locus="figure 2, caption",
    statement=r"Figure 2 shows the main difference between RoPE and CRoPE.",
    verdict="false",
    erratum=Erratum(
        15,
        "crope-captions",
        "Two captions",
        "Whoever reads the figures by their captions alone.",
        matters="readers",
        also=("crope.fig4-caption",),
    ),
    date="2026-11-21",
    tier="minor",
    slip=True,
    correction=r"In the version we read the caption repeats that of figure 1; section 3.2 describes panels (a) and "
    r"(b): the four matrices, and what they do to vectors.",
    witness=r"The two captions agree word for word.",
)
def the_caption_of_figure_two():
    """Read: both captions and section 3.2."""
