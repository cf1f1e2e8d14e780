"""The task of chapter 7: its answers lie where the question says, its readers are relative, its cards are whole."""

import pytest
import torch

from rope_lab.chapters.ch07_many_axes import task as grid_question
from rope_lab.chapters.ch07_many_axes.grid_reader import GridReader
from rope_lab.chapters.ch07_many_axes.task import FARTHEST, TASK, grids, places, rotation
from rope_lab.nn.rotary import RotaryConfig
from rope_lab.training.experiments.small_tasks import config_hash, run_task
from rope_lab.training.results import cards

FOUND = cards.load_all("grid-question", "cpu")


@pytest.mark.parametrize(("asks", "step"), [("columns", (0, 1)), ("rows", (1, 0))])
def test_the_answer_stands_k_cells_away(asks, step):
    grid = grids(300, size=5, generator=torch.Generator().manual_seed(0), asks=asks)
    where = places(5)[grid.asked] + (grid.question % FARTHEST + 1)[:, None] * torch.tensor(step)
    assert int(where.max()) == 4
    assert (grid.cells.view(-1, 5, 5)[range(300), where[:, 0], where[:, 1]] == grid.answer).all()
    assert set((grid.question // FARTHEST).tolist()) == {step[0]}


@pytest.mark.parametrize("variant", grid_question.PLANNED)
@torch.no_grad()
def test_a_reader_knows_offsets_and_nothing_else_of_places(variant):
    rotary = rotation(variant)
    model = GridReader(rotary, head_dim=32, symbols=8, questions=6)
    grid = grids(20, size=4, generator=torch.Generator().manual_seed(1))
    where = torch.arange(16) if variant == "one axis" else places(4)
    said = [model(grid.cells, grid.asked, grid.question, places=p) for p in (where, where + 50, where * 3)]
    torch.testing.assert_close(said[0], said[1], atol=1e-4, rtol=0)
    assert torch.equal(said[0], said[2]) == (rotary is None)  # other offsets, other logits


def test_the_tables_differ_in_their_vectors_alone():
    told = {name: rotation(name) for name in ("sections", "interleaved", "axial", "mixed")}
    fastest = {name: max(abs(row[1]) for row in config.vectors) for name, config in told.items()}
    assert fastest["sections"] < 2e-4 < 0.1 < fastest["interleaved"] < fastest["axial"]
    assert rotation("one axis") == RotaryConfig(32, base=1e6)
    models = [TASK.build(variant, 0) for variant in grid_question.PLANNED]
    for model in models[1:]:
        assert all(torch.equal(p, q) for p, q in zip(models[0].parameters(), model.parameters(), strict=True))


def test_the_cards_are_of_the_runs_that_the_plan_asks_for():
    asked = {config_hash(TASK.run_config(v, s)): (v, s) for v in TASK.variants for s in TASK.seeds}
    assert {card.config_hash: (card.variant, card.seed) for card in FOUND} == asked
    assert len(asked) == 24


def test_the_control_without_positions_cannot_answer():
    assert max(card.measured["columns"]["8"] for card in FOUND if card.variant == "no positions") < 0.3


@pytest.mark.deep
def test_a_short_run_of_the_task(monkeypatch):
    monkeypatch.setitem(TASK.config, "steps", 3)
    card = run_task(TASK, "axial", 0)
    assert set(card.measured) == {"columns", "rows"}
    assert 0 <= card.measured["rows"]["12"] <= 1
    assert card.final["batches"] == 16
