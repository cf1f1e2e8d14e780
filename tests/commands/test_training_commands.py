"""The commands say what they did and where, and what to do when they cannot; never a traceback."""

import inspect
import json
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rope_lab.cli import app
from rope_lab.commands import doctor_commands, training_commands
from rope_lab.errors import FileError
from rope_lab.training.data import sources
from rope_lab.training.experiments.catalogue import every_experiment, experiment, names, rungs
from rope_lab.training.experiments.sweeps import Report, Setup
from rope_lab.training.files import expect_file
from rope_lab.training.results import cards
from rope_lab.training.run import environment
from rope_lab.training.run.doctor import Answer
from rope_lab.training.run.environment import MALLOC
from tests.training.tiny import card


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Call `rope-lab` in an empty folder, with an empty data folder and no copies."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ROPE_LAB_DATA", raising=False)
    monkeypatch.setenv("ROPE_LAB_CACHE", str(tmp_path / "cache"))
    for name, value in MALLOC.items():  # set already, so that no command starts this Python over
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    return lambda *arguments: CliRunner().invoke(app, arguments, catch_exceptions=False)


TINY = [
    f"--set={change}"
    for change in (
        "steps=3",
        "eval_every=0",
        "eval_tokens=64",
        "seq_len=16",
        "batch_size=2",
        "precision=float32",
        "tokenizer=bpe-256",
        "model.n_layers=1",
        "model.n_heads=2",
        "model.d_model=8",
    )
]


def test_train_writes_a_card_and_a_second_call_finds_it(run, tmp_path):
    first, second = (run("train", *TINY, "--out", "here") for _ in range(2))
    assert first.exit_code == second.exit_code == 0, first.output
    assert "after 3 steps" in first.stdout
    assert first.stdout == second.stdout
    found = cards.read(tmp_path / "here" / "rope-seed0.json")
    assert found.config["model"]["d_model"] == 8


def test_train_takes_a_config_from_a_card_s_own_block(run, tmp_path):
    run("train", *TINY, "--out", "here")
    config = cards.read(tmp_path / "here" / "rope-seed0.json").config
    (tmp_path / "again.json").write_text(json.dumps(config))
    again = run("train", "again.json", "--out", "there")
    assert again.exit_code == 0
    here, there = (cards.read(tmp_path / folder / "rope-seed0.json") for folder in ("here", "there"))
    assert here.curve == there.curve


def test_results_come_as_a_table_and_as_json(run, tmp_path):
    for variant, loss in (("NoPE", 3.4), ("QK", 3.1)):
        for seed in (0, 1):
            made = card(variant, seed, loss, experiment="placements", config={"setting": ""})
            cards.write(made, tmp_path / "results" / "placements" / "cpu")
    shown = run("results", "placements", "--results", "results")
    assert shown.exit_code == 0
    assert "QK" in shown.stdout
    plain = json.loads(run("results", "placements", "--results", "results", "--json").stdout)
    assert [row["variant"] for row in plain["rows"]] == ["QK", "NoPE"]
    assert plain["rows"][0]["difference"]["mean"] == pytest.approx(-0.3)
    assert plain["rows"][0]["verdict"] == "better, as published"


@pytest.mark.deep
def test_results_without_a_name_list_the_experiments(run, tmp_path):
    run_of = experiment("placements").runs[0]
    made = card(run_of.variant, 0, experiment="placements", config=run_of.to_dict(), config_hash=run_of.digest)
    cards.write(made, tmp_path / "results" / "placements" / "cpu")
    shown = run("results", "--results", "results")
    assert shown.exit_code == 0
    assert "1 of 45 runs" in shown.stdout
    rows = json.loads(run("results", "--results", "results", "--json").stdout)
    assert {row["experiment"] for row in rows} == {name for name in names() if rungs(name)}
    (placements,) = (row for row in rows if (row["experiment"], row["rung"]) == ("placements", "cpu"))
    assert (placements["done"], placements["cards"], placements["runs"]) == (1, 1, 45)
    assert all(row["done"] == 0 for row in rows if row["experiment"] != "placements")


def test_data_list_shows_what_is_here_and_every_licence(run, monkeypatch):
    shown = run("data", "list")
    assert shown.exit_code == 0
    for name in sources.registry():
        assert name in shown.stdout
    assert "absent" in shown.stdout
    assert "present" in shown.stdout
    assert "copies in ROPE_LAB_DATA" not in shown.stdout
    monkeypatch.setenv("ROPE_LAB_DATA", "/copies")
    assert "copies in ROPE_LAB_DATA: /copies" in " ".join(run("data", "list").stdout.split())


def test_data_get_says_the_licence_before_it_fetches(run, monkeypatch, tmp_path):
    monkeypatch.setattr(sources, "get", lambda *_, **__: tmp_path)
    assert "NO OPEN LICENCE" in run("data", "get", "ptb").stdout


def test_data_verify_finds_damage(run, tmp_path):
    fine = run("data", "verify")
    assert (fine.exit_code, fine.stdout.splitlines()[0]) == (0, "tinyshakespeare: as it should be, files read: 1")
    (tmp_path / "cache" / "tinyshakespeare").mkdir(parents=True)
    (tmp_path / "cache" / "tinyshakespeare" / "input.txt").write_text("not Shakespeare")
    wrong = run("data", "verify")
    assert wrong.exit_code == 1
    assert "input.txt is damaged" in wrong.stdout


def test_cards_are_checked_and_taken_in(run, tmp_path):
    made = tmp_path / "theirs" / "cache-stream"
    for each in cards.load_all("cache-stream", "cpu"):
        cards.write(each, made / "cpu")
    assert run("cards", "check", "theirs").stdout == "3 of 3 cards belong.\n"
    assert "3 cards added to ours." in run("cards", "add", "theirs", "--results", "ours").stdout
    there, ours = (cards.places("cache-stream", "cpu", root=root)[1] for root in (None, tmp_path / "ours"))
    assert ours.read_bytes() == there.read_bytes()
    again = run("cards", "add", "theirs", "--results", "ours").stdout
    assert again.count("kept the card that was there") == 3
    (one, *_) = (made / "cpu").glob("*.json")
    one.write_text(one.read_text().replace('"rung": "cpu"', '"rung": "colab"', 1))
    refused = run("cards", "check", "theirs")
    assert refused.exit_code == 1
    assert "2 of 3 cards belong." in refused.stdout
    assert sum(each["fine"] for each in json.loads(run("cards", "check", "theirs", "--json").stdout)) == 2
    stopped = run("cards", "add", "theirs", "--results", "others")
    assert stopped.exit_code == 1
    assert "1 of 3 that do not" in stopped.stderr


def test_a_card_with_other_numbers_is_refused_or_kept(run, tmp_path):
    (one, *_) = cards.load_all("cache-stream", "cpu")
    cards.write(one, tmp_path / "theirs" / "cache-stream" / "cpu")
    cards.write(replace(one, measured={"share": 0.5}), tmp_path / "ours" / "cache-stream" / "cpu")
    refused = run("cards", "add", "theirs", "--results", "ours")
    assert (refused.exit_code, "--keep keeps what is there" in refused.stderr) == (1, True)
    kept = run("cards", "add", "theirs", "--results", "ours", "--keep").stdout
    assert "kept the card that was there" in kept
    assert "0 cards added" in kept


def test_what_a_stranger_wrote_does_not_steer_the_terminal(run, tmp_path):
    evil = "\x1b]0;pwned\x07\x1b[2J [red]x"
    (one, *others) = cards.load_all("placements", "cpu")
    for each in (replace(one, variant=evil, config_hash=evil), *others):
        cards.write(each, tmp_path / "theirs" / "placements" / "cpu")
    shown = [run("cards", "check", "theirs"), run("results", "placements", "--results", "theirs", "--reference", evil)]
    shown.append(run("results", "placements", "--results", "theirs", "--reference", "none"))
    for each in shown:
        assert "\\x1b]0;pwned\\x07\\x1b[2J" in each.output
        assert not {"\x1b", "\x07"} & set(each.output)
    assert "[red]" in shown[1].output


def test_a_sweep_ends_with_its_cards_in_one_file(run, tmp_path):
    shutil.copytree(cards.RESULTS / "cache-stream", tmp_path / "results" / "cache-stream")
    setup = Setup(results=tmp_path / "results", runs=tmp_path / "runs")
    assert training_commands.tell_end("cache-stream", "cpu", Report(skipped=["a", "b", "c"]), setup) == 0
    assert run("cards", "check", "results/cache-stream-cpu.jsonl.gz").stdout == "3 of 3 cards belong.\n"


def test_the_doctor_prints_what_it_found_and_what_a_table_would_take(run, monkeypatch):
    sound = Answer("machine", "ok", "a stand-in", tokens_per_s=20_000.0)
    monkeypatch.setattr(doctor_commands, "examine", lambda _: iter([sound]))
    shown = run("doctor")
    assert shown.exit_code == 0
    assert "a stand-in" in shown.stdout
    assert "crope-table1 at paper: 54 runs" in shown.stdout
    assert "first `rope-lab data get ptb`" in shown.stdout.replace("\n", " ")
    found = json.loads(run("doctor", "--json").stdout)
    assert [row["rung"] for row in found["predicted"]] == ["cpu", "colab", "paper"]
    assert {row["said"].partition(";")[0] for row in found["predicted"]} == {
        "(predicted from the count of multiplications)"
    }
    monkeypatch.setattr(doctor_commands.torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(doctor_commands, "own_speed", lambda run, **_: run.train_tokens / 3600)
    own = json.loads(run("doctor", "--json").stdout)["predicted"][2]  # a small model would leave a GPU waiting
    assert own["said"].startswith("(predicted from its own steps, not compiled)")
    assert own["seconds"] == pytest.approx(54 * 3600, rel=0.05)
    broken = Answer("forward, float32", "wrong", "too coarse")
    monkeypatch.setattr(doctor_commands, "examine", lambda _: iter([broken]))
    wrong = run("doctor")
    assert wrong.exit_code == 1
    assert "crope-table1" not in wrong.stdout  # nothing was measured rightly, so nothing is predicted


def test_out_of_time_is_a_status_of_its_own_and_an_interruption_another(run, monkeypatch):
    short = run("train", *TINY, "--out", "here", "--minutes", "0")
    assert (short.exit_code, "The same command goes on" in short.stdout) == (training_commands.UNFINISHED, True)
    assert "75 where --minutes ran out" in " ".join(run("train", "--help").stdout.split())

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("rope_lab.training.run.loop.train", interrupted)
    assert run("train", *TINY, "--out", "there").exit_code == 130


@pytest.mark.parametrize(
    ("report", "status"),
    [({}, 0), ({"stopped": ["a"]}, 75), ({"under_way": ["a"]}, 75), ({"failed": {"a": "b"}, "stopped": ["c"]}, 1)],
)
def test_a_sweep_s_status_says_what_is_left(tmp_path, capsys, report, status):
    setup = Setup(results=tmp_path / "results", runs=tmp_path / "runs")
    assert training_commands.tell_end("cache-stream", "cpu", Report(**report), setup) == status
    assert ("1 under way in another process" in capsys.readouterr().err) == ("under_way" in report)


def test_a_file_that_can_be_written_stays_as_it_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine").write_text("mine")
    for fine in ("mine", "new/below"):
        expect_file(Path(fine), option="--out")
    with pytest.raises(FileError, match="--out: expected a f"):  # no call of a command can hold this name
        expect_file(Path("a\0"), option="--out")
    assert Path("mine").read_text() == "mine"
    assert sorted(os.listdir()) == ["mine", "new"]  # noqa: PTH208 - names alone


def test_runs_are_chosen_by_name_and_a_name_may_hold_a_comma():
    table = experiment("crope-table1")
    chosen = table.chosen(variants=["RoPE,CRoPE QKV"], seeds=["0, 1"], corpora=["wikitext-2"])
    assert {run.variant for run in chosen} == {"RoPE", "CRoPE QKV"}
    assert {run.seed for run in chosen} == {0, 1}
    assert table.chosen() == table.runs
    other = next(each for each in every_experiment() if any("," in run.variant for run in each.runs))
    name = next(run.variant for run in other.runs if "," in run.variant)
    assert {run.variant for run in other.chosen(variants=[name])} == {name}
    for wrong in ({"variants": ["ROPE"]}, {"seeds": ["0,99"]}, {"corpora": [""]}):
        with pytest.raises(ValueError, match=r"expected one of .*, got "):
            table.chosen(**wrong)


def test_what_a_driver_without_the_command_line_imports_stands():
    """The names by which runs are made on a borrowed machine that has another typer."""
    from rope_lab.training.data import corpora
    from rope_lab.training.experiments import catalogue, sweeps
    from rope_lab.training.experiments.card_packs import pack
    from rope_lab.training.run import environment

    inspect.signature(catalogue.experiment).bind("crope-table1", "paper")
    inspect.signature(pack).bind("crope-table1", "paper", root=Path("r"), out=Path("o"))
    inspect.signature(corpora.load).bind("wikitext-2", tokenizer="gpt2")
    inspect.signature(environment.tuned).bind()
    inspect.signature(environment.commit).bind()
    folders = {"results": Path("r"), "runs": Path("s")}
    setup = sweeps.Setup(**folders, executor="inline", device="cpu", time_budget_s=1.0, progress=False)
    inspect.signature(sweeps.sweep).bind((), setup)
    assert (Report().done, Report().skipped, Report().stopped, Report().failed) == ([], [], [], {})


def test_a_tree_without_git_reads_its_commit_from_a_file(tmp_path, monkeypatch):
    place = tmp_path / "rope_lab" / "training" / "run" / "environment.py"
    place.parent.mkdir(parents=True)
    place.write_text(Path(environment.__file__).read_text())
    (tmp_path / "pyproject.toml").touch()
    monkeypatch.setattr(environment, "__file__", str(place))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert environment.commit() == ""
    for said, expected in (("a" * 40 + "\n", "a" * 40), ("b" * 40 + "+", "b" * 40 + "+"), ("mine", ""), ("\xff", "")):
        (tmp_path / "COMMIT").write_text(said, encoding="latin-1")
        assert environment.commit() == expected


@pytest.mark.parametrize(
    ("says", "expected"),
    [
        ({"url": "https://x.org", "vcs_info": {"vcs": "git", "commit_id": "a" * 40}}, "a" * 40),
        ({"url": "https://x.org", "vcs_info": {"vcs": "hg", "commit_id": "12"}}, ""),
        ({"url": "file:///home/x", "dir_info": {"editable": True}}, ""),
        ({"url": "file:///home/x", "dir_info": {}}, ""),
        ([], ""),
        (None, ""),
    ],
)
def test_an_installed_package_names_the_commit_that_pip_took_it_from(tmp_path, monkeypatch, says, expected):
    place = tmp_path / "rope_lab" / "training" / "run" / "environment.py"
    own = tmp_path / "rope_lab-0.1.0.dist-info"
    own.mkdir()
    (own / "METADATA").write_text("Metadata-Version: 2.1\nName: rope-lab\nVersion: 0.1.0\n")
    if says is not None:
        (own / "direct_url.json").write_text(json.dumps(says))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.setattr(environment, "__file__", str(place))
    place.parent.mkdir(parents=True)
    place.touch()
    assert environment.commit() == expected
    (own / "extra_metadata").mkdir()  # as hatch_build.py notes it in a wheel
    (own / "extra_metadata" / "COMMIT").write_text("b" * 40 + "+")
    assert environment.commit() == (expected if says and "vcs_info" in says else "b" * 40 + "+")
    monkeypatch.setattr(environment, "__file__", str(tmp_path / "other" / "rope_lab" / "training" / "run" / "x.py"))
    assert environment.commit() == ""  # the control: what runs is another copy


@pytest.mark.parametrize(
    ("changed", "sign"),
    [
        ("nn/rotary.py", "+"),
        ("chapters/ch15_x/experiments_planned.py", "+"),
        ("chapters/ch15_x/measures.py", "+"),
        ("chapters/ch13_x/offset_head.py", "+"),
        ("chapters/ch15_x/claims_book.py", ""),
        ("chapters/ch15_x/figures.py", ""),
        ("chapters/ch15_x/board.js", ""),
        ("show/style.py", ""),
    ],
)
def test_the_sign_of_a_card_is_that_of_what_trains(tmp_path, monkeypatch, changed, sign):
    def git(*arguments):
        who = ("-c", "user.name=x", "-c", "user.email=x@example.com")
        return subprocess.run(
            ["git", *who, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout

    place = tmp_path / "rope_lab" / "training" / "run" / "environment.py"
    for file in (place, tmp_path / "rope_lab" / changed):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("A = 1\n")
    git("init", "--quiet")
    git("add", "--all")
    git("commit", "--quiet", "--message", "one")
    monkeypatch.setattr(environment, "__file__", str(place))
    assert environment.commit() == git("rev-parse", "HEAD").strip()
    (tmp_path / "rope_lab" / changed).write_text("A = 2\n")
    assert environment.commit() == git("rev-parse", "HEAD").strip() + sign
