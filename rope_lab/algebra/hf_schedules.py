"""What a Hugging Face configuration says of the rotation: head_dim, base, how much of a head turns, and the schedule.

>>> old = {"head_dim": 128, "rope_theta": 1e6, "rope_scaling": {"type": "linear", "factor": 4.0}}
>>> found = rope_settings(old)
>>> found.head_dim, found.base, found.schedule
(128, 1000000.0, Linear(factor=4.0))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float64

from rope_lab.algebra.frequency_schedules import DynamicNTK, Linear, Llama3, LongRoPE, Proportional, Schedule, Yarn
from rope_lab.algebra.many_axes import interleaved_frequencies, section_frequencies

# How planes go to the axes is for the model's class to say; the key in a configuration may be absent. First words of
# model types: whose classes deal the planes out in turn, and whose deal them out in a way of their own.
IN_TURN = ("qwen3_vl", "qwen3_omni_moe", "qwen3_5", "qwen4_exp", "cohere_compass", "cosmos3_edge")
OF_THEIR_OWN = ("ernie4_5_vl", "hunyuan_vl")
OLDER = {"su": "longrope", "dynamic_ntk": "dynamic", "mrope": "default"}  # names that earlier configurations have


@dataclass(frozen=True)
class RopeSettings:
    """The fields that `rope_lab.nn.RotaryConfig` takes, but for the layout, which no configuration says."""

    head_dim: int
    base: float
    rotary_dim: int | None
    schedule: Schedule
    sections: tuple[int, ...] | None = None  # M-RoPE: how many planes each axis has; None: one axis
    interleaved: bool = False  # the axes take the planes in turn

    @property
    def vectors(self) -> Float64[np.ndarray, "planes axes"] | None:
        """The frequency vector of each plane where a place has several coordinates; None where it has one.

        The frequencies are those of the schedule, dealt out by sections or in turn.

        Raises:
            ValueError: If the sections do not sum to the planes, or if the schedule depends on the length of the text
                or has an attention factor, neither of which a table of vectors can say.

        Source: ``recomposition_frequencies`` of Qwen2-VL and Qwen3-VL in transformers.
        """
        if self.sections is None:
            return None
        width = self.rotary_dim or self.head_dim
        if 2 * sum(self.sections) != width:
            raise ValueError(
                f"mrope_section: expected planes that sum to {width // 2}, got {list(self.sections)}, which sum to "
                f"{sum(self.sections)}; look at head_dim and partial_rotary_factor"
            )
        if self.schedule.by_length or self.schedule.attention_factor != 1:
            raise ValueError(
                f"mrope_section: expected a schedule that is one list of frequencies, got {self.schedule}; "
                "make the table for one length, and multiply the logits by the factor"
            )
        deal = interleaved_frequencies if self.interleaved else section_frequencies
        own = self.schedule.frequencies(width, base=self.base)
        return np.where(deal(self.sections, base=self.base) > 0, own[:, None], 0.0)


def rope_settings(config: Any, *, layer_type: str | None = None) -> RopeSettings:
    """Read a configuration of transformers, or the dictionary of a ``config.json``, of any age.

    Settings are looked for in ``rope_parameters`` (since transformers 5), there under the type of the layer where the
    layers differ, then in ``rope_scaling`` and beside it: ``rope_theta``, ``partial_rotary_factor``,
    ``max_position_embeddings``, ``original_max_position_embeddings``, ``mrope_section``, ``mrope_interleaved``.

    Args:
        config: A configuration, or a mapping with the same names; of a model with a text part, that part counts.
        layer_type: Such as "full_attention", where the layers differ.

    Returns:
        Its `RopeSettings`.

    Raises:
        ValueError: If a setting is missing, if the type is not one that we have, or if these layers do not turn.

    Source: ``standardize_rope_params`` and ``ROPE_INIT_FUNCTIONS`` of transformers.
    """
    get = _getter(_layer(config, layer_type))
    if get("hidden_size") is None and get("head_dim") is None and get("text_config") is not None:
        get = _getter(_layer(get("text_config"), layer_type))
    given = _of_layer(get("rope_parameters") or get("rope_scaling") or {}, layer_type)
    name = str(given.get("rope_type") or given.get("type") or "default")
    name = OLDER.get(name, name)
    share = _first(given.get("partial_rotary_factor"), get("partial_rotary_factor"), get("rotary_pct"), 1.0)
    part = get("qk_rope_head_dim") if share == 1.0 else None  # a share is one of the whole head
    head_dim = part or get("head_dim") or _quotient(get)
    base = _first(given.get("rope_theta"), get("rope_theta"), get("rotary_emb_base"), 10000.0)
    if name not in MAKERS:
        raise ValueError(f"rope_type: expected one of {', '.join(MAKERS)}, got {name!r}; it is no list of frequencies")
    schedule = MAKERS[name](_Settings(name, given, get, share))
    turning = head_dim if name == "proportional" else int(head_dim * share)
    sections = _first(given.get("mrope_section"), get("mrope_section"))
    if sections is None and "mrope" in (given.get("rope_type"), given.get("type")):
        raise ValueError(
            "mrope_section: expected a value for rope_type 'mrope', got none; look for it in the model's config.json"
        )
    return RopeSettings(
        int(head_dim),
        float(base),
        None if turning == head_dim else turning,
        schedule,
        None if sections is None else tuple(int(count) for count in sections),
        sections is not None and _in_turn(get, given),
    )


@dataclass(frozen=True)
class _Settings:
    """The settings of one kind of layer, and a refusal where one is missing."""

    name: str
    given: Mapping[str, Any]
    get: Callable[[str], Any]
    share: float

    def __getitem__(self, key: str) -> Any:
        if (value := self.given.get(key)) is None:
            raise ValueError(
                f"{key}: expected a value for rope_type {self.name!r}, got none among {sorted(self.given)}; "
                "look for it in the model's config.json"
            )
        return value

    @property
    def window(self) -> int:
        """The length of the training: what stands beside the settings counts first, as in the library."""
        value = _first(self.get("original_max_position_embeddings"), self.given.get("original_max_position_embeddings"))
        return int(_first(value, self.longest))

    @property
    def longest(self) -> int:
        if (value := self.get("max_position_embeddings")) is None:
            raise ValueError(f"max_position_embeddings: expected the window of {self.name!r}, got none; add it")
        return int(value)

    @property
    def factor(self) -> float:
        """The factor, or the quotient of the two windows where it is not given."""
        return float(self.given.get("factor") or self.longest / self.window)


def _yarn(s: _Settings) -> Schedule:
    return Yarn(
        factor=s.factor,
        window=s.window,
        slow=s.given.get("beta_slow") or 1.0,
        fast=s.given.get("beta_fast") or 32.0,
        mscale=s.given.get("mscale"),
        mscale_all_dim=s.given.get("mscale_all_dim"),
        given=s.given.get("attention_factor"),
        whole=s.given.get("truncate", True),
    )


MAKERS: dict[str, Callable[[_Settings], Schedule]] = {
    "default": lambda _: Schedule(),
    "linear": lambda s: Linear(factor=s["factor"]),
    "dynamic": lambda s: DynamicNTK(factor=s["factor"], window=s.longest),
    "yarn": _yarn,
    "llama3": lambda s: Llama3(
        factor=s["factor"], window=s.window, slow=s["low_freq_factor"], fast=s["high_freq_factor"]
    ),
    "longrope": lambda s: LongRoPE(
        short=tuple(s["short_factor"]),
        long=tuple(s["long_factor"]),
        window=s.window,
        factor=s.factor,
        given=s.given.get("attention_factor"),
    ),
    "proportional": lambda s: Proportional(share=s.share, factor=s.given.get("factor", 1.0)),
}


def _in_turn(get: Callable[[str], Any], given: Mapping[str, Any]) -> bool:
    kind = str(get("model_type") or "")
    if kind.startswith(OF_THEIR_OWN):
        raise ValueError(
            f"mrope_section: expected planes that go to the axes in a row or in turn, got {kind}, whose class has an "
            "order of its own; make the table and take RotaryConfig.of_axes"
        )
    said = _first(given.get("mrope_interleaved"), get("mrope_interleaved"), False)
    return kind.startswith(IN_TURN) or bool(said)


def _layer(config: Any, layer_type: str | None) -> Any:
    """The configuration of one type of layer, where whole configurations differ: Gemma 4 has two widths of heads."""
    if layer_type is None or isinstance(config, Mapping) or not getattr(config, "per_layer_config", None):
        return config
    try:
        return config.per_layer_config[layer_type]
    except (KeyError, ValueError):  # the library's own way to say that its layers do not differ so
        return config


def _getter(config: Any) -> Callable[[str], Any]:
    if isinstance(config, Mapping):
        return config.get

    def get(name: str) -> Any:
        try:
            return getattr(config, name, None)
        except RuntimeError as error:
            raise ValueError(f"layer_type: expected the type of a layer, since {name} differs among them") from error

    return get


def _first(*values: Any) -> Any:
    """The first that is given; 0 is a value."""
    return next((value for value in values if value is not None), None)


def _of_layer(given: Mapping[str, Any], layer_type: str | None) -> Mapping[str, Any]:
    """The settings of one type of layer; without types, what is there."""
    types = [
        key for key, value in given.items() if isinstance(value, Mapping) or (value is None and "attention" in key)
    ]
    if not types:
        return given
    if layer_type not in types:
        raise ValueError(
            f"layer_type: expected one of {', '.join(types)}, got {layer_type!r}: their frequencies differ"
        )
    if given[layer_type] is None:
        raise ValueError(f"layer_type: expected layers that turn, got {layer_type!r}, which have no positions")
    return given[layer_type]


def _quotient(get: Callable[[str], Any]) -> int:
    width, heads = get("hidden_size") or get("n_embd"), get("num_attention_heads") or get("n_head")
    if not width or not heads:
        raise ValueError("head_dim: expected it, or hidden_size and num_attention_heads, got neither; add one")
    return width // heads
