"""Run the cells and claims that are to run in a page with what a page has, and print as JSON which cannot run, and why.

A process of its own: every module that no bundle brings is refused at the door, PyTorch first of all. It is the code of
the browser, `page`, under the build's own interpreter; what only a browser can show, the tests of the site look for.
"""

import contextlib
import json
import pkgutil
import re
import sys
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.metadata import MetadataPathFinder
from pathlib import Path
from typing import Any

from book.live.cells import stored

ALSO = {
    "PIL",
    "contourpy",
    "cycler",
    "dateutil",
    "fontTools",
    "kiwisolver",
    "mpl_toolkits",
    "packaging",
    "pyparsing",
    "pytz",
}
ALSO |= {
    "sortedcontainers",
    "_hypothesis_globals",
    "_hypothesis_ftz_detector",
    "six",
    "wadler_lindig",
    "book",
    "claim_results",
    "page_inputs",
}  # of the bundles' own, and this file


class Door(MetaPathFinder):
    """Finds what the standard library and the bundles have, and nothing else."""

    def __init__(self, modules: dict[str, list[str]]) -> None:
        known = {name.partition(".")[0] for names in modules.values() for name in names}
        self.known, self.usual = known | ALSO | set(sys.stdlib_module_names), list(sys.meta_path)

    find_distributions = staticmethod(MetadataPathFinder.find_distributions)  # versions of packages are asked for there

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name.partition(".")[0] not in self.known and not name.startswith("_sysconfigdata"):
            return None
        found = (finder.find_spec(name, path, target) for finder in self.usual)
        return next((spec for spec in found if spec is not None), None)


def main(file: str) -> None:
    """Read the job, try it, and print what came out; what the cells print goes nowhere."""
    job = json.loads(Path(file).read_text(encoding="utf-8"))
    for name in [name for name in sys.modules if name.partition(".")[0] in ("rope_lab", "torch", "numpy")]:
        del sys.modules[name]  # a .pth file may have brought some
    sys.meta_path[:] = [Door(job["modules"])]
    sys.path.append(str(Path(__file__).parents[1] / "_ext"))
    page = import_module("book.live.page")
    page.start(job["modules"])
    page.loaded.update(job["modules"], ["results"])
    out, sys.stdout = sys.stdout, Path(file).with_name("said").open("w", encoding="utf-8")
    results = import_module("claim_results").Results(Path(job["store"]))
    told = {
        "pages": {name: try_cells(page, cells) for name, cells in job["pages"].items()},
        "claims": try_claims(page, job["claims"], results),
        "tasks": try_tasks(page),
    }
    sys.stdout = out
    print(json.dumps(told))


def try_cells(page: Any, cells: list[str]) -> list[dict[str, Any]]:
    """Run the cells of a page in order; return why each cannot run, empty if it can, and the names of generators.

    A cell that cannot run leaves no name behind, since a page never runs it; whoever reads one cannot run either.
    """
    page.begin()
    why: list[str] = []
    lost: dict[str, str] = {}  # a name -> why the cell that would bind it cannot run
    for number, code in enumerate(cells):
        before = dict(page.space)
        got = page.cell(code, number)
        why.append(got.get("needs") or got.get("missing") or got.get("error", "").rpartition("\n")[2])
        unknown = re.match("NameError: name '(.+?)'", why[-1])
        if unknown and unknown[1] in lost:
            why[-1] = lost[unknown[1]]
        if why[-1]:
            page.space.clear()
            page.space.update(before)
            lost |= dict.fromkeys(stored(code), why[-1])
    drawn = [name for name, value in page.space.items() if type(value).__name__ in ("Generator", "RandomState")]
    return [{"why": reason, "drawn": drawn} for reason in why]


def try_tasks(page: Any) -> dict[str, dict[str, str]]:
    """Run the solution of each task that stands on a page on one example; return its module, and why it cannot run."""
    told = {}
    for module in import_module("rope_lab.exercises.core").modules().values():
        for task in [item for item in module.EXERCISES if hasattr(item, "solution")]:
            why = ""
            try:
                page.draw(task.id, module.__name__)
            except Exception as error:
                why = str(error) or type(error).__name__
            told[task.id] = {"module": module.__name__, "why": why}
    return told


def try_claims(page: Any, before: dict[str, dict[str, str]], results: Any) -> dict[str, dict[str, str]]:
    """Run the claims that can be run and are not in ``before`` as they are; hand what came out to the build's results.

    Returns:
        Of each claim its module, the digest of its inputs, and why it cannot run here. Of a module that cannot be
        imported nobody can say here which claims it has.
    """
    told: dict[str, dict[str, str]] = {}
    rooms = import_module("rope_lab.chapters")
    for room in pkgutil.iter_modules(rooms.__path__, "rope_lab.chapters."):
        folder = import_module(room.name)
        for module in pkgutil.iter_modules(folder.__path__, f"{room.name}."):
            if module.name.rpartition(".")[2].startswith("claims_"):
                with contextlib.suppress(ModuleNotFoundError):
                    import_module(module.name)
    ledger = import_module("rope_lab.claims.ledger")
    for name, claim in ledger.LEDGER.items():
        now, old = results.digest(claim), before.get(name)
        if claim.evidence != "read" and not (now and old and old["inputs"] == now):
            result = ledger.run(claim)
            never = re.search("|".join(page.NEVER), result.error)
            why = never[0] if never else result.error or ("it fails here" if result.failed else "")
            old = {"module": claim.check.__module__, "inputs": now, "why": why}
            if not why:
                results.keep(result, now)
        if old:
            told[name] = old
    results.save(results.kept)
    return told


if __name__ == "__main__":
    main(sys.argv[1])
