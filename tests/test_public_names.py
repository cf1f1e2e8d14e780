"""The front door: what each folder hands on, and that pages, labs and README use nothing else."""

import importlib
import json
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import rope_lab

ROOT = Path(__file__).resolve().parents[1]
STUBS = sorted(p.parent.relative_to(ROOT) for p in (ROOT / "rope_lab").rglob("__init__.pyi"))
FOLDERS = [".".join(p.parts) for p in STUBS]
IMPORT = re.compile(r"^(?:>>> |\.\.\. )?\s*from (rope_lab[\w.]*) import (\([^)]*\)|[^\n#]+)", re.MULTILINE)
MENTION = re.compile(r"`(rope_lab(?:\.\w+)+)`")


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_public_name_loads(folder):
    module = importlib.import_module(folder)
    for name in module.__all__:
        assert getattr(module, name) is not None
    assert set(module.__all__) <= set(dir(module))  # completion shows them


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_module_has_the_name_of_a_public_object(folder):
    """A lazy import hands out the module under that name once it is loaded, and the object no more."""
    module = importlib.import_module(folder)
    stub = (Path(module.__file__).with_name("__init__.pyi")).read_text(encoding="utf-8")
    modules = {m.name for m in pkgutil.iter_modules(module.__path__)}
    objects = {name for source, names in imported(stub) for name in names if source != "."}
    assert not modules & objects - {"cards"}  # rope_lab.training hands on the module `cards`


@pytest.mark.parametrize("folder", sorted(set(FOLDERS) - {"rope_lab", "rope_lab.claims", "rope_lab.exercises"}))
def test_every_module_is_handed_on(folder):
    """`rope_lab.algebra.rotation` works after `import rope_lab`; claims and exercises load theirs themselves."""
    module = importlib.import_module(folder)
    assert {m.name for m in pkgutil.iter_modules(module.__path__)} <= set(module.__all__)


def imported(text):
    """(module, names) of each import from a relative module, as a stub writes them."""
    for source, names in re.findall(r"^from (\.[\w.]*) import (\([^)]*\)|[^\n]+)", text, re.MULTILINE):
        yield source, re.findall(r"as (\w+)", names)


def unknown_names(text):
    """What a text imports from rope_lab, or names in backquotes, that is not there, or not public."""
    found = []
    for module, names in IMPORT.findall(text):
        if module not in FOLDERS:
            found.append(f"{module}: no folder with public names")
            continue
        public = importlib.import_module(module).__all__
        wanted = [n.split(" as ")[0].strip() for n in names.strip("() ").replace("\n", " ").split(",") if n.strip()]
        found += [f"{module}.{name}" for name in wanted if name not in public]
    return found + [name for name in MENTION.findall(text) if not exists(name)]


def exists(dotted):
    parts = dotted.split(".")
    here = rope_lab
    for i, part in enumerate(parts[1:], 2):
        try:
            here = getattr(here, part)
        except AttributeError:
            try:
                here = importlib.import_module(".".join(parts[:i]))
            except ImportError:
                return False
    return True


def code_of(path):
    """The code that a reader sees: of a notebook its cells, of a page the whole text."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".ipynb":
        return text
    return "\n".join("".join(cell["source"]) + "\n" for cell in json.loads(text)["cells"])


READ = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "book").glob("*.md"))]
READ += sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", [path for path in READ if "rope_lab" in code_of(path)], ids=lambda p: p.stem)
def test_what_a_reader_sees_can_be_imported(path):
    assert unknown_names(code_of(path)) == []


@pytest.mark.parametrize(
    "text",
    [
        "from rope_lab.nn.rotary import Rotary\n",  # a file, not a folder
        "from rope_lab.nn import Rotatory\n",
        "from rope_lab import (\n    Rotary,\n    nothing,\n)\n",
        "see `rope_lab.nn.no_such_thing`",
    ],
)
def test_control_an_unknown_name_is_reported(text):
    assert len(unknown_names(text)) == 1


def test_the_package_loads_at_once():
    """It reads its own list of names and loads nothing behind them; what is typed by a reader resolves."""
    code = (
        "import sys, rope_lab; assert not {'torch', 'numpy', 'matplotlib'} & set(sys.modules);"
        "assert rope_lab.algebra.layouts.rotate_elementwise and rope_lab.training.cards.read;"
        "assert 'torch' not in sys.modules and 'Rotary' in dir(rope_lab) and 'rotation_2d' in dir(rope_lab.algebra)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
