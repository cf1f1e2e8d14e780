"""The module around the rotation: its table grows, forgets nothing, follows its x; bad input is refused in words."""

import copy
import shutil

import numpy as np
import pytest
import torch

from rope_lab.nn.rotary import Rotary, RotaryConfig, rotary_table, rotate

LAYOUTS = ("interleaved", "half")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_offsets_and_positions_agree(layout):
    rotary, x = Rotary(RotaryConfig(8, layout=layout)), torch.randn(2, 3, 7, 8)
    whole = rotary(x)
    assert torch.equal(torch.cat([rotary(x[..., :4, :]), rotary(x[..., 4:, :], offset=4)], dim=-2), whole)
    for positions in (range(7), [0, 1, 2, 3, 4, 5, 6], torch.arange(7), torch.arange(7.0).numpy()):
        assert torch.equal(rotary(x, positions=positions), whole)
    own = torch.tensor([[0, 1, 2, 3, 4, 5, 6], [9, 8, 7, 6, 5, 4, 3]])  # each sequence its own
    expected = torch.stack([rotary(x[b], positions=own[b]) for b in range(2)])
    assert torch.equal(rotary(x, positions=own), expected)
    assert torch.equal(rotary(torch.cat((x, x[:1])), positions=own[:1])[:2], rotary(x, positions=own[0]))  # one for all
    assert not torch.equal(rotary(x, offset=1), whole)  # control


@pytest.mark.usefixtures("untyped")
def test_an_offset_may_be_an_integer_of_numpy():
    rotary, x = Rotary(RotaryConfig(8), length=np.int64(2)), torch.ones(3, 8)
    assert torch.equal(rotary(x, offset=np.int64(4)), rotary(x, offset=4))


def test_no_table_outlives_its_configuration():
    """The trap of a cache that forgets theta: other bases, other layouts, turn by turn."""
    x, configs = torch.randn(4, 8), [RotaryConfig(8), RotaryConfig(8, base=10.0), RotaryConfig(8, layout="half")]
    modules = [Rotary(config) for config in configs]
    results = [rotary(x) for rotary in (*modules, *modules)]
    assert torch.equal(torch.stack(results[:3]), torch.stack(results[3:]))
    for result, config in zip(results, configs, strict=False):
        assert torch.equal(result, rotate(x, rotary_table(range(4), config)))
    assert not torch.equal(results[0], results[1])
    with pytest.raises(AttributeError):
        modules[0].config = configs[1]


def test_the_table_grows_and_is_kept():
    rotary = Rotary(RotaryConfig(8), length=4)
    first = rotary.table.cos
    rotary(torch.randn(3, 8))
    assert rotary.table.cos is first  # long enough
    rotary(torch.randn(3, 8), offset=90)
    grown = rotary.table.cos
    assert grown.shape[0] >= 93
    assert torch.equal(grown[:4], first)
    rotary(torch.randn(5, 8), offset=88)
    assert rotary.table.cos is grown


@pytest.mark.parametrize(("tokens", "rows"), [(1, 1), (5, 8), (8, 8), (9, 16)])
def test_the_table_grows_to_the_next_power_of_two(tokens, rows):
    rotary = Rotary(RotaryConfig(8))
    rotary(torch.ones(tokens, 8))
    assert len(rotary.table.cos) == rows


def test_the_table_follows_dtype_and_is_never_rounded():
    rotary = Rotary(RotaryConfig(8), length=64)
    exact = rotary.table.cos.clone()
    for move in (lambda m: m.to(torch.bfloat16), lambda m: m.half(), copy.deepcopy):
        rotary = move(rotary)
        assert torch.equal(rotary.table.cos, exact)
    assert not rotary.state_dict()
    x = torch.randn(64, 8, dtype=torch.float64)
    assert torch.equal(rotary(x), rotate(x, rotary_table(range(64), rotary.config, dtype=torch.float64)))
    y = rotary(x.bfloat16())
    assert y.dtype == torch.bfloat16
    assert (y - x).abs().max() > 0.1
    assert torch.equal(y, rotary(x.bfloat16().float()).bfloat16())  # turned in float32, rounded once


def test_a_module_made_without_memory_finds_its_device():
    with torch.device("meta"):
        rotary = Rotary(RotaryConfig(8), length=8)
    rotary.to_empty(device="cpu")
    x = torch.randn(5, 8)
    assert torch.equal(rotary(x), Rotary(RotaryConfig(8))(x))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("length", [0, 4])
def test_a_table_made_while_sampling_serves_training(layout, length):
    with torch.inference_mode():
        rotary = Rotary(RotaryConfig(8, layout=layout), length=length)
        rotary(torch.randn(4, 8))
    x = torch.randn(4, 8, requires_grad=True)
    rotary(x).sum().backward()
    assert x.grad is not None


@pytest.mark.deep
@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("rotary_dim", [None, 6])
def test_compiled_whole(layout, rotary_dim):
    """One graph, no break: fixed and growing tables, offsets, positions, gradients."""
    torch.compiler.reset()
    rotary = Rotary(RotaryConfig(8, layout=layout, rotary_dim=rotary_dim), length=8)
    compiled = torch.compile(rotary, backend="aot_eager", fullgraph=True)
    x = torch.randn(2, 5, 8, requires_grad=True)
    for kwargs in ({}, {"offset": 3}, {"offset": 70, "inverse": True}, {"positions": torch.tensor([0.5, -1, 2, 3, 9])}):
        gradients = []
        for module in (compiled, rotary):
            y = module(x, **kwargs)
            gradients.append((y.detach(), *torch.autograd.grad(y.square().sum() + y.sum(), x)))
        for ours, expected in zip(*gradients, strict=True):
            assert torch.allclose(ours, expected, atol=1e-5)


@pytest.mark.usefixtures("untyped")
@pytest.mark.deep  # a compiled run of the trainer, in each run, has the same turn in it
@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")  # the compiler's own, at its import
@pytest.mark.skipif(not shutil.which("g++"), reason="the compiler's backend needs g++: apt-get install g++")
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_compiled_to_machine_code(dtype):
    torch.compiler.reset()
    x, table = torch.randn(2, 16, 64).to(dtype), rotary_table(range(16), RotaryConfig(64, layout="half"))
    assert torch.allclose(torch.compile(rotate)(x, table), rotate(x, table), atol=2 * torch.finfo(dtype).eps)


X, CONFIG = torch.zeros(2, 3, 8), RotaryConfig(8)
TABLE = rotary_table(range(3), CONFIG)
REFUSALS = {
    "odd head_dim": (lambda: RotaryConfig(7), ValueError, "head_dim: .*got 7"),
    "head_dim a float": (lambda: RotaryConfig(8.0), TypeError, r"head_dim: .*got 8\.0"),
    "layout": (lambda: RotaryConfig(8, layout="neox"), ValueError, "layout: .*got 'neox'"),
    "base zero": (lambda: RotaryConfig(8, base=0.0), ValueError, r"base: .*got 0\.0"),
    "base negative": (lambda: RotaryConfig(8, base=-1e4), ValueError, "base: .*got -10000"),
    "rotary_dim odd": (lambda: RotaryConfig(8, rotary_dim=3), ValueError, "rotary_dim: .*got 3"),
    "rotary_dim too large": (lambda: RotaryConfig(8, rotary_dim=10), ValueError, "at most head_dim = 8, got 10"),
    "rotary_dim zero": (lambda: RotaryConfig(8, rotary_dim=0), ValueError, "rotary_dim: .*got 0"),
    "positions text": (lambda: rotary_table(["a"], CONFIG), TypeError, "positions: expected real numbers"),
    "positions none": (lambda: rotary_table(None, CONFIG), TypeError, "positions: .*got None"),
    "positions bool": (lambda: rotary_table(torch.tensor([True]), CONFIG), TypeError, "dtype torch.bool"),
    "positions bools": (lambda: rotary_table([True], CONFIG), TypeError, "dtype bool"),
    "positions complex": (lambda: rotary_table(torch.tensor([1j]), CONFIG), TypeError, "dtype torch.complex64"),
    "positions nan": (lambda: rotary_table(torch.tensor([0, torch.nan]), CONFIG), ValueError, "finite .*got nan"),
    "positions infinite": (lambda: rotary_table([0, float("inf")], CONFIG), ValueError, "finite .*got inf"),
    "positions of rank 0": (lambda: rotary_table(3, CONFIG), ValueError, r"\(T,\) or \(B, T\), got shape \(\)"),
    "positions of rank 3": (lambda: rotary_table(torch.zeros(1, 1, 3), CONFIG), ValueError, r"got shape \(1, 1, 3\)"),
    "table in half": (lambda: rotary_table([1], CONFIG, dtype=torch.bfloat16), ValueError, "got torch.bfloat16"),
    "x an array": (lambda: rotate(X.numpy(), TABLE), TypeError, "x: .*got ndarray"),
    "x of integers": (lambda: rotate(X.long(), TABLE), TypeError, "x: .*got dtype torch.int64"),
    "x complex": (lambda: rotate(X + 0j, TABLE), TypeError, "x: .*got dtype torch.complex64"),
    "x of rank 1": (lambda: rotate(X[0, 0], TABLE), ValueError, r"x: .*got shape \(8,\)"),
    "x too wide": (lambda: rotate(torch.zeros(3, 10), TABLE), ValueError, r"head_dim=8, got shape \(3, 10\)"),
    "x too narrow for its head": (
        lambda: rotate(torch.zeros(3, 6), rotary_table(range(3), RotaryConfig(8, rotary_dim=4))),
        ValueError,
        r"got shape \(3, 6\)",
    ),
    "x too long": (lambda: rotate(torch.zeros(4, 8), TABLE), ValueError, "each of the 4 tokens .*got 3"),
    "x double": (lambda: rotate(X.double(), TABLE), TypeError, "expected torch.float64 .*got torch.float32"),
    "batch": (lambda: rotate(X, rotary_table(torch.zeros(5, 3), CONFIG)), ValueError, r"got \(5, 3\)"),
    "batch without x's": (lambda: rotate(X[0], rotary_table(torch.zeros(3, 3), CONFIG)), ValueError, r"got \(3, 3\)"),
    "length of positions": (lambda: Rotary(CONFIG)(X, positions=[0, 1]), ValueError, "3 tokens .*got 2"),
    "offset negative": (lambda: Rotary(CONFIG)(X, offset=-1), ValueError, "offset: .*got -1"),
    "offset a float": (lambda: Rotary(CONFIG)(X, offset=0.5), TypeError, r"offset: .*got 0\.5"),
    "offset beside positions": (lambda: Rotary(CONFIG)(X, positions=range(3), offset=2), ValueError, "got 2"),
    "length not a length": (lambda: Rotary(CONFIG, length="4"), TypeError, "length: .*got '4'"),
    "config a width": (lambda: Rotary(64), TypeError, "config: .*got 64"),
    "length negative": (lambda: Rotary(CONFIG, length=-1), ValueError, "length: .*got -1"),
}


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize("name", REFUSALS)
def test_refusals_say_expected_got_and_fix(name):
    call, kind, words = REFUSALS[name]
    with pytest.raises(kind, match=words) as caught:
        call()
    assert "expected" in str(caught.value)
    assert ";" in str(caught.value)  # how to fix it stands behind it
