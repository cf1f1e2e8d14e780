"""What pages show of transformers: committed with the code that printed it, printed again where it is installed."""

import contextlib
import io
import re
from pathlib import Path

import pytest

BOOK = Path(__file__).resolve().parents[1] / "book"
# A cell that the build runs, or code that it shows, with what that printed; a fold may end between the two.
CODE = re.compile(
    r"```(?:\{code-cell\} ipython3\n(?::tags:[^\n]*\n\n)?|python\n)(.*?)```(?:(?:\s+:::)?\s+```text\n(.*?)```)?",
    re.DOTALL,
)
NUMBER = re.compile(r"-?\d+\.\d+(?:e[+-]\d+)?")
PAGES = ("found_in_the_wild", "01_one_plane", "03_two_layouts", "21_norms_and_layers")


def told(page):
    """What the page says that its code printed, and what it prints now; up to the last such code."""
    pytest.importorskip("transformers")
    pairs = CODE.findall((BOOK / f"{page}.md").read_text(encoding="utf-8"))
    last = max(at for at, (_, printed) in enumerate(pairs) if printed)
    module, found = {"display": print}, []
    for code, printed in pairs[: last + 1]:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, page, "exec"), module)
        if printed:
            found.append((printed.strip(), out.getvalue().strip()))
    return found


@pytest.mark.deep(keep=1)
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.filterwarnings("ignore")  # of cells that draw
def test_a_page_shows_what_its_code_prints(page):
    for committed, now in told(page):
        assert NUMBER.sub("#", now).split() == NUMBER.sub("#", committed).split()
        numbers = [[float(number) for number in NUMBER.findall(text)] for text in (now, committed)]
        assert numbers[0] == pytest.approx(numbers[1], rel=0.2, abs=0.011)


def test_no_page_says_that_something_is_not_installed():
    pages = {
        path.name: path.read_text(encoding="utf-8") for path in BOOK.glob("*.md") if not path.name.startswith("api")
    }
    assert [name for name, text in pages.items() if re.search(r"not installed|is installed here", text)] == []


def numbers(text, before):
    return [float(number) for number in re.findall(rf"{before} (-?[\d.]+(?:e-?\d+)?)", text)]


@pytest.fixture(scope="module")
def said():
    """What each witness of the page "Found in the wild" is shown to print."""
    return [printed for _, printed in CODE.findall((BOOK / "found_in_the_wild.md").read_text(encoding="utf-8"))]


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


def test_a_default_keeps_a_key_a_text_its_length_and_single_tokens_their_path(said):
    assert [line.count("rotary") for line in said[6].splitlines()] == [0, 1]
    assert min(numbers(said[7], "off by")[:2]) > 0.01 > numbers(said[7], "off by")[2]
    assert [line.rpartition(": ")[2] for line in said[8].split("\n")[:2]] == ["other logits", "the same"]
