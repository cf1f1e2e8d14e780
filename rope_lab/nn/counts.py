"""How many parameters a GPT has, by block: closed formulas, and the count on the model that they must equal."""

from __future__ import annotations

from rope_lab.nn.attention import ROLES
from rope_lab.nn.gpt import GPT, GPTConfig

_OF_THE_LATENT = {"c": "latent", "up_k": "k", "up_v": "v", "q_rope": "q", "k_rope": "k"}


def parameter_counts(config: GPTConfig) -> dict[str, int]:
    r"""Parameters by block from the config alone, without building the model.

    With d the width of the stream, H heads of width w, L layers: a projection has $d\,H\,w$ weights, half of that when
    it is complex-linear (its bias stays whole); the MLP has 2 (gpt2) or 3 (llama) matrices of d by hidden.

    >>> counts = parameter_counts(GPTConfig(vocab_size=1024, complex_linear="qkv"))
    >>> counts["q"], counts["o"], counts["total"]  # q: 4 layers of 128 * 128 / 2
    (32768, 65536, 820352)
    """
    d, w, L, gpt2 = config.d_model, config.width, config.n_layers, config.block == "gpt2"
    counts = {"embedding": config.vocab_size * d}
    for role in ROLES:
        inner = w * (config.n_kv_heads or config.n_heads if role in "kv" else config.n_heads)
        weights = d * inner // (2 if role in config.complex_linear else 1)
        counts[role] = L * (weights + config.bias * (d if role == "o" else inner))
    if (latent := config.d_latent) is not None:  # W_k and W_v read the latent, one matrix for each head
        counts |= {"latent": L * d * latent, "k": L * config.n_heads * w * latent, "v": L * config.n_heads * w * latent}
        counts["q"] += L * d * config.n_heads * config.d_rope
        counts["k"] += L * d * config.d_rope
    counts["mlp"] = L * ((2 if gpt2 else 3) * d * config.hidden + config.bias * (config.hidden + d))
    counts["norm"] = (2 * L + 1) * d * (1 + config.bias)
    counts["head"] = 0 if config.tied else config.vocab_size * d
    return {**counts, "total": sum(counts.values())}


def count_parameters(model: GPT) -> dict[str, int]:
    """The same blocks, counted on the model's own tensors."""
    latent = () if model.config.d_latent is None else ("latent",)
    counts = dict.fromkeys(("embedding", *ROLES, *latent, "mlp", "norm", "head"), 0)
    for name, p in model.named_parameters():
        module = name.rpartition(".")[0]  # "blocks.0.attention.q", "blocks.0.mlp.up", "blocks.0.mlp_norm", "embedding"
        block = _OF_THE_LATENT.get(name.removesuffix(".weight").rpartition(".")[2] if latent else "")
        block = block or next(key for key in counts if key in module.split(".")[-2:] or module.endswith(key))
        counts[block] += p.numel()
    return {**counts, "total": sum(counts.values())}
