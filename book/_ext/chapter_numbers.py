"""A chapter carries the number of its file: ``book/14_tiny_gpt`` is chapter 14, whichever other chapters there are.

Sphinx counts the pages that it finds. This replaces the count by the number in the file's name, for titles, equations
and theorems alike.
"""

import re

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.environment.collectors.toctree import TocTreeCollector
from sphinx.util.typing import ExtensionMetadata
from sphinx_external_toc import collectors


def number_by_file(app: Sphinx) -> None:
    """Wrap the collector that assigns section numbers."""
    collector = TocTreeCollector
    if "sphinx_external_toc" in app.extensions:  # it counts again in its own class: wrap that one
        collector = collectors.TocTreeCollectorWithStyles
    count = collector.assign_section_numbers

    def assign_section_numbers(self: TocTreeCollector, env: BuildEnvironment) -> list[str]:
        before = env.toc_secnumbers
        count(self, env)
        for name, numbers in env.toc_secnumbers.items():
            if chapter := re.search(r"/(\d+)_", name):
                first = int(chapter[1])
                for anchor, number in numbers.items():
                    numbers[anchor] = number and (first, *number[1:])
                for node in (env.titles[name], *env.tocs[name].findall(nodes.reference)):
                    if node.get("secnumber"):
                        node["secnumber"] = [first, *node["secnumber"][1:]]
        return [name for name, numbers in env.toc_secnumbers.items() if before.get(name) != numbers]

    # Sphinx has no event at this place, so its method is replaced.
    collector.assign_section_numbers = assign_section_numbers  # type: ignore[method-assign]


def setup(app: Sphinx) -> ExtensionMetadata:
    app.connect("builder-inited", number_by_file, priority=900)  # after sphinx_external_toc has set its collector
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
