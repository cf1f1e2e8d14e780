"""What one run is: everything that decides its numbers, and nothing that only says where it ran."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, asdict, dataclass, field, fields
from typing import Any

from rope_lab.errors import ArgumentError, near
from rope_lab.reading import parse_json
from rope_lab.training.fields import (
    BLOCK,
    COUNT,
    FLAG,
    FOLDER_NAME,
    NAME,
    NOT_NEGATIVE,
    NUMBER,
    POSITIVE,
    POSITIVE_COUNT,
    TEXT,
    Kind,
    is_number,
    one_of,
)

MOST_WINDOWS = 2**30  # of a run: their places in the stream are drawn before the first step, eight bytes each
MOST_TOKENS = 2**27  # of a step
LONGEST = 200  # bytes of a file's name; the systems' own limit is 255, and a file that is half written has 18 more
SCHEDULES = ("constant", "step", "cosine")
PRECISIONS = ("float32", "bfloat16", "float16")
COMPILE = ("auto", "never", "always")
_BETAS = Kind(
    lambda v: isinstance(v, tuple | list) and len(v) == 2 and all(is_number(beta) and 0 <= beta < 1 for beta in v),
    "two numbers from 0 to below 1",
)
_NAMES = Kind(lambda v: isinstance(v, tuple | list) and all(isinstance(name, str) for name in v), "some names")

FIELDS: dict[str, Kind] = {  # what each field of a run must be
    "experiment": FOLDER_NAME,  # it and the rung name folders of cards
    "rung": FOLDER_NAME,
    "setting": TEXT,
    "variant": NAME,
    "seed": COUNT,
    "model": BLOCK,
    "corpus": TEXT,
    "tokenizer": TEXT,
    "seq_len": POSITIVE_COUNT,
    "bos": FLAG,
    "starts": POSITIVE_COUNT,
    "vocab_multiple": POSITIVE_COUNT,
    "batch_size": POSITIVE_COUNT,
    "steps": POSITIVE_COUNT,
    "lr": POSITIVE,
    "betas": _BETAS,
    "eps": NOT_NEGATIVE,
    "weight_decay": NOT_NEGATIVE,
    "clip": NOT_NEGATIVE,
    "warmup": COUNT,
    "schedule": one_of(SCHEDULES),
    "decay": NUMBER,
    "decay_every": POSITIVE_COUNT,
    "final_lr": NUMBER,
    "precision": one_of(PRECISIONS),
    "compile": one_of(COMPILE),
    "eval_every": COUNT,
    "eval_tokens": COUNT,
    "eval_batch_size": COUNT,
    "log_every": POSITIVE_COUNT,
    "measure": _NAMES,
}


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
    starts: int = 1  # a step's windows begin at one position below this, drawn by the seed; 1: always at position 0
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
        for name, kind in FIELDS.items():
            if not kind.accepts(got := getattr(self, name)):
                raise ArgumentError(f"RunConfig.{name}: expected {kind.expected}, got {got!r:.80}")
        self._expect_possible()
        object.__setattr__(self, "betas", tuple(float(b) for b in self.betas))
        object.__setattr__(self, "measure", tuple(self.measure))
        object.__setattr__(self, "model", dict(self.model))

    def _expect_possible(self) -> None:
        """Refuse numbers that are fine alone and that no machine can carry out, before memory is asked for them."""
        if (got := min(self.steps * self.batch_size, 10**300)) > MOST_WINDOWS:  # so that it can be told as a float
            raise ArgumentError(f"RunConfig: expected steps x batch_size of at most {MOST_WINDOWS:,}, got {got:.3g}")
        if (got := min(max(self.batch_size, self.eval_batch_size) * (self.seq_len + 1), 10**300)) > MOST_TOKENS:
            raise ArgumentError(
                f"RunConfig: expected at most {MOST_TOKENS:,} tokens in a step, got {got:.3g}: choose a smaller "
                "seq_len, batch_size or eval_batch_size"
            )
        try:
            last = self.learning_rate(self.steps - 1)
        except OverflowError:
            last = math.inf
        if not math.isfinite(last):
            raise ArgumentError(f"RunConfig.decay: expected finite learning rates, got {last} at the last step")
        try:
            names = (
                self.name,
                f"{self.setting}-{self.variant}-{self.seed}",
            )  # its folder's, and that of the card's file
        except (TypeError, ValueError, RecursionError) as error:
            raise ArgumentError(
                f"RunConfig: expected values that JSON can hold, at most some hundred blocks deep, got {error}"
            ) from error
        for name in names:
            if (size := len(name.encode(errors="replace"))) > LONGEST:
                raise ArgumentError(
                    f"RunConfig: expected experiment, rung, setting, variant and seed that make the name of a file, at "
                    f"most {LONGEST} bytes, got {size}, {name:.40}...: shorten them"
                )

    @classmethod
    def from_json(cls, text: str | Mapping[str, Any]) -> RunConfig:
        """A config from its JSON text, or from the dictionary that the text holds.

        Raises:
            ArgumentError: not JSON, or a field that does not exist (the message names those that do), or a wrong value.
        """
        try:
            values = parse_json(text) if isinstance(text, str) else text
        except ArgumentError as error:
            raise ArgumentError(f"expected JSON, got {text!r:.80}: {error}") from error
        if not isinstance(values, Mapping):
            raise ArgumentError(f"expected the fields of a RunConfig as a JSON object, got {values!r:.80}")
        if unknown := sorted(set(values) - FIELDS.keys()):
            there = near(unknown[0], FIELDS, cutoff=0.4) or "; those of the model are model.FIELD"
            raise ArgumentError(f"expected fields of RunConfig, got {', '.join(unknown):.200}{there}")
        tuples: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in values.items()}
        return cls(**tuples)  # JSON has no tuples

    def changed(self, changes: Iterable[str]) -> RunConfig:
        """This run with fields changed: ``steps=50``, ``model.base=100``. A value is JSON if it parses, else text.

        Raises:
            ArgumentError: a change of another form, a field that does not exist, or a value that does not fit it.

        >>> DEFAULT_RUN.changed(["steps=50", "model.positions=none"]).model["positions"]
        'none'
        """
        values = self.to_dict()
        for change in changes:
            name, equals, value = change.partition("=") if isinstance(change, str) else ("", "", "")
            if not equals or not name:
                raise ArgumentError(f"expected FIELD=VALUE, such as steps=50, got {change!r:.80}")
            block, _, field_name = name.rpartition(".")
            if block not in ("", "model"):
                raise ArgumentError(f"expected a field of the run or model.FIELD, got {name!r:.80}")
            with contextlib.suppress(ArgumentError):  # text needs no quotes
                value = parse_json(value)
            (values["model"] if block else values)[field_name] = value
        return RunConfig.from_json(values)

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
        known = {f.name: f for f in fields(self) if getattr(self, f.name) != f.default}  # few, of some forty
        values = json.loads(json.dumps({name: getattr(self, name) for name in known}))
        said = {name: value for name, value in values.items() if value != _default(known[name])}
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


def _default(f: Field) -> Any:
    value = f.default_factory() if f.default_factory is not MISSING else f.default
    return json.loads(json.dumps(value))


DEFAULT_RUN = RunConfig(
    experiment="first",
    variant="RoPE",
    model={"block": "gpt2", "n_layers": 4, "n_heads": 4, "d_model": 128},
    seq_len=128,
    batch_size=8,
    steps=200,
    lr=2e-3,
    warmup=20,
    decay_every=20,
    eval_every=50,
    eval_tokens=16_384,
    compile="never",
)
"""What ``rope-lab train`` trains when no configuration is given: about a minute of RoPE."""
