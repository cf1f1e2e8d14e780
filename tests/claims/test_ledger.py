"""The ledger's mechanism: what it accepts, what it refuses, and what it calls green."""

import math
from pathlib import Path

import numpy as np
import pytest

import rope_lab
from rope_lab.algebra import rotation
from rope_lab.algebra.half_precision import Rounding
from rope_lab.claims import LEDGER, Claim, Erratum, MalformedClaimError, claim, load, run, select, verify
from rope_lab.training.experiments.catalogue import names

pytestmark = pytest.mark.usefixtures("ledger")  # planted claims leave no trace

SOUND = {"locus": "eq 1", "statement": "$1 = 1$", "chapter": 1, "holds": 1, "control": 2}


def planted(check=lambda subject: subject == 1, **changes) -> Claim:
    """Enter a claim and hand it back; None takes an argument away."""
    entry = {name: value for name, value in (SOUND | changes).items() if value is not None}
    name = entry.pop("id", "book.planted")
    claim(name, **entry)(check)
    return LEDGER[name]


@pytest.mark.deep(keep=45)  # the book's build runs each, and warns of one that fails
@pytest.mark.parametrize("name", load())
def test_each_claim_holds_and_its_control_is_rejected(name):
    result, entry = run(LEDGER[name]), LEDGER[name]
    assert not result.failed, result
    if entry.evidence in ("exact", "cases", "numeric"):
        assert result.ok is True
        assert result.control_rejected is True
        assert result.printed_rejected is (None if entry.printed is None else True)
    if entry.tolerance:  # one tuned until the control just fails would be no control
        assert result.control_residual > 1e3 * entry.tolerance


def test_a_module_of_claims_says_source_and_chapter():
    def check(subject):
        return subject == 1

    check.__module__ = "rope_lab.chapters.ch07_x.claims_unsaid_planted"
    claim("unsaid.planted", locus="x", statement="so", holds=1, control=2)(check)
    assert (LEDGER["unsaid.planted"].chapter, LEDGER["unsaid.planted"].tier) == (7, "unsaid")
    with pytest.raises(MalformedClaimError, match=r"'book.planted' .*: its id starts with 'unsaid\.'"):
        claim("book.planted", statement="so", holds=1, control=2)(check)
    with pytest.raises(MalformedClaimError, match="says the chapter"):
        claim("unsaid.planted", chapter=7, statement="so", holds=1, control=2)(check)


@pytest.mark.parametrize(
    ("changes", "evidence"),
    [
        ({}, "exact"),
        ({"tolerance": 1e-9}, "numeric"),
        ({"tolerance": 1e-9, "cases": "one"}, "cases"),
        ({"holds": None, "control": None}, "experiment"),
        ({"holds": None, "control": None, "date": "2026-01-31"}, "read"),
    ],
)
def test_the_evidence_follows_from_what_there_is(changes, evidence):
    assert planted(**changes).evidence == evidence


def test_what_an_entry_need_not_say():
    entry = planted(locus=None)
    assert (entry.locus, entry.verdict, entry.tier, entry.erratum) == ("chapter 1", "true", "core", None)


def test_a_function_of_the_package_is_looked_up_when_the_check_runs(monkeypatch):
    entry = planted(
        lambda turn: bool(turn(0)[0, 0] == 1), holds=rotation.rotation_2d, control=lambda _: np.zeros((2, 2))
    )
    assert run(entry).ok is True
    monkeypatch.setattr(rotation, "rotation_2d", lambda _: np.zeros((2, 2)))
    assert run(entry).failed


@pytest.mark.parametrize("name", ["book.planted", "book.table.planted", "book.planted-5.1-Wx"])
def test_an_id_may_have_several_parts(name):
    assert planted(id=name).source == "book"


def test_a_sound_claim_is_green():
    result = run(planted())
    assert (result.outcome, result.ok, result.control_rejected, result.failed) == ("holds", True, True, False)


@pytest.mark.parametrize(
    ("changes", "outcome", "control_rejected", "printed_rejected"),
    [
        ({"holds": 3}, "fails", True, None),
        ({"control": 1}, "holds", False, None),
        ({"verdict": "false", "correction": "so", "printed": 1}, "holds", True, False),
    ],
)
def test_a_claim_that_fails(changes, outcome, control_rejected, printed_rejected):
    result = run(planted(**changes))
    assert result.failed
    assert result.ok is False
    assert (result.outcome, result.control_rejected, result.printed_rejected) == (
        outcome,
        control_rejected,
        printed_rejected,
    )


@pytest.mark.parametrize("answer", [None, 1, "yes"])
def test_an_exact_check_says_true_or_false(answer):
    result = run(planted(lambda _: answer))
    assert result.failed
    assert "returns True or False" in result.error


LIMIT = 1e-9


def looked_at(answer):
    return abs(answer - 1) < LIMIT


@pytest.mark.parametrize(
    ("check", "found"),
    [
        (lambda answer: answer == 1.0, "1.0"),
        (lambda answer: looked_at(answer) and True, "1e-09"),
        (lambda answer: bool(np.isclose(answer, 1)), "isclose"),
        (lambda answer: (lambda: float(answer) == 1)(), "float"),
    ],
)
def test_an_exact_check_with_a_float_is_refused(check, found):
    with pytest.raises(MalformedClaimError, match=rf"an exact check has no floats, .* this one has {found}"):
        planted(check)
    assert planted(check, cases="one").evidence == "cases"


@pytest.mark.parametrize("subject", [1.5, (1, [1.5]), {"a": 1.5}, lambda: 1.5])
def test_a_candidate_with_a_float_is_refused(subject):
    with pytest.raises(MalformedClaimError, match=r"this one has 1\.5"):
        planted(lambda given: given == subject, holds=subject)


def test_an_exception_is_a_failure_and_the_others_still_run():
    planted(lambda subject: subject / 0, id="book.aaa")
    planted(id="book.aab")
    first, second = verify("book.aa*")
    assert first.failed
    assert "ZeroDivisionError" in first.error
    assert second.ok is True


@pytest.mark.parametrize(
    ("residual", "ok"), [(0.0, True), (1e-3, True), (2e-3, False), (math.nan, False), (math.inf, False)]
)
def test_a_residual_is_compared_with_the_tolerance(residual, ok):
    entry = planted(lambda subject, _: subject, tolerance=1e-3, holds=residual, control=1.0)
    result = run(entry)
    assert result.ok is ok
    assert result.control_residual == 1.0


def test_each_judgement_draws_the_same_numbers():
    drawn = []

    def check(_, rng):
        drawn.append(rng.normal())
        return 0.0

    run(planted(check, tolerance=1.0))
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize("outcome", ["reproduced", "not reproduced", "not attempted", "maybe"])
def test_only_a_reproduced_experiment_is_green(outcome):
    result = run(planted(lambda: outcome, verdict="empirical", holds=None, control=None))
    assert result.ok is {"reproduced": True, "maybe": False}.get(outcome)
    assert result.failed is (outcome == "maybe")


def test_what_was_read_is_never_green():
    result = run(planted(lambda: pytest.fail("nothing is to be run"), date="2026-01-31", holds=None, control=None))
    assert (result.outcome, result.ok, result.failed) == ("read", None, False)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"control": None}, "needs holds= and control="),
        ({"holds": None}, "needs holds= and control="),
        ({"id": "planted"}, "an id is a source"),
        ({"id": "book.Bad Name"}, "an id is a source"),
        ({"id": "book.planted."}, "an id is a source"),
        ({"id": "nobody.planted"}, "unknown source 'nobody'; known: su19"),
        ({"verdict": "wrong"}, "unknown verdict 'wrong'; known: true"),
        ({"evidence": "exact"}, "multiple values for argument .evidence."),
        ({"chapter": None}, "elsewhere, and only there, give chapter="),
        ({"tier": "top"}, "unknown tier 'top'; known: core"),
        ({"statement": " "}, "must say something"),
        ({"colour": "red"}, "unexpected keyword argument 'colour'"),
        ({"verdict": "false", "correction": "so"}, "needs printed="),
        ({"verdict": "conditional"}, "needs correction="),
        ({"differs": "printed with a minus"}, "goes with a verdict other than 'true'"),
        ({"verdict": "conditional", "correction": "so", "differs": "printed $-1$"}, "a few plain words"),
        ({"tolerance": 0.0}, "tolerance= is a positive number"),
        ({"tolerance": -1e-9}, "tolerance= is a positive number"),
        ({"date": ""}, "needs date=, and nothing to run"),
        ({"date": "2026-01-31"}, "needs date=, and nothing to run"),
        ({"holds": Rounding()}, "binds an object of rope_lab.algebra.half_precision at import"),
        ({"mend": "x = y", "verdict": "conditional", "correction": "so"}, "mend= goes with a verdict other than"),
        ({"mend": "x [-y-]"}, "mend= goes with a verdict other than"),
        ({"gives": (0, 1)}, "gives= names two of the 0 numbers"),
        ({"erratum": Erratum(1, "crope-x", "x", "x", "code")}, "the id of its erratum starts with 'book-'"),
    ],
)
@pytest.mark.usefixtures("untyped")
def test_a_malformed_claim_is_refused_by_name(changes, message):
    with pytest.raises(MalformedClaimError, match=message) as refused:
        planted(**changes)
    assert repr(changes.get("id", "book.planted")) in str(refused.value)


def test_one_id_is_one_claim():
    with pytest.raises(
        MalformedClaimError, match=r"'blog.props' is entered twice: by rope_lab.chapters.ch01_one_plane.claims_blog"
    ):
        planted(id="blog.props")


@pytest.mark.parametrize(
    ("pattern", "all_of_them"),
    [
        ("blog.*", lambda c: c.source == "blog"),
        ("su19", lambda c: c.source == "su19"),
        ("ch1", lambda c: c.chapter == 1),
        ("*.rotation-addition", lambda c: c.id == "book.rotation-addition"),
    ],
)
def test_select(pattern, all_of_them):
    assert select(pattern) == [c for c in load().values() if all_of_them(c)]


def test_each_experiment_names_the_lists_of_its_cards():
    lists = {folder.name for folder in (Path(rope_lab.__file__).parent / "results").iterdir()} | {*names()}
    for entry in load().values():
        if entry.evidence == "experiment":
            said = {word.strip("`.,;()") for word in f"{entry.statement} {entry.correction} {entry.witness}".split()}
            assert said & lists, entry.id


def test_select_nothing():
    with pytest.raises(ValueError, match="no claim matches 'su20'; try"):
        select("su20")


def test_a_reader_never_meets_the_word_false():
    words = {entry.words for entry in load().values()}
    assert not any("false" in word for word in words)
    assert {"true", "true if…", "as printed: a slip"} <= words
