"""A rotary class of a family and the function that applies its tables, as f(x, positions), found by trying.

A way is taken only if it is sound: x of the family's own width comes back in its shape, heads and batch entries are
treated alike, a token depends on its own position alone, and each axis of the positions turns something.
"""

import importlib
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from rope_lab.audit.apply_calls import Turn, apply_calls, other_settings, takes_tables
from rope_lab.audit.family_configs import is_vision
from rope_lab.audit.foreign_code import TargetError, TimeUpError, parameters_of, told
from rope_lab.audit.table_calls import TableCall, table_calls

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
        """The same for positions (T,) on one axis, or on all at once if axis is None."""

        def f(x: Any, n: Any) -> list[Any]:
            import torch

            if not hasattr(x, "detach"):
                raise TypeError("torch tensors only")
            still = torch.zeros_like(n)
            return self.both(x, torch.stack([n if axis in (None, a) else still for a in range(self.axes)], dim=-1))

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
    """With x whole; and, where the tables are narrower, with the coordinates that turn cut off as attention does."""

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
    """What is wrong with a way, in words, or None."""
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
    """What may apply the tables of a class: functions of its module and methods of its classes, the likeliest first.

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
