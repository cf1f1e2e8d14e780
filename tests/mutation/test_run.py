"""The mutation run itself: what it changes, what it leaves alone, that its sample is stable, and when it fails."""

from dataclasses import replace

import pytest

from rope_lab.claims import load
from tests.mutation import claims, run

CODE = """def shorter(x: int = 3, *, by: int | None = None) -> int | None:
    if x < 2:
        raise ValueError(f"expected {2 * 1}, got {x}")
    return x - 1
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "ROOT", tmp_path)
    monkeypatch.setattr(run, "PACKAGE", tmp_path / "rope_lab")
    path = tmp_path / "rope_lab" / "algebra" / "short.py"
    path.parent.mkdir(parents=True)
    path.write_text(CODE)
    return path


def test_the_lines_that_are_changed(module):
    found = {(mutant.where, mutant.before) for mutant in run.sample([module], 100)}
    head, *_, test, _, last = ["", *[line.strip() for line in CODE.splitlines()]][1:]
    assert found == {("algebra/short.py, shorter", line) for line in (head, "if x < 2:", last)}
    assert test == "if x < 2:"


def test_a_sample_stays_when_other_lines_come_and_go(module):
    before = {mutant.name for mutant in run.sample([module], 100)}
    module.write_text(f"more = 1 + 1\n\n\n{CODE}")
    assert before < {mutant.name for mutant in run.sample([module], 100)}
    assert run.sample([module], 2) == run.sample([module], 2)


@pytest.mark.usefixtures("module")
def test_a_folder_s_mutants_are_those_of_the_whole_sample(monkeypatch):
    for other in ("rope_lab/nn/other.py", "book/_ext/more.py"):
        path = run.ROOT / other
        path.parent.mkdir(parents=True)
        path.write_text(CODE)
    samples = run.Sample(("algebra", "nn"), 5, 0.9), run.Sample(("book/_ext",), 3, 0.9)
    monkeypatch.setattr(run, "SAMPLES", samples)
    whole, *parts = (run.fixed(names) for names in (["algebra", "nn"], ["algebra"], ["nn/other.py"]))
    assert len(whole) == 5
    assert all(parts)
    assert sorted(parts[0] + parts[1], key=lambda mutant: mutant.name) == whole
    outside = run.fixed(["book/_ext"])
    assert {mutant.path for mutant in outside} == {"book/_ext/more.py"}
    assert all(mutant.name.startswith("book/_ext/more.py, shorter: ") for mutant in outside)
    assert run.fixed(["algebra", "nn", "book/_ext"]) == whole + outside


def test_what_is_to_be_caught_is_not_the_name_of_a_module(module):
    module.write_text("try:\n    x = 1\nexcept (a.Error, OSError):\n    x = 2\n")
    assert "except (a.Error, CosmicRayTestingException):" in {mutant.after for mutant in run.sample([module], 9)}


def ends(survivor: str, others: int, *, folder: str = "") -> dict:
    dead = {run.Mutant("", f"{folder}a.py, f", "", i, "x", f"y{i}"): "killed" for i in range(others)}
    return {**dead, run.Mutant("", f"{folder}a.py, {survivor}", "", 0, "x < 1", "x <= 1"): "survived"}


@pytest.mark.parametrize(
    ("survivor", "others", "status"),
    [("unlisted", 99, 1), ("listed", 99, 0), ("listed", 9, 1), ("nothing", 9, 0)],  # 9 of 10 is below the bar
)
def test_a_survivor_must_be_listed_and_few_may_live(survivor, others, status, tmp_path, monkeypatch, capsys):
    listed = tmp_path / "survivors.md"
    listed.write_text(
        "## Equivalent\n\n- a.py, nothing: `x < 1` -> `x <= 1`. Why.\n\n"
        "## Not worth a test\n\n- a.py, listed: `x < 1` -> `x <= 1`. Why.\n"
    )
    monkeypatch.setattr(run, "LISTED", listed)
    assert run.report(ends(survivor, others)) == status
    assert ("not in survivors.md: a.py, unlisted" in capsys.readouterr().out) == (survivor == "unlisted")


def test_each_sample_has_its_own_bar(tmp_path, monkeypatch):
    listed = tmp_path / "survivors.md"
    listed.write_text("".join(f"- {name}/a.py, listed: `x < 1` -> `x <= 1`. Why.\n" for name in ("nn", "training")))
    monkeypatch.setattr(run, "LISTED", listed)
    assert run.report(ends("listed", 9, folder="training/")) == 0
    assert run.report(ends("listed", 9, folder="nn/")) == 1
    assert run.report({**ends("listed", 999, folder="training/"), **ends("listed", 9, folder="nn/")}) == 1


@pytest.fixture
def tree(tmp_path):
    """A tree with one module, whose only test is its example under the profile of the shared fixtures."""
    (tmp_path / "rope_lab" / "algebra").mkdir(parents=True)
    (tmp_path / "tests").mkdir()
    (tmp_path / "rope_lab" / "algebra" / "twice.py").write_text('"""Twice.\n\n>>> 1 + 1\n2\n"""\n\nx = 1\n')
    profile = "from hypothesis import settings\n\nsettings.register_profile('mutation')\n"
    (tmp_path / "tests" / "conftest.py").write_text(profile)
    return tmp_path


@pytest.mark.deep
def test_a_module_without_tests_of_its_own_is_asked_for_its_examples(tree):
    path = tree / "rope_lab" / "algebra" / "twice.py"
    tests = run.own_tests(tree, "rope_lab/algebra/twice.py")
    assert tests == ["rope_lab/algebra/twice.py"]
    assert run.passed(tree, tests, 60) == 0
    path.write_text(path.read_text().replace("\n2\n", "\n3\n"))
    assert run.passed(tree, tests, 60) == 1


@pytest.mark.deep
def test_pytest_that_cannot_run_kills_no_mutant(tree):
    with pytest.raises(RuntimeError, match=r"pytest could not run tests/nowhere.py: status 4"):
        run.passed(tree, ["tests/nowhere.py"], 60)


def test_the_tests_with_another_name_exist():
    for module, others in run.TESTED_BY.items():
        path = f"{module}.py" if module.startswith("book/") else f"rope_lab/{module}.py"
        assert (run.ROOT / path).exists(), module
        names = {file.rpartition("/")[2] for file in run.own_tests(run.ROOT, path)}
        assert {f"test_{name}.py" for name in others} <= names, module


@pytest.mark.deep
def test_a_claim_notices_a_fault_in_the_lines_that_it_runs_and_a_check_of_nothing_does_not():
    entry = load()["book.rotation-addition"]
    (mutant,) = claims.drawn(entry, 1)
    assert claims.outcome(mutant, entry, []) == "claim"
    blind = replace(entry, check=lambda turned: turned is entry.holds, witness_numbers=(), computed=None)
    assert claims.outcome(mutant, blind, []) == "lives"
    assert claims.outcome(mutant, blind, [entry]) == "neighbour"
