"""What a GGUF file says of the rotation: its header is read, its weights are not.

>>> llama = {"general.architecture": "llama", "llama.embedding_length": 4096, "llama.attention.head_count": 32}
>>> gguf_settings(llama | {"llama.rope.freq_base": 500000.0}).base, gguf_layout(llama)
(500000.0, 'interleaved')
>>> gguf_layout({"general.architecture": "qwen2"})
'half'
"""

from __future__ import annotations

import math
import os
import re
import struct
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from rope_lab.algebra.arguments import Layout, expect_layer_type, expect_number, expect_whole, shown
from rope_lab.algebra.frequency_schedules import Divided, Linear, LongRoPE, Schedule, Yarn
from rope_lab.algebra.hf_schedules import RopeSettings
from rope_lab.errors import ArgumentError
from rope_lab.reading import reason

# Which pairs the runtime of an architecture turns: the switch of llama_model_rope_type in src/llama-model.cpp of
# ggml-org/llama.cpp, with the names in src/llama-arch.cpp, at the commit 00395eb285c7, read on 2026-11-26. Its
# converter permutes q and k of those whose weights turn halves in transformers and that turn neighbours here, as Llama.
TABLE = """
interleaved: llama llada llama4 deci baichuan internlm2 minicpm xverse command-r cohere2 cohere2moe olmo
arctic deepseek deepseek2 deepseek2-ocr deepseek32 deepseek4 plm chatglm glm4 granite granitemoe granitehybrid
chameleon bailingmoe neo-bert smollm3 arcee ernie4_5 ernie4_5-moe mistral3 eagle3 mistral4 llama-embed maincoder
glm-dsa;
half: falcon falcon-h1 grok dbrx jina-bert-v3 modern-bert nomic-bert nomic-bert-moe eurobert stablelm bitnet qwen
qwen2 dream qwen2moe qwen3 qwen3moe llada-moe rnd1 olmo2 olmoe phi2 phi3 phimoe plamo plamo2 plamo3 gemma gemma2 gemma3
gemma3n gemma4 gemma4-assistant gemma-embedding starcoder2 openelm gptneox codeshell orion nemotron exaone exaone4
exaone-moe minicpm3 bailingmoe2 dots1 hunyuan-moe jais2 gpt-oss hunyuan-dense hy_v3 lfm2 lfm2moe smallthinker seed_oss
grovemoe apertus minimax-m2 cogvlm pangu-embedded afmoe laguna qwen3next mimo2 step35 talkie mellum dflash glm4moe
hunyuan_vl qwen2vl paddleocr qwen3vl qwen3vlmoe qwen35 qwen35moe;
none: bert starcoder clip gpt2 gptj mpt refact bloom mamba mamba2 jamba jina-bert-v2 t5 t5encoder jais rwkv6
rwkv6qwen2 rwkv7 arwkv7 wavtokenizer-dec nemotron_h nemotron_h_moe kimi-linear"""
LAYOUTS = {arch: part.split(":")[0].strip() for part in TABLE.split(";") for arch in part.split(":")[1].split()}
IN_A_ROW = ("qwen2vl", "paddleocr", "glm4", "glm4moe")  # how planes go to the axes: by sections, or in turn
IN_TURN = ("qwen3vl", "qwen3vlmoe", "qwen35", "qwen35moe")
ALIKE = ("cohere2", "exaone4", "gpt-oss", "llama4")  # sliding layers have the base and the scaling of all
PLAIN_IN_WINDOWS = ("gemma3", "gemma3n", "gemma-embedding")  # sliding layers are never scaled, and have a base of 10000

DIVISORS = FREQS, LONG, SHORT = ("rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight")
KNOWN = re.compile(
    r"(dimension_count|freq_base)(_swa)?|dimension_sections|scale_linear|scaling\.(type|factor|attn_factor|finetuned|"
    r"original_context_length|yarn_(log_multiplier|ext_factor|attn_factor|beta_fast|beta_slow))"
)
KINDS = "BbHhIif?saQqd"  # of values, as struct has them; s a text, a an array
KEPT = 1 << 20  # bytes: longer values are passed over
AGAIN = "convert it again"
LAYER_TYPES = ("full_attention", "sliding_attention")


def gguf_settings(source: Any, *, layer_type: str | None = None) -> RopeSettings:
    """Read the rotation that llama.cpp gives a GGUF file, as `rope_settings` reads a configuration.

    Args:
        source: The path of a file, or what `gguf_metadata` gives.
        layer_type: "full_attention" or "sliding_attention", where the two turn in another way.

    Returns:
        Its `RopeSettings`. llama.cpp rounds the ends of YaRN's ramp in every model, whatever the model's own code does.

    Raises:
        TypeError: If a value is of another kind, such as a list for the layers in place of a number.
        ValueError: If the file is damaged, if a key speaks of the rotation and is not understood, if a value is missing
            or out of its range, if the architecture does not turn, or if layers differ and layer_type does not say.

    Source: ``load_hparams`` and ``llama_context`` of llama.cpp.
    """
    rope, layer_type = _Rope(source), expect_layer_type(layer_type)
    if LAYOUTS.get(rope.arch) == "none":
        raise ValueError(f"general.architecture: expected one that turns, got {rope.arch!r}, which has no rotation")
    off = rope.keys.get(f"{rope.arch}.rope.scaling.finetuned") is False  # so llama.cpp knows Granite without positions
    if (rope.arch.startswith("granite") and off) or rope.keys.get("baichuan.block_count") == 40:  # ALiBi
        raise ValueError(f"general.architecture: expected a model that turns, got one of {rope.arch} without rotation")
    for key, value in rope.keys.items():
        known = key in DIVISORS or KNOWN.fullmatch(key.removeprefix(f"{rope.arch}.rope.")) or value in (None, 0)
        if not known and re.search("rope|rotary|theta", key) and not key.startswith(("general.", "tokenizer.")):
            raise ValueError(f"{key}: expected keys of the rotation that are known here, got this one, {value!r}")
    window = rope.is_window(layer_type)
    plain = window and rope.arch in PLAIN_IN_WINDOWS
    head_dim, turning = rope.widths("_swa" if window else "")
    base = 10000.0 if plain else rope.number("freq_base") or 10000.0
    base = (rope.number("freq_base_swa") if window else None) or base
    schedule, sections = Schedule() if plain else rope.schedule(turning // 2), rope.sections()
    width = None if turning == head_dim else turning
    return RopeSettings(head_dim, base, width, schedule, sections, sections is not None and rope.arch in IN_TURN)


def gguf_layout(source: Any) -> Layout:
    """Return the layout that llama.cpp turns a file in: "interleaved" for its NORM, "half" for its NEOX and M-RoPE.

    Args:
        source: As `gguf_settings` takes it.

    Raises:
        ValueError: If the architecture is not in the table, or does not turn.
    """
    rope = _Rope(source)
    layout = LAYOUTS.get(rope.arch)
    if layout == "half" or (rope.arch == "glm4" and rope.sections()):  # the one whose layout depends on the file
        return "half"
    if layout == "interleaved":
        return "interleaved"
    raise ValueError(
        f"general.architecture: expected one whose pairs are known, got {rope.arch!r}; say layout= yourself, after a "
        "look at its entry in llama_model_rope_type of llama.cpp"
    )


def _in_a_file(value: Any) -> bool:
    """Whether it is a text, or a number in the range of the format's whole numbers or of float32."""
    if isinstance(value, float | np.floating):
        return abs(float(value)) <= float(np.finfo(np.float32).max)
    return (
        value is None
        or isinstance(value, str | np.bool_)
        or (isinstance(value, int | np.integer) and abs(int(value)) < 2**64)
    )


class _Rope:
    """The keys of one architecture."""

    def __init__(self, source: Any) -> None:
        self.keys: Mapping[str, Any] = source if isinstance(source, Mapping) else gguf_metadata(source)
        if not isinstance(arch := self.keys.get("general.architecture"), str):
            raise ValueError(f"general.architecture: expected a name, got {arch!r}; open a model's first file")
        self.arch = arch
        for key, value in self.keys.items():
            if key in DIVISORS or str(key).startswith(f"{arch}."):
                inside = value if isinstance(value, list | tuple | np.ndarray) else [value]
                if not all(map(_in_a_file, inside)):
                    raise ValueError(
                        f"{key}: expected what a file can hold, a number or a list, got {value!r:.80}; {AGAIN}"
                    )

    def number(self, name: str, *, group: str = "rope.") -> float | None:
        """A number above 0; None where none, or 0, is given."""
        key = f"{self.arch}.{group}{name}"
        value = self.keys.get(key)
        if value is None or expect_number(value, name=key, fix="a list has one for each layer; give one of them") == 0:
            return None
        if value < 0:
            raise ValueError(f"{key}: expected a number above 0, got {value}; {AGAIN}")
        return float(str(np.float32(value)))  # as it was written: 0.1 and not 0.10000000149

    def whole(self, name: str, *, group: str = "rope.", default: float | None = None) -> int:
        value = self.number(name, group=group) or default
        if value is None or value != int(value):
            raise ValueError(f"{self.arch}.{group}{name}: expected a whole number, got {value}; {AGAIN}")
        return int(value)

    def widths(self, suffix: str) -> tuple[int, int]:
        """The width of a head, and of the part that turns; with MLA that part alone counts."""
        head_dim = self.number(f"key_length{suffix}", group="attention.") or self.number(
            "key_length", group="attention."
        )
        if head_dim is None:
            head_dim = self.whole("embedding_length", group="") // self.whole("head_count", group="attention.")
        count = self.whole(f"dimension_count{suffix}", default=self.number("dimension_count") or head_dim)
        if count > head_dim or count % 2:
            raise ValueError(
                f"{self.arch}.rope.dimension_count: expected an even number up to {head_dim:g}, got {count}; {AGAIN}"
            )
        return (count if self.number("kv_lora_rank", group="attention.") else int(head_dim)), count

    def is_window(self, layer_type: str | None) -> bool:
        """Whether sliding layers are meant, and may turn in a way of their own."""
        own = re.compile(rf"{re.escape(self.arch)}\.(rope|attention\.key_length)\S*_swa")
        scaled = type(self.schedule(None)) is not Schedule
        other = scaled or (self.number("freq_base") or 10000.0) != 10000.0  # than what they have where nothing is said
        narrow = self.number("sliding_window", group="attention.") or math.inf
        within = narrow < (self.number("context_length", group="") or 0) and other
        near_alone = self.arch in ("cohere2", "llama4") or (self.arch == "exaone4" and narrow < math.inf)
        if near_alone and layer_type == "full_attention":
            raise ValueError(f"layer_type: expected layers that turn, got {layer_type!r}, which have no positions here")
        within = within and self.arch not in ALIKE
        differ = within or self.arch in PLAIN_IN_WINDOWS or any(map(own.fullmatch, self.keys))
        if layer_type not in (LAYER_TYPES if differ else (None, *LAYER_TYPES)):
            why = ": their frequencies differ, or may" if differ else ""
            raise ValueError(f"layer_type: expected {' or '.join(LAYER_TYPES)}, got {layer_type!r}{why}")
        window = differ and layer_type == "sliding_attention"
        if window and self.arch not in PLAIN_IN_WINDOWS and (scaled or (other and not self.number("freq_base_swa"))):
            raise ValueError(
                f"layer_type: expected layers whose base and scaling the file says, got sliding ones of {self.arch}, "
                "whose runtime alone knows them: take the configuration of transformers"
            )
        return window

    def sections(self) -> tuple[int, ...] | None:
        key = f"{self.arch}.rope.dimension_sections"
        if not any(given := self.keys.get(key) or ()):
            return None
        if self.arch not in (*IN_A_ROW, *IN_TURN):
            raise ValueError(f"{key}: expected none for {self.arch}, whose axes are not known here, got {list(given)}")
        counts = tuple(expect_whole(count, name=key, least=0) for count in given)
        return counts[:-1] if len(counts) == 4 and not counts[-1] else counts

    def schedule(self, planes: int | None) -> Schedule:
        """The schedule of so many planes; None: of as many planes as there are divisors."""
        kind = self.keys.get(f"{self.arch}.rope.scaling.type", "linear")
        if kind not in ("none", "linear", "yarn", "longrope"):
            raise ValueError(
                f"{self.arch}.rope.scaling.type: expected none, linear, yarn or longrope, got {kind!r}; {AGAIN}"
            )
        given = {name: self.keys[name] for name in DIVISORS if name in self.keys}
        for name, divisors in given.items():
            if planes not in (None, len(divisors)):
                raise ValueError(
                    f"{name}: expected a divisor for each of {planes} planes, got {len(divisors)}; {AGAIN}"
                )
        factor = self.number("scaling.factor") or self.number("scale_linear") or 1.0
        stretch = self.number("scaling.attn_factor") or 1.0
        if kind == "longrope" or {LONG, SHORT} & given.keys():
            if set(given) != {LONG, SHORT}:
                raise ValueError(f"{LONG}, {SHORT}: expected both for longrope, got {list(given)}; open the first file")
            longest = self.whole("context_length", group="")
            window = self.whole("scaling.original_context_length", default=longest)
            return LongRoPE(given[SHORT], given[LONG], window=window, factor=longest / window, given=stretch)
        if kind == "yarn" and self.keys.get(f"{self.arch}.rope.scaling.yarn_ext_factor") != 0:
            return self.yarn(factor, stretch)
        factor = 1.0 if kind == "none" else factor
        if given or stretch != 1:
            divisors = factor * np.array(given.get(FREQS, [1.0] * (planes or 1)), dtype=float)
            return Divided(tuple(divisors.tolist()), given=stretch)
        return Schedule() if factor == 1 else Linear(factor=factor)

    def yarn(self, factor: float, stretch: float) -> Schedule:
        at = f"{self.arch}.rope.scaling.yarn"
        if FREQS in self.keys or self.keys.get(f"{at}_ext_factor", 1) not in (1, -1):
            raise ValueError(f"{at}_ext_factor: expected YaRN alone, got a part of it, or {FREQS} beside it")
        both, one = self.number("scaling.yarn_log_multiplier"), None
        if both is not None and self.arch not in ("deepseek2", "mistral3"):
            raise ValueError(f"{at}_log_multiplier: expected none for {self.arch}, whose use of it is not known here")
        if both is not None:  # DeepSeek's converter writes a tenth of mscale_all_dim, and mscale is taken for the same
            one, both = (round(10 * both, 6),) * 2 if self.arch == "deepseek2" else (1.0, both)
        made = Yarn(
            factor=factor,
            window=self.whole("scaling.original_context_length", default=self.number("context_length", group="")),
            slow=self.number("scaling.yarn_beta_slow") or 1.0,
            fast=self.number("scaling.yarn_beta_fast") or 32.0,
            mscale=one,
            mscale_all_dim=both,
        )
        said, by = self.number("scaling.yarn_attn_factor"), made.attention_factor
        if said is not None and not math.isclose(said, by, rel_tol=1e-4):
            raise ValueError(f"{at}_attn_factor: expected {by:.6g}, which llama.cpp takes whatever it says, got {said}")
        return made if stretch == 1 else replace(made, given=by * stretch)


# --- the file -------------------------------------------------------------------------------------------------------


def gguf_metadata(path: Any) -> dict[str, Any]:
    """Read the keys and values of a GGUF file of version 2 or 3, in either byte order, and what divides frequencies.

    Lists of texts, such as the vocabulary, and values of more than a megabyte are passed over, and nothing is kept for
    which the file has no bytes. Of the tensors ``rope_freqs.weight`` and the two lists of LongRoPE are read, no others.

    Raises:
        TypeError: If it is no path.
        ValueError: If it cannot be opened or is no such file, ends too early, or contradicts itself.
    """
    if not isinstance(path, str | os.PathLike):  # a number would be a file that is open already
        raise TypeError(f"path: expected the path of a GGUF file, got {shown(path)}; give it as text")
    try:
        if Path(path).exists() and not Path(path).is_file():
            raise OSError("what is no file")
        file = Path(path).open("rb")  # noqa: SIM115 - closed below
    except (OSError, ValueError) as error:  # ValueError: a name with a zero byte
        raise ArgumentError(f"path: expected a GGUF file, got {shown(path)}: {reason(error)}; name another") from error
    with file:
        return _File(file).header()


class _File:
    def __init__(self, file: BinaryIO) -> None:
        self.file, self.order, self.size = file, "<", os.fstat(file.fileno()).st_size

    def wrong(self, expected: str, got: Any) -> ValueError:
        return ValueError(f"{self.file.name}: expected {expected}, got {got}; download it again, or convert it anew")

    def room(self, count: int) -> int:
        """The number of bytes, if the file still has as many."""
        if count > self.size - self.file.tell():
            raise self.wrong(f"{count} more bytes", f"the end of the file, at {self.size}")
        return count

    def some(self, count: int, kind: str) -> list[Any] | None:
        """So many numbers; None where they are too many to be kept."""
        size = self.room(count * struct.calcsize(kind))
        if size <= KEPT:
            return list(struct.unpack(f"{self.order}{count}{kind}", self.file.read(size)))
        self.file.seek(size, os.SEEK_CUR)
        return None

    def one(self, kind: str) -> Any:
        return (self.some(1, kind) or [None])[0]

    def text(self) -> str | None:
        count = self.room(self.one("Q"))
        if count <= KEPT:
            return self.file.read(count).decode("utf-8", "replace")
        self.file.seek(count, os.SEEK_CUR)
        return None

    def value(self, kind: int, depth: int = 0) -> Any:
        if kind >= len(KINDS) or depth > 3:
            raise self.wrong("a kind of value from 0 to 12, and no deep lists", kind)
        if KINDS[kind] != "a":
            return self.text() if KINDS[kind] == "s" else self.one(KINDS[kind])
        kind, count = self.one("I"), self.one("Q")
        if kind < len(KINDS) and KINDS[kind] not in "sa":
            return self.some(count, KINDS[kind])
        self.room(8 * count)  # what a text or a list takes, at least
        order: Any = "big" if self.order == ">" else "little"
        for _ in range(count):
            if KINDS[kind : kind + 1] != "s":
                self.value(kind, depth + 1)
            elif (size := int.from_bytes(self.file.read(8), order)) <= self.size:  # the short way, since there are many
                self.file.seek(size, os.SEEK_CUR)
            else:
                self.room(size)
        self.room(0)
        return None

    def header(self) -> dict[str, Any]:
        magic, raw = self.file.read(4), self.file.read(4)
        if magic not in (b"GGUF", b"FUGG") or len(raw) < 4:
            raise self.wrong("a GGUF file, which begins with these letters", repr(magic))
        self.order = ">" if magic == b"FUGG" or raw[:2] == b"\0\0" else "<"
        if (version := struct.unpack(f"{self.order}I", raw)[0]) not in (2, 3):
            raise self.wrong("version 2 or 3 of the format", version)
        tensors, count = self.one("Q"), self.one("Q")
        self.room(24 * tensors + 13 * count)  # what their entries take, at least
        found: dict[str, Any] = {}
        for _ in range(count):
            if (key := self.text()) is None or key in found:
                raise self.wrong("each key once", repr(key))
            found[key] = self.value(self.one("I"))
        places = [entry for entry in (self.tensor() for _ in range(tensors)) if entry[0] in DIVISORS]
        step = found.get("general.alignment", 32)
        if not isinstance(step, int) or not 0 < step <= KEPT:
            raise self.wrong("general.alignment as a small number", step)
        start = -(-self.file.tell() // step) * step
        for name, shape, kind, offset in places:
            self.file.seek(min(start + offset, self.size))
            if kind != 0 or len(shape) != 1 or (divisors := self.some(shape[0], "f")) is None:
                raise self.wrong(f"{name} as one list in float32", f"kind {kind}, {shape}")
            found[str(name)] = tuple(divisors)
        return found

    def tensor(self) -> tuple[str | None, list[int], int, int]:
        name, axes = self.text(), self.one("I")
        if axes > 8:
            raise self.wrong("tensors of at most 8 axes", axes)
        return name, self.some(axes, "Q") or [], self.one("I"), self.one("Q")
