"""What a built GPT is made of, counted on the model itself: parameters by block, and multiplications.

The formulas for both are in `rope_lab.algebra.budget`; ``config.shape`` is what they count.

>>> from rope_lab.algebra.budget import parameters
>>> from rope_lab.nn.gpt import GPTConfig
>>> config = GPTConfig(vocab_size=1024, complex_linear="qkv")
>>> count_parameters(GPT(config))["total"] == parameters(config.shape)["total"]
True
"""

from __future__ import annotations

from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from rope_lab.algebra.placements import ROLES
from rope_lab.nn.gpt import GPT

_OF_THE_LATENT = {"c": "latent", "up_k": "k", "up_v": "v", "q_rope": "q", "k_rope": "k"}


def count_parameters(model: GPT) -> dict[str, int]:
    """Parameters by block, counted on the model's own tensors.

    Args:
        model: The model to count in. A tensor that two blocks share is counted once.

    Returns:
        Ints for embedding, q, k, v, o, mlp, norm (the final one too), head and total; with a latent also latent.
    """
    latent = () if model.config.d_latent is None else ("latent",)
    counts = dict.fromkeys(("embedding", *ROLES, *latent, "mlp", "norm", "head"), 0)
    for name, p in model.named_parameters():
        module = name.rpartition(".")[0]  # "blocks.0.attention.q", "blocks.0.mlp.up", "blocks.0.mlp_norm", "embedding"
        block = _OF_THE_LATENT.get(name.removesuffix(".weight").rpartition(".")[2] if latent else "")
        block = block or next(key for key in counts if key in module.split(".")[-2:] or module.endswith(key))
        counts[block] += p.numel()
    return {**counts, "total": sum(counts.values())}


def count_multiplications(model: GPT, tokens: Tensor) -> int:
    """The multiplications of one forward pass over ``tokens``, (batch, T), as PyTorch counts them.

    It counts an addition beside each multiplication, all pairs of tokens, the masked ones too, and a product of complex
    numbers as one.

    Args:
        model: The model to run.
        tokens: (batch, T), token numbers, on the device of the model.

    Returns:
        An int.
    """
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):  # the fused kernel is not counted
        model(tokens)
    return counter.get_total_flops() // 2
