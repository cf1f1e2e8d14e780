"""The GPT: parameters by formula, paired initial values, causality, generation with a cache, the position schemes."""

import dataclasses
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rope_lab.algebra import budget
from rope_lab.nn.counts import count_parameters
from rope_lab.nn.gpt import GPT, GPTConfig, sinusoids
from rope_lab.nn.initial import generator_for

SMALL = GPTConfig(vocab_size=40, seq_len=24, n_layers=2, n_heads=2, d_model=16)
SUBSETS = st.sampled_from(["", "q", "qk", "vo", "qkv", "qkvo"])
CONFIGS = st.builds(
    GPTConfig,
    vocab_size=st.sampled_from([10, 33]),
    seq_len=st.just(8),
    n_layers=st.sampled_from([1, 3]),
    n_heads=st.sampled_from([1, 2]),
    d_model=st.sampled_from([8, 24]),
    head_dim=st.sampled_from([None, 2, 6]),
    block=st.sampled_from(["gpt2", "llama"]),
    mlp_width=st.sampled_from([None, 12]),
    positions=st.sampled_from(["none", "absolute", "rotary"]),
    rotated=SUBSETS,
    complex_linear=SUBSETS,
    layout=st.sampled_from(["half", "interleaved"]),
    tied=st.booleans(),
)


def small(**fields):
    return GPT(dataclasses.replace(SMALL, **fields), seed=fields.pop("seed", 0)).requires_grad_(False)


def formula(config):
    """The formula's counts in the blocks of the measured ones, which have one row for all norms."""
    counts = budget.parameters(config.shape)
    counts["norm"] += counts.pop("final")
    return counts


def text(length=20, *, batch=2, seed=0):
    return torch.randint(40, (batch, length), generator=torch.Generator().manual_seed(seed))


@given(CONFIGS, st.booleans())
def test_the_formulas_count_what_the_model_has(config, bias):
    config = dataclasses.replace(config, bias=bias and config.block == "gpt2")
    model = GPT(config)
    assert formula(config) == count_parameters(model)
    assert formula(config)["total"] == sum(p.numel() for p in model.parameters())


LATENT = {"shared": {"d_latent": 6}, "spliced": {"d_latent": 6, "d_rope": 4}, "MQA": {"n_kv_heads": 1}}


@pytest.mark.parametrize("form", LATENT)
@pytest.mark.parametrize("block", ["gpt2", "llama"])
def test_models_that_cache_less_are_counted_learn_and_decode_what_the_full_pass_says(form, block):
    model = GPT(dataclasses.replace(SMALL, block=block, **LATENT[form]), seed=0)
    assert formula(model.config) == count_parameters(model)
    assert formula(model.config)["total"] == sum(p.numel() for p in model.parameters())
    model(text()).sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())
    tokens = model.generate(text(4), n_tokens=6, temperature=0)
    again = torch.stack([model(tokens[:, :n])[:, -1].argmax(-1) for n in range(4, 10)], 1)
    assert torch.equal(tokens[:, 4:], again)


@pytest.mark.parametrize(
    "fields",
    [
        {"d_rope": 4},
        {"d_latent": 6, "rotated": "qkvo"},
        {"d_latent": 6, "positions": "none"},
        {"d_latent": 6, "complex_linear": "q"},
        {"d_latent": 6, "n_kv_heads": 1},
        {"d_latent": 0},
        {"n_kv_heads": 3},
    ],
)
def test_contradictions_of_what_is_cached_are_refused(fields):
    with pytest.raises(ValueError, match="expected"):
        GPT(dataclasses.replace(SMALL, **fields))


def test_the_papers_model_has_the_numbers_of_its_shape():
    counts = formula(GPTConfig())
    assert counts["q"] == 4 * 128 * 128
    assert counts["mlp"] == 4 * 8 * 128 * 128
    attention = lambda c: sum(formula(GPTConfig(**c))[role] for role in "qkvo")  # noqa: E731
    dense = attention({})
    assert attention({"complex_linear": "qkv"}) / dense == 0.625
    assert attention({"complex_linear": "qkvo"}) == attention({"head_dim": 16}) == dense / 2


@given(CONFIGS, CONFIGS, st.integers(0, 5))
def test_variants_start_equal_in_every_parameter_they_share(one, other, seed):
    a, b = dict(GPT(one, seed=seed).named_parameters()), dict(GPT(other, seed=seed).named_parameters())
    depth = one.n_layers == other.n_layers  # layers that write into the stream are scaled by the depth
    for name in a.keys() & b.keys():
        if a[name].shape == b[name].shape and (depth or not (".o." in name or ".down." in name)):
            assert torch.equal(a[name], b[name]), name


def test_each_name_has_a_stream_of_its_own_and_keeps_it():
    """The runs whose result cards are committed started from these streams."""
    assert generator_for(0, "embed.weight").initial_seed() == 2956821454833469499
    assert len({generator_for(s, n).initial_seed() for s in (0, 1) for n in ("a", "b")}) == 4


def test_the_seed_and_nothing_else_moves_the_initial_values():
    torch.manual_seed(1)
    one = small().state_dict()
    torch.manual_seed(2)
    same, other = small().state_dict(), GPT(SMALL, seed=1).state_dict()
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert not torch.equal(one["embedding.weight"], other["embedding.weight"])
    q, k = one["blocks.0.attention.q.weight"], one["blocks.0.attention.k.weight"]
    assert not torch.equal(q, k)  # a name of its own, a stream of its own
    assert q.std().item() == pytest.approx(0.02, rel=0.15)
    assert one["blocks.0.attention.o.weight"].std().item() == pytest.approx(0.01, rel=0.15)


@pytest.mark.parametrize("block", ["gpt2", "llama"])
@pytest.mark.parametrize("positions", ["none", "absolute", "rotary"])
def test_a_later_token_changes_no_earlier_logit(block, positions):
    model, tokens = small(block=block, positions=positions), text()
    changed = tokens.clone()
    changed[:, 10] = (changed[:, 10] + 1) % 40
    before, after = model(tokens), model(changed)
    assert torch.equal(before[:, :10], after[:, :10])
    assert not torch.equal(before[:, 10:], after[:, 10:])


@pytest.mark.parametrize("block", ["gpt2", "llama"])
@pytest.mark.parametrize(
    "scheme", [{"positions": "none"}, {"positions": "absolute"}, {"rotated": "qkvo"}, {"complex_linear": "qkvo"}]
)
def test_generation_with_the_cache_equals_full_passes(block, scheme):
    model, tokens = small(block=block, **scheme), text(5)
    with torch.no_grad():
        for p in model.parameters():
            p.mul_(4)  # far enough from flat that ties do not decide
    found = model.generate(tokens, n_tokens=12, temperature=0)
    for _ in range(12):
        tokens = torch.cat((tokens, model(tokens)[:, -1:].argmax(-1)), 1)
    assert torch.equal(found, tokens)


def test_sampling_follows_its_generator_and_top_k():
    model, tokens = small(), text(5)
    draw = lambda seed, **how: model.generate(  # noqa: E731
        tokens, n_tokens=10, generator=torch.Generator().manual_seed(seed), **how
    )
    assert torch.equal(draw(0), draw(0))
    assert not torch.equal(draw(0), draw(1))
    assert torch.equal(draw(0, top_k=1), model.generate(tokens, n_tokens=10, temperature=0))


@pytest.mark.parametrize("temperature", [1e-30, 1e-36, 1e-40, 5e-324])
def test_hardly_any_temperature_takes_the_likeliest(temperature):
    """Over the last two a logit is more than float32 can hold, and the last one is no number of float32 but 0."""
    model, tokens = small(), text(5)
    found = model.generate(tokens, n_tokens=10, temperature=temperature, top_k=3)
    assert torch.equal(found, model.generate(tokens, n_tokens=10, temperature=0))


def test_a_temperature_divides_the_logits():
    """One step on many equal rows: the shares of the tokens are the softmax of logits / temperature."""
    model, tokens = small(std=1.0), text(5, batch=1)
    drawn = model.generate(
        tokens.expand(5000, -1), n_tokens=1, temperature=7.0, generator=torch.Generator().manual_seed(0)
    )[:, -1]
    shares = drawn.bincount(minlength=40) / len(drawn)
    logits = model(tokens)[0, -1]
    torch.testing.assert_close(shares, (logits / 7).softmax(-1), rtol=0, atol=0.03)
    assert (shares - logits.softmax(-1)).abs().max() > 0.1


def test_too_long_a_context_is_refused_with_both_lengths():
    with pytest.raises(ValueError, match="at most 24 positions of context, got 25"):
        small()(text(25))
    with pytest.raises(ValueError, match="at most 24"):
        small().generate(text(20), n_tokens=9)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"top_k": 0}, "top_k: expected at least 1 token to choose from, got 0"),
        ({"top_k": -3}, "got -3"),
        ({"temperature": -1.0}, "temperature: expected a finite number of at least 0, got -1.0"),
        ({"temperature": math.nan}, "got nan"),
        ({"temperature": math.inf}, "got inf"),
        ({"n_tokens": -1}, "n_tokens"),
    ],
)
def test_what_cannot_be_sampled_is_refused(how, said):
    with pytest.raises(ValueError, match=said):
        small().generate(text(3), **{"n_tokens": 2, **how})


@pytest.mark.parametrize("call", [GPT.forward, lambda model, tokens: model.generate(tokens, n_tokens=1)])
@pytest.mark.parametrize("token", [-1, 40])
def test_a_token_of_another_vocabulary_is_refused(call, token):
    tokens = text(3)
    tokens[1, 1] = token
    low, high = tokens.min().item(), tokens.max().item()
    with pytest.raises(ValueError, match=f"tokens: expected numbers from 0 to 39, got {low} to {high}; take the tok"):
        call(small(), tokens)


def test_an_empty_prompt_is_refused():
    with pytest.raises(ValueError, match="at least one token to continue, got none"):
        small().generate(text(0), n_tokens=2)


def test_the_three_absolute_schemes_differ_in_the_share_of_position():
    """Size of the sinusoid over the size of the embedding that it is added to."""
    share = {}
    for name in ("embedding", "vaswani", "unit"):
        config = GPTConfig(vocab_size=500, seq_len=64, positions="absolute", absolute=name)
        embedding = GPT(config).embedding.weight.std().item() * (math.sqrt(128) if name == "vaswani" else 1)
        share[name] = sinusoids(config).square().mean().sqrt().item() / embedding
    assert share["embedding"] == pytest.approx(1, rel=0.05)
    assert share["vaswani"] == pytest.approx(3.125, rel=0.05)  # 1 / (0.02 * 16)
    assert share["unit"] == pytest.approx(35.4, rel=0.05)


def test_without_positions_a_single_layer_cannot_tell_the_order_and_with_them_it_can():
    tokens = text(6, batch=1)
    swapped = tokens[:, [1, 0, 2, 3, 4, 5]]
    for positions, blind in (("none", True), ("absolute", False), ("rotary", False)):
        model = small(positions=positions, n_layers=1)
        gap = (model(tokens)[:, -1] - model(swapped)[:, -1]).abs().max().item()
        assert (gap < 1e-6) is blind, positions


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"block": "gpt3"}, "gpt2, llama"),
        ({"positions": "learned"}, "none, absolute, rotary"),
        ({"n_heads": 3}, "divisible by 3"),
        ({"bias": True, "block": "llama"}, "no bias"),
        ({"rotated": "x"}, "q, k, v, o"),
        ({"n_heads": 0}, "n_heads: expected a whole number of at least 1, got 0"),
        ({"head_dim": 0}, "head_dim: .*got 0"),
        ({"n_layers": 2.0}, r"n_layers: .*got 2\.0"),
    ],
)
def test_a_config_that_makes_no_model_is_refused(fields, said):
    with pytest.raises(ValueError, match=said):
        dataclasses.replace(SMALL, **fields)


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize("tokens", [[[1, 2]], None, torch.ones(1, 2), torch.ones(1, 2, dtype=torch.bool)])
def test_what_is_no_token_numbers_is_refused(tokens):
    with pytest.raises(TypeError, match=r"tokens: expected a tensor of int64 or int32, got .*; convert with"):
        small()(tokens)


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize("n_tokens", [2.0, None, "2", True])
def test_a_number_of_new_tokens_is_whole(n_tokens):
    with pytest.raises(TypeError, match="n_tokens: expected an integer of at least 0, got"):
        small().generate(text(3), n_tokens=n_tokens)
    with pytest.raises(ValueError, match=r"top_k: expected at least 1 token to choose from, got 1\.5"):
        small().generate(text(3), n_tokens=1, top_k=1.5)


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize("std", [-0.1, math.nan, math.inf, "0.02", None])
def test_a_spread_that_means_nothing_is_refused(std):
    with pytest.raises(ValueError, match=r"GPTConfig\.std: expected a finite number of at least 0, got"):
        small(std=std)


def test_an_odd_stream_has_no_sinusoids_and_is_called_by_its_name():
    with pytest.raises(ValueError, match="d_model: expected a positive even integer, got 15"):
        small(positions="absolute", d_model=15, n_heads=1)


@pytest.mark.parametrize("positions", ["none", "absolute", "rotary"])
def test_it_is_made_on_the_device_that_is_asked_for(positions):
    """``with torch.device(...)``: no table is left on the CPU. "meta" stands for a GPU."""
    with torch.device("meta"):
        model = small(positions=positions)
        assert model(torch.zeros(1, 3, dtype=torch.int64)).device.type == "meta"


def test_the_first_weights_do_not_follow_torchs_default_dtype():
    torch.set_default_dtype(torch.float64)
    try:
        model = GPT(SMALL, seed=3)
    finally:
        torch.set_default_dtype(torch.float32)
    for p, other in zip(model.parameters(), GPT(SMALL, seed=3).double().parameters(), strict=True):
        torch.testing.assert_close(p, other, rtol=1e-7, atol=0)


def test_the_names_and_defaults_that_stored_configs_rely_on():
    """A card keeps what differs from these: a change of one would make another model of every committed config."""
    assert dataclasses.asdict(GPTConfig()) == {
        "vocab_size": 50_257,
        "seq_len": 1024,
        "n_layers": 4,
        "n_heads": 4,
        "d_model": 128,
        "head_dim": None,
        "n_kv_heads": None,
        "d_latent": None,
        "d_rope": 0,
        "block": "gpt2",
        "mlp_width": None,
        "positions": "rotary",
        "absolute": "embedding",
        "rotated": "qk",
        "base": 10_000.0,
        "layout": "half",
        "complex_linear": "",
        "tied": True,
        "bias": False,
        "std": 0.02,
    }
