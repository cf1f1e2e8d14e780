"""What the ledger's page says of one result, in words."""

import ast
import inspect
import re
import textwrap
from html import escape
from itertools import groupby

from pygments.lexers import PythonLexer
from pygments.token import STANDARD_TYPES, Comment, Keyword, Name, Operator, String

from rope_lab.claims import LABELS, Claim, Result
from rope_lab.claims.verification import control_words, outcome_words

CORRECTION = {"false": "Read instead", "conditional": "Condition", "ambiguous": "Readings"}
TO_THE_LINTER = re.compile(r"# noqa: [A-Z0-9, ]+? - |  # noqa: [A-Z0-9, ]+$", re.MULTILINE)
SUBJECTS = ("computed", "tolerance", "cases", "holds", "printed", "control")
# What a reader asks for: each claim is of one kind, and each kind has a shape of its own in the picture.
KINDS = {
    "print": "Wrong in print",
    "conditional": "True under a condition",
    "unsettled": "Not settled",
    "measured": "Seen in our runs",
    "true": "True",
}
COLOURED = (Keyword, Operator.Word, String, Comment, Name.Function, Name.Decorator)


def kind(result: Result) -> str:
    """The kind of a claim. Not settled: it can be read in two ways, or no measurement has reproduced it."""
    verdict = result.claim.verdict
    if verdict == "empirical":
        return "measured" if result.ok else "unsettled"
    return {"false": "print", "ambiguous": "unsettled"}.get(verdict, verdict)


def facts(result: Result) -> list[str]:
    """The words of a row under its sentence: the verdict, the evidence with its numbers, the control, the outcome."""
    claim, numbers = result.claim, ""
    if result.residual is not None:
        sign = "≤" if result.residual <= claim.tolerance else ">"
        numbers = f" {result.residual:.0e} {sign} {claim.tolerance:.0e}"
    control = [] if claim.evidence in ("read", "experiment") else [f"control {control_words(result)}"]
    return [claim.words, f"{LABELS[claim.evidence]}{numbers}", *control, "fails" if result.failed else result.outcome]


def state(result: Result) -> str:
    """The state that a row's sign shows: only what was run and held is ``held``."""
    return {True: "held", False: "failed", None: "open"}[result.ok]


def evidence(result: Result) -> str:
    """Say what was run and what came out, in a sentence or two; no seconds, which differ from build to build."""
    claim, words = result.claim, LABELS[result.claim.evidence].capitalize()
    if result.failed or claim.evidence == "experiment":
        return f"{words}: {outcome_words(result)}."
    if claim.evidence == "read":
        return f"{words} on {claim.date}; nothing was run."
    if claim.evidence == "exact":
        words = "Exact, by computer algebra or whole numbers"
    if claim.cases:
        words = f"{words}: {claim.cases}"
    if result.residual is not None:
        words = f"{words}. Residual {result.residual:.0e}, tolerance {claim.tolerance:.0e}"
    printed = " So is the formula as printed." if result.printed_rejected else ""
    by = "" if result.control_residual is None else f", with residual {result.control_residual:.1g}"
    return f"{words}. The control is rejected{by}.{printed}"


def without_noqa(code: str) -> str:
    """The code without what its lines tell the linter; a reason that stands there stays.

    >>> without_noqa("x = 1  # noqa: E741\\ny = 2  # noqa: ARG005 - as before")
    'x = 1\\ny = 2  # as before'
    """
    return TO_THE_LINTER.sub(lambda found: "# " if found[0].endswith(" - ") else "", code)


def check_source(claim: Claim) -> str:
    """The check and what it is tried on; the words of the entry, which stand above it, are left out."""
    text = without_noqa(textwrap.dedent(inspect.getsource(claim.check)))
    if claim.check.__name__ == "<lambda>":
        return text
    lines, function = text.splitlines(), ast.parse(text).body[0]
    kept = [
        line
        for decorator in function.decorator_list
        if isinstance(decorator, ast.Call)
        for keyword in decorator.keywords
        if keyword.arg in SUBJECTS
        for line in lines[keyword.lineno - 1 : keyword.end_lineno]
    ]
    head = [f'@claim("{claim.id}", ...,', *kept, ")"] if kept else []
    module = "/".join(claim.check.__module__.split("."))
    return "\n".join([f"# {module}.py", *head, *lines[function.lineno - 1 :]])


def coloured(code: str) -> str:
    """Python as HTML with the theme's classes: words of the language, strings, comments, and names where they are made.

    Names, numbers and signs keep the ink of the text. With them the page of all checks would be a third heavier.
    """

    def shown(token) -> str:
        return next((STANDARD_TYPES[kind] for kind in COLOURED if token in kind), "")

    tokens = ((shown(token), text) for token, text in PythonLexer().get_tokens(code))
    parts = (
        (name, escape("".join(text for _, text in run), quote=False)) for name, run in groupby(tokens, lambda it: it[0])
    )
    return "".join(f'<span class="{name}">{text}</span>' if name else text for name, text in parts)
