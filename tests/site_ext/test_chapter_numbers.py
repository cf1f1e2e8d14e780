"""A chapter's number is its file's, in its title and in its equations; without the extension it is a count."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXTENSIONS = Path(__file__).resolve().parents[2] / "book" / "_ext"


def built(folder: Path, extensions: list[str]) -> tuple[str, ...]:
    """The texts of chapters 1, which names its neighbour, and 14 of a tiny book."""
    source = folder / "source"
    (source / "book").mkdir(parents=True)
    toctree = ".. toctree::\n   :numbered: 1\n\n   book/01_one\n   book/14_last\n"
    if "sphinx_external_toc" in extensions:  # as the book does it: two numbered parts, named in a file
        part = "  - {{caption: {0}, numbered: 1, chapters: [{{file: {0}}}]}}\n"
        parts = part.format("book/01_one") + part.format("book/14_last")
        (source / "_toc.yml").write_text(f"format: jb-book\nroot: index\nparts:\n{parts}")
        toctree = ""
    (source / "index.rst").write_text(f"Book\n====\n\n{toctree}")
    for name in ("01_one", "14_last"):
        (source / "book" / f"{name}.rst").write_text(f"Title {name}\n=========\n\n.. math:: a = b\n   :label: {name}\n")
    # In a process of its own: the extension and sphinx_external_toc change Sphinx's classes for good, and the latter
    # looks at every object of the process, also at those that other tests left.
    settings = [f"extensions={','.join(extensions)}", "numfig=1", "html_theme=basic"]
    options = [word for setting in settings for word in ("-D", setting)]
    command = [sys.executable, "-m", "sphinx", "-q", "-C", *options, str(source), str(folder / "out")]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(EXTENSIONS)}
    )
    assert done.returncode == 0, done.stderr
    pages = (folder / "out" / "book" / f"{name}.html" for name in ("01_one", "14_last"))
    return tuple(re.sub(r"<[^>]*>", "", page.read_text()) for page in pages)


@pytest.mark.parametrize("toc", [[], ["sphinx_external_toc"]], ids=["toctree", "toc file"])
def test_the_file_names_the_chapter(tmp_path, toc):
    first, chapter = built(tmp_path, ["sphinx.ext.mathjax", *toc, "chapter_numbers"])
    assert "14. Title 14_last" in first
    assert "1. Title 01_one" in first
    assert "14. Title 14_last" in chapter
    assert "(14.1)" in chapter


@pytest.mark.parametrize("toc", [[], ["sphinx_external_toc"]], ids=["toctree", "toc file"])
def test_control_without_it_pages_are_counted(tmp_path, toc):
    first, chapter = built(tmp_path, ["sphinx.ext.mathjax", *toc])
    assert "2. Title 14_last" in first
    assert "(2.1)" in chapter
