"""What a machine can do, and whether it computes rightly: asked in a minute, before a sweep takes hours.

Every answer is compared with the same computation in float64 on the CPU, from the same weights and the same tokens.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

import torch
from torch import Tensor

from rope_lab.algebra import budget
from rope_lab.nn.counts import count_multiplications
from rope_lab.nn.gpt import GPT, GPTConfig
from rope_lab.nn.rotary import RotaryConfig, rotary_table, rotate
from rope_lab.training.run import environment
from rope_lab.training.run.config import RunConfig
from rope_lab.training.run.distributed import Processes, processes
from rope_lab.training.run.learner import Learner, model_config

State = Literal["ok", "slow", "absent", "wrong"]
VOCABULARY = 1024
# A run like those of the cpu rung of Table 1, with two layers: large enough to be timed, small enough for a minute.
RUN = RunConfig(
    experiment="doctor",
    variant="RoPE",
    model={"block": "gpt2", "n_layers": 2, "n_heads": 4, "d_model": 128},
    seq_len=256,
    batch_size=4,
    steps=3,
    lr=2e-3,
    warmup=2,
    precision="float32",
    compile="never",
)
FAR = 131_072  # positions of the tables: the window of today's long models
# Largest errors, relative to float64. Rounding of float32 makes some 1e-7 of a sum and grows with its length; a fast
# mode that multiplies in fewer bits makes 1e-3, and a wrong kernel makes 1.
LIMITS = {"tables": 1e-6, "rotation": 1e-6, "loss": 1e-5, "gradient": 1e-4, "updates": 1e-3, "halves": 0.05}
SLOW = 1.5  # times float32's: from here on a half type costs time and brings nothing


@dataclass(frozen=True)
class Answer:
    """One question to the machine, and its answer."""

    name: str
    state: State
    said: str  # the answer in words, with its mend where there is one
    error: float | None = None  # relative to float64
    limit: float | None = None  # the largest error that is rounding
    tokens_per_s: float | None = None
    seconds: float = 0.0  # that the question took

    @property
    def fine(self) -> bool:
        """Whether no run comes to harm by the answer."""
        return self.state != "wrong"


def examine(device: str | None = None) -> Iterator[Answer]:
    """Ask the machine one question after the other.

    Args:
        device: "cpu", "cuda" or "cuda:N"; default: a GPU where there is one.

    Yields:
        An `Answer` as soon as it is known: the machine, the tables, the rotation, one step forward and backward, three
        updates, half types, the compiler. A question that raises is a finding with the state "wrong".

    Raises:
        ArgumentError: If there is no such device.
    """
    with processes(device) as group:
        patient = Patient(group)
        for name, ask in patient.questions():
            begun = time.monotonic()
            try:
                answer = ask(name)
            except Exception as error:  # whatever a driver or a compiler raises is what was to be found out
                answer = Answer(name, "wrong", f"raised {type(error).__name__}: {str(error).splitlines()[0]:.120}")
            yield replace(answer, seconds=time.monotonic() - begun)


class Patient:
    """The device with a small model on it, and the float64 reference beside it."""

    def __init__(self, group: Processes) -> None:
        self.group, self.kind = group, group.device.type
        self.config = model_config(RUN, vocab_size=VOCABULARY)
        tokens = torch.Generator().manual_seed(0)
        ids = torch.randint(VOCABULARY, (RUN.batch_size, RUN.seq_len + 1), generator=tokens)
        self.batch = ids[:, :-1].contiguous(), ids[:, 1:].contiguous()
        self.speed: float | None = None  # tokens a second in float32

    def questions(self) -> list[tuple[str, Callable[[str], Answer]]]:
        """Each question's name, and what answers it."""
        return [
            ("machine", self.machine),
            ("tables of angles", self.tables),
            ("rotation", self.rotation),
            ("forward, float32", self.forward),
            ("backward, float32", self.backward),
            ("three updates, float32", self.updates),
            ("bfloat16", lambda name: self.half(name, "bfloat16")),
            ("float16", lambda name: self.half(name, "float16")),
            ("compiled", self.compiled),
        ]

    def machine(self, name: str) -> Answer:
        versions = environment.versions()
        if self.kind == "cpu":
            hardware = f"{environment.cpu_name()}, {torch.get_num_threads()} threads"
        else:
            gpu = torch.cuda.get_device_properties(self.group.device)
            hardware = f"{gpu.name}, {gpu.total_memory / 2**30:.0f} GiB"
        return Answer(name, "ok", f"{hardware}; Python {versions['python']}, torch {versions.get('torch', '?')}")

    def tables(self, name: str) -> Answer:
        config, positions = RotaryConfig(head_dim=64), torch.arange(0, FAR, 97)
        right = rotary_table(positions, config, dtype=torch.float64)
        here = rotary_table(positions, config, device=self.group.device)
        pairs = ((here.cos, right.cos), (here.sin, right.sin))
        error = max((a.double().cpu() - b).abs().max().item() for a, b in pairs)
        return _compared(name, error, "tables", f"cosines and sines up to position {FAR:,}")

    def rotation(self, name: str) -> Answer:
        config, draw = RotaryConfig(head_dim=64), torch.Generator().manual_seed(1)
        x = torch.randn(2, 4, 256, 64, generator=draw, dtype=torch.float64)
        positions = torch.arange(FAR - 256, FAR)
        right = rotate(x, rotary_table(positions, config, dtype=torch.float64))
        here = rotate(x.float().to(self.group.device), rotary_table(positions, config, device=self.group.device))
        return _compared(name, _error(here, right), "rotation", "queries turned far out")

    def forward(self, name: str) -> Answer:
        right = self._reference().model
        here = self._learner(RUN).model
        with torch.no_grad():
            error = _error(here(self._here()[0]), right(self.batch[0]))
        return _compared(name, error, "loss", "logits of a small GPT")

    def backward(self, name: str) -> Answer:
        right = _gradients(self._reference(), self.batch)
        return _compared(name, _error(_gradients(self._learner(RUN), self._here()), right), "gradient", "all gradients")

    def updates(self, name: str) -> Answer:
        def moved(learner: Learner, batch: tuple[Tensor, Tensor]) -> Tensor:
            before = _weights(learner)
            for step in range(RUN.steps):
                learner.step(*batch, lr=RUN.learning_rate(step))
            return _weights(learner) - before

        right, here = self._reference(), self._learner(RUN)
        error = _error(moved(here, self._here()), moved(right, self.batch))
        self.speed = _speed(here, self._here())
        answer = _compared(name, error, "updates", f"the way that all weights went in {RUN.steps} updates")
        return replace(answer, tokens_per_s=self.speed)

    def half(self, name: str, precision: str) -> Answer:
        here = self._learner(replace(RUN, precision=precision))
        error = _error(_gradients(here, self._here()), _gradients(self._reference(), self.batch))
        answer, speed = _compared(name, error, "halves", "all gradients"), _speed(here, self._here())
        answer = replace(answer, tokens_per_s=speed)
        if self.speed is None or not answer.fine:
            return answer
        times = self.speed / speed
        if times < SLOW:
            return replace(answer, said=f"{answer.said}; {1 / times:.2f} times as fast as float32")
        mend = "this machine imitates it: take runs in float32 here, or another machine"
        return replace(answer, state="slow", said=f"{answer.said}; {times:.1f} times as slow as float32; {mend}")

    def compiled(self, name: str) -> Answer:
        if (lacks := environment.why_not_compile(self.kind)) is not None:
            return Answer(name, "absent", f"{lacks}; runs are not compiled, slower, and the same to within rounding")
        one = {**RUN.model, "n_layers": 1}  # compiling takes its time for each layer
        plain = self._learner(replace(RUN, model=one))
        fast = self._learner(replace(RUN, model=one, compile="always"))
        error = _error(_gradients(fast, self._here()), _gradients(plain, self._here()))
        answer = _compared(name, error, "gradient", "all gradients, against the same model not compiled")
        times = _speed(fast, self._here()) / _speed(plain, self._here())
        return replace(answer, said=f"{answer.said}; {times:.2f} times as fast")

    def _learner(self, run: RunConfig) -> Learner:
        model = model_config(run, vocab_size=VOCABULARY)
        return Learner(run, model, self.group, notice=lambda _: None)

    def _reference(self) -> Learner:
        learner = Learner(RUN, self.config, Processes(torch.device("cpu")), notice=lambda _: None)
        learner.model.double()
        return learner

    def _here(self) -> tuple[Tensor, Tensor]:
        return self.batch[0].to(self.group.device), self.batch[1].to(self.group.device)


def multiplications(run: RunConfig, *, vocab_size: int) -> float:
    """The multiplications of a training run: three times its forward passes, since each product has two more backward.

    Args:
        run: The run.
        vocab_size: Of the run's tokenizer.

    Returns:
        A float, validations left out. All pairs of tokens count, the masked ones too.

    >>> round(multiplications(RUN, vocab_size=1024) / 1e9, 1)
    6.0
    """
    return 3 * run.train_tokens * _per_token(model_config(run, vocab_size=vocab_size))


def predicted_seconds(run: RunConfig, tokens_per_s: float, *, vocab_size: int, timed: tuple[RunConfig, int]) -> float:
    """Predict the seconds of a run by counting: its multiplications, at the speed of a run that was timed.

    Args:
        run: The run.
        tokens_per_s: The speed that was measured.
        vocab_size: Of the run's tokenizer.
        timed: The run that was measured, and the size of its vocabulary.

    Returns:
        Seconds, a float, validations left out. It is a prediction: the closer the two runs, the better.
    """
    a_second = multiplications(timed[0], vocab_size=timed[1]) / timed[0].train_tokens * tokens_per_s
    return multiplications(run, vocab_size=vocab_size) / a_second


def own_speed(run: RunConfig, *, vocab_size: int, device: str | None = None) -> float:
    """Tokens a second of a run's own steps, without the compiler and without validations.

    A GPU waits most of the time where a model is small: there the speed of the small model that `examine` times says
    nothing of a larger one, which on an H200 was a hundred times as fast as predicted from it.

    Args:
        run: The run.
        vocab_size: Of its tokenizer; the tokens are random.
        device: "cpu", "cuda" or "cuda:N"; default: a GPU where there is one.
    """
    with processes(device) as group:
        plain = replace(run, compile="never")
        learner = Learner(plain, model_config(plain, vocab_size=vocab_size), group, notice=lambda _: None)
        ids = torch.randint(vocab_size, (run.batch_size, run.seq_len + 1), device=group.device)
        return _speed(learner, (ids[:, :-1].contiguous(), ids[:, 1:].contiguous()))


def _speed(learner: Learner, batch: tuple[Tensor, Tensor]) -> float:
    """Tokens a second of training steps: the fastest of those that fit into a second, three at least."""
    device, times = learner.group.device, list[float]()
    learner.step(*batch, lr=0.0)
    while len(times) < 3 or sum(times) < 1:
        _settle(device)
        begun = time.perf_counter()
        learner.step(*batch, lr=0.0)
        _settle(device)
        times.append(time.perf_counter() - begun)
    return batch[0].numel() / min(times)


def _settle(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


@cache
def _per_token(config: GPTConfig) -> float:
    if not config.d_latent:  # the formula for heads of keys and values, which a test compares with PyTorch's count
        return float(budget.multiplications(config.shape, context=config.seq_len)["total"])
    with torch.device("meta"):  # nothing is computed, only counted
        model, tokens = GPT(config), torch.zeros(1, config.seq_len, dtype=torch.long)
    return count_multiplications(model, tokens) / config.seq_len


def _error(got: Tensor, expected: Tensor) -> float:
    """The length of the difference over the length of what is right."""
    right = expected.detach().double().cpu()
    return ((got.detach().double().cpu() - right).norm() / right.norm()).item()


def _gradients(learner: Learner, batch: tuple[Tensor, Tensor]) -> Tensor:
    with learner.autocast():
        loss = learner.loss(*batch)
    learner.scaler.scale(loss).backward()
    gradients = torch.cat([p.grad.flatten() for p in learner.model.parameters() if p.grad is not None])
    learner.optimizer.zero_grad(set_to_none=True)
    return gradients / learner.scaler.get_scale()


def _weights(learner: Learner) -> Tensor:
    return torch.cat([p.detach().double().flatten().cpu() for p in learner.model.parameters()])


def _compared(name: str, error: float, kind: str, what: str) -> Answer:
    limit = LIMITS[kind]
    if math.isfinite(error) and error <= limit:
        return Answer(name, "ok", what, error, limit)
    mend = "do not train here before this is settled: other settings of the device, driver or torch"
    return Answer(name, "wrong", f"{what}: expected an error below {limit:.0e}, got {error:.1e}; {mend}", error, limit)


def as_rows(findings: list[Answer]) -> list[dict[str, Any]]:
    """The findings as plain values for JSON."""
    return [
        {
            "name": each.name,
            "state": each.state,
            "said": each.said,
            "error": each.error,
            "limit": each.limit,
            "tokens_per_s": each.tokens_per_s,
            "seconds": each.seconds,
        }
        for each in findings
    ]


SIZE, ROUNDS, MOST = 192, 5, 3.0


def slowdown(dtype: torch.dtype) -> float:
    """The time of a matrix product on the CPU in ``dtype`` over that in float32: the best of five each."""
    return _seconds(dtype) / _seconds(torch.float32)


def advice(precision: str, device: str | None) -> str | None:
    """Advice before a run that would be slow for its precision alone; ``None`` where there is nothing to say.

    ``device``: "cpu" or "cuda"; ``None`` is a GPU where there is one.
    """
    on_cpu = device == "cpu" or (device is None and not torch.cuda.is_available())
    if not on_cpu or precision == "float32":
        return None
    times = slowdown(getattr(torch, precision))
    if times < MOST:
        return None
    return (
        f"This CPU imitates {precision}: a matrix product takes {times:.0f} times as long as in float32. With "
        "precision float32 the run would be faster here. It would be another run, and its card would say so."
    )


def _seconds(dtype: torch.dtype) -> float:
    """CPU time of one product, on one thread: what else runs on the machine counts for little."""
    x, threads, times = torch.ones(SIZE, SIZE, dtype=dtype), torch.get_num_threads(), []
    torch.set_num_threads(1)
    try:
        for _ in range(1 + ROUNDS):
            begin = time.process_time()
            x @ x
            times.append(time.process_time() - begin)
    finally:
        torch.set_num_threads(threads)
    return min(times[1:])  # the first one also loads what it needs
