"""Whatever is passed to a public function: it answers, or says what it expected and what it got."""

# ruff: noqa: ARG005, E501 - functions under test need not use their arguments; the tables are tables
import inspect
import os
import resource
import signal
import sys
import types
import warnings
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest
import sympy as sp
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import rope_lab
from rope_lab import algebra
from rope_lab.errors import RopeLabError

pytestmark = [
    pytest.mark.usefixtures("untyped"),
    pytest.mark.skipif(sys.platform != "linux", reason="memory is bounded by the system"),
]
EXAMPLES = int(os.environ.get("ROPE_LAB_EXAMPLES", "8"))  # of each function: a part of `make deep` asks for more
SEED = int(os.environ.get("ROPE_LAB_SEED", "0"))  # and each night for others
SECONDS = 20  # of this process; what is small is answered in milliseconds
NAMES = [name for name in algebra.__all__ if isinstance(getattr(algebra, name), types.FunctionType)]
NAMES = [name for name in NAMES if inspect.signature(getattr(algebra, name)).parameters]

X, TURN, SQUARE, HEADS = np.arange(8.0).reshape(2, 4), [[0.6, -0.8], [0.8, 0.6]], np.eye(4), np.ones((2, 4, 4))
RANKS, SKEW, WORD = {"a": 1, "b": 2, "c": 3}, np.array([[0.0, -2], [2, 0]]), algebra.R_T(1) * algebra.R(2)
FOUR = algebra.skew_4d([1, 2, 3, 4, 5, 6])
CONFIG = {"hidden_size": 64, "num_attention_heads": 4, "model_type": "llama"}
GGUF = {"general.architecture": "llama", "llama.embedding_length": 64, "llama.attention.head_count": 4}
FITS = {  # what a function takes: by the name of its argument, or by its own name and that
    "A": SKEW, "B": SKEW, "B_1": SKEW, "B_2": SKEW, "J": algebra.times_i(4), "O": TURN, "P": SQUARE, "R": TURN,
    "W": SQUARE, "W_k": HEADS, "W_q": HEADS, "W_v": HEADS, "absorbed": True, "above": 0.5, "angle": 1.0,
    "angles": [0.0], "axis": [0, 1.0], "basis": TURN, "by": 1.0, "c": X, "complex_linear": True, "config": CONFIG, "context": 3,
    "differences": [1.0, -2, 3], "entries": [1, 2, 3, 4, 5, 6.0], "factors": [1j], "family": algebra.rotation_2d,
    "form": SQUARE, "gamma": 0.9, "head_dim": 4, "k": X, "k_moments": SQUARE, "k_positions": [0, 1], "k_rope": X,
    "length": 4, "m": sp.Symbol("m"), "maps": SQUARE, "margin": 2.0, "matrix": TURN, "n": 2, "n_heads": 2,
    "offset": 1.0, "offsets": [1, 2], "order": 2, "ours": RANKS, "p": {"a": 0.01, "b": 0.5}, "path": __file__,
    "permutation": [1, 0, 2], "places": [[0, 1]], "planes": 2, "position": 1.0, "positions": [0, 1], "q": X, "q_moments": SQUARE,
    "q_positions": [0, 1], "q_rope": HEADS[:, :2], "reading": "qkv", "rng": np.random.default_rng(0), "rotated": "qk",
    "rounding": algebra.Rounding(), "s": [1.0, 2], "scheme": "gqa", "sections": [1, 1], "shape": algebra.MODELS[0],
    "shift": 1.0, "size": 4, "source": GGUF, "steps": 2, "store": "bfloat16", "subset": "qk",
    "table": [[1.0, 0], [0, 0.1]], "theirs": RANKS, "theta": [1.0, 0.1], "trained": [1.0, 0.1], "until": 20, "v": X, "values": [1, 2, 3], "way": "undo",
    "width": 4, "window": 8, "word": WORD, "x": X, "y": 1.0, "z": X + 0j,
    "absorb_generators B": FOUR, "attention_logits B": FOUR, "adapted_axis O": np.diag([1.0, -1]), "angles_4d B": FOUR,
    "halves_4d B": FOUR, "power_4d B": FOUR, "absorbed q": HEADS[:, :2], "expanded q": HEADS[:, :2],
    "spliced q": HEADS[:, :2], "commutator A": algebra.X, "commutator B": algebra.Y, "gauge W_q": X, "gauge W_k": X,
    "grid_turn x": 1.0, "grid_law_residual span": (0.0, 1.0), "induction_step n": sp.Symbol("n"), "kernel q": [1.0, 2],
    "kernel k": [1.0, 2], "one_dimensional window": 1, "relative_features values": [1.0, 1.0], "relative_features width": 1,
    "rounded_logits q": X[0], "rounded_logits k": X[0], "solution basis": np.eye(2), "cycles permutation": [1, 0],
    "parameters shape": algebra.ModelShape(width=8, heads=2, layers=1), "stored store": "float16",
}  # fmt: skip
FITS |= {f"{name} shape": FITS["parameters shape"] for name in ("cache", "saving", "multiplications")}
ODD = [
    None, True, False, "", "x", "half", "\x1b[2J", "x" * 5000, b"x", {}, {"a": 1}, {"a": None}, {1: 2}, {"x": "y"}, [], (),
    [[1], [1, 2]], [None], ["a"], [[]], range(3), range(10**12), set(), {1}, float("nan"), float("inf"), -1, 0, 1, 2, 3, 5, 7, 16, 1.5,
    1e300, -1e300, 2**31, 2**63, 10**6, 10**9, 10**12, 10**400, -(10**400), 10**5000, 1j, complex("nan"), Fraction(1, 3),
    sp.Symbol("x"), sp.nan, sp.zoo, np.float32(2), np.int8(-3), np.bool_(True), np.nan, object(), int, lambda x: x, lambda: 1,
    np.ma.masked, iter([1]), [float("nan")] * 4, [1e300] * 2, np.eye(2) * 1e200, np.eye(4) * 1e308, [10**400], "1", 5e-324, 33,
    np.zeros(0), np.zeros((3, 0)), np.array(3.0), np.array(["x"]), np.array([None]), np.datetime64("2020-01-01"),
]  # fmt: skip
KINDS = [
    "float64",
    "float64",
    "float32",
    "float16",
    "int8",
    "int64",
    "uint64",
    "bool",
    "complex128",
    "O",
    "U3",
    "S2",
    "M8[D]",
]
NUMBERS = st.sampled_from([0, 1, 2, -1, 0.5, float("nan"), float("inf"), 1e300, -3, 2**62, 127])


@st.composite
def arrays(draw):
    shape = tuple(draw(st.lists(st.sampled_from([0, 1, 2, 3, 4, 5, 8]), max_size=4)))
    values = draw(st.one_of(st.just([1]), st.lists(NUMBERS, min_size=1, max_size=8)))
    whole = np.resize(np.array(values, dtype=object), shape)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return whole.astype(draw(st.sampled_from(KINDS)))
        except (OverflowError, ValueError, TypeError):
            return whole.astype(float)


ANY = st.one_of(st.sampled_from(ODD), arrays())


def fitting(name):
    """Arguments that the function answers."""
    f = getattr(algebra, name)
    hints = {k: v for k, v in get_type_hints(f).items() if get_origin(v) is Literal}
    found = {}
    for each in inspect.signature(f).parameters.values():
        usual = get_args(hints[each.name])[0] if each.name in hints else FITS.get(each.name)
        default = usual if each.default is each.empty else each.default
        found[each.name] = FITS.get(f"{name} {each.name}", default)
    return found


def call(f, given_):
    front, named = [], {}
    for each in inspect.signature(f).parameters.values():
        if each.kind is each.KEYWORD_ONLY:
            named[each.name] = given_[each.name]
        else:
            front.append(given_[each.name])
    with warnings.catch_warnings(), np.errstate(all="ignore"), bounded():
        warnings.simplefilter("ignore")
        return f(*front, **named)


@contextmanager
def bounded(memory=2 << 30):
    """Raise where a call takes a gigabyte too much, or seconds."""

    def late(*_):
        raise AssertionError(f"no answer within {SECONDS} seconds of work")

    alarm = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    before = resource.getrlimit(resource.RLIMIT_AS)
    with Path("/proc/self/statm").open() as now:
        resource.setrlimit(
            resource.RLIMIT_AS, (int(now.read().split()[0]) * resource.getpagesize() + memory, before[1])
        )
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, alarm)
        resource.setrlimit(resource.RLIMIT_AS, before)


def refused(error, family=(ValueError, TypeError)):
    """Whether an error is one that a reader can put right."""
    return isinstance(error, family) and "expected" in str(error) and "got" in str(error)


def ask(f, given_, family=(ValueError, TypeError)):
    try:
        call(f, given_)
    except Exception as error:
        if not refused(error, family):
            raise


@pytest.mark.parametrize("name", NAMES)
@seed(SEED)
@settings(max_examples=EXAMPLES, database=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_function_of_algebra_answers_or_refuses_in_words(name, data):
    usual = fitting(name)
    odd = data.draw(st.lists(st.sampled_from(sorted(usual)), min_size=1, max_size=3, unique=True))
    ask(getattr(algebra, name), usual | {each: data.draw(ANY) for each in odd})


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"gguf_metadata"}))  # no such file lies here
def test_each_answers_what_fits(name):
    call(getattr(algebra, name), fitting(name))


STATE = {f"layers.0.{name}_proj.weight": np.ones((8, 8)) for name in "qk"}
LAYOUTS = {"layout_from": "half", "layout_to": "interleaved"}


def permute(state=STATE, **changed):
    return rope_lab.permute_state(state, **{"n_heads": 2, **LAYOUTS, **changed})


def seen(f=lambda x, positions: x, **changed):
    return rope_lab.fingerprint(f, **{"head_dim": 4, **changed})


OWN = {
    "from_hf": lambda x, y: rope_lab.RotaryConfig.from_hf(x, layer_type=y),
    "from_hf's layout": lambda x, y: rope_lab.RotaryConfig.from_hf(x, layout=y),
    "from_gguf": lambda x, y: rope_lab.RotaryConfig.from_gguf(x, layer_type=y),
    "from_gguf's layout": lambda x, y: rope_lab.RotaryConfig.from_gguf(GGUF, layer_type=x, layout=y),
    "permute_state": lambda x, y: permute(x, leave=y),
    "permute_state's arrays": lambda x, y: permute(dict(zip(STATE, (x, y), strict=True))),
    "permute_state's layouts": lambda x, y: permute(layout_from=x, layout_to=y),
    "permute_state's sizes": lambda x, y: permute(n_heads=x, n_kv_heads=y),
    "permute_state's rows": lambda x, y: permute(rotary_dim=x, rotary_start=y),
    "permute_state's parts": lambda x, y: permute(parts=x, fused=y),
    "permute_state's names": lambda x, y: permute(within=x, leave=y),
    "load_model": lambda x, y: rope_lab.load_model(x, tokenizer=y),
    "fingerprint": lambda x, y: seen(x, head_dim=4),
    "fingerprint's answer": lambda x, y: seen(lambda q, positions: x),
    "fingerprint's width": lambda x, y: seen(head_dim=x),
    "fingerprint's window": lambda x, y: seen(window=x),
    "fingerprint's settings": lambda x, y: seen(settings=x),
    "laws": lambda x, y: rope_lab.laws(x, head_dim=4, keys=y, only=["isometry"]),
    "laws' expected": lambda x, y: rope_lab.laws(lambda q, positions: q, head_dim=4, expected=x, only=["isometry"]),
    "laws' settings": lambda x, y: rope_lab.laws(lambda q, positions: q, head_dim=4, settings=x, only=y),
    "laws' window": lambda x, y: rope_lab.laws(lambda q, positions: q, head_dim=x, window=y, only=["isometry"]),
}
LOOP: list = []
LOOP.append(LOOP)
MORE = st.one_of(ANY, st.sampled_from([LOOP, {"x": LOOP}]))
WORDS = st.sampled_from(["hidden_size", "head_dim", "num_attention_heads", "rope_theta", "rope_scaling", "model_type"])


@pytest.mark.parametrize("name", OWN)
@seed(SEED)
@settings(max_examples=EXAMPLES, database=None, suppress_health_check=list(HealthCheck))
@given(x=st.one_of(MORE, st.dictionaries(WORDS, MORE).map(lambda d: CONFIG | d)), y=MORE)
def test_what_models_pass_through_answers_or_refuses_in_words(name, x, y):
    ask(OWN[name], {"x": x, "y": y}, family=RopeLabError)


@pytest.mark.parametrize(
    "f", [lambda x: x + 1, lambda x: np.zeros(2**40), lambda x: {}[x], lambda x: int("x"), lambda x: 1 / 0 if x else 0]
)
def test_control_a_function_that_does_not_look_is_seen(f):
    with pytest.raises(Exception, match=r"^(?!.*expected.*got)"):
        ask(f, {"x": "one"})
