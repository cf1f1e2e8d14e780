"""Note in a wheel the commit that it was built from: the cards that it trains name it, as those of a checkout do."""

import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CommitHook(BuildHookInterface):
    """Put a file COMMIT beside the wheel's metadata; where git does not know the tree, say that there is none."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Ask git, and hand on what it says in a file outside the tree, with a ``+`` where the package differs."""
        if version == "editable":  # the tree goes on from here, and is asked itself when a run begins
            return
        try:
            self.git("ls-files", "--error-unmatch", "pyproject.toml")  # or it merely lies inside of another project
            said = self.git("rev-parse", "HEAD") + ("+" if self.git("status", "--porcelain", "rope_lab") else "")
        except (OSError, subprocess.CalledProcessError):
            self.app.display_warning("No git checkout: what this wheel trains will name no commit.")
            return
        if said.endswith("+"):
            self.app.display_warning("rope_lab differs from the commit: what this wheel trains cannot be traced.")
        self.folder = tempfile.TemporaryDirectory()
        file = Path(self.folder.name, "COMMIT")
        file.write_text(said, encoding="utf-8")
        build_data["extra_metadata"][str(file)] = "COMMIT"

    def finalize(self, *_: Any) -> None:
        """Take the file away again."""
        if hasattr(self, "folder"):
            self.folder.cleanup()

    def git(self, *arguments: str) -> str:
        """Return what git says of the tree."""
        command = ["git", *arguments]
        return subprocess.run(command, cwd=self.root, capture_output=True, text=True, check=True).stdout.strip()
