"""Costs of a block: laws over shapes and readings, the paper's percentages, and refusals in words."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rope_lab.algebra.budget import READINGS, ModelShape, cache, multiplications, parameters, saving

shapes = st.builds(
    lambda heads, planes, **more: ModelShape(width=4 * heads * planes, heads=heads, **more),
    heads=st.integers(1, 5),
    planes=st.integers(1, 5),
    layers=st.integers(1, 4),
    vocab=st.integers(0, 99),
    mlp_width=st.integers(0, 99),
    mlp_matrices=st.sampled_from([2, 3]),
    tied=st.booleans(),
    bias=st.booleans(),
    norms=st.booleans(),
)


@given(shape=shapes)
def test_the_wider_the_view_the_smaller_the_saving(shape):
    for reading in READINGS:
        shares = [saving(shape, reading, of=of) for of in ("qkv", "attention", "block", "model")]
        assert shares[1:] == sorted(shares[1:], reverse=True)
        assert 0 <= shares[-1] <= shares[0] <= Fraction(1, 2)


@given(shape=shapes, context=st.integers(1, 9))
def test_complex_weights_cost_the_multiplications_of_dense_ones(shape, context):
    dense = multiplications(shape, context=context)
    assert multiplications(shape, "qkvo", context=context) == dense
    gauss = multiplications(shape, "qkvo", context=context, gauss=True)
    assert all(Fraction(gauss[role], dense[role]) == Fraction(3, 4) for role in "qkvo")
    assert multiplications(shape, "narrow", context=context)["q"] * 2 == dense["q"]


@given(shape=shapes)
def test_parts_add_up(shape):
    for reading in READINGS:
        counts = parameters(shape, reading)
        assert counts.pop("total") == sum(counts.values())


def test_the_percentages_of_section_6():
    plain = ModelShape(width=128, heads=4, layers=4)
    assert [saving(plain, "qkv", of=of) for of in ("qkv", "attention", "block")] == [
        Fraction(1, 2),
        Fraction(3, 8),
        Fraction(1, 8),
    ]
    assert [saving(plain, r, of="block") for r in ("qkvo", "narrow")] == [Fraction(1, 6)] * 2
    full = ModelShape(width=128, heads=4, layers=4, bias=True, norms=True)
    assert [round(100 * float(saving(full, "qkv", of=of)), 2) for of in ("attention", "block")] == [37.21, 12.4]
    seven_b = ModelShape(width=4096, heads=32, layers=32, vocab=32_000, mlp_width=11_008, mlp_matrices=3, tied=False)
    assert round(100 * float(saving(seven_b, "qkv", of="model")), 1) == 12.0


def test_the_cache_is_half_in_the_narrow_reading_alone():
    shape = ModelShape(width=64, heads=4, layers=3)
    assert [cache(shape, reading) for reading in READINGS] == [384, 384, 384, 192]


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ModelShape(width=126, heads=4, layers=1), "multiple of 4 heads"),
        (lambda: ModelShape(width=128, heads=0, layers=1), "heads: expected a whole number of at least 1, got 0"),
        (lambda: ModelShape(width=128, heads=4, layers=1, vocab=-1), "vocab: expected a whole number of at least 0"),
        (lambda: ModelShape(width=128, heads=4, layers=1, kv_heads=0), "kv_heads: expected a whole number of at"),
        (lambda: saving(ModelShape(width=6, heads=1, layers=1), "qkv"), "multiple of 4, got 6"),
        (lambda: parameters(ModelShape(width=8, heads=1, layers=1, latent=4), "dense"), "a latent of 4"),
        (lambda: multiplications(ModelShape(width=8, heads=1, layers=1, latent=4), context=1), "latent: expected 0"),
        (
            lambda: parameters(ModelShape(width=128, heads=4, layers=1), "half"),
            "expected one of dense, qkv, qkvo, narrow",
        ),
        (lambda: saving(ModelShape(width=128, heads=4, layers=1), "qkv", of="all"), "of: expected one of"),
        (
            lambda: multiplications(ModelShape(width=128, heads=4, layers=1), context=0),
            "context: expected a whole number of at least 1, got 0; a token attends to itself",
        ),
    ],
)
def test_bad_input_is_refused_in_words(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.usefixtures("untyped")
def test_a_width_is_a_whole_number():
    with pytest.raises(TypeError, match="width: expected a whole number"):
        ModelShape(width=128.0, heads=4, layers=1)


def test_the_multiplications_by_hand():
    shape = ModelShape(width=8, heads=2, layers=3, vocab=5, mlp_width=10)
    projections = dict.fromkeys("qkvo", 3 * 8 * 8)
    others = {"scores": 3 * 2 * 7 * 8, "mlp": 3 * 2 * 8 * 10, "head": 5 * 8}
    total = sum(projections.values()) + sum(others.values())
    assert multiplications(shape, context=7) == {**projections, **others, "total": total}


def test_the_parameters_of_a_latent_by_hand():
    found = parameters(ModelShape(width=8, heads=2, layers=3, latent=6, rope=2))
    q, k = 3 * (8 * 8 + 8 * 2 * 2), 3 * (2 * 4 * 6 + 8 * 2)  # the query has a rotary part in each head, the key has one
    assert [found[part] for part in ("latent", "q", "k", "v", "o")] == [3 * 8 * 6, q, k, 3 * 2 * 4 * 6, 3 * 8 * 8]
