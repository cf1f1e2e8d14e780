"""The slow definition of attention: what a shift does to each of the sixteen placements, and what it refuses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from rope_lab.algebra.placements import PLACEMENTS, attention, attention_weights, is_relative, moved, roles, row_softmax
from rope_lab.algebra.rotation import frequencies, rotation_matrix

THETA = frequencies(6, base=50.0)
subsets = st.sampled_from(PLACEMENTS)
WAYS_TO_LOOK = ({}, {"causal": True}, {"causal": False})
seeds = st.integers(0, 2**32 - 1)


def contents(seed, T=6):
    return np.random.default_rng(seed).normal(size=(3, T, 6))


def along(T=6, **fields):
    return {"q_positions": np.arange(T), "k_positions": np.arange(T), "theta": THETA} | fields


@given(seeds, st.sampled_from([p for p in PLACEMENTS if is_relative(p)]), st.floats(-1e5, 1e5), st.booleans())
def test_four_placements_see_no_shift(seed, rotated, shift, causal):
    found = moved(*contents(seed), shift=shift, rotated=rotated, **along(causal=causal))
    assert max(found) < 1e-8


@pytest.mark.parametrize("rotated", [p for p in PLACEMENTS if not is_relative(p)])
def test_control_the_other_twelve_do(rotated):
    weights, outputs = moved(*contents(0), shift=5, rotated=rotated, **along())
    assert outputs > 0.1
    assert (weights > 0.01) == (("q" in rotated) != ("k" in rotated))


@given(seeds, st.integers(-50, 50), st.sampled_from(["", "qk"]))
def test_relative_weights_and_one_turn_move_the_frame_only(seed, shift, weights):
    q, k, v = contents(seed)

    def at(s, extra):
        n = np.arange(6) + s
        return attention(q, k, v, rotated=weights + extra, **along(q_positions=n, k_positions=n))

    R = rotation_matrix(shift, theta=THETA)
    np.testing.assert_allclose(at(shift, "v"), at(0, "v") @ R.T, atol=1e-10)
    np.testing.assert_allclose(at(shift, "o"), at(0, "o") @ R, atol=1e-10)


@given(seeds, subsets, st.integers(-9, 9))
def test_the_definition_word_for_word(seed, rotated, start):
    q, k, v = contents(seed, T=4)
    turn = {n: rotation_matrix(n, theta=THETA) for n in range(start, start + 4)}

    def rho(role, n):
        return turn[n] if role in rotated else np.eye(6)

    here = {"q_positions": list(turn), "k_positions": list(turn)}
    found = attention(q, k, v, rotated=rotated, **along(**here))
    for i, m in enumerate(turn):
        s = [(rho("q", m) @ q[i]) @ (rho("k", n) @ k[j]) / np.sqrt(6) for j, n in enumerate(turn) if n <= m]
        a = np.exp(s) / np.exp(s).sum()
        mixed = sum(a[j] * rho("v", start + j) @ v[j] for j in range(len(a)))
        np.testing.assert_allclose(found[i], rho("o", m).T @ mixed, atol=1e-12)


@given(seeds, st.sampled_from(["vo", "qkvo"]), st.integers(-50, 50))
def test_values_may_have_frequencies_and_a_width_of_their_own(seed, rotated, shift):
    q, k, _ = contents(seed)
    v = np.random.default_rng(seed).normal(size=(6, 2))
    assert max(moved(q, k, v, shift=shift, rotated=rotated, theta_vo=[0.7], **along())) < 1e-10


def test_batches_are_heads_side_by_side():
    q, k, v = np.random.default_rng(0).normal(size=(3, 2, 5, 6))
    found = attention(q, k, v, rotated="qkvo", **along(5))
    assert found.shape == (2, 5, 6)
    np.testing.assert_allclose(found[1], attention(q[1], k[1], v[1], rotated="qkvo", **along(5)), atol=1e-14)


def test_weights_sum_to_one_and_look_back():
    q, k, _ = contents(1)
    a = attention_weights(q, k, rotated="k", **along())
    np.testing.assert_allclose(a.sum(axis=1), 1)
    assert (np.triu(a, 1) == 0).all()
    assert (attention_weights(q, k, rotated="k", **along(causal=False)) > 0).all()


@given(seeds, st.sampled_from([1e-3, 1.0, 1e3, 1e300]), st.sampled_from([(5,), (3, 5), (2, 3, 1)]))
def test_the_weights_of_a_row_are_scipys(seed, scale, shape):
    s = scale * np.random.default_rng(seed).normal(size=shape)
    s[..., 1:][s[..., 1:] < 0] = -np.inf
    np.testing.assert_allclose(row_softmax(s), special.softmax(s, axis=-1), rtol=1e-15, atol=0)


@pytest.mark.parametrize("f", [attention_weights, attention, moved])
def test_it_is_causal_unless_it_is_told_not_to_be(f):
    x = contents(1)[: 2 if f is attention_weights else 3]
    more = {"shift": 3} if f is moved else {}
    plain, causal, both_ways = (np.array(f(*x, rotated="q", **along(**how), **more)) for how in WAYS_TO_LOOK)
    assert np.array_equal(plain, causal)
    assert not np.allclose(plain, both_ways)


def test_sixteen_placements_four_of_them_relative():
    assert len(set(PLACEMENTS)) == 16
    assert [p for p in PLACEMENTS if is_relative(p)] == ["", "qk", "vo", "qkvo"]
    assert roles("OKQ") == "qko"
    for wrong in ("qq", "x", "q k"):
        with pytest.raises(ValueError, match="complex_linear: expected some of the letters q, k, v, o, each once, got"):
            roles(wrong, name="complex_linear")


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"rotated": "qq"}, "each once, got 'qq'"),
        ({"rotated": "x"}, "each once, got 'x'"),
        ({"q_positions": range(5)}, "one position for each"),
        ({"k_positions": np.arange(6) + 3}, "a key at or before each query"),
        ({"theta": [1.0]}, "for 1 frequencies"),
        ({"theta_vo": [1.0]}, "for 1 frequencies"),
    ],
)
def test_what_does_not_fit_is_refused(changes, said):
    with pytest.raises(ValueError, match=said):
        attention(*contents(0), **(along(rotated="qkvo") | changes))


@pytest.mark.usefixtures("untyped")
def test_one_vector_is_refused():
    with pytest.raises(ValueError, match="write one vector as"):
        attention_weights(np.ones(6), np.ones((1, 6)), rotated="", **along(1))


def test_attention_is_causal_unless_told_otherwise():
    q, k, v = contents(3)
    here = along()
    assert np.allclose(np.triu(attention_weights(q, k, rotated="qk", **here), 1), 0)
    np.testing.assert_allclose(attention(q, k, v, rotated="qk", **here)[..., 0, :], v[..., 0, :])
    assert moved(q, k, v, shift=3, rotated="q", **here) == moved(q, k, v, shift=3, rotated="q", causal=True, **here)
    assert moved(q, k, v, shift=3, rotated="q", **here) != moved(q, k, v, shift=3, rotated="q", causal=False, **here)
