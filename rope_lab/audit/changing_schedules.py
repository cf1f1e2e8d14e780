"""Which schedules of the installed transformers make a text depend on its neighbours, on the past, or on its place."""

from __future__ import annotations

from typing import Any

SCHEDULES: dict[str, dict[str, Any]] = {
    "default": {},
    "linear": {"factor": 4.0},
    "yarn": {"factor": 4.0, "original_max_position_embeddings": 32},
    "llama3": {"factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 32},
    "dynamic": {"factor": 4.0},
    "longrope": {
        "factor": 4.0,
        "short_factor": [1.0] * 16,
        "long_factor": [4.0] * 16,
        "original_max_position_embeddings": 32,
    },
}


def length_dependence() -> dict[str, Any]:
    """How far the logits of a short text move in a tiny Llama of the installed transformers, under each schedule.

    The model has two layers, random weights in float64 and a window of 32; the short text has 20 tokens (40 where it
    comes after a long one), the long one 60.

    Returns:
        Under "version" that of transformers, and under "rows" for each schedule the largest change of a logit: beside
        a long text in one batch, after a long text, and with all positions moved by 1000. Empty where transformers is
        not installed, or is too old for ``rope_parameters``.

    >>> seen = length_dependence()
    >>> not seen or seen["rows"]["linear"][0] < 1e-9 < seen["rows"]["dynamic"][0]
    True
    """
    try:
        import transformers
    except ImportError:
        return {}
    if int(transformers.__version__.partition(".")[0]) < 5:
        return {}
    return {
        "version": transformers.__version__,
        "rows": {name: _changes(name, settings) for name, settings in SCHEDULES.items()},
    }


def _changes(name: str, settings: dict[str, Any]) -> tuple[float, float, float]:
    import torch

    draw = torch.Generator().manual_seed(1)
    short, long = (torch.randint(64, (1, n), generator=draw) for n in (20, 60))
    padded = torch.cat((short, torch.zeros(1, 40, dtype=torch.long)), 1)
    middle = torch.cat((short, long), 1)[:, :40]  # longer than the window, and shorter than the long text
    at = torch.arange(20)[None]
    with torch.no_grad():
        alone = _model(name, settings)(short).logits[0]
        beside = _model(name, settings)(torch.cat((padded, long))).logits[0, :20]
        model = _model(name, settings)
        before = model(middle).logits
        model(long)
        after = model(middle).logits
        here, there = (_model(name, settings)(short, position_ids=at + k).logits for k in (0, 1000))
    pairs = ((beside, alone), (after, before), (there, here))
    return tuple(float((a - b).abs().max()) for a, b in pairs)  # type: ignore[return-value]


def _model(name: str, settings: dict[str, Any]) -> Any:
    """The same weights each time, and a schedule that has not read anything yet."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=64,
        hidden_size=64,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        head_dim=32,
        max_position_embeddings=128 if "original_max_position_embeddings" in settings else 32,
        initializer_range=0.3,
        rope_parameters={"rope_type": name, "rope_theta": 10000.0, **settings},
    )
    config._attn_implementation = "eager"
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return LlamaForCausalLM(config).eval().double()
