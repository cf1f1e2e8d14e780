"""What a cell prints stands as it was printed, however its text happened to arrive.

The kernel sends a cell's text in pieces and may end one in the middle of a line. MyST-NB puts the pieces of a stream
together (``nb_merge_streams``), but ends each with a new line and drops the blank ones. Here the pieces are joined
before that.
"""

from myst_nb.core import render
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

ordered = render.coalesce_streams  # what else MyST-NB does to streams: standard output before the errors


def joined(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """The outputs of a cell; the pieces of a stream are one, in the place of its first."""
    streams: dict[str, NotebookNode] = {}
    kept = []
    for output in outputs:
        if output["output_type"] != "stream":
            kept.append(output)
        elif output["name"] in streams:
            streams[output["name"]]["text"] += output["text"]
        else:
            kept.append(streams.setdefault(output["name"], NotebookNode(output)))  # a copy: it grows
    return ordered(kept)


def setup(_: Sphinx) -> ExtensionMetadata:
    render.coalesce_streams = joined
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
