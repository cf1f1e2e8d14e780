"""Embeddings of images: those that turn a picture's channels themselves, and those that turn a part for each axis."""

import sys

import pytest

from rope_lab.audit.audits import audit

TEXT = '''
import math

import torch
from torch import nn


def turn_two(x, s, c):
    a, b = x[..., ::2], x[..., 1::2]
    return x * c + torch.stack((-b, a), dim=-1).flatten(-2) * s


class PictureRotary(nn.Module):
    """Turns the channels of a picture (batch, dim, rows, columns) by row and by column."""

    def __init__(self, dim, temperature=100.0):
        super().__init__()
        bands = temperature ** (-torch.arange(dim // 4).float() / (dim // 4))
        self.register_buffer("bands", bands, persistent=False)

    def places(self, side):
        return torch.arange(side).float()

    def forward(self, x):
        at = torch.cartesian_prod(*(self.places(side) for side in x.shape[2:]))
        angle = (at[:, :, None] * self.bands).flatten(1).repeat_interleave(2, dim=-1)
        flat = turn_two(x.flatten(2).transpose(1, 2), angle.sin(), angle.cos()).to(x.dtype)
        return flat.transpose(1, 2).reshape(x.shape)


class EdgesRotary(PictureRotary):
    """From edge to edge of the picture, whatever its size."""

    def places(self, side):
        return math.pi * torch.linspace(-1.0, 1.0, side)


class FastRotary(EdgesRotary):
    """So fast that a step between two patches is more than half a turn."""

    def places(self, side):
        return 60.0 * super().places(side)


class CoordinatesRotary(nn.Module):
    """Gives sines first, of as many axes as there are."""

    def __init__(self, dim):
        super().__init__()
        self.register_buffer("scales", torch.linspace(1.0, 5.0, 10), persistent=False)

    def forward(self, coords):
        angle = (coords[..., None] * self.scales).flatten(-2).repeat_interleave(2, dim=-1)
        return (part for part in (angle.sin(), angle.cos()))


class CountedRotary(CoordinatesRotary):
    def __init__(self, dim, ndim):
        super().__init__(dim)


class ExchangedRotary(CoordinatesRotary):
    """Gives cosines first, where the function beside it takes sines first."""

    def forward(self, coords):
        sin, cos = super().forward(coords)
        return cos, sin


def apply_rotary(q, k, sin, cos):
    width = sin.shape[-1]
    sin, cos = sin[:, None], cos[:, None]
    return tuple(torch.cat((turn_two(x[..., :width], sin, cos), x[..., width:]), dim=-1) for x in (q, k))
'''


@pytest.fixture(name="module")
def pictures_library(tmp_path, monkeypatch):
    (tmp_path / "pictures_library.py").write_text(TEXT)
    monkeypatch.syspath_prepend(tmp_path)
    sys.modules.pop("pictures_library", None)
    return "pictures_library"


def test_a_picture_is_asked_by_its_rows_and_columns(module):
    seen = audit(f"{module}:PictureRotary", head_dim=16)
    assert seen.ok
    assert [(len(axis.planes), axis.base) for axis in seen.axes] == [(4, 100.0), (4, 100.0)]
    assert (seen.fingerprint.layout, seen.fingerprint.direction) == ("interleaved", 1)
    assert "a picture of 32 x 32 patches, asked all at once" in seen.about
    one = audit(f"{module}:PictureRotary", head_dim=16, axis=1)
    assert min(map(min, one.fingerprint.pairs)) == 8


def test_a_size_that_sets_the_angles_is_said(module):
    seen = audit(f"{module}:EdgesRotary", head_dim=16)
    assert "whose size sets the angles" in seen.about
    assert seen.axes[0].frequencies[0] == pytest.approx(2 * 3.14159265 / 31, rel=1e-4)


def test_more_than_half_a_turn_between_two_patches_is_refused(module):
    said = audit(f"{module}:FastRotary", head_dim=16).skipped
    assert said.startswith(
        "its angles depend on the size of the picture, and one of 32 x 32 patches does not show them"
    )


def test_sines_first_and_as_many_axes_as_the_head_has_room_for(module):
    seen = audit(f"{module}:CoordinatesRotary", head_dim=64)
    assert [len(axis.planes) for axis in seen.axes] == [10, 10, 10]
    assert seen.fingerprint.rotated_dims == 60
    assert seen.axes[0].scheme == "equal steps from 1 to 5 radians"
    assert {law.name for law in seen.laws if law.broken} == set()


def test_a_number_of_axes_that_nobody_says_is_two_and_is_said(module):
    seen = audit(f"{module}:CountedRotary", head_dim=64)
    assert [len(axis.planes) for axis in seen.axes] == [10, 10]
    assert "built with dim=64, ndim=2" in seen.about
    assert len(audit(f"{module}:CountedRotary", head_dim=64, ndim=3).axes) == 3


def test_cosines_first_for_a_function_that_takes_sines_first(module):
    """Exchanged, all would turn by a quarter at position 0; either order of the module is told by that."""
    both = [audit(f"{module}:{name}Rotary", head_dim=64).fingerprint for name in ("Exchanged", "Coordinates")]
    assert both[0].frequencies == both[1].frequencies
    assert both[0].ok


def test_a_quarter_turn_at_position_0_is_no_answer(tmp_path, monkeypatch):
    (tmp_path / "quarter_library.py").write_text(
        TEXT.replace("def apply_rotary(q, k, sin, cos)", "def apply_rotary(q, k, cos, sin)")
    )
    monkeypatch.syspath_prepend(tmp_path)
    said = audit("quarter_library:CoordinatesRotary", head_dim=64).skipped
    assert said.startswith("found no way to apply the tables of CoordinatesRotary")
