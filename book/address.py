"""Write the repository's address where it is printed: ``.venv/bin/python -m book.address``. The tests compare.

The first cell of a lab installs the release that it lies in; while the address is a placeholder it says how to install
from files, and no file links to the repository.
"""

import json
import re
from pathlib import Path

from book._ext.repository import ROOT, repository

INSTALLS = """# Run this cell first. In Colab it installs the book's package,
# and leaves the torch and numpy there as they are.
import importlib.util
import sys

package = "rope-lab[{extras}]"
release = "git+{address}@{tag}"
if None in map(importlib.util.find_spec, ("rope_lab", "{modules}")):
    if "google.colab" not in sys.modules:
        raise SystemExit(f'Please install it first: pip install "{{package}} @ {{release}}"')
    %pip install -q "{{package}} @ {{release}}"
"""
SAYS = """# Run this cell first: it looks for the book's package.
import importlib.util

if None in map(importlib.util.find_spec, ("rope_lab", "{modules}")):
    raise SystemExit(
        "Please install the package first. In a clone of the book: "
        "pip install '.[{extras}]'; with the wheel of a release: "
        "pip install './rope_lab-{version}-py3-none-any.whl[{extras}]'"
    )
"""


def first_cell(later: str, address: str, tag: str) -> str:
    """The first cell of a lab whose other cells are `later`; its tokenizers come with an extra of their own."""
    trains = "rope_lab.training.data" in later
    extras, modules = ("lab,train", 'anywidget", "tiktoken') if trains else ("lab", "anywidget")
    text = INSTALLS if address else SAYS
    return text.format(extras=extras, modules=modules, address=address, tag=tag, version=tag[1:]).rstrip()


def written(text: str, address: str, tag: str) -> str:
    """A lab's file with its first cell written anew."""
    book = json.loads(text)
    first, *rest = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    later = "".join("".join(cell["source"]) for cell in rest)
    first["source"] = first_cell(later, address, tag).splitlines(keepends=True)
    return json.dumps(book, indent=1, ensure_ascii=False) + "\n"


def expected(root: Path = ROOT) -> dict[Path, str]:
    """Each file that depends on the address, as it should be."""
    address, tag = repository(root)
    page = f"[this repository's page]({address}/security/advisories/new)" if address else "this repository's page"
    code = f"repository-code: {address}\n" if address else ""
    changes = {
        root / "CITATION.cff": (r"(?m)^(repository-code: .*\n)?(?=keywords:)", code),
        root / "SECURITY.md": (r"(?<=privately, on )(\[.*?\]\(.*?\)|this repository's page)", page),
    }
    files = {path: re.sub(*change, path.read_text(encoding="utf-8"), count=1) for path, change in changes.items()}
    labs = sorted(root.glob("notebooks/*.ipynb"))
    return files | {lab: written(lab.read_text(encoding="utf-8"), address, tag) for lab in labs}


if __name__ == "__main__":
    for path, text in expected().items():
        path.write_text(text, encoding="utf-8")
