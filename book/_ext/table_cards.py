"""Tables that a phone has no room for: there each row is a small block, its name, its verdict, then the other cells.

The build marks such a table with the class ``cards`` and writes into each cell what its column is called; tables.css
does the rest. Which ones these are is reckoned from the letters: a column is as wide as its longest word or number.
"""

import re
from html import escape, unescape
from typing import Any

from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

PHONE, LETTER, BETWEEN = 330, 7.6, 10  # pixels: the width of a phone's text, of a letter, and between two columns
PROSE = 95  # letters of a row: more of them, in three columns, stand in slivers of one word to the line
VERDICTS = {"outcome", "verdict"}
TABLE = re.compile(r'<table class="([^"]*)"(.*?<thead>)(.*?)(</thead>.*?)</table>', re.DOTALL)
HEAD = re.compile(r"<th\b[^>]*>(.*?)</th>", re.DOTALL)
ROW = re.compile(r"<tr\b[^>]*>(.*?)</tr>", re.DOTALL)
CELL = re.compile(r"<td\b([^>]*)>(.*?)</td>", re.DOTALL)
ALONE = re.compile(r"^\s*<p>((?:(?!<p>).)*)</p>\s*$", re.DOTALL)  # it would begin a line below what the cell is
APART = {"atlas", "dataframe", "indextable"}  # these have their own way to be narrow


def words(cell: str) -> str:
    """Return the text of a cell; of a formula its letters, as they are heard."""
    return unescape(re.sub(r"<[^>]+>", "", cell)).strip()


def width(text: str) -> int:
    """The letters that cannot be broken: a short text with a digit is one word, as the tables of cells have it."""
    one = len(text) <= 24 and any(letter.isdigit() for letter in text)
    return len(text) if one else max(map(len, text.split()), default=0)


def needed(rows: list[list[str]]) -> bool:
    """Whether a table, its head the first row, has no room on a phone."""
    columns = list(zip(*rows, strict=True))
    letters = sum(max(map(width, column)) for column in columns)
    prose = max(sum(map(len, row)) for row in rows) > PROSE
    return letters * LETTER + len(columns) * BETWEEN > PHONE or prose


def carded(table: re.Match[str]) -> str:
    """A table as it was, or with the class and what each cell is."""
    names = [words(head) for head in HEAD.findall(table[3])]
    rows = [[words(text) for _, text in CELL.findall(row)] for row in ROW.findall(table[4])]
    apart = APART & {*table[1].split()} or len(names) < 3 or not rows or any(len(row) != len(names) for row in rows)
    if apart or not needed([names, *rows]):
        return table[0]

    counted = all(row[0][:1].isdigit() for row in rows)

    def named(row: re.Match[str]) -> str:
        left, first = iter(names), CELL.search(row[0])
        bare = first and re.fullmatch(r"\d[^a-df-zA-Z]*", words(first[2]))  # 1e-3, but not "2,000 steps" among names
        number = " data-number" if counted or bare else ""  # it needs its word before it
        made = CELL.sub(lambda cell: f"<td{told(next(left))}{cell[1]}>" + ALONE.sub(r"\1", cell[2]) + "</td>", row[0])
        return made.replace("<td", f"<td{number}", 1)

    return f'<table class="{table[1]} cards"{table[2]}{table[3]}{ROW.sub(named, table[4])}</table>'


def told(name: str) -> str:
    """The attributes that say what a cell is."""
    return (f' data-what="{escape(name, quote=True)}"' if name else "") + " data-verdict" * (name in VERDICTS)


def mark(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:  # noqa: ARG001
    if "body" in context:
        context["body"] = TABLE.sub(carded, context["body"])


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_css_file("tables.css", priority=600)  # after the theme's own
    app.connect("html-page-context", mark)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
