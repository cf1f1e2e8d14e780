"""One layer that answers for one cell of a grid: the model of chapter 7's small task."""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from rope_lab.nn.rotary import RotaryConfig, rotary_table, rotate


class GridReader(nn.Module):
    r"""Two heads of attention and an MLP, from the cell that is asked about to all cells; no mask.

    Queries and keys of the cell at p turn by $p \cdot \theta_i$ in plane i of each head. Within a seed all models start
    from the same parameters.

    Args:
        rotary: The rotation of a head, by places with one or more coordinates; None: nothing turns.
        symbols: How many contents a cell can have, which are also the answers.
        questions: How many questions there are.
        head_dim: Width of a head, that of the rotation.
        seed: Of the initial parameters.

    >>> model = GridReader(None, head_dim=8, symbols=5, questions=6)
    >>> cells, one = torch.zeros(4, 9, dtype=int), torch.zeros(4, dtype=int)
    >>> model(cells, one, one, places=torch.zeros(9, 2)).shape
    torch.Size([4, 5])
    """

    HEADS = 2

    def __init__(
        self, rotary: RotaryConfig | None, *, head_dim: int, symbols: int, questions: int, seed: int = 0
    ) -> None:
        super().__init__()
        self.rotary, width = rotary, self.HEADS * head_dim
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.content, self.question = (nn.Embedding(count, width) for count in (symbols, questions))
            self.q, self.k, self.v, self.o = (nn.Linear(width, width, bias=False) for _ in "qkvo")
            self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
            self.read_out = nn.Linear(width, symbols, bias=False)

    def forward(
        self,
        cells: Int[Tensor, "count cells"],
        asked: Int[Tensor, " count"],
        question: Int[Tensor, " count"],
        *,
        places: Tensor,
    ) -> Float[Tensor, "count symbols"]:
        """Logits of the answers.

        Args:
            cells: The content of every cell.
            asked: Which cell is marked.
            question: What is asked about it.
            places: (cells, axes), where the cells stand; (cells,) where the rotation has one axis.
        """
        x = self.content(cells)
        here = x[torch.arange(len(cells)), asked] + self.question(question)
        roles = (self.q(here)[:, None], self.k(x), self.v(x))
        q, k, v = (each.unflatten(-1, (self.HEADS, -1)).transpose(-3, -2) for each in roles)  # (count, heads, ., width)
        if self.rotary is not None:
            q = rotate(q, rotary_table(places[asked][:, None], self.rotary))
            k = rotate(k, rotary_table(places, self.rotary))
        weights = (q @ k.mT / math.sqrt(q.shape[-1])).softmax(-1)
        here = here + self.o((weights @ v).transpose(-3, -2).flatten(-2)[:, 0])
        return self.read_out(here + self.mlp(here))
