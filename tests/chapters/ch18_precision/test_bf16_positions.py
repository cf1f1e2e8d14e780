"""Chapter 18's widget and figures, against torch and against the algebra."""

import re

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rope_lab.algebra.half_precision import Rounding, round_to, turn_errors
from rope_lab.algebra.rotation import frequencies
from rope_lab.chapters.ch18_precision.bf16_positions import BASE, HEAD_DIM, BfPositions
from rope_lab.chapters.ch18_precision.figures import LINES, errors, ruler
from tests.show.drawn import random_state

TORCH = {"bfloat16": torch.bfloat16, "float16": torch.float16, "float32": torch.float32}


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_bench_is_torch(seed):
    drawn = random_state(BfPositions, np.random.default_rng(seed))
    found, cast = BfPositions.compute(drawn), torch.tensor(drawn["n"]).to(TORCH[drawn["dtype"]])
    assert found["rounded"] == (float(cast) if torch.isfinite(cast) else None)
    if drawn["dtype"] != "float32":
        assert found["bits"] == format(int(cast.view(torch.int16)) & 0xFFFF, "016b")


def test_the_ruler_counts_what_it_draws():
    first, last, left = (int(x) for x in re.search(r"tokens (\d+) to (\d+) .* (\d+) places", ruler().desc).groups())
    assert left == len(np.unique(round_to(np.arange(first, last + 1), dtype="bfloat16")))
    further = (int(x) for x in re.search(r"on (\d+) numbers, and around 1024 on (\d+)", ruler().desc).groups())
    for middle, many in zip((512, 1024), further, strict=True):
        tokens = np.arange(first, last + 1) + middle - 256
        assert many == len(np.unique(round_to(tokens, dtype="bfloat16"))) < left
    assert left < last - first + 1  # control: it would say nothing where no two collide


@pytest.mark.parametrize(("first", "last"), [(300, 310), (272, 244), (244, 256)])
def test_a_ruler_without_the_place_it_is_about_is_refused(first, last):
    with pytest.raises(ValueError, match=f"expected first <= 256 < last, got {first} and {last}"):
        ruler(first=first, last=last)


def test_the_curves_of_the_figure():
    found = {name: values for name, _, values in errors()}
    assert set(found) == {name for name, _, _, _ in LINES}
    assert np.nanmax(found["positions in bfloat16"]) > 1.9
    table = found["cos and sin in bfloat16"]
    assert table.max() < np.sqrt(2) * 2.0**-9
    assert found["angles in float32"][-1] > table[-1]  # at the long end, the careful one errs more
    assert found["angles in float32"][0] < table[0] / 100


def test_the_prices_that_the_page_names():
    theta, end = frequencies(HEAD_DIM, base=BASE), np.linspace(2**16, 2**17 - 1, 999).round()

    def worst(**where):
        return turn_errors(end, theta=theta, rounding=Rounding(**where)).max()

    assert 0.0025 < worst(table="bfloat16") < np.sqrt(2) * 2.0**-9 < 0.0028
    assert 0.0055 < worst(theta="float32", angle="float32") < 0.0065
    assert worst(theta="float32", angle="float32", table="bfloat16") < 0.01
    assert min(worst(position="bfloat16"), worst(angle="bfloat16")) > 1.9
    assert 2.0**-8 < 0.0039 + 1e-5  # what storing a vector in bfloat16 costs each entry
    assert np.sqrt(2) * 2.0**-25 < 4.3e-8
