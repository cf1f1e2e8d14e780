"""Check the proofs with Coq, and keep the table of what they say: `make proofs`.

theorems.json is made from the files beside it: of each theorem its claims, its statement as it stands in the file, the
definitions that it uses, and the axioms that Coq prints for it. The book's cards read the table, and a test holds it
against the files, without Coq. `python proofs/check.py --write` makes it anew; without the option a difference fails.
"""

import json
import re
import shutil
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

HERE = Path(__file__).resolve().parent
TABLE = HERE / "theorems.json"
BUILD = HERE.parent / "_build" / "proofs"
INSTALL = "apt-get install --no-install-recommends coq libcoq-mathcomp-analysis"
NEEDS = f"The proofs need Coq 8.16 and Mathematical Components 1.15, 1.6 GB; on Debian 12: sudo {INSTALL}"
COMMENT = re.compile(r"\(\*.*?\*\)", re.DOTALL)
# Whatever would let a statement pass without its proof. No file has a section, so a variable would be an axiom.
TRUSTED = re.compile(
    r"\b(Admitted|admit|give_up|Abort|Axioms?|Parameters?|Conjectures?|Hypothes[ie]s|Variables?|Context|Section|Declare|"
    r"Unset (?:Guard|Positivity|Universe) Checking|bypass_check)\b"
)
IMPORTS = re.compile(r"^From RopeLab Require Import (.*)\.$", re.MULTILINE)
DEFINES = re.compile(r"^(?:Definition|Fixpoint|Record) (\w+).*?\.$", re.DOTALL | re.MULTILINE)
THEOREM = re.compile(r"(?:\(\*\*((?:(?!\*\)).)*)\*\)\n)?^Theorem (\w+)(.*?\.)\nProof\b", re.DOTALL | re.MULTILINE)
SAID = re.compile(r"Chapters? (\d+).*?\n *Claim: (.*?)(?:\n *Covers: (.*))?$", re.DOTALL)
CLOSED = "Closed under the global context"


def sources(folder: Path = HERE) -> dict[str, str]:
    """The texts of the files by name, each after those that it imports."""
    texts = {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.v"))}
    order = TopologicalSorter({name: imported(text) for name, text in texts.items()}).static_order()
    return {name: texts[name] for name in order}


def imported(text: str) -> list[str]:
    """The names of our own files that a file imports."""
    return [name for names in IMPORTS.findall(text) for name in names.split()]


def faults(name: str, text: str) -> list[str]:
    """Whatever of a file asks to be believed, or is left unsaid, a sentence each."""
    code = COMMENT.sub("", text)
    found = [f"{name}.v: expected proofs alone, got {word[1]}" for word in TRUSTED.finditer(code)]
    theorems = [theorem[2] for theorem in THEOREM.finditer(text)]
    if re.findall(r"^Print Assumptions (\w+)\.$", text, re.MULTILINE) != theorems:
        found.append(f"{name}.v: expected at its end Print Assumptions of each theorem, in their order")
    found += [
        f"{name}.v: expected above {theorem[2]} a comment with its chapter and a line Claim:"
        for theorem in THEOREM.finditer(text)
        if not SAID.search(theorem[1] or "")
    ]
    return found


def table(folder: Path = HERE) -> dict:
    """The table without the axioms: definitions by file and name, and theorems in the order of their files."""
    texts = sources(folder)
    definitions = {name: {found[1]: found[0] for found in DEFINES.finditer(text)} for name, text in texts.items()}
    rows = []
    for name, text in texts.items():
        reach = [name, *imported(text)]
        known = {word: body for file in texts if file in reach for word, body in definitions[file].items()}
        for theorem in THEOREM.finditer(text):
            chapter, claims, covers = SAID.search(theorem[1]).groups()
            statement = f"Theorem {theorem[2]}{theorem[3]}"
            rows.append(
                {
                    "name": theorem[2],
                    "file": f"{name}.v",
                    "chapter": int(chapter),
                    "claims": claims.replace(",", " ").split(),
                    "covers": " ".join((covers or "").split()),
                    "uses": uses(statement, known),
                    "statement": statement,
                }
            )
    used = {word for row in rows for word in row["uses"]}
    kept = {word: body for file in texts for word, body in definitions[file].items() if word in used}
    return {"definitions": kept, "theorems": rows}


def uses(statement: str, known: dict[str, str]) -> list[str]:
    """The definitions that a statement names, and those that they name, in the order of the files."""
    found, asked = set(), [statement]
    while asked:
        words = set(re.findall(r"\w+", asked.pop())) & known.keys() - found
        found |= words
        asked += [known[word] for word in words]
    return [word for word in known if word in found]


def axioms(printed: str) -> list[list[str]]:
    """The axioms of each theorem, from what Coq prints."""
    blocks: list[list[str]] = []
    for line in printed.splitlines():
        if line in (CLOSED, "Axioms:"):
            blocks.append([])
        elif not line.startswith(" "):
            blocks[-1].append(line.split(" ")[0])
    return blocks


def prove(texts: dict[str, str]) -> list[list[str]]:
    """Run Coq on all files, and its second checker on what it made; returns the axioms of each theorem, in order."""
    if not shutil.which("coqc"):
        raise SystemExit(NEEDS)
    shutil.rmtree(BUILD, ignore_errors=True)
    BUILD.mkdir(parents=True)
    found = []
    for name, text in texts.items():
        (BUILD / f"{name}.v").write_text(text, encoding="utf-8")
        found += axioms(coq("coqc", "-w", "none", f"{name}.v"))
    ours = [word for name in texts for word in ("-norec", f"RopeLab.{name}")]  # the library it takes as it is
    coq("coqchk", "-silent", *ours)
    return found


def coq(program: str, *arguments: str) -> str:
    """The words that a program of Coq prints; whatever fails ends the run."""
    command = [program, "-R", ".", "RopeLab", *arguments]
    run = subprocess.run(command, cwd=BUILD, check=False, capture_output=True, text=True)
    if run.returncode:
        raise SystemExit(run.stderr + (NEEDS if "Cannot find a physical path" in run.stderr else ""))
    return run.stdout


def main(arguments: list[str]) -> int:
    """Check everything and print the axioms of each theorem; returns the exit status."""
    texts = sources()
    if wrong := [fault for name, text in texts.items() for fault in faults(name, text)]:
        print(*wrong, sep="\n")
        return 1
    made = table()
    for row, needed in zip(made["theorems"], prove(texts), strict=True):
        row["axioms"] = needed
        print(f"{row['file']:15}{row['name']:35}axioms: {', '.join(needed) or 'none'}")
    text = json.dumps(made, indent=1, ensure_ascii=False) + "\n"
    if "--write" in arguments:
        TABLE.write_text(text, encoding="utf-8")
    elif TABLE.read_text(encoding="utf-8") != text:
        print("proofs/theorems.json: expected what the files say, got another table; python proofs/check.py --write")
        return 1
    print(f"{len(made['theorems'])} theorems, each proved by Coq")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
