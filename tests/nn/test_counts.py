"""Parameters and multiplications by formula equal those of built models; the readings of the paper's section 5.1."""

import dataclasses

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rope_lab.algebra import budget
from rope_lab.nn.complex_linear import ComplexLinear
from rope_lab.nn.complex_products import PRODUCTS
from rope_lab.nn.counts import (
    count_multiplications,
    count_parameters,
    multiplication_counts,
    parameter_counts,
    readings,
)
from rope_lab.nn.gpt import GPT, GPTConfig

CONFIGS = st.builds(
    GPTConfig,
    vocab_size=st.sampled_from([10, 33]),
    seq_len=st.just(8),
    n_layers=st.sampled_from([1, 3]),
    n_heads=st.just(2),
    n_kv_heads=st.sampled_from([None, 1]),
    d_model=st.sampled_from([8, 24]),
    head_dim=st.sampled_from([4, 12]),
    block=st.sampled_from(["gpt2", "llama"]),
    layout=st.sampled_from(["half", "interleaved"]),
    tied=st.booleans(),
)


@given(CONFIGS, st.sampled_from(budget.READINGS), st.booleans())
def test_every_reading_has_the_parameters_that_the_formula_says(config, name, bias):
    config = readings(dataclasses.replace(config, bias=bias and config.block == "gpt2"))[name]
    model = GPT(config)
    assert parameter_counts(config) == count_parameters(model)
    assert parameter_counts(config)["total"] == sum(p.numel() for p in model.parameters())


@settings(max_examples=15)
@given(CONFIGS, st.sampled_from(["", "q", "qkv", "qkvo"]), st.sampled_from(list(PRODUCTS)), st.integers(1, 8))
def test_the_multiplications_are_those_that_torch_counts(config, roles, product, tokens):
    config = dataclasses.replace(config, complex_linear=roles)
    model = GPT(config).requires_grad_(False)
    for layer in model.modules():
        if isinstance(layer, ComplexLinear):
            layer.product = product
    window = torch.zeros(1, tokens, dtype=torch.long)
    counted, formula = (
        count_multiplications(model, window),
        multiplication_counts(config, tokens=tokens, product=product),
    )
    if product == "complex":  # torch counts a product of complex numbers as one of real ones
        missing = sum(formula[role] for role in config.complex_linear) * 3 // 4
        assert counted + missing == formula["total"]
    else:
        assert counted == formula["total"]


@given(
    st.sampled_from(budget.READINGS),
    st.sampled_from([1, 2]),
    st.sampled_from([1, 3]),
    st.sampled_from([8, 24]),
    st.sampled_from([(False, True), (True, True), (False, False)]),
    st.sampled_from(["gpt2", "llama"]),
    st.booleans(),
)
def test_the_algebra_s_budget_is_that_of_the_model(name, heads, layers, width, bias_and_tied, block, gauss):
    bias, tied = bias_and_tied
    plain = GPTConfig(
        vocab_size=33,
        seq_len=8,
        n_layers=layers,
        n_heads=heads,
        d_model=width,
        block=block,
        tied=tied,
        bias=bias and block == "gpt2",
    )
    config = readings(plain)[name]
    shape = budget.Shape(
        width=width,
        heads=heads,
        layers=layers,
        vocab=33,
        mlp_width=plain.hidden,
        tied=tied,
        bias=plain.bias,
        mlp_matrices=2 if block == "gpt2" else 3,
        norms=True,
    )
    closed, ours = budget.parameters(shape, name), parameter_counts(config)
    assert closed.pop("norm") + closed.pop("final") == ours.pop("norm")
    assert closed == ours
    one, window = (
        budget.multiplications(shape, name, context=8, gauss=gauss),
        multiplication_counts(config, tokens=8, product="gauss" if gauss else "real"),
    )
    assert {block: 8 * count for block, count in one.items()} == window


def saved(by_reading, blocks):
    dense = sum(by_reading["dense"][block] for block in blocks)
    return {name: 1 - sum(counts[block] for block in blocks) / dense for name, counts in by_reading.items()}


def test_the_readings_save_what_the_paper_and_the_inventory_say():
    found = {name: parameter_counts(config) for name, config in readings(GPTConfig()).items()}
    assert saved(found, "qkv") == {"dense": 0, "qkv": 0.5, "qkvo": 0.5, "narrow": 0.5}
    assert saved(found, "qkvo") == {"dense": 0, "qkv": 0.375, "qkvo": 0.5, "narrow": 0.5}
    block = {name: pytest.approx(x) for name, x in {"dense": 0, "qkv": 1 / 8, "qkvo": 1 / 6, "narrow": 1 / 6}.items()}
    assert saved(found, [*"qkvo", "mlp"]) == block
    whole = saved(found, ["total"])  # most of this model is its embedding
    assert 0 < whole["qkv"] < whole["qkvo"] == whole["narrow"] < 0.02


def test_with_biases_a_complex_linear_layer_keeps_them_whole_and_a_narrow_head_does_not():
    found = {name: parameter_counts(config) for name, config in readings(GPTConfig(bias=True)).items()}
    assert found["qkv"]["q"] - found["narrow"]["q"] == 4 * 64
    assert saved(found, "qkv")["qkv"] < 0.5 == saved(found, "qkv")["narrow"]


def test_half_the_weights_save_no_multiplication_and_gauss_saves_a_quarter():
    """The control: the narrow reading, which is real and narrow, does save, in the projections and in the scores."""
    configs = readings(GPTConfig())
    real = {name: multiplication_counts(config, tokens=1024) for name, config in configs.items()}
    gauss = {name: multiplication_counts(config, tokens=1024, product="gauss") for name, config in configs.items()}
    assert real["qkv"] == real["qkvo"] == real["dense"] == gauss["dense"]
    assert saved(gauss, "qkvo") == {"dense": 0, "qkv": 3 / 16, "qkvo": 1 / 4, "narrow": 1 / 2}
    assert real["narrow"]["scores"] * 2 == real["qkv"]["scores"]


def test_what_cannot_be_counted_is_refused():
    with pytest.raises(ValueError, match="product: expected one of real, complex, gauss"):
        multiplication_counts(GPTConfig(), tokens=8, product="strassen")
    for tokens in (0, 1025):
        with pytest.raises(ValueError, match=f"expected 1 to 1024, the longest context, got {tokens}"):
            multiplication_counts(GPTConfig(), tokens=tokens)
    latent = GPTConfig(d_latent=16, d_rope=8)
    with pytest.raises(ValueError, match="d_latent: expected None"):
        multiplication_counts(latent, tokens=8)
    for config in (latent, GPTConfig(head_dim=6)):
        with pytest.raises(ValueError, match="multiple of 4 and no latent"):
            readings(config)


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize("tokens", [2.5, None, "3", 0, 9])
def test_only_a_whole_number_of_tokens_is_counted(tokens):
    with pytest.raises(ValueError, match="tokens: expected 1 to 8, the longest context, got"):
        multiplication_counts(GPTConfig(seq_len=8), tokens=tokens)
