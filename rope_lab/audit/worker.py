"""A process that audits what it is asked, one line of JSON for each question and each answer.

This module is what `rope-lab audit` runs, as a `rope_lab.processes.Worker`, so that foreign code that never ends, or
that ends its process, ends this one alone. Whatever the targets print goes to stderr.
"""

import contextlib
import json
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

from rope_lab.audit.audits import audit_every, report
from rope_lab.audit.foreign_code import find
from rope_lab.audit.tiny_models import exists, load_model, tiny_model
from rope_lab.errors import RopeLabError

# What our libraries import when it is there: looked for before a folder of the reader's is on the path.
for optional in ("mpmath", "torch.backends.opt_einsum"):
    import_module(optional)

encode = json.JSONEncoder().encode  # bound before a target can put another json.dumps in place


def answer(question: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows that one question asks for, their text, and whether they found nothing broken."""
    if "model" in question:
        return _of_a_model(question["model"], question["asks"])
    found = audit_every(question["target"], **question["options"])
    return [{"row": seen.row, "text": report(seen), "ok": seen.ok} for seen in found]


def _of_a_model(name: str, asks: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Ask one model by each function of ``asks``, with its options; the rows, or why there is none."""
    said, loaded = list[dict[str, Any]](), None
    for ask, options in asks.items():
        try:
            loaded = loaded or (load_model(Path(name)) if exists(name) else tiny_model(name))
            seen = find(ask)(loaded, name=name, **options)
            told = {} if isinstance(seen, dict) else {"text": str(seen), "ok": seen.ok}
            said.append({"row": seen if isinstance(seen, dict) else seen.row} | told)
        except RopeLabError as error:
            said.append({"row": {"model": name, "skipped": str(error)}, "text": f"skipped: {error}", "ok": False})
            if loaded is None:
                break
    return said


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
