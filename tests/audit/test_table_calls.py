"""A module of one's own that gives tables is audited: alone, or with the function beside it that applies them."""

import pytest
import torch

from rope_lab.audit.audits import audit
from rope_lab.audit.gallery import GALLERY
from rope_lab.audit.table_calls import cos_sin_function
from rope_lab.commands import audit_commands
from tests.audit.implementations import Here, module_in

CLASS = """
import torch
from torch import nn

class RotaryEmbedding(nn.Module):
    def __init__(self, dim, base=10000.0):
        super().__init__()
        self.register_buffer("inv_freq", base ** (-torch.arange(0, dim, 2) / dim))

    def forward(self, positions):
        angle = torch.outer(positions.float(), self.inv_freq)
        angle = torch.cat((angle, angle), dim=-1)
        return angle.cos(), angle.sin()
"""
APPLY = """
def quarter(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)

def apply_rotary_pos_emb(q, k, cos, sin):
    return q * cos + quarter(q) * sin, k * cos + quarter(k) * sin
"""
ONE = (
    APPLY[: APPLY.index("def apply")]
    + """
def apply_rotary_emb(x, cos, sin):
    return x * cos + quarter(x) * sin
"""
)
NEIGHBOURS = ("torch.cat((angle, angle), dim=-1)", "angle.repeat_interleave(2, dim=-1)")
NARROW = ("        angle = torch.cat((angle, angle), dim=-1)\n", "")
PAIRS = (
    "    a, b = x.chunk(2, dim=-1)\n    return torch.cat((-b, a), dim=-1)",
    "    return torch.stack((-x[..., 1::2], x[..., ::2]), dim=-1).flatten(-2)",
)
UNSQUEEZED = ("    return q * cos", "    cos, sin = cos.unsqueeze(1), sin.unsqueeze(1)\n    return q * cos")
ANGLE = "positions.float()"
WAYS = {
    "positions": (),
    "x and positions": (
        ("self, positions", "self, x, positions"),
        ("return angle.cos(), angle.sin()", "return [angle.cos(), angle.sin()]"),
    ),
    "positions of a batch": (("self, positions", "self, x, position_ids"), (ANGLE, "position_ids[0].float()")),
    "a length": (("self, positions", "self, seq_len"), (ANGLE, "torch.arange(seq_len).float()")),
    "x and a length": (
        ("self, positions", "self, x, seq_len=None"),
        (ANGLE, "torch.arange(seq_len).float()"),
        ("angle.cos(), angle.sin()", "angle.cos()[None, None].to(x.dtype), angle.sin()[None, None]"),
    ),
}


@pytest.fixture
def examined(tmp_path, monkeypatch):
    """The audit of a module with this text; each pair is a part of the text and what stands in its place."""

    def examine(text, *changes, name="RotaryEmbedding"):
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        return audit(f"{write(text)}:{name}", head_dim=8)

    with module_in(tmp_path, monkeypatch, "own_tables") as write:
        yield examine


def broken(seen):
    assert seen.skipped is None, seen.skipped
    return {law.name for law in seen.laws if not law.ok and not law.caution}


@pytest.mark.deep(keep=3)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("width", "layout", "about"),
    [
        ((), "half-split", "gives tables, applied here in the half-split layout, as their entries repeat"),
        ((NEIGHBOURS,), "interleaved", "gives tables, applied here in the interleaved layout, as their entries repeat"),
        (
            (NARROW,),
            "half-split",
            "gives tables, applied here in the half-split layout; they do not say which coordinates pair",
        ),
    ],
)
def test_tables_alone(way, width, layout, about, examined):
    seen = examined(CLASS, *WAYS[way], *width)
    assert broken(seen) == set()
    print_ = seen.fingerprint
    assert (print_.layout, print_.base, print_.direction, print_.rotated_dims) == (layout, 10000.0, 1, 8)
    assert (print_.precision, seen.about) == ("float32", about)


@pytest.mark.deep(keep=1)  # each way, text and kind, not all of them with each other
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("layout", "text", "changes"),
    [("half-split", APPLY, ()), ("interleaved", APPLY, (NEIGHBOURS, PAIRS)), ("half-split", ONE, ())],
)
@pytest.mark.parametrize("by_class", [True, False])
def test_tables_and_the_function_that_applies_them(way, layout, text, changes, by_class, examined):
    name = "RotaryEmbedding" if by_class else "apply_rotary_emb" if text is ONE else "apply_rotary_pos_emb"
    seen = examined(CLASS + text, *WAYS[way], *changes, name=name)
    assert broken(seen) == set()
    assert (seen.fingerprint.layout, seen.fingerprint.base, seen.about) == (layout, 10000.0, "")


def test_tables_of_a_batch_go_to_the_function_as_they_are(examined):
    change = ("torch.outer(positions.float(), self.inv_freq)", "position_ids[..., None].float() * self.inv_freq")
    assert broken(examined(CLASS + APPLY, ("self, positions", "self, x, position_ids"), change, UNSQUEEZED)) == set()


@pytest.mark.parametrize("at", [[0.0, 1.0], [0.5], [-1, 0], [-2.0]])
def test_a_table_for_a_length_is_asked_for_its_rows_alone(at):
    """A negative row would be read from the end, and nothing would tell."""

    def forward(seq_len):
        angle = torch.arange(seq_len)[:, None] * torch.tensor([1.0, 0.01])
        return angle.cos(), angle.sin()

    tables = cos_sin_function(forward, head_dim=4)
    assert tables(None, torch.tensor([3, 1]))[0].tolist() == forward(4)[0][[3, 1]].tolist()
    with pytest.raises(IndexError, match="a table has whole rows from 0 to 131071"):
        tables(None, torch.tensor(at))


MISTAKES = [
    ("counting from one", CLASS, (ANGLE, "(positions + 1).float()")),
    ("decoding forgets the offset", CLASS, (ANGLE, "torch.arange(len(positions)).float()")),
    ("bf16 positions", CLASS, (ANGLE, "positions.bfloat16().float()")),
    ("bf16 angles", CLASS, ("self.inv_freq)\n", "self.inv_freq).bfloat16().float()\n")),
    ("mismatched cos/sin layout", CLASS + APPLY, NEIGHBOURS),
    ("q only", CLASS + APPLY, ("k * cos + quarter(k) * sin", "k")),
    ("opposite signs", CLASS + APPLY, ("k * cos +", "k * cos -")),
]


@pytest.mark.deep(keep=2)
@pytest.mark.parametrize(("name", "text", "change"), MISTAKES, ids=[name for name, *_ in MISTAKES])
def test_mistakes_of_the_gallery_are_found_by_the_law_that_it_names(name, text, change, examined):
    (mistake,) = [mistake for mistake in GALLERY if mistake.name == name]
    assert mistake.caught_by in broken(examined(text, change))


@pytest.mark.deep
def test_what_was_done_with_the_tables_is_printed(examined, capsys, monkeypatch):
    monkeypatch.setattr(audit_commands, "Auditor", Here)
    examined(CLASS)
    assert audit_commands.audit_target("own_tables:RotaryEmbedding", head_dim=8)
    assert (
        "\nnote          gives tables, applied here in the half-split layout, as their entries repeat\n"
        in capsys.readouterr().out
    )
    examined(CLASS + APPLY)
    audit_commands.audit_target("own_tables:RotaryEmbedding", head_dim=8)
    assert "note" not in capsys.readouterr().out


def test_the_direction_is_that_of_the_tables(examined):
    assert examined(CLASS, ("angle.sin()", "-angle.sin()")).fingerprint.direction == -1


def test_a_module_that_turns_x_itself_is_asked_as_it_is(examined):
    turns = ("return angle.cos(), angle.sin()", "return x * angle.cos() + quarter(x) * angle.sin()")
    seen = examined(CLASS + ONE.replace("apply_rotary_emb", "my_own"), ("self, positions", "self, x, positions"), turns)
    assert (broken(seen), seen.fingerprint.layout, seen.about) == (set(), "half-split", "")


def test_a_default_may_be_an_array(examined):
    text = "import numpy as np\n\ndef turn(x, positions, weights=np.array([1.0, 2.0])):\n    return x\n"
    assert broken(examined(text, name="turn")) == {"non-vacuity"}
    required = ("weights=np.array([1.0, 2.0])", "weights")
    assert examined(text, required, name="turn").skipped.startswith("no adapter for the parameters x, positions, weig")


@pytest.mark.parametrize(
    "change",
    [
        ("return angle.cos(), angle.sin()", "return angle"),
        ("self, positions", "self, positions, other"),
        ("angle.cos(), angle.sin()", "angle.cos()[:3], angle.sin()[:3]"),
        ("self, positions", "self, key"),
    ],
)
def test_what_gives_no_tables_is_skipped_with_the_reason(change, examined):
    reason = "RotaryEmbedding(8) gives no tables (cos, sin) for positions or seq_len; wrap it as f(x, positions)"
    assert examined(CLASS + APPLY, change).skipped == reason
