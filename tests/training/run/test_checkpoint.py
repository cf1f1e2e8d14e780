"""A damaged checkpoint is refused in words that name the file, and what was trained stays where it is."""

import json
import os
import shutil
from pathlib import Path

import pytest

from rope_lab.errors import RopeLabError
from rope_lab.training.run import checkpoint
from rope_lab.training.run.checkpoint import CheckpointError
from rope_lab.training.run.loop import load_model, train
from tests.training.tiny import TinyCorpus, tiny, weights


def go_on(folder):
    train(tiny(), out=folder, corpus=TinyCorpus(), threads=1, time_budget_s=0, progress=False)


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    folder = tmp_path_factory.mktemp("begun")
    go_on(folder)
    return folder


@pytest.fixture
def folder(begun, tmp_path):
    return shutil.copytree(begun, tmp_path / "run")


def test_damaged_tensors_are_refused_by_name(folder):
    (tensors,) = folder.glob("*.safetensors")
    content = bytearray(tensors.read_bytes())
    content[-1] ^= 1
    tensors.write_bytes(content)
    with pytest.raises(CheckpointError, match=rf"{tensors.name}: expected sha256 .* Move .* aside"):
        checkpoint.load(folder)
    tensors.unlink()
    with pytest.raises(CheckpointError, match=rf"expected its tensors beside it, got .*{tensors.name}.* Move .* aside"):
        checkpoint.load(folder)


def without(name):
    return lambda state: json.dumps({key: value for key, value in state.items() if key != name})


def sealed(state):
    """With the hash that belongs to these values."""
    return json.dumps(state | {"state_sha256": checkpoint._digest(state)})


@pytest.mark.parametrize("use", [go_on, load_model])
@pytest.mark.parametrize(
    ("damage", "said"),
    [
        *(
            (without(name), rf"expected the fields .*\b{name}\b.*, got step, ")
            for name in ("config", "vocab_size", "tensors", "sha256")
        ),
        (lambda state: json.dumps(state)[:-9], "expected JSON, got "),
        (lambda _: "", "expected JSON, got "),
        (lambda _: "{}", r"expected the fields .*, got none\."),
        (lambda _: "[1]", r"expected an object, got \[1\]\."),
        (lambda state: json.dumps(state | {"tensors": 3}), "expected its tensors beside it, got "),
        (lambda state: json.dumps(state | {"sha256": 3}), "expected sha256 3"),
        (lambda state: json.dumps(state | {"vocab_size": 7}), "expected values with the sha256 "),
        (lambda state: json.dumps(state | {"record": {}}), "expected values with the sha256 "),
    ],
)
def test_a_damaged_index_is_refused_in_words_and_the_weights_stay(damage, said, use, folder):
    index, trained = folder / checkpoint.NAME, weights(folder)
    index.write_text(damage(json.loads(index.read_text())))
    with pytest.raises(CheckpointError, match=rf"(checkpoint\.json|\.safetensors): {said}.* Move .* aside"):
        use(folder)
    assert weights(folder) == trained


@pytest.mark.parametrize("use", [go_on, load_model])
def test_an_index_without_its_seal_is_refused(use, folder):
    index = folder / checkpoint.NAME
    index.write_text(without("state_sha256")(json.loads(index.read_text())))
    with pytest.raises(CheckpointError, match=r"expected the fields .*state_sha256"):
        use(folder)


@pytest.mark.parametrize("name", ["record", "scaler", "card"])
def test_a_run_goes_on_from_all_that_was_saved_and_a_model_needs_less(name, folder):
    index = folder / checkpoint.NAME
    index.write_text(sealed(json.loads(without(name)(json.loads(index.read_text())))))
    with pytest.raises(CheckpointError, match=rf"expected the fields .*\b{name}\b.*, got step, .* Move .* aside"):
        go_on(folder)
    assert load_model(folder)


PARTIAL = ".checkpoint.json.0123abcd.partial"
FOREIGN = (".notes.partial", "step-best.safetensors", "step-1000.safetensors", "model.safetensors", ".a.json.partial")


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_what_no_index_named_stays(folder):
    old = next(folder.glob("step-*"))
    killed = folder / f".{old.name}.0123abcd.partial"  # and what a kill left is removed
    for name in (*FOREIGN, killed.name):
        (folder / name).write_text("mine")
    go_on(folder)
    assert {name: found for name, found in contents(folder).items() if name in FOREIGN} == dict.fromkeys(
        FOREIGN, b"mine"
    )
    assert not killed.exists()
    assert not old.exists()
    assert len(contents(folder)) == len(FOREIGN) + 2
    train(tiny(), out=folder, corpus=TinyCorpus(), threads=1, progress=False)
    old.write_text("left by a kill after the index of the end was written")
    go_on(folder)
    assert not old.exists()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("step-best.safetensors", "mine"),
        ("run-seed0.json", "mine"),
        (PARTIAL, "mine"),
        (PARTIAL, '{"ours": ["step-0000000-' + 99 * "x"),  # begins like what a kill left, and is longer
    ],
)
def test_files_of_our_names_without_an_index_are_refused_and_stay(name, text, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(CheckpointError, match=rf"checkpoint\.json of this run, got none beside {name}: .* or choose"):
        go_on(tmp_path)
    assert contents(tmp_path) == {name: text.encode()}


@pytest.mark.parametrize("lost", [None, Path.touch, lambda index: index.symlink_to("nowhere"), os.mkfifo, os.mkdir])
def test_a_lost_index_costs_no_weights(lost, folder):
    index, trained = folder / checkpoint.NAME, weights(folder)
    index.unlink()
    if lost:
        lost(index)
    with pytest.raises(CheckpointError, match=r"checkpoint\.json"):
        go_on(folder)
    assert weights(folder) == trained


def test_what_a_kill_left_of_the_first_index_is_no_obstacle(tmp_path):
    (tmp_path / PARTIAL).write_text('{"ours": ["step-00000')
    go_on(tmp_path)
    assert len(contents(tmp_path)) == 2


def test_an_index_cannot_name_what_is_not_of_our_form(folder):
    index = folder / checkpoint.NAME
    (folder / "mine.safetensors").write_text("mine")
    index.write_text(json.dumps(json.loads(index.read_text()) | {"ours": ["mine.safetensors", "../run/x", 3]}))
    go_on(folder)
    assert (folder / "mine.safetensors").read_text() == "mine"


@pytest.mark.parametrize("finished", [False, True], ids=["unfinished", "finished"])
def test_another_run_s_card_is_refused_and_stays(finished, folder):
    if finished:
        train(tiny(), out=folder, corpus=TinyCorpus(), threads=1, progress=False)
    (folder / "run-seed0.json").write_text("mine")
    with pytest.raises(
        CheckpointError, match=r"run-seed0\.json: expected the card of this run or no file, got another"
    ):
        go_on(folder)
    assert (folder / "run-seed0.json").read_text() == "mine"


def test_another_config_in_the_folder_is_refused_and_changes_nothing(folder):
    before = contents(folder)
    with pytest.raises(CheckpointError, match="give each run a folder of its own"):
        train(tiny(lr=1e-4), out=folder, corpus=TinyCorpus(), threads=1, progress=False)
    assert contents(folder) == before


def test_weights_that_do_not_fit_their_config_are_refused(folder):
    index = folder / checkpoint.NAME
    state = json.loads(index.read_text())
    for changes in ({"vocab_size": 10**12}, {"vocab_size": "7"}, {"vocab_size": 7}, {"tensors": "../run/x"}):
        index.write_text(sealed(state | changes))
        with pytest.raises(RopeLabError, match="expected"):
            load_model(folder)
