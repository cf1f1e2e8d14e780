"""The checker of signatures under pytest: beartype, with an int welcome where a float is expected.

Checking is the largest cost of the tests, so the first calls of each function in each test are checked, and the rest go
straight through: a test still checks every function that it calls. The check of a function is made when it is first
called. ``make deep PART=signatures`` makes the checks of all functions, and checks all calls.
"""

import collections
import functools
import inspect
import math
import os
from importlib.machinery import SourceFileLoader
from unittest.mock import patch

import jaxtyping
from beartype import BeartypeConf, beartype
from jaxtyping import _import_hook, config

LIMIT = float(os.environ.get("ROPE_LAB_CHECKED_CALLS", "5"))  # of each function in each test; inf: all of them
jaxtyped = jaxtyping.jaxtyped  # before it is replaced
checked = beartype(conf=BeartypeConf(is_pep484_tower=True))
calls = collections.Counter()  # by the code, since what a function defines is made anew by each of its calls
new_test = calls.clear


class Loader(_import_hook._JaxtypingLoader):
    """jaxtyping's, whose mark on the byte code would hold for all that a module imports: torch was compiled anew."""

    exec_module = SourceFileLoader.exec_module

    def get_code(self, fullname):
        marked = functools.partial(_import_hook._optimized_cache_from_source, self._typechecker.get_hash())
        with patch("importlib._bootstrap_external.cache_from_source", marked):
            return super().get_code(fullname)


def install() -> None:
    """Let all signatures of the package be checked that is imported from now on."""
    jaxtyping.jaxtyped, _import_hook._JaxtypingLoader = limited, Loader
    jaxtyping.install_import_hook("rope_lab", f"{__name__}.checked")


def limited(what=None, *, typechecker):
    """Decorate as jaxtyping does, within the limit."""
    if what is None:
        return functools.partial(limited, typechecker=typechecker)
    if inspect.isclass(what):
        free = what.__init__
        jaxtyped(what, typechecker=typechecker)  # replaces the __init__ of a dataclass, and nothing else
        if what.__init__ is not free:
            what.__init__ = _count(free, lambda full=what.__init__: full)
        return what
    return _count(what, functools.partial(jaxtyped, what, typechecker=typechecker))


def _count(free, check):
    key, full = id(free.__code__), None

    @functools.wraps(free)
    def call(*args, **kwargs):
        __tracebackhide__ = True
        nonlocal full
        if config.jaxtyping_disable:  # first: torch.compile follows no call that counts
            return free(*args, **kwargs)
        calls[key] += 1
        if calls[key] > LIMIT:
            return free(*args, **kwargs)
        full = full or check()
        return full(*args, **kwargs)

    if math.isinf(LIMIT):
        full = check()
    return call
