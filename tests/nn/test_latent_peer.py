"""What chapter 9 says of DeepSeek-V4, seen on one layer of its implementation in transformers, with random weights.

The layer is one without merged entries. One tensor goes in as key and as value, and the output is relative because it
is turned back: without that turn the same layer sees a shift.
"""

import pytest
import torch

from tests.nn.peer import load

LENGTH, WINDOW, WIDTH = 24, 8, 64
STEP = torch.arange(LENGTH)
BEFORE = STEP[:, None] - STEP
MASK = torch.zeros(LENGTH, LENGTH, dtype=torch.float64).masked_fill((BEFORE < 0) | (BEFORE >= WINDOW), -1e300)


@pytest.fixture
def peer():
    return load("transformers.models.deepseek_v4.modeling_deepseek_v4")


def outputs(peer, *, shift=0):
    """The layer's outputs for one fixed text that begins at ``shift``."""
    config = peer.DeepseekV4Config(
        hidden_size=WIDTH,
        num_attention_heads=4,
        head_dim=32,
        partial_rotary_factor=0.5,
        q_lora_rank=16,
        o_groups=2,
        o_lora_rank=16,
        sliding_window=WINDOW,
        vocab_size=32,
        num_hidden_layers=1,
        layer_types=["sliding_attention"],
        mlp_layer_types=["moe"],
    )
    config._attn_implementation = "eager"
    torch.manual_seed(0)
    layer = peer.DeepseekV4Attention(config, 0).double().eval()
    for p in layer.parameters():
        torch.nn.init.normal_(p, std=0.3)
    x, at = torch.randn(1, LENGTH, WIDTH, dtype=torch.float64), STEP[None] + shift
    tables = peer.DeepseekV4RotaryEmbedding(config)
    turns = {kind: tables(x, at, layer_type=kind) for kind in ("main", "compress")}
    with torch.no_grad():
        return layer(x, turns, at, MASK[None, None])[0]


def moved(peer):
    near, far = outputs(peer), outputs(peer, shift=1000)
    return ((far - near).abs().max() / near.abs().max()).item()


def test_one_tensor_is_key_and_value_of_all_heads(peer, monkeypatch):
    seen, attend = [], peer.eager_attention_forward

    def watched(module, query, key, value, *rest, **named):
        seen.append((key is value, query.shape[1], key.shape[1], query.shape[-1] == key.shape[-1]))
        return attend(module, query, key, value, *rest, **named)

    monkeypatch.setattr(peer, "eager_attention_forward", watched)
    outputs(peer)
    assert seen == [(True, 4, 1, True)]


def test_the_outputs_do_not_see_a_shift(peer):
    assert moved(peer) < 1e-4  # the tables are float32


def test_control_without_the_turn_back_they_do(peer, monkeypatch):
    turn, calls = peer.apply_rotary_pos_emb, []

    def twice_only(x, *tables):
        calls.append(x.shape)
        return x if len(calls) % 3 == 0 else turn(x, *tables)  # query, entry, output

    monkeypatch.setattr(peer, "apply_rotary_pos_emb", twice_only)
    assert moved(peer) > 0.1
    assert len(calls) == 6
