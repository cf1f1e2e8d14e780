"""`rope-lab atlas`: each code once, every answer kept as it comes, and what stands there already is not asked again."""

import json
import sys

import pytest
from typer.testing import CliRunner

from rope_lab.audit.atlas_rows import Definition
from rope_lab.cli import app, atlas
from rope_lab.commands import atlas_commands
from rope_lab.commands.audit_process import Auditor
from rope_lab.errors import ArgumentError, FileError

COPIES = [Definition(f"pack.m{n}:Rotary", f"m{n}.py", n, "aaaa") for n in range(5)]
OTHER = Definition("pack.other:Rotary", "other.py", 9, "bbbb")
ANSWER = {
    "skipped": None,
    "about": "as set",
    "layout": "half-split",
    "rotated_dims": 8,
    "head_dim": 8,
    "direction": 1,
    "base": 10000.0,
    "scheme": "default",
    "pairs": [[0, 4]],
    "broken_laws": {},
    "by_design": {},
    "cautions": {"survives casting": "keep it in float32"},
    "axes": [{"planes": [0, 1, 2, 3], "base": 10000.0, "frequencies": [1.0]}],
}


class Answers(Auditor):
    """In place of the process that audits: the targets in ``fails`` are refused."""

    def __init__(self, *, fails=(), stops_at=None):
        super().__init__(seconds=1)
        self.asked, self.fails, self.stops_at = [], fails, stops_at

    def ask(self, target, **_):
        if target == self.stops_at:
            raise KeyboardInterrupt
        self.asked.append(target)
        if target in self.fails:
            return [{"row": {"name": target, "skipped": "needs more"}}]
        return [{"row": {"name": f"{target} [layer_type=far]", **ANSWER}}]


@pytest.fixture
def answers(monkeypatch):
    def take(auditor):
        monkeypatch.setattr(atlas_commands, "definitions", lambda *_, **__: (*COPIES, OTHER))
        monkeypatch.setattr(atlas_commands, "version", lambda _: "1.0")
        monkeypatch.setattr(atlas_commands, "Auditor", lambda **_: auditor)
        return auditor

    return take


def test_each_code_is_asked_once_and_its_row_names_all_that_share_it(answers, capsys):
    auditor = answers(Answers())
    found = atlas_commands.survey("pack", out=None, seconds=1)
    assert auditor.asked == ["pack.m0:Rotary", "pack.other:Rotary"]
    first, second = found["rows"]
    assert first["name"] == "Rotary [layer_type=far]"
    assert first["shared"] == [copy.target for copy in COPIES[1:]]
    assert first["axes"] == [{"planes": 4, "base": 10000.0}]
    assert "pairs" not in first
    assert (second["file"], second["line"], second["shared"]) == ("other.py", 9, [])
    first["skipped"] = "expected shape [batch, seq], got [/b]\x1b[31m, m:x:f"  # foreign words: no markup, no pictures
    atlas_commands.show(found)
    said = " ".join(capsys.readouterr().out.split())
    assert "pack 1.0" in said
    assert "[batch," in said
    assert "m:x:f" in said
    assert "\x1b" not in said


def test_a_copy_that_is_refused_hands_on_to_the_next_and_not_for_ever(answers):
    auditor = answers(Answers(fails=("pack.m0:Rotary",)))
    assert atlas_commands.survey("pack", out=None, seconds=1)["rows"][0]["target"] == "pack.m1:Rotary"
    auditor = answers(Answers(fails=[copy.target for copy in COPIES]))
    refused = atlas_commands.survey("pack", out=None, seconds=1)["rows"][0]
    assert refused["skipped"] == "needs more"
    assert len([target for target in auditor.asked if target != OTHER.target]) == atlas_commands.TRIED


def test_what_was_answered_before_a_stop_is_kept_and_not_asked_again(answers, tmp_path):
    out = tmp_path / "pack.json"
    answers(Answers(stops_at=OTHER.target))
    with pytest.raises(KeyboardInterrupt):
        atlas_commands.survey("pack", out=out, seconds=1)
    assert len(json.loads(out.read_text())["rows"]) == 1
    auditor = answers(Answers())
    atlas_commands.survey("pack", out=out, seconds=1)
    assert auditor.asked == [OTHER.target]
    assert [row["body"] for row in json.loads(out.read_text())["rows"]] == ["aaaa", "bbbb"]


@pytest.mark.parametrize(("text", "said"), [("no JSON", "a file of this command"), ("{}", "a file of this command")])
def test_a_file_of_another_kind_stays_as_it_is(answers, tmp_path, text, said):
    (tmp_path / "pack.json").write_text(text)
    answers(Answers())
    with pytest.raises(FileError, match=said):
        atlas_commands.survey("pack", out=tmp_path / "pack.json", seconds=1)
    assert (tmp_path / "pack.json").read_text() == text


def test_answers_about_another_version_stay_as_they_are(answers, tmp_path):
    out = tmp_path / "pack.json"
    out.write_text(json.dumps({"library": "pack", "version": "0.9", "date": "", "torch": "", "rows": []}))
    answers(Answers())
    with pytest.raises(FileError, match=r"pack 1\.0.*about pack 0\.9"):
        atlas_commands.survey("pack", out=out, seconds=1)


@pytest.mark.parametrize("row", [{"skipped": "x"}, {"skipped": None, "body": [1]}, {"skipped": None, "body": "b"}, 3])
def test_answers_with_half_a_row_are_another_file(row, answers, tmp_path):
    auditor, out = answers(Answers()), tmp_path / "pack.json"
    atlas_commands.survey("pack", out=out, seconds=1)
    out.write_text(json.dumps(json.loads(out.read_text()) | {"rows": [row]}))
    auditor.asked.clear()
    with pytest.raises(FileError, match="expected a file of this command or none"):
        atlas_commands.survey("pack", out=out, seconds=1)
    assert not auditor.asked


def test_a_survey_is_compared_with_the_one_in_the_book(answers, monkeypatch, capsys):
    answers(Answers())
    found = atlas_commands.survey("pack", out=None, seconds=1)
    first, second = found["rows"]
    older = found | {"version": "0.9", "rows": [first | {"base": 500000.0, "shared": first["shared"][:-1]}]}
    monkeypatch.setattr(atlas_commands, "atlas", lambda: (older,))
    atlas_commands.compare(found)
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("pack 0.9")
    assert "pack.m0:Rotary [layer_type=far]: base was 500000.0, is 10000.0" in said
    assert "pack.m4:Rotary [layer_type=far]: new" in said
    assert f"{second['target']} [layer_type=far]: new" in said
    monkeypatch.setattr(atlas_commands, "atlas", lambda: (found,))
    atlas_commands.compare(found)
    assert "nothing changed" in capsys.readouterr().out


def test_a_library_that_the_book_has_not_is_said_before_the_work(monkeypatch):
    monkeypatch.setattr(atlas_commands, "ask", lambda *_: pytest.fail("it was asked"))
    with pytest.raises(ArgumentError, match=r"--compare: expected one of .*transformers.*, got 'json'"):
        atlas("json", compare=True)


def test_a_package_without_rotary_embeddings_is_said():
    with pytest.raises(ArgumentError, match="PACKAGE: expected one that defines rotary embeddings, got json"):
        atlas_commands.survey("json", out=None, seconds=1)


def test_a_package_of_one_s_own_lies_where_one_stands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "atlas_of_mine").mkdir()
    (tmp_path / "atlas_of_mine" / "__init__.py").write_text("")
    done = CliRunner().invoke(app, ["atlas", "atlas_of_mine"])
    assert done.exit_code == 1
    assert "expected one that defines rotary embeddings, got atlas_of_mine" in done.stderr
