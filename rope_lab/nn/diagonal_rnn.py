"""Chapter 10's small task and its model: how long ago did the bell ring, counted modulo seven?

>>> bells, answers = ring(4, length=20, generator=torch.Generator().manual_seed(0))
>>> tuple(bells.shape), tuple(answers.shape), int(answers.max())
((4, 20, 1), (4, 20), 6)
"""

import math
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from rope_lab.nn.recurrence.forms import decay_scan, linear_rnn

MODULUS = 7
QUIET = -100  # the answer before the bell: cross_entropy leaves it out
Decay = Literal["complex", "real", "signed"]


def ring(
    count: int, *, length: int, generator: torch.Generator, first: int = 16
) -> tuple[Float[Tensor, "count length 1"], Int[Tensor, "count length"]]:
    """Sequences with one 1 among zeros, in the first 16 places; the answers are (t - when) mod 7, QUIET before."""
    when = torch.randint(min(first, length), (count, 1), generator=generator)
    since = torch.arange(length) - when
    return (since == 0).float()[..., None], torch.where(since < 0, QUIET, since % MODULUS)


class DiagonalRNN(nn.Module):
    r"""A linear recurrent layer with a diagonal state matrix, as in LRU, and a linear read-out.

    $h_t = \lambda\, h_{t-1} + \sqrt{1 - \lambda^2}\, B x_t, \quad y_t = C h_t + b$ with $|\lambda|$ under the root

    ``state`` counts real numbers. "complex": state/2 planes, each with a decay and a turn. "real": one decay in (0, 1)
    for each number. "signed": the same, and every second decay is negative. All three have equally many parameters and
    cost the same; decays start between 0.9 and 0.999, turns between 0 and pi. ValueError for another decay, and for an
    odd state of planes.

    >>> sizes = {d: sum(p.numel() for p in DiagonalRNN(1, 8, 7, decay=d).parameters()) for d in ("complex", "real")}
    >>> sizes["complex"] == sizes["real"]
    True
    """

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
        self.register_buffer("sign", torch.ones(decays))
        if decay == "signed":
            self.sign[1::2] = -1

    @property
    def gamma(self) -> Tensor:
        return torch.exp(-torch.exp(self.log_rate))

    def forward(self, x: Float[Tensor, "*batch T width_in"]) -> Float[Tensor, "*batch T width_out"]:
        gamma = self.gamma
        scale = (1 - gamma**2).sqrt()  # so that white noise keeps its variance
        if self.theta is None:
            h, _ = decay_scan((x @ self.B) * scale, gamma=gamma * self.sign)
        else:
            h, _ = linear_rnn((x @ self.B) * scale.repeat_interleave(2), gamma=gamma, theta=self.theta)
        return h @ self.C + self.b


def accuracy(model: nn.Module, *, length: int, start: int = 0) -> float:
    """Share of right answers over all places of the bell, from ``start`` steps after it on."""
    since = torch.arange(length) - torch.arange(16)[:, None]
    with torch.no_grad():
        guess = model((since == 0).float()[..., None]).argmax(-1)
    return float((guess == since % MODULUS)[since >= start].float().mean())


def train(
    model: nn.Module, *, steps: int, length: int, rate: float = 0.01, batch: int = 16, seed: int = 0
) -> list[float]:
    """Adam on fresh sequences, the rate falling to zero along a cosine; returns the loss of every step, in nats."""
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    losses = []
    for _ in range(steps):
        bells, answers = ring(batch, length=length, generator=generator)
        loss = nn.functional.cross_entropy(model(bells).flatten(0, -2), answers.flatten(), ignore_index=QUIET)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    return losses
