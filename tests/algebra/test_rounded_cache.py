"""The emulated cache against torch, and the laws of many small turns, each with a control."""

import numpy as np
import pytest
import torch

from rope_lab.algebra import frequencies, still_below, stored, turn_miss, turned_again
from rope_lab.nn import RotaryConfig, rotary_table, rotate

TORCH = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}
KEYS = np.random.default_rng(0).normal(size=(4, 128))
THETA = frequencies(128)


@pytest.mark.parametrize("store", TORCH)
def test_what_a_cache_returns_is_what_torch_returns(store):
    theirs = torch.from_numpy(KEYS).to(TORCH[store]).double().numpy()
    assert np.array_equal(stored(KEYS, store=store), theirs)


@pytest.mark.parametrize("store", ["float16", "bfloat16"])
def test_a_cache_of_our_layers_freezes_the_same_planes(store):
    """nn turns in float32 and rounds once: the emulation in float64 keeps the same planes still."""
    held, row = torch.from_numpy(KEYS).to(TORCH[store]), rotary_table([1.0] * 4, RotaryConfig(128))
    after = held
    for _ in range(40):
        after = rotate(after, row)
    theirs = (after == held).reshape(4, 64, 2).all(-1).numpy()
    ours = turned_again(KEYS, theta=THETA, steps=40, store=store) == stored(KEYS, store=store)
    ours = ours.reshape(4, 64, 2).all(-1)
    assert (theirs == ours).mean() > 0.99
    assert ours[:, -1].any()
    assert not ours[:, 0].any()


def test_eight_bits_share_a_scale():
    x = np.concatenate((np.linspace(-3, 3, 32), np.zeros(32)))
    kept = stored(x, store="int8")
    scale = float(np.float16(3 / 127))
    assert np.abs(kept - x).max() <= scale / 2 + 1e-3
    assert np.allclose(kept / scale, np.rint(kept / scale))
    assert (kept[32:] == 0).all()
    with pytest.raises(ValueError, match=r"expected a width that is a multiple of 32, got shape \(33,\)"):
        stored(np.ones(33), store="int8")


def test_many_turns_lose_what_one_turn_keeps():
    many = turn_miss(KEYS, theta=THETA, steps=256, store="bfloat16")
    once = turn_miss(KEYS, theta=THETA, steps=1, by=256, store="bfloat16")
    assert once.max() <= 2**-8
    assert many[:, 40:50].mean() > 0.2
    assert turn_miss(KEYS, theta=THETA, steps=256, store="float32").max() < 1e-4


def test_nothing_moves_below_the_threshold_and_something_does_above():
    pair, angle = stored([1.3, 1.3], store="bfloat16"), still_below("bfloat16")
    assert np.array_equal(turned_again(pair, theta=[0.99 * angle], steps=5, store="bfloat16"), pair)
    assert not np.array_equal(turned_again(pair, theta=[4 * angle], steps=5, store="bfloat16"), pair)
    assert still_below("float16") < angle / 7


@pytest.mark.usefixtures("untyped")
def test_an_unknown_store_is_refused():
    with pytest.raises(ValueError, match="store: expected"):
        stored([1.0], store="int4")


def test_the_plane_of_one_radian_falls_into_a_ring_of_44_numbers():
    """As chapter 20 says of its figure's keys: 44 radians are seven rounds and 0.018 radians."""
    keys = np.random.default_rng(20).normal(size=(16, 128))
    late = [turned_again(keys, theta=THETA, steps=1024 + more, store="bfloat16")[:, :2] for more in (0, 22, 44)]
    assert np.array_equal(late[0], late[2])
    assert not np.array_equal(late[0], late[1])
    assert round(44 - 14 * np.pi, 3) == 0.018
