"""Checkpoints: tensors in safetensors, the rest in JSON, and never a moment without a whole one on the disk."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import safetensors.torch
from torch import Tensor

from rope_lab.errors import RopeLabError
from rope_lab.training.files import reason, replacing

NAME = "checkpoint.json"
SEALS = ("tensors", "sha256", "state_sha256")


class CheckpointError(RopeLabError, RuntimeError):
    """A checkpoint that could not be written or does not hold what it should. The message says what to do."""


@dataclass(frozen=True)
class Checkpoint:
    """The tensors and the plain values of one moment of a run."""

    tensors: dict[str, Tensor]
    state: dict[str, Any]


def save(folder: Path, *, tensors: Mapping[str, Tensor], state: Mapping[str, Any]) -> None:
    """Write a checkpoint in ``folder`` and then, only then, remove the one before it. ``state`` must hold its "step".

    The tensors go to a new file; replacing ``checkpoint.json``, which names that file and its hash, is the one atomic
    moment at which the checkpoint becomes the folder's. A kill before it leaves the earlier one, whole.

    Raises:
        CheckpointError: a full disk or an unwritable folder; what was there before is still there.
    """
    content = safetensors.torch.save({name: t.detach().cpu().contiguous() for name, t in tensors.items()})
    step, digest = state["step"], hashlib.sha256(content).hexdigest()
    tensor_file = folder / f"step-{step:07d}-{digest[:8]}.safetensors"
    index = json.dumps({**state, "tensors": tensor_file.name, "sha256": digest, "state_sha256": _digest(state)})
    try:
        for path, written in ((tensor_file, content), (folder / NAME, index.encode())):
            with replacing(path) as file:
                file.write(written)
    except OSError as error:
        raise CheckpointError(
            f"could not write the checkpoint of step {step} into {folder}: {reason(error)}. "
            "What was saved before is whole: make room or choose another folder, and start the run again to resume it"
        ) from error
    for old in (*folder.glob("step-*.safetensors"), *folder.glob(".*.partial")):  # and what a kill left half written
        if old != tensor_file:
            with contextlib.suppress(OSError):
                old.unlink()


def _digest(state: Mapping[str, Any]) -> str:
    """Of the plain values, without the name of the tensors' file and the hashes."""
    plain = {name: value for name, value in state.items() if name not in SEALS}
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


def load(folder: Path, *, fields: Iterable[str] = ()) -> Checkpoint | None:
    """The checkpoint of ``folder``, or ``None`` where there is none. Its ``state`` has these ``fields``.

    Raises:
        CheckpointError: a file is missing, or is not what was written. Nothing is removed.
    """
    index = folder / NAME
    if not index.exists():
        return None
    advice = f"Move {folder} aside to start the run afresh"
    try:
        state = json.loads(index.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{index}: expected JSON, got {error}. {advice}") from error
    wanted = ("tensors", "sha256", *fields)
    if not isinstance(state, dict) or not state.keys() >= set(wanted):
        got = (", ".join(state) or "none") if isinstance(state, dict) else f"{state!r:.80}"
        raise CheckpointError(f"{index}: expected the fields {', '.join(wanted)}, got {got}. {advice}")
    if (got := _digest(state)) != state.get("state_sha256", got):  # earlier versions wrote none
        raise CheckpointError(
            f"{index}: expected values with the sha256 {state['state_sha256']!s:.16}…, got {got[:16]}…. {advice}"
        )
    try:
        content = (folder / state["tensors"]).read_bytes()
    except (OSError, TypeError) as error:
        raise CheckpointError(f"{index}: expected its tensors beside it, got {error}. {advice}") from error
    if (got := hashlib.sha256(content).hexdigest()) != state["sha256"]:
        raise CheckpointError(
            f"{folder / state['tensors']}: expected sha256 {state['sha256']!s:.16}…, got {got[:16]}…. {advice}"
        )
    return Checkpoint(safetensors.torch.load(content), state)
