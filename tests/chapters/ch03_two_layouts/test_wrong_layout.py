"""The two heads of the wrong layout: equal at offset 0, quiet about positions, and mended by a permutation of rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rope_lab.algebra.rotation import frequencies, logits
from rope_lab.chapters.ch03_two_layouts.wrong_layout import PAIRS, REACH, WrongLayout

starts, words = st.integers(0, 64), st.integers(1, len(PAIRS))


def at(**state):
    return WrongLayout.compute(WrongLayout(**state).state())


@given(start=starts, words=words)
def test_both_heads_agree_at_offset_zero(start, words):
    found = at(offset=0, start=start, words=words)
    assert found["trained"] == pytest.approx(found["run"], abs=1e-12)


@pytest.mark.parametrize("words", range(1, len(PAIRS) + 1))
def test_elsewhere_they_differ(words):
    found = at(offset=16, words=words)
    assert abs(found["trained"] - found["run"]) > 0.1


@pytest.mark.deep
@given(offset=st.integers(0, REACH), start=starts, words=words)
def test_neither_head_sees_where_the_words_stand(offset, start, words):
    here, there = at(offset=offset, words=words), at(offset=offset, words=words, start=start)
    for head in ("trained", "run"):
        assert there[head] == pytest.approx(here[head], abs=1e-12)
        assert there[head] == pytest.approx(there["curves"][head][offset], abs=1e-12)


@given(offset=st.integers(0, REACH), start=starts, words=words)
def test_permuted_rows_mend_it(offset, start, words):
    found = at(offset=offset, start=start, words=words, weights="permuted")
    assert np.allclose(found["hands"]["trained"], found["hands"]["run"], rtol=0, atol=1e-12)
    assert found["names"]["trained"] == found["names"]["run"]
    assert max(found["mean"]) == 0


def test_the_mean_error_is_that_of_random_words():
    q, k = np.random.default_rng(0).normal(size=(2, 20_000, 1, 8))
    at_16 = {"q_positions": [0.0], "k_positions": [16.0], "theta": frequencies(8)}
    right, wrong = (logits(q, k, **at_16, layout=layout) for layout in ("interleaved", "half"))
    seen = np.sqrt(np.mean((wrong - right) ** 2) / np.mean(right**2))
    assert seen == pytest.approx(at()["mean"][16], rel=0.03)
    assert seen != pytest.approx(at()["mean"][1], rel=0.03)
