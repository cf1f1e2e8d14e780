"""What one run is: everything that decides its numbers, and nothing that only says where it ran."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from typing import Any

SCHEDULES = ("constant", "step", "cosine")
PRECISIONS = ("float32", "bfloat16", "float16")
COMPILE = ("auto", "never", "always")


@dataclass(frozen=True)
class RunConfig:
    """One training run, from corpus to final loss: frozen, JSON in and out, named by its own hash.

    Where it runs (folder, time budget, checkpoint interval, threads) is an argument of
    :func:`rope_lab.training.run.loop.train`: it must not change what the run is.

    >>> run = RunConfig(experiment="demo", variant="RoPE", model={"d_model": 64}, steps=10)
    >>> RunConfig.from_json(run.to_json()) == run
    True
    >>> run.name.startswith("demo-cpu-rope-s0-")
    True
    """

    # Which run this is
    experiment: str = "default"  # the named list of runs it belongs to
    rung: str = "cpu"  # "cpu" | "colab" | "paper": the size at which it was made
    setting: str = ""  # what a table's row holds fixed, where an experiment has several: "PTB"; variants pair within it
    variant: str = "run"  # what differs inside the experiment, as tables print it
    seed: int = 0  # initial parameters by (seed, name) and the batch order; nothing else is random

    # What learns: fields of rope_lab.nn.gpt.GPTConfig. vocab_size and seq_len are filled in from the corpus and below.
    model: dict[str, Any] = field(default_factory=dict)

    # What it reads
    corpus: str = "tinyshakespeare"  # a name that rope_lab.training.data.corpora knows
    tokenizer: str = "bpe-1024"
    seq_len: int = 256  # tokens in a window, the BOS token included where there is one
    bos: bool = False  # begin every window with a token of its own (one more than the tokenizer has)
    vocab_multiple: int = 1  # pad the vocabulary up to a multiple: 64 makes 50,257 into 50,304

    # How it learns
    batch_size: int = 8  # windows in an optimizer step, over all processes
    steps: int = 500
    lr: float = 1e-3
    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = 1e-8
    weight_decay: float = 0.01  # on every parameter of two dimensions or more
    clip: float = 1.0  # largest norm of the whole gradient; 0: no clipping
    warmup: int = 0  # steps of linear rise from 0, in front of the schedule
    schedule: str = "step"  # "constant" | "step": x decay every decay_every steps | "cosine": down to lr * final_lr
    decay: float = 0.8
    decay_every: int = 1000
    final_lr: float = 0.1  # the cosine's last rate, as a share of lr
    precision: str = "bfloat16"  # of the matrix products; parameters, sums and losses stay float32
    compile: str = "auto"  # torch.compile: "auto" where it works and pays | "never" | "always": fail where it can't

    # How it is judged: on the first eval_tokens of the validation stream, in windows without overlap, to the end
    eval_every: int = 0  # steps between validations; 0: only at the end. The final state is always validated
    eval_tokens: int = 0  # 0: the whole validation stream
    eval_batch_size: int = 0  # windows in one batch of the spread; 0: batch_size
    log_every: int = 10  # steps between points of the training curve (each the mean over those steps)
    measure: tuple[Any, ...] = ()  # what the finished weights are asked beside: names that measures.py knows

    def __post_init__(self) -> None:
        for f in fields(self):
            accepts, expected = _TYPES[f.type]
            _require(accepts(getattr(self, f.name)), f.name, expected, getattr(self, f.name))
        object.__setattr__(self, "betas", tuple(float(b) for b in self.betas))
        object.__setattr__(self, "measure", tuple(self.measure))
        object.__setattr__(self, "model", dict(self.model))
        for name in ("seq_len", "batch_size", "steps", "vocab_multiple", "log_every", "decay_every"):
            _require(getattr(self, name) >= 1, name, "at least 1", getattr(self, name))
        for name in ("seed", "warmup", "clip", "weight_decay", "eval_every", "eval_tokens", "eval_batch_size"):
            _require(getattr(self, name) >= 0, name, "zero or more", getattr(self, name))
        for name, allowed in (("schedule", SCHEDULES), ("precision", PRECISIONS), ("compile", COMPILE)):
            _require(getattr(self, name) in allowed, name, f"one of {', '.join(allowed)}", getattr(self, name))
        _require(self.variant != "", "variant", "a name, the one that tables print", self.variant)
        _require(self.lr > 0, "lr", "a positive rate", self.lr)
        _require(self.eps >= 0, "eps", "zero or more", self.eps)
        fine = len(self.betas) == 2 and all(0 <= beta < 1 for beta in self.betas)
        _require(fine, "betas", "two numbers from 0 to below 1", self.betas)
        for name in ("experiment", "rung"):  # both name folders of cards
            _require(not set(getattr(self, name)) & set("/\\"), name, "a name without / and \\", getattr(self, name))

    @classmethod
    def from_json(cls, text: str | Mapping[str, Any]) -> RunConfig:
        """A config from its JSON text, or from the dictionary that the text holds.

        Raises ``ValueError`` for a field that does not exist, naming those that do.
        """
        values = json.loads(text) if isinstance(text, str) else text
        if not isinstance(values, Mapping):
            raise ValueError(f"expected the fields of a RunConfig as a JSON object, got {values!r:.80}")
        unknown = set(values) - {f.name for f in fields(cls)}
        if unknown:
            known = ", ".join(f.name for f in fields(cls))
            raise ValueError(f"expected fields of RunConfig, got {', '.join(sorted(unknown))}; the fields are: {known}")
        return cls(**{name: tuple(v) if isinstance(v, list) else v for name, v in values.items()})  # JSON has no tuples

    def to_dict(self) -> dict[str, Any]:
        """Every field as plain JSON values (tuples become lists)."""
        return json.loads(json.dumps(asdict(self)))

    def to_json(self) -> str:
        """The text that :meth:`from_json` reads."""
        return json.dumps(self.to_dict(), indent=1)

    @property
    def digest(self) -> str:
        """Sixteen hexadecimal digits that name what this run is.

        A field at its default is left out, so a field added later, whose default means "as before", renames no run.
        """
        values = self.to_dict()
        said = {f.name: values[f.name] for f in fields(self) if values[f.name] != _default(f)}
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:16]

    @property
    def name(self) -> str:
        """A file name: experiment, rung, variant, seed, and the first eight digits of the digest."""
        variant = "".join(c if c.isalnum() else "-" for c in self.variant.lower())
        variant = "-".join(part for part in variant.split("-") if part)
        return f"{self.experiment}-{self.rung}-{variant}-s{self.seed}-{self.digest[:8]}"

    @property
    def train_tokens(self) -> int:
        """Tokens the whole run reads: steps x batch_size x seq_len."""
        return self.steps * self.batch_size * self.seq_len

    def learning_rate(self, step: int) -> float:
        """The rate of a step, counted from 0: lr * min(1, (step + 1) / warmup) * schedule(step).

        >>> RunConfig(schedule="step", lr=1.0, decay=0.5, decay_every=10).learning_rate(25)
        0.25
        """
        rate = self.lr * min(1.0, (step + 1) / self.warmup) if self.warmup else self.lr
        if self.schedule == "step":
            return rate * self.decay ** (step // self.decay_every)
        if self.schedule == "cosine":
            share = min(1.0, max(0, step - self.warmup) / max(1, self.steps - self.warmup))
            return rate * (self.final_lr + (1 - self.final_lr) * (1 + math.cos(math.pi * share)) / 2)
        return rate


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


_TYPES: dict[str, tuple[Callable[[Any], bool], str]] = {  # by annotation: which values fit, and that in words
    "int": (lambda v: isinstance(v, int) and not isinstance(v, bool), "a whole number"),
    "float": (_is_number, "a finite number"),
    "bool": (lambda v: isinstance(v, bool), "true or false"),
    "str": (lambda v: isinstance(v, str), "text"),
    "dict[str, Any]": (lambda v: isinstance(v, Mapping), "fields of GPTConfig by name"),
    "tuple[Any, ...]": (lambda v: isinstance(v, tuple | list) and all(isinstance(n, str) for n in v), "some names"),
    "tuple[float, float]": (lambda v: isinstance(v, tuple | list) and all(map(_is_number, v)), "two numbers"),
}


def _default(f: Any) -> Any:
    value = f.default if f.default is not MISSING else f.default_factory()
    return json.loads(json.dumps(value))


def _require(holds: bool, name: str, expected: str, got: object) -> None:
    if not holds:
        raise ValueError(f"RunConfig.{name}: expected {expected}, got {got!r}")
