"""Headers of GGUF files: what they say of the rotation, files that lie, and what another reader sees."""

import struct
from pathlib import Path

import numpy as np
import pytest

from rope_lab.algebra import Linear, Llama3, LongRoPE, Yarn, frequencies, gguf_layout, gguf_metadata, gguf_settings
from rope_lab.algebra.gguf import DIVISORS, KINDS
from rope_lab.errors import ArgumentError
from rope_lab.nn import RotaryConfig

LLAMA = {
    "general.architecture": "llama", "llama.embedding_length": 64, "llama.attention.head_count": 4,
    "llama.context_length": 8192, "llama.rope.freq_base": 500000.0, "llama.rope.dimension_count": 16,
    "tokenizer.ggml.tokens": ["a", "rope", ""], "tokenizer.ggml.scores": [0.5, -1.0], "a.on": True, "a.no": [["x"]],
}  # fmt: skip


def kind_of(value):
    kinds = {bool: "?", int: "I", float: "f", str: "s", list: "a"}
    return KINDS.index(kinds[type(value)])


def written(value, order):
    if isinstance(value, str):
        return struct.pack(order + "Q", len(value.encode())) + value.encode()
    if isinstance(value, list):
        head = struct.pack(order + "IQ", kind_of(value[0]), len(value))
        return head + b"".join(written(each, order) for each in value)
    return struct.pack(order + KINDS[kind_of(value)], value)


def bytes_of(keys, tensors=(), *, order="<", version=3, magic=b"GGUF"):
    """A file with these keys, and tensors of one axis in float32; their numbers stand at multiples of 32."""
    data = magic + struct.pack(order + "IQQ", version, len(tensors), len(keys))
    for key, value in keys.items():
        data += written(key, order) + struct.pack(order + "I", kind_of(value)) + written(value, order)
    body = b""
    for name, values in dict(tensors).items():
        data += written(name, order) + struct.pack(order + "IQIQ", 1, len(values), 0, len(body))
        body += struct.pack(f"{order}{len(values)}f", *values) + b"\0" * (-4 * len(values) % 32)
    return data + b"\0" * (-len(data) % 32) + body


@pytest.fixture
def file(tmp_path):
    def make(keys, tensors=(), **form):
        path = tmp_path / "model.gguf"
        path.write_bytes(bytes_of(keys, tensors, **form))
        return path

    return make


FORMS = {"little": {}, "older": {"version": 2}, "big": {"order": ">"}, "turned": {"order": ">", "magic": b"FUGG"}}


@pytest.mark.parametrize("name", FORMS)
def test_a_file_is_read_in_each_form(file, name):
    divisors = [1.0] * 4 + [2.5] * 4
    path = file(LLAMA, {"other.weight": [1.0] * 5, DIVISORS[0]: divisors}, **FORMS[name])
    found = gguf_metadata(path)
    assert found == {**LLAMA, "tokenizer.ggml.tokens": None, "a.no": None, DIVISORS[0]: tuple(divisors)}
    made = RotaryConfig.from_gguf(path)
    assert (made.head_dim, made.rotary_dim, made.layout) == (16, None, "interleaved")
    np.testing.assert_allclose(made.frequencies, frequencies(16, base=500000.0) / divisors)


def test_the_divisors_of_llama_3(file):
    """rope_freqs.weight is the plain list over that of the rule, in float32."""
    rule = Llama3(factor=8, window=512).frequencies(16, base=5e5)
    path = file(LLAMA, {DIVISORS[0]: (frequencies(16, base=5e5) / rule).tolist()})
    np.testing.assert_allclose(RotaryConfig.from_gguf(str(path)).frequencies, rule, rtol=1e-6)


def keys(arch, **more):
    return {"general.architecture": arch} | {
        f"{arch}.{name.replace('__', '.')}": value
        for name, value in ({"attention__key_length": 16, "context_length": 8192} | more).items()
    }


SCALED = {"rope__scaling__type": "yarn", "rope__scaling__factor": 4.0, "rope__scaling__original_context_length": 2048}
YARN, PLAIN = Yarn(factor=4.0, window=2048), frequencies(16, base=1e4)
RAMP, BY = YARN.frequencies(16, base=1e4), YARN.attention_factor
GEMMA, NEAR, FAR = {"rope__freq_base": 1e6, "rope__scaling__factor": 8.0}, "sliding_attention", "full_attention"
TWO = {"rope__freq_base_swa": 1e4, "attention__key_length_swa": 8, "rope__dimension_count_swa": 8}
LATENT = {"rope__scaling__yarn_log_multiplier": 0.0707, "rope__dimension_count": 8, "attention__kv_lora_rank": 512}
READ = {  # keys, frequencies, attention factor, layer_type, what else the configuration has
    "defaults": (keys("qwen2"), PLAIN, 1, None, {"layout": "half", "rotary_dim": None}),
    "a part": (keys("phi2", rope__dimension_count=8), frequencies(8, base=1e4), 1, None, {"rotary_dim": 8}),
    "linear": (keys("llama", rope__scaling__factor=4.0), PLAIN / 4, 1, None, {"layout": "interleaved"}),
    "the old name": (keys("llama", rope__scale_linear=2.0), PLAIN / 2, 1, None, {}),
    "none": (keys("llama", **SCALED | {"rope__scaling__type": "none"}), PLAIN, 1, None, {}),
    "YaRN": (keys("qwen3", **SCALED), RAMP, BY, None, {"schedule": YARN}),
    "YaRN, other ends": (
        keys("grok", **SCALED, rope__scaling__yarn_beta_fast=8.0),
        Yarn(factor=4, window=2048, fast=8).frequencies(16, base=1e4), BY, None, {},
    ),
    "YaRN without a ramp": (keys("qwen3", rope__scaling__yarn_ext_factor=0.0, **SCALED), PLAIN / 4, 1, None, {}),
    "DeepSeek": (
        keys("deepseek2", **SCALED, **LATENT), YARN.frequencies(8, base=1e4), 1, None, {"head_dim": 8}
    ),
    "Mistral": (keys("mistral3", **SCALED, rope__scaling__yarn_log_multiplier=1.0), RAMP, 1, None, {}),
    "a factor of its own": (keys("qwen3", **SCALED, rope__scaling__attn_factor=0.5), RAMP, BY / 2, None, {}),
    "a factor alone": (keys("llama", rope__scaling__attn_factor=1.5), PLAIN, 1.5, None, {}),
    "Gemma 3, near": (keys("gemma3", **GEMMA), PLAIN, 1, NEAR, {"base": 1e4}),
    "Gemma 3, far": (keys("gemma3", **GEMMA), frequencies(16, base=1e6) / 8, 1, FAR, {"base": 1e6}),
    "GPT-OSS, near": (keys("gpt-oss", **SCALED, attention__sliding_window=128), RAMP, BY, NEAR, {}),
    "Cohere 2, near": (keys("cohere2", **SCALED, attention__sliding_window=9), RAMP, BY, NEAR, {}),
    "two widths": (keys("gemma4", **TWO), frequencies(8, base=1e4), 1, NEAR, {"head_dim": 8}),
    "one kind, named": (keys("qwen2"), PLAIN, 1, NEAR, {}),
    "a window, and YaRN": (keys("olmo2", **SCALED, attention__sliding_window=512), RAMP, BY, FAR, {}),
    "a window beyond the context": (keys("phi3", **SCALED, attention__sliding_window=262144), RAMP, BY, None, {}),
    "a window, and no more": (keys("gemma2", attention__sliding_window=512), PLAIN, 1, None, {}),
}  # fmt: skip


@pytest.mark.parametrize("name", READ)
def test_what_the_keys_say(file, name):
    given, theta, factor, kind, more = READ[name]
    made = RotaryConfig.from_gguf(file(given), layer_type=kind)
    np.testing.assert_allclose(made.frequencies, theta, rtol=1e-6)
    assert made.schedule.attention_factor == pytest.approx(factor)
    assert {name: getattr(made, name) for name in more} == more


def test_two_lists_of_divisors(file):
    phi = keys("phi3", rope__scaling__attn_factor=1.25, rope__scaling__original_context_length=4096)
    made = RotaryConfig.from_gguf(file(phi, {DIVISORS[1]: [8.0] * 8, DIVISORS[2]: [1.0] * 8}))
    assert made.schedule == LongRoPE((1.0,) * 8, (8.0,) * 8, window=4096, factor=2.0, given=1.25)


def test_sections(file):
    """Four numbers, the last of them 0; how the planes go to the axes is for the architecture to say."""
    row, turns = (keys(arch, rope__dimension_sections=[3, 3, 2, 0]) for arch in ("qwen2vl", "qwen3vl"))
    assert gguf_settings(row).sections == gguf_settings(turns).sections == (3, 3, 2)
    assert (gguf_settings(row).interleaved, gguf_settings(turns).interleaved) == (False, True)
    made = RotaryConfig.from_gguf(file(turns))
    assert (made.axes, made.layout) == (3, "half")
    np.testing.assert_allclose(np.sum(made.vectors, axis=1), frequencies(16, base=1e4))
    assert gguf_layout(keys("glm4")) == "interleaved"
    assert gguf_layout(keys("glm4", rope__dimension_sections=[3, 3, 2, 0])) == "half"


REFUSED = {
    "a key nobody knows": (keys("qwen2", rope__mrope_interleaved=True), {}, "qwen2.rope.mrope_interleaved: .*this one"),
    "alpha": (keys("hunyuan_vl", rope__scaling__alpha=1000.0), {}, "scaling.alpha: "),
    "elsewhere": (keys("deepseek4", attention__compress_rope_freq_base=1e4), {}, "compress_rope_freq_base: "),
    "another scaling": (keys("llama", rope__scaling__type="su"), {}, "scaling.type: expected none, linear"),
    "no rotation": (keys("gpt2"), {}, "expected one that turns, got 'gpt2'"),
    "no rotation here": (keys("granitehybrid", rope__scaling__finetuned=False), {}, "granitehybrid without rot"),
    "at rest": (keys("exaone4", attention__sliding_window=9), {"layer_type": FAR}, "layer_type: expected layers that"),
    "not named": ({}, {}, "general.architecture: expected a name, got None"),
    "two kinds": (keys("gemma3"), {}, "layer_type: expected full_attention or sliding_attention, got None: their"),
    "no such kind": (keys("qwen2"), {"layer_type": "banana"}, "layer_type: .*got 'banana'"),
    "scaled or not": (keys("laguna", rope__freq_base_swa=1e4, **SCALED), {"layer_type": NEAR}, "runtime alone knows"),
    "windows and YaRN": (keys("olmo2", **SCALED, attention__sliding_window=512), {}, "frequencies differ, or may"),
    "one base": (keys("m", rope__freq_base=5e4, attention__sliding_window=9), {"layer_type": NEAR}, "runtime alone"),
    "one for each layer": (keys("step35", rope__freq_base=[1e4, 1e6]), {}, "expected a number.*a list has one"),
    "below 0": (keys("llama", rope__freq_base=-1.0), {}, "freq_base: expected a number above 0, got -1"),
    "no width": ({"general.architecture": "llama"}, {}, "llama.embedding_length: expected a whole number, got None"),
    "too wide": (keys("llama", rope__dimension_count=18), {}, "expected an even number up to 16, got 18"),
    "sections": (keys("llama", rope__dimension_sections=[1, 1, 1, 0]), {}, "sections: expected none for llama"),
    "part of YaRN": (keys("grok", **SCALED, rope__scaling__yarn_ext_factor=0.5), {}, "ext_factor: expected YaRN alone"),
    "a scale nobody knows": (keys("qwen3", **SCALED, rope__scaling__yarn_log_multiplier=0.1), {}, "log_multiplier: "),
    "two factors": (keys("qwen3", **SCALED, rope__scaling__yarn_attn_factor=1.0), {}, "attn_factor: expected 1.1386"),
    "one list": (keys("phi3") | {DIVISORS[1]: (1.0,) * 8}, {}, "expected both for longrope"),
    "another length": (keys("llama") | {DIVISORS[0]: (1.0,) * 7}, {}, "a divisor for each of 8 planes, got 7"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_understood_is_refused(name):
    given, options, said = REFUSED[name]
    with pytest.raises((ValueError, TypeError), match=said):
        gguf_settings(given, **options)


def test_an_architecture_that_is_not_in_the_table(file):
    path = file(keys("new-model"))
    with pytest.raises(ValueError, match=r"got 'new-model'; say layout= yourself"):
        RotaryConfig.from_gguf(path)
    assert RotaryConfig.from_gguf(path, layout="half").layout == "half"


WHOLE = bytes_of(LLAMA, {DIVISORS[0]: [1.0] * 8})
HUGE = struct.pack("<Q", 1 << 62)
HOSTILE = {
    "another file": b"PK\3\4" + bytes(40),
    "version 1": WHOLE[:4] + struct.pack("<I", 1) + WHOLE[8:],
    "many tensors": WHOLE[:8] + HUGE + WHOLE[16:],
    "many keys": WHOLE[:16] + HUGE + WHOLE[24:],
    "a long key": WHOLE[:24] + HUGE + WHOLE[32:],
    "a long list": WHOLE.replace(struct.pack("<IQ", 6, 2), struct.pack("<I", 6) + HUGE),
    "a long list of texts": WHOLE.replace(struct.pack("<IQ", 8, 3), struct.pack("<I", 8) + HUGE),
    "a kind of value": WHOLE.replace(struct.pack("<IQ", 6, 2), struct.pack("<IQ", 99, 2)),
    "a key twice": bytes_of({"a": 1, "b": 2}).replace(b"b", b"a"),
    "an alignment of 0": bytes_of({"general.alignment": 0}, {DIVISORS[0]: [1.0]}),
    "deep lists": bytes_of({"a": [[[[[1]]]]]}),
    "divisors elsewhere": WHOLE[:-32],
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_file_that_lies_is_refused(tmp_path, name):
    path = tmp_path / "model.gguf"
    path.write_bytes(HOSTILE[name])
    with pytest.raises(ValueError, match=r"model\.gguf: expected .*; download it again"):
        gguf_metadata(path)


def test_a_file_that_was_cut_anywhere(tmp_path):
    path = tmp_path / "model.gguf"
    for end in range(len(WHOLE)):
        path.write_bytes(WHOLE[:end])
        with pytest.raises(ValueError, match="expected"):
            gguf_metadata(path)


def test_a_long_value_is_passed_over(file):
    path = file({"a": "x" * (1 << 21), "b": [0.0] * (1 << 19), "c": 3})
    assert gguf_metadata(path) == {"a": None, "b": None, "c": 3}


def test_another_reader_sees_the_same(file):
    """The package gguf of llama.cpp."""
    peer = pytest.importorskip("gguf")
    path = file(keys("qwen3", **SCALED), {DIVISORS[0]: [1.0] * 8})
    fields = peer.GGUFReader(path).fields
    assert {key: fields[key].contents() for key in keys("qwen3", **SCALED)} == keys("qwen3", **SCALED)
    writer = peer.GGUFWriter(Path(path), "llama")
    writer.add_rope_freq_base(5e5)
    writer.add_key_length(16)
    writer.add_rope_scaling_type(peer.RopeScalingType.LINEAR)
    writer.add_rope_scaling_factor(4.0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    found = gguf_settings(path)
    assert (found.head_dim, found.base, found.schedule) == (16, 5e5, Linear(factor=4.0))


@pytest.mark.parametrize("value", [1e308, 10**400, float("nan"), float("inf"), object(), [1e308], [[1]], {}])
@pytest.mark.parametrize(
    "key", ["rope.freq_base", "attention.head_count", "embedding_length", "context_length", "rope.dimension_sections"]
)
def test_what_no_file_holds_is_refused(key, value):
    given = {
        "general.architecture": "llama",
        "llama.attention.head_count": 16,
        "llama.embedding_length": 2048,
        "llama.context_length": 4096,
    }
    with pytest.raises(ArgumentError, match="expected what a file can hold"):
        RotaryConfig.from_gguf({**given, f"llama.{key}": value})
