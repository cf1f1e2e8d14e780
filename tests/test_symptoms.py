"""The rows of the index by symptom: whole, each with a test that shows what it says, and an answer that exists."""

import re
from datetime import date

import pytest
from docutils.nodes import make_id
from symptom_pages import COMMAND, ROWS, printed, rows

from tests.test_public_names import unknown_names

ROOT = ROWS.parents[1]
FIELDS = {"heading", "also", "group", "symptom", "causes", "test", "sees", "page", "section", "seen"}
named = pytest.mark.parametrize("row", rows(), ids=lambda row: make_id(row["heading"]))


def headings(page: str) -> list[str]:
    return re.findall(r"^##+ (.+)$", (ROOT / f"{page}.md").read_text(encoding="utf-8"), flags=re.MULTILINE)


@named
def test_a_row_is_whole(row):
    assert FIELDS <= set(row) <= FIELDS | {"question", "threads"}
    assert not row["heading"].endswith(".")
    assert len(row["also"].split(", ")) >= 4  # words that people type, not a sentence
    assert all(words.endswith((".", "?")) for words in (row["symptom"], *row["causes"].values()))
    assert isinstance(row["seen"], date)


@pytest.mark.deep(keep=20)
@named
def test_the_test_of_a_row_shows_what_it_says(row):
    assert re.search(row["sees"], printed(row["test"]))
    assert unknown_names(row["test"]) == []


@named
def test_code_fits_on_the_page(row):
    assert max(map(len, row["test"].splitlines())) < 80


@named
def test_the_answer_stands_where_the_row_says(row):
    assert row["section"] in headings(row["page"])


def test_threads_are_written_in_full():
    threads = [thread for row in rows() for thread in row.get("threads", ())]
    assert len(threads) > 20
    assert [one for one in threads if not re.fullmatch(r"[\w.-]+/[\w.-]+#\d+", one)] == []


def test_the_tables_of_questions_name_threads_of_their_rows():
    pages = {page: (ROOT / f"{page}.md").read_text(encoding="utf-8") for page in {row["page"] for row in rows()}}
    for row in rows():
        if "| thread |" in pages[row["page"]] and "question" in row:
            assert any(thread.partition("/")[2] in pages[row["page"]] for thread in row["threads"]), row["heading"]


def test_no_symptom_and_no_question_stands_twice():
    anchors = [make_id(row["heading"]) for row in rows()]
    questions = [row["question"] for row in rows() if "question" in row]
    assert len(set(anchors)) == len(anchors) >= 20
    assert len(set(questions)) == len(questions)


def test_a_command_prints_and_a_wrong_line_is_an_error():
    assert printed(f"{COMMAND}rope-lab --version").strip()
    with pytest.raises(NameError):
        printed("print(no_such_name)")
