"""Calling the callable under test: in a form that it accepts, with every answer checked before it is used.

>>> probe = Probe(lambda x, positions: x, head_dim=4)
>>> probe.form
'numpy float64, x (batch, heads, T, head_dim), positions int64'
>>> probe(np.ones((2, 3, 1, 4)), [7]).shape
(2, 3, 1, 4)
"""

from __future__ import annotations

import copy
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from jaxtyping import Float64

from rope_lab.algebra.arguments import expect_even
from rope_lab.audit.foreign_code import TimeUpError, by_user, in_a_line, told
from rope_lab.errors import RopeLabError

SHAPES = {4: "(batch, heads, T, head_dim)", 3: "(batch, T, head_dim)", 2: "(T, head_dim)"}
RotaryCallable = Callable[[Any, Any], Any]  # f(x, positions)
EPS = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}


class RefusedError(RopeLabError):
    """The callable gave no answer that can be used; the message says what it did instead."""


@dataclass(frozen=True)
class Form:
    """One way of handing over x and positions."""

    backend: str  # "numpy" or "torch"
    dtype: str  # of x
    whole: bool  # positions as integers; else as floats
    rank: int  # axes of x

    def __str__(self) -> str:
        floats = "float64" if self.dtype == "float64" else "float32"
        return f"{self.backend} {self.dtype}, x {SHAPES[self.rank]}, positions {'int64' if self.whole else floats}"


class Probe:
    """A callable ``f(x, positions)``, tried in the usual forms and then always called in the first that works.

    Called with x (batch, heads, T, head_dim) and T positions it returns float64 of the same shape. ``form`` says how f
    is called, ``dtype`` what f returns, and ``remarks`` what f did besides: that it writes into its arguments.

    Raises:
        RefusedError: If f gives no answer that can be used, when it is called or already here. An error that f raises
            comes as this one.
        TypeError: If head_dim is not an integer.
        ValueError: If head_dim is not positive and even.
    """

    def __init__(self, f: Any, *, head_dim: int) -> None:
        self.f, self.head_dim = f, expect_even(head_dim, name="head_dim")
        self.dtype = self.library = "unknown"  # of what f returns
        self.remarks: list[str] = []
        if not callable(f):
            raise RefusedError(f"is not callable: {type(f).__name__}")
        self._form = self._find()
        self.form = str(self._form)

    def __call__(self, x: Any, positions: Any) -> Float64[np.ndarray, "*batch T head_dim"]:
        return self._call(self._form, np.asarray(x, dtype=np.float64), np.asarray(positions))

    @property
    def asked_in(self) -> str:
        """The dtype of the x that f is called with."""
        return self._form.dtype

    def narrowed(self) -> list[Probe]:
        """The same f, called with numbers of fewer bits: one probe for each such dtype, the narrowest first."""
        library = self._form.backend
        known = sorted(EPS, key=EPS.__getitem__, reverse=True)
        dtypes = [n for n in known if EPS[n] > EPS[self.asked_in] and (library == "torch" or n != "bfloat16")]
        others = [copy.copy(self) for _ in dtypes]
        for other, dtype in zip(others, dtypes, strict=True):
            other._form, other.remarks = replace(self._form, dtype=dtype), []
        return others

    @property
    def eps(self) -> float:
        """The spacing near 1 of the numbers that f takes and returns: no law can be tested more finely."""
        return max(EPS.get(self.dtype, 2.0**-52), EPS[self._form.dtype])

    def _find(self) -> Form:
        """The first form that f answers. Torch is tried where numpy fails, and loaded only then."""
        x, positions = np.random.default_rng(0).normal(size=(2, 3, 4, self.head_dim)), np.array([0, 1, 2, 5])
        failures = []
        for form in self._forms():
            try:
                self._call(form, x, positions)
            except RefusedError as refusal:
                failures.append((form, str(refusal)))
            else:
                self.remarks.clear()
                return form
        # A wrong answer says more than an error; among errors, the one of the library that f is written for says most.
        answered = [(form, text) for form, text in failures if text.startswith("returned")]
        form, text = (answered or [(f, t) for f, t in failures if f.backend == failures[-1][0].backend])[0]
        raise RefusedError(f"{text} (called with {form})")

    def _forms(self) -> Iterator[Form]:
        torch_first = "torch" in sys.modules and isinstance(self.f, sys.modules["torch"].nn.Module)
        if not torch_first:
            yield from (Form("numpy", "float64", whole, rank) for rank, whole in product((4, 3, 2), (True, False)))
        try:
            import torch  # noqa: F401
        except ImportError:
            return
        for dtype, rank, whole in product(("float64", "float32", "bfloat16", "float16"), (4, 3, 2), (True, False)):
            yield Form("torch", dtype, whole, rank)

    def _call(self, form: Form, x: np.ndarray, positions: np.ndarray) -> np.ndarray:
        batch, heads, length, width = x.shape
        if form.rank == 2:
            rows = [self._once(form, row, positions) for row in x.reshape(-1, length, width)]
            return np.stack(rows).reshape(x.shape)
        shape = x.shape if form.rank == 4 else (batch * heads, length, width)
        return self._once(form, x.reshape(shape), positions).reshape(x.shape)

    def _once(self, form: Form, x: np.ndarray, positions: np.ndarray) -> np.ndarray:
        given, at, before = _hand_over(form, x, positions)
        with _quiet(form.backend):
            try:
                answer = self.f(given, at)
            except TimeUpError:
                raise
            except BaseException as error:  # f raised it: it goes into the report
                if by_user(error):
                    raise
                raise RefusedError(f"raised {told(error)}") from error
            try:
                y, dtype = _take_back(form, answer, x.shape, positions)
            except RefusedError:
                raise
            except Exception as error:  # it looks like an array and cannot be read as one
                read = f"returned {type(answer).__name__}, which cannot be read"
                raise RefusedError(f"{read}: {in_a_line(error)}") from error
            self._remark(not np.array_equal(_plain(given), before), "writes into the x it is given")
            self._remark(not np.array_equal(_plain(at), positions), "writes into the positions it is given")
        self.dtype, self.library = dtype, type(answer).__module__.partition(".")[0]
        return y

    def _remark(self, happened: bool, remark: str) -> None:
        if happened and remark not in self.remarks:
            self.remarks.append(remark)


def _hand_over(form: Form, x: np.ndarray, positions: np.ndarray) -> tuple[Any, Any, np.ndarray]:
    """Fresh copies in the form's own library, and what x was after rounding to its dtype."""
    whole = form.whole and np.array_equal(positions, np.round(positions))
    if form.backend == "numpy":
        given = x.astype(form.dtype)
        return given, positions.astype(np.int64 if whole else np.float64), given.astype(np.float64)
    import torch

    floats = torch.float64 if form.dtype == "float64" else torch.float32
    tensor = torch.tensor(x, dtype=getattr(torch, form.dtype))
    return tensor, torch.tensor(positions, dtype=torch.int64 if whole else floats), _plain(tensor).copy()


def _take_back(form: Form, answer: Any, shape: tuple[int, ...], positions: np.ndarray) -> tuple[np.ndarray, str]:
    """The answer as float64, and the dtype it came in. Raises `RefusedError` if it is not an array of this shape."""
    is_tensor = type(answer).__module__.partition(".")[0] == "torch" or hasattr(answer, "detach")
    if not is_tensor and not hasattr(answer, "__array__"):
        raise RefusedError(f"returned {type(answer).__name__}, expected an array of shape {shape}")
    if is_tensor and form.backend == "numpy":
        raise RefusedError("gave back a torch tensor for a numpy array")
    if tuple(answer.shape) != shape:
        raise RefusedError(f"returned shape {tuple(answer.shape)}, expected {shape}")
    dtype = str(answer.dtype).removeprefix("torch.")
    if dtype not in EPS:
        raise RefusedError(f"returned dtype {dtype}, expected {form.dtype}")
    y = _plain(answer).astype(np.float64)
    broken = ~np.isfinite(y).reshape(-1, *y.shape[-2:]).all(axis=(0, 2))
    if broken.any():
        raise RefusedError(f"returned NaN or infinity at position {positions[broken][0]:g}")
    return y, dtype


def _plain(array: Any) -> np.ndarray:
    if hasattr(array, "detach"):  # numpy has no bfloat16: float64 holds every half type exactly
        array = array.detach().cpu()
        return (array.double() if array.is_floating_point() else array).numpy()
    return np.asarray(array)


@contextmanager
def _quiet(backend: str) -> Iterator[None]:
    """Neither warnings nor gradients: an overflow is found in the answer, not on the screen."""
    no_grad: Callable[[], Any] = sys.modules["torch"].no_grad if backend == "torch" else nullcontext
    with np.errstate(all="ignore"), warnings.catch_warnings(), no_grad():
        warnings.simplefilter("ignore")
        yield
