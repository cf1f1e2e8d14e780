"""What the CRoPE paper recalls before its own idea: attention, positions, and rotations (its section 2)."""

import numpy as np
import sympy as sp

from rope_lab.algebra import additive_head, latent, placements, rotation, symbolic
from rope_lab.claims import exact
from rope_lab.claims.entry import Erratum
from rope_lab.claims.ledger import claim

m, n = sp.symbols("m n", real=True)
S = sp.IndexedBase("s", real=True)  # S[m, n]: the logit of the query m and the key n
query, key, other, L = sp.symbols("m n j L", integer=True, positive=True)


def softmax(logits):
    """The weights of one row, after a look at the algebra."""
    powers = sp.Matrix([sp.exp(s) for s in logits])
    return exact.tied(powers / sum(powers), lambda at: latent.softmax([at(s) for s in logits])[:, None])


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
    cases="three words",
    holds=lambda row, _: range(row + 1),
    control=lambda _, length: range(length),  # the sum as it stands in eq 3
)
def the_past_only(keys):
    values, words, x = sp.symbols("v_0:3", real=True), range(3), np.eye(3)
    ours = placements.attention_weights(x, x, q_positions=words, k_positions=words, rotated="", theta=[1])
    for row in words:
        seen = keys(row, 3)
        output = softmax(range(len(seen))).dot([values[j] for j in seen])
        if any(sp.diff(output, later) != 0 for later in values[row + 1 :]) or set(seen) != {*np.flatnonzero(ours[row])}:
            return False
    return True


def _weight(term):
    """The weight of one key among L: the exponential of its logit, divided by the sum of the terms."""
    return sp.exp(S[query, key]) / sp.Sum(term(query, key, other), (other, 1, L))


def _sum_over_keys(weights):
    return sp.simplify(sp.Sum(weights, (key, 1, L))).as_dummy()


def _as_in_the_algebra(weight):
    logits = sp.symbols("s_1:4", real=True)
    named = {S[query, place]: logits[place - 1] for place in (1, 2, 3)}
    return sp.simplify(weight.subs({key: 1, L: 3}).doit().subs(named) - softmax(logits)[0]) == 0


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
    computed=lambda: (float(sum(np.exp([1, 2])) / sum([1, 2])), float(sum(softmax([1, 2]))), sum([1, -1])),
    erratum=Erratum(
        7,
        "crope-softmax",
        "The exponential of the softmax",
        "Whoever implements Section 2 from the page. What follows in the paper speaks of the usual softmax.",
        matters="code",
        also=("crope.eq3",),
    ),
    holds=lambda m, _, j: sp.exp(S[m, j]),
    printed=lambda m, _, j: S[m, j],
    control=lambda _, n, j: sp.exp(S[j, n]),  # the sum over the queries
)
def weights_sum_to_one(term):
    return _sum_over_keys(_weight(term)) == 1 and _as_in_the_algebra(_weight(term))


@claim(
    "crope.eq3",
    locus="2.1, eq 3",
    statement=r"The output $o_m = \sum_j a_{mj} v_j$ is a weighted average of the values.",
    tier="minor",
    correction=r"With eq 2 as corrected there; no slip of its own.",
    witness=r"If all values are equal, the output is that value.",
    holds=lambda m, _, j: sp.exp(S[m, j]),
    control=lambda m, _, j: S[m, j],  # the denominator as eq 2 has it
)
def equal_values_come_back(term):
    v, weight = sp.Symbol("v"), _weight(term)
    return bool(weight.is_positive) and _sum_over_keys(weight * v) == v and _as_in_the_algebra(weight)


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
    def terms(x, p, M, y, r):
        return x * M * y + x * M * r + position_with_word * p * M * y + p * M * r

    x, p, M, y, r = sp.symbols("x p M y r", commutative=False)  # of any sizes
    head = additive_head.parabola_head(4)  # whole numbers: five coordinates of the word, then three of the position
    (q_word, q_place), (k_word, k_place) = (
        [sp.Matrix(head.embed(0, place).astype(int) * (np.arange(8) // 5 == part)) for part in (0, 1)]
        for place in (2, 3)
    )
    form = sp.Matrix((head.W_q.T @ head.W_k).astype(int))
    ours = terms(q_word.T, q_place.T, form, k_word, k_place)[0] == int(head.logits(m=2, kind=0)[3])
    return ours and sp.expand((x + p) * M * (y + r) - terms(x, p, M, y, r)) == 0


@claim(
    "crope.eq5",
    locus="2.1, eq 5",
    statement=r"With relative positions a common choice is $(x_m + \tilde p_{m-n})^\top W_q^\top W_k\, (x_n + \tilde "
    r"p_{m-n})$.",
    verdict="conditional",
    tier="minor",
    correction=r"The form is relative. We read “common choice” as an umbrella: a bias $b_{m-n}$ added to the "
    r"logit, say, is the case of two more coordinates in which words are zero.",
    witness=r"$\tilde p_r = (0, b_r, 1)$ and $W_q^\top W_k = \mathrm{diag}(M, N)$ with $N = \begin{pmatrix} 0 & 1\\ 0 "
    r"& 0\end{pmatrix}$: the logit is $x^\top M y + b_{m-n}$.",
    cases="words of two coordinates",
    holds=lambda: sp.Matrix([[0, 1], [0, 0]]),
    control=lambda: sp.eye(2),  # then the bias would be squared
)
def a_bias_is_a_special_case(block):
    M, b = sp.Matrix(2, 2, sp.symbols("M_0:4")), sp.Symbol("b")
    x, y = (sp.Matrix(sp.symbols(f"{name}_0:2")) for name in "xy")
    p = sp.Matrix([0, 0, b, 1])
    longer = [sp.Matrix.vstack(word, sp.zeros(2, 1)) + p for word in (x, y)]
    logit = longer[0].T * sp.diag(M, block()) * longer[1]
    maps = sp.diag(x, sp.eye(2)), sp.diag(M * y, block())  # of a head that knows one word

    def head(at):
        positions, W_q, W_k = (np.array(W.applyfunc(at), dtype=float) for W in (sp.Matrix([[b, 1]]), *maps))
        return additive_head.AdditiveHead(positions, W_q, W_k, kinds=1).logits(m=0, kind=0)[:, None]

    exact.tied(logit, head)
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
    cases="four sizes, and the blocks of two planes in symbols",
    holds=lambda D, _: D // 2,
    printed=lambda _, L: L,
    control=lambda D, _: D,  # one frequency for each coordinate
)
def as_many_planes_as_pairs(planes):
    # A word of D components must fit the matrix, whatever the length L of the text.
    half, length = sp.symbols("k L", integer=True, positive=True)
    sizes = [(2, 1), (4, 3), (8, 8), (128, 1024)]
    fits = all(rotation.rotation_matrix(1, theta=np.ones(planes(D, L))).shape == (D, D) for D, L in sizes)
    m, *theta = sp.symbols("m theta_1 theta_2", real=True)
    blocks = sp.diag(*(exact.rotation_2d(m * t) for t in theta))
    return fits and 2 * planes(2 * half, length) == 2 * half and exact.rotation_matrix(m, theta=theta) == blocks


@claim(
    "crope.eq7",
    locus="2.2, eq 7",
    statement=r"$x_m^\top W_q^\top \mathcal R_m^\top \mathcal R_n W_k\, x_n = x_m^\top W_q^\top \mathcal R_{m-n}^\top "
    r"W_k\, x_n$.",
    witness=r"$\mathcal R_{m-n}^\top = \mathcal R_{n-m}$: the law of chapter 4, written with the other offset.",
    cases="two planes",
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
    statement=r"The relative schemes that the paper names need parameters of their own for positions.",
    date="2026-11-21",
    tier="minor",
    witness=r"A learned bias for each offset is one number more for each offset and head.",
)
def extra_parameters():
    """Read: the sentence, and the schemes that it names, as eq 5 sums them up."""


@claim(
    "crope.remark.context",
    locus="abstract, 1, 2.3, end of 4.3, 6.1",
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
