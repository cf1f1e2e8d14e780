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
from sphinx.util.docutils import SphinxDirective

from rope_lab.claims import load

ARRAY_LIKE = re.compile(r"_Buffer \|.*?_NestedSequence\[complex \| bytes \| str\]", re.DOTALL)
OTHERS = re.compile(r"~(?!rope_lab)[\w.]+\.")
EXAMPLE = re.compile(r"^\s*>>> ")
PARTS = re.compile(r"(\$\$[^$]+\$\$|``.+?``|\$(?=\S)[^$]+?(?<=\S)\$|`[^`]+`|:\w+:`[^`]+`|(?<![\w*])\*[a-z]+\*(?!\w))")


def stub_of(folder: str) -> Path:
    """The file that lists a folder's public names."""
    return Path(str(importlib.import_module(folder).__file__)).with_name("__init__.pyi")


def sources(folder: str) -> dict[str, list[str]]:
    """Module -> the names of it that a folder hands on; modules handed on as such are left out."""
    found: dict[str, list[str]] = {}
    for node in ast.parse(stub_of(folder).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            found.setdefault(f"{folder}.{node.module}", []).extend(alias.name for alias in node.names)
    return {
        module: [name for name in names if not inspect.ismodule(getattr(importlib.import_module(folder), name))]
        for module, names in found.items()
    }


class Public(SphinxDirective):
    """All public names of one folder, module by module. A name at home in a folder below is a line that leads there.

    A long folder is shared by two pages: ``:only:`` names the modules of the one, ``:without:`` those of the other.
    """

    required_arguments = 1
    option_spec: ClassVar = {"only": str.split, "without": str.split}

    def run(self):
        folder = self.arguments[0]
        self.env.note_dependency(str(stub_of(folder)))
        lines = ["```{eval-rst}"]
        for module, names in self.chosen(sources(folder), folder).items():
            home = home_of(module)
            found = {name: getattr(importlib.import_module(folder), name) for name in names}
            if home == folder and names:
                lines += [f".. rubric:: {module.removeprefix(folder + '.')}", "", *first_paragraph(module), ""]
            for name, it in found.items():
                lines += entry(folder, name, it) if home == folder else [f"- :py:obj:`{folder}.{name} <{home}.{name}>`"]
            lines.append("")
        node = nodes.Element()
        self.state.nested_parse(StringList([*lines, "```"], folder), self.content_offset, node)
        return node.children

    def chosen(self, found: dict[str, list[str]], folder: str) -> dict[str, list[str]]:
        """The modules that this page shows."""
        only, without = (
            [f"{folder}.{name}" for name in self.options.get(option, ())] for option in ("only", "without")
        )
        if unknown := {*only, *without} - found.keys():
            raise self.error(f"public: expected modules of {folder}, got {', '.join(sorted(unknown))}")
        return {
            module: names for module, names in found.items() if module not in without and (not only or module in only)
        }


def entry(folder: str, name: str, it: object) -> list[str]:
    """What autodoc is asked for; of a constant its name and kind, since its docstring would be that of its class."""
    if inspect.isclass(it):
        return [f".. autoclass:: {folder}.{name}", "   :members:", ""]
    if inspect.isroutine(it):
        return [f".. autofunction:: {folder}.{name}", ""]
    return [f".. py:data:: {folder}.{name}", f"   :type: {type(it).__name__}", ""]


def home_of(module: str) -> str:
    """The folder with public names that a module lies in."""
    folder = module.rpartition(".")[0]
    return folder if stub_of(folder).exists() else home_of(folder)


def first_paragraph(module: str) -> list[str]:
    """What a module is about."""
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
    """A mark may run over the end of a line, so a paragraph is turned as a whole."""
    parts = PARTS.split("\n".join(lines))
    text = "".join(turned(part) if i % 2 else escaped(part) for i, part in enumerate(parts))
    return text.split("\n") if lines else []


def turned(mark: str) -> str:
    """One mark: mathematics, the id of a claim, or code."""
    inner = " ".join(mark.strip("`$").split())
    if mark.startswith("$$"):
        return f"\n\n.. math:: {inner}\n\n"
    if mark.startswith("$"):
        return f"\\ :math:`{inner}`\\ "
    if mark.startswith((":", "``", "*")):
        return mark
    if inner in claim_ids():
        return f":ref:`{inner} <claim-{inner.lower()}>`"
    return f"``{inner}``"


@cache
def claim_ids() -> frozenset[str]:
    """The ids of the ledger."""
    return frozenset(load())


def escaped(text: str) -> str:
    """What reStructuredText would read as emphasis, a substitution or a reference."""
    return re.sub(r"(?<!\\)(\*|\||\w_(?=\W|$))", lambda m: m[0][:-1] + "\\" + m[0][-1], text)


def before_napoleon(app, what, name, obj, options, lines):  # noqa: ARG001  (Sphinx fixes the signature)
    lines[:] = restructured(lines)


def after_napoleon(app, what, name, obj, options, lines):  # noqa: ARG001
    """Of a property it takes what stands before a colon in the first line for the type: read it as a function's."""
    if what == "property":
        lines[:] = GoogleDocstring(restructured((inspect.getdoc(obj) or "").split("\n")), app.config).lines()


def shorter_signature(app, what, name, obj, options, signature, returned):  # noqa: ARG001
    """Numpy spells its ArrayLike out, over three lines, and Sphinx leaves its own marks before some names."""
    return tuple(part and OTHERS.sub("", ARRAY_LIKE.sub("ArrayLike", part)) for part in (signature, returned))


def without_fields(app, what, name, obj, skip, options):  # noqa: ARG001
    """A named tuple's fields stand in its signature; their docstrings only count them."""
    return True if (getattr(obj, "__doc__", None) or "").startswith("Alias for field") else None


def setup(app):
    app.setup_extension("sphinx.ext.autodoc")
    app.setup_extension("sphinx.ext.napoleon")
    app.connect("autodoc-process-docstring", before_napoleon, priority=400)
    app.connect("autodoc-process-docstring", after_napoleon, priority=600)
    app.connect("autodoc-process-signature", shorter_signature)
    app.connect("autodoc-skip-member", without_fields)
    app.add_directive("public", Public)
    app.config.autodoc_member_order = "bysource"
    app.config.autodoc_preserve_defaults = True
    app.config.napoleon_custom_sections = ["Claims"]
    app.config.napoleon_use_rtype = False
    app.config.nitpick_ignore_regex = [("py:.*", ".*")]  # types of other libraries have no page here
    app.config.python_maximum_signature_line_length = 80
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
