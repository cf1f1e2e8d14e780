"""The table of families that `rope_settings` reads by, made from the installed classes of transformers, and its check.

``python -m tests.algebra.hf_families`` prints how each family's own file is read, in three forms, beside the rotary
embedding that its class builds from the same file; with ``--write`` the table is made anew first.

Each class is asked, not read: it gets a file with one key of an odd value, and the frequencies of its rotary embedding
show what the key is for. What no frequency shows is said in `KNOWN`.
"""

import argparse
import contextlib
import copy
import importlib
import inspect
import json
import re
import sys
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from rope_lab.algebra.hf_rope import words
from rope_lab.algebra.hf_schedules import rope_settings
from rope_lab.audit import probe_results

DATA = Path(__file__).resolve().parents[2] / "rope_lab" / "algebra" / "hf_families.json"
ODD = 123456.0  # a base that no family has
ALPHA = {"alpha": True}
KNOWN: dict[str, dict[str, Any]] = {  # what a list of frequencies does not show: read in the code of each family
    "codegen": {
        "only": [],
        "width": [],
        "rotary_dim": True,
        "base": [],
        "set": {"rope_theta": 10000.0, "rotary_dim": 64},
    },
    "gptj": {"only": [], "width": [], "rotary_dim": True, "base": [], "set": {"rope_theta": 10000.0, "rotary_dim": 64}},
    "roformer": {"only": [], "width": [], "base": [], "set": {"rope_theta": 10000.0}},
    "dbrx": {"base": ["attn_config.rope_theta", "rope_theta"]},  # its class loses the base of its published file
    "esm": {"needs": {"position_embedding_type": [["rotary"], "absolute"]}},
    "evolla": {"needs": {"position_embedding_type": [["rotary"], "rotary"]}},
    "granitemoehybrid": {"needs": {"position_embedding_type": [["rope"], None]}},
    "molmo2_text": {"some": "rope_scaling_layers"},
    "falcon": {"needs": {"alibi": [[False], False]}},
    "zamba2": {"needs": {"use_mem_rope": [[True], False]}},
    "wav2vec2-conformer": {"needs": {"position_embeddings_type": [["rotary"], "relative"]}},
    "wav2vec2-bert": {"needs": {"position_embeddings_type": [["rotary"], "relative_key"]}},
    "exaone4": {"still_with": "sliding_window"},
    "exaone_moe": {"still_with": "sliding_window"},
    "deepseek_v4": {
        "of": {
            "sliding_attention": "main",
            "compressed_sparse_attention": "compress",
            "heavily_compressed_attention": "compress",
        },
        "yarn": {"attention_factor": 1.0},
        "all": True,
    },
    "dots3_note_text": {
        "kinds": {
            "indexed_attention": {
                "set": {"qk_rope_head_dim": 64, "rope_theta": 80000000.0},
                "width": ["qk_rope_head_dim"],
            },
            "sliding_attention": {
                "set": {"swa_qk_rope_head_dim": 64, "rope_theta": 50000.0},
                "width": ["swa_qk_rope_head_dim"],
                "base": ["swa_rope_theta"],
                "must": ["rope_theta"],
            },
        }
    },
    "step3p5": {
        "kinds": {
            "full_attention": {"share": ["partial_rotary_factors"], "scaled": True},
            "sliding_attention": {"share": ["partial_rotary_factors"]},
        },
        "set": {"head_dim": 128, "rope_theta": 10000.0},
        "layers": ["full_attention"],
        "all": True,
    },
    "ultrabert": {
        "kinds": {
            "full_attention": {"set": {"rope_theta": 2560000.0}, "whole": True, "must": ["rope_theta"]},
            "sliding_attention": {"set": {"rope_theta": 10000.0}, "whole": True, "must": ["rope_theta"]},
        },
        "all": True,
    },
    "neomme": {"typed": True, "nests": None},  # in rope_scaling its rules have other shares
    "cosmos3_edge_text": {"width": ["head_dim"], "set": {"head_dim": 128}},  # its sections hold the width
    # A plain rule, or one in rope_scaling without a share, turns more than the part of a head that it is for.
    "mistral4": {
        "only": ["linear", "dynamic", "yarn", "llama3", "longrope"],
        "whole": None,
        "must": ["partial_rotary_factor"],
    },
    "granite_swa": {"layer_base": "layer_rope_theta"},
    "granitemoe_swa": {"layer_base": "layer_rope_theta"},
    "muse_glimmer_text": {"still": ["full_attention"]},
    "muse_spark_text": {"still": ["full_attention"]},
    "hunyuan_v1_dense": ALPHA,
    "hunyuan_v1_moe": ALPHA,
    "hunyuan_vl_text": ALPHA | {"own_order": True},  # its sections go over both halves of a head
    "ernie4_5_vl_moe_text": {"own_order": True, "base": ["rope_theta"]},
    "phi3": {"types": {"yarn": "longrope"}, "only": ["default", "longrope"]},
    "phi4_multimodal": {"types": {"yarn": "longrope"}, "only": ["default", "longrope"]},
    "phimoe": {"mscales": True, "only": ["default", "longrope"]},
}


KIND = str | None
Seen = dict[KIND, tuple[np.ndarray, float]]  # the list and the attention factor of each kind of layer
SHARES = ("partial_rotary_factor", "rotary_pct", "rope_pct")
BASES = ("rope_theta", "rotary_emb_base", "global_rope_theta", "local_rope_theta", "rope_local_base_freq",
         "swa_rope_theta", "compress_rope_theta", "rotary_embedding_base")  # fmt: skip
SIZES = ("hidden_size", "num_attention_heads")
# Families that turn by places of images or frames, or whose width is a sum of their own.
OWN = re.compile(
    r"(?<!granite4_)vision|_image_(?!text)|image_model|vit|sam[23_]|mlcd|dinov3|sapiens|vjepa|pixtral|_dit$|ocr2_encoder"
    r"|loftr|edgetam|esmfold|seamless|clvp_encoder|pe_.*encoder|video_(mask|prompt|encoder)"
)
NOT_A_SIZE = re.compile(
    "_token|vocab|_id$|layer|expert|window|mamba|conv|linear|intermediate|moe|lora|position|num_key"
)
OTHERS = re.compile("audio|tokenizer|_ctc|diarization|speechlm|sam3$|blt$|streaming_encoder")  # where nothing was found


# --- what the installed classes do ----------------------------------------------------------------------------------


def speaks(name: str) -> bool:
    """Whether a name speaks of rotation or of a width."""
    return bool(re.search(words("speaks"), name)) or name in words("widths")


@cache
def classes() -> dict[str, Any]:
    """The configuration class of each model type that can be built without an argument."""
    names = importlib.import_module("transformers.models.auto.configuration_auto").CONFIG_MAPPING_NAMES
    return {kind: found for kind in names if (found := class_of(kind))}


@cache
def class_of(kind: str) -> Any:
    """The configuration class of one model type; None where there is none that can be built without an argument."""
    import transformers

    transformers.logging.set_verbosity_error()
    try:
        found = transformers.CONFIG_MAPPING[kind]
        found()
    except Exception:
        return None
    return found


def made(kind: str, file: dict[str, Any]) -> Any:
    """The configuration that a family makes of a file, or None where it refuses it."""
    Config = class_of(kind)
    defaults = copy.deepcopy(Config.sub_configs_defaults)  # GlmAsr's writes the keys of a file into them
    try:
        return Config.from_dict(copy.deepcopy(file))
    except Exception:
        return None
    finally:
        Config.sub_configs_defaults = defaults


def home_of(Config: Any) -> Any:
    """The module of a family's model; where it has only a configuration, that of the class which AutoModel takes."""
    from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES as MODELS

    with contextlib.suppress(ImportError):
        return importlib.import_module(Config.__module__.replace("configuration_", "modeling_"))
    model = getattr(importlib.import_module("transformers"), str(MODELS.get(Config.model_type)), None)
    return sys.modules.get(getattr(model, "__module__", ""))


@cache
def rotary_classes(Config: Any) -> list[Any]:
    """What may make the tables for text of a family, the class whose parameter names this configuration first."""
    import torch

    if (home := home_of(Config)) is None:
        return []
    found = []
    for name, item in vars(home).items():
        if not (inspect.isclass(item) and issubclass(item, torch.nn.Module) and re.search("Rotary|Rope|RoPE", name)):
            continue
        if re.search("Attention|(?<!Granite4)Vision|(?<!Higgs)Audio|DiT", name):
            continue
        hints = inspect.signature(item.__init__).parameters
        hint = hints["config"].annotation if "config" in hints else None
        found.append((getattr(hint, "__name__", hint) != Config.__name__, name, item))
    return [item for *_, item in sorted(found, key=lambda one: one[:2])]


def module_of(config: Any) -> Any:
    """The rotary embedding that a configuration builds, or None."""
    for Class in rotary_classes(type(config)):
        try:
            made = Class(config)
        except Exception:
            continue
        if any(name.endswith("inv_freq") for name, _ in made.named_buffers()):
            return made
    return None


def seen(config: Any) -> Seen:
    """The frequencies by which the installed class turns; none where it has no rotary embedding for text."""
    if config is None:
        return {}
    if config.model_type in ("gptj", "codegen", "roformer"):
        return {None: (_of_a_table(config), 1.0)}
    bases = [b for b in getattr(config, "layer_rope_theta", None) or () if b]
    if config.model_type in ("granite_swa", "granitemoe_swa") and len(set(bases)) == 1:
        config = copy.deepcopy(config)  # its model makes one for each base, by these
        config.rope_parameters = {**config.rope_parameters, "rope_theta": bases[0]}
    module, found = module_of(config), {}
    for name, list_ in module.named_buffers() if module is not None else ():
        if name.endswith("inv_freq") and "original" not in name:
            kind = name.removesuffix("inv_freq").rstrip("_") or None
            factor = getattr(module, f"{kind}_attention_scaling" if kind else "attention_scaling", 1.0)
            found[kind] = list_.double().numpy().copy(), float(factor)
    return found


def _of_a_table(config: Any) -> np.ndarray:
    """Where a function makes the table: the angles of position 1."""
    width = getattr(config, "rotary_dim", None) or config.hidden_size // config.num_attention_heads
    home = importlib.import_module(type(config).__module__.replace("configuration_", "modeling_"))
    if config.model_type == "roformer":
        table = home.RoFormerSinusoidalPositionalEmbedding(2, width)
        table = table.create_weight() if hasattr(table, "create_weight") else table.weight
    else:
        table = home.create_sinusoidal_positions(2, width)
    sin, cos = table[1].detach().double().numpy().reshape(2, -1)
    return np.arctan2(sin, cos)


def text_of(config: Any) -> tuple[str, Any]:
    """The part of a configuration that is for text, and the path to it."""
    try:
        text = config.get_text_config(decoder=True)
    except Exception:
        return "", config
    for path, part in _parts(config):
        if part is text or (path == "" and type(part) is type(text)):
            return path, part
    return "", config


def _parts(config: Any, path: str = "", depth: int = 3) -> Iterator[tuple[str, Any]]:
    yield path, config
    for name, value in vars(config).items() if depth else ():
        if hasattr(value, "to_dict") and hasattr(value, "model_type"):
            yield from _parts(value, f"{path}.{name}".lstrip("."), depth - 1)


# --- the table -------------------------------------------------------------------------------------------------------


def table() -> dict[str, Any]:
    """What `rope_settings` reads by: see the docstring of `rope_lab.algebra.hf_rope` for its fields."""
    import transformers

    families: dict[str, Any] = {}
    still, own, whole, heard = [], [], {}, set()
    for kind in classes():
        path, text = text_of(made(kind, {}) or class_of(kind)())
        if path:
            whole[kind] = path, text.model_type
            continue
        if OWN.search(kind) and rotary_like(class_of(kind)):
            own.append(kind)
            continue
        found = family(kind)
        if found is None:
            (own if rotary_like(class_of(kind)) and OTHERS.search(kind) else still).append(kind)
        else:
            families[kind], names = found
            heard |= names
    for kind, (path, inner) in whole.items():
        if inner in still or inner in own:
            (still if inner in still else own).append(kind)
        elif inner in families:
            flat = moved(kind, {"rope_theta": ODD}) or moved(kind, {"head_dim": 6})
            families[kind] = {"in": path, "as": inner} | ({"flat": True} if flat else {}) | of_a_part(kind, path, inner)
    used = {name for entry in families.values() for name in _used(entry)}
    return {
        "transformers": transformers.__version__,
        "still": sorted(still),
        "own": sorted(own),
        "inert": sorted(heard - used - {*BASES, *SHARES, *words("widths"), "rotary_dim", "rope_scaling_layers"}),
        "words": json.loads(DATA.read_text())["words"],  # written by hand, there alone
        "families": dict(sorted(families.items())),
    }


def of_a_part(kind: str, path: str, inner: str) -> dict[str, Any]:
    """What holds in the part for text of a larger configuration and not in its family alone.

    ``set`` where the part leaves it out, ``alone`` where there is no such part.
    """
    file: dict[str, Any] = {"vocab_size": 777}
    for step in reversed(path.split(".")):
        file = {step: file}
    usual, found = _sizes(made(inner, {})), {}
    for field, config in {"set": made(kind, file), "alone": made(kind, {})}.items():
        if config is not None and (own := _sizes(text_of(config)[1])) != usual:
            found[field] = {n: v for n, v in own.items() if v != usual.get(n)}
            if (
                own.get("head_dim", 0) * own.get("num_attention_heads", 0) != own.get("hidden_size")
                and "head_dim" in own
            ):
                found[field]["head_dim"] = own["head_dim"]
    file = {"rope_theta": ODD}
    for step in reversed(path.split(".")):
        file = {step: file}
    read, alone = (
        seen(text_of(c)[1]) if c is not None else {} for c in (made(kind, file), made(inner, {"rope_theta": ODD}))
    )
    if read and alone and not _same(read, alone):  # the class has a rule with a base of its own there
        found["rule"] = {
            "rope_type": "default",
            "rope_theta": found.get("set", usual).get("rope_theta", usual["rope_theta"]),
        }
    return {f: v for f, v in found.items() if f != "alone" or v != found.get("set")}


def _sizes(config: Any) -> dict[str, Any]:
    content = config.to_dict()
    aliases = getattr(type(config), "attribute_map", {})
    found = {n: content.get(aliases.get(n, n)) for n in (*SIZES, "head_dim", "max_position_embeddings")}
    found |= {n: v for n, v in (content.get("rope_parameters") or {}).items() if n == "rope_theta"}
    return {n: v for n, v in found.items() if isinstance(v, int | float)}


def rotary_like(Config: Any) -> bool:
    """Whether the code of a configuration speaks of a rotary embedding."""
    home = home_of(Config)
    return home is not None and any(re.search("Rotary|Rope|RoPE", name) for name in vars(home))


def moved(kind: str, file: dict[str, Any]) -> bool:
    """Whether a key on top of a larger configuration changes the rotation of its text part."""
    lists = [seen(text_of(config)[1]) if (config := made(kind, f)) is not None else {} for f in ({}, file)]
    return all(lists) and not _same(*lists)


def _same(one: Seen, other: Seen) -> bool:
    return one.keys() == other.keys() and all(
        len(one[k][0]) == len(other[k][0]) and np.allclose(one[k][0], other[k][0], rtol=1e-4) for k in one
    )


def _used(entry: dict[str, Any]) -> set[str]:
    """Every name that a family's entry reads."""
    found = {name for key in ("base", "share", "width") for name in entry.get(key, ())} | set(entry.get("needs", ()))
    found |= {name for names in entry.get("names", {}).values() for name in names}
    return found.union(*(_used(kind) for kind in entry.get("kinds", {}).values()))


def family(kind: str) -> tuple[dict[str, Any], set[str]] | None:  # noqa: C901
    """The entry of a family, and the keys of its class that speak of rotation; None where nothing turns."""
    Config = class_of(kind)
    default = made(kind, {})
    rules = getattr(default, "rope_parameters", None) or {}
    labels = [k for k, v in rules.items() if isinstance(v, dict) or (v is None and k.endswith("attention"))]
    layers = {"layer_types": labels, "num_hidden_layers": len(labels)} if len(labels) > 1 else {}
    if layers and len(seen(made(kind, layers))) < len(seen(default)):
        layers = {}
    if layers and set(seen(made(kind, layers))) != {k for k in labels if rules[k] is not None}:
        layers = {}

    asked: dict[str, Seen] = {}

    def ask(**file: Any) -> Seen:
        key = json.dumps(file, sort_keys=True)
        if key not in asked:
            asked[key] = seen(made(kind, layers | file))
        return asked[key]

    first = ask()
    if not first and kind != "cohere_compass_text":
        return None
    content = default.to_dict()
    source = inspect.getsource(sys.modules[Config.__module__])
    aliases = getattr(Config, "attribute_map", {})
    names = {
        *content,
        *re.findall(r'kwargs\.(?:pop|get|setdefault)\(\s*"(\w+)"', source),
        *aliases,
        *aliases.values(),
    } | {"head_dim"}
    heard = {n for n in names if speaks(n)} - {"rope_parameters", "rope_scaling"}
    role = {real: alias for alias, real in aliases.items()}
    entry: dict[str, Any] = {}
    parts: dict[KIND, dict[str, Any]] = {k: {"set": {}} for k in first}
    standard = {"rope_scaling": {"rope_type": "default"}}

    # the width of a head, and the names of the sizes that it is derived from
    sizes = {n: content.get(aliases.get(n, n)) for n in SIZES}
    derived: set[KIND] = set()  # where the width is hidden_size / heads unless a file says it
    for name in sorted(
        n for n in names if isinstance(content.get(n), int | None) and not isinstance(content.get(n), bool)
    ):
        if name in (
            "rope_parameters",
            "rope_scaling",
            "per_layer_config",
            "layer_types",
            *BASES,
            *SHARES,
        ) or NOT_A_SIZE.search(name):
            continue
        alias = role.get(name, name)
        alias = aliases[name] if aliases.get(name) in SIZES else alias
        value = content.get(name)
        for odd in [2 * value] if value else [2 * (sizes["hidden_size"] or 1), 48, 96]:
            got = ask(**{name: odd})
            if got.keys() != first.keys() or all(len(got[k][0]) == len(first[k][0]) for k in first):
                continue
            if name == "rotary_dim":
                entry["rotary_dim"] = True
            elif alias in SIZES:
                derived |= {k for k in first if len(got[k][0]) != len(first[k][0])}
                if name != alias:
                    entry.setdefault("names", {}).setdefault(alias, []).append(name)
            elif not value and name != "head_dim" and all(len(got[k][0]) == 2 * len(first[k][0]) for k in first):
                entry.setdefault("names", {}).setdefault("hidden_size", []).append(name)
            else:
                for k in first:
                    if len(got[k][0]) != len(first[k][0]):
                        parts[k].setdefault("width", []).append(name)
            break
    for name, size in sizes.items():
        if (real := aliases.get(name, name)) not in (name, *entry.get("names", {}).get(name, ())):
            entry.setdefault("names", {}).setdefault(name, []).append(real)
        if isinstance(size, int):
            entry.setdefault("set", {})[name] = size
    for name in ("max_position_embeddings", "original_max_position_embeddings", "qk_nope_head_dim"):
        if isinstance(value := content.get(aliases.get(name, name)), int):
            entry.setdefault("set", {})[name] = value
            if name in aliases:
                entry.setdefault("names", {}).setdefault(name, []).append(aliases[name])

    for k, part in parts.items():
        part.setdefault("width", [])
        rule = rules.get(k) if k in rules else rules if k is None else {}
        rule = dict(rule or {})
        planes = len(first[k][0])
        share = rule.get("partial_rotary_factor")
        for name in part.get("width", []):
            here = content.get(aliases.get(name, name))
            if k in (kinds_ := content.get("layer_types") or ()):
                here = _of_one(content.get("per_layer_config"), kinds_.index(k)).get(name, here)
            if isinstance(here, int) and k not in derived:
                part["set"][name] = here
            elif name == "global_head_dim":
                part["set"][name] = 2 * planes
        # the share
        turned = {n: [ask(**{n: odd}) for odd in (0.5, 0.25)] for n in SHARES}
        shares = [n for n, found in turned.items() if any(k in one and len(one[k][0]) != planes for one in found)]
        if shares:
            part["share"] = shares
        proportional = rule.get("rope_type") == "proportional"
        whole = next(iter(part["set"].values()), None) or (
            sizes["hidden_size"] // sizes["num_attention_heads"]
            if all(isinstance(v, int) for v in sizes.values())
            else None
        )
        turns = (
            share
            if share and whole and not proportional and (int(whole * share) + 1) // 2 == planes != whole // 2
            else None
        )
        if turns:
            part["set"]["partial_rotary_factor"] = turns
        if not (shares and turns):  # then a width that turns is that of the head's part
            part.get("width", []).sort(key=lambda n: n != "qk_rope_head_dim")
        # the base
        plain = ask(**standard)
        under = standard if plain else {}
        part["base"] = [n for n in BASES if _base_of(ask(**under, **{n: ODD}).get(k)) == ODD]
        free = [n for n in BASES if _base_of(ask(**{n: ODD}).get(k)) == ODD]
        base = rule.get("rope_theta", getattr(default, "rope_theta", getattr(default, "rotary_embedding_base", 10000)))
        part["set"]["rope_theta"] = float(base)
        inside = {n: v for n, v in rule.items() if n not in ("type", "partial_rotary_factor", "rope_theta")}
        if part["base"] and not free and not proportional:
            inside |= {"rope_theta": base}
            part["set"].pop("rope_theta")
            if plain.get(k):
                part["set"]["rope_theta"] = float(_base_of(plain[k], known=getattr(Config, "default_theta", 1e4)))
        if turns and k in plain and len(plain[k][0]) != planes:
            inside |= {"partial_rotary_factor": part["set"].pop("partial_rotary_factor")}
        if proportional:
            inside |= {"partial_rotary_factor": share}
        if inside != {"rope_type": "default"} and inside:
            part["rule"] = inside
        if k is not None:  # what a rule in the file must say itself
            bare = ask(rope_parameters={label: {"rope_type": "default"} for label in labels}).get(k)
            based = ask(rope_parameters={label: {"rope_type": "default", "rope_theta": ODD} for label in labels}).get(k)
            own = part.get("rule", {})
            if bare is None and not part["base"] and "rope_theta" in part["set"]:
                own = {"rope_theta": part["set"].pop("rope_theta"), **own}
            if turns and based is not None and len(based[0]) != planes:
                own = {"partial_rotary_factor": part["set"].pop("partial_rotary_factor"), **own}
            if own:
                part["rule"] = own
            must = []
            if bare is not None and not np.isclose(_base_of(bare), part["set"].get("rope_theta", 0) or _base_of(bare)):
                must.append("rope_theta")
            slow = {label: {"rope_type": "linear", "factor": 4.0, "rope_theta": ODD} for label in labels}
            if based is not None and k in (slow := ask(rope_parameters=slow)) and len(slow[k][0]) != len(based[0]):
                must.append("partial_rotary_factor")
            if must:
                part["must"] = must
            others = {o: {"rope_type": "default", "rope_theta": ODD} for o in labels if o != k}
            if others and k in (got := ask(rope_parameters=others)) and _same({k: got[k]}, {k: first[k]}):
                part["fills"] = True
        scaled = ask(rope_scaling={"rope_type": "linear", "factor": 4.0}).get(k)
        flat = plain.get(k) or first[k]
        slowed = scaled is not None and len(scaled[0]) and np.isclose(scaled[0][0] / flat[0][0], 0.25)
        if k is None and not slowed:
            entry["only"] = ["default"]
        if k is not None and slowed:
            part["scaled"] = True
    halves = {"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 0.25}
    for k, found in ask(rope_parameters={k: dict(halves) for k in labels} if labels else halves).items():
        if k in parts and len(found[0]) == len(first[k][0]) and "partial_rotary_factor" not in parts[k]["set"]:
            parts[k]["whole"] = True
    if None in parts:
        part = parts.pop(None)
        entry["set"] = entry.get("set", {}) | part.pop("set")
        entry |= part
    else:
        entry["kinds"] = parts
        nested = {label: {"rope_type": "default", "rope_theta": ODD} for label in labels}
        if labels and all(_base_of(found) == ODD for found in ask(rope_scaling=nested).values()):
            entry["nests"] = True
        for k in labels:
            if rules[k] is None:
                like = next(iter(parts.values()))
                parts[k] = {"still": True, "set": dict(like["set"]), "whole": like.get("whole")}
            elif k not in parts:  # its default has no layer of this kind
                like = next(iter(parts.values()))
                kept = {n: v for n, v in like["set"].items() if n not in ("rope_theta", "partial_rotary_factor")}
                parts[k] = {**like, "set": kept, "rule": rules[k]}
    if kinds := sorted(set(getattr(default, "layer_types", None) or ())):
        entry["layers"] = kinds
    entry |= _dealt(default)
    if (quiet := _still().get(kind)) and "kinds" not in entry:
        entry["still"] = quiet
    entry |= KNOWN.get(kind, {}) | {"set": entry.get("set", {}) | KNOWN.get(kind, {}).get("set", {})}
    return _short(entry), heard


def _of_one(layers: Any, i: int) -> dict[str, Any]:
    """What one layer has for itself."""
    own = layers.get(i, layers.get(str(i))) if isinstance(layers, dict) else layers[i] if layers else None
    return own or {}


def _base_of(found: tuple[np.ndarray, float] | None, known: Any = ODD) -> float:
    """The base of a list with one; ``known`` where it is close to it."""
    if found is None or len(found[0]) < 2 or found[0][1] <= 0:
        return 0.0
    if not np.isclose(found[0][0], 1):
        return 0.0
    for turning in (2 * len(found[0]), 2 * len(found[0]) - 1):  # a width may be odd
        base = found[0][1] ** (-turning / 2)
        if isinstance(known, float | int) and abs(base / known - 1) < 1e-3:
            return float(known)
    return round(found[0][1] ** -float(len(found[0])))


def _short(entry: dict[str, Any]) -> dict[str, Any]:
    """An entry without what is common to most families."""
    if entry.get("base") == ["rope_theta"]:
        del entry["base"]
    if entry.get("width") == ["head_dim"]:
        del entry["width"]
    if "kinds" in entry:
        entry["kinds"] = {k: _short(part) for k, part in entry["kinds"].items()}
    return {k: v for k, v in entry.items() if v not in ({}, None)}


def _dealt(config: Any) -> dict[str, Any]:
    """M-RoPE: the sections that hold where a file has none, and whether the planes go to the axes in turn."""
    module = module_of(config)
    sections = getattr(module, "mrope_section", None)
    if not isinstance(sections, list) or len(sections) != 3:
        return {}
    import torch

    moved = []
    for axis in range(3):
        place = torch.zeros(3, 1, 1)
        place[axis] = 1.0
        try:
            cos, sin = module(torch.zeros(1, 1, 8), place)
        except Exception:
            return {"sections": sections}
        moved.append(torch.atan2(sin, cos).flatten()[: cos.shape[-1] // 2] != 0)
    return {"sections": sections} | ({"in_turn": True} if moved[1][1] else {})


@cache
def _still() -> dict[str, list[str]]:
    """The kinds of layer that do not turn, from the table of probed models."""
    found: dict[str, list[str]] = {}
    for row in probe_results()["rows"]:
        if row.get("skipped") or not class_of(row["model"]):
            continue
        config = text_of(class_of(row["model"])())[1]
        kinds = getattr(config, "layer_types", None) or ()
        quiet = {i for a in row["answers"] for i in a["layers"] if a["words"][:1] == ["no rotation"]}
        turns = {i for a in row["answers"] for i in a["layers"] if a["queries"]}
        names = {kinds[i] for i in quiet if i < len(kinds)} - {kinds[i] for i in turns if i < len(kinds)}
        if names and turns:
            found[config.model_type] = sorted(names)
    return found


def text_of_table(made_: dict[str, Any]) -> str:
    """The table as JSON with a family in each line."""
    head = json.dumps({k: v for k, v in made_.items() if k != "families"})[:-1]
    rows = ",\n".join(f" {json.dumps(k)}: {json.dumps(v, separators=(',', ':'))}" for k, v in made_["families"].items())
    return head.replace('], "', '],\n"') + ',\n"families": {\n' + rows + "\n}}\n"


# --- the check ------------------------------------------------------------------------------------------------------

FORMS = ("as saved", "without RoPE keys", "before transformers 5")


def file_of(kind: str, form: str) -> dict[str, Any]:
    """The file that a family's default configuration is saved as, in one of three forms."""
    whole = json.loads(json.dumps(class_of(kind)().to_dict(), default=str))
    whole.pop("transformers_version", None)
    path, _ = text_of(class_of(kind)())
    file = whole
    for step in path.split(".") if path else ():
        file = file[step]
    if form == FORMS[0]:
        return whole
    rules = file.get("rope_parameters") or {}
    for name in [n for n in file if speaks(n) and n not in words("widths") and "layers" not in n]:
        del file[name]
    if form == FORMS[2] and rules:
        entry = _entry(str(file.get("model_type") or kind))
        kinds = {k: v for k, v in rules.items() if isinstance(v, dict)}
        for k, one in kinds.items() or [(None, rules)]:
            mine = entry.get("kinds", {}).get(k, entry)
            rule = dict(one)
            for field, name in (("base", "rope_theta"), ("share", "partial_rotary_factor")):
                own = mine.get(field, ["rope_theta"] if field == "base" else [])
                if (value := rule.pop(name, None)) is not None and (own or k is None):
                    file.setdefault(own[0] if own else name, value)
            if not kinds:
                file["rope_scaling"] = None if set(rule) <= {"rope_type", "type"} else rule
    return whole


def _entry(kind: str) -> dict[str, Any]:
    return json.loads(DATA.read_text())["families"].get(kind, {})


PLAIN = {"rope_type": "default", "rope_theta": ODD}
LINEAR = {"rope_type": "linear", "factor": 4.0}
YARN = {"rope_type": "yarn", "factor": 4.0}
OLD = {"type": "linear", "factor": 4.0}
RANGES = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
WINDOW = {"original_max_position_embeddings": 1024}
ONE_OF_TWO = {"layer_types": ["sliding_attention", "full_attention"], "num_hidden_layers": 2}
CHANGES: dict[str, dict[str, Any]] = {  # what a file may say besides: each of them in every family
    **{n: {n: ODD} for n in BASES},
    **{f"{n} {x}": {n: x} for n in SHARES for x in (0.5, 1.0)},
    **{n: {n: 48} for n in ("rotary_dim", "qk_rope_head_dim", *words("widths"))},
    "no width": {"head_dim": None},
    "sizes": {"hidden_size": 1536, "num_attention_heads": 12},
    **{
        f"{where}: {name}": {where: rule}
        for where in ("rope_parameters", "rope_scaling")
        for name, rule in {
            "null": None,
            "empty": {},
            "a base alone": {"rope_theta": ODD},
            "plain": PLAIN,
            "a share": PLAIN | {"partial_rotary_factor": 0.5},
            "a share of one": PLAIN | {"partial_rotary_factor": 1.0},
            "linear": LINEAR,
            "linear with a base": LINEAR | {"rope_theta": ODD},
            "linear with a share": LINEAR | {"rope_theta": ODD, "partial_rotary_factor": 0.5},
            "linear of old": OLD,
            "yarn": YARN,
            "yarn with a window": YARN | WINDOW | {"rope_theta": ODD},
            "yarn with more": YARN | WINDOW | {"mscale": 0.7, "mscale_all_dim": 1.0, "beta_fast": 20.0},
            "yarn, not rounded": YARN | WINDOW | {"truncate": False},
            "llama3": RANGES | WINDOW | {"rope_theta": ODD},
            "dynamic": {"rope_type": "dynamic", "factor": 2.0, "rope_theta": ODD},
            "proportional": {"rope_type": "proportional", "rope_theta": ODD, "partial_rotary_factor": 0.5},
            "sections": {"type": "mrope", "mrope_section": [8, 12, 12]},
            "for each kind": {"full_attention": PLAIN, "sliding_attention": PLAIN | {"rope_theta": 777.0}},
            "for one kind": {"full_attention": PLAIN},
            "linear for one kind": {"full_attention": PLAIN | LINEAR, "sliding_attention": PLAIN},
        }.items()
    },
    "a base beside a rule": {"rope_parameters": LINEAR, "rope_theta": ODD},
    "a base beside a rule of old": {"rope_scaling": OLD, "rope_theta": ODD},
    "both rules": {"rope_scaling": LINEAR, "rope_parameters": PLAIN},
    "two shares": {"partial_rotary_factor": 0.25, "rope_parameters": PLAIN | {"partial_rotary_factor": 0.5}},
    "a window": {"max_position_embeddings": 8192, "rope_scaling": YARN},
    "two windows": {"max_position_embeddings": 8192, "rope_scaling": YARN, "original_max_position_embeddings": 2048},
    "a width for a layer": ONE_OF_TWO | {"per_layer_config": {"01": {"head_dim": 48}}},
    "a width for a layer and for its kind": ONE_OF_TWO
    | {"per_layer_config": {1: {"head_dim": 48}}, "global_head_dim": 96},
    "no widths for layers": {"per_layer_config": None},
    "a base for a layer": {"per_layer_config": {"0": {"rope_theta": 5.0}}},
}


def verdict(kind: str, form: str, change: str = "", *, on_top: bool = False) -> tuple[str, str]:
    """How one form of a family's file is read: "read", "refused" or "wrong", and why; "none" without a reference.

    With a change of `CHANGES`, in its part for text or on top of a larger file.
    """
    file = file_of(kind, form)
    path, _ = text_of(class_of(kind)())
    part = file
    for step in path.split(".") if path and not on_top else ():
        part = part[step]
    part.update(copy.deepcopy(CHANGES.get(change, {})))
    want = seen(text_of(config)[1]) if (config := made(kind, file)) is not None else {}
    if not want:
        return "none", "its class refuses it" if config is None else "no rotary embedding"
    refused = ""
    for k, (theirs, factor) in want.items():
        try:
            found = rope_settings(copy.deepcopy(file), layer_type=k)
            width = found.rotary_dim or found.head_dim
            ours = found.schedule.at(1).frequencies(width, base=found.base)
        except (TypeError, ValueError) as error:
            refused = str(error)
            continue
        except Exception as error:
            return "wrong", f"{k}: raised {error!r}"
        if found.schedule.attention_factor != factor and abs(found.schedule.attention_factor - factor) > 1e-6:
            return "wrong", f"{k}: factor {found.schedule.attention_factor}, its class has {factor}"
        if len(ours) != len(theirs):
            return "wrong", f"{k}: {len(ours)} planes, its class has {len(theirs)}"
        if not np.allclose(np.sort(ours), np.sort(theirs), rtol=2e-5):
            return "wrong", f"{k}: slowest plane {min(ours):.4g}, its class has {min(theirs):.4g}"
    return ("refused", refused) if refused else ("read", "")


def changed(kind: str) -> list[str]:
    """The changes of a family's files that are read otherwise than its class reads them, without a word."""
    larger = text_of(class_of(kind)())[0] != ""
    asked = [(form, change, top) for form in FORMS for change in CHANGES for top in (False, True)[: 1 + larger]]
    found = {one: verdict(kind, *one[:2], on_top=one[2]) for one in asked}
    return [
        f"{kind} {form}, {change}{' on top' * top}: {why}"
        for (form, change, top), (said, why) in found.items()
        if said == "wrong"
    ]


def all_families() -> list[str]:
    """Every family of the installed transformers but those of which the table says that they do not turn, or how."""
    known = json.loads(DATA.read_text())
    return sorted(set(classes()) - {*known["still"], *known["own"]})


def main() -> int:
    """Print the table, also of another transformers than the one it was made from; 1 if a file is read wrongly."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help=f"make {DATA.name} anew first")
    parser.add_argument("--changed", action="store_true", help=f"ask also {len(CHANGES)} changes of each file")
    warnings.filterwarnings("ignore")
    options = parser.parse_args()
    if options.write:
        DATA.write_text(text_of_table(table()), encoding="utf-8")
    import transformers

    table_ = json.loads(DATA.read_text())
    print(f"transformers {transformers.__version__}, and a table of {table_['transformers']}")
    counts: dict[str, int] = {}
    wrong = []
    for kind in all_families():
        for form in FORMS if kind in table_["families"] else FORMS[:2]:  # a new one has no older spelling
            said, why = verdict(kind, form)
            counts[f"{form}: {said}"] = counts.get(f"{form}: {said}", 0) + 1
            line = f"{kind:40} {form:22} {said:8} {'' if kind in table_['families'] else '(not in the table) '}{why}"
            print(line.rstrip())
            wrong += [line] if said == "wrong" else []
        if options.changed and (found := changed(kind)):
            print(*found, sep="\n", flush=True)  # at once: all families take half an hour
            wrong += found
    print(*(f"{count:5} {name}" for name, count in sorted(counts.items())), *wrong, sep="\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
