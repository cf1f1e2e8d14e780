"""The small model: what its lab asks."""

from functools import cache

import numpy as np
from hypothesis import strategies as st

from rope_lab.exercises.core import Question, Task


@cache
def _small():
    from rope_lab.story import load_story, story_stream  # torch: only when asked

    return load_story(), story_stream()[: 4 * 512].view(-1, 512)


def _losses(**knobs):
    from rope_lab.story import Knobs, losses

    model, windows = _small()
    return losses(model, windows, knobs=Knobs(**knobs)).numpy()


def _which_keeps_the_text():
    from rope_lab.story import Knobs, greedy

    faults = ({"base": 2e4}, {"stretch": 1.1}, {"round_angles": "bfloat16"}, {"frozen": (4,)})
    right, *wrong = (greedy(_small()[0], [1], n_tokens=40, knobs=Knobs(**knobs)) for knobs in ({}, *faults))
    return [text == right for text in wrong]


def _from_which_token():
    more = (_losses(frozen=(4,)) - _losses()).mean(0)
    return float(16 * np.argmax(more[:496].reshape(-1, 16).mean(1) > 0.5) + 1)


def _second_fault():
    second = ({"frozen": (1,)}, {"direction": -1}, {"base": 1000.0}, {"stretch": 0.1})
    more = [_losses(layout="half", **knobs).mean() for knobs in second]
    return [loss == min(more) and loss < _losses(layout="half").mean() for loss in more]


def perplexity(p):
    return float(np.exp(-np.mean(np.log(p))))


EXERCISES: tuple[Question | Task, ...] = ()

LAB = (
    Question(
        id="ch00.which-keeps-the-text",
        prompt=r"Four faults. Under which one does the model write the published text for longest?",
        choices=("base 20,000", "positions times 1.1", "angles in bfloat16", "plane 4 at rest"),
        answer="C",
        truth=_which_keeps_the_text,
        hint="Choose each one above, and raise the number of tokens until the line of equal tokens grows no more.",
        why="bfloat16 keeps eight binary digits of an angle. So the rounding is small where angles are small, at the "
        "beginning of a text. Further on it is not, and the loss of a full window knows that.",
    ),
    Task(
        id="ch00.perplexity",
        statement=r"Write `perplexity(p)`. `p` holds the probabilities that a model gave to the tokens that came, an "
        r"array of numbers above 0. The loss of a token is $-\ln p$. Return $e$ to the power of the mean loss.",
        solution=perplexity,
        examples=st.tuples(st.lists(st.floats(0.01, 1), min_size=1, max_size=4).map(np.array)),
        mistakes={
            "the mean of 1/p": lambda p: np.mean(1 / p),
            "one over the mean of p": lambda p: 1 / np.mean(p),
            "the sum of the losses, not their mean": lambda p: np.exp(-np.sum(np.log(p))),
            "the mean loss itself": lambda p: -np.mean(np.log(p)),
        },
        hint="`np.log`, then `np.mean`, then `np.exp`. There is one minus sign.",
        why="A model that guesses blindly among N tokens has the perplexity N.",
    ),
    Question(
        id="ch00.from-which-token",
        prompt="Plane 4 is at rest. From which token of the window on does that cost more than half a nat, in the mean "
        "of 16 tokens?",
        answer=369.0,
        tolerance=25.0,
        unit="tokens",
        truth=_from_which_token,
        hint="Set `altered = Knobs(frozen=(4,))` and read the curve where it crosses 0.5. Make `width` 16.",
        why="Up to about there the model hardly misses plane 4. A test with short texts cannot show this fault.",
        feedback={
            "512": "There the window ends. Where does the curve pass one half?",
            "314": "There it begins to leave zero. Where is it above one half?",
        },
    ),
    Question(
        id="ch00.second-fault",
        prompt="The layout is `half`, which is wrong. Which second fault makes the model better than this one alone?",
        choices=("plane 1 at rest", "the other direction", "base 1,000", "positions times 0.1"),
        answer="D",
        truth=_second_fault,
        hint="`cost(Knobs(layout='half', frozen=(1,)))` is the first. Compare each with `cost(Knobs(layout='half'))`.",
        why="In the wrong layout every turn misleads, and small turns mislead less. No turn at all is better, too.",
    ),
)
