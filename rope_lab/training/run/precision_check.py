"""Does this CPU have arithmetic for the precision of a run, or does it imitate it?"""

from __future__ import annotations

import time

import torch

SIZE, ROUNDS, MOST = 192, 5, 3.0


def slowdown(dtype: torch.dtype) -> float:
    """How many times as long a matrix product takes on the CPU in ``dtype`` as in float32: the best of five each."""
    return _seconds(dtype) / _seconds(torch.float32)


def advice(precision: str, device: str | None) -> str | None:
    """What to say before a run that would be slow for its precision alone; ``None`` where there is nothing to say.

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
    x, threads, found = torch.ones(SIZE, SIZE, dtype=dtype), torch.get_num_threads(), []
    torch.set_num_threads(1)
    try:
        for _ in range(1 + ROUNDS):
            begin = time.process_time()
            x @ x
            found.append(time.process_time() - begin)
    finally:
        torch.set_num_threads(threads)
    return min(found[1:])  # the first one also loads what it needs
