r"""What turns inside a model: the rotation of each layer, read off its queries and keys where they meet.

Each layer gets the same input at every position. Then the query at position t + n is $\mathcal R_n$ times the query
at position t, for every token and head: $\mathcal R_n$ is fitted, and its fingerprint taken. No function is called
by name, so the answer is about what the model uses.

Which Python function turns is the innermost one that gets the same vector at two positions and returns another. Every
call inside a layer is followed by the interpreter's own profiler, until the layer's queries and keys have met: what
ends later only carries on what has turned.

The families of the installed transformers, a tiny model of each, are probed as one dated table.
"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import count
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from rope_lab.algebra.hf_schedules import RopeSettings
from rope_lab.audit.constructions import rule_of, scaled
from rope_lab.audit.fingerprints import Fingerprint, near_fingerprint
from rope_lab.audit.foreign_code import TargetError, guarded
from rope_lab.audit.shift_runs import LENGTHS, Run, Runner, expect_finite, movement, window_of
from rope_lab.audit.tiny_models import LIMIT, Row, ask_families, shipped, tiny_model

FLOOR = 1e-8  # in float64: what moves by less stands still
ROUNDED = 1e-6  # what tables that are stored in float32 may miss by
OF_QUERIES_AND_KEYS = ("q_", "k_", "kv_", "query", "key", "qk")  # in names of norms no narrower than the stream
WIDEST = 512  # of a head: wider ones need more tokens than are run


@dataclass(frozen=True)
class LayerProbe:
    """What turns in one layer."""

    queries: Fingerprint | None  # None where nothing turns, or nothing could be read: see problem
    keys: Fingerprint | None
    values: bool  # values move with the position
    functions: tuple[str, ...]  # module:name of what turned
    norms_before: tuple[str, ...]  # norms inside the attention that get what has not turned
    norms_after: tuple[str, ...]  # and that get what has turned: the fingerprint is taken without them
    problem: str = ""
    met: bool = True  # queries and keys were seen to meet; else nothing is said about a rotation

    @property
    def turns(self) -> bool:
        """Whether queries or keys turn."""
        return any(seen is not None and bool(seen.pairs) for seen in (self.queries, self.keys))

    @property
    def ok(self) -> bool:
        """Whether everything was read, and no fault was seen: queries and keys turn alike, and lengths stay."""
        seen = [f for f in (self.queries, self.keys) if f is not None]
        return not self.problem and all(f.ok for f in seen) and self.agree

    @property
    def agree(self) -> bool:
        """Whether queries and keys turn in the same way."""
        if self.queries is None or self.keys is None:
            return self.queries is self.keys
        return _same(self.queries, self.keys)

    @property
    def words(self) -> tuple[str, ...]:
        """The answer, line by line."""
        if self.problem:
            return (f"not read: {self.problem}",)
        if not self.met:
            return ("no queries and keys were seen to meet",)
        lines = []
        if self.agree:
            lines.append(_words(self.queries))
        else:
            lines += [f"queries: {_words(self.queries)}", f"keys: {_words(self.keys)}"]
        lines += ["values move with the position"] if self.values else []
        lines += [f"by {name}" for name in self.functions]
        lines += [f"norm before the turn: {', '.join(self.norms_before)}"] if self.norms_before and self.turns else []
        lines += [f"norm after the turn: {', '.join(self.norms_after)}"] if self.norms_after else []
        both = [f for f in (self.queries, self.keys) if f is not None]
        lines += [f"problem: {text}" for text in dict.fromkeys(p for f in both for p in f.problems)]
        return tuple(lines)


@dataclass(frozen=True)
class ModelProbe:
    """What turns in each layer of a model. ``str()`` gives the layers that share an answer together."""

    model: str
    layers: tuple[LayerProbe, ...]

    @property
    def ok(self) -> bool:
        """Whether every layer was read, and no fault was seen."""
        return all(layer.ok for layer in self.layers)

    @property
    def still(self) -> tuple[int, ...]:
        """The layers in which queries and keys meet, and nothing turns."""
        return tuple(i for i, layer in enumerate(self.layers) if layer.met and not layer.turns and not layer.problem)

    @property
    def groups(self) -> dict[tuple[str, ...], list[int]]:
        """The numbers of the layers that share an answer, under its words."""
        groups: dict[tuple[str, ...], list[int]] = {}
        for i, layer in enumerate(self.layers):
            groups.setdefault(layer.words, []).append(i)
        return groups

    @property
    def row(self) -> dict[str, Any]:
        """For a table, as plain values."""
        layers = [asdict(layer) | {"words": layer.words} for layer in self.layers]
        return {"model": self.model, "ok": self.ok, "still": list(self.still), "layers": layers}

    def __str__(self) -> str:
        lines = [self.model]
        for words, members in self.groups.items():
            name = f"layer{'s' if len(members) > 1 else ''} {ranges(members)}"
            lines += [f"{name}: {words[0]}", *(f"  {line}" for line in words[1:])]
        return "\n".join(lines)


def model_probe(model: Any, *, name: str | None = None, seed: int = 0) -> ModelProbe:
    """Read off queries and keys which rotation each layer of a model applies, where in the head, and by which function.

    The model runs in float64 at many positions, on random inputs of each layer. Positions end where its configuration
    ends the context of its training.

    Args:
        model: A loaded model of transformers that takes ``position_ids``, or one of ours, which takes ``offset``. A
            copy of it is asked.
        name: What the report is called. Default: the model's class.
        seed: Of tokens and inputs.

    Returns:
        A `ModelProbe`: print it, or read ``layers`` and ``still``.

    Raises:
        TypeError: If model is no torch module.
        TargetError: If the model takes no positions, has no layers to watch, or cannot be called.
    """
    for length in (None, LENGTHS[-1]):  # a layer that compresses a long text reads a short one as it is
        ask = Runner(model, wide=True, seed=seed, length=length)
        base = ask(0)
        expect_finite(base)
        if any(base.attended.values()):
            break
    if not any(base.attended.values()):
        raise TargetError("no queries and keys were seen to meet: this model may have no attention of the usual form")
    width = max(q.shape[-1] for pairs in base.attended.values() for q, _ in pairs)
    if width > WIDEST:
        raise TargetError(f"a head of {width} is too wide to be probed; expected at most {WIDEST}")
    rows = -(-2 * width // ask.length)
    generator = torch.Generator().manual_seed(seed)
    inputs = [torch.randn(rows, *x.shape[1:], generator=generator, dtype=x.dtype).to(x.device) for x in base.inputs]
    given = Run(inputs=inputs)
    functions = _functions(ask, base)
    before, after = _norms(ask, base)
    runs: dict[int, Run] = {}
    window = window_of(model)

    def run(n: int) -> Run:
        if n + ask.length > window:
            raise TargetError(f"position {n} is beyond the context of the training")
        if n not in runs:
            with ExitStack() as stack:
                for i, names in after.items():
                    for part in names:
                        module = ask.layers[i].get_submodule(part)
                        stack.callback(module.register_forward_hook(lambda _, args, __: args[0]).remove)
                runs[n] = ask(*[n] * rows, given=given, row=None)
        return runs[n]

    layers = []
    for i in range(len(ask.layers)):
        parts = functions.get(i, ()), before.get(i, ()), after.get(i, ())
        if not base.attended.get(i):
            layers.append(LayerProbe(None, None, False, (), (), (), met=False))
            continue
        try:
            with guarded(f"reading layer {i}"):
                q, k = (_read(run, i, which, _settings(model, i)) for which in (0, 1))
                v = any(movement(*pair) > FLOOR for pair in _values(run, i))
            layers.append(LayerProbe(q, k, v, *parts))
        except TargetError as why:
            layers.append(LayerProbe(None, None, False, *parts, problem=str(why)))
    return ModelProbe(name or type(model).__name__, tuple(layers))


def _values(run: Any, layer: int) -> Iterator[tuple[Tensor, Tensor]]:
    return zip(run(0).values.get(layer, []), run(1).values.get(layer, []), strict=False)


def _read(run: Any, layer: int, which: int, settings: RopeSettings | None) -> Fingerprint | None:
    """The fingerprint of what carries queries or keys from position 0 to position n; None where nothing moves."""
    pairs = run(0).attended.get(layer, [])
    moves = [movement(a[which], b[which]) for a, b in zip(pairs, run(1).attended.get(layer, []), strict=False)]
    if not moves or max(moves) <= FLOOR:
        return None
    at = int(np.argmax(moves))
    x = _flat(pairs[at][which])

    def f(v: np.ndarray, n: Any) -> np.ndarray:
        whole = np.asarray(n)
        if not np.array_equal(whole, np.round(whole)):
            raise ValueError("positions of tokens are whole")
        maps = np.stack([_map(x, _flat(run(int(m)).attended[layer][at][which])) for m in whole])
        return np.einsum("tij,...tj->...ti", maps, v)

    _map(x, _flat(run(1).attended[layer][at][which]))  # its refusal is the layer's
    found = near_fingerprint(f, head_dim=x.shape[1], settings=settings, factor=False)
    if settings is not None and settings.schedule.attention_factor != 1:
        found = replace(found, scheme=f"{found.scheme}; its attention factor was not asked")
    return found


def _settings(model: Any, layer: int) -> RopeSettings | None:
    """The schedule that the configuration names for a layer, if it names one."""
    config: Any = getattr(model, "config", None)
    config = config.get_text_config() if hasattr(config, "get_text_config") else config
    kinds = getattr(config, "layer_types", None) or ()
    return scaled(rule_of(config, kinds[layer] if layer < len(kinds) else None)[0])


def _flat(x: Tensor) -> np.ndarray:
    return x.reshape(-1, x.shape[-1]).cpu().numpy()


def _map(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The matrix with y = M x for all rows: the one nearest to the identity where rows leave it open."""
    step, *_ = np.linalg.lstsq(x, y - x, rcond=1e-10)
    missed = np.abs(x @ step + x - y).max() / np.abs(y).max()
    if missed > ROUNDED:
        raise TargetError("no one matrix carries its vectors to the next position, the same for all heads and tokens")
    matrix = np.eye(x.shape[1]) + step.T
    return np.where(np.abs(matrix) < max(1e-11, 10 * missed), 0.0, matrix)  # what tables in float32 leave is no turn


def _functions(ask: Runner, base: Run) -> dict[int, tuple[str, ...]]:
    calls = []
    for n in (0, 1):
        with followed(ask) as ended:
            ask(n, given=base)
        calls.append(ended)
    return turning_names(*calls, floor=FLOOR, length=ask.length)


def _norms(ask: Runner, base: Run) -> tuple[dict[int, tuple[str, ...]], dict[int, tuple[str, ...]]]:
    """The norms inside the attention of each layer that come before its queries meet keys: by what enters them."""
    entered: dict[tuple[int, str], list[Tensor]] = {}

    def note(i: int, name: str) -> Any:
        def hook(_: nn.Module, args: Any, output: Any) -> None:
            if ask.met:  # what comes later is no norm of queries or keys
                return
            same = args and isinstance(args[0], Tensor) and isinstance(output, Tensor) and args[0].shape == output.shape
            narrow = same and args[0].shape[-1] < base.inputs[i].shape[-1]  # a head's, or a latent's
            if narrow or (same and any(part in name for part in OF_QUERIES_AND_KEYS)):
                entered.setdefault((i, name), []).append(args[0].clone())

        return hook

    with ExitStack() as stack:
        for i, layer in enumerate(ask.layers):
            for name, module in layer.named_modules():
                own = name.rpartition(".")[2] + type(module).__name__
                if "." in name and "norm" in own.lower() and not list(module.children()):
                    stack.callback(module.register_forward_hook(note(i, name)).remove)
        for n in (0, 1):
            ask(n, given=base)
    before: dict[int, tuple[str, ...]] = {}
    after: dict[int, tuple[str, ...]] = {}
    for (i, name), xs in entered.items():
        half = len(xs) // 2
        moves = any(movement(*pair) > FLOOR for pair in zip(xs[:half], xs[half:], strict=False))
        side = after if moves else before
        side[i] = (*side.get(i, ()), name)
    return before, after


def _same(a: Fingerprint, b: Fingerprint) -> bool:
    return (a.pairs, a.direction) == (b.pairs, b.direction) and np.allclose(a.frequencies, b.frequencies, rtol=1e-4)


def _words(seen: Fingerprint | None) -> str:
    if seen is None:
        return "no rotation"
    if not seen.pairs:
        return "no rotation, but lengths move" if seen.layout == "none" else f"layout {seen.layout}"
    turned = sorted(i for pair in seen.pairs for i in pair)
    where = "" if len(turned) == seen.head_dim else f", coordinates {ranges(turned)}"
    base = f"base {seen.base:.6g}" if seen.base else seen.scheme
    if seen.base and seen.scheme != "one base":
        base += f" ({seen.scheme})"
    direction = {1: "counter-clockwise", -1: "clockwise", 0: "both ways"}[seen.direction]
    return f"{seen.layout}, {seen.rotated_dims} of {seen.head_dim}{where}, {direction}, {base}"


def ranges(numbers: list[int]) -> str:
    """Whole numbers in order, runs as first-last.

    >>> ranges([0, 1, 2, 4])
    '0-2, 4'
    """
    runs: list[list[int]] = []
    for n in numbers:
        if runs and n == runs[-1][-1] + 1:
            runs[-1].append(n)
        else:
            runs.append([n])
    return ", ".join(str(r[0]) if len(r) == 1 else f"{r[0]}-{r[-1]}" for r in runs)


HALVES = ", which puts even coordinates before odd ones"
ORDERS = {"same": "", "halves": HALVES, "another": ", which puts coordinates in another order"}
PASSING = ("torch", "beartype", "jaxtyping")  # their frames carry what others turn


@dataclass
class Call:
    """One call of a Python function inside a layer; the calls are numbered as they begin."""

    name: str  # module:name
    layer: int
    number: int
    given: list[Tensor]
    returned: list[Tensor]


@contextmanager
def followed(ask: Runner) -> Iterator[list[Call]]:
    """The calls that ended inside a layer before its queries met keys, in the order in which they ended."""
    ended: list[Call] = []
    stack: list[Call | None] = []
    numbers = count()

    def profile(frame: Any, event: str, arg: Any) -> None:
        if event == "call":
            stack.append(_begun(frame, ask.now[0], next(numbers), ask.length))
        elif event == "return" and stack:
            call = stack.pop()
            if call is not None and not ask.met and (returned := _tensors([arg], ask.length)):
                call.returned = returned
                ended.append(call)

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        yield ended
    finally:
        sys.setprofile(before)


def turning_names(old: list[Call], new: list[Call], *, floor: float, length: int) -> dict[int, tuple[str, ...]]:
    """The functions of each layer that turned what stood still before them, from two runs at two positions.

    A function that gives a vector back in another order, also where it does not turn it, is named as such. Its
    fingerprint is that of the order in which it writes; weights are stored for the order that it reads.
    """
    found: dict[int, list[str]] = {}
    turned: list[int] = []
    for a, b in zip(old, new, strict=False):
        if a.name != b.name or not _turned(a, b, floor):
            continue
        if any(number > a.number for number in turned):  # it began before one that ended before it: it stands around it
            continue
        turned.append(a.number)
        names = found.setdefault(a.layer, [])
        name = a.name + ORDERS[_order(a, length)]
        if name not in names:
            names.append(name)
    return {layer: tuple(names) for layer, names in found.items()}


def _turned(a: Call, b: Call, floor: float) -> bool:
    """A tensor came back moved, and one of its shape was given that had not moved."""
    moved = {x.shape for x, y in zip(a.returned, b.returned, strict=False) if movement(x, y) > floor}
    still = {x.shape for x, y in zip(a.given, b.given, strict=False) if movement(x, y) <= floor}
    moving = {x.shape for x, y in zip(a.given, b.given, strict=False) if movement(x, y) > floor}
    return any(s in still or (s not in moving and s.numel() in {t.numel() for t in still}) for s in moved)


def _order(call: Call, length: int) -> str:
    """At position 0, where nothing turns, the same numbers come back: in which order?"""
    for y in call.returned:
        for x in call.given:
            if x.shape == y.shape and x.shape[-2] == length:
                first, last = x[..., 0, :], y[..., 0, :]
                same = torch.allclose(first.sort(-1).values, last.sort(-1).values, rtol=0, atol=1e-9)
                if same and not torch.allclose(first, last, rtol=0, atol=1e-9):
                    halves = torch.cat([first[..., ::2], first[..., 1::2]], -1)
                    return "halves" if torch.allclose(halves, last, rtol=0, atol=1e-9) else "another"
    return "same"


def _begun(frame: Any, layer: int, number: int, length: int) -> Call | None:
    module = frame.f_globals.get("__name__") or ""
    code = frame.f_code
    written = module and not code.co_filename.startswith("<")  # in a file, not made by a decorator
    if layer < 0 or not written or module.partition(".")[0] in PASSING or module.startswith("rope_lab.audit"):
        return None
    values = [frame.f_locals.get(name) for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]]
    return Call(f"{module}:{code.co_qualname}", layer, number, _tensors(values, length), [])


def _tensors(values: list[Any], length: int) -> list[Tensor]:
    """The floating-point tensors among these, and in tuples among these, as they are now."""
    flat = [x for value in values for x in (value if isinstance(value, tuple | list) else (value,))]
    return [x.clone() for x in flat if isinstance(x, Tensor) and x.is_floating_point() and length in x.shape]


KEPT = ("layout", "rotated_dims", "head_dim", "direction", "base", "scheme")


def probe_all(families: Sequence[str] | None = None, *, limit: float = LIMIT, **options: Any) -> dict[str, Any]:
    """Probe a tiny model of each family.

    Args:
        families: Their names. Default: all of the installed transformers that have a causal model.
        limit: Seconds that one may take.
        **options: ``rows``, answers of before, and ``told``, called after each one: see `ask_families`.

    Returns:
        The date, the versions, and ``rows``: for each family what turns in which layers, or why it was skipped.

    Raises:
        MissingPackageError: If transformers is not installed.
    """
    return ask_families(_of_family, families, limit=limit, **options)


def _of_family(name: str) -> Row:
    with guarded("probing it"):
        return _row(tiny_model(name), name=name)


def _row(model: Any, *, name: str) -> Row:
    with guarded("probing it"):
        return probe_row(model_probe(model, name=name))


def probe_row(seen: ModelProbe) -> Row:
    """A probe as a row of the table: layers that share an answer stand together, with the words that are printed.

    Args:
        seen: What `model_probe` found.

    Returns:
        A dict that can be written as JSON. Where no layer could be read, ``skipped`` says why.
    """
    if seen.layers and all(layer.problem for layer in seen.layers):
        return {"model": seen.model, "skipped": f"no layer was read: {seen.layers[0].problem}"}
    answers = [_answer(seen.layers[members[0]], members) for members in seen.groups.values()]
    return {"model": seen.model, "skipped": None, "ok": seen.ok, "layers": len(seen.layers), "answers": answers}


def _answer(layer: LayerProbe, members: list[int]) -> dict[str, Any]:
    found: dict[str, Any] = {"layers": members, "words": list(layer.words), "problem": layer.problem, "met": layer.met}
    found |= {"queries": _kept(layer.queries), "keys": _kept(layer.keys), "agree": layer.agree, "values": layer.values}
    return found | {
        "functions": list(layer.functions),
        "halves": any(name.endswith(HALVES) for name in layer.functions),  # it reads neighbours and writes halves
        "norms_before": list(layer.norms_before),
        "norms_after": list(layer.norms_after),
    }


def _kept(seen: Fingerprint | None) -> dict[str, Any] | None:
    if seen is None:
        return None
    turning = ranges(sorted(i for pair in seen.pairs for i in pair))
    found = {name: getattr(seen, name) for name in KEPT}
    return found | {"base": seen.base and float(f"{seen.base:.7g}"), "coordinates": turning}


def probe_results() -> dict[str, Any]:
    """The table as it is shipped: what `rope-lab audit --model all --probe` last read. transformers need not be there.

    >>> sorted(probe_results())
    ['date', 'python', 'rows', 'torch', 'transformers']
    """
    return shipped("probe_results.json")
