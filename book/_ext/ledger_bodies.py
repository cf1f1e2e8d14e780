"""The folded part of the ledger's entries in a script of its own: more than half of the page.

It is ``_static/ledger-entries.js``. The page keeps each row and its sentence. ledger.js adds the script when a reader
opens an entry, arrives at one, or searches for words. A script also loads from ``file://``, where a page may not fetch
a file. Until then, and where no script runs, an entry leads to the Markdown copy of the page, which tells everything.
"""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

ENTRY = re.compile(
    r'(<details class="ledger-entry"[^>]* id="([^"]+)"[^>]*>\s*<summary>.*?</summary>)(.*?)(?=</details>)', re.DOTALL
)
ELSEWHERE = '\n<p><a href="{copy}">The entry, in Markdown</a></p>\n'
SPARE = (  # words of Sphinx that no style and no script of these rows asks for: they are a twentieth of the page
    (re.compile(r'<code class="docutils literal notranslate"><span class="pre">([^<]*)</span>'), r"<code>\1"),
    (re.compile(r'(?<=<span class="math notranslate) nohighlight'), ""),
)
FORM = '<form class="ledger-filter"'


def move(
    app: Sphinx,
    pagename: str,
    templatename: str,  # noqa: ARG001  (Sphinx fixes the signature)
    context: dict[str, Any],
    doctree: nodes.document | None,  # noqa: ARG001
) -> None:
    """Move what is folded under the rows of a page into the script, and tell the page where that lies."""
    folded = {name: body.strip() for _, name, body in ENTRY.findall(context.get("body", ""))}
    if not folded:
        return
    name = f"_static/{pagename.rpartition('/')[2]}-entries.js"
    text = f"globalThis.ropeLedgerEntries = {json.dumps(folded, ensure_ascii=False)};\n"
    (script := Path(app.outdir, name)).parent.mkdir(exist_ok=True)
    script.write_text(text, encoding="utf-8")
    mark = hashlib.sha256(text.encode()).hexdigest()[:8]
    elsewhere = ELSEWHERE.format(copy=f"{pagename.rpartition('/')[2]}.md")
    body = ENTRY.sub(lambda entry: lighter(entry[1]) + elsewhere, context["body"])
    context["body"] = body.replace(FORM, f'{FORM} data-entries="{context["pathto"](name, 1)}?v={mark}"', 1)


def lighter(row: str) -> str:
    """A row without spare words."""
    for pattern, kept in SPARE:
        row = pattern.sub(kept, row)
    return row


def setup(app: Sphinx) -> ExtensionMetadata:
    app.connect("html-page-context", move, priority=560)  # after the Markdown copy, which has it all
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
