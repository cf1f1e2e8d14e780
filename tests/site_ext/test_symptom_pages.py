"""The index by symptom: a test is run and shown, an answer that is not seen is a warning, a symptom has an anchor."""

import re

import symptom_pages

from tests.site_ext import tiny_book

PAGE = "# Index\n\n```{symptoms}\n```\n"
ROWS = """
- heading: "It's late"
  also: "tardy, behind time"
  group: Clocks
  symptom: "A clock is late, by `an hour`."
  causes:
    "It shows `12`": "Nobody wound it."
  test: |
    print(6 * 2)
  sees: '^12$'
  page: book/ledger
  section: "What is shown"
  threads: [someone/clocks#7]
  seen: 2026-11-23
"""


def build(tmp_path, monkeypatch, text):
    rows = tmp_path / "symptoms.yml"
    rows.write_text(text, encoding="utf-8")
    monkeypatch.setattr(symptom_pages, "ROWS", rows)
    _, _, warnings = tiny_book.build(tmp_path, PAGE, extensions=["symptom_pages"])
    return (tmp_path / "out" / "book" / "01_one_plane.html").read_text(encoding="utf-8"), warnings


def test_a_row_has_its_anchor_its_output_and_its_links(tmp_path, monkeypatch):
    text, warnings = build(tmp_path, monkeypatch, ROWS)
    assert warnings == ""
    assert '<section id="it-s-late">' in text
    assert '<p class="also"><em>Also called: </em>tardy, behind time</p>' in text
    assert 'href="#it-s-late"' in text
    assert re.search(r'class="symptom-output.*?<pre>(<span></span>)?12\n</pre>', text, re.DOTALL)
    assert 'class="highlight-python' in text
    assert 'href="ledger.html#what-is-shown"' in text
    assert 'href="https://github.com/someone/clocks/issues/7"' in text
    assert "looked up 2026-11-23" in text


def test_control_an_answer_that_is_not_seen_is_a_warning(tmp_path, monkeypatch):
    _, warnings = build(tmp_path, monkeypatch, ROWS.replace("6 * 2", "6 * 3"))
    assert "expected '^12$' in what its test prints, got:\n18" in warnings


def test_rows_of_a_group_stand_together(tmp_path, monkeypatch):
    other = ROWS.replace("It's late", "It sings").replace("Clocks", "Birds")
    text, _ = build(tmp_path, monkeypatch, ROWS + other + ROWS.replace("It's late", "It stands"))
    found = re.findall(r'<section id="([\w-]+)">', text)
    assert found == ["clocks", "it-s-late", "it-stands", "birds", "it-sings"]
