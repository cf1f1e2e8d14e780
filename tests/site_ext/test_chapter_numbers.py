"""A chapter's number is its file's, in its title and in its equations; without the extension it is a count."""

import re
from pathlib import Path

import pytest
from sphinx.application import Sphinx
from sphinx.environment.collectors.toctree import TocTreeCollector
from sphinx.util.docutils import docutils_namespace, patch_docutils
from sphinx_external_toc.collectors import TocTreeCollectorWithStyles


@pytest.fixture(autouse=True)
def counting(monkeypatch):
    for collector in (TocTreeCollector, TocTreeCollectorWithStyles):
        monkeypatch.setattr(collector, "assign_section_numbers", collector.assign_section_numbers)


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
    with patch_docutils(), docutils_namespace():
        options = {"extensions": extensions, "numfig": True, "html_theme": "basic"}
        app = Sphinx(source, None, folder / "out", folder / "trees", "html", options, status=None, warning=None)
        app.build()
    pages = (folder / "out" / "book" / f"{name}.html" for name in ("01_one", "14_last"))
    return tuple(re.sub(r"<[^>]*>", "", page.read_text()) for page in pages)


@pytest.mark.parametrize("toc", [[], ["sphinx_external_toc"]], ids=["toctree", "toc file"])
@pytest.mark.filterwarnings("ignore")  # Sphinx's own
def test_the_file_names_the_chapter(tmp_path, toc):
    first, chapter = built(tmp_path, ["sphinx.ext.mathjax", *toc, "chapter_numbers"])
    assert "14. Title 14_last" in first
    assert "1. Title 01_one" in first
    assert "14. Title 14_last" in chapter
    assert "(14.1)" in chapter


@pytest.mark.parametrize("toc", [[], ["sphinx_external_toc"]], ids=["toctree", "toc file"])
@pytest.mark.filterwarnings("ignore")
def test_control_without_it_pages_are_counted(tmp_path, toc):
    first, chapter = built(tmp_path, ["sphinx.ext.mathjax", *toc])
    assert "2. Title 14_last" in first
    assert "(2.1)" in chapter
