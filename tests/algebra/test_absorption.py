"""Absorbing P: no logit changes; what breaks if a condition is dropped."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import block_diag, expm

from rope_lab.algebra import rotation
from rope_lab.algebra.absorption import absorb, absorb_generators, attention_logits
from rope_lab.algebra.normal_form import skew_normal_form

QUARTER = np.array([[0.0, -1.0], [1.0, 0.0]])


def layer(rng, *, n_heads=4, n_kv_heads=2, head_dim=4, width=6, T=5):
    W_q = rng.normal(size=(n_heads, head_dim, width))
    W_k = rng.normal(size=(n_kv_heads, head_dim, width))
    return rng.normal(size=(T, width)), W_q, W_k


def skew(rng, *shape):
    A = rng.normal(size=shape)
    return A - np.swapaxes(A, -1, -2)


def blocks(theta):
    return block_diag(*(t * QUARTER for t in theta))


sizes = st.tuples(st.sampled_from([1, 2, 3]), st.sampled_from([1, 2]), st.sampled_from([2, 4, 6]))


@settings(max_examples=30)
@given(sizes, st.booleans(), st.integers(0, 2**32 - 1))
def test_general_rotations_become_rope(size, one_for_all, seed):
    """The theorem: MHA, GQA and MQA, at positions that need not be whole."""
    n_kv, group, d = size
    rng = np.random.default_rng(seed)
    x, W_q, W_k = layer(rng, n_heads=n_kv * group, n_kv_heads=n_kv, head_dim=d)
    B = skew(rng, d, d) if one_for_all else skew(rng, n_kv, d, d)
    places = rng.uniform(-5, 5, size=len(x))
    before = attention_logits(x, W_q, W_k, B=B, positions=places)
    new, theta = absorb_generators(W_q, W_k, B=B)
    for h in range(n_kv * group):
        g = h // group
        after = rotation.logits(
            x @ new.W_q[h].T, x @ new.W_k[g].T, q_positions=places, k_positions=places, theta=theta[g]
        )
        assert np.allclose(before[h], after, rtol=0, atol=1e-10 * (1 + np.abs(before).max()))


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1))
def test_any_invertible_basis_with_its_pair(seed):
    """P = a basis that is not orthogonal: the query gets the transpose, the key the inverse."""
    rng = np.random.default_rng(seed)
    theta = rng.uniform(0, 2, size=2)
    # B = P L P^-1 with P not orthogonal is skew only if P is orthogonal up to what commutes with L: scale each plane.
    Q = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    P = Q @ np.diag(np.repeat(rng.uniform(0.5, 2, size=2), 2))
    B = P @ blocks(theta) @ np.linalg.inv(P)
    assert np.allclose(B, -B.T)
    x, W_q, W_k = layer(rng)
    before = attention_logits(x, W_q, W_k, B=B)
    assert np.allclose(before, attention_logits(x, *absorb(W_q, W_k, P=P), B=blocks(theta)), atol=1e-9)
    wrong = absorb(W_q, W_k, P=P).W_q, P.T @ W_k  # the transpose for both, as if P were orthogonal
    assert not np.allclose(before, attention_logits(x, *wrong, B=blocks(theta)), atol=1e-3)


def test_biases_are_one_more_column():
    rng = np.random.default_rng(0)
    x, W_q, W_k = layer(rng)
    with_one = np.column_stack([x, np.ones(len(x))])
    b_q, b_k = rng.normal(size=(4, 4)), rng.normal(size=(2, 4))
    B = skew(rng, 4, 4)
    whole = absorb(
        np.concatenate([W_q, b_q[..., None]], -1), np.concatenate([W_k, b_k[..., None]], -1), P=skew_normal_form(B).P
    )
    for h in range(4):
        q, k = x @ W_q[h].T + b_q[h], x @ W_k[h // 2].T + b_k[h // 2]
        direct = [[q[m] @ expm((n - m) * B) @ k[n] for n in range(5)] for m in range(5)]
        theta = skew_normal_form(B).theta
        after = rotation.logits(
            with_one @ whole.W_q[h].T,
            with_one @ whole.W_k[h // 2].T,
            q_positions=range(5),
            k_positions=range(5),
            theta=theta,
        )
        assert np.allclose(direct, after)
    forgotten = absorb(W_q, W_k, P=skew_normal_form(B).P)
    lost = rotation.logits(
        x @ forgotten.W_q[0].T + b_q[0],
        x @ forgotten.W_k[0].T + b_k[0],
        q_positions=range(5),
        k_positions=range(5),
        theta=theta,
    )
    first = [
        [(x @ W_q[0].T + b_q[0])[m] @ expm((n - m) * B) @ (x @ W_k[0].T + b_k[0])[n] for n in range(5)]
        for m in range(5)
    ]
    assert not np.allclose(first, lost, atol=1e-3)


def test_one_key_head_one_generator():
    """A group whose two query heads were given the bases of two different generators: the control."""
    rng = np.random.default_rng(2)
    x, W_q, W_k = layer(rng, n_heads=2, n_kv_heads=1)
    B = skew(rng, 4, 4)
    other = skew_normal_form(skew(rng, 4, 4)).P
    right = absorb(W_q, W_k, P=skew_normal_form(B).P)
    mixed = (np.stack([right.W_q[0], other.T @ W_q[1]]), right.W_k)
    before, lam = attention_logits(x, W_q, W_k, B=B), skew_normal_form(B).blocks
    assert np.allclose(before, attention_logits(x, *right, B=lam))
    after = attention_logits(x, *mixed, B=lam)
    assert np.allclose(before[0], after[0])
    assert not np.allclose(before[1], after[1], atol=1e-3)


def test_the_logits_see_the_offset_only():
    rng = np.random.default_rng(4)
    _, W_q, W_k = layer(rng)
    x = np.tile(rng.normal(size=(1, 6)), (5, 1))
    s = attention_logits(x, W_q, W_k, B=skew(rng, 4, 4))
    assert np.allclose(s[:, 1:, 1:], s[:, :-1, :-1])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"W_q": np.ones((3, 4, 6))}, "multiple of 2 heads"),
        ({"W_k": np.ones((2, 3, 6))}, "reshape"),
        ({"P": np.eye(3)}, r"P: expected \(4, 4\)"),
        ({"P": np.ones((4, 4, 4))}, "each of the 2 key heads"),
        ({"P": np.zeros((4, 4))}, "invertible"),
        ({"P": np.full((4, 4), np.nan)}, "finite"),
    ],
)
def test_refusals(change, words):
    given = {"W_q": np.ones((4, 4, 6)), "W_k": np.ones((2, 4, 6)), "P": np.eye(4)} | change
    with pytest.raises(ValueError, match=words):
        absorb(given["W_q"], given["W_k"], P=given["P"])


def test_an_odd_head_and_a_symmetric_generator_are_refused():
    with pytest.raises(ValueError, match="even head_dim"):
        absorb_generators(np.ones((1, 3, 2)), np.ones((1, 3, 2)), B=np.zeros((3, 3)))
    with pytest.raises(ValueError, match="skew"):
        absorb_generators(np.ones((1, 2, 2)), np.ones((1, 2, 2)), B=np.eye(2))
    with pytest.raises(ValueError, match="x: expected"):
        attention_logits(np.ones((2, 3)), np.ones((1, 2, 2)), np.ones((1, 2, 2)), B=np.zeros((2, 2)))
    with pytest.raises(ValueError, match="positions"):
        attention_logits(np.ones((2, 2)), np.ones((1, 2, 2)), np.ones((1, 2, 2)), B=np.zeros((2, 2)), positions=[1.0])
