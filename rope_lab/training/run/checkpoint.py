"""Checkpoints: tensors in safetensors, the rest in JSON, and never a moment without a whole one on the disk."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import safetensors.torch
from torch import Tensor

from rope_lab.errors import ArgumentError
from rope_lab.reading import content, parse_json, reason
from rope_lab.training.files import CheckpointError, clear_partials, kind, replacing

NAME = "checkpoint.json"
SEALS = ("tensors", "sha256", "state_sha256", "ours")
FORM = re.compile(r"step-[0-9]{7,}-[0-9a-f]{8}\.safetensors")
PARTIAL = re.compile(rf"\.({re.escape(NAME)}|{FORM.pattern})\.[0-9a-f]{{8}}\.partial")
_ADVICE = "Move {} aside to start the run afresh"


@dataclass(frozen=True)
class Checkpoint:
    """The tensors and the plain values of one moment of a run."""

    tensors: dict[str, Tensor]
    state: dict[str, Any]


def save(folder: Path, *, tensors: Mapping[str, Tensor], state: Mapping[str, Any]) -> None:
    """Write a checkpoint in ``folder`` and then, only then, remove the one before it. ``state`` must hold its "step".

    The tensors go to a new file; replacing ``checkpoint.json``, which names that file and its hash, is the one atomic
    moment at which the checkpoint becomes the folder's. A kill before it leaves the earlier one, whole. The index also
    names, beforehand, what a kill could leave: nothing is removed or replaced but what an index named.

    Raises:
        CheckpointError: a full disk, an unwritable folder, or somebody else's file in place of the new one; what was
            there before is still there.
    """
    content = safetensors.torch.save({name: t.detach().cpu().contiguous() for name, t in tensors.items()})
    step, digest = state["step"], hashlib.sha256(content).hexdigest()
    tensor_file, index = folder / f"step-{step:07d}-{digest[:8]}.safetensors", folder / NAME
    ours = _named(before := _read(index) or {})
    whole = {**state, "tensors": tensor_file.name, "sha256": digest, "state_sha256": _digest(state)}
    try:
        if tensor_file.name not in ours and os.path.lexists(tensor_file):
            raise FileExistsError(errno.EEXIST, f"a file {tensor_file.name} lies there that is not of this run")
        for path, written in (
            (index, _text({**before, "ours": sorted({*ours, tensor_file.name})})),
            (tensor_file, content),
            (index, _text({**whole, "ours": sorted(ours)})),
        ):
            with replacing(path) as file:
                file.write(written)
    except OSError as error:
        raise CheckpointError(
            f"could not write the checkpoint of step {step} into {folder}: {reason(error)}. "
            "What was saved before is whole: make room or choose another folder, and start the run again to resume it"
        ) from error
    clear(folder)


def clear(folder: Path) -> None:
    """Remove what the index of ``folder`` names and needs no more; after a kill, too, in a run that saves no more."""
    state = _read(folder / NAME) or {}
    clear_partials(folder / NAME)
    for name in _named(state):
        clear_partials(folder / name)
        if name != state.get("tensors"):
            with contextlib.suppress(OSError):
                (folder / name).unlink()


def _text(index: Mapping[str, Any]) -> bytes:
    return json.dumps(index).encode()


def _named(index: Mapping[str, Any]) -> set[str]:
    """The files that an index calls its own: names of exactly the form that `save` gives."""
    ours = index.get("ours")
    names = [index.get("tensors"), *(ours if isinstance(ours, list) else ())]
    return {name for name in names if isinstance(name, str) and FORM.fullmatch(name)}


def _read(index: Path) -> dict[str, Any] | None:
    """The content of ``checkpoint.json``; ``None`` where there is none.

    Raises:
        CheckpointError: it cannot be read, or is none.
    """
    if (existing := kind(index)) not in ("", "a file"):
        raise CheckpointError(f"{index}: expected a file, got {existing}. {_ADVICE.format(index.parent)}")
    try:
        state = parse_json(content(index, most=1 << 30)) if existing else None
    except (OSError, ArgumentError) as error:
        raise CheckpointError(f"{index}: expected JSON, got {error}. {_ADVICE.format(index.parent)}") from error
    if state is not None and not isinstance(state, dict):
        raise CheckpointError(f"{index}: expected an object, got {state!r:.80}. {_ADVICE.format(index.parent)}")
    return state


def expect_free(folder: Path, *, card: str) -> None:
    """Refuse a folder without an index in which a run's files lie: they are another run's, or one that lost its index.

    ``card`` is the name of the file that the run will write at its end. What a kill in the very first write left, a
    part of an index that announces a first checkpoint, is no obstacle. Files of other names are none either.

    Raises:
        CheckpointError: the message names the files. They stay as they are.
    """
    if (folder / NAME).is_file() or not folder.is_dir():
        return
    files = sorted(
        path.name
        for path in folder.iterdir()
        if path.name == card
        or (path.name.startswith("step-") and path.suffix == ".safetensors")
        or (PARTIAL.fullmatch(path.name) and not _announces(path))
    )
    if files:
        raise CheckpointError(
            f"{folder}: expected a folder that is new, or has the {NAME} of this run, got none beside "
            f"{', '.join(files):.200}: bring its {NAME} back to go on, or choose another folder"
        )


def _announces(partial: Path) -> bool:
    start = _text({"ours": ["step-0000000-"]})[:-3]
    if not partial.name.startswith(f".{NAME}.") or kind(partial) != "a file" or partial.stat().st_size > 99:
        return False
    content = partial.read_bytes()
    return start.startswith(content) or content.startswith(start)


def _digest(state: Mapping[str, Any]) -> str:
    """The sha256 of the plain values, without the name of the tensors' file and the hashes."""
    plain = {name: value for name, value in state.items() if name not in SEALS}
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


def load(folder: Path, *, fields: Iterable[str] = ()) -> Checkpoint | None:
    """The checkpoint of ``folder``, or ``None`` where there is none. Its ``state`` has these ``fields``.

    Raises:
        CheckpointError: a file is missing, or is not what was written. Nothing is removed.
    """
    index, advice = folder / NAME, _ADVICE.format(folder)
    state = _read(index)
    if state is None or state.keys() == {"ours"}:  # none, or one that was announced and never written
        return None
    wanted = ("tensors", "sha256", "state_sha256", *fields)
    if not state.keys() >= set(wanted):
        got = ", ".join(state) or "none"
        raise CheckpointError(f"{index}: expected the fields {', '.join(wanted)}, got {got:.200}. {advice}")
    if (got := _digest(state)) != state["state_sha256"]:
        raise CheckpointError(
            f"{index}: expected values with the sha256 {state['state_sha256']!s:.64}, got {got}. {advice}"
        )
    name = state["tensors"]
    try:
        if not isinstance(name, str) or Path(name).name != name or kind(folder / name) not in ("", "a file"):
            raise TypeError(f"{name!r:.80}")
        content = (folder / name).read_bytes()
    except (OSError, TypeError, ValueError) as error:
        raise CheckpointError(f"{index}: expected its tensors beside it, got {error}. {advice}") from error
    if (got := hashlib.sha256(content).hexdigest()) != state["sha256"]:
        raise CheckpointError(
            f"{folder / state['tensors']}: expected sha256 {state['sha256']!s:.64}, got {got}. {advice}"
        )
    try:
        return Checkpoint(safetensors.torch.load(content), state)
    except Exception as error:  # its own class, which no module hands out under one name in all releases
        raise CheckpointError(f"{folder / name}: expected tensors, got {error}. {advice}") from error
