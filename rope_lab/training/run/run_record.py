"""What a run has found so far: its curve, its validations, its clock. In JSON for checkpoints, as a card in the end."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import torch

from rope_lab.training.results.cards import Card
from rope_lab.training.run import environment
from rope_lab.training.run.config import RunConfig
from rope_lab.training.run.validation import Validation


class Record:
    """The record of one run, over all the starts that it takes. ``with record.stopwatch:`` goes around a step."""

    def __init__(self, config: RunConfig, state: Mapping[str, Any] | None = None) -> None:
        self.config = config
        self.state: dict[str, Any] = (
            dict(state)
            if state is not None
            else {
                "step": 0,
                "curve": {"step": [], "train_loss": [], "valid_loss": []},
                "validations": [],
                "wall_s": 0.0,
                "train_s": 0.0,
                "timed_steps": 0,
                "starts": 0,
            }
        )
        self.state["starts"] += 1
        self.stopwatch = Stopwatch(self.state)
        self._commit = environment.commit()  # of the code that is running, whatever is checked out at the end
        self._begun, self._earlier_s = time.monotonic(), self.state["wall_s"]

    @property
    def step(self) -> int:
        """The number of updates made."""
        return self.state["step"]

    @step.setter
    def step(self, value: int) -> None:
        self.state["step"] = value

    def train_loss(self, loss: float) -> None:
        """Record a point of the training curve at the present step."""
        self._point("train_loss", loss)

    def validation(self, found: Validation) -> None:
        """Record a validation at the present step."""
        self._point("valid_loss", found.loss)
        self.state["validations"].append({"step": self.step, **asdict(found)})

    @property
    def tokens_per_s(self) -> float:
        """The speed of the steps, without validations, checkpoints and each start's first step."""
        tokens = self.config.batch_size * self.config.seq_len * self.state["timed_steps"]
        return tokens / self.state["train_s"] if tokens else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Plain values from which ``Record(config, ...)`` goes on."""
        return {**self.state, "wall_s": self._earlier_s + time.monotonic() - self._begun}

    def card(
        self,
        *,
        data: Mapping[str, Any],
        parameters: Mapping[str, int],
        device: torch.device,
        how: Mapping[str, Any],
        measured: Mapping[str, Any],
    ) -> Card:
        """The result card of the finished run; ``how`` says how it ran, beside what is read off this machine."""
        config, state = self.config, self.to_dict()
        return Card(
            experiment=config.experiment,
            rung=config.rung,
            variant=config.variant,
            seed=config.seed,
            config=config.to_dict(),
            config_hash=config.digest,
            data=dict(data),
            parameters=dict(parameters),
            curve=state["curve"],
            final=state["validations"][-1],
            best=min(state["validations"], key=lambda v: v["loss"]),
            measured=dict(measured),
            volatile={
                "commit": self._commit,
                "date": dt.datetime.now(dt.UTC).isoformat("T", "seconds"),
                "device": environment.cpu_name() if device.type == "cpu" else torch.cuda.get_device_name(device),
                "versions": environment.versions(),
                "tokens_per_s": self.tokens_per_s,
                "wall_s": state["wall_s"],
                "threads": torch.get_num_threads(),
                "starts": state["starts"],
                **how,
            },
        )

    def _point(self, key: str, value: float) -> None:
        curve = self.state["curve"]
        if not curve["step"] or curve["step"][-1] != self.step:
            curve["step"].append(self.step)
            curve["train_loss"].append(None)
            curve["valid_loss"].append(None)
        curve[key][-1] = value


class Stopwatch:
    """Adds the time of each step to ``train_s``, bar the first after a start, which compiles and warms up."""

    def __init__(self, state: dict[str, Any]) -> None:
        self.state, self.warm = state, False

    def __enter__(self) -> None:
        self.start = time.monotonic()

    def __exit__(self, *_: object) -> None:
        if self.warm:
            self.state["train_s"] += time.monotonic() - self.start
            self.state["timed_steps"] += 1
        self.warm = True
