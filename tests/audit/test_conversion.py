"""Weights carried from one layout into the other change no logit, and come back exactly."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rope_lab.audit import fingerprint, permute_rotary, permute_state
from rope_lab.errors import ArgumentError
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


def test_an_axis_may_be_counted_from_the_end():
    W = np.random.default_rng(0).normal(size=(4, 8))
    options = {"n_heads": 2, "layout_from": "half", "layout_to": "interleaved"}
    for negative, axis in ((-1, 1), (-2, 0)):
        assert (permute_rotary(W, axis=negative, **options) == permute_rotary(W, axis=axis, **options)).all()
    assert permute_rotary(W[0], axis=-1, **options).tolist() == W[0][[0, 2, 1, 3, 4, 6, 5, 7]].tolist()


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


# --- a whole state: what belongs to the rows of q and k, whatever it is called ---------------------------------------

H, KV, D, S, R = 4, 2, 8, 6, 3  # heads, those of keys, their width, the stream, the rank of an adapter
RNG = np.random.default_rng(7)
X = RNG.normal(size=(5, S))
W_Q, W_K, W_V = (RNG.normal(size=(n * D, S)) for n in (H, KV, KV))
AT = "model.layers.0.self_attn."
PLAIN = {AT + "q_proj.weight": W_Q, AT + "k_proj.weight": W_K, AT + "v_proj.weight": W_V}
HOW = {"n_heads": H, "n_kv_heads": KV, "layout_from": "half", "layout_to": "interleaved"}


def draw(*shape):
    return 1 + 0.5 * RNG.normal(size=shape)


def turned(x, layout, **part):
    """(T, heads, D): each head turned to its place."""
    return rotary(layout=layout, **part)(x.swapaxes(0, 1), np.arange(len(x)))


def scores(q, k, layout, **part):
    """Logits of rows (T, heads * D) of q and k."""
    q, k = q.reshape(len(q), -1, k.shape[-1] if k.ndim == 3 else D), k.reshape(len(k), -1, D)
    q, k = turned(q, layout, **part), turned(k, layout, **part)
    return q @ np.repeat(k, len(q) // len(k), axis=0).swapaxes(-1, -2)


def plain(s, layout):
    """Projections, biases, adapters, magnitudes, and numbers that were quantised, as far as they are there."""
    made = []
    for x in "qk":
        get = {re.split("_proj.", name)[1]: value for name, value in s.items() if f"{x}_proj" in name}
        W = next((get[name] for name in ("weight", "base_layer.weight", "weight_v") if name in get), None)
        W = get["kernel"].reshape(S, -1).T if W is None else W
        if "weight_zero_point" in get:
            W = W - get["weight_zero_point"]
        for scale in (get[name] for name in ("weight_scale", "weight_g", "weight_scale_inv") if name in get):
            W = W * np.repeat(scale, len(W) // len(scale), axis=0)[:, None].reshape(len(W), -1)
        if "lora_A.a.weight" in get:
            W = W + get["lora_B.a.weight"] @ get["lora_A.a.weight"]
            W = get["lora_magnitude_vector.a.weight"][:, None] * W / np.linalg.norm(W, axis=1, keepdims=True)
        if "lora_b" in get:
            W = W + (get["lora_a"] @ get["lora_b"]).T
        made.append(X @ W.T + np.reshape(get.get("bias", 0.0), -1))
    return scores(*made, layout)


def both(**shapes):
    """Tensors of q and of k, by the name below their projections."""
    return {
        f"{AT}{x}_proj.{name.replace('__', '.')}": draw(*shape)
        for name, pair in shapes.items()
        for x, shape in zip("qk", pair, strict=True)
    }


def rows(*more):
    return [(H * D, *more), (KV * D, *more)]


BELOW = {  # and what stays, though it lies there
    "biases": (PLAIN | both(bias=rows()), ""),
    "biases with an axis for heads": (PLAIN | both(bias=[(H, D), (KV, D)]), ""),
    "LoRA with magnitudes, as PEFT names them": (
        {name.replace("proj.", "proj.base_layer."): value for name, value in PLAIN.items()}
        | both(lora_B__a__weight=rows(R), lora_magnitude_vector__a__weight=rows(), lora_A__a__weight=[(R, S)] * 2),
        "lora_A",
    ),
    "LoRA as MLX keeps it": (PLAIN | both(lora_a=[(S, R)] * 2, lora_b=[(R, H * D), (R, KV * D)]), "lora_a"),
    "scales and zero points of rows": (PLAIN | both(weight_scale=rows(1), weight_zero_point=rows(1)), ""),
    "one scale for all": (PLAIN | both(weight_scale=[(1,)] * 2), "weight_scale"),
    "scales of blocks of whole heads": (PLAIN | both(weight_scale_inv=[(2, 1), (1, 1)]), "weight_scale_inv"),
    "weight norm": ({name + "_v": value for name, value in PLAIN.items()} | both(weight_g=rows(1)), ""),
    "kernels of Flax": ({f"{x}_proj.kernel": W.T for x, W in (("q", W_Q), ("k", W_K), ("v", W_V))}, ""),
    "with an axis for heads": (
        {f"a/{x}_proj/kernel": W.T.reshape(S, -1, D) for x, W in (("q", W_Q), ("k", W_K))}, ""
    ),
}  # fmt: skip


def carried(state, forward, **options):
    """The state carried over, after the checks that hold for each: logits, kinds of arrays, what stayed."""
    stay, options = options.pop("stay", None), HOW | options
    kept = {name: np.array(value) for name, value in state.items()}
    moved = permute_state(state, **options)
    before = forward(state, "half")
    np.testing.assert_allclose(forward(moved, "interleaved"), before, atol=1e-10)
    assert np.abs(forward(state, "interleaved") - before).max() > 1e-3  # the control
    assert list(moved) == list(state)
    assert all((state[name] == value).all() for name, value in kept.items())  # nothing in place
    for name in state:
        if ".v_proj." in name or (stay and stay in name):
            assert moved[name] is state[name], name
    torched = permute_state({name: torch.tensor(value).bfloat16() for name, value in state.items()}, **options)
    for name, value in moved.items():
        assert torched[name].dtype == torch.bfloat16
        assert torch.equal(torched[name], torch.tensor(value).bfloat16()), name
    back = permute_state(moved, **options | {"layout_from": "interleaved", "layout_to": "half"})
    assert all((back[name] == value).all() for name, value in state.items())
    return moved


@pytest.mark.parametrize("name", BELOW)
def test_what_belongs_to_a_projection_moves_with_its_rows(name):
    state, stay = BELOW[name]
    carried(state, plain, stay=stay)


NAMES = ["{}_norm.weight", "{w}_layernorm.weight", "{}_layernorm.bias", "{}_ln.weight", "{}_norm", "{}Norm.gamma"]
NAMES += ["norm_{}.weight", "norm.{w}_norm.scale", "qk_norm.{}_norm.weight"]


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("shape", ["a head", "all heads", "a row for each head", "a list"])
@pytest.mark.parametrize("name", NAMES)
def test_norms_on_q_and_k_under_any_name(name, shape, after):
    state = dict(PLAIN)
    for x, word, n in (("q", "query", H), ("k", "key", KV)):
        given = AT + name.format(x, w=word)
        gains = {"a head": draw(D), "all heads": draw(n * D), "a row for each head": draw(n, D)}
        if shape == "a list":  # as StableLM has it
            state |= {f"{AT}{x}_layernorm.norms.{i}.weight": draw(D) for i in range(n)}
        else:
            state[given] = gains[shape]

    def forward(s, layout):
        made = []
        for x, word, n in (("q", "query", H), ("k", "key", KV)):
            one = (X @ s[f"{AT}{x}_proj.weight"].T).reshape(len(X), n, D)
            one = one / np.sqrt((one**2).mean(-1, keepdims=True))
            gain = s.get(AT + name.format(x, w=word))
            if shape == "a list":
                gain = np.stack([s[f"{AT}{x}_layernorm.norms.{i}.weight"] for i in range(n)])
            gain = np.broadcast_to(gain.reshape(-1, D), (n, D))
            one = one if after else one * gain
            one = turned(one, layout)
            made.append(one * gain[:, None] if after else one)
        return made[0] @ np.repeat(made[1], H // KV, axis=0).swapaxes(-1, -2)

    carried(state, forward)


def fused(order):
    """A projection for q, k and v whose rows go in this order, and the rows of q and of k in it."""
    rows = np.concatenate([{"q": W_Q, "k": W_K, "v": W_V}[x][n * D : n * D + D] for x, n in order])
    where = {x: [i for i, (y, _) in enumerate(order) if y == x] for x in "qk"}
    return rows, {x: np.concatenate([np.arange(i * D, i * D + D) for i in where[x]]) for x in "qk"}


def each(x, count):
    return [(x, n) for n in range(count)]


ORDERS = {
    "stacked": (each("q", H) + each("k", KV) + each("v", KV), {}),
    "by_group": ([one for n in range(KV) for one in (("q", 2 * n), ("q", 2 * n + 1), ("k", n), ("v", n))], {}),
    "by_head": ([(x, n) for n in range(KV) for x in "qkv"], {"n_heads": KV}),
}


@pytest.mark.parametrize("form", ORDERS)
@pytest.mark.parametrize("name", ["qkv_proj.weight", "query_key_value.weight", "linear_qkv.weight", "in_proj_weight"])
def test_one_projection_for_queries_keys_and_values(form, name):
    order, options = ORDERS[form]
    weights, where = fused(order)
    state = {"h.0.attn." + name: weights, "h.0.attn.linear_qkv.layer_norm_weight": draw(S)}

    def forward(s, layout):
        made = X @ s["h.0.attn." + name].T
        return scores(made[:, where["q"]], made[:, where["k"]], layout)

    moved = carried(state, forward, fused=form, stay="layer_norm", **options)
    rest = np.setdiff1d(np.arange(len(weights)), np.concatenate([where["q"], where["k"]]))
    assert (moved["h.0.attn." + name][rest] == weights[rest]).all()  # v
    mine = {"a.b." + name.split(".")[0]: weights}
    assert permute_state(mine, fused=form, parts=(name.split(".")[0],), **HOW | options)


def test_fused_heads_by_permute_rotary_alone():
    """What the book says of GPT-NeoX: two calls, that leave v as it is."""
    weights, _ = fused(ORDERS["by_head"][0])
    how = {"layout_from": "half", "layout_to": "interleaved", "n_heads": KV, "rotary_dim": D}
    twice = permute_rotary(permute_rotary(weights, **how), rotary_start=D, **how)
    state = permute_state({"query_key_value.weight": weights}, fused="by_head", **HOW | {"n_heads": KV})
    assert (state["query_key_value.weight"] == twice).all()


@pytest.mark.parametrize("width", [None, 4])
def test_a_gate_beside_the_query(width):
    gates = draw(H, D, S)
    both_of = np.stack([W_Q.reshape(H, D, S), gates], axis=1).reshape(2 * H * D, S)
    state = PLAIN | {AT + "q_proj.weight": both_of, AT + "q_norm.weight": draw(D), AT + "k_norm.weight": draw(D)}

    def forward(s, layout):
        q = (X @ s[AT + "q_proj.weight"].T).reshape(5, H, 2, D)[:, :, 0] * s[AT + "q_norm.weight"]
        k = (X @ s[AT + "k_proj.weight"].T).reshape(5, KV, D) * s[AT + "k_norm.weight"]
        return scores(q.reshape(5, -1), k.reshape(5, -1), layout, **({"rotary_dim": width} if width else {}))

    moved = carried(state, forward, fused="query_gate", rotary_dim=width)
    assert (moved[AT + "q_proj.weight"].reshape(H, 2, D, S)[:, 1] == gates).all()


def test_latent_attention():
    """MLA: the last rows of each query head turn, and the last of the compressed keys, which all heads share."""
    rank, rope, nope = 5, 4, 6
    state = {
        AT + "q_a_proj.weight": draw(R, S),
        AT + "q_a_layernorm.weight": draw(R),
        AT + "q_b_proj.weight": draw(H * (nope + rope), R),
        AT + "kv_a_proj_with_mqa.weight": draw(rank + rope, S),
        AT + "kv_a_layernorm.weight": draw(rank),
        AT + "kv_b_proj.weight": draw(H * 2 * nope, rank),
    }

    def forward(s, layout):
        q = (X @ s[AT + "q_a_proj.weight"].T * s[AT + "q_a_layernorm.weight"]) @ s[AT + "q_b_proj.weight"].T
        q, c = q.reshape(5, H, -1), X @ s[AT + "kv_a_proj_with_mqa.weight"].T
        k = (c[:, :rank] * s[AT + "kv_a_layernorm.weight"]) @ s[AT + "kv_b_proj.weight"].T
        still = np.einsum("mhd,nhd->hmn", q[..., :nope], k.reshape(5, H, -1)[..., :nope])
        return still + turned(q[..., nope:], layout) @ turned(c[:, None, rank:], layout).swapaxes(-1, -2)

    carried(state, forward, fused="latent", rotary_dim=rope, stay="_a_layernorm")
    for missing, said in (({"rotary_dim": None}, "qk_rope_head_dim"), ({"fused": None}, 'fused="latent"')):
        with pytest.raises(ValueError, match=said):
            permute_state(state, **HOW | {"fused": "latent", "rotary_dim": rope} | missing)


def tower(prefix, n, kv=None, wide=D):
    return {f"{prefix}.q_proj.weight": draw(n * wide, S), f"{prefix}.k_proj.weight": draw((kv or n) * wide, S)}


TEXT, EYE = "language_model.model.layers.0.self_attn", "vision_tower.layers.0.attention"


EYES = {
    "narrower heads": tower(EYE, H, KV, 4),
    "as many keys": tower(EYE, H),
    "another number": tower(EYE, 3),
    "one projection": {EYE + ".qkv.weight": W_Q},
}


@pytest.mark.parametrize("name", EYES)
def test_one_of_two_models_is_meant(name):
    """The text turns in the new layout, and what sees keeps its own; where both would fit somebody has to say it."""
    eye, text = EYES[name], tower(TEXT, H, KV)
    alone, choices = permute_state(text, **HOW), [{"within": "language_model."}, {"leave": ("vision_tower",)}, {}]
    if name == "narrower heads":
        with pytest.raises(ValueError, match=r"'vision_tower\.layers\.' .*within=.*leave=\('vision_tower\.layers',\)"):
            permute_state(eye | text, **HOW | choices.pop())
    for choice in choices:
        moved = permute_state(eye | text, **HOW | choice)
        assert all(moved[name] is eye[name] for name in eye)
        assert all((moved[name] == alone[name]).all() for name in text)


def test_two_stacks_of_one_model():
    state = tower("encoder.layers.0.attn", H, KV) | tower("decoder.layers.0.attn", H, KV)
    for other in ({}, {"decoder.layers.0.attn.q_proj.weight": W_Q[:D]}):  # one fits, and both may be meant
        with pytest.raises(ValueError, match=r"'encoder\.layers\.' .*'decoder\.layers\.'"):
            permute_state(state | other, **HOW)
    moved = permute_state(state, within=("encoder.", "decoder."), **HOW)
    assert not any(moved[name] is state[name] for name in state)


def test_layers_of_two_kinds_in_two_calls():
    """Gemma 4: heads twice as wide, and one of keys."""
    near, far = tower("l.0", H, KV), tower("l.5", H, 1, 2 * D)
    once = permute_state(near | far, within="l.0.", **HOW)
    both_kinds = permute_state(once, within="l.5.", **HOW | {"n_kv_heads": 1})
    alone = permute_state(near, **HOW) | permute_state(far, **HOW | {"n_kv_heads": 1})
    assert all((both_kinds[name] == value).all() for name, value in alone.items())


# --- and what is refused ----------------------------------------------------------------------------------------------

TWO = {"n_heads": 4, "n_kv_heads": 2, "layout_from": "half", "layout_to": "interleaved"}
Q4, K2 = np.arange(16.0)[:, None], np.arange(8.0)[:, None]  # four heads of q and two of k, each of four
LLAMA = {f"layers.{i}.{name}": x for i in range(2) for name, x in (("q_proj.weight", Q4), ("k_proj.weight", K2))}
INSIDE = {f"l.0.attn.{name}.weight": x for name, x in (("q_proj", Q4), ("k_proj", K2))}
CALL = r"permute_rotary\(state\['{}'\], n_heads={}, layout_from='half', layout_to='interleaved'{}\)"
AS_CALL = {
    "a gate": CALL.format("a.q_proj.weight", 4, ", rotary_dim=4"),
    "another k": CALL.format("layers.1.k_proj.weight", 1, ""),
}
REFUSED = {
    "keys without their number": (LLAMA, {"n_kv_heads": None}, r"4 heads of 4 in layers\.0\.k_proj\.weight, got 8"),
    "keys of one head": (LLAMA, {"n_kv_heads": 1}, "got 8 rows; give n_heads and n_kv_heads"),
    "too many heads": (LLAMA, {"n_heads": 32}, r"32 heads of one even width in layers\.0\.q_proj\.weight"),
    "a layer of another kind": (
        LLAMA | {"layers.1.k_proj.weight": Q4[:4]}, {}, "layers differ, .*within=.*" + AS_CALL["another k"]
    ),
    "a gate that nobody named": (
        {"a.q_proj.weight": np.zeros((32, 3)), "a.k_proj.weight": np.zeros((8, 3))}, {},
        'fused="query_gate", or ' + AS_CALL["a gate"],
    ),
    "q alone": (LLAMA, {"leave": "layers.1.k_proj"}, "without that of k in 'layers.1'"),
    "k alone": (LLAMA, {"leave": "layers.1.q_proj"}, "without that of q in 'layers.1'; say with parts="),
    "packed": (LLAMA | {"layers.0.q_proj.qweight": Q4}, {}, "q_proj.qweight' of packed numbers; dequantise"),
    "packed in four bits": (LLAMA | {"layers.0.q_proj.weight.absmax": Q4}, {}, "absmax' of packed numbers; dequantise"),
    "scales of blocks that mix": (
        LLAMA | {"layers.0.q_proj.weight_scale": np.ones((8, 1))}, {}, r"scale' of shape \(8, 1\); dequantise"
    ),
    "scales of other rows": (LLAMA | {"layers.0.k_proj.scale": Q4}, {}, r"scale' of shape \(16, 1\); dequantise"),
    "an adapter of an embedding": (
        LLAMA | {"layers.0.q_proj.lora_embedding_B.a": Q4}, {}, r"merge .*leave=\('q_proj\.lora_embedding_B\.a',\)"
    ),
    "what nobody knows": (LLAMA | {"layers.0.q_proj.a": Q4}, {}, r"q_proj\.a' .*leave=\('q_proj\.a',\)"),
    "an adapter of other rows": (
        LLAMA | {"layers.0.q_proj.lora_B.a.weight": K2}, {}, r"expected 16 rows in layers\.0\.q_proj\.lora_B"
    ),
    "a norm of another size": (
        INSIDE | {"l.0.attn.q_norm.weight": np.ones(8)}, {}, r"of 4, 4 \* 4 or \(4, 4\) .*'l\.0\.attn\.q_norm\.weight'"
    ),
    "one norm for rows of different length": (INSIDE | {"l.0.attn.qk_norm.weight": np.ones(16)}, {}, "'qk_norm'"),
    "a vector as long as a head": (
        INSIDE | {"l.0.attn.per_dim_scale": np.ones(4)}, {},
        r"leave=\('per_dim_scale',\).*" + CALL.format("l.0.attn.per_dim_scale", 1, ""),
    ),
    "a bias for each head": (
        INSIDE | {"l.0.attn.r_w_bias": np.ones((4, 4))}, {}, r"leave=\('r_w_bias',\).*n_heads=1, .*axis=\d\)"
    ),
    "an index of keys": (INSIDE | {"l.0.attn.indexer.wq_b.weight": np.ones((6, 3))}, {}, r"leave=\('indexer',\)"),
    "a further projection of q": (INSIDE | {"l.0.attn.add_q_proj.weight": Q4}, {}, r"leave=\('add_q_proj',\)"),
    "a norm inside another module": (LLAMA | {"layers.0.b.k_norm.weight": np.ones(8)}, {}, r"leave=\('b',\)"),
    "fused as well": (LLAMA | {"layers.2.qkv_proj.weight": Q4}, {}, "qkv_proj.weight'; .*fused=.stacked"),
    "fused": ({"h.0.attn.query_key_value.weight": Q4}, {}, r"query_key_value.weight' of shape \(16, 1\); .*by_head"),
    "fused by heads with fewer keys": ({"qkv_proj.weight": Q4}, {"fused": "by_head"}, "as many as n_heads = 4 .*got 2"),
    "fused by groups that do not divide": (
        {"qkv_proj.weight": Q4}, {"fused": "by_group", "n_kv_heads": 3}, "a divisor of n_heads = 4 .*got 3"
    ),
    "fused rows that do not divide": ({"qkv_proj.weight": Q4[:15]}, {"fused": "stacked"}, "8 heads of one even"),
    "no such form": (LLAMA, {"fused": "by_heads"}, "fused: expected one of stacked, by_head, by_group"),
    "no names": ({"blk.0.attn_q.weight": Q4}, {}, r"'q_proj' and 'k_proj', got .*parts=\('attn_q', 'attn_k'\)"),
    "a norm alone": ({"q_norm.weight": np.ones(4)}, {}, "'q_proj' and 'k_proj'"),
    "no such beginning": (LLAMA, {"within": "model."}, r"got 'model\.'; they are such as \['layers\.0"),
    "no such word": (LLAMA, {"leave": ("layers.0", "vision")}, "got 'vision'"),
    "no heads": (LLAMA, {"n_heads": 0}, "n_heads: expected a whole number of at least 1, got 0"),
    "no heads of keys": (LLAMA, {"n_kv_heads": 0}, "n_kv_heads: expected a whole number of at least 1, got 0"),
    "one name": (LLAMA, {"parts": "q_proj"}, "parts: expected two names"),
    "three names": (LLAMA, {"parts": ("q", "k", "n")}, r"parts: expected two names, .* got \('q', 'k', 'n'\)"),
    "two names for one": (LLAMA, {"parts": ("q", "k"), "fused": "stacked"}, "parts: expected one name"),
    "a transposed weight": (
        LLAMA | {"layers.0.q_proj.lora_b": np.ones((2, 8))}, {}, r"expected 16 columns in layers\.0\.q_proj\.lora_b"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.usefixtures("untyped")
def test_a_state_that_would_come_out_wrong_is_refused(name):
    state, options, said = REFUSED[name]
    with pytest.raises(ValueError, match=said):
        permute_state(state, **TWO | options)


STAY = {"v_proj.bias": (8,), "o_proj.bias": (16,), "sinks": (5,), "rotary_emb.inv_freq": (2,), "g_norm": (7,)}
STAY |= {
    "attn_sub_norm.weight": (16,),
    "q_proj._extra_state": (),
    "q_scale": (),
    "k_gate": (1,),
    "../norm.weight": (16,),
}


def test_what_lies_beside_and_is_understood_stays():
    state = INSIDE | {f"l.0.attn.{name}".replace("attn.../", ""): np.ones(shape) for name, shape in STAY.items()}
    moved = permute_state(state, **TWO)
    assert all(moved[name] is state[name] for name in state if name not in INSIDE)
    left = permute_state(state | {"l.0.attn.q_proj.a": Q4, "l.0.attn.k_bank": Q4}, leave=("q_proj.a", "k_bank"), **TWO)
    assert left["l.0.attn.k_bank"] is Q4 is left["l.0.attn.q_proj.a"]


def test_names_of_ggml():
    """What belongs to a block lies beside its projections, norms of the stream among it, as long as all heads."""
    state = {"blk.0.attn_q.weight": Q4, "blk.0.attn_k.weight": K2, "blk.0.attn_q_norm.weight": np.arange(4.0)}
    state |= {f"blk.0.{name}.weight": np.ones(16) for name in ("attn_norm", "ffn_norm", "attn_output_norm")}
    moved = permute_state(state, parts=("attn_q", "attn_k"), **TWO)
    assert moved["blk.0.attn_q_norm.weight"].tolist() == [0, 2, 1, 3]
    assert moved["blk.0.attn_norm.weight"] is state["blk.0.attn_norm.weight"]
    named = permute_state({"q": Q4, "k": K2, "g": np.arange(4.0)}, parts=("q", "k", "g", "h"), **TWO)
    assert named["g"].tolist() == [0, 2, 1, 3]


def test_a_norm_beside_the_attention_moves_too():
    moved = permute_state(INSIDE | {"l.0.q_norm.weight": np.arange(4.0), "l.1.k_norm.weight": K2}, **TWO)
    assert moved["l.0.q_norm.weight"].tolist() == [0, 2, 1, 3]
    assert moved["l.1.k_norm.weight"] is K2  # of a block without an attention


def test_an_adapter_without_its_model():
    """Files of adapters have lora_A and lora_B alone, often of q and v alone."""
    at = "base_model.model.model.layers.0.self_attn.q_proj.lora_"
    moved = permute_state({at + "A.weight": K2, at + "B.weight": Q4}, **TWO)
    assert moved[at + "A.weight"] is K2
    assert moved[at + "B.weight"].ravel().tolist()[:8] == [0, 2, 1, 3, 4, 6, 5, 7]


def test_layers_may_have_heads_of_their_own_width():
    wide = {"q_proj.weight": np.arange(32.0), "k_proj.weight": np.arange(16.0), "q_norm.weight": np.arange(8.0)}
    moved = permute_state(LLAMA | {f"layers.2.{name}": value for name, value in wide.items()}, **TWO)
    assert moved["layers.2.q_norm.weight"].tolist() == [0, 4, 1, 5, 2, 6, 3, 7]
    assert moved["layers.2.k_proj.weight"].tolist()[8:12] == [8, 12, 9, 13]
    assert moved["layers.0.k_proj.weight"].ravel().tolist()[:4] == [0, 2, 1, 3]


@pytest.mark.parametrize("wrong", [None, [[1.0]], 3.0, np.float64(1)])
@pytest.mark.usefixtures("untyped")
def test_what_is_no_array(wrong):
    with pytest.raises(TypeError, match=r"a dense numpy array or torch tensor in layers\.0\.q_proj\.weight, got"):
        permute_state(LLAMA | {"layers.0.q_proj.weight": wrong}, **TWO)


@pytest.mark.filterwarnings("ignore")  # of kinds of tensor that torch calls unfinished
@pytest.mark.parametrize("kind", ["sparse", "by rows", "nested", "quantised", "one number"])
def test_a_tensor_without_an_order_is_refused(kind):
    eye = torch.eye(16)
    make = {
        "sparse": eye.to_sparse,
        "by rows": eye.to_sparse_csr,
        "nested": lambda: torch.nested.nested_tensor([eye]),
        "quantised": lambda: torch.quantize_per_channel(eye, torch.ones(16), torch.zeros(16), 0, torch.qint8),
        "one number": lambda: torch.tensor(1.0),
    }
    names = ("layers.0.self_attn.q_proj.weight", "layers.0.self_attn.k_proj.weight")
    with pytest.raises(ArgumentError, match=r"expected a dense"):
        permute_state(dict.fromkeys(names, make[kind]()), n_heads=2, layout_from="half", layout_to="interleaved")
