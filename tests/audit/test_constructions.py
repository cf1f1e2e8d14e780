"""Embeddings of other libraries: built by the meaning of their parameters, tables applied by what stands beside."""

import sys

import numpy as np
import pytest

from rope_lab.audit.atlas_rows import definitions
from rope_lab.audit.audits import audit
from rope_lab.audit.constructions import arguments
from rope_lab.audit.foreign_code import version
from rope_lab.audit.table_calls import table_calls

TEXT = '''
import torch
from torch import nn


def rotary_table(dim, pos, theta):
    """Cosines and sines whose neighbours repeat."""
    angle = torch.outer(pos.double(), theta ** (-torch.arange(0, dim, 2).double() / dim)).repeat_interleave(2, dim=-1)
    return angle.cos().float(), angle.sin().float()


def apply_turn(x, freqs_cis, use_real=True, unbind_dim=-2):
    if use_real:
        cos, sin = freqs_cis
        if unbind_dim == -1:
            turned = torch.stack((-x[..., 1::2], x[..., ::2]), dim=-1).flatten(-2)
        else:
            a, b = x.chunk(2, dim=-1)
            turned = torch.cat((-b, a), dim=-1)
        return x * cos + turned * sin
    z = torch.view_as_complex(x.float().unflatten(-1, (-1, 2))) * freqs_cis.unsqueeze(2)
    return torch.view_as_real(z).flatten(-2).type_as(x)


class AxesPosEmbed(nn.Module):
    def __init__(self, theta: int, axes_dim: list[int]):
        super().__init__()
        self.theta, self.axes_dim = theta, axes_dim

    def forward(self, ids):
        tables = [rotary_table(d, ids[:, a], self.theta) for a, d in enumerate(self.axes_dim)]
        return tuple(torch.cat(parts, dim=-1) for parts in zip(*tables))


class BlockPosEmbed(nn.Module):
    def __init__(self, attention_head_dim: int, patch_size: tuple[int, int, int], max_seq_len: int):
        super().__init__()
        self.width, self.end = attention_head_dim, max_seq_len

    def forward(self, hidden_states):
        _, _, frames, rows, columns = hidden_states.shape
        at = torch.cartesian_prod(torch.arange(frames), torch.arange(rows), torch.arange(columns))
        return AxesPosEmbed(10000.0, [self.width // 2, self.width // 4, self.width // 4])(at)


class SizedPosEmbed(BlockPosEmbed):
    """A place means another angle in a larger picture: no function of the position alone."""

    def forward(self, hidden_states):
        cos, sin = super().forward(hidden_states)
        angle = torch.atan2(sin, cos) / hidden_states.shape[-1]
        return angle.cos(), angle.sin()


class Model(nn.Module):
    def __init__(self, attention_head_dim=16, rope_theta: float = 256.0, axes_dims_rope=(8, 4, 4)):
        super().__init__()


class PairPosEmbed(nn.Module):
    """Takes q and k alone, from position 0 on."""

    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, q, k):
        tables = rotary_table(self.dim, torch.arange(q.shape[-2]), 10000.0)
        return apply_turn(q, tables, unbind_dim=-1), apply_turn(k, tables, unbind_dim=-1)


class KernelRotary(nn.Module):
    def __init__(self, dim, kernel):
        super().__init__()

    def forward(self, ids):
        return ids


def precompute_freqs_cis(dim: int, end: int, theta: float):
    angle = torch.outer(torch.arange(end), theta ** (-torch.arange(0, dim, 2) / dim))
    return torch.polar(torch.ones_like(angle), angle)


def compute_rope_2d(dim: int, height: int, width: int):
    at = torch.cartesian_prod(torch.arange(height), torch.arange(width))
    halves = [rotary_table(dim // 2, at[:, a], 100.0) for a in (0, 1)]
    return tuple(torch.cat(parts, dim=-1) for parts in zip(*halves))


def get_rope_name(style):
    return style
'''


@pytest.fixture(name="other")
def other_library(tmp_path, monkeypatch):
    folder = tmp_path / "other_library"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "turns.py").write_text(TEXT)
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("other_library", "other_library.turns"):
        sys.modules.pop(name, None)
    return "other_library.turns"


def test_what_builds_tables_and_what_calls_it_is_in_the_inventory(other):
    names = [found.target.partition(":")[2] for found in definitions(other.partition(".")[0])]
    assert names == ["AxesPosEmbed", "PairPosEmbed", "KernelRotary", "precompute_freqs_cis", "compute_rope_2d"]


@pytest.mark.deep
def test_the_part_of_each_axis_is_that_of_the_model_beside(other):
    seen = audit(f"{other}:AxesPosEmbed")
    assert [len(axis.planes) for axis in seen.axes] == [4, 2, 2]
    assert [axis.base for axis in seen.axes] == pytest.approx([256.0] * 3)
    assert seen.fingerprint.layout == "interleaved"
    assert "theta, axes_dim as Model() sets it" in seen.about
    assert "apply_turn with unbind_dim=-1" in seen.about  # with its default the lengths would change
    assert seen.ok


@pytest.mark.deep
def test_a_setting_goes_before_what_a_model_says(other):
    seen = audit(f"{other}:AxesPosEmbed", theta=100.0, axis=1)
    assert (seen.fingerprint.base, len(seen.axes)) == (100.0, 3)
    assert "theta" not in seen.about.partition("as Model()")[0]
    wrong = audit(f"{other}:AxesPosEmbed", axis=3)
    assert wrong.skipped == "axis: expected a number below 3, got 3: it has 3 axes"


@pytest.mark.deep
def test_a_block_of_patches_is_asked_along_each_side(other):
    seen = audit(f"{other}:BlockPosEmbed")
    assert [len(axis.planes) for axis in seen.axes] == [4, 2, 2]
    assert seen.fingerprint.head_dim == 16
    assert "a block of frames, rows and columns" in seen.about


def test_tables_that_depend_on_the_size_of_the_block_are_refused(other):
    assert "its tables depend on the size of the block" in audit(f"{other}:SizedPosEmbed").skipped


@pytest.mark.deep
def test_q_and_k_without_positions(other):
    seen = audit(f"{other}:PairPosEmbed", head_dim=8)
    assert (seen.fingerprint.layout, seen.fingerprint.base) == ("interleaved", 10000.0)
    assert "one token at each place" in seen.about


@pytest.mark.deep
def test_a_function_that_builds_complex_tables(other):
    seen = audit(f"{other}:precompute_freqs_cis", theta=1e6)
    assert (seen.fingerprint.layout, seen.fingerprint.base) == ("interleaved", 1e6)
    assert "apply_turn with use_real=False" in seen.about
    assert seen.ok


@pytest.mark.deep
def test_a_function_that_builds_tables_of_rows_and_columns(other):
    seen = audit(f"{other}:compute_rope_2d", head_dim=16)
    assert [(len(axis.planes), axis.base) for axis in seen.axes] == [(4, 100.0), (4, 100.0)]


def test_a_parameter_without_a_known_meaning_is_refused_by_name(other):
    reason = "KernelRotary needs kernel, and no class beside it has a default for that; set it"
    assert audit(f"{other}:KernelRotary").skipped == reason


def test_patches_are_as_many_as_the_axes():
    def embed(patch_size: tuple[int, ...], rope_dim: list[int]):
        return patch_size, rope_dim

    assert arguments(embed, width=64).given == {"patch_size": (1, 1, 1), "rope_dim": (24, 20, 20)}
    assert arguments(embed, width=64, settings={"rope_dim": [32, 32]}).given["patch_size"] == (1, 1)


def test_tables_of_repeated_entries_are_applied_in_their_own_pairs():
    import torch

    from rope_lab.audit.table_calls import repeated_entries

    angle = torch.tensor([[0.0, 0.0], [1.0, 0.01]])
    x = torch.tensor([1.0, 0.0, 0.0, 0.0]).expand(1, 1, 2, 4)
    halves, neighbours = (f(angle) for f in (lambda a: a.repeat(1, 2), lambda a: a.repeat_interleave(2, dim=-1)))
    for table, pair in ((halves, [0, 2]), (neighbours, [0, 1])):
        turned = repeated_entries(x, table.cos(), table.sin())[0, 0, 1]
        assert turned[pair].tolist() == pytest.approx([np.cos(1.0), np.sin(1.0)])
    with pytest.raises(ValueError, match="do not repeat"):
        repeated_entries(x, torch.rand(2, 4), torch.rand(2, 4))


@pytest.mark.deep
def test_the_version_is_that_of_what_installs_the_package():
    assert version("PIL") == version("pillow") is not None
    assert version("no_such_package") is None


def test_the_tables_of_an_image_are_asked_once_for_each_dtype():
    import torch

    asked = []

    def module(pixel_values):
        asked.append(pixel_values.dtype)
        side = pixel_values.shape[-1]
        return torch.cartesian_prod(torch.arange(side), torch.arange(side))

    (call,) = table_calls(module, {}, config=object())
    for dtype in (torch.float32, torch.float32, torch.float64):
        (rows,) = call.tables(torch.zeros(1, 1, 1, 4, dtype=dtype), torch.tensor([[2, 3]]))
        assert rows.tolist() == [[2, 3]]
    assert asked == [torch.float32, torch.float64]
