"""What one does with one's own runs, from the command line: train, let it write, compare."""

import csv
import io
import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rope_lab import cli, load_model
from rope_lab.commands.run_commands import _card, spark
from rope_lab.reading import json_text
from rope_lab.training.results import flat_cards
from rope_lab.training.results.cards import Card
from rope_lab.training.run.environment import MALLOC

TINY = ["model.n_layers=1", "model.d_model=16", "steps=6", "eval_every=2", "eval_tokens=512", "log_every=2"]


def invoke(*arguments, status=0):
    done = CliRunner().invoke(cli.app, [str(argument) for argument in arguments])
    assert done.exit_code == status, done.output
    return done.stdout if status == 0 else done.stderr


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two runs that differ in their rate, and what `train` printed of the second."""
    folder = tmp_path_factory.mktemp("runs")
    shared = [argument for change in [*TINY, "precision=float32", "bos=true"] for argument in ("--set", change)]
    with pytest.MonkeyPatch.context() as patch:
        for name, value in MALLOC.items():  # set already, so that no command starts this Python over
            patch.setenv(name, value)
        patch.setenv("ROPE_LAB_CACHE", str(folder / "cache"))
        for rate in ("0.001", "0.01"):
            said = invoke("train", *shared, "--set", f"lr={rate}", "--out", folder / rate, "--quiet")
    return folder / "0.001", folder / "0.01", said


def test_a_finished_run_shows_its_curve_and_names_what_comes_next(runs):
    said = runs[2].splitlines()
    assert [line.split(" ")[0] for line in said[1:3]] == ["train", "valid"]
    assert f"rope-lab write {runs[1]} --prompt 'ROMEO:'" in said[3]
    assert "tokenizer=True" in said[-1]


def test_a_run_writes_the_same_text_for_the_same_seed(runs):
    once, again, other = (
        invoke("write", runs[0], "--prompt", "ROMEO:", "--tokens", 12, "--seed", seed) for seed in (1, 1, 2)
    )
    assert once.startswith("ROMEO:")
    assert once == again != other


def test_what_cannot_be_written_is_said(runs):
    assert "at most 128 tokens together" in invoke("write", runs[0], "--tokens", 500, status=1)
    assert "--temperature: expected a finite number" in invoke("write", runs[0], "--temperature", "inf", status=1)
    assert "--seed: expected a whole number" in invoke("write", runs[0], "--seed", 10**20, status=1)


def test_runs_stand_beside_each_other(runs):
    first, second = json.loads(invoke("results", *runs[:2], "--json"))
    assert (first["differs"], second["differs"]) == ({}, {"lr": 0.01})
    assert second["difference"] == pytest.approx(second["loss"] - first["loss"])
    assert "lr 0.01" in " ".join(invoke("results", *runs[:2]).split())


def test_logs_alone_are_no_runs_and_large_losses_have_bars(tmp_path):
    (tmp_path / "x.log").mkdir()
    assert "expected folders of runs, got logs alone" in invoke("results", tmp_path / "x.log", status=1)
    assert spark([1e308, -1e308, 1e308, 1e308], width=2) == "▁█"


def test_what_is_written_in_json_can_be_read_by_any_reader(runs, monkeypatch):
    def word(name):
        raise AssertionError(name)

    monkeypatch.setattr(Card, "loss", lambda card, _: 1e308 if card.config["lr"] == 0.01 else -1e308)
    told = json.loads(invoke("results", *runs[:2], "--json"), parse_constant=word)
    assert told[1]["difference"] is None
    assert json.loads(json_text({"a": (math.inf, [math.nan], 1.5)}), parse_constant=word) == {"a": [None, [None], 1.5]}


def test_a_table_for_a_spreadsheet_has_no_control_characters(runs):
    card = _card(Path(runs[0]))
    told = flat_cards.as_csv([replace(card, variant="Q\x1b[31m")])
    assert "\x1b" not in told


def test_runs_and_experiments_are_tables_for_a_spreadsheet(runs):
    own = list(csv.DictReader(io.StringIO(invoke("results", *runs[:2], "--csv"))))
    assert [row["lr"] for row in own] == ["0.001", "0.01"]
    committed = list(csv.DictReader(io.StringIO(invoke("results", "placements", "--csv"))))
    assert {row["experiment"] for row in committed} == {"placements"}


def test_the_state_of_a_run_is_no_card(runs):
    assert "0 of 1 cards belong" in CliRunner().invoke(cli.app, ["cards", "check", str(runs[0])]).stdout


def test_what_is_no_run_is_said(runs, tmp_path):
    assert "got nothing of that name" in invoke("results", runs[0], tmp_path / "absent", status=1)


def test_a_model_comes_with_its_tokenizer(runs):
    model, tokenizer = load_model(runs[0], tokenizer=True)
    assert model.config.vocab_size == tokenizer.vocab_size + 1  # the token that begins a window
    assert tokenizer.decode(tokenizer.encode("ROMEO:")) == "ROMEO:"


def test_a_level_row_is_drawn():
    assert spark([2.0, 2.0, 2.0], width=3) == "▁▁▁"
