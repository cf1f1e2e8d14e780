"""The results of the claims: each is run once, and again when something that it depends on has changed.

The build's trial of what runs in a page (`book.live.trial`) leaves here what it ran, so that nothing is run twice.
What a check depends on is its own file, what that imports inside ``rope_lab``, the result cards if it reads them, and
the libraries that do the arithmetic. A digest of these stands beside each result in ``_build/claim-results.json``. A
claim that fails is never kept, and `rope-lab verify` neither reads this file nor writes it.
"""

import inspect
import json
import sys
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path

import page_inputs

import rope_lab
from rope_lab.claims import Claim, Result, load, run

ROOT = Path(rope_lab.__file__).resolve().parents[1]
LIBRARIES = ("numpy", "scipy", "sympy", "torch")
FIELDS = (
    "outcome",
    "residual",
    "control_rejected",
    "printed_rejected",
    "seconds",
    "error",
    "control_residual",
    "printed_residual",
)


class Results:
    """The results of one build, with those of earlier builds that still stand."""

    def __init__(self, store: Path, root: Path = ROOT):
        self.store, self.root = store, root
        self.kept = read(store)
        self.found: dict[str, Result] = {}
        self.digests: dict[str, str] = {}
        self.ran = 0

    def __getitem__(self, claim_id: str) -> Result:
        if claim_id not in self.found:
            self.found[claim_id] = self.recall(load()[claim_id])
        return self.found[claim_id]

    def recall(self, entry: Claim) -> Result:
        now, old = self.digest(entry), self.kept.get(entry.id)
        if now and old and old["inputs"] == now:
            return Result(entry, **old["result"])
        self.ran += 1
        result = run(entry)
        self.keep(result, now)
        return result

    def keep(self, result: Result, now: str) -> None:
        """Keep a result for later builds, unless it fails or nobody knows what it depends on."""
        self.kept.pop(result.claim.id, None)
        if now and not result.failed:
            self.kept[result.claim.id] = {"inputs": now, "result": {name: getattr(result, name) for name in FIELDS}}

    def digest(self, entry: Claim) -> str:
        """The digest of all that the check depends on; empty for one from outside the package, run each time."""
        source = Path(inspect.getsourcefile(inspect.unwrap(entry.check))).resolve()
        if not source.is_relative_to(self.root / "rope_lab"):
            return ""
        module = ".".join(source.relative_to(self.root).with_suffix("").parts)
        if module not in self.digests:
            files = page_inputs.module_inputs({module, "rope_lab.claims.ledger"}, self.root, discovered={})
            libraries = " ".join(f"{name} {version(name)}" for name in LIBRARIES)
            self.digests[module] = f"{page_inputs.digest(files)} python {sys.version.split()[0]} {libraries}"
        return self.digests[module]

    def told(self) -> str:
        return f"{len(self.found)} claims, {self.ran} of them run now"

    def save(self, known: Iterable[str]) -> None:
        """Write the results of the claims that are known."""
        kept = {name: self.kept[name] for name in sorted(self.kept) if name in known}
        self.store.parent.mkdir(parents=True, exist_ok=True)
        new = self.store.with_suffix(".new")
        new.write_text(json.dumps(kept, indent=1), encoding="utf-8")
        new.replace(self.store)  # in one step: a build that is interrupted leaves the old file or the new one


def read(store: Path) -> dict[str, dict]:
    """The results that were kept; none if the file is not there or is not ours."""
    try:
        kept = json.loads(store.read_text(encoding="utf-8"))
        return {name: old for name, old in kept.items() if set(old["result"]) == set(FIELDS)}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}


def result(app, claim_id: str) -> Result:
    """The result for a claim of the ledger."""
    return app.claim_results[claim_id]


def setup(app):
    app.claim_results = Results(Path(app.outdir).parent / "claim-results.json")
    app.connect("build-finished", lambda app, _: app.claim_results.save(load()))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
