"""Arguments of a wrong kind, that once passed without a word or were told in another library's words."""

import numpy as np
import pytest

from rope_lab.algebra import bch, latent, layouts, many_axes, placements, recurrence, widely_linear
from rope_lab.algebra.arguments import expect_base

pytestmark = pytest.mark.usefixtures("untyped")

THETA = [1.0, 0.1]
ROW = np.arange(8.0).reshape(2, 4)
PLANES = {"gamma": [0.9, 0.5], "theta": THETA}


@pytest.mark.parametrize("base", [np.float32(10000), np.float16(2), np.int8(7), 3])
def test_a_base_of_any_number_type_is_the_number_and_warns_of_nothing(base):
    found = expect_base(base)
    assert (type(found), found) == (float, float(base))


@pytest.mark.parametrize("base", [np.float32("inf"), np.float64("inf"), np.float32("nan"), 10**400, np.float32(0)])
def test_a_base_that_is_not_finite_is_none_in_any_number_type(base):
    with pytest.raises(ValueError, match="base: expected a finite positive number, got"):
        expect_base(base)


@pytest.mark.parametrize(
    "call",
    [
        lambda layout: widely_linear.to_complex(ROW, layout=layout),
        lambda layout: widely_linear.to_real(ROW + 0j, layout=layout),
        lambda layout: recurrence.decay_attention(ROW, layout=layout, **PLANES),
        lambda layout: recurrence.recurrent(ROW, layout=layout, **PLANES),
        lambda layout: recurrence.rotate_then_decay(ROW, layout=layout, **PLANES),
        lambda layout: recurrence.convolved(ROW, layout=layout, **PLANES),
    ],
)
@pytest.mark.parametrize("layout", ["Half", "half-split", "halves", None])
def test_a_layout_of_another_name_is_not_taken_for_interleaved(call, layout):
    with pytest.raises(ValueError, match='layout: expected "interleaved"'):
        call(layout)
    assert np.isfinite(call("half")).all()  # the control


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: layouts.rotate_elementwise(ROW, [1, 2, 3], theta=THETA), ValueError, r"with \(2,\) .*got \(3,\)"),
        (lambda: recurrence.retention(ROW, ROW[:1], ROW, gamma=0.9, theta=THETA), ValueError, "q and k of one shape"),
        (lambda: recurrence.retention_recurrent(ROW[:1], ROW, ROW, gamma=1, theta=THETA), ValueError, "q and k of one"),
        (lambda: recurrence.impulse_response(-1, gamma=0.9, theta=1.0), ValueError, "length: expected a whole number"),
        (lambda: recurrence.impulse_response(2.5, gamma=0.9, theta=1.0), TypeError, "length: .* got 2.5"),
        (lambda: latent.softmax(ROW), ValueError, r"s: expected the logits of one query, .* got shape \(2, 4\)"),
        (lambda: latent.softmax(1.0), ValueError, r"s: expected the logits of one query, .* got shape \(\)"),
        (lambda: latent.softmax([]), ValueError, r"s: expected the logits of one query, .* got shape \(0,\)"),
        (lambda: latent.relative(ROW, ROW[:1], positions=[0, 1], theta=THETA), ValueError, "q and c of one shape"),
        (lambda: latent.decode(ROW, ROW, "undo", positions=[0], theta=THETA), ValueError, r"\(T,\), got .*\(1,\)"),
        (lambda: layouts.projection_permutation(2.0, 4), TypeError, "n_heads: expected a whole number .* got 2.0"),
        (lambda: layouts.projection_permutation(None, 4), TypeError, "n_heads: expected a whole number .* got None"),
        (lambda: placements.roles(None), TypeError, "rotated: expected letters such as 'qk', got None"),
        (lambda: placements.is_relative(["q", "k"]), TypeError, "rotated: expected letters such as 'qk', got"),
        (lambda: bch.coefficients(2.5), TypeError, "order: expected a whole number from 1 to 8, got 2.5"),
        (lambda: many_axes.axial_frequencies(None), TypeError, "head_dim: expected a positive even integer, got None"),
        (lambda: many_axes.axial_frequencies(6), ValueError, "head_dim: expected a multiple of 4, got 6"),
    ],
)
def test_each_is_told_in_words(call, error, said):
    with pytest.raises(error, match=said):
        call()
