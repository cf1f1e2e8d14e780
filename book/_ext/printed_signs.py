"""The signs of a printed page where a program wrote the words: apostrophes, minus signs; and what should not part.

Sphinx knows the signs of what is written in a page. Tables, titles of pictures and exercises come out of cells and of
the package as plain text, and are mended in the finished body. Code, mathematics and signatures stay as they are.
"""

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

# Tags and comments, and the elements whose text is not prose, whole.
NOT_PROSE = re.compile(
    r"<!--.*?-->|<(script|style|pre|code|kbd|textarea|m-tex|math)\b.*?</\1>"
    r'|<dt class="sig .*?</dt>|<[^>]+>',
    re.DOTALL,
)
SIGNS = (
    (re.compile(r"(?<=\w)(?:'|&#x27;|&#39;)(?=[^\W\d_])"), "\u2019"),  # the reader's
    (re.compile(r"(?:(?<=[\s(\[=±])|^)-(?=\.?\d)"), "\u2212"),  # from -3
    (re.compile(r"(?<!\w)([A-Za-z]) - ([A-Za-z])(?!\w)"), "\\1 \u2212 \\2"),  # n - m
    (re.compile(r"(?:(?<=\d)|^) (?=%|± ?(?:\d|$))|(?<=±) (?=\d|$)"), "\u00a0"),  # 81 %, 0.2 ± 0.1
)
WHOLE = re.compile(r"\b(?:\d{4}(?:-\d\d)+|[A-Z][\w.]*(?:-\d+(?:\.\d+)*\w*)+)\b(?![-/])")  # 2026-11-22, Llama-3.1-8B


def printed(body: str) -> str:
    """The body of a page with the signs of print in its prose."""
    pieces, at, stays = [], 0, False
    for other in NOT_PROSE.finditer(body):
        text = mended(body[at : other.start()])
        pieces += [text if stays else WHOLE.sub(r'<span class="unbroken">\g<0></span>', text), tag := other[0]]
        stays = tag.startswith(("<svg", '<span class="unbroken"')) or (stays and tag not in ("</svg>", "</span>"))
        at = other.end()
    return "".join([*pieces, mended(body[at:])])


def mended(text: str) -> str:
    """One run of prose."""
    for form, sign in SIGNS:
        text = form.sub(sign, text)
    return text


def print_signs(
    app: Sphinx,  # noqa: ARG001  (Sphinx fixes the signature)
    pagename: str,  # noqa: ARG001
    templatename: str,  # noqa: ARG001
    context: dict[str, Any],
    doctree: nodes.document | None,  # noqa: ARG001
) -> None:
    """Mend the body of one page."""
    if "body" in context:
        context["body"] = printed(context["body"])


def setup(app: Sphinx) -> ExtensionMetadata:
    app.connect("html-page-context", print_signs, priority=540)  # the copy in Markdown, at 550, has them too
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
