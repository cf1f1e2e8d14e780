"""Chapter 21: norms around the turn, and layers that do not turn."""

import numpy as np

from rope_lab.exercises.core import Question


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


EXERCISES = (
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
)
