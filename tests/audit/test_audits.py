"""A list of targets as one table, a row for each; and a report that leads from a broken law to the index by symptom."""

import platform

import pytest
from symptom_pages import rows

from rope_lab.audit import GALLERY, examine
from rope_lab.audit.audits import CALLED, Entry, audit_all, report


def test_each_entry_has_its_row():
    right = Entry("ours", "rope_lab.audit.gallery:right", {"head_dim": 8})
    table = audit_all((right, Entry("theirs", "no_such_library.rope:f")))
    assert (table["python"], table["libraries"]["no_such_library"]) == (platform.python_version(), None)
    ours, theirs = table["rows"]
    assert (ours["library"], ours["target"], ours["name"]) == ("rope_lab", "rope_lab.audit.gallery:right", "ours")
    assert (ours["layout"], ours["base"], ours["broken_laws"]) == ("half-split", 10000.0, {})
    assert (theirs["library"], theirs["skipped"]) == ("no_such_library", "no_such_library is not installed")


MISTAKES = {mistake.name: mistake for mistake in GALLERY}


def test_the_index_has_each_symptom():
    assert {heading for *_, heading in CALLED} <= {row["heading"] for row in rows()}


@pytest.mark.deep(keep=3)
@pytest.mark.parametrize(
    ("name", "heading"),
    [
        ("bf16 positions", "Wrong beyond 256 tokens in bfloat16"),
        ("head axis as position", "Right with one head, wrong with several"),
        ("no-op", "My RoPE passes its tests, and the model is still wrong"),
        ("decoding forgets the offset", "Good without the cache, wrong with it"),
        ("opposite signs", "Moving all positions changes the logits"),
        ("other layout", None),  # a lawful rotation
    ],
)
def test_a_report_names_the_symptom(name, heading):
    mistake = MISTAKES[name]
    last = report(examine(name, mistake.f, head_dim=8, keys=mistake.keys)).rpartition("\n")[2]
    assert ("index by symptom" in last) == (heading is not None)
    assert heading is None or last.endswith(f'"{heading}"')
