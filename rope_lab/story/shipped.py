"""What ships with the package: weights, tokenizer, the text that was published for them, and stories to read.

Origin, licence and sha256 of each file stand in ``data/origin.json``. No file is used before its hash has been checked.

>>> model, tokenizer = load_story(), story_tokenizer()
>>> tokens = model.generate(torch.tensor([tokenizer.encode("Once upon a time")]), n_tokens=11, temperature=0)
>>> tokenizer.decode(tokens[0])
'Once upon a time, there was a little girl named Lily.'
"""

from __future__ import annotations

import hashlib
import json
import lzma
from functools import cache
from importlib.resources import files

import safetensors.torch
import torch

from rope_lab.errors import FileError
from rope_lab.nn.gpt import GPT, GPTConfig
from rope_lab.story.pieces import PieceTokenizer

CONFIG = GPTConfig(
    vocab_size=512,
    seq_len=512,
    n_layers=5,
    n_heads=8,
    n_kv_heads=4,
    d_model=64,
    mlp_width=172,
    block="llama",
    layout="interleaved",
)


def load_story(*, dtype: torch.dtype = torch.float32) -> GPT:
    """The published model ``stories260K`` as our own `GPT`: 5 layers, 8 heads of 8 coordinates, a window of 512.

    Args:
        dtype: Of the arithmetic. The weights ship rounded to float16.

    Returns:
        A fresh model that asks for no gradients; its layout is interleaved, its base 10,000.

    Raises:
        FileError: If the file of weights is absent or damaged.
    """
    model = GPT(CONFIG)
    model.load_state_dict(safetensors.torch.load(shipped("weights.safetensors")))
    return model.to(dtype).requires_grad_(False)


@cache
def story_tokenizer() -> PieceTokenizer:
    """The tokenizer of ``stories260K``: 512 ids.

    Raises:
        FileError: If its file is absent or damaged.
    """
    pieces, scores = zip(*json.loads(shipped("tokenizer.json")), strict=True)
    return PieceTokenizer(pieces, scores)


def published_text() -> str:
    """The text that the model's author published: 256 tokens after ``<s>``, always the likeliest one.

    Raises:
        FileError: If its file is absent or damaged.
    """
    return shipped("published.txt").decode().strip()


@cache
def story_texts() -> tuple[str, ...]:
    """Stories in the manner of those that the model was trained on, from the validation part of TinyStories.

    Stories that stand there twice, up to capitals, are handed out once.

    Raises:
        FileError: If their file is absent or damaged.
    """
    lines = shipped("stories.txt.xz").decode().splitlines()
    return tuple({line.casefold(): line for line in reversed(lines)}.values())[::-1]


def shipped(name: str) -> bytes:
    """The bytes of a file in ``data/``, unpacked; the line ends of a text are those of Unix.

    Raises:
        FileError: If it is absent, or if its sha256 is not the one in ``origin.json``.
    """
    folder = files("rope_lab.story") / "data"
    expected = json.loads((folder / "origin.json").read_text(encoding="utf-8"))[name]["sha256"]
    try:
        raw = (folder / name).read_bytes()
        content = lzma.decompress(raw) if name.endswith(".xz") else raw
    except (OSError, lzma.LZMAError) as error:
        raise FileError(
            f"rope_lab/story/data/{name}: expected a whole file, got {error}; reinstall rope-lab"
        ) from error
    if name.endswith((".json", ".txt")):
        content = content.replace(b"\r\n", b"\n")  # git may have changed them on its way
    if (got := hashlib.sha256(content).hexdigest()) != expected:
        raise FileError(f"rope_lab/story/data/{name}: expected sha256 {expected}, got {got}; reinstall rope-lab")
    return content
