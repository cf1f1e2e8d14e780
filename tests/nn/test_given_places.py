"""Places, slots and order are three numbers: layers, models and caches that are given positions and a mask."""

import copy

import numpy as np
import pytest
import torch

from rope_lab.algebra.frequency_schedules import DynamicNTK, Yarn
from rope_lab.algebra.many_axes import section_frequencies
from rope_lab.nn import (
    GPT,
    AttentionConfig,
    CausalAttention,
    GPTConfig,
    KVCache,
    LatentCache,
    Rotary,
    RotaryConfig,
    drop_tokens,
    rotary_table,
    shift_tokens,
    splice_tokens,
)
from tests.nn.test_cache import MODELS, layer, layers, model, models, stream, words

CLOSE = {"atol": 1e-11, "rtol": 0}


@models
def test_the_places_that_are_counted_are_those_given(name):
    made, caches = model(name)
    whole = made(words(), offset=3)
    torch.testing.assert_close(made(words(), positions=range(3, 8)), whole, **CLOSE)
    torch.testing.assert_close(made(words(), positions=torch.arange(3, 8).expand(2, 5)), whole, **CLOSE)
    here = caches(3, 3)
    made(words()[:, :2], caches=here, positions=[3, 4])
    torch.testing.assert_close(made(words()[:, 2:], caches=here), whole[:, 2:], **CLOSE)  # it counts on


@models
def test_texts_packed_into_one_row_are_read_as_if_alone(name):
    made, _ = model(name)
    a, b = words(5), words(3)
    text = torch.cat((torch.zeros(5), torch.ones(3)))
    mask = torch.ones(8, 8, dtype=torch.bool).tril() & (text[:, None] == text)
    packed = made(torch.cat((a, b), 1), positions=[*range(5), *range(3)], mask=mask)
    torch.testing.assert_close(packed, torch.cat((made(a), made(b)), 1), **CLOSE)
    if name != "none":  # the control: positions that restart hide nothing, and a mask moves nothing
        assert (made(torch.cat((a, b), 1), positions=[*range(5), *range(3)]) - packed).abs().max() > 1e-3


@models
def test_a_draft_tree_is_read_as_each_of_its_branches(name):
    """Two drafts for one place, and one more behind the second: place 5, 5, 6 in slots 5, 6, 7."""
    made, caches = model(name)
    prompt, here = words(5), caches(0, 0)
    made(prompt, caches=here)
    drafts = torch.tensor([[1, 2, 3], [4, 5, 6]])
    sees = torch.tensor([[1, 0, 0], [0, 1, 0], [0, 1, 1]], dtype=torch.bool)
    mask = torch.cat((torch.ones(3, 5, dtype=torch.bool), sees), 1)
    tree = made(drafts, caches=here, positions=[5, 5, 6], mask=mask)
    first = made(torch.cat((prompt, drafts[:, :1]), 1))[:, -1:]
    second = made(torch.cat((prompt, drafts[:, 1:]), 1))[:, -2:]
    torch.testing.assert_close(tree, torch.cat((first, second), 1), **CLOSE)
    with pytest.raises(ValueError, match="positions: expected some, got none: the tokens held from row 5 on"):
        made(drafts[:, :1], caches=here)
    for cache in here:
        cache.cut(6)  # the first draft is taken; what is left was counted
    torch.testing.assert_close(
        made(drafts[:, 2:], caches=here, positions=[6]),
        made(torch.cat((prompt, drafts[:, :1], drafts[:, 2:]), 1))[:, -1:],
        **CLOSE,
    )


@models
@pytest.mark.parametrize("ranks", [2, 4])
def test_zigzag_shares_put_together_are_the_text(name, ranks):
    """Each rank holds block r and block 2 R - 1 - r; a mask by places stands for the exchange of keys."""
    made, _ = model(name)
    blocks = torch.arange(16).chunk(2 * ranks)
    places = torch.cat([torch.cat((blocks[r], blocks[-1 - r])) for r in range(ranks)])
    text = words(16)
    found = made(text[:, places], positions=places, mask=places[:, None] >= places)
    torch.testing.assert_close(found, made(text)[:, places], **CLOSE)


@layers
def test_left_padding(name):
    made, kind = layer(name)
    x, cache = stream(), kind()
    padded = torch.stack((x[0], torch.cat((torch.full((2, 8), 9.0).to(x), x[1, :3]))))
    slots, pads = torch.arange(5), torch.tensor([[0], [2]])
    mask = (slots[:, None] >= slots) & ((slots >= pads)[:, None] | (slots[:, None] == slots))
    found = made(padded, positions=(slots - pads).clamp_min(0), mask=mask, cache=cache)
    torch.testing.assert_close(found[0], made(x)[0], **CLOSE)
    torch.testing.assert_close(found[1, 2:], made(x[1, :3]), **CLOSE)
    assert not cache.counts


@pytest.mark.parametrize("rotated", ["qk", "qkvo", "v"])
@pytest.mark.parametrize("layout", ["half", "interleaved"])
def test_several_axes_equal_the_definition(rotated, layout):
    rng = np.random.default_rng(0)
    vectors = section_frequencies([1, 1, 2], base=100.0)
    config = AttentionConfig(
        d_model=8,
        n_heads=1,
        head_dim=8,
        rotated=rotated,
        layout=layout,
        rotary=RotaryConfig.of_axes(vectors, layout=layout),
    )
    made, x = CausalAttention(config).double(), rng.normal(size=(5, 8))
    places = torch.tensor([[0, 0, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1], [2, 2, 2]])
    found = made(torch.from_numpy(x)[None], positions=places)
    assert config.axes == 3

    def turned(rows, sign=1):  # each row by the matrix of its own angles
        angles = places.numpy() @ np.asarray(vectors).T
        return np.stack([_turn(row, sign * a, layout) for row, a in zip(rows, angles, strict=True)])

    q, k, v = (x @ getattr(made, role).weight.detach().numpy().T for role in "qkv")
    q, k, v = (turned(r) if role in rotated else r for role, r in zip("qkv", (q, k, v), strict=True))
    scores = np.where(np.tri(5, dtype=bool), q @ k.T / np.sqrt(8), -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    y = weights / weights.sum(-1, keepdims=True) @ v
    y = turned(y, -1) if "o" in rotated else y
    np.testing.assert_allclose(found[0].detach().numpy(), y @ made.o.weight.detach().numpy().T, atol=1e-12)
    cache, new = KVCache(), torch.from_numpy(x)[None]
    steps = [made(new[:, i : i + 1], positions=places[i : i + 1], cache=cache) for i in range(5)]
    torch.testing.assert_close(torch.cat(steps, 1), found, **CLOSE)


def _turn(row, angles, layout):
    y = row.copy()
    for i, angle in enumerate(angles):
        a, b = (i, i + len(angles)) if layout == "half" else (2 * i, 2 * i + 1)
        y[a], y[b] = row[a] * np.cos(angle) - row[b] * np.sin(angle), row[a] * np.sin(angle) + row[b] * np.cos(angle)
    return y


def test_a_rotation_that_no_call_could_use_is_refused_when_the_layer_is_made():
    size, axes = {"d_model": 16, "n_heads": 2}, RotaryConfig.of_axes(section_frequencies([1, 1, 2]))
    with pytest.raises(ValueError, match="expected no attention factor where o turns, got 1"):
        AttentionConfig(**size, rotated="qkvo", rotary=RotaryConfig(8, schedule=Yarn(factor=4.0, window=64)))
    with pytest.raises(ValueError, match="expected rotations of as many axes"):
        AttentionConfig(**size, rotated="qkvo", rotary=axes, rotary_vo=RotaryConfig(8))
    with pytest.raises(ValueError, match="do not depend on the length"):
        CausalAttention(AttentionConfig(**size, rotary=RotaryConfig(8, schedule=DynamicNTK(factor=2, window=64))))


HALF = [torch.arange(300).to(dtype) for dtype in (torch.bfloat16, torch.float16)]
HALF += [np.arange(300, dtype=np.float16), [np.float16(1)] * 300]


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize("positions", HALF, ids=["bfloat16", "float16", "array", "list"])
def test_positions_in_half_precision_are_refused_wherever_they_are_taken(positions):
    x, config = torch.ones(1, 300, 8), RotaryConfig(8)
    axes = RotaryConfig.of_axes(section_frequencies([1, 1, 2]))
    triples = (
        np.stack([np.asarray(positions)] * 3, -1)
        if not torch.is_tensor(positions)
        else positions[:, None].expand(-1, 3)
    )
    size = {"d_model": 8, "n_heads": 1}
    gpt = GPT(GPTConfig(vocab_size=5, seq_len=300, n_layers=1, **size))
    calls = [
        lambda: rotary_table(positions, config),
        lambda: Rotary(config)(x, positions=positions),
        lambda: rotary_table(triples, axes),
        lambda: CausalAttention(AttentionConfig(**size, rotary=config))(x, positions=positions, cache=KVCache()),
        lambda: CausalAttention(AttentionConfig(**size, rotary=axes))(x, positions=triples),
        lambda: CausalAttention(AttentionConfig(**size, rotated=""))(x, positions=positions),
        lambda: gpt(torch.zeros(1, 300, dtype=torch.int64), positions=positions),
    ]
    for call in calls:
        with pytest.raises(
            TypeError, match=r"positions: expected integers, float32 or float64, got .*which has no (257|2049)"
        ):
            call()
    with pytest.raises(TypeError, match="by: expected a whole number of places"):
        shift_tokens(gpt, gpt.new_caches(), torch.tensor(1.0, dtype=torch.bfloat16))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int32, torch.int8])
def test_control_wide_ones_are_taken_and_fractions_stay(dtype):
    x, config = torch.randn(2, 3, 8), RotaryConfig(8)
    assert torch.equal(Rotary(config)(x, positions=torch.arange(3).to(dtype)), Rotary(config)(x))
    assert not torch.equal(Rotary(config)(x, positions=torch.tensor([0.5, 1, 2])), Rotary(config)(x))


@models
@pytest.mark.parametrize("assign", [False, True])
def test_a_model_made_without_memory_is_the_one_that_is_loaded(name, assign):
    trained, _ = model(name)
    with torch.device("meta"):
        other = GPT(trained.config).double()
    if not assign:
        other.to_empty(device="cpu")
    assert list(other.buffers()) == []
    other.load_state_dict(trained.state_dict(), assign=assign)
    assert torch.equal(other(words()), trained(words()))


@pytest.mark.parametrize("kind", [KVCache, LatentCache])
def test_a_cache_keeps_no_tensor_of_the_caller(kind):
    cache, x = kind(), torch.ones(2, 3, 8)
    for _ in range(2):
        new = x.clone()
        cache.extend(*([new] * len(cache.tensors() or ((1, 2) if kind is KVCache else (1,)))))
        new.zero_()
    assert all(bool((held == 1).all()) for held in cache.tensors())


def test_operations_copy_and_refuse_a_gap_between_places_that_were_given():
    made, caches = model("rotary")
    here, chunk = caches(0, 0), caches(0, 0)
    made(words(), caches=chunk)
    splice_tokens(made, here, chunk)
    chunk[0].k.zero_()
    assert here[0].k.abs().max() > 0
    made(words(3), caches=here, positions=[5, 5, 6])
    for operate in (lambda: drop_tokens(made, here, 1, 3), lambda: splice_tokens(made, here, chunk)):
        with pytest.raises(ValueError, match="places that were given from row 5 on"):
            operate()
    drop_tokens(made, here, 5, 8)  # at the end nothing moves, and what is left was counted
    assert (here[0].position, here[0].counts) == (5, True)
    with pytest.raises(ValueError, match="seen: expected at most 5"):
        here[0].cut(6)


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize(
    ("how", "error", "said"),
    [
        ({"positions": [0, 1]}, ValueError, r"positions: expected one for each token, .* got \(2,\)"),
        ({"positions": torch.zeros(3, 5)}, ValueError, r"got \(3, 5\)"),
        ({"positions": range(5), "offset": 2}, ValueError, "offset: expected 0 beside positions, got 2"),
        ({"positions": range(12, 17)}, ValueError, "positions: expected 0 to 15, a place in the context"),
        ({"mask": torch.ones(5, 5)}, TypeError, "mask: expected a tensor of booleans, .* got dtype torch.float32"),
        ({"mask": torch.ones(5, 4) > 0}, ValueError, r"mask: expected \(5, 5\), .* got \(5, 4\)"),
        ({"mask": torch.ones(3, 5, 5) > 0}, ValueError, r"got \(3, 5, 5\)"),
        ({"mask": torch.zeros(5, 5) > 0}, ValueError, "mask: expected a token to look at for each"),
    ],
)
@pytest.mark.parametrize("name", ["rotary", "absolute", "spliced"])
def test_what_does_not_fit_is_refused(name, how, error, said):
    made, _ = model(name)
    with pytest.raises(error, match=said):
        made(words(), **how)


def test_absolute_places_are_rows_of_a_table():
    made, _ = model("absolute")
    with pytest.raises(ValueError, match="expected whole numbers, got others"):
        made(words(), positions=[0.5, 1, 2, 3, 4])
    with pytest.raises(ValueError, match="expected 0 to 15"):
        made(words(), positions=[-1, 0, 1, 2, 3])


@pytest.mark.parametrize("name", MODELS)
def test_without_them_the_layers_call_what_they_called(name, monkeypatch):
    """The training path: no positions and no mask reach a rotation, and its numbers are those of the bare calls."""
    made, _ = model(name)
    asked = []
    right = Rotary.forward
    monkeypatch.setattr(Rotary, "forward", lambda self, x, **more: (asked.append(more), right(self, x, **more))[1])
    made(words())
    assert all(set(more) <= {"offset", "inverse"} for more in asked)
    assert copy.deepcopy(made)(words()).equal(made(words()))
