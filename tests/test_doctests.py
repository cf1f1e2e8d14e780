"""The examples in the docstrings are run, and print what they say."""

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MODULES = [  # with an example
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted(ROOT.glob("rope_lab/**/*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


def run(module) -> doctest.TestResults:
    return doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    found = run(importlib.import_module(name))
    assert found.attempted > 0
    assert found.failed == 0


def test_the_rooms_have_examples():
    rooms = {name.split(".")[1] for name in MODULES if "." in name}
    assert rooms >= {"algebra", "claims", "exercises", "nn", "show", "training"}


def test_control_a_wrong_example_is_reported(capsys):
    module = type(doctest)("wrong")
    module.__doc__ = ">>> 1 + 1\n3\n"
    assert run(module).failed == 1
    assert "Expected" in capsys.readouterr().out
