"""Requests to stop: Ctrl-C and SIGTERM as a flag that the loop reads between two steps."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator


@contextlib.contextmanager
def stop_requests() -> Iterator[threading.Event]:
    """An event that Ctrl-C or a request to terminate sets; a second one interrupts at once."""
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():  # only the main thread may listen to signals
        yield asked
        return

    def ask(*_: object) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
