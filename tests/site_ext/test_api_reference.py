"""The API reference: sentences are no types, signatures are readable, names of claims lead to the ledger."""

import pytest
from api_reference import BREAK, NAME, PLACES, entry, escaped, restructured, shorter, sources, turned, with_sentences
from sphinx.ext.napoleon import GoogleDocstring

DOCSTRING = ["Count.", "", "Returns:", "    A table: one row for each model."]


def written(lines):
    return "\n".join(GoogleDocstring(lines).lines())


def test_a_colon_in_a_sentence_makes_no_type():
    assert ":rtype:" in written(DOCSTRING)  # control: what napoleon makes of it alone
    read = written(with_sentences(DOCSTRING))
    assert ":rtype:" not in read
    assert "A table: one row for each model." in read


@pytest.mark.parametrize("mark", ["``book.audit-gallery``", "`book.audit-gallery`"])
def test_the_name_of_a_claim_is_a_link(mark):
    assert turned(mark) == ":ref:`book.audit-gallery <claim-book.audit-gallery>`"


def test_control_other_code_is_none():
    assert turned("``book.no-such-claim``") == "``book.no-such-claim``"


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("(runs: list = <factory>)", "(runs: list = ...)"),
        ("(of=<function Task.<lambda>>)", "(of=...)"),
        ("(out=PosixPath('results'))", "(out=Path('results'))"),
        ("(n: int = 3)", "(n: int = 3)"),
        (None, None),
    ],
)
def test_a_signature_says_nothing_that_python_cannot_read(given, shown):
    assert shorter(given) == shown


def test_a_constant_has_its_own_sentence_and_stands_under_its_letter():
    lines = entry("rope_lab.algebra", "rope_lab.algebra.placements", "PLACEMENTS")
    assert lines[0] == ".. py:data:: PLACEMENTS"
    assert "   :module: rope_lab.algebra" in lines
    assert any("All 16 subsets" in line for line in lines)


def test_a_folder_s_names_stand_under_their_modules():
    assert "Rotary" in sources("rope_lab.nn")["rope_lab.nn.rotary"]
    assert sources("rope_lab.training.experiments")["rope_lab.chapters.ch10_complex_rnn"] == []  # `task as counting`


def test_what_would_be_a_mark_is_escaped_with_its_word():
    assert escaped("of x_ and *y | z, a_b") == r"of x\_ and \*y \| z, a_b"


def test_an_empty_text_is_code():
    assert '``""``' in "\n".join(restructured(['"" for a right answer.']))


def test_a_name_breaks_between_its_words():
    html = '<span class="sig-name descname"><span class="pre">faults_of</span></span>'
    broken = NAME.sub(lambda m: m[1] + PLACES.sub(BREAK, m[2]), html)
    assert broken.replace(BREAK, "|").endswith(">faults_|of</span></span>")
