"""What turns in the families of the installed transformers: a tiny model of each, probed, as one dated table."""

from collections.abc import Callable, Sequence
from typing import Any

from rope_lab.audit.family_tables import LIMIT, Row, ask_families, shipped
from rope_lab.audit.fingerprints import Fingerprint
from rope_lab.audit.foreign_code import guarded
from rope_lab.audit.model_probes import LayerProbe, ModelProbe, model_probe, ranges
from rope_lab.audit.tiny_models import tiny_model
from rope_lab.audit.turning_calls import HALVES

KEPT = ("layout", "rotated_dims", "head_dim", "direction", "base", "scheme")


def probe_all(
    families: Sequence[str] | None = None, *, limit: float = LIMIT, told: Callable[[str], None] | None = None
) -> dict[str, Any]:
    """Probe a tiny model of each family.

    Args:
        families: Their names. Default: all of the installed transformers that have a causal model.
        limit: Seconds that one may take.
        told: Called with the name of each family when it is done.

    Returns:
        The date, the versions, and ``rows``: for each family what turns in which layers, or why it was skipped.

    Raises:
        MissingPackageError: If transformers is not installed.
    """
    return ask_families(_row, families, limit=limit, told=told)


def _row(name: str) -> Row:
    with guarded("probing it"):
        return probe_row(model_probe(tiny_model(name), name=name))


def probe_row(seen: ModelProbe) -> Row:
    """A probe as a row of the table: layers that share an answer stand together, with the words that are printed.

    Args:
        seen: What `model_probe` found.

    Returns:
        A dict that can be written as JSON. Where no layer could be read, ``skipped`` says why.
    """
    if seen.layers and all(layer.problem for layer in seen.layers):
        return {"model": seen.model, "skipped": f"no layer was read: {seen.layers[0].problem}"}
    groups: dict[tuple[str, ...], list[int]] = {}
    for i, layer in enumerate(seen.layers):
        groups.setdefault(layer.words, []).append(i)
    answers = [_answer(seen.layers[members[0]], members) for members in groups.values()]
    return {"model": seen.model, "skipped": None, "ok": seen.ok, "layers": len(seen.layers), "answers": answers}


def _answer(layer: LayerProbe, members: list[int]) -> dict[str, Any]:
    found: dict[str, Any] = {"layers": members, "words": list(layer.words), "problem": layer.problem, "met": layer.met}
    found |= {"queries": _kept(layer.queries), "keys": _kept(layer.keys), "agree": layer.agree, "values": layer.values}
    return found | {
        "functions": list(layer.functions),
        "halves": any(name.endswith(HALVES) for name in layer.functions),  # it reads neighbours and writes halves
        "norms_before": list(layer.norms_before),
        "norms_after": list(layer.norms_after),
    }


def _kept(seen: Fingerprint | None) -> dict[str, Any] | None:
    if seen is None:
        return None
    turning = ranges(sorted(i for pair in seen.pairs for i in pair))
    found = {name: getattr(seen, name) for name in KEPT}
    return found | {"base": seen.base and float(f"{seen.base:.7g}"), "coordinates": turning}


def probe_results() -> dict[str, Any]:
    """The table as it is shipped: what `rope-lab audit --model all --probe` last read. transformers need not be there.

    >>> sorted(probe_results())
    ['date', 'python', 'rows', 'torch', 'transformers']
    """
    return shipped("probe_results.json")
