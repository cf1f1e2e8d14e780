"""The rotary embeddings of installed libraries, as targets of `rope-lab audit --all`.

>>> len({entry.name for entry in LIBRARY}) == len(LIBRARY)
True
"""

from dataclasses import dataclass, field
from typing import Any

HF = "transformers.models"
SCALINGS: dict[str, dict[str, Any]] = {
    "linear scaling": {"rope_type": "linear", "factor": 4.0},
    "dynamic NTK": {"rope_type": "dynamic", "factor": 4.0},
    "YaRN": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4096},
    "Llama-3 scaling": {
        "rope_type": "llama3",
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
    },
}
# Two lists, as LongRoPE has them; checkpoints bring their own, these two only show what the switch between them does.
LONGROPE: dict[str, Any] = {
    "max_position_embeddings": 16384,
    "original_max_position_embeddings": 4096,
    "rope_parameters": {
        "rope_type": "longrope",
        "rope_theta": 10000.0,
        "short_factor": [1.0] * 48,
        "long_factor": [4.0] * 48,
    },
}


@dataclass(frozen=True)
class Entry:
    """One target of the table, with its name there and its settings."""

    name: str
    target: str
    settings: dict[str, Any] = field(default_factory=dict)  # beside the family's own defaults
    layer_type: str | None = None  # where a family has frequencies for each kind of layer

    @property
    def package(self) -> str:
        return self.target.partition(".")[0].partition(":")[0]


def _family(name: str, module: str, function: str = "apply_rotary_pos_emb", **settings: Any) -> Entry:
    return Entry(name, f"{HF}.{module}.modeling_{module}:{function}", settings)


def _layers(name: str, module: str, layer_type: str) -> Entry:
    """One kind of layer of a family that has frequencies for each kind."""
    return Entry(name, f"{HF}.{module}.modeling_{module}:apply_rotary_pos_emb", layer_type=layer_type)


def _scaled(name: str) -> Entry:
    rule = SCALINGS[name]
    base = 500000.0 if name == "Llama-3 scaling" else 10000.0
    longest = int(rule["factor"] * rule.get("original_max_position_embeddings", 512))
    rotation = {"rope_theta": base} | rule
    return _family(f"Llama, {name}", "llama", rope_parameters=rotation, max_position_embeddings=longest)


LIBRARY = (
    _family("Llama", "llama"),
    *(_scaled(name) for name in SCALINGS),
    _family("Mistral", "mistral"),
    _family("Qwen 2", "qwen2"),
    _family("Gemma", "gemma"),
    _family("OLMo 2", "olmo2"),
    _family("GPT-NeoX", "gpt_neox"),
    _family("Phi", "phi"),
    _family("StableLM", "stablelm"),
    _family("GPT-OSS", "gpt_oss"),
    _family("GPT-J", "gptj"),
    _family("CodeGen", "codegen"),
    _family("Cohere", "cohere"),
    _family("GLM", "glm"),
    _family("Helium", "helium"),
    _family("Ernie 4.5", "ernie4_5"),
    _family("Llama 4", "llama4", "apply_rotary_emb"),
    _family("DeepSeek-V3, interleaved", "deepseek_v3", "apply_rotary_pos_emb_interleave"),
    _family("Qwen 3", "qwen3"),
    _family("Qwen 3.5, text", "qwen3_5"),
    _family("SmolLM3", "smollm3"),
    _family("Phi-3, LongRoPE", "phi3", **LONGROPE),
    _layers("Gemma 3, window", "gemma3", "sliding_attention"),
    _layers("Gemma 3, global", "gemma3", "full_attention"),
    _layers("Gemma 4, window", "gemma4", "sliding_attention"),
    _layers("Gemma 4, global", "gemma4", "full_attention"),
    _layers("ModernBERT, global", "modernbert", "full_attention"),
    _layers("OLMo 3, global", "olmo3", "full_attention"),
    _layers("DeepSeek-V4, main", "deepseek_v4", "main"),
    _layers("DeepSeek-V4, compressed", "deepseek_v4", "compress"),
    _family("HunYuan V1", "hunyuan_v1_dense"),
    _family("Mistral Large 4", "mistral_large4", "apply_rotary_pos_emb_interleave"),
    Entry("rotary-embedding-torch", "rotary_embedding_torch:RotaryEmbedding"),
    Entry("x-transformers", "x_transformers.x_transformers:RotaryEmbedding"),
    Entry("torchtune", "torchtune.modules:RotaryPositionalEmbeddings", {"max_seq_len": 4096}),
    Entry("Equinox", "equinox.nn:RotaryPositionalEmbedding"),
)
