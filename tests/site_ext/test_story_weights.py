"""The script with the weights of the small model."""

import re
from base64 import b64decode
from types import SimpleNamespace

import pytest
import story_weights

from rope_lab.show.widgets.story import weights


@pytest.mark.parametrize(
    ("fault", "builder", "written"),
    [(None, "html", True), (ValueError("a warning"), "html", False), (None, "latex", False)],
)
def test_the_script_holds_the_weights(fault, builder, written, tmp_path):
    (tmp_path / "_static").mkdir()
    story_weights.write_weights(SimpleNamespace(builder=SimpleNamespace(format=builder), outdir=tmp_path), fault)
    file = tmp_path / "_static" / "story-weights.js"
    assert file.exists() == written
    if written:
        found = re.fullmatch(r'globalThis\.ropeStoryWeights = "([A-Za-z0-9+/=]+)";\n', file.read_text())
        assert b64decode(found[1]) == weights()
