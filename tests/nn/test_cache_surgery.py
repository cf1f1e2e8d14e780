"""Operations on a filled cache against a fresh reading: positions always, contents as far as the operation says."""

import numpy as np
import pytest
import torch

from rope_lab.algebra import Proportional, Yarn, rotate
from rope_lab.nn import (
    GPT,
    AttentionConfig,
    CausalAttention,
    Exact,
    GPTConfig,
    KVCache,
    LatentCache,
    LatentConfig,
    RotaryConfig,
    SharedLatentAttention,
    SplicedLatentAttention,
    drop_tokens,
    shift_tokens,
    splice_tokens,
)

SHAPE = {"d_model": 16, "n_heads": 4, "head_dim": 8}
TURNS = {
    "interleaved": {},
    "half": {"layout": "half"},
    "partial": {"rotary_dim": 4, "layout": "half"},
    "proportional": {"schedule": Proportional(share=0.5)},
    "stretched": {"schedule": Yarn(factor=4.0, window=64), "layout": "half"},
}


def attention(**config):
    turns = config.pop("turns", "interleaved")
    return CausalAttention(AttentionConfig(**SHAPE, rotary=RotaryConfig(8, base=100.0, **TURNS[turns]), **config))


LAYERS = {
    **{turns: lambda turns=turns: attention(turns=turns) for turns in TURNS},
    "grouped": lambda: attention(n_kv_heads=2, turns="half"),
    "values": lambda: attention(rotated="qkvo"),
    "values at their own speed": lambda: attention(rotated="qkvo", rotary_vo=RotaryConfig(8, base=7.0)),
    "values alone": lambda: attention(rotated="vo"),
    "keys alone": lambda: attention(rotated="k"),
    "none": lambda: attention(rotated=""),
    "shared": lambda: SharedLatentAttention(LatentConfig(**SHAPE, d_latent=6, base=100.0)),
    "shared, partial": lambda: SharedLatentAttention(LatentConfig(**SHAPE, d_latent=8, rotary_dim=4, layout="half")),
    "spliced": lambda: SplicedLatentAttention(LatentConfig(**SHAPE, d_latent=6, d_rope=4, base=100.0)),
}
layers = pytest.mark.parametrize("name", LAYERS)
MODELS = {
    "plain": {},
    "half": {"layout": "half", "block": "llama", "n_kv_heads": 2},
    "values": {"rotated": "qkvo"},
    "none": {"positions": "none"},
    "shared": {"d_latent": 6},
    "spliced": {"d_latent": 6, "d_rope": 4},
}
models = pytest.mark.parametrize("name", MODELS)


def layer(name):
    torch.manual_seed(0)
    return LAYERS[name]().double().requires_grad_(False)


def read(model, x, *, offset=0):
    """The caches of a reader of x, one or a list."""
    kinds = [KVCache if isinstance(part, CausalAttention) else LatentCache for part in model.modules() if part_of(part)]
    caches = [kind(offset=offset) for kind in kinds]
    if isinstance(model, GPT):
        model(x, caches=caches)
        return caches
    model(x, cache=caches[0])
    return caches[0]


def part_of(module):
    return isinstance(module, CausalAttention | SharedLatentAttention | SplicedLatentAttention)


def model(name, **more):
    config = GPTConfig(
        **{"vocab_size": 20, "seq_len": 64, "n_layers": 3, "n_heads": 4, "d_model": 16, "std": 0.7}
        | MODELS[name]
        | more
    )
    return GPT(config).double().requires_grad_(False)


def stream(length=10, *, seed=1):
    return torch.randn(2, length, 16, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def words(length=12, *, seed=2):
    return torch.randint(20, (2, length), generator=torch.Generator().manual_seed(seed))


def apart(one, other):
    assert (one.offset, one.seen) == (other.offset, other.seen)
    if not one.seen:
        return 0.0
    return max(float((a - b).abs().max()) for a, b in zip(one.tensors(), other.tensors(), strict=True))


CASES = {
    "a gap": (lambda m, _, c: drop_tokens(m, c, 2, 5), lambda x: torch.cat((x[:, :2], x[:, 5:]), 1)),
    "the beginning": (lambda m, _, c: drop_tokens(m, c, 0, 4), lambda x: x[:, 4:]),
    "the end": (lambda m, x, c: drop_tokens(m, c, 7, x.shape[1]), lambda x: x[:, :7]),
    "nothing": (lambda m, _, c: drop_tokens(m, c, 3, 3), lambda x: x),
    "everything": (lambda m, x, c: drop_tokens(m, c, 0, x.shape[1]), lambda x: x[:, :0]),
    "a chunk at the end": (
        lambda m, x, c: splice_tokens(m, c, read(m, x[:, :4], offset=9)),
        lambda x: torch.cat((x, x[:, :4]), 1),
    ),
    "a chunk within": (
        lambda m, x, c: splice_tokens(m, c, read(m, x[:, :4], offset=9), at=3),
        lambda x: torch.cat((x[:, :3], x[:, :4], x[:, 3:]), 1),
    ),
    "no chunk": (lambda m, x, c: splice_tokens(m, c, read(m, x[:, :0], offset=9)), lambda x: x),
}
cases = pytest.mark.parametrize("case", CASES)


@pytest.mark.deep(keep=40)
@layers
@cases
def test_a_layer_holds_what_a_fresh_reading_holds(name, case):
    made, (operate, rewrite) = layer(name), CASES[case]
    x, after = stream(), stream(3, seed=5)
    cache = read(made, x, offset=6)
    assert operate(made, x, cache) == Exact(positions=True, layers=1)
    fresh = read(made, rewrite(x), offset=6)
    assert apart(cache, fresh) < 1e-13
    torch.testing.assert_close(made(after, cache=cache), made(after, cache=fresh), atol=1e-12, rtol=0)


@layers
@pytest.mark.parametrize("by", [-6, 0, 1000])
def test_a_layer_that_is_shifted_holds_what_it_would_hold_there(name, by):
    made, x = layer(name), stream()
    cache = read(made, x, offset=6)
    shift_tokens(made, cache, by)
    assert apart(cache, read(made, x, offset=6 + by)) < 1e-12


@pytest.mark.parametrize("layout", ["interleaved", "half"])
def test_the_keys_are_those_of_the_reference(layout):
    """Not our own fast form twice: the definition in float64 turns the same keys by D."""
    made = attention(turns=layout).double().requires_grad_(False)
    cache, theta = read(made, stream()), list(made.config.rotary.frequencies)
    before = cache.k.numpy().copy()
    shift_tokens(made, cache, 5)
    right = rotate(before, np.full(10, 5), theta=theta, layout=layout)
    assert np.abs(cache.k.numpy() - right).max() < 1e-13
    wrong = rotate(before, np.full(10, 5), theta=theta, layout="half" if layout == "interleaved" else "interleaved")
    assert np.abs(cache.k.numpy() - wrong).max() > 0.1


def test_control_other_turns_are_not_those_of_a_fresh_reading():
    made, x = layer("values at their own speed"), stream()
    fresh = read(made, x[:, 3:])
    for wrong in (0, 3):  # left where they were, or moved the wrong way
        cache = read(made, x)
        cache.k, cache.v = cache.k[..., 3:, :], cache.v[..., 3:, :]
        if wrong:
            shift_tokens(made, cache, wrong)
            cache.offset = 0
        assert apart(cache, fresh) > 0.1


@models
def test_moving_everything_changes_nothing_in_any_layer(name):
    made, here = model(name), read(model(name), words())
    plain = made(words(3), caches=read(made, words()))
    assert shift_tokens(made, here, 40) == Exact(positions=True, layers=3)
    assert all(apart(a, b) < 1e-11 for a, b in zip(here, read(made, words(), offset=40), strict=True))
    torch.testing.assert_close(made(words(3), caches=here), plain, atol=1e-10, rtol=0)


def test_control_where_positions_are_not_relative_one_layer_is_exact():
    made = model("plain", rotated="k")
    here, there = read(made, words()), read(made, words(), offset=40)
    assert shift_tokens(made, here, 40) == Exact(positions=True, layers=1)
    assert apart(here[0], there[0]) < 1e-12
    assert apart(here[1], there[1]) > 1e-2


@pytest.mark.deep(keep=16)
@models
@cases
def test_a_model_is_exact_in_as_many_layers_as_the_operation_says(name, case):
    made, (operate, rewrite) = model(name), CASES[case]
    here = read(made, words())
    said = operate(made, words(), here)
    fresh = read(made, rewrite(words()))
    differ = [apart(a, b) > 1e-3 for a, b in zip(here, fresh, strict=True)]
    assert said.positions
    assert differ == [i >= said.layers for i in range(3)]
    logits = made(words(2), caches=here)  # decoding goes on
    assert logits.isfinite().all()
    assert here[0].position == rewrite(words()).shape[1] + 2
    if said.layers == 3:
        torch.testing.assert_close(logits, made(words(2), caches=fresh), atol=1e-10, rtol=0)


def test_a_chunk_stays_as_it_was_and_what_is_before_the_gap_keeps_every_bit():
    made = layer("half")
    cache, chunk = read(made, stream()), read(made, stream(3), offset=20)
    k, v = chunk.k.clone(), cache.v[..., :2, :].clone()
    splice_tokens(made, cache, chunk, at=2)
    assert torch.equal(chunk.k, k)
    assert chunk.offset == 20
    assert torch.equal(cache.v[..., :2, :], v)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_a_half_cache_is_rounded_once(dtype):
    made = layer("half").to(dtype)
    cache = read(made, stream().to(dtype))
    right = rotate(cache.k.double().numpy(), np.full(10, 7), theta=list(made.config.rotary.frequencies), layout="half")
    shift_tokens(made, cache, 7)
    assert cache.k.dtype == dtype
    off = np.abs(cache.k.double().numpy() - right).max() / np.abs(right).max()
    assert 0 < off <= torch.finfo(dtype).eps


REFUSALS = {
    "before the beginning": (lambda m, c: shift_tokens(m, c, -7), r"by: expected at least -6, got -7.*stand at -1"),
    "half a place": (lambda m, c: shift_tokens(m, c, 0.5), "by: expected a whole number of places, got 0.5"),
    "beyond the window": (lambda m, c: shift_tokens(m, c, 50), "expected at most 64 positions of context, got 68"),
    "rows that are not there": (lambda m, c: drop_tokens(m, c, 10, 13), r"<= 12, the tokens held, got 10 and 13"),
    "rows backwards": (lambda m, c: drop_tokens(m, c, 5, 4), "expected 0 <= start <= stop"),
    "a negative row": (lambda m, c: drop_tokens(m, c, -4, 4), "start: expected an integer of at least 0, got -4"),
    "behind the end": (
        lambda m, c: splice_tokens(m, c, read(m, words(2)), at=13),
        "at: expected at most 12, the tokens held, got 13; None is the end",
    ),
    "another batch": (
        lambda m, c: splice_tokens(m, c, read(m, words(2)[:1])),
        r"chunk: expected torch.float64 .* as held, got torch.float64 \(1, .*same batch",
    ),
    "too few caches": (lambda m, c: drop_tokens(m, c[:2], 0, 1), "caches: expected 3, one for each layer, got 2"),
    "too few in the chunk": (lambda m, c: splice_tokens(m, c, c[:1]), "chunk: expected 3, one for each layer, got 1"),
    "latents": (
        lambda m, c: drop_tokens(m, [LatentCache() for _ in c], 0, 0),
        "caches: expected a KVCache for CausalAttention, got LatentCache",
    ),
    "caches that differ": (
        lambda m, c: drop_tokens(m, [*c[:2], KVCache(offset=6)], 0, 0),
        r"caches: expected all with one offset and as many tokens, got \(offset, tokens\) \[\(6, 0\), \(6, 12\)\]",
    ),
    "a stranger": (
        lambda _, c: drop_tokens(torch.nn.Linear(2, 2), c[:1], 0, 1),
        "model: expected a GPT or one of its attention layers, got Linear",
    ),
}


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize("case", REFUSALS)
def test_refusals_name_the_way_out_and_change_nothing(case):
    made, (operate, message) = model("plain"), REFUSALS[case]
    caches = read(made, words(), offset=6)
    before = [cache.k.clone() for cache in caches]
    with pytest.raises((TypeError, ValueError), match=message):
        operate(made, caches)
    assert all(torch.equal(a, b.k) and b.offset == 6 for a, b in zip(before, caches, strict=True))


def test_positions_that_were_added_cannot_be_turned():
    made = model("plain", positions="absolute")
    caches = read(made, words())
    with pytest.raises(ValueError, match=r"expected positions that turn, or none, got absolute ones.*read the text ag"):
        drop_tokens(made, caches, 0, 2)
    assert drop_tokens(made, caches, 9, 12) == Exact(positions=True, layers=3)  # at the end nothing moves
    assert all(apart(a, b) < 1e-12 for a, b in zip(caches, read(made, words()[:, :9]), strict=True))


def test_a_rotation_of_someone_else_is_refused():
    made = layer("half")
    cache = read(made, stream())
    made.rotary = torch.nn.Identity()
    with pytest.raises(TypeError, match="model: expected layers that turn with a Rotary, got Identity"):
        shift_tokens(made, cache, 1)
