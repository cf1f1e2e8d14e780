"""The rows of the index by symptom: each names a page that exists, threads in full, and the day of the look."""

import re
from datetime import date
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
ROWS = yaml.safe_load((ROOT / "book" / "symptoms.yml").read_text(encoding="utf-8"))


def test_each_row_is_whole():
    for row in ROWS:
        assert set(row) == {"question", "symptom", "cause", "page", "threads", "seen"}
        assert row["symptom"].endswith(".")
        assert row["cause"].endswith(".")
        assert isinstance(row["seen"], date)


def test_each_page_exists_and_names_a_thread_of_the_row():
    for row in ROWS:
        page = (ROOT / f"{row['page']}.md").read_text(encoding="utf-8")
        assert row["threads"]
        assert all(re.fullmatch(r"[\w.-]+/[\w.-]+#\d+", thread) for thread in row["threads"])
        assert any(thread.partition("/")[2] in page for thread in row["threads"]), row["symptom"]


def test_no_question_stands_twice():
    questions = [row["question"] for row in ROWS]
    assert len(set(questions)) == len(questions)
