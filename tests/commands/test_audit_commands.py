"""rope-lab audit: what it prints, and when it fails."""

import json
import os
import select
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from rope_lab.audit import audits
from rope_lab.audit.audits import LIBRARY
from rope_lab.audit.tiny_models import head
from rope_lab.cli import app
from rope_lab.commands import audit_commands, shift_commands
from rope_lab.commands.audit_process import Auditor, folder_of
from rope_lab.nn import GPT, GPTConfig
from tests.audit.implementations import Here

RIGHT, NOTHING = "rope_lab.audit.gallery:right", "rope_lab.audit.gallery:no_op"


def run(*arguments):
    return CliRunner().invoke(app, ["audit", *arguments])


@pytest.fixture
def here(monkeypatch):
    """Targets are asked in this process: starting another one takes longer than most audits."""
    for commands in (audit_commands, shift_commands):
        monkeypatch.setattr(commands, "Auditor", Here)


def test_a_target():
    done = run("rotary_embedding_torch:RotaryEmbedding")
    assert done.exit_code == 0
    assert "layout        interleaved" in done.output
    assert "FAIL" not in done.output


@pytest.mark.usefixtures("here")
def test_the_width_of_a_head_is_an_option():
    assert "rotated dims  32 of 32" in run(RIGHT, "--head-dim", "32").output


@pytest.mark.usefixtures("here")
def test_a_broken_law_fails():
    done = run(NOTHING)
    assert done.exit_code == 1
    assert "FAIL  non-vacuity" in done.output


@pytest.mark.usefixtures("here")
def test_what_is_by_design_does_not_fail():
    done = run("rope_lab.audit.gallery:one_based")
    assert done.exit_code == 0
    assert "note  identity at zero" in done.output


@pytest.mark.deep
@pytest.mark.parametrize(
    ("does", "said"),
    [
        (
            "while True:\n        try: import nothing_there\n        except BaseException: pass",
            "no answer within 4 seconds",
        ),
        ("__import__('os')._exit(7)", "the process that asked it ended (status 7)"),
    ],
)
def test_a_target_that_never_ends_or_ends_its_process(does, said, tmp_path, monkeypatch):
    (tmp_path / "audit_hostile.py").write_text(f"def f(x, positions):\n    {does}\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    done = run("audit_hostile:f", "--limit", "4")
    assert (done.exit_code, said in done.output) == (1, True), done.output


HOSTILE = """
import os, subprocess, sys, threading
HERE = os.path.dirname(__file__)
def forges(x, positions):
    for pipe in range(3, 20):
        try: os.write(pipe, b'[{"row": {}, "text": "FORGED", "ok": true}]\\n{"answers": []}\\nhalf a line')
        except OSError: pass
    return x
def interrupts(x, positions): raise KeyboardInterrupt
def escapes(x, positions): raise ValueError("\\x1b[2J")
def closes(x, positions): sys.stdout.close(); return x
def leaves(x, positions):
    if not hasattr(sys, "left"):
        threading.Thread(target=threading.Event().wait).start()
        sys.left = [subprocess.Popen(["sleep", "600"], start_new_session=new) for new in (False, True)]
        open(HERE + "/left", "w").write(" ".join(str(child.pid) for child in sys.left))
    return x
def forks(x, positions):
    os.fork()
    while True: threading.Event().wait()
"""


@pytest.mark.deep
@pytest.mark.skipif(sys.platform != "linux", reason="it forks; and elsewhere what left its group is not found")
def test_no_target_of_a_list_keeps_the_next_from_being_asked(tmp_path, monkeypatch):
    """They lie where one stands, beside files that have names of the standard library and must not run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "audit_hostile.py").write_text(HOSTILE, encoding="utf-8")
    for name in ("queue", "colorsys", "statistics"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('it ran')", encoding="utf-8")
    names = ["forges", "interrupts", "escapes", "closes", "leaves", "forks"]
    lines = [*(f"audit_hostile:{name} head_dim=4" for name in names), f"{RIGHT} head_dim=4"]
    (tmp_path / "list.txt").write_text("\n".join(lines), encoding="utf-8")
    before = list(sys.path)
    done = run("--targets", "list.txt", "--limit", "20")
    assert sys.path == before
    forged, stopped, escaped, closed, left, forks, right = done.stdout.splitlines()
    assert all("non-vacuity" in line for line in (forged, closed, left))
    assert all("answers" in line for line in (stopped, escaped))
    assert "no answer within 20 seconds" in forks
    assert right.endswith("10000, all asked hold; not asked: gradient, survives casting")
    assert "\x1b" not in done.output
    for pid in (tmp_path / "left").read_text().split():
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)


@pytest.mark.skipif(sys.platform == "win32", reason="pipes that have names are of POSIX")
def test_a_command_that_is_killed_leaves_nothing(tmp_path):
    """The target has the end of a pipe, and so has its child: the pipe ends when both have ended."""
    text = "import os\ndef f(x, positions):\n    os.write(os.open('pipe', os.O_WRONLY), b'here')\n    os.fork()\n"
    (tmp_path / "audit_endless.py").write_text(text + "    while True: pass\n", encoding="utf-8")
    os.mkfifo(tmp_path / "pipe")
    pipe = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    start = [sys.executable, "-c", "from rope_lab.cli import main; main()", "audit", "audit_endless:f"]
    with subprocess.Popen(start, cwd=tmp_path) as command:
        assert select.select([pipe], [], [], 120)[0]
        assert os.read(pipe, 4) == b"here"
        command.kill()
    assert select.select([pipe], [], [], 60)[0]
    assert os.read(pipe, 4) == b""
    os.close(pipe)


def test_the_folder_where_one_stands_counts_for_what_was_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    for name in ("audit_mine.py", "audit_pack/rope.py", "numpy/notes.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("", encoding="utf-8")
    here = [str(tmp_path)]
    assert [folder_of(name) for name in ("audit_mine", "audit_pack.rope")] == [here, here]
    assert [folder_of(name) for name in ("audit_other", "audit_pack.other", "numpy", "rope_lab.nn")] == [[]] * 4


@pytest.mark.deep
def test_what_the_target_prints_is_not_in_the_json(tmp_path, monkeypatch):
    loud = "print('loading')\ndef f(x, positions):\n    print('called')\n    return x\n"
    (tmp_path / "audit_loud.py").write_text(loud, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    done = run("audit_loud:f", "--json")
    assert json.loads(done.stdout)["layout"] == "none"
    assert "loading" in done.stderr
    assert "called" in done.stderr


@pytest.mark.deep
def test_the_table_is_written_and_read(tmp_path, monkeypatch, capsys):
    few = tuple(entry for entry in LIBRARY if entry.name in ("Llama", "x-transformers", "Equinox"))
    whole = audits.audit_all
    monkeypatch.setattr(audit_commands.audits, "audit_all", lambda **asking: whole(few, **asking))
    audit_commands.audit_library(out=tmp_path / "table.json")
    table = json.loads((tmp_path / "table.json").read_text(encoding="utf-8"))
    assert [row["name"] for row in table["rows"]] == ["Llama", "x-transformers", "Equinox"]
    assert table["rows"][2]["skipped"]
    assert "half-split" in capsys.readouterr().out


def test_a_table_that_cannot_be_written_is_told_before_the_work(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(audit_commands.audits, "audit_all", lambda **_: pytest.fail("every library was asked first"))
    done = run("--all", "--out", str(tmp_path / "file" / "table.json"))
    assert (done.exit_code, "Traceback" in done.output) == (1, False)


@pytest.mark.deep(keep=1)
@pytest.mark.parametrize(
    ("does", "limit", "said"),
    [
        ("__import__('os')._exit(7)", "99", "the process that asked it ended (status 7)"),
        ("while True:\n  try: import nothing_there\n  except BaseException: pass", "4", "no answer within 4 seconds"),
    ],
)
def test_a_model_is_loaded_in_a_process_of_its_own(does, limit, said, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "transformers.py").write_text(does, encoding="utf-8")
    done = run("--model", "llama", "--limit", limit, "--json")
    assert (done.exit_code, list(json.loads(done.stdout))) == (1, ["model", "skipped"])
    assert said in done.stdout


@pytest.mark.deep
@pytest.mark.usefixtures("here")
def test_a_whole_model_from_a_config(tmp_path):
    pytest.importorskip("transformers")
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"model_type": "llama"}))
    done = run("--model", str(path), "--json")
    assert done.exit_code == 0
    assert json.loads(done.output)["relative"]


LLAMA = "transformers.models.llama.modeling_llama:LlamaRotaryEmbedding"


@pytest.mark.deep
@pytest.mark.usefixtures("here")
def test_a_schedule_is_named_by_the_configuration_that_was_given(tmp_path):
    pytest.importorskip("transformers")
    rule = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 512, "rope_theta": 10000.0}
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"head_dim": 16, "max_position_embeddings": 2048, "rope_parameters": rule}))
    done = run(LLAMA, "--config", str(path), "--json")
    assert json.loads(done.output)["scheme"] == "Yarn(factor=4, window=512), from base 10000"
    plain = run(LLAMA, "--head-dim", "16", "--json")
    assert json.loads(plain.output)["scheme"] == "one base"


@pytest.mark.usefixtures("here")
def test_a_probe_prints_the_layers_and_needs_one_model(monkeypatch):
    ours = GPT(GPTConfig(vocab_size=32, n_layers=2, n_heads=2, d_model=16, seq_len=512, std=0.3, layout="half"))
    monkeypatch.setattr("rope_lab.audit.worker.tiny_model", lambda _: ours)
    shown = run("--model", "ours", "--probe")
    assert shown.exit_code == 0
    assert "layers 0-1: half-split, 8 of 8, counter-clockwise, base 10000" in shown.stdout
    row = json.loads(run("--model", "ours", "--probe", "--json").stdout)
    assert (row["model"], row["still"]) == ("ours", [])
    assert run("--all", "--probe").exit_code == 2


def test_every_family_is_probed_into_one_file_which_goes_on_where_it_stopped(monkeypatch, tmp_path):
    asked, rows = (
        [],
        [
            {
                "model": "small",
                "skipped": None,
                "ok": True,
                "layers": 1,
                "answers": [{"layers": [0], "words": ["half"]}],
            },
            {"model": "large", "skipped": "it stays large"},
        ],
    )

    class Answers(Here):
        def ask_model(self, name, _):
            asked.append(name)
            if asked == ["small", "large"]:
                raise KeyboardInterrupt
            return [{"row": next(row for row in rows if row["model"] == name)}]

    monkeypatch.setattr(shift_commands, "Auditor", Answers)
    monkeypatch.setattr("rope_lab.audit.tiny_models.causal_families", lambda: [row["model"] for row in rows])
    out = tmp_path / "new" / "families.json"
    assert run("--model", "all", "--probe", "--limit", "7", "--out", str(out)).exit_code == 130
    assert json.loads(out.read_text())["rows"] == rows[:1]
    shown = run("--model", "all", "--probe", "--limit", "7", "--out", str(out))
    assert (shown.exit_code, asked) == (0, ["small", "large", "large"])
    assert "not answered: it stays large" in shown.stdout
    assert json.loads(out.read_text()) == head() | {"rows": rows}
    assert json.loads(run("--model", "all", "--probe", "--json").stdout)["rows"] == rows
    refused = run("--model", "all", "--out", str(out))  # another question than the file answers
    assert (refused.exit_code, "expected a file of this command or none" in refused.stderr) == (1, True)
    (tmp_path / "taken").mkdir()
    assert run("--model", "all", "--probe", "--out", str(tmp_path / "taken")).exit_code == 1


@pytest.mark.parametrize("rows", [shift_commands.SHIFT, shift_commands.PROBE])
def test_the_row_of_a_family_comes_from_the_worker(rows):
    with Auditor(seconds=100) as auditor:
        (answer,) = auditor.ask_model("llama", {f"{rows}_row": {}})
    assert (answer["row"]["model"], answer["row"]["skipped"], answer["row"]["layers"]) == ("llama", None, 2)


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of POSIX")
def test_an_input_that_is_closed_is_an_empty_one(tmp_path):
    (tmp_path / "mine.py").write_text("def rotate(x, positions):\n    return x\n")
    command = f"exec {sys.executable} -P -m rope_lab audit mine.py:rotate <&-"
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 1
    assert "not a rotary embedding" in done.stdout or "problem" in done.stdout.lower()
