"""Run the cells and claims that are to run in a page with what a page has, and print as JSON which cannot run, and why.

A process of its own: every module that no bundle brings is refused at the door, PyTorch first of all. It is the code of
the browser, `page`, under the build's own interpreter; what only a browser can show, the tests of the site look for.
"""

import json
import sys
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.metadata import MetadataPathFinder
from pathlib import Path
from typing import Any

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
ALSO |= {"six", "sortedcontainers", "wadler_lindig", "book"}  # of the bundles' own, and this file


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
    page = import_module("book.live.page")
    page.start(job["modules"])
    page.loaded.update(job["modules"], ["results"])
    out, sys.stdout = sys.stdout, Path(file).with_name("said").open("w", encoding="utf-8")
    told = {"pages": {name: page.try_cells(cells) for name, cells in job["pages"].items()}, "claims": page.try_claims()}
    sys.stdout = out
    print(json.dumps(told))


if __name__ == "__main__":
    main(sys.argv[1])
