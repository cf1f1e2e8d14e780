"""The witnesses of the page "Found in the wild" run, and show what the page says of them."""

import contextlib
import io
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[1] / "book/found_in_the_wild.md"
CELL = re.compile(r"```\{code-cell\} ipython3\n(:tags:[^\n]*\n\n)?(.*?)```", re.DOTALL)


@pytest.fixture(scope="module")
def said():
    """What each witness prints, all in one module as on the page."""
    pytest.importorskip("transformers")
    module, printed = {}, []
    for _, code in CELL.findall(PAGE.read_text(encoding="utf-8")):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, PAGE.name, "exec"), module)
        printed.append(out.getvalue())
    return printed[1:]


def numbers(text, before):
    return [float(number) for number in re.findall(rf"{before} (-?[\d.]+(?:e-?\d+)?)", text)]


def test_one_distance_has_three_scores(said):
    assert len(set(numbers(said[0], "score"))) == 3
    assert "relativity" in said[1]


def test_a_cast_moves_a_cosine_and_bfloat16_more(said):
    half, brain = numbers(said[2], "off by")
    assert 0.1 < half < brain


def test_the_short_list_is_used_for_a_long_text(said):
    (phi,), (phimoe,) = (numbers(said[3], f"{name}:") for name in ("Phi-3", "PhiMoE"))
    assert phi == pytest.approx(1 / 32, abs=1e-4)
    assert phimoe == pytest.approx(1)


def test_the_table_of_another_type_comes_back(said):
    assert "torch.float16" in said[4]
    assert numbers(said[4], "off by")[0] > 1e-5


def test_the_list_of_the_longer_text_stays(said):
    used, new = numbers(said[5], "slowest frequency")
    assert used < new / 2
