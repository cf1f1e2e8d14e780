"""Write the weights of the small model as a script, ``_static/story-weights.js``.

A widget adds it to its page when a reader first touches the figure. A script also loads from ``file://``, where a page
may not fetch a file.
"""

from base64 import b64encode
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

from rope_lab.show.widgets.story import weights


def write_weights(app: Sphinx, exception: Exception | None) -> None:
    """Write the script when an HTML build has succeeded."""
    if exception or app.builder.format != "html":
        return
    text = b64encode(weights()).decode()
    Path(app.outdir, "_static", "story-weights.js").write_text(
        f'globalThis.ropeStoryWeights = "{text}";\n', encoding="utf-8"
    )


def setup(app: Sphinx) -> ExtensionMetadata:
    app.connect("build-finished", write_weights)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
