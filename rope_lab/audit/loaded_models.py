"""The rotary embedding of a model that is loaded, under the model's own configuration; and one example, stored.

A model is recognised by the names of its modules, a function by those of its parameters, so that `rotary_of` needs no
transformers. The example is for readers who have not installed it:
``python -m rope_lab.audit.loaded_models > rope_lab/audit/data/llama_example.json`` measures anew; a test compares.
"""

import copy
import json
import sys
from dataclasses import dataclass, field
from datetime import date
from importlib import import_module, metadata, resources
from typing import Any

from rope_lab.algebra.hf_schedules import RopeSettings
from rope_lab.audit.constructions import layer_types, rule_of, width_of, wrong_layer_type
from rope_lab.audit.conversion import permute_state
from rope_lab.audit.fingerprints import fingerprint
from rope_lab.audit.foreign_code import parameters_of
from rope_lab.audit.law_suite import laws
from rope_lab.audit.probe import RotaryCallable
from rope_lab.audit.table_calls import for_both, tensor
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
    both, about = _applied(
        _function(rotary, found), rotary, width, {} if layer_type is None else {"layer_type": layer_type}
    )
    return ModelRotary(
        lambda x, n: both(x, n)[0],
        lambda x, n: both(x, n)[1],
        width,
        expected=_said(found, layer_type, width),
        settings=rule_of(found, layer_type)[0],
        about=about,
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
    """The answers that a fingerprint must give if the code does what the configuration asks for."""
    old = getattr(config, "rope_scaling", None)  # before transformers 5
    rule = getattr(config, "rope_parameters", None) or old or {}
    rule = rule.get(layer_type, rule)
    base = rule.get("rope_theta", getattr(config, "rope_theta", None))
    share = rule.get("partial_rotary_factor", getattr(config, "partial_rotary_factor", None)) or 1.0
    said: dict[str, Any] = {"rotated_dims": int(width * share)}
    if base is not None and rule.get("rope_type", rule.get("type", "default")) in ("default", "proportional"):
        said["base"] = float(base)
    return said


def _applied(apply: Any, rotary: Any, head_dim: int, which: dict[str, str]) -> tuple[Any, str]:
    """A family's function with the tables of its rotary module, for q and k at once; and a remark on it."""
    device = next((buffer.device for buffer in rotary.buffers()), None)
    takes_complex = list(parameters_of(apply))[:3] == ["xq", "xk", "freqs_cis"]
    turn = for_both(apply)

    def both(x, positions):
        x, positions = tensor(x).to(device), positions.to(device)
        if takes_complex:  # Llama 4: one complex table, heads behind the tokens
            x = x.transpose(1, 2)
            return [y.transpose(1, 2) for y in apply(x, x.clone(), rotary(x, positions[None], **which))]
        return turn(x, x.clone(), *rotary(x, positions[None], **which))

    import torch

    sample = torch.zeros(1, 1, 2, head_dim)
    if not takes_complex:
        turning = rotary(sample.to(device), torch.arange(2, device=device)[None], **which)[0].shape[-1]
        if turning < head_dim:
            try:
                both(sample, torch.arange(2))
            except RuntimeError:  # the family's attention cuts the turning coordinates off itself

                def wide(x, positions):
                    rotated = both(tensor(x)[..., :turning], positions)
                    return [torch.cat((y, x[..., turning:].to(device)), dim=-1) for y in rotated]

                return wide, f"applied to the first {turning} coordinates, as the family's attention does"
    return both, ""


LLAMA_3_8B = {
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "max_position_embeddings": 8192,
    "rope_parameters": {"rope_type": "default", "rope_theta": 500000.0},
}
SMALL = {
    "vocab_size": 97,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "initializer_range": 0.2,
}


def llama_example() -> dict[str, Any]:
    """The last measured effect of `rotary_of` and `permute_state` on Llamas of transformers.

    Returns:
        The ``date`` and the versions; for the configuration of Llama 3 8B, ``fingerprint`` as lines
        and ``laws`` as names, whether they hold and what was seen; and
        ``away``: by how much the logits of a small random Llama move when weights or code change their layout.

    >>> sorted(llama_example())
    ['away', 'date', 'fingerprint', 'laws', 'torch', 'transformers']
    """
    return json.loads((resources.files("rope_lab.audit") / "data" / "llama_example.json").read_text(encoding="utf-8"))


def measure() -> dict[str, Any]:
    """Measure anew what `llama_example` returns. Needs transformers."""
    modeling = import_module("transformers.models.llama.modeling_llama")
    rotary = rotary_of(modeling.LlamaRotaryEmbedding(modeling.LlamaConfig(**LLAMA_3_8B)))
    found = laws(rotary, head_dim=rotary.head_dim, keys=rotary.keys, expected=rotary.expected)
    return {
        "date": date.today().isoformat(),
        "transformers": metadata.version("transformers"),
        "torch": metadata.version("torch"),
        "fingerprint": str(fingerprint(rotary, head_dim=rotary.head_dim)).split("\n"),
        "laws": [[law.name, law.ok, law.saw] for law in found],
        "away": _carried(modeling),
    }


def _carried(modeling: Any) -> dict[str, float]:
    """The movement of a small random Llama's logits when its weights, its code or both go to the other layout."""
    import torch

    from rope_lab.algebra.layouts import rotate_elementwise
    from rope_lab.algebra.rotation import frequencies

    torch.manual_seed(0)
    llama = modeling.LlamaForCausalLM(modeling.LlamaConfig(**SMALL)).double().eval()
    sentence = torch.randint(97, (1, 24))
    moved = copy.deepcopy(llama)
    state = permute_state(llama.state_dict(), layout_from="half", layout_to="interleaved", n_heads=4, n_kv_heads=2)
    moved.load_state_dict(state)

    def neighbours(q: Any, k: Any, *_: Any) -> tuple[Any, Any]:
        def turn(x: Any) -> Any:
            return torch.from_numpy(rotate_elementwise(x.detach().numpy(), range(24), theta=frequencies(16)))

        return turn(q), turn(k)

    logits, library = {}, modeling.apply_rotary_pos_emb
    try:
        for code, rotate in (("old code", library), ("new code", neighbours)):
            modeling.apply_rotary_pos_emb = rotate
            for weights, model in (("old weights", llama), ("new weights", moved)):
                with torch.no_grad():
                    logits[f"{weights}, {code}"] = model(sentence).logits
    finally:
        modeling.apply_rotary_pos_emb = library
    right = logits["old weights, old code"]
    return {name: float((seen - right).abs().max()) for name, seen in logits.items()}


if __name__ == "__main__":
    print(json.dumps(measure(), indent=1))
