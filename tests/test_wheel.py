"""The contract with a reader who has only the wheel: a fresh environment, another folder, a faked Colab, every lab.

The labs are run here, a sample in each run and the others in ``make deep PART=labs``, and by the book's build; nothing
else in the tests executes them.
"""

import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from book.address import first_cell
from tests import house
from tests.deep import sampled
from tests.test_extras import EVERY_MODULE
from tests.test_requirements import pins

ROOT = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.xdist_group("wheel")  # one worker makes the environment, once

LABS = sorted((ROOT / "notebooks").glob("*.ipynb"))
# In each run: plots and cards. The book's build runs every lab, with more installed; what that would hide are files
# that the wheel has not, and libraries that its extras do not name: each has a test of its own.
SAMPLE = ("15_crope_tables",)

# What a Colab machine brings along, at the oldest and at recent releases. Only names and versions matter to pip.
BROUGHT = (
    "ipywidgets==7.7.1",
    "matplotlib==3.10.0",
    "rich==13.9.4",
    "safetensors==0.5.3",
    "scipy==1.14.1",
    "sympy==1.13.1",
    "tiktoken==0.9.0",
    "tqdm==4.67.1",
    "traitlets==5.7.1",
    "typer==0.15.3",
)
COLAB = {"oldest": ("torch==2.4.0", "numpy==1.26.4", *BROUGHT), "recent": ("torch==2.9.0", "numpy==2.0.2", *BROUGHT)}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--outdir", str(out), str(ROOT)], check=True, capture_output=True
    )
    return next(out.glob("*.whl"))


@pytest.fixture(scope="module")
def reader(wheel, tmp_path_factory) -> Path:
    """A fresh environment with the wheel, a kernel, and a stand-in for ``google.colab``; returns its interpreter."""
    home = tmp_path_factory.mktemp("reader")
    venv.create(home / "env", with_pip=False)
    python = home / "env" / "bin" / "python"
    site = next((home / "env").glob("lib/python3*/site-packages"))
    into, pip = ["install", "--quiet"], [sys.executable, "-m", "pip", "--python", str(python)]
    if os.environ.get("ROPE_LAB_NEWEST"):
        subprocess.run([*pip, *into, "torch"], check=True, capture_output=True, cwd=home)
        pinned = []
    else:  # the very torch that is here, since pip takes a minute to unpack it
        for file in importlib.metadata.files("torch"):
            if ".." not in file.parts and (here := Path(file.locate())).exists():
                (site / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(here, site / file)
        pinned = ["-c", str(home / "pins.txt")]  # without hashes: with them pip would want one for each package
        Path(pinned[1]).write_text("\n".join(map(str, pins("requirements.txt"))))
    rest = [*pinned, f"{wheel}[lab,train]", "ipykernel"]
    uv = [sys.executable, "-m", "uv", "pip", *into, "--no-config", "--python", str(python)]
    if subprocess.run([*uv, *rest], check=False, capture_output=True, cwd=home).returncode:  # pip knows more ways
        subprocess.run([*pip, *into, *rest], check=True, capture_output=True, cwd=home)
    colab = site / "google" / "colab"
    colab.mkdir(parents=True)
    (colab / "__init__.py").write_text("from google.colab import output\n")
    (colab / "output.py").write_text("def enable_custom_widget_manager(): pass\n")
    return python


def execute(lab: Path, python: Path, folder: Path) -> None:
    """Run a lab top to bottom with that interpreter, in that folder, which holds nothing else."""
    kernels = folder / "kernels" / "reader"
    kernels.mkdir(parents=True)
    spec = {
        "argv": [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "reader",
        "language": "python",
        "env": {"JUPYTER_PATH": "", "PYTHONPATH": ""},
    }
    (kernels / "kernel.json").write_text(json.dumps(spec))
    work = folder / "elsewhere"
    work.mkdir()
    old = os.environ.get("JUPYTER_PATH")
    os.environ["JUPYTER_PATH"] = str(folder)
    try:
        NotebookClient(
            nbformat.read(lab, as_version=4),
            kernel_name="reader",
            timeout=300,  # for a cell; a busy machine takes a minute for some
            resources={"metadata": {"path": str(work)}},
        ).execute()
    finally:
        os.environ.pop("JUPYTER_PATH") if old is None else os.environ.update(JUPYTER_PATH=old)


@pytest.mark.parametrize("lab", sampled([lab.stem for lab in LABS], SAMPLE))
@pytest.mark.filterwarnings("ignore")  # the kernel's client, not ours
def test_lab_runs_from_the_wheel_alone(lab, reader, tmp_path):
    execute(ROOT / "notebooks" / f"{lab}.ipynb", reader, tmp_path)


def test_the_wheel_holds_every_file_of_the_package(wheel):
    held = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("rope_lab/")}
    assert held == {str(path) for path in house.files(ROOT) if path.parts[0] == "rope_lab"}


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="a tree without git: its wheel names no commit")
def test_the_wheel_names_the_commit_that_it_was_built_from(wheel):
    git = ["git", "-C", str(ROOT), "rev-parse", "HEAD"]
    with zipfile.ZipFile(wheel) as held:
        (note,) = (name for name in held.namelist() if name.endswith(".dist-info/extra_metadata/COMMIT"))
        said = held.read(note).decode()
    assert said.removesuffix("+") == subprocess.run(git, check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.deep
def test_every_module_and_the_model_load_from_the_wheel(reader, tmp_path):
    code = EVERY_MODULE.format(name="rope_lab") + "from rope_lab.story import load_story\nload_story()"
    run = subprocess.run([reader, "-Ic", code], check=False, capture_output=True, cwd=tmp_path)
    assert run.returncode == 0, run.stderr


@pytest.mark.filterwarnings("ignore")
def test_control_a_broken_lab_is_reported(reader, tmp_path):
    lab = tmp_path / "broken.ipynb"
    cells = [nbformat.v4.new_code_cell("from rope_lab.algebra.rotation import no_such_name")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), lab)
    with pytest.raises(CellExecutionError, match="no_such_name"):
        execute(lab, reader, tmp_path)


@pytest.mark.parametrize("address", ["", "https://github.com/someone/clocks"])
def test_bootstrap_outside_colab_stops_with_one_sentence(tmp_path, address):
    source = first_cell("", address, "v1")
    script = tmp_path / "first_cell.py"
    script.write_text(
        "import sys\nsys.modules['rope_lab'] = None\n"
        + "".join(
            "    pass\n" if line.lstrip().startswith(("%", "!")) else line for line in source.splitlines(keepends=True)
        )
    )
    run = subprocess.run([sys.executable, str(script)], check=False, capture_output=True, text=True, cwd=tmp_path)
    said = run.stderr.strip().splitlines()
    assert run.returncode != 0
    assert len(said) == 1, run.stderr
    assert (f"@ git+{address}@v1" if address else "pip install '.[lab]'") in said[0]


def pretend(python_home: Path, packages) -> Path:
    """An environment in which pip believes that these packages are installed."""
    venv.create(python_home, with_pip=False)
    site = next(python_home.glob("lib/python3*/site-packages"))
    for package in packages:
        name, version = package.split("==")
        info = site / f"{name}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        (info / "INSTALLER").write_text("pip\n")
        (info / "RECORD").write_text("")
    return python_home / "bin" / "python"


def what_pip_would_install(wheel: Path, python: Path, report: Path) -> set[str]:
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    run = [*pip, "--dry-run", "--report", str(report), f"{wheel}[lab,train]"]
    subprocess.run(run, check=True, capture_output=True)
    return {item["metadata"]["name"].lower() for item in json.loads(report.read_text())["install"]}


@pytest.mark.deep
@pytest.mark.parametrize("release", sampled(COLAB, ["oldest"]))
def test_installing_over_colab_changes_neither_torch_nor_numpy(release, wheel, tmp_path):
    installed = what_pip_would_install(wheel, pretend(tmp_path / "colab", COLAB[release]), tmp_path / "report.json")
    assert "rope-lab" in installed
    assert not installed & {"torch", "numpy"}


@pytest.mark.deep
def test_control_a_numpy_too_old_is_replaced(wheel, tmp_path):
    brought = ("torch==2.4.0", "numpy==1.22.0", *BROUGHT)
    assert "numpy" in what_pip_would_install(wheel, pretend(tmp_path / "old", brought), tmp_path / "report.json")
