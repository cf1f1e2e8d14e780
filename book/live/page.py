"""The Python side of a page that runs: its cells, the checks of the ledger, the exercises. It lives in the browser.

The page's script calls `cell`, `check` and `answer`; each returns what JSON can carry. A package that is not loaded yet
is answered with its bundle under ``missing``: the page loads it and begins again with the first cell.
"""

import ast
import builtins
import dataclasses
import functools
import importlib
import inspect
import linecache
import math
import os
import re
import sys
import textwrap
import traceback
import warnings
from typing import Any

NEVER = {"torch", "transformers", "tokenizers", "safetensors", "numba", "ray"}  # no browser has them
BUNDLES: dict[str, str] = {}
"""Top-level module -> the bundle that has it; `start` fills it."""
loaded: set[str] = set()
"""Bundles that are there."""
space: dict[str, Any] = {}
"""The names of the page's cells."""


def start(bundles: dict[str, list[str]]) -> None:
    """Take the modules of each bundle, by their names."""
    BUNDLES.update({module: bundle for bundle, modules in bundles.items() for module in modules})
    os.environ["MPLBACKEND"] = "agg"  # figures that are open at the end of a cell are shown; plt.show() need not do it
    warnings.filterwarnings("ignore", "FigureCanvasAgg is non-interactive")
    begin()


def begin() -> None:
    """Forget the names of the cells; what was imported stays."""
    space.clear()
    space.update(__name__="__main__", __builtins__=builtins, input=no_input)


def no_input(prompt: object = "") -> str:  # noqa: ARG001  (the signature of Python's own)
    raise RuntimeError("expected a text in the code, got a call of input(), which a page does not have: write it down")


def bundle_of(module: str) -> str:
    """Return the bundle that has a module; empty where none has."""
    return BUNDLES.get(".".join(module.split(".")[:2])) or BUNDLES.get(module.partition(".")[0], "")


def wants(code: str) -> list[str]:
    """Return the bundles that some code imports from and that are not there; none for what is not Python."""
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return []
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [
        node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module and not node.level
    ]
    return sorted({bundle for name in names if (bundle := bundle_of(name))} - loaded)


def cell(code: str, number: int) -> dict[str, Any]:
    """Run one cell as a notebook does: the value of a last expression is shown.

    Returns:
        ``error``, its traceback from the cell on, or ``missing``, a bundle, or ``shown``, a list of (type, text).
    """
    file = f"cell {number}"
    linecache.cache[file] = (len(code), None, code.splitlines(keepends=True), file)
    shown: list[tuple[str, str]] = []
    space["display"] = lambda *values: shown.extend(part for value in values for part in display(value))
    try:
        tree, last = ast.parse(code, file), None
        if tree.body and isinstance(tree.body[-1], ast.Expr):
            last = ast.Expression(tree.body.pop().value)  # type: ignore[attr-defined]
        exec(compile(tree, file, "exec"), space)
        if last is not None:
            value = eval(compile(last, file, "eval"), space)
            shown += display(value)
        shown += figures()
    except BaseException as error:  # SystemExit and KeyboardInterrupt of a cell are the cell's own
        return failure(error, file)
    return {"shown": shown}


def display(value: Any) -> list[tuple[str, str]]:
    """Return what a notebook shows of a value: a table or a figure where it has one, its repr elsewhere."""
    if value is None:
        return []
    for kind, method in (("text/html", "_repr_html_"), ("image/svg+xml", "_repr_svg_")):
        if not isinstance(value, type) and (made := getattr(value, method, None)) and (text := made()):
            return [(kind, str(text))]
    if type(value).__module__ == "matplotlib.figure":
        return [drawn(value)]
    return [("text/plain", repr(value))]


def drawn(figure: Any) -> tuple[str, str]:
    """Return a figure of matplotlib as SVG."""
    import io

    text = io.StringIO()
    figure.savefig(text, format="svg", bbox_inches="tight")
    return "image/svg+xml", text.getvalue()


def figures() -> list[tuple[str, str]]:
    """Return the open figures of pyplot, and close them."""
    pyplot: Any = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return []
    found = [drawn(pyplot.figure(number)) for number in pyplot.get_fignums()]
    pyplot.close("all")
    return found


def failure(error: BaseException, file: str = "") -> dict[str, Any]:
    """Return a missing bundle, or the package that no page has, or the traceback from the reader's own line on."""
    cause: BaseException | None = error
    while cause is not None and not (isinstance(cause, ModuleNotFoundError) or getattr(cause, "name_from", "")):
        cause = cause.__cause__ or cause.__context__
    name = ".".join(part for part in (getattr(cause, "name", ""), getattr(cause, "name_from", "")) if part)
    if missing := lacking(name):
        return {"missing": missing}
    if (top := name.partition(".")[0]) in NEVER:
        return {"error": f"{top} does not run in a page", "needs": top}
    if "can't start new thread" in str(error):
        error.add_note("A page has one thread: take the work out of the thread, or run it in the lab.")
    told = traceback.TracebackException.from_exception(error, compact=True)
    frames = list(told.stack)
    own = next((i for i, frame in enumerate(frames) if frame.filename == file), len(frames))
    told.stack = traceback.StackSummary.from_list(frames[own:])
    return {"error": "".join(told.format()).rstrip()}


def lacking(module: str) -> str:
    """Return the bundle that a failure lacks: that of a module that was not found, or the cards if there are none."""
    if (bundle := bundle_of(module)) and bundle not in loaded:
        return bundle
    return "results" if "rope_lab.training.results.cards" in sys.modules and "results" not in loaded else ""


# --- the ledger ----------------------------------------------------------------------------------------------------


def check(claim_id: str, module: str, candidate: str | None = None) -> dict[str, Any]:
    """Run a claim; ``candidate``, Python that ends with an expression, takes the place of what holds.

    Args:
        claim_id: Which.
        module: The module that enters it into the ledger.
        candidate: The text of the candidate. Default: the one of the module.

    Returns:
        What JSON can carry of the result, with the texts of its candidates; or what `failure` returns.
    """
    file = "candidate"
    try:
        names = vars(importlib.import_module(module))
        from rope_lab.claims.ledger import LEDGER, run

        claim = LEDGER[claim_id]
        if candidate is not None:
            linecache.cache[file] = (len(candidate), None, candidate.splitlines(keepends=True), file)
            tree = ast.parse(candidate, file)
            if not tree.body or not isinstance(tree.body[-1], ast.Expr):
                return {"error": "expected Python that ends with an expression, the candidate; got none: write it last"}
            last = ast.Expression(tree.body.pop().value)  # type: ignore[attr-defined]
            own = dict(names)
            exec(compile(tree, file, "exec"), own)
            claim = dataclasses.replace(claim, holds=eval(compile(last, file, "eval"), own))
        result = run(claim)
    except BaseException as error:
        return failure(error, file)
    not_found = re.search(r"No module named '([\w.]+)'", result.error)
    if result.error and (missing := lacking(not_found[1] if not_found else "")):
        return {"missing": missing}
    fields = (
        "outcome",
        "failed",
        "residual",
        "control_rejected",
        "control_residual",
        "printed_rejected",
        "seconds",
        "error",
    )
    told = {name: plain(getattr(result, name)) for name in fields}
    return {**told, "tolerance": claim.tolerance, "witness": bool(claim.computed), "texts": candidates(claim)}


def plain(value: Any) -> Any:
    """Return what JSON can carry: None for a number that is not finite."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def candidates(claim: Any) -> dict[str, str]:
    """Return the candidates that a claim has, as its module writes them: ``holds``, ``control``, ``printed``."""
    source, entered = _entered(claim.check.__module__)
    parts = {key.arg: key.value for key in entered.get(claim.id, ()) if key.arg in ("holds", "control", "printed")}
    return {str(name): textwrap.dedent(ast.get_source_segment(source, part) or "") for name, part in parts.items()}


@functools.cache
def _entered(module: str) -> tuple[str, dict[str, list[ast.keyword]]]:
    """The text of a module, and of each claim that it enters what is given by a name."""
    source = inspect.getsource(sys.modules[module])
    functions = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    calls = [call for node in functions for call in node.decorator_list if isinstance(call, ast.Call) and call.args]
    return source, {str(getattr(call.args[0], "value", "")): call.keywords for call in calls}


# --- exercises -----------------------------------------------------------------------------------------------------


def answer(exercise_id: str, module: str, code: str) -> dict[str, Any]:
    """Ask the check of an exercise about the function in a reader's text, which has numpy as ``np``.

    Args:
        exercise_id: Which.
        module: The module that defines it.
        code: The text.

    Returns:
        What the `Reply` says: ``mistake`` is the place of a known mistake among the task's, ``hint`` and ``solution``
        say whether it is time for them; or what `failure` returns.
    """
    file = "your answer"
    linecache.cache[file] = (len(code), None, code.splitlines(keepends=True), file)
    try:
        import numpy as np

        from rope_lab.exercises import check

        task = draw(exercise_id, module)
        own: dict[str, Any] = {"__name__": "__main__", "np": np}
        exec(compile(code, file, "exec"), own)
        if task.name not in own:
            return {"error": f"expected a function named {task.name}, got none: keep the name of the first line"}
        reply = check(task, own[task.name])
    except BaseException as error:  # SystemExit of a reader's text is his own
        return failure(error, file)
    known = [f"It looks as if {sentence}." for sentence in task.mistakes]
    mistake = known.index(reply.diagnosis) if reply.diagnosis in known else -1
    told = {"ok": reply.ok, "judged": reply.judged, "says": reply.says, "rows": reply.rows, "mistake": mistake}
    return {**told, "hint": bool(reply.hint), "solution": bool(reply.where)}


def draw(exercise_id: str, module: str) -> Any:
    """Return a task whose solution has run on one example, so that nothing it needs is missing."""
    from hypothesis import find, settings

    room = importlib.import_module(module)
    task = next(item for item in room.EXERCISES if item.id == exercise_id)
    quick = settings(max_examples=20, database=None, derandomize=True, deadline=None)
    find(task.examples, lambda arguments: (task.solution(*arguments), True)[1], settings=quick)
    return task
