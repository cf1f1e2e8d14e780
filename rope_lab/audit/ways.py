"""Ways to turn x, found by trying: by tables and the function that applies them, in whole sequences, or in pictures.

A way is taken only if it is sound: x of the family's own width comes back in its shape, heads and batch entries are
treated alike, a token depends on its own position alone, and each axis of the positions turns something.

>>> def turn(x):  # (rows, length, 2): its place turns each token
...     z = (x[..., 0] + 1j * x[..., 1]) * np.exp(1j * np.arange(x.shape[1]))
...     return np.stack([z.real, z.imag], axis=-1)
>>> f = whole_sequences(turn, longest=8)
>>> f(np.array([[[1.0, 0.0], [1.0, 0.0]]]), np.array([0, 1])).round(2).tolist()
[[[1.0, 0.0], [0.54, 0.84]]]
>>> import torch
>>> def turn(x):  # (batch, 2, rows, columns): the row turns each patch
...     angle = torch.arange(x.shape[2])[:, None].to(x.dtype)
...     a, b = x[:, 0], x[:, 1]
...     return torch.stack([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], 1)
>>> turns_pictures(turn, head_dim=2)
True
>>> in_pictures(turn)(torch.tensor([[[[1.0, 0.0]]]]), torch.tensor([[1, 5]])).round(decimals=2)
tensor([[[[0.5400, 0.8400]]]])
"""

import importlib
import inspect
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from rope_lab.audit.constructions import is_vision
from rope_lab.audit.foreign_code import SAME, TargetError, TimeUpError, parameters_of, told
from rope_lab.audit.probe import RotaryCallable
from rope_lab.audit.table_calls import (
    KEYS,
    PLACES,
    QUERIES,
    TableCall,
    Turn,
    apply_calls,
    other_settings,
    table_calls,
    takes_tables,
    tensor,
)

LENGTHS = "changes lengths with the position"
Both = Callable[[Any, Any], list[Any]]  # x, positions (T, axes) -> [q turned, k turned]


@dataclass(frozen=True)
class Way:
    """How a family turns: ``both`` for positions of ``axes`` axes, and how it was asked, in words."""

    both: Both
    axes: int
    head_dim: int
    width: int  # of the tables
    function: str
    shape: str

    def along(self, axis: int | None) -> Both:
        """Return ``both`` for positions (T,) on one axis, or on all axes at once if axis is None."""

        def f(x: Any, n: Any) -> list[Any]:
            import torch

            still = torch.zeros_like(n)
            return self.both(
                tensor(x), torch.stack([n if axis in (None, a) else still for a in range(self.axes)], dim=-1)
            )

        return f


def find_way(
    rotary: Any,
    config: Any,
    *,
    functions: list[Any],
    widths: list[int],
    which: dict[str, Any],
    cut: str | None,
    axes: int | None = None,
    last: Any = None,
) -> Way:
    """The first sound way to turn x by the tables of a module.

    Args:
        rotary: The module that makes the tables.
        config: Its configuration.
        functions: What may apply them, the likeliest first.
        widths: The widths that a head may have, the likeliest first.
        which: What goes to every call of the module, such as the kind of layer.
        cut: Which coordinates of a head, "first" or "last", attention cuts off to turn them; None: not known.
        axes: How many axes the positions have; None: not known.
        last: What applies tables where no function does.

    Raises:
        TargetError: If none is sound, with what was tried.
    """
    tried: list[str] = []
    name = getattr(rotary, "__name__", type(rotary).__name__)
    second: Way | None = None  # sound, but lengths change
    calls: list[tuple[int, TableCall]] = []
    for call in table_calls(rotary, which, config=config):
        if axes not in (None, call.axes):
            continue
        try:
            calls.append((_width(call), call))
        except (KeyboardInterrupt, TimeUpError):
            raise
        except BaseException as error:
            tried.append(f"asked with positions {call.words}, {name} raised {told(error)}")
    # As wide as a head: likeliest. Where each axis adds its own coordinates, as many axes as a head has room for.
    room = max(widths, default=0)
    calls.sort(key=lambda found: (found[0] not in widths, -found[0] if found[0] <= room else 0))
    plain: list[tuple[Any, dict[str, Any]]] = [(function, {}) for function in functions]
    switched = [(function, settings) for function in functions for settings in other_settings(function)]
    for function, settings in (*plain, *switched, *([(last, {})] if last else [])):
        for width, call in calls:
            for head_dim in dict.fromkeys(w for w in (*widths, width, 2 * width) if w >= width and w % 2 == 0):
                for turn in apply_calls(function, **settings):
                    for both in _cuts(call, turn, width, head_dim, cut=cut):
                        wrong = _unsound(both, call.axes, head_dim)
                        way = Way(both, call.axes, head_dim, width, _named(function, settings), call.words)
                        if wrong is None:
                            return way
                        if wrong == LENGTHS and call.axes == 1:
                            second = second or way
                        tried.append(f"{_named(function, settings)} {wrong}")
    if second is not None:
        return second
    asked = getattr(rotary, "forward", rotary)
    raise TargetError(
        f"found no way to apply the tables of {name}"
        + (f": {tried[-1]}" if tried else f": forward({', '.join(parameters_of(asked))})")
        + "; wrap it as f(x, positions)"
    )


def _named(function: Any, settings: dict[str, Any]) -> str:
    """A function in words, with the settings that it was called with."""
    said = ", ".join(f"{name}={value}" for name, value in settings.items())
    return function.__name__ + (f" with {said}" if said else "")


def _width(call: TableCall) -> int:
    """The width of the tables, in coordinates."""
    import torch

    given = call.tables(torch.zeros(1, 5, 4, 8), torch.tensor([0, 3, 1, 7])[:, None].expand(4, call.axes))
    table = given[0]
    if not hasattr(table, "shape") or table.ndim < 2:
        raise TypeError("it gives no tables")
    return int(table.shape[-1]) * (2 if table.is_complex() else 1)


def _cuts(call: TableCall, turn: Turn, width: int, head_dim: int, *, cut: str | None) -> Iterator[Both]:
    """Yield the turn of x whole; and, where the tables are narrower, of the part that attention cuts off to turn."""

    def whole(x: Any, P: Any) -> list[Any]:
        return turn(x, call.tables(x, P), P)

    yield whole
    if width >= head_dim or cut is None:
        return

    def part(x: Any, P: Any) -> list[Any]:
        import torch

        if cut == "last":
            rest, turning = x[..., :-width], x[..., -width:]
            return [torch.cat((rest, y), dim=-1) for y in turn(turning, call.tables(x, P), P)]
        turning, rest = x[..., :width], x[..., width:]
        return [torch.cat((y, rest), dim=-1) for y in turn(turning, call.tables(x, P), P)]

    yield part


def _unsound(both: Both, axes: int, head_dim: int) -> str | None:
    """Describe what is wrong with a way, or return None."""
    import torch

    x = torch.randn(2, 5, 4, head_dim, generator=torch.Generator().manual_seed(0))
    at = torch.tensor([[0, 0, 0, 0], [3, 1, 2, 5], [1, 2, 0, 3], [7, 5, 3, 2]])[:, :axes]
    try:
        with torch.no_grad():
            y = both(x, at)[0]
            if tuple(y.shape) != tuple(x.shape):
                return f"gave the shape {tuple(y.shape)} for {tuple(x.shape)}"
            if not torch.isfinite(y).all():
                return "gave NaN or infinity"
            if y.is_complex() or not _close(both(x.flip(0, 1), at)[0].flip(0, 1), y):
                return "does not treat heads and batch entries alike"
            if not _close(both(x[:, :, 1:3], at[1:3])[0], y[:, :, 1:3]):
                return "turns a token by more than its own position"
            if _close(y, x):
                return "turns nothing"
            for axis in range(axes):
                moved = at.clone()
                moved[:, axis] += 2
                if _close(both(x, moved)[0], y):
                    return f"ignores axis {axis} of the positions"
            lengths = y.norm(dim=-1) / x.norm(dim=-1)
            first = both(x, torch.zeros_like(at))[0]
            moved_there = first * (first - x).abs().amax(dim=(0, 1, 2)).ge(1e-4)
            if bool(moved_there.any()) and _close((moved_there * x).sum(dim=-1), torch.zeros(())):
                return "gives a quarter turn at position 0, as cosines and sines do that are exchanged"
            start = first.norm(dim=-1) / x.norm(dim=-1)
            if not _close(lengths, start):
                return LENGTHS
    except (KeyboardInterrupt, TimeUpError):
        raise
    except BaseException as error:
        return f"raised {told(error)}"
    return None


def _close(a: Any, b: Any) -> bool:
    return bool((a.double() - b.double()).abs().max() < 1e-4)


def functions_beside(Class: Any, config: Any) -> list[Any]:
    """The functions that may apply the tables of a class: of its module or of the classes there, the likeliest first.

    Likely is what the module calls, what is for images as the class is, and what the configuration's switch asks for.
    """
    home = importlib.import_module(Class.__module__)
    found: dict[str, Any] = {n: f for n, f in vars(home).items() if inspect.isfunction(f) and takes_tables(f)}
    for name, owner in list(vars(home).items()):
        if inspect.isclass(owner) and owner.__module__ == home.__name__:
            statics = {method: s.__func__ for method, s in vars(owner).items() if isinstance(s, staticmethod)}
            found |= {f"{name}.{method}": f for method, f in statics.items() if takes_tables(f)}
    called = _called_in(home)
    neighbours = bool(getattr(config, "rope_interleave", False))

    def unlikely(item: tuple[str, Any]) -> tuple[bool, bool, bool]:
        name, _ = item
        words = any(word in name for word in ("vision", "2d", "multidim"))
        return (
            name.rpartition(".")[2] not in called,
            words != is_vision(Class.__name__),
            ("interleave" in name) != neighbours,
        )

    return [f for _, f in sorted(found.items(), key=unlikely)]


def _called_in(home: Any) -> set[str]:
    """The names that the code of a module's functions and methods refers to."""
    names: set[str] = set()
    for item in vars(home).values():
        if getattr(item, "__module__", None) != home.__name__:
            continue
        codes = [item] if inspect.isfunction(item) else vars(item).values() if inspect.isclass(item) else []
        for f in codes:
            code = getattr(getattr(f, "__func__", f), "__code__", None)
            names |= set(code.co_names) if code else set()
    return names


def rotary_class_of(function: Any) -> Any:
    """The class beside a function that builds its tables: for images if the function is; the module's first otherwise.

    Raises:
        TargetError: If there is none.
    """
    home = importlib.import_module(function.__module__)
    classes = [
        c
        for name, c in vars(home).items()
        if inspect.isclass(c) and ("RotaryEmb" in name or "RotaryPos" in name or "RopePos" in name)
    ]
    if not classes:
        raise TargetError(f"{home.__name__} has no class ...RotaryEmbedding that would build the tables")
    images = any(word in function.__name__ for word in ("vision", "2d", "multidim"))
    return sorted(classes, key=lambda c: (c.__module__ != home.__name__, is_vision(c.__name__) != images))[0]


def whole_sequences(call: Callable[[Any], Any], *, longest: int) -> RotaryCallable:
    """f(x, positions) of a call for sequences (rows, length, head_dim) whose first token has position 0.

    All tokens of different positions go into one sequence, so that a question costs one call; that a token does not
    change others is tried with the first question, and if it does, each token gets a sequence of its own.
    """
    alone: list[bool] = []

    def f(x: Any, positions: Any) -> Any:
        x, positions = np.asarray(x), np.asarray(positions)
        if positions.dtype.kind != "i" or positions.min() < 0 or positions.max() >= longest:
            raise IndexError(f"places are 0, 1, 2, ...; asked up to {longest - 1}")
        if not alone:
            tried, at = np.ones((1, 3, x.shape[-1])) * np.arange(1, 4)[:, None], np.array([0, 2, 3])
            each, together = (_asked(call, tried, at, single=single) for single in (True, False))
            alone.append(not np.allclose(each, together, atol=1e-5))
        return _asked(call, x, positions, single=alone[0])

    return f


def whole_sequence_call(module: Any, names: list[str], *, head_dim: int, which: int = 0) -> Callable[[Any], Any] | None:
    """The call of a module that takes sequences from position 0 on, for numpy; None if it is no such module.

    Args:
        module: The rotary embedding.
        names: The names of the parameters of its call: (x, key) of Equinox, (q, k), (x, offset) of MLX, or x alone.
        head_dim: The width of a head.
        which: 0 for queries, 1 for keys, where it takes both.
    """
    if names == ["x", "key"]:
        import jax

        return jax.vmap(module)
    both = len(names) > 1 and names[0] in QUERIES and names[1] in KEYS and not set(names[2:]) & set(PLACES)
    if of_mlx(module) and (both or names[:2] == ["x", "offset"]):
        import mlx.core as mx

        return lambda x: np.array(module(mx.array(x)))
    if not both and (len(names) != 1 or names[0][:1] != "x" or not hasattr(module, "named_buffers")):
        return None
    import torch

    def call(x: Any, axis: int | None = None) -> Any:
        given = torch.from_numpy(x) if axis is None else torch.from_numpy(x).unsqueeze(axis)
        with torch.no_grad():
            y = module(given, given.clone())[which] if both else module(given)
        return (y if axis is None else y.squeeze(axis)).numpy()

    sample = np.tile(np.linspace(0.5, 1.5, head_dim, dtype=np.float32), (2, 5, 1))
    for axis in (None, 1, 2):  # (batch, T, head_dim), or with an axis of heads before or behind the tokens
        with suppress(Exception):
            y = call(sample, axis)
            if y.shape == sample.shape and np.ptp(y, axis=1).max() > SAME and np.ptp(y, axis=0).max() < SAME:
                return partial(call, axis=axis)
    with suppress(Exception):
        if np.ptp(call(sample), axis=0).max() > SAME:  # its text lies along the first axis
            return None
    return call if both else None


def of_mlx(module: Any) -> bool:
    """Whether a module is one of MLX."""
    return any(owner.__module__.partition(".")[0] == "mlx" for owner in type(module).__mro__)


def _asked(call: Callable[[Any], Any], x: Any, positions: Any, *, single: bool) -> Any:
    rows = x.reshape(-1, *x.shape[-2:])
    y = np.empty_like(rows)
    length = 1 << int(positions.max()).bit_length()  # few lengths, for libraries that compile for each
    for group in groups(positions, single=single):
        sequence = np.zeros((len(rows), length, x.shape[-1]), dtype=np.float32)
        sequence[:, positions[group]] = rows[:, group]
        y[:, group] = np.asarray(call(sequence))[:, positions[group]]
    return y.reshape(x.shape)


def groups(positions: Any, *, single: bool) -> list[list[int]]:
    """The numbers of the tokens, so that no two of one group have the same position; with ``single`` each alone."""
    found: list[list[int]] = []
    met: Counter[Any] = Counter()
    for t, n in enumerate(positions):
        number = t if single else met[n]  # a place that was met before goes into the next group
        met[n] += 1
        if number == len(found):
            found.append([])
        found[number].append(t)
    return found


PICTURE = 32  # patches along each side
APART = 0.05  # radians, and this share of an angle: what the angles of two sizes may differ by


def turns_pictures(module: Any, *, head_dim: int) -> bool:
    """Whether a module takes a picture with a head's coordinates as channels, and gives one of the same shape back."""
    import torch

    x = torch.randn(1, head_dim, 4, 6, generator=torch.Generator().manual_seed(0))
    try:
        with torch.no_grad():
            y = module(x)
            if not isinstance(y, torch.Tensor) or y.shape != x.shape or bool((y - x).abs().max() < SAME):
                return False
            alone = torch.zeros_like(x)
            alone[..., 2, 3] = x[..., 2, 3]  # of a sequence the last axis would be a head's, whose coordinates mix
            y = module(alone)
            y[..., 2, 3] = 0
            return bool((y.abs() < SAME).all())
    except (KeyboardInterrupt, TimeUpError):
        raise
    except BaseException:
        return False


def in_pictures(module: Any) -> Any:
    """turn(x, P) of such a module, for x (batch, heads, T, head_dim) and whole places P (T, 2) in one picture."""

    def turn(x: Any, P: Any) -> Any:
        import torch

        if P.is_floating_point() or P.min() < 0 or P.max() >= PICTURE:
            raise IndexError(f"places are 0, 1, 2, ...; asked up to {PICTURE - 1}")
        rows = x.reshape(-1, *x.shape[-2:])
        y = torch.empty_like(rows)
        for group in groups([tuple(place) for place in P.tolist()], single=False):
            down, across = P[group].unbind(-1)
            picture = rows.new_zeros(len(rows), rows.shape[-1], PICTURE, PICTURE)
            picture[:, :, down, across] = rows[:, group].transpose(1, 2)
            y[:, group] = module(picture)[:, :, down, across].transpose(1, 2)
        return y.reshape(x.shape)

    return turn


def size_words(module: Any, *, head_dim: int) -> str:
    """Describe how the size of the picture enters; an empty string if it does not.

    Raises:
        TargetError: If patches turn by more than half a turn from one to the next, so that places cannot tell by how
            much.
    """
    import torch

    with torch.no_grad():
        at = [_steps(module, head_dim, side) for side in (PICTURE, 2 * PICTURE)]
    if bool((at[0] - at[1]).abs().max() < SAME):
        return ""
    for axis in (1, 2):  # coordinates run from edge to edge: in a picture twice as large each step turns half as far
        one, other = (_angles(steps[axis] @ steps[0].T) for steps in at)
        if bool(((one - 2 * other).abs() > APART * (1 + one)).any()):
            raise TargetError(
                f"its angles depend on the size of the picture, and one of {PICTURE} x {PICTURE} patches does not show "
                "them: some patches turn by more than half a turn from one to the next, or the size enters otherwise "
                "than by an edge at a fixed place; set other coordinates, or wrap it as f(x, positions)"
            )
    return ", whose size sets the angles"


def _steps(module: Any, head_dim: int, side: int) -> Any:
    """The matrices of the first patch, of the one below, and of the one beside it."""
    import torch

    picture = torch.eye(head_dim)[:, :, None, None].expand(head_dim, head_dim, side, side)
    y = module(picture)
    return torch.stack([y[:, :, 0, 0].T, y[:, :, 1, 0].T, y[:, :, 0, 1].T])


def _angles(matrix: Any) -> Any:
    import torch

    return torch.linalg.eigvals(matrix.double()).angle().abs().sort().values
