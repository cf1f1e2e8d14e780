"""The playground of chapter 17: its answers are the algebra's, and its fingerprint agrees with the instrument's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rope_lab.algebra.rotation import frequencies, rotate
from rope_lab.audit import fingerprint
from rope_lab.chapters.ch17_which_rope.fingerprint_playground import FAULTS, LAWS, PAIRINGS, FingerprintPlayground

kinds = st.fixed_dictionaries(
    {
        "pairing": st.sampled_from(PAIRINGS),
        "direction": st.sampled_from(["counter", "clock"]),
        "turning": st.sampled_from(["2", "4", "6", "8"]),
        "log_base": st.integers(5, 50).map(lambda tenths: tenths / 10),
        "n": st.integers(0, 12),
    }
)


def compute(**changes):
    return FingerprintPlayground.compute(FingerprintPlayground(**changes).state())


def reference(kind):
    r, way = int(kind["turning"]), 1 if kind["direction"] == "counter" else -1
    theta = way * frequencies(r, base=10.0 ** kind["log_base"])

    def f(x, positions):
        turned = rotate(x[..., :r], positions, theta=theta, layout=kind["pairing"])
        return np.concatenate([turned, x[..., r:]], axis=-1)

    return f


@given(kinds)
def test_the_answers_are_the_algebra(kind):
    wanted = reference(kind)(np.eye(8), np.full(8, float(kind["n"])))
    np.testing.assert_allclose(compute(**kind)["answers"], wanted, atol=1e-12)


@given(kinds)
def test_a_sound_embedding_is_recovered(kind):
    found = compute(**kind)["found"]
    assert found["pairing"] == ("either" if kind["turning"] == "2" else kind["pairing"])
    assert found["direction"] == (1 if kind["direction"] == "counter" else -1)
    assert 2 * len(found["pairs"]) == int(kind["turning"])
    if kind["turning"] != "2":
        assert found["base"] == pytest.approx(10 ** kind["log_base"])
    assert all(found["laws"].values())


@pytest.mark.parametrize("pairing", PAIRINGS)
@pytest.mark.parametrize("direction", ["counter", "clock"])
def test_the_instrument_says_the_same(pairing, direction):
    kind = {"pairing": pairing, "direction": direction, "turning": "6", "log_base": 3.0}
    seen, found = fingerprint(reference(kind), head_dim=8), compute(**kind)["found"]
    assert seen.pairs == tuple(map(tuple, found["pairs"]))
    assert seen.layout.removesuffix("-split") == found["pairing"]
    assert seen.direction == found["direction"]
    assert seen.base == pytest.approx(found["base"])


BROKEN = {
    "nothing": {"turns"},
    "tables": {"lengths", "steps", "offset"},
    "signs": {"lengths", "steps", "offset"},
    "leak": {"lengths", "offset"},
    "rounded": {"steps", "offset"},
    "from_one": {"zero", "steps"},
}


@pytest.mark.parametrize("fault", FAULTS[1:])
@pytest.mark.parametrize("pairing", PAIRINGS)
def test_each_fault_breaks_its_laws(fault, pairing):
    held = compute(fault=fault, pairing=pairing)["found"]["laws"]
    assert {name for name in LAWS if not held[name]} == BROKEN[fault]
