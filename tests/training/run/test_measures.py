"""What is measured after training: longer windows, the halves of the projections, and the loss of a projected model."""

import dataclasses

import numpy as np
import pytest
import torch

from rope_lab.algebra.pairing import linear_share
from rope_lab.algebra.widely_linear import times_i
from rope_lab.chapters.ch15_crope_tables import measures as projection_shares
from rope_lab.nn.gpt import GPT, GPTConfig
from rope_lab.training.results import cards
from rope_lab.training.run.loop import load_model, train
from rope_lab.training.run.measures import stretched
from tests.training.tiny import MODEL, TinyCorpus, tiny

EVERYTHING = ("length 16", "length 32", "shift 3", "halves", "projected")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    config = tiny(measure=EVERYTHING, precision="float32")
    return train(config, out=folder, corpus=TinyCorpus(), progress=False)


@pytest.mark.deep
def test_the_card_holds_what_was_asked_and_survives_the_disk(run):
    card = cards.read(run.folder / run.card.file_name)
    assert set(card.measured) == set(EVERYTHING)
    assert card == run.card


def test_a_run_that_asks_for_nothing_writes_no_such_block(tmp_path):
    ended = train(tiny(steps=2), out=tmp_path, corpus=TinyCorpus(), progress=False)
    assert "measured" not in (tmp_path / ended.card.file_name).read_text()
    assert cards.read(tmp_path / ended.card.file_name).measured == {}


@pytest.mark.deep
def test_windows_of_the_training_length_give_the_validation_loss(run):
    assert run.card.measured["length 16"]["loss"] == pytest.approx(run.card.final["loss"], abs=1e-5)
    assert "beyond" not in run.card.measured["length 16"]


@pytest.mark.deep
def test_the_parts_of_a_longer_window_average_to_its_loss(run):
    found = run.card.measured["length 32"]
    assert min(found["inside"], found["beyond"]) < found["loss"] < max(found["inside"], found["beyond"])


def test_a_shift_changes_nothing_where_only_differences_of_positions_count(run):
    found = run.card.measured["shift 3"]
    assert found["from 0"] == pytest.approx(run.card.final["loss"], abs=1e-5)
    assert found["loss"] == pytest.approx(found["from 0"], abs=1e-4)


def test_control_a_shift_is_seen_where_positions_are_absolute(tmp_path):
    config = tiny(measure=("shift 3",), precision="float32", model={**MODEL, "positions": "absolute"})
    found = train(config, out=tmp_path, corpus=TinyCorpus(), progress=False).card.measured["shift 3"]
    assert abs(found["loss"] - found["from 0"]) > 1e-3


def test_a_stretched_model_reads_what_it_read_before(run):
    model = load_model(run.folder)
    tokens = torch.arange(16)[None]
    torch.testing.assert_close(stretched(model, seq_len=64)(tokens), model(tokens))


def test_the_whole_model_s_loss_is_the_run_s_and_projecting_changes_it(run):
    found = run.card.measured["projected"]
    assert found["whole"] == pytest.approx(run.card.final["loss"], abs=1e-5)
    assert {name for name in found if name.endswith("tuned")} == {
        "whole, tuned",
        "qkv, laid out, tuned",
        "qkv, best, tuned",
    }
    assert all(abs(loss - found["whole"]) > 1e-6 for name, loss in found.items() if name != "whole")


def test_no_pairing_has_a_larger_share_than_the_best(run):
    trained = run.card.measured["halves"]["trained"]
    for layer in range(MODEL["n_layers"]):
        of_one = [trained["best of one"][role][layer] for role in "qk"]
        for name in ("laid out", "random", "best", "best of all layers"):
            assert all(trained[name][role][layer] <= best + 1e-6 for role, best in zip("qk", of_one, strict=True))


def test_a_complex_linear_projection_is_seen_as_one():
    config = GPTConfig(vocab_size=29, seq_len=16, n_layers=2, n_heads=2, d_model=16, complex_linear="qk")
    found = projection_shares.linear_shares(GPT(config, seed=1), seed=1)
    assert np.allclose([found["trained"]["laid out"][role] for role in "qk"], 1)
    assert np.allclose([found["trained"]["best"][role] for role in "qk"], 1)
    assert np.allclose([found["planes"][role] for role in "qk"], 1)
    assert np.max([found["trained"]["random"][role] for role in "qk"]) < 0.9


def test_shares_by_plane_average_to_the_layer_s(run):
    model, found = load_model(run.folder), run.card.measured["halves"]
    heads = model.blocks[0].attention.q.weight.detach().double().view(2, 8, 16)
    energy = heads.view(2, 2, 4, 16).pow(2).sum((1, 3)).numpy()  # half layout: planes (i, i + 4)
    by_plane = np.array(found["planes"]["q"][0])
    assert (by_plane * energy).sum() / energy.sum() == pytest.approx(found["trained"]["best"]["q"][0], abs=1e-3)


def test_projecting_leaves_a_complex_linear_map_and_projecting_twice_changes_nothing(run):
    model = load_model(run.folder)
    projection_shares.project(model, "qk", [times_i(16, layout="half")] * 2)
    once = {name: p.detach().clone() for name, p in model.named_parameters()}
    W = once["blocks.1.attention.k.weight"].double().numpy()
    assert linear_share(W, times_i(16, layout="half"), layout="half", out_heads=2) == pytest.approx(1)
    projection_shares.project(model, "qk", [times_i(16, layout="half")] * 2)
    for name, p in model.named_parameters():
        torch.testing.assert_close(p.detach(), once[name], atol=1e-6, rtol=0)


@pytest.mark.parametrize("name", ["length", "length 0", "length -3", "Halves", "norm"])
def test_an_unknown_measure_stops_before_training(tmp_path, name):
    with pytest.raises(
        ValueError, match="expected 'length N', 'shift N', 'halves', 'projected', 'rounded', 'longer texts', 'stream'"
    ):
        train(tiny(measure=(name,)), out=tmp_path, corpus=TinyCorpus(), progress=False)
    assert not list(tmp_path.iterdir())


def test_halves_of_a_complex_linear_run_are_refused(tmp_path):
    config = tiny(measure=("projected",))
    config = dataclasses.replace(config, model={**MODEL, "complex_linear": "q"})
    with pytest.raises(ValueError, match="expected dense projections"):
        train(config, out=tmp_path, corpus=TinyCorpus(), progress=False)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"measure": ("length 301",)}, "N below the 301 tokens that are validated, got 'length 301'"),
        ({"measure": ("halves", "length 64"), "eval_tokens": 64}, "N below the 64 tokens"),
        ({"measure": ("halves",), "model": {**MODEL, "n_kv_heads": 1}}, "d_latent=None, n_kv_heads=1"),
        ({"measure": ("projected",), "model": {**MODEL, "d_latent": 6}}, "d_latent=6, n_kv_heads=None"),
        ({"measure": ("halves",), "model": {**MODEL, "d_model": 15, "head_dim": 8}}, "even widths .* d_model=15"),
        ({"measure": ("halves",), "model": {**MODEL, "head_dim": 5, "positions": "none"}}, "even widths .* heads of 5"),
    ],
)
def test_what_could_not_be_measured_in_the_end_stops_before_training(tmp_path, fields, said):
    with pytest.raises(ValueError, match=f"measure: expected .*{said}"):
        train(tiny(**fields), out=tmp_path, corpus=TinyCorpus(), progress=False)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("changes", [{"n_kv_heads": 2}, {"block": "llama"}, {"positions": "absolute"}])
def test_control_every_other_model_is_measured(tmp_path, changes):
    config = tiny(steps=1, measure=("halves", "length 300"), precision="float32", model={**MODEL, **changes})
    found = train(config, out=tmp_path, corpus=TinyCorpus(), progress=False).card.measured
    assert np.isfinite([found["length 300"][part] for part in ("inside", "beyond", "loss")]).all()
