"""Every cache owns its position, and every layer and every model takes it from there alone."""

import pytest
import torch

from rope_lab.nn.attention import AttentionConfig, CausalAttention
from rope_lab.nn.cache import KVCache, LatentCache
from rope_lab.nn.gpt import GPT, GPTConfig
from rope_lab.nn.latent_attention import LatentConfig, SharedLatentAttention, SplicedLatentAttention
from rope_lab.nn.rotary import RotaryConfig

TURNS = RotaryConfig(head_dim=4)
SHAPE = {"d_model": 8, "n_heads": 2, "head_dim": 4}
LAYERS = {
    "relative": (lambda: CausalAttention(AttentionConfig(**SHAPE, rotary=TURNS)), KVCache),
    "absolute": (lambda: CausalAttention(AttentionConfig(**SHAPE, rotary=TURNS, rotated="v")), KVCache),
    "unrotated": (lambda: CausalAttention(AttentionConfig(**SHAPE, rotated="")), KVCache),
    "shared": (lambda: SharedLatentAttention(LatentConfig(**SHAPE, d_latent=6)), LatentCache),
    "spliced": (lambda: SplicedLatentAttention(LatentConfig(**SHAPE, d_latent=6, d_rope=4)), LatentCache),
}
MODELS = {
    "rotary": {},
    "values": {"rotated": "v"},
    "absolute": {"positions": "absolute"},
    "none": {"positions": "none"},
    "shared": {"d_latent": 6},
    "spliced": {"d_latent": 6, "d_rope": 4},
}
layers, models = pytest.mark.parametrize("name", LAYERS), pytest.mark.parametrize("name", MODELS)


def layer(name):
    torch.manual_seed(0)
    make, cache = LAYERS[name]
    return make().double().requires_grad_(False), cache


def model(name, *, seq_len=16):
    config = GPTConfig(vocab_size=20, seq_len=seq_len, n_layers=2, n_heads=2, d_model=8, std=0.5, **MODELS[name])
    kind = LatentCache if config.d_latent else KVCache
    return GPT(config).double().requires_grad_(False), lambda *offsets: [kind(offset=n) for n in offsets]


def stream():
    return torch.randn(2, 5, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


def words(length=5):
    return torch.randint(20, (2, length), generator=torch.Generator().manual_seed(2))


@layers
def test_the_cache_says_where_the_text_stands(name):
    made, kind = layer(name)
    x, cache = stream(), kind(offset=7)
    assert (cache.offset, cache.seen, cache.position) == (7, 0, 7)
    pieces = torch.cat([made(x[:, :3], cache=cache), made(x[:, 3:], cache=cache)], 1)
    torch.testing.assert_close(pieces, made(x, offset=7), atol=1e-11, rtol=0)
    assert (cache.offset, cache.seen, cache.position) == (7, 5, 12)


def test_control_one_layer_sees_where_its_text_stands():
    made, kind = layer("absolute")
    assert (made(stream(), cache=kind(offset=7)) - made(stream())).abs().max() > 1e-3


@layers
def test_an_offset_beside_a_cache_is_refused_and_the_cache_stays_as_it_was(name):
    made, kind = layer(name)
    cache = kind(offset=7)
    with pytest.raises(ValueError, match=rf"offset: expected 0 beside a cache, got 3.*{kind.__name__}\(offset=3\)"):
        made(stream(), offset=3, cache=cache)
    assert cache.position == 7


@layers
@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize("offset", [-1, 1.5, None, True, "3"])
def test_an_offset_is_a_whole_number_for_a_layer_and_for_a_cache(name, offset):
    made, kind = layer(name)
    for call in (lambda: made(stream(), offset=offset), lambda: kind(offset=offset)):
        with pytest.raises((TypeError, ValueError), match=r"^offset: expected an integer of at least 0, got .*; count"):
            call()


@layers
def test_a_cache_knows_its_bytes(name):
    made, kind = layer(name)
    cache = kind()
    assert cache.bytes == 0
    made(stream(), cache=cache)
    assert cache.bytes == 8 * 2 * 5 * {"shared": 6, "spliced": 10}.get(name, 2 * 8)


@models
def test_a_model_counts_positions_from_its_caches(name):
    """In any pieces, and in every scheme: the same logits as a model whose first position is the offset."""
    made, caches = model(name)
    here = caches(4, 4)
    pieces = torch.cat([made(words()[:, :2], caches=here), made(words()[:, 2:], caches=here)], 1)
    if name == "absolute":
        made.sinusoids = made.sinusoids[4:]
    elif name == "values":  # every layer's table from position 4 on
        for block in made.blocks:
            right = block.attention.rotary.forward
            block.attention.rotary.forward = lambda x, offset=0, right=right, **more: right(
                x, offset=offset + 4, **more
            )
    torch.testing.assert_close(pieces, made(words()), atol=1e-11, rtol=0)


@pytest.mark.parametrize("name", ["absolute", "values"])
def test_control_where_the_text_stands_matters_to_what_is_not_relative(name):
    made, caches = model(name)
    assert (made(words(), caches=caches(4, 4)) - made(words())).abs().max() > 1e-3


@models
def test_the_window_counts_the_offset(name):
    made, caches = model(name, seq_len=8)
    assert made(words(4), caches=caches(4, 4)).shape == (2, 4, 20)
    with pytest.raises(ValueError, match="expected at most 8 positions of context, got 9: 5 from 4 on"):
        made(words(5), caches=caches(4, 4))


@models
def test_caches_that_stand_at_different_places_are_refused(name):
    made, caches = model(name)
    with pytest.raises(ValueError, match="caches: expected all at one position, got 4, 5"):
        made(words(), caches=caches(4, 5))


def test_no_caches_at_all_are_not_an_empty_list():
    made, _ = model("rotary")
    with pytest.raises(ValueError, match="caches: expected 2, one for each block, got 0"):
        made(words(), caches=[])
