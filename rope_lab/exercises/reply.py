"""What `check` answers: a value with ``ok`` that shows itself, yours beside the target, as text and in a notebook."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Reply:
    """One answer to a reader: what was found and, if it isn't right, the example that shows it."""

    id: str
    ok: bool
    says: str  # one sentence
    call: str = ""  # the example, as it would be typed
    yours: str = ""
    target: str = ""
    printed: str = ""  # what the reader's function printed on that example
    diagnosis: str = ""  # a known mistake that gives the same results
    hint: str = ""
    where: str = ""  # where the solution is
    judged: bool = True  # False for an empty function, an unreadable answer, a prediction: no try is counted

    def __bool__(self) -> bool:
        return self.ok

    @property
    def sign(self) -> str:
        return "·" if not self.judged else "✓" if self.ok else "✗"

    @property
    def rows(self) -> list[tuple[str, str]]:
        """The example, yours beside the target; empty rows are left out."""
        rows = [("example", self.call), ("yours", self.yours), ("target", self.target), ("printed", self.printed)]
        return [(name, text) for name, text in rows if text]

    @property
    def notes(self) -> list[str]:
        return [note for note in (self.diagnosis, self.hint and f"Hint: {self.hint}", self.where) if note]

    def __repr__(self) -> str:
        lines = [f"{self.sign} {self.id}: {self.says}"]
        lines += [f"  {name:8} {text.rstrip()}".replace("\n", "\n" + 11 * " ") for name, text in self.rows]
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        # The notebook's theme owns ground and ink; only a coloured rule is added, and the sign says the same.
        colour = {"✓": "#2b8a57", "✗": "#c2571a", "·": "#7a7f87"}[self.sign]
        # A grid and no table: pages and notebooks stripe tables in colours of their own.
        pre = '<pre style="margin:0;padding:0;border:0;background:none;color:inherit;white-space:pre;overflow-x:auto">'
        rows = "".join(
            f'<dt style="margin:0">{name}</dt><dd style="margin:0;min-width:0">{pre}{escape(text.rstrip())}</pre></dd>'
            for name, text in self.rows
        )
        grid = "display:grid;grid-template-columns:max-content 1fr;column-gap:1em;align-items:baseline;margin:.5em 0"
        body = f'<dl style="{grid}">{rows}</dl>' if rows else ""
        return (
            f'<div class="rope-reply" role="status" style="border-left:4px solid {colour};padding-left:.8em">'
            f"<p>{self.sign} <b>{escape(self.id)}</b>: {_html(self.says)}</p>"
            f"{body}{''.join(f'<p>{_html(note)}</p>' for note in self.notes)}</div>"
        )


def _html(text: str) -> str:
    """Escape; `code` becomes code, and $mathematics$ what a notebook and the build of the book typeset."""
    safe = re.sub(r"`([^`]+)`", r'<code style="color:inherit">\1</code>', escape(text, quote=False))
    return re.sub(r"\$([^$]+)\$", r'<span class="math">\\(\1\\)</span>', safe)
