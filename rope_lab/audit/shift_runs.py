"""A causal model, run with its tokens moved to other positions, and watched layer by layer.

Two runs of one call differ in precision alone: as the model is, and in float64 throughout, where each request of its
code for another floating-point type is answered with float64.
"""

import contextlib
import copy
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from rope_lab.audit.foreign_code import TargetError, guarded, parameters_of

# The tokens of a text: prime numbers, and so no width of a head, so that scores are told from values by their shape.
# The longest is beyond the tiles of most kernels; a model whose window is short is asked with fewer.
LENGTHS = (131, 67, 31, 11)
LONG = (1031, 521, 257, 131)  # of one more text, which is asked once
WINDOWS = ("original_max_position_embeddings", "max_position_embeddings", "n_positions", "n_ctx", "max_seq_len")
NARROW = (torch.float32, torch.float16, torch.bfloat16)
CASTS = {Tensor.float: Tensor.double, Tensor.half: Tensor.double, Tensor.bfloat16: Tensor.double}
PRODUCTS = (torch.matmul, Tensor.matmul, Tensor.__matmul__)


@dataclass
class Run:
    """What one call showed: of each layer input, output, and the pairs of queries and keys that met in it."""

    inputs: list[Tensor] = field(default_factory=list)
    outputs: list[Tensor] = field(default_factory=list)
    attended: dict[int, list[tuple[Tensor, Tensor]]] = field(default_factory=dict)
    values: dict[int, list[Tensor]] = field(default_factory=dict)
    logits: Tensor = field(default_factory=lambda: torch.zeros(0))


class Watched(TorchFunctionMode):
    """Notes queries and keys where they meet, and the values; with ``wide`` every narrow type becomes float64."""

    def __init__(self, *, wide: bool, length: int, attended: Any, valued: Any) -> None:
        super().__init__()
        self.wide, self.length, self.attended, self.valued = wide, length, attended, valued

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if self.wide:
            func = CASTS.get(func, func)
            if torch.dtype in map(type, args):  # most calls name none, and there are thousands in a run
                args = tuple(_wide(a) for a in args)
            if kwargs:
                kwargs = {name: _wide(value) for name, value in kwargs.items()}
        if func is torch.nn.functional.scaled_dot_product_attention:
            names = enumerate(("query", "key", "value"))
            q, k, v = (kwargs.get(n, args[i] if i < len(args) else None) for i, n in names)
            self.attended(q, k)
            self.valued(v)
        elif func in PRODUCTS and len(args) == 2 and all(isinstance(a, Tensor) and a.ndim == 4 for a in args):
            a, b = args
            if a.shape[-2] == b.shape[-1] == self.length and a.shape[-1] == b.shape[-2] != self.length:
                self.attended(a, b.transpose(-1, -2))
            elif a.shape[-2] == a.shape[-1] == b.shape[-2] == self.length:
                self.valued(b)
        return func(*args, **kwargs)


def _wide(value: Any) -> Any:
    return torch.float64 if isinstance(value, torch.dtype) and value in NARROW else value


class Runner:
    """Calls of one model at chosen positions, with ``length`` tokens. It is not changed: a copy of it is asked."""

    gap = 0  # by how much the second half of the text stands farther from the first

    def __init__(self, model: Any, *, wide: bool, seed: int = 0, length: int | None = None) -> None:
        self.how = how_called(model)
        self.wide = wide
        self.length = length or next((n for n in LENGTHS if 4 * n <= window_of(model)), LENGTHS[-1])
        self.model = copy.deepcopy(model).eval()
        self.model = self.model.double() if wide else self.model
        self.layers = layers_of(self.model)
        self.now = [-1]  # the layer that runs
        self.met = False  # its queries and keys have met
        words = next(m.num_embeddings for m in self.model.modules() if isinstance(m, nn.Embedding))
        generator = torch.Generator().manual_seed(seed)
        device = next(self.model.parameters()).device
        self.tokens = torch.randint(min(4, words - 1), words, (1, self.length), generator=generator).to(device)

    def longer(self) -> "Runner | None":
        """Ask the same copy of the model with a longer text within its window; None if that is short."""
        length = next((n for n in LONG if 4 * n <= 3 * window_of(self.model) and n > self.length), None)
        if length is None:
            return None
        far = copy.copy(self)
        far.length, far.tokens = length, self.tokens.repeat(1, length // self.length + 1)[:, :length]
        return far

    @torch.no_grad()
    def __call__(self, *shifts: int, given: Run | None = None, row: int | None = 0) -> Run:
        """Run the tokens once for each shift, as rows of a batch; keep what ``row`` showed, or all rows.

        With ``given`` each layer gets the input that it had in that run, so that it answers for itself alone.
        """
        seen, now = Run(), self.now
        kept = slice(None) if row is None else slice(row, row + 1)

        def attended(q: Any, k: Any) -> None:
            if now[0] >= 0 and q.shape[-2] == self.length == k.shape[-2]:
                self.met = True
                seen.attended.setdefault(now[0], []).append((q[kept].clone(), k[kept].clone()))

        def valued(v: Any) -> None:
            if now[0] >= 0 and v.shape[-2] == self.length:
                seen.values.setdefault(now[0], []).append(v[kept].clone())

        def enter(i: int) -> Any:
            def hook(_: nn.Module, args: Any, kwargs: Any) -> Any:
                now[0], self.met = i, False
                x = args[0] if args else kwargs["hidden_states"]
                seen.inputs.append(x[kept].clone())
                if given is None:
                    return None
                new = given.inputs[i].expand(x.shape).clone()
                return ((new, *args[1:]), kwargs) if args else (args, kwargs | {"hidden_states": new})

            return hook

        def leave(_: nn.Module, __: Any, output: Any) -> None:
            now[0] = -1
            y = output[0] if isinstance(output, tuple | list) else output
            seen.outputs.append(y[kept].clone())

        with contextlib.ExitStack() as stack:
            for i, layer in enumerate(self.layers):
                stack.callback(layer.register_forward_pre_hook(enter(i), with_kwargs=True, prepend=True).remove)
                stack.callback(layer.register_forward_hook(leave).remove)
            stack.enter_context(_default_dtype(self.wide))
            stack.enter_context(guarded(f"the model, asked at position {max(shifts)},"))
            stack.enter_context(Watched(wide=self.wide, length=self.length, attended=attended, valued=valued))
            answer = self._ask(shifts)
        seen.logits = getattr(answer, "logits", answer)[kept]
        return seen

    def stored_noise(self, shift: int, *, given: Run, eps: float) -> list[float]:
        """The movement of each layer's answer when every stored table changes by its rounding and its angles'."""
        tables = [b for b in self.model.buffers() if b.is_floating_point()]
        kept = [b.clone() for b in tables]
        clean = self(shift, given=given)
        generator = torch.Generator().manual_seed(0)
        for table in tables:
            table.mul_(1 + eps * (2 * torch.rand(table.shape, generator=generator).to(table) - 1))
            if table.dim() > 1:  # a row for each position: an angle of so many radians, rounded before its cosine
                row = torch.arange(table.shape[-2]).to(table)[:, None]
                table.add_(eps * row * (2 * torch.rand(table.shape, generator=generator).to(table) - 1))
        other = self(shift, given=given)
        for table, old in zip(tables, kept, strict=True):
            table.copy_(old)
        return [movement(a, b) for a, b in zip(clean.outputs, other.outputs, strict=True)]

    def _ask(self, shifts: tuple[int, ...]) -> Any:
        tokens = self.tokens.expand(len(shifts), self.length)
        if self.how == "offset":
            if len(set(shifts)) > 1 or self.gap:
                raise TargetError("rows or tokens at chosen positions need position_ids; this model takes an offset")
            return self.model(tokens, offset=shifts[0])
        steps = torch.arange(self.length, device=tokens.device)
        steps += self.gap * (steps >= self.length // 2)
        positions = torch.tensor(shifts, device=tokens.device)[:, None] + steps
        options: dict[str, Any] = {
            "attention_mask": torch.ones_like(tokens)
        }  # without it a far row can pass for a packed text
        taken = parameters_of(self.model.forward)
        options |= {"use_cache": False} if "use_cache" in taken or "kwargs" in taken else {}
        return self.model(tokens, position_ids=positions, **options)


@contextlib.contextmanager
def _default_dtype(wide: bool) -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64 if wide else before)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def how_called(model: Any) -> str:
    """The argument that tells the model where its tokens stand: ``"position_ids"`` or ``"offset"``."""
    if not isinstance(model, nn.Module):
        raise TypeError(f"model: expected a torch module, got {type(model).__name__}; pass the loaded model itself")
    taken = parameters_of(model.forward)
    for name in ("position_ids", "offset"):
        if name in taken:
            return name
    raise TargetError(f"{type(model).__name__} takes no position_ids, so its tokens cannot be moved")


def window_of(model: Any) -> int:
    """Positions of the training, as the configuration says; else more than is asked."""
    config = getattr(model, "config", None)
    rules = getattr(config, "rope_parameters", None) or getattr(config, "rope_scaling", None)
    first = rules.get(WINDOWS[0]) if isinstance(rules, dict) else None
    found = [first, *(getattr(config, name, None) for name in WINDOWS), getattr(config, "seq_len", None)]
    return next((n for n in found if isinstance(n, int) and n > LENGTHS[-1]), 1 << 20)


def layers_of(model: nn.Module) -> list[nn.Module]:
    """The blocks of the stream: the longest of the outermost lists of modules."""
    lists = [
        (name.count("."), -len(m), m) for name, m in model.named_modules() if isinstance(m, nn.ModuleList) and len(m)
    ]
    if not lists:
        raise TargetError(f"{type(model).__name__} has no list of layers that could be watched")
    return list(min(lists, key=lambda found: found[:2])[2])


def expect_finite(run: Run) -> None:
    """Refuse a model that answers NaN or infinity where its tokens stand first: nothing could be said to stay."""
    for i, y in enumerate(run.outputs):
        if not bool(torch.isfinite(y).all()):
            raise TargetError(
                f"layer {i}: expected finite numbers at position 0, got NaN or infinity; look at its weights, and at "
                "the base and the factors of its rotation"
            )


def movement(before: Tensor, after: Tensor) -> float:
    """Largest change, as a share of the largest entry."""
    if before.shape != after.shape:
        return float("inf")
    if not before.numel():
        return 0.0
    scale = before.abs().max().clamp_min(torch.finfo(before.dtype).tiny)
    return float(torch.nan_to_num((after - before).abs().max() / scale, nan=float("inf")))
