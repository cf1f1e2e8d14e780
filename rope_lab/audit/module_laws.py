"""Laws of a module that the audit built: it turns by the rule that its configuration names, also after a cast.

>>> from dataclasses import replace
>>> from rope_lab.algebra.frequency_schedules import Schedule
>>> from rope_lab.audit.gallery import right
>>> settings = RopeSettings(head_dim=8, base=10000.0, rotary_dim=None, schedule=Schedule())
>>> configured_rule(Probe(right, head_dim=8), settings, window=2048).ok
True
>>> print(configured_rule(Probe(right, head_dim=8), replace(settings, base=500.0), window=2048))
FAIL  configured rule   in a text of 1025 tokens the turn from 0 to 1 is off by 0.11: expected Schedule(), base 500
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rope_lab.algebra.hf_schedules import RopeSettings
from rope_lab.audit.frequency_rule import named
from rope_lab.audit.law_checks import DRIFT, FLOOR
from rope_lab.audit.law_suite import Law
from rope_lab.audit.probe import Probe, RefusedError

STEPS = (0, 1, 64, 1000)
SCALE = 1e-4  # the relative error that a length factor may have
CAST = 1e-3  # radians at position 1000 that a cast may change: float32 itself changes a tenth of that


@dataclass(frozen=True)
class Built:
    """A module and what its configuration says of it."""

    module: Any
    settings: RopeSettings | None  # None: no configuration, or a rule that we do not know
    window: int | None  # the longest text of training, where the configuration has one


def module_laws(f: Callable[[Any, Any], Any], head_dim: int, built: Built) -> list[Law]:
    """The laws of a built module.

    Args:
        f: The module as f(x, positions).
        head_dim: The width of a head.
        built: The module, and what its configuration says.

    Returns:
        "configured rule", where the configuration names a rule that we know and positions have one axis; and "survives
        casting", which cautions and is never broken: who loads a model in bfloat16 need not cast its module.
    """
    try:
        probe = Probe(f, head_dim=head_dim)
        known = built.settings is not None and built.settings.sections is None
        rule = [configured_rule(probe, built.settings, window=built.window)] if known and built.settings else []
        return [*rule, _survives_casting(probe, built.module)]
    except (RefusedError, np.linalg.LinAlgError):
        return []  # other laws say that it does not answer, or that its answers have no inverse


def configured_rule(probe: Probe, settings: RopeSettings, *, window: int | None) -> Law:
    r"""The turns against the frequencies that the settings make, in a text within the window and in one beyond it.

    $f(x, n) = S\,\mathcal R_n x$ with one S: the angles of $M_0^{-1} M_n$ are $n\theta_i$, and the columns of $M_0$
    have the length of the attention factor where the plane turns.

    Args:
        probe: The callable.
        settings: What the configuration says.
        window: The longest text of training; None: no text beyond it is asked.

    Returns:
        A `Law`.
    """
    said = f"{named(settings.schedule)}, base {settings.base:g}"
    lengths = [max(STEPS) + 25, *([] if window is None else [2 * max(window, *STEPS)])]
    tried = f"positions {', '.join(map(str, STEPS))} in texts of {' and '.join(map(str, lengths))} tokens"
    factors: dict[int, tuple[float, float]] = {}
    for length in lengths:
        try:
            maps = _maps(probe, (*STEPS, length - 1))
        except RefusedError:
            continue  # a table that ends
        schedule = settings.schedule.at(length)
        theta = np.zeros(probe.head_dim // 2)
        try:
            own = schedule.frequencies(settings.rotary_dim or settings.head_dim, base=settings.base)
        except ValueError as error:  # such as an odd width, of which the code takes a part
            return Law("configured rule", True, f"not asked: {error}", tried)
        if len(own) > len(theta):
            return Law("configured rule", True, f"not asked: {len(own)} planes, wider than the head", tried)
        theta[: len(own)] = own
        factors[length] = float(np.linalg.norm(maps[0], axis=0).max()), schedule.attention_factor
        for n, turned in zip(STEPS[1:], maps[1:], strict=False):
            angles = np.sort(np.abs(np.angle(np.linalg.eigvals(np.linalg.solve(maps[0], turned)))))[::2]
            expected = np.sort(np.abs(np.angle(np.exp(1j * n * theta))))
            miss = np.abs(angles - expected).max()
            if miss > (near := 8 * max(FLOOR, probe.eps) + 4 * DRIFT * n):
                saw = f"in a text of {length} tokens the turn from 0 to {n} is off by {miss:.2g}"
                turning, due = (2 * int((each > near).sum()) for each in (angles, expected))
                if turning != due and n == STEPS[1]:
                    saw = f"{turning} of {probe.head_dim} coordinates turn, expected {due}; {saw}"
                return Law("configured rule", False, f"{saw}: expected {said}", tried)
    for length, (factor, meant) in factors.items():
        if abs(factor / meant - 1) > SCALE:
            saw = f"in a text of {length} tokens lengths are times {factor:.6g}, expected {meant:.6g}"
            return Law("configured rule", False, f"{saw}: {said}", tried)
    return Law("configured rule", True, said if factors else "not asked: a table ends before these texts", tried)


def _maps(probe: Probe, positions: tuple[int, ...]) -> np.ndarray:
    """The matrix of each position, from one call whose last position says how long the text is."""
    unit = np.eye(probe.head_dim)[:, None, None, :]
    answers = probe(np.repeat(unit, len(positions), axis=2), positions)
    return answers[:, 0].transpose(1, 2, 0)  # (positions, to, from)


def _survives_casting(probe: Probe, module: Any) -> Law:
    """The same turn after the module went to bfloat16 and came back as far as its code brings it."""
    import torch

    name, tried = "survives casting", f"position {max(STEPS)}, after module.to(torch.bfloat16)"
    if not any(t.is_floating_point() for t in (*module.buffers(), *module.parameters())):
        return Law(name, True, "the module holds no numbers that a cast could change", tried)
    before = _maps(probe, STEPS)
    cached = [key for part in module.modules() for key, held in vars(part).items() if isinstance(held, torch.Tensor)]
    if cached:
        return Law(name, True, f"not asked: {cached[0]} keeps what earlier calls made", tried)
    kept = [(part, dict(part._buffers)) for part in module.modules()]
    try:
        module.to(torch.bfloat16)
        after = _maps(probe, STEPS)
    except RefusedError as refusal:
        return Law(name, False, str(refusal), tried, caution="a cast module does not answer")
    finally:
        module.float()
        for part, buffers in kept:
            part._buffers.update(buffers)
    miss = np.abs(after[-1] - before[-1]).max()
    if miss <= CAST:
        return Law(name, True, f"off by {miss:.1e}", tried)
    said = "its frequencies are cast with it; load weights in bfloat16, or keep the module in float32"
    return Law(name, False, f"off by {miss:.2g}", tried, caution=said)
