"""Adapters from other signatures to f(x, positions), chosen by the names of the parameters and not by the library.

>>> from rope_lab.audit.gallery import right
>>> adapt(right, head_dim=8).f is right
True
"""

import inspect
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from rope_lab.audit.cos_sin_modules import apply_cos_sin, cos_sin_function
from rope_lab.audit.importing import TargetError
from rope_lab.audit.probe import RotaryCallable


@dataclass(frozen=True)
class Adapted:
    """A rotary embedding as f(x, positions); ``keys`` where k is turned by another result of the same call."""

    f: RotaryCallable
    head_dim: int
    keys: RotaryCallable | None = None
    about: str = ""


def adapt(target: Any, *, head_dim: int | None = None, layer_type: str | None = None, **settings: Any) -> Adapted:
    """A function, class or module as f(x, positions), identified by the names of its parameters.

    ``settings`` go to the configuration if there is one (transformers), else to the class. ``layer_type`` names the
    list of frequencies where the configuration has one for each kind of layer.

    Raises:
        TargetError: If the parameters are not those of a known signature and more than two are required, or if the
            module lacks what builds the tables that the signature needs.
    """
    if not callable(target):
        raise TargetError(f"it is not callable: {type(target).__name__}; name a function, a class or a torch module")
    try:
        parameters = inspect.signature(target).parameters.values()
    except ValueError as error:
        raise TargetError("it does not say what its parameters are; wrap it as f(x, positions)") from error
    names = [p.name for p in parameters if p.kind is not p.VAR_KEYWORD]
    usual = 64 if head_dim is None else head_dim
    home = import_module(target.__module__) if hasattr(target, "__module__") else None
    if names[:4] == ["q", "k", "cos", "sin"] or names[:3] in (["x", "cos", "sin"], ["xq", "xk", "freqs_cis"]):
        return _tables_and_apply(target, home, head_dim, layer_type, settings)
    if names == ["tensor", "sin", "cos"]:
        return _sines_first(target, home, usual)
    if names[:2] in (["t", "freqs"], ["freqs", "t"]):
        return _angles(target, home, usual, settings)
    if inspect.isclass(target):
        return _module(target, usual, layer_type, settings)
    if len([p for p in parameters if p.default is p.empty]) > 2:
        raise TargetError(f"no adapter for the parameters {', '.join(names)}; wrap it as f(x, positions)")
    return Adapted(target, usual)


def _tensor(x: Any) -> Any:
    if not hasattr(x, "detach"):
        raise TypeError("torch tensors only")
    return x


def _beside(home: Any, name: str) -> Any:
    """The object of this name in the function's module, which builds its tables."""
    if not hasattr(home, name):
        raise TargetError(f"{home.__name__} has no {name} that would build the tables; wrap it as f(x, positions)")
    return getattr(home, name)


def _rotary_class(home: Any) -> tuple[Any, Any]:
    """The class beside the function that builds its tables, and the parameter for its config, or None."""
    # Some families rotate images as well; the class for images does not belong to this function.
    classes = [c for n, c in vars(home).items() if n.endswith("RotaryEmbedding") and "Vision" not in n]
    if not classes:
        raise TargetError(f"{home.__name__} has no class ...RotaryEmbedding that would build the tables")
    return classes[0], inspect.signature(classes[0].__init__).parameters.get("config")


def _configured(
    home: Any, head_dim: int | None, layer_type: str | None, settings: dict[str, Any]
) -> tuple[Any, Any, int]:
    """The rotary module beside the function, its family's own default configuration, and the width of a head."""
    Class, config = _rotary_class(home)
    if config is None or config.annotation is config.empty:
        raise TargetError(f"{Class.__name__} takes no config whose class it names; wrap it as f(x, positions)")
    hints = config.annotation
    if head_dim is not None:
        heads = 4
        settings = {"num_attention_heads": heads, "hidden_size": heads * head_dim, "head_dim": head_dim} | settings
    try:
        Config = getattr(home, hints.split(".")[-1]) if isinstance(hints, str) else hints
        config = Config(**settings)
        rotary = Class(config)
    except Exception as error:
        said = f"{type(error).__name__}: {' '.join(str(error).split())[:80]}"
        raise TargetError(f"{Class.__name__} cannot be built: {said}") from error
    kinds = layer_types(rotary, config)
    if layer_type not in (kinds or (None,)):
        raise TargetError(wrong_layer_type(layer_type, kinds, Class.__name__))
    return rotary, config, width_of(config, layer_type)


def layer_types(rotary: Any, config: Any) -> tuple[str, ...]:
    """The names of the lists of frequencies, where a module has one for each kind of layer; else none."""
    if "layer_type" not in inspect.signature(rotary.forward).parameters:
        return ()
    return tuple(name for name, rule in config.rope_parameters.items() if isinstance(rule, dict))


def wrong_layer_type(got: str | None, kinds: tuple[str, ...], name: str) -> str:
    """What is wrong with a layer type, in words."""
    if not kinds:
        return f"layer_type: expected None, got {got!r}; {name} has one list of frequencies for all layers"
    return f"layer_type: expected one of {', '.join(kinds)}, got {got!r}; {name} has a list for each of them"


def width_of(config: Any, layer_type: str | None) -> int:
    """The width of a head, that of this kind of layer where they differ."""
    if layer_type is not None and hasattr(config, "per_layer_config"):
        with suppress(
            KeyError, ValueError
        ):  # where the kinds of the configuration are no kinds of layers, one width serves all
            config = config.per_layer_config[layer_type]
    return getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads


def _made(Class: Any, head_dim: int, settings: dict[str, Any]) -> Any:
    """An instance of a class that takes the width of a head."""
    try:
        return Class(head_dim, **settings)
    except Exception as error:
        raise TargetError(f"{Class.__name__}({head_dim}) raised {type(error).__name__}: {str(error)[:80]}") from error


def _tables_and_apply(
    apply: Any, home: Any, head_dim: int | None, layer_type: str | None, settings: dict[str, Any]
) -> Adapted:
    """apply(q, k, cos, sin): tables from RotaryEmbedding(dim), or a transformers family's (batch, T, rotary_dim)."""
    Class, config = _rotary_class(home)
    if config is None:
        width = 64 if head_dim is None else head_dim
        tables = cos_sin_function(_made(Class, width, settings), head_dim=width)
        if tables is None:
            said = f"{Class.__name__}({width}) gives no tables (cos, sin) for positions or seq_len"
            raise TargetError(f"{said}; wrap it as f(x, positions)")
        turn = for_both(apply)
        return _pair(lambda x, n: turn(x, x.clone(), *tables(_tensor(x), n)), width)
    rotary, config, width = _configured(home, head_dim, layer_type, settings)
    about = f"as {type(config).__name__}() sets it: the library's default, not a released model's"
    if settings:
        about = f"{type(config).__name__} with {', '.join(settings)} set for this audit"
    return apply_module(apply, rotary, width, layer_type=layer_type, about=about)


def for_both(apply: Any) -> Any:
    """apply(q, k, *tables), made of apply(x, cos, sin) where the family has that form."""
    if list(inspect.signature(apply).parameters)[:3] != ["x", "cos", "sin"]:
        return apply
    return lambda q, k, *tables: (apply(q, *tables), apply(k, *tables))


def apply_module(apply: Any, rotary: Any, head_dim: int, *, layer_type: str | None = None, about: str = "") -> Adapted:
    """A family's function with the tables of its rotary module; ``layer_type`` where the module has several lists."""
    which = {} if layer_type is None else {"layer_type": layer_type}
    device = next((buffer.device for buffer in rotary.buffers()), None)
    remarks = [about] if about else []
    turn = for_both(apply)

    def both(x, positions):
        x, positions = _tensor(x).to(device), positions.to(device)
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
                    rotated = both(_tensor(x)[..., :turning], positions)
                    return [torch.cat((y, x[..., turning:].to(device)), dim=-1) for y in rotated]

    return _pair(wide, head_dim, about="; ".join(remarks))


def takes_complex(apply: Any) -> bool:
    """Whether the function has the form apply(xq, xk, freqs_cis)."""
    return list(inspect.signature(apply).parameters)[:3] == ["xq", "xk", "freqs_cis"]


def _pair(both: Any, head_dim: int, *, about: str = "") -> Adapted:
    """A call that turns q and k at once."""
    return Adapted(lambda x, n: both(x, n)[0], head_dim, keys=lambda x, n: both(x, n)[1], about=about)


def _sines_first(apply: Any, home: Any, head_dim: int) -> Adapted:
    """GPT-J and CodeGen: apply(tensor, sin, cos) with rows looked up in a table, heads behind the tokens."""
    _beside(home, "create_sinusoidal_positions")

    def f(x, positions):
        x = _tensor(x).transpose(1, 2)
        if positions.is_floating_point() or positions.min() < 0:
            raise IndexError("a table has whole rows from 0 on")
        rows = home.create_sinusoidal_positions(int(positions.max()) + 1, x.shape[-1])[positions][None]
        sin, cos = rows.chunk(2, dim=-1)
        return apply(x, sin, cos).transpose(1, 2)

    return Adapted(f, head_dim)


def _angles(apply: Any, home: Any, head_dim: int, settings: dict[str, Any]) -> Adapted:
    """rotary-embedding-torch and x-transformers: a module gives the angles, a function applies them."""
    rotary = _beside(home, "RotaryEmbedding")(head_dim, **settings)
    angles_first = next(iter(inspect.signature(apply).parameters)) == "freqs"

    def f(x, positions):
        angles = rotary(_tensor(x).new_tensor(positions.tolist(), dtype=rotary_dtype(rotary)))
        return apply(angles, x) if angles_first else apply(x, *angles)

    return Adapted(f, head_dim)


def rotary_dtype(module: Any) -> Any:
    """The dtype in which a module holds its frequencies."""
    return next(t.dtype for t in (*module.parameters(), *module.buffers()) if t.is_floating_point())


def _module(Class: Any, head_dim: int, layer_type: str | None, settings: dict[str, Any]) -> Adapted:
    """A class: its module's own function if it has one, else an instance called with x and positions."""
    home = import_module(Class.__module__)
    for name in ("apply_rotary_pos_emb", "apply_rotary_emb"):
        if hasattr(home, name) and "config" not in inspect.signature(Class).parameters:
            return adapt(getattr(home, name), head_dim=head_dim, **settings)
        if hasattr(home, name):
            return adapt(getattr(home, name), layer_type=layer_type, **settings)
    made = _made(Class, head_dim, settings)
    if "input_pos" in inspect.signature(getattr(made, "forward", made)).parameters:  # torchtune: (batch, T, heads, d)
        return Adapted(lambda x, n: made(_tensor(x).transpose(1, 2), input_pos=n[None]).transpose(1, 2), head_dim)
    if list(inspect.signature(made).parameters) == ["x", "key"]:
        return Adapted(_whole_sequences(made), head_dim, about="takes no positions: asked with one token at each place")
    if tables := cos_sin_function(made, head_dim=head_dim):
        f, about = apply_cos_sin(tables, head_dim=head_dim)
        return Adapted(f, head_dim, about=about)
    return Adapted(made, head_dim)


def _whole_sequences(made: Any, *, longest: int = 1024) -> RotaryCallable:
    """Equinox: one sequence (T, head_dim) that always begins at 0. A token at place n shows what position n does."""
    import jax
    import numpy as np

    call = jax.vmap(made)

    def f(x, positions):
        if positions.dtype.kind != "i" or positions.min() < 0 or positions.max() >= longest:
            raise IndexError(f"places are 0, 1, 2, ...; asked up to {longest - 1}")
        y = np.empty_like(x)
        for t, n in enumerate(positions):
            sequence = np.zeros((x[..., t, 0].size, positions.max() + 1, x.shape[-1]), dtype=np.float32)
            sequence[:, n] = x[..., t, :].reshape(-1, x.shape[-1])
            y[..., t, :] = np.asarray(call(sequence))[:, n].reshape(x[..., t, :].shape)
        return y

    return f
