"""Is a model relative? Its tokens are moved to other positions; what changes, in which layer, and why."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

import torch

from rope_lab.algebra.arguments import expect_whole
from rope_lab.audit.foreign_code import TargetError
from rope_lab.audit.shift_causes import ABSOLUTE, BY_DESIGN, ROUNDING, causes_of
from rope_lab.audit.shift_runs import Run, Runner, expect_finite, movement

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
        """It stays."""
        return self.moved <= self.floor

    @property
    def by_design(self) -> bool:
        """It moves for reasons that models are built with."""
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

    @property
    def lost(self) -> tuple[LayerShift, ...]:
        """The layers that see more than differences of positions."""
        return tuple(layer for layer in self.layers if not layer.relative)

    @property
    def relative(self) -> bool:
        """No layer moves, apart from rounding."""
        return not self.lost

    @property
    def turns(self) -> bool:
        """A query or key depends on its position at all."""
        return any(layer.turns for layer in self.layers)

    @property
    def ok(self) -> bool:
        """Relative, or not so by design."""
        return all(layer.by_design for layer in self.layers)

    @property
    def causes(self) -> tuple[str, ...]:
        """All causes, each once."""
        return tuple(dict.fromkeys(cause for layer in self.layers for cause in layer.causes))

    @property
    def verdict(self) -> str:
        """One line."""
        if self.lost:
            first = self.lost[0].layer
            where = "before the first layer" if first < 0 else f"in layer {first}"
            return f"not relative: lost {where}; {', '.join(self.causes)}"
        if not self.turns and self.logits_rounding == 0:
            return "nothing moves: the positions change no query, no key and no logit"
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
        head = f"{self.model}\nmoved by       {shifts}\n" + (f"not asked      {self.refused}\n" if self.refused else "")
        rows = [("", "", "float64", "noise", self.dtype, ""), *self._rows()]
        lines = "\n".join(f"{a:<9} {b:<6} {c:>9} {d:>9} {e:>9}  {f}".rstrip() for a, b, c, d, e, f in rows)
        return f"{head}{lines}\n{'logits':<16} {self.logits:>9.1e} {'':>9} {self.logits_rounding:>9.1e}\n{self.verdict}"

    def _repr_html_(self) -> str:
        names = ("where", "", "float64", "noise", self.dtype, "what")
        head = "".join(f'<th scope="col">{escape(name)}</th>' for name in names)
        body = "".join("<tr>" + "".join(f"<td>{escape(x)}</td>" for x in row) + "</tr>" for row in self._rows())
        title = escape(f"{self.model}: {self.verdict}")
        return f"<table><caption>{title}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def shift_test(
    model: Any, *, shifts: Sequence[int] | None = None, name: str | None = None, seed: int = 0
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
            that the model refuses are left out, and the report says so.
        name: What the report is called. Default: the model's class.
        seed: Of the tokens.

    Returns:
        A `ShiftReport`: print it, or read ``lost``, ``causes`` and ``verdict``.

    Raises:
        TypeError: If model is no torch module, or a shift not a whole number.
        ValueError: If a shift is not positive or beyond what float64 can tell, or none is given.
        TargetError: If the model takes no positions, has no layers to watch, cannot be called, or answers NaN.
    """
    asked = _shifts(model, shifts)
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
        """It stays in float64, and in its own precision moves by more than an angle's rounding there explains."""
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
    rounding, logits, _ = worst(lambda base, runs: movement(base.logits, runs[0].logits))
    dtype = str(parameter.dtype).removeprefix("torch.")
    return ShiftReport(name or type(model).__name__, dtype, tuple(done), refused, tuple(layers), logits, rounding)


def _moved(base: Run, runs: tuple[Run, Run], layer: int) -> float:
    """Of the layer by itself; before the first, of the stream that enters it."""
    free, forced = runs
    if layer < 0:
        return movement(base.inputs[0], free.inputs[0])
    return movement(base.outputs[layer], forced.outputs[layer])


def _turned(base: Run, forced: Run, layer: int) -> float:
    pairs = zip(base.attended.get(layer, []), forced.attended.get(layer, []), strict=False)
    return max((movement(old[i], new[i]) for old, new in pairs for i in (0, 1)), default=0.0)


def _shifts(model: Any, shifts: Sequence[int] | None) -> tuple[int, ...]:
    """The shifts to ask, in order."""
    if shifts is None:
        window = getattr(getattr(model, "config", None), "max_position_embeddings", None)
        shifts = (*SHIFTS, window) if isinstance(window, int) and window > 0 else SHIFTS
    listed = isinstance(shifts, Iterable) and not isinstance(shifts, str)
    if not listed or any(isinstance(s, bool) or not isinstance(s, int) for s in shifts):
        raise TypeError(f"shifts: expected a list of whole numbers, got {shifts!r}; such as (1, 16, 256)")
    found = tuple(sorted(set(shifts)))
    if not found or found[0] < 1:
        raise ValueError(f"shifts: expected positive whole numbers, got {tuple(shifts)}; such as (1, 16, 256)")
    if found[-1] > FARTHEST:
        raise ValueError(f"shifts: expected at most {FARTHEST}, where float64 still knows an angle, got {found[-1]}")
    return found
