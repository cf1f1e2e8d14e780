"""Other libraries as witnesses: a reader's machine may lack them, CI may not."""

import importlib
import os
import warnings
from types import ModuleType

import pytest


def load(name: str) -> ModuleType:
    """Import a peer. Without it the test is skipped on a reader's machine, and fails in CI."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what a library warns of at its import is not ours to fix
            return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if "CI" in os.environ:
            pytest.fail(f"{name} is required in CI: pip install -r requirements-dev.txt ({error})")
        pytest.skip(f"{name} is not installed")
