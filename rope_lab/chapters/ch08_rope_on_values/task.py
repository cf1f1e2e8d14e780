r"""Chapter 8's small task: how long ago was it, and what was it? A turned value can tell the first.

``python -m rope_lab.chapters.ch08_rope_on_values.task`` makes the cards again, in less than an hour on one core.

Twelve kinds of event happen twice each, in a random order, at real times with gaps that are drawn from an exponential
law of mean 1; each event has one of eight colours. At the second event of a kind a layer is asked about the first:
*elapsed*, how many whole units of time have passed since, 0 to 6, or 7 and more; *colour*, which colour it had. The
token says kind, colour, and whether it asks; the rotation turns by the time, and nothing else knows it. To find the
first event needs no time. So *elapsed* is a task for turned values, and *colour* one in which they cannot help.

Written before any of these runs. One layer of causal attention with two heads of 16 planes and an MLP; rotated are
nothing, QK, VO or QKVO; every model at three rates, a factor of two apart; eight seeds. A pilot with a seed that is not
among them chose steps and grid; in it turned values were far ahead for *elapsed*, and all models answered *colour*. A
model's loss in a seed is the one at the rate that the seven other seeds choose by their mean. If that is the highest or
the lowest rate, and better than those between by more than 0.02 nats, the grid grows there by a factor of two, for all
models.

*Primary*, for each task QKVO minus QK and VO minus nothing, in nats per answer, paired by seed, by the analysis of
``book/plan.md``: Holm's rule over the four, for a difference and for a margin of 0.02. Expected for *elapsed*: better,
both. No expectation for *colour*. *Exploratory*: shares of right answers, one rate for all, and QK minus nothing. What
it cannot say: whether a language model has such questions.

>>> asked = events(2, generator=torch.Generator().manual_seed(0))
>>> [tuple(part.shape) for part in asked]
[(2, 24), (2, 24), (2, 24), (2, 24)]
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from rope_lab.nn.attention import AttentionConfig, CausalAttention
from rope_lab.nn.rotary import RotaryConfig
from rope_lab.training.experiments.small_tasks import NO_ANSWER, SmallTask, fit, losses_of, share_right, write_cards

KINDS, COLOURS, LONGEST = 12, 8, 7
QUESTIONS = ("elapsed", "colour")
ROTATED = {"nothing": "", "QK": "qk", "VO": "vo", "QKVO": "qkvo"}
RATES = (0.004, 0.008, 0.016)
BASE = 100.0  # the slowest of 16 planes turns once in 420 units of time


class Events(NamedTuple):
    """Rows of events, (count, 24) each, in the order of their times."""

    tokens: Int[Tensor, "count T"]  # kind + 12 * colour, and + 96 where it is the second of its kind
    times: Float[Tensor, "count T"]
    elapsed: Int[Tensor, "count T"]  # since the first of the kind; NO_ANSWER (-100) at a first one
    colour: Int[Tensor, "count T"]  # of the first of the kind; NO_ANSWER at a first one


def events(count: int, *, generator: torch.Generator) -> Events:
    """Random rows of events, and both answers at the second event of each kind."""
    order = torch.rand(count, 2 * KINDS, generator=generator).argsort(-1)  # twice each kind, in a random order
    kinds, colours = order % KINDS, torch.randint(COLOURS, order.shape, generator=generator)
    times = torch.empty(order.shape, dtype=torch.float64).exponential_(generator=generator).cumsum(-1)
    same = (kinds[:, :, None] == kinds[:, None, :]).tril(-1)  # the earlier event of the same kind, if there is one
    asks, first = same.any(-1), same.int().argmax(-1)
    since = (times - times.gather(1, first)).floor().long().clamp(max=LONGEST)
    elapsed, colour = (torch.where(asks, answer, NO_ANSWER) for answer in (since, colours.gather(1, first)))
    return Events(kinds + KINDS * (colours + COLOURS * asks), times, elapsed, colour)


class EventReader(nn.Module):
    """One layer of causal attention and an MLP, from events to the answers; the rotation turns by their times.

    Args:
        rotated: Which of q, k, v and o turn.
        seed: Of the initial parameters.

    >>> EventReader("qkvo")(events(2, generator=torch.Generator())).shape
    torch.Size([2, 24, 8])
    """

    def __init__(self, rotated: str, *, seed: int = 0) -> None:
        super().__init__()
        shape = AttentionConfig(d_model=64, n_heads=2, rotated=rotated, rotary=RotaryConfig(32, base=BASE))
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.embedding = nn.Embedding(2 * KINDS * COLOURS, 64)
            self.attention = CausalAttention(shape)
            self.norms = nn.ModuleList(nn.LayerNorm(64) for _ in range(3))
            self.mlp = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64))
            self.read_out = nn.Linear(64, 8, bias=False)

    def forward(self, asked: Events) -> Float[Tensor, "count T 8"]:
        """Logits of the eight answers at each event."""
        x = self.embedding(asked.tokens)
        x = x + self.attention(self.norms[0](x), positions=asked.times if self.attention.rotary else None)
        return self.read_out(self.norms[2](x + self.mlp(self.norms[1](x))))


def train_events(model: nn.Module, *, question: str, steps: int, lr: float, batch: int, seed: int) -> list[float]:
    """Train in place on fresh rows, ``batch`` at a time; returns the loss of every step, in nats for each answer."""
    generator = torch.Generator().manual_seed(seed)

    def ask() -> tuple[Tensor, Tensor]:
        rows = events(batch, generator=generator)
        return model(rows), getattr(rows, question)

    return fit(model, ask, steps=steps, rate=lr)


@torch.no_grad()
def _validate(model: nn.Module, config: dict[str, Any]) -> dict[str, Any]:
    """Loss and share of right answers on rows that training has not seen."""
    generator = torch.Generator().manual_seed(20_000)
    rows = [events(64, generator=generator) for _ in range(16)]
    asked = [(model(each), getattr(each, config["question"])) for each in rows]
    logits, answers = (torch.cat(parts) for parts in zip(*asked, strict=True))
    return losses_of(asked) | {"accuracy": share_right(logits, answers)}


TASK: SmallTask = SmallTask(
    experiment="how-long-ago",
    corpus="events at real times",
    classes=8,
    config={
        "task": "at the second event of a kind, about the first",
        "width": 64,
        "heads": 2,
        "base": BASE,
        "length": 2 * KINDS,
        "steps": 800,
        "batch": 64,
        "optimizer": "Adam, cosine to zero",
    },
    variants={
        f"{question}, {name}, {rate:g}": {"question": question, "rotated": rotated, "lr": rate}
        for rate in RATES
        for question in QUESTIONS
        for name, rotated in ROTATED.items()
    },
    seeds=range(8),
    build=lambda variant, seed: EventReader(TASK.variants[variant]["rotated"], seed=seed),
    train=lambda model, config: train_events(
        model, **{name: config[name] for name in ("question", "steps", "lr", "batch", "seed")}
    ),
    validate=_validate,
)


if __name__ == "__main__":
    write_cards(TASK)
