"""The labels of the bibliography: initials or one name and a year, without the letters of an accent's macro."""

import re
from pathlib import Path

from pybtex.database import parse_file
from pybtex.style.labels.alpha import LabelStyle

REFERENCES = Path(__file__).resolve().parents[2] / "book" / "references.bib"


def test_labels_are_initials_or_one_name():
    entries = list(parse_file(str(REFERENCES)).entries.values())
    labels = LabelStyle().format_labels(entries)
    for entry, label in zip(entries, labels, strict=True):
        people = entry.persons.get("author", [])
        longest = 5 if len(people) > 1 else 11  # "ALTdJ", "HuggingFace"
        assert re.fullmatch(rf"[A-Za-z]{{2,{longest}}}\+?\d\d[a-z]?", label), label
