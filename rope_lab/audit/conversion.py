"""Trained weights carried from one layout into the other: one projection, or all of a state dict.

>>> W = np.arange(8.0)[:, None]
>>> permute_rotary(W, n_heads=2, layout_from="interleaved", layout_to="half").ravel()
array([0., 2., 1., 3., 4., 6., 5., 7.])
>>> state = {f"layers.0.{x}_proj.weight": np.arange(n)[:, None] for x, n in (("q", 8), ("k", 4), ("v", 4))}
>>> moved = permute_state(state, n_heads=2, n_kv_heads=1, layout_from="half", layout_to="interleaved")
>>> moved["layers.0.q_proj.weight"].ravel(), moved["layers.0.k_proj.weight"].ravel()
(array([0, 2, 1, 3, 4, 6, 5, 7]), array([0, 2, 1, 3]))
>>> moved["layers.0.v_proj.weight"] is state["layers.0.v_proj.weight"]
True
"""

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from rope_lab.algebra.arguments import WIDEST, Layout, expect_even, expect_layout, expect_one_of, expect_whole, shown
from rope_lab.algebra.layouts import projection_permutation
from rope_lab.errors import checking_arguments

CONFIGURATION = "take it from the model's configuration"
ARGUMENT, PRINTED = "half", "half-split"  # the two names of a layout: as an argument, and in what the audit prints

PARTS = ("q_proj", "k_proj")
STACKED, BY_HEAD, BY_GROUP, GATE, LATENT = FORMS = ("stacked", "by_head", "by_group", "query_gate", "latent")
FUSED = set("qkv_proj query_key_value linear_qkv Wqkv wqkv qkv to_qkv attn_qkv W_pack att_proj".split())  # noqa: SIM905
FUSED |= {"c_attn", "in_proj_weight", "in_proj_bias"}
OF_LATENT = {"q_b_proj": "q", "q_proj": "q", "kv_a_proj_with_mqa": "k"}
STAY_IN_LATENT = {"q_a_proj", "q_a_layernorm", "kv_a_layernorm", "kv_b_proj"}

# What stands below a projection, by the first word behind its name.
ROWS = {"weight", "bias", "lora_B", "lora_magnitude_vector", "ia3_l", "vera_lambda_b", "weight_v", "original1"}
SCALES = {"weight_scale", "weight_scale_inv", "scale", "scales", "weight_zero_point", "zero_point", "zeros", "biases"}
SCALES |= {"SCB", "weight_format", "weight_g", "original0"}
INPUTS = {"lora_A", "lora_a", "input_scale", "input_zero_point", "pre_quant_scale", "vera_lambda_d", "_extra_state"}
INPUTS |= {"layer_norm_weight", "layer_norm_bias"}
PACKED = ("qweight", "qzeros", "g_idx", "weight_packed", "absmax", "quant_", "nested_")

# What stands beside it, by the parts of its words.
Q, K, NORMS = {"q", "query", "queries"}, {"k", "key", "keys"}, {"norm", "norms", "ln", "layernorm", "rmsnorm"}
FILL = NORMS | {"attn", "layer", "rms", "head", "weight", "bias", "scale", "gain", "gamma", "beta", "g"}
OUT = {"v", "value", "values", "o", "out", "output", "dense", "wv", "wo", "proj", "c", "gate", "sub", "sinks", "rotary"}
OTHERS = re.compile("vision|visual|image|audio|speech|video|clip|vit")


# --- one projection -------------------------------------------------------------------------------------------------


def layout_argument(name: Any) -> Layout:
    """The layout as the package's functions take it, from either name. Raises ValueError if it is neither layout.

    >>> [layout_argument(name) for name in ("half", "half-split", "interleaved")]
    ['half', 'half', 'interleaved']
    """
    return expect_layout(ARGUMENT if isinstance(name, str) and name == PRINTED else name)


def printed_layout(name: Any) -> Any:
    """The layout as a fingerprint prints it, from either name; anything else comes back as it is.

    >>> [printed_layout(name) for name in ("half", "half-split", "other")]
    ['half-split', 'half-split', 'other']
    """
    return PRINTED if name == ARGUMENT else name


@checking_arguments()
def permute_rotary(
    weight: Any,
    *,
    n_heads: int,
    layout_from: str,
    layout_to: str,
    rotary_dim: int | None = None,
    rotary_start: int = 0,
    axis: int = 0,
) -> Any:
    r"""Reorder a projection, so that a model with the layout ``layout_to`` computes what it did with ``layout_from``.

    $W' = P W$ and $b' = P b$ with one permutation P in each head, for q and for k. Then
    $(\mathcal R'_m P q)^\top (\mathcal R'_n P k) = (\mathcal R_m q)^\top (\mathcal R_n k)$: no logit changes.
    Exchange layout_from and layout_to for the exact inverse. Where the values turn as well, permute the rows of W_v
    in the same way, and the columns of W_o with ``axis=1``.

    Args:
        weight: A numpy array or torch tensor as torch.nn.Linear keeps it, (n_heads * head_dim, width), or a bias
            (n_heads * head_dim,). A list is read as an array.
        n_heads: The heads of this projection. With grouped queries k has fewer than q.
        layout_from: "interleaved" or "half"; "half-split", as `fingerprint` prints it, means "half".
        layout_to: The layout of the model that will run, named in the same way.
        rotary_dim: How many coordinates of a head turn. Default: all of them from rotary_start on.
        rotary_start: The first coordinate of a head that turns: 0, unless the part that turns stands in the middle or
            last. `fingerprint` shows it as the first number of its ``pairs``.
        axis: The axis of weight along which the heads lie, 0 for rows and 1 for columns.

    Returns:
        A new array of the same type, dtype and shape: the same numbers in another order.

    Raises:
        TypeError: If weight is not an array, or a size is not a whole number.
        ValueError: If the sizes do not fit each other, or a layout is unknown.

    Claims:
        `blog.same-effects`, `unsaid.layouts`

    >>> there = permute_rotary([1, 2, 3, 4], n_heads=1, layout_from="half", layout_to="interleaved")
    >>> there, permute_rotary(there, n_heads=1, layout_from="interleaved", layout_to="half")
    (array([1, 3, 2, 4]), array([1, 2, 3, 4]))
    """
    layouts = layout_argument(layout_from), layout_argument(layout_to)
    n_heads = expect_whole(n_heads, name="n_heads", least=1, limit=WIDEST, fix=CONFIGURATION)
    weight = np.asarray(weight) if isinstance(weight, (list, tuple)) else weight
    if not hasattr(weight, "shape") or not hasattr(weight, "dtype"):
        raise TypeError(f"weight: expected a numpy array or a torch tensor, got {type(weight).__name__}; give .weight")
    if not -len(weight.shape) <= axis < len(weight.shape):
        raise ValueError(f"axis: expected an axis of {tuple(weight.shape)}, got {axis}; 0 are the rows, 1 the columns")
    size = weight.shape[axis]
    if size % n_heads:
        raise ValueError(
            f"weight: expected n_heads * head_dim = {n_heads} * head_dim entries along axis {axis}, got {size}; "
            "with grouped queries the keys have fewer heads (num_key_value_heads)"
        )
    one = _head_order(size // n_heads, rotary_start, rotary_dim, layouts)
    return _taken(weight, (len(one) * np.arange(n_heads)[:, None] + one).ravel(), axis % len(weight.shape))


def _head_order(head_dim: int, start: Any, width: int | None, layouts: tuple[Layout, Layout]) -> np.ndarray:
    """The old index of each coordinate of a head."""
    first = expect_whole(start, name="rotary_start", least=0, fix=CONFIGURATION)
    if width is None:
        width = expect_even(head_dim - first, name="head_dim - rotary_start" if first else "head_dim")
    width = expect_even(width, name="rotary_dim")
    if first + width > head_dim:
        raise ValueError(
            f"expected rotary_start + rotary_dim <= head_dim, got rotary_start={first}, "
            f"rotary_dim={width}, head_dim={head_dim}; take them from the model's configuration"
        )
    one = np.arange(head_dim)
    if layouts[0] != layouts[1]:
        one[first : first + width] = first + projection_permutation(1, width, to=layouts[1])
    return one


def _taken(value: Any, order: np.ndarray, axis: int) -> Any:
    try:
        return value[(slice(None),) * axis + (order,)]
    except Exception as error:  # of a sparse, nested or packed tensor, and of whatever else has a shape
        raise TypeError(
            f"expected a dense array, got {type(value).__name__} whose entries have no order ({error!s:.60}...); give "
            "it .to_dense(), or dequantise it"
        ) from error


# --- a whole state --------------------------------------------------------------------------------------------------


@checking_arguments()
def permute_state(
    state: Mapping[str, Any],
    *,
    n_heads: int,
    n_kv_heads: int | None = None,
    layout_from: str,
    layout_to: str,
    rotary_dim: int | None = None,
    rotary_start: int = 0,
    parts: Sequence[str] | None = None,
    fused: str | None = None,
    within: str | Sequence[str] | None = None,
    leave: str | Sequence[str] = (),
) -> dict[str, Any]:
    r"""`permute_rotary` for every query and key projection of a model, with all that belongs to their rows.

    That are biases, norms on q and k under any name, the factor ``lora_B`` and the magnitudes of adapters, and scales
    of quantised rows. After it the model must run a rotation in layout_to; then it computes the logits that it computed
    before. What lies beside q and k, may belong to them and is not understood is refused by its name.

    Args:
        state: Names and arrays, as ``model.state_dict()`` or a safetensors file gives them.
        n_heads: The heads of q.
        n_kv_heads: The heads of k with grouped queries. Default: n_heads.
        layout_from: "interleaved" or "half" ("half-split" means the same).
        layout_to: The layout of the rotation that will run.
        rotary_dim: How many coordinates of a head turn. Default: all of them from rotary_start on.
        rotary_start: The first coordinate of a head that turns.
        parts: What the projections are called: ("q_proj", "k_proj"), or the one of a fused projection. Two further
            names are the norms on q and k.
        fused: What one projection holds. "stacked": [q of all heads, k, v] (Phi-3); "by_head": [q k v] for each head
            (GPT-NeoX); "by_group": the queries of a group, its k, its v (Megatron, Falcon 40B, InternLM2);
            "query_gate": q_proj has a query and a gate for each head (Qwen3-Next, Qwen3.5); "latent": MLA, where the
            last rotary_dim rows of each head of q_b_proj turn, and the last of kv_a_proj_with_mqa.
        within: The beginning of the names that may move, one or several, where a state has several models.
        leave: Names, or words of names, that stay.

    Returns:
        A dict with the same names. What moves is a new array of the same dtype, everything else is the same object.

    Raises:
        ArgumentError: If no name fits, if a layer has one of the two projections only, if sizes do not fit n_heads and
            n_kv_heads, if two models in the state could be meant, or if there are weights that have to be merged or
            dequantised before, or names that are not understood. It is a ValueError; and a TypeError too if an entry
            that should move is not an array, or a size is not a whole number.

    Claims:
        `blog.same-effects`
    """
    if not isinstance(state, Mapping):
        raise TypeError(
            f"state: expected a dictionary of names and arrays, got {shown(state)}; give model.state_dict()"
        )
    how = _how(n_heads, n_kv_heads, (layout_from, layout_to), (rotary_start, rotary_dim), parts, fused)
    layers = _meant(_layers(state, _names(state, within, leave), how), every=within is not None)
    moved = {name: _below(layer, name, state[name]) for layer in layers for name in layer.own}
    moved |= {name: _beside(layer, name, state[name]) for layer in layers for name in layer.beside}
    return {name: moved.get(name, value) for name, value in state.items()}


@dataclass(frozen=True)
class _How:
    heads: dict[str, int]  # of "q" and "k"
    layouts: tuple[Layout, Layout]
    start: int
    width: int | None
    fused: str | None
    roles: dict[str, str]  # of the names of projections: "q", "k", or "qkv"
    norms: dict[str, str]

    def pieces(self, role: str) -> str:
        """One letter for each head's width of rows: t turns, - stays."""
        q, k = self.heads["q"], self.heads["k"]
        if role == "qkv":
            stacked, group = "t" * (q + k) + "-" * k, "t" * (q // k) + "t-"
            return stacked if self.fused == STACKED else group * k  # by head is a group with one query
        if role == "k":
            return "t" if self.fused == LATENT else "t" * k
        return ("t-" if self.fused == GATE else "t") * q

    def order(self, pieces: str, rows: int) -> np.ndarray:
        """The old index of each row."""
        wide = rows // len(pieces)
        one = _head_order(wide, self.first(wide), self.width, self.layouts)
        return np.concatenate([i * wide + (one if piece == "t" else np.arange(wide)) for i, piece in enumerate(pieces)])

    def first(self, wide: int) -> int:
        return max(wide - (self.width or 0), 0) if self.fused == LATENT else self.start

    def call(self, name: str, n_heads: int, wide: int, *, axis: int = 0, width: int | None = None) -> str:
        """The call of `permute_rotary` for one tensor."""
        given = {"rotary_start": self.first(wide), "rotary_dim": self.width or width, "axis": axis}
        more = "".join(f", {key}={value}" for key, value in given.items() if value)
        layouts = f"layout_from={self.layouts[0]!r}, layout_to={self.layouts[1]!r}"
        return f"permute_rotary(state[{name!r}], n_heads={n_heads}, {layouts}{more})"


def _how(n_heads: Any, n_kv_heads: Any, layouts: Any, turning: Any, parts: Any, fused: Any) -> _How:
    q = expect_whole(n_heads, name="n_heads", least=1, limit=WIDEST, fix=CONFIGURATION)
    k = (
        q
        if n_kv_heads is None
        else expect_whole(n_kv_heads, name="n_kv_heads", least=1, limit=WIDEST, fix=CONFIGURATION)
    )
    if fused is not None:
        expect_one_of(fused, FORMS, name="fused", fix="or leave it out where q and k have projections of their own")
    if (fused == BY_HEAD and q != k) or (fused == BY_GROUP and q % k):
        wanted = "as many as" if fused == BY_HEAD else "a divisor of"
        raise ValueError(
            f'n_kv_heads: expected {wanted} n_heads = {q} for fused="{fused}", got {k}; fewer keys than queries go '
            '"by_group" or "stacked"'
        )
    if fused == LATENT and turning[1] is None:
        raise ValueError('rotary_dim: expected qk_rope_head_dim for fused="latent", got none; ' + CONFIGURATION)
    one = fused in (STACKED, BY_HEAD, BY_GROUP)
    roles = OF_LATENT if fused == LATENT else dict(zip(PARTS, "qk", strict=True))
    roles = roles | dict.fromkeys(FUSED, "qkv") if one else roles
    norms = {}
    if parts is not None:
        few, parts = 1 if one else 2, expect_texts(parts, name="parts")
        if len(parts) not in (few, few + 2):
            wanted = "one name, of q, k and v" if one else f"two names, of q and k, such as {PARTS}"
            raise ValueError(f"parts: expected {wanted}, and perhaps those of the norms on q and k, got {shown(parts)}")
        roles = dict(zip(parts[:few], ("qkv",) if one else "qk", strict=True))
        norms = dict(zip(parts[few:], "qk", strict=False))
    first = expect_whole(turning[0], name="rotary_start", least=0, fix=CONFIGURATION)
    width = None if turning[1] is None else expect_even(turning[1], name="rotary_dim")
    known = layout_argument(layouts[0]), layout_argument(layouts[1])
    return _How({"q": q, "k": k}, known, first, width, fused, roles, norms)


def expect_texts(given: Any, *, name: str) -> tuple[str, ...]:
    """One text or several."""
    several = (given,) if isinstance(given, str) else given
    if not isinstance(several, Sequence | Set) or not all(isinstance(each, str) for each in several):
        raise TypeError(f"{name}: expected a name or a list of names, got {shown(given)}; give texts")
    return tuple(several)


def _names(state: Mapping[str, Any], within: Any, leave: Any) -> dict[str, tuple[str, ...]]:
    """The names that may move, each with its words."""
    split = {name: tuple(re.split("[./]", str(name))) for name in state}
    within = None if within is None else expect_texts(within, name="within")
    leave = expect_texts(leave, name="leave")

    def has(words: tuple[str, ...], part: str) -> bool:
        return f".{re.sub('/', '.', part).strip('.')}." in f".{'.'.join(words)}."

    lost = [part for part in within or () if not any(str(name).startswith(part) for name in state)]
    lost += [part for part in leave if not any(has(words, part) for words in split.values())]
    if lost:
        raise ValueError(
            f"within, leave: expected how names in the state begin, and words of names, got {lost[0]!r}; they are such "
            f"as {list(state)[:4]}"
        )
    inside = (name for name in state if within is None or str(name).startswith(within))
    return {name: split[name] for name in inside if not any(has(split[name], part) for part in leave)}


# --- its layers -----------------------------------------------------------------------------------------------------


class _Layer:
    """All that has one name up to its projections of q and k."""

    def __init__(self, words: tuple[str, ...], how: _How) -> None:
        self.words, self.how = words, how
        self.own: dict[str, tuple[str, tuple[str, ...]]] = {}  # by name: the role, and the words behind the projection
        self.beside: dict[str, tuple[str, ...]] = {}
        self.rows: dict[str, tuple[int, str, int]] = {}  # by role: how sure we are (0: of weights), a name, the rows
        self.unsaid = ""  # a projection for q, k and v, where nobody said how it is ordered
        # The part of the state that it belongs to: what stands before the first number.
        first = next((i for i, word in enumerate(words) if re.fullmatch(r"(\D*_)?\d+", word)), len(words) - 1)
        self.model = ".".join(words[: max(first, 0)])

    def wide(self, role: str) -> int:
        """The head_dim that the rows of a projection and the number of heads give; 0 where they give none."""
        role = role if role in self.rows else next(iter(self.rows))
        wide, rest = divmod(self.rows[role][2], len(self.how.pieces(role)))
        return 0 if rest or wide < self.how.start + (self.how.width or 2) else wide

    @property
    def fits(self) -> bool:
        found = {self.wide(role) for role in self.rows}
        return 0 not in found and (len(found) == 1 or (self.how.fused == LATENT and bool(found)))

    def check(self, *, differ: bool) -> None:
        """Raise ValueError if something is missing, or if sizes are not those of the given numbers of heads."""
        how, rows = self.how, {role: found[2] for role, found in self.rows.items()}
        if self.unsaid:
            raise ValueError(f"state: expected projections of q and k, got {self.unsaid!r}; {HOW_FUSED}")
        weights = [role for role, found in self.rows.items() if not found[0]]
        if weights in (["q"], ["k"]):
            name = self.rows[weights[0]][1]
            raise ValueError(
                f"state: expected projections of q and k in each layer, got {name!r} without that of "
                f"{'k' if weights == ['q'] else 'q'} in {'.'.join(self.words)!r}; say with parts= what they are "
                "called, join the files of a model that is kept in several, or leave it and "
                + how.call(name, how.heads[weights[0]], self.wide(weights[0]))
            )
        if self.fits:
            return
        wanted = self.wide("q")
        role = next((each for each in rows if wanted and self.wide(each) != wanted), next(iter(rows)))
        name, count = self.rows[role][1], len(how.pieces(role))
        ways = ["give n_heads and n_kv_heads from the model's configuration (num_attention_heads, num_key_value_heads)"]
        if differ:
            ways.append("where layers differ, call it for those of each kind, with within= and their numbers of heads")
        if wanted and not how.fused and not differ and 2 * self.wide("k") == wanted:
            q = how.call(self.rows["q"][1], how.heads["q"], wanted, width=wanted // 2)
            ways.append(f'if q_proj has a query and a gate for each head (Qwen3-Next), fused="query_gate", or {q}')
        elif wanted and not how.fused and not rows[role] % wanted:
            ways.append(f"leave it and {how.call(name, rows[role] // wanted, wanted)}")
        heads = f"{count} heads of {wanted}" if wanted else f"{count} heads of one even width"
        raise ValueError(f"state: expected {heads} in {name}, got {rows[role]} rows; {'; or '.join(ways)}")


HOW_FUSED = (
    'say how one projection for q, k and v is ordered: fused="stacked" ([q of all heads, k, v]: Phi-3), "by_head" '
    '([q k v] for each head: GPT-NeoX), "by_group" (the queries of a group, its k, its v: Megatron); or split it'
)


def _layers(state: Mapping[str, Any], split: dict[str, tuple[str, ...]], how: _How) -> list[_Layer]:
    found: dict[tuple[str, ...], _Layer] = {}
    for name, words in split.items():
        at = next((i for i, word in enumerate(words) if word in how.roles or word in FUSED), None)
        if at is None:
            continue
        layer = found.setdefault(words[:at], _Layer(words[:at], how))
        if words[at] not in how.roles:
            layer.unsaid = name
            continue
        role = how.roles[words[at]]
        layer.own[name] = role, words[at + 1 :]
        if size := _rows(name, words[at + 1 :], state[name], how.heads[role[0]]):
            layer.rows[role] = min(size, layer.rows.get(role, size), key=lambda each: each[0])
    for name, words in split.items():
        at = next((end for end in range(len(words), -1, -1) if words[:end] in found), None)
        if at is not None and found[words[:at]].rows and name not in found[words[:at]].own:
            found[words[:at]].beside[name] = words[at:]
        elif at is None and _parts(words[-2:]) & NORMS and _parts(words[-2:]) & (Q | K):  # a norm beside the attention
            for layer in (each for each in found.values() if each.words[:-1] in (words[:-1], words[:-2]) and each.rows):
                layer.beside[name] = words[len(layer.words) - 1 :]
    latent = next((name for name, words in split.items() if "kv_a_proj_with_mqa" in words), "")
    latent = "" if how.fused == LATENT else latent
    if not latent and any(layer.rows for layer in found.values()):
        return list(found.values())
    wanted = " and ".join(repr(name) for name in list(how.roles)[:2])
    if latent:
        told = f'{latent!r}, as MLA has; say fused="latent" and rotary_dim=qk_rope_head_dim'
    elif fused := next((layer.unsaid for layer in found.values() if layer.unsaid), None):
        told = f"{fused!r} of shape {_shape(state[fused])}; {HOW_FUSED}"
    else:
        told = f"{list(split)[:4]}; say what they are called, such as parts=('attn_q', 'attn_k')"
    raise ValueError(f"state: expected names with {wanted}, got {told}")


def _meant(layers: list[_Layer], *, every: bool) -> list[_Layer]:
    """The layers of the one model in the state that is meant."""
    models: dict[str, list[_Layer]] = {}
    for layer in layers:
        models.setdefault(layer.model, []).append(layer)
    fit = [name for name, inside in models.items() if any(layer.fits for layer in inside)]
    if not every and len(models) > 1:
        if len(fit) != 1 or [name for name in models if not OTHERS.search(name.lower())] != fit:
            told = "; ".join(f"{f'{name}.'!r} with {_told(inside[0])}" for name, inside in models.items())
            one = next(iter(fit or models))
            raise ValueError(
                f"state: expected one model with q and k, got {len(models)}: {told}; say which of them turns in the "
                f"new layout, such as within={f'{one}.'!r}, several in a tuple, or what stays, such as leave=({one!r},)"
            )
        layers = models[fit[0]]
    for layer in layers:
        layer.check(differ=any(other.fits for other in layers))
    return layers


def _told(layer: _Layer) -> str:
    rows = ", ".join(f"{found[2]} rows of {role}" for role, found in layer.rows.items())
    heads = f"heads of {layer.wide('q')}" if layer.fits else f"not heads of one width for {layer.how.heads}"
    return f"{rows} ({heads})" if rows else layer.unsaid


# --- what belongs to a projection -----------------------------------------------------------------------------------


def _kind(rest: tuple[str, ...]) -> str:
    """The kind of a tensor below a projection, in a word."""
    rest = rest[1:] if rest[:1] in (("base_layer",), ("linear",)) else rest  # wrapped
    first = rest[-1] if rest[:1] == ("parametrizations",) else (rest or ("weight",))[0]
    if any(word.startswith(PACKED) for word in rest):
        return "packed"
    if first in INPUTS:
        return "input"
    if rest in (("kernel",), ("lora_b",)):
        return "columns"
    if first in SCALES:
        return "scale"
    plain = first in ROWS and (len(rest) < 2 or first not in ("weight", "bias"))
    return "rows" if plain or rest == ("lora_b", "weight") else "unknown"


def _rows(name: str, rest: tuple[str, ...], value: Any, heads: int) -> tuple[int, str, int] | None:
    """The number of rows of a projection, as one of its tensors says, and how sure: first weights, then adapters."""
    kind, shape = _kind(rest), _shape(value)
    if kind == "packed":
        raise ValueError(
            f"state: expected a row for each coordinate, got {name!r} of packed numbers; dequantise the model first, "
            "permute, and quantise again"
        )
    if kind not in ("rows", "columns"):
        return None
    if not shape:
        got = f"{type(value).__name__}{' without an axis' * hasattr(value, 'dtype')}"
        raise TypeError(f"state: expected a dense numpy array or torch tensor in {name}, got {got}")
    text, shape = ".".join(rest), shape[::-1] if kind == "columns" else shape
    sure = 1 if "lora_" in text else 2 if "bias" in text else 0
    split = len(shape) > 2 or (sure == 2 and len(shape) == 2)  # heads have an axis of their own
    return sure, name, shape[0] * shape[1] if split and heads in shape[:2] else shape[0]


def _below(layer: _Layer, name: str, value: Any) -> Any:
    """A tensor that belongs to a projection of q or k, in the new order."""
    (role, rest), how, shape = layer.own[name], layer.how, _shape(value)
    kind, pieces, rows = _kind(rest), how.pieces(role), layer.rows.get(role, (0, "", 0))[2]
    if kind == "unknown" or not rows:
        inside = ".".join(re.split("[./]", str(name))[len(layer.words) :])
        raise ValueError(
            f"state: expected weights, biases, lora_A and lora_B, or scales of a projection, got {name!r} of shape "
            f"{shape}; merge adapters into the weights, or leave it with leave=({inside!r},)"
        )
    if kind == "input" or prod(shape) == 1:
        return value
    order, wide = how.order(pieces, rows), rows // len(pieces)
    if kind == "scale" and rows not in (shape[0], shape[-1]):  # of blocks: they stay if each keeps its rows
        block = 128 if -(-rows // 128) == shape[0] else rows // shape[0]
        if rows <= block * shape[0] < rows + block and (order // block == np.arange(rows) // block).all():
            return value
        raise ValueError(
            f"state: expected a scale for each of {rows} rows, or for blocks that hold whole heads, got {name!r} of "
            f"shape {shape}; dequantise the model first, permute, and quantise again"
        )
    axis = len(shape) - 1 if kind == "columns" or (kind == "scale" and shape[0] != rows) else 0
    if shape[axis] == rows:
        return _taken(value, order, axis)
    heads = slice(-2, None) if axis else slice(2)
    if shape[heads] == (len(pieces), wide):  # an axis of their own
        flat = value.reshape((*shape[:-2], rows) if axis else (rows, *shape[2:]))
        return _taken(flat, order, len(shape) - 2 if axis else 0).reshape(shape)
    raise ValueError(
        f"state: expected {rows} {'columns' if axis else 'rows'} in {name}, as in {layer.rows[role][1]}, got shape "
        f"{shape}; transpose it, or leave it and {how.call(name, len(pieces), wide, axis=0 if axis else 1)}"
    )


# --- what lies beside -----------------------------------------------------------------------------------------------


def _parts(words: tuple[str, ...]) -> set[str]:
    """The parts of names: q_layernorm, qLayerNorm and wq are made of q and something."""
    found = set()
    for part in re.findall("[a-z]+", re.sub("(?<=[a-z])(?=[A-Z])", "_", ".".join(words)).lower()):
        split = re.fullmatch("(w|ln|norm)?(q|k|qk|kv|qkv)(norm|ln|layernorm|rmsnorm)?", part)
        found |= {each for each in (split[1], *split[2], split[3]) if each} if split else {part}
    return found


def _beside(layer: _Layer, name: str, value: Any) -> Any:
    """A tensor of an attention that is none of its projections: norms of q and k move, what is not theirs stays."""
    rest, how, shape = layer.beside[name], layer.how, _shape(value)
    parts, dims = _parts(rest), [size for size in shape if size != 1]
    given = next((how.norms[word] for word in rest if word in how.norms), None)
    about = next((found for word in rest[::-1] if (found := _parts((word,)) & (Q | K))), set())  # the innermost name
    role = given or ("q" if about & Q else "k" if about else "")
    heads, wide = how.heads[role or "q"], layer.wide(role or "q")
    of_rows = given or (parts & NORMS and parts <= Q | K | FILL) or re.fullmatch("(q|k|query|key)_bias", rest[-1])
    for_both = not given and about & Q and about & K and how.heads["q"] != how.heads["k"]
    if not dims or (how.fused == LATENT and rest[0] in STAY_IN_LATENT):
        return value
    if role and of_rows and dims in ([wide], *([] if for_both else ([heads * wide], [heads, wide]))):
        order = how.order("t" * (prod(dims) // wide), prod(dims))
        return _taken(value.reshape(-1), order, 0).reshape(shape)
    if not role:
        counts = how.heads.values()
        long = dims in ([wide], *([n * wide] for n in counts), *([n, wide] for n in counts))
        if not long or parts & OUT or not layer.words or layer.words[-1].isdigit():  # a block holds more than attention
            return value
    elif not of_rows and dims in ([how.heads["q"]], [how.heads["k"]]) and dims != [wide]:  # a number for each head
        return value
    call = how.call(name, 1 if wide in dims else heads, wide, axis=len(shape) - 1 if wide in dims else 0)
    raise ValueError(
        f"state: expected norms of q and k of {wide}, {heads} * {wide} or ({heads}, {wide}) beside "
        f"{next(iter(layer.own))!r}, got {name!r} of shape {shape}; if it does not belong to q or k, leave it with "
        f"leave=({rest[0]!r},); if it does, leave it and {call}"
    )


def _shape(value: Any) -> tuple[int, ...]:
    try:
        return tuple(getattr(value, "shape", ()))
    except RuntimeError:  # a nested tensor has a shape for each part
        return ()
