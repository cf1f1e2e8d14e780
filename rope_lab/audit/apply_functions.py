"""Functions that apply tables or angles, as f(x, positions), with what builds the tables for them."""

import inspect
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from rope_lab.audit.configured import Built, width_of
from rope_lab.audit.foreign_code import TargetError, parameters_of
from rope_lab.audit.probe import RotaryCallable


@dataclass(frozen=True)
class Adapted:
    """A rotary embedding as f(x, positions); ``keys`` where k is turned by another result of the same call."""

    f: RotaryCallable
    head_dim: int
    keys: RotaryCallable | None = None
    about: str = ""
    along: Callable[[int | None], RotaryCallable] | None = (
        None  # for one axis of the positions, where there are several
    )
    axes: int = 1
    axis: int | None = None  # the one that f is asked along, if not all
    built: Built | None = None  # the module that answers, where the audit built it


def apply_module(apply: Any, rotary: Any, head_dim: int, *, layer_type: str | None = None, about: str = "") -> Adapted:
    """A family's function with the tables of its rotary module; ``layer_type`` where the module has several lists."""
    which = {} if layer_type is None else {"layer_type": layer_type}
    device = next((buffer.device for buffer in rotary.buffers()), None)
    remarks = [about] if about else []
    turn = for_both(apply)

    def both(x, positions):
        x, positions = tensor(x).to(device), positions.to(device)
        if takes_complex(apply):  # Llama 4: one complex table, heads behind the tokens
            x = x.transpose(1, 2)
            return [y.transpose(1, 2) for y in apply(x, x.clone(), rotary(x, positions[None], **which))]
        return turn(x, x.clone(), *rotary(x, positions[None], **which))

    import torch

    sample, wide = torch.zeros(1, 1, 2, head_dim), both
    if not takes_complex(apply):
        turning = rotary(sample.to(device), torch.arange(2, device=device)[None], **which)[0].shape[-1]
        if turning < head_dim:
            try:
                both(sample, torch.arange(2))
            except RuntimeError:  # the family's attention cuts the turning coordinates off itself
                remarks.append(f"applied to the first {turning} coordinates, as the family's attention does")

                def wide(x, positions):
                    rotated = both(tensor(x)[..., :turning], positions)
                    return [torch.cat((y, x[..., turning:].to(device)), dim=-1) for y in rotated]

    return pair(wide, head_dim, about="; ".join(remarks))


def for_both(apply: Any) -> Any:
    """apply(q, k, *tables), made of apply(x, cos, sin) where the family has that form."""
    if list(parameters_of(apply))[:3] != ["x", "cos", "sin"]:
        return apply
    return lambda q, k, *tables: (apply(q, *tables), apply(k, *tables))


def takes_complex(apply: Any) -> bool:
    """Whether the function has the form apply(xq, xk, freqs_cis)."""
    return list(parameters_of(apply))[:3] == ["xq", "xk", "freqs_cis"]


def pair(both: Any, head_dim: int, *, about: str = "") -> Adapted:
    """A call that turns q and k at once."""
    return Adapted(lambda x, n: both(x, n)[0], head_dim, keys=lambda x, n: both(x, n)[1], about=about)


def sines_first(apply: Any, home: Any, head_dim: int | None) -> Adapted:
    """GPT-J and CodeGen: apply(tensor, sin, cos) with rows looked up in a table, heads behind the tokens.

    The module's configuration says how wide a head is, and how many of its first coordinates turn.
    """
    from_module(home, "create_sinusoidal_positions")
    config = next((c for c in _defaults(home) if getattr(c, "rotary_dim", None)), None)
    whole, turning, about = head_dim or 64, head_dim or 64, ""
    if config is not None and head_dim is None:
        whole, turning = width_of(config, None), config.rotary_dim
        about = f"as {type(config).__name__}() sets it: the library's default, not a released model's"

    def f(x, positions):
        import torch

        x = tensor(x).transpose(1, 2)
        if positions.is_floating_point() or positions.min() < 0:
            raise IndexError("a table has whole rows from 0 on")
        rows = home.create_sinusoidal_positions(int(positions.max()) + 1, turning)[positions][None]
        sin, cos = rows.chunk(2, dim=-1)
        return torch.cat((apply(x[..., :turning], sin, cos), x[..., turning:]), dim=-1).transpose(1, 2)

    return Adapted(f, whole, about=about)


def with_angles(apply: Any, home: Any, head_dim: int, settings: dict[str, Any]) -> Adapted:
    """rotary-embedding-torch and x-transformers: a module gives the angles, a function applies them."""
    rotary = from_module(home, "RotaryEmbedding")(head_dim, **settings)
    angles_first = next(iter(parameters_of(apply))) == "freqs"

    def f(x, positions):
        angles = rotary(tensor(x).new_tensor(positions.tolist(), dtype=rotary_dtype(rotary)))
        return apply(angles, x) if angles_first else apply(x, *angles)

    return Adapted(f, head_dim)


def rotary_dtype(module: Any) -> Any:
    """The dtype in which a module holds its frequencies."""
    return next(t.dtype for t in (*module.parameters(), *module.buffers()) if t.is_floating_point())


def tensor(x: Any) -> Any:
    if not hasattr(x, "detach"):
        raise TypeError("torch tensors only")
    return x


def from_module(home: Any, name: str) -> Any:
    """The object of this name in the function's module, which builds its tables."""
    if not hasattr(home, name):
        raise TargetError(f"{home.__name__} has no {name} that would build the tables; wrap it as f(x, positions)")
    return getattr(home, name)


def _defaults(home: Any) -> list[Any]:
    """The default configurations of the classes of configurations that a module names."""
    found = []
    for name, Config in vars(home).items():
        if name.endswith("Config") and inspect.isclass(Config):
            with suppress(Exception):
                found.append(Config())
    return found
