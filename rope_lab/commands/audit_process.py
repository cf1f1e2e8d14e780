"""Asking another process for audits, with a time limit: what never ends there is stopped, and said."""

import contextlib
import json
import queue
import re
import secrets
import subprocess
import sys
import threading
import time
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rope_lab.audit.foreign_code import expect_target
from rope_lab.errors import ArgumentError, printable
from rope_lab.processes import Worker
from rope_lab.reading import parse_json

RAISED = re.compile(r" raised \w+")  # how a row is skipped by an error, and not by a refusal
STARTS = 60.0  # seconds
LINE = 1 << 26  # characters of an answer at most


class Auditor:
    """A process that audits targets and models. It is started when it is first asked, and anew after it was stopped.

    ``seconds`` is the time that one target may take, with whatever it starts.
    """

    def __init__(self, *, seconds: float) -> None:
        self.seconds = seconds
        self.worker: Worker | None = None

    def __enter__(self) -> "Auditor":
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def ask(self, target: str, **options: Any) -> list[dict[str, Any]]:
        """The audits of one target: row, text and ok of each. Where the process gives none, a row that says why.

        Raises:
            ValueError: If the target's module lies in the current folder, and another one of its name is installed.
        """
        path, fresh = [*sys.path, *folder_of(expect_target(target)[0])], self.worker is None
        question = {"path": path, "target": target, "options": options | {"limit": None}}
        answers = self._put(question, name=options.get("name", target))
        if not fresh and self.worker and any(RAISED.search(str(each["row"].get("skipped"))) for each in answers):
            self._stop()  # what an earlier target did to the process may be why
            answers = self._put(question, name=options.get("name", target))
        return answers

    def ask_model(self, model: str, asks: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
        """Ask a model by functions: a dict of their options by MODULE:NAME. A row of each, or one that says why not."""
        return self._put({"path": sys.path, "model": model, "asks": asks}, model=model)

    def _put(self, question: dict[str, Any], **named: str) -> list[dict[str, Any]]:
        token, worker = secrets.token_hex(16), self.worker or self._start()
        self._begin(_say, worker.stdin, json.dumps(question | {"token": token}) + "\n")
        answer = self._answer(token)
        if isinstance(answer, list):
            return answer
        if not self._stop():
            answer += "; a process that it started may still run: its output is open"
        return [{"row": named | {"skipped": answer}, "text": f"skipped: {answer}", "ok": False}]

    def _answer(self, token: str) -> list[dict[str, Any]] | str:
        """The answer that brings the token, or why there is none."""
        assert self.worker
        deadline = time.monotonic() + self.seconds
        while (left := deadline - time.monotonic()) > 0:
            try:
                line = self.lines.get(timeout=left)
            except queue.Empty:
                break
            if line is None:
                return f"the process that asked it ended (status {self.worker.wait()})"
            with contextlib.suppress(ArgumentError):  # a target wrote it
                found = parse_json(line)
                if isinstance(found, dict) and found.get("token") == token:
                    said = found.get("answers")
                    return said if isinstance(said, list) else f"its answer could not be told: {found.get('failed')}"
        return f"no answer within {self.seconds:g} seconds: its process was stopped"

    def _start(self) -> Worker:
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        self.worker = Worker("rope_lab.audit.worker", grace=0.2, encoding="utf-8", errors="replace", **pipes)
        self.lines: queue.Queue[str | None] = queue.Queue()
        self.threads: list[threading.Thread] = []
        hearing = self._begin(_hear, self.worker.stdout, self.lines)
        self._begin(_relay, self.worker.stderr)
        self._begin(_wait, self.worker, hearing, self.lines)
        with contextlib.suppress(queue.Empty):
            self.lines.get(timeout=STARTS)  # its first line: what our own imports take is not the target's time
        return self.worker

    def _begin(self, does: Any, *arguments: Any) -> threading.Thread:
        self.threads.append(threading.Thread(target=does, args=arguments, daemon=True))
        self.threads[-1].start()
        return self.threads[-1]

    def _stop(self) -> bool:
        """End the process and all that it started. False if something holds its pipes still, as far as can be seen."""
        if self.worker is None:
            return True
        worker, self.worker = self.worker, None
        worker.end()
        for thread in self.threads:
            thread.join(timeout=1)
        if any(thread.is_alive() for thread in self.threads):
            return False  # to close what a thread reads would wait for it
        for stream in (worker.stdin, worker.stdout, worker.stderr):
            with contextlib.suppress(OSError):  # what was not sent
                if stream:
                    stream.close()
        return True


def _say(stream: Any, line: str) -> None:
    with contextlib.suppress(OSError, ValueError):  # the process ended
        stream.write(line)
        stream.flush()


def _hear(stream: Any, lines: "queue.Queue[str | None]") -> None:
    for line in iter(lambda: stream.readline(LINE), ""):
        lines.put(line)


def _relay(stream: Any) -> None:
    for line in iter(lambda: stream.readline(1 << 16), ""):
        with contextlib.suppress(OSError):  # nobody reads it
            sys.stderr.write(printable(line, keep="\n"))


def _wait(worker: Worker, hearing: threading.Thread, lines: "queue.Queue[str | None]") -> None:
    worker.wait()
    hearing.join(timeout=1)  # its last words come first
    lines.put(None)


def folder_of(module: str) -> list[str]:
    """The current folder, if the module that was named lies in it and not on the path; else nothing.

    Raises:
        ValueError: If another module of this name is installed: which one was meant?
    """
    top, folder = module.partition(".")[0], Path.cwd()
    mine = _file(PathFinder.find_spec(top, [str(folder)]))
    if mine is None:  # a folder without __init__.py counts if the module lies there
        inside = folder.joinpath(*module.split("."))
        mine = next((p for p in (inside.with_suffix(".py"), inside / "__init__.py") if p.is_file()), None)
    if mine is None or any(entry == "" or Path(entry).resolve() == folder.resolve() for entry in sys.path):
        return []
    try:
        spec = find_spec(top)
    except ValueError:  # a module that was made without one
        return []
    if spec is None:
        return [str(folder)]
    other = _file(spec) or next(iter(spec.submodule_search_locations or ()), spec.origin)
    if isinstance(other, Path) and other.resolve() == mine.resolve():
        return []
    raise ArgumentError(
        f"expected one module {top}, got {mine} here and {other}, which is installed; rename yours, or stand elsewhere"
    )


def _file(spec: ModuleSpec | None) -> Path | None:
    return Path(spec.origin) if spec and spec.has_location and spec.origin else None
