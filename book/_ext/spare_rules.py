"""The theme's style sheets keep the rules that a page of the book can use: most of Bootstrap serves none of them.

A selector stays when each class it names stands in a ``class`` attribute of some page, or as a word in some script,
which may set it later. Rules without a class stay.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tinycss2
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

SHEETS = ("bootstrap.css", "pydata-sphinx-theme.css", "sphinx-book-theme.css")
CLASSES = re.compile(r'\bclass=\\?["\']([^"\']*)')
SCRIPT = re.compile(r"<script\b[^>]*>(.*?)</script>", re.DOTALL)
WORD = re.compile(r"[A-Za-z_][\w-]*")
NAMED = re.compile(r"\.(-?[A-Za-z_][\w-]*)")
MADE = re.compile(r"bs-tooltip-|bs-popover-")  # put together by Bootstrap's script
NESTING = ("media", "supports", "layer", "container")


def names(out: Path) -> set[str]:
    """The classes that the pages have, and all words of the scripts."""
    known: set[str] = set()
    for page in out.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        known.update(name for value in CLASSES.findall(text) for name in value.split())
        known.update(word for script in SCRIPT.findall(text) for word in WORD.findall(script))
    for script in out.rglob("*.js"):
        known.update(WORD.findall(script.read_text(encoding="utf-8")))
    return known


def selectors(prelude: list[Any]) -> list[str]:
    """The parts of a rule's head between its commas; those inside brackets are no such commas."""
    parts: list[list[Any]] = [[]]
    for token in prelude:
        if token.type == "literal" and token.value == ",":
            parts.append([])
        else:
            parts[-1].append(token)
    return [tinycss2.serialize(part).strip() for part in parts]


def usable(selector: str, known: set[str]) -> bool:
    """Can it match? What stands in ``:not()`` need not be there, and one of ``:is()`` and its like is enough."""
    inside, bare = "", selector
    while inside != bare:
        inside, bare = bare, re.sub(r":[\w-]+\([^()]*\)", "", bare)  # the innermost first
    return all(name in known or MADE.match(name) for name in NAMED.findall(bare))


def kept(rules: list[Any], known: set[str]) -> Iterator[str]:
    """The text of the rules that can serve, without comments and blanks between them."""
    for rule in rules:
        if rule.type == "qualified-rule":
            heads = [head for head in selectors(rule.prelude) if usable(head, known)]
            if heads:
                yield f"{','.join(heads)}{{{tinycss2.serialize(rule.content).strip()}}}"
        elif rule.type == "at-rule" and rule.content is not None and rule.lower_at_keyword in NESTING:
            inner = tinycss2.parse_rule_list(rule.content, skip_comments=True, skip_whitespace=True)
            text = "\n".join(kept(inner, known))
            if text:
                yield f"@{rule.at_keyword}{tinycss2.serialize(rule.prelude)}{{\n{text}\n}}"
        else:
            yield rule.serialize()


def shortened(sheet: str, known: set[str]) -> str:
    rules = tinycss2.parse_stylesheet(sheet, skip_comments=True, skip_whitespace=True)
    return "\n".join(kept(rules, known)) + "\n"


def finish(app: Sphinx, exception: Exception | None) -> None:
    """Shorten the sheets, from the theme's own copies, when an HTML build has succeeded."""
    if exception or app.builder.format != "html":
        return
    out = Path(app.outdir)
    known = names(out)
    for name in SHEETS:
        copies = [Path(place) / "static" / "styles" / name for place in app.builder.theme.get_theme_dirs()]  # type: ignore[attr-defined]
        for sheet in [copy for copy in copies if copy.exists()][:1]:
            text = shortened(sheet.read_text(encoding="utf-8"), known)
            (out / "_static" / "styles" / name).write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> ExtensionMetadata:
    app.connect("build-finished", finish, priority=940)  # when theme_fixes has finished the pages
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
