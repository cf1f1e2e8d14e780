"""What the widget of the patches says: turns depend on the offset alone, and sections hardly turn with the width."""

import numpy as np
import pytest

from rope_lab.chapters.ch07_many_axes.patch_grid import PatchGrid

SCHEMES = ["sections", "interleaved", "axial", "mixed"]


def told(**state):
    return PatchGrid.compute(PatchGrid(**state).state())


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_same_offset_gives_the_same_picture_wherever_both_patches_stand(scheme):
    here, there = told(scheme=scheme), told(scheme=scheme, start=57.0)
    for name in ("turns", "between", "width", "logit"):
        flat = [np.concatenate([np.ravel(x) for x in v[name]]) if name == "turns" else v[name] for v in (here, there)]
        np.testing.assert_allclose(*flat, atol=1e-11)
    assert here["own"] != there["own"]  # the hands of each patch alone did move
    assert not np.allclose(here["between"], told(scheme=scheme, column=5.0)["between"])


def test_how_far_the_axes_turn_across_64_patches():
    far = {scheme: told(scheme=scheme)["far"] for scheme in SCHEMES}
    assert far["sections"][2] == pytest.approx(2 * np.pi * 64 / 35333, rel=1e-4)
    assert far["sections"][1] == pytest.approx(2.0, abs=0.03)
    assert far["interleaved"][2] > 3000 * far["sections"][2]
    assert [far[scheme][0] for scheme in SCHEMES] == [64.0, 64.0, 0.0, 0.0]


def test_every_plane_has_one_axis_but_in_the_mixed_table():
    assert {scheme: told(scheme=scheme)["planes"] for scheme in SCHEMES} == {
        "sections": [16, 24, 24],
        "interleaved": [24, 20, 20],
        "axial": [0, 32, 32],
        "mixed": [0, 64, 64],
    }


def test_the_patch_on_the_marked_one_turns_nothing():
    values = told(row=3.0, column=0.0, frame=0.0)
    assert (values["logit"], values["width"], set(values["between"])) == (1.0, 0.0, {0.0})
