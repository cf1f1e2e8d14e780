"""The proof stepper, where each mistake breaks a line of its own; and the finite widths, which are counted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rope_lab.chapters.ch04_relative_identity import figures_newer_encodings as newer_encodings
from rope_lab.chapters.ch04_relative_identity.key_order import resting_limit
from rope_lab.chapters.ch04_relative_identity.proof_stepper import VARIANTS, ProofStepper
from rope_lab.show.figures import finite_widths

LINE = {"proof": -1, "transpose": 1, "sign": 2, "layouts": 3, "square": 4}
positions = st.integers(-8, 8)


@given(m=positions, n=positions, theta=st.floats(0.0, 1.5))
def test_the_proof_holds_for_every_state(m, n, theta):
    found = ProofStepper.compute({"line": 0, "variant": "proof", "m": m, "n": n, "theta": theta})
    assert found["breaks"] == -1


@pytest.mark.parametrize("variant", VARIANTS)
@given(m=st.integers(1, 8), step=st.integers(1, 4), theta=st.floats(0.2, 0.35))
def test_each_mistake_breaks_its_own_line(variant, m, step, theta):
    found = ProofStepper.compute({"line": 0, "variant": variant, "m": m, "n": m + step, "theta": theta})
    assert found["breaks"] == LINE[variant]


def test_a_query_at_zero_hides_the_missing_transpose():
    assert ProofStepper.compute(ProofStepper(variant="transpose", m=0).state())["breaks"] == -1


def test_the_widths_in_words_are_those_that_are_counted(monkeypatch):
    said = finite_widths().desc
    for words in ("a decay 1;", "a plane of RoPE 2;", "ALiBi's bias 2;", "also shears 4;", "three planes 6."):
        assert words in said
    assert "log(1 + r), 12" in said
    monkeypatch.setattr(newer_encodings, "hankel_rank", len)
    assert "a plane of RoPE 23;" in finite_widths().desc


def test_a_share_is_no_percentage():
    with pytest.raises(ValueError, match="planes at rest over all planes"):
        resting_limit(25)
