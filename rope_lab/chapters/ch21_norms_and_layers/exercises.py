"""Chapter 21: norms around the turn, and layers that do not turn."""

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from rope_lab.algebra.half_precision import round_to
from rope_lab.algebra.rotation import rotate
from rope_lab.exercises.core import Question, Task


def _who_sees_the_order():
    """Causal attention without positions: the last word's output, with the earlier words in another order."""
    rng = np.random.default_rng(4)
    words, order = rng.normal(size=(6, 4)), [3, 1, 4, 0, 2, 5]
    weights = rng.normal(size=(2, 3, 4, 4))

    def last(x, layers):
        for W_q, W_k, W_v in weights[:layers]:
            shares = np.tril(np.exp(np.tanh(x @ W_q) @ np.tanh(x @ W_k).T))
            x = x + shares / shares.sum(axis=1, keepdims=True) @ (x @ W_v)
        return x[-1]

    one, two = (not np.allclose(last(words, layers), last(words[order], layers)) for layers in (1, 2))
    return [not one and not two, one and two, not one and two, one and not two]


def _logits(g_q, g_k, places=(0, 1, 5)) -> list[float]:
    """A logit of two planes that turn, at one offset and several places, with norms and gains after the turn."""
    q, k = np.array([0.8, 0.5, -0.3, 0.9]), np.array([0.9, -0.4, 0.7, 0.2])

    def normed(x, gains, n):
        turned = rotate(x, n, theta=[1.0, 0.3])
        return gains * turned / np.sqrt(np.mean(turned**2))

    return [float(normed(q, g_q, n + 3) @ normed(k, g_k, n)) for n in places]


def _which_gains_stay() -> list[bool]:
    offered = (([2, 3, 2, 3], [1, 1, 1, 1]), ([2, 2, 3, 3], [1, 1, 1, 1]), ([2, 3, 4, 5], [1 / 2, 1 / 3, 1 / 2, 2 / 5]))
    stay = [bool(np.ptp(_logits(np.array(g_q), np.array(g_k))) < 1e-9) for g_q, g_k in offered]
    return [stay == wish for wish in ([True, False, False], [False, True, False], [False, True, True], [False] * 3)]


def stays_relative(g_q, g_k, theta):
    for i, angle in enumerate(theta):
        turns = not np.isclose(np.sin(angle), 0)
        first, second = np.multiply(g_q, g_k)[2 * i : 2 * i + 2]
        if turns and not np.isclose(first, second):
            return False
    return True


_gains = st.sampled_from([-1.0, 0.5, 1.0, 2.0])


@st.composite
def _gains_around_a_turn(draw):
    """Gains of some planes: equal products in most, and angles among which some do not turn."""
    g_q, g_k, theta = [], [], []
    for _ in range(draw(st.integers(1, 3))):
        a, b, product = draw(_gains), draw(_gains), draw(_gains)
        g_q += [a, b]
        g_k += [product / a, draw(st.sampled_from([product, product, 2 * product, -product])) / b]
        theta.append(draw(st.sampled_from([1.0, 0.01, 2.5, 0.0, np.pi, 2 * np.pi])))
    return g_q, g_k, theta


def _what_the_logit_does() -> list[bool]:
    """One plane with the gains 1.6 and 0.8 after the turn: the logit while both words move along."""
    at = np.arange(200)
    query, key = (rotate(np.tile(x, (200, 1)), at + by, theta=[0.2]) for x, by in (([0.8, 0.5], 3), ([0.9, -0.4], 0)))
    logits = np.sum(query * key * [1.6, 0.8], axis=1)
    steps = np.diff(logits)
    stays, falls, rises = np.ptp(logits) < 1e-9, (steps < 0).all(), (steps > 0).all()
    return [bool(stays), bool(falls), not (stays or falls or rises), bool(rises)]


EXERCISES = (
    Question(
        id="ch21.predict-norm",
        kind="prediction",
        prompt=r"One plane. The key is turned by its position, then normalised, then multiplied by two gains: its "
        r"first component by $1.6$, its second by $0.8$. Query and key move along the text together, so their distance "
        r"stays. What does the logit do?",
        choices=("It stays.", "It falls with each step.", "It swings up and down.", "It rises with each step."),
        answer="C",
        truth=_what_the_logit_does,
        feedback={
            "A": r"A turn keeps the length of the key. Do the gains keep it, wherever the key points?",
            "B": r"After a whole turn of the plane everything is where it was.",
            "D": r"A turn comes back. Where is the key after one whole turn of the plane?",
        },
        why=r"The gains stretch the circle on which the key turns to an ellipse. Where the key stands on it depends on "
        r"the position, so the logit does too.",
    ),
    Question(
        id="ch21.predict-order",
        kind="prediction",
        prompt=r"Layers of attention without any positions, with a causal mask. Exchange the earlier words of a text. "
        r"Which of them give the last word another output?",
        choices=("neither one layer nor two", "one layer and two", "two layers, but not one", "one layer, but not two"),
        answer="C",
        truth=_who_sees_the_order,
        why=r"One layer adds up over the earlier words, and a sum has no order. But in its output each word has read "
        r"what stood before *it*. The second layer reads that.",
        feedback={
            "A": r"The mask lets a word read those before it. What has the second word read, and the fifth?",
            "B": r"In one layer the last word adds up over all words before it. Has a sum an order?",
            "D": r"What one layer makes, a second one reads.",
        },
    ),
    Question(
        id="ch21.gains",
        prompt=r"A norm stands *after* the turn, with gains $g^q$ for queries and $g^k$ for keys. The planes are "
        r"neighbours, (0, 1) and (2, 3), and both turn. (i) $g^q = (2, 3, 2, 3)$, $g^k = (1, 1, 1, 1)$. "
        r"(ii) $g^q = (2, 2, 3, 3)$, $g^k = (1, 1, 1, 1)$. (iii) $g^q = (2, 3, 4, 5)$, "
        r"$g^k = (\tfrac12, \tfrac13, \tfrac12, \tfrac25)$. Which of them keep every logit relative?",
        choices=("(i) alone", "(ii) alone", "(ii) and (iii)", "none of them"),
        answer="C",
        truth=_which_gains_stay,
        feedback={
            "A": r"(i) repeats with the right period for the half-split layout. Which coordinates make a plane here?",
            "B": r"Only the products $g^q g^k$ count. What are they in (iii)?",
            "D": r"In (ii) both coordinates of each plane are stretched alike. Does a circle become an ellipse?",
        },
        hint=r"Multiply the gains of query and key, and compare within each plane.",
        why=r"The products are $(2, 3 \mid 2, 3)$, $(2, 2 \mid 3, 3)$ and $(1, 1 \mid 2, 2)$. In (ii) and (iii) they "
        r"agree within each plane.",
    ),
    Task(
        id="ch21.stays-relative",
        statement=r"""
        A norm stands after the turn. `g_q` and `g_k` are lists of the gains of query and key, neighbours make a plane,
        and plane $i$ turns by `theta[i]` radians for each position. Write `stays_relative(g_q, g_k, theta)`: `True` if
        all logits depend on the offset alone at whole positions, whatever the query and the key are, or else `False`.
        """,
        solution=stays_relative,
        examples=_gains_around_a_turn(),
        mistakes={
            r"the gains of the query alone": lambda g_q, g_k, theta: stays_relative(g_q, [1.0] * len(g_k), theta),
            r"planes that do not turn count, too": lambda g_q, g_k, theta: stays_relative(g_q, g_k, [1.0] * len(theta)),
            r"a half turn counts as a turn": lambda g_q, g_k, theta: stays_relative(
                g_q, g_k, [0.0 if angle % (2 * np.pi) == 0 else 1.0 for angle in theta]
            ),
            r"one plane is enough": lambda g_q, g_k, theta: any(
                stays_relative(g_q[2 * i : 2 * i + 2], g_k[2 * i : 2 * i + 2], [theta[i]]) for i in range(len(theta))
            ),
            r"the signs are forgotten": lambda g_q, g_k, theta: stays_relative(np.abs(g_q), np.abs(g_k), theta),
        },
        hint=r"The theorem on a norm after the turn has the condition. A turn by a multiple of $\pi$ "
        r"multiplies both coordinates by one sign.",
        why=r"Only the products of the gains count, and only in planes that turn.",
    ),
)


def looks_back(weights, by):
    return float(np.mean(np.diagonal(weights, -by)))


_shares = st.sampled_from([0.0, 0.25, 0.5, 1.0])
_attention = st.integers(2, 6).flatmap(
    lambda T: st.tuples(
        st.lists(_shares, min_size=T * T, max_size=T * T).map(lambda row: np.array(row).reshape(T, T)),
        st.integers(0, T - 1),
    )
)


def _costliest_layer() -> float:
    import torch

    from rope_lab.story import load_story, story_stream

    texts, losses = story_stream()[:512].view(4, 128), []
    for layer in range(5):
        model = load_story()
        attention: Any = model.blocks[layer].attention
        attention.config = replace(attention.config, rotated="")
        seen = model(texts[:, :-1]).flatten(0, 1)
        losses.append(float(torch.nn.functional.cross_entropy(seen, texts[:, 1:].flatten())))
    return float(np.argmax(losses))


def _clock_stops() -> float:
    shares = round_to(1 / np.arange(1, 400), dtype="bfloat16")
    return float(np.argmax(shares[1:] == shares[:-1]))


LAB = (
    Task(
        id="ch21.looks-back",
        statement=r"Write `looks_back(weights, by)`. `weights` is the square array of a head: row $m$ has the weights "
        r"that the query at $m$ gives to the keys. Return the mean weight of the key `by` places before the query, "
        r"over all queries that have such a key. `by` is a whole number, 0 or more, below the number of rows.",
        solution=looks_back,
        examples=_attention,
        mistakes={
            "looks ahead": lambda weights, by: looks_back(weights.T, by),
            "divided by all queries": lambda weights, by: float(np.trace(weights, -by)) / len(weights),
            "always one back": lambda weights, _by: looks_back(weights, 1),
        },
        hint=r"`np.diagonal(weights, -1)` is the stripe below the diagonal.",
    ),
    Question(
        id="ch21.which-layer",
        prompt=r"Take the rotation away from a single layer of the small model, counted from 0. In which one does the "
        r"loss rise most?",
        answer=1.0,
        tolerance=0.5,
        truth=_costliest_layer,
        hint=r"Try the five layers one by one in the cell above.",
        why=r"Its heads together look most at the token before, and without rotation they hardly find it.",
        feedback={"0": r"It comes second.", "3": r"It has the strongest stripe, but most of its heads look elsewhere."},
    ),
    Question(
        id="ch21.clock-stops",
        prompt=r"In bfloat16, which is the first place at which the share is the same as at the next place?",
        answer=189.0,
        tolerance=0.5,
        truth=_clock_stops,
        hint=r"Compare `shares[1:]` with `shares[:-1]`, after `round_to`.",
        why=r"Just below $1/128$ the numbers of bfloat16 are $2^{-15}$ apart. Two shares are about $1/n^2$ apart: "
        r"that is less from $n = 182$ on.",
        feedback={"190": r"Places begin at 0, with the share 1."},
    ),
)
