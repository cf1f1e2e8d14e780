"""The loop: it is the plain loop it claims to be, paired and repeatable to the last bit, and fails in words."""

import errno
import math
import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from rope_lab.errors import ArgumentError
from rope_lab.nn.gpt import GPT
from rope_lab.training.data.batches import Batches
from rope_lab.training.run import checkpoint, environment, learner, run_record
from rope_lab.training.run.checkpoint import CheckpointError
from rope_lab.training.run.config import DEFAULT_RUN
from rope_lab.training.run.distributed import Processes
from rope_lab.training.run.learner import expect_memory, micro_batch, model_config
from rope_lab.training.run.loop import NonFiniteLossError, Run, load_model, train
from rope_lab.training.run.run_record import Record
from tests.deep import sampled
from tests.training.tiny import MODEL, TinyCorpus, found, tiny, weights

CORPUS = TinyCorpus()


def run(folder, *, time_budget_s=None, **fields):
    options = {"corpus": CORPUS, "device": "cpu", "threads": 1, "progress": False}
    return train(tiny(**fields), out=folder, time_budget_s=time_budget_s, **options)


def plain_loop(config):
    """The same training in a dozen lines of PyTorch: float32, no schedule, AdamW with its own defaults."""
    model = GPT(model_config(config, vocab_size=CORPUS.vocab_size), seed=config.seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=config.lr, weight_decay=config.weight_decay)
    batches = Batches(
        CORPUS.train, seq_len=config.seq_len, batch_size=config.batch_size, steps=config.steps, seed=config.seed
    )
    losses = []
    for step in range(config.steps):
        inputs, targets = batches[step]
        loss = torch.nn.functional.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_it_is_a_plain_training_loop(tmp_path):
    fields = {"precision": "float32", "schedule": "constant", "clip": 0.0, "weight_decay": 0.0, "log_every": 1}
    curve = run(tmp_path, **fields).card.curve
    expected = plain_loop(tiny(**fields))
    assert [loss for loss in curve["train_loss"] if loss is not None] == pytest.approx(expected, abs=2e-5)
    wrong = plain_loop(tiny(**fields, seed=1))
    assert curve["train_loss"][-1] != pytest.approx(wrong[-1], abs=2e-5)


LLAMA = {**MODEL, "block": "llama", "base": 100.0}


def train_losses(folder, **fields):
    curve = run(folder, precision="float32", log_every=1, **fields).card.curve
    return [loss for loss in curve["train_loss"] if loss is not None]


@pytest.mark.deep
def test_where_windows_begin_changes_nothing_for_relative_positions_and_much_for_others(tmp_path):
    for rotated, changes in (("qk", False), ("qkvo", False), ("q", True), ("v", True)):
        model = {**LLAMA, "rotated": rotated}
        at_0, anywhere, again = (
            train_losses(tmp_path / f"{rotated}-{name}", model=model, starts=starts)
            for name, starts in (("at-0", 1), ("anywhere", 129), ("again", 129))
        )
        assert anywhere == again
        assert (anywhere == pytest.approx(at_0, abs=1e-5)) is not changes


@pytest.mark.deep(keep=1)
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize("bos", [False, True])
def test_the_same_seed_gives_the_same_bits_twice_and_another_seed_does_not(tmp_path, precision, bos):
    one, same, other = (
        run(tmp_path / name, precision=precision, bos=bos, seed=seed) for name, seed in (("a", 0), ("b", 0), ("c", 1))
    )
    assert found(one) == found(same)
    assert weights(tmp_path / "a") == weights(tmp_path / "b")
    assert one.card.final["loss"] != other.card.final["loss"]


def test_it_learns_and_the_card_says_what_happened(tmp_path):
    card = run(tmp_path, steps=150, eval_every=50).card
    assert card.final["loss"] < 0.8 * math.log(29)
    assert card.curve["step"][:3] == [7, 14, 21]
    assert [v is not None for v in card.curve["valid_loss"]].count(True) == 3
    assert card.final["step"] == 150
    assert card.final["tokens"] == 300  # every token of the validation stream but the first
    assert card.final["batches"] == 5  # 19 windows of 16, four to a batch
    assert card.best["loss"] <= card.final["loss"]
    assert card.parameters["total"] == sum(p.numel() for p in load_model(tmp_path).parameters())
    assert card.config_hash == tiny(steps=150, eval_every=50).digest
    assert card.volatile["threads"] == 1
    assert card.volatile["versions"]["torch"] == metadata.version("torch")


def test_the_final_loss_is_the_saved_models_own(tmp_path):
    card, model = run(tmp_path, precision="float32").card, load_model(tmp_path)
    valid = torch.from_numpy(CORPUS.valid.astype(int))
    nats = sum(
        torch.nn.functional.cross_entropy(model(x[None])[0], y, reduction="sum").item()
        for x, y in zip(valid[:-1].split(16), valid[1:].split(16), strict=True)
    )
    assert card.final["loss"] == pytest.approx(nats / 300, abs=1e-5)


@pytest.mark.deep
def test_micro_batches_change_the_memory_and_not_the_result(tmp_path, monkeypatch):
    whole = run(tmp_path / "whole", precision="float32")
    monkeypatch.setattr(learner, "MEMORY", 1)
    parts = run(tmp_path / "parts", precision="float32")
    assert (whole.card.volatile["micro_batch"], parts.card.volatile["micro_batch"]) == (4, 1)
    assert parts.card.final["loss"] == pytest.approx(whole.card.final["loss"], abs=1e-4)


def test_the_papers_step_is_cut_to_fit_eight_gigabytes():
    paper = model_config(tiny(seq_len=1024, model={}), vocab_size=50_257)
    rows = micro_batch(paper, rows=16, memory=learner.MEMORY)
    assert 1 <= rows < 16
    assert micro_batch(paper, rows=16, memory=1e12) == 16
    assert 16 % rows == 0
    assert micro_batch(paper, rows=10**9 + 7, memory=1e12) == 1  # a prime, and it does not count down to it
    small = model_config(tiny(), vocab_size=29)
    row = 16 * (16 * 29 + 4 * 2 * (14 * 16 + 6 * 64 + 4 * 2 * 8))  # tokens x (the logits' bytes + those of two blocks)
    assert [micro_batch(small, rows=4, memory=bytes_) for bytes_ in (2 * row - 1, 2 * row)] == [1, 2]


WEIGHTS = 29 * 16 + 2 * (4 * 16 * 16 + 2 * 16 * 64)
LONG = {"seq_len": 1024, "batch_size": 1}


@pytest.mark.parametrize(
    ("fields", "trained", "what", "needed"),
    [
        ({}, False, "about 6.61e+03 parameters", 4 * WEIGHTS),
        ({}, True, "about 6.61e+03 parameters", 16 * WEIGHTS),  # weight, gradient and two moments
        (LONG, False, "positions up to 1.02e+03", 8 * 1024 * 8),
        (LONG, True, "the logits of one window of validation", 8 * 1024 * 29),
        ({"eval_batch_size": 1000}, True, "the logits of a batch of validation", 4 * 1000 * 16 * 29),
    ],
)
def test_what_a_run_needs_is_counted_to_the_byte(fields, trained, what, needed, monkeypatch):
    run = tiny(**fields)
    model = model_config(run, vocab_size=29)
    monkeypatch.setattr(learner, "_memory", lambda _: needed)
    assert expect_memory(model, run=run if trained else None) is model
    monkeypatch.setattr(learner, "_memory", lambda _: needed - 1)
    with pytest.raises(ArgumentError, match=f"got {re.escape(what)}, which take"):
        expect_memory(model, run=run if trained else None)


@pytest.mark.parametrize(
    "changes",
    [
        *({"model": MODEL | each} for each in ({"d_model": 10**9}, {"n_layers": 10**9}, {"mlp_width": 10**12})),
        {"vocab_multiple": 10**12},
        {"starts": 10**12},
    ],
)
def test_a_model_that_no_memory_holds_is_refused_in_words(tmp_path, changes):
    with pytest.raises(ArgumentError, match=r"that fits into the .* GiB of memory here, got .*: choose smaller sizes"):
        run(tmp_path, **changes)
    assert not list(tmp_path.iterdir())


def test_a_curve_of_one_point_needs_no_memory_for_more(tmp_path):
    assert run(tmp_path, log_every=10**12).card.curve["step"][-1] == 40


def test_a_time_budget_stops_cleanly_and_the_rest_follows(tmp_path):
    whole, steps = run(tmp_path / "whole", steps=12), []
    for _ in range(60):
        outcome = run(tmp_path / "parts", steps=12, time_budget_s=0)
        steps.append(outcome.step)
        if outcome.finished:
            break
        assert outcome.reason == "time"
    assert steps == list(range(1, 13))
    assert found(outcome) == found(whole)
    assert weights(tmp_path / "parts") == weights(tmp_path / "whole")


def test_ctrl_c_ends_after_the_step_with_a_checkpoint(tmp_path, monkeypatch):
    once, step = [11], learner.Learner.step

    def interrupted(self, *batch, **how):
        if len(calls := interrupted.calls) == 10 and once:
            once.clear()
            os.kill(os.getpid(), 2)
        calls.append(1)
        return step(self, *batch, **how)

    interrupted.calls = []
    monkeypatch.setattr(learner.Learner, "step", interrupted)
    outcome = run(tmp_path / "parts")
    assert (outcome.reason, outcome.step, outcome.card) == ("interrupted", 11, None)
    assert found(run(tmp_path / "parts")) == found(run(tmp_path / "whole"))


def test_a_checkpoint_is_saved_when_it_is_due(tmp_path, monkeypatch):
    steps, save = [], checkpoint.save

    def saved(folder, *, tensors, state):
        steps.append(state["step"])
        save(folder, tensors=tensors, state=state)

    monkeypatch.setattr(checkpoint, "save", saved)
    train(tiny(), out=tmp_path, corpus=CORPUS, threads=1, checkpoint_every=15, progress=False)
    assert steps == [0, 15, 30, 40]


def test_the_clock_counts_all_steps_but_the_first_of_each_start(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(run_record, "time", SimpleNamespace(monotonic=lambda: now[0]))
    record = Record(tiny())
    assert record.tokens_per_s == 0
    for speed in (64 / 2.5, 64 / 2.5):  # of four windows with 16 tokens each
        for seconds in (9.0, 2.0, 3.0):
            with record.stopwatch:
                now[0] += seconds
        assert record.tokens_per_s == speed
        record = Record(tiny(), record.to_dict())
    assert (record.state["starts"], record.state["wall_s"]) == (3, 28.0)


def test_where_windows_begin_is_the_same_in_all_versions(tmp_path):
    """Another stream of random numbers would change each card whose windows begin anywhere."""
    run = Run(tiny(starts=129, steps=6, model=LLAMA), tmp_path, CORPUS, Processes(torch.device("cpu")), False)
    assert run.starts.tolist() == [67, 114, 128, 71, 39, 103]


def test_the_run_of_no_config_is_a_small_one_that_ends_with_a_validation():
    model = model_config(DEFAULT_RUN, vocab_size=1024)
    assert (model.n_layers, model.width) == (4, 32)
    assert DEFAULT_RUN.steps % DEFAULT_RUN.eval_every == 0


def test_a_finished_run_returns_its_card_without_training(tmp_path, monkeypatch):
    first = run(tmp_path)
    monkeypatch.setattr(learner.Learner, "step", lambda *_: pytest.fail("trained again"))
    assert run(tmp_path).card == first.card


def test_another_runs_folder_is_refused(tmp_path):
    run(tmp_path, steps=2)
    with pytest.raises(CheckpointError, match="a folder of its own"):
        run(tmp_path, steps=3)


def test_a_loss_that_is_not_finite_stops_with_step_and_config(tmp_path):
    with pytest.raises(NonFiniteLossError, match=r"got (nan|inf) at step 2 of 40.*\"lr\": 1e\+30"):
        run(tmp_path, lr=1e30, clip=0.0, schedule="constant", precision="float32")


def test_a_full_disk_is_reported_and_the_run_goes_on_from_what_was_saved(tmp_path, monkeypatch):
    whole, calls, fsync = run(tmp_path / "whole"), [], os.fsync

    def full(handle):
        calls.append(handle)
        if len(calls) > 12:  # four whole checkpoints have three calls each
            raise OSError(errno.ENOSPC, "No space left on device")
        fsync(handle)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CheckpointError, match=r"No space left on device.*start the run again"):
        train(tiny(), out=tmp_path / "parts", corpus=CORPUS, threads=1, checkpoint_every=5, progress=False)
    assert not list((tmp_path / "parts").glob(".*partial"))
    monkeypatch.setattr(os, "fsync", fsync)
    assert load_model(tmp_path / "parts")
    assert found(run(tmp_path / "parts")) == found(whole)


def test_an_unwritable_folder_is_found_out_before_the_first_step(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setattr(learner.Learner, "step", lambda *_: pytest.fail("trained first"))
    with pytest.raises(CheckpointError, match="could not write the checkpoint of step 0"):
        run(tmp_path / "file" / "run")


def test_without_a_compiler_the_run_is_eager_and_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(learner, "COMPILE_PAYS", 1)
    monkeypatch.setattr(environment.shutil, "which", lambda _: None)
    assert run(tmp_path / "auto", steps=2).card.volatile["compiled"] is False
    assert "not compiled: no C++ compiler" in capsys.readouterr().out
    with pytest.raises(ArgumentError, match="no C\\+\\+ compiler"):
        run(tmp_path / "always", steps=2, compile="always")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"model": {"depth": 3}}, r"expected fields of GPTConfig.*got \['depth'\]"),
        ({"model": {"seq_len": 99}}, "seq_len=16, which the run decides, got 99"),
        ({"seq_len": 5000}, "at least 5001 tokens, got 2000"),
    ],
)
def test_a_run_that_cannot_be_is_refused(tmp_path, fields, said):
    with pytest.raises(ValueError, match=said):
        run(tmp_path, **fields)


def test_the_vocabulary_holds_bos_and_its_padding():
    sizes = {
        (b, m): model_config(tiny(bos=b, vocab_multiple=m), vocab_size=29).vocab_size
        for b in (False, True)
        for m in (1, 16)
    }
    assert sizes == {(False, 1): 29, (True, 1): 30, (False, 16): 32, (True, 16): 32}


SCRIPT = """
import sys
sys.path.insert(0, {root!r})
from tests.training.tiny import TinyCorpus, tiny
from rope_lab.training.run.loop import train
train(tiny(**{fields!r}), out={out!r}, corpus=TinyCorpus(), device="cpu", threads=1, progress=False)
"""


def outside(folder, *launcher, **fields):
    """Train in processes of its own, where nothing checks signatures; then read the finished run here."""
    script = folder.with_suffix(".py")
    root = Path(__file__).resolve().parents[3]
    script.write_text(SCRIPT.format(out=str(folder), root=str(root), fields=fields))
    command, one_thread = [sys.executable, *launcher, str(script)], {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=one_thread)
    assert done.returncode == 0, done.stderr
    return run(folder, **fields)


@pytest.mark.deep
@pytest.mark.slow
def test_two_processes_match_one(tmp_path):
    """Under torchrun, with gloo: each takes half of the batch, and all agree to float32's rounding."""
    fields = {"precision": "float32", "steps": 20}
    torchrun = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
    one, two = run(tmp_path / "one", **fields), outside(tmp_path / "two", *torchrun, **fields)
    assert two.card.volatile["processes"] == 2
    assert two.card.curve["train_loss"] == pytest.approx(one.card.curve["train_loss"], abs=1e-4)
    assert two.card.final["loss"] == pytest.approx(one.card.final["loss"], abs=1e-4)
    pairs = zip(load_model(tmp_path / "one").parameters(), load_model(tmp_path / "two").parameters(), strict=True)
    assert max((a - b).abs().max().item() for a, b in pairs) < 1e-3


@pytest.mark.deep
@pytest.mark.slow
@pytest.mark.skipif(environment.why_not_compile("cpu") is not None, reason="torch.compile needs g++ and Python headers")
@pytest.mark.parametrize("starts", sampled([1, 129], [1]))
def test_a_compiled_run_agrees_with_an_eager_one(tmp_path, starts):
    model = {**LLAMA, "n_layers": 1, "rotated": "k"}
    fields = {"precision": "float32", "steps": 10, "model": model, "starts": starts}
    eager, compiled = run(tmp_path / "e", **fields), outside(tmp_path / "c", compile="always", **fields)
    assert compiled.card.volatile["compiled"] is True
    assert compiled.card.final["loss"] == pytest.approx(eager.card.final["loss"], abs=1e-4)
