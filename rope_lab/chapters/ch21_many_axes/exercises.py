"""Chapter 21: places with several coordinates, norms around the turn, and layers that do not turn."""

import numpy as np
from hypothesis import strategies as st

from rope_lab.algebra.many_axes import interleaved_frequencies, largest_turns, section_frequencies
from rope_lab.exercises.core import Question, Task


def _how_far_the_width():
    far = largest_turns(section_frequencies([16, 24, 24], base=1e6), steps=64)[2]
    return [far > 20, 1 < far < 20, 0.1 < far < 1, far < 0.1]


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


def _wavelength():
    return float(2 * np.pi / interleaved_frequencies([24, 20, 20], base=5e6)[2, 2])


def plane_turns(place, table):
    return [float(np.dot(place, row)) for row in table]


@st.composite
def _places(draw):
    axes, planes = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    row = st.lists(st.floats(-2, 2), min_size=axes, max_size=axes)
    place = st.lists(st.integers(-9, 9).map(float), min_size=axes, max_size=axes)
    return draw(place), draw(st.lists(row, min_size=planes, max_size=planes))


EXERCISES = (
    Question(
        id="ch21.predict-width",
        kind="prediction",
        prompt=r"A model has 64 planes, from one list with base $10^6$. The first 16 turn with time, the next 24 with "
        r"the height, the last 24 with the width. A frame of the video is 64 patches wide. By how much does the "
        r"fastest plane of the width turn from the left edge to the right one?",
        choices=("many whole turns", "about a turn", "about a tenth of a turn", "almost not at all"),
        answer="D",
        truth=_how_far_the_width,
        why=r"The width has the last 24 planes of the list, and they are its slowest: plane 40 turns by $10^{-3.75}$ "
        r"radians for each patch. Across 64 patches that is a hundredth of a radian.",
        feedback={
            "A": r"So far turns the fastest plane of time. Which planes are left for the width?",
            "B": r"That is nearer to the height, whose fastest plane is plane 16.",
            "C": r"Compute $10^{6 \cdot (-40/64)}$, and take it times 64.",
        },
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
        id="ch21.wavelength",
        prompt=r"Interleaved M-RoPE with sections $[24, 20, 20]$ and base $5 \cdot 10^6$. How many patches make a full "
        r"turn of the fastest plane of the width?",
        answer=10.18,
        tolerance=0.06,
        unit="patches",
        truth=_wavelength,
        hint=r"It is plane 2 of 64: $\theta_2 = \mathrm{base}^{-2/64}$.",
        why=r"$2\pi / \theta_2 = 2\pi \cdot (5\cdot 10^6)^{1/32} = 10.2$.",
        feedback={
            "6.28": r"This is plane 0, which turns with time.",
            "8": r"This is plane 1, which turns with the height.",
        },
    ),
    Task(
        id="ch21.plane-turns",
        statement=r"Write `plane_turns(place, table)`. `place` is a list of coordinates, and `table` has a row for "
        r"each plane with one frequency for each coordinate. Return the list of angles by which the planes turn.",
        solution=plane_turns,
        examples=_places(),
        mistakes={
            "the first coordinate for all planes": lambda place, table: [place[0] * sum(row) for row in table],
            "a distance in place of a sum": lambda place, table: [
                float(np.linalg.norm(np.multiply(place, row))) for row in table
            ],
            "coordinates exchanged": lambda place, table: plane_turns(place[::-1], table),
        },
        hint=r"Each angle is the product of two vectors: $p \cdot \theta_i$.",
        why=r"All schemes of the chapter are this function with another table.",
    ),
)
