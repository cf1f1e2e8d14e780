"""``{public} rope_lab.nn``: the reference of a folder's public names, made by autodoc from the docstrings.

The names come from the folder's ``__init__.pyi``, in its order, under the first sentence of the module they live in.
The docstrings are written for ``help()``: single backquotes for code, dollars for mathematics, a block ``Claims:`` with
ids of the ledger. Before napoleon reads their blocks, this turns the three into what autodoc's reader expects.
"""

import ast
import importlib
import inspect
import re
from functools import cache
from pathlib import Path
from typing import ClassVar

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.ext.napoleon import GoogleDocstring
from sphinx.pycode import ModuleAnalyzer
from sphinx.util.docutils import SphinxDirective

from rope_lab.claims import load

ARRAY_LIKE = re.compile(r"_Buffer \|.*?_NestedSequence\[complex \| bytes \| str\]", re.DOTALL)
OTHERS = re.compile(r"~(?!rope_lab)[\w.]+\.")
EXAMPLE = re.compile(r"^\s*>>> ")
MADE = re.compile(r"<factory>|<function [\w.]+\.<lambda>>")  # a default that is made at the call
CATCH_ALL = {"(*args, **kwargs)", "(*args: t.Any, **kwargs: t.Any)"}  # says nothing of what may be given
NAME = re.compile(r'(<span class="pre">)([\w./]{9,})')
PLACES = re.compile(r"(?<=[^\W_][._/])(?=[^\W\d_])")  # not after a line that a name begins with
BREAK = '</span><wbr /><span class="pre">'
SENTENCE = re.compile(r"(?:Returns|Yields):")  # what follows is a sentence, never a type and a description
MARKS = (
    r'(?<![\w="])""(?![\w"])',
    r"\$\$[^$]+\$\$",
    r"``.+?``",
    r"\$(?=\S)[^$]+?(?<=\S)\$",
    r"`[^`]+`",
    r":\w+:`[^`]+`",
    r"(?<![\w*])\*[a-z]+\*(?!\w)",
)
PARTS = re.compile(f"({'|'.join(MARKS)})")


def stub_of(folder: str) -> Path:
    """The file that lists a folder's public names."""
    return Path(str(importlib.import_module(folder).__file__)).with_name("__init__.pyi")


def sources(folder: str) -> dict[str, list[str]]:
    """Module -> the names of it that a folder hands on; modules handed on as such are left out."""
    public: dict[str, list[str]] = {}
    for node in ast.parse(stub_of(folder).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            module = f"{folder}.{node.module}" if node.level else node.module
            public.setdefault(module, []).extend(alias.asname or alias.name for alias in node.names)
    return {
        module: [name for name in names if not inspect.ismodule(getattr(importlib.import_module(folder), name))]
        for module, names in public.items()
    }


class Public(SphinxDirective):
    """All public names of one folder, each module a section, under a list of them all. A name at home in a folder below
    is a line of that list, which leads there.

    A long folder is shared by two pages: ``:only:`` names the modules of the one, ``:without:`` those of the other.
    """

    required_arguments = 1
    option_spec: ClassVar = {"only": str.split, "without": str.split}

    def run(self):
        folder = self.arguments[0]
        self.env.note_dependency(str(stub_of(folder)))
        chosen = {module: names for module, names in self.chosen(sources(folder), folder).items() if names}
        here = {module: names for module, names in chosen.items() if home_of(module, folder) == folder}
        above = [
            f"- :py:obj:`{folder}.{name} <{home_of(module, folder)}.{name}>`"
            for module, names in chosen.items()
            if module not in here
            for name in names
        ]
        for module, names in here.items():
            links = ", ".join(f":py:obj:`{name} <{folder}.{name}>`" for name in names)
            above.append(f"- **{title_of(module, folder)}**: {links}")
        found = self.parsed(above, folder)
        for module, names in here.items():
            entries = [line for name in names for line in entry(folder, module, name)]
            title = title_of(module, folder)
            section = nodes.section("", nodes.title(title, title), ids=[nodes.make_id(f"{folder}-{title}")], names=[])
            section += self.parsed([*first_paragraph(module), "", *entries], folder)
            self.state.document.note_explicit_target(section)
            found.append(section)
        return found

    def parsed(self, lines: list[str], folder: str) -> list[nodes.Node]:
        """The nodes of some lines of reStructuredText."""
        node = nodes.Element()
        text = StringList(["```{eval-rst}", *lines, "```"], folder)
        self.state.nested_parse(text, self.content_offset, node)
        return node.children

    def chosen(self, public: dict[str, list[str]], folder: str) -> dict[str, list[str]]:
        """The modules that this page shows."""
        only, without = (
            [f"{folder}.{name}" for name in self.options.get(option, ())] for option in ("only", "without")
        )
        if unknown := {*only, *without} - public.keys():
            raise self.error(f"public: expected modules of {folder}, got {', '.join(sorted(unknown))}")
        rooms = sorted(public.items(), key=lambda one: one[0] if ".chapters." in one[0] else "")  # else in their order
        return {module: names for module, names in rooms if module not in without and (not only or module in only)}


def entry(folder: str, module: str, name: str) -> list[str]:
    """The directive for autodoc; for a constant its name, kind and sentence: its docstring is that of its class."""
    it = getattr(importlib.import_module(folder), name)
    if inspect.isclass(it) and it.__module__:  # a function of SymPy is a class without one
        return [f".. autoclass:: {folder}.{name}", "   :members:", ""]
    if inspect.isroutine(it):
        return [f".. autofunction:: {folder}.{name}", ""]
    kind = [] if type(it).__module__ in ("types", "typing") else [f"   :type: {type(it).__name__}"]
    about = [f"   {line}" for line in restructured(sentence_of(module, name))]
    return [f".. py:data:: {name}", f"   :module: {folder}", *kind, "", *about, ""]


def sentence_of(module: str, name: str) -> list[str]:
    """The lines between triple quotes below a constant."""
    return ModuleAnalyzer.for_module(module).find_attr_docs().get(("", name), [])


def home_of(module: str, folder: str) -> str:
    """The folder with public names that a module lies in; of a chapter's module the folder that hands its names on."""
    if module.startswith("rope_lab.chapters."):
        return folder
    above = module.rpartition(".")[0]
    return above if stub_of(above).exists() else home_of(above, folder)


def title_of(module: str, folder: str) -> str:
    """The module's name for a reader: what comes after its folder."""
    return module.removeprefix(f"{folder}.").removeprefix("rope_lab.")


def first_paragraph(module: str) -> list[str]:
    """The first paragraph of a module's docstring."""
    about = inspect.getdoc(importlib.import_module(module)) or ""
    return restructured(about.split("\n\n")[0].split("\n"))


def restructured(lines: list[str]) -> list[str]:
    """The lines of a docstring with our marks turned into those of reStructuredText; examples stay as they are."""
    example, text, out = False, [], []
    for line in [*lines, ""]:
        example = bool(EXAMPLE.match(line)) or (example and bool(line.strip()))
        if line.strip() and not example:
            text.append(line)
        else:
            out += [*paragraph(text), line]
            text = []
    return out


def paragraph(lines: list[str]) -> list[str]:
    """Turn the marks of a whole paragraph: one may run over the end of a line."""
    parts = PARTS.split("\n".join(lines))
    text = "".join(turned(part) if i % 2 else escaped(part) for i, part in enumerate(parts))
    return text.split("\n") if lines else []


def turned(mark: str) -> str:
    """One mark: mathematics, the id of a claim, or code."""
    if mark == '""':
        return '``""``'  # bare, its two signs would be made a pair of quotation marks around nothing
    inner = " ".join(mark.strip("`$").split())
    if mark.startswith("$$"):
        return f"\n\n.. math:: {inner}\n\n"
    if mark.startswith("$"):
        return f"\\ :math:`{inner}`\\ "
    if inner in claim_ids():
        return f":ref:`{inner} <claim-{inner.lower()}>`"
    if mark.startswith((":", "``", "*")):
        return mark
    return f"``{inner}``"


@cache
def claim_ids() -> frozenset[str]:
    """The ids of the ledger."""
    return frozenset(load())


def escaped(text: str) -> str:
    """Escape what reStructuredText would read as emphasis, a substitution or a reference."""
    return re.sub(r"(?<!\\)(\*|\||\w_(?=\W|$))", lambda m: m[0][:-1] + "\\" + m[0][-1], text)


def with_sentences(lines: list[str]) -> list[str]:
    """Add a line where Napoleon takes what stands before a colon in the first line of Returns and Yields for a type."""
    out = []
    for line in lines:
        out.append(line)
        if SENTENCE.fullmatch(line):
            out.append("    \\")
    return out


def before_napoleon(app, what, name, obj, options, lines):  # noqa: ARG001  (Sphinx fixes the signature)
    lines[:] = with_sentences(restructured(lines))


def after_napoleon(app, what, name, obj, options, lines):  # noqa: ARG001
    """Read a property's first line as a function's: Napoleon takes what stands before a colon for the type."""
    if what == "property":
        text = with_sentences(restructured((inspect.getdoc(obj) or "").split("\n")))
        lines[:] = GoogleDocstring(text, app.config).lines()


def shorter_signature(app, what, name, obj, options, signature, returned):  # noqa: ARG001
    """Shorten a signature: NumPy spells ArrayLike out over three lines, and Sphinx marks some names.

    What Python cannot read, such as ``<factory>``, would be cut at each comma.
    """
    return "" if signature in CATCH_ALL else shorter(signature), shorter(returned)


def shorter(part: str | None) -> str | None:
    """One part of a signature."""
    if not part:
        return part
    part = OTHERS.sub("", ARRAY_LIKE.sub("ArrayLike", part))
    return MADE.sub("...", part).replace("Callable[[...], ", "Callable[..., ").replace("PosixPath(", "Path(")


def without_fields(app, what, name, obj, skip, options):  # noqa: ARG001
    """Leave out a named tuple's fields: they stand in its signature, and their docstrings only count them."""
    return True if (getattr(obj, "__doc__", None) or "").startswith("Alias for field") else None


def may_break(app, pagename, templatename, context, doctree):  # noqa: ARG001
    """Let a long name break on a narrow screen after a dot, an underscore or a slash, not within a word."""
    if "body" in context:
        context["body"] = NAME.sub(lambda m: m[1] + PLACES.sub(BREAK, m[2]), context["body"])


def setup(app):
    app.setup_extension("sphinx.ext.autodoc")
    app.setup_extension("sphinx.ext.napoleon")
    app.connect("autodoc-process-docstring", before_napoleon, priority=400)
    app.connect("autodoc-process-docstring", after_napoleon, priority=600)
    app.connect("autodoc-process-signature", shorter_signature)
    app.connect("autodoc-skip-member", without_fields)
    app.connect("html-page-context", may_break)
    app.add_directive("public", Public)
    app.config.autodoc_member_order = "bysource"
    app.config.autodoc_preserve_defaults = True
    app.config.napoleon_custom_sections = [("Claims", "returns_style")]
    app.config.napoleon_use_rtype = False
    app.config.nitpick_ignore_regex = [("py:.*", ".*")]  # types of other libraries have no page here
    app.config.python_maximum_signature_line_length = 80
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
