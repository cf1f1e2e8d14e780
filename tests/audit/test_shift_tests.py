"""Moving a whole model: faults planted in a tiny one are found in their layer; plain models are blamed for nothing."""

import builtins
import json
import os
import sys

import numpy as np
import pytest
import torch
from torch import nn

from rope_lab.audit import (
    GALLERY,
    length_dependence,
    load_model,
    shift_all,
    shift_lines,
    shift_results,
    shift_test,
    tiny_model,
)
from rope_lab.audit import shift_tests as cause
from rope_lab.audit.foreign_code import TargetError
from rope_lab.errors import MissingPackageError
from tests.audit.implementations import gpt
from tests.deep import sampled

SHIFTS = (1, 16, 300)
MISTAKES = {mistake.name: mistake for mistake in GALLERY}
DIFFERENT = ("q only", "opposite signs", "cached keys under another base")
LENGTHS = ("mismatched cos/sin layout", "tables of halves on neighbours", "norm leak")
NOTHING = ("no-op", "head axis as position", "batch axis as position", "decoding forgets the offset")
LAWFUL = (
    "wrong base",
    "flipped sign",
    "other layout",
    "counting from one",
    "turned twice",
    "degrees for radians",
    "wrong partial pairing",
    "stale cache that forgot theta",
    "every frequency divided",
    "frequencies cast with the module",
)
OF_STATE = ("tables kept by length", "the longest text stays", "table in the caller's dtype")  # the laws of state ask
ROUNDED = ("bf16 positions", "bf16 angles")


def test_every_mistake_of_the_gallery_is_planted():
    assert sorted((*DIFFERENT, *LENGTHS, *NOTHING, *LAWFUL, *ROUNDED, *OF_STATE)) == sorted(MISTAKES)


class Turning(nn.Module):
    """In place of `Rotary`: it turns q, then k, then q again."""

    def __init__(self, q, k=None):
        super().__init__()
        self.turns, self.calls = (q, k or q), 0

    def forward(self, x, *, offset=0, inverse=False):
        assert not inverse
        self.calls += 1
        return self.turns[(self.calls - 1) % 2](x, torch.arange(offset, offset + x.shape[-2]))


def foreign(f):
    """A callable of the gallery, on tensors."""
    return lambda x, n: torch.as_tensor(np.asarray(f(x.numpy(), n.numpy()))).to(x.dtype)


def planted(mistake, *, layer=1):
    model = gpt()
    model.blocks[layer].attention.rotary = Turning(foreign(mistake.f), foreign(mistake.keys or mistake.f))
    return model


def turned(x, angle):
    a, b = x.chunk(2, -1)
    return torch.cat((a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()), -1)


def theta(width):
    return 100.0 ** (-torch.arange(0, width, 2).double() / width)


@pytest.mark.deep(keep=3)
@pytest.mark.parametrize("name", DIFFERENT + LENGTHS)
def test_a_planted_fault_is_found_in_its_layer(name):
    seen = shift_test(planted(MISTAKES[name]), shifts=SHIFTS)
    assert [layer.layer for layer in seen.lost] == [1]
    assert seen.causes == ((cause.DIFFERENT,) if name in DIFFERENT else (cause.LENGTHS,))
    assert not seen.ok
    assert "lost in layer 1" in str(seen)
    assert cause.DIFFERENT in seen._repr_html_() or name in LENGTHS


@pytest.mark.parametrize(
    "of", [lambda n: n * (torch.arange(len(n)) < 200), lambda n: n // 2 * 2 if len(n) > 200 else n]
)
def test_a_fault_of_long_texts_is_found_and_the_length_that_was_asked_is_said(of):
    model = gpt()
    model.blocks[1].attention.rotary = Turning(lambda x, n: turned(x, of(n)[:, None] * theta(x.shape[-1])).to(x.dtype))
    seen = shift_test(model)
    assert not seen.ok
    assert "lost in layer 1" in seen.verdict
    assert ", in a text of 257 tokens from row" in seen.verdict
    assert "a text of      67 tokens, and once of 257\nnot asked      rows of a text beyond 257" in str(seen)


@pytest.mark.parametrize("name", NOTHING)
def test_a_layer_whose_queries_never_move_is_told_from_a_relative_one(name):
    seen = shift_test(planted(MISTAKES[name]), shifts=SHIFTS)
    assert seen.relative
    assert [layer.turns for layer in seen.layers] == [False, True, False]


@pytest.mark.deep(keep=4)
@pytest.mark.parametrize("name", LAWFUL)
def test_what_a_shift_cannot_see_is_blamed_for_nothing(name):
    seen = shift_test(planted(MISTAKES[name]), shifts=SHIFTS)
    assert seen.causes == ()
    assert seen.ok


@pytest.mark.parametrize("what", ROUNDED)
def test_rounding_is_told_from_a_fault(what):
    def f(x, n):  # the gallery's own, on tensors, so that the wide run sees its casts
        n = n.to(torch.bfloat16) if what == "bf16 positions" else n
        angle = n[:, None].double() * theta(x.shape[-1])
        return turned(x, (angle.to(torch.bfloat16) if what == "bf16 angles" else angle).to(x.dtype))

    model = gpt()
    model.blocks[1].attention.rotary = Turning(f)
    seen = shift_test(model, shifts=SHIFTS)
    assert seen.relative
    assert seen.causes == (cause.ROUNDING,)


def scaled(x, n):
    """A temperature for queries, as a function of their position."""
    return (
        turned(x, (n[:, None].double() * theta(x.shape[-1])).to(x.dtype))
        * (1 + 0.1 * torch.log1p(n.to(x.dtype)))[:, None]
    )


def plain(x, n):
    return turned(x, (n[:, None].double() * theta(x.shape[-1])).to(x.dtype))


class Normed(nn.Module):
    """A turn with a norm behind it that weights coordinates."""

    def __init__(self):
        super().__init__()
        self.norm = nn.RMSNorm(8)
        self.norm.weight.data = torch.linspace(0.5, 2.0, 8)

    def forward(self, x, *, offset=0, inverse=False):
        assert not inverse
        return self.norm(plain(x, torch.arange(offset, offset + x.shape[-2])))


def test_a_length_temperature():
    model = gpt()
    model.blocks[0].attention.rotary = Turning(scaled, plain)
    assert shift_test(model, shifts=SHIFTS).causes == (cause.TEMPERATURE,)


def test_a_norm_after_the_turn():
    model = gpt()
    model.blocks[1].attention.rotary = Normed()
    seen = shift_test(model, shifts=SHIFTS)
    assert seen.causes == (f"{cause.NORM} (attention.rotary.norm)",)
    assert seen.ok  # models are built so


def test_a_norm_after_the_turn_with_equal_weights_is_harmless():
    model = gpt()
    model.blocks[1].attention.rotary = normed = Normed()
    normed.norm.weight.data.fill_(2.0)
    assert shift_test(model, shifts=SHIFTS).relative


@pytest.mark.deep(keep=2)
@pytest.mark.parametrize(
    ("settings", "causes"),
    [
        ({}, ()),
        ({"rotated": "qkvo"}, ()),
        ({"d_latent": 8, "d_rope": 4}, ()),
        ({"rotated": "qkv"}, (cause.VALUES,)),
        ({"positions": "absolute"}, (cause.ABSOLUTE,)),
    ],
)
def test_our_own_models(settings, causes):
    assert shift_test(gpt(**settings), shifts=SHIFTS).causes == causes


def test_without_positions_nothing_moves():
    verdict = shift_test(gpt(positions="none"), shifts=SHIFTS).verdict
    assert verdict == "nothing moves: a shift of all positions changes no query, no key and no logit"  # an offset alone


STEPS = "unequal steps between the tokens"


@pytest.mark.parametrize(
    ("read", "distance", "words"),
    [
        (lambda p: p - p[:, :1], 0, f"{STEPS} do: as if places are counted from the first of the call"),
        (lambda p: p * 0, 1, f"{STEPS} change layers, as distances do that are added to scores"),
        (lambda p: p * 0, 0, f"nor do {STEPS}"),
    ],
)
def test_places_in_the_call_are_told_from_places_that_are_not_read(read, distance, words, monkeypatch):
    llama = pytest.importorskip("transformers.models.llama.modeling_llama")
    turn, attend = llama.LlamaRotaryEmbedding.forward, llama.LlamaAttention.forward

    def biased(self, *args, position_ids, **more):
        y, weights = attend(self, *args, **more)
        return y * (1 + distance * (position_ids[0, -1] - position_ids[0, 0])), weights

    def placed(self, x, position_ids):
        return turn(self, x, read(position_ids))

    monkeypatch.setattr(llama.LlamaRotaryEmbedding, "forward", placed)
    monkeypatch.setattr(llama.LlamaAttention, "forward", biased)
    verdict = shift_test(tiny_model("llama"), shifts=(1, 16)).verdict
    assert verdict == f"nothing moves: a shift of all positions changes no query, no key and no logit; {words}"


def test_a_shift_that_the_model_refuses_is_left_out():
    seen = shift_test(gpt(), shifts=(1, 4096))
    assert seen.shifts == (1,)
    assert "at most 512" in seen.refused
    with pytest.raises(TargetError, match="no shift could be asked"):
        shift_test(gpt(), shifts=(4096,))


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize(
    ("shifts", "error"), [((0,), ValueError), ((), ValueError), ((True,), TypeError), (3, TypeError), ("16", TypeError)]
)
def test_wrong_shifts(shifts, error):
    with pytest.raises(error, match="shifts: expected"):
        shift_test(gpt(), shifts=shifts)


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize(("seed", "error"), [("a", TypeError), (-1, ValueError)])
def test_wrong_seeds(seed, error):
    with pytest.raises(error, match="seed: expected a whole number"):
        shift_test(gpt(), seed=seed)


def test_a_model_that_takes_no_positions():
    with pytest.raises(TargetError, match="takes no position_ids"):
        shift_test(nn.Linear(2, 2))
    with pytest.raises(TypeError, match="expected a torch module"):
        shift_test("llama")


def test_the_model_is_left_as_it_was():
    model = gpt()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    shift_test(model, shifts=(1,))
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())


FAMILIES = {
    "llama": "",
    "hunyuan_v1_dense": f"{cause.NORM} (self_attn.query_layernorm, self_attn.key_layernorm)",
    "ministral3": cause.TEMPERATURE,
    "gpt2": cause.ABSOLUTE,
    "codegen": "",  # sines of angles that float32 had rounded, stored
}


CHOOSING = ("deepseek_v32", "deepseek_v4")  # they keep the largest scores: which, between equals, rounding decides


@pytest.mark.deep(keep=1)
@pytest.mark.parametrize("family", sampled([row["model"] for row in shift_results()["rows"]], FAMILIES))
def test_every_family_moves_as_the_committed_row_says(family):
    pytest.importorskip("transformers")
    committed = next(row for row in shift_results()["rows"] if row["model"] == family)
    (row,) = shift_all([family], limit=600)["rows"]
    if not row["skipped"]:  # digits of a rounding error differ between machines
        row |= {name: pytest.approx(row[name], rel=9, abs=1e-14) for name in ("logits", "rounding")}
    if family in CHOOSING:
        row |= {name: committed[name] for name in ("causes", "rounding")}
    assert committed == row


def test_what_depends_on_the_length_is_what_the_book_shows():
    pytest.importorskip("transformers", minversion="5")
    now, then = length_dependence()["rows"], length_dependence(stored=True)["rows"]
    assert {name: pytest.approx(row, rel=0.2, abs=1e-9) for name, row in now.items()} == then


def test_dynamic_scaling_is_found_by_a_neighbour(tmp_path):
    pytest.importorskip("transformers")
    rules = {"rope_type": "dynamic", "factor": 4.0, "rope_theta": 10000.0}
    content = {"model_type": "llama", "max_position_embeddings": 64, "rope_parameters": rules}
    path = tmp_path / "config.json"
    path.write_text(json.dumps(content))
    assert shift_test(load_model(path), shifts=(1, 16)).relative
    assert shift_test(load_model(tmp_path), shifts=(1, 300)).causes == (cause.DYNAMIC,)


def test_a_builder_that_is_seeded_and_refuses_in_words(tmp_path):
    pytest.importorskip("transformers")
    a, b, c = (next(tiny_model("llama", seed=seed).parameters()) for seed in (1, 1, 2))
    assert torch.equal(a, b)
    assert not torch.equal(a, c)
    with pytest.raises(TargetError, match="has no causal model"):
        tiny_model("vit")
    with pytest.raises(TargetError, match="name of a family"):
        tiny_model("no_such_family")
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(TargetError, match="model_type"):
        tiny_model(tmp_path)
    with pytest.raises(TypeError, match="seed"):
        tiny_model("llama", seed=1.5)


def test_local_weights_are_loaded(tmp_path):
    pytest.importorskip("transformers")
    model = tiny_model("llama", seed=3)
    model.save_pretrained(tmp_path)
    loaded = load_model(tmp_path)
    assert torch.equal(loaded.lm_head.weight, model.lm_head.weight)


QUERY = "model.layers.0.self_attn.q_proj.weight"


def test_weights_that_are_not_the_model_s_are_no_model(tmp_path, capsys):
    safetensors = pytest.importorskip("safetensors.torch")
    pytest.importorskip("transformers")
    tiny_model("llama").save_pretrained(tmp_path)
    file, extra = tmp_path / "model.safetensors", torch.zeros(2)
    whole = safetensors.load_file(file)
    wrong = {
        f"got 1 missing: {QUERY}": {name: value for name, value in whole.items() if name != QUERY},
        "got 21 missing: lm_head.weight": {"a": extra},
        "got 1 unexpected: model.layers.7.self_attn.k_proj.weight": whole
        | {"model.layers.7.self_attn.k_proj.weight": extra},
        f"got 1 mismatched: .*{QUERY}": whole | {QUERY: whole[QUERY][:1].clone()},
    }
    for words, weights in wrong.items():
        safetensors.save_file(weights, file, metadata={"format": "pt"})
        with pytest.raises(TargetError, match=words):
            load_model(tmp_path)
    safetensors.save_file(whole | {"model.mtp.weight": extra}, file, metadata={"format": "pt"})
    assert load_model(tmp_path)
    assert "1 weights are left over, and not asked: model.mtp.weight" in capsys.readouterr().err
    file.rename(tmp_path / "pytorch_model.bin")
    with pytest.raises(TargetError, match=r"expected weights in safetensors, got pytorch_model\.bin"):
        load_model(tmp_path)


def test_weights_that_lie_elsewhere_or_are_no_files_are_not_read(tmp_path):
    pytest.importorskip("transformers")
    folder, index = tmp_path / "model", tmp_path / "model" / "model.safetensors.index.json"
    tiny_model("llama").save_pretrained(folder)
    config, weights = folder / "config.json", folder / "model.safetensors"
    for name in ("../other.safetensors", str(tmp_path / "other.safetensors"), "pytorch_model.bin", "gone.safetensors"):
        for file in (tmp_path / "other.safetensors", folder / "pytorch_model.bin"):
            file.write_bytes(weights.read_bytes())
        index.write_text(json.dumps({"weight_map": {QUERY: name, "lm_head.weight": "model.safetensors"}}))
        with pytest.raises(TargetError, match="no such file of this folder"):
            load_model(folder)
    index.write_text("[1]")
    with pytest.raises(TargetError, match="without a weight_map"):
        load_model(folder)
    index.unlink()
    (folder / "pytorch_model.bin").unlink()
    for part in ("model.safetensors.part", "model.SAFETENSORS", "model.safetensors.index.json"):
        weights = weights.rename(folder / part)
        with pytest.raises(TargetError, match="another format, which may hold code, or a part of them"):
            load_model(folder)
    weights.unlink()
    config.write_text(json.dumps(json.loads(config.read_text()) | {"num_labels": 10**9}))
    with pytest.raises(TargetError, match="expected num_labels of at most"):
        load_model(folder)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have names on POSIX")
def test_a_pipe_in_the_place_of_weights_is_no_file(tmp_path):
    pytest.importorskip("transformers")
    tiny_model("llama").save_pretrained(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    os.mkfifo(tmp_path / "model.safetensors")
    with pytest.raises(TargetError, match="no such file of this folder"):
        load_model(tmp_path)


def test_a_folder_that_brings_its_own_code_is_not_run(tmp_path):
    pytest.importorskip("transformers")
    code = {"model_type": "evil", "auto_map": {"AutoConfig": "evil.C", "AutoModelForCausalLM": "evil.M"}}
    (tmp_path / "config.json").write_text(json.dumps(code))
    (tmp_path / "evil.py").write_text("raise SystemExit('it ran')")
    (tmp_path / "model.safetensors").write_bytes(b"")
    with pytest.raises(TargetError, match="model_type that the installed transformers knows, got 'evil'"):
        load_model(tmp_path)


def test_without_transformers(monkeypatch):
    for name in [n for n in sys.modules if n.partition(".")[0] == "transformers"]:
        monkeypatch.delitem(sys.modules, name)
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.partition(".")[0] == "transformers":
            raise ModuleNotFoundError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingPackageError, match="pip install transformers"):
        tiny_model("llama")


PLAIN = [
    "cohere",
    "deepseek_v3",
    "gemma",
    "gemma2",
    "gemma3_text",
    "gpt_neox",
    "gptj",
    "llama",
    "mistral",
    "olmo2",
    "phi",
    "phi3",
    "qwen2",
    "qwen3",
    "stablelm",
]


def test_the_committed_table():
    table = shift_results()
    rows = {row["model"]: row for row in table["rows"]}
    assert len(shift_lines(table)) == len(rows)
    assert {name: rows[name]["causes"] for name in PLAIN} == {name: [] for name in PLAIN}
    assert {name for name in PLAIN if not (rows[name]["relative"] and rows[name]["turns"])} == set()
    for family, causes in FAMILIES.items():
        assert ", ".join(rows[family]["causes"]) == causes


def test_a_model_that_answers_no_numbers_is_refused():
    model = gpt()
    with torch.no_grad():
        model.blocks[1].attention.q.weight[0, 0] = float("nan")
    with pytest.raises(TargetError, match="layer 1: expected finite numbers at position 0, got NaN"):
        shift_test(model, shifts=(1,))


def test_a_shift_beyond_the_precision_of_float64_is_refused():
    with pytest.raises(ValueError, match="expected at most 10000000000, where float64 still knows an angle"):
        shift_test(gpt(), shifts=[2**62])
