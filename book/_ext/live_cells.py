"""Mark the cells and claims that run in the page, and bring their scripts.

``_build/live`` was made before (`book.live.make`), with a record of what ran when the build tried it. Without a record
a page has no buttons, and is otherwise the same.
"""

import base64
import gzip
import json
import shutil
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

from rope_lab.claims import load

PACKED = ("worker.js", "page.py")  # handed over as bytes
STARTS = (" live-", 'class="ledger-entry"', 'class="mark-texts"', 'class="task"')  # what gets a button
HERE = Path(__file__).parents[1] / "live"
PANELS = sorted(file.name for file in HERE.glob("*_panel.js"))
PAGE = ("buttons.js", "runner.js", "panels.js", "live.css", *PANELS)  # served as they are


def read(app: Sphinx) -> None:
    """Keep the record for this build."""
    file = Path(app.srcdir, "_build", "live", "record.json")
    app.live_record = json.loads(file.read_text(encoding="utf-8")) if file.exists() else None  # type: ignore[attr-defined]


def mark(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Give each cell of a page its place among those that run there, or say that it does not run."""
    record: dict[str, Any] | None = app.live_record  # type: ignore[attr-defined]
    kept = record["pages"].get(docname.removeprefix("book/"), []) if record else []
    at = 0
    for code in doctree.findall(nodes.literal_block):
        cell = code.parent if code.parent is not None and "cell_input" in code.parent.get("classes", ()) else None
        while cell is not None and "cell" not in cell.get("classes", ()):  # what is folded lies deeper
            cell = cell.parent
        if cell is None:
            continue
        for index in range(at, len(kept)):
            one = kept[index]
            if not one["hidden"] and one["code"].strip() == code.astext().strip():
                torch = one["why"] == "torch"
                cell["classes"].append(f"live-{'no-torch' if torch else 'no'}" if one["why"] else f"live-{index}")
                at = index + 1
                break


def bring(
    app: Sphinx,
    pagename: str,
    templatename: str,  # noqa: ARG001  (Sphinx fixes the signature)
    context: dict[str, Any],
    doctree: nodes.document | None,  # noqa: ARG001
) -> None:
    """Name the scripts in the head of a page with something to run."""
    record: dict[str, Any] | None = app.live_record  # type: ignore[attr-defined]
    body = context.get("body", "")
    if record and any(word in body for word in STARTS):
        root = context["pathto"]("live", 1)
        page = pagename.removeprefix("book/")
        lab = f"notebooks/{page}"
        to = context["pathto"](lab) if lab in app.env.found_docs else ""
        run = {name for name, claim in record["claims"].items() if not claim["why"]}
        never = {name.lower() for name in load() if name not in run}
        never |= {place(name) for name, task in record["tasks"].items() if task["why"]}
        left = escape(" ".join(sorted(never)))
        whole = len(run) if pagename == "book/ledger" else ""
        context["metatags"] += (
            f'\n    <link rel="stylesheet" href="{root}/live.css">'
            f'\n    <script defer src="{root}/buttons.js" data-page="{escape(page)}" data-lab="{escape(to)}" '
            f'data-never="{left}" data-all="{whole}"></script>'
        )


def write(app: Sphinx, exception: Exception | None) -> None:
    """Put the scripts into the site."""
    record: dict[str, Any] | None = app.live_record  # type: ignore[attr-defined]
    out, made = Path(app.outdir, "live"), Path(app.srcdir, "_build", "live")
    if exception or app.builder.format != "html":
        return
    shutil.rmtree(out, ignore_errors=True)
    if record is None:
        return
    shutil.copytree(made, out, ignore=shutil.ignore_patterns("record.json"))
    for name in PAGE:
        shutil.copy(HERE / name, out / name)
    claims = {name.lower(): {"id": name, **claim} for name, claim in record["claims"].items()}
    manifest = {name: record[name] for name in ("sizes", "modules", "lock", "pages")}
    tasks = {place(name): {"id": name, **task} for name, task in record["tasks"].items()}
    manifest |= {"claims": claims, "tasks": tasks, "mark": record["key"][:16]}
    for name in PACKED:
        put(out, name, (HERE / name).read_bytes())
    put(out, "manifest", json.dumps(manifest).encode())


def place(task: str) -> str:
    """Return the id of a task's element on its page."""
    return f"task-{task.replace('.', '-')}"


def put(out: Path, name: str, content: bytes) -> None:
    """Write a file as a script that hands it over, as pack.js does."""
    text = base64.b64encode(gzip.compress(content, mtime=0)).decode()
    (out / f"{name}.js").write_text(f'ropeLive.put("{name}", "{text}");\n', encoding="utf-8")


def setup(app: Sphinx) -> ExtensionMetadata:
    app.connect("builder-inited", read)
    app.connect("doctree-resolved", mark)
    app.connect("html-page-context", bring, priority=900)
    app.connect("build-finished", write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
