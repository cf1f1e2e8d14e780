"""Reading beyond the window: other frequencies with shared weights, and bins that read the same text."""

import dataclasses
from functools import partial

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from jaxtyping import TypeCheckError

from rope_lab.algebra.frequency_schedules import NTK, DynamicNTK, Linear, Schedule, Yarn
from rope_lab.nn.gpt import GPT, GPTConfig
from rope_lab.nn.long_texts import losses_by_bin, read_long, reschedule, rescheduled

CONFIG = GPTConfig(vocab_size=11, seq_len=8, n_layers=2, n_heads=2, d_model=16, std=0.3)


@pytest.fixture(scope="module")
def model():
    return GPT(CONFIG, seed=1).requires_grad_(False)


@pytest.fixture(scope="module")
def tokens():
    return torch.randint(11, (2, 32), generator=torch.Generator().manual_seed(0))


def quartered(turn, x, *, offset, inverse):
    """Rotate rows that stand at 0, 1/4, 2/4, ..."""
    assert (offset, inverse) == (0, False)
    return turn(x, positions=torch.arange(x.shape[-2]) / 4)


def test_positions_divided_by_four_are_linear_scaling(model, tokens, monkeypatch):
    """Theta n / 4: the schedule, and positions that are counted in quarters."""
    read = rescheduled(model, Linear(4), seq_len=32)(tokens)
    quarters = rescheduled(model, Schedule(), seq_len=32)
    for layer in (block.attention for block in quarters.blocks):
        monkeypatch.setattr(layer.rotary, "forward", partial(quartered, layer.rotary.forward))
    torch.testing.assert_close(read, quarters(tokens))
    assert (read - rescheduled(model, NTK(4), seq_len=32)(tokens)).abs().max() > 1e-3  # another schedule is seen


def test_the_model_itself_stays_as_it_was_and_shares_its_weights(model, tokens):
    before = model(tokens[:, :8])
    other = rescheduled(model, Yarn(4, 8), seq_len=32)
    assert all(a is b for a, b in zip(model.parameters(), other.parameters(), strict=True))
    assert torch.equal(model(tokens[:, :8]), before)
    assert (model.config.seq_len, other.config.seq_len) == (8, 32)
    torch.testing.assert_close(rescheduled(model, Schedule(), seq_len=32)(tokens[:, :8]), before)


def test_in_place_the_model_itself_changes(tokens):
    changed = GPT(CONFIG, seed=1)
    reschedule(changed, Linear(4), seq_len=32)
    torch.testing.assert_close(changed(tokens), rescheduled(GPT(CONFIG, seed=1), Linear(4), seq_len=32)(tokens))


def test_dynamic_ntk_reads_each_step_with_the_frequencies_of_its_length(model, tokens):
    schedule = DynamicNTK(1.0, 8)
    read = read_long(model, tokens, schedule=schedule, step=16)
    torch.testing.assert_close(read[:, :16], rescheduled(model, NTK(2.0), seq_len=16)(tokens[:, :16]))
    torch.testing.assert_close(read[:, 16:], rescheduled(model, NTK(4.0), seq_len=32)(tokens)[:, 16:])


def test_kept_keys_follow_the_frequencies_of_their_own_time(tokens):
    """In one layer: the keys of the first half turned by NTK(2), the queries and keys of the second by NTK(4)."""
    one = GPT(dataclasses.replace(CONFIG, n_layers=1), seed=1).requires_grad_(False)
    layer, x = one.blocks[0].attention, one.blocks[0].attention_norm(one.embedding(tokens))
    q, k, v = (getattr(layer, role)(x).unflatten(-1, (2, 8)).transpose(1, 2) for role in "qkv")
    early, late = (rescheduled(one, NTK(f), seq_len=32).blocks[0].attention.rotary for f in (2.0, 4.0))
    keys = torch.cat((early(k[..., :16, :]), late(k)[..., 16:, :]), -2)
    scores = late(q)[..., 16:, :] @ keys.transpose(-1, -2) / np.sqrt(8)
    weights = scores.masked_fill(~torch.ones(16, 32, dtype=torch.bool).tril(16), -torch.inf).softmax(-1)
    y = layer.o((weights @ v).transpose(1, 2).flatten(-2)) + one.embedding(tokens)[:, 16:]
    y = y + one.blocks[0].mlp(one.blocks[0].mlp_norm(y))
    expected = F.linear(one.norm(y), one.embedding.weight)
    kept = read_long(one, tokens, schedule=DynamicNTK(1.0, 8), keys="kept", step=16)
    torch.testing.assert_close(kept[:, 16:], expected)
    fresh = read_long(one, tokens, schedule=DynamicNTK(1.0, 8), keys="recomputed", step=16)
    torch.testing.assert_close(kept[:, :16], fresh[:, :16])
    assert (kept - fresh)[:, 16:].abs().max() > 1e-3  # control: the two differ as soon as the list has changed


def test_kept_and_recomputed_are_one_where_the_frequencies_stay(model, tokens):
    one, other = (read_long(model, tokens, schedule=Linear(4), keys=keys) for keys in ("recomputed", "kept"))
    assert torch.equal(one, other)


def test_every_bin_reads_the_same_text():
    """A model that sees one token foresees it alike from every bin; the text is the pieces that stood in all."""
    blind = GPT(dataclasses.replace(CONFIG, positions="none"), seed=1).requires_grad_(False)
    for block in blind.blocks:  # no attention: nothing before the token is read
        block.attention.o.weight.zero_()
    stream = torch.randint(11, (61,), generator=torch.Generator().manual_seed(3))
    found = losses_by_bin(blind, stream, length=16, width=4)
    assert found.shape == (4,)
    losses = F.cross_entropy(
        rescheduled(blind, Schedule(), seq_len=60)(stream[None, :-1])[0], stream[1:], reduction="none"
    )
    windows = (60 - 16) // 4 + 1
    pieces = losses.view(-1, 4)[3:windows]  # in the fourth piece of the first window, in the first of the last
    torch.testing.assert_close(found, pieces.double().mean().expand(4), atol=1e-6, rtol=0)


def test_control_a_reader_of_context_differs_between_bins(model):
    stream = torch.randint(11, (61,), generator=torch.Generator().manual_seed(3))
    found = losses_by_bin(model, stream, length=16, width=4)
    assert found.max() - found.min() > 1e-3


@pytest.mark.parametrize(
    ("changes", "said"), [({"positions": "absolute"}, "positions='absolute'"), ({"d_latent": 8}, "d_latent=8")]
)
def test_a_model_without_turning_keys_is_refused(changes, said):
    with pytest.raises(ValueError, match=said):
        rescheduled(GPT(dataclasses.replace(CONFIG, **changes)), Linear(2), seq_len=16)


def test_what_cannot_be_read_is_refused(model, tokens):
    with pytest.raises(ValueError, match=r"config.at\(8192\)"):
        rescheduled(model, DynamicNTK(1.0, 8), seq_len=32)
    with pytest.raises((ValueError, TypeCheckError), match="keys"):
        read_long(model, tokens, keys="old")
    with pytest.raises(ValueError, match="at least 29 tokens, got 16, 4 and 20 tokens"):
        losses_by_bin(model, tokens[0, :20], length=16, width=4)
    with pytest.raises(ValueError, match="a multiple of the bins' width"):
        losses_by_bin(model, tokens[0], length=15, width=4)
