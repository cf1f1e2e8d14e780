"""The rotary embedding of a model that is loaded, under the model's own configuration.

transformers is not imported: a model is recognised by the names of its modules, a function by those of its parameters.
"""

import copy
import sys
from dataclasses import dataclass, field
from typing import Any

from rope_lab.algebra.hf_schedules import RopeSettings
from rope_lab.audit.apply_functions import apply_module
from rope_lab.audit.configured import layer_types, rule_of, width_of, wrong_layer_type
from rope_lab.audit.probe import RotaryCallable
from rope_lab.errors import ArgumentError

FUNCTIONS = ("apply_rotary_pos_emb", "apply_rotary_pos_emb_interleave", "apply_rotary_emb")


@dataclass(frozen=True)
class ModelRotary:
    """The rotary embedding of a loaded model: call it as f(x, positions), or hand its parts to `laws`."""

    f: RotaryCallable  # turns the queries
    keys: RotaryCallable | None  # turns the keys
    head_dim: int
    expected: dict[str, Any] = field(default_factory=dict)  # what the configuration says, for `laws`
    settings: RopeSettings | None = None  # the schedule of the configuration too, for `fingerprint`
    about: str = ""

    def __call__(self, x: Any, positions: Any) -> Any:
        """Queries, turned."""
        return self.f(x, positions)


def rotary_of(model: Any, *, config: Any = None, layer_type: str | None = None) -> ModelRotary:
    r"""The rotary embedding of a loaded Hugging Face model, as `fingerprint` and `laws` want it.

    $f(x, n) = \mathcal R_n x$ with the model's own frequencies: its rotary module makes the cosines and sines, and the
    function beside that module's class applies them. The module is copied, so nothing in the model changes.

    Args:
        model: A loaded model, or its rotary module. Its class has a name that ends in ``RotaryEmbedding``.
        config: The model's configuration. Default: the one that the module or the model holds.
        layer_type: Which kind of layer, where the configuration has frequencies for each kind, such as
            ``"full_attention"``.

    Returns:
        A `ModelRotary`. Its ``expected`` is what the configuration says: the width that turns and, if no scaling is
        set, the base. Its ``settings`` name the schedule in ``fingerprint(f, head_dim=..., settings=...)``; they are
        None where `rope_lab.algebra.rope_settings` cannot read the configuration.

    Raises:
        TypeError: If model has no modules to look through.
        ValueError: If there is no rotary module, or several kinds; if no configuration is found; if layer_type is not
            one that the module knows; or if no function beside the class applies its tables.

    >>> rotary_of({})
    Traceback (most recent call last):
    TypeError: model: expected a loaded model or its rotary module, got dict; wrap anything else as f(x, positions)
    """
    rotary = copy.deepcopy(_rotary_module(model))
    name = type(rotary).__name__
    found = next((c for c in (config, getattr(rotary, "config", None), getattr(model, "config", None)) if c), None)
    if found is None:
        raise ArgumentError(f"config: expected the model's configuration, got None; {name} holds none, so pass config=")
    found = found.get_text_config() if hasattr(found, "get_text_config") else found
    kinds = layer_types(rotary, found)
    if layer_type not in (kinds or (None,)):
        raise ArgumentError(wrong_layer_type(layer_type, kinds, name))
    width = width_of(found, layer_type)
    turned = apply_module(_function(rotary, found), rotary, width, layer_type=layer_type)
    return ModelRotary(
        turned.f,
        turned.keys,
        width,
        expected=_said(found, layer_type, width),
        settings=rule_of(found, layer_type),
        about=turned.about,
    )


def _rotary_module(model: Any) -> Any:
    """The module that makes the tables. Some families rotate images as well; that module is another one."""
    if not hasattr(model, "named_modules"):
        raise TypeError(
            f"model: expected a loaded model or its rotary module, got {type(model).__name__}; wrap anything else as "
            "f(x, positions)"
        )
    modules = [m for _, m in model.named_modules() if type(m).__name__.endswith("RotaryEmbedding")]
    of_text = {type(m): m for m in reversed(modules) if "Vision" not in type(m).__name__}
    if len(of_text) != 1:
        got = ", ".join(sorted(kind.__name__ for kind in of_text)) or "none"
        mend = "pass the one you mean" if of_text else "wrap its rotation as f(x, positions)"
        raise ArgumentError(
            f"model: expected one kind of module ...RotaryEmbedding in {type(model).__name__}, got {got}; {mend}"
        )
    return next(iter(of_text.values()))


def _function(rotary: Any, config: Any) -> Any:
    """The function beside the module's class that applies its tables."""
    home = sys.modules[type(rotary).__module__]
    names = [name for name in FUNCTIONS if hasattr(home, name)]
    if getattr(config, "rope_interleave", False) and FUNCTIONS[1] in names:  # DeepSeek-V3 has two and a switch
        names = [FUNCTIONS[1]]
    if not names:
        raise ArgumentError(
            f"model: expected a function {' or '.join(FUNCTIONS)} in {home.__name__}, beside {type(rotary).__name__}, "
            "got none; wrap the rotation as f(x, positions)"
        )
    return getattr(home, names[0])


def _said(config: Any, layer_type: str | None, width: int) -> dict[str, Any]:
    """What a fingerprint must say if the code does what the configuration asks for."""
    old = getattr(config, "rope_scaling", None)  # before transformers 5
    rule = getattr(config, "rope_parameters", None) or old or {}
    rule = rule.get(layer_type, rule)
    base = rule.get("rope_theta", getattr(config, "rope_theta", None))
    share = rule.get("partial_rotary_factor", getattr(config, "partial_rotary_factor", None)) or 1.0
    said: dict[str, Any] = {"rotated_dims": int(width * share)}
    if base is not None and rule.get("rope_type", rule.get("type", "default")) in ("default", "proportional"):
        said["base"] = float(base)
    return said
