"""A process that audits what it is asked, one line of JSON for each question and each answer.

``python -m rope_lab.audit.worker`` is what `rope-lab audit` asks, so that foreign code that never ends, or that ends
its process, ends this one alone. Whatever the targets print goes to stderr.
"""

import json
import os
import sys
from typing import Any, TextIO

from rope_lab.audit.every import audit_every
from rope_lab.audit.report_lines import report


def answer(question: dict[str, Any]) -> list[dict[str, Any]]:
    """The audits that one question asks for: their rows, their text, and whether they found nothing broken."""
    found = audit_every(question["target"], **question["options"])
    return [{"row": seen.row, "text": report(seen), "ok": seen.ok} for seen in found]


def serve(questions: TextIO, answers: TextIO) -> None:
    """Answer until the questions end."""
    for line in questions:
        question = json.loads(line)
        sys.path[:] = question["path"]
        text = json.dumps(answer(question))
        sys.stdout.flush()
        sys.stderr.flush()
        answers.write(text + "\n")
        answers.flush()


if __name__ == "__main__":
    # The pipes are ours alone: a target finds an empty stdin, and prints to stderr.
    questions, answers = os.fdopen(os.dup(0), encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    serve(questions, answers)
