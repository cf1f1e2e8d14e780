"""rope-lab audit --targets: lists of targets with settings, JSON lines, and going on after a stop."""

import json

import pytest
from typer.testing import CliRunner

from rope_lab.cli import app
from rope_lab.commands.audit_process import Auditor
from rope_lab.commands.audit_targets import Question, answered, ask_all, parse, read_settings
from tests.audit.family import TEXT

LIST = """
# what is asked
listed_family:OwnLayersRotaryEmbedding

listed_family:OwnVisionRotaryEmbedding axis=1
listed_family:no_such_name
"""


def test_a_list_is_answered_once(tmp_path, monkeypatch):
    """Settings of the line; a row for each kind of layer; what is answered is not asked again."""
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


def test_remarks_and_empty_lines():
    assert [parse(line) for line in ("", "  # only words")] == [None, None]


@pytest.mark.parametrize("change", ["axis", "=3", "a-b=3", "name=x", "limit=3", "target=f"])
def test_what_is_no_setting_is_refused(change):
    with pytest.raises(ValueError, match="--set: expected NAME=VALUE, got"):
        read_settings([change])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--targets", "no_such_file"], "--targets: expected a file with MODULE:NAME on each line"),
        (["rope_lab.audit.gallery:right", "--jsonl"], "--jsonl: goes with --targets"),
        (["--all", "--set", "axis=0"], "--set: goes with a TARGET"),
        (["rope_lab.audit.gallery:right", "--config", "no_such_file"], "--config: expected a config.json"),
        (["rope_lab.audit.gallery:right", "--set", "base=3"], "takes no settings, got base"),
    ],
)
def test_what_cannot_be_done_is_said(arguments, words):
    done = CliRunner().invoke(app, ["audit", *arguments])
    assert done.exit_code in (1, 2)
    assert words in " ".join(done.output.split())
