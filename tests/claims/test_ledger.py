"""The ledger's mechanism: what it accepts, what it refuses, and what it calls green."""

import math

import pytest

from rope_lab.algebra import rotation
from rope_lab.claims import LEDGER, Claim, MalformedClaim, claim, load, run, select, verify

pytestmark = pytest.mark.usefixtures("ledger")  # planted claims leave no trace

SOUND = {
    "locus": "eq 1",
    "statement": "$1 = 1$",
    "verdict": "true",
    "evidence": "exact",
    "chapter": 1,
    "holds": 1,
    "control": 2,
}


def planted(check=lambda subject: subject == 1, **changes) -> Claim:
    """Enter a claim and hand it back; None takes an argument away."""
    entry = {name: value for name, value in (SOUND | changes).items() if value is not None}
    name = entry.pop("id", "book.planted")
    claim(name, **entry)(check)
    return LEDGER[name]


@pytest.mark.parametrize("name", load())
def test_each_claim_holds_and_its_control_is_rejected(name):
    result = run(LEDGER[name])
    assert not result.failed, result
    if LEDGER[name].evidence in ("exact", "numeric"):
        assert result.ok is True
        assert result.control_rejected is True
        assert result.printed_rejected is (None if LEDGER[name].printed is None else True)


@pytest.mark.parametrize("name", [n for n, entry in load().items() if entry.evidence == "numeric"])
def test_a_numeric_control_misses_by_far(name):
    """A tolerance tuned until the control just fails would be no control."""
    result = run(LEDGER[name])
    assert result.control_residual > 1e3 * LEDGER[name].tolerance


@pytest.mark.parametrize("name", load())
def test_a_claim_lives_in_the_folder_of_its_source_and_the_module_of_its_chapter(name):
    entry = LEDGER[name]
    assert entry.check.__module__.startswith(f"rope_lab.claims.{entry.source}.ch{entry.chapter:02d}_")


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
    entry = planted(lambda subject, _: subject, evidence="numeric", tolerance=1e-3, holds=residual, control=1.0)
    result = run(entry)
    assert result.ok is ok
    assert result.control_residual == 1.0


def test_each_judgement_draws_the_same_numbers():
    drawn = []

    def check(_, rng):
        drawn.append(rng.normal())
        return 0.0

    run(planted(check, evidence="numeric", tolerance=1.0))
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize("outcome", ["reproduced", "not reproduced", "not attempted", "maybe"])
def test_only_a_reproduced_experiment_is_green(outcome):
    result = run(planted(lambda: outcome, evidence="experiment", verdict="empirical", holds=None, control=None))
    assert result.ok is {"reproduced": True, "maybe": False}.get(outcome)
    assert result.failed is (outcome == "maybe")


def test_what_was_read_is_never_green():
    result = run(
        planted(
            lambda: pytest.fail("nothing is to be run"), evidence="read", date="2026-01-31", holds=None, control=None
        )
    )
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
        ({"evidence": "belief"}, "unknown evidence 'belief'; known: exact"),
        ({"tier": "top"}, "unknown tier 'top'; known: core"),
        ({"statement": " "}, "must say something"),
        ({"colour": "red"}, "unexpected keyword argument 'colour'"),
        ({"verdict": "false", "correction": "so"}, "needs printed="),
        ({"verdict": "conditional"}, "needs correction="),
        ({"evidence": "numeric"}, "tolerance= goes with numeric evidence"),
        ({"tolerance": 1e-9}, "tolerance= goes with numeric evidence"),
        ({"evidence": "read"}, "needs date="),
        ({"holds": rotation.rotation_2d}, "binds a function of rope_lab.algebra.rotation at import"),
    ],
)
@pytest.mark.usefixtures("untyped")
def test_a_malformed_claim_is_refused_by_name(changes, message):
    with pytest.raises(MalformedClaim, match=message) as refused:
        planted(**changes)
    assert repr(changes.get("id", "book.planted")) in str(refused.value)


def test_one_id_is_one_claim():
    with pytest.raises(MalformedClaim, match=r"'blog.props' is entered twice: by rope_lab.claims.blog"):
        planted(id="blog.props")


@pytest.mark.parametrize(
    ("pattern", "all_of_them"),
    [
        ("blog.*", lambda c: c.source == "blog"),
        ("su19", lambda c: c.source == "su19"),
        ("ch1", lambda c: c.chapter == 1),
        ("*.rotation-length", lambda c: c.id == "book.rotation-length"),
    ],
)
def test_select(pattern, all_of_them):
    assert select(pattern) == [c for c in load().values() if all_of_them(c)]


def test_select_nothing():
    with pytest.raises(ValueError, match="no claim matches 'su20'; try"):
        select("su20")


def test_a_reader_never_meets_the_word_false():
    words = {entry.words for entry in load().values()}
    assert not any("false" in word for word in words)
    assert {"true", "true if…", "as printed: a slip"} <= words
