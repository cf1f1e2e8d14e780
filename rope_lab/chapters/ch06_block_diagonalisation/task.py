r"""Chapter 6's small task: do two more matrices behind the feature maps help a layer of linear attention?

``python -m rope_lab.chapters.ch06_block_diagonalisation.task`` makes the cards again, in about a quarter of an hour on
one core. Part 6 of Su's series ends with the suggestion. The kernel with them is $(A\phi(q))^\top e^{(n-m)\Lambda}
(C\phi(k))$, in every head; A and C begin as the identity, so within a seed both models begin as one function.

Written before any of these runs. A layer reads 64 characters of Shakespeare and says the next one. Feature maps relu
and elu + 1, each with and without the two matrices; every model at three rates, a factor of two apart; eight seeds. A
pilot with a seed that is not among them chose steps and grid; in it the matrices were ahead, with both maps. A model's
loss in a seed is the one at the rate that the seven other seeds choose by their mean. If that is the highest or the
lowest rate, and better than those between by more than 0.02 nats, the grid grows there by a factor of two, for all
models.

*Primary*, two comparisons: with minus without, for each feature map, in nats per character, paired by seed, by the
analysis of ``book/plan.md``: Holm's rule over the two, for a difference and for a margin of 0.02. *Better* or
*equivalent* for a map is the answer for that map; otherwise it is open. Expected after the pilot: better, both.
*Exploratory*: one rate for all, and relu against elu + 1. What it cannot say: two matrices in each head are also more
parameters, about a fortieth, and one layer of this size is not a language model.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from rope_lab.nn.rotary import RotaryConfig, rotary_table, rotate
from rope_lab.training.data import load
from rope_lab.training.data.batches import Batches
from rope_lab.training.experiments.small_tasks import SmallTask, fit, losses_of, write_cards
from rope_lab.training.run.validation import validation_batches

FEATURES = {"relu": F.relu, "elu + 1": lambda x: F.elu(x) + 1}
RATES = (0.016, 0.032, 0.064)
CHARACTERS = 256  # ids of single characters
READ = 65_536  # characters of validation
TINY = 1e-6  # of a denominator: all features of a query may be 0


class LinearReader(nn.Module):
    r"""One layer of causal linear attention and an MLP, from characters to the logits of the next ones.

    $o_m = \sum_{n \le m} s_{mn} v_n \big/ \sum_{n \le m} \phi(q_m)^\top \phi(k_n)$: positions turn the numerator alone.

    Args:
        feature: "relu" or "elu + 1".
        matrices: Whether each head has A and C, which begin as the identity.
        width: Of the stream; four heads share it.
        seed: Of the initial parameters.

    >>> LinearReader("relu", matrices=True)(torch.zeros(2, 5, dtype=int)).shape
    torch.Size([2, 5, 256])
    """

    HEADS = 4

    def __init__(self, feature: str, *, matrices: bool, width: int = 64, seed: int = 0) -> None:
        super().__init__()
        self.feature, wide = FEATURES[feature], width // self.HEADS
        self.rotary = RotaryConfig(wide)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.embedding = nn.Embedding(CHARACTERS, width)
            self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
            self.q, self.k, self.v, self.o = (nn.Linear(width, width, bias=False) for _ in "qkvo")
            self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
            self.read_out = nn.Linear(width, CHARACTERS, bias=False)
        self.A, self.C = (nn.Parameter(torch.eye(wide).repeat(self.HEADS, 1, 1)) if matrices else None for _ in "AC")

    def forward(self, tokens: Int[Tensor, "batch T"]) -> Float[Tensor, "batch T classes"]:
        """Logits of the character after each."""
        x = self.embedding(tokens)
        x = x + self.o(self.attended(self.norms[0](x)).transpose(1, 2).flatten(2))
        return self.read_out(self.norms[2](x + self.mlp(self.norms[1](x))))

    def attended(self, x: Float[Tensor, "batch T width"]) -> Float[Tensor, "batch heads T wide"]:
        """Return what each head reads."""
        q, k, v = (role(x).unflatten(-1, (self.HEADS, -1)).transpose(1, 2) for role in (self.q, self.k, self.v))
        q, k = self.feature(q), self.feature(k)
        whole = (q * k.cumsum(2)).sum(-1, keepdim=True)
        if self.A is not None and self.C is not None:
            q, k = q @ self.A.mT, k @ self.C.mT
        table = rotary_table(torch.arange(x.shape[1]), self.rotary, dtype=x.dtype)
        return (rotate(q, table) @ rotate(k, table).mT).tril() @ v / (whole + TINY)


def train_reader(model: nn.Module, *, steps: int, length: int, lr: float, batch: int, seed: int) -> list[float]:
    """Train in place on windows of Shakespeare, ``batch`` at a time; returns the loss of every step, in nats."""
    text = load("tinyshakespeare", tokenizer="bpe-256").train
    windows = Batches(text, seq_len=length, batch_size=batch, steps=steps, seed=seed)
    asked = iter(windows[step] for step in range(steps))

    def ask() -> tuple[Tensor, Tensor]:
        inputs, targets = next(asked)
        return model(inputs), targets

    return fit(model, ask, steps=steps, rate=lr)


@torch.no_grad()
def _validate(model: nn.Module, config: dict[str, Any]) -> dict[str, Any]:
    """The loss on text that training has not seen, a batch at a time."""
    text = load("tinyshakespeare", tokenizer="bpe-256").valid[: READ + 1]
    return losses_of((model(x), y) for x, y in validation_batches(text, seq_len=config["length"], batch_size=64))


TASK: SmallTask = SmallTask(
    experiment="linear-attention",
    corpus="tinyshakespeare",
    classes=CHARACTERS,
    config={
        "task": "the next character",
        "width": 64,
        "heads": LinearReader.HEADS,
        "length": 64,
        "steps": 600,
        "batch": 16,
        "optimizer": "Adam, cosine to zero",
        "read": READ,
    },
    variants={
        f"{feature}, {'two matrices' if matrices else 'none'}, {rate:g}": {
            "feature": feature,
            "matrices": matrices,
            "lr": rate,
        }
        for rate in RATES
        for feature in FEATURES
        for matrices in (False, True)
    },
    seeds=range(8),
    build=lambda variant, seed: LinearReader(
        TASK.variants[variant]["feature"], matrices=TASK.variants[variant]["matrices"], seed=seed
    ),
    train=lambda model, config: train_reader(
        model, **{name: config[name] for name in ("steps", "length", "lr", "batch", "seed")}
    ),
    validate=_validate,
)


if __name__ == "__main__":
    write_cards(TASK)
