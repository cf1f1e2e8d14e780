"""A process that audits what it is asked, one line of JSON for each question and each answer.

This module is what `rope-lab audit` runs, as a `rope_lab.processes.Worker`, so that foreign code that never ends, or
that ends its process, ends this one alone. Whatever the targets print goes to stderr.
"""

import contextlib
import json
import os
import sys
from typing import Any, TextIO

from rope_lab.audit.audits import audit_every, report

encode = json.JSONEncoder().encode  # bound before a target can put another json.dumps in place


def answer(question: dict[str, Any]) -> list[dict[str, Any]]:
    """The audits that one question asks for: their rows, their text, and whether they found nothing broken."""
    found = audit_every(question["target"], **question["options"])
    return [{"row": seen.row, "text": report(seen), "ok": seen.ok} for seen in found]


def serve(questions: TextIO, answers: TextIO) -> None:
    """Answer until the questions end.

    The token of the question stands in its answer: what a target writes to the pipe without knowing it is passed over.
    It keeps out what writes blindly. It is no wall: the target runs in this process, and could find the token here.
    """
    print("{}", file=answers, flush=True)  # ready
    for line in questions:
        question = json.loads(line)
        token = question["token"]
        sys.path[:] = question["path"]
        try:
            text = encode({"token": token, "answers": answer(question)})
        except BaseException as error:  # nobody types Ctrl-C here: whatever comes is the target's
            name = type(error).__name__
            text = f'{{"token": "{token}", "failed": "{name if name.isidentifier() else "error"}"}}'
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):  # a target may have closed it
                stream.flush()
        answers.write(f"\n{text}\n")  # a target may have begun a line
        answers.flush()


if __name__ == "__main__":
    # The pipes are ours alone: a target finds an empty stdin, and prints to stderr.
    questions, answers = os.fdopen(os.dup(0), encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    with contextlib.suppress(OSError, ValueError, KeyboardInterrupt):  # a target closed the pipe
        serve(questions, answers)
    os._exit(0)  # without waiting for what a target left here
