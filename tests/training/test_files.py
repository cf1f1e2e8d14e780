"""Two processes in one run's folder: the second is told, and the first loses nothing."""

import os
import subprocess
import sys

import pytest

from rope_lab.training.files import exclusive
from rope_lab.training.run.checkpoint import CheckpointError
from rope_lab.training.run.loop import train
from tests.training.tiny import TinyCorpus, found, tiny

HOLDING = """
import sys
from pathlib import Path
from rope_lab.training.files import exclusive
with exclusive(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def other(tmp_path):
    """Another process that holds the folder ``here`` until it is killed."""
    command = [sys.executable, "-c", HOLDING, str(tmp_path / "here")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


@pytest.mark.skipif(os.name != "posix", reason="the lock is that of POSIX systems")
def test_a_folder_in_use_is_refused_until_the_other_ends_even_by_a_kill(tmp_path, other):
    folder = tmp_path / "here"
    with pytest.raises(CheckpointError, match="for this run alone, but another process is training there: wait"):
        train(tiny(steps=3), out=folder, corpus=TinyCorpus(), progress=False)
    assert list(folder.iterdir()) == []
    assert train(tiny(steps=3), out=tmp_path / "there", corpus=TinyCorpus(), progress=False).finished  # the control
    other.kill()
    other.wait()
    done = train(tiny(steps=3), out=folder, corpus=TinyCorpus(), progress=False)
    assert found(done) == found(train(tiny(steps=3), out=folder, corpus=TinyCorpus(), progress=False))


def test_nothing_is_left_behind_and_a_failure_lets_go(tmp_path):
    for _ in range(2):
        with pytest.raises(ZeroDivisionError), exclusive(tmp_path / "here"):
            raise ZeroDivisionError
    with exclusive(tmp_path / "here"):
        assert list((tmp_path / "here").iterdir()) == []


def test_a_folder_that_cannot_be_made_is_the_checkpoint_s_to_tell(tmp_path):
    (tmp_path / "file").write_text("")
    with exclusive(tmp_path / "file"), exclusive(tmp_path / "file" / "below"):
        pass
    with pytest.raises(CheckpointError, match="could not write the checkpoint of step 0"):
        train(tiny(steps=3), out=tmp_path / "file", corpus=TinyCorpus(), progress=False)


def test_a_run_that_cannot_begin_leaves_the_folder_to_one_that_can(tmp_path):
    with pytest.raises(ValueError, match="expected a corpus of at least 5001 tokens, got 2000"):
        train(tiny(steps=3, seq_len=5000), out=tmp_path / "here", corpus=TinyCorpus(), progress=False)
    assert train(tiny(steps=3), out=tmp_path / "here", corpus=TinyCorpus(), progress=False).finished
