"""What foreign code does while it is asked: an error becomes a reason in words, and a call without end is stopped.

>>> with guarded("asking it"):
...     raise SystemExit("goodbye")
Traceback (most recent call last):
rope_lab.audit.importing.TargetError: asking it raised SystemExit: goodbye
"""

import math
import signal
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rope_lab.audit.importing import TargetError
from rope_lab.audit.messages import told
from rope_lab.errors import ArgumentError


class TimeUpError(BaseException):
    """The time limit is over. No `Exception`: code under test that catches those must not catch this one."""


@contextmanager
def guarded(doing: str) -> Iterator[None]:
    """Whatever the block raises comes as a `TargetError` that begins with ``doing``.

    A keyboard interrupt and the end of the time limit pass.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except (KeyboardInterrupt, TimeUpError, TargetError):
        raise
    except BaseException as error:  # foreign code raised it: it goes into the report
        raise TargetError(f"{doing} raised {told(error)}") from error


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Stop the block after so many seconds with a `TimeUpError`, by an alarm of the operating system.

    The alarm rings again each second, for code that catches everything. It needs the main thread and a system with
    alarms; elsewhere, and inside another limit, there is none. A process of its own is stopped everywhere.

    Raises:
        ValueError: If seconds is not above 0 and finite; None is no limit.
    """
    if seconds is not None and not 0 < seconds < math.inf:  # an alarm in 0 seconds never rings
        raise ArgumentError(f"limit: expected a finite number of seconds above 0, got {seconds:g}; None is no limit")
    here = threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")
    if seconds is None or not here or signal.getitimer(signal.ITIMER_REAL)[0]:
        yield
        return

    def ring(*_: Any) -> None:
        raise TimeUpError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
