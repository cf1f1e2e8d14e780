"""The proof stepper: the proof holds for every state, and each mistake breaks a line of its own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rope_lab.chapters.ch04_relative_identity.proof_stepper import VARIANTS, ProofStepper

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
