"""Files are read as their family reads them, or refused by the name of what is not understood."""

import copy
import json
import subprocess
import sys
import time
from pathlib import Path
from types import MappingProxyType, SimpleNamespace

import numpy as np
import pytest

from rope_lab import algebra
from rope_lab.algebra import rope_settings
from rope_lab.algebra.hf_rope import families
from tests.algebra import hf_families
from tests.deep import sampled

pytestmark = [pytest.mark.usefixtures("untyped"), pytest.mark.filterwarnings("ignore")]

PUBLISHED = json.loads(Path(__file__).with_name("published_files.json").read_text())
SAMPLE = (  # of each shape that the table has
    *(
        "llama",
        "mixtral",
        "qwen3",
        "qwen2_vl",
        "qwen3_5",
        "gemma3",
        "gemma3_text",
        "gemma4_text",
        "modernbert",
        "olmo3",
    ),
    *(
        "gpt_oss",
        "gpt_neox",
        "gptj",
        "glm4",
        "dbrx",
        "deepseek_v3",
        "deepseek_v4",
        "minimax_m2",
        "jetmoe",
        "phi3",
        "falcon",
    ),
    *("apertus", "mistral4", "dots3_note_text", "step3p5", "neomme", "voxtral", "llama4"),
)


def theta(width, base):
    """One base, by its definition."""
    return base ** (-np.arange(0, width, 2) / width)


@pytest.mark.parametrize("row", PUBLISHED, ids=[f"{row['name']} {row.get('kind', '')}".strip() for row in PUBLISHED])
def test_a_published_file(row):
    """Settings as published models spell them, and what they are by the definition of each schedule."""
    file = copy.deepcopy(row["file"])
    if "refused" in row:
        with pytest.raises(ValueError, match=row["refused"]):
            rope_settings(file, layer_type=row.get("kind"))
        return
    found, said = rope_settings(file, layer_type=row.get("kind")), row["is"]
    turning = found.rotary_dim or found.head_dim
    assert (found.head_dim, turning, found.base) == (said["head_dim"], said["turn"], said["base"])
    want = getattr(algebra, said.get("schedule", "Schedule"))(**said.get("with", {}))
    theirs = want.frequencies(turning, base=said["base"])
    np.testing.assert_allclose(found.schedule.frequencies(turning, base=found.base), theirs, rtol=1e-12)
    assert found.schedule.attention_factor == pytest.approx(want.attention_factor)
    assert found.sections == (tuple(said["sections"]) if "sections" in said else None)
    assert found.interleaved == said.get("in_turn", False)
    assert file == row["file"]  # nothing is written into the caller's file


@pytest.mark.deep(keep=6)
@pytest.mark.parametrize("family", sampled(sorted(k for k in families()["families"]), SAMPLE))
def test_every_family_s_own_file_in_three_forms(family):
    """As saved, without RoPE keys, and as before transformers 5: as its class reads it, or refused with a way on."""
    pytest.importorskip("transformers")
    if not hf_families.class_of(family):
        pytest.skip(f"the installed transformers has no {family}")
    for form in hf_families.FORMS:
        said, why = hf_families.verdict(family, form)
        assert said != "wrong", f"{form}: {why}"
        assert said != "refused" or ("expected " in why and ("; " in why or "no rotary" in why)), f"{form}: {why}"


@pytest.mark.deep(keep=1)
@pytest.mark.parametrize("family", sampled(sorted(families()["families"]), ("dbrx", "gemma4_text", "granite_swa")))
def test_every_family_s_changed_files(family):
    """A file with one thing changed, as files of readers are: as its class reads it, or refused."""
    pytest.importorskip("transformers")
    if not hf_families.class_of(family):
        pytest.skip(f"the installed transformers has no {family}")
    assert hf_families.changed(family) == []


@pytest.mark.deep
def test_every_family_is_in_the_table_as_the_command_writes_it():
    transformers = pytest.importorskip("transformers")
    if transformers.__version__ != families()["transformers"]:
        pytest.skip("the table was made from another transformers")
    assert hf_families.text_of_table(hf_families.table()) == hf_families.DATA.read_text(encoding="utf-8")


def test_control_the_check_sees_a_wrong_base(monkeypatch):
    pytest.importorskip("transformers")
    entry = families()["families"]["mixtral"]
    monkeypatch.setitem(entry, "set", entry["set"] | {"rope_theta": 10000.0})
    assert hf_families.verdict("mixtral", hf_families.FORMS[1])[0] == "wrong"


@pytest.mark.deep
def test_nearly_every_family_is_read():
    """At least 95 of 100 of the families, in each form."""
    pytest.importorskip("transformers")
    for form in hf_families.FORMS:
        said = {family: hf_families.verdict(family, form) for family in hf_families.all_families()}
        assert {family: why for family, (how, why) in said.items() if how == "wrong"} == {}, form
        refused = {family: why for family, (how, why) in said.items() if how == "refused"}
        asked = sum(how != "none" for how, _ in said.values())
        assert len(refused) <= 0.05 * asked, (form, refused)


LLAMA = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "max_position_embeddings": 512}
GLM = {"model_type": "glm", "head_dim": 16}
GEMMA = {"model_type": "gemma3_text", "head_dim": 32}
GEMMA4 = {"model_type": "gemma4_text", "layer_types": ["sliding_attention", "full_attention", "sliding_attention"]}
NESTED = {"sliding_attention": {"rope_theta": 7.0}, "full_attention": {"rope_type": "linear", "factor": 2.0}}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64}
MSCALES = {"type": "longrope", "short_factor": [1, 2], "long_factor": [1, 4], "short_mscale": 1.2, "long_mscale": 1.2}
LINEAR = {"rope_type": "linear", "factor": 2.0}
FULL = {"full_attention": LINEAR | {"rope_theta": 1e4}}
BOTH = FULL | {"sliding_attention": {"rope_theta": 5e4}}
STEP = {"model_type": "step3p5", "layer_types": [*BOTH], "num_hidden_layers": 2}
PLAIN_BOTH = {k: {"rope_type": "default"} for k in BOTH}
HALVES = {k: rule | {"partial_rotary_factor": 0.5} for k, rule in BOTH.items()}
GPT = {"model_type": "gpt_oss", "rope_parameters": {}}
MISTRAL, MIMO = {"model_type": "mistral4"}, {"model_type": "mimo_v2_flash"}
NO_WIDTH = "no width beside layers"
REFUSED = {  # a file, and the name that its refusal begins with
    "a base of another family": (LLAMA | {"rotary_emb_base": 5e5}, "rotary_emb_base"),
    "a base for other layers": (LLAMA | {"rope_local_base_freq": 7.0}, "rope_local_base_freq"),
    "a width of another family": (LLAMA | {"kv_channels": 24}, "kv_channels"),
    "a wider head in some layers": (LLAMA | {"global_head_dim": 32}, "global_head_dim"),
    "a share that is not read": (LLAMA | {"partial_rotary_factor": 0.5}, "partial_rotary_factor"),
    "a share in the rule": (LLAMA | {"rope_parameters": {"partial_rotary_factor": 0.5}}, "partial_rotary_factor"),
    "another width that turns": (LLAMA | {"rotary_dim": 8}, "rotary_dim"),
    "a key of nobody": (LLAMA | {"rope_wobble": 3}, "rope_wobble"),
    "a key of nobody in the rule": (LLAMA | {"rope_scaling": YARN | {"wobble": 3}}, "wobble"),
    "alpha in a family without it": (LLAMA | {"rope_scaling": {"type": "dynamic", "factor": 2, "alpha": 9}}, "alpha"),
    "positions of another kind": (LLAMA | {"position_embedding_type": "nope"}, "position_embedding_type"),
    "a flag that nothing turns": (LLAMA | {"use_rope": False}, "use_rope"),
    "two parts that turn": ({"draft": LLAMA, "target": LLAMA, "vision": LLAMA}, "draft and target"),
    "two bases, no family": ({"head_dim": 8, "rope_theta": 7, "rotary_emb_base": 9}, "rope_theta and rotary_emb_base"),
    "a key of a rule beside it": ({"head_dim": 8, "low_freq_factor": 2.0}, "low_freq_factor"),
    "a scaling without its factor": ({"head_dim": 8, "use_scaled_rope": True}, "use_scaled_rope"),
    "a base that no float divides by": (LLAMA | {"rope_theta": 1e-320}, "rope_theta"),
    "an end of YaRN beyond floats": (LLAMA | {"rope_scaling": YARN | {"beta_fast": 1e308}}, "beta_fast"),
    "a flag of another name": (LLAMA | {"rope_embeddings": False}, "rope_embeddings"),
    "a family that nobody has": ({"model_type": "wug", "hidden_size": 64, "num_attention_heads": 4}, "model_type"),
    "an unknown family without a base": ({"model_type": "wug", "head_dim": 64, "rope_scaling": YARN}, "rope_theta"),
    "a family that does not turn": ({"model_type": "bert"}, "model_type"),
    "a family of images": ({"model_type": "pixtral"}, "model_type"),
    "one rule for two": (GEMMA | {"rope_parameters": {"rope_theta": 5.0}}, "layer_type"),
    "a base beside rules": (GEMMA | {"rope_parameters": {"sliding_attention": {}, "rope_theta": 5.0}}, "rope_theta"),
    "a scaling that is not read": ({"model_type": "gemma4_text", "rope_scaling": YARN}, "rope_scaling"),
    "a base for one kind of two": ({"model_type": "olmo3", "rope_theta": 7e4}, "rope_theta"),
    "two factors": ({"model_type": "phimoe", "rope_scaling": MSCALES | {"long_mscale": 1.3}}, "long_mscale"),
    "a list for layers without kinds": (LLAMA | {"rope_theta": [5.0, 6.0, 5.0, 6.0]}, "rope_theta"),
    "a plain rule for a part of a head": (MISTRAL | {"rope_parameters": {"rope_theta": 7.0}}, "rope_type"),
    "a rule without its share": (MISTRAL | {"rope_scaling": YARN}, "partial_rotary_factor"),
    "a head that is not its parts": (MISTRAL | {"head_dim": 48, "qk_rope_head_dim": 64}, "head_dim and qk_nope.*"),
    "a scaled rule without its share": (MIMO | {"rope_parameters": BOTH}, "partial_rotary_factor"),
    "a rule without its base": ({"model_type": "lfm3", "rope_parameters": PLAIN_BOTH}, "rope_theta"),
    "a scaling beside rules that stand alone": (STEP | {"rope_parameters": BOTH, "rope_scaling": YARN}, "rope_scaling"),
    "a base beside rules that stand alone": (STEP | {"rope_parameters": BOTH, "rope_theta": 3.0}, "rope_theta"),
    "a rule for one kind of two": (STEP | {"rope_parameters": FULL}, "layer_type"),
    "rules in a scaling": (GEMMA | {"rope_scaling": NESTED}, "rope_scaling"),
    "truncate in one kind": (GEMMA | {"rope_parameters": {"full_attention": YARN | {"truncate": False}}}, "truncate"),
    "a share beside a plain rule": (GPT | {"partial_rotary_factor": 0.5}, "partial_rotary_factor"),
    "a base that no class reads": ({"model_type": "gptj", "rope_theta": 5e5}, "rope_theta"),
    "a scaling that no class reads": ({"model_type": "cohere2_moe", "rope_scaling": {"rope_theta": 7}}, "rope_scaling"),
    "a width of nothing": ({"model_type": "deepseek_v3", "head_dim": None}, "head_dim"),
    "two widths": ({"model_type": "deepseek_v3", "head_dim": 96, "qk_rope_head_dim": 64}, "qk_rope_head_dim and head"),
    "two names of one size": ({"model_type": "dbrx", "d_model": 96, "hidden_size": 64}, "hidden_size and d_model"),
    "layers of a kind that differ": (GEMMA4 | {"per_layer_config": {"00": {"head_dim": 8}}}, "per_layer_config"),
    "a base for layers": (GEMMA4 | {"per_layer_config": [{"rope_theta": 9.0}, {}, {"rope_theta": 9.0}]}, "per_layer"),
    "layers without a number": (GEMMA4 | {"per_layer_config": {"first": {"head_dim": 8}}}, "per_layer_config"),
    NO_WIDTH: (GEMMA4 | {"per_layer_config": None}, "per_layer_config"),
    "two keys of nobody": (LLAMA | {"rope_wobble": 3, "rope_ratio": 50}, "rope_wobble, rope_ratio"),
    "a key of nobody and no base": ({"model_type": "chatglm", "head_dim": 64, "rope_ratio": 50}, "rope_theta"),
    "no file at all": ([], "config"),
    "a file beside the model's": ({"peft_type": "LORA", "r": 8}, "head_dim"),
    "more than a float": (LLAMA | {"rope_theta": 10**400}, "rope_theta"),
    "more than a head": (GLM | {"partial_rotary_factor": 1e308}, "partial_rotary_factor"),
    "wider than memory": ({"head_dim": 2**63}, "head_dim"),
    "a block of Mistral's with another key": ({"dim": 64, "n_heads": 4, "yarn": {"wobble": 2}}, "wobble"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_understood_is_refused_by_its_name(case):
    file, name = REFUSED[case]
    kind = "sliding_attention" if "model_type" in file and file["model_type"] in TWO_KINDS else None
    kind = "full_attention" if case in ("truncate in one kind", "a rule for one kind of two", NO_WIDTH) else kind
    with pytest.raises((TypeError, ValueError), match=rf"^{name}\w*: expected .*(; |no rotary embedding|differ)"):
        rope_settings(file, layer_type=kind)


TWO_KINDS = ("gemma3_text", "gemma4_text", "lfm3", "mimo_v2_flash", "olmo3", "step3p5")
READ = {  # a file, a kind of layer, and the list
    "a width for some layers, as it is saved": (
        GEMMA4 | {"global_head_dim": 16, "per_layer_config": {"01": {"head_dim": 8, "num_key_value_heads": 1}}},
        "full_attention",
        theta(8, 1e6) * [1, 0, 0, 0],
    ),
    "layers beside that width": (
        GEMMA4 | {"head_dim": 16, "per_layer_config": {"01": {"head_dim": 8}}},
        "sliding_attention",
        theta(16, 1e4),
    ),
    "absolute, by default": (LLAMA | {"position_embedding_type": "absolute"}, None, theta(16, 1e4)),
    "no MLA": ({"use_mla": False, "qk_rope_head_dim": 64, "head_dim": 16}, None, theta(16, 1e4)),
    "the other kind's base": ({"model_type": "mimo_v2_flash", "rope_theta": 5e6}, "sliding_attention", theta(64, 1e4)),
    "a key that is no text": ({None: 3, "head_dim": 16, "num_hidden_layers": 10**400}, None, theta(16, 1e4)),
    "a model of Llama's": ({"model_type": "internlm3", "head_dim": 16, "rope_theta": 7.0}, None, theta(16, 7.0)),
    "the same base under another name": (LLAMA | {"rotary_emb_base": 10000}, None, theta(16, 1e4)),
    "the same width under another name": (LLAMA | {"kv_channels": 16}, None, theta(16, 1e4)),
    "a layout": (LLAMA | {"rope_interleave": True, "rope_deltas": 3}, None, theta(16, 1e4)),
    "a rule for each kind": (GEMMA | {"rope_parameters": NESTED}, "sliding_attention", theta(32, 7.0)),
    "the default base in a rule": (GEMMA | {"rope_parameters": NESTED}, "full_attention", theta(32, 1e6) / 2),
    "an unknown family with a base": (
        {"model_type": "wug", "n_embd": 64, "n_head": 4, "rope_theta": 50.0, "rotary_dim": 8},
        None,
        theta(8, 50.0),
    ),
    "a list for layers": (
        {"head_dim": 8, "rope_theta": [5.0, 0, 6.0], "layer_types": ["a", "b", "c"], "num_hidden_layers": 3},
        "c",
        theta(8, 6.0),
    ),
    "deep": ({"model_type": "wug", "language_config": {"text_config": GEMMA}}, "sliding_attention", theta(32, 1e4)),
    "under another name": ({"hidden_size": 9, "my_part": {"a": LLAMA}, "vision": LLAMA}, None, theta(16, 1e4)),
    "of mappings": (SimpleNamespace(head_dim=8, rope_scaling=MappingProxyType(LINEAR)), None, theta(8, 1e4) / 2),
    "beside a width": ({"hidden_size": 9, "llm_config": LLAMA}, None, theta(16, 1e4)),
    "HunYuan's alpha": (
        {"model_type": "hunyuan_v1_moe", "head_dim": 8, "rope_scaling": {"type": "xdrope", "alpha": 50.0, "factor": 1}},
        None,
        theta(8, 1e4 * 50.0 ** (8 / 6)),
    ),
    "the window in the rule of one kind": (
        GEMMA | {"rope_parameters": {"full_attention": YARN}, "original_max_position_embeddings": 9},
        "full_attention",
        algebra.Yarn(factor=4.0, window=64).frequencies(32, base=1e6),
    ),
    "an empty rule is a plain one": (GPT, None, theta(64, 150000.0)),
    "a share in a rule of one kind": (
        MIMO | {"rope_parameters": HALVES},
        "full_attention",
        theta(96, 1e4) / 2,
    ),
    "rules that stand alone": (STEP | {"rope_parameters": BOTH}, "full_attention", theta(128, 1e4) / 2),
    "a base for each layer": (
        {"model_type": "granite_swa", "hidden_size": 64, "num_attention_heads": 8, "layer_rope_theta": [9.0, 0]}
        | {"layer_types": ["sliding_attention", "full_attention"]},
        "sliding_attention",
        theta(8, 9.0),
    ),
    "one factor of PhiMoE": (
        {"model_type": "phimoe", "head_dim": 4, "original_max_position_embeddings": 64, "rope_scaling": MSCALES},
        None,
        theta(4, 1e6) / [1, 2],
    ),
}  # fmt: skip


def test_all_that_is_not_understood_is_named_at_once():
    with pytest.raises(ValueError, match=r"^rope_theta: .*beside it rope_ratio, rope_wobble, not read"):
        rope_settings({"model_type": "chatglm", "head_dim": 64, "rope_ratio": 50, "rope_wobble": 2})


@pytest.mark.parametrize("case", READ)
def test_what_is_understood_is_read(case):
    file, kind, want = READ[case]
    found = rope_settings(file, layer_type=kind)
    made = found.schedule.at(1).frequencies(found.rotary_dim or found.head_dim, base=found.base)
    np.testing.assert_allclose(made, want, rtol=1e-12)


@pytest.mark.parametrize("family", ["gemma3", "gemma3n", "gemma4", "t5gemma2", "cohere2_vision", "qwen3_5", "llama4"])
def test_a_whole_configuration_object_with_a_kind_of_layer(family):
    pytest.importorskip("transformers")
    whole = hf_families.class_of(family)()
    _, text = hf_families.text_of(whole)
    kind = next(k for k in text.layer_types if k != "linear_attention")  # those do not turn
    for config in (whole, text):
        found = rope_settings(config, layer_type=kind)
        made = found.schedule.frequencies(found.rotary_dim or found.head_dim, base=found.base)
        theirs = hf_families.seen(text)
        np.testing.assert_allclose(made, theirs.get(kind, theirs.get(None))[0], rtol=1e-5)
        with pytest.raises(ValueError, match=r"layer_type: expected one of .*banana"):
            rope_settings(config, layer_type="banana")


@pytest.mark.deep
def test_a_file_is_read_in_milliseconds_and_the_table_when_it_is_needed():
    code = "import rope_lab.nn.rotary; from rope_lab.algebra.hf_rope import families as f; assert not f.cache_info()[3]"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
    times = []
    for _ in range(20):
        start = time.process_time()
        rope_settings(LLAMA)
        times.append(time.process_time() - start)
    assert min(times) < 0.005
    assert hf_families.DATA.stat().st_size < 200_000


def test_the_table_says_what_it_was_made_from():
    table = families()
    assert table["transformers"].split(".")[0].isdigit()
    for name, entry in table["families"].items():
        assert "in" not in entry or entry["as"] in table["families"], name
    assert not set(table["families"]) & {*table["still"], *table["own"]}


def test_no_refusal_sends_to_an_object_that_is_refused_alike():
    """Of a class's keys its object keeps all: what helps is to leave one out, or to write the settings."""
    transformers = pytest.importorskip("transformers")
    for config in (file := LLAMA | {"rope_wobble": 3}, transformers.LlamaConfig.from_dict(file)):
        with pytest.raises(ValueError, match=r"^rope_wobble: .*leave out .*, or write RotaryConfig\("):
            rope_settings(config)
