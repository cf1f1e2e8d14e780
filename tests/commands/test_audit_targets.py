"""rope-lab audit --targets: lists of targets with settings, JSON lines, and going on after a stop."""

import json

import pytest
from typer.testing import CliRunner

from rope_lab.cli import app
from rope_lab.commands import audit_commands
from rope_lab.commands.audit_process import Auditor
from rope_lab.commands.audit_targets import Question, answered, ask_all, parse
from rope_lab.errors import FileError
from tests.audit.family import TEXT
from tests.audit.implementations import Here

LIST = """
# what is asked
listed_family:OwnLayersRotaryEmbedding

listed_family:OwnVisionRotaryEmbedding axis=1
listed_family:no_such_name
"""


@pytest.mark.deep
def test_a_list_is_answered_once(tmp_path, monkeypatch):
    """Settings of the line; a row for each kind of layer; what is answered is not asked again."""
    monkeypatch.setattr(audit_commands, "Auditor", Here)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "listed_family.py").write_text(TEXT, encoding="utf-8")
    (tmp_path / "list.txt").write_text(LIST, encoding="utf-8")
    arguments = ["audit", "--targets", str(tmp_path / "list.txt"), "--jsonl", "--out", str(tmp_path / "rows.jsonl")]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 1  # one is skipped
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["skipped"] for row in rows] == [None, None, None, "listed_family has no no_such_name"]
    assert [row.get("base") for row in rows] == [1e4, 1e6, 1e4, None]
    assert rows[2]["settings"] == {"axis": 1}
    kept = (tmp_path / "rows.jsonl").read_text(encoding="utf-8")
    assert kept == done.stdout
    again = CliRunner().invoke(app, arguments)
    assert (again.exit_code, again.stdout) == (0, "")
    assert "3 of 3 were answered" in again.stderr


class Asked(Auditor):
    """An auditor that answers anything, and keeps what it was asked."""

    def __init__(self):
        super().__init__(seconds=1.0)
        self.questions = []

    def ask(self, target, **settings):
        self.questions.append((target, settings))
        return [{"row": {"name": target}, "ok": True}]


def test_what_a_file_has_is_not_asked_again(tmp_path):
    rows = [{"target": "a:f", "settings": {"axis": 0}}, {"target": "b:f", "settings": {}}]
    (tmp_path / "rows.jsonl").write_text(json.dumps(rows[0]) + "\n" + json.dumps(rows[1])[:-3], encoding="utf-8")
    auditor = Asked()
    questions = [Question("a:f", {"axis": 0}), Question("a:f", {"axis": 1}), Question("b:f"), Question("b:f")]
    list(ask_all(questions, auditor=auditor, done=answered(tmp_path / "rows.jsonl")))
    assert auditor.questions == [("a:f", {"axis": 1}), ("b:f", {})]


AXES = [json.dumps({"target": "a:f", "settings": {"axis": 0}, "kind": kind}) + "\n" for kind in "xy"]
OTHER = json.dumps({"target": "b:f", "settings": {}}) + "\n"


@pytest.mark.parametrize(
    "cut",
    [5, 14, 17, len(AXES[1]) - 2],  # 5: it could answer any question, the last one among them
)
def test_a_line_that_was_cut_off_goes_with_what_answers_the_same_question(cut, tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text(OTHER + AXES[0] + AXES[1][:cut], encoding="utf-8")
    assert answered(rows) == {Question("b:f").key}
    assert rows.read_text(encoding="utf-8") == OTHER


def test_a_whole_last_line_without_its_end_stays(tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text((OTHER + AXES[0])[:-1], encoding="utf-8")
    assert len(answered(rows)) == 2
    assert rows.read_text(encoding="utf-8") == OTHER + AXES[0]


@pytest.mark.parametrize(
    "text",
    [
        '{"target": "my/dataset", "epochs": 10}',
        "{",
        '{"target": 5',
        '{"target": "x", "ep',
        '{"target": "x", "settings": 3}\n',
    ],
)
def test_a_file_of_somebody_else_is_refused_and_stays(text, tmp_path):
    (tmp_path / "mine.json").write_text(text)
    with pytest.raises(FileError, match="another file"):
        answered(tmp_path / "mine.json")
    assert (tmp_path / "mine.json").read_text() == text


@pytest.mark.parametrize("cut", [14, 17, 21, 30, 40])
def test_a_first_line_that_was_cut_off_is_ours(cut, tmp_path):
    (tmp_path / "rows.jsonl").write_text(AXES[0][:cut])
    assert answered(tmp_path / "rows.jsonl") == set()
    assert (tmp_path / "rows.jsonl").read_text() == ""


def test_a_folder_is_no_file_of_answers(tmp_path):
    with pytest.raises(FileError, match="--out: expected a file that can be written"):
        answered(tmp_path)


def test_remarks_and_empty_lines():
    assert [parse(line) for line in ("", "  # only words")] == [None, None]


def test_what_a_target_did_to_the_process_is_not_told_of_the_next(tmp_path, monkeypatch):
    (tmp_path / "bad.py").write_text("import sys\ndef f(x, positions):\n    sys.modules.clear()\n")
    (tmp_path / "mine.py").write_text("def rotate(x, positions):\n    return x\n")
    monkeypatch.chdir(tmp_path)
    with Auditor(seconds=60) as auditor:
        assert " raised " in auditor.ask("bad.py:f")[0]["row"]["skipped"]
        assert auditor.ask("mine.py:rotate")[0]["row"]["skipped"] is None
