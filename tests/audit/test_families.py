"""What a family's class or function is asked for is what is answered, in every shape of API; or it is refused."""

import sys

import pytest

from rope_lab.audit.audits import audit, audit_every
from tests.audit.family import TEXT


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Writes the module ``own_family``, with changes to its text; targets are ``own_family:NAME``."""
    monkeypatch.syspath_prepend(tmp_path)

    def write(*changes):
        text = TEXT
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        sys.modules.pop("own_family", None)
        (tmp_path / "own_family.py").write_text(text, encoding="utf-8")

    write()
    yield write
    sys.modules.pop("own_family", None)


pytestmark = pytest.mark.usefixtures("module")


def answered(name, **options):
    seen = audit(f"own_family:{name}", **options)
    assert seen.skipped is None, seen.skipped
    return seen


def test_a_class_for_images_is_asked_itself_and_not_the_class_for_text():
    seen = answered("OwnVisionRotaryEmbedding")
    assert seen.fingerprint.head_dim == 24
    assert "OwnVisionRotaryEmbedding applied by apply_rotary_pos_emb_vision" in seen.about
    assert [axis.planes for axis in seen.axes] == [tuple(range(6)), tuple(range(6, 12))]
    assert [axis.base for axis in seen.axes] == [10000.0, 10000.0]  # with the width of the axis, not of the head
    assert seen.ok


def test_one_axis_is_a_setting():
    seen = answered("OwnVisionRotaryEmbedding", axis=0)
    assert (seen.fingerprint.rotated_dims, seen.fingerprint.base) == (12, 10000.0)
    assert audit("own_family:OwnVisionRotaryEmbedding", axis=2).skipped.startswith("axis: expected a number below 2, g")


def test_a_composite_configuration_is_looked_through():
    seen = answered("OwnTextRotaryEmbedding")
    assert (seen.fingerprint.base, seen.fingerprint.head_dim) == (500000.0, 16)
    assert seen.about.startswith("as TextConfig() sets it")


def test_a_setting_of_the_rotation_goes_where_the_configuration_keeps_it():
    seen = answered("OwnTextRotaryEmbedding", rope_theta=1000.0)
    assert seen.fingerprint.base == 1000.0
    assert seen.about.startswith("TextConfig with rope_theta set for this audit")


def test_a_given_configuration_counts():
    given = {"text_config": {"hidden_size": 128, "rope_parameters": {"rope_type": "default", "rope_theta": 2e4}}}
    seen = answered("OwnTextRotaryEmbedding", config=given)
    assert (seen.fingerprint.base, seen.fingerprint.head_dim) == (20000.0, 32)
    assert seen.about.startswith("TextConfig as the given configuration sets it")


def test_planes_of_one_list_shared_out_over_axes():
    seen = answered("OwnSectionsRotaryEmbedding")
    assert [axis.planes for axis in seen.axes] == [(0, 3, 6), (1, 4, 7), (2, 5)]
    assert {axis.base for axis in seen.axes} == {500000.0}
    assert answered("OwnSectionsRotaryEmbedding", axis=1).fingerprint.base == 500000.0


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


def test_a_static_method_may_apply_the_tables(module):
    method = "class Attention(nn.Module):\n    @staticmethod\n    def turn(query, key, sin, cos):\n"
    body = "        return query * cos[:, None] + quarter(query) * sin[:, None], key\n\n"
    use = "        return apply_rotary_pos_emb(q, k, cos, sin)", "        return self.turn(q, k, sin, cos)"
    module(("class Attention(nn.Module):\n", method + body), use)
    assert "applied by turn" in answered("OwnTextRotaryEmbedding").about


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
