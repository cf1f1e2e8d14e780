"""Cells and claims that run in the page: their marks, the security policy of each page, and the scripts."""

import base64
import gzip
import json
import re
from pathlib import Path
from types import SimpleNamespace

import live_cells
import pytest
from bs4 import BeautifulSoup
from docutils import nodes
from docutils.utils import new_document

from tests.site_ext import tiny_book

TOLD = [("a = 1", True, ""), ("a\n", False, ""), ("torch", False, "torch"), ("1 / 0", False, "error"), ("a", False, "")]
RECORD = {
    "key": "0123456789abcdef, and more",
    "pages": {"01_one_plane": [{"code": code, "hidden": hidden, "why": why} for code, hidden, why in TOLD]},
    "claims": {"blog.props": {"module": "m", "why": ""}, "blog.angle": {"module": "m", "why": "torch"}},
    "tasks": {"ch01.rotate": {"module": "m", "why": ""}, "ch02.unfinished": {"module": "m", "why": "an error"}},
    **{key: {} for key in ("sizes", "modules", "lock")},
}


def marked(record, *shown: str) -> list[list[str]]:
    """The classes that the cells of a page get."""
    page = new_document("page")
    for code in shown:
        parts = [
            nodes.container("", nodes.literal_block(code, code), classes=[f"cell_{n}"]) for n in ("input", "output")
        ]
        page += nodes.container("", *parts, classes=["cell"])
    live_cells.mark(SimpleNamespace(live_record=record), page, "book/01_one_plane")
    return [cell["classes"][1:] for cell in page.children]


def test_the_cell_of_a_folded_code_has_its_place():
    page, fold = new_document("page"), nodes.container("", classes=["hide"])
    fold += nodes.container("", nodes.literal_block("a", "a"), classes=["cell_input"])
    page += nodes.container("", fold, classes=["cell", "tag_hide-input"])
    live_cells.mark(SimpleNamespace(live_record=RECORD), page, "book/01_one_plane")
    assert page.children[0]["classes"] == ["cell", "tag_hide-input", "live-1"]


def test_a_cell_has_its_place_or_the_word_that_it_does_not_run():
    shown = marked(RECORD, "a", "torch", "of another build", "1 / 0", "a")
    assert shown == [["live-1"], ["live-no-torch"], [], ["live-no"], ["live-4"]]
    assert marked(RECORD, "a = 1") == marked(RECORD | {"pages": {}}, "a") == marked(None, "a") == [[]]


@pytest.fixture(scope="module", params=[RECORD, None], ids=["with a record", "without"])
def built(request, tmp_path_factory):
    """A book with a record, and one without; what an earlier build left is there."""
    folder = tmp_path_factory.mktemp("live")
    made, out = folder / "source" / "_build" / "live", folder / "out" / "live"
    for name in (made / "numpy.js", out / "old.js"):
        name.parent.mkdir(parents=True)
        name.touch()
    if request.param:
        (made / "record.json").write_text(json.dumps(RECORD))
    page = "# One plane\n\n$$ R_m $$\n{claim}`blog.props` {claim}`blog.angle`\n"
    _, _, warnings = tiny_book.build(folder, page, extensions=["live_cells"])
    assert warnings == ""
    pages = {file.stem: BeautifulSoup(file.read_text(), "html.parser") for file in out.parent.rglob("*.html")}
    return SimpleNamespace(out=out, pages=pages, record=request.param)


def test_only_a_page_with_something_to_run_has_its_script(built):
    found = {name: page.select('script[src$="live/buttons.js"]') for name, page in built.pages.items()}
    scripts = {name: script for name, some in found.items() for script in some}
    whole = {"01_one_plane": "", "ledger": "1"} if built.record else {}
    assert {name: script["data-all"] for name, script in scripts.items()} == whole
    for name, script in scripts.items():
        assert (script["src"], script["data-page"], script["data-lab"]) == ("../live/buttons.js", name, "")
        never = script["data-never"].split()
        # One claim that does not run there, one that was read, and an exercise that does not run.
        assert {"blog.angle", "blog.llama-layout", "task-ch02-unfinished"} <= {*never}
        assert not {"blog.props", "task-ch01-rotate"} & {*never}


def unpacked(file) -> bytes:
    name, text = re.fullmatch(r'ropeLive\.put\("([\w.]+)", "([A-Za-z0-9+/=]+)"\);\n', file.read_text()).groups()
    assert f"{name}.js" == file.name
    return gzip.decompress(base64.b64decode(text))


def test_the_site_has_the_scripts_of_this_build(built):
    if not built.record:
        assert not built.out.exists()
        return
    packed = {f"{name}.js": name for name in live_cells.PACKED}
    assert {file.name for file in built.out.iterdir()} == {*live_cells.PAGE, *packed, "numpy.js", "manifest.js"}
    for file, name in [*packed.items(), *zip(live_cells.PAGE, live_cells.PAGE, strict=True)]:
        content = (unpacked if file in packed else Path.read_bytes)(built.out / file)
        assert content == (live_cells.HERE / name).read_bytes()
    manifest = json.loads(unpacked(built.out / "manifest.js"))
    assert manifest["claims"]["blog.props"] == {"id": "blog.props", "module": "m", "why": ""}
    assert manifest["tasks"]["task-ch01-rotate"] == {"id": "ch01.rotate", "module": "m", "why": ""}
    assert (manifest["pages"], manifest["mark"]) == (RECORD["pages"], "0123456789abcdef")


def test_a_build_that_fails_or_is_no_site_writes_nothing(tmp_path):
    for fault, kind in [(ValueError("a warning"), "html"), (None, "latex")]:
        builder = SimpleNamespace(format=kind)
        live_cells.write(SimpleNamespace(live_record=RECORD, outdir=tmp_path, srcdir=tmp_path, builder=builder), fault)
        assert not list(tmp_path.iterdir())
