"""What chapter 21's widget shows: the logit that stays, and the formula of the one that moves."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rope_lab.chapters.ch21_norms_and_layers.norm_around_turn import THETA, NormAroundTurn
from rope_lab.exercises import exercise
from tests.show.drawn import random_state


def logits(**changes):
    return np.array(NormAroundTurn.compute(NormAroundTurn().state() | changes)["logits"])


@given(seed=st.integers(0, 2**32 - 1))
def test_the_logit_stays_before_the_turn_and_with_equal_gains(seed):
    drawn = random_state(NormAroundTurn, np.random.default_rng(seed))
    assert np.ptp(logits(**drawn | {"place": "before"})) < 1e-12
    assert np.ptp(logits(**drawn | {"place": "after", "second": drawn["first"]})) < 1e-12


@given(offset=st.integers(-12, 0), gains=st.tuples(*[st.floats(0.4, 2)] * 2))
def test_after_the_turn_it_is_the_formula_of_the_page(offset, gains):
    a, b = gains
    n = np.arange(41)
    alike = {"query": [1.0, 0.0], "key": [1.0, 0.0]}  # an RMS norm makes them √2 long: the constant is 2
    formula = (a + b) / 2 * np.cos(offset * THETA) + (a - b) / 2 * np.cos((2 * n - offset) * THETA)
    np.testing.assert_allclose(
        logits(place="after", first=a, second=b, offset=offset, content=alike), 2 * formula, atol=1e-12
    )


def test_the_opener_shows_what_its_prediction_asks():
    """It stands after the turn, and the logit goes up and down: the third choice."""
    steps = np.sign(np.diff(logits()))
    assert {-1.0, 1.0} <= set(steps)
    assert exercise("ch21.predict-norm").answer == "C"
