"""Initial parameters drawn by (seed, name), so that variants of a model start equal wherever they can."""

from __future__ import annotations

import hashlib

import torch
from torch import nn


def generator_for(seed: int, name: str) -> torch.Generator:
    """A stream of random numbers for each name, so that a parameter more elsewhere changes no other."""
    digest = hashlib.sha256(f"{seed}/{name}".encode()).digest()
    return torch.Generator("cpu").manual_seed(int.from_bytes(digest[:8], "big") >> 1)


@torch.no_grad()
def initialise(model: nn.Module, *, seed: int, std: float) -> None:
    """Matrices from N(0, std^2), each from the stream of its own name; vectors of norms 1 and biases 0.

    Two models with the same seed agree, to the last bit, in every parameter that has the same name and shape in both.
    Drawn on the CPU in float32, whatever the device; on the meta device, which holds no numbers, nothing is drawn.
    """
    for name, p in model.named_parameters():
        if p.is_meta:
            continue
        if p.ndim >= 2:
            drawn = torch.empty(p.shape, device="cpu", dtype=torch.float32)  # whatever torch's defaults are at the time
            p.copy_(drawn.normal_(std=std, generator=generator_for(seed, name)))
        elif name.endswith("bias"):
            p.zero_()
        else:
            p.fill_(1.0)
