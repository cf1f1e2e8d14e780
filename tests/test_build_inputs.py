"""What the build executes again: the pages that depend on what changed, and only those."""

import json
from pathlib import Path

import page_inputs
import pytest

from book import build as driver

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def book(tmp_path) -> Path:
    """A tiny book: two pages with code, a package with a widget, a discovered subpackage and a card."""
    for name, text in {
        "rope_lab/__init__.py": "",
        "rope_lab/__init__.pyi": "from .show.hands import Hands as Hands\n",
        "rope_lab/algebra/__init__.py": "",
        "rope_lab/algebra/rotation.py": "A = 1\n",
        "rope_lab/algebra/other.py": "B = 1\n",
        "rope_lab/show/__init__.py": "",
        "rope_lab/show/hands.py": "from rope_lab.algebra import rotation\n",
        "rope_lab/show/hands.js": "export default {}\n",
        "rope_lab/claims/__init__.py": "",
        "rope_lab/claims/__init__.pyi": "from .ledger import verify as verify\n",
        "rope_lab/claims/ledger.py": "from rope_lab import chapters\n",
        "rope_lab/chapters/__init__.py": "",
        "rope_lab/chapters/ch01_one/__init__.py": "",
        "rope_lab/chapters/ch01_one/claims_blog.py": "from rope_lab.algebra.other import B\n",
        "rope_lab/chapters/ch01_one/figures.py": "C = 1\n",
        "rope_lab/chapters/ch01_one/board.py": "D = 1\n",
        "rope_lab/chapters/ch01_one/board.css": "",
        "rope_lab/show/figures/__init__.py": "",
        "rope_lab/show/figures/__init__.pyi": "from rope_lab.chapters.ch01_one import figures as one\n",
        "rope_lab/training/__init__.py": "",
        "rope_lab/training/results/cards.py": "",
        "rope_lab/results/a.json": "{}",
        "rope_lab/nn/rotary.py": "",
        "book/one.md": "# One\n\n```{code-cell} python\nfrom rope_lab import Hands\n```\n",
        "book/two.md": "# Two\n\n```{code-cell} python\n:tags: [x]\nfrom rope_lab.claims import verify\n```\n",
        "book/three.md": "```{code-cell} python\nfrom rope_lab.show.figures import one\n```\n",
        "book/plain.md": "# No code: from rope_lab.algebra import other\n",
        "benchmarks/cards/a.json": "{}",
        "book/speed.md": '```{code-cell} python\nopen("../benchmarks/cards/a.json")\n```\n',
        "book/cards.md": "```{code-cell} python\nfrom rope_lab.training.results import cards\n```\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    cell = {"cell_type": "code", "source": ["import numpy as np\n", "import rope_lab\n"]}
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "all.ipynb").write_text(json.dumps({"cells": [cell]}))
    return tmp_path


@pytest.mark.parametrize(
    ("changed", "pages"),
    [
        ("rope_lab/algebra/rotation.py", {"book/one.md", "notebooks/all.ipynb"}),
        ("rope_lab/show/hands.js", {"book/one.md", "notebooks/all.ipynb"}),
        ("rope_lab/algebra/other.py", {"book/two.md", "notebooks/all.ipynb"}),
        ("rope_lab/chapters/ch01_one/claims_blog.py", {"book/two.md", "notebooks/all.ipynb"}),
        ("rope_lab/chapters/ch01_one/figures.py", {"book/three.md", "notebooks/all.ipynb"}),
        ("rope_lab/chapters/ch01_one/board.css", {"notebooks/all.ipynb"}),  # of a widget that no page shows
        ("rope_lab/results/a.json", {"book/cards.md", "notebooks/all.ipynb"}),
        ("benchmarks/cards/a.json", {"book/speed.md"}),
        ("rope_lab/nn/rotary.py", {"book/speed.md", "notebooks/all.ipynb"}),  # has it changed since it was measured?
        ("README.md", set()),
    ],
)
def test_a_change_touches_the_pages_that_use_it(book, changed, pages):
    before = page_inputs.inputs_of_pages(book)
    (book / changed).write_text("# changed\n")
    after = page_inputs.inputs_of_pages(book)
    assert {page for page in after if page not in ("site", "sources") and after[page] != before[page]} == pages


def test_a_page_without_cells_is_not_executed(book):
    assert "book/plain.md" not in page_inputs.inputs_of_pages(book)


def test_an_unchanged_book_is_not_built_again(book, capsys, monkeypatch):
    calls = []

    def succeed(command, **_):
        calls.append(command)
        (book / "_build" / "html").mkdir(parents=True, exist_ok=True)
        (book / "_build" / "html" / "index.html").touch()
        return driver.subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(driver, "make", lambda *_: "")
    monkeypatch.setattr(driver.subprocess, "run", succeed)
    for name in ("_config.yml", "_toc.yml"):
        (book / name).touch()
    assert driver.build(book) == driver.build(book) == 0
    assert len(calls) == 1
    assert "Nothing has changed" in capsys.readouterr().out
    (book / "book" / "plain.md").write_text("# Other words\n")
    assert driver.build(book) == 0
    assert len(calls) == 2


@pytest.mark.deep
def test_every_executed_page_of_this_book_uses_a_module_of_ours():
    for page in page_inputs.executed_pages(ROOT):
        assert page_inputs.inputs_of(page, ROOT), page
