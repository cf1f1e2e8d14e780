"""The configuration that a rotary class wants: its own, or a part of its family's, by default or from a config.json.

>>> class Config:
...     def to_dict(self): return vars(self)
>>> class Whole(Config):
...     def __init__(self): self.text_config = Config()
>>> [type(part).__name__ for part in parts(Whole(), prefer="text")]
['Whole', 'Config']
"""

import inspect
import sys
from collections.abc import Iterator
from typing import Any, get_args

from rope_lab.audit.foreign_code import TargetError, TimeUpError, parameters_of, told

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

    ``given`` is the content of a config.json; without it the family's own default serves. ``settings`` change the part
    of it that the class wants.

    Raises:
        TargetError: If no configuration is found, or none of its parts builds the class.
    """
    errors = []
    for Config in config_classes(Class):
        try:
            whole = Config.from_dict(given) if given else Config(**settings) if _flat(Config, settings) else Config()
        except (KeyboardInterrupt, TimeUpError):
            raise
        except BaseException as error:
            errors.append(told(error))
            continue
        prefer = "vision" if is_vision(Class.__name__) else "text"
        for part in parts(whole, prefer=prefer):
            try:
                config = part
                if settings and (given or part is not whole or not _flat(Config, settings)):
                    config = changed(part, settings, layer_type=layer_type)
                made = Class(config)
                return made.eval() if hasattr(made, "eval") else made, config
            except (KeyboardInterrupt, TimeUpError):
                raise
            except BaseException as error:
                errors.append(told(error))
    if not errors:
        raise TargetError(f"{Class.__name__} takes no config whose class it names; wrap it as f(x, positions)")
    raise TargetError(f"{Class.__name__} cannot be built: {errors[0]}")


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
