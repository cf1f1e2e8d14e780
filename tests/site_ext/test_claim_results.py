"""Results are kept between builds only as long as nothing they depend on has changed, and never a failure."""

import importlib
import json
import sys
from pathlib import Path

import claim_results
import page_inputs
import pytest

import rope_lab.claims
from rope_lab.claims import LEDGER, load

ROOT = Path(__file__).resolve().parents[2]
CLAIM = """from rope_lab.claims.ledger import claim


def later():
    {import_}  # that of the tiny package: the digest reads it, nobody calls it


@claim("book.planted", statement="so", holds={holds}, control=2)
def check(subject):
    ran.append(subject)
    return subject == 1


ran = []
"""


@pytest.fixture
def book(tmp_path, ledger, monkeypatch):  # noqa: ARG001 - planted claims leave no trace
    """A tiny package with one claim."""
    # A claim planted twice in a second, at one length, would be taken from the byte code of the first.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for name, text in {
        "algebra/__init__.py": "",
        "algebra/sign.py": "SIGN = 1\n",
        "algebra/other.py": "B = 1\n",
        "claims/ledger.py": "",
        "chapters/ch01_x/claims_book_other.py": "",
        "training/results/cards.py": "",
        "results/a.json": "{}",
    }.items():
        path = tmp_path / "rope_lab" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def plant(book, *, holds=1, import_="from rope_lab.algebra import sign"):
    """Write the claim's file and enter it, as a new process would."""
    LEDGER.pop("book.planted", None)
    path = book / "rope_lab" / "chapters" / "ch01_x" / "claims_book_planted.py"
    path.write_text(CLAIM.format(holds=holds, import_=import_))
    spec = importlib.util.spec_from_file_location("rope_lab.chapters.ch01_x.claims_book_planted", path)
    spec.loader.exec_module(module := importlib.util.module_from_spec(spec))
    return module.ran


def build(book):
    """One build: returns what came out, and whether the check was run for it."""
    one = claim_results.Results(book / "_build" / "claim-results.json", book)
    found = one["book.planted"]
    assert one["book.planted"] is found  # once in a build
    one.save(load())
    return found, one.ran


def test_what_has_not_changed_is_not_run_again(book):
    ran = plant(book)
    first, again = build(book), build(book)
    assert (first[1], again[1]) == (1, 0)
    assert first[0] == again[0]
    assert ran == [1, 2]


@pytest.mark.parametrize(
    ("import_", "changed", "runs"),
    [
        ("from rope_lab.algebra import sign", "algebra/sign.py", 1),
        ("from rope_lab.algebra.sign import SIGN", "algebra/sign.py", 1),
        ("from rope_lab.algebra import sign", "chapters/ch01_x/claims_book_planted.py", 1),
        ("from rope_lab.algebra import sign", "claims/ledger.py", 1),
        ("from rope_lab.training.results import cards", "results/a.json", 1),
        ("from rope_lab.algebra import sign", "algebra/other.py", 0),
        ("from rope_lab.algebra import sign", "chapters/ch01_x/claims_book_other.py", 0),
        ("from rope_lab.algebra import sign", "results/a.json", 0),
    ],
)
def test_a_changed_source_runs_again(book, import_, changed, runs):
    plant(book, import_=import_)
    build(book)
    with (book / "rope_lab" / changed).open("a") as file:
        file.write("\n# changed\n")
    assert build(book)[1] == runs


def test_a_newer_library_runs_again(book, monkeypatch):
    plant(book)
    build(book)
    monkeypatch.setattr(claim_results, "version", lambda _: "99")
    assert build(book)[1] == 1


def test_a_failing_claim_is_never_kept(book):
    plant(book, holds=3)
    for _ in range(2):
        found, runs = build(book)
        assert found.failed
        assert runs == 1
    assert json.loads((book / "_build" / "claim-results.json").read_text()) == {}


def test_a_claim_that_begins_to_fail_is_forgotten(book):
    plant(book)
    build(book)
    plant(book, holds=3)
    assert build(book)[0].failed
    assert json.loads((book / "_build" / "claim-results.json").read_text()) == {}


@pytest.mark.usefixtures("book")
def test_a_check_from_outside_the_package_is_run_each_time(tmp_path):
    rope_lab.claims.claim("book.planted", statement="so", chapter=1, holds=1, control=2)(lambda subject: subject == 1)
    assert [build(tmp_path)[1] for _ in range(2)] == [1, 1]


@pytest.mark.parametrize("text", ["", "[]", '{"book.planted": 1}', '{"book.planted": {"inputs": "", "result": {}}}'])
def test_a_broken_file_is_no_obstacle(book, text):
    plant(book)
    (book / "_build").mkdir()
    (book / "_build" / "claim-results.json").write_text(text)
    assert build(book)[1] == 1


@pytest.mark.deep
def test_every_claim_of_the_book_has_a_digest_and_the_algebra_is_in_it(tmp_path):
    one = claim_results.Results(tmp_path / "none.json")
    assert [name for name, entry in load().items() if not one.digest(entry)] == []
    files = page_inputs.module_inputs({load()["blog.props"].check.__module__}, ROOT, discovered={})
    assert {"rotation.py", "ledger.py"} <= {path.name for path in files}
