"""The size of the house: what counts where, the same with git and without, and each way in which it is refused."""

import ast
import subprocess

import pytest

from tests import house

FILES = {
    "rope_lab/errors.py": 2,
    "rope_lab/nn/rotary.py": 3,
    "rope_lab/nn/recurrence/forms.pyi": 4,
    "rope_lab/nn/data.json": 9,
    "rope_lab/chapters/__init__.py": 1,
    "rope_lab/chapters/ch01_one_plane/claims_book.py": 5,
    "rope_lab/chapters/ch02_many_planes/bank.js": 6,
    "rope_lab/chapters/ch02_many_planes/bank.css": 9,
    "book/_static/rope.css": 7,
    "book/01_one_plane.md": 8,
    "_build/html/page.js": 9,
    ".gitignore": 1,
}
LINES = {"rope_lab": 2, "rope_lab/nn": 7, "rope_lab/chapters": 12, "book/_static": 7, "pages": 8}


@pytest.fixture(params=["git", "archive"])
def tree(tmp_path, request):
    for name, lines in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("/_build/\n" if name == ".gitignore" else "x\n" * lines)
    if request.param == "git":
        subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    return tmp_path


def test_what_counts_in_each_room(tree):
    rows, wrong = house.check(tree, {"files": 11, "lines": LINES})
    assert wrong == []
    assert {room: lines for room, _, lines, most, _ in rows if room in LINES} == LINES
    assert [note for *_, note in rows if note] == ["the largest, ch02_many_planes: 6"]
    assert [row[1:3] for row in rows if row[0] == "rope_lab in all"] == [(6, 21)]


REFUSED = {
    "a line too many": (
        {"lines": LINES | {"pages": 7}},
        "pages: expected at most 7 lines, got 8; take away as much, or raise",
    ),
    "a ceiling of nothing": (
        {"lines": LINES | {"rope_lab": 0}},
        "rope_lab: expected at most 0 lines, got 2; take away",
    ),
    "a file too many": ({"files": 10}, "files: expected at most 10 of every kind, got 11; take away as much, or raise"),
    "a row without its room": (
        {"lines": LINES | {"labs": 9}},
        "labs: expected a room with files, got none; take its row out",
    ),
    "a room without its row": (
        {"lines": {room: most for room, most in LINES.items() if room != "rope_lab/nn"}},
        "rope_lab/nn: expected a ceiling in tests/house.toml, got none for 7 lines; add a row",
    ),
}


@pytest.mark.parametrize("planted", REFUSED)
def test_what_is_refused(tree, planted):
    changed, sentence = REFUSED[planted]
    _, wrong = house.check(tree, {"files": 11, "lines": LINES} | changed)
    assert len(wrong) == 1
    assert wrong[0].startswith(sentence)


def test_the_command_prints_the_table_and_fails_by_name(tree, monkeypatch, capsys):
    monkeypatch.setattr(house, "ROOT", tree)
    monkeypatch.setattr(house, "CEILINGS", tree / "house.toml")
    rows = "\n".join(f'"{room}" = {most}' for room, most in LINES.items())
    house.CEILINGS.write_text(f"files = 12\n[lines]\n{rows}\n")
    assert house.main() == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["room", "files", "lines", "ceiling"]
    assert "rope_lab/chapters           3       12       12  the largest, ch02_many_planes: 6" in lines
    (tree / "rope_lab" / "nn" / "more.py").write_text("x\n")
    assert house.main() == 1
    errors = [line for line in capsys.readouterr().out.splitlines() if line.startswith("error: ")]
    assert [line.split(":")[1] for line in errors] == [" rope_lab/nn", " files"]


def idle(source):
    """The tests of a module that may end before they ask: by a bare ``return``, or all of them below an ``if``."""
    for test in ast.walk(ast.parse(source)):
        if isinstance(test, ast.FunctionDef) and test.name.startswith("test"):
            ifs = [node for node in ast.walk(test) if isinstance(node, ast.If) and not node.orelse]
            ends = [node for node in ifs if isinstance(node.body[0], ast.Return) and node.body[0].value is None]
            if ends or (test.body[-1] in ifs and len(test.body) == 1):
                yield test.name


def test_no_test_ends_before_it_asks():
    files = sorted((house.ROOT / "tests").rglob("test_*.py"))
    assert {path.name: found for path in files if (found := [*idle(path.read_text(encoding="utf-8"))])} == {}


@pytest.mark.parametrize("body", ["if a: return\n  assert a", "for b in a:\n   if b: return", "if a: assert a"])
def test_control_a_test_that_ends_before_it_asks_is_seen(body):
    assert [*idle(f"def test_it(a):\n  {body}\n")] == ["test_it"]
    assert [*idle("def test_it(a):\n  if a:\n    assert a\n    return\n  assert not a\n")] == []
