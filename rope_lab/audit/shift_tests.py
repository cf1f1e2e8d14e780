"""Is a model relative? Its tokens are moved to other positions; what changes, in which layer, and why.

Each cause is decided by an experiment, not by a name.

| cause | experiment |
|---|---|
| position 0 apart | counted from position 1 the layer stays |
| rounding | in float64 throughout the movement is gone |
| dynamic scaling | a second row, far out, changes the answer for the first |
| norm after the turn | without this one module the layer stays |
| length temperature | keys keep their lengths, and one factor for each query brings the scores back |
| values turn | the scores stay, and the layer's answer moves |
| queries and keys turn differently | q with q and k with k stay, q with k moves |
| lengths change | a query or key gets longer or shorter on its way |

Two questions to the installed transformers end the file: which families are relative, as one dated table; and which
schedules make a text depend on its neighbours, on the past, or on its place.
"""

import copy
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from html import escape
from typing import Any

import torch
from torch import Tensor, nn

from rope_lab.algebra.arguments import expect_whole
from rope_lab.audit.foreign_code import TargetError
from rope_lab.audit.shift_runs import Run, Runner, expect_finite, movement, window_of
from rope_lab.audit.tiny_models import LIMIT, Row, ask_families, head, shipped, tiny_model

ROUNDING = "rounding, coarser than the type of the weights"
START = "position 0 is told apart"
ABSOLUTE = "absolute positions added"
DYNAMIC = "dynamic scaling"
NORM = "norm after the turn"
TEMPERATURE = "length temperature"
VALUES = "values turn, and nothing turns them back"
DIFFERENT = "queries and keys turn differently"
LENGTHS = "lengths of queries or keys change with the position"
UNKNOWN = "no known cause fits"
LONG = ", in a text of "
BY_DESIGN = (
    START,
    ABSOLUTE,
    DYNAMIC,
    NORM,
    TEMPERATURE,
)  # what models are built with; they lose relativity all the same

SHIFTS = (1, 16, 256, 4096)
STORED = 16  # the same for tables that are stored rounded
MARGIN = 64  # how far above the noise a movement counts
FARTHEST = 10**10  # beyond it the noise of an angle in float64 is as large as what is looked for


@dataclass(frozen=True)
class LayerShift:
    """What one layer did by itself: it got the same input at every shift."""

    layer: int  # -1: what is added before the first
    moved: float  # in float64, as a share of its largest entry, at the worst shift
    floor: float  # noise in float64: the movement in the model's own precision, carried over, or that of an angle
    rounding: float  # movement in the model's own precision
    turns: bool  # queries or keys move with the shift
    causes: tuple[str, ...] = ()

    @property
    def relative(self) -> bool:
        """Whether the output of the layer stays, apart from noise."""
        return self.moved <= self.floor

    @property
    def by_design(self) -> bool:
        """Whether the output of the layer moves only for reasons that models are built with."""
        return all(cause.startswith(BY_DESIGN) for cause in self.causes)


@dataclass(frozen=True)
class ShiftReport:
    """Where a model is relative, and where and why not."""

    model: str
    dtype: str
    shifts: tuple[int, ...]
    refused: str  # why larger shifts could not be asked, or nothing
    layers: tuple[LayerShift, ...]
    logits: float  # movement of the logits, in float64
    logits_rounding: float  # and in the model's own precision
    tokens: tuple[int, ...] = ()  # of the texts: of each shift, and of the one that was asked once
    unasked: str = ""  # which rows of a text were not
    steps: str = ""  # where a shift moves nothing: what unequal steps between the tokens do

    @property
    def lost(self) -> tuple[LayerShift, ...]:
        """The layers that see more than differences of positions."""
        return tuple(layer for layer in self.layers if not layer.relative)

    @property
    def relative(self) -> bool:
        """Whether no layer moves, apart from rounding."""
        return not self.lost

    @property
    def turns(self) -> bool:
        """Whether a shift moves a query or key."""
        return any(layer.turns for layer in self.layers)

    @property
    def ok(self) -> bool:
        """Whether the model is relative, or is not so by design."""
        return all(layer.by_design for layer in self.layers)

    @property
    def causes(self) -> tuple[str, ...]:
        """All causes, each once: what a short text shows in one layer is not told again of a long text in another."""
        found = dict.fromkeys(cause for layer in self.layers for cause in layer.causes)
        return tuple(c for c in found if LONG not in c or c.partition(LONG)[0] not in found)

    @property
    def verdict(self) -> str:
        """One line."""
        if self.lost:
            first = self.lost[0].layer
            where = "before the first layer" if first < 0 else f"in layer {first}"
            return f"not relative: lost {where}; {', '.join(self.causes)}"
        if not self.turns and self.logits_rounding == 0:
            return f"nothing moves: a shift of all positions changes no query, no key and no logit{self.steps}"
        what = "relative" if self.turns else "relative, but no query or key was seen to turn"
        what = f"{what} but for {', '.join(self.causes)}" if self.causes else what
        return f"{what}; rounding to {self.dtype} moves the logits by {self.logits_rounding:.1e}"

    @property
    def row(self) -> dict[str, Any]:
        """For a table, as plain values."""
        return {
            "model": self.model,
            "verdict": self.verdict,
            "relative": self.relative,
            "turns": self.turns,
            "causes": list(self.causes),
            "shifts": list(self.shifts),
            "logits": self.logits,
            "rounding": self.logits_rounding,
            "layers": [asdict(layer) for layer in self.layers],
        }

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (
                "before" if layer.layer < 0 else f"layer {layer.layer}",
                "stays" if layer.relative else "MOVES",
                f"{layer.moved:.1e}",
                f"{layer.floor:.1e}",
                f"{layer.rounding:.1e}",
                ", ".join(layer.causes) or ("turns" if layer.turns else ""),
            )
            for layer in self.layers
        ]

    def __str__(self) -> str:
        shifts = ", ".join(map(str, self.shifts))
        more = f", and once of {self.tokens[1]}" if self.tokens[1:] else ""
        top = f"{self.model}\nmoved by       {shifts}\n" + (f"not asked      {self.refused}\n" if self.refused else "")
        top += f"a text of      {self.tokens[0]} tokens{more}\n" if self.tokens else ""
        top += f"not asked      {self.unasked}\n" if self.unasked else ""
        rows = [("", "", "float64", "noise", self.dtype, ""), *self._rows()]
        lines = "\n".join(f"{a:<9} {b:<6} {c:>9} {d:>9} {e:>9}  {f}".rstrip() for a, b, c, d, e, f in rows)
        return f"{top}{lines}\n{'logits':<16} {self.logits:>9.1e} {'':>9} {self.logits_rounding:>9.1e}\n{self.verdict}"

    def _repr_html_(self) -> str:
        names = ("where", "", "float64", "noise", self.dtype, "what")
        titles = "".join(f'<th scope="col">{escape(name)}</th>' for name in names)
        body = "".join("<tr>" + "".join(f"<td>{escape(x)}</td>" for x in row) + "</tr>" for row in self._rows())
        title = escape(f"{self.model}: {self.verdict}")
        return f"<table><caption>{title}</caption><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>"


def shift_test(
    model: Any,
    *,
    shifts: Sequence[int] | None = None,
    name: str | None = None,
    seed: int = 0,
    window: int | None = None,
) -> ShiftReport:
    """Move all positions of a causal model together: hidden states and logits stay if it is relative.

    Each layer is asked by itself: it gets the same input at every shift, so that a layer is not blamed for an earlier
    one. The noise is measured: the same calls in the model's own precision move by rounding alone where they do not
    move in float64, and their movement times the ratio of both precisions is what rounding can do in float64. An angle
    at the largest shift is not known better than to the shift times the precision; that counts as noise too.

    Args:
        model: A loaded model of transformers that takes ``position_ids``, or one of ours, which takes ``offset``. Two
            copies are made of it, one in float64.
        shifts: Positive whole numbers. Default: 1, 16, 256, 4096, and the longest context of the configuration. Those
            that the model refuses are left out, and the report says so. Each is asked of up to 131 tokens, and one of
            up to 1031 where the window has room; the report says of how many.
        name: What the report is called. Default: the model's class.
        seed: Of the tokens.
        window: The farthest default shift. Default: the longest context of the configuration, else none beyond 4096.

    Returns:
        A `ShiftReport`: print it, or read ``lost``, ``causes`` and ``verdict``.

    Raises:
        TypeError: If model is no torch module, or a shift not a whole number.
        ValueError: If a shift is not positive or beyond what float64 can tell, or none is given.
        TargetError: If the model takes no positions, has no layers to watch, cannot be called, or answers NaN.
    """
    asked = _shifts(model, shifts, window)
    expect_whole(seed, name="seed", least=0)
    own, wide = Runner(model, wide=False, seed=seed), Runner(model, wide=True, seed=seed)
    bases = own(0), wide(0)
    for base in bases:
        expect_finite(base)
    done, refused, seen = [], "", []
    for shift in asked:
        try:
            seen.append([(ask(shift), ask(shift, given=base)) for ask, base in zip((own, wide), bases, strict=True)])
        except TargetError as reason:
            refused = refused or f"{shift}: {reason}"
        else:
            done.append(shift)
    if not done:
        raise TargetError(f"no shift could be asked; {refused}")
    parameter = next(model.parameters())
    ratio = torch.finfo(torch.float64).eps / torch.finfo(parameter.dtype).eps

    def coarse(layer: int) -> bool:
        """Whether a layer that stays in float64 moves in its own precision by more than an angle's rounding there."""
        eps = torch.finfo(parameter.dtype).eps
        moves = [_moved(bases[0], both[0], layer) for both in seen]
        return any(moved > MARGIN * eps * shift for moved, shift in zip(moves, done, strict=True))

    def worst(of: Any) -> tuple[float, float, int]:
        """Movement in both precisions, and the shift that moves most in float64."""
        moves = [[of(base, runs) for base, runs in zip(bases, both, strict=True)] for both in seen]
        at = max(range(len(done)), key=lambda i: moves[i][1])
        return max(m[0] for m in moves), moves[at][1], done[at]

    layers = []
    for i in range(-1, len(own.layers)):
        narrow, moved, shift = worst(lambda base, runs, i=i: _moved(base, runs, i))
        floor = MARGIN * max(ratio * narrow, torch.finfo(torch.float64).eps * done[-1])
        turns = i >= 0 and any(_turned(bases[1], both[1][1], i) > floor for both in seen)
        causes: tuple[str, ...] = ()
        if i >= 0 and moved > floor:  # tables that were rounded when they were stored stay so in float64
            eps = torch.finfo(parameter.dtype).eps
            floor = max(floor, STORED * wide.stored_noise(shift, given=bases[1], eps=eps)[i])
        if moved > floor:
            causes = (ABSOLUTE,) if i < 0 else causes_of(wide, bases[1], layer=i, shift=shift, floor=floor)
        elif coarse(i):
            causes = (ROUNDING,)
        layers.append(LayerShift(i, moved, floor, narrow, turns, causes))
    layers, tokens, unasked = _in_a_long_text(wide, layers, done, eps=torch.finfo(parameter.dtype).eps)
    rounding, logits, _ = worst(lambda base, runs: movement(base.logits, runs[0].logits))
    dtype = str(parameter.dtype).removeprefix("torch.")
    what = name or type(model).__name__
    still = rounding == 0 and not any(layer.turns for layer in layers)
    steps = _steps(wide, bases[1]) if still else ""
    return ShiftReport(what, dtype, tuple(done), refused, tuple(layers), logits, rounding, tokens, unasked, steps)


def _steps(ask: Runner, base: Run) -> str:
    """The end of the verdict where a shift moves nothing: do unequal steps? Nothing where they cannot be asked."""
    apart = copy.copy(ask)
    apart.gap = 1
    try:
        seen = apart(0, given=base)
    except TargetError:
        return ""
    layers = range(len(ask.layers))
    if movement(base.inputs[0], seen.inputs[0]) or any(_turned(base, seen, i) for i in layers):
        return "; unequal steps between the tokens do: as if places are counted from the first of the call"
    if any(_moved(base, (seen, seen), i) for i in layers):
        return "; unequal steps between the tokens change layers, as distances do that are added to scores"
    return "; nor do unequal steps between the tokens"


def _in_a_long_text(
    ask: Runner, layers: list[LayerShift], shifts: Sequence[int], *, eps: float
) -> tuple[list[LayerShift], tuple[int, ...], str]:
    """The layers with what the rows of a long text add, how many tokens were asked, and which rows were not.

    The shift is about the largest that stays in the window: tables end, and rows far out may be another matter.
    """
    short, far = (ask.length,), ask.longer()
    if far is None:
        return layers, short, f"rows of a text beyond {ask.length}: its window is {window_of(ask.model)}"
    shift = max((s for s in shifts if s + far.length <= window_of(ask.model)), default=shifts[0])
    shift = max(1, shift - 1)  # odd: what is rounded in pairs or blocks stays at an even one
    try:
        base = far(0)
        moved = far(shift, given=base)
    except TargetError as reason:
        return layers, short, f"rows of a text beyond {ask.length}: {reason}"
    found = []
    for layer in layers:
        i, off = layer.layer, _moved(base, (moved, moved), layer.layer)
        floor = max(layer.floor, MARGIN * torch.finfo(torch.float64).eps * (shift + far.length))
        if layer.relative and i >= 0 and off > floor:
            floor = max(floor, STORED * far.stored_noise(shift, given=base, eps=eps)[i])
        if layer.relative and i >= 0 and off > floor:
            change = (moved.outputs[i] - base.outputs[i]).abs().transpose(0, 1).flatten(1).amax(1)  # streams, too
            row = int((change > floor * base.outputs[i].abs().max()).nonzero()[0])
            causes = causes_of(far, base, layer=i, shift=shift, floor=floor)
            where = f"{LONG}{far.length} tokens from row {row} on"
            found.append(replace(layer, moved=off, floor=floor, causes=tuple(f"{c}{where}" for c in causes)))
        else:
            found.append(layer)
    return found, (*short, far.length), f"rows of a text beyond {far.length}"


def _moved(base: Run, runs: tuple[Run, Run], layer: int) -> float:
    """The movement of the layer by itself; before the first layer, of the stream that enters it."""
    free, forced = runs
    if layer < 0:
        return movement(base.inputs[0], free.inputs[0])
    return movement(base.outputs[layer], forced.outputs[layer])


def _turned(base: Run, forced: Run, layer: int) -> float:
    pairs = zip(base.attended.get(layer, []), forced.attended.get(layer, []), strict=False)
    return max((movement(old[i], new[i]) for old, new in pairs for i in (0, 1)), default=0.0)


def _shifts(model: Any, shifts: Sequence[int] | None, window: int | None) -> tuple[int, ...]:
    """The shifts to ask, in order."""
    if window is not None:
        expect_whole(window, name="window", least=1)
    if shifts is None:
        said = getattr(getattr(model, "config", None), "max_position_embeddings", None)
        shifts = (*SHIFTS, said) if isinstance(said, int) and said > 0 else SHIFTS
        shifts = shifts if window is None else (*(shift for shift in SHIFTS if shift < window), window)
    listed = isinstance(shifts, Iterable) and not isinstance(shifts, str)
    if not listed or any(isinstance(s, bool) or not isinstance(s, int) for s in shifts):
        raise TypeError(f"shifts: expected a list of whole numbers, got {shifts!r}; such as (1, 16, 256)")
    found = tuple(sorted(set(shifts)))
    if not found or found[0] < 1:
        raise ValueError(f"shifts: expected positive whole numbers, got {tuple(shifts)}; such as (1, 16, 256)")
    if found[-1] > FARTHEST:
        raise ValueError(f"shifts: expected at most {FARTHEST}, where float64 still knows an angle, got {found[-1]}")
    return found


def causes_of(ask: Runner, base: Run, *, layer: int, shift: int, floor: float) -> tuple[str, ...]:
    """The causes that fit one layer, which got the input of ``base`` and moved by more than ``floor``."""
    found = [DYNAMIC] if _neighbour(ask, base, layer=layer, shift=shift, floor=floor) else []
    first, moved = ask(1, given=base), ask(shift, given=base)
    if movement(first.outputs[layer], ask(shift + 1, given=base).outputs[layer]) <= floor:
        found.append(START)
    name = _bypassed(ask, base, layer=layer, shift=shift, floor=floor)
    found += [f"{NORM} ({name})"] if name else []
    return tuple(found) or (_scores(base.attended.get(layer, []), moved.attended.get(layer, []), floor),)


def _neighbour(ask: Runner, base: Run, *, layer: int, shift: int, floor: float) -> bool:
    """Whether the first row answers otherwise because the second stands far out."""
    try:
        near, far = ask(0, 0, given=base), ask(0, shift, given=base)
    except TargetError:
        return False
    return movement(near.outputs[layer], far.outputs[layer]) > floor


def _bypassed(ask: Runner, base: Run, *, layer: int, shift: int, floor: float) -> str | None:
    """The modules without which the layer stays, by name: those that get what has turned, and keep its shape."""
    turned: dict[str, list[Tensor]] = {}

    def note(name: str) -> Any:
        def hook(_: nn.Module, args: Any, output: Any) -> None:
            if args and isinstance(args[0], Tensor) and isinstance(output, Tensor) and args[0].shape == output.shape:
                turned.setdefault(name, []).append(args[0])

        return hook

    modules = {n: m for n, m in ask.layers[layer].named_modules() if n and not list(m.children())}
    modules = {n: m for n, m in modules.items() if not isinstance(m, nn.Linear)}
    hooks = [m.register_forward_hook(note(n)) for n, m in modules.items()]
    ask(0, given=base)
    ask(shift, given=base)
    for hook in hooks:
        hook.remove()
    halves = {n: (xs[: len(xs) // 2], xs[len(xs) // 2 :]) for n, xs in turned.items()}  # before the shift, and after
    after = [n for n, both in halves.items() if any(movement(*xs) > floor for xs in zip(*both, strict=False))]
    for names in _groups(after):
        hooks = [modules[n].register_forward_hook(lambda _, args, __: args[0]) for n in names]
        stays = movement(ask(0, given=base).outputs[layer], ask(shift, given=base).outputs[layer]) <= floor
        for hook in hooks:
            hook.remove()
        if stays:
            return ", ".join(names)
    return None


def _groups(names: list[str]) -> Iterator[tuple[str, ...]]:
    """Each module alone, then each pair: queries and keys have norms of their own."""
    yield from ((name,) for name in names)
    yield from ((a, b) for i, a in enumerate(names) for b in names[i + 1 :])


def _scores(before: list[tuple[Tensor, Tensor]], after: list[tuple[Tensor, Tensor]], floor: float) -> str:
    """The cause that the queries and keys of one layer show."""
    if not before or len(before) != len(after):
        return UNKNOWN
    pairs = list(zip(before, after, strict=True))
    scores = [(_product(*old).tril(), _product(*new).tril()) for old, new in pairs]
    if all(movement(*s) <= floor for s in scores):
        return VALUES
    q, k = (max(movement(old[i].norm(dim=-1), new[i].norm(dim=-1)) for old, new in pairs) for i in (0, 1))
    if k <= floor and all(_factored(*s) <= floor for s in scores):
        return TEMPERATURE
    if max(q, k) > floor:
        return LENGTHS
    alone = max(movement(_product(old[i], old[i]), _product(new[i], new[i])) for old, new in pairs for i in (0, 1))
    return DIFFERENT if alone <= floor else UNKNOWN


def _product(q: Tensor, k: Tensor) -> Tensor:
    """q k^T, each head of keys for its queries."""
    if q.ndim == k.ndim == 4 and q.shape[1] != k.shape[1]:
        k = k.repeat_interleave(q.shape[1] // k.shape[1], 1)
    return q @ k.transpose(-1, -2)


def _factored(before: Tensor, after: Tensor) -> float:
    """The movement that is left when each query may have one factor, the same for all heads."""
    axes = tuple(i for i in range(before.ndim) if i != before.ndim - 2)
    factor = (before * after).sum(axes, keepdim=True) / before.square().sum(axes, keepdim=True)
    return movement(before * factor, torch.as_tensor(after))


def shift_all(families: Sequence[str] | None = None, *, limit: float = LIMIT, **options: Any) -> dict[str, Any]:
    """Move a tiny model of each family.

    Args:
        families: Their names. Default: all of the installed transformers that have a causal model.
        limit: Seconds that one may take.
        **options: ``rows``, answers of before, and ``told``, called after each one: see `ask_families`.

    Returns:
        The date, the versions, and ``rows``: for each family its verdict, or why it was skipped.

    Raises:
        MissingPackageError: If transformers is not installed.
    """
    return ask_families(lambda name: _row(tiny_model(name), name=name), families, limit=limit, **options)


def _row(model: Any, *, name: str) -> Row:
    seen = shift_test(model, name=name)
    row = seen.row
    return {
        "model": name,
        "skipped": None,
        "relative": row["relative"],
        "turns": row["turns"],
        "causes": row["causes"],
        "lost": [layer.layer for layer in seen.lost],
        "layers": len(seen.layers) - 1,
        "shifts": row["shifts"],
        "logits": float(f"{row['logits']:.1e}"),
        "rounding": float(f"{row['rounding']:.1e}"),
    }


def shift_results() -> dict[str, Any]:
    """The table as it is shipped: what `rope-lab audit --model all` last measured. transformers need not be installed.

    >>> sorted(shift_results())
    ['date', 'python', 'rows', 'torch', 'transformers']
    """
    return shipped("shift_results.json")


def shift_lines(table: dict[str, Any]) -> list[list[str]]:
    """The rows of such a table in words: family, what a shift changes, where, and why.

    Args:
        table: What `shift_all` or `shift_results` returned.

    Returns:
        Four strings for each row; of a skipped one the second is the reason, and two are empty.
    """
    found = []
    for row in table["rows"]:
        if row["skipped"]:
            found.append([row["model"], f"not asked: {row['skipped']}", "", ""])
            continue
        if not row["relative"]:
            words = f"moves the logits by {row['logits']:.1e}"
        elif not row["turns"] and not row["rounding"]:
            words = "nothing moves"
        else:
            words = f"rounding alone, {row['rounding']:.1e}"
        where = ", ".join("before the first" if i < 0 else str(i) for i in row["lost"])
        found.append([row["model"], words, where, ", ".join(row["causes"])])
    return found


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


def length_dependence(*, stored: bool = False) -> dict[str, Any]:
    """The movement of a short text's logits in a tiny Llama of the installed transformers, under each schedule.

    The model has two layers, random weights in float64 and a window of 32; the short text has 20 tokens, the long one
    60. After a long one a text of 40 is read, too, longer than the window, and the larger change counts.

    Args:
        stored: Give the table that is shipped. It is given as well where transformers is absent, or older than 5.

    Returns:
        The date, the versions, and under "rows" for each schedule the largest change of a logit: beside a long text in
        one batch, after a long text, and with all positions moved by 1000.

    >>> seen = length_dependence(stored=True)
    >>> seen["rows"]["linear"][0] < 1e-9 < seen["rows"]["dynamic"][0]
    True
    """
    try:
        from transformers import __version__ as installed
    except ImportError:
        installed = "0"
    if stored or int(installed.partition(".")[0]) < 5:
        return shipped("length_dependence.json")
    return head() | {"rows": {name: _changes(name, settings) for name, settings in SCHEDULES.items()}}


def _changes(name: str, settings: dict[str, Any]) -> list[float]:
    draw = torch.Generator().manual_seed(1)
    short, long = (torch.randint(64, (1, n), generator=draw) for n in (20, 60))
    padded = torch.cat((short, torch.zeros(1, 40, dtype=torch.long)), 1)
    middle = torch.cat((short, long), 1)[:, :40]  # longer than the window, and shorter than the long text
    kept = []
    at = torch.arange(20)[None]
    with torch.no_grad():
        alone = _model(name, settings)(short).logits[0]
        beside = _model(name, settings)(torch.cat((padded, long))).logits[0, :20]
        for text in (short, middle):  # a list by length may forget the one and not the other
            model = _model(name, settings)
            kept.append([model(each).logits for each in (text, long, text)][::2])
        here, there = (_model(name, settings)(short, position_ids=at + k).logits for k in (0, 1000))
    asked = [(beside, alone)], kept, [(there, here)]
    return [float(f"{max((a - b).abs().max() for a, b in pairs):.1e}") for pairs in asked]


def _model(name: str, settings: dict[str, Any]) -> Any:
    """A Llama with the same weights each time, and with a schedule that has not read anything yet."""
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
