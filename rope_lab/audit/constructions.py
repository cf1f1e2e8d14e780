"""What a rotary embedding is built from, arguments or a configuration; and what a configuration says of the module.

Arguments are found by the names of the parameters. What a parameter has no default for is looked up first in the
constructors of the classes beside it: a model says there how wide its heads are, and which part of a head each axis
turns. Only what no class says is chosen here.

>>> def tables(dim: int, end: int, theta: float): ...
>>> arguments(tables, width=64).given
{'dim': 64, 'end': 2048, 'theta': 10000.0}
>>> def other(dim, kernel): ...
>>> arguments(other, width=64)
Traceback (most recent call last):
rope_lab.audit.foreign_code.TargetError: other needs kernel, and no class beside it has a default for that; set it

A configuration is the class's own, or a part of its family's, by default or from a config.json:

>>> class Config:
...     def to_dict(self): return vars(self)
>>> class Whole(Config):
...     def __init__(self): self.text_config = Config()
>>> [type(part).__name__ for part in parts(Whole(), prefer="text")]
['Whole', 'Config']
"""

import inspect
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, get_args

from rope_lab.algebra.frequency_schedules import Linear, Proportional, Schedule
from rope_lab.algebra.hf_rope import words
from rope_lab.algebra.hf_schedules import RopeSettings, rope_settings
from rope_lab.audit.foreign_code import TargetError, TimeUpError, parameters_of, told

WIDTHS = (
    *("dim", "dims", "head_dim", "embed_dim", "attention_head_dim", "hidden_size", "n_elem", "rotary_dim"),
    *("rotated_dims", "d", "d_k", "d_head", "dim_head", "head_size", "kv_channels"),
)
AXES = ("axes_dim", "axes_dims", "rope_axes_dim", "rope_dim", "axes_dims_rope")
BASES = ("theta", "base", "rope_theta", "max_wavelength", "max_period")
LENGTHS = (
    *("seq_len", "seq_length", "length", "end", "max_seq_len", "max_len", "max_seq_length", "seqlen", "max_seqlen"),
    *("max_position_embeddings", "max_input_length", "context_length", "block_size", "max_length", "num_tokens"),
)
PATCHES = ("patch_size", "patch_size_t")
COUNTS = ("ndim", "n_dims", "num_axes")  # of the axes of the positions
BUILDS = re.compile(r"^_?(pre)?(compute|build|get|make|create)\w*(freqs_cis|rope|rotary|cos_sin)", re.IGNORECASE)
LONGEST = 2048  # tokens, where a table has an end
KINDS = (WIDTHS, AXES, BASES, PATCHES)  # within one kind the names mean the same


@dataclass(frozen=True)
class Arguments:
    """Values for the required parameters, and in words who says so."""

    given: dict[str, Any]
    about: str


def builds_tables(name: str, parameters: Iterable[str]) -> bool:
    """Whether a function, by its name and its required parameters, makes the tables of a rotary embedding.

    >>> builds_tables("precompute_freqs_cis", ["dim", "end"]), builds_tables("get_rope_config", ["name"])
    (True, False)
    """
    return bool(BUILDS.search(name)) and any(parameter in WIDTHS for parameter in parameters)


def arguments(
    made: Any, *, width: int, asked: bool = False, settings: dict[str, Any] | None = None, later: tuple[str, ...] = ()
) -> Arguments:
    """Values for the parameters of a class or a function that have no default.

    Args:
        made: What is built, or called.
        width: The width of a head, where no class beside it has one.
        asked: Whether this width was asked for, and goes before what the classes beside it say.
        settings: Values by name that go before all others.
        later: Parameters that are given with each call, such as the positions.

    Raises:
        TargetError: If a required parameter has no known meaning, with its name.
    """
    settings = settings or {}
    given: dict[str, Any] = {}
    owners: dict[str, list[str]] = {}
    for name, parameter in required(made).items():
        if name in settings or name in later:
            continue
        found = None if asked and name in (*WIDTHS, *AXES) else _beside(made, name, several=_several(parameter))
        if found is not None and name not in PATCHES:
            given[name], owner = found
            owners.setdefault(owner, []).append(name)
        else:
            given[name] = _chosen(made, name, parameter, width)
    axes = next((len(value) for name, value in (given | settings).items() if name in AXES), 3)
    given |= {name: value[:1] * axes for name, value in given.items() if name in PATCHES and isinstance(value, tuple)}
    said = [f"{', '.join(names)} as {owner}() sets it" for owner, names in owners.items()]
    free = [f"{n}={given[n]}" for n in given if n not in LENGTHS and not any(n in names for names in owners.values())]
    return Arguments(given | settings, "; ".join([*said, *([f"built with {', '.join(free)}"] if free else [])]))


def required(made: Any) -> dict[str, inspect.Parameter]:
    """The parameters that must be given, by name."""
    try:
        parameters = parameters_of(made).items()
    except (TypeError, ValueError) as error:
        raise TargetError("it does not say what its parameters are; wrap it as f(x, positions)") from error
    open_ended = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return {n: p for n, p in parameters if p.default is p.empty and p.kind not in open_ended}


def _several(parameter: inspect.Parameter) -> bool:
    """Whether a value for each axis is wanted."""
    said = parameter.annotation if isinstance(parameter.annotation, str) else str(parameter.annotation)
    return parameter.name in AXES or any(word in said.lower() for word in ("list", "tuple", "sequence"))


def _beside(made: Any, name: str, *, several: bool) -> tuple[Any, str] | None:
    """The default for a parameter of this meaning that a class of the module has, and the name of that class."""
    kind = next((kind for kind in KINDS if name in kind), (name,))
    for owner, parameters in _constructors(made):
        for other in (name, *kind):
            value = parameters[other].default if other in parameters else None
            if several and isinstance(value, tuple | list) and all(type(part) is int for part in value):
                return tuple(value), owner
            if not several and type(value) in (int, float) and other not in ("dim", "hidden_size", "embed_dim"):
                return value, owner  # those three are the width of a model in most classes
    return None


def _constructors(made: Any) -> Iterator[tuple[str, Any]]:
    home = sys.modules.get(made.__module__)
    for name, owner in list(vars(home).items()) if home else []:
        if inspect.isclass(owner) and owner is not made and owner.__module__ == made.__module__:
            try:
                yield name, parameters_of(owner)
            except (TypeError, ValueError):
                continue


def _chosen(made: Any, name: str, parameter: inspect.Parameter, width: int) -> Any:
    several = _several(parameter)
    if name in AXES or (name in WIDTHS and several):
        side = 2 * (width // 6)
        return (width - 2 * side, side, side)
    if name in WIDTHS:
        return width
    if name in BASES:
        return 10000.0
    if name in LENGTHS:
        return LONGEST
    if name in PATCHES:
        return (1, 1, 1) if several else 1
    if name in COUNTS:
        return 2
    if parameter.annotation in (bool, "bool"):
        return False
    if name == "dtype" and "torch" in sys.modules:
        return sys.modules["torch"].float32
    raise TargetError(f"{made.__name__} needs {name}, and no class beside it has a default for that; set it")


ROTATION = (  # what configurations of transformers 5 keep in rope_parameters
    "rope_type",
    "rope_theta",
    "factor",
    "original_max_position_embeddings",
    "low_freq_factor",
    "high_freq_factor",
    "beta_fast",
    "beta_slow",
    "short_factor",
    "long_factor",
    "attention_factor",
    "partial_rotary_factor",
)


def build(
    Class: Any, *, settings: dict[str, Any], given: dict[str, Any] | None = None, layer_type: str | None = None
) -> tuple[Any, Any]:
    """An instance of a rotary class and the configuration that it was built from.

    ``given`` is the content of a config.json: its part of the class that Class takes, wherever that is nested. Without
    it the family's own default serves. ``settings`` change the part of it that the class wants.

    Raises:
        TargetError: If no configuration is found, if the given one has no part of the class, or if none of its parts
            builds it.
    """
    errors = []
    prefer = "vision" if is_vision(Class.__name__) else "text"
    classes = config_classes(Class)
    refused = rule_of(given, layer_type)[1] if given and prefer == "text" else ""
    if refused.startswith("layer_type"):
        refused = rule_of(given, "full_attention")[1]
    if re.search("expected a (finite |whole )?number(?!, got a list)", refused):  # its class fails, or has no numbers
        raise TargetError(f"config: {refused}")
    for Config in [None] if given else classes:
        try:
            if Config is None:
                candidates = given_parts(given or {}, classes, prefer=prefer)
            else:
                whole = Config(**settings) if _flat(Config, settings) else Config()
                candidates = list(parts(whole, prefer=prefer))
        except (KeyboardInterrupt, TimeUpError, TargetError):
            raise
        except BaseException as error:
            errors.append(told(error))
            continue
        for part in candidates:
            try:
                config = part
                if settings and (Config is None or part is not candidates[0] or not _flat(Config, settings)):
                    config = changed(part, settings, layer_type=layer_type)
                made = Class(config)
                return made.eval() if hasattr(made, "eval") else made, config
            except (KeyboardInterrupt, TimeUpError):
                raise
            except BaseException as error:
                errors.append(told(error))
    if not errors:
        raise TargetError(f"{Class.__name__} takes no config whose class it names; wrap it as f(x, positions)")
    why = errors[0] if refused.startswith("layer_type") else refused or errors[0]
    raise TargetError(f"{Class.__name__} cannot be built: {why}")


def given_parts(given: dict[str, Any], classes: list[Any], *, prefer: str) -> list[Any]:
    """The parts of a config.json that are configurations of one of the classes, as its ``model_type`` names them.

    Raises:
        TargetError: If it has none, so that its numbers would not be used.
    """
    kind, named = given.get("model_type"), [Config for Config in classes if hasattr(Config, "from_dict")]
    auto = sys.modules.get("transformers.models.auto.configuration_auto")
    known = kind in auto.CONFIG_MAPPING if auto and kind else False
    if auto and known:
        whole = auto.CONFIG_MAPPING[kind].from_dict(given)
        found = [part for part in parts(whole, prefer=prefer) if isinstance(part, tuple(classes))]
        for name, value in given.items():  # a part that the class has no place for: its default would be asked
            if isinstance(value, dict) and "model_type" in value and not re.search(words("aside"), name):
                found = found if hasattr(getattr(whole, name, None), "to_dict") else []
    else:
        size = rf"{words('speaks')}|^(hidden_size|head_dim|{'|'.join(words('common')['names']['hidden_size'])})$"
        inner = any(name.endswith("_config") and value and isinstance(value, dict) for name, value in given.items())
        if not (kind or inner or any(re.search(size, str(name)) for name in given)):  # such as a tokenizer's file
            named = []
        own = [Config for Config in named if kind in (None, getattr(Config, "model_type", None))]
        found = []
        for whole in (Config.from_dict(given) for Config in own):
            inside = [getattr(whole, name, None) for name, value in given.items() if name.endswith("_config") and value]
            if all(hasattr(part, "to_dict") for part in inside):  # else it has no place for a part of the file
                found += parts(whole, prefer=prefer)
        for name, value in given.items() if not kind and not found else ():
            if isinstance(value, dict) and (name in words("text") or "model_type" in value):
                with suppress(TargetError):
                    found += given_parts(value, classes, prefer=prefer)
    if found:
        return found
    wanted = " or ".join(Config.__name__ for Config in classes) or "a class that it names"
    has = f"model_type {kind!r}" if kind else f"no model_type and the keys {', '.join(list(given)[:4])}"
    raise TargetError(
        f"config: expected a file with a part for {wanted}, got {has}; name a class of that family, or give the part"
    )


def is_vision(name: str) -> bool:
    """Whether a name speaks of images: "Vision" right before what it is, so not in the name of a family."""
    stem = name.lower()
    return any(word in stem for word in ("visionrot", "visionrop", "vision_", "_vision", "vitrop", "vitrot", "visual"))


def config_classes(Class: Any) -> list[Any]:
    """The class that the parameter names, or those of its module, most alike in name first."""
    home = sys.modules[Class.__module__]
    parameters = parameters_of(Class.__init__)
    hint = parameters["config"].annotation if "config" in parameters else inspect.Parameter.empty
    if isinstance(hint, str):
        hint = getattr(home, hint.split("|")[0].strip().split(".")[-1], inspect.Parameter.empty)
    hints = [h for h in (get_args(hint) or (hint,)) if inspect.isclass(h) and h is not inspect.Parameter.empty]
    if hints:
        return hints[:1]

    def alike(name: str) -> int:
        return next((i for i, (a, b) in enumerate(zip(name, Class.__name__, strict=False)) if a != b), len(name))

    named = [n for n, c in vars(home).items() if n.endswith("Config") and inspect.isclass(c) and alike(n) > 2]
    return [getattr(home, name) for name in sorted(named, key=alike, reverse=True)]


def parts(config: Any, *, prefer: str, depth: int = 3) -> Iterator[Any]:
    """A configuration, then the configurations inside it; those whose name has the word ``prefer`` first."""
    yield config
    inside = vars(config) if depth and hasattr(config, "__dict__") else {}
    found = {n: c for n, c in inside.items() if hasattr(c, "to_dict") and hasattr(c, "__dict__")}
    for name in sorted(found, key=lambda n: prefer not in n):
        yield from parts(found[name], prefer=prefer, depth=depth - 1)


def changed(config: Any, settings: dict[str, Any], *, layer_type: str | None = None) -> Any:
    """A configuration of the same class with other settings; those of the rotation go where it keeps them."""
    content = config.to_dict()
    rotation = {name: value for name, value in settings.items() if name in ROTATION and name not in content}
    rest = {name: value for name, value in settings.items() if name not in rotation}
    if rotation:
        old = dict(content.get("rope_parameters") or {})
        if layer_type in old:
            old[layer_type] = old[layer_type] | rotation
        elif old and all(isinstance(value, dict) for value in old.values()):
            old = {kind: value | rotation for kind, value in old.items()}
        else:
            old |= rotation
        rest["rope_parameters"] = old
    return type(config)(**(content | rest))


def _flat(Config: Any, settings: dict[str, Any]) -> bool:
    """Whether the class's own constructor knows each setting."""
    known = parameters_of(Config.__init__)
    fields = getattr(Config, "__dataclass_fields__", {})
    return all(name in known or name in fields for name in settings) or not settings


@dataclass(frozen=True)
class Built:
    """A module and what its configuration says of it."""

    module: Any
    settings: RopeSettings | None
    window: int | None  # the longest text of training, where the configuration has one
    unread: str = ""  # why there are no settings
    sold: int | None = None  # the longest text that the configuration admits


def rule_of(config: Any, layer_type: str | None) -> tuple[RopeSettings | None, str]:
    """The settings of a configuration's rotation, or None and why they cannot be read."""
    try:
        return rope_settings(config, layer_type=layer_type), ""
    except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError) as error:
        return None, str(error)


def scaled(settings: RopeSettings | None) -> RopeSettings | None:
    """The settings where they name a schedule that its list may not tell; one base tells itself, slowed and cut too."""
    return None if settings is None or type(settings.schedule) in (Schedule, Linear, Proportional) else settings


def window_of(config: Any) -> int | None:
    """The longest text of training that a configuration names."""
    rule = getattr(config, "rope_parameters", None) or {}
    found = rule.get("original_max_position_embeddings") or getattr(config, "max_position_embeddings", None)
    return found if isinstance(found, int) else None


def longest_of(config: Any) -> int | None:
    """The longest text that a configuration admits, where it names one of 16 tokens or more."""
    names = ("max_position_embeddings", "max_seq_len", "max_sequence_length", "n_positions", "n_ctx")
    found = [getattr(config, name, None) for name in names]
    longest = next((n for n in found if isinstance(n, int) and n >= 16), None)
    rule = getattr(config, "rope_parameters", None) or {}
    if longest and rule.get("rope_type") == "dynamic":  # the length named is that of the training
        return int(longest * rule.get("factor", 1))
    return longest


def width_of(config: Any, layer_type: str | None) -> int:
    """The width of a head, that of this kind of layer where they differ."""
    if layer_type is not None and hasattr(config, "per_layer_config"):
        with suppress(KeyError, ValueError):  # where its kinds are no kinds of layers, one width serves all
            config = config.per_layer_config[layer_type]
    return getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads


def head_widths(config: Any, layer_type: str | None) -> list[int]:
    """The widths that a head of this configuration may have."""
    try:
        width = width_of(config, layer_type)
    except (AttributeError, TypeError, ZeroDivisionError):
        return []
    return [width] if isinstance(width, int) else []


def cut_of(config: Any, layer_type: str | None) -> str | None:
    """The coordinates of a head that attention cuts off to turn them, as far as the configuration tells."""
    if "qk_nope_head_dim" in dir(config):
        return "last"  # such heads are [nope, rope]
    rule = getattr(config, "rope_parameters", None) or {}
    rule = rule.get(layer_type, rule)
    said = (
        rule.get("partial_rotary_factor"),
        *(getattr(config, n, None) for n in ("partial_rotary_factor", "rotary_dim")),
    )
    return "first" if any(said) else None


def layer_types(rotary: Any, config: Any) -> tuple[str, ...]:
    """The names of the lists of frequencies, where a module has one for each kind of layer; else none."""
    if "layer_type" not in parameters_of(rotary.forward):
        return ()
    rules = getattr(config, "rope_parameters", None) or {}
    kinds = tuple(name for name, rule in rules.items() if isinstance(rule, dict))
    used = getattr(config, "layer_types", None) or ()
    return tuple(name for name in dict.fromkeys(used) if name in kinds) or kinds  # their own order


def wrong_layer_type(got: str | None, kinds: tuple[str, ...], name: str) -> str:
    """The message about a wrong layer type: the types that were expected, and the one that was given."""
    if not kinds:
        return f"layer_type: expected None, got {got!r}; {name} has one list of frequencies for all layers"
    return f"layer_type: expected one of {', '.join(kinds)}, got {got!r}; {name} has a list for each of them"
