"""The cover's widget: its frequencies are a library's, its strip sees the offset alone, its words say what is shown."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rope_lab.audit import conventions
from rope_lab.chapters.ch00_intro.tapestry import MODELS, Tapestry, frequencies_of

# What the audit read off transformers, for the settings that it asked for (rope_lab/audit/audits.py).
ASKED = {
    "Llama": {"base": 10000.0, "window": 2048},
    "Llama, linear scaling": {"base": 10000.0, "window": 2048, "scaling": "linear", "factor": 4.0},
    "Llama, YaRN": {"base": 10000.0, "window": 4096, "scaling": "yarn", "factor": 4.0, "low": 1.0, "high": 32.0},
    "Llama, Llama-3 scaling": {"base": 500000.0, "window": 8192, "scaling": "llama3", "factor": 8.0},
}


def miss(name, **changed):
    """By how much our frequencies miss the library's, relative."""
    (row,) = (row for row in conventions()["rows"] if row["name"] == name)
    ours = frequencies_of(**{"head_dim": 128, "rotary": 128, **ASKED[name], **changed})
    return np.abs(ours / np.abs(row["frequencies"]) - 1).max()


@pytest.mark.parametrize("name", ASKED)
def test_frequencies_are_those_of_the_library(name):
    assert miss(name) < 1e-4


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("Llama, YaRN", {"high": 30.0}),
        ("Llama, YaRN", {"window": 2048}),
        ("Llama, Llama-3 scaling", {"low": 1.1}),
        ("Llama, linear scaling", {"scaling": "ntk"}),
    ],
)
def test_control_other_settings_are_noticed(name, changed):
    assert miss(name, **changed) > 1e-2


@given(m=st.integers(0, 159), n=st.integers(0, 159), far=st.integers(0, 131072), model=st.sampled_from(sorted(MODELS)))
def test_the_strip_is_the_column_of_the_offset(m, n, far, model):
    seen, moved = (Tapestry.compute(Tapestry(m=m, n=n, shift=shift, model=model).state()) for shift in (0, far))
    assert seen == moved
    assert np.allclose(seen["strip"], np.cos((n - m) * np.array(seen["theta"])))
    assert seen["closed"] + seen["never"] == seen["turning"] <= seen["planes"]


def test_planes_that_stand_still_are_told_apart_from_slow_ones():
    values = Tapestry.compute(Tapestry(model="GPT-NeoX 20B").state())
    assert (values["planes"], values["turning"]) == (48, 12)
    assert values["theta"][12:] == [0.0] * 36
    assert values["never"] == sum(2048 * theta < 2 * np.pi for theta in values["theta"][:12])
    assert "48" in Tapestry(model="GPT-NeoX 20B").fallback()
