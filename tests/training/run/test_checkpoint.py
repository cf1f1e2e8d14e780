"""A damaged checkpoint is refused in words that name the file, and what was trained stays where it is."""

import json
import shutil

import pytest

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
        (lambda _: "[1]", r"expected the fields .*, got \[1\]\."),
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


def test_a_checkpoint_of_an_earlier_version_goes_on(folder):
    index = folder / checkpoint.NAME
    index.write_text(without("state_sha256")(json.loads(index.read_text())))
    go_on(folder)
    assert "state_sha256" in json.loads(index.read_text())


@pytest.mark.parametrize("name", ["record", "scaler", "card"])
def test_a_run_goes_on_from_all_that_was_saved_and_a_model_needs_less(name, folder):
    index = folder / checkpoint.NAME
    index.write_text(sealed(json.loads(without(name)(json.loads(index.read_text())))))
    with pytest.raises(CheckpointError, match=rf"expected the fields .*\b{name}\b.*, got step, .* Move .* aside"):
        go_on(folder)
    assert load_model(folder)
