"""The closed formulas of algebra.budget, held against models that are built: parameters, multiplications, the cache."""

import dataclasses

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rope_lab.algebra import budget
from rope_lab.nn.cache import KVCache, LatentCache
from rope_lab.nn.complex_linear import ComplexLinear
from rope_lab.nn.complex_products import PRODUCTS
from rope_lab.nn.counts import count_multiplications, count_parameters
from rope_lab.nn.gpt import GPT, GPTConfig

CONFIGS = st.builds(
    GPTConfig,
    vocab_size=st.sampled_from([10, 33]),
    seq_len=st.just(8),
    n_layers=st.sampled_from([1, 3]),
    n_heads=st.just(2),
    n_kv_heads=st.sampled_from([None, 1]),
    d_model=st.sampled_from([8, 24]),
    head_dim=st.sampled_from([None, 4, 12]),
    block=st.sampled_from(["gpt2", "llama"]),
    mlp_width=st.sampled_from([None, 12]),
    layout=st.sampled_from(["half", "interleaved"]),
    tied=st.booleans(),
)
LATENTS = ({"d_latent": 6}, {"d_latent": 6, "d_rope": 4})


def in_reading(config, reading):
    """The model in a reading of section 5.1, written with the fields of its config."""
    head_dim = config.width // 2 if reading == "narrow" else config.width
    return dataclasses.replace(config, complex_linear=budget.COMPLEX[reading], head_dim=head_dim)


def same(closed, counted):
    return closed | {"norm": closed["norm"] + closed["final"]} == counted | {"final": closed["final"]}


@given(CONFIGS, st.sampled_from(budget.READINGS), st.booleans())
def test_every_reading_has_the_parameters_that_the_formula_says(config, reading, bias):
    plain = dataclasses.replace(config, bias=bias and config.block == "gpt2")
    config = in_reading(plain, reading)
    model = GPT(config)
    assert budget.parameters(plain.shape, reading) == budget.parameters(config.shape)
    assert same(budget.parameters(config.shape), count_parameters(model))
    assert budget.parameters(config.shape)["total"] == sum(p.numel() for p in model.parameters())


@given(CONFIGS, st.sampled_from(LATENTS), st.sampled_from([None, 4]))
def test_a_model_with_a_latent_has_the_parameters_that_the_formula_says(config, latent, head_dim):
    config = dataclasses.replace(config, n_kv_heads=None, head_dim=head_dim, **latent)
    assert same(budget.parameters(config.shape), count_parameters(GPT(config)))


def test_control_a_reading_is_not_another():
    wide, narrow = (in_reading(GPTConfig(d_model=64, bias=True), reading) for reading in ("qkvo", "narrow"))
    assert budget.parameters(wide.shape)["q"] != budget.parameters(narrow.shape)["q"]  # half the biases too
    assert not same(budget.parameters(wide.shape), count_parameters(GPT(narrow)))


@settings(max_examples=15)
@given(CONFIGS, st.sampled_from(["", "q", "qkv", "qkvo"]), st.sampled_from(list(PRODUCTS)), st.integers(1, 8))
def test_the_multiplications_are_those_that_torch_counts(config, roles, product, tokens):
    config = dataclasses.replace(config, complex_linear=roles)
    model = GPT(config).requires_grad_(False)
    for layer in model.modules():
        if isinstance(layer, ComplexLinear):
            layer.product = product
    counted = count_multiplications(model, torch.zeros(1, tokens, dtype=torch.long))
    for_one = budget.multiplications(config.shape, context=tokens, gauss=product == "gauss")
    if product == "complex":  # torch counts a product of complex numbers as one of real ones
        counted += tokens * sum(for_one[role] for role in config.complex_linear) * 3 // 4
    assert counted == tokens * for_one["total"]


@given(CONFIGS, st.sampled_from([{}, *LATENTS]), st.sampled_from(budget.READINGS))
def test_a_token_leaves_in_the_caches_what_the_formula_says(config, latent, reading):
    config = dataclasses.replace(config, n_kv_heads=None, **latent) if latent else in_reading(config, reading)
    model = GPT(config).requires_grad_(False)
    caches = [LatentCache() if latent else KVCache() for _ in model.blocks]
    model(torch.zeros(1, 1, dtype=torch.long), caches=caches)
    assert sum(cache.bytes for cache in caches) == 4 * budget.cache(config.shape)


def saved(by_reading, blocks):
    dense = sum(by_reading["dense"][block] for block in blocks)
    return {name: 1 - sum(counts[block] for block in blocks) / dense for name, counts in by_reading.items()}


def test_the_readings_save_what_the_paper_and_the_inventory_say():
    counts = {reading: budget.parameters(GPTConfig().shape, reading) for reading in budget.READINGS}
    assert saved(counts, "qkv") == {"dense": 0, "qkv": 0.5, "qkvo": 0.5, "narrow": 0.5}
    assert saved(counts, "qkvo") == {"dense": 0, "qkv": 0.375, "qkvo": 0.5, "narrow": 0.5}
    block = {name: pytest.approx(x) for name, x in {"dense": 0, "qkv": 1 / 8, "qkvo": 1 / 6, "narrow": 1 / 6}.items()}
    assert saved(counts, [*"qkvo", "mlp"]) == block
    whole = saved(counts, ["total"])  # most of this model is its embedding
    assert 0 < whole["qkv"] < whole["qkvo"] == whole["narrow"] < 0.02


def test_with_biases_a_complex_linear_layer_keeps_them_whole_and_a_narrow_head_does_not():
    counts = {reading: budget.parameters(GPTConfig(bias=True).shape, reading) for reading in budget.READINGS}
    assert counts["qkv"]["q"] - counts["narrow"]["q"] == 4 * 64
    assert saved(counts, "qkv")["qkv"] < 0.5 == saved(counts, "qkv")["narrow"]


def test_half_the_weights_save_no_multiplication_and_gauss_saves_a_quarter():
    """The control: the narrow reading, which is real and narrow, does save, in the projections and in the scores."""
    real, gauss = (
        {name: budget.multiplications(GPTConfig().shape, name, context=1024, gauss=fast) for name in budget.READINGS}
        for fast in (False, True)
    )
    assert real["qkv"] == real["qkvo"] == real["dense"] == gauss["dense"]
    assert saved(gauss, "qkvo") == {"dense": 0, "qkv": 3 / 16, "qkvo": 1 / 4, "narrow": 1 / 2}
    assert real["narrow"]["scores"] * 2 == real["qkv"]["scores"]
