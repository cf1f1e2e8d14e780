"""The numbers of a witness are those that were computed, and a wrong one is caught."""

import re
from dataclasses import replace
from fractions import Fraction

import pytest

from rope_lab.claims import LEDGER, MalformedClaimError, claim, load, run
from rope_lab.claims.witness import disagreement, printed_number, split_witness

COMPUTED = [name for name, entry in load().items() if entry.computed]


def another(text: str) -> str:
    """The same with its last digit, word or letter changed."""
    words = {"two": "three", "three": "four", "six": "five", "eight": "nine", "twice": "thrice", "up": "down"}
    if text in words:
        return words[text]
    if not re.search(r"\d", text):
        return text + "?"
    head, digit, tail = re.fullmatch(r"(.*?)(\d)(\D*|(?: \\cdot.*))", text, re.DOTALL).groups()
    return f"{head}{(int(digit) + 1) % 10 or 1}{tail}"


@pytest.mark.parametrize("name", COMPUTED)
def test_control_another_number_is_caught(name):
    entry = load()[name]
    values = entry.computed()
    assert disagreement(entry.witness_numbers, lambda: values) == ""
    for place, text in enumerate(entry.witness_numbers):
        changed = (*entry.witness_numbers[:place], another(text), *entry.witness_numbers[place + 1 :])
        assert another(text) in disagreement(changed, lambda: values), (text, another(text))


@pytest.mark.parametrize("evidence", [{"holds": 1, "control": 2}, {"verdict": "empirical"}])
@pytest.mark.usefixtures("ledger")
def test_control_verify_fails_for_a_wrong_witness(evidence):
    def check(subject=1):
        return subject == 1 if "holds" in evidence else "reproduced"

    claim("book.planted", statement="so", chapter=1, witness="$[[0.25]]$", computed=lambda: 0.26, **evidence)(check)
    result = run(LEDGER["book.planted"])
    assert result.failed
    assert result.error == "the witness prints 0.25, and 0.26 was computed"
    assert run(replace(LEDGER["book.planted"], computed=lambda: 0.2549)).ok is True
    assert "ZeroDivisionError" in run(replace(LEDGER["book.planted"], computed=lambda: 1 / 0)).error


@pytest.mark.parametrize("wrong", [{"witness": "$[[1]]$"}, {"witness": "$1$", "computed": lambda: 1}])
def test_numbers_and_their_computation_go_together(wrong):
    with pytest.raises(MalformedClaimError, match="computed= goes with numbers in"):
        claim("book.planted", statement="so", chapter=1, holds=1, control=2, **wrong)(lambda subject: subject == 1)


def test_the_page_does_not_see_the_brackets():
    assert split_witness(r"of $[[2]]$ and $[[\tfrac12]]$") == (r"of $2$ and $\tfrac12$", ("2", r"\tfrac12"))
    assert not any("[[" in entry.witness for entry in load().values())


@pytest.mark.parametrize(
    ("text", "number", "half_unit"),
    [
        ("7", 7, 0),
        ("-0.50", Fraction(-1, 2), Fraction(1, 200)),
        ("+0.007", Fraction(7, 1000), Fraction(1, 2000)),
        (r"\tfrac12", Fraction(1, 2), 0),
        (r"-\tfrac{13}{6}", Fraction(-13, 6), 0),
        ("3/8", Fraction(3, 8), 0),
        (r"163\,840", 163840, 0),
        ("131{,}072", 131072, 0),
        (r"4 \cdot 10^4", 40000, 0),
        (r"1.8 \cdot 10^{-9}", Fraction(18, 10**10), Fraction(5, 10**11)),
        ("six", 6, 0),
    ],
)
def test_numbers_as_they_are_printed(text, number, half_unit):
    assert printed_number(text) == (number, half_unit)


@pytest.mark.parametrize("text", ["", "many", "1.2.3", r"\pi", "1e5", "- 1"])
def test_what_is_no_number(text):
    with pytest.raises(ValueError, match="expected a number such as"):
        printed_number(text)


@pytest.mark.parametrize(
    ("printed", "values", "agree"),
    [
        (("0.25",), 0.2549, True),
        (("0.25",), 0.2551, False),
        (("6.802",), Fraction(68025, 10000), True),  # a tie may go either way
        (("1, 2",), [1, 2], True),
        (("1, 2",), [1, 2, 3], False),
        (("up",), "down", False),
        (("3",), 3.01, False),
        (("1", "2"), (1,), False),
        (("1",), float("nan"), False),
    ],
)
def test_agreement(printed, values, agree):
    assert (disagreement(printed, lambda: values) == "") is agree
