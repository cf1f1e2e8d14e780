"""Build the book: ``.venv/bin/python -m book.build``. Warnings are errors; a failed build stays failed.

Jupyter Book's own cache keys on code cells alone, and Sphinx's on page sources alone. This driver adds what both leave
out: a page is executed again when a module it imports changed, the site is written again when its scripts or
extensions changed, and the doctrees of a failed build are removed, because cached pages do not repeat their warnings.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from book import kernels
from book._ext.page_inputs import inputs_of_pages
from book.live.make import make

ROOT = Path(__file__).resolve().parents[1]
# The doctrees are many objects that stay: at Python's own thresholds a sixth of the time goes into looking at them.
JUPYTER_BOOK = "import gc; gc.set_threshold(50_000, 20, 100); from jupyter_book.cli.main import main; main()"


def build(root: Path = ROOT) -> int:
    """Build ``root``/_build/html; the exit status is 0 only if there was no warning."""
    out, start = root / "_build", time.monotonic()
    record, doctrees = out / "inputs.json", out / ".doctrees"
    if live := make(root, out / "live"):
        print(live, flush=True)
    command = [sys.executable, "-c", JUPYTER_BOOK, "build", str(root), "-W", "-n", "--keep-going"]
    before, now = read(record), inputs_of_pages(root)
    now["site"] += live
    index = out / "html" / "index.html"
    if before == now and index.exists():
        print(f"Nothing has changed since the last build, which had no warning. Open {index.as_uri()}")
        return 0
    forget(root, doctrees, before, now)
    if before.get("site") != now["site"]:
        command.append("--all")  # or changed scripts and styles are not copied
    record.unlink(missing_ok=True)  # an interrupted build has no record, so the next one trusts nothing
    own = {
        "MPLCONFIGDIR": str(out / "matplotlib"),  # a list of fonts that another environment left may name lost ones
        "OMP_NUM_THREADS": "1",  # small products wait longer for idle threads than they take
        **os.environ,
    }
    with kernels.forked(own) as env:
        status = subprocess.run(command, check=False, env=env).returncode
    if status or not index.exists():
        shutil.rmtree(doctrees, ignore_errors=True)
        print("The book did not build: the warnings above are errors. Fix them and run the same command again.")
        return status or 1
    record.write_text(json.dumps(now, indent=1))
    print(f"The book is built ({time.monotonic() - start:.0f} s). Open {index.as_uri()}")
    print("or run `make serve` for a preview that follows your edits.")
    return 0


def prepare_preview(root: Path = ROOT) -> None:
    """Before each round of the live preview: forget what changed, and trust the rest."""
    record = root / "_build" / "preview-inputs.json"
    before, now = read(record), inputs_of_pages(root)
    forget(root, root / "_build" / "preview" / ".doctrees", before, now)
    record.parent.mkdir(exist_ok=True)
    record.write_text(json.dumps(now, indent=1))


def read(record: Path) -> dict[str, str]:
    return json.loads(record.read_text()) if record.exists() else {}


def forget(root: Path, doctrees: Path, before: dict[str, str], now: dict[str, str]) -> None:
    """Drop the stored outputs and the doctrees of the pages whose inputs changed."""
    from jupyter_cache import get_cache

    pages = [page for page, inputs in now.items() if page not in ("site", "sources") and before.get(page) != inputs]
    stale = {str((root / page).resolve()) for page in pages}
    if (root / "_build" / ".jupyter_cache").exists():
        store = get_cache(root / "_build" / ".jupyter_cache")
        for entry in store.list_cache_records():
            if str(Path(entry.uri).resolve()) in stale:
                store.remove_cache(entry.pk)
    for page in pages:
        (doctrees / page).with_suffix(".doctree").unlink(missing_ok=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["--preview"]:
        prepare_preview()
    else:
        sys.exit(build(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT))
