"""What an audit prints leads from a broken law to the index by symptom."""

import pytest
from symptom_pages import rows

from rope_lab.audit import GALLERY, examine
from rope_lab.audit.audits import CALLED, report

MISTAKES = {mistake.name: mistake for mistake in GALLERY}


def test_the_index_has_each_symptom():
    assert {heading for *_, heading in CALLED} <= {row["heading"] for row in rows()}


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
