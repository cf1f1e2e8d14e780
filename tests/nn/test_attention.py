"""Attention: which placements are relative, that it is causal, and that it equals its definition in float64."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rope_lab.algebra import placements, rotation
from rope_lab.algebra.layouts import quarter_turn
from rope_lab.nn.attention import AttentionConfig, CausalAttention, attend
from rope_lab.nn.cache import KVCache
from rope_lab.nn.rotary import RotaryConfig

SUBSETS = ["".join(letters) for n in range(5) for letters in itertools.combinations("qkvo", n)]
RELATIVE = {"", "qk", "vo", "qkvo"}


def layer(rotated="qk", *, layout="half", n_heads=2, head_dim=8, d_model=12, seed=0, base_vo=None, **fields):
    """Attention with random weights large enough that the softmax is not flat."""
    torch.manual_seed(seed)
    rotary = RotaryConfig(head_dim=head_dim, base=100.0, layout=layout)
    config = AttentionConfig(
        d_model=d_model,
        n_heads=n_heads,
        head_dim=head_dim,
        rotated=rotated,
        rotary=rotary,
        layout=layout,
        rotary_vo=base_vo and RotaryConfig(head_dim=head_dim, base=base_vo, layout=layout),
        **fields,
    )
    made = CausalAttention(config)
    for p in made.parameters():
        torch.nn.init.normal_(p, std=0.5)
    return made


def tokens(length=9, *, d_model=12, seed=1):
    return torch.randn(2, length, d_model, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("layout", ["half", "interleaved"])
@pytest.mark.parametrize("rotated", SUBSETS)
def test_exactly_four_placements_are_relative(rotated, layout):
    attention, x = layer(rotated, layout=layout), tokens()
    with torch.no_grad():
        moved = (attention(x, offset=0) - attention(x, offset=5)).abs().max().item()
    if rotated in RELATIVE:
        assert moved < 1e-5
    else:
        assert moved > 1e-2


@given(st.integers(0, 200), st.sampled_from(sorted(RELATIVE)))
def test_a_relative_placement_sees_no_shift_of_any_size(offset, rotated):
    attention, x = layer(rotated), tokens()
    with torch.no_grad():
        assert torch.allclose(attention(x), attention(x, offset=offset), atol=2e-4)


@pytest.mark.parametrize("rotated", SUBSETS)
def test_no_token_sees_a_later_one(rotated):
    attention, x = layer(rotated), tokens().requires_grad_()
    attention(x)[:, 4].sum().backward()
    assert x.grad[:, 5:].abs().max() == 0
    assert x.grad[:, :5].abs().min() > 0  # the control: it does see the earlier ones


def reference(attention, x, *, offset=0):
    """The same layer by the slow definition, one head at a time, in float64."""
    config, out = attention.config, []
    weight = {role: getattr(attention, role).weight.detach().double().numpy() for role in "qkvo"}
    n = offset + np.arange(len(x))
    for h in range(config.n_heads):
        here = {role: h * config.heads(role) // config.n_heads for role in "qkv"}  # k and v may serve several heads
        rows = {role: slice(at * config.head_dim, (at + 1) * config.head_dim) for role, at in here.items()}
        q, k, v = (x @ weight[role][rows[role]].T for role in "qkv")
        theta, theta_vo = (rotation.frequencies(config.head_dim, base=config.turning(role).base) for role in "qv")
        out.append(
            placements.attention(
                q,
                k,
                v,
                q_positions=n,
                k_positions=n,
                rotated=config.rotated,
                theta=theta,
                theta_vo=theta_vo,
                layout=config.layout,
            )
        )
    return np.concatenate(out, 1) @ weight["o"].T


def far(found, expected) -> float:
    """The largest difference, in parts of the largest entry."""
    return np.abs(np.asarray(found.detach(), dtype=float) - expected).max() / np.abs(expected).max()


@pytest.mark.deep(keep=30)
@pytest.mark.parametrize("layout", ["half", "interleaved"])
@pytest.mark.parametrize("rotated", SUBSETS)
@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"complex_linear": "qkvo"},
        {"n_kv_heads": 2},
        {"n_kv_heads": 1, "base_vo": 7.0},
        {"n_kv_heads": 2, "complex_linear": "kv"},
    ],
)
def test_attention_equals_its_definition(rotated, layout, fields):
    attention, x = layer(rotated, layout=layout, n_heads=4, **fields), tokens(5)[0]
    assert far(attention(x, offset=3), reference(attention, x.double().numpy(), offset=3)) < 1e-5


def test_control_another_group_of_heads_or_another_base_is_another_layer():
    x = tokens(5)[0]
    for fields, changed in (({"n_kv_heads": 2}, {"n_kv_heads": 2}), ({"base_vo": 7.0}, {"base_vo": 8.0})):
        attention, other = layer("qkvo", n_heads=4, **fields), layer("qkvo", n_heads=4, **changed)
        other.load_state_dict(attention.state_dict())
        if "n_kv_heads" in fields:  # heads of keys and values trade places
            with torch.no_grad():
                for role in "kv":
                    heads = getattr(attention, role).weight.unflatten(0, (2, 8))
                    getattr(other, role).weight.copy_(heads.flip(0).flatten(0, 1))
        assert far(other(x), reference(attention, x.double().numpy())) > 1e-2


@pytest.mark.parametrize("offset", [1_000, 100_000])
@pytest.mark.parametrize("fields", [{}, {"n_kv_heads": 1}, {"base_vo": 7.0}])
@pytest.mark.parametrize("rotated", sorted(RELATIVE))
def test_in_float32_a_shift_of_100000_is_not_seen(rotated, offset, fields):
    attention, x = layer(rotated, **fields), tokens()
    with torch.no_grad():
        assert far(attention(x, offset=offset), attention(x).double().numpy()) < 1e-5


def test_a_batch_is_optional_and_many_batch_axes_are_fine():
    for n_kv_heads in (None, 1):
        attention, x = layer("qkvo", n_kv_heads=n_kv_heads), tokens()
        assert torch.allclose(attention(x[0]), attention(x)[0], atol=1e-6)
        assert torch.allclose(attention(x[None])[0], attention(x), atol=1e-6)


def test_fewer_heads_of_keys_and_values_are_fewer_weights_and_a_smaller_cache():
    attention, cache = layer("qkvo", n_heads=4, n_kv_heads=1), KVCache()
    attention(tokens(), cache=cache)
    assert attention.k.weight.shape == attention.v.weight.shape == (8, 12)
    assert cache.k.shape == cache.v.shape == (2, 1, 9, 8)


def test_rotating_the_output_after_the_projection_is_not_the_same():
    attention, x = layer("vo"), tokens(d_model=12)
    late = layer("v")
    late.load_state_dict(attention.state_dict())
    turn = layer("q", n_heads=1, head_dim=12).rotary
    moved = (turn(late(x), inverse=True) - turn(late(x, offset=5), offset=5, inverse=True)).abs().max().item()
    assert moved > 1e-2


@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=5),
    st.sampled_from(SUBSETS),
    st.integers(0, 300),
    st.sampled_from([{}, {"n_kv_heads": 1}, {"base_vo": 7.0}, {"n_heads": 4, "n_kv_heads": 2, "base_vo": 7.0}]),
)
def test_a_cache_filled_in_any_pieces_gives_the_full_pass(pieces, rotated, offset, fields):
    attention, x, cache = layer(rotated, **fields), tokens(sum(pieces)), KVCache(offset=offset)
    with torch.no_grad():
        parts = torch.cat([attention(part, cache=cache) for part in x.split(pieces, 1)], 1)
        assert far(parts, attention(x, offset=offset).double().numpy()) < 1e-5
    assert (cache.seen, cache.position) == (sum(pieces), offset + sum(pieces))


def test_control_a_cache_that_forgets_where_it_is_gives_something_else():
    attention, x, cache = layer("qk"), tokens(6), KVCache()
    attention(x[:, :4], cache=cache)
    cache.offset = -cache.seen  # as if the text began anew
    assert far(attention(x[:, 4:], cache=cache), attention(x)[:, 4:].detach().double().numpy()) > 1e-2


def test_a_cache_refuses_an_offset_beside_it_and_the_keys_of_another_batch():
    attention, cache = layer(), KVCache(offset=5)
    with pytest.raises(ValueError, match=r"KVCache\(offset=3\)"):
        attention(tokens(), offset=3, cache=cache)
    attention(tokens(), cache=cache)
    with pytest.raises(ValueError, match="a KVCache of its own"):
        attention(tokens()[:1], cache=cache)
    with pytest.raises(ValueError, match="offset: expected an integer of at least 0, got -1"):
        KVCache(offset=-1)


@pytest.mark.parametrize("axes", [(3,), (2, 3), (4, 2, 3)])
def test_a_cache_holds_tokens_with_any_axes_before_them(axes):
    cache, x = KVCache(), torch.randn(*axes, 5, 8)
    for piece in x.split(2, dim=-2):
        k, v = cache.extend(piece, -piece)
    assert torch.equal(k, x)
    assert torch.equal(v, -x)


def test_planes_lie_head_by_head_on_the_side_of_the_heads_alone():
    """A quarter turn of every plane passes through a complex-linear projection, if both sides know their planes."""
    attention = layer(layout="half", complex_linear="qkvo").double()
    stream = torch.randn(12, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    heads = torch.randn(16, dtype=torch.float64, generator=torch.Generator().manual_seed(4))

    def turned(x, n_heads):
        return torch.from_numpy(quarter_turn(x.detach().numpy().reshape(n_heads, -1), layout="half").ravel())

    for role in "qkv":
        project = getattr(attention, role)
        torch.testing.assert_close(project(turned(stream, 1)), turned(project(stream), 2))
    torch.testing.assert_close(attention.o(turned(heads, 2)), turned(attention.o(heads), 1))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
def test_attend_keeps_the_dtype_and_half_types_lose_only_their_own_rounding(dtype):
    q, k, v = torch.randn(3, 1, 2, 7, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    found = attend(q.to(dtype), k.to(dtype), v.to(dtype))
    assert found.dtype == dtype
    assert torch.allclose(found.double(), attend(q, k, v), atol=1e-12 if dtype == torch.float64 else 3e-2)


@pytest.mark.parametrize("name", ["rotated", "complex_linear"])
def test_a_subset_is_put_in_order_and_a_strange_letter_is_refused_by_the_name_of_its_field(name):
    assert getattr(AttentionConfig(rotary=RotaryConfig(32, layout="half"), **{name: "OVKQ"}), name) == "qkvo"
    for wrong in ("qq", "x", "q k"):
        with pytest.raises(ValueError, match=f"{name}: expected some of the letters q, k, v, o, each once, got"):
            AttentionConfig(**{name: wrong})


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"rotary": None}, "pass rotary="),
        ({"rotary": RotaryConfig(head_dim=16)}, "head_dim 32, got 16"),
        ({"rotary": RotaryConfig(head_dim=32), "complex_linear": "q"}, "Give both the same"),
        ({"rotary": RotaryConfig(head_dim=32), "rotated": "vo", "rotary_vo": RotaryConfig(head_dim=8)}, "32, got 8"),
        ({"rotary_vo": RotaryConfig(head_dim=32)}, "to rotate 'q' with, got none"),
        ({"rotated": "", "n_kv_heads": 3}, "a divisor of n_heads = 4, got 3"),
        ({"rotated": "", "n_kv_heads": 0}, "n_kv_heads: expected a whole number of at least 1, got 0"),
        ({"rotary": RotaryConfig(head_dim=32, layout="half", rotary_dim=8), "complex_linear": "q"}, "Leave rotary_dim"),
    ],
)
@pytest.mark.usefixtures("untyped")
def test_what_does_not_fit_is_refused(fields, said):
    with pytest.raises(ValueError, match=said):
        AttentionConfig(**fields)


@pytest.mark.usefixtures("untyped")
def test_a_refused_cache_is_as_it_was():
    """Keys and values must be as many as each other, and like those held: nothing is added in part."""
    cache = KVCache()
    with pytest.raises(ValueError, match="as many values as keys"):
        cache.extend(torch.ones(2, 3, 8), torch.ones(2, 4, 8))
    assert cache.seen == 0
    cache.extend(torch.ones(2, 3, 8), torch.ones(2, 3, 8))
    for k, v in (((2, 2, 8), (2, 1, 8)), ((2, 1, 8), (3, 1, 8)), ((2, 1, 8), (2, 1, 6)), ((3, 1, 8), (3, 1, 8))):
        with pytest.raises(ValueError, match="cache: expected"):
            cache.extend(torch.ones(k), torch.ones(v))
    with pytest.raises(ValueError, match=r"float32.*got torch.float64"):
        cache.extend(torch.ones(2, 1, 8).double(), torch.ones(2, 1, 8).double())
    assert cache.k.shape == cache.v.shape == (2, 3, 8)


@pytest.mark.usefixtures("untyped")
def test_more_queries_than_keys_are_refused():
    """Torch answers zeros for the queries that see nothing."""
    with pytest.raises(ValueError, match="3 queries, 2 keys, 2 values"):
        attend(torch.ones(2, 3, 4), torch.ones(2, 2, 4), torch.ones(2, 2, 4))
    with pytest.raises(ValueError, match="5 keys, 4 values"):
        attend(torch.ones(2, 3, 4), torch.ones(2, 5, 4), torch.ones(2, 4, 4))


@pytest.mark.parametrize(
    "field", [{"d_model": 0}, {"head_dim": 0}, {"n_heads": 2.0}, {"layout": "bad"}, {"n_kv_heads": True}]
)
@pytest.mark.usefixtures("untyped")
def test_a_shape_that_no_layer_has(field):
    with pytest.raises(ValueError, match=f"{next(iter(field))}: expected"):
        AttentionConfig(**{"d_model": 8, "n_heads": 2, "head_dim": 4, "rotated": ""} | field)


@pytest.mark.parametrize("shape", [(1, 3, 6), (8,)])
@pytest.mark.usefixtures("untyped")
def test_another_width_than_the_layers_is_refused(shape):
    layer = CausalAttention(AttentionConfig(d_model=8, n_heads=2, head_dim=4, rotated=""))
    with pytest.raises(ValueError, match=r"x: expected .*d_model = 8, got"):
        layer(torch.zeros(shape))
