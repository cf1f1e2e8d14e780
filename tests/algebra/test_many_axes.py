"""Tables of frequency vectors: what each scheme gives to each axis, and what a logit then depends on."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rope_lab.algebra import rotation
from rope_lab.algebra.many_axes import (
    axial_frequencies,
    interleaved_frequencies,
    largest_turns,
    mixed_frequencies,
    plane_angles,
    section_frequencies,
)

TABLES = {
    "axial": axial_frequencies(12, axes=3),
    "mixed": mixed_frequencies(12, angles=[0.3, 1.0, -2.0]),
    "sections": section_frequencies([1, 2, 3]),
    "interleaved": interleaved_frequencies([2, 2, 2]),
}
seeds = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_axial_planes_see_one_coordinate_each(axes):
    theta = axial_frequencies(48, axes=axes)
    assert theta.shape == (24, axes)
    blocks = theta.reshape(axes, 24 // axes, axes)
    for a in range(axes):
        np.testing.assert_array_equal(blocks[a, :, a], rotation.frequencies(48 // axes))
        assert not np.delete(blocks[a], a, axis=1).any()


def test_mixed_is_axial_that_is_turned():
    np.testing.assert_array_equal(mixed_frequencies(16, angles=0.0, base=7.0), axial_frequencies(16, base=7.0))
    turned = mixed_frequencies(16, angles=0.4, base=7.0)
    np.testing.assert_allclose(turned, axial_frequencies(16, base=7.0) @ rotation.rotation_2d(0.4).T, atol=1e-15)


@pytest.mark.parametrize("make", [section_frequencies, interleaved_frequencies])
def test_each_axis_has_its_planes_and_a_text_has_one_list(make):
    theta = make([16, 24, 24] if make is section_frequencies else [24, 20, 20], base=1e6)
    assert (theta != 0).sum(axis=0).tolist() == ([16, 24, 24] if make is section_frequencies else [24, 20, 20])
    np.testing.assert_array_equal(theta.sum(axis=1), rotation.frequencies(128, base=1e6))
    np.testing.assert_allclose(plane_angles([7, 7, 7], theta), 7 * rotation.frequencies(128, base=1e6), rtol=1e-15)


def test_the_last_planes_of_the_interleaved_form_are_the_first_axis():
    axis = interleaved_frequencies([24, 20, 20]).argmax(axis=1)
    assert axis[:7].tolist() == [0, 1, 2, 0, 1, 2, 0]
    assert axis[-5:].tolist() == [2, 0, 0, 0, 0]


@settings(max_examples=20)
@given(seed=seeds, name=st.sampled_from(sorted(TABLES)))
def test_a_logit_sees_the_offset_vector(seed, name):
    rng, theta = np.random.default_rng(seed), TABLES[name]
    q, k = rng.normal(size=(2, 12))
    place, offset, shift = rng.integers(-50, 50, size=(3, theta.shape[1]))

    def logit(m, n):
        return turn(q, m) @ turn(k, n)

    def turn(x, p):
        return rotation.rotate(x, 1.0, theta=plane_angles(p, theta))

    np.testing.assert_allclose(logit(place, place + offset), logit(shift, shift + offset), atol=1e-10)
    assert abs(logit(place, place + offset) - logit(place, place + offset + 1)) > 1e-9


def test_largest_turns():
    np.testing.assert_allclose(largest_turns(-axial_frequencies(8, axes=2), steps=3), [3.0, 3.0])
    assert largest_turns(section_frequencies([2, 0]), steps=3)[1] == 0


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: axial_frequencies(8, axes=3), "head_dim: expected a multiple of 6, got 8"),
        (lambda: mixed_frequencies(6, angles=0.0), "head_dim: expected a multiple of 4, got 6"),
        (lambda: mixed_frequencies(8, angles=[0.0, 1.0, 2.0]), r"angles: expected one number or 2, got shape \(3,\)"),
        (lambda: section_frequencies([]), "sections: expected at least one plane"),
        (lambda: interleaved_frequencies([1, 5, 1]), "expected at most 2 planes for axis 1 of 3, got 5"),
        (lambda: plane_angles([1.0], axial_frequencies(8)), r"places: expected \(..., 2\)"),
        (lambda: largest_turns([1.0], steps=1), r"table: expected \(planes, axes\), got shape \(1,\)"),
    ],
)
def test_refusals(call, said):
    with pytest.raises(ValueError, match=said):
        call()
