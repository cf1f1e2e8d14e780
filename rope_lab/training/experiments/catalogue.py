"""Every experiment by name, at three rungs, and a single run with fields changed.

``cpu`` is a sweep within an hour on two cores, ``colab`` one T4 for about an hour, ``paper`` the source's setting.
Runs are seed-major: an interrupted sweep has whole seeds, so its comparisons are paired. Within a seed, all variants
start from the same parameters by name and see the same batches.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable

from rope_lab.training.experiments import crope, placement_orders, planned
from rope_lab.training.experiments.definition import GPT2, Experiment
from rope_lab.training.run.config import RunConfig

RUNGS = ("cpu", "colab", "paper")
DEMO = RunConfig(
    experiment="demo",
    variant="RoPE",
    model=GPT2,
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
_MAKERS: dict[str, Callable[[str], Experiment | None]] = {
    "crope-table1": crope.table1,
    "crope-table1-readings": crope.table1_readings,
    "crope-table2": crope.table2,
    "crope-equal-parameters": crope.equal_parameters,
    "crope-longer": crope.longer,
    "crope-afterwards": crope.afterwards,
    "crope-rates": planned.rates,
    "placements": placement_orders.placements,
    "placements-base1e4": placement_orders.placements_base,
    "one-cache": placement_orders.one_cache,
}


def names() -> list[str]:
    """Every experiment's name."""
    return list(_MAKERS)


def experiment(name: str, rung: str = "cpu") -> Experiment:
    """The experiment of that name at a rung; ``ValueError`` names what there is.

    >>> len(experiment("placements", "cpu").runs)
    45
    """
    if name not in _MAKERS:
        raise ValueError(f"experiment: expected one of {', '.join(_MAKERS)}, got {name!r}")
    if rung not in RUNGS:
        raise ValueError(f"rung: expected one of {', '.join(RUNGS)}, got {rung!r}")
    found = _MAKERS[name](rung)
    if found is None:
        made = ", ".join(r for r in RUNGS if _MAKERS[name](r) is not None)
        raise ValueError(f"experiment {name!r}: expected a rung of {made}, got {rung!r}: there is none such")
    return found


def single(changes: Iterable[str] = (), *, base: RunConfig | None = None) -> RunConfig:
    """One run, by default a minute of RoPE on Tiny Shakespeare, with fields changed: ``steps=50``, ``model.base=100``.

    A value is JSON where it parses as JSON, else text. Raises ``ValueError`` for a field that does not exist.

    >>> single(["steps=50", "model.positions=none"]).model["positions"]
    'none'
    """
    fields = (base or DEMO).to_dict()
    for change in changes:
        name, equals, value = change.partition("=")
        if not equals or not name:
            raise ValueError(f"expected FIELD=VALUE, such as steps=50, got {change!r}")
        block, _, field = name.rpartition(".")
        if block not in ("", "model"):
            raise ValueError(f"expected a field of the run or model.FIELD, got {name!r}")
        with contextlib.suppress(json.JSONDecodeError):  # text needs no quotes
            value = json.loads(value)
        (fields["model"] if block else fields)[field] = value
    return RunConfig.from_json(fields)
