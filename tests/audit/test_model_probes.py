"""What really turns in a model, layer by layer: known families, planted faults, our own placements, and the table."""

import numpy as np
import pytest
import torch
from torch import nn

from rope_lab.audit import atlas, causal_families, model_probe, probe_all, probe_results, shift_results, tiny_model
from rope_lab.audit import model_probes as module
from rope_lab.audit.foreign_code import TargetError, version
from rope_lab.audit.model_probes import LayerProbe, ModelProbe, probe_row
from tests.audit.implementations import gpt
from tests.deep import sampled

pytestmark = pytest.mark.usefixtures("untyped")


def base_of(layer):
    return round(layer.queries.base)


def test_our_own_model():
    seen = model_probe(gpt(layout="half", base=500.0))
    assert seen.ok
    assert seen.still == ()
    for layer in seen.layers:
        assert (layer.queries.layout, base_of(layer), layer.values) == ("half-split", 500, False)
        assert layer.functions == ("rope_lab.nn.rotary:_turn_half",)
    assert str(seen).splitlines()[1].startswith("layers 0-1: half-split, 8 of 8, counter-clockwise, base 500")


YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 512, "rope_theta": 10000.0}


@pytest.mark.deep(keep=1)
@pytest.mark.parametrize(
    ("rule", "words"),
    [(YARN, "Yarn(factor=4, window=512), from base 10000"), (None, "base 10000"), ({"rope_type": "new"}, "no single")],
)
def test_a_schedule_is_named_by_the_configuration(monkeypatch, rule, words):
    pytest.importorskip("transformers")
    from transformers import LlamaConfig

    model = tiny_model(LlamaConfig(max_position_embeddings=2048, rope_parameters=YARN if rule else None))
    if rule and rule != YARN:  # control: the words come from the configuration
        monkeypatch.setattr(model.config, "rope_parameters", rule)
    assert words in str(model_probe(model)).splitlines()[1]


def test_values_that_turn_are_seen():
    assert all(layer.values for layer in model_probe(gpt(rotated="qkvo")).layers)
    assert not any(layer.values for layer in model_probe(gpt(rotated="qk")).layers)


def test_no_positions_and_queries_alone():
    assert model_probe(gpt(positions="none")).still == (0, 1)
    seen = model_probe(gpt(rotated="q"))
    assert not seen.ok
    assert [(layer.queries is None, layer.keys is None) for layer in seen.layers] == [(False, True)] * 2
    assert "keys: no rotation" in str(seen)


class Turned(nn.Module):
    """In place of `Rotary`: halves, with a rule of one's own for the angles."""

    def __init__(self, sign=1.0, base=10000.0, stretch=1.0):
        super().__init__()
        self.sign, self.base, self.stretch = sign, base, stretch

    def forward(self, x, *, offset=0, inverse=False):
        assert not inverse
        planes = x.shape[-1] // 2
        theta = self.base ** (-torch.arange(planes, dtype=torch.float64) / planes)
        n = torch.arange(offset, offset + x.shape[-2], dtype=torch.float64)
        angle = self.sign * n[:, None] * theta
        a, b = x.double().chunk(2, -1)
        turned = torch.cat((a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()), -1)
        return (turned * self.stretch ** n[:, None]).to(x.dtype)


def planted(**fault):
    model = gpt(layout="half")
    model.blocks[1].attention.rotary = Turned(**fault)
    return model_probe(model)


def test_the_layer_that_turns_otherwise_stands_alone():
    other_way, other_base = planted(sign=-1.0), planted(base=100.0)
    assert [layer.queries.direction for layer in other_way.layers] == [1, -1]
    assert [base_of(layer) for layer in other_base.layers] == [10000, 100]
    assert "layer 0: half-split" in str(other_base)
    assert "layer 1: half-split, 8 of 8, counter-clockwise, base 100\n" in str(other_base)


def test_control_a_length_that_changes_is_a_problem():
    seen = planted(stretch=1.01)
    assert [layer.ok for layer in seen.layers] == [True, False]
    assert planted(stretch=1.0).ok


def test_a_turn_with_another_matrix_for_each_head_is_not_read():
    class Heads(Turned):
        def forward(self, x, *, offset=0, inverse=False):
            turned = super().forward(x, offset=offset, inverse=inverse)
            return torch.cat((turned[:, :1], x[:, 1:]), 1)

    model = gpt(layout="half")
    model.blocks[0].attention.rotary = Heads()
    (first, second) = model_probe(model).layers
    assert "no one matrix carries its vectors" in first.problem
    assert not first.ok
    assert second.ok


FAMILIES = {
    "llama": ("half-split", 16, 0, 10000, "apply_rotary_pos_emb"),
    "gpt_neox": ("half-split", 4, 0, 10000, "apply_rotary_pos_emb"),
    "gptj": ("interleaved", 8, 0, 10000, "apply_rotary_pos_emb"),
    "deepseek_v3": (
        "half-split",
        16,
        16,
        10000,
        "apply_rotary_pos_emb_interleave, which puts even coordinates before odd ones",
    ),
}


@pytest.mark.deep
@pytest.mark.parametrize("family", FAMILIES)
def test_families_by_what_they_do(family):
    pytest.importorskip("transformers")
    layout, width, first, base, function = FAMILIES[family]
    seen = model_probe(tiny_model(family))
    assert seen.ok
    for layer in seen.layers:
        q = layer.queries
        assert (q.layout, q.rotated_dims, min(map(min, q.pairs)), round(q.base)) == (layout, width, first, base)
        assert [name.partition(":")[2] for name in layer.functions] == [function]


@pytest.mark.deep
def test_norms_before_and_after_and_a_layer_without_rotation():
    pytest.importorskip("transformers")
    before, after = model_probe(tiny_model("qwen3")), model_probe(tiny_model("llama4_text"))
    assert before.layers[0].norms_before == ("self_attn.q_norm", "self_attn.k_norm")
    assert before.layers[0].norms_after == ()
    assert after.layers[0].norms_after == ("self_attn.qk_norm",)
    assert after.still == (3,)
    assert "layer 3: no rotation" in str(after)


@pytest.mark.deep
def test_a_layer_in_which_nothing_was_seen_to_meet_is_not_called_still():
    """The last layer of DeepSeek-V4 turns queries and compressed keys, in a product that this test does not know."""
    pytest.importorskip("transformers")
    seen = model_probe(tiny_model("deepseek_v4"))
    assert [layer.met for layer in seen.layers] == [True, True, True, False]
    assert seen.still == ()
    assert seen.layers[3].words == ("no queries and keys were seen to meet",)


@pytest.mark.deep
def test_only_norms_that_queries_or_keys_pass_are_named():
    """In diffllama a norm stands behind the attention, as narrow as a head; zaya has one in the router of its MLP."""
    pytest.importorskip("transformers")
    for family in ("diffllama", "zaya"):
        assert {layer.norms_before + layer.norms_after for layer in model_probe(tiny_model(family)).layers} == {()}


def test_what_cannot_be_probed_is_refused_in_words():
    with pytest.raises(TypeError, match="model: expected a torch module"):
        model_probe({})
    with pytest.raises(TargetError, match="takes no position_ids"):
        model_probe(nn.Linear(2, 2))


def test_the_row_is_plain():
    row = model_probe(gpt(), name="ours").row
    assert (row["model"], row["ok"], row["still"]) == ("ours", True, [])
    assert np.isclose(row["layers"][0]["queries"]["base"], 10000)


IN_EACH_RUN = [
    "llama",
    "mimo_v2_flash",
    "gpt_neox",
    "gpt_oss",  # whose factor no query beside another can show
    "deepseek_v3",
    "gemma3_text",
    "nanochat",
    "mamba",
    "bamba",
    "xlnet",
]


@pytest.mark.deep(keep=3)
@pytest.mark.parametrize("family", sampled([row["model"] for row in probe_results()["rows"]], IN_EACH_RUN))
def test_every_family_has_the_committed_row(family, monkeypatch):
    pytest.importorskip("transformers")
    committed = next(row for row in probe_results()["rows"] if row["model"] == family)
    seen = []
    monkeypatch.setattr(module, "model_probe", lambda *a, **k: seen.append(model_probe(*a, **k)) or seen[-1])
    (row,) = probe_all([family], limit=600)["rows"]
    assert row == committed
    if not row["skipped"]:
        printed = str(seen[0]).splitlines()
        assert [line for answer in row["answers"] for line in answer["words"]] == [
            line.partition(": ")[2] if line.startswith("layer") else line.strip() for line in printed[1:]
        ]


def test_every_family_has_a_row_and_every_layer_an_answer():
    pytest.importorskip("transformers")
    table, moved = probe_results(), shift_results()
    rows = table["rows"]
    if version("transformers") == table["transformers"]:
        assert [row["model"] for row in rows] == list(causal_families())
    if moved["transformers"] == table["transformers"]:
        assert [row["model"] for row in rows] == [row["model"] for row in moved["rows"]]
    for row in rows:
        if row["skipped"]:
            assert len(row["skipped"]) > 10
            assert "no answer within" not in row["skipped"]
        else:
            layers = sorted(i for answer in row["answers"] for i in answer["layers"])
            assert layers == list(range(row["layers"]))


def test_no_refusal_shows_backquotes():
    for table in (probe_results(), shift_results(), *atlas()):
        assert not [row for row in table["rows"] if "`" in (row["skipped"] or "")]


def test_known_families_by_their_rows():
    rows = {row["model"]: row for row in probe_results()["rows"]}
    (nanochat,) = rows["nanochat"]["answers"]
    assert nanochat["queries"]["direction"] == -1
    assert nanochat["norms_after"] == ["self_attn.q_norm", "self_attn.k_norm"]
    bases = {answer["queries"]["base"]: answer["layers"] for answer in rows["gemma3_text"]["answers"]}
    assert bases == {1e4: [0, 1, 2, 3, 4], 1e6: [5]}
    (neox,) = rows["gpt_neox"]["answers"]
    assert (neox["queries"]["rotated_dims"], neox["queries"]["head_dim"], neox["queries"]["coordinates"]) == (
        4,
        16,
        "0-3",
    )
    mimo = [answer["queries"] for answer in rows["mimo_v2_flash"]["answers"]]
    assert [(turn["base"], turn["rotated_dims"], turn["head_dim"]) for turn in mimo] == [(5e6, 8, 24), (1e4, 8, 24)]
    (deepseek,) = rows["deepseek_v3"]["answers"]
    assert (deepseek["queries"]["rotated_dims"], deepseek["queries"]["coordinates"]) == (16, "16-31")


def test_what_raises_or_has_no_end_is_a_row_in_words(monkeypatch):
    def fails(name):
        raise {"bug": ZeroDivisionError("in foreign code"), "large": TargetError("it stays large")}[name]

    monkeypatch.setattr(module, "tiny_model", fails)
    seen, mine = [], {"model": "mine", "skipped": None}
    rows = probe_all(["bug", "mine", "large"], rows=[mine], told=lambda *of: seen.append(of))["rows"]
    assert rows.pop(1) == mine
    assert [row["skipped"] for row in rows] == [
        "probing it raised ZeroDivisionError: in foreign code",
        "it stays large",
    ]
    assert [(name, [row["model"] for row in table["rows"]]) for name, table in seen] == [
        ("bug", ["bug", "mine"]),
        ("large", ["bug", "mine", "large"]),
    ]

    def sleeps(_):
        while True:
            pass

    monkeypatch.setattr(module, "tiny_model", sleeps)
    assert probe_all(["slow"], limit=0.2)["rows"][0]["skipped"] == "no answer within 0.2 seconds"


def test_a_model_of_which_no_layer_was_read_is_not_answered():
    unread = LayerProbe(None, None, False, (), (), (), problem="no one matrix")
    still = LayerProbe(None, None, False, (), (), ())
    assert probe_row(ModelProbe("x", (unread, unread)))["skipped"] == "no layer was read: no one matrix"
    row = probe_row(ModelProbe("x", (unread, still)))
    assert [answer["problem"] for answer in row["answers"]] == ["no one matrix", ""]
