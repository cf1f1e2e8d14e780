"""Labs where transformers is absent or old: each cell that asks for it says so in words, and goes on."""

import contextlib
import io
import sys
from pathlib import Path
from types import ModuleType

import pytest
from page_inputs import cells

from rope_lab.audit import length_dependence

ROOT = Path(__file__).resolve().parents[1]
ASKS = ("transformers.", "length_dependence")
STORED = length_dependence(stored=True)


def old():
    found = ModuleType("transformers")
    found.__version__ = "4.40.0"
    return found


@pytest.fixture(params=[None, old()], ids=["absent", "old"])
def without(request, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("transformers.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "transformers", request.param)


def asked(page: Path) -> list[str]:
    """The code up to the last cell that asks for transformers."""
    code = [cell for cell in cells(page) if "%pip" not in cell]
    last = max(at for at, cell in enumerate(code) if any(word in cell for word in ASKS))
    return code[: last + 1]


@pytest.mark.deep(keep=1)
@pytest.mark.usefixtures("without")
@pytest.mark.filterwarnings("ignore")  # of cells that draw
def test_a_lab_says_so_and_goes_on():
    page, says = (
        "notebooks/19_longer_texts.ipynb",
        f"Asked of transformers {STORED['transformers']} on {STORED['date']}",
    )
    told, names = io.StringIO(), {"display": print}
    with contextlib.redirect_stdout(told):
        for cell in asked(ROOT / page):
            exec(compile(cell, page, "exec"), names)
    assert says in told.getvalue() + str(names.get("table", ""))
