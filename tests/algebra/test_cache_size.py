"""Counts of what a decoder keeps, against tensors that are counted, and the published shapes against their papers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rope_lab.algebra.cache_size import (
    MODELS,
    SCHEMES,
    CacheShape,
    bytes_per_token,
    numbers_per_token,
    products_per_pair,
)

groups = st.integers(1, 6)
shapes = st.builds(
    lambda layers, kv, each, head_dim, latent, rope: CacheShape("drawn", layers, kv * each, kv, head_dim, latent, rope),
    st.integers(1, 5),
    groups,
    groups,
    st.integers(1, 9),
    st.integers(1, 20),
    st.integers(0, 6),
)


@given(shapes, st.sampled_from([1, 2, 4]))
def test_the_counts_are_those_of_tensors(shape, size):
    dtype = {1: np.int8, 2: np.float16, 4: np.float32}[size]
    kept = {
        "mha": [(shape.heads, shape.head_dim)] * 2,
        "gqa": [(shape.kv_heads, shape.head_dim)] * 2,
        "mqa": [(1, shape.head_dim)] * 2,
        "mla": [(shape.latent,), (shape.rope,)],
        "shared": [(shape.latent,)],
    }
    for scheme in SCHEMES:
        tensors = [np.zeros(s, dtype) for s in kept[scheme]] * shape.layers
        assert bytes_per_token(scheme, shape, size=size) == sum(t.nbytes for t in tensors)


@given(shapes)
def test_sharing_more_never_costs_more(shape):
    mha, gqa, mqa = (numbers_per_token(scheme, shape) for scheme in ("mha", "gqa", "mqa"))
    assert mha >= gqa >= mqa
    assert numbers_per_token("mla", shape) - numbers_per_token("shared", shape) == shape.rope


def of(name):
    return next(shape for shape in MODELS if shape.name == name)


def test_what_the_deepseek_paper_says_of_itself():
    v2 = of("DeepSeek-V2")
    assert numbers_per_token("mla", v2) == 576 == 2.25 * 2 * v2.head_dim  # as much as 2.25 groups of GQA


def test_by_hand():
    assert bytes_per_token("mha", of("Llama 2 7B")) == 2 * 32 * 32 * 128 * 2 == 512 * 1024
    assert bytes_per_token("gqa", of("Llama 3 70B")) == 320 * 1024
    assert bytes_per_token("gqa", of("Llama 3 8B")) == bytes_per_token("gqa", of("Mistral 7B")) == 128 * 1024
    assert bytes_per_token("mqa", of("PaLM 540B")) == 118 * 1024


def test_every_model_is_built_with_a_scheme_it_has_and_cites_a_source():
    for shape in MODELS:
        assert numbers_per_token(shape.built, shape) > 0
        assert shape.source
    assert len({shape.name for shape in MODELS}) == len(MODELS)


@given(shapes)
def test_products_are_those_of_the_vectors_that_meet(shape):
    both = shape.heads * 2 * shape.head_dim
    for scheme in ("mha", "gqa", "mqa"):
        assert {products_per_pair(scheme, shape, absorbed=a) for a in (True, False)} == {both}
    assert {products_per_pair("shared", shape, absorbed=a) for a in (True, False)} == {2 * shape.heads * shape.latent}
    assert products_per_pair("mla", shape, absorbed=False) == both + shape.heads * shape.rope


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: numbers_per_token("all", of("Llama 3 8B")), "scheme: expected one of mha, gqa"),
        (lambda: numbers_per_token("mla", of("Llama 3 8B")), "latent: expected a width above 0"),
        (lambda: CacheShape("odd", 1, 6, 4, 8), "kv_heads: expected a divisor of the 6 heads, got 4"),
        (lambda: CacheShape("none", 0, 6, 3, 8), "layers: expected a whole number of at least 1, got 0"),
        (
            lambda: bytes_per_token("mha", of("Llama 3 8B"), size=0),
            "size: expected a whole number of at least 1, got 0",
        ),
    ],
)
def test_refusals(call, says):
    with pytest.raises(ValueError, match=says):
        call()


@pytest.mark.usefixtures("untyped")
def test_a_fraction_of_a_layer_is_refused():
    with pytest.raises(TypeError, match=r"layers: expected a whole number of at least 1, got 1\.5"):
        CacheShape("half", 1.5, 2, 1, 8)
