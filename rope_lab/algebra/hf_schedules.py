"""What a Hugging Face configuration says of the rotation: head_dim, base, how much of a head turns, and the schedule.

>>> old = {"head_dim": 128, "rope_theta": 1e6, "rope_scaling": {"type": "linear", "factor": 4.0}}
>>> found = rope_settings(old)
>>> found.head_dim, found.base, found.schedule
(128, 1000000.0, Linear(factor=4.0))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from jaxtyping import Float64

from rope_lab.algebra.arguments import expect_number, expect_whole
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
    layers differ, or in ``rope_scaling``, and beside it: ``rope_theta``, ``partial_rotary_factor``,
    ``max_position_embeddings``, ``original_max_position_embeddings``, ``mrope_section``, ``mrope_interleaved``.

    A dictionary that has both is read as transformers reads it: ``rope_scaling`` stands in place of all of
    ``rope_parameters``, whose base is then lost. The base is that in ``rope_scaling``, else the ``rope_theta`` beside
    it, else 10000. An object has one of them: there ``rope_parameters`` counts first.

    Args:
        config: A configuration, or a mapping with the same names; of a model with a text part, that part counts.
        layer_type: Such as "full_attention", where the layers differ.

    Returns:
        Its `RopeSettings`.

    Raises:
        TypeError: If a setting is of another kind, such as a text in place of a number.
        ValueError: If a setting is missing or out of its range, if the type is not one that we have, if a factor has
            no type, if these layers do not turn, or if a dictionary has ``rope_parameters`` for each type of layer and
            ``rope_scaling`` for all, which the families read differently.

    Source: ``convert_rope_params_to_dict``, ``standardize_rope_params`` and ``ROPE_INIT_FUNCTIONS`` of transformers.
    """
    part = config
    get = _getter(_layer(part, layer_type))
    if get("hidden_size") is None and get("head_dim") is None and get("text_config") is not None:
        part = get("text_config")
        get = _getter(_layer(part, layer_type))
    given = _of_layer(_given(get, is_file=isinstance(part, Mapping)), layer_type)
    name = _name(given)
    share = _number(*_found((given.get, get), "partial_rotary_factor", "rotary_pct", default=1.0))
    if share < 0:
        raise ValueError(f"partial_rotary_factor: expected a number of at least 0, got {share}; 1 turns the whole head")
    head_dim = _head_dim(get, share)
    base = float(_above_zero(*_found((given.get, get), "rope_theta", "rotary_emb_base", default=10000.0)))
    schedule = MAKERS[name](_Settings(name, given, get, share))
    turning = head_dim if name == "proportional" else int(head_dim * share)
    if isinstance(schedule, LongRoPE) and len(schedule.short) != turning // 2:
        raise ValueError(
            f"short_factor: expected one divisor for each of {turning // 2} planes, got {len(schedule.short)}; look at "
            "head_dim and partial_rotary_factor"
        )
    sections = _sections(get, given)
    return RopeSettings(
        head_dim,
        base,
        None if turning == head_dim else turning,
        schedule,
        sections,
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

    def needed(self, key: str) -> Any:
        """A number above 0."""
        return _above_zero(key, self[key])

    def number(self, key: str) -> Any:
        """A number above 0, or None where none is given."""
        return None if (value := self.given.get(key)) is None else _above_zero(key, value)

    def scale(self, key: str) -> Any:
        """A number of at least 0, or None where none is given; 0 counts as none in the library."""
        if (value := self.given.get(key)) is not None and _number(key, value) < 0:
            raise ValueError(f"{key}: expected a number of at least 0, got {value}; leave it out for the usual one")
        return value

    @property
    def window(self) -> int:
        """The length of the training: what stands beside the settings counts first, as in the library."""
        name, value = _found((self.get, self.given.get), "original_max_position_embeddings")
        return self.longest if value is None else _whole(name, value)

    @property
    def longest(self) -> int:
        if (value := self.get("max_position_embeddings")) is None:
            raise ValueError(f"max_position_embeddings: expected the window of {self.name!r}, got none; add it")
        return _whole("max_position_embeddings", value)

    @property
    def factor(self) -> float:
        """The factor, or the quotient of the two windows where it is not given."""
        return float(self.longest / self.window if (given := self.number("factor")) is None else given)

    @property
    def truncate(self) -> bool:
        """Whether YaRN rounds: null is no, as in the library."""
        value = self.given.get("truncate", True)
        return value is not None and _flag("truncate", value)


def _yarn(s: _Settings) -> Schedule:
    return Yarn(
        factor=s.factor,
        window=s.window,
        slow=s.scale("beta_slow") or 1.0,
        fast=s.scale("beta_fast") or 32.0,
        mscale=s.scale("mscale"),
        mscale_all_dim=s.scale("mscale_all_dim"),
        given=s.number("attention_factor"),
        whole=s.truncate,
    )


MAKERS: dict[str, Callable[[_Settings], Schedule]] = {
    "default": lambda _: Schedule(),
    "linear": lambda s: Linear(factor=s.needed("factor")),
    "dynamic": lambda s: DynamicNTK(factor=s.needed("factor"), window=s.longest),
    "yarn": _yarn,
    "llama3": lambda s: Llama3(
        factor=s.needed("factor"), window=s.window, slow=s.needed("low_freq_factor"), fast=s.needed("high_freq_factor")
    ),
    "longrope": lambda s: LongRoPE(
        short=_list("short_factor", s["short_factor"]),
        long=_list("long_factor", s["long_factor"]),
        window=s.window,
        factor=s.factor,
        given=s.number("attention_factor"),
    ),
    "proportional": lambda s: Proportional(share=s.share, factor=s.number("factor") or 1.0),
}


def _sections(get: Callable[[str], Any], given: Mapping[str, Any]) -> tuple[int, ...] | None:
    name, value = _found((given.get, get), "mrope_section")
    if value is not None:
        return tuple(_whole(name, count, least=0) for count in _list(name, value))
    if "mrope" in (given.get("rope_type"), given.get("type")):
        raise ValueError(
            "mrope_section: expected a value for rope_type 'mrope', got none; look for it in the model's config.json"
        )
    return None


def _in_turn(get: Callable[[str], Any], given: Mapping[str, Any]) -> bool:
    kind = str(get("model_type") or "")
    if kind.startswith(OF_THEIR_OWN):
        raise ValueError(
            f"mrope_section: expected planes that go to the axes in a row or in turn, got {kind}, whose class has an "
            "order of its own; make the table and take RotaryConfig.of_axes"
        )
    said = _flag(*_found((given.get, get), "mrope_interleaved", default=False))
    return kind.startswith(IN_TURN) or said


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


# --- what one field says --------------------------------------------------------------------------------------------


def _given(get: Callable[[str], Any], *, is_file: bool) -> Mapping[str, Any]:
    """The settings of the rotation; where a file has both names, those that the library takes."""
    said = {name: get(name) or {} for name in ("rope_parameters", "rope_scaling")}
    for name, value in said.items():
        if not isinstance(value, Mapping):
            raise TypeError(
                f'{name}: expected a dictionary, got {value!r}; write such as {{"rope_type": "linear", "factor": 4.0}}'
            )
    new, old = said["rope_parameters"], said["rope_scaling"]
    if is_file and old and _types(new) and not _types(old):
        raise ValueError(
            f"rope_scaling: expected it or rope_parameters for each of {', '.join(_types(new))}, got both, which the "
            "families of transformers read differently; put the scaling into rope_parameters"
        )
    return (old or new) if is_file else (new or old)


def _types(given: Mapping[str, Any]) -> list[str]:
    """The types of layers that have settings of their own; null stands for one that does not turn."""
    return [
        key
        for key, value in given.items()
        if isinstance(value, Mapping) or (value is None and str(key).endswith("_attention"))
    ]


def _of_layer(given: Mapping[str, Any], layer_type: str | None) -> Mapping[str, Any]:
    """The settings of one type of layer; without types, what is there."""
    types = _types(given)
    if not types:
        return given
    if layer_type not in types:
        raise ValueError(
            f"layer_type: expected one of {', '.join(types)}, got {layer_type!r}: their frequencies differ"
        )
    if given[layer_type] is None:
        raise ValueError(f"layer_type: expected layers that turn, got {layer_type!r}, which have no positions")
    return given[layer_type]


def _name(given: Mapping[str, Any]) -> str:
    said = given.get("rope_type") or given.get("type")
    if said is None and (factor := given.get("factor")) not in (None, 1):
        raise ValueError(
            f"rope_type: expected the kind of scaling that factor {factor!r} belongs to, got none; add it, such as "
            '"rope_type": "linear"'
        )
    name = OLDER.get(str(said), str(said)) if said else "default"
    if name not in MAKERS:
        raise ValueError(f"rope_type: expected one of {', '.join(MAKERS)}, got {name!r}; it is no list of frequencies")
    return name


def _head_dim(get: Callable[[str], Any], share: float) -> int:
    """The width that turns where a configuration names it, else that of a head, given or derived.

    A width of 0 says that there is no such part, as in GLM-5.
    """
    for name in ("qk_rope_head_dim",) * (share == 1) + ("head_dim",):  # a share is one of the whole head
        if (width := get(name)) is not None and _whole(name, width, least=0):
            return _whole(name, width)
    wide, width = _found((get,), "hidden_size", "n_embd")
    many, heads = _found((get,), "num_attention_heads", "n_head")
    if width is None or heads is None:
        raise ValueError("head_dim: expected it, or hidden_size and num_attention_heads, got neither; add one")
    return _whole(wide, width) // _whole(many, heads, least=1)  # a remainder is lost, as in the library's own GLM-4.5V


def _found(places: Iterable[Callable[[str], Any]], *names: str, default: Any = None) -> tuple[str, Any]:
    """The first of the names that one of the places gives, and its value; 0 is a value."""
    for name, place in product(names, places):
        if (value := place(name)) is not None:
            return name, value
    return names[0], default


def _number(name: str, value: Any) -> Any:
    return expect_number(value, name=name, fix="write it without quotes, such as 4.0")


def _above_zero(name: str, value: Any) -> Any:
    if not _number(name, value) > 0:
        raise ValueError(f"{name}: expected a number above 0, got {value}; look at the model's config.json")
    return value


def _whole(name: str, value: Any, *, least: int = 2) -> int:
    if isinstance(value, float) and value.is_integer():  # as some files have it: 4096.0
        value = int(value)
    return expect_whole(value, name=name, least=least, fix="write it as a whole number, such as 64, without quotes")


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{name}: expected true or false, got {value!r}; write it without quotes")
    return value


def _list(name: str, value: Any) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise TypeError(f"{name}: expected a list of numbers, got {value!r}; write it in brackets")
    return tuple(value)
