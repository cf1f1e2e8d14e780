"""What a Hugging Face configuration says of the rotation: head_dim, base, how much of a head turns, and the schedule.

>>> old = {"head_dim": 128, "rope_theta": 1e6, "rope_scaling": {"type": "linear", "factor": 4.0}}
>>> found = rope_settings(old)
>>> found.head_dim, found.base, found.schedule
(128, 1000000.0, Linear(factor=4.0))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from jaxtyping import Float64

from rope_lab.algebra.arguments import expect_number, expect_whole
from rope_lab.algebra.frequency_schedules import NTK, DynamicNTK, Linear, Llama3, LongRoPE, Proportional, Schedule, Yarn
from rope_lab.algebra.hf_rope import SECTIONS, YOURSELF, Part, words
from rope_lab.algebra.many_axes import interleaved_frequencies, section_frequencies


@dataclass(frozen=True)
class RopeSettings:
    """The fields that `rope_lab.nn.RotaryConfig` takes, but for the layout."""

    head_dim: int
    base: float
    rotary_dim: int | None
    schedule: Schedule
    sections: tuple[int, ...] | None = None  # M-RoPE: how many planes each axis has; None: one axis
    interleaved: bool = False  # the axes take the planes in turn

    @property
    def vectors(self) -> Float64[np.ndarray, "planes axes"] | None:
        """The frequency vector of each plane where a place has several coordinates; None where it has one.

        The frequencies are those of the schedule, dealt out by sections or in turn; its attention factor is not among
        them.

        Raises:
            ValueError: If the sections do not sum to the planes, or if the schedule depends on the length of the text.

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
        if self.schedule.by_length:
            raise ValueError(
                f"mrope_section: expected a schedule that is one list of frequencies, got {self.schedule}, whose list "
                "depends on the length of the text; take dataclasses.replace(settings, schedule=schedule.at(8192))"
            )
        deal = interleaved_frequencies if self.interleaved else section_frequencies
        own = self.schedule.frequencies(width, base=self.base)
        return np.where(deal(self.sections, base=self.base) > 0, own[:, None], 0.0)


def rope_settings(config: Any, *, layer_type: str | None = None) -> RopeSettings:
    """Read a configuration of transformers, or the dictionary of a ``config.json`` or ``params.json``, of any age.

    A file that names its family (``model_type``) is read as that family's class reads it: its names of the width, the
    base and the share, its rule for each kind of layer, and its defaults where a setting is left out. Of a larger
    configuration the part for text counts. Without a family, or with one that transformers does not have, the common
    names count; then a base that is left out is 10000 without a family, and refused with one.

    A dictionary that has both ``rope_parameters`` (since transformers 5) and ``rope_scaling`` is read as transformers
    reads it: ``rope_scaling`` stands in place of all of ``rope_parameters``, whose base is then lost. An object has
    one of them: there ``rope_parameters`` counts first.

    Nothing is dropped: a key that speaks of rotation and is not read for this family is refused by its name, unless it
    says what was read anyway.

    Args:
        config: A configuration, or a mapping with the same names, of a language model or of a larger one.
        layer_type: Such as "full_attention", where the layers differ.

    Returns:
        Its `RopeSettings`.

    Raises:
        TypeError: If a setting is of another kind, such as a text in place of a number.
        ValueError: If a setting is missing, not understood or out of its range, if the type is not one that we have, if
            a factor has no type, if the family or these layers do not turn, if the kind of layer is not known, or if a
            dictionary of no family has ``rope_parameters`` for each type of layer and ``rope_scaling`` for all.

    Source: ``convert_rope_params_to_dict``, ``standardize_rope_params`` and ``ROPE_INIT_FUNCTIONS`` of transformers,
        and its configuration classes (`rope_lab.algebra.hf_rope`).

    >>> rope_settings({"model_type": "glm", "head_dim": 128}).rotary_dim  # half of a head, where the file is silent
    64
    """
    part = Part(config, layer_type)
    given, get = part.rule, part.get
    name = _name(given, part.entry)
    share = _number(*_default(part.share, 1.0))
    if not 0 <= share <= 1:
        raise ValueError(f"partial_rotary_factor: expected a number from 0 to 1, got {share}; 1 turns the whole head")
    head_dim, of_part = _head_dim(part, share)
    base = _base(part)
    schedule = _schedule(_Settings(name, given, get, share, part.nested), part.entry)
    turning = head_dim if name == "proportional" or of_part else int(head_dim * share)
    if (said := part.rotary_dim) is not None:
        turning = _whole("rotary_dim", said)
    if part.only(name):
        raise ValueError(f"rope_type: expected {part.only(name)} in a file of {part.kind}, got {name!r}; {YOURSELF}")
    if isinstance(schedule, LongRoPE) and len(schedule.short) != turning // 2:
        raise ValueError(
            f"short_factor: expected one divisor for each of {turning // 2} planes, got {len(schedule.short)}; look at "
            "head_dim and partial_rotary_factor"
        )
    sections = _sections(part, turning)
    part.refuse_what_disagrees(base=base, width=head_dim, turning=turning, plain=name == "default")
    return RopeSettings(
        head_dim,
        float(base[1]),
        None if turning == head_dim else turning,
        schedule,
        sections,
        sections is not None and _in_turn(part),
    )


def _schedule(s: _Settings, entry: Mapping[str, Any]) -> Schedule:
    """The schedule of a rule, by what its family makes of it."""
    if entry.get("alpha") and s.name == "dynamic" and s.given.get("alpha"):
        return NTK(factor=s.needed("alpha"))  # the type is a misnomer: it is the same for every length
    if entry.get("mscales") and s.name == "longrope":
        short, long = s.number("short_mscale"), s.number("long_mscale")
        if short != long:
            raise ValueError(
                f"long_mscale: expected {short}, as short_mscale is, got {long}: here one factor is for every length; "
                "make the two schedules with LongRoPE(given=...)"
            )
        s = replace(s, given={"attention_factor": short, **s.given})
    return MAKERS[s.name](s)


def _base(part: Part) -> tuple[str, Any]:
    name, value = part.base
    if value is None and part.known:
        raise ValueError(
            f"{name}: expected the base in the rule of this kind of layer in {part.kind}, got none; add it"
        )
    if value is None and (part.kind or "dim" in part.file):
        return name, None
    return name, _above_zero(*_default((name, value), 10000.0))


def _default(found: tuple[str, Any], value: Any) -> tuple[str, Any]:
    return found if found[1] is not None else (found[0], value)


@dataclass(frozen=True)
class _Settings:
    """The settings of one kind of layer, and a refusal where one is missing."""

    name: str
    given: Mapping[str, Any]
    get: Callable[[str], Any]
    share: float
    nested: bool

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
        return self.number(key) if value else value

    def divisors(self, key: str) -> tuple[Any, ...]:
        """A list of numbers above 0."""
        if not (found := _list(key, self[key])):
            raise ValueError(
                f"{key}: expected a divisor for each plane, got none; look for it in the model's config.json"
            )
        return tuple(_above_zero(key, value) for value in found)

    @property
    def window(self) -> int:
        """The length of the training: what stands beside a rule for all counts first, as in the library."""
        places = (self.given.get,) if self.nested else (self.get, self.given.get)
        name, value = _found(places, "original_max_position_embeddings")
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
        short=s.divisors("short_factor"),
        long=s.divisors("long_factor"),
        window=s.window,
        factor=s.factor,
        given=s.number("attention_factor"),
    ),
    "proportional": lambda s: Proportional(share=s.share, factor=s.number("factor") or 1.0),
}


def _sections(part: Part, turning: int) -> tuple[int, ...] | None:
    name, value = _found((part.rule.get, part.file.get), *SECTIONS[:2])
    if value is not None and part.entry.get("own_order"):
        raise ValueError(
            f"{name}: expected planes that go to the axes in a row or in turn, got {part.kind}, whose class has an "
            "order of its own; make the table and take RotaryConfig.of_axes"
        )
    if value is None and (usual := part.entry.get("sections")) and 2 * sum(usual) == turning:
        value = usual
    if value is not None:
        return tuple(_whole(name, count, least=0) for count in _list(name, value))
    if "mrope" in (part.rule.get("rope_type"), part.rule.get("type")):
        raise ValueError(
            "mrope_section: expected a value for rope_type 'mrope', got none; look for it in the model's config.json"
        )
    return None


def _in_turn(part: Part) -> bool:
    names = SECTIONS[2:] if part.known else (SECTIONS[2], "interleaved")
    said = _flag(*_found((part.rule.get, part.file.get), *names, default=False))
    return bool(part.entry.get("in_turn")) or said


# --- what one field says --------------------------------------------------------------------------------------------


def _name(given: Mapping[str, Any], entry: Mapping[str, Any]) -> str:
    said = given.get("rope_type") or given.get("type")
    if said is None and (factor := given.get("factor")) not in (None, 1):
        raise ValueError(
            f"rope_type: expected the kind of scaling that factor {factor!r} belongs to, got none; add it, such as "
            '"rope_type": "linear"'
        )
    name = words("older").get(str(said), str(said)) if said else "default"
    name = entry.get("types", {}).get(name, name)
    if name not in MAKERS:
        raise ValueError(
            f"rope_type: expected one of {', '.join(MAKERS)}, got {name!r}, which is not known here; {YOURSELF}"
        )
    return name


def _head_dim(part: Part, share: float) -> tuple[int, bool]:
    """The width that turns where a configuration names it (True), else that of a head, given or derived.

    A width of 0 says that there is no such part, as in GLM-5.
    """
    name, width = part.width
    own = None if part.known or share != 1 or part.file.get("use_mla") is False else part.file.get("qk_rope_head_dim")
    if own is not None and _whole("qk_rope_head_dim", own, least=0):
        name, width = "qk_rope_head_dim", own
    if width is not None and _whole(name, width, least=0):
        return _whole(name, width), part.of_part
    width, heads = part.get("hidden_size"), part.get("num_attention_heads")
    if width is None or heads is None:
        raise ValueError(
            "head_dim: expected it, or hidden_size and num_attention_heads, got neither among "
            f"{list(part.file)[:5]}; give the model's config.json, or add one"
        )
    heads = _whole("num_attention_heads", heads, least=1)
    return _whole("hidden_size", width) // heads, False  # a remainder is lost, as in the library's own GLM-4.5V


def _found(places: Iterable[Callable[[str], Any]], *names: str, default: Any = None) -> tuple[str, Any]:
    """The first of the names that one of the places gives, and its value; 0 is a value."""
    for name, place in product(names, places):
        if (value := place(name)) is not None:
            return name, value
    return names[0], default


def _number(name: str, value: Any) -> Any:
    found = expect_number(value, name=name, fix="write it without quotes, such as 4.0")
    if isinstance(found, int) and abs(found) >= 2**1024:  # no float holds it
        raise ValueError(f"{name}: expected a finite number, got {value!r}; look for a division by zero")
    return found


def _above_zero(name: str, value: Any) -> Any:
    if not 1e-100 <= _number(name, value) <= 1e100:  # beyond them a quotient is no number of a float
        raise ValueError(
            f"{name}: expected a number above 0, from 1e-100 to 1e100, got {value}; look for it in the model's "
            "config.json"
        )
    return value


def _whole(name: str, value: Any, *, least: int = 2) -> int:
    if isinstance(value, float) and value.is_integer():  # as some files have it: 4096.0
        value = int(value)
    fix = "write it without quotes, such as 64"
    return expect_whole(value, name=name, least=least, most=2**31, fix=fix)


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{name}: expected true or false, got {value!r}; write it without quotes")
    return value


def _list(name: str, value: Any) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise TypeError(f"{name}: expected a list of numbers, got {value!r}; write it in brackets")
    return tuple(value)
