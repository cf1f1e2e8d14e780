"""Foreign code: named and imported, called under guard, stopped in time, and its errors as a reason in words.

>>> find("math:sqrt")(9)
3.0
>>> with guarded("asking it"):
...     raise SystemExit("goodbye")
Traceback (most recent call last):
rope_lab.audit.foreign_code.TargetError: asking it raised SystemExit: goodbye
"""

import contextlib
import inspect
import os
import random
import signal
import sys
import textwrap
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

import numpy as np

from rope_lab.errors import ArgumentError, RopeLabError, printable


def in_a_line(text: object, *, width: int = 160) -> str:
    """A message in one line, without backquotes and control characters. Too long, it ends at a word, with an ellipsis.

    >>> in_a_line("`d_head` (64) should be equal to\\n `d_model // n_head` (5)", width=35)
    'd_head (64) should be equal to …'
    """
    words = textwrap.shorten(str(text).replace("`", ""), width, placeholder=" …", break_on_hyphens=False)
    return printable(words)


def told(error: BaseException) -> str:
    """The name of an error and its message, in one line.

    >>> told(KeyError("full_attention"))
    "KeyError: 'full_attention'"
    """
    text = in_a_line(error)
    return type(error).__name__ + (f": {text}" if text else "")


class TargetError(RopeLabError):
    """Why a target cannot be audited here; ``choices`` where one setting with one of these values mends it."""

    def __init__(self, reason: str, choices: tuple[str, tuple[Any, ...]] | None = None) -> None:
        super().__init__(reason)
        self.choices = choices


def expect_target(target: str) -> tuple[str, str]:
    """Module and name of a target, MODULE:NAME or FILE.py:NAME. Raises ValueError if it has another form."""
    module, colon, name = target.partition(":")
    module = module.removesuffix(".py")
    if not all(module.split(".")) or not colon or not name:
        raise ArgumentError(f"target: expected MODULE:NAME, got {target!r}; such as my_package.rope:apply_rotary")
    if set(module) & set("/\\"):
        raise ArgumentError(
            f"target: expected MODULE:NAME, got the path {target!r}; stand in its folder and name the file alone"
        )
    return module, name


def find(target: str) -> Any:
    """The object that ``package.module:name`` names.

    Raises:
        ValueError: If target is not of the form MODULE:NAME.
        TargetError: If the module cannot be imported or has no such name, with the reason.
    """
    module, name = expect_target(target)
    try:
        with warnings.catch_warnings():  # a library's own warnings at import are of no use to our reader
            warnings.simplefilter("ignore")
            item: Any = import_module(module)
    except (Exception, SystemExit) as error:  # whatever a module raises at its import becomes the reason
        missing = isinstance(error, ModuleNotFoundError) and error.name == module.partition(".")[0]
        said = str(error) if isinstance(error, ImportError) else f"{type(error).__name__}: {error}"
        reason = "is not installed" if missing else f"cannot be imported: {in_a_line(said)}"
        if "torchvision::" in said:  # its operators are not there: it was built against another torch
            reason = "cannot be imported: torch and torchvision are of different builds; install both from one source"
        raise TargetError(f"{module.partition('.')[0]} {reason}") from error
    for part in name.split("."):
        if not hasattr(item, part):
            raise TargetError(f"{module} has no {name}")
        item = getattr(item, part)
    return item


def parameters_of(made: Any) -> Mapping[str, inspect.Parameter]:
    """The parameters of a function or class, by name; an annotation that names nothing here is text."""
    try:
        return inspect.signature(made).parameters
    except NameError:  # Python 3.14 evaluates annotations only now, also those whose names a type checker alone imports
        import annotationlib

        as_text: dict[str, Any] = {"annotation_format": annotationlib.Format.STRING}
        return inspect.signature(made, **as_text).parameters


OFFSETS = ("offset", "start_pos", "position_offset", "seq_offset", "past_len", "past_length", "start", "seqlen_offset")
SAME = 1e-4  # answers that differ by less turn nothing


def by_offset(call: Any, name: str, *, head_dim: int) -> Callable[[Any, Any], Any]:
    """f(x, positions) of a call that takes x and the place of its first token, under this name.

    Each run of positions that follow each other is one call, so that the offset is asked.
    """
    import torch

    sample = torch.linspace(0.5, 1.5, head_dim).expand(3, 3, 4, head_dim).clone()
    of_numpy, along = False, 2  # the axis of tokens: the same vector in all of them turns along it alone
    with suppress(Exception):
        of_numpy = isinstance(call(sample.numpy(), **{name: 0}), np.ndarray)

    def ask(x: Any, start: int) -> Any:
        return torch.from_numpy(call(x.numpy(), **{name: start})) if of_numpy else call(x, **{name: start})

    with suppress(Exception), torch.no_grad():
        y = ask(sample, 0)
        turning = [axis for axis in (0, 1, 2) if bool((y.diff(dim=axis).abs() > SAME).any())]
        along = turning[0] if len(turning) == 1 else 2
    order = {0: (2, 0, 1, 3), 1: (0, 2, 1, 3), 2: (0, 1, 2, 3)}[along]
    back = sorted(range(4), key=order.__getitem__)

    def f(x: Any, positions: Any) -> Any:
        if not hasattr(x, "detach") or positions.is_floating_point():
            raise IndexError("an offset is whole, and x a tensor of torch")
        n, swap = positions.tolist(), along < 2 and x.ndim == 4
        ends = [i for i in range(1, len(n) + 1) if i == len(n) or n[i] != n[i - 1] + 1]
        runs = [
            (x[..., a:b, :].permute(order) if swap else x[..., a:b, :], n[a])
            for a, b in zip([0, *ends], ends, strict=False)
        ]
        turned = [ask(part, start) for part, start in runs]
        return torch.cat([y.permute(back) if swap else y for y in turned], dim=-2)

    return f


def by_name(f: Any, head_dim: int) -> Any:
    """f(x, positions) of what takes its positions, or both, by name alone, or the place of its first token."""
    with suppress(TypeError, ValueError):
        every = parameters_of(getattr(f, "forward", f)).values()
        named = [p for p in every if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        asked = [p for p in named if p.default is p.empty]
        if len(named) > 1 >= len(asked) - 1:
            x, at = named[:2]
            given = f if x.kind is not x.KEYWORD_ONLY else lambda value, **where: f(**{x.name: value}, **where)
            if at.name in OFFSETS:
                return _counted_on(given, at.name, head_dim) or f
            if at.kind is at.KEYWORD_ONLY and ("pos" in at.name or (at in asked and len(at.name) == 1)):
                return lambda value, n: given(value, **{at.name: n})
    return f


def _counted_on(f: Any, name: str, head_dim: int) -> Any:
    """f(x, positions) of a call that counts on from one place; None if it turns two equal tokens alike."""
    with suppress(Exception):
        import torch

        turned = by_offset(f, name, head_dim=head_dim)
        first, second = turned(torch.ones(1, 1, 2, head_dim), torch.tensor([0, 1]))[0, 0]
        return turned if bool((first - second).abs().max() > SAME) else None
    return None


def version(package: str) -> str | None:
    """The version of what installs a package, whatever its own name is; None if that is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        owners = metadata.packages_distributions().get(package, ())
        return metadata.version(owners[0]) if owners else None


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
    plain, errors, torch = random.getstate(), np.geterr(), torch_state()
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


def torch_state() -> dict[str, Any] | None:
    """The settings of torch for the process; None while torch is not loaded, or half loaded."""
    torch: Any = sys.modules.get("torch")
    if not hasattr(torch, "get_default_device"):
        return None
    return {
        "set_default_dtype": torch.get_default_dtype(),
        "set_default_device": torch.get_default_device(),
        "set_grad_enabled": torch.is_grad_enabled(),
        "use_deterministic_algorithms": torch.are_deterministic_algorithms_enabled(),
        "manual_seed": torch.initial_seed(),
        "set_rng_state": torch.random.get_rng_state(),
    }


def changed_torch(before: dict[str, Any] | None) -> str:
    """The first setting of torch, but for its random numbers, that is not as before; or an empty string."""
    now = torch_state() if before else None
    names = [name for name in now or () if before and name != "set_rng_state" and now and now[name] != before[name]]
    return names[0].removeprefix("set_") if names else ""


def _set_torch(before: dict[str, Any] | None) -> None:
    now = torch_state()
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
