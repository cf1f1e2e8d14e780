"""Chapter 12, What CRoPE removes: savings, dimensions, and the best pairing."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from rope_lab.algebra import budget, complex_forms, dimension_counts, widely_linear
from rope_lab.exercises.core import Question, Task


def _ways_that_are_left() -> list[bool]:
    left = dimension_counts.jacobian_rank(head_dim=2, width=2, complex_linear=True, offsets=range(3))
    return [left == said for said in (6, 4, 3, 2)]


def _saving_of_a_block() -> list[bool]:
    share = budget.saving(budget.ModelShape(width=128, heads=4, layers=1), "qkv", of="block")
    return [share == Fraction(said) for said in ("1/2", "3/8", "1/4", "1/8")]


def _what_brings_it_back() -> list[bool]:
    """Dimension of the forms at one offset, on a stream of width 4: what RoPE reaches, and what could be bought."""

    def forms(head_dim, complex_linear):
        return dimension_counts.jacobian_rank(head_dim=head_dim, width=4, complex_linear=complex_linear, offsets=[1])

    all_of_them = forms(4, False)
    halves = [widely_linear.split(E)[0].ravel() for E in np.eye(16).reshape(-1, 4, 4)]
    span = np.linalg.matrix_rank(np.array(halves))  # however many heads are added, the sum lies in here
    W, x = np.arange(16.0).reshape(4, 4), np.array([1.0, -2.0, 3.0, 0.5])
    wide = bool(np.allclose(complex_forms.widen(W) @ complex_forms.real_input(x), W @ x))
    return [forms(8, True) == all_of_them, bool(span == all_of_them), wide, False]


def _saving_with_shared_heads() -> float:
    return float(
        100 * budget.saving(budget.ModelShape(width=128, heads=4, kv_heads=1, layers=1), "qkv", of="attention")
    )


# --- the first task: twice the width ---


def widened(W):
    return W[0::2] + 1j * W[1::2]


def _matrix(planes, width, numbers):
    return np.resize(np.array(numbers, dtype=float), (2 * planes, width))


_numbers = st.lists(st.integers(-9, 9), min_size=7, max_size=23)
_matrices = st.builds(_matrix, st.integers(1, 3), st.integers(1, 5), _numbers)
_even = st.builds(_matrix, st.integers(1, 3), st.sampled_from([2, 4, 6]), _numbers)


# --- the second task: the best pairing's energy ---


def best_energy(W):
    J = np.kron(np.eye(len(W) // 2), [[0, -1], [1, 0]])
    A = W.T @ J @ W
    angles_twice = np.linalg.svd(A, compute_uv=False)
    return (W**2).sum() / 2 + angles_twice.sum() / 2


def _over_the_given_pairing(W):
    return widely_linear.energies(W)[0]


# --- in the lab: knobs that move nothing, phases to average over, a vocabulary ---


def silent(J):
    return len(J) - int(np.linalg.matrix_rank(J))


def _knobs(rows, rank, columns, numbers):
    """Integers of a small rank: a row for each knob."""
    left, right = np.resize(numbers, (rows, rank)), np.resize(numbers[::-1], (rank, columns))
    return (left @ right).astype(float)


_sizes = [st.integers(low, high) for low, high in ((2, 5), (1, 3), (2, 5))]


def _fewest_phases() -> float:
    form, turn = np.random.default_rng(0).normal(size=(4, 4)), widely_linear.times_i(4)

    def mean(count):
        turns = [np.cos(a) * np.eye(4) + np.sin(a) * turn for a in 2 * np.pi * np.arange(count) / count]
        return np.mean([T.T @ form @ T for T in turns], axis=0)

    return next(n for n in range(1, 20) if np.allclose(mean(n), complex_forms.phase_average(form)))


def _vocabulary_for_a_tenth() -> float:
    def saved(vocab):
        return budget.saving(budget.ModelShape(width=128, heads=4, layers=4, vocab=vocab), "qkv", of="model")

    return next(vocab for vocab in range(1, 10_000) if saved(vocab) <= Fraction(1, 10))


EXERCISES = (
    Question(
        id="ch12.predict-ways",
        kind="prediction",
        prompt=r"In the smallest head, a word, a query and a key have two coordinates each, so $W_q$ and $W_k$ have "
        r"four numbers each. Change these eight a little: the logits, at all offsets together, change in only six "
        r"independent ways, because some changes cancel. With complex weights $W_q$ is one complex number and $W_k$ "
        r"another, four real numbers in all. How many of the six ways are left?",
        choices=("All six.", "Four.", "Three.", "Two."),
        answer="D",
        truth=_ways_that_are_left,
        feedback={
            "A": r"Then the removed half would be redundant. But four numbers cannot change in six independent ways.",
            "B": r"There are four numbers, but not each change of them shows in a logit. Halve the query and double "
            r"the key.",
            "C": r"Half of the weights is gone, so half of six is a good guess. The same changes that real weights "
            r"hide from the logits are hidden here as well, and here they are a larger part.",
        },
        why=r"Of the eight real numbers two never show in a logit, because the factors of query and key cancel. Of the "
        r"four numbers of complex weights two never show either, and two of the six ways are left: a third.",
    ),
    Question(
        id="ch12.predict-block",
        kind="prediction",
        prompt=r"CRoPE makes $W_q$, $W_k$ and $W_v$ complex-linear: half of their numbers are gone. The output "
        r"projection keeps its $D^2$ weights, and the MLP its $8D^2$. What share of the block's parameters is saved?",
        choices=("A half.", "Three eighths.", "A quarter.", "An eighth."),
        answer="D",
        truth=_saving_of_a_block,
        feedback={
            "A": r"That is the share of $W_q$, $W_k$ and $W_v$ alone. The block has more weights than these.",
            "B": r"That is the share of attention with its output projection. The MLP is still missing.",
            "C": r"The MLP has two matrices, and each has four times as many weights as one projection.",
        },
        why=r"In units of $D^2$: $Q$, $K$, $V$ and $O$ have one each, the MLP has $2 \cdot 4 = 8$. Three halves out "
        r"of twelve are an eighth. Of attention it is three eighths, and of $Q$, $K$, $V$ alone a half.",
    ),
    Question(
        id="ch12.what-brings-it-back",
        prompt=r"Somebody has complex-linear projections and wants back every form that real ones can make. Which "
        r"purchase brings them?",
        choices=(
            r"Heads of twice the width.",
            r"Twice as many heads.",
            r"An embedding of twice the width, fed with $x + 0\mathrm i$.",
            r"An MLP of twice the width.",
        ),
        answer="C",
        truth=_what_brings_it_back,
        feedback={
            "A": r"A wider head is complex-linear as well, and blind to the same phase.",
            "B": r"Every one of these heads is blind to a common phase. So is their sum.",
            "D": r"The MLP comes after attention. It cannot change what a logit depends on.",
        },
        hint=r"Multiply all words by a common phase. Which of the four can notice?",
        why=r"Every complex-linear head, of any width, is blind to a common phase, and so is a sum of heads. An input "
        r"$x + 0\mathrm i$ has no phase left to be blind to. The MLP makes no logits.",
    ),
    Question(
        id="ch12.shared-heads",
        prompt=r"A model shares keys and values: it has a quarter as many key and value heads as query heads. "
        r"$W_q$, $W_k$ and $W_v$ become complex-linear. How many percent of attention, output projection included, are "
        r"saved?",
        answer=30.0,
        tolerance=0.1,
        unit="percent",
        truth=_saving_with_shared_heads,
        feedback={
            "37.5": r"That is the model without sharing. Here $W_k$ and $W_v$ are smaller from the start.",
            "50": r"That is the share of $W_q$, $W_k$ and $W_v$. Attention has the output projection too.",
            "18.75": r"You divided by attention without sharing. The whole has become smaller as well.",
            "0.3": r"The right share, and the field asks for percent.",
        },
        hint=r"In units of $D^2$: $Q$ and $O$ are $1$ each. What are $K$ and $V$ now?",
        why=r"$1 + \tfrac14 + \tfrac14 = \tfrac32$ of $\tfrac52$ can be halved: $\tfrac34 / \tfrac52 = 0.3$. Sharing "
        r"keys and values has already taken a part of what CRoPE would save.",
    ),
    Task(
        id="ch12.twice-the-width",
        statement=r"""
        Write `widened(W)`. `W` is a real matrix of shape $(d, D)$ in the interleaved layout. Return the complex
        matrix of shape $(d/2, D)$ which, applied to $x + 0\mathrm i$, gives the query $Wx$ in complex form.
        """,
        solution=widened,
        examples=st.tuples(_matrices),
        mistakes={
            r"the imaginary part has the wrong sign": lambda W: widened(W).conj(),
            r"the pairs are those of the half-split layout": lambda W: W[: len(W) // 2] + 1j * W[len(W) // 2 :],
            r"this is the nearest complex-linear map, halved": lambda W: widened(W) / 2,
        },
        hint=r"The query's first complex number is $(Wx)_0 + \mathrm i\,(Wx)_1$. Both are linear in the real $x$.",
        why=r"Two real rows are one complex row. The numbers are the same, $dD$ of them: the parameter count of RoPE.",
    ),
    Task(
        id="ch12.best-energy",
        statement=r"""
        Write `best_energy(W)`: the largest complex-linear energy that the real matrix `W` can have over all
        pairings of its input. `W` has an even number of rows and of columns.
        Its outputs are paired as usual, neighbour with neighbour.
        """,
        solution=best_energy,
        examples=st.tuples(_even),
        tolerance=1e-6,
        mistakes={
            r"every angle is counted twice": lambda W: 2 * best_energy(W) - (W**2).sum() / 2,
            r"this is the energy over the pairing as given, neighbour with neighbour": _over_the_given_pairing,
            r"$J_{\mathrm{out}}$ is missing in $A$": lambda W: (W**2).sum() / 2 + np.linalg.norm(W) ** 2 / 2,
            r"this is the least, not the largest": lambda W: (W**2).sum() - best_energy(W),
        },
        hint=r"$\tfrac12|W|^2$ plus the angles of $A = W^\top J_{\mathrm{out}} W$. The singular values of a skew "
        r"matrix are its angles, each twice.",
        why=r"The pairing that reaches it turns every plane of $A$ as $A$ does. It is `pairing.best_pairing(W)`.",
    ),
)

LAB = (
    Task(
        id="ch12.silent",
        statement=r"""
        Every row of the array `J` belongs to one knob of a machine and says how all outputs change if this knob is
        turned a little. Write `silent(J)`: in how many independent ways can one turn several knobs at once so that no
        output changes?
        """,
        solution=silent,
        examples=st.tuples(st.builds(_knobs, *_sizes, st.lists(st.integers(-9, 9), min_size=5, max_size=15))),
        mistakes={
            r"these are the ways that *do* change the outputs": np.linalg.matrix_rank,
            r"it counts outputs in the place of knobs": lambda J: silent(J.T),
            r"it counts only single knobs that move nothing": lambda J: int((~J.any(axis=1)).sum()),
        },
        hint=r"`np.linalg.matrix_rank` counts the independent rows. All other ways to turn the knobs are silent.",
        why=r"As many knobs as rows, less the independent changes: this is the dimension of the left null space.",
    ),
    Question(
        id="ch12.few-phases",
        prompt=r"The mean of a form is taken over $n$ phases, spread evenly over the whole turn. What is the smallest "
        r"$n$ for which it is blind to every common phase, whatever the form?",
        answer=3,
        tolerance=0.1,
        truth=_fewest_phases,
        feedback={
            "1": r"One phase is the form itself, and nothing has been averaged.",
            "2": r"The phases are $0$ and $\pi$, and half a turn of all words changes no form.",
            "4": r"Four are enough. Are fewer?",
        },
        hint=r"Put the slider on 1, 2, 3 and so on, and compare the two maps on the right.",
        why=r"What a complex head can't see goes with $e^{2\mathrm i\varphi}$. Its mean over $n$ even phases is zero "
        r"unless $n$ divides $2$.",
    ),
    Question(
        id="ch12.vocabulary",
        prompt=r"The paper's model has the width 128, 4 heads and 4 layers. With which vocabulary would complex-linear "
        r"$W_q$, $W_k$ and $W_v$ save a tenth of all its parameters?",
        answer=1536,
        tolerance=16,
        unit="entries",
        truth=_vocabulary_for_a_tenth,
        feedback={
            "7680": r"The embedding alone would then be ten times the saving. The blocks belong to the model, too.",
            "50257": r"That is the paper's own vocabulary. It leaves much less than a tenth.",
        },
        hint=r"The saving does not depend on the vocabulary. Ten times the saving is the whole model.",
        why=r"Each layer saves $\tfrac32 D^2$ of $12 D^2$. Four layers save $6 D^2$, a tenth of $60 D^2$. The blocks "
        r"have $48 D^2$, so the embedding has $12 D^2 = 12 \cdot 128 \cdot D$.",
    ),
)
