"""The small tasks of chapters 10 and 13: what is asked, what is learned, and cards that can be made again."""

import pytest
import torch

from rope_lab.chapters.ch10_complex_rnn import task as counting
from rope_lab.chapters.ch10_complex_rnn.diagonal_rnn import DiagonalRNN
from rope_lab.chapters.ch10_complex_rnn.task import MODULUS, counting_accuracy, ring, train_counting
from rope_lab.chapters.ch13_one_head import task as offsets
from rope_lab.chapters.ch13_one_head.offset_head import CONTENTS, OffsetHead
from rope_lab.chapters.ch13_one_head.task import offset_accuracy, sentences, train_offsets
from rope_lab.training.experiments.small_tasks import NO_ANSWER, config_hash, fit, run_task
from rope_lab.training.results import cards


def test_the_bell():
    bells, answers = ring(50, length=40, generator=torch.Generator().manual_seed(0))
    assert (bells.sum(1) == 1).all()
    for bell, answer in zip(bells[..., 0], answers, strict=True):
        when = int(bell.argmax())
        assert when < 16
        assert answer.tolist() == [NO_ANSWER] * when + [t % MODULUS for t in range(40 - when)]


class Always(torch.nn.Module):
    """Answers 0, whatever it hears."""

    def forward(self, x):
        return torch.eye(MODULUS)[torch.zeros(x.shape[:-1], dtype=torch.long)]


def test_accuracy_of_a_constant_is_a_seventh():
    assert counting_accuracy(Always(), length=16 + 70) == pytest.approx(1 / 7, abs=0.01)


def test_a_turn_learns_what_no_real_decay_does():
    right = {}
    for decay in ("complex", "real"):
        layer = DiagonalRNN(1, 16, 7, decay=decay, seed=0)
        losses = train_counting(layer, steps=150, length=48, rate=0.03)
        right[decay] = counting_accuracy(layer, length=48)
        assert losses[-1] < losses[0]
    assert right["complex"] > 0.8 > 0.4 > right["real"]


def test_the_sentences():
    tokens, answers = sentences(20, length=12, generator=torch.Generator().manual_seed(1))
    for row, answer in zip(tokens.tolist(), answers.tolist(), strict=True):
        for m, token in enumerate(row):
            there = m + (1 if token < CONTENTS else 2)
            assert answer[m] == (row[there] % CONTENTS if there < 12 else NO_ANSWER)


def test_a_head_learns_it():
    head = OffsetHead("crope", width=32, seed=0)
    before = offset_accuracy(head, length=16)
    train_offsets(head, steps=120, length=16, rate=0.02)
    assert before < 0.3 < 0.95 < offset_accuracy(head, length=16)


TASKS = pytest.mark.parametrize("task", [counting.TASK, offsets.TASK], ids=["counting", "offsets"])


@TASKS
def test_the_hash_of_every_committed_card_is_that_of_a_run_of_today(task):
    here = {config_hash(task.run_config(variant, seed)) for variant in task.variants for seed in task.seeds}
    committed = cards.load_all(task.experiment, "cpu")
    assert {card.config_hash for card in committed} == here
    assert len(committed) == len(here)
    assert all(card.config_hash == config_hash(card.config) for card in committed)


@TASKS
def test_a_run_gives_a_card_with_the_blocks_of_the_committed_ones(task, monkeypatch):
    monkeypatch.setitem(task.config, "steps", 21)
    variant = next(iter(task.variants))
    here, again = run_task(task, variant, 0), run_task(task, variant, 0)
    there = cards.load_all(task.experiment, "cpu")[0]
    for block in ("config", "data", "curve", "final", "measured", "volatile"):
        assert getattr(here, block).keys() == getattr(there, block).keys()
    assert here.curve["step"] == [1, 21]
    assert (here.curve, here.final, here.measured) == (again.curve, again.final, again.measured)


def test_control_another_seed_is_another_run(monkeypatch):
    monkeypatch.setitem(counting.TASK.config, "steps", 1)
    one, other = (run_task(counting.TASK, "real decay", seed).curve["train_loss"] for seed in (0, 1))
    assert one != other


def test_what_is_not_asked_costs_nothing():
    model = torch.nn.Linear(1, 3)
    answers = torch.full((2, 4), NO_ANSWER)
    answers[0, 0] = 1
    before = model.bias.detach().clone()
    fit(model, lambda: (model(torch.zeros(2, 4, 1)), answers), steps=1, rate=0.1)
    assert (model.bias - before)[1] > 0 > (model.bias - before)[0]
