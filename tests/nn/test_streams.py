"""A stream through a short cache: what each way holds, which of them are one, and what rounding does."""

import dataclasses

import pytest
import torch
import torch.nn.functional as F
from jaxtyping import TypeCheckError

from rope_lab.algebra.frequency_schedules import Yarn
from rope_lab.nn.cache import KVCache
from rope_lab.nn.cache_surgery import drop_tokens
from rope_lab.nn.gpt import GPT, GPTConfig
from rope_lab.nn.long_texts import rescheduled
from rope_lab.nn.rotary import RotaryConfig
from rope_lab.nn.streams import SlidingCache, Way, stream_losses, ways

CONFIG = GPTConfig(vocab_size=11, seq_len=8, n_layers=2, n_heads=2, d_model=16, std=0.3)
WINDOW = 8


@pytest.fixture(scope="module")
def model():
    return GPT(CONFIG, seed=1).double().requires_grad_(False)


@pytest.fixture(scope="module")
def tokens():
    return torch.randint(11, (2, 31), generator=torch.Generator().manual_seed(0))


def read(model, tokens, way):
    return stream_losses(model, tokens, window=WINDOW, way=way)


def last_loss(model, text):
    return F.cross_entropy(model(text[:, :-1])[:, -1], text[:, -1], reduction="none")


def test_recomputed_is_a_fresh_reading_of_the_last_window(model, tokens):
    found = read(model, tokens, Way(keys="recomputed"))
    for end in (3, 8, 9, 20, 30):
        fresh = last_loss(model, tokens[:, max(0, end - WINDOW) : end + 1])
        torch.testing.assert_close(found[:, end - 1], fresh)


def test_while_the_cache_fills_all_ways_are_the_plain_model(model, tokens):
    whole = F.cross_entropy(model(tokens[:, :WINDOW]).transpose(1, 2), tokens[:, 1 : WINDOW + 1], reduction="none")
    for name, way in ways(WINDOW).items():
        exact = way.dtype == torch.float32 and way.keys != "turned"
        torch.testing.assert_close(
            read(model, tokens, way)[:, :WINDOW],
            whole,
            atol=1e-4 if exact else 0.05,
            rtol=0,
            msg=lambda m, n=name: n + m,
        )


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_turned_keys_and_unturned_ones_give_one_loss(model, tokens, dtype):
    turned, unturned = (read(model, tokens, Way(keys=keys, dtype=dtype)) for keys in ("turned", "unturned"))
    tolerance = 1e-12 if dtype == torch.float64 else 1e-5
    torch.testing.assert_close(turned, unturned, atol=tolerance, rtol=0)


@pytest.mark.parametrize("block", [1, 4])
def test_turned_keys_are_those_of_the_operation_on_a_cache(model, tokens, block):
    caches, seen = [KVCache() for _ in model.blocks], []
    for token in tokens[:, :-1].split(1, dim=1):
        if caches[0].seen == WINDOW:
            drop_tokens(model, caches, 0, block)
        seen.append(model(token, caches=caches))
    dropped = F.cross_entropy(torch.cat(seen, 1).transpose(1, 2), tokens[:, 1:], reduction="none")
    found = read(model, tokens, Way(dtype=torch.float64, block=block))
    torch.testing.assert_close(found, dropped, atol=1e-12, rtol=0)


def test_one_layer_that_is_moved_is_one_that_is_recomputed(tokens):
    """In the first layer keys have read nothing but their own token: there, eviction is exact."""
    one = GPT(dataclasses.replace(CONFIG, n_layers=1), seed=1).double().requires_grad_(False)
    moved, fresh = read(one, tokens, Way(dtype=torch.float64)), read(one, tokens, Way(keys="recomputed"))
    torch.testing.assert_close(moved, fresh, atol=1e-12, rtol=0)


def test_control_two_layers_keep_what_they_had_read(model, tokens):
    moved, fresh = read(model, tokens, Way(dtype=torch.float64)), read(model, tokens, Way(keys="recomputed"))
    assert (moved - fresh)[:, WINDOW:].abs().max() > 1e-3
    assert (moved - fresh)[:, :WINDOW].abs().max() < 1e-12


def test_by_blocks_half_of_the_cache_is_dropped_at_once(tokens):
    one = GPT(dataclasses.replace(CONFIG, n_layers=1), seed=1).double().requires_grad_(False)
    found = read(one, tokens, Way(dtype=torch.float64, block=4))
    for end, start in ((8, 0), (9, 4), (12, 4), (13, 8), (30, 24)):  # the token read, and the first one in sight
        torch.testing.assert_close(found[:, end - 1], last_loss(one, tokens[:, start : end + 1]))


def test_rounding_at_every_step_costs_more_than_rounding_once(model, tokens):
    exact = read(model, tokens, Way(dtype=torch.float64))
    often, once = (read(model, tokens, Way(keys=k, dtype=torch.bfloat16)) - exact for k in ("turned", "unturned"))
    assert often.abs().mean() > once.abs().mean() > 1e-5


def test_what_a_rounded_cache_holds_is_rounded_after_every_turn():
    way = Way(dtype=torch.bfloat16)
    cache = SlidingCache(RotaryConfig(8), window=4, way=way, dtype=torch.float32)
    keys = torch.randn(2, 7, 8, generator=torch.Generator().manual_seed(0))
    for k in keys.split(1, dim=1):
        held, values = cache.extend(k, k)
        assert torch.equal(held, held.bfloat16().float())
        assert torch.equal(values[:, -1:], k)  # values are left alone
    assert (held.shape[1], held.dtype) == (4, torch.float32)


def test_words_say_what_happens():
    assert {way.words for way in ways(128).values()} == {
        "everything recomputed",
        "keys turned anew at every step, float32",
        "keys turned anew at every step, bfloat16",
        "keys turned anew once in 64 steps, float32",
        "keys turned anew once in 64 steps, bfloat16",
        "keys stored without a turn, float32",
        "keys stored without a turn, bfloat16",
    }


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"keys": "moved"}, "keys"),
        ({"block": 0}, "at least 1 token"),
        ({"keys": "recomputed", "block": 4}, "nothing is stored"),
    ],
)
def test_a_way_that_there_is_not_is_refused(fields, said):
    with pytest.raises((ValueError, TypeCheckError), match=said):
        Way(**fields)


def test_a_model_or_a_window_that_does_not_fit_is_refused(model, tokens):
    for changes, said in (({"positions": "none"}, "positions='none'"), ({"rotated": "qkvo"}, "rotated='qkvo'")):
        with pytest.raises(ValueError, match=said):
            read(GPT(dataclasses.replace(CONFIG, **changes)), tokens, Way())
    with pytest.raises(ValueError, match="at most the 8 positions"):
        stream_losses(model, tokens, window=9, way=Way())
    with pytest.raises(ValueError, match="more than the block of 8"):
        read(model, tokens, Way(block=8))
    with pytest.raises(ValueError, match="without an attention factor"):
        read(rescheduled(model, Yarn(4, 8), seq_len=8), tokens, Way())
