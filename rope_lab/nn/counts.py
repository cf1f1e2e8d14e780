"""What a GPT is made of, by block, parameters and multiplications: closed formulas, and counts on the model itself."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral

from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from rope_lab.algebra.budget import COMPLEX, READINGS
from rope_lab.nn.attention import ROLES
from rope_lab.nn.complex_products import REAL_PRODUCTS
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


def readings(config: GPTConfig) -> dict[str, GPTConfig]:
    r"""The model of ``config`` in the readings of section 5.1 of the CRoPE paper, by the names of `algebra.budget`.

    "dense": real projections. "qkv": queries, keys and values complex-linear, eq 30. "qkvo": the output projection
    too. "narrow": real projections into heads of half the width, as the section's list of shapes says to the letter;
    as many weights as "qkvo", and another family. ``ValueError`` if half a head does not consist of planes.
    Source: claim ``crope.model-5.1-conflict``.

    >>> found = {name: parameter_counts(c) for name, c in readings(GPTConfig()).items()}
    >>> {name: 1 - sum(c[role] for role in "qkvo") / 4**9 for name, c in found.items()}
    {'dense': 0.0, 'qkv': 0.375, 'qkvo': 0.5, 'narrow': 0.5}
    """
    if config.d_latent is not None or config.width % 4:
        raise ValueError(
            f"expected heads of keys and values whose half consists of planes, got head_dim {config.width}, "
            f"d_latent {config.d_latent}: use a multiple of 4 and no latent"
        )
    widths = {"narrow": config.width // 2}
    return {
        name: replace(config, complex_linear=COMPLEX[name], head_dim=widths.get(name, config.head_dim))
        for name in READINGS
    }


def multiplication_counts(config: GPTConfig, *, tokens: int, product: str = "real") -> dict[str, int]:
    r"""Real multiplications of the matrix products, by block, in one pass over one window of ``tokens`` tokens.

    A projection takes $T\,d\,H\,w$, complex-linear or not: half the weights, each used twice. Only Gauss's product
    saves, a quarter. Scores and weighted sums take $2\,T^2 H w$ a layer, all pairs counted, the masked ones too. The
    rotations, norms, activations and the look-up of the embedding are left out: they grow like $T\,d$.
    ``product`` is one of `rope_lab.nn.complex_products.PRODUCTS`. ``ValueError`` for another one, for no token or more
    than the context holds, and for a latent. Source: claim ``unsaid.crope-flops``.

    >>> dense, halved = (multiplication_counts(GPTConfig(complex_linear=c), tokens=1024) for c in ("", "qkv"))
    >>> dense == halved
    True
    """
    if product not in REAL_PRODUCTS:
        raise ValueError(f"product: expected one of {', '.join(REAL_PRODUCTS)}, got {product!r}")
    if not isinstance(tokens, Integral) or not 1 <= tokens <= config.seq_len:
        raise ValueError(f"tokens: expected 1 to {config.seq_len}, the longest context, got {tokens}")
    if config.d_latent is not None:
        raise ValueError(f"d_latent: expected None, got {config.d_latent}: only heads of keys and values are counted")
    d, w, L = config.d_model, config.width, config.n_layers
    counts = {}
    for role in ROLES:
        inner = w * (config.n_kv_heads or config.n_heads if role in "kv" else config.n_heads)
        share = REAL_PRODUCTS[product] if role in config.complex_linear else 4
        counts[role] = L * tokens * d * inner * share // 4
    counts["scores"] = 2 * L * tokens**2 * config.n_heads * w
    counts["mlp"] = L * tokens * (2 if config.block == "gpt2" else 3) * d * config.hidden
    counts["head"] = tokens * config.vocab_size * d
    return {**counts, "total": sum(counts.values())}


def count_multiplications(model: GPT, tokens: Tensor) -> int:
    """The same total, counted by PyTorch on a forward pass of the model (it counts an addition beside each)."""
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):  # the fused kernel is not counted
        model(tokens)
    return counter.get_total_flops() // 2
