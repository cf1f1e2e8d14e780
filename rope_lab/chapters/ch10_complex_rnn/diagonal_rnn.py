"""A recurrent layer with a diagonal state matrix, whose decays turn or do not: the model of chapter 10's small task."""

import math
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from rope_lab.nn.recurrence.forms import decay_scan, linear_rnn

Decay = Literal["complex", "real", "signed"]


class DiagonalRNN(nn.Module):
    r"""A linear recurrent layer with a diagonal state matrix, as in LRU, and a linear read-out.

    $h_t = \lambda\, h_{t-1} + \sqrt{1 - \lambda^2}\, B x_t, \quad y_t = C h_t + b$ with $|\lambda|$ under the root

    All three kinds of decay have equally many parameters and cost the same. Decays start between 0.9 and 0.999, turns
    between 0 and pi.

    Args:
        width_in: how many numbers each step brings.
        state: how many real numbers the layer keeps.
        width_out: how many numbers it gives at each step.
        decay: "complex": state/2 planes, each with a decay and a turn. "real": one decay in (0, 1) for each number.
            "signed": the same, and every second decay is negative.
        seed: of the initial parameters.

    Raises:
        ValueError: if the decay is another one, or if the planes would have an odd number of coordinates.

    >>> sizes = {d: sum(p.numel() for p in DiagonalRNN(1, 8, 7, decay=d).parameters()) for d in ("complex", "real")}
    >>> sizes["complex"] == sizes["real"]
    True
    """

    sign: Tensor

    def __init__(self, width_in: int, state: int, width_out: int, *, decay: Decay, seed: int = 0) -> None:
        super().__init__()
        if decay not in ("complex", "real", "signed"):
            raise ValueError(f'decay: expected "complex", "real" or "signed", got {decay!r}')
        if decay == "complex" and state % 2:
            raise ValueError(f"state: expected an even number of coordinates, two for each plane, got {state}")
        generator = torch.Generator().manual_seed(seed)
        decays = state // 2 if decay == "complex" else state
        radius = 0.9 + 0.099 * torch.rand(decays, generator=generator)
        self.log_rate = nn.Parameter((-radius.log()).log())  # gamma = exp(-exp(.)) stays between 0 and 1
        self.theta = nn.Parameter(math.pi * torch.rand(decays, generator=generator)) if decay == "complex" else None
        self.B = nn.Parameter(torch.randn(width_in, state, generator=generator) / math.sqrt(width_in))
        self.C = nn.Parameter(torch.randn(state, width_out, generator=generator) / math.sqrt(state))
        self.b = nn.Parameter(torch.zeros(width_out))
        sign = torch.ones(decays)
        if decay == "signed":
            sign[1::2] = -1
        self.register_buffer("sign", sign)

    @property
    def gamma(self) -> Tensor:
        """The decays, between 0 and 1."""
        return torch.exp(-torch.exp(self.log_rate))

    def forward(self, x: Float[Tensor, "*batch T width_in"]) -> Float[Tensor, "*batch T width_out"]:
        """The output of the layer at each of T steps, in the dtype of its parameters."""
        gamma = self.gamma
        scale = (1 - gamma**2).sqrt()  # so that white noise keeps its variance
        if self.theta is None:
            h, _ = decay_scan((x @ self.B) * scale, gamma=gamma * self.sign)
        else:
            h, _ = linear_rnn((x @ self.B) * scale.repeat_interleave(2), gamma=gamma, theta=self.theta)
        return h @ self.C + self.b
