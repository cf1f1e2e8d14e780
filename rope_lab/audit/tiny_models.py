"""Tiny models with random weights: the architecture of a configuration at a size that answers in milliseconds.

transformers is imported when a model is asked for. Nothing is downloaded. All families of the installed transformers
are asked one question as one dated table, by `ask_families`.
"""

import contextlib
import json
import os
import platform
import re
import sys
from collections.abc import Callable, Sequence
from datetime import date
from importlib import import_module, resources
from pathlib import Path
from typing import Any

from rope_lab.audit.foreign_code import TargetError, TimeUpError, guarded, in_a_line, time_limit, version
from rope_lab.errors import FileError, MissingPackageError
from rope_lab.reading import parse_json, read

WEIGHTS = re.compile(r"\.(safetensors|bin|pt|pth|ckpt|h5|msgpack|gguf|npz|pkl)(\.|$)", re.I)
MOST = {"layers": 10_000, "sizes": 10_000_000}  # more has no model, and to build it would not end
LARGEST = 20_000_000  # parameters of a model that is still called tiny
SIZES = {  # what configurations of transformers call their sizes, and how small each becomes
    64: "hidden_size d_model n_embd dim embed_dim vocab_size lm_head_vocab_size intermediate_size ffn_dim d_ff n_inner "
    "ffn_hidden_size moe_intermediate_size shared_expert_intermediate_size moe_shared_expert_intermediate_size "
    "expert_ffn_hidden_size lru_width intermediate_size_mlp word_embed_proj_dim embedding_size hidden_size_per_layer "
    "shared_intermediate_size encoder_ffn_dim decoder_ffn_dim vocab_size_per_layer_input dim_ff rotary_emb_dim",
    32: "index_head_dim index_n_heads attention_hidden_size kv_channels moe_latent_size",  # few index heads score alike
    16: "head_dim global_head_dim swa_head_dim qk_rope_head_dim qk_nope_head_dim v_head_dim q_lora_rank kv_lora_rank "
    "o_lora_rank linear_key_head_dim linear_value_head_dim swa_v_head_dim attention_head_dim dim_head "
    "mamba_d_head mamba_head_dim hidden_size_per_layer_input kda_head_dim num_mem_blocks",
    8: "mamba_d_state ssm_state_size state_size mamba_d_ssm laurel_rank n_routed_experts_group index_topk rotary_dim",
    4: "num_attention_heads n_head n_heads num_heads decoder_attention_heads encoder_attention_heads num_local_experts "
    "num_experts n_routed_experts moe_num_experts linear_num_value_heads mamba_num_heads swa_num_attention_heads "
    "linear_num_key_heads num_expert",
    2: "num_hidden_layers n_layer n_layers num_layers decoder_layers encoder_layers num_experts_per_tok "
    "num_experts_per_token moe_topk moe_k top_k num_key_value_heads num_kv_heads n_head_kv multi_query_group_num "
    "swa_num_key_value_heads",
    1: "n_group topk_group n_shared_experts num_shared_experts first_k_dense_replace moe_layer_start_index "
    "mamba_n_groups n_groups num_nextn_predict_layers type_vocab_size",
}
SMALL = {name: size for size, names in SIZES.items() for name in names.split()}
HEAD_WIDTHS = ("head_dim", "global_head_dim", "swa_head_dim", "attention_head_dim")
UNSET = {"head_dim": 16, "num_key_value_heads": 4}  # what None stands for: hidden_size / heads, and all heads
LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "decoder_layers")
HEADS = ("num_attention_heads", "n_head", "n_heads", "num_heads", "decoder_attention_heads")


def tiny_model(source: Any, *, seed: int = 0) -> Any:
    """A small causal model with random weights: few layers, narrow, with the rules of the configuration.

    The rotation's rule (base, scaling, share of the head that turns) and the kinds of layer stay as they are; widths,
    layers, experts and vocabulary become small. Weights of norms, which would begin as ones, are drawn too: what only
    trained norms do is then seen.

    Args:
        source: A configuration of transformers, its class, the name of a family, such as ``"llama"``, the path of a
            config.json, or of a folder with one.
        seed: Of the weights.

    Returns:
        A ``...ForCausalLM`` of transformers in float32, set to evaluate.

    Raises:
        MissingPackageError: If transformers is not installed.
        TargetError: If no causal model can be made of it, with the reason.
        TypeError: If seed is not an integer.
    """
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise TypeError(f"seed: expected an integer, got {seed!r}")
    import torch

    transformers = _transformers()
    with guarded("making the model small"):
        config = small(_causal(_config(source, transformers), transformers))
        with torch.device("meta"):
            parameters = sum(p.numel() for p in _from(config, transformers).parameters())
        if parameters > LARGEST:
            raise TargetError(
                f"{type(config).__name__} stays large: {parameters:,} parameters with widths of a few dozen"
            )
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            model = _from(config, transformers).float().eval()
            with torch.no_grad():
                for parameter in model.parameters():
                    if parameter.ndim == 1 and parameter.is_floating_point():
                        parameter.add_(0.2 * torch.randn_like(parameter))
    return model


def load_model(path: str | Path, *, seed: int = 0) -> Any:
    """The model of a folder with weights, else a tiny one of its config.json. Never asks a network.

    Args:
        path: A folder, or a config.json.
        seed: Of the weights, where they are random.

    Returns:
        A ``...ForCausalLM`` of transformers.

    Raises:
        MissingPackageError: If transformers is not installed.
        TargetError: If the path holds no model that can be built; if its weights are of another format than
            safetensors, or not those of the model that the configuration describes.
    """
    if not isinstance(path, str | os.PathLike):
        raise TargetError(f"expected the path of a folder or of a config.json, got {type(path).__name__}")
    path = Path(path)
    if not (path.is_dir() and _has_weights(path)):
        model = tiny_model(path, seed=seed)
        print(f"{path}: no weights; a tiny model with random ones is asked", file=sys.stderr)
        return model
    transformers = _transformers()
    with guarded(f"loading {path}"):
        _config(path, transformers)  # a model_type that is not known is refused before the library offers its code
        model, found = transformers.AutoModelForCausalLM.from_pretrained(
            path,
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # they are refused below, by name
        )
    _expect_all(path, {name: sorted(map(str, found.get(f"{name}_keys") or ())) for name in LOADED})
    return model.eval()


def _has_weights(folder: Path) -> bool:
    """Whether weights lie in a folder. What is no safetensors, or lies elsewhere, or is a part of them, is refused."""
    words = f"{folder}: expected weights in safetensors, got"
    alone = "; save them anew with save_pretrained, or name the config.json alone for a tiny model with random weights"
    found = [file for file in folder.iterdir() if WEIGHTS.search(file.name)]
    whole = [file for file in found if file.name.endswith(".safetensors")]
    if found and not whole:
        raise TargetError(f"{words} {found[0].name}, another format, which may hold code, or a part of them{alone}")
    for index in (file for file in found if file.name.endswith(".index.json")):
        try:
            names = read(index, expected="an index of weights", parse=parse_json)["weight_map"].values()
            whole += [folder / name for name in {str(name) for name in names}]
        except (AttributeError, FileError, KeyError, TypeError) as error:
            raise TargetError(f"{words} {index.name} without a weight_map{alone}") from error
    for file in whole:
        if file.parent != folder or file.suffix != ".safetensors" or not file.is_file():
            raise TargetError(f"{words} {in_a_line(str(file), width=200)}, which is no such file of this folder{alone}")
    return bool(whole)


LOADED = {
    "mismatched": "weights of the shapes that the config.json gives",
    "missing": "weights for all of the model",
    "unexpected": "queries, keys and rotation that the model has too",
}
TURNED = re.compile(
    r"w?(q|k|qk|kv|qkv)([_-]?(proj|a|b|norm|w|linear|\d).*)?|.*(query|key|rot|rope|freq|attn).*|in_proj.*", re.I
)


def _expect_all(path: Path, found: dict[str, list[str]]) -> None:
    """Refuse a model of which weights stayed random; say which were left over, and refuse those that turn."""
    left = found["unexpected"]
    found["unexpected"] = [key for key in left if any(TURNED.fullmatch(part) for part in key.split("."))]
    for name, expected in LOADED.items():
        if keys := found[name]:
            raise TargetError(
                f"{path}: expected {expected}, got {len(keys)} {name}: {_few(keys)}; take weights and "
                "config.json of one model"
            )
    if left:
        print(f"{path}: {len(left)} weights are left over, and not asked: {_few(left)}", file=sys.stderr)


def _few(keys: list[str]) -> str:
    return in_a_line(", ".join(keys[:3]) + (", ..." if len(keys) > 3 else ""), width=300)


def causal_families() -> tuple[str, ...]:
    """The families of the installed transformers that have a causal model, by name.

    Raises:
        MissingPackageError: If transformers is not installed.
    """
    _transformers()
    mapping = import_module("transformers.models.auto.modeling_auto")
    return tuple(sorted(mapping.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES))


def small(config: Any) -> Any:
    """A configuration of the same class and rules, with small sizes."""
    content = config.to_dict()
    kinds = content.get("layer_types") or content.get("layers_block_type")
    layers = 2
    if isinstance(kinds, list) and kinds:
        layers = max(2, *(kinds.index(kind) + 1 for kind in set(kinds)))
    still = content.get("no_rope_layers")
    if isinstance(still, list) and 0 in still:  # in these lists 0 means that the layer does not turn
        layers = max(layers, still.index(0) + 1)
    old_layers = next((content[name] for name in LAYERS if isinstance(content.get(name), int)), None)
    old_heads = next((content[name] for name in HEADS if isinstance(content.get(name), int)), None)
    old_width = next((content[n] for n in ("head_dim", "qk_rope_head_dim") if isinstance(content.get(n), int)), None)
    if old_width is None and old_heads:
        old_width = max(
            1, next((content[n] for n in ("hidden_size", "n_embd", "d_model") if n in content), 0) // old_heads
        )
    new: dict[str, Any] = {}
    for name, value in content.items():
        if name in LAYERS:
            new[name] = layers
        elif isinstance(value, list) and old_layers and len(value) == old_layers:
            new[name] = [_shrunk(name.removesuffix("s"), item) for item in value[:layers]]
        elif name == "per_layer_config" and isinstance(value, dict):
            new[name] = {i: _small_layer(rules) for i, rules in value.items() if int(i) < layers}
        elif name == "rotary_dim" and isinstance(value, int):
            new[name] = 8 if old_width and value < old_width else 16
        elif name.endswith(("dropout", "pdrop", "dropout_rate", "dropout_prob", "layerdrop")) and isinstance(
            value, float
        ):
            new[name] = 0.0
        elif name in SMALL:
            new[name] = _shrunk(name, value)
        elif name in ("rope_parameters", "rope_scaling") and isinstance(value, dict):
            new[name] = _rotation(value, old_width)
        elif name.endswith("_token_id") and isinstance(value, int):
            new[name] = min(value, 3)
        else:
            new[name] = value
    if new.get("num_key_value_heads") and content.get("num_key_value_heads") == old_heads:
        new["num_key_value_heads"] = 4
    new |= {name: size for name, size in UNSET.items() if name in new and new[name] is None}
    if (width := _even_share(content)) != SMALL["head_dim"]:
        new |= {name: width for name in HEAD_WIDTHS if new.get(name) == SMALL["head_dim"]}
    if "initializer_range" in new:
        new["initializer_range"] = 0.2  # logits that differ
    new |= {"is_decoder": True} if "is_decoder" in content or "is_encoder_decoder" in content else {}
    new.pop("quantization_config", None)
    new.pop("dtype", None)
    return type(config)(
        **{name: value for name, value in new.items() if name not in ("model_type", "transformers_version")}
    )


def _even_share(content: dict[str, Any]) -> int:
    """The small width of a head of which the share that turns is even: an odd number of coordinates shows no base."""
    rules = [content, content.get("rope_parameters"), *(content.get("rope_parameters") or {}).values()]
    said = [rule.get("partial_rotary_factor") for rule in rules if isinstance(rule, dict)]
    shares = [share for share in said if isinstance(share, float) and 0 < share < 1]
    fits = (w for w in (16, 24, 32, 48, 64) if all(int(w * share) % 2 == 0 < int(w * share) for share in shares))
    return next(fits, 16)


def _shrunk(name: str, value: Any) -> Any:
    """A size, or what it was if it is none or small already."""
    if isinstance(value, bool) or not isinstance(value, int):
        return value
    return min(value, SMALL.get(name, value))


def _small_layer(rules: Any) -> Any:
    """The sizes that one layer has for itself."""
    return {name: _shrunk(name, value) for name, value in rules.items()} if isinstance(rules, dict) else rules


def _rotation(rules: dict[str, Any], old_width: int | None) -> dict[str, Any]:
    """The rules of a rotation for heads of 16: lists with a number for each plane are thinned, sections scaled."""
    found: dict[str, Any] = {}
    for name, value in rules.items():
        if isinstance(value, dict):
            found[name] = _rotation(value, old_width)
        elif name in ("short_factor", "long_factor") and isinstance(value, list):
            planes = max(1, round(len(value) * 16 / old_width)) if old_width else 8
            found[name] = [value[i * len(value) // planes] for i in range(planes)]
        elif name == "mrope_section" and isinstance(value, list):
            planes = max(len(value), round(sum(value) * 16 / old_width)) if old_width else 8
            rest = [max(1, planes * part // sum(value)) for part in value[1:]]
            found[name] = [planes - sum(rest), *rest]
        else:
            found[name] = value
    return found


def exists(path: str) -> bool:
    """Whether there is something of this name; a name that no system takes is the name of nothing."""
    try:
        return Path(path).exists()
    except (OSError, ValueError):
        return False


def _config(source: Any, transformers: Any) -> Any:
    """A configuration from whatever names one."""
    if isinstance(source, type):
        return source()
    if hasattr(source, "to_dict"):
        return source
    if isinstance(source, str) and not exists(source):
        if source not in transformers.CONFIG_MAPPING:
            raise TargetError(f"expected a config.json or the name of a family of transformers, got {source!r}")
        return transformers.CONFIG_MAPPING[source]()
    path = Path(source)
    path = path / "config.json" if path.is_dir() else path
    try:
        content = read(path, expected="a config.json", parse=parse_json)
    except FileError as error:
        raise TargetError(str(error)) from error
    kind = content.get("model_type") if isinstance(content, dict) else None
    if not isinstance(kind, str) or kind not in transformers.CONFIG_MAPPING:
        raise TargetError(f"{path}: expected a model_type that the installed transformers knows, got {kind!r}")
    for name, value in content.items():
        most = MOST["layers" if name in LAYERS else "sizes"]
        if type(value) is int and (name in SMALL or name == "num_labels") and value > most:
            raise TargetError(f"{path}: expected {name} of at most {most:,}, got {value:.3g}")
    return transformers.CONFIG_MAPPING[kind].from_dict(content)


def _causal(config: Any, transformers: Any) -> Any:
    """The configuration, or the part of it for text, of which a causal model is made."""
    known = import_module("transformers.models.auto.modeling_auto").MODEL_FOR_CAUSAL_LM_MAPPING
    text = config.get_text_config(decoder=True) if hasattr(config, "get_text_config") else config
    for part in (text, config):
        if type(part) in known:
            return part
    raise TargetError(f"{type(config).__name__} has no causal model in transformers {transformers.__version__}")


def _from(config: Any, transformers: Any) -> Any:
    """The model, with attention as one call where the family allows it."""
    make = transformers.AutoModelForCausalLM.from_config
    try:
        model = make(config, attn_implementation="sdpa")
    except ValueError:
        model = make(config, attn_implementation="eager")
    for part in model.modules():
        if hasattr(part, "config") and hasattr(part.config, "_experts_implementation"):
            part.config._experts_implementation = "eager"  # the grouped form has no float64
    return model


def _transformers() -> Any:
    try:
        transformers = import_module("transformers")
    except ImportError as error:
        raise MissingPackageError(
            "transformers: expected an installed package, got none; pip install transformers"
        ) from error
    with contextlib.suppress(AttributeError):
        transformers.logging.set_verbosity_error()
    return transformers


LIMIT = 60.0  # seconds; a family takes one or two
Row = dict[str, Any]


def ask_families(
    ask: Callable[[str], Row],
    families: Sequence[str] | None,
    *,
    limit: float | None,
    rows: Sequence[Row] = (),
    told: Callable[[str, dict[str, Any]], None] | None = None,
) -> dict[str, Any]:
    """Ask for the row of each family.

    Args:
        ask: From a family's name to its row. A `TargetError` skips the family, and its words stand in the row.
        families: Their names. None: all of the installed transformers that have a causal model.
        limit: Seconds that one may take; None where ``ask`` has its own limit.
        rows: Answers of before: their families are not asked again.
        told: Called after each answer with the name of its family and the table so far.

    Returns:
        The date, the versions, and ``rows``: what was asked for, or "model" and "skipped", the reason.

    Raises:
        MissingPackageError: If transformers is not installed.

    >>> ask_families(lambda name: {"model": name, "skipped": None}, ["mine"], limit=1)["rows"]
    [{'model': 'mine', 'skipped': None}]
    """
    names, known = list(causal_families() if families is None else families), {row["model"]: row for row in rows}

    def table() -> dict[str, Any]:
        return head() | {"rows": [known[name] for name in names if name in known]}

    for name in names:
        if name not in known:
            known[name] = _row(ask, name, limit)
            if told:
                told(name, table())
    return table()


def head() -> dict[str, Any]:
    """The date, and the versions that a table of families is about."""
    versions = {"python": platform.python_version(), "torch": version("torch"), "transformers": version("transformers")}
    return {"date": date.today().isoformat()} | versions


def _row(ask: Callable[[str], Row], name: str, limit: float | None) -> Row:
    try:
        with time_limit(limit):
            return ask(name)
    except TargetError as reason:
        return {"model": name, "skipped": str(reason)}
    except TimeUpError:
        return {"model": name, "skipped": f"no answer within {limit:g} seconds"}


def shipped(file: str) -> dict[str, Any]:
    """A table as it is shipped, by its file's name in the package's data. transformers need not be installed."""
    return json.loads((resources.files("rope_lab.audit") / "data" / file).read_text(encoding="utf-8"))
