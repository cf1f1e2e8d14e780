"""Mutants of what each claim runs: does its check notice when our mathematics is wrong?

    python -m tests.mutation.claims              # ten mutants for each claim
    python -m tests.mutation.claims ch5 ch6      # of some chapters
    python -m tests.mutation.claims 'su6.*' --each 3

A mutant changes one thing in a line of the package that the claim runs, in place, in a process of its own. It dies
if the claim fails, or if another claim of the same chapter does. At least nine in ten of those that survivors.md does
not name must die.
"""

import argparse
import ast
import functools
import os
import re
import signal
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from types import CodeType, FunctionType

from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator

from rope_lab.claims import Claim, load, run, select
from tests.mutation.run import LISTED, PACKAGE, ROOT, Mutant, _definitions, _hash, _mutant, sites

EACH = 10  # mutants of a claim
BAR = 0.9  # of those that change anything
KINDS = ("exact", "cases", "numeric")
ABOUT = tuple(str(PACKAGE / name) for name in ("algebra", "nn", "audit", "training"))
REFUSALS = ("arguments", "tensor_arguments")  # modules that say no to a caller: the claims are not about these
CACHED = functools._lru_cache_wrapper
LIMIT = 120  # seconds; a mutant that runs longer is dead


def lines_of(entry: Claim) -> dict[Path, set[int]]:
    """The lines of the package's functions that a claim runs, by file."""
    seen: set[tuple[str, int]] = set()

    def within(frame, event: str, _):
        if event == "line":
            seen.add((frame.f_code.co_filename, frame.f_lineno))
        return within

    def enter(frame, *_):
        ours = frame.f_code.co_filename.startswith(ABOUT) and frame.f_code.co_name != "<module>"
        return within if ours else None

    _forget()
    sys.settrace(enter)
    try:
        assert not run(entry).failed, entry.id
    finally:
        sys.settrace(None)
    found: dict[Path, set[int]] = defaultdict(set)
    for name, line in seen:
        found[Path(name)].add(line)
    return {path: lines - _refusals(path) for path, lines in found.items() if path.stem not in REFUSALS}


@functools.cache
def _refusals(path: Path) -> set[int]:
    """The lines that only ask whether a caller's arguments are right: the claims are not about these."""
    found: set[int] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        refuses = isinstance(node, ast.If) and isinstance(node.body[-1], ast.Raise)
        asks = isinstance(node, ast.Assign | ast.Expr) and "expect_" in ast.unparse(node)
        named = isinstance(node, ast.FunctionDef) and re.match(r"_?expect_|_positive|__post_init__", node.name)
        if refuses or asks or named:
            found |= set(range(node.lineno, node.end_lineno + 1))
    return found


def drawn(entry: Claim, each: int) -> list[Mutant]:
    """The mutants of one claim: those of the lines that it runs whose hashes are smallest."""
    every = []
    for path, lines in lines_of(entry).items():
        for site, ways in _sites(path).items():
            if any(first in lines for first in _lines(path, site)):
                every += [(_hash(f"{entry.id} {site}"), path, site, ways)]
    found: list[Mutant] = []
    for _, path, site, ways in sorted(every, key=lambda one: one[0]):
        order = sorted(ways, key=lambda way: _hash(f"{site} {way}"))
        mutant = next(filter(None, (_mutant(path, site, *way) for way in order)), None)
        found += [mutant] if mutant else []
        if len(found) == each:
            break
    return found


_sites = functools.cache(sites)


@functools.cache
def _source(path: Path) -> list[tuple[str, str]]:
    """The function around each line of a module, and the line."""
    code = path.read_text(encoding="utf-8")
    around = _definitions(ast.parse(code))
    return [(around[number], line.strip()) for number, line in enumerate(code.splitlines(), 1)]


def _lines(path: Path, site: str) -> list[int]:
    """The lines of a site: all of its function that read like it."""
    where, _, line = site.partition(": ")
    asked = where.rpartition(", ")[2], line.rsplit(" ", 2)[0]
    return [number for number, known in enumerate(_source(path), 1) if known == asked]


def put(mutant: Mutant) -> int:
    """Change the functions of this process as the mutant says; returns how many were changed."""
    path = ROOT / mutant.path
    changed = mutate_code(path.read_text(encoding="utf-8"), get_operator(mutant.operator)(), mutant.occurrence)
    new = {code.co_qualname: code for code in _codes(compile(changed, str(path), "exec"))}
    done = 0
    for function in _functions():
        old, other = function.__code__, new.get(function.__code__.co_qualname)
        if other and old.co_filename == str(path) and other != old and other.co_freevars == old.co_freevars:
            function.__code__ = other
            done += 1
    _forget()
    return done


def _codes(code: CodeType):
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield inner
            yield from _codes(inner)


def _members() -> list:
    """What the modules of the package hold, and what their classes hold."""
    ours = [module for name, module in sys.modules.items() if name.startswith("rope_lab")]
    held = [one for module in ours for one in vars(module).values()]
    classes = {one for one in held if type(one) is type and one.__module__.startswith("rope_lab")}
    return held + [one for kind in classes for one in vars(kind).values()]


def _functions() -> set[FunctionType]:
    """The functions under all of these: what a property, a class method or a decorator holds, too."""
    inner = ("__wrapped__", "__func__", "fget", "func")
    found, held = set(), _members()
    for one in held:  # it grows as it is read
        if isinstance(one, FunctionType):
            found.add(one)
        if isinstance(one, FunctionType | property | classmethod | staticmethod | functools.cached_property | CACHED):
            held += [under for name in inner if (under := getattr(one, name, None)) is not None]
    return found


def _forget() -> None:
    for one in _members():
        if isinstance(one, CACHED):
            one.cache_clear()


def outcome(mutant: Mutant, entry: Claim, others: list[Claim]) -> str:
    """Tell who notices a mutant: the claim, a "neighbour", nobody ("lives"); or that no function has it ("nowhere")."""
    child = os.fork()
    if child == 0:
        signal.alarm(LIMIT)
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        status = 3
        try:
            if not put(mutant):
                status = 4
            elif not run(entry).failed:
                status = 2 if any(run(other).failed for other in others) else 0
        finally:
            os._exit(status)
    _, ended = os.waitpid(child, 0)
    status = os.waitstatus_to_exitcode(ended)
    return {0: "lives", 2: "neighbour", 4: "nowhere"}.get(status, "claim")


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("patterns", nargs="*", default=["*"])
    asked.add_argument("--each", type=int, default=EACH)
    options = asked.parse_args()
    import torch

    torch.set_num_threads(1)
    entries = {c.id: c for pattern in options.patterns for c in select(pattern) if c.evidence in KINDS}
    seconds = {c.id: run(c).seconds for c in load().values() if c.evidence in KINDS}
    listed, told = LISTED.read_text(encoding="utf-8"), {}
    counts: Counter[str] = Counter()
    for entry in entries.values():
        near = [c for c in load().values() if c.chapter == entry.chapter and c.id in seconds and c is not entry]
        near.sort(key=lambda c: seconds[c.id])
        begin, mine = time.monotonic(), Counter()
        for mutant in drawn(entry, options.each):
            key = (entry.chapter, mutant)
            if key not in told or told[key] == "neighbour":
                told[key] = outcome(mutant, entry, near)
            known = told[key] == "lives" and mutant.name in listed
            mine["listed" if known else told[key]] += 1
            if told[key] == "lives" and not known:
                print(f"  LIVES {entry.id}: {mutant.name}", flush=True)
        counts += mine
        print(f"{entry.id}: {dict(mine)} {time.monotonic() - begin:.0f} s", flush=True)
    tried = sum(counts[word] for word in ("claim", "neighbour", "lives"))
    print(f"{tried} mutants: {dict(counts)}; {1 - counts['lives'] / max(tried, 1):.1%} noticed")
    if counts["lives"] > (1 - BAR) * tried:
        sys.exit(f"expected {BAR:.0%} noticed; mend the checks, or name in survivors.md what changes nothing")


if __name__ == "__main__":
    main()
