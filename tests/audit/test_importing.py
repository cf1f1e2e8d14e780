"""Targets that a reader may name and that cannot be audited: a reason in words, never a traceback."""

import sys

import pytest

from rope_lab.audit.audits import audit
from rope_lab.audit.foreign_code import parameters_of

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


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    for name, text in MODULES.items():
        (tmp_path / f"targets_{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for name in MODULES:
        sys.modules.pop(f"targets_{name}", None)


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
