"""What a config.json says is read as transformers reads it; what it cannot say is refused, and the field is named."""

import numpy as np
import pytest

from rope_lab.algebra import Linear, LongRoPE, Yarn, rope_settings

pytestmark = pytest.mark.usefixtures("untyped")

PLAIN = {"hidden_size": 64, "num_attention_heads": 4, "max_position_embeddings": 128}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32}
LONG = {"rope_type": "longrope", "factor": 4.0, "short_factor": [1.0] * 8, "long_factor": [2.0] * 8}
LINEAR = {"rope_type": "linear", "factor": 4.0}
LLAMA_3 = YARN | {"rope_type": "llama3", "low_freq_factor": 1.0, "high_freq_factor": 4.0}


def test_a_factor_that_is_null_is_no_kind_of_layer():
    assert rope_settings(PLAIN | {"rope_scaling": YARN | {"attention_factor": None}}).schedule == Yarn(4.0, 32)
    given = rope_settings(PLAIN | {"rope_scaling": YARN | {"attention_factor": 1.25}}).schedule
    assert given == Yarn(4.0, 32, given=1.25)


@pytest.mark.parametrize("top", [{}, {"rope_theta": 5e5}], ids=["no base beside", "a base beside"])
@pytest.mark.parametrize("old", [LINEAR, LINEAR | {"rope_theta": 7e4}], ids=["no base inside", "a base inside"])
@pytest.mark.parametrize("new", [{"rope_type": "default", "rope_theta": 1e6}, YARN | {"rope_theta": 1e6}])
@pytest.mark.filterwarnings("ignore")
def test_a_dictionary_with_both_names_is_read_as_the_library_reads_it(top, old, new):
    library = pytest.importorskip("transformers")
    llama = pytest.importorskip("transformers.models.llama.modeling_llama")
    both = PLAIN | top | {"rope_parameters": dict(new), "rope_scaling": dict(old)}
    ours = rope_settings(both)
    theirs = llama.LlamaRotaryEmbedding(library.LlamaConfig(**both)).inv_freq.double().numpy()
    assert ours.schedule == Linear(4.0)
    np.testing.assert_allclose(ours.schedule.frequencies(16, base=ours.base), theirs, rtol=4e-6)


def test_one_name_alone_counts_and_an_object_has_its_parameters():
    for empty in (None, {}):
        assert rope_settings(PLAIN | {"rope_parameters": LINEAR, "rope_scaling": empty}).schedule == Linear(4.0)
        assert rope_settings(PLAIN | {"rope_parameters": empty, "rope_scaling": LINEAR}).schedule == Linear(4.0)

    class Config:
        rope_parameters, rope_scaling, head_dim = LINEAR, {"rope_type": "linear", "factor": 8.0}, 16

    assert rope_settings(Config()).schedule == Linear(4.0)


def test_a_scaling_beside_parameters_for_each_layer_is_refused():
    nested = {"full_attention": LINEAR, "sliding_attention": None}
    with pytest.raises(ValueError, match="rope_scaling: expected it or rope_parameters for each of full_attention, sl"):
        rope_settings(PLAIN | {"rope_parameters": nested, "rope_scaling": LINEAR}, layer_type="full_attention")
    found = rope_settings(PLAIN | {"rope_parameters": LINEAR, "rope_scaling": nested}, layer_type="full_attention")
    assert found.schedule == Linear(4.0)


KINDS = {  # of another kind than the field has
    "rope_scaling": {"rope_scaling": "linear"},
    "rope_parameters": {"rope_parameters": [1]},
    "head_dim": {"head_dim": "16"},
    "head_dim ": {"head_dim": 16.5},
    "qk_rope_head_dim": {"qk_rope_head_dim": "16"},
    "hidden_size": {"hidden_size": "64"},
    "num_attention_heads": {"num_attention_heads": [4]},
    "partial_rotary_factor": {"partial_rotary_factor": "0.5"},
    "rotary_pct": {"rotary_pct": "0.5"},
    "rope_theta": {"rope_theta": "abc"},
    "rope_theta ": {"rope_theta": [1]},
    "rope_theta  ": {"rope_theta": True},
    "rope_theta   ": {"rope_theta": "500000"},
    "rotary_emb_base": {"rotary_emb_base": "10000"},
    "mrope_section": {"mrope_section": 8},
    "mrope_section ": {"mrope_section": ["a"]},
    "mrope_interleaved": {"mrope_section": [2, 3, 3], "mrope_interleaved": "false"},
    "max_position_embeddings": {"rope_scaling": LINEAR | {"rope_type": "dynamic"}, "max_position_embeddings": "128"},
    "original_max_position_embeddings": {"rope_scaling": YARN | {"original_max_position_embeddings": "32"}},
    "factor": {"rope_scaling": LINEAR | {"factor": "4"}},
    "low_freq_factor": {"rope_scaling": LLAMA_3 | {"low_freq_factor": "1"}},
    "short_factor": {"rope_scaling": LONG | {"short_factor": 1}},
    "attention_factor": {"rope_scaling": YARN | {"attention_factor": "1.2"}},
    "attention_factor ": {"rope_scaling": LONG | {"attention_factor": "1.2"}},
    "mscale": {"rope_scaling": YARN | {"mscale": "1"}},
    "truncate": {"rope_scaling": YARN | {"truncate": "false"}},
}
RANGES = {  # out of the field's range
    "rope_theta": {"rope_theta": 0},
    "num_attention_heads": {"num_attention_heads": 0},
    "partial_rotary_factor": {"partial_rotary_factor": -0.5},
    "factor": {"rope_scaling": YARN | {"factor": 0}},
    "factor ": {"rope_scaling": LONG | {"factor": 0}},
    "attention_factor": {"rope_scaling": YARN | {"attention_factor": 0}},
    "attention_factor ": {"rope_scaling": YARN | {"attention_factor": -1}},
    "attention_factor  ": {"rope_scaling": LONG | {"attention_factor": 0}},
    "mscale_all_dim": {"rope_scaling": YARN | {"mscale_all_dim": -1.0}},
    "short_factor": {"rope_scaling": LONG | {"short_factor": [1.0] * 2, "long_factor": [2.0] * 2}},
    "rope_type": {"rope_scaling": {"factor": 4.0}},
}


@pytest.mark.parametrize("field", KINDS)
def test_a_field_of_another_kind_is_named(field):
    with pytest.raises(TypeError, match=rf"^{field.strip()}: expected .*, got .*; "):
        rope_settings(PLAIN | KINDS[field])


@pytest.mark.parametrize("field", RANGES)
def test_a_field_out_of_its_range_is_named(field):
    with pytest.raises(ValueError, match=rf"^{field.strip()}: expected .*, got .*; "):
        rope_settings(PLAIN | RANGES[field])


def test_control_what_files_have_is_read():
    """A window as a float, a factor of 1 without a type, a part of width 0, and nulls."""
    found = rope_settings(PLAIN | {"rope_scaling": YARN | {"original_max_position_embeddings": 32.0, "mscale": 0}})
    assert found.schedule.attention_factor == Yarn(4.0, 32).attention_factor
    plain = rope_settings(PLAIN)
    nothing = {"qk_rope_head_dim": 0, "head_dim": None, "rope_theta": None, "partial_rotary_factor": None}
    assert rope_settings(PLAIN | nothing | {"rope_scaling": {"factor": 1.0}}) == plain
    assert (plain.head_dim, plain.base, plain.rotary_dim) == (16, 10000.0, None)
    assert not rope_settings(PLAIN | {"rope_scaling": YARN | {"truncate": None}}).schedule.whole


@pytest.mark.parametrize("value", [0, -1.0, "1.2"])
def test_a_schedule_refuses_an_attention_factor_that_turns_nothing(value):
    for make in (lambda: Yarn(4.0, 32, given=value), lambda: LongRoPE((1.0,), (2.0,), 32, 4.0, given=value)):
        with pytest.raises((TypeError, ValueError), match=r"^given: expected a number"):
            make()


def test_yarn_refuses_scales_and_flags_of_another_kind():
    with pytest.raises(TypeError, match="mscale: expected a number"):
        Yarn(4.0, 32, mscale="1")
    with pytest.raises(ValueError, match="mscale_all_dim: expected a number of at least 0"):
        Yarn(4.0, 32, mscale_all_dim=-1.0)
    with pytest.raises(TypeError, match="whole: expected True or False, got 'false'"):
        Yarn(4.0, 32, whole="false")
