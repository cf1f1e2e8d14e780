"""The callable under test: called in a form that it accepts, its answers checked, its matrix at each position measured.

>>> probe = Probe(lambda x, positions: x, head_dim=4)
>>> probe.form
'numpy float64, x (batch, heads, T, head_dim), positions int64'
>>> probe(np.ones((2, 3, 1, 4)), [7]).shape
(2, 3, 1, 4)
>>> from rope_lab.algebra.layouts import rotate_elementwise
>>> seen = measure(Probe(lambda x, n: rotate_elementwise(x, n, theta=[1.0, 0.5]), head_dim=4), far=(1009,))
>>> seen.pairs, seen.linear, seen.frequencies(2.0**-52)[0].round(12).tolist()
(((0, 1), (2, 3)), True, [1.0, 0.5])
"""

import copy
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from jaxtyping import Float64

from rope_lab.algebra.arguments import expect_even
from rope_lab.audit.foreign_code import TimeUpError, by_name, by_user, in_a_line, told
from rope_lab.errors import RopeLabError

SHAPES = {
    4: "(batch, heads, T, head_dim)",
    5: "(batch, T, heads, head_dim)",
    3: "(batch, T, head_dim)",
    2: "(T, head_dim)",
    6: "(T, batch, heads, head_dim)",
    7: "(T, heads, head_dim)",
}
RANKS = (4, 3, 2, 5, 6, 7)  # what is tried, in this order; those behind 4 name another order of its axes
INSISTED = (4, 8, 6, 2, 1, 12, 16, 32, 28, 40, 64)  # heads that f may insist on, tried last
ORDERS = {5: (0, 2, 1, 3), 6: (2, 0, 1, 3), 7: (1, 0, 2)}  # of the axes, as f is given them
RotaryCallable = Callable[[Any, Any], Any]  # f(x, positions)
EPS = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}


@dataclass
class OfBoth:
    """One answer of a call that turns q and k: ``both(x, positions)[which]``."""

    both: Callable[[Any, Any], Any]
    which: int = 0
    alike: bool = True  # whether the two answers had the same bits in every call so far

    def __call__(self, x: Any, positions: Any) -> Any:
        y = self.both(x, positions)
        q, k = y[0], y[-1]
        if self.alike and q is not k:
            self.alike = False
            with suppress(AttributeError, RuntimeError, TypeError):  # answers without numbers
                self.alike = q.dtype == k.dtype and q.shape == k.shape and bool((q == k).all())
        return y[self.which]


class RefusedError(RopeLabError):
    """The callable gave no answer that can be used; the message says what it did instead."""


class NoGradientError(RopeLabError):
    """No gradient reaches x, and the callable need not give one; the message says why."""


@dataclass(frozen=True)
class Form:
    """One way of handing over x and positions."""

    backend: str  # "numpy" or "torch"
    dtype: str  # of x
    whole: bool  # positions as integers; else as floats
    rank: int  # of `RANKS`
    rows: bool = False  # positions (batch, T)
    heads: int = 0  # that f takes at a time, where it takes no other number
    ints: str = "int64"  # positions that are integers

    def __str__(self) -> str:
        floats = "float64" if self.dtype == "float64" else "float32"
        shape = " (batch, T)" if self.rows else ""
        whole = self.ints if self.whole else floats
        x = SHAPES[self.rank].replace("heads", f"heads={self.heads}" if self.heads else "heads")
        return f"{self.backend} {self.dtype}, x {x}, positions {whole}{shape}"

    def given(self, x: np.ndarray) -> list[np.ndarray]:
        """The parts of x (batch, heads, T, head_dim) that f is called with, one after the other, as it takes them."""
        if self.heads and x.shape[1] != self.heads:  # as many calls as it takes, the last filled up with the first head
            filled = np.concatenate((x, x[:, :1].repeat(-x.shape[1] % self.heads, axis=1)), axis=1)
            groups = np.split(filled, filled.shape[1] // self.heads, axis=1)
            return [part for group in groups for part in self.given(group)]
        if self.rank == 4:
            return [x]  # also a view stays one
        if self.rank == 7:
            return [np.ascontiguousarray(row.transpose(ORDERS[7])) for row in x]
        if self.rank in ORDERS:
            return [np.ascontiguousarray(x.transpose(ORDERS[self.rank]))]
        flat = x.reshape(-1, *x.shape[-2:])
        return [flat] if self.rank == 3 else list(flat)

    def taken(self, parts: list[np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
        """The answers to `given` in the shape of x."""
        back = np.argsort(ORDERS.get(self.rank, ()))
        parts = [part.transpose(back) if len(back) else part for part in parts]
        if self.heads:
            return np.concatenate(parts, axis=1)[:, : shape[1]]
        return (parts[0] if len(parts) == 1 else np.stack(parts)).reshape(shape)


class Probe:
    """A callable ``f(x, positions)``, tried in the usual forms and then always called in the first that works.

    Called with x (batch, heads, T, head_dim) and T positions it returns float64 of the same shape; where ``rows`` is
    true, also with positions (batch, T). ``form`` says how f is called, ``dtype`` what f returns, and ``remarks`` what
    f did besides: that it writes into its arguments.

    Raises:
        RefusedError: If f gives no answer that can be used, when it is called or already here. An error that f raises
            comes as this one.
        TypeError: If head_dim is not an integer.
        ValueError: If head_dim is not positive and even.
    """

    def __init__(self, f: Any, *, head_dim: int) -> None:
        self.head_dim = expect_even(head_dim, name="head_dim")
        self.f, self.in_place = by_name(f, self.head_dim), _works_in_place(f)
        self.dtype = self.library = "unknown"  # of what f returns
        self.remarks: list[str] = []
        self._before: tuple[Any, np.ndarray] | None = None  # the last small answer, as f gave it and as it was
        self.first: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None  # x, positions and answer of the first call
        if not callable(f):
            raise RefusedError(f"is not callable: {type(f).__name__}")
        self._form = self._find()
        self.form = str(self._form)

    def __call__(self, x: Any, positions: Any) -> Float64[np.ndarray, "*batch T head_dim"]:
        x = np.asarray(x, dtype=np.float64)
        x = x.copy() if self.in_place and 0 in x.strides else x  # nobody can write into what is expanded
        return self._call(self._form, x, np.asarray(positions))

    @property
    def asked_in(self) -> str:
        """The dtype of the x that f is called with."""
        return self._form.dtype

    @property
    def alone(self) -> bool:
        """Whether f gets one head of one entry of a batch at a time."""
        return self._form.rank == 2

    @property
    def heads(self) -> int:
        """The number of heads that f takes, where it takes no other; else 0."""
        return self._form.heads

    @property
    def rows(self) -> bool:
        """Whether f takes positions of each entry of a batch."""
        return self._form.rows

    def narrowed(self) -> "list[Probe]":
        """Probes that call f with numbers of fewer bits: one for each such dtype, the narrowest first."""
        library = self._form.backend
        known = sorted(EPS, key=EPS.__getitem__, reverse=True)
        dtypes = [n for n in known if EPS[n] > EPS[self.asked_in] and (library == "torch" or n != "bfloat16")]
        others = [copy.copy(self) for _ in dtypes]
        for other, dtype in zip(others, dtypes, strict=True):
            other._form, other.remarks = replace(self._form, dtype=dtype), []
        return others

    def gradient(self, x: np.ndarray, positions: Any, g: np.ndarray, *, between: Any = None) -> np.ndarray | None:
        """The gradient of the sum of g f(x, positions) with respect to x, by the backward of torch; None without torch.

        With ``between`` f is called at these positions before the backward.

        Raises:
            RefusedError: If the backward raises, or the gradient is cut off on its way.
            NoGradientError: If f is built for inference.
        """
        form = replace(self._form, backend="torch")
        at, rows = np.asarray(positions), list(zip(form.given(x), form.given(g), strict=True))
        native = self._form.backend == "torch"
        try:
            asked: dict[str, Any] = {"native": native, "in_place": self.in_place, "between": between}
            found = [_pulled(self.f, form, a, at, b, **asked) for a, b in rows]
        except (RefusedError, NoGradientError):
            raise
        except Exception as error:  # such as an answer on a device without numbers
            if native:
                raise RefusedError(f"its gradient cannot be read: {in_a_line(error)}") from error
            return None
        if any(part is None for part in found):
            return None
        grads, answers = zip(*found, strict=True)
        if x.size < FEW:
            y, plain = form.taken(list(answers), x.shape), self._call(form, x, at)
            off, size = (float(np.abs(part).max()) for part in (y - plain, plain))
            if not off <= 8 * EPS[form.dtype] * max(1.0, size):
                raise RefusedError(f"where x asks for a gradient, its answer is another: off by {off:.1e}")
        return form.taken(list(grads), x.shape)

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
                self.first = x, positions, self._call(form, x, positions)
                if form.rank == 3:  # six rows may be the six heads that f insists on
                    self._call(form, x[:1], positions)
            except RefusedError as refusal:
                failures.append((form, str(refusal)))
            else:
                self.remarks.clear()
                return form
        # A wrong answer says more than an error; among errors, the one of the library that f is written for says most.
        usual = [(form, text) for form, text in failures if not form.heads]
        answered = [(form, text) for form, text in usual if text.startswith("returned")]
        form, text = (answered or [(f, t) for f, t in usual if f.backend == usual[-1][0].backend])[0]
        raise RefusedError(f"{text} (called with {form})")

    def _forms(self) -> Iterator[Form]:
        torch_first = "torch" in sys.modules and isinstance(self.f, sys.modules["torch"].nn.Module)
        if not torch_first:
            yield from (Form("numpy", "float64", whole, rank) for rank, whole in product(RANKS, (True, False)))
            yield from (Form("numpy", "float64", True, rank, rows=True) for rank in (4, 5))
            yield from (Form("numpy", "float32", True, rank) for rank in RANKS)
        try:
            import torch  # noqa: F401
        except ImportError:
            return
        for dtype, rank, whole in product(("float64", "float32", "bfloat16", "float16"), RANKS, (True, False)):
            yield Form("torch", dtype, whole, rank)
        for dtype, rank in product(("float64", "float32", "bfloat16"), (4, 5)):
            yield Form("torch", dtype, True, rank, rows=True)
        for dtype, rank in product(("float64", "float32", "bfloat16"), RANKS):
            yield Form("torch", dtype, True, rank, ints="int32")
        libraries = [*([] if torch_first else [("numpy", "float64")]), ("torch", "float64"), ("torch", "float32")]
        for heads, (library, dtype), rank in product(INSISTED, libraries, (4, 5)):
            yield Form(library, dtype, True, rank, heads=heads)

    def _call(self, form: Form, x: np.ndarray, positions: np.ndarray) -> np.ndarray:
        return form.taken([self._once(form, part, positions) for part in form.given(x)], x.shape)

    def _once(self, form: Form, x: np.ndarray, positions: np.ndarray) -> np.ndarray:
        given, at = _hand_over(form, x, positions)
        before = None if self.in_place else _hand_over(form, x, positions)[0]
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
                answer = _answer(given if answer is None and self.in_place else answer)
                y, dtype = _take_back(form, answer, x.shape, positions)
            except RefusedError:
                raise
            except Exception as error:  # it looks like an array and cannot be read as one
                read = f"returned {type(answer).__name__}, which cannot be read"
                raise RefusedError(f"{read}: {in_a_line(error)}") from error
            kept = before is None or (given.shape == before.shape and bool((given == before).all()))
            self._remark(not kept, "writes into the x it is given")
            self._remark(not (_plain(at) == positions).all(), "writes into the positions it is given")
            if self._before is not None:
                same = np.array_equal(_plain(self._before[0]), self._before[1])
                self._remark(not same, "writes into an earlier answer")
            self._before = (answer, y.copy()) if y.size <= SMALL else None  # y is the caller's, who may write into it
        self.dtype, self.library = dtype, type(answer).__module__.partition(".")[0]
        return y

    def _remark(self, happened: bool, remark: str) -> None:
        if happened and remark not in self.remarks:
            self.remarks.append(remark)


def _works_in_place(f: Any) -> bool:
    """Whether the name says that it writes into x: one underscore at its end, as in torch."""
    name = getattr(f, "__name__", "")
    return name.endswith("_") and not name.endswith("__")


def _hand_over(form: Form, x: np.ndarray, positions: np.ndarray) -> tuple[Any, Any]:
    """Fresh copies of x and positions in the form's own library."""
    whole = form.whole and np.array_equal(positions, np.round(positions))
    positions = np.tile(positions, (len(x), 1)) if form.rows and positions.ndim == 1 else positions
    if form.backend == "numpy":
        return x.astype(form.dtype), positions.astype(np.int64 if whole else np.float64)
    import torch

    floats = torch.float64 if form.dtype == "float64" else torch.float32
    places = _laid_out(positions, getattr(torch, form.ints) if whole else floats)
    if places.is_contiguous():  # a part of a longer row, as positions often are
        places = torch.cat((places.new_zeros(1), places.reshape(-1)))[1:].view(places.shape)
    return _laid_out(x, getattr(torch, form.dtype)), places


def _laid_out(x: np.ndarray, dtype: Any) -> Any:
    """A copy in torch that lies in memory as the array does: also a view stays one."""
    import torch

    steps = [step // x.itemsize for step in x.strides]
    if 0 in steps and x.shape[steps.index(0)] > 1:  # expanded: the same numbers again and again
        return torch.tensor(x[tuple(slice(None if step else 1) for step in steps)], dtype=dtype).expand(x.shape)
    if x.flags.c_contiguous or min(steps) < 1:
        return torch.tensor(np.ascontiguousarray(x), dtype=dtype)
    return torch.empty_strided(x.shape, steps, dtype=dtype).copy_(torch.from_numpy(x))


def _answer(given: Any) -> Any:
    """The array that f returned, alone or as the one in a tuple or under a name."""
    given = tuple(given.values()) if isinstance(given, dict) else given
    arrays = [part for part in given if hasattr(part, "shape")] if isinstance(given, tuple | list) else []
    return arrays[0] if len(arrays) == 1 else given


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
    y = _plain(answer).astype(np.float64, copy=dtype == "float64")  # else it is a copy already
    if np.isfinite(y.sum()):
        return y, dtype
    tokens = y.transpose(np.argsort(ORDERS[form.rank])) if form.rank in ORDERS else y
    broken = ~np.isfinite(tokens).reshape(-1, positions.shape[-1], y.shape[-1]).all(axis=(0, 2))
    if broken.any():
        raise RefusedError(f"returned NaN or infinity at position {positions[..., broken].flat[0]:g}")
    return y, dtype


def _pulled(
    f: Any, form: Form, x: np.ndarray, at: np.ndarray, g: np.ndarray, *, native: bool, in_place: bool, between: Any
) -> tuple[np.ndarray, np.ndarray] | None:
    """The gradient of `Probe.gradient`, and f's answer; ``native`` where f was found to answer torch."""
    try:
        import torch
    except ImportError:
        return None
    leaf, positions = _hand_over(form, x, at)
    leaf.requires_grad_(True)
    watched, failed = _watched(), None
    with warnings.catch_warnings(), torch.enable_grad():
        warnings.simplefilter("ignore")
        try:
            with watched:
                given = leaf * 1  # no leaf, so that a function may work in place
                y = f(given, positions)
                written = not (in_place or y is None or torch.equal(given.detach(), leaf.detach()))
                y = _answer(given if y is None else y)
                if between is not None:
                    f(leaf.detach().clone(), _hand_over(form, x, between)[1])
        except TimeUpError:
            raise
        except BaseException as error:
            if by_user(error):
                raise
            failed = told(error)
        if not torch.is_grad_enabled():
            raise RefusedError("it leaves the gradients of torch switched off")
        if failed is None and written:
            raise RefusedError("it writes into the x it is given where that asks for a gradient")
        if failed is None and isinstance(y, torch.Tensor) and y.requires_grad:
            try:
                (grad,) = torch.autograd.grad(y, leaf, torch.as_tensor(g).to(y), allow_unused=True)
            except BaseException as error:
                if by_user(error) or isinstance(error, TimeUpError):
                    raise
                raise RefusedError(f"its backward raised {told(error)}") from error
            if grad is None:
                raise RefusedError("the answer depends on x, and no gradient reaches x: it is cut off")
            return _plain(grad).astype(np.float64, copy=False), _plain(y.detach()).astype(np.float64)
    if not native:
        return None
    if watched.seen[:1] == ["cut"] and "numpy" not in watched.seen:
        raise RefusedError("no gradient reaches x: it is cut off, as by detach()")
    why = {"off": "it runs without gradients", "cut": "it leaves torch", "numpy": "it leaves torch"}
    said = why.get(watched.seen[0]) if watched.seen else failed and f"it raised {failed} where x asks for one"
    raise NoGradientError(f"no gradient reaches x: {said or 'its answer carries none'}")


def _watched() -> Any:
    """A mode that notes in ``seen`` how an x that asks for gradients loses them: numpy, switched off, or cut."""
    import torch
    from torch.overrides import TorchFunctionMode

    arrays = ("numpy", "__array__", "tolist", "__dlpack__")

    class Watched(TorchFunctionMode):
        seen: list[str] = []  # noqa: RUF012 - replaced for each mode below

        def __torch_function__(self, func, types, args=(), kwargs=None):
            name = getattr(func, "__name__", "")
            asks = any(isinstance(a, torch.Tensor) and a.requires_grad for a in args)
            if name in arrays:
                self.seen.append("numpy")
            elif asks and not torch.is_grad_enabled() and name != "__get__":
                self.seen.append("off")
            elif asks and (name in ("detach", "detach_") or getattr(func, "__self__", None) is torch.Tensor.data):
                self.seen.append("cut")
            return func(*args, **(kwargs or {}))

    mode = Watched()
    mode.seen = []
    return mode


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


class OneHead(Probe):
    """A callable asked in its first head alone, in calls that have as many heads as other questions."""

    def __init__(self, probe: Probe) -> None:
        self.__dict__.update(probe.__dict__, first=None)

    def _call(self, form, x, positions):
        padded = np.zeros((x.shape[0] * x.shape[1], HEADS, *x.shape[2:]))
        padded[:, 0] = x.reshape(-1, *x.shape[2:])
        return super()._call(form, padded, positions)[:, 0].reshape(x.shape)


class Tempered(Probe):
    """A callable without the factor that all vectors of one position share."""

    def __init__(self, probe: Probe) -> None:
        self.__dict__.update(probe.__dict__, first=None)

    def _call(self, form, x, positions):
        y = super()._call(form, x, positions)
        size = np.sqrt((y**2).sum((0, 1, 3)) / np.maximum((x**2).sum((0, 1, 3)), 1e-300))
        return y / np.where(size > 0, size, 1.0)[:, None]


class Coarse(Probe):
    """A callable whose tables hold numbers of fewer bits than its answers: as far as those are rounded."""

    def __init__(self, probe: Probe, dtype: str) -> None:
        self.__dict__.update(probe.__dict__, first=None)
        self.held = dtype

    @property
    def eps(self) -> float:
        return EPS[self.held]


class Partner(Probe):
    """What turns keys where a callable turns queries and changes the lengths in each plane: by the inverse factors."""

    def __init__(self, probe: Probe) -> None:
        self.__dict__.update(probe.__dict__, first=None)
        links = np.abs(basis_matrices(probe, (1, 2, 3, 5))).max(axis=0) > 1e-6
        self.planes = (links | links.T | np.eye(probe.head_dim, dtype=bool)).astype(float)

    def _call(self, form, x, positions):
        y = super()._call(form, x, positions)
        return y * (x**2 @ self.planes) / np.maximum(y**2 @ self.planes, 1e-300)


def own_heads(p: Probe, x: np.ndarray, at: Any, *, tolerance: float) -> bool:
    """Whether the heads of x turn otherwise than each other, each by the positions and by nothing of other heads."""
    at = np.asarray(at)
    y, other = p(x, at), p(x, at + 1 + np.arange(len(at)))
    if np.abs(np.roll(p(np.roll(x, 1, axis=1), at), -1, axis=1) - y).max() <= tolerance:
        return False
    ratio = np.linalg.norm(y, axis=-1) / np.linalg.norm(x, axis=-1)
    turning = (np.abs(other - y).max(axis=(0, 2, 3)) > tolerance).all()
    if not turning or np.ptp(ratio, axis=1).max() > tolerance / 16:
        return False
    for head in range(x.shape[1]):
        alone = np.zeros_like(x)
        alone[:, head] = x[:, head]
        answer = p(alone, at)
        answer[:, head] -= y[:, head]
        if np.abs(answer).max() > tolerance:
            return False
    return True


FEW = 100_000  # numbers of an answer that is asked for once more
SMALL = 4096  # numbers of an answer that is looked at again
HEADS = 3  # in the questions that tell heads apart
LADDER = tuple(2**k for k in range(17))  # an angle known at n is known well enough at 2n to count its full turns
FINE = tuple(2.0**k for k in range(-10, 0))  # where fractions are answered: they tell frequencies above pi
NEAR = (0, 3, 5, 6, 7)
SHORT = 1024  # what nearly every model was trained on: dynamic scaling begins beyond
SHORTER = (SHORT, 256, 64, 16)  # tried one after the other where far positions change the angles of near ones
TURNED = "position 0 turns too"
LIMITS = (100003, 65536, *(2**k - 1 for k in range(16, 3, -1)))  # the last row of a table is one less than a power


@dataclass
class Matrices:
    """M[t] is the map at ``positions[t]``: f(x, n) = M x, where f is linear."""

    positions: tuple[int, ...]
    M: np.ndarray
    linear: bool
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    floor: float = 1e-9  # an entry below it is zero
    fine: np.ndarray | None = None  # the maps at the positions FINE, where f answers fractions

    @cached_property
    def links(self) -> np.ndarray:
        """The pairs of coordinates that mix at some position, as a Boolean matrix."""
        mixing = np.abs(self.M).max(axis=0) > self.floor
        if self.fine is not None:  # a plane of 2 pi per position turns between them alone
            mixing |= np.abs(self.fine).max(axis=0) > self.floor
        mixing |= mixing.T
        np.fill_diagonal(mixing, False)
        return mixing

    @property
    def coupled(self) -> bool:
        """Whether no coordinate mixes with more than one other."""
        return bool((self.links.sum(axis=0) <= 1).all())

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        if not self.coupled:
            return ()
        return tuple((int(a), int(b)) for a, b in np.argwhere(self.links) if a < b)

    @cached_property
    def turns(self) -> np.ndarray:
        """c + i s of each pair at each position, (T, pairs), relative to position 0: M as a complex number."""
        if not self.pairs:
            return np.zeros((len(self.positions), 0), dtype=complex)
        a, b = np.array(self.pairs).T
        z = (self.M[:, a, a] + self.M[:, b, b]) / 2 + 1j * (self.M[:, b, a] - self.M[:, a, b]) / 2
        start = z[self.positions.index(0)]
        return z * np.where(np.abs(start) > self.floor, start.conj() / np.maximum(np.abs(start), self.floor), 1.0)

    def _followed(self, rungs: tuple[float, ...], turns: np.ndarray) -> tuple[np.ndarray, float, bool]:
        """Angle per position, followed up the rungs; the last rung that was used; whether that is at least 1."""
        theta, known = np.zeros(turns.shape[1]), rungs[0]
        for n, turn in zip(rungs, turns, strict=True):
            more = np.angle(turn * np.exp(-1j * n * theta))
            if n > rungs[0] and (np.abs(more) > max(0.05, 8 * self.floor)).any():
                break  # one plane that jumps tells of a position that is cut or wraps: nothing there is used
            theta, known = theta + more / n, n
        return theta, known, known >= 1

    def frequencies(self, eps: float) -> tuple[Float64[np.ndarray, "planes"], Float64[np.ndarray, "planes"]]:
        """Radians per position with their sign, and how far each may be off, relative."""
        if not self.coupled:
            phases = np.angle(np.linalg.eigvals(self.M[self.positions.index(1)]))
            return np.sort(phases[phases > self.floor])[::-1].copy(), np.full((phases > self.floor).sum(), 1e-9)
        rungs = tuple(n for n in LADDER if n in self.positions)
        whole = self.turns[[self.positions.index(n) for n in rungs]]
        theta, known, _ = self._followed(rungs, whole)
        if self.fine is not None and self.pairs:
            a, b = np.array(self.pairs).T
            z = self.fine[:, a, a] + self.fine[:, b, b] + 1j * (self.fine[:, b, a] - self.fine[:, a, b])
            fast, told, steady = self._followed((*FINE, *rungs), np.concatenate([z, whole]))
            if steady and (np.abs(fast) > 1.001 * np.pi).any():
                theta, known = fast, told
        return theta, 4 * eps / np.maximum(np.abs(theta) * known, eps)

    def angle_error(self, theta: np.ndarray) -> dict[int, float]:
        """Radians between the angle and n theta in the worst plane, at long positions that are not cut."""
        far = [n for n in self.positions if n > 1000 and n not in LADDER]
        if not len(theta) or not self.pairs:
            return {}
        angle = np.outer(far, theta)
        miss = np.abs(np.angle(self.turns[[self.positions.index(n) for n in far]] * np.exp(-1j * angle)))
        rounded = (miss <= 0.05 + np.abs(angle) / 64).all(axis=1)  # even to bfloat16; a cut position misses by more
        return {n: float(row.max()) for n, row, kept in zip(far, miss, rounded, strict=True) if kept}

    def unsteady(self, theta: np.ndarray, eps: float, *, window: int) -> tuple[int, float] | None:
        """A position n below the window whose turn is not n times one turn, and the miss in radians; or None."""
        first, miss = self.M[self.positions.index(1)], np.zeros(len(self.positions))
        for t, n in enumerate(self.positions):
            if self.coupled:
                miss[t] = np.abs(np.angle(self.turns[t] * np.exp(-1j * n * theta))).max(initial=0.0)
            elif n <= SHORT:
                miss[t] = np.abs(self.M[t] - np.linalg.matrix_power(first, n)).max()
        miss *= np.array(self.positions) < window
        if (miss <= 4e-6 + 2 * eps + 5e-6 * np.array(self.positions)).all():
            return None
        t = int((miss > miss.max() / 2).argmax())  # the first where it is plain to see
        return self.positions[t], float(miss[t])

    def scale(self, eps: float) -> tuple[float | None, bool]:
        """The factor on lengths in the turning planes, and whether it is the same at every position and plane."""
        if not self.pairs:
            return None, True
        a, b = np.array(self.pairs).T
        block = self.M[:, np.array([a, b])[:, None], np.array([a, b])[None, :]]  # (T, 2, 2, pairs)
        length = np.sqrt((block**2).sum(axis=(1, 2)) / 2)
        return float(np.median(length)), bool(np.ptp(length) <= 16 * max(eps, 2.0**-23) * max(1.0, length.max()))

    def over(self, factor: float) -> "Matrices":
        """The maps with what comes out in the turning planes divided by a factor."""
        share = np.ones(self.M.shape[-1])
        share[[i for pair in self.pairs for i in pair]] = factor
        return replace(self, M=self.M / share[:, None])

    def two_speeds(self, eps: float) -> bool:
        """Whether the two coordinates of a pair turn by different angles, each by its own."""
        if not self.pairs:
            return False
        (a, b), first = np.array(self.pairs).T, self.M[self.positions.index(1)]
        one, other = first[a, a] - 1j * first[a, b], first[b, b] + 1j * first[b, a]
        close = 16 * max(eps, 2.0**-23)
        units = max(np.abs(np.abs(one) - 1).max(), np.abs(np.abs(other) - 1).max()) <= close
        return bool(units and np.abs(one - other).max() > close)

    def orthogonal(self, eps: float) -> bool:
        if self.coupled:  # of a wide head a product of the whole matrices takes hundreds of times as long
            i, turns = np.arange(self.M.shape[-1]), self.links.any(axis=0)
            j = np.where(turns, self.links.argmax(axis=0), i)
            a, b = self.M[:, i, i], self.M[:, j, i] * turns
            off = np.stack([a**2 + b**2 - 1, (a * self.M[:, i, j] + b * self.M[:, j, j]) * turns])
        else:
            off = np.swapaxes(self.M, 1, 2) @ self.M - np.eye(self.M.shape[-1])
        return bool(np.abs(off).max() <= 16 * max(eps, 2.0**-23))


def measure(probe: Probe, *, far: tuple[int, ...], window: int = LIMITS[0] + 1) -> Matrices:
    """Ask f for the basis vectors at small, doubled and long positions; and test whether these matrices describe f.

    If a table ends somewhere, the positions beyond its end are left out. Raises `RefusedError` if f answers at a few
    positions only.
    """
    refusal, refused = "", 0
    for limit in LIMITS:
        positions = tuple(sorted(n for n in {*LADDER, *NEAR, *far} if n < window and n <= limit))
        try:
            seen = _fitted(probe, positions)
            break
        except RefusedError as error:
            refusal, refused = str(error), positions[-1]
    else:
        raise RefusedError(refusal)
    if refusal:
        seen.notes.append(f"asked up to {positions[-1]}; a call that reaches {refused} is refused: {refusal}")
    if not seen.linear and not seen.problems[-1].startswith("not linear"):
        tried = (_fitted(probe, tuple(n for n in positions if n <= longest)) for longest in SHORTER)
        if short := next((one for one in tried if one.linear), None):
            short.problems.append(
                f"angles change when a far position is in the same call; asked in calls up to {short.positions[-1]}"
            )
            seen = short
    still = 8 * probe.eps * np.abs(seen.M[0]).max()
    if seen.linear and all(np.abs(M - seen.M[0]).max() <= still for M in seen.M):
        same = np.abs(seen.M[0] - np.eye(probe.head_dim)).max() <= 8 * probe.eps
        seen.problems.append(f"nothing turns: {'f returns x' if same else 'f is the same map'} at every position")
    elif seen.linear:
        try:
            seen.fine = basis_matrices(probe, FINE)
        except RefusedError:
            seen.fine = None  # a table
        _undo_start(seen, probe.eps)
    return seen


def _fitted(probe: Probe, positions: tuple[int, ...]) -> Matrices:
    seen = Matrices(positions, basis_matrices(probe, positions), linear=True, floor=max(1e-9, probe.eps))
    seen.problems += _unlike_a_matrix(probe, seen)
    seen.linear = not seen.problems
    return seen


def _undo_start(seen: Matrices, eps: float) -> None:
    """Divide out what f does at position 0, if that is orthogonal: R_n is what remains."""
    start = seen.M[seen.positions.index(0)]
    start = start / max(np.linalg.norm(start) / len(start) ** 0.5, 1e-9)  # a factor on all is told elsewhere
    eye, tolerance = np.eye(len(start)), 16 * max(eps, 2.0**-23)
    if np.abs(start - eye).max() <= tolerance or np.abs(start.T @ start - eye).max() > tolerance:
        return
    seen.M = start.T @ seen.M
    seen.fine = None if seen.fine is None else start.T @ seen.fine
    if np.abs(np.abs(start).max(axis=1) - 1).max() <= tolerance:
        order = np.abs(start).argmax(axis=1)
        negative = np.flatnonzero(start[np.arange(len(start)), order] < 0).tolist()
        if (order != np.arange(len(order))).any():
            seen.notes.append(f"the answer comes in another order, also at position 0: x[{_first(order.tolist())}]")
        if negative:
            seen.notes.append(f"coordinates change sign, also at position 0: {_first(negative)}")
    else:
        seen.problems.append(TURNED)


def _first(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers[:6])) + (", ..." if len(numbers) > 6 else "")


def basis_matrices(probe: Probe, positions: tuple[float, ...]) -> np.ndarray:
    """The matrix of each position, (T, head_dim, head_dim): its column j is the answer to e_j."""
    eye = np.broadcast_to(np.eye(probe.head_dim)[:, None, None, :], (probe.head_dim, 1, len(positions), probe.head_dim))
    return probe(eye, positions)[:, 0].transpose(1, 2, 0)


def _unlike_a_matrix(probe: Probe, seen: Matrices) -> list[str]:
    """Describe what f does that a family of matrices M_n cannot do, on random x with several heads."""
    rng = np.random.default_rng(1)
    x, at = rng.normal(size=(2, 3, 5, probe.head_dim)), (7, 0, 3, 1, 5)
    try:
        y, again = probe(x, at), probe(x, at)
        double, shifted = probe(2 * x, at), probe(x, tuple(n + 1 for n in at))
        split = probe(x + np.roll(x, 1, axis=-1), at) - probe(np.roll(x, 1, axis=-1), at)
        zero = probe(0 * x, at)
    except RefusedError as refusal:
        return [f"not linear: {refusal}, for another x"]
    tolerance = 16 * max(probe.eps, 2.0**-23) * np.abs(x).max()
    found = []
    if not np.allclose(again, y, rtol=0, atol=tolerance / 16):
        found.append("not linear: the same call gives another answer")
    elif np.abs(zero).max() > tolerance:
        found.append("not linear: f(0) is not 0, something is added")
    elif np.abs(double - 2 * y).max() > 4 * tolerance or np.abs(split - y).max() > 4 * tolerance:
        found.append("not linear: f(2x) is not 2 f(x), or f(x + y) not f(x) + f(y)")
    else:
        M, later = (seen.M[[seen.positions.index(n + c) for n in at]] for c in (0, 1))
        off = max(np.abs((R @ x[..., None])[..., 0] - z).max() for R, z in ((M, y), (later, shifted)))
        if off > 4 * tolerance:
            ignored = np.array_equal(y, shifted) and not np.allclose(y, x, atol=tolerance)
            why = (
                "the position is ignored, or counted from the first of a call"
                if ignored
                else "heads, batch entries or tokens are not treated alike"
            )
            found.append(f"linear, but {why}")
    return found
