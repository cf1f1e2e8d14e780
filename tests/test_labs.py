"""A lab is an experiment with the reader's hand in it: pictures, controls, cells to fill, in short rows."""

import json
import re
from pathlib import Path

import pytest

from rope_lab.exercises import core, load

ROOT = Path(__file__).resolve().parents[1]
LABS = {lab.stem: lab for lab in sorted((ROOT / "notebooks").glob("*.ipynb"))}
IN_A_ROW = 5  # cells that one only runs

PICTURE = re.compile(r"\b(?:plots|figures)\.\w+\(|\bsvg\.figure\(|\bplay\(")
CONTROL = re.compile(r"\bplay\(|\bfrom (?:ipywidgets|rope_lab\.show\.widgets) import\b")
TO_FILL = re.compile(r"^\s*(?:def .*: \.\.\.|\.\.\.)$|\bcheck\(.*\.\.\.\)|^\w+ = \.\.\.", re.MULTILINE)
ASKED = re.compile(r'\bcheck\(\s*"([\w.-]+)"')
CHANGE_ME = re.compile(r"\A# Change me[^\n]*\n(?:#[^\n]*\n)*\w+ = ")


def cells(lab: Path) -> list[tuple[str, str, list[str]]]:
    """What kind each cell is, its source, its tags."""
    book = json.loads(lab.read_text(encoding="utf-8"))
    return [(c["cell_type"], "".join(c["source"]), c["metadata"].get("tags", [])) for c in book["cells"]]


def longest_row(found: list[tuple[str, str, list[str]]]) -> int:
    """The most code cells between two that ask for the reader's hand."""
    row, most = 0, 0
    for kind, source, tags in found:
        if kind == "code":
            row = 0 if "experiment" in tags or TO_FILL.search(source) or CONTROL.search(source) else row + 1
            most = max(most, row)
    return most


def missing(found: list[tuple[str, str, list[str]]]) -> list[str]:
    """What a lab has too little of."""
    code = [source for kind, source, _ in found if kind == "code"]
    experiments = [source for kind, source, tags in found if kind == "code" and "experiment" in tags]
    go_on = "\n".join(source for _, source, _ in found).partition("\n## Go on\n")[2]
    counts = {
        "pictures": (sum(bool(PICTURE.search(source)) for source in code), 2),
        "controls": (sum(bool(CONTROL.search(source)) for source in code), 1),
        "cells to fill": (sum(bool(TO_FILL.search(source)) for source in code), 4),
        "experiment cells": (len(experiments), 1),
        "checks in Go on": (len(ASKED.findall(go_on)), 1),
    }
    few = [f"{what}: {count}, expected at least {least}" for what, (count, least) in counts.items() if count < least]
    few += [
        f"an experiment begins with '# Change me', then its parameters: {source.splitlines()[0]}"
        for source in experiments
        if not CHANGE_ME.match(source)
    ]
    row = longest_row(found)
    return few + ([f"{row} cells in a row that one only runs, expected at most {IN_A_ROW}"] if row > IN_A_ROW else [])


@pytest.mark.parametrize("lab", LABS)
def test_a_lab_has_the_readers_hand_in_it(lab):
    assert missing(cells(LABS[lab])) == []


@pytest.mark.parametrize("prefix", core.modules())
def test_what_a_lab_alone_asks_is_asked_there_in_order(prefix):
    begins = "small_model" if prefix == "ch00" else f"{prefix[2:]}_"
    (lab,) = [path for name, path in LABS.items() if name.startswith(begins)]
    asked = [name for _, source, _ in cells(lab) for name in ASKED.findall(source)]
    alone = [item.id for item in getattr(core.modules()[prefix], "LAB", ())]
    assert [name for name in asked if name in alone] == alone
    assert set(asked) <= set(load())
    assert alone


CODE = ("code", "x = 1", [])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda lab: [c for c in lab if not PICTURE.search(c[1])], "pictures: 0"),
        (lambda lab: [c for c in lab if not CONTROL.search(c[1])], "controls: 0"),
        (lambda lab: [c for c in lab if not TO_FILL.search(c[1])], "cells to fill: 0"),
        (lambda lab: [c for c in lab if "experiment" not in c[2]], "experiment cells: 0"),
        (lambda lab: [c for c in lab if "Go on" not in c[1]], "checks in Go on: 0"),
        (lambda lab: [*lab, ("code", "x = 1", ["experiment"])], "begins with '# Change me'"),
        (lambda lab: [*lab, *[CODE] * 6], "6 cells in a row"),
    ],
)
def test_control(change, said):
    lab = [
        ("code", "# Change me\nbase = 10\nplots.maps(made(base))", ["experiment"]),
        *[("code", "def f(x): ...", [])] * 4,
        *[CODE] * 5,
        ("code", "play(draw, base=(1, 10))", []),
        ("markdown", "\n## Go on\n", []),
        ("code", 'check("ch01.found", ...)', []),
    ]
    assert missing(lab) == []
    assert any(said in line for line in missing(change(lab)))
