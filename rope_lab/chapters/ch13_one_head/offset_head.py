"""One attention head that looks ahead by as much as the token at hand says: the model of chapter 13's small task."""

import math
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from rope_lab.nn.complex_linear import ComplexLinear
from rope_lab.nn.rotary import RotaryConfig, rotary_table, rotate
from rope_lab.nn.tensor_arguments import working_dtype

CONTENTS = 8  # a token is a content, 0 to 7, with "next" (tokens 0 to 7) or "next-next" (8 to 15)
PositionScheme = Literal["rope", "crope", "absolute"]


class OffsetHead(nn.Module):
    r"""One attention head over an embedding, and a linear read-out: no mask, no residual path, no bias.

    Within a seed all schemes start from the same embedding, values and read-out.

    Args:
        scheme: "rope": queries and keys are rotated. "crope": the same, and $W_q$, $W_k$ are complex-linear, half as
            many numbers. "absolute": nothing is rotated, and each embedding gets the sinusoids of its position.
        width: of the embedding and of the head, even.
        seed: of the initial parameters.

    Raises:
        ValueError: if the scheme is another one.
    """

    def __init__(self, scheme: PositionScheme, *, width: int = 64, seed: int = 0) -> None:
        super().__init__()
        if scheme not in ("rope", "crope", "absolute"):
            raise ValueError(f'scheme: expected "rope", "crope" or "absolute", got {scheme!r}')
        self.scheme, self.rotary = scheme, RotaryConfig(head_dim=width)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.embedding = nn.Embedding(2 * CONTENTS, width)
            self.v = nn.Linear(width, width, bias=False)
            self.read_out = nn.Linear(width, CONTENTS, bias=False)
            self.q, self.k = (self._projection(width) for _ in "qk")

    def _projection(self, width: int) -> nn.Linear | ComplexLinear:
        if self.scheme == "crope":
            return ComplexLinear(width, width, layout=self.rotary.layout)
        return nn.Linear(width, width, bias=False)

    def weights(self, tokens: Int[Tensor, "count T"], *, start: int = 0) -> Float[Tensor, "count T T"]:
        """The attention weights of every query; ``start`` is the position of the first token."""
        return self._head(tokens, start)[0]

    def forward(self, tokens: Int[Tensor, "count T"], *, start: int = 0) -> Float[Tensor, "count T contents"]:
        """Logits of the content that each token asks for; ``start`` is the position of the first token."""
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
