"""What part 19 says about a rotation on values: what it breaks, what repairs it, and where the repair has to stand."""

import numpy as np
import sympy as sp

from rope_lab.algebra import placements, rotation, symbolic
from rope_lab.claims import exact
from rope_lab.claims.ledger import claim

m, n, p, s = sp.symbols("m n p s", real=True)
a, b = sp.symbols("a b", real=True)  # two weights of one row: numbers, or functions of the offset
theta = sp.symbols("theta_0 theta_1", real=True)
u, v, w = (sp.Matrix(sp.symbols(f"{name}_1:5", real=True)) for name in "uvw")


def R(position):
    return exact.rotation_matrix(position, theta=theta)


def _tokens(rng, T=6, heads=()):
    """Contents of a head of three planes, and where its tokens stand."""
    x = rng.normal(size=(3, *heads, T, 6))
    return x, {"q_positions": np.arange(T), "k_positions": np.arange(T), "theta": rotation.frequencies(6, base=50.0)}


@claim(
    "su19.v-absolute",
    locus="New Usage, eq for V only",
    statement=r"Rotate the values alone, $\sum_n a_{mn}\,\mathcal R_n v_n$, and the output depends on absolute "
    r"positions.",
    correction=r"Sharper: if the weights are relative, a shift by $s$ turns every output by $\mathcal R_s$ and does "
    r"nothing else. Only the frame is absolute; the length of the output in each plane stays.",
    witness=r"One token, a quarter turn per position, $v = (1, 0)$: the output is $([[1, 0]])$ at position 0 and "
    r"$([[0, 1]])$ at position 1.",
    computed=lambda: tuple(rotation.rotate([1, 0], n, theta=[np.pi / 2]).tolist() for n in (0, 1)),
    cases="two planes and two tokens, all numbers symbols",
    holds=lambda shift, y: R(shift) * y,
    control=lambda shift, y: R(shift).T * y,  # the frame turned the wrong way
)
def values_alone_turn_the_frame(moved):
    def y(shift):
        return a * R(n + shift) * v + b * R(p + shift) * w

    return symbolic.same(y(s), moved(s, y(0))) and not symbolic.same(y(s), y(0))


@claim(
    "su19.vo-relative",
    locus="New Usage, equation of VO-RoPE",
    statement=r"Turn the mixture back by the query's position: $\mathcal R_m^\top \sum_n a_{mn}\,\mathcal R_n v_n = "
    r"\sum_n a_{mn}\,\mathcal R_{n-m}\, v_n$. The encoding is relative again.",
    correction=r"A remark: the identity holds for any weights; the layer is relative provided the weights $a_{mn}$ "
    r"are. In the article they are, plain or by QK-RoPE.",
    witness=r"Two tokens, a quarter turn per position: at $m = 1$ the earlier value arrives as $R_{-1} v_0$, turned by "
    r"a quarter the other way.",
    cases="two planes and two tokens, all numbers symbols",
    holds=lambda mixed: R(m).T * mixed,
    control=lambda mixed: R(m) * mixed,  # turned on instead of back
)
def the_output_turns_back(back):
    mixed = a * R(n) * v + b * R(p) * w
    return symbolic.same(back(mixed), a * R(n - m) * v + b * R(p - m) * w)


@claim(
    "su19.vo-two-absolute",
    locus="New Usage, end",
    statement=r"VO-RoPE has the form of QK-RoPE: two absolute rotations that leave a relative one.",
    tier="minor",
    correction=r"Precisely: whatever direction $u$ reads the output, $u^\top \mathcal R_m^\top \mathcal R_n v = "
    r"(\mathcal R_m u)^\top (\mathcal R_n v)$. The reader plays the query's part, the value that of the key.",
    witness=r"$u = v$ at offset 0: both sides are $|v|^2$.",
    cases="two planes, all numbers symbols",
    holds=lambda u: R(m) * u,
    control=lambda u: R(m).T * u,
)
def a_reader_is_a_query(turned):
    read = (u.T * (R(m).T * R(n) * v))[0]
    return symbolic.same(read, (turned(u).T * R(n) * v)[0]) and symbolic.same(read, (u.T * R(n - m) * v)[0])


@claim(
    "su19.o-rope-def",
    locus="New Usage, and the list of experiments",
    statement=r"“Rotate the output”: where, and with which sign?",
    verdict="ambiguous",
    correction=r"The formula of VO-RoPE fixes it: $\mathcal R_m^\top$ on the output of each head, so before $W_o$. "
    r"What is not said is the sign in the run that rotates the output alone. There it does not matter: the two signs "
    r"give the same set of functions (claim book.o-sign).",
    witness=r"$\mathcal R_m$ in place of $\mathcal R_m^\top$ leaves $\mathcal R_{m+n}$: with a quarter turn per "
    r"position and $m = n$, the value $(1, 0)$ arrives as $([[1, 0]])$ at 0 and as $([[-1, 0]])$ at 1.",
    computed=lambda: tuple(
        rotation.rotate(rotation.rotate([1, 0], n, theta=[np.pi / 2]), n, theta=[np.pi / 2]).tolist() for n in (0, 1)
    ),
    tolerance=1e-11,
    holds=-1,
    control=+1,
)
def the_sign_that_undoes(sign, rng):
    (q, k, v), here = _tokens(rng)
    at = {name: here[name] for name in ("q_positions", "k_positions")}

    def y(shift):
        moved = {name: positions + shift for name, positions in at.items()}
        mixed = placements.attention(q, k, v, **(here | moved), rotated="qkv")
        return rotation.rotate(mixed, sign * moved["q_positions"], theta=here["theta"])

    whole = np.abs(y(0) - placements.attention(q, k, v, **here, rotated="qkvo")).max()
    return max(whole, *(np.abs(y(shift) - y(0)).max() for shift in (1, 7, -20)))


NINE = ("qk", "qkvo", "k", "vo", "qkv", "", "o", "q", "v")  # the placements of the article's table


@claim(
    "su19.abs-list",
    locus="Simple Experiments, note under the list",
    statement=r"Of the nine placements in the list, those that rotate exactly one of Q, K, V, O, and QKV, are absolute "
    r"encodings.",
    correction=r"Of all sixteen subsets four are relative (claim book.four-of-sixteen): none, QK, VO and QKVO. The "
    r"English text points to “points 4 and 5” of a list that has lost its numbers.",
    witness=r"K alone, two tokens, a quarter turn per position: the two logits of $q = k_0 = k_1 = (1, 0)$ are "
    r"$([[1, 0]])$ at positions 0 and 1, and $([[0, -1]])$ at 1 and 2.",
    computed=lambda: tuple(
        rotation.rotate([[1, 0], [1, 0]], [n, n + 1], theta=[np.pi / 2])[:, 0].tolist() for n in (0, 1)
    ),
    tolerance=1e-11,
    holds=("q", "k", "v", "o", "qkv"),
    control=("q", "v", "o", "qkv"),  # keys alone taken for relative
)
def which_of_nine_see_a_shift(absolute, rng):
    (q, k, v), here = _tokens(rng)
    change = {(x, s): placements.moved(q, k, v, shift=s, rotated=x, **here)[1] for x in NINE for s in (1, 7, -20)}
    too_still = [x for x, s in change if x in absolute and change[x, s] < 0.01]
    return max(float(bool(too_still)), *(change[x, s] for x, s in change if x not in absolute))


@claim(
    "su19.zh-double-negative",
    locus="Chinese text, Some Thoughts, first sentence",
    statement=r"Adding VO to QK “is not without gain”.",
    verdict="false",
    tier="minor",
    slip=True,
    correction=r"Read “brings no gain”. In the copy that we read one negation too many stands there; the article's own "
    r"table and the English text have what is meant.",
    witness=r"The table: QKVO 2.719, QK 2.712.",
    date="2026-11-21",
)
def double_negative():
    """Read in the Chinese text."""


@claim(
    "su19.zh-roper",
    locus="Chinese text, addendum",
    statement=r"The rotation of all four had been tried before, under the name RoPER, with some positive results.",
    verdict="empirical",
    tier="minor",
    correction=r"The public implementation of RoPER turns queries and keys as usual, values forward and the heads' "
    r"outputs back, by default in half of the dimensions, and reports a gain over RoPE on the addition of numbers. "
    r"That is another task than the article's, and in a language model its authors report it to be no worse than RoPE. "
    r"So the two results do not contradict each other.",
    witness=r"The module value_pe of the annotated implementations by labml.ai, and the page on RoPER by its authors.",
    date="2026-11-21",
)
def roper():
    """Read in the code and text of the implementation."""


@claim(
    "su19.zh-poyo",
    locus="Chinese text, addendum",
    statement=r"A rotation of values and outputs was used, with positive results, to decode the activity of neurons "
    r"(arXiv 2310.16046).",
    verdict="empirical",
    tier="minor",
    correction=r"In the code that its authors published since, the option turns values by the keys' times and outputs "
    r"back by the queries' times, and it comes on top of turning queries and keys: QKVO, with times that are real "
    r"numbers.",
    witness=r"The option rotate_value in the module rotary_attention of torch_brain.",
    date="2026-11-21",
)
def poyo():
    """Read in the published code."""


@claim(
    "su19.en-zh-diff",
    locus="both texts",
    statement=r"The English text is a translation of the Chinese one.",
    verdict="conditional",
    tier="minor",
    correction=r"True of the formulas and of the nine losses, which agree. Copies differ in the rest: the English one "
    r"that we read has no addendum, has lost the numbers of a list, and softens “not compatible” to “not fully "
    r"compatible”.",
    witness=r"All formulas and the table, compared one by one.",
    date="2026-11-21",
)
def two_languages():
    """Read side by side."""
