"""Every schedule is the list of the installed library, read from its configuration; what is missing is named."""

import importlib

import numpy as np
import pytest
import torch

from rope_lab.algebra import (
    NTK,
    ByParts,
    Divided,
    DynamicNTK,
    Linear,
    Llama3,
    LongRoPE,
    Proportional,
    Schedule,
    Yarn,
    YarnPaper,
    frequencies,
    rope_settings,
)
from rope_lab.nn import Rotary, RotaryConfig, rotary_table, rotate
from tests.nn.peer import load

FLOAT32 = 4e-6  # the library's exponents are float32: an error of half a unit in the last place, times ln(base)
SHORT, LONG = [1.0 + 0.01 * i for i in range(48)], [1.0 + 1.3 * i for i in range(48)]
# The settings that published models have: the first of each kind is the plainest.
SETTINGS = {
    "default": [
        ({}, {}),
        ({"rope_theta": 5e5}, {"head_dim": 128}),
        ({"rope_theta": 1e6, "partial_rotary_factor": 0.25}, {"head_dim": 256}),
        ({"rope_theta": 2e6}, {"head_dim": 96}),
    ],
    "linear": [
        ({"factor": 2.0}, {}),
        ({"factor": 4.0}, {"head_dim": 128}),
        ({"factor": 4.0, "rope_theta": 1e5}, {"head_dim": 128}),
        ({"factor": 8.0, "rope_theta": 1e6}, {"head_dim": 256}),
    ],
    "dynamic": [
        ({"factor": 2.0}, {}),
        ({"factor": 2.0, "rope_theta": 1e6}, {"head_dim": 128, "max_position_embeddings": 32768}),
        ({"factor": 4.0}, {"head_dim": 64, "max_position_embeddings": 4096}),
        ({"factor": 3.0, "partial_rotary_factor": 0.5}, {"head_dim": 128}),
    ],
    "yarn": [
        ({"factor": 4.0}, {"max_position_embeddings": 2048}),
        ({"factor": 4.0, "original_max_position_embeddings": 32768, "rope_theta": 1e6}, {"head_dim": 128}),  # Qwen2.5
        (
            {
                "factor": 32.0,
                "beta_fast": 32.0,
                "beta_slow": 1.0,
                "truncate": False,
                "original_max_position_embeddings": 4096,
                "rope_theta": 150000.0,
            },
            {"head_dim": 64},
        ),  # gpt-oss
        (
            {
                "factor": 40.0,
                "beta_fast": 32,
                "beta_slow": 1,
                "mscale": 0.707,
                "mscale_all_dim": 1.0,
                "original_max_position_embeddings": 4096,
            },
            {"head_dim": 64},
        ),  # as DeepSeek's, two scales that differ
        ({"factor": 16.0, "attention_factor": 1.25, "original_max_position_embeddings": 4096}, {"head_dim": 128}),
        ({"factor": 2.0, "original_max_position_embeddings": 64}, {"head_dim": 8}),
    ],
    "llama3": [
        (
            {
                "factor": 8.0,
                "low_freq_factor": 1.0,
                "high_freq_factor": 4.0,
                "original_max_position_embeddings": 8192,
                "rope_theta": base,
            },
            {"head_dim": head_dim},
        )
        for base, head_dim in ((1e4, 64), (5e5, 128))  # Llama 3.1
    ]
    + [
        (
            {
                "factor": 32.0,
                "low_freq_factor": 1.0,
                "high_freq_factor": 4.0,
                "original_max_position_embeddings": 8192,
                "rope_theta": 5e5,
            },
            {"head_dim": 64},
        ),  # Llama 3.2
        (
            {"factor": 16.0, "low_freq_factor": 1.0, "high_freq_factor": 1.5, "original_max_position_embeddings": 4096},
            {"head_dim": 32},
        ),
    ],
    "longrope": [
        (
            {"factor": 32.0, "short_factor": SHORT, "long_factor": LONG, "original_max_position_embeddings": 4096},
            {"head_dim": 96},
        ),  # Phi-3's sizes
        (
            {"short_factor": SHORT, "long_factor": LONG, "partial_rotary_factor": 0.75},
            {"head_dim": 128, "max_position_embeddings": 131072, "original_max_position_embeddings": 4096},
        ),  # Phi-4 mini's
        (
            {
                "factor": 4.0,
                "attention_factor": 1.1,
                "short_factor": SHORT,
                "long_factor": LONG,
                "original_max_position_embeddings": 512,
            },
            {"head_dim": 96},
        ),
        (
            {"factor": 1.0, "short_factor": SHORT, "long_factor": LONG, "original_max_position_embeddings": 512},
            {"head_dim": 96},
        ),
    ],
    "proportional": [
        ({}, {}),
        ({"partial_rotary_factor": 0.25, "rope_theta": 1e6}, {"head_dim": 512}),
        ({"partial_rotary_factor": 0.5, "factor": 8.0}, {"head_dim": 128}),
        ({"partial_rotary_factor": 0.3}, {"head_dim": 64}),
    ],
}
CASES = [(kind, *case) for kind, cases in SETTINGS.items() for case in cases]


def theirs(config, kind, **options):
    """Frequencies and attention factor of the installed library."""
    library = load("transformers.modeling_rope_utils")
    if kind == "default":
        make = load("transformers.models.glm.modeling_glm").GlmRotaryEmbedding.compute_default_rope_parameters
        options.pop("seq_len", None)
    else:
        make = library.ROPE_INIT_FUNCTIONS[kind]
    found, factor = make(config, torch.device("cpu"), **options)
    return found.double().numpy(), factor


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("kind", "given", "beside"), CASES)
def test_each_schedule_is_the_library_s(kind, given, beside):
    library = load("transformers")
    parameters = {"rope_type": kind, "rope_theta": 10000.0, **given}
    config = (library.GlmConfig if kind == "default" else library.LlamaConfig)(  # of one base, GLM turns a part
        **{"head_dim": 64, "max_position_embeddings": 8192, **beside}, rope_parameters=parameters
    )
    ours = RotaryConfig.from_hf(config)
    lengths = (1, 600, 9000, 40000) if ours.schedule.by_length else (8,)
    for length in lengths:
        want, factor = theirs(config, kind, seq_len=length)
        fixed = ours.at(length)
        np.testing.assert_allclose(fixed.frequencies, want, rtol=FLOAT32, atol=0)
        assert fixed.schedule.attention_factor == pytest.approx(factor, rel=1e-12)
        assert 2 * len(want) == ours.width
    table = rotary_table([1], fixed)
    np.testing.assert_allclose(table.cos.numpy()[0], factor * np.cos(want), atol=1e-5)


@pytest.mark.parametrize("kind", [kind for kind in SETTINGS if kind != "default"])
def test_control_no_kind_is_one_base(kind):
    given, beside = SETTINGS[kind][1]
    config = {"head_dim": 64, "max_position_embeddings": 8192, **beside}
    ours = RotaryConfig.from_hf(config | {"rope_parameters": {"rope_type": kind, **given}}).at(40000)
    assert not np.allclose(frequencies(ours.width, base=ours.base), ours.frequencies, rtol=1e-3)


FAMILIES = {
    "llama": None,
    "phi3": None,
    "gpt_neox": None,
    "glm": None,
    "deepseek_v3": None,
    "qwen3_next": None,
    "gpt_oss": None,
    "qwen3": None,
    "gemma3": "full_attention",
    "modernbert": "sliding_attention",
    "olmo3": "full_attention",
    "gemma4": "full_attention",
}
CLASSES = {
    "gpt_neox": "GPTNeoX",
    "gpt_oss": "GptOss",
    "gemma3": "Gemma3",
    "gemma4": "Gemma4Text",
    "modernbert": "ModernBert",
    "glm": "Glm",
    "deepseek_v3": "DeepseekV3",
    "qwen3_next": "Qwen3Next",
    "qwen3": "Qwen3",
    "phi3": "Phi3",
    "llama": "Llama",
    "olmo3": "Olmo3",
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("family", FAMILIES)
def test_the_default_configuration_of_a_family_is_what_its_module_turns_by(family):
    modeling = load(f"transformers.models.{family}.modeling_{family}")
    configs = importlib.import_module(f"transformers.models.{family}.configuration_{family}")
    name = CLASSES[family]
    make = getattr(configs, f"{name}TextConfig", None) or getattr(configs, f"{name}Config")
    config, layer_type = make(), FAMILIES[family]
    module = getattr(modeling, f"{name}RotaryEmbedding")(config)
    want = getattr(module, f"{layer_type}_inv_freq" if hasattr(module, f"{layer_type}_inv_freq") else "inv_freq")
    ours = RotaryConfig.from_hf(config, layer_type=layer_type)
    np.testing.assert_allclose(ours.frequencies, want.double().numpy(), rtol=FLOAT32)


def test_older_keys_are_read():
    plain = {"hidden_size": 512, "num_attention_heads": 4}
    assert rope_settings(plain).base == 10000.0
    assert rope_settings(plain | {"rope_theta": 77.0}).base == 77.0
    assert rope_settings(plain | {"rotary_emb_base": 78.0, "rotary_pct": 0.25}).rotary_dim == 32
    old = rope_settings(plain | {"rope_scaling": {"type": "dynamic", "factor": 2.0}, "max_position_embeddings": 4096})
    assert old.schedule == DynamicNTK(factor=2.0, window=4096)
    su = {"type": "su", "short_factor": [1.0] * 64, "long_factor": [2.0] * 64}
    windows = {"max_position_embeddings": 131072, "original_max_position_embeddings": 4096}
    assert rope_settings(plain | windows | {"rope_scaling": su}).schedule.factor == 32
    assert rope_settings({"text_config": plain | {"rope_theta": 5.0}}).base == 5.0
    assert rope_settings({"qk_rope_head_dim": 64, "hidden_size": 7168, "num_attention_heads": 128}).head_dim == 64


NESTED = {"full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6}, "sliding_attention": None}
MISSING = {
    "factor: expected a value for rope_type 'linear'": {"rope_parameters": {"rope_type": "linear"}},
    "long_factor: expected a value": {"rope_parameters": {"rope_type": "longrope", "short_factor": [1.0]}},
    "rope_type: expected one of default, linear.*'spiral'": {"rope_parameters": {"rope_type": "spiral"}},
    "mrope_section: expected a value for rope_type 'mrope'": {"rope_scaling": {"type": "mrope"}},
    r"planes that sum to 32, got \[2, 3, 4\], which sum to 9": {"mrope_section": [2, 3, 4]},
    "one list of frequencies, got DynamicNTK": {
        "rope_parameters": {"rope_type": "dynamic", "factor": 4.0, "mrope_section": [16, 8, 8]},
        "max_position_embeddings": 4096,
    },
    "layer_type: expected one of full_attention, sliding_attention, got None": {"rope_parameters": NESTED},
    "max_position_embeddings: expected the window": {"rope_parameters": {"rope_type": "dynamic", "factor": 2.0}},
}


@pytest.mark.parametrize("words", MISSING)
def test_what_is_missing_is_named(words):
    with pytest.raises(ValueError, match=words):
        RotaryConfig.from_hf({"head_dim": 64} | MISSING[words])


def test_layers_that_differ():
    nested = {"head_dim": 64, "rope_parameters": NESTED}
    assert RotaryConfig.from_hf(nested, layer_type="full_attention").schedule == Linear(factor=8.0)
    with pytest.raises(ValueError, match="have no positions"):
        RotaryConfig.from_hf(nested, layer_type="sliding_attention")
    with pytest.raises(ValueError, match="head_dim: expected it, or hidden_size"):
        rope_settings({})


def test_llama3_is_by_parts_and_yarn_s_code_is_not_its_paper():
    theta = Llama3(factor=8, window=8192).frequencies(128, base=5e5)
    np.testing.assert_allclose(theta, ByParts(factor=8, window=8192, fast=4).frequencies(128, base=5e5), rtol=1e-15)
    paper, code = (kind(factor=16, window=4096).frequencies(128, base=1e4) for kind in (YarnPaper, Yarn))
    ratio = np.maximum(paper / code, code / paper)
    assert (ratio > 1.01).sum() == 25
    assert ratio.max() == pytest.approx(3.04, abs=0.005)


def test_what_depends_on_the_length_asks_for_it():
    config = RotaryConfig(8, schedule=DynamicNTK(factor=2.0, window=64))
    with pytest.raises(ValueError, match=r"DynamicNTK: expected a length.*schedule.at"):
        config.schedule.frequencies(8, base=1e4)
    with pytest.raises(ValueError, match=r"got DynamicNTK; say for which length: config.at"):
        Rotary(config)
    assert config.at(64).frequencies == pytest.approx(RotaryConfig(8).frequencies)
    assert config.at(128).schedule == NTK(factor=3.0)
    assert config.at(128).at(9) == config.at(128)


def test_an_attention_factor_stretches_and_is_not_undone():
    config = RotaryConfig(8, schedule=Yarn(factor=4, window=64))
    x = torch.ones(3, 8, dtype=torch.float64)
    table = rotary_table([0, 1, 2], config, dtype=torch.float64)
    assert torch.allclose(rotate(x, table).norm(dim=-1), config.schedule.attention_factor * x.norm(dim=-1))
    with pytest.raises(ValueError, match=r"inverse: expected a turn without an attention factor, got 1.13"):
        rotate(x, table, inverse=True)


WRONG = [
    (lambda: Linear(factor=0), "factor: expected a number above 0"),
    (lambda: ByParts(factor=2, window=64, slow=4, fast=1), "fewer turns for slow planes"),
    (lambda: Yarn(factor=2, window=64, slow=4, fast=1), "beta_slow up to beta_fast"),
    (lambda: Yarn(factor=2, window=64).frequencies(8, base=1.0), "another number than 1"),
    (lambda: NTK(factor=2).frequencies(2, base=1e4), "at least 4 for NTK"),
    (lambda: Llama3(factor=2, window=1), "window: expected"),
    (lambda: Divided(divisors=(1.0,)).frequencies(8, base=1e4), "one for each of 4 planes, got 1"),
    (lambda: Divided(divisors=(1.0, 0.0)), "numbers above 0"),
    (lambda: LongRoPE(short=(1.0,), long=(1.0, 2.0), window=64, factor=2.0), "expected 1 divisors"),
    (lambda: Proportional(share=1.5), "share: expected a number from 0 to 1"),
    (lambda: RotaryConfig(8, schedule="yarn"), "schedule: expected a Schedule"),
    (lambda: Schedule().at(0), "length: expected"),
]


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize(("make", "words"), WRONG)
def test_refusals(make, words):
    with pytest.raises((ValueError, TypeError), match=words):
        make()
