"""The pinned requirements: one universal resolution, nothing of one machine in it."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[1]
(TORCH,) = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["uv"]["constraint-dependencies"]
HASH = re.compile(r"    --hash=sha256:[0-9a-f]{64}( \\)?")
FORBIDDEN = re.compile(r"nvidia|cuda|triton|--|\+cpu|@ file|https?:", re.IGNORECASE)


def pins(name: str) -> list[Requirement]:
    """The pins of a file, without their hashes."""
    lines = (ROOT / name).read_text().splitlines()
    return [Requirement(line.rstrip("\\")) for line in lines if line and line[0] not in "# "]


def unhashed(lines: list[str]) -> list[str]:
    """Pins that no hash follows."""
    follows = zip(lines, [*lines[1:], ""], strict=True)
    return [line for line, after in follows if "==" in line and "--hash=sha256:" not in after]


def problems(lines: list[str]) -> list[str]:
    bare = [line for line in lines if not line.startswith("#") and not HASH.fullmatch(line)]
    return [line for line in bare if FORBIDDEN.search(line)]


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
def test_every_line_is_a_pin_that_any_machine_can_install(name):
    assert problems((ROOT / name).read_text().splitlines()) == []
    assert all(len(pin.specifier) == 1 and next(iter(pin.specifier)).operator == "==" for pin in pins(name))
    assert unhashed((ROOT / name).read_text().splitlines()) == []
    assert "uv pip compile" in (ROOT / name).read_text().splitlines()[1]


@pytest.mark.parametrize("line", ["--index-url somewhere", "torch==2.13.0+cpu", "nvidia-cublas==13.0", "triton==3.9.0"])
def test_control_lines_of_one_machine_are_reported(line):
    assert problems(["numpy==2.0", line]) == [line]


def test_control_a_pin_without_a_hash_is_reported():
    assert unhashed(["a==1 \\", "    --hash=sha256:00", "b==2", "c==3 \\", "    --hash=sha256:11"]) == ["b==2"]


def test_torch_is_the_release_that_the_numbers_were_made_with():
    assert TORCH == "torch==2.13.0"
    assert "torch" not in {pin.name for pin in pins("requirements-dev.txt")}  # its builds for CPU and GPU differ


def test_the_developers_file_repeats_the_readers_pins():
    files = ("requirements.txt", "requirements-dev.txt")
    readers, developers = ({(p.name, str(p.specifier)) for p in pins(f)} for f in files)
    assert readers <= developers


def test_loose_bounds_admit_the_pins_and_the_oldest_colab():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = (line for lines in project["optional-dependencies"].values() for line in lines)
    loose = {r.name.replace("_", "-"): r.specifier for r in map(Requirement, [*project["dependencies"], *extras])}
    every = [*pins("requirements-dev.txt"), Requirement(TORCH)]
    pinned = {pin.name: next(iter(pin.specifier)).version for pin in every}
    assert set(loose) <= set(pinned)
    for name, bounds in loose.items():
        assert bounds.contains(pinned[name]), name
    assert loose["torch"].contains(Version("2.4.0"))
    assert loose["numpy"].contains(Version("1.26.0"))
