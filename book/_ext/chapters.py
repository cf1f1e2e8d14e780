"""The chapters of the book, part by part, as the table of contents has them. No extension: what several of them ask."""

import re

from sphinx.environment import BuildEnvironment

CHAPTER = re.compile(r"book/(\d\d)_\w+")


def chapters_by_part(env: BuildEnvironment) -> dict[str, list[str]]:
    """The pages of the chapters under the caption of their part; a part without chapters is left out."""
    parts = env.external_site_map.root.subtrees  # type: ignore[attr-defined]
    pages = {part.caption: [page for page in map(str, part.items) if CHAPTER.fullmatch(page)] for part in parts}
    return {caption: chapters for caption, chapters in pages.items() if chapters}
