"""The small tasks of chapters 6, 8, 10 and 13: what is asked, what is learned, and cards that can be made again."""

import numpy as np
import pytest
import torch

from rope_lab.algebra.linear_attention import kernel
from rope_lab.algebra.rotation import rotation_matrix
from rope_lab.chapters.ch06_block_diagonalisation.task import FEATURES, LinearReader
from rope_lab.chapters.ch08_rope_on_values.task import COLOURS, KINDS, LONGEST, EventReader, events
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


def test_events_ask_about_the_first_of_their_kind():
    rows = events(20, generator=torch.Generator().manual_seed(0))
    for tokens, times, elapsed, colour in zip(*rows, strict=True):
        first: dict[int, int] = {}
        for m, token in enumerate(tokens.tolist()):
            kind, seen = token % KINDS, token % (KINDS * COLOURS) // KINDS
            if kind in first:
                n = first[kind]
                assert token >= KINDS * COLOURS
                assert elapsed[m] == min(int(times[m] - times[n]), LONGEST)
                assert colour[m] == tokens[n] // KINDS
            else:
                assert token < KINDS * COLOURS
                assert elapsed[m] == colour[m] == NO_ANSWER
                first[kind] = m
            assert seen == token // KINDS % COLOURS


@pytest.mark.parametrize(("rotated", "knows"), [("", False), ("qk", True), ("vo", True), ("qkvo", True)])
def test_a_reader_of_events_knows_differences_of_time_alone(rotated, knows):
    model, rows = EventReader(rotated), events(3, generator=torch.Generator().manual_seed(1))
    here = model(rows)
    torch.testing.assert_close(model(rows._replace(times=rows.times + 7.25)), here, atol=1e-4, rtol=0)
    assert torch.allclose(model(rows._replace(times=2 * rows.times)), here, atol=1e-4) is not knows


@pytest.mark.parametrize("feature", FEATURES)
def test_a_head_of_linear_attention_is_its_definition(feature):
    model, x = LinearReader(feature, matrices=True, width=16).double(), torch.randn(1, 5, 16, dtype=torch.float64)
    torch.nn.init.normal_(model.A)
    torch.nn.init.normal_(model.C)
    q, k, v, A, C = (
        np.asarray(each.detach()) for each in (model.q(x)[0], model.k(x)[0], model.v(x)[0], model.A, model.C)
    )

    def phi(z):
        return np.asarray(FEATURES[feature](torch.from_numpy(z)))

    for head, m in ((0, 4), (3, 2)):
        at = slice(4 * head, 4 * head + 4)
        turned = [
            kernel(
                A[head] @ phi(q[m, at]),
                C[head] @ phi(k[n, at]),
                rotation_matrix(n - m, theta=[1.0, 0.01]),
                feature=lambda z: z,
            )
            for n in range(m + 1)
        ]
        whole = sum(phi(q[m, at]) @ phi(k[n, at]) for n in range(m + 1))
        wanted = sum(s * v[n, at] for n, s in enumerate(turned)) / (whole + 1e-6)
        assert model.attended(x)[0, head, m].detach().numpy() == pytest.approx(wanted, abs=1e-6)


def test_two_matrices_begin_as_nothing_and_see_no_later_character():
    plain, more = (LinearReader("relu", matrices=matrices, seed=3) for matrices in (False, True))
    tokens = torch.arange(12)[None]
    torch.testing.assert_close(plain(tokens), more(tokens))
    torch.testing.assert_close(more(tokens)[:, :7], more(tokens[:, :7]))
    few, many = (sum(p.numel() for p in model.parameters()) for model in (plain, more))
    assert many - few == 2 * 4 * 16**2
    assert round(few / (many - few)) == 40  # "a fortieth", says the page
