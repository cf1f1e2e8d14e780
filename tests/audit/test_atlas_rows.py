"""The inventory of a package: its rotary embeddings by their sources alone, and copies of one code together."""

import pytest

from rope_lab.audit.atlas_rows import by_body, definitions
from rope_lab.audit.foreign_code import TargetError

ONE = '''
raise RuntimeError("nobody may import this")

def rotate_half(x):
    """Words."""
    return x

class {name}RotaryEmbedding:
    """More words."""

    def __init__(self, config: {name}Config):
        self.base = {base}

    def forward(self, x: "Tensor", positions):
        return rotate_half(x)

class {name}RotaryConfig:
    def forward(self):
        pass

class {name}Attention:
    def forward(self):
        pass
'''


@pytest.fixture
def package(tmp_path, monkeypatch):
    files = {
        "__init__.py": "",
        "alpha.py": ONE.format(name="Alpha", base=10000),
        "beta.py": ONE.format(name="Beta", base=10000),
        "gamma.py": ONE.format(name="Gamma", base=500000),
        "delta.py": ONE.format(name="Delta", base=10000).replace("    return x\n", "    return -x\n"),
        "modular_alpha.py": ONE.format(name="Alpha", base=10000),
        "broken.py": "class RotaryEmbedding(:",
    }
    (tmp_path / "some_rotations" / "tests").mkdir(parents=True)
    for name, text in files.items():
        (tmp_path / "some_rotations" / name).write_text(text)
    (tmp_path / "some_rotations" / "tests" / "test_alpha.py").write_text(files["alpha.py"])
    monkeypatch.syspath_prepend(tmp_path)
    return "some_rotations"


def test_the_classes_that_turn_are_found_without_an_import(package):
    found = definitions(package)
    names = [one.target.partition(":")[2] for one in found]
    assert names == [f"{name}RotaryEmbedding" for name in ("Alpha", "Beta", "Delta", "Gamma")]
    assert found[0].target == "some_rotations.alpha:AlphaRotaryEmbedding"
    assert (found[0].file, found[0].line) == ("alpha.py", 8)


def test_copies_share_their_mark_and_another_base_or_another_turn_does_not(package):
    groups = by_body(definitions(package))
    shared = [[one.target.partition(":")[2][:5] for one in group] for group in groups.values()]
    assert shared == [["Alpha", "BetaR"], ["Delta"], ["Gamma"]]


def test_a_package_that_is_not_here_is_said():
    with pytest.raises(TargetError, match="got none; pip install no-such-rotations"):
        definitions("no_such_rotations")


def test_a_single_module_is_said():
    with pytest.raises(TargetError, match="one module and no package"):
        definitions("colorsys")
