"""The book's driver on a tiny book: a warning is an error, and a failed build stays failed when it is repeated."""

from pathlib import Path

import pytest
import yaml

from book import build as driver

CELL = "---\nfile_format: mystnb\nkernelspec: {name: python3}\n---\n# Code\n\n```{code-cell} ipython3\n%s\n```\n"


@pytest.fixture
def pages(tmp_path) -> Path:
    (tmp_path / "_config.yml").write_text("title: Tiny\nonly_build_toc_files: true\n")
    (tmp_path / "_toc.yml").write_text(
        "format: jb-book\nroot: book/intro\nchapters: [{file: book/code}, {file: book/last}]\n"
    )
    (tmp_path / "book").mkdir()
    return tmp_path / "book"


def warnings(capfd) -> list[str]:
    return [line for line in capfd.readouterr().err.splitlines() if " WARNING: " in line]


@pytest.mark.slow
def test_a_failed_build_stays_failed(pages, capfd):
    said = yaml.safe_load((driver.ROOT / "_config.yml").read_text())["sphinx"]["config"]["nb_output_stderr"]
    with (pages.parent / "_config.yml").open("a") as config:
        config.write(f"sphinx: {{config: {{nb_output_stderr: {said}}}}}\n")
    (pages / "intro.md").write_text("# Words\n\nSee {ref}`nowhere`.\n")
    (pages / "code.md").write_text(CELL % "import sys\nprint('no such font', file=sys.stderr)")
    (pages / "last.md").write_text(CELL % "raise ValueError('planted')")
    for _ in range(2):  # a cached page does not repeat its warnings: the driver must not trust it
        assert driver.build(pages.parent) == 1
        found = warnings(capfd)
        for words in ("undefined label: 'nowhere'", "stderr", "Executing notebook failed"):
            assert any(words in warning for warning in found), words
    (pages / "intro.md").write_text("# Words\n\nSee [](code.md).\n")
    (pages / "last.md").write_text("# Last\n")
    (pages / "code.md").write_text(CELL % "import os\nprint(6 * 7, os.environ['MPLCONFIGDIR'])")
    assert driver.build(pages.parent) == 0
    built = (pages.parent / "_build" / "html" / "book" / "code.html").read_text()
    assert f">42 {pages.parent}/_build/matplotlib" in built  # fonts of its own
