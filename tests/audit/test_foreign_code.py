"""Whatever foreign code is and does, an audit ends and says so in words: a reason in one line, never a traceback."""

import os
import random
import signal
import sys

import numpy as np
import pytest
import torch

from rope_lab.audit import fingerprint, laws
from rope_lab.audit.audits import audit
from rope_lab.audit.foreign_code import in_a_line, parameters_of, time_limit, told
from tests.audit.implementations import module_in


def test_a_long_message_ends_at_a_word_with_an_ellipsis():
    said = in_a_line("The dimensions of the heads do not match " * 9)
    assert len(said) <= 160
    assert said.endswith(" …")
    assert said.removesuffix(" …").split()[-1] in {"The", "dimensions", "of", "the", "heads", "do", "not", "match"}


def test_control_a_short_message_stays():
    assert in_a_line("it has\n  no end-of-text") == "it has no end-of-text"


def test_code_stands_without_backquotes():
    assert told(ValueError("`d_head` (64) should be ``d``")) == "ValueError: d_head (64) should be d"


@pytest.mark.parametrize("error", [ValueError(), ValueError(""), ValueError("\n")])
def test_an_error_without_a_message_is_its_name(error):
    assert told(error) == "ValueError"


MINE = """
from torch import nn

number, nothing = 3, None

def apply_rotary_pos_emb(q, k, cos, sin):
    return q, k

class MyRotaryEmbedding(nn.Module):
    def __init__(self, dim):
        super().__init__()
"""
NO_HINT = MINE.replace("dim)", "config)")
CONFIG = "class Config:\n    def __init__(self): raise OSError('no folder')\n"
UNBUILT = CONFIG + MINE.replace("dim)", "config: Config)")
MODULES = {
    "mine": MINE,
    "no_hint": NO_HINT,
    "unbuilt": UNBUILT,
    "broken": "def f(:",
    "raises": "raise RuntimeError('not today')",
    "builds": "raise RuntimeError('operator torchvision::nms does not exist')",
    "leaves": "import sys; sys.exit(3)",
    "needs": "import no_such_library",
    "angles": "def f(t, freqs): return t\ndef g(tensor, sin, cos): return tensor\n",
}


@pytest.fixture
def targets(tmp_path, monkeypatch):
    for name, text in MODULES.items():
        (tmp_path / f"targets_{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for name in MODULES:
        sys.modules.pop(f"targets_{name}", None)


@pytest.mark.usefixtures("targets")
@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("mine:number", "it is not callable: int; name a function"),
        ("mine:nothing", "it is not callable: NoneType"),
        ("mine:nn", "it is not callable: module"),
        (
            "mine:apply_rotary_pos_emb",
            "MyRotaryEmbedding(64) gives no tables (cos, sin) for positions or seq_len; wrap it",
        ),
        ("no_hint:apply_rotary_pos_emb", "MyRotaryEmbedding takes no config whose class it names; wrap it"),
        ("unbuilt:apply_rotary_pos_emb", "MyRotaryEmbedding cannot be built: OSError: no folder"),
        ("unbuilt:MyRotaryEmbedding", "MyRotaryEmbedding cannot be built: OSError: no folder"),
        ("broken:f", "targets_broken cannot be imported: SyntaxError: invalid syntax"),
        ("raises:f", "targets_raises cannot be imported: RuntimeError: not today"),
        ("builds:f", "targets_builds cannot be imported: torch and torchvision are of different builds"),
        ("leaves:f", "targets_leaves cannot be imported: SystemExit: 3"),
        ("needs:f", "targets_needs cannot be imported: No module named 'no_such_library'"),
        ("angles:f", "targets_angles has no RotaryEmbedding that would build the tables"),
        ("angles:g", "targets_angles has no create_sinusoidal_positions that would build the tables"),
    ],
)
def test_what_cannot_be_audited_is_skipped_with_the_reason(target, reason):
    assert audit(f"targets_{target}").skipped.startswith(reason)


def test_a_builtin_without_a_signature_is_skipped():
    assert audit("builtins:dict").skipped == "it does not say what its parameters are; wrap it as f(x, positions)"


@pytest.mark.parametrize(
    ("target", "said"),
    [
        (":f", "expected MODULE:NAME, got ':f'"),
        (".py:f", "expected MODULE:NAME"),
        (".:f", "expected MODULE:NAME"),
        ("..mine:f", "expected MODULE:NAME"),
        ("folder/mine.py:f", "got the path 'folder/mine.py:f'; stand in its folder"),
    ],
)
@pytest.mark.usefixtures("untyped")
def test_a_target_of_another_form_is_refused(target, said):
    with pytest.raises(ValueError, match=f"target: .*{said}"):
        audit(target)


def test_annotations_that_a_type_checker_alone_can_resolve_are_text():
    """Since Python 3.14 they need no quotes, and asking for the signature evaluates them."""
    quote = "" if sys.version_info >= (3, 14) else '"'
    names: dict = {}
    exec(f"def f(q: {quote}Tensor{quote}): ...", names)
    assert {name: p.annotation for name, p in parameters_of(names["f"]).items()} == {"q": "Tensor"}


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
    with module_in(tmp_path, monkeypatch, "hostile") as write:
        yield lambda text: f"{write(text)}:f"


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
