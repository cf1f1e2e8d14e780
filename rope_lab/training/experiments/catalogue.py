"""Every experiment by name, at three rungs.

``cpu`` is a sweep within an hour on two cores, ``colab`` one T4 for about an hour, ``paper`` the source's setting.
Runs are seed-major (in crope-confirm the primary ones come first): an interrupted sweep has whole seeds, so its
comparisons are paired. Within a seed, all variants start from the same parameters by name and see the same batches.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rope_lab import chapters
from rope_lab.errors import ArgumentError, near
from rope_lab.training.run.config import RunConfig

RUNGS = ("cpu", "colab", "paper")
"""The sizes of an experiment, from a laptop to the published run."""


@functools.cache
def _makers() -> dict[str, Callable[[str], Experiment | None]]:
    """The makers of each experiment at a rung: the ``EXPERIMENTS`` of the rooms, in their order."""
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
    if not isinstance(name, str) or name not in _makers():
        there = near(name, _makers()) or "; `rope-lab results` lists them"
        raise ArgumentError(f"experiment: expected a name such as placements, got {name!r:.80}{there}")
    if not isinstance(rung, str) or rung not in RUNGS:
        raise ArgumentError(f"rung: expected one of {', '.join(RUNGS)}, got {rung!r:.80}{near(rung, RUNGS)}")
    entry = _makers()[name](rung)
    if entry is None:
        raise ArgumentError(f"experiment {name!r}: expected a rung of {', '.join(rungs(name))}, got {rung!r}")
    return entry


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


GPT2: dict[str, Any] = {"block": "gpt2", "n_layers": 4, "n_heads": 4, "d_model": 128}  # the model of the CRoPE paper


class NotYetError(ArgumentError):
    """The runs of an experiment follow from cards of another, which do not decide them yet. The message says which."""


@dataclass(frozen=True)
class Experiment:
    """A list of runs that answer one question at one rung."""

    name: str
    rung: str
    about: str
    limits: str  # what this rung cannot decide
    reference: str  # the variant that differences are taken to
    runs: tuple[RunConfig, ...]

    def chosen(
        self, *, variants: Iterable[str] = (), seeds: Iterable[str] = (), corpora: Iterable[str] = ()
    ) -> tuple[RunConfig, ...]:
        """The runs of these variants, seeds and corpora, in their order; of what is left out, all.

        Each entry is one name or several with commas between them, as on the command line.

        Raises:
            ArgumentError: a name that no run has; the message says which there are.
        """
        runs = self.runs
        for name, asked in (("variant", variants), ("seed", seeds), ("corpus", corpora)):
            there = {str(getattr(run, name)): None for run in self.runs}
            if wanted := {one for text in asked for one in _names(name, text, there)}:
                runs = tuple(run for run in runs if str(getattr(run, name)) in wanted)
        return runs


def _names(what: str, text: str, there: Collection[str]) -> Iterable[str]:
    """The names in a text with commas between them; a name may have commas itself ("RoPE, size of QKV")."""
    parts = text.split(",")
    while parts:
        ends = (end for end in range(len(parts), 0, -1) if ",".join(parts[:end]).strip() in there)
        if (end := next(ends, 0)) == 0:
            got = parts[0].strip()
            raise ArgumentError(f"{what}: expected one of {'; '.join(there)}, got {got!r:.80}{near(got, there)}")
        yield ",".join(parts[:end]).strip()
        del parts[:end]


def make_runs(
    name: str,
    rung: str,
    variants: Mapping[str, Mapping[str, Any]],
    *,
    seeds: Iterable[int],
    settings: Mapping[str, Mapping[str, Any]],
    model: Mapping[str, Any],
    **shared: Any,
) -> tuple[RunConfig, ...]:
    """Make runs, seeds outermost, then settings, then variants, which both change the model or fields of the run."""
    runs = []
    for seed in seeds:
        for setting, changes in settings.items():
            for variant, scheme in variants.items():
                change = dict(changes)
                whole = {**model, **change.pop("model", {}), **scheme}
                if whole.pop("half_width", False):
                    whole["head_dim"] = whole["d_model"] // whole["n_heads"] // 2
                runs.append(
                    RunConfig(
                        experiment=name,
                        rung=rung,
                        setting=setting,
                        variant=variant,
                        seed=seed,
                        model=whole,
                        **{**shared, **change},
                    )
                )
    return tuple(runs)
