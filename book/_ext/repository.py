"""The repository's address, from pyproject.toml alone, and the buttons that lead there; none while it is a placeholder.

A chapter's Colab button opens its lab, at the release that the page was built from, or else on the main branch. The
theme would offer to open the page itself, which Colab cannot run.
"""

import subprocess
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util.typing import ExtensionMetadata

ROOT = Path(__file__).resolve().parents[2]


def repository(root: Path = ROOT) -> tuple[str, str]:
    """The repository's address, empty while it is a placeholder, and the tag of the package's version."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    address = project["urls"]["Repository"].rstrip("/")
    placeholder = urlsplit(address).path.startswith("/example/") or "example" in urlsplit(address).netloc.split(".")
    return "" if placeholder else address, f"v{project['version']}"


def branch(root: Path, tag: str) -> str:
    """The tag if the tree was checked out at it; "main" elsewhere."""
    git = ["git", "-C", str(root), "tag", "--points-at", "HEAD"]
    run = subprocess.run(git, check=False, capture_output=True, text=True)
    return tag if tag in run.stdout.split() else "main"


def set_address(app: Sphinx, config: Config) -> None:
    """Give the theme the address and its buttons; without one Jupyter Book would leave its own address there."""
    address, tag = repository(Path(app.confdir))
    config.html_theme_options |= {
        "repository_url": address,
        "repository_branch": branch(Path(app.confdir), tag),
        "use_repository_button": bool(address),
        "use_issues_button": bool(address),
    }


def replace_button(
    app: Sphinx,
    pagename: str,
    templatename: str,  # noqa: ARG001 (Sphinx's own signature)
    context: dict[str, Any],
    doctree: nodes.document | None,  # noqa: ARG001
) -> None:
    """Replace the theme's launch button in the context of one page."""
    buttons = [b for b in context.get("header_buttons", ()) if b.get("label") != "launch-buttons"]
    theme = app.config.html_theme_options
    lab = f"notebooks/{pagename.rpartition('/')[2]}"
    if lab in app.env.found_docs and theme.get("repository_url"):
        name = urlsplit(theme["repository_url"]).path.strip("/")
        buttons.append(
            {
                "type": "link",
                "text": "Colab",
                "label": "launch-buttons",
                "tooltip": "Run this chapter's lab in Colab",
                "icon": "fas fa-rocket",
                "url": f"https://colab.research.google.com/github/{name}/blob/{theme['repository_branch']}/{lab}.ipynb",
            }
        )
    context["header_buttons"] = buttons


def setup(app: Sphinx) -> ExtensionMetadata:
    app.connect("config-inited", set_address)
    app.connect("html-page-context", replace_button, priority=900)  # after the theme has put its own buttons there
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
