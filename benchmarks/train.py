"""A training step on a CPU: ours against a plain GPT of the same shape, tokens a second, side by side.

``rope-lab bench train`` calls `run` and prints `table`. The two live in processes of their own, since the settings of
the memory allocator belong to a process: the plain one in the environment that Python starts with, float32 and eager;
ours as ``rope-lab train`` runs it. They take turns, one step each, on one thread; a ratio is taken within its round,
over the CPU's own clock.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import torch
from rich.table import Table

from benchmarks.harness import CARDS, ROOT, card
from rope_lab.training.run.environment import MALLOC

SHAPE = {"vocab_size": 50_304, "seq_len": 1024, "n_layers": 4, "n_heads": 4, "d_model": 128}
BATCH = 4  # windows; what matters is that both have the same
ROUNDS = 7
BAR = 3.5


def run(*, batch: int = BATCH, rounds: int = ROUNDS) -> dict[str, Any]:
    """Measure, keep the card in benchmarks/cards/train.json and return it."""
    workers = {name: _start(name, batch) for name in STEPS}
    try:
        starts = {name: _ask(worker) for name, worker in workers.items()}  # the first step compiles
        seconds: dict[str, list[float]] = {name: [] for name in workers}
        for _ in range(rounds):
            for name, worker in workers.items():
                seconds[name].append(_ask(worker))
    finally:
        for worker in workers.values():
            worker.kill()
            worker.communicate()
    found = card("train", packages=("torch",), **_measured(seconds, starts, batch))
    CARDS.mkdir(exist_ok=True)
    (CARDS / "train.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return found


def table(card: dict[str, Any]) -> Table:
    """The card as a table."""
    shown = Table(title=f"A training step of {card['batch']} x {card['shape']['seq_len']} tokens, one CPU thread")
    for column in ("", "tokens/s", "seconds a step", "first step", "times the plain one"):
        shown.add_column(column, justify="left" if column == "" else "right")
    for name, row in card["rows"].items():
        shown.add_row(
            name,
            f"{row['tokens_per_s']:,}",
            f"{row['seconds']:.2f}",
            f"{row['first_s']:.1f} s",
            f"{row['times_plain']:.2f}",
        )
    shown.caption = f"bar: {card['bar']} x; {'met' if card['met'] else 'not met'}"
    return shown


def _measured(seconds: dict[str, list[float]], starts: dict[str, float], batch: int) -> dict[str, Any]:
    rows, tokens = {}, batch * SHAPE["seq_len"]
    for name, values in seconds.items():
        times = statistics.median(plain / own for plain, own in zip(seconds["plain GPT"], values, strict=True))
        middle = statistics.median(values)
        rows[name] = {
            "tokens_per_s": round(tokens / middle),
            "seconds": round(middle, 3),
            "first_s": round(starts[name], 1),
            "times_plain": round(times, 3),
        }
    met = rows["rope_lab"]["times_plain"] >= BAR
    return {"shape": SHAPE, "batch": batch, "rounds": len(seconds["rope_lab"]), "rows": rows, "bar": BAR, "met": met}


def _start(name: str, batch: int) -> subprocess.Popen:
    environment = {key: value for key, value in os.environ.items() if key not in MALLOC}
    environment |= {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", **(MALLOC if name == "rope_lab" else {})}
    command = [sys.executable, "-m", "benchmarks.train", name, str(batch)]
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def _ask(worker: subprocess.Popen) -> float:
    worker.stdin.write("step\n")
    worker.stdin.flush()
    answer = worker.stdout.readline()
    if not answer:
        raise RuntimeError(f"the process {worker.args[-2]!r} stopped with status {worker.wait()}; its error is above")
    return json.loads(answer)


def _plain(_batch: int) -> Callable[[torch.Tensor], Any]:
    from benchmarks.plain_gpt import PlainGPT

    model = PlainGPT(vocab_size=SHAPE["vocab_size"], length=SHAPE["seq_len"], layers=4, heads=4, width=128)  # = SHAPE
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def step(tokens: torch.Tensor) -> None:
        logits = model(tokens[:, :-1])
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()

    return step


def _ours(batch: int) -> Callable[[torch.Tensor], Any]:
    from rope_lab.training.run.config import RunConfig
    from rope_lab.training.run.distributed import Processes
    from rope_lab.training.run.learner import Learner, model_config

    shape = {key: value for key, value in SHAPE.items() if key not in ("vocab_size", "seq_len")}
    config = RunConfig(seq_len=SHAPE["seq_len"], batch_size=batch, model=shape, clip=1.0, compile="auto")
    model = model_config(config, vocab_size=SHAPE["vocab_size"])
    learner = Learner(config, model, Processes(torch.device("cpu")), notice=lambda said: print(said, file=sys.stderr))
    return lambda tokens: learner.step(tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous(), lr=1e-3).item()


STEPS = {"plain GPT": _plain, "rope_lab": _ours}


def _main(name: str, batch: int) -> None:
    torch.manual_seed(0)
    step = STEPS[name](batch)
    for _ in sys.stdin:
        tokens = torch.randint(SHAPE["vocab_size"], (batch, SHAPE["seq_len"] + 1))
        begin = time.process_time()
        step(tokens)
        print(json.dumps(time.process_time() - begin), flush=True)


if __name__ == "__main__":
    _main(sys.argv[1], int(sys.argv[2]))
