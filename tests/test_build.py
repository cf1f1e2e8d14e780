"""The book's driver on a tiny book: a warning is an error, and a failed build stays failed when it is repeated."""

import os
import sys
from pathlib import Path

import pytest
import yaml

from book import build as driver
from book import kernels

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


@pytest.mark.deep
@pytest.mark.slow
def test_a_failed_build_stays_failed(pages, capfd, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(pages), *sys.path)))
    (pages / "planted.py").write_text(
        "import logging\nlog = logging.getLogger('planted')\nlog.addHandler(logging.StreamHandler())\n"
    )
    (pages / "ends.py").write_text("import os\nos._exit(1)\n")
    said = yaml.safe_load((driver.ROOT / "_config.yml").read_text())["sphinx"]["config"]["nb_output_stderr"]
    with (pages.parent / "_config.yml").open("a") as config:
        config.write(f"sphinx: {{config: {{nb_output_stderr: {said}}}}}\n")
    (pages / "intro.md").write_text("# Words\n\nSee {ref}`nowhere`.\n")
    (pages / "code.md").write_text(CELL % "import planted\nplanted.log.warning('no such font')")
    (pages / "last.md").write_text(CELL % "raise ValueError('planted')")
    for imported in ("planted", "ends"):  # once with forked kernels, once where they cannot be forked
        monkeypatch.setattr(kernels, "MODULES", [imported])
        # A cached page does not repeat its warnings: the driver must not trust it.
        assert driver.build(pages.parent) == 1
        found = warnings(capfd)
        for words in ("undefined label: 'nowhere'", "stderr", "Executing notebook failed"):
            assert any(words in warning for warning in found), words
    (pages / "intro.md").write_text("# Words\n\nSee [](code.md).\n")
    (pages / "last.md").write_text("# Last\n")
    (pages / "code.md").write_text(CELL % "import os, sys\nprint('planted' in sys.modules, os.environ['MPLCONFIGDIR'])")
    monkeypatch.setattr(kernels, "MODULES", ["planted"])
    assert driver.build(pages.parent) == 0
    built = (pages.parent / "_build" / "html" / "book" / "code.html").read_text()
    assert f">{sys.platform == 'linux'} {pages.parent}/_build/matplotlib" in built  # fonts of its own
