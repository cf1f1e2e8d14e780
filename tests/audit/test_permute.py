"""Weights carried from one layout into the other change no logit, and come back exactly."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rope_lab.audit import fingerprint, permute_rotary, permute_state
from tests.audit.implementations import rotary

OTHER = {"half": "interleaved", "interleaved": "half"}
sizes = st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 4), st.integers(0, 3))
layouts = st.sampled_from(sorted(OTHER))


def logits(x, W_q, b_q, W_k, b_k, *, heads, kv_heads, layout, rotary_dim):
    """Every query against every key of its group, (heads, T, T)."""
    turn, at = rotary(layout=layout, rotary_dim=rotary_dim), np.arange(len(x))
    q = turn((x @ W_q.T + b_q).reshape(len(x), heads, -1).swapaxes(0, 1), at)
    k = turn((x @ W_k.T + b_k).reshape(len(x), kv_heads, -1).swapaxes(0, 1), at)
    return q @ np.repeat(k, heads // kv_heads, axis=0).swapaxes(-1, -2)


@given(sizes, layouts, st.integers(0, 2**32))
def test_logits_are_unchanged(sizes, layout, seed):
    kv_heads, groups, planes, beyond = sizes
    heads, d, rng = kv_heads * groups, 2 * (planes + beyond), np.random.default_rng(seed)
    x = rng.normal(size=(5, 6))
    counts = (heads, heads, kv_heads, kv_heads)
    weights = [rng.normal(size=s) for s in ((heads * d, 6), heads * d, (kv_heads * d, 6), kv_heads * d)]
    options = {"layout_from": layout, "layout_to": OTHER[layout], "rotary_dim": 2 * planes}
    moved = [permute_rotary(w, n_heads=n, **options) for w, n in zip(weights, counts, strict=True)]
    shape = {"heads": heads, "kv_heads": kv_heads, "rotary_dim": 2 * planes}
    before = logits(x, *weights, layout=layout, **shape)
    np.testing.assert_allclose(logits(x, *moved, layout=OTHER[layout], **shape), before, atol=1e-10)
    if planes > 1:  # the control: the weights alone, or the layout alone
        assert np.abs(logits(x, *moved, layout=layout, **shape) - before).max() > 1e-6
        assert np.abs(logits(x, *weights, layout=OTHER[layout], **shape) - before).max() > 1e-6


@given(sizes, layouts, st.sampled_from([0, 1, -1]), st.booleans())
def test_the_inverse_is_exact(sizes, layout, axis, torched):
    heads, _, planes, beyond = sizes
    W = np.random.default_rng(0).normal(size=(heads * 2 * (planes + beyond),) * 2)
    W = torch.tensor(W) if torched else W
    options = {"n_heads": heads, "rotary_dim": 2 * planes, "axis": axis}
    there = permute_rotary(W, layout_from=layout, layout_to=OTHER[layout], **options)
    assert type(there) is type(W)
    assert (permute_rotary(there, layout_from=OTHER[layout], layout_to=layout, **options) == W).all()
    assert (permute_rotary(W, layout_from=layout, layout_to=layout, **options) == W).all()


def shifted(f, start):
    """f on the coordinates from ``start`` on; those before stay as they are."""
    return lambda x, n: np.concatenate([x[..., :start], f(x[..., start:], n)], axis=-1)


@given(sizes, layouts, st.integers(0, 5), st.integers(0, 2**32))
def test_the_part_that_turns_may_stand_in_the_middle_or_last(sizes, layout, start, seed):
    heads, _, planes, beyond = sizes
    d, rng = start + 2 * (planes + beyond), np.random.default_rng(seed)
    x, weights, at = rng.normal(size=(5, 6)), rng.normal(size=(2, heads * d, 6)), np.arange(5)

    def scores(W_q, W_k, layout):
        turn = shifted(rotary(layout=layout, rotary_dim=2 * planes), start)
        q, k = (turn((x @ W.T).reshape(5, heads, d).swapaxes(0, 1), at) for W in (W_q, W_k))
        return q @ k.swapaxes(-1, -2)

    options = {"n_heads": heads, "layout_from": layout, "layout_to": OTHER[layout]}
    width = {"rotary_dim": 2 * planes} if beyond else {}  # what stands last needs no width
    before = scores(*weights, layout)
    moved = [permute_rotary(W, rotary_start=start, **width, **options) for W in weights]
    np.testing.assert_allclose(scores(*moved, OTHER[layout]), before, atol=1e-10)
    state = {f"{x}_proj.weight": W for x, W in zip("qk", weights, strict=True)}
    by_name = permute_state(state, rotary_start=start, **width, **options)
    assert (by_name["q_proj.weight"] == moved[0]).all()
    assert (by_name["k_proj.weight"] == moved[1]).all()
    if start and planes > 1:  # the control: as if the first coordinates turned
        first = [permute_rotary(W, rotary_dim=2 * planes, **options) for W in weights]
        assert np.abs(scores(*first, OTHER[layout]) - before).max() > 1e-6


def test_a_fingerprint_says_where_the_part_that_turns_begins():
    seen = fingerprint(shifted(rotary(layout="half"), 4), head_dim=12)
    options = {"rotary_start": seen.pairs[0][0], "rotary_dim": seen.rotated_dims}
    moved = permute_rotary(np.arange(12), n_heads=1, layout_from=seen.layout, layout_to="interleaved", **options)
    assert moved.tolist() == [0, 1, 2, 3, 4, 8, 5, 9, 6, 10, 7, 11]


def test_values_that_turn_as_well():
    """VO: rows of W_v and columns of W_o move together, and the output stays."""
    rng, heads, d, T = np.random.default_rng(0), 2, 6, 4
    x, W_v, W_o = rng.normal(size=(T, 5)), rng.normal(size=(heads * d, 5)), rng.normal(size=(5, heads * d))
    A, at = rng.random((heads, T, T)), np.arange(T)

    def out(W_v, W_o, layout):
        turn, back = rotary(layout=layout), rotary(layout=layout, direction=-1)
        v = turn((x @ W_v.T).reshape(T, heads, d).swapaxes(0, 1), at)
        return back(A @ v, at).swapaxes(0, 1).reshape(T, -1) @ W_o.T

    options = {"n_heads": heads, "layout_from": "interleaved", "layout_to": "half"}
    rows, columns = permute_rotary(W_v, **options), permute_rotary(W_o, axis=1, **options)
    np.testing.assert_allclose(out(rows, columns, "half"), out(W_v, W_o, "interleaved"), atol=1e-12)
    assert np.abs(out(rows, W_o, "half") - out(W_v, W_o, "interleaved")).max() > 0.1


def test_the_name_that_a_fingerprint_prints_is_understood():
    W = np.arange(8.0)
    options = {"n_heads": 1, "layout_from": "interleaved"}
    short, long = (permute_rotary(W, layout_to=name, **options) for name in ("half", "half-split"))
    assert (short == long).all()


def test_a_state_dict_with_norms():
    """Norms on q and k move with them: one for each head, or one that all heads share."""
    size = {
        "a.q_proj.weight": (8, 3),
        "a.k_proj.weight": (4, 3),
        "a.q_norm.weight": (8,),
        "a.k_norm.weight": (4,),
        "b.q_proj.bias": (8,),
        "o_proj.weight": (3, 8),
    }
    state = {name: np.arange(np.prod(shape), dtype=float).reshape(shape) for name, shape in size.items()}
    options = {"n_heads": 2, "n_kv_heads": 1}
    there = permute_state(state, layout_from="half", layout_to="interleaved", **options)
    assert there["a.q_norm.weight"].tolist() == [0, 2, 1, 3, 4, 6, 5, 7]
    assert there["a.k_norm.weight"].tolist() == [0, 2, 1, 3]
    back = permute_state(there, layout_from="interleaved", layout_to="half", **options)
    assert all((back[name] == state[name]).all() for name in state)


def test_an_axis_may_be_counted_from_the_end():
    W = np.random.default_rng(0).normal(size=(4, 8))
    options = {"n_heads": 2, "layout_from": "half", "layout_to": "interleaved"}
    for negative, axis in ((-1, 1), (-2, 0)):
        assert (permute_rotary(W, axis=negative, **options) == permute_rotary(W, axis=axis, **options)).all()
    assert permute_rotary(W[0], axis=-1, **options).tolist() == W[0][[0, 2, 1, 3, 4, 6, 5, 7]].tolist()


def test_a_state_dict_moves_what_is_named_and_no_more():
    """A norm of one head's width stands before any projection, and a name that only begins alike stays."""
    size = {"q_norm": 4, "k_norm": 4, "q_proj": 16, "k_proj": 8, "b.k_norm": 8, "q_proj_lora": 16}
    state = {f"{name}.weight": np.arange(float(count)) for name, count in size.items()}
    options = {"n_heads": 4, "n_kv_heads": 2, "layout_from": "half", "layout_to": "interleaved"}
    moved = permute_state(state, **options)
    one = np.array([0, 2, 1, 3])
    assert moved["q_norm.weight"].tolist() == moved["k_norm.weight"].tolist() == one.tolist()
    assert moved["k_proj.weight"].tolist() == moved["b.k_norm.weight"].tolist() == [*one, *(4 + one)]
    assert moved["q_proj_lora.weight"] is state["q_proj_lora.weight"]
    both = {f"{x}_proj.weight": np.arange(6.0) for x in "qk"}
    part = permute_state(both, rotary_dim=4, **options | {"n_heads": 1, "n_kv_heads": 1})
    assert part["q_proj.weight"].tolist() == [*one, 4, 5]


WRONG = {
    "no heads": ({"n_heads": 0}, ValueError, "n_heads: expected a whole number of at least 1, got 0"),
    "heads in words": ({"n_heads": "2"}, TypeError, "n_heads: expected a whole number of at least 1, got '2'"),
    "heads that a division gave": (
        {"n_heads": 2.0},
        TypeError,
        "n_heads: expected a whole number of at least 1, got 2.0",
    ),
    "rows": ({"n_heads": 3}, ValueError, "expected n_heads \\* head_dim = 3"),
    "layout": ({"n_heads": 2, "layout_to": "thirds"}, ValueError, "layout: expected"),
    "no name of a layout": ({"n_heads": 2, "layout_to": ["half"]}, ValueError, "layout: expected"),
    "rotary": ({"n_heads": 2, "rotary_dim": 6}, ValueError, "rotary_start \\+ rotary_dim <= head_dim"),
    "start and width": ({"n_heads": 1, "rotary_start": 3, "rotary_dim": 6}, ValueError, "got rotary_start=3, rotary"),
    "negative start": (
        {"n_heads": 1, "rotary_start": -2, "rotary_dim": 4},
        ValueError,
        "rotary_start: expected a whole number of at least 0, got -2",
    ),
    "odd rest": ({"n_heads": 1, "rotary_start": 3}, ValueError, "head_dim - rotary_start: expected a positive even"),
    "start past the end": ({"n_heads": 1, "rotary_start": 8}, ValueError, "head_dim - rotary_start: expected"),
    "start in words": ({"n_heads": 1, "rotary_start": "4"}, TypeError, "rotary_start: expected a whole number"),
    "odd head": ({"n_heads": 8}, ValueError, "head_dim: expected a positive even integer, got 1"),
    "a width, though nothing moves": ({"n_heads": 2, "rotary_dim": 6, "layout_to": "half"}, ValueError, "head_dim=4"),
    "axis": ({"n_heads": 2, "axis": 1}, ValueError, "axis: expected an axis"),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.usefixtures("untyped")
def test_errors_say_how_to_fix_it(name):
    options, kind, words = WRONG[name]
    with pytest.raises(kind, match=words):
        permute_rotary(np.zeros(8), **({"layout_from": "half", "layout_to": "interleaved"} | options))


@pytest.mark.usefixtures("untyped")
def test_no_array():
    with pytest.raises(TypeError, match="expected a numpy array or a torch tensor, got str"):
        permute_rotary("weights", n_heads=1, layout_from="half", layout_to="interleaved")
    with pytest.raises(TypeError, match="expected a numpy array or a torch tensor, got SimpleNamespace"):
        permute_rotary(SimpleNamespace(dtype=float), n_heads=1, layout_from="half", layout_to="interleaved")
    with pytest.raises(ValueError, match="'q_proj' and 'k_proj'"):
        permute_state({"c_attn": np.zeros(4)}, n_heads=1, layout_from="half", layout_to="interleaved")
    with pytest.raises(ValueError, match="'q_proj' and 'k_proj'"):
        permute_state({"q_norm.weight": np.zeros(4)}, n_heads=1, layout_from="half", layout_to="interleaved")
