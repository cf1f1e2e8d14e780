"""The page's reader of a configuration is the package's twin: the same settings, or a refusal in the same words."""

import copy
import json
import math
import random
import shutil
import subprocess
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

import rope_lab.chapters.ch00_intro
from rope_lab.algebra import DynamicNTK, LongRoPE, Schedule, rope_settings
from rope_lab.algebra.hf_rope import families, words
from rope_lab.chapters.ch00_intro.tapestry import MODELS, Tapestry, frequencies_of
from rope_lab.errors import ArgumentError
from rope_lab.reading import parse_json
from rope_lab.show.widgets.kit import join
from tests.algebra import hf_families
from tests.algebra.test_hf_schedules import KINDS, LLAMA_3, LONG, PLAIN, RANGES, YARN

pytestmark = [
    pytest.mark.usefixtures("untyped"),
    pytest.mark.skipif(not shutil.which("node"), reason="node is not installed: the page's script cannot run here"),
]
SCRIPT = Path(rope_lab.chapters.ch00_intro.__file__).with_name("tapestry_config.js")
RUN = """
import { readFileSync } from "node:fs";
const tried = (f) => { try { return { read: f() }; } catch (error) { return { refused: error.message }; } };
const { cases, limits } = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(cases.map(([text, layer]) =>
  tried(() => (limits ? read(parse(text), limits).settings : rope(parse(text), layer))))));
"""
LAYERS = (None, "full_attention", "sliding_attention")
PUBLISHED = [
    row["file"] for row in json.loads(Path(hf_families.__file__).with_name("published_files.json").read_text())
]
FAMILIES = families()["families"]
GEMMA4 = {
    "model_type": "gemma4_text",
    "num_hidden_layers": 4,
    "layer_types": ["sliding_attention", "full_attention"] * 2,
}
FILES = [  # those of the package's own tests, and each family's default
    *PUBLISHED,
    *(PLAIN | more for more in (*KINDS.values(), *RANGES.values())),
    *(PLAIN | {"rope_scaling": rule} for rule in (YARN, LONG, LLAMA_3, LLAMA_3 | {"high_freq_factor": 1.0})),
    *({"model_type": kind} for kind in (*FAMILIES, *families()["still"][:9], *families()["own"][:9], "nobody's")),
    *(
        GEMMA4 | {"per_layer_config": {i: {"head_dim": 8}, "03": own}}
        for i in ("01", "02")  # JavaScript puts a bare number first
        for own in ({"head_dim": 8}, {})
    ),
]
NAMES = [
    "model_type",
    "layer_types",
    "no_rope_layers",
    "alpha",
    "yarn",
    "rotary_pct",
    "rope_theta",
    "my_rope",
    "n_head",
]
NAMES += [
    "position_embedding_type",
    "per_layer_config",
    "sliding_window",
    "num_hidden_layers",
    "alibi",
    *words("rule"),
    *words("widths"),
]
VALUES = [None, True, False, 0, -1, 2, 64, 64.0, 0.0, 0.5, 1e6, 1e16, 1.5e-7, math.inf, math.nan, "64", "it's", "llama"]
VALUES += [
    "\"'\n\x7f\xa0é\u200b😀",
    [],
    [64.0],
    [1, 0, 1],
    ["full_attention", 3],
    {},
    {"a": [1e6, {"b": None}]},
    YARN,
    LONG,
]
VALUES += [{"full_attention": {"rope_theta": 5e4}, "sliding_attention": None}, {"beta": 64, "factor": 4.0, "alpha": 1}]
VALUES += [
    {"00": {"head_dim": 64}, "01": {"head_dim": 8}},
    {"+2": {"head_dim": 64.0, "rope_theta": 1e6}},
    [{}, {"head_dim": 8}],
]


def mutated(rng):
    """One of the files with a few things changed that readers' files get wrong, and more."""
    file = copy.deepcopy(rng.choice(FILES))
    for _ in range(rng.randint(1, 3)):
        part = rng.choice([file, *(v for v in file.values() if isinstance(v, dict))])
        key, how = rng.choice([*part, rng.choice(NAMES)]), rng.randrange(5)
        if how == 0:
            part.pop(key, None)
        elif how == 1:
            part[key] = str(part.get(key, 4.0))
        elif how == 2:
            file["model_type"] = rng.choice([*FAMILIES])
        elif how == 3:
            file = {rng.choice(words("text")): file} | (
                {"model_type": rng.choice([*FAMILIES])} if rng.random() < 0.5 else {}
            )
        else:
            part[rng.choice([key, rng.choice(NAMES)])] = copy.deepcopy(rng.choice(VALUES))
    return file


def theirs(cases, folder, limits=None, wrong=("", "")):
    """What the page's script says of each case, asked in one process."""
    script, module = join(SCRIPT), folder / "reader.mjs"
    assert wrong[0] in script
    module.write_text(script.replace(*wrong) + RUN, encoding="utf-8")
    asked = json.dumps({"cases": cases, "limits": limits})
    command = [shutil.which("node"), str(module)]
    return json.loads(subprocess.run(command, input=asked, capture_output=True, text=True, check=True).stdout)


def ours(text, layer):
    try:
        found = rope_settings(json.loads(text), layer_type=layer)
    except (TypeError, ValueError) as error:
        return {"refused": str(error)}
    return {"read": asdict(found) | {"schedule": {"name": type(found.schedule).__name__, **asdict(found.schedule)}}}


def alike(one, other):
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, bool | str | None) or isinstance(other, bool | str | None):
        return one == other and isinstance(one, bool) == isinstance(other, bool)
    return math.isclose(one, other, rel_tol=1e-12)


def differences(files, folder, layers=LAYERS, **options):
    cases = [(json.dumps(file), layer) for file in files for layer in layers]
    expected = [ours(*case) for case in cases]
    lines = [
        f"{layer}: {text[:400]}\n  package: {one}\n  page: {other}"
        for (text, layer), one, other in zip(cases, expected, theirs(cases, folder, **options), strict=True)
        if not alike(one, other)
    ]
    return lines, sum("read" in one for one in expected), len(cases)


def test_files_are_read_alike_or_refused_in_the_same_words(tmp_path):
    rng = random.Random(20)
    lines, read, cases = differences([*FILES, *(mutated(rng) for _ in range(500))], tmp_path)
    assert not lines, "\n".join(lines[:9])
    assert min(read, cases - read) > 500


def test_a_rule_of_any_kind_is_read_or_refused_as_the_package_does(tmp_path):
    rules = [*VALUES, "constructor", "__proto__", "a" * 20_000, [[1]], {"type": {}}]
    rules += [{"rope_type": kind, "factor": 2.0} for kind in ("constructor", "toString", "__proto__", None, [], "4")]
    rules += [{"rope_type": "linear", "factor": factor} for factor in ("4", None, [], math.nan, True)]
    names = ("rope_scaling", "rope_parameters", "model_type", "constructor")
    files = [*rules, *({"head_dim": 64, name: rule} for name in names for rule in rules)]
    lines, read, cases = differences(files, tmp_path, layers=[None])
    assert not lines, "\n".join(lines[:9])
    assert min(read, cases - read) > 40


def test_a_text_beyond_the_bounds_is_refused_as_the_package_does(tmp_path):
    for text in ("[" * 201 + "]" * 201, '{"a":' * 100_000, f'{{"head_dim": {"9" * 4301}}}'):
        with pytest.raises(ArgumentError) as refused:
            parse_json(text)
        assert theirs([(text, None)], tmp_path) == [{"refused": str(refused.value)}]


@pytest.mark.deep(keep=1)
@pytest.mark.parametrize(
    "wrong",
    [('"beta_fast"', '"beta_slow"'), ("without quotes", "with none"), ("Math.trunc", "Math.ceil"), ("\\\\n", "n")],
)
def test_control_another_reader_is_noticed(tmp_path, wrong):
    files = [{"head_dim": "a\nb"}, {"head_dim": 6, "partial_rotary_factor": 0.75}, *FILES]
    assert differences(files, tmp_path, layers=[None], wrong=wrong)[0]


@pytest.mark.deep
@pytest.mark.filterwarnings("ignore")
def test_every_family_of_the_library_is_read_alike(tmp_path):
    pytest.importorskip("transformers")
    files = [hf_families.file_of(kind, form) for kind in hf_families.all_families() for form in hf_families.FORMS]
    lines, read, _ = differences(files, tmp_path)
    assert not lines, "\n".join(lines[:9])
    assert read > 1000


def test_what_is_drawn_is_what_was_read(tmp_path):
    files = [*PUBLISHED, *({"model_type": kind} for kind in FAMILIES)]
    found, drawn = theirs([(json.dumps(file), None) for file in files], tmp_path, limits=Tapestry()._limits), 0
    for file, answer in zip(files, found, strict=True):
        try:
            read = rope_settings(file)
        except ValueError:
            continue  # kinds of layer, of which the page takes one
        width, s = read.rotary_dim or read.head_dim, read.schedule
        if width % 2 or read.head_dim % 2:
            assert "expected an even" in answer["refused"]
            continue
        settings = answer["read"]
        s = (
            Schedule()
            if isinstance(s, LongRoPE)
            else s.at(int(s.factor * s.window))
            if isinstance(s, DynamicNTK)
            else s
        )
        theta = np.pad(s.frequencies(width, base=read.base), (0, (read.head_dim - width) // 2))
        assert frequencies_of(**{name: settings[name] for name in MODELS["Llama 3 8B"]}) == pytest.approx(
            theta, rel=1e-9
        )
        drawn += 1
    assert drawn > 200
