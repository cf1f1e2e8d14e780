"""What is read: one batch order per seed, shared by processes; a validation stream of which no token is lost."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rope_lab.training.data.batches import Batches
from rope_lab.training.run.distributed import Processes
from rope_lab.training.run.validation import IGNORED, validate, validation_batches

STREAM = np.arange(500, dtype=np.uint16)  # a token is its own position
BOS = 500


@given(st.integers(1, 20), st.integers(1, 6), st.integers(0, 5), st.sampled_from([None, BOS]))
def test_a_target_is_the_token_after_its_input(seq_len, batch_size, seed, bos):
    inputs, targets = Batches(STREAM, seq_len=seq_len, batch_size=batch_size, steps=3, seed=seed, bos=bos)[2]
    assert inputs.shape == targets.shape == (batch_size, seq_len)
    assert inputs.dtype == torch.int64
    if bos is not None:
        assert (inputs[:, 0] == bos).all()
        assert torch.equal(inputs[:, 1:], targets[:, :-1])
    else:
        assert torch.equal(targets, inputs + 1)


@given(st.integers(0, 5), st.integers(1, 9))
def test_the_order_is_the_seeds_and_does_not_depend_on_how_far_the_run_goes(seed, steps):
    kind = {"seq_len": 8, "batch_size": 4, "seed": seed}
    short, long = Batches(STREAM, steps=steps, **kind), Batches(STREAM, steps=50, **kind)
    assert torch.equal(short[steps - 1][0], long[steps - 1][0])
    other = Batches(STREAM, steps=50, **{**kind, "seed": seed + 1})
    assert not torch.equal(other[0][0], long[0][0])
    assert not torch.equal(long[0][0], long[1][0])


def test_processes_share_a_batch_without_overlap():
    kind = {"seq_len": 8, "batch_size": 6, "steps": 2, "seed": 0}
    whole = Batches(STREAM, **kind)[1][0]
    parts = [Batches(STREAM, rank=rank, world=3, **kind)[1][0] for rank in range(3)]
    assert torch.equal(torch.stack(parts, 1).flatten(0, 1), whole)


@given(st.integers(2, 100), st.integers(1, 12), st.integers(1, 5), st.sampled_from([None, BOS]))
def test_every_validation_token_is_a_target_once_and_in_its_context(length, seq_len, batch_size, bos):
    seen, shapes = [], set()
    for inputs, targets in validation_batches(STREAM[:length], seq_len=seq_len, batch_size=batch_size, bos=bos):
        shapes.add(tuple(inputs.shape))
        real = targets != IGNORED
        seen += targets[real].tolist()
        before = torch.where(inputs == BOS, targets - 1, inputs)
        assert (before[real] == targets[real] - 1).all()
    assert sorted(seen) == list(range(0 if bos else 1, length))
    assert shapes == {(batch_size, seq_len)}


def test_the_mean_is_over_tokens_and_the_spread_over_full_batches():
    """A loss that is the token's own value, on 1..9 in windows of 4, one to a batch: full batches mean 2.5 and 6.5."""

    def nats(_, targets):
        return targets[targets != IGNORED].double().sum()

    kind = {"seq_len": 4, "batch_size": 1, "bos": None, "group": Processes(torch.device("cpu"))}
    found = validate(nats, STREAM[:10], **kind)
    assert (found.loss, found.batches, found.tokens) == (5.0, 3, 9)
    assert found.sd == pytest.approx(np.std([2.5, 6.5], ddof=1))
    with pytest.raises(ValueError, match="a stream of 1"):
        validate(nats, STREAM[:1], **kind)
