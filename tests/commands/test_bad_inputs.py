"""The table of bad inputs: each is answered in words and a status, in time, and leaves everything as it was."""

import gzip
import hashlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from rope_lab import cli
from rope_lab.reading import MOST
from rope_lab.training.results import cards
from rope_lab.training.run.environment import MALLOC
from tests.audit.implementations import Here
from tests.training.tiny import card

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="pipes that have names, /dev/full and /proc")
TABLE = tomllib.loads(Path(__file__).with_name("bad_inputs.toml").read_text(encoding="utf-8"))["rows"]
SECONDS = 60  # for a call in a process of its own, whatever the machine does beside it
WORDS = {"{LONG}": "a" * 300, "{LONGER}": "a" * 5000, "{ESC}": "\x1b]0;x\x07\x1b[2J", "{DIGITS}": "1" * 5000}
WORDS["{DEEP}"] = "[" * 100_000
RIGHT = b"rope_lab.audit.gallery:right\n"
MANY = re.compile(r"cards check|sweep crope-table1$")  # they say more than the one sentence


def of_card(**changes):
    return cards.line(card(**changes)).encode()


def packed(*lines, **changes):
    head = {"cards": len(lines), "sha256": [hashlib.sha256(line).hexdigest() for line in lines]} | changes
    return gzip.compress(b"\n".join([json.dumps(head).encode(), *lines, b""]), mtime=0)


MADE = {  # what lies in the folder where the calls are made
    "absent": None,
    "bomb.gz": lambda: gzip.compress(bytes(100 * MOST), 1),
    "cards/demo/cpu/x.json": lambda: of_card(variant=WORDS["{ESC}"], experiment=".."),
    "cards/demo/cpu/digits.json": lambda: b'{"seed": ' + b"1" * 5000 + b"}",
    "cut.gz": lambda: packed(of_card())[:-9],
    "cut.json": lambda: b'{"model_type": "llama"',
    "deep.json": WORDS["{DEEP}"].encode,
    "digits.json": lambda: b'{"seed": ' + b"1" * 5000 + b"}",
    "empty.gz": lambda: b"",
    "empty.json": lambda: b"",
    "escapes.gz": lambda: packed(of_card(variant=WORDS["{ESC}"])),
    "file.txt": lambda: b"mine",
    "hashes.gz": lambda: packed(of_card(), sha256=["0" * 64]),
    "head.gz": lambda: gzip.compress(b"[" * 2_000_000),
    "json.py": lambda: b"raise SystemExit('it ran')",
    "json.txt": lambda: b"json:f",
    "large.json": lambda: b" " * (MOST + 1),
    "lines.json": lambda: b'{\n "model_type": "llama"\n}\n',
    "list.json": lambda: b"[]",
    "more.gz": lambda: packed(of_card()) + b"more",
    "nested.json": lambda: b'{"model": ' + b"[" * 300 + b"]" * 300 + b"}",
    "nested/demo/cpu/x.json": lambda: b"[" * 300 + b"]" * 300,
    "odd.txt": lambda: RIGHT + RIGHT.rstrip() + b" head_dim=15",
    "odd_text.txt": lambda: RIGHT + RIGHT.rstrip() + b' head_dim="a"',
    "odd_true.txt": lambda: RIGHT + RIGHT.rstrip() + b" head_dim=true",
    "run/checkpoint.json": lambda: b'{"tensors": "../../x", "sha256": "", "config": {}, "vocab_size": 1e999}',
    "settings.txt": lambda: b"# none\n\n",
    "targets.txt": lambda: RIGHT,
    "text.json": lambda: b"\xff\x80\x00",
    "wrong.json": lambda: b'{"model_type": "llama", "stepz": 3}',
}


def called():
    """Each row: its words, what a shell adds, and the block that says what is expected."""
    for block in TABLE:
        for call in [*block.get("calls", []), *block.get("said", [])]:
            for got in block.get("got", [""]):
                for after in block.get("after", [""]):
                    yield call.replace("{}", got), after, block


ROWS = list(called())
SAMPLE = [next(row for row in ROWS if " ".join(filter(None, row[:2])) == b["sample"]) for b in TABLE if "sample" in b]


def words(call):
    for name, text in WORDS.items():
        call = call.replace(name, text)
    return [word.replace("\0", " ") for word in shlex.split(call)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("bad")
    for name, content in MADE.items():
        if content:
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_bytes(content())
    (place / "folder.json").mkdir()
    os.mkfifo(place / "pipe.json")
    (place / "dead").symlink_to("nowhere")
    (place / "out").symlink_to("/dev/stdout")
    (place / "loop.json").symlink_to("loop.json")
    return place


@pytest.fixture
def around(tmp_path, folder, monkeypatch):
    """An empty home, an empty cache and an empty folder for what is temporary: whatever is left behind is seen."""
    monkeypatch.chdir(folder)
    monkeypatch.delenv("ROPE_LAB_DATA", raising=False)
    monkeypatch.setenv("ROPE_LAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "400")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for name, value in MALLOC.items():  # set already, so that no command starts this Python over
        monkeypatch.setenv(name, value)
    return tmp_path


def seen(*folders):
    """All files with what a write would change; but for the caches that a call may fill."""
    found = [path for each in folders for path in each.rglob("*")]
    caches = ("cache", "torchinductor")
    found = [path for path in found if not any(part.startswith(caches) for part in path.parts)]
    return {path: (status := path.lstat()).st_mode and (status.st_size, status.st_mtime_ns) for path in found}


def faults(row, status, output, before, after):
    """Say what is wrong with an answer; "" where nothing is."""
    call, _, block = row
    plain = " ".join(output.split())
    found = [f"status {status}"] * (status != block["status"])
    found += [f"no {words!r}" for words in block["words"] if not re.search(words, plain)]
    found += ["no name"] * (block.get("named", False) and words(call)[-1][:60] not in output)
    said = block.get("said", {}).get(call, "")
    found += [f"no {said!r}"] * (not output.startswith(said) if status == 1 else said not in plain)
    found += [word for word in ("Traceback", "\x1b", "\x07") if word in output]
    found += ["long"] * (len(output) > (6000 if status == 2 or "{LONGER}" in call else 1500))
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    found += [f"{path.name:.50} changed" for path in changed if not path.is_dir() or path not in before]
    return f"{call:.99}: {', '.join(found)}: {plain:.300}" if found else ""


def here(row):
    """Call in this process, as the tests of all commands do."""

    def late(*_):
        raise TimeoutError(f"no answer within {SECONDS} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        done = CliRunner().invoke(cli.app, words(row[0]))
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    bug = "" if isinstance(done.exception, SystemExit | None) else f"Traceback: {done.exception!r}"
    if done.exit_code == 1 and not MANY.match(row[0]) and (done.output.count("\n") > 1 or done.output[-1:] != "\n"):
        bug += "Traceback: expected one sentence"
    return done.exit_code, done.output + bug


def installed(row):
    """Call the command as a reader does; its process leads a group, of which nobody may be left."""
    command = ["bash", "-o", "pipefail", "-c", f'"$@" {row[1]}', "bash", Path(sys.executable).with_name("rope-lab")]
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen([*command, *words(row[0])], start_new_session=True, **options) as asked:
        try:
            output = asked.communicate(timeout=SECONDS)[0].decode()
        except subprocess.TimeoutExpired:
            output = "Traceback: no answer in time"
        try:
            os.killpg(asked.pid, signal.SIGKILL)
            output += "Traceback: a process is left"
        except ProcessLookupError:
            pass
    return asked.returncode, output


def walked(rows, ask, *folders):
    for row in rows:
        before = seen(*folders)
        if fault := faults(row, *ask(row), before, seen(*folders)):
            yield fault


@pytest.mark.usefixtures("untyped")
def test_every_bad_input_is_answered_in_words(around, folder, monkeypatch):
    for commands in ("audit", "shift", "atlas"):
        monkeypatch.setattr(f"rope_lab.commands.{commands}_commands.Auditor", Here)
    monkeypatch.setattr("rope_lab.training.run.doctor.advice", lambda *_: None)  # it times this machine
    assert not (found := "\n".join(walked([row for row in ROWS if not row[1]], here, folder, around))), found


@pytest.mark.parametrize("row", SAMPLE, ids=lambda row: " ".join(row[:2]).strip())
def test_the_installed_command_answers_so_too(row, around, folder):
    assert not (found := "\n".join(walked([row], installed, folder, around))), found


@pytest.mark.deep
@pytest.mark.parametrize("block", TABLE, ids=lambda block: next(iter(block.get("calls") or block["said"])))
def test_every_row_through_the_installed_command(block, around, folder):
    assert not (found := "\n".join(walked([row for row in ROWS if row[2] is block], installed, folder, around))), found


@pytest.mark.parametrize(
    ("status", "output", "fault"),
    [(0, "expected, got", "status 0"), (1, "Traceback expected got", "Traceback"), (1, "no", "no 'expected"),
     (1, "expected got \x1b[2J", "\x1b"), (1, "expected got" + 6000 * "!", "long"), (1, "expected, got", "no name"),
     (1, "So list.json: expected, got", "no 'list.json: '")],
)  # fmt: skip
def test_control_a_bad_answer_is_seen(status, output, fault, tmp_path):
    named, said = (row for row in ROWS if row[0] == "train list.json")
    assert fault in faults(named, status, output, {}, {}) + faults(said, status, output, {}, {})
    (tmp_path / "mine").write_text("mine")
    before = seen(tmp_path)
    (tmp_path / "mine").write_text("yours")
    assert "mine changed" in faults(named, 1, "list.json: expected, got", before, seen(tmp_path))
    assert not any(faults(row, 1, "list.json: expected, got", before, before) for row in (named, said))


def without_rows(group, rows, names=()):
    """Return the commands and options that no row gives."""
    for name, each in group.commands.items():
        if hasattr(each, "commands"):
            yield from without_rows(each, rows, (*names, name))
            continue
        own = [row.split() for row in rows if row.split()[: len(names) + 1] == [*names, name]]
        asked = [[]] + [option.opts for option in each.params if option.param_type_name == "option"]
        yield from (" ".join([*names, name, *o[:1]]) for o in asked if not any(not o or set(o) & set(r) for r in own))


def test_every_command_and_option_has_a_row():
    rows = [row[0] for row in ROWS]
    assert list(without_rows(get_command(cli.app), rows)) == []
    fewer = [row for row in rows if "--keep" not in row and not row.startswith("exercises")]
    assert set(without_rows(get_command(cli.app), fewer)) == {
        "cards add --keep", "exercises", "exercises --answers"
    }  # fmt: skip
