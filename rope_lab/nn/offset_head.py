"""Chapter 13's small task and its model: one attention head that looks one or two places ahead, as its word says.

>>> tokens, answers = sentences(2, length=6, generator=torch.Generator().manual_seed(0))
>>> tokens[0].tolist(), answers[0].tolist()
([12, 15, 5, 0, 3, 11], [5, 0, 0, 3, 3, -100])
"""

import math
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from rope_lab.nn.complex_linear import ComplexLinear
from rope_lab.nn.rotary import RotaryConfig, rotary_table, rotate
from rope_lab.nn.tensor_arguments import working_dtype

CONTENTS = 8  # a token is a content, 0 to 7, with "next" (tokens 0 to 7) or "next-next" (8 to 15)
NO_ANSWER = -100  # cross_entropy leaves it out
Scheme = Literal["rope", "crope", "absolute"]


def sentences(
    count: int, *, length: int, generator: torch.Generator
) -> tuple[Int[Tensor, "count length"], Int[Tensor, "count length"]]:
    """Random tokens, and for each of them the content of the token one or two places on: NO_ANSWER past the end."""
    tokens = torch.randint(2 * CONTENTS, (count, length), generator=generator)
    target = torch.arange(length) + 1 + tokens // CONTENTS
    found = (tokens % CONTENTS).gather(1, target.clamp(max=length - 1))
    return tokens, torch.where(target < length, found, NO_ANSWER)


class OffsetHead(nn.Module):
    r"""One attention head over an embedding, and a linear read-out: no mask, no residual path, no bias.

    "rope": queries and keys are rotated. "crope": the same, and $W_q$, $W_k$ are complex-linear, half as many numbers.
    "absolute": nothing is rotated; a sinusoidal vector of its position is added to each embedding.
    Within a seed all three start from the same embedding, values and read-out.
    """

    def __init__(self, scheme: Scheme, *, width: int = 64, seed: int = 0) -> None:
        super().__init__()
        if scheme not in ("rope", "crope", "absolute"):
            raise ValueError(f'scheme: expected "rope", "crope" or "absolute", got {scheme!r}')
        self.scheme, self.rotary = scheme, RotaryConfig(head_dim=width)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.embedding = nn.Embedding(2 * CONTENTS, width)
            self.v = nn.Linear(width, width, bias=False)
            self.read_out = nn.Linear(width, CONTENTS, bias=False)
            if scheme == "crope":
                self.q, self.k = (ComplexLinear(width, width, layout=self.rotary.layout) for _ in "qk")
            else:
                self.q, self.k = (nn.Linear(width, width, bias=False) for _ in "qk")

    def weights(self, tokens: Int[Tensor, "count T"], *, start: int = 0) -> Float[Tensor, "count T T"]:
        """The attention weights of every query; ``start`` is the position of the first token."""
        return self._head(tokens, start)[0]

    def forward(self, tokens: Int[Tensor, "count T"], *, start: int = 0) -> Float[Tensor, "count T contents"]:
        weights, x = self._head(tokens, start)
        return self.read_out(weights @ self.v(x))

    def _head(self, tokens: Tensor, start: int) -> tuple[Tensor, Tensor]:
        x, width = self.embedding(tokens), self.rotary.head_dim
        positions = torch.arange(start, start + tokens.shape[1], device=tokens.device)
        table = rotary_table(positions, self.rotary, dtype=working_dtype(x))
        if self.scheme == "absolute":
            x = x + torch.cat((table.sin, table.cos), dim=-1).to(x.dtype)
        q, k = self.q(x), self.k(x)
        if self.scheme != "absolute":
            q, k = rotate(q, table), rotate(k, table)
        return (q @ k.mT / math.sqrt(width)).softmax(-1), x


def accuracy(model: OffsetHead, *, length: int, start: int = 0, count: int = 16) -> float:
    """Share of right answers on fresh sentences, the same ones at every call."""
    tokens, answers = sentences(count, length=length, generator=torch.Generator().manual_seed(10_000 + length))
    with torch.no_grad():
        guess = model(tokens, start=start).argmax(-1)
    return float((guess == answers)[answers != NO_ANSWER].float().mean())


def train(
    model: OffsetHead, *, steps: int, length: int, rate: float = 0.003, batch: int = 32, starts: int = 1, seed: int = 0
) -> list[float]:
    """Adam on fresh sentences, the rate falling to zero along a cosine; returns the loss of every step, in nats.

    Each step's sentences begin at one position below ``starts``, drawn at random; 1 means that they begin at 0.
    """
    words, places = (torch.Generator().manual_seed(seed + 1000 * extra) for extra in (0, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    losses = []
    for _ in range(steps):
        tokens, answers = sentences(batch, length=length, generator=words)
        start = int(torch.randint(starts, (), generator=places))
        logits = model(tokens, start=start)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), answers.flatten(), ignore_index=NO_ANSWER)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    return losses
