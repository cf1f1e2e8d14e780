"""Asking another process for audits, with a time limit: what never ends there is stopped, and said."""

import json
import queue
import subprocess
import sys
import threading
from typing import Any


class Auditor:
    """A process that audits targets. It is started when it is first asked, and anew after it was stopped.

    ``seconds`` is the time that one target may take.
    """

    def __init__(self, *, seconds: float) -> None:
        self.seconds = seconds
        self.process: subprocess.Popen[str] | None = None

    def __enter__(self) -> "Auditor":
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def ask(self, target: str, **options: Any) -> list[dict[str, Any]]:
        """The audits of one target: row, text and ok of each. Where the process gives none, a row that says why."""
        process = self.process or self._start()
        question = {"path": sys.path, "target": target, "options": options | {"limit": None}}
        try:
            print(json.dumps(question), file=process.stdin, flush=True)
            line = self.lines.get(timeout=self.seconds)
        except queue.Empty:
            reason = f"no answer within {self.seconds:g} seconds: its process was stopped"
        except OSError:
            reason = f"the process that asked it ended (status {process.wait()})"
        else:
            if line is not None:
                return json.loads(line)
            reason = f"the process that asked it ended (status {process.wait()})"
        self._stop()
        return [{"row": {"name": target, "skipped": reason}, "text": f"skipped: {reason}", "ok": False}]

    def _start(self) -> subprocess.Popen[str]:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "rope_lab.audit.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
        self.lines: queue.Queue[str | None] = queue.Queue()
        self.threads = [
            threading.Thread(target=self._hear, args=(self.process.stdout,), daemon=True),
            threading.Thread(target=self._relay, args=(self.process.stderr,), daemon=True),
        ]
        for thread in self.threads:
            thread.start()
        return self.process

    def _hear(self, answers: Any) -> None:
        for line in answers:
            self.lines.put(line)
        self.lines.put(None)

    def _relay(self, said: Any) -> None:
        for line in said:
            sys.stderr.write(line)

    def _stop(self) -> None:
        if self.process is None:
            return
        self.process.kill()
        self.process.wait()
        for thread in self.threads:
            thread.join(timeout=5)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        self.process = None
