"""The checker of signatures under pytest: beartype, with an int welcome where a float is expected.

Checking is the largest cost of the tests, so the first calls of each function in each test are checked, and the rest go
straight through: a test still checks every function that it calls. ``make deep PART=signatures`` checks all calls.
"""

import functools
import inspect
import os

import jaxtyping
from beartype import BeartypeConf, beartype
from jaxtyping import config

LIMIT = float(os.environ.get("ROPE_LAB_CHECKED_CALLS", "20"))  # of each function in each test; inf: all of them
jaxtyped = jaxtyping.jaxtyped  # before it is replaced
checked = beartype(conf=BeartypeConf(is_pep484_tower=True))
_test = 0


def new_test() -> None:
    """Count from zero again."""
    global _test  # noqa: PLW0603 - a closure could not be asked this quickly
    _test += 1


def limited(what=None, *, typechecker):
    """Decorate as jaxtyping does, within the limit."""
    if what is None:
        return functools.partial(limited, typechecker=typechecker)
    if inspect.isclass(what):
        free = what.__init__
        jaxtyped(what, typechecker=typechecker)  # replaces the __init__ of a dataclass, and nothing else
        if what.__init__ is not free:
            what.__init__ = _count(free, what.__init__)
        return what
    return _count(what, jaxtyped(what, typechecker=typechecker))


def _count(free, full):
    calls = test = 0

    @functools.wraps(full)
    def call(*args, **kwargs):
        __tracebackhide__ = True
        nonlocal calls, test
        if config.jaxtyping_disable:  # first: torch.compile follows no call that counts
            return free(*args, **kwargs)
        if test != _test:
            calls, test = 0, _test
        calls += 1
        return (full if calls <= LIMIT else free)(*args, **kwargs)

    return call
