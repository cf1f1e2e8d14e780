"""What the instruments say of a Llama of transformers, measured once and stored: for readers who have not installed it.

``python -m rope_lab.audit.example > rope_lab/audit/data/llama_example.json`` measures anew; a test compares.
"""

import copy
import json
from datetime import date
from functools import cache
from importlib import import_module, metadata, resources
from typing import Any

from rope_lab.audit.conversion import permute_state
from rope_lab.audit.fingerprints import fingerprint
from rope_lab.audit.law_suite import laws
from rope_lab.audit.loaded_models import rotary_of

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
    """What `rotary_of` and `permute_state` did to Llamas of transformers, as it was last measured.

    Returns:
        The ``date`` and the versions; for the configuration of Llama 3 8B, ``fingerprint`` as lines
        and ``laws`` as names, whether they hold and what was seen; and
        ``away``: by how much the logits of a small random Llama move when weights or code change their layout.

    >>> sorted(llama_example())
    ['away', 'date', 'fingerprint', 'laws', 'torch', 'transformers']
    """
    return json.loads(_stored())


@cache
def _stored() -> str:
    return (resources.files("rope_lab.audit") / "data" / "llama_example.json").read_text(encoding="utf-8")


def measure() -> dict[str, Any]:
    """The same, now. Needs transformers."""
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
    """How far the logits of a small random Llama move when its weights, its code or both go to the other layout."""
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
