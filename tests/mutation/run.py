"""Mutation testing: change one thing in the package, run the tests that should notice, and count the changes that live.

    make mutants                                     # 300 mutants of algebra, nn and audit, and 150 of training,
                                                     # exercises and book/_ext
    python tests/mutation/run.py nn book/_ext        # those of them that lie there
    python tests/mutation/run.py --sample 40 algebra/layouts.py

Cosmic Ray makes the mutants: another operator, comparison, number, constant, keyword or exception, a loop that never
runs, a decorator lost. The sample is drawn by a hash of the mutated line, so that it stays the same as long as the line
does. Annotations and the words of an error message are left alone.

A mutant runs, in a copy of the tree, first the tests and docstring examples of its own module (those named like it, and
those in TESTED_BY), then those tests of its folder that name the module, or all of them if it has none of its own; the
quickest first, which is measured on the copy as it is. What is marked site, wheel, slow or deep does not run. One that
lives must stand in survivors.md with a reason; if it does not, the run fails and names it.
"""

import argparse
import ast
import hashlib
import multiprocessing
import os
import re
import resource
import shutil
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "rope_lab"
LISTED = Path(__file__).with_name("survivors.md")
SLOW = 5  # times as long as without the mutant, and two minutes: a mutant that runs longer is dead
LIMIT = 900  # seconds for a file of tests as it is
MEMORY = 24 * 2**30  # bytes of address space; so is one that wants more
FORK = multiprocessing.get_context("fork")
LAYERS = ("layer_refusals", "attention", "rotary_module")
ASKED = ("adapters", "loaded_models", "table_calls", "ways")
LAWS = ("law_suite", "law_checks")
QUICK = "not (site or wheel or slow)"  # and nothing deep, which conftest.py leaves out
TESTED_BY = {  # the tests of a module, where they bear another name
    "audit/adapters": ASKED,
    "audit/audits": ("adapters",),
    "audit/constructions": ASKED,
    "audit/fingerprints": ("conversion", "law_suite"),
    "audit/gallery": LAWS,
    "audit/law_checks": LAWS,
    "audit/law_suite": LAWS,
    "audit/probe": ("fingerprints",),
    "audit/shift_runs": ("shift_tests", "model_probes"),
    "audit/table_calls": ASKED,
    "audit/tiny_models": ("shift_tests", "model_probes"),
    "nn/complex_planes": ("complex_linear", "rotary_module"),
    "nn/complex_products": ("complex_linear",),
    "nn/heads": ("attention", "layer_refusals", "latent_refusals"),
    "nn/initial": ("gpt",),
    "nn/latent_attention": ("latent_layers", "latent_peer", "latent_refusals", "cache"),
    "nn/recurrence/forms": ("linear_recurrence",),
    "nn/recurrence/rates": ("linear_recurrence",),
    "nn/recurrence/running_sums": ("linear_recurrence",),
    "nn/tensor_arguments": (*LAYERS, "latent_refusals"),
    "algebra/arguments": ("wrong_kinds", "generators", "rotation"),
    "exercises/checking": ("check",),
    "exercises/comparing": ("check",),
    "exercises/core": ("definitions", "check"),
    "exercises/reply": ("check",),
    "training/data/sources": ("corpora",),
    "training/experiments/catalogue": ("sweeps",),
    "training/experiments/worker": ("sweeps",),
    "training/fields": ("config", "cards"),
    "training/results/flat_cards": ("card_files",),
    "training/run/distributed": ("capabilities", "loop"),
    "training/run/environment": ("capabilities", "training_commands"),
    "training/run/learner": ("capabilities", "loop"),
    "training/run/run_record": ("loop",),
    "training/run/signals": ("loop", "resume"),
    "training/run/validation": ("loop",),
    "book/_ext/ledger_text": ("ledger_pages",),
    "book/_ext/page_inputs": ("build_inputs", "claim_results"),
    "book/_ext/part_map": ("argument",),
}


@dataclass(frozen=True)
class Sample:
    """A fixed sample."""

    folders: tuple[str, ...]  # of the package, or from the root
    size: int
    bar: float  # the share of the mutants that change anything which must die


SAMPLES = (Sample(("algebra", "nn", "audit"), 300, 0.95), Sample(("training", "exercises", "book/_ext"), 150, 0.9))


@dataclass(frozen=True)
class Mutant:
    """One change of one line."""

    path: str  # from the root
    where: str  # module and definition
    operator: str
    occurrence: int
    before: str
    after: str

    @property
    def name(self) -> str:
        """What survivors.md calls it."""
        return f"{self.where}: `{self.before}` -> `{self.after}`"


# --- the sample -----------------------------------------------------------------------------------------------------


def sites(path: Path) -> dict[str, list[tuple[str, int]]]:
    """The places of a module where something can be changed, each with the operators and occurrences that do it."""
    code = path.read_text(encoding="utf-8")
    lines, tree = code.splitlines(), ast.parse(code)
    silent, definitions = _silent(tree), _definitions(tree)
    nodes = list(ast_nodes(get_ast(code)))
    found: dict[str, list[tuple[str, int]]] = {}
    for kind, names in _kinds().items():  # operators of one kind replace the same thing, so they share their places
        places = [start for node in nodes for start, _ in get_operator(names[0])().mutation_positions(node)]
        for occurrence, (line, column) in enumerate(places):
            marker = lines[line - 1][column : column + 2] in (
                "*,",
                "/,",
            )  # not an operator, but the end of some arguments
            if not marker and not any(first <= (line, column) < last for first, last in silent):
                where = f"{_name(path)}, {definitions[line]}"
                site = f"{where}: {lines[line - 1].strip()} {column} {kind}"
                found.setdefault(site, []).extend((name, occurrence) for name in names)
    return found


def sample(paths: list[Path], size: int) -> list[Mutant]:
    """One mutant at each of ``size`` sites: those whose hashes are smallest."""
    everywhere = {site: (path, ways) for path in paths for site, ways in sites(path).items()}
    found: list[Mutant] = []
    for site in sorted(everywhere, key=_hash):
        path, ways = everywhere[site]
        order = sorted(range(len(ways)), key=lambda i: _hash(f"{site} {ways[i][0]} {i}"))
        mutant = next(filter(None, (_mutant(path, site, *ways[i]) for i in order)), None)
        found += [mutant] if mutant else []
        if len(found) == size:
            break
    return sorted(found, key=lambda mutant: mutant.name)


def modules(names: Collection[str]) -> list[Path]:
    every = sorted([*PACKAGE.rglob("*.py"), *ROOT.glob("book/_ext/*.py")])
    return [p for name in names for p in every if _inside(_name(p), name)]


def fixed(names: Collection[str]) -> list[Mutant]:
    """The mutants of the fixed samples that lie in some folders or modules: the same ones, whichever are asked for."""
    here = {path.relative_to(ROOT).as_posix() for path in modules(names)}
    asked = [one for one in SAMPLES if here & {p.relative_to(ROOT).as_posix() for p in modules(one.folders)}]
    return [mutant for one in asked for mutant in sample(modules(one.folders), one.size) if mutant.path in here]


def _mutant(path: Path, site: str, operator: str, occurrence: int) -> Mutant | None:
    """The mutant, if it is Python and another program."""
    code = path.read_text(encoding="utf-8")
    try:
        changed = mutate_code(code, get_operator(operator)(), occurrence)
        if changed is None or ast.dump(ast.parse(changed)) == ast.dump(ast.parse(code)):
            return None
    except (SyntaxError, AttributeError):  # of Cosmic Ray: the star before keyword-only arguments; `except (a.B, C)`
        return None
    old, new = code.splitlines(), changed.splitlines()
    first = next(i for i, (a, b) in enumerate(zip(old, [*new, ""], strict=False)) if a != b)
    before, after = " ".join(old[first : first + 1 + len(old) - len(new)]), new[first]  # a decorator is gone, or none
    where = site.partition(": ")[0]
    return Mutant(path.relative_to(ROOT).as_posix(), where, operator, occurrence, _line(before), _line(after))


def _kinds() -> dict[str, list[str]]:
    """Cosmic Ray's operators by what they replace; those that must be told what to put in are left out."""
    kinds: dict[str, list[str]] = {}
    for name in sorted(operator_names()):
        if not get_operator(name).arguments():
            kinds.setdefault("_".join(name.split("_")[:2]), []).append(name)
    return kinds


def _line(text: str) -> str:
    return re.sub(r"\s+", " ", text.strip())


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _silent(tree: ast.Module) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """The stretches of code in which a change is not looked for: annotations and raised errors."""
    nodes: list[ast.AST | None] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.arg | ast.AnnAssign):
            nodes.append(node.annotation)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            nodes.append(node.returns)
        elif isinstance(node, ast.Raise):
            nodes.append(node)
    return [((n.lineno, n.col_offset), (n.end_lineno, n.end_col_offset)) for n in nodes if n is not None]


def _definitions(tree: ast.Module) -> defaultdict[int, str]:
    """The innermost function or class around each line."""
    around = defaultdict(lambda: "module")
    for node in ast.walk(tree):  # the outer ones come first
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            around.update(dict.fromkeys(range(node.lineno, node.end_lineno + 1), node.name))
    return around


# --- one mutant -----------------------------------------------------------------------------------------------------

Outcome = Literal["killed", "too slow", "survived"]


def _tests(tree: Path, path: str) -> Path:
    return tree / "tests" / ("site_ext" if path.startswith("book/_ext/") else path.split("/")[1])


def own_tests(tree: Path, path: str) -> list[str]:
    """The tests of a module, and the module itself for its examples."""
    folder, stem = _tests(tree, path), Path(path).stem
    named = sorted(folder.rglob(f"test_{stem}*.py"))
    others = TESTED_BY.get(path.removeprefix("rope_lab/").removesuffix(".py"), ())
    for name in others:  # in its folder, or elsewhere
        named += sorted(folder.rglob(f"test_{name}.py")) or sorted((tree / "tests").rglob(f"test_{name}.py"))
    return [path, *dict.fromkeys(str(p.relative_to(tree)) for p in named)]


def folder_tests(tree: Path, path: str) -> list[str]:
    """The tests of the folder that name the module; for a module without tests of its own, the whole folder's."""
    own, stem = own_tests(tree, path), Path(path).stem
    files = [str(p.relative_to(tree)) for p in sorted(_tests(tree, path).rglob("test_*.py"))]
    named = [file for file in files if re.search(rf"\b{stem}\b", (tree / file).read_text(encoding="utf-8"))]
    return [file for file in (named if len(own) > 1 else files) if file not in own]


def outcome(tree: Path, mutant: Mutant, cost: dict[str, float]) -> Outcome:
    """Put the mutant into the tree, test it, and take it out again."""
    target = tree / mutant.path
    code = target.read_text(encoding="utf-8")
    times = target.stat()
    target.write_text(mutate_code(code, get_operator(mutant.operator)(), mutant.occurrence), encoding="utf-8")
    try:
        for tests in (own_tests, folder_tests):
            files = sorted(tests(tree, mutant.path), key=lambda file: cost[file])
            limit = 120 + SLOW * sum(cost[file] for file in files)
            status = passed(tree, files, limit) if files else 0  # pytest without a file would run everything
            if status != 0:
                return "too slow" if status is None else "killed"
        return "survived"
    finally:
        target.write_text(code, encoding="utf-8")
        os.utime(target, ns=(times.st_atime_ns, times.st_mtime_ns))


def passed(tree: Path, tests: list[str], limit: float, *, compile_once: bool = False) -> int | None:
    """The exit status of pytest, in a process of its own that has the libraries loaded; None: it took too long.

    Raises:
        RuntimeError: If pytest itself fails (its statuses 3 and 4): that says nothing about a mutant.
    """
    child = FORK.Process(target=_pytest, args=(tree, tests, compile_once))
    child.start()
    child.join(limit)
    if child.is_alive():
        child.kill()
        child.join()
        return None
    if child.exitcode in (3, 4):
        raise RuntimeError(f"pytest could not run {' '.join(tests)}: status {child.exitcode}")
    return 0 if child.exitcode == 5 else child.exitcode  # 5: a module without tests or examples of its own


def _pytest(tree: Path, tests: list[str], compile_once: bool) -> None:
    import pytest

    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    os.chdir(tree)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    sys.path.insert(0, str(tree))
    sys.dont_write_bytecode = not compile_once  # a mutant must leave nothing behind
    options = ["-x", "-p", "no:cacheprovider", "--hypothesis-profile=mutation", "--doctest-modules", "-m", QUICK]
    flags = ["-o", "doctest_optionflags=NORMALIZE_WHITESPACE ELLIPSIS"]
    # Named, or pytest would not load it for the examples of a module alone, and the profile would be unknown.
    os._exit(pytest.main([*options, *flags, "tests/conftest.py", *tests]))


# --- the run --------------------------------------------------------------------------------------------------------


def check_the_copy(tree: Path, paths: list[str]) -> dict[str, float]:
    """The seconds of each file of tests. Stop if one fails as it is, or passes without its module.

    Then no outcome would mean anything.
    """
    cost = {}
    for file in dict.fromkeys(f for path in paths for tests in (own_tests, folder_tests) for f in tests(tree, path)):
        start = time.monotonic()
        if passed(tree, [file], LIMIT, compile_once=True) != 0:
            raise SystemExit(f"{file} fails as it is")
        cost[file] = time.monotonic() - start
    path = next(path for path in paths if len(own_tests(tree, path)) > 1)
    target = tree / path
    target.rename(target.with_suffix(".gone"))
    still = passed(tree, own_tests(tree, path)[1:], LIMIT)
    target.with_suffix(".gone").rename(target)
    if still == 0:
        raise SystemExit(f"the tests of {path} pass without it: they do not read the copy")
    print(f"{len(cost)} files of tests pass as they are, in {sum(cost.values()):.0f} s", flush=True)
    return cost


def work(tree: Path, jobs, answers, cost: dict[str, float]) -> None:
    for mutant in iter(jobs.get, None):
        start = time.monotonic()
        try:
            end: Outcome | RuntimeError = outcome(tree, mutant, cost)
        except RuntimeError as error:
            end = error
        answers.put((mutant, end, time.monotonic() - start))
    answers.put(None)


def run(chosen: list[Mutant], workers: int) -> dict[Mutant, Outcome]:
    found: dict[Mutant, Outcome] = {}
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        first = Path(folder) / "0"
        shutil.copytree(ROOT, first, ignore=_left_out, symlinks=True)
        cost = check_the_copy(first, sorted({mutant.path for mutant in chosen}))
        trees = [first, *(Path(folder) / str(i) for i in range(1, workers))]
        for tree in trees[1:]:
            shutil.copytree(first, tree, symlinks=True)  # with what was compiled
        jobs, answers = FORK.Queue(), FORK.Queue()
        for mutant in [*chosen, *[None] * workers]:
            jobs.put(mutant)
        processes = [FORK.Process(target=work, args=(tree, jobs, answers, cost)) for tree in trees]
        for process in processes:
            process.start()
        left = workers
        while left:
            answer = answers.get()
            if answer is None:
                left -= 1
                continue
            mutant, end, seconds = answer
            if isinstance(end, RuntimeError):
                for process in processes:
                    process.terminate()
                raise SystemExit(f"{mutant.name}: {end}")
            found[mutant] = end
            print(f"{len(found):4}/{len(chosen)} {end:9} {seconds:5.0f} s  {mutant.name}", flush=True)
        for process in processes:
            process.join()
    return found


def report(found: dict[Mutant, Outcome]) -> int:
    """Print the score of each sample; 1 if a survivor is not listed, or too few that change anything die."""
    listed = LISTED.read_text(encoding="utf-8")
    equivalent = listed.partition("## Equivalent")[2].partition("\n## ")[0]
    failed = False
    for bar in sorted({_bar(mutant) for mutant in found}):
        ends = {mutant.name: end for mutant, end in found.items() if _bar(mutant) == bar}
        survivors = sorted(name for name, end in ends.items() if end == "survived")
        unlisted = [name for name in survivors if name not in listed]
        nothing = [name for name in survivors if name in equivalent]
        counted = len(ends) - len(nothing)
        killed = len(ends) - len(survivors)
        print(f"{len(ends)} mutants: {killed} killed, {len(survivors)} survived, {len(nothing)} of them equivalent")
        print(f"killed of those that are not equivalent: {killed / max(1, counted):.1%}; the bar is {bar:.0%}")
        print("".join(f"not in {LISTED.name}: {name}\n" for name in unlisted), end="")
        failed |= bool(unlisted) or killed < bar * counted
    return int(failed)


def _bar(mutant: Mutant) -> float:
    """That of the sample in whose folders it lies; elsewhere that of the first."""
    return next((one.bar for one in SAMPLES for name in one.folders if _inside(mutant.where, name)), SAMPLES[0].bar)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("only", nargs="*", help="folders or modules of rope_lab, or of book/_ext")
    parser.add_argument(
        "--sample", type=int, help="draw so many mutants there; else those of the fixed samples that lie there"
    )
    parser.add_argument("--workers", type=int, default=2, help="how many at a time")
    parser.add_argument("--list", action="store_true", help="print the sample and stop")
    given = parser.parse_args()
    only = given.only or [name for one in SAMPLES for name in one.folders]
    chosen = sample(modules(only), given.sample) if given.sample else fixed(only)
    if not chosen:
        parser.error(f"expected folders or modules that hold some of the sample, got {' '.join(only)}; give --sample")
    if given.list:
        print(*(mutant.name for mutant in chosen), sep="\n")
        return 0
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    import scipy.linalg  # loaded once here, and inherited by every process
    import scipy.stats  # noqa: F401
    import sympy  # noqa: F401
    import torch  # noqa: F401

    return report(run(chosen, given.workers))


def _left_out(folder: str, names: list[str]) -> set[str]:
    here = {"_build", "dist", "data", "runs", "node_modules"} if Path(folder) == ROOT else set()
    return {name for name in names if name.startswith(".") or name == "__pycache__" or name in here}


def _name(path: Path) -> str:
    """The path of a module in the package, or else from the root."""
    return path.relative_to(PACKAGE if path.is_relative_to(PACKAGE) else ROOT).as_posix()


def _inside(module: str, name: str) -> bool:
    return module == name or module.startswith(f"{name}/")


if __name__ == "__main__":
    raise SystemExit(main())
