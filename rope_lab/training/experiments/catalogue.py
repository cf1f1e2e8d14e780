"""Every experiment by name, at three rungs.

``cpu`` is a sweep within an hour on two cores, ``colab`` one T4 for about an hour, ``paper`` the source's setting.
Runs are seed-major (in crope-confirm the primary ones come first): an interrupted sweep has whole seeds, so its
comparisons are paired. Within a seed, all variants start from the same parameters by name and see the same batches.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator

from rope_lab import chapters
from rope_lab.errors import ArgumentError
from rope_lab.training.experiments.definition import Experiment, NotYetError

RUNGS = ("cpu", "colab", "paper")
"""The sizes of an experiment, from a laptop to the published run."""


@functools.cache
def _makers() -> dict[str, Callable[[str], Experiment | None]]:
    """What makes each experiment at a rung: the ``EXPERIMENTS`` of the rooms, in their order."""
    return {name: make for module in chapters.modules("experiments*") for name, make in module.EXPERIMENTS.items()}


def names() -> list[str]:
    """Every experiment's name."""
    return list(_makers())


def experiment(name: str, rung: str = "cpu") -> Experiment:
    """The experiment of that name at a rung.

    Args:
        name: One of `names`, such as "placements".
        rung: "cpu", "colab" or "paper". Some experiments have only one or two of them.

    Returns:
        The experiment with its list of runs.

    Raises:
        ArgumentError: If there is no such experiment or rung; the message names those that there are.
        NotYetError: If its runs follow from cards of another experiment that do not decide them yet.

    >>> len(experiment("placements", "cpu").runs)
    45
    """
    if name not in _makers():
        raise ArgumentError(f"experiment: expected one of {', '.join(_makers())}, got {name!r}")
    if rung not in RUNGS:
        raise ArgumentError(f"rung: expected one of {', '.join(RUNGS)}, got {rung!r}")
    found = _makers()[name](rung)
    if found is None:
        raise ArgumentError(f"experiment {name!r}: expected a rung of {', '.join(rungs(name))}, got {rung!r}")
    return found


def every_experiment() -> Iterator[Experiment]:
    """Each experiment at each rung that it has; those that wait for the cards of another are left out."""
    for make in _makers().values():
        with contextlib.suppress(NotYetError):
            yield from filter(None, map(make, RUNGS))


def rungs(name: str) -> list[str]:
    """The rungs that an experiment has; none while its runs wait for the cards of another.

    >>> rungs("crope-longer")
    ['cpu']
    """
    with contextlib.suppress(NotYetError):
        return [rung for rung in RUNGS if _makers()[name](rung) is not None]
    return []
