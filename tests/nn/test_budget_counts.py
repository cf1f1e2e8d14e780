"""The closed counts of algebra.budget are those of models that are built."""

import pytest

from rope_lab.algebra import budget
from rope_lab.nn.counts import count_parameters, parameter_counts
from rope_lab.nn.gpt import GPT, GPTConfig

OPTIONS = {"dense": {}, "qkv": {"complex_linear": "qkv"}, "qkvo": {"complex_linear": "qkvo"}, "narrow": {"head_dim": 8}}


def both(reading, *, bias=False, tied=True, block="gpt2"):
    config = GPTConfig(
        vocab_size=64,
        seq_len=8,
        n_layers=2,
        n_heads=4,
        d_model=64,
        bias=bias,
        tied=tied,
        block=block,
        **OPTIONS[reading],
    )
    shape = budget.Shape(
        width=64,
        heads=4,
        layers=2,
        vocab=64,
        mlp_width=config.hidden,
        bias=bias,
        tied=tied,
        norms=True,
        mlp_matrices=2 if block == "gpt2" else 3,
    )
    return config, budget.parameters(shape, reading)


@pytest.mark.parametrize("reading", budget.READINGS)
@pytest.mark.parametrize("options", [{}, {"bias": True}, {"tied": False}, {"block": "llama"}])
def test_every_part_is_that_of_the_model(reading, options):
    config, said = both(reading, **options)
    said["norm"] += said.pop("final")  # the model's count has one row for norms
    assert said == parameter_counts(config) == count_parameters(GPT(config))


def test_the_paper_s_own_size():
    config = GPTConfig(complex_linear="qkv")
    shape = budget.Shape(width=128, heads=4, layers=4, vocab=50_257, norms=True)
    assert budget.parameters(shape, "qkv")["total"] == parameter_counts(config)["total"]


def test_a_reading_is_not_another():
    _, said = both("qkvo", bias=True)
    config, _ = both("narrow", bias=True)
    assert said["q"] != parameter_counts(config)["q"]  # the narrow one has half the biases too


def test_a_token_s_cache_is_that_of_the_model():
    import torch

    from rope_lab.nn.cache import KVCache

    for reading in budget.READINGS:
        model = GPT(both(reading)[0])
        caches = [KVCache() for _ in model.blocks]
        model(torch.zeros(1, 1, dtype=torch.long), caches=caches)
        kept = sum(value.numel() for c in caches for value in vars(c).values() if isinstance(value, torch.Tensor))
        assert kept == budget.cache(budget.Shape(width=64, heads=4, layers=2), reading)
