"""The published model in our GPT: its text to the letter, the peer's logits in both layouts, and damaged files."""

import dataclasses
import json
import shutil
import struct
from functools import reduce
from pathlib import Path

import pytest
import torch

import rope_lab.story.shipped as shipped
from rope_lab.audit import permute_state
from rope_lab.errors import FileError
from rope_lab.nn import GPT, count_parameters
from rope_lab.story import (
    load_story,
    published_text,
    read_llama2c,
    read_llama2c_tokenizer,
    story_texts,
    story_tokenizer,
)
from tests.nn.peer import load

TOKENIZER = story_tokenizer()
DATA = Path(shipped.__file__).parent / "data"
TOKENS = torch.tensor([TOKENIZER.encode(text)[:200] for text in story_texts() if len(TOKENIZER.encode(text)) > 200])


def half_split(model):
    """The same model, its q and k permuted for half-split code."""
    heads = {"n_heads": 8, "n_kv_heads": 4, "parts": ("q", "k", "q_norm", "k_norm")}
    state = permute_state(model.state_dict(), layout_from="interleaved", layout_to="half", **heads)
    other = GPT(dataclasses.replace(model.config, layout="half")).to(model.embedding.weight.dtype)
    other.load_state_dict(state)
    return other.requires_grad_(False)


def llama(model):
    """The same model in transformers, whose layout is half-split."""
    library = load("transformers")
    config = library.LlamaConfig(
        vocab_size=512,
        hidden_size=64,
        intermediate_size=172,
        num_hidden_layers=5,
        num_attention_heads=8,
        num_key_value_heads=4,
        max_position_embeddings=512,
        rms_norm_eps=1e-5,
        tie_word_embeddings=True,
    )
    names = {
        "embedding": "embed_tokens",
        "blocks.": "layers.",
        ".attention.": ".self_attn.",
        ".attention_norm.": ".input_layernorm.",
        ".mlp_norm.": ".post_attention_layernorm.",
        **{f".{ours}.weight": f".{theirs}_proj.weight" for ours, theirs in zip("qkvo", "qkvo", strict=True)},
        **{f".{part}.": f".{part}_proj." for part in ("gate", "up", "down")},
    }
    state = {}
    for name, weight in model.state_dict().items():
        state["model." + reduce(lambda name, pair: name.replace(*pair), names.items(), name)] = weight
    peer = library.LlamaForCausalLM(config).to(model.embedding.weight.dtype).eval()
    missing, unknown = peer.load_state_dict(state, strict=False)
    assert not unknown
    assert set(missing) <= {"lm_head.weight"}  # tied
    return peer.requires_grad_(False)


@pytest.mark.deep(keep=1)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("carried", [lambda model: model, half_split], ids=["interleaved", "half"])
def test_it_writes_the_published_text_to_the_letter(dtype, carried):
    tokens = carried(load_story(dtype=dtype)).generate(torch.tensor([[1]]), n_tokens=256, temperature=0)
    assert TOKENIZER.decode(tokens[0]) == published_text()
    assert len(published_text()) == 565


def test_control_half_split_code_with_the_same_weights_writes_another_text():
    model = load_story()
    wrong = GPT(dataclasses.replace(model.config, layout="half")).requires_grad_(False)
    wrong.load_state_dict(model.state_dict())
    text = TOKENIZER.decode(wrong.generate(torch.tensor([[1]]), n_tokens=40, temperature=0)[0])
    assert text.startswith("Once upon a time, there was a little g")
    assert not published_text().startswith(text)


@pytest.mark.deep
def test_the_logits_are_those_of_transformers_in_both_layouts():
    model = load_story(dtype=torch.float64)
    carried = half_split(model)
    theirs = llama(carried)(TOKENS).logits
    assert torch.allclose(model(TOKENS), theirs, atol=1e-4)  # the peer's angles are float32
    assert torch.allclose(carried(TOKENS), theirs, atol=1e-4)
    assert torch.allclose(carried(TOKENS), model(TOKENS), atol=1e-10)
    assert (llama(model)(TOKENS).logits - theirs).abs().max() > 1  # control: weights that were not permuted


def test_decoding_with_a_cache_is_decoding_without():
    model = load_story(dtype=torch.float64)
    tokens = model.generate(TOKENS[:2, :60], n_tokens=20, temperature=0)
    again = model(tokens).argmax(-1)[:, 59:79]
    assert torch.equal(tokens[:, 60:], again)


def test_it_is_the_model_of_its_name():
    assert count_parameters(load_story())["total"] == 260_032
    texts = story_texts()
    assert len(texts) == len({text.casefold() for text in texts}) == 16
    assert all(len(text) > 500 for text in texts)


def write_llama2c(model, path, *, tied=True):
    """The legacy format, from its description."""
    blocks = model.blocks
    parts = [model.embedding.weight]
    for get in (
        lambda b: b.attention_norm,
        *(lambda b, x=x: getattr(b.attention, x) for x in "qkvo"),
        lambda b: b.mlp_norm,
        *(lambda b, x=x: getattr(b.mlp, x) for x in ("gate", "down", "up")),
    ):
        parts += [get(block).weight for block in blocks]
    parts += [model.norm.weight, torch.full((2, 512, 4), 7.0)]  # two tables of angles, which nobody reads
    parts += [] if tied else [-model.embedding.weight]
    head = struct.pack("<7i", 64, 172, 5, 8, 4, 512 if tied else -512, 512)
    path.write_bytes(head + b"".join(part.contiguous().numpy().astype("<f4").tobytes() for part in parts))
    return path


def test_a_file_of_llama2c_is_read(tmp_path):
    model = load_story()
    read = read_llama2c(write_llama2c(model, tmp_path / "model.bin"))
    assert read.config == model.config
    assert torch.equal(read(TOKENS[:2]), model(TOKENS[:2]))
    untied = read_llama2c(write_llama2c(model, tmp_path / "untied.bin", tied=False))
    assert torch.equal(untied(TOKENS[:2]), -model(TOKENS[:2]))


def test_a_tokenizer_of_llama2c_is_read(tmp_path):
    entries = [("\n<s>\n" if p == "<s>" else "\n</s>\n" if p == "</s>" else p).encode() for p in TOKENIZER.pieces]
    rows = b"".join(struct.pack("<fi", s, len(e)) + e for s, e in zip(TOKENIZER.scores, entries, strict=True))
    path = tmp_path / "tok512.bin"
    path.write_bytes(struct.pack("<i", 7) + rows)
    assert read_llama2c_tokenizer(path) == TOKENIZER
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(FileError, match=r"expected pieces with scores.*after 511 of them"):
        read_llama2c_tokenizer(path)


def test_damaged_files_of_llama2c_get_a_sentence(tmp_path):
    path = write_llama2c(load_story(), tmp_path / "model.bin")
    whole = path.read_bytes()
    for bytes_, words in (
        (whole[:-4], f"expected {len(whole)} bytes .* got {len(whole) - 4}"),
        (whole + b"\0\0\0\0", f"got {len(whole) + 4}"),
        (b"", "seven sizes"),
        (b"\0" * 28 + whole[28:], "seven sizes"),
        (b"\xff" * len(whole), "seven sizes"),
    ):
        path.write_bytes(bytes_)
        with pytest.raises(FileError, match=words):
            read_llama2c(path)
    with pytest.raises(FileError, match=r"that can be read.*No such file"):
        read_llama2c(tmp_path / "absent.bin")


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """A copy of the shipped files, which a test may damage."""
    shutil.copytree(DATA, tmp_path / "data")
    monkeypatch.setattr(shipped, "files", lambda _: tmp_path)
    story_tokenizer.cache_clear()
    story_texts.cache_clear()
    yield tmp_path / "data"
    story_tokenizer.cache_clear()
    story_texts.cache_clear()


READERS = {
    "weights.safetensors": load_story,
    "tokenizer.json": story_tokenizer,
    "published.txt": published_text,
    "stories.txt.xz": story_texts,
}


@pytest.mark.parametrize("name", READERS)
def test_no_file_is_used_before_its_hash_is_checked(name, copied):
    READERS[name]()  # whole: it is read
    story_tokenizer.cache_clear()
    story_texts.cache_clear()
    raw = bytearray((copied / name).read_bytes())
    raw[len(raw) // 2] ^= 1
    (copied / name).write_bytes(raw)
    with pytest.raises(FileError, match=rf"{name}: expected .* reinstall"):
        READERS[name]()
    (copied / name).unlink()
    with pytest.raises(FileError, match=f"{name}: expected a whole file"):
        READERS[name]()


def test_line_ends_that_git_changed_do_no_harm(copied):
    path = copied / "published.txt"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert "\r" not in published_text()


def test_every_shipped_file_has_its_origin_and_licence():
    origin = json.loads((DATA / "origin.json").read_text(encoding="utf-8"))
    assert set(origin) == set(READERS) == {path.name for path in DATA.iterdir()} - {"origin.json"}
    assert all(entry["licence"] and entry["origin"] and entry["made"] for entry in origin.values())
