"""Places with several coordinates: the fast form is the algebra's, and each table is an installed library's."""

import numpy as np
import pytest
import torch

from rope_lab.algebra import (
    axial_frequencies,
    interleaved_frequencies,
    mixed_frequencies,
    plane_angles,
    rotation,
    section_frequencies,
)
from rope_lab.nn import Rotary, RotaryConfig, rotary_table, rotate
from tests.nn.peer import load

TABLES = [axial_frequencies(8), mixed_frequencies(8, angles=0.7), section_frequencies([1, 1, 2])]
FLOAT32 = 1e-5  # the libraries' angles are float32, at coordinates below 40


@pytest.mark.parametrize("layout", ["interleaved", "half"])
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("extra", [0, 4])
def test_equals_the_algebra(table, layout, extra):
    rng = np.random.default_rng(0)
    x, places = rng.normal(size=(2, 3, 5, 8 + extra)), rng.normal(scale=9, size=(2, 5, table.shape[1]))
    rotary = Rotary(RotaryConfig.of_axes(table, head_dim=8 + extra, layout=layout))
    made = rotary(torch.from_numpy(x), positions=torch.from_numpy(places)).numpy()
    for b, t in np.ndindex(2, 5):
        angles = plane_angles(places[b, t], table)
        for h in range(3):
            want = rotation.rotate(x[b, h, t, :8], 1.0, theta=angles, layout=layout)
            np.testing.assert_allclose(made[b, h, t, :8], want, atol=1e-12)
    np.testing.assert_array_equal(made[..., 8:], x[..., 8:])
    back = rotary(torch.from_numpy(made), positions=torch.from_numpy(places), inverse=True)
    np.testing.assert_allclose(back.numpy(), x, atol=1e-12)


def test_equal_coordinates_are_one_axis():
    x, n = torch.randn(5, 128, dtype=torch.float64), torch.arange(5)
    several = Rotary(RotaryConfig.of_axes(interleaved_frequencies([24, 20, 20], base=5e6)))
    torch.testing.assert_close(
        several(x, positions=n[:, None].expand(5, 3)), Rotary(RotaryConfig(128, base=5e6))(x), rtol=0, atol=1e-12
    )


def _turned(table, places, x):
    """Half-split, as all of these models have it; x (B, heads, T, head_dim), places (B, T, axes)."""
    return rotate(x, rotary_table(places, RotaryConfig.of_axes(table, layout="half")))


@pytest.mark.parametrize(
    ("family", "text", "rotation_name", "make", "sections", "base", "kind"),
    [
        ("qwen2_vl", "Qwen2VLTextConfig", "Qwen2VLRotaryEmbedding", section_frequencies, [16, 24, 24], 1e6, {}),
        (
            "qwen3_vl",
            "Qwen3VLTextConfig",
            "Qwen3VLTextRotaryEmbedding",
            interleaved_frequencies,
            [24, 20, 20],
            5e6,
            {"mrope_interleaved": True},
        ),
    ],
)
def test_language_models_with_three_axes(family, text, rotation_name, make, sections, base, kind):
    load("transformers")
    configs, code = (load(f"transformers.models.{family}.{part}_{family}") for part in ("configuration", "modeling"))
    settings = {"rope_type": "default", "rope_theta": base, "mrope_section": sections} | kind
    config = getattr(configs, text)(
        hidden_size=256, num_attention_heads=2, num_key_value_heads=2, head_dim=128, rope_parameters=settings
    )
    x, places = torch.randn(2, 2, 6, 128), torch.randint(40, (2, 6, 3))
    cos, sin = getattr(code, rotation_name)(config)(x, places.movedim(-1, 0))
    theirs, _ = code.apply_rotary_pos_emb(x, x, cos, sin)
    ours = _turned(make(sections, base=base), places, x)
    torch.testing.assert_close(ours, theirs, rtol=0, atol=FLOAT32)
    wrong = _turned(make(sections, base=base), places.flip(-1), x)  # control: the axes in another order
    assert (wrong - theirs).abs().max() > 0.1
    older = {"head_dim": 128, "rope_theta": base, "rope_scaling": {"type": "mrope", "mrope_section": sections} | kind}
    for said in (config, config.to_dict(), older):
        assert RotaryConfig.from_hf(said) == RotaryConfig.of_axes(make(sections, base=base), layout="half")


@pytest.mark.parametrize(
    ("family", "text", "rotation_name", "given"),
    [
        (
            "qwen2_vl",
            "Qwen2VLTextConfig",
            "Qwen2VLRotaryEmbedding",
            {"rope_type": "linear", "factor": 3.0, "mrope_section": [24, 20, 20]},
        ),
        (
            "qwen3_5",
            "Qwen3_5TextConfig",
            "Qwen3_5TextRotaryEmbedding",
            {"partial_rotary_factor": 0.25, "mrope_section": [6, 5, 5], "mrope_interleaved": True},
        ),
    ],
)
def test_axes_beside_a_schedule_and_in_a_part_of_a_head(family, text, rotation_name, given):
    load("transformers")
    configs, code = (load(f"transformers.models.{family}.{part}_{family}") for part in ("configuration", "modeling"))
    settings = {"rope_type": "default", "rope_theta": 1e4} | given
    config = getattr(configs, text)(
        hidden_size=256, num_attention_heads=2, num_key_value_heads=2, head_dim=128, rope_parameters=settings
    )
    x, places = torch.randn(2, 2, 6, 128), torch.randint(40, (2, 6, 3))
    cos, sin = getattr(code, rotation_name)(config)(x, places.movedim(-1, 0))
    theirs, _ = code.apply_rotary_pos_emb(x, x, cos, sin)
    ours = Rotary(RotaryConfig.from_hf(config))(x, positions=places)
    torch.testing.assert_close(ours, theirs, rtol=0, atol=FLOAT32)
    flipped = settings | {"mrope_interleaved": "mrope_interleaved" not in given}  # control: the other way to deal
    no_family = config.to_dict() | {"rope_parameters": flipped, "model_type": ""}
    wrong = Rotary(RotaryConfig.from_hf(no_family))(x, positions=places)
    assert (wrong - theirs).abs().max() > 0.1


DEALT = {  # by the class, whatever the configuration says: a family, and the sections of a head of 32
    "qwen2_vl": (4, 6, 6),
    "qwen2_5_vl": (4, 6, 6),
    "qwen3_vl": (6, 5, 5),
    "qwen3_vl_moe": (6, 5, 5),
    "cosmos3_edge": (6, 5, 5),
}


@pytest.mark.parametrize("family", DEALT)
def test_the_class_of_a_family_decides_how_planes_are_dealt_out(family):
    load("transformers")
    configs, code = (load(f"transformers.models.{family}.{part}_{family}") for part in ("configuration", "modeling"))
    (text,) = (c for name, c in vars(configs).items() if name.endswith(("VLTextConfig", "MoeTextConfig", "TextConfig")))
    names = [name for name in vars(code) if name.endswith("RotaryEmbedding") and "Vision" not in name]
    settings = {"rope_type": "default", "rope_theta": 1e4, "mrope_section": list(DEALT[family])}
    config = text(hidden_size=64, num_attention_heads=2, num_key_value_heads=2, head_dim=32, rope_parameters=settings)
    table = np.array(RotaryConfig.from_hf(config).vectors)
    module = getattr(code, names[0])(config)
    for axis in range(3):
        place = torch.zeros(3, 1, 1)
        place[axis] = 1.0
        cos, sin = module(torch.zeros(1, 1, 32), place)
        angles = torch.atan2(sin, cos).flatten()[:16]  # the second half repeats them
        np.testing.assert_allclose(angles, table[:, axis], atol=1e-6)


@pytest.mark.parametrize("family", ["ernie4_5_vl_moe_text", "hunyuan_vl_text"])
def test_families_with_an_order_of_their_own_are_refused(family):
    with pytest.raises(ValueError, match=f"got {family}, whose class has an order of its own"):
        RotaryConfig.from_hf({"head_dim": 32, "model_type": family, "mrope_section": [6, 6, 4]})


def test_a_vision_tower_is_axial():
    load("transformers")
    configs = load("transformers.models.qwen2_vl.configuration_qwen2_vl")
    code = load("transformers.models.qwen2_vl.modeling_qwen2_vl")
    config = configs.Qwen2VLVisionConfig(embed_dim=80, num_heads=1, hidden_size=80)
    x, places = torch.randn(1, 1, 6, 80), torch.randint(40, (1, 6, 2))
    cos, sin = code.Qwen2VLVisionRotaryEmbedding(config)(x, places.movedim(-1, 1))
    heads_last = x.transpose(1, 2)  # (B, T, heads, head_dim)
    theirs, _ = code.apply_rotary_pos_emb_vision(heads_last, heads_last, cos, sin)
    ours = _turned(axial_frequencies(80), places, x)
    torch.testing.assert_close(ours, theirs.transpose(1, 2), rtol=0, atol=FLOAT32)
    wrong = _turned(axial_frequencies(80), places.flip(-1), x)  # control: columns before rows
    assert (wrong - theirs.transpose(1, 2)).abs().max() > 0.1


def test_mixed_is_the_complex_form_of_its_paper():
    """arXiv 2403.13298: a plane is multiplied by exp(i (a x + b y)); its code starts a and b as below."""
    dim, angle, x = 16, torch.tensor(0.7, dtype=torch.float64), torch.randn(6, 16, dtype=torch.float64)
    places = torch.randint(14, (6, 2)).double()
    size = 10.0 ** (-torch.arange(0, dim, 4).double() / dim)
    a, b = (torch.cat([size * f(angle), size * f(angle + torch.pi / 2)]) for f in (torch.cos, torch.sin))
    phase = places[:, :1] * a + places[:, 1:] * b
    theirs = torch.view_as_real(torch.view_as_complex(x.view(6, 8, 2)) * torch.polar(torch.ones(6, 8).double(), phase))
    ours = Rotary(RotaryConfig.of_axes(mixed_frequencies(dim, angles=angle.item())))(x, positions=places)
    torch.testing.assert_close(ours, theirs.flatten(-2), rtol=0, atol=1e-12)


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: RotaryConfig.of_axes([1.0, 2.0]), r"vectors: expected \(planes, axes\).* got shape \(2,\)"),
        (lambda: RotaryConfig(8, vectors=((1.0, 0.0),)), "one row for each of the 4 planes, got 1"),
        (lambda: RotaryConfig(2, base=7.0, vectors=((1.0, 0.0),)), "neither base nor schedule"),
        (lambda: Rotary(RotaryConfig.of_axes([[1.0, 0.0]]))(torch.ones(3, 2)), r"expected \(T, 2\), got none"),
        (lambda: rotary_table([1, 2], RotaryConfig.of_axes([[1.0, 0.0]])), r"expected \(T, 2\) or \(B, T, 2\)"),
    ],
)
def test_refusals(call, said):
    with pytest.raises(ValueError, match=said):
        call()
