"""What a configuration says of the module that is built from it: its frequencies, its window, and the heads."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from rope_lab.algebra.frequency_schedules import Linear, Proportional, Schedule
from rope_lab.algebra.hf_schedules import RopeSettings, rope_settings
from rope_lab.audit.foreign_code import parameters_of


@dataclass(frozen=True)
class Built:
    """A module and what its configuration says of it."""

    module: Any
    settings: RopeSettings | None  # None: no configuration, or a rule that we do not know
    window: int | None  # the longest text of training, where the configuration has one


def rule_of(config: Any, layer_type: str | None) -> RopeSettings | None:
    """What the configuration says of the frequencies; None where it has a rule that we do not know."""
    try:
        return rope_settings(config, layer_type=layer_type)
    except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError):
        return None


def scaled(settings: RopeSettings | None) -> RopeSettings | None:
    """The settings where they name a schedule that its list may not tell; one base tells itself, slowed and cut too."""
    return None if settings is None or type(settings.schedule) in (Schedule, Linear, Proportional) else settings


def window_of(config: Any) -> int | None:
    """The longest text of training that a configuration names."""
    rule = getattr(config, "rope_parameters", None) or {}
    found = rule.get("original_max_position_embeddings") or getattr(config, "max_position_embeddings", None)
    return found if isinstance(found, int) else None


def width_of(config: Any, layer_type: str | None) -> int:
    """The width of a head, that of this kind of layer where they differ."""
    if layer_type is not None and hasattr(config, "per_layer_config"):
        with suppress(
            KeyError, ValueError
        ):  # where the kinds of the configuration are no kinds of layers, one width serves all
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
    """Which coordinates of a head attention cuts off to turn them, as far as the configuration tells."""
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
    """What is wrong with a layer type, in words."""
    if not kinds:
        return f"layer_type: expected None, got {got!r}; {name} has one list of frequencies for all layers"
    return f"layer_type: expected one of {', '.join(kinds)}, got {got!r}; {name} has a list for each of them"
