"""What a reader of `rope-lab verify` sees, and what a program reads."""

import json
from dataclasses import replace

import pytest
from rich.console import Console

from rope_lab.claims import Claim, Result, load, run, select, verification
from rope_lab.claims.verification import counts, outcome_words, row, run_all, show, sources, summary, table, timing

FIELDS = {"id": str, "source": str, "verdict": str, "evidence": str, "outcome": str, "seconds": float}


def result(outcome="holds", evidence="exact", control=True, printed=None, error="") -> Result:
    entry = Claim("book.made-up", "nowhere", "$1$", "true", evidence, 1, lambda: None)
    return Result(entry, outcome, None, control, printed, 0.0, error)


def test_rows_are_plain_data():
    rows = json.loads(json.dumps([row(run(entry)) for entry in select("blog.*")]))
    assert {entry["evidence"] for entry in rows} == {"exact", "cases", "numeric", "read"}
    for entry in rows:
        if entry["evidence"] == "read":
            assert (entry["ok"], entry["control_rejected"], entry["outcome"]) == (None, None, "read")
            continue
        assert {name: type(entry[name]) for name in FIELDS} == FIELDS
        assert entry["ok"] is True
        assert entry["control_rejected"] is True
        assert (entry["residual"] is None) == (entry["tolerance"] is None)


def test_a_residual_that_is_no_number_is_still_json():
    broken = Result(result().claim, "fails", float("nan"), True, None, 0.0, control_residual=float("inf"))
    assert '"residual": null' in json.dumps(row(broken), allow_nan=False)


@pytest.mark.parametrize(
    ("given", "ok"),
    [
        (result("read", "read", None), None),
        (result("not attempted", "experiment", None), None),
        (result("not reproduced", "experiment", None), None),
        (result("reproduced", "experiment", None), True),
        (result(), True),
        (result("fails"), False),
        (result(control=False), False),
        (result(printed=False), False),
    ],
)
def test_read_and_not_attempted_are_not_green(given, ok):
    assert row(given)["ok"] is ok
    colour = str(table([given]).columns[-1]._cells[0].style)
    assert ("green" in colour) == (ok is True)


def test_kinds_are_counted_apart():
    idle = [result("read", "read", None), result("not attempted", "experiment", None)]
    results = [result(), result(control=False), *idle]
    assert counts(results) == {
        "exact": {"fails": 1, "holds": 1},
        "experiment": {"not attempted": 1},
        "read": {"read": 1},
    }
    assert summary(results) == "exact: 1 fail, 1 hold; experiment: 1 not attempted; read: 1 read"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (result("fails", error="ValueError: so"), "ValueError: so"),
        (result(control=False), "fails: the check accepts its control"),
        (result(printed=False), "fails: the check accepts what is printed"),
        (result("fails"), "fails"),
        (result(), "holds"),
    ],
)
def test_a_failure_says_what_failed(given, words):
    assert outcome_words(given) == words


def test_claims_of_the_sources_and_ours_are_counted_apart():
    results = [replace(result(), claim=entry) for entry in load().values()]
    ours = sum(name.startswith("book.") for name in load())
    assert sources(results) == f"193 claims of the sources and {ours} of this book"


def test_the_slowest_is_named():
    slow = replace(result(), claim=replace(result().claim, id="book.slow"), seconds=2.0)
    assert timing([result(), slow, result()]) == "2.0 s; the slowest: book.slow, 2.0 s"


def test_json_has_what_a_program_needs():
    assert {"id", "source", "verdict", "evidence", "ok", "control_rejected", "seconds"} <= row(result()).keys()


def test_the_bar_reaches_its_end():
    console = Console(file=open("/dev/null", "w", encoding="utf-8"), force_terminal=True)  # noqa: SIM115, PTH123
    with console.file:
        assert [r.claim.id for r in run_all("cross", console=console)] == [entry.id for entry in select("cross")]


@pytest.mark.deep
def test_every_id_is_readable_in_a_narrow_terminal(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert show("ch1")
    shown = capsys.readouterr().out
    assert all(entry.id in shown for entry in select("ch1"))


def test_a_failure_is_named_beside_the_table(capsys, monkeypatch):
    monkeypatch.setattr(verification, "run", lambda _: result("fails"))
    assert not show("blog.props")
    assert "book.made-up fails" in capsys.readouterr().err
