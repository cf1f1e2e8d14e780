"""Which part of a configuration turns, under which names its family keeps the settings, and what holds without them.

`rope_settings` is what to call. This module answers its questions from a table, ``hf_families.json``, which
``python -m tests.algebra.hf_families --write`` makes by asking every configuration class of the installed transformers.
The table has ``still`` (families without a rotary embedding), ``own`` (families that turn by places of images,
or in a way of their own), ``inert`` (keys that say nothing of frequencies), ``words`` (written by hand: which names
speak of rotation or of widths, what a rule may say, and how a file of no family is read), and an entry for each family.
Its fields, all of them optional:

- ``in``, ``as``, ``flat``: where the part for text is, its family, and whether its keys may stand on top instead;
  then ``set`` is what holds in such a part, and ``alone`` where there is none.
- ``set``: what holds where a file says nothing: sizes, ``rope_theta``, ``partial_rotary_factor``.
- ``width``, ``base``, ``share``: the names of the width of a head (else ``head_dim``), of the base (else
  ``rope_theta``) and of the share that turns (else none), the first counts; ``names``: other names of sizes.
- ``whole``: a share in a plain rule is not read. ``rule``: the rule where a file has none. ``only``: the types of
  scaling that the class takes.
- ``kinds``: an entry for each kind of layer with a rule of its own, in which ``scaled`` means that a scaling for all is
  for this kind, and ``still`` that it does not turn. ``of``: which rule a kind of layer has.
  ``fills``: it has its default beside rules for other kinds. ``nests``: such rules may stand in ``rope_scaling`` too.
  ``all``: they count if each kind has one, and then nothing beside them does. ``typed``: there ``type`` is not read.
- ``must``: what such a rule, or one in ``rope_scaling``, has to name, since without it the class takes another default.
- ``layers``: kinds of layer that share one rule. ``still``: those that do not turn (``still_with``: if this is set).
- ``needs``: settings under which the model turns at all, and what they are where the file has none.
- ``sections``, ``in_turn``, ``own_order``: M-RoPE. ``rotary_dim``: that key says the width that turns.
  ``layer_base``: a key with a base for each layer. ``alpha``: this key of a rule multiplies the base, as `NTK` does.
  ``some``: a list of the layers that have the scaling. ``mscales``: ``short_mscale`` and ``long_mscale`` are attention
  factors. ``types``: types that are read as others. ``yarn``: what a rule of this type has besides.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import suppress
from functools import cache
from importlib import resources
from numbers import Number
from types import SimpleNamespace
from typing import Any

import numpy as np

from rope_lab.algebra.arguments import expect_layer_type, shown

# An object of transformers can be iterated too, so what is refused stands here by its kind.
NOT_A_CONFIG = (np.generic, np.ndarray, str, bytes, bytearray, Number, list, tuple, Set, Iterator, type)
YOURSELF = "write RotaryConfig(head_dim=..., base=...) yourself"
LAYER = "give layer_type, and layer_types in the file, or one layer's value alone"
LEAVE = f"leave out what its code does not read, or {YOURSELF}"
RULES = ("rope_parameters", "rope_scaling")
SECTIONS = ("mrope_section", "xdrope_section", "mrope_interleaved")
OF_ONE_LAYER = ("head_dim", "qk_rope_head_dim")  # what a layer may have for itself
SIZES = ("hidden_size", "num_attention_heads")


@cache
def families() -> dict[str, Any]:
    """The table, read once and when it is first needed."""
    return json.loads((resources.files("rope_lab.algebra") / "hf_families.json").read_text(encoding="utf-8"))


def words(name: str) -> Any:
    """A list of names, or a pattern of them, that holds for all families."""
    return families()["words"][name]


class Part:
    """The part of a configuration that turns, for one kind of layer: its settings under the names that we use.

    Args:
        config: A configuration of transformers, or a mapping.
        layer_type: The kind of layer, or None.

    Raises:
        TypeError: If a rule is no dictionary.
        ValueError: If nothing turns, if a key is not understood, or if the kind of layer is not known or missing.
    """

    def __init__(self, config: Any, layer_type: str | None) -> None:
        self.is_file = isinstance(config, Mapping)
        if config is None or isinstance(config, NOT_A_CONFIG):
            raise TypeError(f"config: expected a dictionary, got {shown(config):.90}; give what config.json holds")
        self.by_default = self.nested = False  # whether the rule is the family's; whether each kind has one
        self.file, self.kind, more = _text_part(_as_file(config), families()["families"])
        self.layer_type = expect_layer_type(layer_type)
        self.known = self.kind in families()["families"]
        self.entry = families()["families"].get(self.kind) or words("common")
        if more:
            self.entry = {**self.entry, **more, "set": {**self.entry.get("set", {}), **more.get("set", {})}}
        self._refuse_what_does_not_turn()
        self.rule = self._rule()
        self._refuse_keys()

    # --- what a field says -------------------------------------------------------------------------------------------

    def get(self, name: str) -> Any:
        """The value beside the rule, under its name or another name for it, or the family's own without one."""
        own = self.entry.get("names", {}).get(name, ())
        found = {n: v for n in (name, *own) if (v := self.file.get(n)) is not None}
        self._refuse_two(found)
        return self._of_layers(name, next(iter(found.values()))) if found else self.entry.get("set", {}).get(name)

    def _refuse_two(self, found: Mapping[str, Any]) -> None:
        """Refuse two names of one setting that say different things: which one a class takes is an accident."""
        if any(value != next(iter(found.values())) for value in found.values()):
            raise ValueError(
                f"{' and '.join(found)}: expected one value, since {self.kind or 'this file'} has them for one "
                f"setting, got {', '.join(map(repr, found.values()))}; leave one out"
            )

    @property
    def share(self) -> tuple[str, Any]:
        """The name and the share of a head that turns."""
        name, said = self.found("share", "partial_rotary_factor")
        plain = (self.rule.get("rope_type") or self.rule.get("type") or "default") in ("default", "mrope")
        if said not in (None, 1) and plain and self._mine("whole"):
            raise ValueError(f"{name}: expected 1, since {self.kind} turns the whole head, got {said!r}; leave it out")
        width, own = self.width[1], self._of_one_layer().get("head_dim")
        heads = [
            h for h in (self._whole_head(width), self.file.get("head_dim"), own) if isinstance(h, int | float) and h
        ]
        usual = self.entry.get("set", {})
        if usual.get("head_dim", 0) in (0, usual.get("qk_rope_head_dim")) and isinstance(width, int | float):
            heads.append(width)  # its class calls the part that turns a head
        fits = True  # what is no number is refused where it is read
        if isinstance(said, int | float) and isinstance(width, int | float):
            with suppress(OverflowError):  # and what no float holds
                fits = any(abs(h * said - width) <= 0.5 for h in heads)
        if said is not None and self.of_part and self.known and not fits:
            raise ValueError(
                f"partial_rotary_factor: expected the share of {width} in a head of {self._whole_head(width)}, got "
                f"{said!r}; {self.width[0]} says how much turns"
            )
        return name, said

    def _whole_head(self, part: Any) -> float:
        """The width of a head of which this part turns."""
        return sum(n for n in (part, self.get("qk_nope_head_dim")) if isinstance(n, int | float))

    def found(self, field: str, name: str) -> tuple[str, Any]:
        """The name and value of what the family keeps under ``field``: in the rule, beside it, or what holds."""
        if (value := self.rule.get(name)) is not None:
            return name, value
        for own in self._names(field, [name]):
            value = self.file
            for step in own.split("."):
                value = value.get(step) if isinstance(value, Mapping) else None
            if value is not None:
                if not self.known:
                    self._refuse_two({n: v for n in self._names(field, []) if (v := self.file.get(n)) is not None})
                return own, self._of_layers(own, value)
        return name, self._mine("set", {}).get(name, self.entry.get("set", {}).get(name))

    @property
    def width(self) -> tuple[str, Any]:
        """The name and the width of a head of this kind of layer; None where it is to be derived."""
        own, names = self._of_one_layer(), self._names("width", [])
        usual = "head_dim" in {**self.entry.get("set", {}), **self._mine("set", {})}
        if len(names) > 1 and usual and "head_dim" in names and self.file.get("head_dim", 0) is None:
            raise ValueError(words("null").format(self.kind))
        found = {
            name: self._of_layers(name, value)
            for name in self._widths()
            if (value := own.get("qk_rope_head_dim" if "qk_rope" in name else "head_dim", self.file.get(name)))
            is not None
        }
        if found:
            default = {**self.entry.get("set", {}), **self._mine("set", {})}
            if len({default.get(name) for name in found}) == 1:  # one setting: where not, the first one counts
                self._refuse_two(found)
            elif len(found) > 1 and "qk_nope_head_dim" in default:  # its head_dim is that of the whole head
                whole = self._whole_head(found["qk_rope_head_dim"])
                self._refuse_two({"head_dim": found["head_dim"], "qk_nope_head_dim + qk_rope_head_dim": whole})
            return next(iter(found.items()))
        if "per_layer_config" in self.file and "global_head_dim" in self._widths():
            raise ValueError(
                f"per_layer_config: expected head_dim in it for {self.layer_type!r}, since {self.kind} has no default "
                "of these layers beside it, got none; add it"
            )
        for name in self._widths():
            if name not in self.file and (
                value := self._mine("set", {}).get(name, self.entry.get("set", {}).get(name))
            ):
                return name, value
        return "head_dim", None

    def _widths(self) -> list[str]:
        """The names of the width; not that of the part that turns where a share of the whole head says it."""
        names = self._names("width", ["head_dim"])
        share = self.known and self._names("share", [])
        return [n for n in names if "qk_rope" not in n] if share and len(names) > 1 else names

    @property
    def of_part(self) -> bool:
        """Whether the width is that of the part of a head that turns, and a share is that of the whole head."""
        return "qk_rope" in self.width[0] and not (self.known and self._names("share", []))

    @property
    def base(self) -> tuple[str, Any]:
        """The name and the base of this kind of layer; that of its layers first where each has one."""
        own = self.entry.get("layer_base")
        if own and isinstance(value := self.file.get(own), list):
            return own, self._of_layers(own, value)
        return self.found("base", "rope_theta")

    @property
    def rotary_dim(self) -> Any:
        """The number of coordinates that turn, where a key says it and no share does."""
        if not self.entry.get("rotary_dim"):
            return None
        shares = [self.rule.get("partial_rotary_factor"), *map(self.file.get, self._names("share", []))]
        return None if any(share is not None for share in shares) else self.get("rotary_dim")

    def only(self, name: str) -> str:
        """The types of scaling that the family's class takes, if this one is not among them."""
        taken = self.entry.get("only", [name])
        return "" if name in (taken or [name]) else " or ".join(taken)

    def _mine(self, field: str, default: Any = None) -> Any:
        """A field of the entry of this kind of layer, or of the family's."""
        return self.mine.get(field, self.entry.get(field, default))

    def _names(self, field: str, default: list[str]) -> list[str]:
        return self._mine(field, [] if field == "share" else default)

    # --- lists with one value for each layer ------------------------------------------------------------------------

    def _of_layers(self, name: str, value: Any) -> Any:
        """A value, or that of the layers of this kind where a list has one for each layer; 0 is for those at rest."""
        kinds, layers = self.file.get("layer_types"), self.file.get("num_hidden_layers")
        if not isinstance(value, list | tuple) or (len(value) < 2 and len(value) != layers):
            return value
        if not isinstance(kinds, list) or self.layer_type is None:
            mine = list(value)
        elif len(value) < len(kinds):
            raise ValueError(f"{name}: expected a value for each of {len(kinds)} layers, got {len(value)}; {YOURSELF}")
        else:
            mine = [v for v, kind in zip(value, kinds, strict=False) if kind == self.layer_type]
        turning = [v for v in dict.fromkeys(mine) if v] if all(isinstance(v, int | float) for v in mine) else mine
        if len(turning) != 1 or isinstance(turning[0], bool):
            raise ValueError(
                f"{name}: expected a number, got a list with one value for each layer, which differ here; {LAYER}"
            )
        return turning[0]

    def _of_one_layer(self) -> Mapping[str, Any]:
        """The settings that the layers of this kind have for themselves (``per_layer_config``, by number of layer)."""
        given, kinds = self.file.get("per_layer_config") or {}, self.file.get("layer_types")
        layers = dict(
            given.items() if isinstance(given, Mapping) else enumerate(given) if isinstance(given, list) else [(0, 0)]
        )
        wrong = [
            str(i)
            for i, own in layers.items()
            if not (re.fullmatch("[+-]?[0-9]+", str(i)) and isinstance(own, Mapping))
        ]
        if wrong:
            raise ValueError(
                "per_layer_config: expected a dictionary for the number of each layer, got other things for "
                f"{', '.join(sorted(wrong))}; {YOURSELF}"
            )
        layers = {int(i): own for i, own in layers.items()}
        count = self.file.get("num_hidden_layers")
        top = max(layers, default=-1) + 2  # the last of these stands for all that have nothing
        mine: Sequence[int] = range(min(count, top) if isinstance(count, int) else top)
        if isinstance(kinds, list | tuple) and self.layer_type in kinds:
            mine = [i for i, kind in enumerate(kinds) if kind == self.layer_type]
        said_here = {name: value for name, value in self.file.items() if value is not None}
        known = {**self.entry.get("set", {}), **self._mine("set", {}), **said_here}
        derived = not any(known.get(name) for name in self._widths())
        said: dict[str, Any] = {}
        for name in sorted({n for own in layers.values() for n in own if _speaks(n) or (derived and n in SIZES)}):
            usual = self.file.get(name)
            found = [layers.get(i, {}).get(name, usual) for i in mine]
            if name not in OF_ONE_LAYER:
                found.append(usual)
            if len(values := dict.fromkeys(map(repr, found))) > 1:
                raise ValueError(
                    f"per_layer_config: expected one {name} for all layers of a kind, got {' and '.join(values)}; "
                    f"{LAYER}"
                )
            said[name] = found[0]
        return {name: value for name, value in said.items() if value is not None}

    # --- the rule ----------------------------------------------------------------------------------------------------

    def _rule(self) -> Mapping[str, Any]:
        """The rule of this kind of layer, under the names that we use."""
        said: dict[str, Mapping[str, Any]] = {}
        for name in RULES:
            value = self.file.get(name) or {}
            if not isinstance(value, Mapping):
                raise TypeError(
                    f"{name}: expected a dictionary, got {value!r}; write such as "
                    '{"rope_type": "linear", "factor": 4.0}'
                )
            said[name] = value
        new, old = said["rope_parameters"], said["rope_scaling"]
        if (new or old) and self.entry.get("only") == []:
            raise ValueError(
                f"{RULES[0] if new else RULES[1]}: expected none in a file of {self.kind}, whose class reads no rule, "
                f"got {new or old!r}; leave it out"
            )
        kinds = self.entry.get("kinds", {})
        label = self.entry.get("of", {}).get(self.layer_type, self.layer_type)
        self.mine: Mapping[str, Any] = kinds.get(label, {})
        if kinds:
            rule = self._rule_of_a_kind(new, old, kinds, label)
        else:
            if self.is_file and old and types(new) and not types(old):
                raise ValueError(
                    f"rope_scaling: expected it or rope_parameters for each of {', '.join(types(new))}, got both, "
                    "which families read differently; put the scaling into rope_parameters"
                )
            if self.entry.get("only") == ["default"] and old and (new or set(old) - {"rope_type", "type"}):
                raise ValueError(
                    f"rope_scaling: expected rope_parameters in a file of {self.kind}, whose class reads that alone, "
                    f"got {old!r}; put it there"
                )
            rule = (old or new) if self.is_file else (new or old)
            if named := types(rule):
                rule, self.nested = _one_of(rule, named, label), True
            else:
                self._refuse_unknown_layers()
                if old and rule is old:
                    self._refuse_without(rule, "rope_scaling", self.entry)
                rule = rule or self._mistral()
                self.by_default = not rule and self.file.get(RULES[0]) is None
                rule = self.entry.get("rule", {}) if self.by_default else rule
        return rule

    def _refuse_without(self, rule: Mapping[str, Any], where: str, entry: Mapping[str, Any]) -> None:
        """Refuse a rule that leaves out what its class has another default for in this place."""
        for name in entry.get("must", ()):
            if rule.get(name) is None:
                raise ValueError(
                    f"{name}: expected it in {where} in a file of {self.kind}, whose class has another default there, "
                    "got none; add it"
                )

    def _rule_of_a_kind(self, new: Any, old: Any, kinds: Any, label: str | None) -> Mapping[str, Any]:
        """The rule of one kind of layer, in a family that has one for each."""
        self.nested = True
        if not types(new) and types(old) and self.entry.get("nests"):
            new, old = old, {}
        named = list(kinds)
        if types(new) and self.entry.get("all"):
            here = named if "of" in self.entry else self.file.get("layer_types") or self.entry.get("layers", named)
            if missing := [k for k in named if k in here and not isinstance(new.get(k), Mapping)]:
                raise ValueError(
                    f"layer_type: expected a rule for {missing[0]!r} in rope_parameters, got {', '.join(types(new))}; "
                    "add it"
                )
            kinds = {k: {**v, "base": [], "share": [], "scaled": False} for k, v in kinds.items()}
            self.entry, self.mine = {**self.entry, "kinds": kinds}, kinds.get(label, {})
        if new and not types(new):
            if not any(kind.get("scaled") for kind in kinds.values()) or "of" not in self.entry:
                raise ValueError(
                    f"layer_type: expected rope_parameters for each of {', '.join(kinds)} in a file of {self.kind}, "
                    f"got one rule for all; write one for each"
                )
            new, old = {}, old or new
        for name in ("rope_theta", "partial_rotary_factor") if "of" in self.entry else ():
            if old.get(name) is not None:
                raise ValueError(
                    f"{name}: expected it beside the rule in a file of {self.kind}, got {old[name]!r} in one for all; "
                    "write rope_parameters for each kind"
                )
        if label not in named:
            raise ValueError(f"layer_type: expected one of {', '.join(named)}, got {label!r}: their frequencies differ")
        if label in new or self.mine.get("still"):
            rule = _one_of({label: None, **new}, named, label)
            self._refuse_without(rule, f"the rule of {label!r}", self.mine)
        else:
            if new and not self.mine.get("fills"):
                raise ValueError(
                    f"layer_type: expected a rule for {label!r} in rope_parameters, got {', '.join(types(new))}; add it"
                )
            rule = self.mine.get("rule", {})
            if not old and self.file.get(RULES[0]) is not None:
                self._refuse_without({}, f"the rule of {label!r}", self.mine)
            self.by_default = True
        if old:
            if types(old) or not any(kind.get("scaled") for kind in kinds.values()):
                raise ValueError(
                    f"rope_scaling: expected rope_parameters for each of {', '.join(kinds)}, which {self.kind} reads, "
                    "got a scaling beside them; put it there"
                )
            if self.mine.get("scaled"):
                rule = {**rule, **old}
        for one, read in ((old, "of" in self.entry), (rule, not self.entry.get("typed"))):
            if "type" in one and "rope_type" not in one and not read:
                raise ValueError(
                    f"type: expected rope_type in a rule of {self.kind}, whose class reads that, got {one['type']!r}; "
                    "rename it"
                )
        if label not in new and rule.get("rope_type", rule.get("type")) == "yarn":
            rule = {**self.entry.get("yarn", {}), **rule}
        return rule

    def _mistral(self) -> Mapping[str, Any]:
        """The block ``yarn`` of Mistral's params.json as a rule."""
        block = self.file.get("yarn")
        if self.kind or not isinstance(block, Mapping):
            return {}
        block = dict(block)
        rule: dict[str, Any] = {"rope_type": "yarn", "beta_fast": block.pop("beta", None)}
        rule["beta_slow"] = block.pop("alpha", None)
        if block.pop("apply_scale", True) is False:
            rule["attention_factor"] = 1.0
        return rule | block

    # --- refusals ----------------------------------------------------------------------------------------------------

    def _refuse_what_does_not_turn(self) -> None:
        table = families()
        if self.kind in table["still"]:
            raise ValueError(words("rest").format(self.kind))
        if self.kind in table["own"]:
            raise ValueError(words("own").format(self.kind))
        for name, (turning, default) in self.entry.get("needs", {}).items():
            said = self.file.get(name, default)
            if said not in turning:
                raise ValueError(
                    f"{name}: expected {' or '.join(map(repr, turning))}, under which {self.kind} turns, got {said!r}: "
                    "it has no rotary embedding"
                )
        for name in ("position_embedding_type", "position_embeddings_type"):
            said = self.file.get(name)
            if self.known and said == "absolute":  # what a file says by default where its class does not read it
                continue
            if name not in self.entry.get("needs", {}) and said in words("no_positions"):
                raise ValueError(f"{name}: expected 'rope', got {said!r}: it has no rotary embedding")
        if self.kind and not self.known and not any(_speaks(n) and v is not None for n, v in self.file.items()):
            raise ValueError(
                f"model_type: expected a family of transformers {table['transformers']}, or settings of the rotation, "
                f"got {self.kind!r} without any; add its rope_theta, or {YOURSELF}"
            )
        self._refuse_still_layers()

    def _refuse_still_layers(self) -> None:
        kinds, still = self.file.get("layer_types"), self.file.get("no_rope_layers")  # 1: it turns
        bases = self.file.get("layer_rope_theta")
        lists = [v for v in (still, bases) if isinstance(v, list) and v]
        quiet = self.layer_type in self.entry.get("still", ()) if isinstance(self.entry.get("still"), list) else False
        beside = self.entry.get("still_with")
        if beside and beside in self.file and self.file[beside] is None:
            quiet = False
        if lists and isinstance(kinds, list) and self.layer_type in kinds:
            quiet = any(not any(v for v, k in zip(one, kinds, strict=False) if k == self.layer_type) for one in lists)
        elif lists and not any(any(one) for one in lists):
            quiet = True
        if quiet:
            raise ValueError(
                f"layer_type: expected layers that turn, got {self.layer_type!r}, which have no positions in "
                f"{self.kind or 'this file'}"
            )

    def _refuse_unknown_layers(self) -> None:
        if self.layer_type is None:
            return
        if self.layer_type in words("still"):
            raise ValueError(
                f"layer_type: expected layers that turn, got {self.layer_type!r}, which have no positions in "
                f"{self.kind or 'this file'}; if its own code turns them, {YOURSELF}"
            )
        given = self.file.get("layer_types")
        named = {k for k in (given if isinstance(given, list) else ()) if isinstance(k, str)} | set(
            self.entry.get("layers", ())
        )
        if self.file.get("sliding_window"):
            named |= {"sliding_attention"}
        if any("sliding_window_pattern" in str(name) for name in self.file):
            named |= {"full_attention", "sliding_attention"}
        if named <= set(words("still")):
            named |= {"full_attention"}
        if self.layer_type not in named:
            raise ValueError(
                f"layer_type: expected one of {', '.join(sorted(named))} or None, got {self.layer_type!r}, which "
                "neither the file nor its family names; add layer_types"
            )

    def _refuse_keys(self) -> None:
        """Refuse a key of the rule that nobody has, here or in the library."""
        extra = {"alpha"} if self.entry.get("alpha") else set()
        extra |= {"xdrope_section"} if self.entry.get("own_order") else set()
        extra |= {"short_mscale", "long_mscale"} if self.entry.get("mscales") else set()
        for name, value in self.rule.items():
            if name not in {*words("rule"), *extra} and value is not None and not isinstance(value, Mapping):
                raise ValueError(f"{name}: expected a setting of a rule that we know, got {value!r}; {LEAVE}")
        if self.nested and self.rule.get("truncate", True) is not True:
            raise ValueError(
                f"truncate: expected it in a rule for all layers, got {self.rule['truncate']!r} in that of one kind, "
                "where it is not read; leave it out"
            )

    def refuse_what_disagrees(self, *, base: tuple[str, Any], width: int, turning: int, plain: bool) -> None:
        """Refuse a missing base, and the keys that speak of rotation, are not read, and do not say what was read.

        Args:
            base: The name and the base that was read; None where there is none.
            width: The width of a head.
            turning: How many of its coordinates turn.
            plain: Whether the schedule is one base.
        """
        if self.file.get("use_scaled_rope") is True and plain:
            raise ValueError(words("scaled"))
        some = self.entry.get("some")
        if some and not plain and self.file.get(some) not in (None, list(range(self.file.get("num_hidden_layers", 0)))):
            raise ValueError(
                f"{some}: expected all layers, got {self.file[some]}: the others have no scaling; {YOURSELF}"
            )
        read = self._read() | {some}
        kinds = self.entry.get("kinds", {}).values()
        usual = [{**k.get("set", {}), **k.get("rule", {})} for k in kinds]
        bases = {base[1], *(k["rope_theta"] for k in usual if "rope_theta" in k)}
        unread = {}
        for key, value in self.file.items():
            name = str(key)
            if value is None or not _speaks(name) or (re.search(words("flags"), name) and value is True):
                continue
            if re.search(words("flags"), name) and value is False:
                raise ValueError(f"{name}: expected true, got false: it has no rotary embedding")
            if value is False or value in ([], {}, "") or (value == 0 and name in words("widths")):
                continue
            if name in read and name not in self._same_in_all(name):
                continue
            if name in families()["inert"] or re.search(words("inert"), name):
                continue
            with suppress(ValueError):
                value = self._of_layers(name, value)  # noqa: PLW2901
            if (name, value) == ("rope_type", "default") or (name[:3] == "qk_" and self.file.get("use_mla") is False):
                continue
            if isinstance(value, int | float) and not isinstance(value, bool):
                if value == 1 and re.search("ratio|scal", name):
                    agrees = True
                elif "theta" in name or "base" in name:
                    agrees = value in (bases if name not in self._same_in_all(name) else {base[1]})
                elif re.search("pct|factor|percent|fraction", name):
                    agrees = (self._whole_head(self.width[1]) if self.of_part else width) * value // 1 == turning
                elif name == "rotary_dim":
                    agrees = value == turning
                else:  # where a head has a part that turns, the width of all of it is another
                    agrees = value in (width, turning) or (self.of_part and name == "head_dim")
                if agrees:
                    continue
            unread[name] = value
        names, values = ", ".join(unread), ", ".join(map(repr, unread.values()))
        if base[1] is None:
            beside = f", and beside it {names}, not read there" if unread else ""
            raise ValueError(
                f"{base[0]}: expected the base of {self.kind or 'a params.json'}, got none{beside}; add it"
            )
        if unread:
            raise ValueError(
                f"{names}: expected settings that {self.kind or 'this reader'} reads for its rotation, got {values}; "
                f"{LEAVE}"
            )

    def _read(self) -> set[str]:
        """The keys beside the rule that this family reads for this kind of layer."""
        read = {
            *RULES,
            *SECTIONS,
            "layer_rope_theta",
            "no_rope_layers",
            "no_rope_layer_interval",
            *self.entry.get("needs", ()),
        }
        kinds = self.entry.get("kinds", {}).values()
        for entry in (self.entry, *kinds):
            read |= {n.partition(".")[0] for f in ("base", "share", "width") for n in entry.get(f, ())}
            read |= set(entry.get("set", ())) - {"rope_theta", "partial_rotary_factor"}
        if any("base" not in entry for entry in kinds or [self.entry]):
            read |= {"rope_theta"}
        if "partial_rotary_factor" not in self._names("share", []):  # of this kind of layer
            read -= {"partial_rotary_factor"}
        read -= set(self._names("width", [])) - set(self._widths())
        if not self.known:
            read |= {"yarn", "qk_rope_head_dim"}
        if self.by_default:  # a rule that the family has by itself stands in place of what is beside it
            read -= {n for n in self.rule if n in ("rope_theta", "partial_rotary_factor")}
            for name, field in (("rope_theta", "base"), ("partial_rotary_factor", "share")):
                read -= set(self._names(field, [name])) if name in self.rule else set()
        return read

    def _same_in_all(self, name: str) -> tuple[str, ...]:
        """A base that only some kinds of layer read, though all have the same default: it must say what was read."""
        kinds = [k for k in self.entry.get("kinds", {}).values() if "set" in k]
        alone = len({k["set"].get("rope_theta") or i for i, k in enumerate(kinds)}) == 1
        return (name,) if alone and name == "rope_theta" and any("base" in k for k in kinds) else ()


def types(given: Mapping[str, Any]) -> list[str]:
    """The types of layers that have settings of their own; null stands for one that does not turn."""
    return [
        key
        for key, value in given.items()
        if isinstance(value, Mapping) or (value is None and str(key).endswith("_attention"))
    ]


def _one_of(given: Mapping[Any, Any], named: Sequence[str], label: str | None) -> Mapping[str, Any]:
    """The settings of one type of layer."""
    if label not in named:
        raise ValueError(f"layer_type: expected one of {', '.join(named)}, got {label!r}: their frequencies differ")
    if given[label] is None:
        raise ValueError(f"layer_type: expected layers that turn, got {label!r}, which have no positions")
    if not isinstance(given[label], Mapping):
        raise TypeError(
            f"{label}: expected a dictionary with the rule of these layers, got {given[label]!r}; write it so"
        )
    for name, value in given.items():
        if name not in named and name not in given[label] and value not in (None, "default"):
            raise ValueError(
                f"{name}: expected it in the rule of each kind of layer, got {value!r} beside them; put it into "
                f"{label!r}"
            )
    return given[label]


def _speaks(name: str) -> bool:
    return bool(re.search(words("speaks"), name)) or name in words("widths")


def _as_file(config: Any) -> Mapping[str, Any]:
    """A configuration as the dictionary of its file."""
    if isinstance(config, Mapping):
        return _plain(config)
    if hasattr(config, "to_dict") and hasattr(config, "model_type"):
        return _plain(config.to_dict())
    found = {}
    for name in dir(config):
        if not name.startswith("_"):
            with suppress(Exception):  # whatever a foreign property raises
                if not callable(value := getattr(config, name)):
                    found[name] = value
    return _plain(found)


def _plain(value: Any, deep: int = 0) -> Any:
    """A value as JSON has it: mappings, sequences and numbers of other libraries too."""
    if deep > 50:
        raise ValueError("config: expected what config.json can hold, got values in values without an end; cut them")
    if isinstance(value, SimpleNamespace):
        value = vars(value)
    if isinstance(value, Mapping):
        return {name: _plain(one, deep + 1) for name, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes | range):
        return [_plain(one, deep + 1) for one in value]
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else value


def _text_part(file: Mapping[str, Any], known: Mapping[str, Any]) -> tuple[Mapping[str, Any], str, Mapping[str, Any]]:
    """The part for text of a larger configuration, the name of its family, and what holds where it is such a part."""
    kind = str(file.get("model_type") or "")
    entry = known.get(kind, {})
    if "in" in entry:
        part: Any = file
        missing = False
        for step in entry["in"].split("."):
            missing = part.get(step) is None
            part = {} if missing else _as_file(part[step])
        own = str(part.get("model_type") or entry["as"])
        if part and (own == kind or "in" in known.get(own, {})):
            own = entry["as"]
        if part:
            return part, own, {n: entry[n] for n in ("set", "rule") if n in entry} if own == entry["as"] else {}
        if not missing:
            return part, own, {n: entry[n] for n in ("set", "rule") if n in entry}
        if entry.get("flat"):
            return {k: v for k, v in file.items() if not isinstance(v, Mapping) or k in RULES}, entry["as"], {}
        if not any(True for _ in _inside(file, known)):
            return {}, entry["as"], {"set": entry.get("alone", entry.get("set", {}))}
    if not entry or "in" in entry:
        for part in _inside(file, known):
            inner, own, more = _text_part(part, known)
            if own or any(_speaks(str(n)) or n == "hidden_size" for n in inner):
                return inner, own or entry.get("as", kind), more
    return file, kind, {}


def _inside(file: Mapping[str, Any], known: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The nested parts that may be the one for text: under the usual names, or the only one that turns."""
    for name in words("text"):
        if (part := file.get(name)) and not isinstance(part, str | int | float | list):
            yield _as_file(part)
    if not _says(file):
        found: dict[str, Mapping[str, Any]] = {
            name: inner
            for name, value in file.items()
            if (isinstance(value, Mapping) or hasattr(value, "model_type"))
            and not re.search(words("aside"), str(name))
            and _turns(inner := _as_file(value), known)
        }
        if len(found) > 1:
            raise ValueError(
                f"{' and '.join(map(str, found))}: expected one part that turns, got {len(found)}; give one of "
                f"them, such as config[{next(iter(found))!r}]"
            )
        yield from found.values()


def _says(file: Mapping[str, Any]) -> bool:
    """Whether something in a part speaks of rotation."""
    return any(_speaks(str(n)) and v not in (None, False, "", [], {}) for n, v in file.items())


def _turns(file: Mapping[str, Any], known: Mapping[str, Any]) -> bool:
    part, kind, _ = _text_part(file, known)
    return kind in known or (_says(part) and kind not in families()["still"] and kind not in families()["own"])
