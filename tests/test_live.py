"""Python in the book's pages: what it is made of, which cells are offered, and what a run tells the reader."""

import hashlib
import importlib
import inspect
import json
import pkgutil
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from book.live import cells, make, parts, trial
from book.live import page as side
from rope_lab.claims.ledger import LEDGER

GOOD, WRONG = (hashlib.sha256(content).hexdigest() for content in (b"good", b"wrong"))


def test_an_absent_or_damaged_file_is_fetched_and_a_sound_one_is_not(tmp_path):
    file = tmp_path / "kept" / "a.whl"
    for _ in range(2):
        parts.have({file: GOOD}, lambda into: (into / "a.whl").write_bytes(b"good"))
        parts.have({file: GOOD}, lambda _: pytest.fail("fetched again"))
        assert (list(file.parent.iterdir()), file.read_bytes()) == ([file], b"good")
        file.write_bytes(b"damaged")


@pytest.mark.parametrize(("name", "got"), [("a.whl", WRONG[:12]), ("b.whl", "no such file")])
def test_wrong_content_is_refused_by_name_and_nothing_is_left(tmp_path, name, got):
    with pytest.raises(parts.MissingPartError, match=rf"a\.whl: expected the sha256 {GOOD[:12]}\.\.\., got {got}"):
        parts.have({tmp_path / "a.whl": GOOD}, lambda into: (into / name).write_bytes(b"wrong"))
    assert not list(tmp_path.iterdir())


def test_a_command_that_fails_is_told_by_its_last_line():
    parts.called(lambda: subprocess.CompletedProcess([], 0, "", "a note"))
    for stderr, told in [("first\nno net\n\n", "no net"), ("", "status 7")]:
        with pytest.raises(parts.MissingPartError, match=f"^{told}$"):
            parts.called(lambda: subprocess.CompletedProcess([], 7, "", stderr))  # noqa: B023


def test_the_package_goes_along_without_its_commands_and_results(tmp_path):
    kept = ["rope_lab/__init__.pyi", "rope_lab/algebra/a.py", "rope_lab/story/table.json"]
    for name in [*kept, "rope_lab/commands/c.py", "rope_lab/results/r.json", "rope_lab/show/s.js", "tests/t.py"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    files = parts.package_files(tmp_path)
    assert [file.relative_to(tmp_path).as_posix() for file in files] == kept
    with zipfile.ZipFile(parts.archive(tmp_path, files, tmp_path / "own.zip")) as packed:
        assert {name: packed.read(name).decode() for name in packed.namelist()} == {name: name for name in kept}


def test_cells_are_read_with_their_options(tmp_path):
    page = tmp_path / "a.md"
    hidden = "```{code-cell} ipython3\n:name: x\n:tags: [remove-input, other]\n\na = 1\n```\n"
    page.write_text(f"{hidden}Words.\n```python\nno = 1\n```\n```{{code-cell}}\n:tags: [hide-input]\nb\n\nc\n```\n")
    found = [(cell["code"], cell["hidden"]) for cell in cells.cells_of(page)]
    assert found == [("a = 1", True), ("b\n\nc", False)]


def test_a_hidden_cell_is_kept_where_a_later_one_reads_its_names():
    codes = ["#\na = 1", "#\ndef f(): a", "#\nc = 1", "#\nimport b.c", "#\nimport os", "#\nf()", "f, b", "#\nf = 2"]
    kept = cells.needed([{"code": code, "hidden": code.startswith("#")} for code in codes])
    assert [cell["code"] for cell in kept] == ["#\na = 1", "#\ndef f(): a", "#\nimport b.c", "#\nf()", "f, b"]


def answered(codes: list[str], *, broken=(), drawn=()) -> list[dict]:
    answers = [{"why": "torch" if at in broken else "", "drawn": drawn} for at in range(len(codes))]
    return cells.with_answers([{"code": code, "hidden": False} for code in codes], answers, Path(__file__).parents[1])


def test_a_cell_runs_after_those_that_it_needs():
    for codes, after in [
        ("import math; b = 1; a = math.pi; a", [0, 2]),  # through a; not what nothing reads
        ("a = []; a.append(1); print(1); a", [0, 1]),  # what may have changed a
        ("import math; math.pi; math.e", [0]),  # a module is not changed by its use
        ("c = 1; f = lambda: c; f()", [0, 1]),
        ("a = new(); def f(): return a.draw(); print(f()); a.draw()", [0, 1, 2]),  # through a function, too
    ]:
        assert answered(codes.split("; "))[-1]["after"] == after, codes


def test_a_cell_that_would_draw_other_numbers_is_not_offered():
    codes = ["rng = new()", "torch.tensor(rng.normal())", "rng.normal()", "print(1)"]
    assert [cell["why"] for cell in answered(codes, broken=[1], drawn=["rng"])] == ["", "torch", "torch", ""]
    found = [(cell["why"], cell["after"]) for cell in answered(codes, broken=[1])]  # without a generator
    assert found == [("", []), ("torch", [0]), ("", [0]), ("", [])]


@pytest.fixture
def checkout(tmp_path, monkeypatch) -> SimpleNamespace:
    """A checkout of one page, with parts that are there; nothing is packed, and ``jobs`` tells what would be."""
    for name, text in {
        "book/one.md": "```{code-cell}\na = 1\n```\n",
        "rope_lab/a.py": "import numpy",
        "cache/live/a": "",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text)
    jobs = []

    def node(job, _):
        jobs.append(len(job["bundles"]))
        for one in [*job["bundles"], *job["files"]]:
            Path(one["out"]).write_text("packed")

    def tried(pages, *_):
        told = {name: {"answers": [{"why": ""} for _ in shown]} for name, shown in pages.items()}
        claims = {"a": {"module": "rope_lab.a", "inputs": "1", "why": "torch"}}
        return {"pages": told, "claims": claims, "tasks": {"b": {"module": "rope_lab.a", "why": ""}}}

    named = [name for bundle in parts.RECIPE["bundles"].values() for name in bundle]
    core = dict.fromkeys(parts.CORE, b"") | {parts.LOCK: b'{"info": {}}'}
    monkeypatch.setenv("ROPE_LAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(parts, "core", lambda _: core)
    monkeypatch.setattr(parts, "wheels", lambda kept, _: {name: kept / name for name in named})
    monkeypatch.setattr(make, "node", node)
    monkeypatch.setattr(make, "tried", tried)
    return SimpleNamespace(root=tmp_path, out=tmp_path / "out", jobs=jobs)


def test_what_has_not_changed_is_not_packed_again(checkout):
    said = "Python in the pages: 1 of 1 cells, 0 of 1 claims and 1 of 1 exercises in code run there."
    assert make.make(checkout.root, checkout.out) == make.make(checkout.root, checkout.out) == said
    others = len(parts.RECIPE["bundles"]) - 1
    assert checkout.jobs == [others, 3]  # other people's packages, then ours
    record = json.loads((checkout.out / "record.json").read_text())
    assert record["pages"]["one"] == [{"code": "a = 1", "hidden": False, "needs": [], "why": "", "after": []}]
    assert record["claims"] == {"a": {"module": "rope_lab.a", "why": "torch", "needs": ["numpy"]}}
    assert {*parts.RECIPE["bundles"], "rooms", "results"} <= record["sizes"].keys()
    (checkout.root / "rope_lab" / "a.py").write_text("import scipy")
    make.make(checkout.root, checkout.out)
    assert checkout.jobs == [others, 3, 3]


def test_without_its_parts_the_book_says_so_and_keeps_no_record(checkout, monkeypatch):
    def missing(_):
        raise parts.MissingPartError("no network")

    make.make(checkout.root, checkout.out)
    (checkout.root / "rope_lab" / "a.py").write_text("import scipy")
    monkeypatch.setattr(parts, "core", missing)
    said = "The book is built without Python in its pages: no network"
    assert make.make(checkout.root, checkout.out) == said
    assert not list(checkout.out.iterdir())
    assert make.make(checkout.root / "book", checkout.out) == ""  # it has no package


def test_a_trial_has_what_the_bundles_bring_and_nothing_else():
    door = trial.Door(cells.MODULES)
    assert door.find_spec("torch") is door.find_spec("yaml") is None
    assert all(door.find_spec(name) for name in ("json", "numpy", "jaxtyping", "rope_lab"))


@pytest.fixture
def page(monkeypatch):
    """The Python side of a page as it is when the page has nothing."""
    monkeypatch.setenv("MPLBACKEND", "agg")  # or the page's own choice would stay
    importlib.reload(side).start(cells.MODULES)
    side.loaded.add("results")  # another test may have asked for the cards
    return side


def test_a_cell_shows_its_last_value_and_keeps_its_names(page, capsys):
    assert page.cell("a = 6\nprint('said')\na * 7", 0) == {"shown": [("text/plain", "42")]}
    assert capsys.readouterr().out == "said\n"
    assert page.cell("b = a", 1) == page.cell("None", 2) == page.cell("", 3) == {"shown": []}
    table = "class T:\n    _repr_html_ = lambda self: '<table>' if b else None\n"
    assert page.cell(f"{table}T()", 4) == {"shown": [("text/html", "<table>")]}
    assert page.cell("b = 0\nT()", 5)["shown"][0][0] == "text/plain"
    assert page.cell("display(1, 'a')\n2", 6) == {
        "shown": [("text/plain", "1"), ("text/plain", "'a'"), ("text/plain", "2")]
    }


def test_an_error_begins_at_the_readers_own_line(page):
    lines = page.cell("import json\ndef f(x):\n    return json.loads(x)\n\nf('{')", 3)["error"].splitlines()
    at = max(i for i, line in enumerate(lines) if line.startswith("Traceback"))  # before it, what another test has left
    own = ['  File "cell 3", line 5, in <module>', "    f('{')", '  File "cell 3", line 3, in f']
    assert lines[at + 1 : at + 4] == own
    assert lines[-1].startswith("json.decoder.JSONDecodeError")
    for code, last in {"raise SystemExit(3)": "SystemExit: 3", "a\nb = (": "SyntaxError: '(' was never closed"}.items():
        told = page.cell(code, 2)["error"]
        assert told.endswith(last)
        assert f'File "cell 2", line {len(code.splitlines())}' in told


def test_what_a_page_cannot_do_is_said_in_words(page):
    assert "which a page does not have: write it down" in page.cell("name = input('Who? ')", 0)["error"]
    assert "A page has one thread" in page.cell('raise RuntimeError("can\'t start new thread")', 0)["error"]


def test_a_package_that_no_page_has_and_one_that_is_not_loaded_are_told_apart(page, monkeypatch):
    for name in ("torch", "sympy"):
        monkeypatch.setitem(sys.modules, name, None)
    assert page.cell("import torch", 0)["needs"] == "torch"
    code = "try:\n    import sympy\nexcept ImportError as error:\n    raise ValueError from error"
    assert page.cell(code, 0) == {"missing": "sympy"}
    page.loaded.add("sympy")
    assert "ModuleNotFoundError" in page.cell("import sympy", 0)["error"]
    error = ImportError(name="rope_lab")  # what `from rope_lab import chapters` raises where there are no rooms
    error.name_from = "chapters"
    assert page.failure(error) == {"missing": "rooms"}
    page.loaded.clear()
    monkeypatch.setitem(sys.modules, "rope_lab.training.results.cards", None)
    assert page.cell("1 / 0", 0) == {"missing": "results"}  # a card may be what was not there


def test_a_page_knows_which_bundles_a_text_wants(page):
    page.loaded.add("scipy")
    text = "import numpy.linalg, os, scipy\nfrom rope_lab.chapters.ch01_one_plane import figures\nfrom . import sympy"
    assert page.wants(text) == ["numpy", "rooms"]
    assert page.wants("import numpy\nx = (") == []


ROOM = "rope_lab.chapters.ch01_one_plane.claims_"
CLAIMS = [("book.rotation-addition", f"{ROOM}book"), ("blog.output-sum", f"{ROOM}blog")]  # exact; numeric


@pytest.mark.parametrize(("claim", "others"), [(CLAIMS[0], ["control"]), (CLAIMS[1], ["printed", "control"])])
def test_a_check_rejects_another_text_in_the_place_of_what_holds(page, claim, others):
    told = page.check(*claim)
    assert (told["outcome"], told["control_rejected"], told["error"]) == ("holds", True, "")
    assert (told["residual"] is None) == (told["tolerance"] == 0)
    json.dumps(told, allow_nan=False)
    assert {*(texts := told["texts"])} == {"holds", *others}
    assert page.check(*claim, texts["holds"])["outcome"] == "holds"
    assert {page.check(*claim, f"own = {texts[name]}\nown")["outcome"] for name in others} == {"fails"}


def test_a_text_that_is_no_candidate_is_told(page):
    ask = CLAIMS[1]
    assert 'File "candidate", line 1' in page.check(*ask, "lambda a: (")["error"]
    for text in ("", "a = 1"):
        assert "expected Python that ends with an expression" in page.check(*ask, text)["error"]
    assert page.check(*ask, "lambda *_: 1 / 0")["error"] == "ZeroDivisionError: division by zero"
    ask = *CLAIMS[1], "def own(*_):\n    import sympy.nothing\nown"
    assert page.check(*ask) == {"missing": "sympy"}
    page.loaded.add("sympy")
    assert "sympy.nothing" in page.check(*ask)["error"]


@pytest.mark.parametrize("room", ["ch01_one_plane", "ch03_two_layouts"])
def test_the_texts_of_candidates_are_those_of_the_source(page, room):
    folder = importlib.import_module(f"rope_lab.chapters.{room}")
    named = [one.name for one in pkgutil.iter_modules(folder.__path__, f"{folder.__name__}.") if ".claims_" in one.name]
    spaces = {name: vars(importlib.import_module(name)) for name in named}
    for claim in [claim for claim in LEDGER.values() if claim.check.__module__ in spaces]:
        texts = page.candidates(claim)
        assert {*texts} == {name for name in ("holds", "control", "printed") if getattr(claim, name) is not None}
        for name, text in texts.items():
            own, made = getattr(claim, name), eval(text, dict(spaces[claim.check.__module__]))
            first = f"{name}={text.splitlines()[0]}"  # of a lambda, which no other one equals
            assert made == own or first in inspect.getsource(own).splitlines()[0], (claim.id, name)


def test_the_build_learns_which_cells_do_not_run_and_what_draws(page, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    told = trial.try_cells(page, ["import numpy\nrng = numpy.random.default_rng(0)", "import torch", "1", "1 / 0"])
    assert [answer["why"] for answer in told] == ["", "torch", "", "ZeroDivisionError: division by zero"]
    assert {*told[0]["drawn"]} == {*told[3]["drawn"]} == {"rng"}


def test_a_cell_that_reads_what_a_broken_one_would_bind_is_not_offered(page, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    told = trial.try_cells(page, ["a = 1", "a = b = 2\nimport torch", "b", "a", "c = b", "c", "nobody"])
    unknown = "NameError: name 'nobody' is not defined"
    assert [answer["why"] for answer in told] == ["", "torch", "torch", "", "torch", "torch", unknown]


@pytest.mark.parametrize("harm", ["nothing packed yet", "a script is gone", "a script has changed", "sound"])
def test_a_damaged_cache_of_scripts_is_packed_anew(tmp_path, monkeypatch, harm):
    runs, kept, out = [], tmp_path / "kept", tmp_path / "out"
    names = [name for name in parts.RECIPE["bundles"] if name != "rope_lab"]
    wheels = {one: tmp_path / one for bundle in parts.RECIPE["bundles"].values() for one in bundle}

    def packs(job, _):
        runs.append(job)
        for one in [*job["bundles"], *job["files"]]:
            Path(one["out"]).write_text(one["name"])

    monkeypatch.setattr(make, "node", packs)
    kept.mkdir()
    out.mkdir()
    if harm != "nothing packed yet":
        make.library(kept, tmp_path, wheels, out)
        (script,) = kept.glob("*/numpy.js")
        if harm == "a script is gone":
            script.unlink()
        elif harm == "a script has changed":
            script.write_text("other")
        runs.clear()
    make.library(kept, tmp_path, wheels, out)
    assert len(runs) == (harm != "sound")
    assert {file.stem for file in out.iterdir()} == {*names, *parts.CORE}
    assert (out / "numpy.js").read_text() == "numpy"


def test_a_claim_is_run_once_and_its_result_is_the_builds(page, monkeypatch):
    from rope_lab.chapters.ch01_one_plane import claims_blog  # noqa: F401 - enters its claims

    some = {name: LEDGER[name] for name in ("blog.output-sum", "blog.props")}
    monkeypatch.setattr("rope_lab.claims.ledger.LEDGER", some)
    monkeypatch.setattr(trial.pkgutil, "iter_modules", lambda *_: [])
    kept, saved = [], []
    results = SimpleNamespace(digest=lambda claim: f"{claim.id} 1", kept=kept, save=saved.extend)
    results.keep = lambda result, now: kept.append((result.claim.id, now, result.outcome))
    told = trial.try_claims(page, {"gone": {}}, results)
    assert kept == saved == [(name, f"{name} 1", "holds") for name in some]
    assert told == {
        name: {"module": claim.check.__module__, "inputs": f"{name} 1", "why": ""} for name, claim in some.items()
    }
    kept.clear()
    assert trial.try_claims(page, told, results) == told
    assert kept == []
    told["blog.props"]["inputs"] = "other"
    trial.try_claims(page, told, results)
    assert [name for name, *_ in kept] == ["blog.props"]


def test_only_pages_that_have_changed_are_tried_again(tmp_path, monkeypatch):
    jobs = []

    def run(command, **_):
        jobs.append(json.loads(Path(command[-1]).read_text()))
        told = {
            "pages": {name: [{"why": ""} for _ in codes] for name, codes in jobs[-1]["pages"].items()},
            "claims": {},
        }
        return subprocess.CompletedProcess(command, 0, json.dumps(told), "")

    monkeypatch.setattr(make.subprocess, "run", run)
    pages, inputs = {"one": [{"code": "1"}], "two": [{"code": "2"}]}, {"one": "a", "two": "b"}
    nothing = {"pages": {}, "claims": {}}
    first = make.tried(pages, inputs, nothing, tmp_path, tmp_path)
    assert make.tried(pages, inputs, first, tmp_path, tmp_path) == first
    assert make.tried(pages | {"one": [{"code": "3"}]}, inputs, first, tmp_path, tmp_path) != first
    make.tried(pages, inputs | {"two": "c"}, first, tmp_path, tmp_path)
    assert [[*job["pages"]] for job in jobs] == [["one", "two"], [], ["one"], ["two"]]


def test_an_exercise_is_judged_by_the_check_of_the_labs(page):
    ask = "ch01.rotate", "rope_lab.chapters.ch01_one_plane.exercises"
    task = page.draw(*ask)
    told = page.answer(*ask, task.source)
    assert (told["ok"], told["judged"], told["rows"], told["mistake"]) == (True, True, [], -1)
    untouched = page.answer(*ask, f"def {task.signature}:\n    ...")
    assert (untouched["ok"], untouched["judged"]) == (False, False)
    wrong = f"def {task.signature}:\n    return np.zeros(2)"
    replies = [page.answer(*ask, wrong) for _ in range(3)]
    assert [(told["ok"], told["hint"], told["solution"]) for told in replies] == [
        (False, False, False),
        (False, True, False),
        (False, True, True),
    ]
    assert [name for name, _ in replies[0]["rows"]] == ["example", "yours", "target"]
    json.dumps(replies)


TURN = """
def rotate(x, m, theta):
    c, s = np.cos({0}), np.sin({0})
    return np.array([c * x[0] - s * x[1], s * x[0] + c * x[1]])
"""


@pytest.mark.parametrize(("angle", "place"), [("-m * theta", 0), ("np.radians(m) * theta", 2), ("m * theta + 0.1", -1)])
def test_a_known_mistake_is_named_by_its_place(page, angle, place):
    ask = "ch01.rotate", "rope_lab.chapters.ch01_one_plane.exercises"
    told = [page.answer(*ask, TURN.format(angle))["mistake"] for _ in range(2)]
    assert told[-1] == place  # a diagnosis comes with the hint
    assert page.answer(*ask, TURN.format("m * theta"))["ok"]


def test_a_browser_has_signals_and_no_clock_for_them(page, monkeypatch):
    monkeypatch.delattr("signal.setitimer")
    ask = "ch01.rotate", "rope_lab.chapters.ch01_one_plane.exercises"
    assert page.answer(*ask, TURN.format("m * theta"))["ok"]


def test_a_text_that_is_no_answer_is_told(page):
    ask = "ch01.rotate", "rope_lab.chapters.ch01_one_plane.exercises"
    assert "expected a function named rotate, got none" in page.answer(*ask, "def turn(x): ...")["error"]
    assert 'File "your answer", line 1' in page.answer(*ask, "def rotate(")["error"]
    assert page.answer(*ask, "rotate = 3")["ok"] is page.answer(*ask, "rotate = ...")["ok"] is False


def test_the_build_learns_which_exercises_run(page, monkeypatch):
    rooms = importlib.import_module("rope_lab.exercises.core").modules
    some = {"ch01": rooms()["ch01"], "ch03": rooms()["ch03"]}
    monkeypatch.setattr("rope_lab.exercises.core.modules", lambda: some)
    told = trial.try_tasks(page)
    assert {task["why"] for task in told.values()} == {""}
    assert {"ch01.rotate", "ch03.to-half"} < {*told}
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    assert all("hypothesis" in task["why"] for task in trial.try_tasks(page).values())
