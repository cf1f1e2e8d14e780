"""The files of llama2.c: a Llama as seven whole numbers and rows of float32, and its tokenizer beside it."""

from __future__ import annotations

import struct
from math import prod
from os import PathLike
from pathlib import Path

import torch
from torch import Tensor

from rope_lab.errors import FileError
from rope_lab.nn.gpt import GPT, GPTConfig
from rope_lab.story.pieces import CONTROL, PieceTokenizer

HEADER = struct.Struct("<7i")  # d_model, mlp_width, layers, heads, kv_heads, vocabulary, window
ENTRY = struct.Struct("<fi")  # of a tokenizer: a score, and how many bytes of text follow
FIX = "give a file in the legacy format of llama2.c (version 0), or load it again"


def read_llama2c(path: str | PathLike[str]) -> GPT:
    r"""A model of llama2.c as our own `GPT`, from a file in its legacy format.

    A header of seven int32, then float32: embedding; norms before attention; $W_q, W_k, W_v, W_o$; norms before the
    MLP; gate, down, up; the last norm; two tables of angles, which we make ourselves; and a head where the size of the
    vocabulary is written as a negative number. Each kind stands there for all layers.

    Args:
        path: The file.

    Returns:
        The model, float32 weights: RMSNorm, SwiGLU, interleaved layout, base 10,000.

    Raises:
        FileError: If the file cannot be read, or is not as long as its header says.

    Source: ``memory_map_weights`` in ``run.c`` of karpathy/llama2.c.
    """
    raw = _bytes(path)
    sizes = HEADER.unpack_from(raw) if len(raw) >= HEADER.size else (0,) * 7
    d, hidden, layers, heads, kv_heads, vocab, window = sizes
    if min(d, hidden, layers, heads, kv_heads, abs(vocab), window) < 1 or d % (2 * heads) or heads % kv_heads:
        raise FileError(f"{path}: expected seven sizes of a Llama in the first 28 bytes, got {sizes}; {FIX}")
    config = GPTConfig(
        vocab_size=abs(vocab),
        seq_len=window,
        n_layers=layers,
        n_heads=heads,
        n_kv_heads=kv_heads,
        d_model=d,
        mlp_width=hidden,
        block="llama",
        layout="interleaved",
        tied=vocab > 0,
    )
    shapes = _shapes(config)
    expected = HEADER.size + 4 * sum(map(prod, shapes.values()))
    if len(raw) != expected:
        raise FileError(f"{path}: expected {expected} bytes for the sizes {sizes}, got {len(raw)}; {FIX}")
    model = GPT(config)
    model.load_state_dict(_state(torch.frombuffer(bytearray(raw[HEADER.size :]), dtype=torch.float32), shapes))
    return model.requires_grad_(False)


def read_llama2c_tokenizer(path: str | PathLike[str]) -> PieceTokenizer:
    """The tokenizer that lies beside a model of llama2.c (``tokenizer.bin``, ``tok512.bin``).

    Args:
        path: The file: an int32, the length of the longest piece, then for each id a score, a length and that many
            bytes of UTF-8.

    Raises:
        FileError: If the file cannot be read, or ends within a piece.
        ValueError: If its first 259 entries are not those of such a tokenizer.

    Source: ``build_tokenizer`` in ``run.c`` of karpathy/llama2.c.
    """
    raw, at, pieces, scores = _bytes(path), 4, [], []
    try:
        while at < len(raw):
            score, length = ENTRY.unpack_from(raw, at)
            at += ENTRY.size
            if length < 0 or at + length > len(raw):
                raise ValueError(f"a piece of {length} bytes")
            pieces.append(raw[at : at + length].decode())
            scores.append(score)
            at += length
    except (struct.error, ValueError) as error:
        raise FileError(
            f"{path}: expected pieces with scores, got {error} after {len(pieces)} of them; {FIX}"
        ) from None
    # <s> and </s> are written between line ends there, because llama2.c prints pieces as they are.
    head = [piece.strip("\n") for piece in pieces[: len(CONTROL)]]
    return PieceTokenizer((*head, *pieces[len(CONTROL) :]), tuple(scores))


def _bytes(path: str | PathLike[str]) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise FileError(f"expected a file that can be read, got {path}: {error.strerror or error}; {FIX}") from error


def _shapes(config: GPTConfig) -> dict[str, tuple[int, ...]]:
    """Shapes of the arrays of a file, in its order; a name with a dot for each block has the number of blocks first."""
    d, hidden, layers = config.d_model, config.hidden, config.n_layers
    inner, angles = config.kv_heads * config.width, (config.seq_len, config.width // 2)
    shapes: dict[str, tuple[int, ...]] = {
        "embedding.weight": (config.vocab_size, d),
        "attention_norm": (layers, d),
        "attention.q": (layers, d, d),
        "attention.k": (layers, inner, d),
        "attention.v": (layers, inner, d),
        "attention.o": (layers, d, d),
        "mlp_norm": (layers, d),
        "mlp.gate": (layers, hidden, d),
        "mlp.down": (layers, d, hidden),
        "mlp.up": (layers, hidden, d),
        "norm.weight": (d,),
        "cosines": angles,
        "sines": angles,
    }
    return shapes if config.tied else shapes | {"head.weight": (config.vocab_size, d)}


def _state(numbers: Tensor, shapes: dict[str, tuple[int, ...]]) -> dict[str, Tensor]:
    """The numbers of a file under the names of our own model."""
    state: dict[str, Tensor] = {}
    for (name, shape), part in zip(shapes.items(), numbers.split([prod(s) for s in shapes.values()]), strict=True):
        if name.endswith(".weight"):
            state[name] = part.view(shape)
        elif name not in ("cosines", "sines"):
            state |= {f"blocks.{i}.{name}.weight": rows for i, rows in enumerate(part.view(shape))}
    return state
