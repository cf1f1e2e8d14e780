"""Requests to stop: Ctrl-C, SIGTERM and SIGHUP as a flag that the loop reads between two steps, or as one exception."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator


def _requests() -> tuple[signal.Signals, ...]:
    """The signals that ask to stop; that of a closed terminal unless the process should outlive it (nohup)."""
    if sys.platform == "win32" or signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        return (signal.SIGINT, signal.SIGTERM)
    return (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def interrupts() -> Iterator[None]:
    """Let SIGTERM and SIGHUP raise ``KeyboardInterrupt`` in the block, as Ctrl-C does."""
    alone = threading.current_thread() is threading.main_thread()
    before = {number: signal.signal(number, signal.default_int_handler) for number in _requests() if alone}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def stop_requests() -> Iterator[threading.Event]:
    """An event that Ctrl-C, a request to terminate or a closed terminal sets; a second one interrupts at once."""
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():  # only the main thread may listen to signals
        yield asked
        return

    def ask(*_: object) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()

    before = {number: signal.signal(number, ask) for number in _requests()}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
