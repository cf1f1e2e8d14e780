"""Print the size of the house by room, and fail where one is above its ceiling in house.toml: the end of `make lint`.

A room is a folder of the package or of `book`, all chapters together, or another folder at the top. What counts is the
lines of its Python, JavaScript and Coq, of `book/_static` and `book/live` the style sheets too, and of pages and labs
their own lines.
"""

import os
import subprocess
import sys
import tomllib
from collections import Counter
from fnmatch import fnmatch
from pathlib import Path, PurePath

ROOT = Path(__file__).resolve().parents[1]
CEILINGS = Path(__file__).with_name("house.toml")
CODE = {".py", ".pyi", ".js", ".mjs", ".ts", ".v"}
CHAPTERS = "rope_lab/chapters"


def files(root: Path) -> list[PurePath]:
    """The files that git has, or would take with the next commit; without git those that .gitignore lets through."""
    if (root / ".git").exists():  # not a checkout that we merely lie in
        command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        run = subprocess.run(command, check=False, capture_output=True, text=True)
        if run.returncode == 0:
            return sorted(PurePath(name) for name in set(run.stdout.split("\0")) if (root / name).is_file())
    ignore = root / ".gitignore"
    patterns = [*(ignore.read_text().split() if ignore.exists() else []), "/.git"]

    def ignored(path: Path) -> bool:
        at = f"/{path.relative_to(root).as_posix()}"
        return any(fnmatch(at if p.startswith("/") else path.name, p.rstrip("/")) for p in patterns)

    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not ignored(Path(folder, name))]
        found += [Path(folder, name) for name in names if not ignored(Path(folder, name))]
    return sorted(PurePath(path.relative_to(root)) for path in found)


def room_of(path: PurePath) -> str | None:
    """The room that a file's lines count for; nothing for data, settings and text outside pages."""
    folder, kind = path.parent.parts, path.suffix
    if kind in CODE or (kind == ".css" and folder[:2] in (("book", "_static"), ("book", "live"))):
        return "/".join(folder[: 2 if folder[:1] in (("rope_lab",), ("book",)) else 1]) or "."
    return {(("book",), ".md"): "pages", (("notebooks",), ".ipynb"): "labs"}.get((folder, kind))


def check(root: Path, ceilings: dict) -> tuple[list[tuple], list[str]]:
    """The rows of the table (room, files, lines, ceiling, note), and what is wrong, a sentence each."""
    everything, ceiling = files(root), ceilings["lines"]
    number: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    chapters: Counter[str] = Counter()
    for path in everything:
        if room := room_of(path):
            size = (root / path).read_bytes().count(b"\n")
            number[room] += 1
            lines[room] += size
            if room == CHAPTERS and len(path.parts) > 3:
                chapters[path.parts[2]] += size
    note = "".join(f"the largest, {name}: {size:,}" for name, size in chapters.most_common(1))
    rows = [(room, number[room], lines[room], ceiling.get(room), note * (room == CHAPTERS)) for room in sorted(number)]
    here = f"tests/{CEILINGS.name}"
    mend = f"take away as much, or raise the ceiling in {here} and say why in the commit"
    wrong = []
    for room, got in [*sorted(lines.items()), ("files", len(everything))]:
        most = ceilings["files"] if room == "files" else ceiling.get(room)
        if most is None:
            wrong.append(
                f"{room}: expected a ceiling in {here}, got none for {got:,} lines; add a row for the new room"
            )
        elif got > most:
            unit = "of every kind" if room == "files" else "lines"
            wrong.append(f"{room}: expected at most {most:,} {unit}, got {got:,}; {mend}")
    gone = sorted(set(ceiling) - set(number))
    wrong += [f"{room}: expected a room with files, got none; take its row out of {here}" for room in gone]
    package = [sum(counts[room] for room in counts if room.startswith("rope_lab")) for counts in (number, lines)]
    rows += [
        ("rope_lab in all", *package, None, ""),
        ("files of every kind", len(everything), None, ceilings["files"], ""),
    ]
    return rows, wrong


def main() -> int:
    """Print the table, and then what is wrong; returns the exit status."""
    rows, wrong = check(ROOT, tomllib.loads(CEILINGS.read_text()))
    head = ("room", "files", "lines", "ceiling", "")
    for room, *numbers, note in (head, *rows):
        cells = (f"{n:,}" if isinstance(n, int) else n or "" for n in numbers)
        print(f"{room:20}", *(f"{cell:>8}" for cell in cells), f" {note}".rstrip())
    print(*(f"error: {line}" for line in wrong), sep="\n", end="\n" if wrong else "")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
