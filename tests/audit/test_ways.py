"""A family's class or function answers for itself, in every shape of API, or is refused; and embeddings of images."""

import pytest

from rope_lab.audit.audits import audit, audit_every
from tests.audit.family import TEXT
from tests.audit.implementations import module_in


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Writes the module ``own_family``, with changes to its text; targets are ``own_family:NAME``."""

    def changed(*changes):
        text = TEXT
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        write(text)

    with module_in(tmp_path, monkeypatch, "own_family") as write:
        changed()
        yield changed


pytestmark = pytest.mark.usefixtures("module")


def answered(name, **options):
    seen = audit(f"own_family:{name}", **options)
    assert seen.skipped is None, seen.skipped
    return seen


@pytest.mark.deep
def test_a_class_for_images_is_asked_itself_and_not_the_class_for_text():
    seen = answered("OwnVisionRotaryEmbedding")
    assert seen.fingerprint.head_dim == 24
    assert "OwnVisionRotaryEmbedding applied by apply_rotary_pos_emb_vision" in seen.about
    assert [axis.planes for axis in seen.axes] == [tuple(range(6)), tuple(range(6, 12))]
    assert [axis.base for axis in seen.axes] == [10000.0, 10000.0]  # with the width of the axis, not of the head
    assert seen.ok


@pytest.mark.deep
def test_one_axis_is_a_setting():
    seen = answered("OwnVisionRotaryEmbedding", axis=0)
    assert (seen.fingerprint.rotated_dims, seen.fingerprint.base) == (12, 10000.0)
    assert audit("own_family:OwnVisionRotaryEmbedding", axis=2).skipped.startswith("axis: expected a number below 2, g")


@pytest.mark.deep
def test_a_composite_configuration_is_looked_through():
    seen = answered("OwnTextRotaryEmbedding")
    assert (seen.fingerprint.base, seen.fingerprint.head_dim) == (500000.0, 16)
    assert seen.about.startswith("as TextConfig() sets it")


@pytest.mark.deep
def test_a_setting_of_the_rotation_goes_where_the_configuration_keeps_it():
    seen = answered("OwnTextRotaryEmbedding", rope_theta=1000.0)
    assert seen.fingerprint.base == 1000.0
    assert seen.about.startswith("TextConfig with rope_theta set for this audit")


@pytest.mark.deep
def test_a_given_configuration_counts():
    given = {"text_config": {"hidden_size": 128, "rope_parameters": {"rope_type": "default", "rope_theta": 2e4}}}
    seen = answered("OwnTextRotaryEmbedding", config=given)
    assert (seen.fingerprint.base, seen.fingerprint.head_dim) == (20000.0, 32)
    assert seen.about.startswith("TextConfig as the given configuration sets it")


@pytest.mark.deep
def test_planes_of_one_list_shared_out_over_axes():
    seen = answered("OwnSectionsRotaryEmbedding")
    assert [axis.planes for axis in seen.axes] == [(0, 3, 6), (1, 4, 7), (2, 5)]
    assert {axis.base for axis in seen.axes} == {500000.0}
    assert answered("OwnSectionsRotaryEmbedding", axis=1).fingerprint.base == 500000.0


@pytest.mark.deep
def test_each_kind_of_layer_has_its_answer():
    target = "own_family:OwnLayersRotaryEmbedding"
    assert audit(target).skipped.startswith("layer_type: expected one of near, far, got None")
    seen = audit_every(target)
    assert [s.fingerprint.base for s in seen] == [1e4, 1e6]
    assert [s.name for s in seen] == [f"{target} [layer_type={kind}]" for kind in ("near", "far")]


def test_complex_tables(module):
    module(
        ("        return apply_rotary_pos_emb(q, k, cos, sin)", "        return apply_rotary_emb_complex(q, k, cos)")
    )
    seen = answered("OwnComplexRotaryEmbedding")
    assert (seen.fingerprint.layout, seen.fingerprint.base) == ("interleaved", 500000.0)


def test_the_order_of_arguments_is_found(module):
    signature = "def apply_rotary_pos_emb(q, k, cos, sin, unsqueeze_dim=1)"
    module(
        (signature, "def apply_rotary_pos_emb(query, sin, cos, key, unsqueeze_dim=1)"),
        (
            "    cos, sin = cos.unsqueeze(unsqueeze_dim)",
            "    q, k = query, key\n    cos, sin = cos.unsqueeze(unsqueeze_dim)",
        ),
    )
    assert answered("OwnTextRotaryEmbedding").fingerprint.base == 500000.0


@pytest.mark.deep
def test_a_static_method_may_apply_the_tables(module):
    method = "class Attention(nn.Module):\n    @staticmethod\n    def turn(query, key, sin, cos):\n"
    body = "        return query * cos[:, None] + quarter(query) * sin[:, None], key\n\n"
    use = "        return apply_rotary_pos_emb(q, k, cos, sin)", "        return self.turn(q, k, sin, cos)"
    module(("class Attention(nn.Module):\n", method + body), use)
    assert "applied by turn" in answered("OwnTextRotaryEmbedding").about


@pytest.mark.deep
def test_the_last_coordinates_turn_where_heads_are_nope_then_rope(module):
    module(
        ("self.__dict__.update(more)", "self.head_dim, self.qk_nope_head_dim = 32, 16"),
        ("config.head_dim, 2) / config.head_dim", "16, 2) / 16"),
    )
    print_ = answered("OwnTextRotaryEmbedding").fingerprint
    assert (print_.pairs[0], print_.rotated_dims, print_.head_dim) == ((16, 24), 16, 32)


def test_what_fits_nothing_is_refused_in_words(module):
    module(("return repeated((position_ids", "return 3, repeated((position_ids"))
    assert (
        "found no way to apply the tables of OwnVisionRotaryEmbedding"
        in audit("own_family:OwnVisionRotaryEmbedding").skipped
    )


PICTURES = '''
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


@pytest.fixture(name="pictures")
def pictures_library(tmp_path, monkeypatch):
    with module_in(tmp_path, monkeypatch, "pictures_library") as write:
        yield write(PICTURES)


@pytest.mark.deep
def test_a_picture_is_asked_by_its_rows_and_columns(pictures):
    seen = audit(f"{pictures}:PictureRotary", head_dim=16)
    assert seen.ok
    assert [(len(axis.planes), axis.base) for axis in seen.axes] == [(4, 100.0), (4, 100.0)]
    assert (seen.fingerprint.layout, seen.fingerprint.direction) == ("interleaved", 1)
    assert "a picture of 32 x 32 patches, asked all at once" in seen.about
    one = audit(f"{pictures}:PictureRotary", head_dim=16, axis=1)
    assert min(map(min, one.fingerprint.pairs)) == 8


@pytest.mark.deep
def test_a_size_that_sets_the_angles_is_said(pictures):
    seen = audit(f"{pictures}:EdgesRotary", head_dim=16)
    assert "whose size sets the angles" in seen.about
    assert seen.axes[0].frequencies[0] == pytest.approx(2 * 3.14159265 / 31, rel=1e-4)


def test_more_than_half_a_turn_between_two_patches_is_refused(pictures):
    said = audit(f"{pictures}:FastRotary", head_dim=16).skipped
    assert said.startswith(
        "its angles depend on the size of the picture, and one of 32 x 32 patches does not show them"
    )


@pytest.mark.deep
def test_sines_first_and_as_many_axes_as_the_head_has_room_for(pictures):
    seen = audit(f"{pictures}:CoordinatesRotary", head_dim=64)
    assert [len(axis.planes) for axis in seen.axes] == [10, 10, 10]
    assert seen.fingerprint.rotated_dims == 60
    assert seen.axes[0].scheme == "equal steps from 1 to 5 radians"
    assert {law.name for law in seen.laws if law.broken} == set()


@pytest.mark.deep
def test_a_number_of_axes_that_nobody_says_is_two_and_is_said(pictures):
    seen = audit(f"{pictures}:CountedRotary", head_dim=64)
    assert [len(axis.planes) for axis in seen.axes] == [10, 10]
    assert "built with dim=64, ndim=2" in seen.about
    assert len(audit(f"{pictures}:CountedRotary", head_dim=64, ndim=3).axes) == 3


@pytest.mark.deep
def test_cosines_first_for_a_function_that_takes_sines_first(pictures):
    """Exchanged, all would turn by a quarter at position 0; either order of the pictures is told by that."""
    both = [audit(f"{pictures}:{name}Rotary", head_dim=64).fingerprint for name in ("Exchanged", "Coordinates")]
    assert both[0].frequencies == both[1].frequencies
    assert both[0].ok


def test_a_quarter_turn_at_position_0_is_no_answer(tmp_path, monkeypatch):
    (tmp_path / "quarter_library.py").write_text(
        PICTURES.replace("def apply_rotary(q, k, sin, cos)", "def apply_rotary(q, k, cos, sin)")
    )
    monkeypatch.syspath_prepend(tmp_path)
    said = audit("quarter_library:CoordinatesRotary", head_dim=64).skipped
    assert said.startswith("found no way to apply the tables of CoordinatesRotary")
