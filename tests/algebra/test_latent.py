"""The slow definitions of attention over one latent: absorption, the four ways to decode, and the training form."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rope_lab.algebra import latent
from rope_lab.algebra.rotation import frequencies, rotation_matrix

H, T, D, D_V, D_C = 3, 5, 4, 2, 6
seeds = st.integers(0, 2**32 - 1)


def draw(seed, *shapes):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape) for shape in shapes]


@settings(max_examples=20)
@given(seeds)
def test_absorption_changes_nothing(seed):
    q, c, W_k, W_v = draw(seed, (H, T, D), (T, D_C), (H, D, D_C), (H, D_V, D_C))
    expected = latent.expanded(q, c, W_k=W_k, W_v=W_v)
    np.testing.assert_allclose(latent.absorbed(q, c, W_k=W_k, W_v=W_v), expected, atol=1e-12)
    wrong = latent.absorbed(q, c, W_k=np.roll(W_k, 1, axis=0), W_v=W_v)  # control: another head's W_k
    assert np.abs(wrong - expected).max() > 1e-3


@settings(max_examples=20)
@given(seeds, st.floats(-1e4, 1e4))
def test_the_way_out_is_the_relative_form_wherever_the_text_stands(seed, shift):
    q, c = draw(seed, (T, D_C), (T, D_C))
    theta = frequencies(D_C)
    expected = latent.relative(q, c, positions=np.arange(T), theta=theta)
    found = latent.decode(q, c, "undo", positions=np.arange(T) + shift, theta=theta)
    np.testing.assert_allclose(found.outputs, expected, atol=1e-9)


def shifted(way, seed=0, shift=4.0):
    q, c = draw(seed, (T, D_C), (T, D_C))
    theta = frequencies(D_C)
    here, there = (latent.decode(q, c, way, positions=np.arange(T) + s, theta=theta).outputs for s in (0.0, shift))
    return here, there, rotation_matrix(shift, theta=theta)


@given(seeds, st.floats(-50, 50))
@settings(max_examples=20)
def test_turned_values_are_off_by_the_shift_alone(seed, shift):
    here, there, R = shifted("turned values", seed, shift)
    np.testing.assert_allclose(there, here @ R.T, atol=1e-10)


def test_which_ways_are_relative():
    moved = {}
    for way in latent.WAYS:
        here, there, _ = shifted(way)
        moved[way] = np.abs(there - here).max()
    assert moved.pop("turned values") > 0.1
    assert max(moved.values()) < 1e-12


def test_what_each_way_keeps_and_turns():
    q, c = draw(1, (7, D_C), (7, D_C))
    runs = {way: latent.decode(q, c, way, positions=range(7), theta=frequencies(D_C)) for way in latent.WAYS}
    assert {way: run.numbers for way, run in runs.items()} == {
        "two caches": 2 * 7 * D_C,
        "turn again": 7 * D_C,
        "turned values": 7 * D_C,
        "undo": 7 * D_C,
    }
    assert {way: run.turned for way, run in runs.items()} == {
        "two caches": 7,
        "turn again": 28,
        "turned values": 7,
        "undo": 7,
    }
    np.testing.assert_allclose(runs["two caches"].outputs, runs["turn again"].outputs, atol=1e-12)
    # The way out is another function: its values know how far away they stand.
    assert np.abs(runs["two caches"].outputs - runs["undo"].outputs).max() > 0.1


@settings(max_examples=20)
@given(seeds, st.integers(-500, 500))
def test_the_splice_is_relative(seed, shift):
    q, c, q_rope, k_rope, W_k, W_v = draw(seed, (H, T, D), (T, D_C), (H, T, 4), (T, 4), (H, D, D_C), (H, D_V, D_C))
    fields = {"q_rope": q_rope, "k_rope": k_rope, "W_k": W_k, "W_v": W_v, "theta": frequencies(4)}
    here = latent.spliced(q, c, positions=np.arange(T), **fields)
    np.testing.assert_allclose(latent.spliced(q, c, positions=np.arange(T) + shift, **fields), here, atol=1e-9)
    other = latent.spliced(q, c, positions=2.0 * np.arange(T), **fields)  # control: positions do matter
    assert np.abs(other - here).max() > 1e-6


def test_without_a_rotary_part_the_splice_is_the_expanded_form():
    q, c, k_rope, W_k, W_v = draw(2, (H, T, D), (T, D_C), (T, 4), (H, D, D_C), (H, D_V, D_C))
    none = latent.spliced(
        q, c, q_rope=np.zeros((H, T, 4)), k_rope=k_rope, W_k=W_k, W_v=W_v, positions=range(T), theta=[1.0, 0.1]
    )
    np.testing.assert_allclose(none, latent.expanded(q, c, W_k=W_k, W_v=W_v), atol=1e-12)


@given(seeds)
@settings(max_examples=20)
def test_a_general_map_has_no_training_form_and_whole_planes_have_one(seed):
    (W,) = draw(seed, (4, 8))
    theta = frequencies(8)
    X, apart = latent.training_form(W, theta=theta)
    assert apart > 1e-2
    (other,) = draw(seed + 1, X.shape)
    R = rotation_matrix(1.0, theta=theta)
    assert np.linalg.norm(W @ R - (X + 1e-3 * other) @ W) > apart  # no X is better
    planes = np.eye(8)[[2, 3, 6, 7]]
    X, apart = latent.training_form(W[:, :4] @ planes, theta=theta)
    assert apart < 1e-6
    np.testing.assert_allclose(W[:, :4] @ planes @ R, X @ W[:, :4] @ planes, atol=1e-6)


def test_planes_of_one_speed_may_be_mixed_by_complex_weights():
    a, b = 0.6, -1.1
    W = np.array([[1.0, 0.0, a, -b], [0.0, 1.0, b, a]])  # complex-linear: (1, a + ib)
    assert latent.training_form(W, theta=[0.3, 0.3])[1] < 1e-12
    assert latent.training_form(W, theta=[0.3, 0.7])[1] > 1e-2


@pytest.mark.usefixtures("untyped")
def test_refusals():
    with pytest.raises(ValueError, match="way: expected one of two caches, turn again"):
        latent.decode(np.eye(2), np.eye(2), "both", positions=range(2), theta=[1.0])
    with pytest.raises(ValueError, match=r"W: expected \(d_v, 4\)"):
        latent.training_form(np.eye(3), theta=[1.0, 0.1])
