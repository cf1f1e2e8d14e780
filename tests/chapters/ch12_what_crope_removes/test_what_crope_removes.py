"""Chapter 12's pictures against the algebra: the budget's shares, who can reach which targets, and what is left."""

import numpy as np
import pytest

from rope_lab.algebra.budget import ModelShape, saving
from rope_lab.algebra.widely_linear import complex_parts
from rope_lab.chapters.ch12_what_crope_removes.budget_calculator import BudgetCalculator
from rope_lab.chapters.ch12_what_crope_removes.figures import three_halves, what_width_buys
from rope_lab.chapters.ch12_what_crope_removes.half_of_what import HalfOfWhat
from rope_lab.chapters.ch12_what_crope_removes.send_two import SOURCES, SendTwo
from rope_lab.exercises import exercise


def test_a_seven_billion_shape_saves_what_the_page_says():
    state = BudgetCalculator(log_width=12, layers=32, mlp=8.0625, vocab=32, tied=False).state()
    shape = ModelShape(width=4096, heads=32, layers=32, vocab=32_000, mlp_width=11_008, mlp_matrices=3, tied=False)
    assert BudgetCalculator.compute(state)["share"][3] == float(saving(shape, "qkv", of="model"))


def test_the_words_name_all_four_shares():
    assert all(
        share in BudgetCalculator().fallback()
        for share in ("50.0 % of Q, K and V", "37.5 % of attention", "12.5 % of the block")
    )


@pytest.mark.parametrize("seed", range(5))
def test_a_turn_reaches_what_was_turned_and_a_mirror_what_was_mirrored(seed):
    factor = complex(*np.random.default_rng(seed).uniform(-0.8, 0.8, 2))
    for kind, other, images in (
        ("linear", "conjugate", [factor * z for z in SOURCES]),
        ("conjugate", "linear", [factor * z.conjugate() for z in SOURCES]),
    ):
        targets = dict(zip(("u1", "v1", "u2", "v2"), (p for w in images for p in (w.real, w.imag)), strict=True))
        assert max(SendTwo.compute({**targets, "kind": kind})["miss"]) < 1e-12
        assert max(SendTwo.compute({**targets, "kind": other})["miss"]) > 0.05


def test_the_best_factor_is_a_least_square():
    rng = np.random.default_rng(0)
    state = SendTwo(kind="linear").state() | dict(zip(("u1", "v1", "u2", "v2"), rng.uniform(-1, 1, 4), strict=True))
    targets = np.array([complex(state["u1"], state["v1"]), complex(state["u2"], state["v2"])])
    best = np.linalg.lstsq(np.array(SOURCES)[:, None], targets, rcond=None)[0]
    images = SendTwo.compute(state)["images"]
    np.testing.assert_allclose(images[0] + 1j * images[1], best[0] * SOURCES[0], atol=1e-12)
    before = np.array([[z.real, z.imag] for z in SOURCES]).T
    map_of_both = np.array([images[:2], images[2:]]).T @ np.linalg.inv(before)
    assert abs(complex_parts(map_of_both)[1]).max() < 1e-12  # and it is complex-linear


def test_the_pictures_count_what_they_draw():
    assert "weights 4 of 8, one offset 2 of 4, all offsets 2 of 6" in three_halves().desc
    assert "it falls to 0.68 and stays there" in what_width_buys().desc
    opener = HalfOfWhat.compute(HalfOfWhat().state())
    assert opener["whole"][2] == 6
    assert opener["left"][2] == [6, 4, 3, 2]["ABCD".index(exercise("ch12.predict-ways").answer)]
