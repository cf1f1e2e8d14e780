"""Other people's libraries, named correctly; and a model of transformers carried into the other layout."""

import copy
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM
from transformers.models.llama import modeling_llama

from rope_lab.algebra import rope_settings, rotate_elementwise
from rope_lab.audit import conventions, fingerprint, laws, permute_state
from rope_lab.audit.adapters import adapt
from rope_lab.audit.audits import LIBRARY, SCALINGS, audit
from rope_lab.audit.foreign_code import TargetError, find
from rope_lab.nn.rotary import Rotary, RotaryConfig
from tests.audit.implementations import in_torch, module_in, rotary

ENTRIES = {entry.name: entry for entry in LIBRARY}
HALVES = ["Llama", "GPT-NeoX", "Phi"]
INSTALLED = [*HALVES, "GPT-J", "Cohere", "GLM", "Llama 4", "rotary-embedding-torch", "x-transformers"]


@pytest.mark.deep(keep=1)
@pytest.mark.parametrize("name", INSTALLED)
def test_a_peer_is_identified_and_keeps_every_law(name):
    seen = audit(ENTRIES[name].target, **ENTRIES[name].settings)
    assert seen.skipped is None
    print_ = seen.fingerprint
    assert print_.layout == ("half-split" if name in HALVES else "interleaved")
    assert (print_.direction, print_.precision, print_.orthogonal) == (1, "float32", True)
    assert [law.name for law in seen.laws if not law.ok and not law.caution] == []


@pytest.mark.deep
def test_partial_rotation_is_seen():
    found = [audit(ENTRIES[name].target).fingerprint for name in ("GPT-NeoX", "GLM")]
    assert [(seen.rotated_dims, seen.head_dim) for seen in found] == [(24, 96), (64, 128)]


def test_the_numbers_of_llama_3_are_those_of_its_released_configuration():
    released = {
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
    }
    assert SCALINGS["Llama-3 scaling"] == {"rope_type": "llama3"} | released


@pytest.mark.deep
@pytest.mark.parametrize("kind", SCALINGS)
def test_scaled_frequencies_are_those_of_transformers(kind):
    """The measured frequencies are the module's own inv_freq; where one base fits, the report says so."""
    entry = ENTRIES[f"Llama, {kind}"]
    seen = audit(entry.target, head_dim=64, **entry.settings)
    settings = {"num_attention_heads": 4, "hidden_size": 256, "head_dim": 64} | entry.settings
    own = modeling_llama.LlamaRotaryEmbedding(LlamaConfig(**settings)).inv_freq
    assert seen.fingerprint.frequencies == pytest.approx(own.tolist(), rel=1e-5)
    assert (seen.fingerprint.base is None) == (kind != "dynamic NTK")
    broken = {law.name for law in seen.laws if not law.ok and not law.caution}
    assert (
        broken
        == {
            "linear scaling": set(),
            "Llama-3 scaling": set(),
            "YaRN": {"isometry", "identity at zero", "group law", "inverse"},  # its factor on cos and sin
            "dynamic NTK": {"cached decoding", "long positions", "earlier calls"},  # the longest text sets the speed
        }[kind]
    )
    if kind == "dynamic NTK":  # it rounds nothing: the call's longest position sets the frequencies of all its tokens
        committed = next(row for row in conventions()["rows"] if row["name"] == entry.name)
        for row in (seen.row, committed):
            said = row["broken_laws"]["long positions"]
            assert "a call that reaches 4096 turns its other tokens otherwise too" in said


def test_a_model_carried_into_the_other_layout_keeps_its_logits(monkeypatch):
    """A small Llama with grouped queries and biases: weights permuted, rotation exchanged."""
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=97,
        hidden_size=64,
        intermediate_size=96,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        attention_bias=True,
        max_position_embeddings=64,
    )
    model = LlamaForCausalLM(config).double().eval()
    for layer in model.model.layers:
        for projection in (layer.self_attn.q_proj, layer.self_attn.k_proj):
            torch.nn.init.normal_(projection.bias)
    tokens = torch.randint(97, (2, 24))
    moved = copy.deepcopy(model)
    heads = {"n_heads": config.num_attention_heads, "n_kv_heads": config.num_key_value_heads}
    moved.load_state_dict(permute_state(model.state_dict(), layout_from="half", layout_to="interleaved", **heads))

    def neighbours(q, k, cos, sin, unsqueeze_dim=1):  # noqa: ARG001
        turn, at = in_torch(rotary(layout="interleaved", base=10000.0)), torch.arange(q.shape[-2])
        return turn(q, at), turn(k, at)

    with torch.no_grad():
        logits = model(tokens).logits
        without = moved(tokens).logits
        monkeypatch.setattr(modeling_llama, "apply_rotary_pos_emb", neighbours)
        assert (moved(tokens).logits - logits).abs().max() < 1e-6  # the library's angles are float32
    assert (without - logits).abs().max() > 1e-3  # the control: weights alone


def test_what_is_not_there_is_skipped_with_the_reason():
    assert audit("no_such_library:rotate").skipped == "no_such_library is not installed"
    assert audit("json:no_such_name").skipped == "json has no no_such_name"
    with pytest.raises(TargetError, match="no adapter for the parameters a, b, c"):
        adapt(lambda a, b, c: a + b + c)
    with pytest.raises(ValueError, match="target: expected MODULE:NAME, got 'json'"):
        find("json")


@pytest.mark.deep
def test_the_committed_table_is_what_is_measured():
    """Dated, with versions, one row for each entry; rows of other versions may differ, their names may not."""
    table = conventions()
    assert {"date", "python", "torch", "libraries", "rows"} == set(table)
    rows = {row["name"]: row for row in table["rows"]}
    assert list(rows) == list(ENTRIES)
    for name in ("Llama", "rotary-embedding-torch", "DeepSeek-V3, interleaved", "Gemma 4, global", "DeepSeek-V4, main"):
        entry, then = ENTRIES[name], rows[name]
        now = audit(entry.target, name=name, layer_type=entry.layer_type, **entry.settings).row
        for field in ("layout", "rotated_dims", "head_dim", "direction", "base", "scheme", "precision", "notes"):
            assert now[field] == then[field], (name, field)
        assert set(now["broken_laws"]) == set(then["broken_laws"])


@pytest.mark.deep
def test_a_family_with_frequencies_for_each_kind_of_layer_is_told_which():
    target = ENTRIES["Gemma 3, global"].target
    bases = [audit(target, layer_type=f"{kind}_attention").fingerprint.base for kind in ("sliding", "full")]
    assert bases == [1e4, 1e6]
    said = "layer_type: expected one of sliding_attention, full_attention, got None; Gemma3RotaryEmbedding has a list"
    assert audit(target).skipped.startswith(said)
    assert audit(ENTRIES["Llama"].target, layer_type="near").skipped.startswith("layer_type: expected None, got 'near'")


@pytest.mark.deep
def test_the_audit_of_a_family_says_whose_base_it_saw():
    assert (
        audit(ENTRIES["Llama"].target).about
        == "as LlamaConfig() sets it: the library's default, not a released model's; "
        "LlamaRotaryEmbedding applied by apply_rotary_pos_emb"
    )
    assert audit(ENTRIES["Llama"].target, rope_parameters={"rope_theta": 5e5, "rope_type": "default"}).about == (
        "LlamaConfig with rope_parameters set for this audit; LlamaRotaryEmbedding applied by apply_rotary_pos_emb"
    )


def test_control_a_row_of_another_library_differs():
    rows = {row["name"]: row for row in conventions()["rows"]}
    assert rows["Llama"]["layout"] != rows["rotary-embedding-torch"]["layout"]


@pytest.mark.parametrize("layout", ["interleaved", "half"])
def test_our_own(layout):
    """The rotary embedding that the book's models run keeps every law, and is what its configuration says."""
    rotary_of_the_book = Rotary(RotaryConfig(head_dim=16, base=500000.0, layout=layout, rotary_dim=8))
    wanted = {"layout": layout, "base": 500000.0, "direction": 1, "rotated_dims": 8, "problems": ()}
    found = laws(lambda x, n: rotary_of_the_book(x, positions=n), head_dim=16, expected=wanted)
    assert [str(law) for law in found if not law.ok] == []


FAMILY = "transformers.models"
LLAMA_4 = f"{FAMILY}.llama4.modeling_llama4:Llama4TextRotaryEmbedding"
GPT_J = f"{FAMILY}.gptj.modeling_gptj:apply_rotary_pos_emb"
TEXT = {"hidden_size": 64, "num_attention_heads": 4, "head_dim": 16, "rope_theta": 12345.0}
PART = {"model_type": "llama4_text", **TEXT}
SMALL_J = {"model_type": "gptj", "n_embd": 64, "n_head": 2, "rotary_dim": 8, "n_positions": 2048}


@pytest.mark.deep(keep=1)
@pytest.mark.parametrize(
    ("target", "config", "turned", "base"),
    [
        (LLAMA_4, {"model_type": "llama4", "text_config": PART}, 16, 12345.0),
        (LLAMA_4, {"text_config": PART}, 16, 12345.0),
        (LLAMA_4, PART, 16, 12345.0),
        (LLAMA_4, TEXT, 16, 12345.0),
        (GPT_J, SMALL_J, 8, 10000.0),
    ],
)
def test_a_given_configuration_is_the_one_that_is_asked(target, config, turned, base):
    seen = audit(target, config=config)
    assert (seen.skipped, seen.fingerprint.rotated_dims, seen.fingerprint.base) == (None, turned, pytest.approx(base))
    assert "as the given configuration sets it" in seen.about
    assert seen.ok


@pytest.mark.parametrize(
    ("target", "settings", "words"),
    [
        (
            LLAMA_4,
            {"config": {"model_type": "gemma3", "text_config": TEXT}},
            "a part for Llama4TextConfig, got model_type",
        ),
        (LLAMA_4, {"config": {"model_type": "llama", **TEXT}}, "a part for Llama4TextConfig, got model_type 'llama'"),
        (LLAMA_4, {"config": {"text_config": TEXT, "model_type": "nobody's"}}, 'got model_type "nobody\'s"'),
        (LLAMA_4, {"config": {"inner_config": TEXT}}, "no model_type and the keys inner_config"),
        (LLAMA_4, {"config": {"peft_type": "LORA", "auto": {"a": 1}}}, "no model_type and the keys peft_type, auto"),
        (
            GPT_J,
            {"config": {"model_type": "codegen", "rotary_dim": 8}},
            "a part for GPTJConfig, got model_type 'codegen'",
        ),
        (GPT_J, {"layer_type": "full_attention"}, "layer_type: expected None"),
        ("rope_lab.audit.gallery:right", {"config": SMALL_J}, "config: expected a class or function of a family"),
        (
            "rope_lab.audit.gallery:right",
            {"layer_type": "main"},
            "layer_type: expected a class or function of a family",
        ),
        (
            "rotary_embedding_torch:RotaryEmbedding",
            {"config": SMALL_J},
            "config: expected a class or function of a family",
        ),
    ],
)
def test_what_the_target_does_not_read_is_refused(target, settings, words):
    assert words in audit(target, **settings).skipped


@pytest.mark.deep
def test_a_factor_that_the_port_lost_is_said_in_both_directions():
    rule = {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 512}
    scaled = rope_settings({"head_dim": 16, "max_position_embeddings": 4096, "rope_scaling": rule})
    plain = rope_settings({"head_dim": 16})
    whole = scaled.schedule.attention_factor

    def port(schedule, times=1.0):
        theta = schedule.frequencies(16, base=10000.0)
        return lambda x, n: times * rotate_elementwise(x, n, theta=theta, layout="half")

    for f, settings, words in [
        (port(scaled.schedule, whole), scaled, None),
        (port(plain.schedule), plain, None),
        (port(scaled.schedule), scaled, f"has the attention factor {whole:.5g}, and what turns here is times 1"),
        (port(plain.schedule, whole), plain, f"has the attention factor 1, and what turns here is times {whole:.5g}"),
        (port(plain.schedule), scaled, "another list, Yarn"),
    ]:
        scheme = fingerprint(f, head_dim=16, settings=settings).scheme
        (law,) = (law for law in laws(f, head_dim=16, settings=settings) if law.name == "configured rule")
        assert law.ok == (words is None), law
        assert (words or "") in scheme
        assert ("configuration" in scheme) == (words is not None)
    assert [law.ok for law in laws(port(plain.schedule, 2.0), head_dim=16, expected={"scale": 2.0})][-1]


def test_heads_that_do_not_turn_are_named():
    def first_only(x, positions):
        return torch.cat([in_torch(rotary())(x[:, :1], positions), x[:, 1:]], dim=1)

    law = next(law for law in laws(first_only, head_dim=8) if law.name == "non-vacuity")
    assert law.saw == "of the heads 0 turn with the position, 1 and 2 do not"


def turned(x, start):
    return in_torch(rotary())(x, torch.arange(start, start + x.shape[-2]))


def forms(fault=False):
    """What turns x by an offset, both layouts, q with k, these by positions or an offset, or x by position_ids."""

    class Offset(torch.nn.Module):
        def __init__(self, dim):
            super().__init__()
            self.dim = dim

        def forward(self, x, offset=0):
            return turned(x, 0 if fault else offset)

    class TokensFirst(Offset):
        def forward(self, x, offset=0):
            _batch, length, _heads, _dim = x.shape
            return turned(x.transpose(1, 2), offset + (fault and length == 1)).transpose(1, 2)

    class TokensOutside(Offset):  # (T, batch, heads, d)
        def forward(self, x, offset=0):
            return turned(x.permute(1, 2, 0, 3), 0 if fault else offset).permute(2, 0, 1, 3)

    class Both(Offset):
        def forward(self, q, k):
            return turned(q, 0), k if fault else turned(k, 0)

    class Alone(Offset):
        def forward(self, x):
            return turned(x, 0) * (1 + fault * torch.arange(x.shape[-2])[:, None] / 8)

    class Placed(Offset):
        def forward(self, q, k, positions):
            return in_torch(rotary())(q, positions), in_torch(rotary())(k, -positions if fault else positions)

    class Ids(Offset):
        def forward(self, x, position_ids):
            ids = position_ids[:1].expand_as(position_ids) if fault else position_ids
            return torch.stack([in_torch(rotary())(row, own) for row, own in zip(x, ids, strict=True)])

    class Named(Offset):
        def forward(self, query, key, token_positions):
            y = in_torch(rotary())(key, -token_positions if fault else token_positions)
            return {"query": in_torch(rotary())(query, token_positions), "key": y}

    class BothFrom(Offset):
        def forward(self, q, k, start_pos=0):
            return turned(q, start_pos), turned(k, start_pos + (fault and k.shape[-2] == 1))

    class Packed(Offset):
        def forward(self, positions, query, key):
            def turn(x, n):
                rows = x.reshape(len(positions), -1, 8).transpose(0, 1)
                return in_torch(rotary())(rows, n).transpose(0, 1).reshape(x.shape)

            return turn(query, positions), turn(key, positions + (fault and len(positions) == 1))

    class OfNumpy:
        def __init__(self, head_size):
            self.head_size = head_size

        def __call__(self, x, past_length=0):
            return rotary()(x, np.arange(x.shape[-2]) + (0 if fault else past_length))

    kinds = (Offset, TokensFirst, TokensOutside, Both, Alone, Placed, Ids, Named, BothFrom, Packed, OfNumpy)
    return {kind.__name__: kind for kind in kinds}


@pytest.mark.deep(keep=2)
@pytest.mark.parametrize("name", forms())
def test_offsets_keys_and_position_ids_are_asked(name):
    for fault in (False, True):
        found = adapt(forms(fault)[name], head_dim=8)
        assert any(law.broken for law in laws(found.f, head_dim=8, keys=found.keys, window=256)) is fault


MEGATRON = """
import torch
class RotaryEmbedding(torch.nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.theta = 1e4 ** (-torch.arange(dim // 2).double() / (dim // 2))
    def forward(self, max_seq_len, offset=0):
        angle = (torch.arange(max_seq_len) + offset)[:, None] * self.theta
        return torch.cat((angle, angle), -1)[:, None, None]
def apply_rotary_pos_emb(t, freqs):
    a, b = t.chunk(2, -1)
    return t * freqs.cos().to(t.dtype) + torch.cat((-b, a), -1) * freqs.sin().to(t.dtype)
"""


@pytest.mark.parametrize("fault", [False, True])
def test_angles_of_a_length_and_what_applies_them_tokens_first(tmp_path, monkeypatch, fault):
    with module_in(tmp_path, monkeypatch, "of_megatron") as write:
        name = write(MEGATRON.replace("-b, a", "b, a") if fault else MEGATRON)
        seen = audit(f"{name}:apply_rotary_pos_emb", head_dim=8, window=4096)
        assert (seen.skipped, seen.ok) == (None, not fault)


@dataclass
class Settings:
    head_dim: int
    theta: float
    layout: str = "interleaved"


class Configured(torch.nn.Module):
    def __init__(self, config: Settings):
        super().__init__()
        self.config = config

    def forward(self, x, *, positions=None):
        width = self.config.head_dim
        theta = self.config.theta ** (-np.arange(0, width, 2) / width)
        positions = torch.arange(x.shape[-2]) if positions is None else positions
        return torch.from_numpy(rotate_elementwise(x.numpy(), positions.numpy(), theta=theta))


def test_a_class_is_built_from_the_fields_of_its_own_dataclass():
    found = adapt(Configured, head_dim=8, theta=500.0)
    assert (found.head_dim, fingerprint(found.f, head_dim=8).base) == (8, pytest.approx(500))
    with pytest.raises(TargetError, match="unexpected keyword argument 'sections'"):
        adapt(Configured, sections=3)
    assert fingerprint(adapt(Rotary, base=50.0).f, head_dim=64).base == pytest.approx(50)
