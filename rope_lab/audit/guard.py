"""What foreign code does while it is asked: an error becomes a reason in words, and a call without end is stopped.

>>> with guarded("asking it"):
...     raise SystemExit("goodbye")
Traceback (most recent call last):
rope_lab.audit.importing.TargetError: asking it raised SystemExit: goodbye
"""

import contextlib
import os
import random
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from rope_lab.audit.importing import TargetError
from rope_lab.audit.messages import told
from rope_lab.errors import ArgumentError

LONGEST = 1e6  # seconds of a limit: no clock counts to 1e300


class TimeUpError(BaseException):
    """The time limit is over. No `Exception`: code under test that catches those must not catch this one."""


@contextmanager
def guarded(doing: str) -> Iterator[None]:
    """Whatever the block raises comes as a `TargetError` that begins with ``doing``.

    Ctrl-C and the end of the time limit pass; a KeyboardInterrupt that the block itself raised does not.
    """
    try:
        with restored(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except (TimeUpError, TargetError):
        raise
    except BaseException as error:  # foreign code raised it: it goes into the report
        if by_user(error):
            raise
        raise TargetError(f"{doing} raised {told(error)}") from error


class _Heard(threading.local):
    """Of each `restored` that this thread is in: whether Ctrl-C came. It comes to the main thread alone."""

    def __init__(self) -> None:
        self.pressed: list[bool] = []


_heard = _Heard()


def by_user(error: BaseException) -> bool:
    """Whether it is the KeyboardInterrupt of a Ctrl-C. Inside `restored` it is told from one that a target raised."""
    return isinstance(error, KeyboardInterrupt) and (not _heard.pressed or _heard.pressed[-1])


@contextmanager
def restored() -> Iterator[None]:
    """Put back what the block, or the foreign code that it calls, has set for the whole process.

    That is torch's default dtype and device, gradients and deterministic algorithms, numpy's errors, the random states
    of Python, numpy and torch, the current folder, the standard streams, and what Ctrl-C does.
    """
    here, streams = Path.cwd(), (sys.stdin, sys.stdout, sys.stderr)
    plain, errors, torch = random.getstate(), np.geterr(), _torch_state()
    numbers = np.random.get_state()  # noqa: NPY002 - the state that a target may change is the old one
    before = signal.getsignal(signal.SIGINT)
    listens = threading.current_thread() is threading.main_thread() and before is not None

    def press(*arguments: Any) -> None:
        _heard.pressed[:] = [True for _ in _heard.pressed]
        if callable(before):
            before(*arguments)

    _heard.pressed.append(False)
    if listens and callable(before):
        signal.signal(signal.SIGINT, press)
    try:
        yield
    finally:
        _heard.pressed.pop()
        if listens:
            signal.signal(signal.SIGINT, before)
        sys.stdin, sys.stdout, sys.stderr = streams
        random.setstate(plain)
        np.seterr(**errors)
        np.random.set_state(numbers)  # noqa: NPY002
        _set_torch(torch)
        with contextlib.suppress(OSError):
            os.chdir(here)


def _torch_state() -> dict[str, Any] | None:
    """What torch has set for the process; None while it is not loaded, or half so."""
    torch: Any = sys.modules.get("torch")
    if not hasattr(torch, "get_default_device"):
        return None
    return {
        "set_default_dtype": torch.get_default_dtype(),
        "set_default_device": torch.get_default_device(),
        "set_grad_enabled": torch.is_grad_enabled(),
        "use_deterministic_algorithms": torch.are_deterministic_algorithms_enabled(),
        "set_rng_state": torch.random.get_rng_state(),
    }


def _set_torch(before: dict[str, Any] | None) -> None:
    now = _torch_state()
    if now is None:
        return
    torch: Any = sys.modules["torch"]
    fresh = {"set_default_dtype": torch.float32, "set_default_device": torch.device("cpu"), "set_grad_enabled": True}
    for name, value in (before or fresh).items():
        if name == "set_rng_state" or value != now[name]:
            plain = name == "set_default_device" and value.type == "cpu"  # None costs nothing at each call
            getattr(torch, name)(None if plain else value)


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Stop the block after so many seconds with a `TimeUpError`, by an alarm of the operating system.

    The alarm rings again each second, for code that catches everything. It needs the main thread and a system with
    alarms; elsewhere, and inside another limit, there is none. A process of its own is stopped everywhere.

    Raises:
        ValueError: If seconds is not above 0, or more than a million; None is no limit.
    """
    if seconds is not None and not 0 < seconds <= LONGEST:  # an alarm in 0 seconds never rings
        raise ArgumentError(
            f"limit: expected a finite number of seconds above 0, at most {LONGEST:g}, got {seconds:g}; None is none"
        )
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
