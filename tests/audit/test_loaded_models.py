"""A loaded model's rotary embedding, under its own configuration: a stand-in, the real ones, and the stored example."""

import copy
from types import SimpleNamespace

import pytest
import torch

from rope_lab.algebra import rope_settings
from rope_lab.audit import fingerprint, laws, rotary_of
from rope_lab.audit.loaded_models import llama_example, measure


class StandInRotaryEmbedding(torch.nn.Module):
    """Tables for one list of frequencies, as the families of transformers make them."""

    def __init__(self, config, *, base=None):
        super().__init__()
        self.config, width = config, int(config.head_dim * config.rope_parameters.get("partial_rotary_factor", 1.0))
        theta = base or config.rope_parameters["rope_theta"]
        self.inv_freq = torch.nn.Buffer(theta ** (-torch.arange(0, width, 2) / width), persistent=False)

    def forward(self, x, position_ids):
        angle = position_ids[..., None].float() * self.inv_freq
        angle = torch.cat((angle, angle), dim=-1)
        return angle.cos().to(x.dtype), angle.sin().to(x.dtype)


class LayeredRotaryEmbedding(StandInRotaryEmbedding):
    """Another list of frequencies for each kind of layer."""

    def __init__(self, config):
        torch.nn.Module.__init__(self)
        self.config = config
        for name, rule in config.rope_parameters.items():
            theta = rule["rope_theta"] ** (-torch.arange(0, config.head_dim, 2) / config.head_dim)
            setattr(self, f"{name}_inv_freq", torch.nn.Buffer(theta, persistent=False))

    def forward(self, x, position_ids, layer_type):
        self.inv_freq = getattr(self, f"{layer_type}_inv_freq")
        return super().forward(x, position_ids)


class VisionRotaryEmbedding(torch.nn.Module):
    """A second rotary module, for images."""


def apply_rotary_pos_emb(q, k, cos, sin, unsqueeze_dim=1):
    def turn(x):
        a, b = x.chunk(2, dim=-1)
        return x * cos.unsqueeze(unsqueeze_dim) + torch.cat((-b, a), dim=-1) * sin.unsqueeze(unsqueeze_dim)

    return turn(q), turn(k)


class StandIn(torch.nn.Module):
    def __init__(self, *modules, config=None):
        super().__init__()
        self.config = config
        self.layers = torch.nn.ModuleList(modules)


def configuration(head_dim=16, **parameters):
    return SimpleNamespace(head_dim=head_dim, rope_parameters={"rope_theta": 5e5, "rope_type": "default"} | parameters)


def broken(rotary):
    found = laws(rotary, head_dim=rotary.head_dim, keys=rotary.keys, expected=rotary.expected)
    return [law.name for law in found if not law.ok]


@pytest.mark.deep
def test_a_model_is_asked_under_its_own_configuration():
    rotary = rotary_of(StandIn(VisionRotaryEmbedding(), StandInRotaryEmbedding(configuration())))
    seen = fingerprint(rotary, head_dim=rotary.head_dim)
    assert (seen.layout, seen.base, seen.rotated_dims) == ("half-split", 5e5, 16)
    assert rotary.expected == {"rotated_dims": 16, "base": 5e5}
    assert broken(rotary) == []


def test_control_a_module_that_runs_another_base_than_the_configuration_says():
    module = StandInRotaryEmbedding(configuration(), base=10000.0)
    assert broken(rotary_of(StandIn(module))) == ["expected base"]


@pytest.mark.deep
def test_part_of_a_head():
    """The family's attention cuts the turning coordinates off itself; the adapter does the same and says so."""
    rotary = rotary_of(StandIn(StandInRotaryEmbedding(configuration(partial_rotary_factor=0.5))))
    assert "applied to the first 8 coordinates" in rotary.about
    assert (rotary.expected["rotated_dims"], broken(rotary)) == (8, [])


def test_the_configuration_of_the_model_or_of_the_call_where_the_module_has_none():
    module = StandInRotaryEmbedding(configuration())
    module.config = None
    assert rotary_of(StandIn(module, config=configuration())).expected["base"] == 5e5
    assert rotary_of(module, config=configuration()).expected["base"] == 5e5
    with pytest.raises(ValueError, match=r"config: expected the model's configuration, got None.*pass config="):
        rotary_of(module)


def test_a_configuration_of_text_inside_another():
    outer = SimpleNamespace(get_text_config=configuration)
    assert rotary_of(StandInRotaryEmbedding(configuration()), config=outer).head_dim == 16


def test_the_form_of_a_configuration_before_transformers_5():
    old = SimpleNamespace(hidden_size=64, num_attention_heads=4, rope_theta=5e5, rope_scaling=None)
    rotary = rotary_of(StandInRotaryEmbedding(configuration()), config=old)
    assert (rotary.head_dim, rotary.expected) == (16, {"rotated_dims": 16, "base": 5e5})
    old.rope_scaling = {"type": "linear", "factor": 2.0}
    assert "base" not in rotary_of(StandInRotaryEmbedding(configuration()), config=old).expected


def test_each_kind_of_layer_has_its_own_frequencies():
    rules = {"near": {"rope_theta": 100.0}, "far": {"rope_theta": 5e5}}
    model = StandIn(LayeredRotaryEmbedding(SimpleNamespace(head_dim=8, rope_parameters=rules)))
    for kind, rule in rules.items():
        rotary = rotary_of(model, layer_type=kind)
        assert fingerprint(rotary, head_dim=8).base == rule["rope_theta"]
    with pytest.raises(ValueError, match="layer_type: expected one of near, far, got None; Layered"):
        rotary_of(model)
    with pytest.raises(ValueError, match="layer_type: expected None, got 'near'; StandIn"):
        rotary_of(StandInRotaryEmbedding(configuration()), layer_type="near")


NO_FACTOR = (
    "; the configuration has the attention factor 1.1386, and what turns here is times 1"  # the stand-in has none
)
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4096, "rope_theta": 10000.0}
LLAMA_3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "original_max_position_embeddings": 8192,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "rope_theta": 5e5,
}


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        (YARN, f"Yarn(factor=4, window=4096), from base 10000{NO_FACTOR}"),
        (LLAMA_3, "Llama3(factor=8, window=8192), from base 500000"),
    ],
    ids=["yarn", "llama3"],
)
def test_the_schedule_of_the_configuration_is_handed_on(parameters, words):
    config = configuration(head_dim=64, **parameters)
    config.max_position_embeddings = 131072
    said = rope_settings(config)
    module = StandInRotaryEmbedding(config)
    module.inv_freq = torch.nn.Buffer(torch.tensor(said.schedule.frequencies(64, base=said.base)).float())
    rotary = rotary_of(StandIn(module))
    assert rotary.settings == said
    assert fingerprint(rotary, head_dim=64, settings=rotary.settings).scheme == words


def test_a_share_is_one_of_the_whole_head():
    """DeepSeek-V4 says both: the width that turns, and its share of the head."""
    config = configuration(head_dim=512, partial_rotary_factor=0.125)
    config.qk_rope_head_dim = 64
    said = rope_settings(config)
    assert (said.head_dim, said.rotary_dim) == (512, 64)


def test_a_rule_that_nobody_knows_leaves_the_settings_out():
    rotary = rotary_of(StandInRotaryEmbedding(configuration(rope_type="of our own")))
    assert rotary.settings is None


def test_nothing_in_the_model_changes():
    class Restless(StandInRotaryEmbedding):
        def forward(self, x, position_ids):
            self.inv_freq = self.inv_freq * 0.5
            return super().forward(x, position_ids)

    Restless.__name__, Restless.__module__ = "RestlessRotaryEmbedding", __name__
    model = StandIn(Restless(configuration()))
    before = copy.deepcopy(model.layers[0].inv_freq)
    rotary = rotary_of(model)
    rotary(torch.zeros(1, 1, 2, 16), torch.arange(2))
    assert torch.equal(model.layers[0].inv_freq, before)


def test_what_cannot_be_adapted_is_refused_in_words():
    with pytest.raises(TypeError, match="model: expected a loaded model or its rotary module, got list"):
        rotary_of([])
    with pytest.raises(
        ValueError, match=r"expected one kind of module \.\.\.RotaryEmbedding in Linear, got none; wrap"
    ):
        rotary_of(torch.nn.Linear(2, 2))
    layered = LayeredRotaryEmbedding(SimpleNamespace(head_dim=8, rope_parameters={"near": {"rope_theta": 100.0}}))
    with pytest.raises(ValueError, match="got LayeredRotaryEmbedding, StandInRotaryEmbedding; pass the one"):
        rotary_of(StandIn(layered, StandInRotaryEmbedding(configuration())))
    lonely = type("LonelyRotaryEmbedding", (StandInRotaryEmbedding,), {"__module__": "math"})
    with pytest.raises(ValueError, match=r"expected a function apply_rotary_pos_emb or .* in math, beside Lonely"):
        rotary_of(lonely(configuration()))


def test_a_llama_of_transformers():
    from transformers import LlamaConfig, LlamaForCausalLM

    small = {"vocab_size": 9, "hidden_size": 64, "intermediate_size": 8, "num_hidden_layers": 2}
    rule = {"rope_type": "default", "rope_theta": 5e5}
    model = LlamaForCausalLM(LlamaConfig(**small, num_attention_heads=4, num_key_value_heads=2, rope_parameters=rule))
    rotary = rotary_of(model)
    seen = fingerprint(rotary, head_dim=rotary.head_dim)
    assert (seen.layout, seen.base, seen.head_dim) == ("half-split", 5e5, 16)
    assert (rotary.expected, broken(rotary)) == ({"rotated_dims": 16, "base": 5e5}, [])


@pytest.mark.deep  # tests/audit/test_adapters.py asks the other kind
@pytest.mark.parametrize(("kind", "base", "width"), [("sliding_attention", 1e4, 256), ("full_attention", 1e6, 128)])
def test_gemma_4_has_two_lists_and_two_widths(kind, base, width):
    from transformers.models.gemma4 import modeling_gemma4

    module = modeling_gemma4.Gemma4TextRotaryEmbedding(modeling_gemma4.Gemma4TextConfig())
    rotary = rotary_of(module, layer_type=kind)
    assert (rotary.expected, broken(rotary)) == ({"rotated_dims": width, "base": base}, [])


def test_deepseek_v3_is_asked_in_the_layout_that_its_configuration_chooses():
    from transformers.models.deepseek_v3 import modeling_deepseek_v3

    module = modeling_deepseek_v3.DeepseekV3RotaryEmbedding(modeling_deepseek_v3.DeepseekV3Config())
    rotary = rotary_of(module)
    assert fingerprint(rotary, head_dim=rotary.head_dim).layout == "interleaved"


def shape(lines):
    """The words of a report without its measured digits."""
    return [line.split("off by")[0].split("moves by")[0].split("residual")[0].split("error")[0][:40] for line in lines]


@pytest.mark.deep
def test_the_stored_example_is_what_is_measured():
    then, now = llama_example(), measure()
    assert [law[:2] for law in then["laws"]] == [law[:2] for law in now["laws"]]
    assert shape(then["fingerprint"][:4]) == shape(now["fingerprint"][:4])
    assert now["away"] == pytest.approx(then["away"], rel=1e-3, abs=1e-5)


def test_control_only_both_changes_together_keep_the_logits():
    away = llama_example()["away"]
    assert away["new weights, new code"] < 1e-5 < 1 < min(away["new weights, old code"], away["old weights, new code"])
    assert shape(["layout  half"]) != shape(["layout  interleaved"])
