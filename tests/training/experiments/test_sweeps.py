"""A sweep does each run once, in order, survives what happens to it, and means the same to each executor."""

import contextlib
import io
import itertools
import json
import os
import select
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from rope_lab.errors import MissingPackageError
from rope_lab.nn.gpt import GPTConfig
from rope_lab.training.experiments import catalogue, sweeps, worker
from rope_lab.training.experiments.catalogue import RUNGS, experiment
from rope_lab.training.experiments.sweeps import Setup, _settle, is_done, sweep
from rope_lab.training.experiments.worker import STOPPED, TRAIN, UNDER_WAY
from rope_lab.training.files import UnderWayError
from rope_lab.training.results import cards, intervals, result_tables
from rope_lab.training.run.config import DEFAULT_RUN, RunConfig
from tests.nn import peer
from tests.training.tiny import tiny

# A stand-in for the training loop: it says where it ran, and fails, waits or stops when a run asks for that.
QUICK = """
import os, time
from types import SimpleNamespace
from rope_lab.training.results.cards import Card

def train(config, *, out, corpus, time_budget_s=None, **_):
    mood = config.model.get("mood", "well")
    out.mkdir(parents=True, exist_ok=True)
    if mood == "fails":
        raise RuntimeError("the loss is not finite")
    if mood == "waits":
        try:
            with open(os.environ["BEGAN"], "w") as told:  # a pipe
                told.write(".")
            for _ in range(3000):  # a signal between two steps ends the next; one long wait may begin just after it
                time.sleep(0.1)
        except KeyboardInterrupt:
            (out / "saved").touch()
            return SimpleNamespace(card=None, reason="interrupted")
    if mood == "stops" or time_budget_s == 0:
        return SimpleNamespace(card=None, reason="time")
    end = {"step": config.steps, "loss": 3.0 + 0.1 * config.seed + 0.01 * len(config.variant), "sd": 0.1, "batches": 2}
    return SimpleNamespace(reason="finished", card=Card(
        experiment=config.experiment, rung=config.rung, variant=config.variant, seed=config.seed,
        config=config.to_dict(), config_hash=config.digest, parameters={"total": 1}, final=end, best=end,
        data={"corpus": config.corpus, "tokenizer": config.tokenizer, "vocab_size": corpus.vocab_size, "hashes": {}},
        curve={"step": [1], "valid_loss": [3.0]},
        volatile={"commit": "", "date": "today", "device": "cpu", "versions": {}, "tokens_per_s": 1.0, "wall_s": 1.0,
                  "threads": int(os.environ.get("OMP_NUM_THREADS", "0")),
                  "malloc": "MALLOC_TRIM_THRESHOLD_" in os.environ},
    ))
"""


@pytest.fixture
def setup(tmp_path, monkeypatch):
    """A setup whose training is the stand-in, in a folder that other processes can import from."""
    (tmp_path / "quick_training.py").write_text(QUICK)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(tmp_path), str(Path(__file__).parents[3]))))
    monkeypatch.setenv("ROPE_LAB_CACHE", str(tmp_path / "data"))
    monkeypatch.syspath_prepend(tmp_path)

    def make(**options):
        options = {"results": tmp_path / "results", "runs": tmp_path / "runs", "executor": "inline", **options}
        return Setup(progress=False, train="quick_training:train", **options)

    return make


def runs(*moods, seeds=(0,)):
    return [
        RunConfig(experiment="demo", variant=f"{mood}{i}", seed=seed, model={"mood": mood})
        for seed in seeds
        for i, mood in enumerate(moods)
    ]


def written(folder):
    return sorted(path.name for path in Path(folder).rglob("*.json"))


def test_every_run_is_done_once(setup):
    listed = runs("well", "well", seeds=(0, 1))
    first, second = sweep(listed, setup()), sweep(listed, setup())
    assert first.done == second.skipped == [config.name for config in listed]
    assert not second.done
    assert all(is_done(config, setup().results) for config in listed)


def test_a_card_among_the_lines_of_a_file_is_done_and_a_damaged_line_is_not(setup):
    listed = runs("well", "well")
    sweep(listed, setup())
    folder, lines = cards.places("demo", "cpu", root=setup().results)
    cards.write_all(cards.load_all("demo", "cpu", root=setup().results), lines)
    for path in folder.iterdir():
        path.unlink()
    assert sweep(listed, setup()).skipped == [config.name for config in listed]
    lines.write_bytes(lines.read_bytes()[:-50])
    assert sweep(listed, setup()).done == [listed[1].name]


def test_another_config_under_the_same_name_is_another_run(setup):
    old = runs("well")[0]
    new = RunConfig.from_json({**old.to_dict(), "steps": old.steps + 1})
    sweep([old], setup())
    assert sweep([new], setup()).done == [new.name]
    assert not is_done(old, setup().results)


def test_a_damaged_card_is_done_again(setup):
    (config,) = runs("well")
    sweep([config], setup())
    (path,) = (setup().results / "demo" / "cpu").iterdir()
    path.write_text(damaged := path.read_text()[:-50])
    assert sweep([config], setup()).done == [config.name]
    assert path.with_name(f"{path.name}.before").read_text() == damaged  # set aside, not lost


def test_a_run_that_another_process_trains_is_under_way_and_did_not_fail(setup, monkeypatch):
    def held(*_):
        raise UnderWayError("another process is training there")

    (config,) = runs("well")
    monkeypatch.setattr("quick_training.train", lambda *_, **__: held())
    report = sweep([config], setup())
    assert (report.under_way, report.failed, report.done) == ([config.name], {}, [])
    monkeypatch.undo()


def test_an_interrupted_run_stops_the_whole_sweep(setup, monkeypatch):
    begun = []

    def interrupted(config, **_):
        begun.append(config.name)
        return SimpleNamespace(card=None, reason="interrupted")

    monkeypatch.setattr("quick_training.train", interrupted)
    with pytest.raises(KeyboardInterrupt):
        sweep(runs("well", "well"), setup())
    assert len(begun) == 1


@pytest.mark.parametrize(("mood", "status"), [("well", 0), ("stops", STOPPED)])
def test_a_worker_keeps_the_card_of_its_order_and_says_how_it_ended(setup, monkeypatch, mood, status):
    (config,) = runs(mood)
    order = worker.Order(config.to_dict(), str(setup().runs), train=setup().train)
    monkeypatch.setattr(sys, "stdin", io.StringIO(worker.request(order, setup().results)))
    assert worker.main() == status
    assert is_done(config, setup().results) is (mood == "well")


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize("ending", [STOPPED, UNDER_WAY, 1])
def test_a_worker_s_status_says_how_its_run_ended(setup, ending):
    told = []
    setup().runs.mkdir()
    (setup().runs / f"{runs('well')[0].name}.log").touch()
    _settle(
        SimpleNamespace(returncode=ending), runs("well")[0], setup(), 1.0, lambda _, outcome, *__: told.append(outcome)
    )
    assert told == [{STOPPED: "stopped", UNDER_WAY: "under_way", 1: "failed"}[ending]]


def test_a_run_that_fails_or_stops_takes_no_other_with_it(setup):
    report = sweep(runs("fails", "well", "stops"), setup())
    ((name, said),) = report.failed.items()
    assert said.startswith("RuntimeError: the loss is not finite (see ")
    assert "Traceback" in (setup().runs / f"{name}.log").read_text()
    assert len(report.done) == len(report.stopped) == 1


@pytest.mark.parametrize("seconds", [1e-9, 0.0])
def test_out_of_time_the_rest_is_left(setup, seconds):
    report = sweep(runs("well", "well"), setup(time_budget_s=seconds))
    assert len(report.stopped) == 2
    assert not written(setup().results)


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize("limit", [None, 60.0])
def test_a_local_run_gets_one_thread_and_the_time_that_is_left_and_is_told_with_its_seconds(setup, monkeypatch, limit):
    now, asked, told = [1000.0], [], []

    class Ended:
        """A worker that has done its run when it is looked at."""

        returncode = 0

        def __init__(self, *_, env, **__):
            self.stdin = contextlib.nullcontext(
                SimpleNamespace(write=lambda data: asked.append((json.loads(data), env)))
            )

        def poll(self):
            return 0

    monkeypatch.setattr(sweeps, "Worker", Ended)
    clock = SimpleNamespace(monotonic=lambda: now[0], sleep=lambda _: now.append(now.pop() + 20))
    monkeypatch.setattr(sweeps, "time", clock)
    monkeypatch.setattr(sweeps.tqdm, "write", lambda _, text, **__: told.append(text))
    listed = runs("well", "well")
    report = sweep(listed, setup(executor="local", time_budget_s=limit))
    assert report.done == [config.name for config in listed]
    assert told == [f"{config.name}: done in 20 s" for config in listed]
    assert [order["order"]["time_budget_s"] for order, _ in asked] == ([None, None] if limit is None else [60, 40])
    assert {(order["order"]["threads"], env["OMP_NUM_THREADS"]) for order, env in asked} == {(1, "1")}


@pytest.mark.deep
def test_local_processes_have_one_thread_each_and_the_allocator_s_settings(setup):
    report = sweep(runs("well", "fails", "well"), setup(executor="local", jobs=2))
    assert len(report.done) == 2
    (said,) = report.failed.values()
    assert said.startswith("RuntimeError: the loss is not finite (see ")
    for card in cards.load_all("demo", "cpu", root=setup().results):
        assert card.volatile["threads"] == 1
        assert card.volatile["malloc"] == (sys.platform == "linux")


SWEEP = """
from pathlib import Path
from rope_lab.training.run.signals import interrupts
from rope_lab.training.run.config import RunConfig
from rope_lab.training.experiments.sweeps import Setup, sweep
listed = [RunConfig(experiment="demo", variant=f"waits{i}", model={"mood": "waits"}) for i in range(3)]
with interrupts():
    sweep(listed, Setup(Path("results"), Path("runs"), jobs=2, progress=False, train="quick_training:train"))
"""


@pytest.mark.deep(keep=1)
@pytest.mark.usefixtures("setup")
@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_sweep_lets_its_runs_save_and_leaves_none_behind(tmp_path, monkeypatch, by):
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setenv("BEGAN", str(tmp_path / "pipe"))
    pipe = os.open(tmp_path / "pipe", os.O_RDWR)  # not for reading alone, which would wait here for the first run
    sweeping = subprocess.Popen([sys.executable, "-c", SWEEP], cwd=tmp_path, stderr=subprocess.DEVNULL)
    began = b""
    while len(began) < 2:
        assert select.select([pipe], [], [], 90)[0], f"expected two runs to begin within 90 seconds, got {len(began)}"
        began += os.read(pipe, 2)
    os.close(pipe)
    sweeping.send_signal(by)
    assert sweeping.wait(90) != 0
    assert len(list((tmp_path / "runs").glob("*/saved"))) == 2
    assert not written(tmp_path / "results")


@pytest.fixture
def cluster(setup, monkeypatch):
    """A Ray cluster on this machine: required in CI. Its workers start with the environment that ``setup`` made."""
    ray = peer.load("ray")
    monkeypatch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    monkeypatch.setenv("RAY_agent_register_timeout_ms", "90000")  # a busy machine starts Ray's agents slowly
    options = {"num_cpus": 2, "include_dashboard": False, "log_to_driver": False, "configure_logging": False}
    try:
        ray.init(**options)
    except Exception:  # Ray gives its own helpers fifteen seconds to start; a busy machine may need a second attempt
        ray.shutdown()
        ray.init(**options)
    yield setup
    ray.shutdown()


@pytest.mark.deep
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of a first attempt to start Ray
def test_ray_takes_the_same_list(cluster):
    report = sweep(runs("well", "fails", "well"), cluster(executor="ray", jobs=2))
    assert (len(report.done), len(report.failed)) == (2, 1)
    assert "the loss is not finite" in next(iter(report.failed.values()))
    assert written(cluster().results) == ["well0-seed0.json", "well2-seed0.json"]
    real = [
        tiny(experiment="demo", variant=name, steps=5, corpus="tinyshakespeare", tokenizer="bpe-256", eval_tokens=64)
        for name in ("one", "other")
    ]
    trained = replace(cluster(executor="ray", jobs=2), train=TRAIN, results=cluster().results / "trained")
    assert sorted(sweep(real, trained).done) == sorted(run.name for run in real)
    here = replace(trained, executor="inline", results=cluster().results / "here", runs=cluster().runs / "here")
    assert sweep(real, here).done == [run.name for run in real]
    for there, ours in zip(*(cards.load_all("demo", "cpu", root=s.results) for s in (trained, here)), strict=True):
        assert there.config_hash == ours.config_hash
        assert there.loss() == pytest.approx(ours.loss(), abs=1e-3)


def test_a_cluster_gets_as_many_runs_at_a_time_as_there_are_jobs(setup, monkeypatch):
    held = []  # at each wait for one of them
    ray = SimpleNamespace(
        is_initialized=lambda: True,
        remote=lambda _: SimpleNamespace(options=lambda **_: SimpleNamespace(remote=lambda order: order.carry_out)),
        wait=lambda references, num_returns: held.append(len(references)) or (references[:num_returns], []),
        get=lambda carry_out: carry_out(),
    )
    monkeypatch.setitem(sys.modules, "ray", ray)
    report = sweep(runs("well", "fails", "well"), setup(executor="ray", jobs=2))
    assert (len(report.done), len(report.failed), held) == (2, 1, [2, 2, 1])


def test_without_ray_the_extra_is_named(setup, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingPackageError, match=r"expected Ray installed, found none; pip install 'rope-lab\[ray\]'"):
        sweep(runs("well"), setup(executor="ray"))


def test_an_impossible_setup_is_refused():
    with pytest.raises(ValueError, match="expected one of local, inline, ray, got 'slurm'"):
        Setup(executor="slurm")
    with pytest.raises(ValueError, match="expected a number from 1 to 4096, got 0"):
        Setup(jobs=0)


# The experiments


def made():
    """Every experiment at every rung that it has."""
    for name, rung in itertools.product(catalogue.names(), RUNGS):
        with contextlib.suppress(ValueError):
            yield experiment(name, rung)


@pytest.mark.deep(keep=16)
@pytest.mark.parametrize("found", list(made()), ids=lambda found: f"{found.name}-{found.rung}")
def test_an_experiment_s_runs_are_distinct_seed_major_and_paired(found):
    assert len({run.digest for run in found.runs}) == len(found.runs)
    if found.name != "crope-confirm":  # its primary runs come first: see test_planned.py
        assert [run.seed for run in found.runs] == sorted(run.seed for run in found.runs)
    grid = {(run.seed, run.setting, run.variant) for run in found.runs}
    assert len(grid) == len(found.runs)
    assert {seed for seed, _, variant in grid if variant == found.reference} == {seed for seed, _, _ in grid}
    for run in found.runs:  # within a setting, variants differ in the model and in what is asked of it
        reference = next(r for r in found.runs if (r.setting, r.seed) == (run.setting, run.seed))
        same = {"model": {}, "variant": "", "measure": []}
        assert {**run.to_dict(), **same} == {**reference.to_dict(), **same}
        assert RunConfig.from_json(run.to_json()) == run


@pytest.mark.parametrize(
    ("name", "rung", "count"),
    [("crope-table1", "cpu", 18), ("placements", "cpu", 45), ("crope-table1", "colab", 15), ("placements", "colab", 9)],
)
def test_the_rungs_have_the_declared_size(name, rung, count):
    assert len(experiment(name, rung).runs) == count


def test_the_paper_rung_is_the_paper_s_setting():
    run = experiment("crope-table1", "paper").runs[0]
    assert (run.batch_size, run.seq_len, run.steps) == (16, 1024, 10_000)
    assert (run.lr, run.schedule, run.decay, run.decay_every) == (1e-3, "step", 0.8, 1000)
    assert {run.corpus for run in experiment("crope-table1", "paper").runs} == {"wikitext-2", "ptb", "pg19"}


@pytest.mark.deep
def test_every_model_of_an_experiment_can_be_built():
    for run in itertools.chain.from_iterable(found.runs for found in made()):
        GPTConfig(**run.model)


def test_an_unknown_experiment_or_rung_is_told_what_there_is():
    with pytest.raises(ValueError, match=r"got 'table9'; `rope-lab results` lists them"):
        experiment("table9")
    with pytest.raises(ValueError, match="got 'placement'; did you mean placements"):
        experiment("placement")
    with pytest.raises(ValueError, match="expected one of cpu, colab, paper, got 'moon'"):
        experiment("placements", "moon")


def test_runs_are_chosen_by_names_that_exist():
    found = experiment("crope-table1")
    pair = [run.variant for run in found.runs][:2]
    chosen = found.chosen(variants=[f"{pair[0]} ,{pair[1]}"], seeds=["1"])
    assert {(run.variant, run.seed) for run in chosen} == {(variant, 1) for variant in pair}
    with pytest.raises(ValueError, match=r"variant: expected one of .*RoPE.*, got 'ropes'"):
        found.chosen(variants=[f"{pair[0]},ropes"])


def test_one_run_is_changed_field_by_field():
    run = DEFAULT_RUN.changed(["steps=7", "model.base=100.0", "corpus=ptb", "model.rotated=vo"])
    assert (run.steps, run.model["base"], run.corpus, run.model["rotated"]) == (7, 100.0, "ptb", "vo")
    for wrong in ("steps", "stepz=3", "optimizer.lr=3"):
        with pytest.raises(ValueError, match="expected"):
            DEFAULT_RUN.changed([wrong])


# The tables


@pytest.fixture
def table1(setup, tmp_path):
    """Cards of Table 1 at the cpu rung with the loss that the stand-in gives."""
    listed = [{**run.to_dict(), "corpus": "tinyshakespeare"} for run in experiment("crope-table1").runs[:12]]
    sweep([RunConfig.from_json(run) for run in listed], setup())
    return tmp_path / "results"


def test_a_table_pairs_by_seed_and_sets_the_published_number_beside(table1):
    found = result_tables.summary("crope-table1", "cpu", root=table1)
    by_name = {row.variant: row for row in found["rows"]}
    assert by_name["RoPE"].difference is None
    assert by_name["RoPE"].mean == pytest.approx(3.09)
    assert by_name["CRoPE QKV"].difference.mean == pytest.approx(0.05)
    assert by_name["CRoPE QKV"].published_difference == pytest.approx(5.3730 - 5.3644)
    assert by_name["CRoPE QKV"].verdict == "worse, as published"
    assert by_name["half width"].published is None
    assert by_name["absolute scaled"].published == by_name["absolute vaswani"].published == 5.7486
    assert found["outdated"] == 12  # these cards are of another corpus than the experiment's
    assert [row.mean for row in found["rows"]] == sorted(row.mean for row in found["rows"])
    assert found["rows"][0].verdict == "reference"
    assert result_tables.table(found).row_count == 7  # with a line that names the setting


def test_an_opposite_sign_and_an_undecided_one_are_said():
    def verdict(difference, published):
        return result_tables.Row("", "x", 3, 3.0, 0.1, difference, 1.0, published, 1, "y").verdict

    assert verdict(intervals.Interval(0.2, 0.1, 3), -0.5) == "worse, not as published"
    assert verdict(intervals.Interval(0.2, 0.3, 3), -0.5) == "undecided"
    assert verdict(intervals.interval([0.2]), None) == "one seed"


def test_an_experiment_without_cards_names_the_command(tmp_path):
    with pytest.raises(ValueError, match="found none; `rope-lab sweep placements --rung paper` makes them"):
        result_tables.summary("placements", "paper", root=tmp_path)


def test_before_the_reference_has_a_card_differences_are_left_out(setup, tmp_path):
    runs = [{**run.to_dict(), "corpus": "tinyshakespeare"} for run in experiment("placements").runs[1:3]]
    sweep([RunConfig.from_json(run) for run in runs], setup())
    found = result_tables.summary("placements", "cpu", root=tmp_path / "results")
    assert {(row.variant, row.difference, row.verdict) for row in found["rows"]} == {("Q", None, ""), ("K", None, "")}


def test_an_unknown_reference_is_told_what_there_is(table1):
    with pytest.raises(ValueError, match=r"reference: expected one of CRoPE QKV, .*got 'XPOS'"):
        result_tables.summary("crope-table1", "cpu", root=table1, reference="XPOS")
