"""Whatever foreign code does, an audit ends and says so in words."""

import os
import random
import signal
import sys

import numpy as np
import pytest
import torch

from rope_lab.audit import fingerprint, laws
from rope_lab.audit.audits import audit
from rope_lab.audit.foreign_code import time_limit

RAISES = {
    "at its call": ("def f(x, positions): raise {0}", "raised"),
    "when it is built": ("class f:\n    def __init__(self, dim): raise {0}", "raised"),
    "with its tables": (
        "def apply(q, k, cos, sin): return q, k\n"
        "class FRotaryEmbedding:\n    def __init__(self, dim): pass\n    def forward(self, positions): raise {0}\n"
        "f = apply",
        "",
    ),
    "when it is looked at": (
        "class Odd(type):\n    @property\n    def __signature__(cls): raise {0}\nclass f(metaclass=Odd): pass",
        "raised",
    ),
}
ERRORS = ["SystemExit(3)", "RecursionError('deep')", "MemoryError()", "GeneratorExit()", "ValueError('\\udcff')"]


@pytest.fixture
def written(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)

    def write(text):
        sys.modules.pop("hostile", None)
        (tmp_path / "hostile.py").write_text(text, encoding="utf-8")
        return "hostile:f"

    yield write
    sys.modules.pop("hostile", None)


@pytest.mark.parametrize("when", RAISES)
@pytest.mark.parametrize("error", ERRORS)
def test_an_error_becomes_words(when, error, written):
    seen = audit(written(RAISES[when][0].format(error)), head_dim=8)
    assert not seen.ok
    assert seen.skipped or seen.laws[0].saw.startswith("raised")


@pytest.mark.parametrize(
    "text", ["while True: pass", "while True:\n        try: open('x')\n        except Exception: pass"]
)
def test_a_call_without_end_is_stopped(text, written):
    seen = audit(written(f"def f(x, positions):\n    {text}"), head_dim=8, limit=0.2)
    assert seen.skipped == "no answer within 0.2 seconds"


def test_control_the_limit_stops_nothing_that_ends(written):
    assert audit(written("from rope_lab.audit.gallery import right as f"), head_dim=8, limit=60).ok


@pytest.mark.parametrize("seconds", [0, -1, 1e300, float("nan"), float("inf")])
def test_a_limit_that_is_no_time_is_refused(seconds):
    with pytest.raises(ValueError, match="limit: expected a finite number of seconds above 0"), time_limit(seconds):
        pytest.fail("the block was entered")


def state():
    numbers = (random.getstate(), np.random.get_state()[1].tolist(), torch.random.get_rng_state().tolist())  # noqa: NPY002
    return numbers, torch.get_default_dtype(), torch.get_default_device(), torch.is_grad_enabled(), np.geterr()


def disturb(x, _):
    torch.set_default_dtype(torch.float16)
    torch.set_default_device("meta")
    torch.set_grad_enabled(False)
    np.seterr(all="raise")
    np.random.seed(7)  # noqa: NPY002
    random.seed(7)
    os.chdir("/")
    sys.stdout = None
    return x


@pytest.mark.usefixtures("untyped")  # the check of types in tests draws from Python's random numbers
@pytest.mark.parametrize("ask", [fingerprint, laws])
def test_what_a_target_sets_for_the_process_is_put_back(ask):
    before, streams, here = state(), sys.stdout, os.getcwd()  # noqa: PTH109
    ask(disturb, head_dim=4)
    assert (sys.stdout, os.getcwd()) == (streams, here)  # noqa: PTH109
    for now, then in zip(state(), before, strict=True):
        assert now == then


def test_the_interrupt_of_a_target_is_told_from_ctrl_c():
    def raises(*_):
        raise KeyboardInterrupt

    def pressed(*_):
        signal.raise_signal(signal.SIGINT)

    assert "raised KeyboardInterrupt" in fingerprint(raises, head_dim=4).problems[0]
    assert laws(raises, head_dim=4)[0].saw.startswith("raised KeyboardInterrupt")
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        fingerprint(pressed, head_dim=4)
    assert signal.getsignal(signal.SIGINT) is before
